//! `taut render`: renders the frames of a run as images or video.

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
    sweep::frames_template,
    terminal,
};
use output::{Output, Writer, Writing};

/// Renders a run.
pub fn render(args: &RenderArgs) -> Result<ExitCode, Failure> {
    let output = args.to.as_deref().map(Output::of_path).transpose()?;
    refuse_unused(args)?;
    let recording = Recording::open(&args.out)?;
    let output = output.unwrap_or_else(|| Output::default_for(recording.root(), args.frame.is_some()));
    let frames = frames(args, &recording, &output)?;
    if let Some(engine) = &args.submit {
        let Output::Pattern(_) = &output else {
            let hint = "write frames.%04d.png: every task writes its own frames";
            return Err(Failure::input("--submit needs an image sequence", hint));
        };
        let pattern = std::path::absolute(output.path()).unwrap_or_else(|_| output.path().into());
        let given = (&*pattern, &*passed_on(args));
        return frames_template(engine, recording.root(), &frames, given, args.quiet);
    }
    if args.fps.is_some() && !matches!(output, Output::Clip(_)) {
        let message = format!("{} has no frame rate: --fps is for videos", output.path().display());
        return Err(Failure::input(message, "omit it, or write .mp4, .gif or .apng"));
    }
    // Before any file is created that ctrl-C would leave behind.
    let interrupt = Interrupt::listen();
    let writer = Writer::open(&output, &frames, args.force)?;
    let fps = args.fps.unwrap_or(recording.frame_rate());
    let film = Film::new(&recording, frames.clone(), options(args, &recording)?).map_err(failure)?;
    warn_of_odd_sizes(args, &output);
    warn_of_boxes(args);

    let threads = args.threads.count();
    let no_threads =
        |error| Failure::input(format!("cannot start {threads} threads: {error}"), "reduce --threads");
    let mut renderer = Renderer::new(threads).map_err(no_threads)?;
    let share = Share::new(args.quiet, "rendering".to_owned());
    let [width, height] = args.size;
    let done = writer.begin(width, height, fps).and_then(|writing| {
        let picture = Picture::new(width, height, [255; 4]);
        draw(&film, &mut renderer, &frames, writing, picture, |part| {
            share.show(part);
            !interrupt.is_requested()
        })
    });
    share.finish();
    let Some(paths) = done? else {
        terminal::note("interrupted; the partial output was removed");
        return Ok(code::INTERRUPTED.into());
    };
    report(args, &output, &frames, &film, &paths)?;
    Ok(ExitCode::SUCCESS)
}

/// The options of pictures, as words for another process.
fn passed_on(args: &RenderArgs) -> Vec<String> {
    let [width, height] = args.size;
    let coloring = taut_render::Coloring::ALL.iter().find(|(_, coloring)| *coloring == args.color);
    let mut words = vec!["--size".into(), format!("{width}x{height}")];
    words.extend(coloring.iter().flat_map(|(name, _)| ["--color".into(), (*name).to_owned()]));
    let mut add = |name: &str, value: Option<String>| {
        words.extend(value.map(|value| format!("--{name}={value}")));
    };
    add("level", args.level.map(|level| level.to_string()));
    add("mesh-level", Some(args.mesh_level.to_string()));
    add("range", args.range.map(|range| range.to_string()));
    add("camera", args.camera.clone());
    add("view", args.view.map(|view| view.name().to_owned()));
    add("zoom", Some(args.zoom.to_string()));
    add("caption", args.caption.clone());
    words
}

/// Draws and writes all frames; `None` if `keep_going`, called with the completed fraction, returns false.
fn draw(
    film: &Film,
    renderer: &mut Renderer,
    frames: &RangeInclusive<u32>,
    mut writing: Writing,
    mut picture: Picture,
    keep_going: impl Fn(f64) -> bool,
) -> Result<Option<Vec<PathBuf>>, Failure> {
    let count = f64::from(frames.end() - frames.start() + 1);
    for frame in frames.clone() {
        if !keep_going(f64::from(frame - frames.start()) / count) {
            return Ok(None);
        }
        film.draw(renderer, frame, &mut picture)?;
        writing.add(frame, &picture)?;
    }
    writing.finish().map(Some)
}

/// The requested frames. An image shows the last one by default.
fn frames(args: &RenderArgs, recording: &Recording, output: &Output) -> Result<RangeInclusive<u32>, Failure> {
    let still = matches!(output, Output::Picture(_));
    if let Some(frame) = args.frame {
        return Ok(recording.frames(Some(frame), Some(frame))?);
    }
    if still && args.frames.is_given() {
        let path = args.to.as_deref().unwrap_or(recording.root()).display();
        let message = format!("{path} is a single image, but --frames is a range");
        let hint = "choose one with --frame N, or write frames.%04d.png, a folder, .mp4, .gif or .apng";
        return Err(Failure::input(message, hint));
    }
    if still {
        let last = recording.last_frame();
        return Ok(last..=last);
    }
    Ok(args.frames.of(recording)?)
}

/// Refuses options that would have no effect.
fn refuse_unused(args: &RenderArgs) -> Result<(), Failure> {
    if args.level.is_some() && args.color != Coloring::Level {
        return Err(Failure::input("--level requires --color level", "add --color level"));
    }
    if args.mesh_level > 0 && args.color == Coloring::Level {
        let message = "--mesh-level cannot be combined with --color level";
        return Err(Failure::input(message, "omit one of them"));
    }
    if args.range.is_some() && !args.color.measures() {
        let hint = "add --color strain, residual, hsv or overstretch";
        return Err(Failure::input("--range requires a colouring with a scale", hint));
    }
    Ok(())
}

fn options(args: &RenderArgs, recording: &Recording) -> Result<Options, Failure> {
    let placement = match &args.camera {
        Some(words) => Placement::Given(Camera::parse(words, film::up(recording)).map_err(|message| {
            Failure::input(message, "as in --camera 0,1,3/0,0.5,0/35; or choose a direction with --view")
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
        terminal::warning(&format!("MP4 requires even dimensions: the video will be {w}x{h} pixels"));
    }
}

fn warn_of_boxes(args: &RenderArgs) {
    let unknown = draw::unknown_characters(args.caption.as_deref().unwrap_or_default());
    if !unknown.is_empty() {
        let list: Vec<String> = unknown.iter().map(|c| format!("{c:?}")).collect();
        terminal::warning(&format!("the font has no {}: the caption shows boxes instead", list.join(", ")));
    }
}

fn report(
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

/// Parses a size such as `1280x720`.
pub fn parse_size(text: &str) -> Result<[usize; 2], String> {
    let largest = taut_render::render::LARGEST;
    let wrong = || format!("a size is WIDTHxHEIGHT in pixels, each from 1 to {largest}, as in 1280x720");
    let (width, height) = text.split_once(['x', 'X', '×']).ok_or_else(wrong)?;
    let number = |part: &str| {
        part.trim().parse::<usize>().ok().filter(|n| (1..=largest).contains(n)).ok_or_else(wrong)
    };
    Ok([number(width)?, number(height)?])
}

/// Parses a positive number.
pub fn parse_positive(text: &str) -> Result<f32, String> {
    let number = text.trim().parse::<f32>().ok().filter(|n| n.is_finite() && *n > 0.0);
    number.ok_or_else(|| "must be a positive number".to_owned())
}
