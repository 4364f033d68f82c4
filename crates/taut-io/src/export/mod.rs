//! Exports of a run to other formats, from its folder alone.
//!
//! One module per format. All of them stream frame by frame. Output is written under a temporary name
//! ([`Target`]) and renamed when complete; an error or an interruption leaves nothing behind.

mod gltf;
mod hair;
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
    borrow::Cow,
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
    recording::{Body, Geometry, Recording, gather},
};

pub use target::Target;

/// An export format.
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
    /// Wavefront OBJ, one file per frame.
    Obj,
    /// Stanford PLY, one file per frame.
    Ply,
    /// Strands (`.hair`), one file per frame.
    Hair,
    /// VTK unstructured grids (`.vtu`) with strain, stress and residual, and a collection (`.pvd`) of them.
    Vtk,
    /// glTF 2.0 in one binary file (`.glb`), animated by morph targets.
    Gltf,
    /// A NumPy archive.
    Npz,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 10] = [
        Self::Usd,
        Self::Usda,
        Self::Pc2,
        Self::Mdd,
        Self::Obj,
        Self::Ply,
        Self::Hair,
        Self::Vtk,
        Self::Gltf,
        Self::Npz,
    ];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Pc2 => "pc2",
            Self::Usd => "usd",
            Self::Usda => "usda",
            Self::Mdd => "mdd",
            Self::Obj => "obj",
            Self::Ply => "ply",
            Self::Hair => "hair",
            Self::Vtk => "vtk",
            Self::Gltf => "gltf",
            Self::Npz => "npz",
        }
    }

    /// Purpose, in a few words.
    pub fn purpose(self) -> &'static str {
        match self {
            Self::Pc2 => "point cache and OBJ, for mesh cache modifiers",
            Self::Usd => "one binary USD layer (.usdc), for Houdini, Maya and Blender",
            Self::Usda => "the same as text",
            Self::Mdd => "the same in Motion Designer format",
            Self::Obj => "one text mesh per frame, for everything",
            Self::Ply => "one binary mesh per frame, for mesh tools",
            Self::Hair => "one file of strands per frame, for hair tools",
            Self::Vtk => "strain, stress and residual of every triangle or tetrahedron, for ParaView",
            Self::Gltf => "one .glb with animation and obstacles, for the web",
            Self::Npz => "one file of arrays, for NumPy",
        }
    }

    /// Whether it takes surfaces; otherwise only strands, and other bodies are left out.
    pub fn takes_surfaces(self) -> bool {
        self != Self::Hair
    }

    /// The format with the name or extension `name`, case-insensitive.
    pub fn of_name(name: &str) -> Option<Self> {
        let is = |word: &str| word.eq_ignore_ascii_case(name);
        Self::ALL.into_iter().find(|format| is(format.name()) || format.extension().is_some_and(is))
    }

    /// The format of a file by its extension, if it exports to a single file.
    pub fn of_path(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        // A layer with that extension may be binary or text.
        if ending.eq_ignore_ascii_case("usd") {
            return Some(Self::Usd);
        }
        Self::ALL
            .into_iter()
            .find(|format| format.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending)))
    }

    /// The extension, if the export is a single file; otherwise it is a folder.
    pub fn extension(self) -> Option<&'static str> {
        match self {
            Self::Usd => Some("usdc"),
            Self::Usda => Some("usda"),
            Self::Gltf => Some("glb"),
            Self::Npz => Some("npz"),
            Self::Pc2 | Self::Mdd | Self::Obj | Self::Ply | Self::Hair | Self::Vtk => None,
        }
    }

    /// Default path of the export of `recording`: in the run folder.
    pub fn default_path(self, recording: &Recording) -> PathBuf {
        let folder = recording.root().join("export");
        match self.extension() {
            Some(extension) => folder.join(format!("{}.{extension}", file_name(recording.name()))),
            None => folder.join(self.name()),
        }
    }
}

/// The name of a scene as a safe file name.
fn file_name(name: &str) -> String {
    let plain = |c: char| if is_forbidden(c) { '_' } else { c };
    // File systems allow 255 bytes, including extensions.
    let name: String = name.trim_start_matches('.').chars().map(plain).take(50).collect();
    if name.is_empty() { "run".into() } else { name }
}

/// The bytes of a VTK file (`.vtu`) with the tetrahedra of `mesh`.
pub fn tetrahedra_file(mesh: &TetrahedronMesh) -> Vec<u8> {
    vtk::tetrahedra_file(mesh)
}

/// Why an export failed. No partial output is left.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The run cannot be exported: a file is damaged, or the format does not support its contents.
    #[error("{0}")]
    Input(Problem),
    /// Write error.
    #[error(transparent)]
    Write(#[from] OutputError),
    /// Interrupted by the user.
    #[error("stopped by the user")]
    Stopped,
}

