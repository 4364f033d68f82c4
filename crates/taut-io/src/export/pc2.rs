//! Point caches, version 2 (`.pc2`): the positions of every frame, for the mesh cache modifiers of Blender and others.
//!
//! A header of 32 bytes (`POINTCACHE2`, version 1, vertices, first frame, frames a sample, samples; little-endian), then x, y, z of
//! every vertex of every frame as float32. The modifier belongs on the mesh in the OBJ file beside it, which has its vertices in
//! the same order.

use std::{
    fs::File,
    io::{BufWriter, Write},
};

use super::{ExportError, Job};

/// Writes `NAME.pc2` and `NAME.obj` of every body.
pub(super) fn write(job: &Job) -> Result<(), ExportError> {
    for (index, body) in job.recording.bodies().iter().enumerate() {
        job.require_fixed_connections(index, "pc2")?;
        let path = job.path.join(format!("{}.pc2", body.name));
        let mut file = BufWriter::new(File::create(&path).map_err(Job::failed(&path))?);
        let mut put = |bytes: &[u8]| file.write_all(bytes).map_err(Job::failed(&path));
        put(b"POINTCACHE2\0")?;
        put(&1_i32.to_le_bytes())?;
        put(&(body.rest.positions.len() as i32).to_le_bytes())?;
        put(&(*job.frames.start() as f32).to_le_bytes())?;
        put(&1_f32.to_le_bytes())?;
        put(&(job.count() as i32).to_le_bytes())?;
        let mut bytes = Vec::new();
        for frame in job.frames.clone() {
            bytes.clear();
            for x in job.read(index, frame)?.positions {
                bytes.extend_from_slice(x.to_array().map(f32::to_le_bytes).as_flattened());
            }
            put(&bytes)?;
        }
        file.flush().map_err(Job::failed(&path))?;
    }
    Ok(())
}
