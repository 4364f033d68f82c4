//! Common parts of point caches: a header, then the positions of every frame; and the animated mesh, as OBJ
//! beside them. Cloth that tears has the vertices and triangles of the last frame in all frames.

use super::{ExportError, Job, obj, sink::Sink};

/// A kind of point cache.
pub(super) struct Kind {
    /// Name and file extension.
    pub name: &'static str,
    /// Header before the positions of this many vertices.
    pub header: fn(&Job, usize) -> Vec<u8>,
    /// The bytes of a number.
    pub number: fn(f32) -> [u8; 4],
}

/// Writes the cache and `NAME.obj` of every body.
pub(super) fn write(job: &Job, kind: &Kind) -> Result<(), ExportError> {
    job.each_body(|index, body| {
        let settled = job.settled(index, kind.name)?;
        obj::write_rest(job, body, &settled.rest)?;
        let mut file = Sink::create(job.path.join(format!("{}.{}", body.name, kind.name)))?;
        file.put(&(kind.header)(job, settled.rest.positions.len()))?;
        let mut bytes = Vec::new();
        for frame in job.frames.clone() {
            bytes.clear();
            let geometry = job.read(index, frame)?;
            for x in &*settled.spread(&geometry, &geometry.positions) {
                bytes.extend_from_slice(x.to_array().map(kind.number).as_flattened());
            }
            file.put(&bytes)?;
        }
        file.finish()
    })
}
