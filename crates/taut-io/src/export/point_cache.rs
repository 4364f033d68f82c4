//! Common parts of point caches: a header, then the positions of every frame; and the animated mesh, as OBJ
//! beside them.

use super::{ExportError, Job, obj, sink::Sink};
use crate::recording::Body;

/// A kind of point cache.
pub(super) struct Kind {
    /// Name and file extension.
    pub name: &'static str,
    /// Header before the positions.
    pub header: fn(&Job, &Body) -> Vec<u8>,
    /// The bytes of a number.
    pub number: fn(f32) -> [u8; 4],
}

/// Writes the cache and `NAME.obj` of every body.
pub(super) fn write(job: &Job, kind: &Kind) -> Result<(), ExportError> {
    job.require_fixed_connections(kind.name)?;
    job.each_body(|index, body| {
        obj::write_rest(job, body)?;
        let mut file = Sink::create(job.path.join(format!("{}.{}", body.name, kind.name)))?;
        file.put(&(kind.header)(job, body))?;
        let mut bytes = Vec::new();
        for frame in job.frames.clone() {
            bytes.clear();
            for x in job.read(index, frame)?.positions {
                bytes.extend_from_slice(x.to_array().map(kind.number).as_flattened());
            }
            file.put(&bytes)?;
        }
        file.finish()
    })
}
