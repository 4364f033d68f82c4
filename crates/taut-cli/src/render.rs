//! `taut render`: draws the frames of a run as pictures or video.

mod output;

use std::{ops::RangeInclusive, path::PathBuf, process::ExitCode};

use serde_json::json;
use taut_io::recording::Recording;
use taut_render::{
    Camera, Coloring, Picture, Renderer,
    camera::View,
    draw,
    film::{self, Film, FilmError, Options, Placement},
};

use crate::{
    args::RenderArgs,
    failure::{Failure, code},
    interrupt::Interrupt,
    progress::Share,
    terminal,
};
use output::{Output, Writer, Writing};

/// Renders a run as `args` ask.
pub fn render(args: &RenderArgs) -> Result<ExitCode, Failure> {
    let output = args.to.as_deref().map(Output::of_path).transpose()?;
    refuse_unused(args)?;
    let recording = Recording::open(&args.out)?;
    let output = output.unwrap_or_else(|| Output::usual(recording.root(), args.frame.is_some()));
    let frames = frames(args, &recording, &output)?;
    if args.fps.is_some() && !matches!(output, Output::Clip(_)) {
        let message = format!("{} has no frame rate: --fps is for videos", output.path().display());
        return Err(Failure::input(message, "leave it away, or write .mp4, .gif or .apng"));
    }
    // Before anything is made that ctrl-C would leave.
    let interrupt = Interrupt::listen();
    let writer = Writer::open(&output, &frames, args.force)?;
    let fps = args.fps.unwrap_or(recording.frame_rate());
    let film = Film::new(&recording, frames.clone(), options(args, &recording)?).map_err(failure)?;
    warn_of_odd_sizes(args, &output);
    warn_of_boxes(args);

    let threads = args.threads.count();
    let no_threads =
        |error| Failure::input(format!("cannot start {threads} threads: {error}"), "ask for fewer");
    let mut renderer = Renderer::new(threads).map_err(no_threads)?;
    let share = Share::new(args.quiet, "rendering".to_owned());
    let [width, height] = args.size;
    let done = writer.begin(width, height, fps).and_then(|writing| {
        let picture = Picture::new(width, height, [255; 4]);
        draw(&film, &mut renderer, &frames, writing, picture, |part| {
            share.show(part);
            !interrupt.is_asked()
        })
    });
    share.finish();
    let Some(paths) = done? else {
        terminal::note("stopped; nothing of the pictures is left");
        return Ok(code::INTERRUPTED.into());
    };
    tell(args, &output, &frames, &film, &paths)?;
    Ok(ExitCode::SUCCESS)
}

/// Draws and writes all frames; nothing if `go_on`, which is told how much is done, says no.
fn draw(
    film: &Film,
    renderer: &mut Renderer,
    frames: &RangeInclusive<u32>,
    mut writing: Writing,
    mut picture: Picture,
    go_on: impl Fn(f64) -> bool,
) -> Result<Option<Vec<PathBuf>>, Failure> {
    let count = f64::from(frames.end() - frames.start() + 1);
    for frame in frames.clone() {
        if !go_on(f64::from(frame - frames.start()) / count) {
            return Ok(None);
        }
        film.draw(renderer, frame, &mut picture)?;
        writing.add(frame, &picture)?;
    }
    writing.finish().map(Some)
}

/// The frames that are asked for. A picture shows the last one unless another is chosen.
fn frames(args: &RenderArgs, recording: &Recording, output: &Output) -> Result<RangeInclusive<u32>, Failure> {
    let still = matches!(output, Output::Picture(_));
    if let Some(frame) = args.frame {
        return Ok(recording.frames(Some(frame), Some(frame))?);
    }
    if still && args.frames.is_given() {
        let path = args.to.as_deref().unwrap_or(recording.root()).display();
        let message = format!("{path} is one picture, and --frames asks for several");
        let hint = "choose one with --frame N, or write frames.%04d.png, a folder, .mp4, .gif or .apng";
        return Err(Failure::input(message, hint));
    }
    if still {
        let last = recording.last_frame();
        return Ok(last..=last);
    }
    Ok(args.frames.of(recording)?)
}

