//! Exports of a run for other programs, made from its folder alone.
//!
//! Every format is a file of this folder. All of them stream: a frame is read, written and forgotten. What is
//! being written has a temporary name ([`Target`]) and gets its own when it is whole; an error or an
//! interruption leaves nothing behind.

mod gltf;
mod mdd;
mod npz;
mod obj;
mod pc2;
mod ply;
mod point_cache;
mod sink;
mod target;
mod usd;
mod uvs;
mod vtk;
mod zip;

use std::{
    io,
    ops::RangeInclusive,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use glam::Vec3;
use rayon::prelude::*;
use taut::mesh::tetrahedra::TetrahedronMesh;

use crate::{
    Problem,
    output::{OutputError, layout::is_forbidden},
    recording::{Body, Geometry, Recording},
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
    /// Point caches of Motion Designer (`.mdd`) beside Wavefront OBJ files of the rest meshes.
    Mdd,
    /// Wavefront OBJ, a file a frame.
    Obj,
    /// Stanford PLY, a file a frame.
    Ply,
    /// VTK unstructured grids (`.vtu`) with strain, stress and residual, and a collection (`.pvd`) of them.
    Vtk,
    /// glTF 2.0 in one binary file (`.glb`), animated by morph targets.
    Gltf,
    /// A NumPy archive.
    Npz,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 9] =
        [Self::Usd, Self::Usda, Self::Pc2, Self::Mdd, Self::Obj, Self::Ply, Self::Vtk, Self::Gltf, Self::Npz];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pc2 => "pc2",
            Self::Usd => "usd",
            Self::Usda => "usda",
            Self::Mdd => "mdd",
            Self::Obj => "obj",
            Self::Ply => "ply",
            Self::Vtk => "vtk",
            Self::Gltf => "gltf",
            Self::Npz => "npz",
        }
    }

    /// What it is for, in a few words.
    pub fn purpose(self) -> &'static str {
        match self {
            Self::Pc2 => "point cache and OBJ, for mesh cache modifiers",
            Self::Usd => "one binary USD layer (.usdc), for Houdini, Maya and Blender",
            Self::Usda => "the same as text",
            Self::Mdd => "the same in the format of Motion Designer",
            Self::Obj => "a text mesh a frame, for everything",
            Self::Ply => "a binary mesh a frame, for mesh tools",
            Self::Vtk => "strain, stress and residual of every triangle or tetrahedron, for ParaView",
            Self::Gltf => "one .glb with animation and obstacles, for the web",
            Self::Npz => "one file of arrays, for NumPy",
        }
    }

    /// The format called `name`, or whose file names end so, in upper or lower case.
    pub fn of_name(name: &str) -> Option<Self> {
        let is = |word: &str| word.eq_ignore_ascii_case(name);
        Self::ALL.into_iter().find(|format| is(format.name()) || format.extension().is_some_and(is))
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
            Self::Usd => Some("usdc"),
            Self::Usda => Some("usda"),
            Self::Gltf => Some("glb"),
            Self::Npz => Some("npz"),
            Self::Pc2 | Self::Mdd | Self::Obj | Self::Ply | Self::Vtk => None,
        }
    }

    /// Where the export of `recording` goes if the user does not say: into the folder of the run.
    pub fn default_path(self, recording: &Recording) -> PathBuf {
        let folder = recording.root().join("export");
        match self.extension() {
            Some(extension) => folder.join(format!("{}.{extension}", file_name(recording.name()))),
            None => folder.join(self.name()),
        }
    }
}

/// The name of a scene as that of a file, which no character of it leads out of the folder.
fn file_name(name: &str) -> String {
    let plain = |c: char| if is_forbidden(c) { '_' } else { c };
    // File systems take 255 bytes, and endings come on top.
    let name: String = name.trim_start_matches('.').chars().map(plain).take(50).collect();
    if name.is_empty() { "run".into() } else { name }
}