impl From<Problem> for ExportError {
    fn from(problem: Problem) -> Self {
        Self::Input(problem)
    }
}

/// Observes an export, and may stop it.
pub trait Watch: Sync {
    /// Reports the completed fraction, 0 to 1.
    fn show(&self, part: f64);
    /// Whether to stop.
    fn stopped(&self) -> bool;
}

/// No observer.
impl Watch for () {
    fn show(&self, _: f64) {}
    fn stopped(&self) -> bool {
        false
    }
}

/// Exports the frames `frames` of `recording` as `format` to `path`, a file or a folder (see
/// [`Format::extension`]). Existing output is overwritten only with `force`; in a folder, only files of the
/// same names.
///
/// # Errors
/// If a file of the run is damaged, the format does not support its contents, or the export cannot be
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
        Format::Hair => hair::write(&job),
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

/// A body in the connectivity of its last frame. What is torn there, but not yet in an earlier frame, has
/// vertices at the same place in that frame: its pieces touch, and look as one.
struct Settled {
    /// Its rest shape, torn.
    rest: Geometry,
    /// Its last frame, if its connectivity is not that of the recording's rest shape.
    last: Option<Geometry>,
}

impl Settled {
    /// Vectors of the vertices of `geometry`, a frame, at the vertices of the settled body.
    fn spread<'a>(&self, geometry: &Geometry, vectors: &'a [Vec3]) -> Cow<'a, [Vec3]> {
        match self.last.as_ref().and_then(|last| geometry.origins_of(last)) {
            Some(origins) => gather(vectors, &origins).into(),
            None => vectors.into(),
        }
    }
}

/// One export: data common to all formats.
struct Job<'a> {
    recording: &'a Recording,
    frames: RangeInclusive<u32>,
    /// The temporary file or folder to write.
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

    /// Reads a frame of a body, reports progress, and stops if requested.
    fn read(&self, body: usize, frame: u32) -> Result<Geometry, ExportError> {
        self.count_read()?;
        Ok(self.recording.read(body, frame)?)
    }

    /// Called before each frame of a body is read.
    fn count_read(&self) -> Result<(), ExportError> {
        if self.watch.stopped() {
            return Err(ExportError::Stopped);
        }
        let all = f64::from(self.reads * self.count()) * self.recording.bodies().len() as f64;
        self.watch.show((f64::from(self.done.fetch_add(1, Ordering::Relaxed)) / all).min(1.0));
        Ok(())
    }

    /// Calls `write` with the tetrahedral vertices of a soft body in every frame, in parallel and in any
    /// order.
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

    /// Calls `write` with every frame of a body, in parallel and in any order: for formats with one file per
    /// frame.
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

    /// Whether a body has the connectivity of its rest shape in all these frames.
    fn is_fixed(&self, body: &Body) -> bool {
        body.changes.iter().all(|change| change > self.frames.end())
    }

    /// A body whose connectivity is the same in all these frames: that of the last, where `format` does not
    /// support changes.
    ///
    /// # Errors
    /// If the triangles of an earlier frame are not those of the last before vertices were split, or the last
    /// frame cannot be read.
    fn settled(&self, index: usize, format: &str) -> Result<Settled, ExportError> {
        let (recording, body) = (self.recording, &self.recording.bodies()[index]);
        if self.is_fixed(body) {
            return Ok(Settled { rest: body.rest.clone(), last: None });
        }
        let last = recording.read(index, *self.frames.end())?;
        let Some(positions) = body.rest_positions_of(&last) else { return Err(self.refused(body, format)) };
        let changes = body.changes.iter().copied().filter(|change| self.frames.contains(change));
        for frame in changes.chain([*self.frames.start()]) {
            if recording.read(index, frame)?.origins_of(&last).is_none() {
                return Err(self.refused(body, format));
            }
        }
        let rest = Geometry { positions, connections: last.connections.clone() };
        Ok(Settled { rest, last: Some(last) })
    }

    /// Why `format` does not take `body`.
    fn refused(&self, body: &Body, format: &str) -> ExportError {
        let inside = body.changes.iter().copied().find(|change| self.frames.contains(change));
        let change = inside.unwrap_or(*self.frames.start());
        let before = if change > *self.frames.start() {
            format!(", or the frames before it with --frames {}-{}", self.frames.start(), change - 1)
        } else {
            String::new()
        };
        let message = format!(
            "the triangles of {} change in frame {change} by more than tears, which {format} does not support: export to usd, \
             obj, ply, vtk or npz{before}",
            body.name
        );
        Problem { file: Some(self.recording.root().into()), message, ..Problem::default() }.into()
    }

    /// A system error on `path`.
    fn failed(path: &Path) -> impl FnOnce(io::Error) -> ExportError {
        let failed = OutputError::io("write", path);
        move |error| failed(error).into()
    }
}
