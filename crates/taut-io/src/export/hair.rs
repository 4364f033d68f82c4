//! Strands (`.hair`, the format of cyHair): binary, one file per frame.
//!
//! Little-endian. A header of 128 bytes: `HAIR`, the numbers of strands and of points, the arrays that follow
//! as bits (1 segments, 2 points, 4 thickness), defaults for those that do not, and 88 bytes of text. Then
//! the number of segments of each strand as uint16, x, y, z of all points as float32 \[m\], strand after
//! strand from the root, and if radii are known the thickness at each point, its diameter \[m\], as float32.
//! The format has no axes or units of its own: y is up, lengths are in metres.
//!
//! Bodies without strands are left out; a run without any strands is refused.

use super::{
    ExportError, Job,
    sink::{put_floats, put_indices, put_vectors, write_file},
};
use crate::{
    Problem,
    recording::{Body, Connections},
};

const SEGMENTS: u32 = 1;
const POINTS: u32 = 2;
const THICKNESS: u32 = 4;
/// Bytes of text in the header.
const ABOUT: usize = 88;
/// Thickness of strands in files without one \[m\]: that of a human hair.
const DEFAULT_THICKNESS: f32 = 8e-5;
/// Colour of strands.
const COLOR: [f32; 3] = [0.35, 0.22, 0.12];

/// Writes `NAME.0042.hair` of every body of strands and frame.
pub(super) fn write(job: &Job) -> Result<(), ExportError> {
    if !job.recording.bodies().iter().any(|body| segments(body).is_some()) {
        return Err(refused(
            job,
            "has no strands, and hair files contain nothing else: export to usd or obj",
        ));
    }
    job.each_body(|index, body| {
        let Some(counts) = segments(body) else { return Ok(()) };
        let whole = head(job, body, counts)?;
        let tail = body.radii.iter().flatten().map(|radius| 2.0 * radius);
        let tail: Vec<f32> = tail.collect();
        job.each_frame(index, |frame, geometry| {
            let cut = match &*geometry.connections {
                Connections::Curves(counts) if !body.starts_with(&geometry) => Some(head(job, body, counts)?),
                _ => None,
            };
            let head = cut.as_ref().unwrap_or(&whole);
            let mut bytes = Vec::with_capacity(head.len() + 12 * geometry.positions.len() + 4 * tail.len());
            bytes.extend_from_slice(head);
            put_vectors(&mut bytes, &geometry.positions);
            put_floats(&mut bytes, tail.iter().copied());
            write_file(&job.frame_path(body, frame, "hair"), &bytes)
        })
    })
}

/// Number of points of each strand, if it is a body of strands.
fn segments(body: &Body) -> Option<&[u32]> {
    match &*body.rest.connections {
        Connections::Triangles(_) => None,
        Connections::Curves(counts) => Some(counts),
    }
}

/// What is the same in all frames, unless strands are cut, and stands before the points: header, and segments
/// of strands.
fn head(job: &Job, body: &Body, counts: &[u32]) -> Result<Vec<u8>, ExportError> {
    let mut segments = Vec::with_capacity(2 * counts.len());
    for (strand, &count) in counts.iter().enumerate() {
        let number = count.saturating_sub(1);
        let short = u16::try_from(number).map_err(|_| {
            let message = format!(
                "strand {strand} (from 0) of {} has {number} segments, but strands of a hair file have 65535 at \
                 most: export to usd, ply or npz",
                body.name
            );
            refused(job, message)
        })?;
        segments.extend_from_slice(&short.to_le_bytes());
    }
    let thickness = body.radii.as_ref().map_or(0, |_| THICKNESS);
    let mut bytes = b"HAIR".to_vec();
    let numbers = [counts.len() as u32, body.rest.positions.len() as u32, SEGMENTS | POINTS | thickness];
    put_indices(&mut bytes, &numbers);
    // Defaults: segments of a strand, thickness, transparency, colour.
    put_indices(&mut bytes, &[counts.first().map_or(0, |count| count.saturating_sub(1))]);
    put_floats(&mut bytes, [DEFAULT_THICKNESS, 0.0]);
    put_floats(&mut bytes, COLOR);
    let start = bytes.len();
    let about = concat!("taut ", env!("CARGO_PKG_VERSION"), "; metres, y up");
    bytes.extend(about.bytes().take(ABOUT));
    bytes.resize(start + ABOUT, 0);
    bytes.extend(segments);
    Ok(bytes)
}

fn refused(job: &Job, message: impl Into<String>) -> ExportError {
    Problem { file: Some(job.recording.root().into()), message: message.into(), ..Problem::default() }.into()
}