/// The bytes of a VTK file (`.vtu`) with the tetrahedra of `mesh`.
pub fn tetrahedra_file(mesh: &TetrahedronMesh) -> Vec<u8> {
    vtk::tetrahedra_file(mesh)
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

/// Exports the frames `frames` of `recording` as `format` to `path`, a file or a folder as
/// [`Format::extension`] says. What is there already is replaced only if `force` says so; in a folder, only
/// files of the same names.
///
/// # Errors
/// If a file of the run is damaged, the format cannot hold what happens in it, or the export cannot be
/// written.
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
    let written = match format {
        Format::Pc2 => pc2::write(&job),
        Format::Usd => usd::write_binary(&job),
        Format::Usda => usd::write_text(&job),
        Format::Mdd => mdd::write(&job),
        Format::Obj => obj::write(&job),
        Format::Ply => ply::write(&job),
        Format::Vtk => vtk::write(&job),
        Format::Gltf => gltf::write(&job),
        Format::Npz => npz::write(&job),
    };
    written.map_err(|error| match error {
        ExportError::Write(error) => ExportError::Write(target.told(error)),
        other => other,
    })?;
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
        self.count_read()?;
        Ok(self.recording.read(body, frame)?)
    }

    /// Before each frame of a body is read.
    fn count_read(&self) -> Result<(), ExportError> {
        if self.watch.stopped() {
            return Err(ExportError::Stopped);
        }
        let all = f64::from(self.reads * self.count()) * self.recording.bodies().len() as f64;
        self.watch.show((f64::from(self.done.fetch_add(1, Ordering::Relaxed)) / all).min(1.0));
        Ok(())
    }

    /// Calls `write` with the vertices of tetrahedra of a soft solid in every frame, several at a time and in
    /// any order.
    fn each_soft_frame(
        &self,
        body: usize,
        write: impl Fn(u32, Vec<Vec3>) -> Result<(), ExportError> + Sync,
    ) -> Result<(), ExportError> {
        self.frames.clone().into_par_iter().try_for_each(|frame| {
            self.count_read()?;
            write(frame, self.recording.read_tetrahedra(body, frame)?)
        })
    }

    /// Calls `write` with every body and its index.
    fn each_body(
        &self,
        mut write: impl FnMut(usize, &Body) -> Result<(), ExportError>,
    ) -> Result<(), ExportError> {
        self.recording.bodies().iter().enumerate().try_for_each(|(index, body)| write(index, body))
    }

    /// Calls `write` with every frame of a body, several at a time and in any order: for formats with a file
    /// a frame.
    fn each_frame(
        &self,
        body: usize,
        write: impl Fn(u32, Geometry) -> Result<(), ExportError> + Sync,
    ) -> Result<(), ExportError> {
        self.frames.clone().into_par_iter().try_for_each(|frame| write(frame, self.read(body, frame)?))
    }

    /// The file of one frame of a body.
    fn frame_path(&self, body: &Body, frame: u32, extension: &str) -> PathBuf {
        self.path.join(format!("{}.{frame:04}.{extension}", body.name))
    }

    /// Whether the connections of a body are those of its rest shape in all these frames.
    fn is_fixed(&self, body: &Body) -> bool {
        body.changes.iter().all(|change| change > self.frames.end())
    }

    /// Refuses bodies whose connections change in these frames, which `format` cannot hold.
    fn require_fixed_connections(&self, format: &str) -> Result<(), ExportError> {
        let Some(body) = self.recording.bodies().iter().find(|body| !self.is_fixed(body)) else {
            return Ok(());
        };
        let change = body.changes[0];
        let before = if change > *self.frames.start() {
            format!(", or the frames before it with --frames {}-{}", self.frames.start(), change - 1)
        } else {
            String::new()
        };
        let message = format!(
            "the triangles of {} change in frame {change}, which {format} cannot hold: export to usd, obj, ply, vtk or \
             npz{before}",
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
