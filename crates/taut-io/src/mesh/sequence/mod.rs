//! Animated meshes: numbered files, or one file with the vertices of all frames.
//!
//! Every frame has the same faces, those of the first; vertices are identified by their index.

mod cache;
mod numbered;

use std::path::Path;

use glam::Vec3;

use super::{Fault, Format, fault, file, gltf, read, usd};
use crate::Problem;

pub use cache::CacheFormat;
pub use numbered::Numbered;

/// Maximum total vertices of all frames of a sequence: 12 GiB of positions.
pub(super) const MAX_POINTS: usize = 1 << 30;

/// An animated mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeshSequence {
    /// Vertices of each face.
    pub triangles: Vec<[u32; 3]>,
    /// Positions of all vertices in each frame \[m\]; at least one frame.
    pub positions: Vec<Vec<Vec3>>,
    /// Time of each frame \[s\], strictly increasing.
    pub times: Vec<f64>,
}

/// Reads numbered files: `rate` frames a second, the first of `files` at `start` \[s\]. Numbers left out are
/// left out in time as well.
///
/// # Errors
/// A problem that names the file, and the line or element.
pub fn read_numbered(
    files: &[(u32, std::path::PathBuf)],
    rate: f64,
    start: f64,
) -> Result<MeshSequence, Problem> {
    let mut sequence = MeshSequence::default();
    for (number, path) in files {
        let mesh = read(path)?;
        let refuse = |message: String| Err(fault(message).into_problem(Some(path)));
        let (vertices, faces) = (mesh.positions.len(), mesh.triangles.len());
        if let Some(first) = sequence.positions.first() {
            if vertices != first.len() || faces != sequence.triangles.len() {
                return refuse(format!(
                    "has {vertices} vertices and {faces} triangles, {} has {} and {}: all frames must have the same faces",
                    files[0].1.display(),
                    first.len(),
                    sequence.triangles.len()
                ));
            }
        } else {
            sequence.triangles = mesh.triangles;
        }
        if vertices.saturating_mul(files.len()) > MAX_POINTS {
            let frames = files.len();
            return refuse(format!(
                "has {vertices} vertices, in {frames} frames: at most {MAX_POINTS} are read in all"
            ));
        }
        sequence.positions.push(mesh.positions);
        sequence.times.push(start + f64::from(number - files[0].0) / rate);
    }
    Ok(sequence)
}

/// Frames per second of animations that have no rate of their own.
const DEFAULT_RATE: f64 = 30.0;

/// Reads a glTF file and plays its first animation, or plays the time samples of a USD file: `rate` frames a
/// second, the first at `start` \[s\]. By default 30 a second; of a USD file, its time codes, doubled until
/// they are 24 a second at least.
///
/// # Errors
/// A problem that names the file, and the element.
pub fn read_animation(
    path: &Path,
    rate: impl Into<Option<f64>>,
    start: f64,
) -> Result<MeshSequence, Problem> {
    let rate = rate.into();
    let play = || {
        let bytes = file::read(path)?;
        match Format::of_path(path) {
            Some(Format::Usd) => usd::animation::play(&bytes, rate),
            _ => gltf::animation::play(&bytes, path.parent(), rate.unwrap_or(DEFAULT_RATE)),
        }
    };
    let mut sequence = play().map_err(|fault| fault.into_problem(Some(path)))?;
    sequence.times.iter_mut().for_each(|time| *time += start);
    Ok(sequence)
}

/// Reads a point cache at `path`, which moves the vertices of the mesh at `mesh`. The first frame is at
/// `start` \[s\]; where the cache has no times of its own, frames are `rate` a second.
///
/// # Errors
/// A problem that names the file, and what is wrong with it.
pub fn read_cache(path: &Path, mesh: &Path, rate: f64, start: f64) -> Result<MeshSequence, Problem> {
    let triangles = read(mesh)?;
    let count = triangles.positions.len();
    let parse = || -> Result<MeshSequence, Fault> {
        let format = CacheFormat::of_path(path)
            .ok_or_else(|| fault("unknown point cache format: the extension must be .pc2 or .mdd"))?;
        let cache = cache::parse(&file::read(path)?, format)?;
        if cache.vertices != count {
            let mesh = mesh.display();
            return Err(fault(format!(
                "has {} vertices, {mesh} has {count}: they must be the same",
                cache.vertices
            )));
        }
        Ok(MeshSequence {
            triangles: triangles.triangles.clone(),
            positions: cache.positions,
            times: cache
                .frames
                .iter()
                .map(|&frame| match format {
                    CacheFormat::Pc2 => start + frame / rate,
                    CacheFormat::Mdd => start + frame,
                })
                .collect(),
        })
    };
    parse().map_err(|fault| fault.into_problem(Some(path)))
}
