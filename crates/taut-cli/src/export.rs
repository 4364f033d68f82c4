//! `taut export`: exports the frames of a run to other formats.

use std::{ops::RangeInclusive, path::Path, process::ExitCode};

use serde_json::json;
use taut_io::{
    export::{self, ExportError, Format, Watch},
    output::OutputError,
    recording::Recording,
};

use crate::{
    args::ExportArgs,
    failure::{Failure, code},
    interrupt::Interrupt,
    progress::Share,
    terminal,
};

/// Exports a run.
pub fn export(args: &ExportArgs) -> Result<ExitCode, Failure> {
    let mut formats = formats(&args.format)?;
    if let (Some(to), []) = (&args.to, formats.as_slice()) {
        formats.push(of_path(to)?);
    }
    if args.to.is_some() && formats.len() > 1 {
        let hint = "omit -o, or export one format at a time";
        return Err(Failure::input("-o names one file or folder, but several formats were given", hint));
    }
    if let (Some(to), &[format]) = (&args.to, formats.as_slice()) {
        refuse_other_extension(format, to)?;
    }
    let recording = Recording::open(&args.out)?;
    let frames = args.frames.of(&recording)?;
    let interrupt = Interrupt::listen();
    let mut written = Vec::new();
    for format in formats {
        let path = args.to.clone().unwrap_or_else(|| format.default_path(&recording));
        let request = Request { format, path: &path, frames: frames.clone(), force: args.force };
        if !write(&recording, request, &interrupt, args.quiet)? {
            return Ok(code::INTERRUPTED.into());
        }
        if !args.quiet && !args.json {
            terminal::print(&format!(
                "{}: {}, frames {} to {}\n",
                path.display(),
                format.purpose(),
                frames.start(),
                frames.end()
            ))?;
        }
        written.push(json!({ "format": format.name(), "path": path }));
    }
    if args.json {
        let (first, last) = (frames.start(), frames.end());
        terminal::print_json(&json!({ "written": written, "first_frame": first, "last_frame": last }))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Exports all frames of the run in `root` and overwrites earlier exports; false if interrupted.
pub fn export_run(
    root: &Path,
    formats: &[Format],
    interrupt: &Interrupt,
    quiet: bool,
) -> Result<bool, Failure> {
    let recording = Recording::open(root)?;
    for &format in formats {
        let path = format.default_path(&recording);
        let request = Request { format, path: &path, frames: 0..=recording.last_frame(), force: true };
        if !write(&recording, request, interrupt, quiet)? {
            return Ok(false);
        }
        if !quiet {
            terminal::note(&format!("exported {}", path.display()));
        }
    }
    Ok(true)
}

struct Request<'a> {
    format: Format,
    path: &'a Path,
    frames: RangeInclusive<u32>,
    force: bool,
}

/// Writes one export; false if interrupted.
fn write(
    recording: &Recording,
    request: Request,
    interrupt: &Interrupt,
    quiet: bool,
) -> Result<bool, Failure> {
    let Request { format, path, frames, force } = request;
    let share = Share::new(quiet, format!("exporting {}", format.name()));
    let done = export::export(recording, format, path, frames, force, &Watcher { share: &share, interrupt });
    share.finish();
    match done {
        Ok(()) => Ok(true),
        Err(ExportError::Stopped) => {
            terminal::note("interrupted; the partial export was removed");
            Ok(false)
        }
        Err(ExportError::Input(problem)) => Err(problem.into()),
        Err(ExportError::Write(OutputError::Refused { problem, hint })) => {
            Err(Failure::Input { problems: problem.into(), hint: Some(hint) })
        }
        Err(ExportError::Write(error)) => Err(Failure::Write {
            message: error.to_string(),
            hint: Some("the partial export was removed".into()),
        }),
    }
}

/// The formats with these names.
pub fn formats(names: &[String]) -> Result<Vec<Format>, Failure> {
    let mut formats = Vec::new();
    for name in names {
        let Some(format) = Format::of_name(name.trim()) else {
            return Err(Failure::input(format!("unknown format {name:?}"), known()));
        };
        if !formats.contains(&format) {
            formats.push(format);
        }
    }
    Ok(formats)
}

fn known() -> String {
    let names: Vec<&str> = Format::ALL.into_iter().map(Format::name).collect();
    format!("formats are {}", names.join(", "))
}

/// The format of a file by its extension.
fn of_path(path: &Path) -> Result<Format, Failure> {
    Format::of_path(path).ok_or_else(|| {
        let message = format!("cannot tell the format from the extension of {}", path.display());
        Failure::input(message, format!("add --format; {}", known()))
    })
}

/// Refuses an extension of another format: no program would open the file.
fn refuse_other_extension(format: Format, path: &Path) -> Result<(), Failure> {
    let is_usd = |format| matches!(format, Format::Usd | Format::Usda);
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    match Format::of_name(ending) {
        Some(other) if other != format && !(is_usd(other) && is_usd(format)) => {
            let message = format!(
                "{}: .{ending} is the extension of {}, not of {}",
                path.display(),
                other.name(),
                format.name()
            );
            let right = match format.extension() {
                Some(extension) => format!("the extension of {} is .{extension}", format.name()),
                None => format!("{} is a folder of files: choose a name without an extension", format.name()),
            };
            Err(Failure::input(message, right))
        }
        _ => Ok(()),
    }
}

struct Watcher<'a> {
    share: &'a Share,
    interrupt: &'a Interrupt,
}

impl Watch for Watcher<'_> {
    fn show(&self, part: f64) {
        self.share.show(part);
    }

    fn stopped(&self) -> bool {
        self.interrupt.is_requested()
    }
}
