//! Exports of a run for other programs, made from its folder alone.
//!
//! Every format is a file of this folder. All of them stream: a frame is read, written and forgotten. What is being written has a
//! temporary name ([`target`]) and gets its own when it is whole; an error or an interruption leaves nothing behind.

mod pc2;
mod target;
mod usd;

use std::{
    io,
    ops::RangeInclusive,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use crate::{
    Problem,
    output::OutputError,
    recording::{Geometry, Recording},
};

pub use target::Target;

/// What to export to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Point caches (`.pc2`) beside Wavefront OBJ files of the rest meshes: for mesh cache modifiers.
    Pc2,
    /// One USD layer, binary (`.usdc`), with all bodies and obstacles.
    Usd,
    /// The same as text.
    Usda,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 3] = [Self::Pc2, Self::Usd, Self::Usda];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pc2 => "pc2",
            Self::Usd => "usd",
            Self::Usda => "usda",
        }
    }

    /// What it is for, in a few words.
    pub fn purpose(self) -> &'static str {
        match self {
            Self::Pc2 => "point cache and OBJ, for mesh cache modifiers",
            Self::Usd => "one binary USD layer (.usdc), for Houdini, Maya and Blender",
            Self::Usda => "the same as text",
        }
    }

    /// The format called `name`, in upper or lower case.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name().eq_ignore_ascii_case(name))
    }

    /// The format that the ending of a file name stands for, if it is one that exports to a single file.
    pub fn of_path(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        // A layer of that ending may be binary or text.
        if ending.eq_ignore_ascii_case("usd") {
            return Some(Self::Usd);
        }
        Self::ALL
            .into_iter()
            .find(|format| format.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending)))
    }

    /// Whether the export is one file, and how its name ends then; otherwise it is a folder.
    pub fn extension(self) -> Option<&'static str> {
        match self {
            Self::Pc2 => None,
            Self::Usd => Some("usdc"),
            Self::Usda => Some("usda"),
        }
    }

    /// Where the export of `recording` goes if the user does not say: into the folder of the run.
    pub fn default_path(self, recording: &Recording) -> PathBuf {
        let folder = recording.root().join("export");
        match self.extension() {
            Some(extension) => folder.join(format!("{}.{extension}", recording.name())),
            None => folder.join(self.name()),
        }
    }
}

/// Why an export was not made. Nothing of it is left.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The run cannot be exported so: a file of it is damaged, or the format cannot hold it.
    #[error("{0}")]
    Input(Problem),
    /// It could not be written.
    #[error(transparent)]
    Write(#[from] OutputError),
    /// The user asked to stop.
    #[error("stopped by the user")]
    Stopped,
}

impl From<Problem> for ExportError {
    fn from(problem: Problem) -> Self {
        Self::Input(problem)
    }
}

/// Somebody who watches an export, and may stop it.
pub trait Watch: Sync {
    /// `part` of it is done, of 1.
    fn show(&self, part: f64);
    /// Whether to stop.
    fn stopped(&self) -> bool;
}

/// Nobody watches.
impl Watch for () {
    fn show(&self, _: f64) {}
    fn stopped(&self) -> bool {
        false
    }
}

/// Exports the frames `frames` of `recording` as `format` to `path`, a file or a folder as [`Format::extension`] says. What is there
/// already is replaced only if `force` says so; in a folder, only files of the same names.
///
/// # Errors
/// If a file of the run is damaged, the format cannot hold what happens in it, or the export cannot be written.
pub fn export(
    recording: &Recording,
    format: Format,
    path: &Path,
    frames: RangeInclusive<u32>,
    force: bool,
    watch: &dyn Watch,
) -> Result<(), ExportError> {
    let format = usd::by_ending(format, path)?;
    let target = match format.extension() {
        Some(_) => Target::file(path, force)?,
        None => Target::folder(path, force)?,
    };
    let reads = if format == Format::Usda { usd::READS_OF_TEXT } else { 1 };
    let job = Job { recording, frames, path: target.temporary(), watch, reads, done: AtomicU32::new(0) };
    match format {
        Format::Pc2 => pc2::write(&job)?,
        Format::Usd => usd::write_binary(&job)?,
        Format::Usda => usd::write_text(&job)?,
    }
    target.finish()?;
    Ok(())
}

/// One export: what every format needs.
struct Job<'a> {
    recording: &'a Recording,
    frames: RangeInclusive<u32>,
    /// The file or folder to write; it has another name until it is whole.
    path: &'a Path,
    watch: &'a dyn Watch,
    /// How often each frame of a body is read.
    reads: u32,
    /// Frames of bodies that have been read.
    done: AtomicU32,
}

impl Job<'_> {
    /// Number of frames.
    fn count(&self) -> u32 {
        self.frames.end() - self.frames.start() + 1
    }

    /// Reads a frame of a body, tells how far the export has come, and stops where the user wants it.
    fn read(&self, body: usize, frame: u32) -> Result<Geometry, ExportError> {
        if self.watch.stopped() {
            return Err(ExportError::Stopped);
        }
        let all = f64::from(self.reads * self.count()) * self.recording.bodies().len() as f64;
        self.watch.show((f64::from(self.done.fetch_add(1, Ordering::Relaxed)) / all).min(1.0));
        Ok(self.recording.read(body, frame)?)
    }

    /// Refuses a body whose connections change in these frames, which `format` cannot hold.
    fn require_fixed_connections(&self, body: usize, format: &str) -> Result<(), ExportError> {
        let body = &self.recording.bodies()[body];
        let Some(change) = body.changes.iter().find(|&change| change <= self.frames.end()) else {
            return Ok(());
        };
        let message = format!(
            "the triangles of {} change in frame {change}, which {format} cannot hold: export to usd, obj, ply or vtk, or frames \
             before it",
            body.name
        );
        Err(Problem { file: Some(self.recording.root().into()), message, ..Problem::default() }.into())
    }

    /// An error of the system about `path`.
    fn failed(path: &Path) -> impl FnOnce(io::Error) -> ExportError {
        let failed = OutputError::io("write", path);
        move |error| failed(error).into()
    }
}
