//! NumPy archives (`.npz`): everything in one file, for `numpy.load`.
//!
//! | array | type and shape | |
//! |---|---|---|
//! | `frames` | int32 \[k\] | numbers of the frames |
//! | `times` | float32 \[k\] | their times \[s\] |
//! | `NAME/positions` | float32 \[k, n, 3\] | of every frame \[m\] |
//! | `NAME/rest` | float32 \[n, 3\] | rest shape \[m\] |
//! | `NAME/triangles` | int32 \[m, 3\] | over `rest`, and over `positions` |
//! | `NAME/strands` | int32 \[s\] | instead of triangles: number of vertices of each strand |
//! | `NAME/radii` | float32 \[n\] | of strands at each vertex, if they are known \[m\] |
//! | `NAME/uvs` | float32 \[m, 3, 2\] | of the corners of triangles, v upwards, if the mesh has them |
//!
//! A body whose triangles change has `NAME/positions.0042`, float32 \[n, 3\], for each frame instead of
//! `NAME/positions`, and `NAME/triangles.0042` (`NAME/strands.0042` of strands that are cut, which keep their
//! vertices) at each change, valid until the next. The first frame of the
//! archive always has them. With them comes `NAME/origins.0042`, int32 \[n\], if the body has torn: the
//! vertex of `rest` that each of its vertices was split from, so that `rest[origins]` is the rest shape of
//! the torn body.

use super::{
    ExportError, Job,
    sink::{put_indices, put_vectors},
    zip::Archive,
};
use crate::{
    output::npy,
    recording::{Body, Connections},
};

const FLOAT: &str = "<f4";
const INTEGER: &str = "<i4";

/// Writes all bodies into one file.
pub(super) fn write(job: &Job) -> Result<(), ExportError> {
    let mut archive = Archive::create(job.path)?;
    let frames: Vec<u32> = job.frames.clone().collect();
    archive.put("frames.npy".into(), &integers(&frames, &[frames.len()]))?;
    let times = frames.iter().map(|&frame| job.recording.time(frame));
    archive.put("times.npy".into(), &floats(times, &[frames.len()]))?;
    job.each_body(|index, body| {
        put_rest(&mut archive, body)?;
        if job.is_fixed(body) {
            put_fixed(job, &mut archive, index, body)
        } else {
            put_changing(job, &mut archive, index, body)
        }
    })?;
    archive.finish()
}

/// Arrays that are constant over frames.
fn put_rest(archive: &mut Archive, body: &Body) -> Result<(), ExportError> {
    let name = |array: &str| format!("{}/{array}.npy", body.name);
    archive.put(name("rest"), &npy::encode(&body.rest.positions))?;
    match &*body.rest.connections {
        Connections::Triangles(triangles) => {
            archive.put(name("triangles"), &npy::encode_triangles(triangles))?
        }
        Connections::Curves(counts) => archive.put(name("strands"), &integers(counts, &[counts.len()]))?,
    }
    if let Some(radii) = &body.radii {
        archive.put(name("radii"), &floats(radii.iter().copied(), &[radii.len()]))?;
    }
    if let Some(uvs) = &body.uvs {
        let numbers = uvs.iter().flatten().flat_map(|uv| uv.to_array());
        archive.put(name("uvs"), &floats(numbers, &[uvs.len(), 3, 2]))?;
    }
    Ok(())
}

/// All frames as one array.
fn put_fixed(job: &Job, archive: &mut Archive, index: usize, body: &Body) -> Result<(), ExportError> {
    let vertices = body.rest.positions.len();
    let header = npy::header(FLOAT, &[job.count() as usize, vertices, 3]);
    let length = header.len() as u64 + u64::from(job.count()) * 12 * vertices as u64;
    let mut entry = archive.begin(format!("{}/positions.npy", body.name), length)?;
    entry.put(&header)?;
    let mut bytes = Vec::new();
    for frame in job.frames.clone() {
        bytes.clear();
        put_vectors(&mut bytes, &job.read(index, frame)?.positions);
        entry.put(&bytes)?;
    }
    entry.finish()
}

/// An array for each frame.
fn put_changing(job: &Job, archive: &mut Archive, index: usize, body: &Body) -> Result<(), ExportError> {
    for frame in job.frames.clone() {
        let geometry = job.read(index, frame)?;
        archive.put(format!("{}/positions.{frame:04}.npy", body.name), &npy::encode(&geometry.positions))?;
        if frame == *job.frames.start() || body.changes.contains(&frame) {
            let (what, array) = match &*geometry.connections {
                Connections::Triangles(triangles) => ("triangles", npy::encode_triangles(triangles)),
                Connections::Curves(counts) => ("strands", integers(counts, &[counts.len()])),
            };
            archive.put(format!("{}/{what}.{frame:04}.npy", body.name), &array)?;
            if let Some(origins) = body.origins(&geometry) {
                let origins = integers(&origins, &[origins.len()]);
                archive.put(format!("{}/origins.{frame:04}.npy", body.name), &origins)?;
            }
        }
    }
    Ok(())
}

fn integers(numbers: &[u32], shape: &[usize]) -> Vec<u8> {
    let mut bytes = npy::header(INTEGER, shape);
    put_indices(&mut bytes, numbers);
    bytes
}

fn floats(numbers: impl Iterator<Item = f32>, shape: &[usize]) -> Vec<u8> {
    let mut bytes = npy::header(FLOAT, shape);
    super::sink::put_floats(&mut bytes, numbers);
    bytes
}
