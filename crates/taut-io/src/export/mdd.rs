//! Motion Designer point caches (`.mdd`): the positions of every frame, for mesh cache modifiers.
//!
//! Everything is big-endian: the numbers of frames and vertices as int32, the time of each frame \[s\] as
//! float32, then x, y, z of every vertex of every frame as float32. The OBJ file beside it is the animated
//! mesh, as for [`pc2`](super::pc2).

use super::{
    ExportError, Job,
    point_cache::{self, Kind},
};

const MDD: Kind = Kind { name: "mdd", header, number: f32::to_be_bytes };

/// Writes `NAME.mdd` and `NAME.obj` of every body.
pub(super) fn write(job: &Job) -> Result<(), ExportError> {
    point_cache::write(job, &MDD)
}

fn header(job: &Job, vertices: usize) -> Vec<u8> {
    let mut bytes = (job.count() as i32).to_be_bytes().to_vec();
    bytes.extend_from_slice(&(vertices as i32).to_be_bytes());
    bytes.extend(job.frames.clone().flat_map(|frame| job.recording.time(frame).to_be_bytes()));
    bytes
}
