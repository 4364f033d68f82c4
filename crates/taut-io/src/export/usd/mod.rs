//! USD: one layer with all bodies and obstacles of a run, for Houdini, Maya, Blender and others.
//!
//! ```text
//! def Xform "NAME" (kind = "component")      the default prim, named after the scene
//!     def Mesh "sheet"                       a body: points, normals, extent at every frame;
//!                                            primvars:rest, primvars:st
//!     def BasisCurves "rope"                 strands
//!     def Scope "Obstacles"
//!         def Sphere "ball"                  moved by xformOps at every frame
//! ```
//! Lengths are in metres, y is up, and frame 12 is time code 12. Surfaces have explicit normals and no
//! subdivision, so that viewers show the simulated surface. Binary ([`usdc`]) or text ([`usda`]); both write
//! the same stage ([`layer`]) and keep no frame in memory.

mod body;
mod layer;
mod names;
mod obstacle;
mod usda;
mod usdc;
mod value;

use std::{
    fs::File,
    io::{self, BufWriter},
    path::Path,
};

use glam::Vec3;

use self::{
    layer::{Failure, Fields, Layer, Prim},
    names::{Names, display_name},
    usda::Usda,
    usdc::Usdc,
    value::Value,
};
use super::{ExportError, Format, Job};
use crate::{
    Problem,
    output::OutputError,
    recording::{Connections, Recording},
};

/// Parent prim of the obstacles.
const OBSTACLES: &str = "Obstacles";
const BUFFER: usize = 1 << 20;
/// Minimum half extent of displayed planes \[m\], and its factor relative to the extent of the bodies.
const PLANE_REACH: (f32, f32) = (5.0, 4.0);
/// Maximum bytes of text: programs read all of it before they show anything.
const LONGEST_TEXT: u64 = 2 << 30;
/// Approximate bytes of text for a vector of three numbers.
const BYTES_PER_VECTOR: u64 = 38;

/// How often a frame is read for text: once for points, extent and normals each.
pub(super) const READS_OF_TEXT: u32 = 3;

/// Binary or text by the extension of `path`, as readers expect.
pub(super) fn by_ending(format: Format, path: &Path) -> Result<Format, ExportError> {
    let ends_with = |ending: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending));
    match format {
        Format::Usd if ends_with("usda") => Ok(Format::Usda),
        Format::Usda if ends_with("usdc") => {
            let hint = "use the extension .usda, or export to usd";
            Err(OutputError::refused(path, "text format requested, but .usdc is binary", hint).into())
        }
        other => Ok(other),
    }
}

/// Writes a binary layer.
pub(super) fn write_binary(job: &Job) -> Result<(), ExportError> {
    write(job, |out| Ok(Box::new(Usdc::new(out, &metadata(job))?)))
}

/// Writes a text layer.
pub(super) fn write_text(job: &Job) -> Result<(), ExportError> {
    refuse_long_text(job)?;
    write(job, |out| Ok(Box::new(Usda::new(out, &metadata(job))?)))
}

type Out = BufWriter<File>;

fn write(job: &Job, begin: impl FnOnce(Out) -> io::Result<Box<dyn Layer>>) -> Result<(), ExportError> {
    let attempt = || {
        let file = BufWriter::with_capacity(BUFFER, File::create(job.path)?);
        write_stage(job, &mut *begin(file)?)
    };
    attempt().map_err(|failure| match failure {
        Failure::Source(error) => error,
        Failure::Write(error) => Job::failed(job.path)(error),
    })
}

fn write_stage(job: &Job, layer: &mut dyn Layer) -> Result<(), Failure> {
    let recording = job.recording;
    let root = root_name(recording);
    let mut fields = vec![("kind", Value::token("component"))];
    fields.extend(display_name(recording.name(), &root));
    layer.begin(Prim { name: root, schema: "Xform", fields })?;
    let mut names = Names::default().reserve(OBSTACLES);
    for (k, body) in recording.bodies().iter().enumerate() {
        body::write(layer, job, k, names.give(&body.name))?;
    }
    obstacle::write(layer, recording, OBSTACLES, &job.frames, plane_reach(recording))?;
    layer.end()?;
    Ok(layer.finish()?)
}

fn root_name(recording: &Recording) -> String {
    Names::default().give(recording.name())
}

/// Metadata of the layer.
fn metadata(job: &Job) -> Fields {
    let made_by = format!("taut {}", env!("CARGO_PKG_VERSION"));
    let rate = Value::Double(job.recording.frame_rate().into());
    vec![
        ("comment", Value::Text(format!("made by {made_by}"))),
        ("customLayerData", Value::Dictionary(vec![("creator", made_by)])),
        ("defaultPrim", Value::token(root_name(job.recording))),
        ("endTimeCode", Value::Double((*job.frames.end()).into())),
        ("framesPerSecond", rate.clone()),
        ("metersPerUnit", Value::Double(1.0)),
        ("startTimeCode", Value::Double((*job.frames.start()).into())),
        ("timeCodesPerSecond", rate),
        ("upAxis", Value::token("Y")),
    ]
}

/// Half extent of displayed planes: well beyond the bodies at rest.
fn plane_reach(recording: &Recording) -> f32 {
    let points = || recording.bodies().iter().flat_map(|body| &body.rest.positions);
    let far = points().map(|p| Vec3::length(*p)).fold(0.0, f32::max);
    PLANE_REACH.0.max(PLANE_REACH.1 * far)
}

fn refuse_long_text(job: &Job) -> Result<(), ExportError> {
    let vectors: u64 = job
        .recording
        .bodies()
        .iter()
        .map(|body| {
            let per_vertex = if matches!(*body.rest.connections, Connections::Triangles(_)) { 2 } else { 1 };
            per_vertex * body.rest.positions.len() as u64
        })
        .sum();
    let bytes = vectors * BYTES_PER_VECTOR * u64::from(job.count());
    if bytes <= LONGEST_TEXT {
        return Ok(());
    }
    let message = format!(
        "would be about {:.1} GB of text, more than programs can read; export to .usdc, which is a third of that and streamed as it \
         plays, or fewer frames",
        bytes as f64 / 1e9
    );
    Err(Problem { file: Some(job.recording.root().into()), message, ..Problem::default() }.into())
}
