//! Plays a USD file: time samples of points and of transforms.
//!
//! Frames are equidistant in time, linear between samples. Faces must not change.

use glam::{DMat4, Vec3};

use super::{
    super::{
        fault::{Fault, fault},
        sequence::{MAX_POINTS, MeshSequence},
    },
    MAX_TRIANGLES, check_size, open,
    stage::{Stage, When},
};

/// Maximum frames: a short file can declare any length.
const MAX_FRAMES: f64 = 1e6;
/// Frames per second at least, where none are asked for: linear motion between few keys would cut corners of
/// rotations.
const LEAST_RATE: f64 = 24.0;

/// Plays the file, `rate` frames a second; by default its own time codes in a second, doubled until they are
/// 24 at least, so that every whole time code is hit. Times begin with 0 at its `startTimeCode`, or the first
/// sample.
pub(in crate::mesh) fn play(bytes: &[u8], rate: Option<f64>) -> Result<MeshSequence, Fault> {
    let stage = open(bytes)?;
    let meshes = stage.shown("Mesh")?;
    for &mesh in &meshes {
        check(&stage, mesh)?;
    }
    let (from, to) = range(&stage, &meshes)?;
    let rate = rate.unwrap_or_else(|| {
        let doubled = std::iter::successors(Some(stage.rate), |rate| Some(2.0 * rate));
        doubled.take(64).find(|&rate| rate >= LEAST_RATE).unwrap_or(LEAST_RATE)
    });
    let length = (to - from) / stage.rate;
    let mut parts = Vec::new();
    let (mut vertices, mut sequence) = (0, MeshSequence::default());
    for &mesh in &meshes {
        let placement = stage.placement(mesh, When::At(from))?;
        let positions = stage.positions(mesh, When::At(from), placement)?;
        let surface = stage.surface(mesh, When::At(from), positions.len())?;
        let (triangles, _) = surface.triangulate(&positions, placement);
        sequence.triangles.extend(triangles.iter().map(|t| t.map(|v| vertices as u32 + v)));
        vertices += positions.len();
        check_size(sequence.triangles.len(), vertices)?;
        let is_still = !stage.moves(mesh, "points") && !stage.is_carried(mesh);
        let points = positions.len();
        parts.push(Part {
            mesh,
            points,
            is_carried: stage.is_carried(mesh),
            placement,
            still: is_still.then_some(positions),
        });
    }
    let triangles = sequence.triangles.len();
    let frames = (length * rate - 1e-6).ceil().max(0.0) + 1.0;
    if triangles > MAX_TRIANGLES || frames > MAX_FRAMES || frames * vertices as f64 > MAX_POINTS as f64 {
        return Err(fault(format!(
            "{triangles} triangles and {vertices} vertices in {frames} frames: at most {MAX_TRIANGLES} triangles, and {MAX_POINTS} vertices in all frames, are read; choose another rate"
        )));
    }
    if triangles == 0 {
        return Err(fault("contains no faces: at least one triangle is required"));
    }
    for frame in 0..frames as usize {
        let passed = (frame as f64 / rate).min(length);
        let code = (from + passed * stage.rate).min(to);
        // Rounding must not miss a sample, which would be interpolated from two.
        let code = if (code - code.round()).abs() < 1e-9 * code.abs().max(1.0) { code.round() } else { code };
        let mut positions = Vec::with_capacity(vertices);
        for part in &parts {
            part.add(&stage, When::At(code), &mut positions)?;
        }
        sequence.positions.push(positions);
        sequence.times.push(passed);
    }
    Ok(sequence)
}

/// A mesh of the animation.
struct Part {
    mesh: usize,
    points: usize,
    is_carried: bool,
    placement: DMat4,
    /// Its positions, if it does not move.
    still: Option<Vec<Vec3>>,
}

impl Part {
    fn add(&self, stage: &Stage, when: When, positions: &mut Vec<Vec3>) -> Result<(), Fault> {
        if let Some(still) = &self.still {
            positions.extend_from_slice(still);
            return Ok(());
        }
        let placement = if self.is_carried { stage.placement(self.mesh, when)? } else { self.placement };
        let own = stage.positions(self.mesh, when, placement)?;
        if own.len() != self.points {
            let When::At(code) = when else { return Ok(()) };
            let message = format!(
                "has {} points at time code {code}, {} at first: all times must have the same",
                own.len(),
                self.points
            );
            return Err(stage.at(fault(message), self.mesh, Some("points")));
        }
        positions.extend(own);
        Ok(())
    }
}

/// Refuses meshes that cannot be played.
fn check(stage: &Stage, mesh: usize) -> Result<(), Fault> {
    for (name, what) in
        [("primvars:skel:jointIndices", "is skinned"), ("skel:blendShapes", "has blend shapes")]
    {
        if stage.attribute(mesh, name).is_some() {
            let message = format!(
                "{what} ({name}), which is not supported: save it with its points baked to time samples, or as glTF"
            );
            return Err(stage.at(fault(message), mesh, None));
        }
    }
    for name in ["faceVertexCounts", "faceVertexIndices"] {
        let Some(attribute) = stage.attribute(mesh, name) else { continue };
        let Some((&(_, first), others)) = attribute.samples.split_first() else { continue };
        for &(time, other) in others {
            if !stage.layer.is_same(first, other) && stage.layer.value(first)? != stage.layer.value(other)? {
                let message = format!("changes at time code {time}: all times must have the same faces");
                return Err(stage.at(fault(message), mesh, Some(name)));
            }
        }
    }
    Ok(())
}

/// The time codes that are played: those that the file declares, or from the first sample to the last.
fn range(stage: &Stage, meshes: &[usize]) -> Result<(f64, f64), Fault> {
    let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut include = |prim: usize, name: &str| {
        let samples = stage.attribute(prim, name).map_or(&[][..], |attribute| &attribute.samples);
        if let (Some(first), Some(last)) = (samples.first(), samples.last()) {
            (from, to) = (from.min(first.0), to.max(last.0));
        }
    };
    let mut seen = std::collections::HashSet::new();
    for &mesh in meshes {
        include(mesh, "points");
        for prim in stage.chain(mesh) {
            // What is above was seen with it.
            if !seen.insert(prim) {
                break;
            }
            for name in stage.layer.prims[prim].attributes.keys().filter(|name| name.starts_with("xformOp:"))
            {
                include(prim, name);
            }
        }
    }
    if from > to {
        return Err(fault(
            "has no time samples of points or transforms: use it as mesh, or save it with its animation",
        ));
    }
    Ok(match (stage.start, stage.end) {
        (Some(start), Some(end)) if start < end && start <= to && end >= from => (start, end),
        _ => (from, to),
    })
}
