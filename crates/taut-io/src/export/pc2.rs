//! Point caches, version 2 (`.pc2`): the positions of every frame, for the mesh cache modifiers of Blender
//! and others.
//!
//! A header of 32 bytes (`POINTCACHE2`, version 1, vertices, first frame, frames a sample, samples;
//! little-endian), then x, y, z of every vertex of every frame as float32. Apply the modifier to the mesh in
//! the OBJ file beside it, which has the same vertex order; strands are lines there.

use super::{
    ExportError, Job,
    point_cache::{self, Kind},
};

const PC2: Kind = Kind { name: "pc2", header, number: f32::to_le_bytes };

/// Writes `NAME.pc2` and `NAME.obj` of every body.
pub(super) fn write(job: &Job) -> Result<(), ExportError> {
    point_cache::write(job, &PC2)
}

fn header(job: &Job, vertices: usize) -> Vec<u8> {
    let mut bytes = b"POINTCACHE2\0".to_vec();
    bytes.extend_from_slice(&1_i32.to_le_bytes());
    bytes.extend_from_slice(&(vertices as i32).to_le_bytes());
    bytes.extend_from_slice(&(*job.frames.start() as f32).to_le_bytes());
    bytes.extend_from_slice(&1_f32.to_le_bytes());
    bytes.extend_from_slice(&(job.count() as i32).to_le_bytes());
    bytes
}