/// Refuses settings that would change nothing: whoever gives them expects something.
fn refuse_unused(args: &RenderArgs) -> Result<(), Failure> {
    if args.level.is_some() && args.color != Coloring::Level {
        return Err(Failure::input("--level says which level --color level shows", "add --color level"));
    }
    if args.mesh_level > 0 && args.color == Coloring::Level {
        let message =
            "--mesh-level draws a level, and --color level the triangles of the mesh that belong to one";
        return Err(Failure::input(message, "leave one of them away"));
    }
    if args.range.is_some() && !args.color.measures() {
        let hint = "add --color strain, residual, hsv or overstretch";
        return Err(Failure::input("--range is for colours that have a scale", hint));
    }
    Ok(())
}

fn options(args: &RenderArgs, recording: &Recording) -> Result<Options, Failure> {
    let placement = match &args.camera {
        Some(words) => Placement::Given(Camera::parse(words, film::up(recording)).map_err(|message| {
            Failure::input(message, "as in --camera 0,1,3/0,0.5,0/35; or choose a side with --view")
        })?),
        None => Placement::Framing(args.view.unwrap_or(View::ThreeQuarter), 1.0),
    };
    let placement = match placement {
        Placement::Framing(view, _) => Placement::Framing(view, args.zoom),
        Placement::Given(camera) => Placement::Given(
            camera
                .zoomed(args.zoom)
                .map_err(|message| Failure::input(message, "choose another --zoom, or a nearer --camera"))?,
        ),
    };
    Ok(Options {
        size: args.size,
        coloring: args.color,
        level: args.level,
        mesh_level: args.mesh_level,
        range: args.range,
        placement,
        caption: args.caption.clone(),
    })
}

fn failure(error: FilmError) -> Failure {
    match error {
        FilmError::Frame(problem) => problem.into(),
        FilmError::Refused { message, hint } => Failure::input(message, hint),
    }
}

fn warn_of_odd_sizes(args: &RenderArgs, output: &Output) {
    let odd = args.size.iter().any(|n| n % 2 == 1);
    if let Output::Clip(path) = output
        && odd
        && path.extension().is_some_and(|e| e.eq_ignore_ascii_case("mp4"))
    {
        let [w, h] = args.size.map(|n| n.next_multiple_of(2));
        terminal::warning(&format!("MP4 needs even sizes: the video will have {w}x{h} pixels"));
    }
}

fn warn_of_boxes(args: &RenderArgs) {
    let unknown = draw::unknown_characters(args.caption.as_deref().unwrap_or_default());
    if !unknown.is_empty() {
        let list: Vec<String> = unknown.iter().map(|c| format!("{c:?}")).collect();
        terminal::warning(&format!("taut's font has no {}: boxes stand in the caption", list.join(", ")));
    }
}

fn tell(
    args: &RenderArgs,
    output: &Output,
    frames: &RangeInclusive<u32>,
    film: &Film,
    paths: &[PathBuf],
) -> Result<(), Failure> {
    if args.json {
        return terminal::print_json(&json!({
            "written": paths,
            "first_frame": frames.start(),
            "last_frame": frames.end(),
            "size": args.size,
            "camera": film.camera().to_words(),
        }));
    }
    if args.quiet {
        return Ok(());
    }
    let which = if frames.start() == frames.end() {
        format!("frame {}", frames.start())
    } else {
        format!("frames {} to {}", frames.start(), frames.end())
    };
    terminal::print(&format!("{}: {which}\n", output.path().display()))
}

/// Reads a size as `1280x720`.
pub fn parse_size(text: &str) -> Result<[usize; 2], String> {
    let largest = taut_render::render::LARGEST;
    let wrong = || format!("a size is WIDTHxHEIGHT in pixels, each from 1 to {largest}, as in 1280x720");
    let (width, height) = text.split_once(['x', 'X', '×']).ok_or_else(wrong)?;
    let number = |part: &str| {
        part.trim().parse::<usize>().ok().filter(|n| (1..=largest).contains(n)).ok_or_else(wrong)
    };
    Ok([number(width)?, number(height)?])
}

/// Reads a number above zero.
pub fn parse_positive(text: &str) -> Result<f32, String> {
    let number = text.trim().parse::<f32>().ok().filter(|n| n.is_finite() && *n > 0.0);
    number.ok_or_else(|| "must be a number above 0".to_owned())
}
