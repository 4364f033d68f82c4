//! Samples the first animation of a glTF file: nodes, morph targets, skins.
//!
//! Samples are equidistant in time, with linear interpolation. Vertices are those of the primitives as
//! stored, not merged at texture seams, since coincident vertices may separate.

use std::path::Path;

use glam::{DMat4, DQuat, DVec3, Vec3};

use super::{
    super::{
        fault::{Fault, fault},
        sequence::{MAX_POINTS, MeshSequence},
    },
    MAX_TRIANGLES,
    accessor::Accessors,
    buffers::Buffers,
    document::{Animation, Document, Node, Sampler},
    node_transform, open, primitive, tree,
};

/// Plays the first animation, `rate` samples a second. Times begin with 0 at its first key.
pub(in crate::mesh) fn play(bytes: &[u8], folder: Option<&Path>, rate: f64) -> Result<MeshSequence, Fault> {
    let (document, chunk) = open(bytes)?;
    let mut accessors = Accessors::new(&document, Buffers::new(&document, chunk, folder));
    let Some(animation) = document.animations.first() else {
        return Err(fault("has no animation: use it as mesh, or save it with one"));
    };
    let tracks = tracks(&document, animation, &mut accessors).map_err(|f| f.at("animation 0 (from 0)"))?;
    let keys = || tracks.iter().flat_map(|track| &track.times).copied();
    let (from, to) = (keys().fold(f64::INFINITY, f64::min), keys().fold(f64::NEG_INFINITY, f64::max));
    if from > to {
        return Err(fault("moves nothing: it has no channel with a key").at("animation 0 (from 0)"));
    }
    let order = tree(&document)?;
    let parts = parts(&document, &order, &mut accessors)?;
    let vertices: usize = parts.iter().map(|part| part.base.len()).sum();
    let triangles: usize = parts.iter().map(|part| part.triangles.len()).sum();
    let frames = ((to - from) * rate - 1e-6).ceil().max(0.0) + 1.0;
    if triangles > MAX_TRIANGLES || frames > MAX_FRAMES || frames * vertices as f64 > MAX_POINTS as f64 {
        return Err(fault(format!(
            "{triangles} triangles and {vertices} vertices in {frames} frames: at most {MAX_TRIANGLES} triangles, and {MAX_POINTS} vertices in all frames, are read; choose another rate"
        )));
    }
    let mut sequence = MeshSequence::default();
    for frame in 0..frames as usize {
        let passed = (frame as f64 / rate).min(to - from);
        let globals = globals(&document, &order, &tracks, from + passed);
        let mut positions = Vec::with_capacity(vertices);
        for part in &parts {
            part.place(&document, &globals, &tracks, from + passed, &mut positions);
        }
        if let Some(v) = positions.iter().position(|p| !p.is_finite()) {
            return Err(fault(format!(
                "puts vertex {v} at {} after {passed} s: must be finite",
                positions[v]
            )));
        }
        sequence.positions.push(positions);
        sequence.times.push(passed);
    }
    let mut first = 0;
    for part in &parts {
        sequence.triangles.extend(part.triangles.iter().map(|t| t.map(|v| first + v)));
        first += part.base.len() as u32;
    }
    if sequence.triangles.is_empty() {
        return Err(fault("contains no faces: at least one triangle is required"));
    }
    Ok(sequence)
}

/// Maximum frames: a short file can declare any length.
const MAX_FRAMES: f64 = 1e6;

/// An animated property of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Property {
    Translation,
    Rotation,
    Scale,
    Weights,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interpolation {
    Step,
    Linear,
    Cubic,
}

/// One moving property of a node.
struct Track {
    node: usize,
    property: Property,
    interpolation: Interpolation,
    /// Rising \[s\].
    times: Vec<f64>,
    /// `width` numbers a key; three times as many with tangents.
    values: Vec<f64>,
    width: usize,
}

fn tracks(
    document: &Document,
    animation: &Animation,
    accessors: &mut Accessors,
) -> Result<Vec<Track>, Fault> {
    let mut tracks = Vec::new();
    for (number, channel) in animation.channels.iter().enumerate() {
        let name = |f: Fault| f.within(&format!("channel {number} (from 0)"));
        let Some(index) = channel.target.node else { continue };
        let property = match channel.target.path.as_str() {
            "translation" => Property::Translation,
            "rotation" => Property::Rotation,
            "scale" => Property::Scale,
            "weights" => Property::Weights,
            // Extensions animate what only changes how things look.
            _ => continue,
        };
        let node =
            document.nodes.get(index).ok_or_else(|| name(fault(format!("node {index} does not exist"))))?;
        let sampler = animation.samplers.get(channel.sampler);
        let sampler =
            sampler.ok_or_else(|| name(fault(format!("sampler {} does not exist", channel.sampler))))?;
        let targets = target_count(document, node);
        tracks.push(track(index, property, targets, sampler, accessors).map_err(name)?);
    }
    tracks.sort_by_key(|track| track.node);
    Ok(tracks)
}

/// Those of `tracks`, which are in the order of nodes, that move this one.
fn of_node(tracks: &[Track], node: usize) -> &[Track] {
    let from = tracks.partition_point(|track| track.node < node);
    let count = tracks[from..].partition_point(|track| track.node == node);
    &tracks[from..from + count]
}

fn track(
    node: usize,
    property: Property,
    targets: usize,
    sampler: &Sampler,
    accessors: &mut Accessors,
) -> Result<Track, Fault> {
    let interpolation = match sampler.interpolation.as_deref().unwrap_or("LINEAR") {
        "LINEAR" => Interpolation::Linear,
        "STEP" => Interpolation::Step,
        "CUBICSPLINE" => Interpolation::Cubic,
        other => return Err(fault(format!("interpolation {other:?}: must be LINEAR, STEP or CUBICSPLINE"))),
    };
    let (element, width) = match property {
        Property::Translation | Property::Scale => (3, 3),
        Property::Rotation => (4, 4),
        Property::Weights => (1, targets),
    };
    let times: Vec<f64> = accessors.floats(sampler.input, 1)?.iter().map(|&t| f64::from(t)).collect();
    let values: Vec<f64> = accessors.floats(sampler.output, element)?.iter().map(|&v| f64::from(v)).collect();
    if let Some(k) = (0..times.len()).find(|&k| !times[k].is_finite() || k > 0 && times[k] <= times[k - 1]) {
        return Err(fault(format!(
            "key {k} (from 0) is at {} s: times must be finite and increasing",
            times[k]
        )));
    }
    let needed = times.len() * width * if interpolation == Interpolation::Cubic { 3 } else { 1 };
    if values.len() != needed {
        let (keys, given) = (times.len(), values.len());
        return Err(fault(format!("has {given} numbers for {keys} keys: must be {needed}")));
    }
    Ok(Track { node, property, interpolation, times, values, width })
}

impl Track {
    /// What it is at `time`; nothing if it has no key.
    fn at(&self, time: f64) -> Option<Vec<f64>> {
        let last = self.times.len().checked_sub(1)?;
        let next = self.times.partition_point(|&t| t <= time);
        let (a, b) = (next.saturating_sub(1), next.min(last));
        let length = self.times[b] - self.times[a];
        let share = if length > 0.0 { ((time - self.times[a]) / length).clamp(0.0, 1.0) } else { 0.0 };
        let w = self.width;
        let part = |key: usize, which: usize| match self.interpolation {
            Interpolation::Cubic => &self.values[(3 * key + which) * w..(3 * key + which + 1) * w],
            _ => &self.values[key * w..(key + 1) * w],
        };
        let (x, y) = (part(a, 1), part(b, 1));
        Some(match self.interpolation {
            Interpolation::Step => if share < 1.0 { x } else { y }.to_vec(),
            Interpolation::Linear if self.property == Property::Rotation => {
                rotation(x).slerp(rotation(y), share).to_array().to_vec()
            }
            Interpolation::Linear => (0..w).map(|k| x[k] + (y[k] - x[k]) * share).collect(),
            Interpolation::Cubic => {
                let (out, into) = (part(a, 2), part(b, 0));
                let (s, s2, s3) = (share, share * share, share * share * share);
                let hermite = |k: usize| {
                    (2.0 * s3 - 3.0 * s2 + 1.0) * x[k]
                        + length * (s3 - 2.0 * s2 + s) * out[k]
                        + (3.0 * s2 - 2.0 * s3) * y[k]
                        + length * (s3 - s2) * into[k]
                };
                (0..w).map(hermite).collect()
            }
        })
    }
}

fn rotation(q: &[f64]) -> DQuat {
    let q = DQuat::from_xyzw(q[0], q[1], q[2], q[3]);
    if q.length_squared() > 1e-12 { q.normalize() } else { DQuat::IDENTITY }
}

/// Where all nodes of the tree are at `time`.
fn globals(
    document: &Document,
    order: &[(usize, Option<usize>)],
    tracks: &[Track],
    time: f64,
) -> Vec<Option<DMat4>> {
    let mut globals = vec![None; document.nodes.len()];
    for &(index, parent) in order {
        let node = &document.nodes[index];
        let mut moved = Node { matrix: node.matrix, ..node.placement() };
        for track in of_node(tracks, index).iter().filter(|track| track.property != Property::Weights) {
            let Some(value) = track.at(time) else { continue };
            // A node that moves has no matrix, says glTF.
            moved.matrix = None;
            match track.property {
                Property::Translation => moved.translation = [value[0], value[1], value[2]],
                Property::Scale => moved.scale = [value[0], value[1], value[2]],
                _ => moved.rotation = [value[0], value[1], value[2], value[3]],
            }
        }
        let above = parent.and_then(|parent| globals[parent]).unwrap_or(DMat4::IDENTITY);
        globals[index] = Some(above * node_transform(&moved));
    }
    globals
}

/// A primitive that a node shows.
struct Part {
    node: usize,
    triangles: Vec<[u32; 3]>,
    base: Vec<DVec3>,
    /// What each morph target adds.
    targets: Vec<Vec<DVec3>>,
    skin: Option<Bones>,
}

/// What moves the vertices of a part in place of its node.
struct Bones {
    joints: Vec<usize>,
    inverse: Vec<DMat4>,
    /// By vertex: numbers of joints and their weights.
    pulls: Vec<Vec<(usize, f64)>>,
}

fn target_count(document: &Document, node: &Node) -> usize {
    let mesh = node.mesh.and_then(|mesh| document.meshes.get(mesh));
    mesh.and_then(|mesh| mesh.primitives.first()).map_or(0, |primitive| primitive.targets.len())
}

fn parts(
    document: &Document,
    order: &[(usize, Option<usize>)],
    accessors: &mut Accessors,
) -> Result<Vec<Part>, Fault> {
    let mut parts = Vec::new();
    for &(index, _) in order {
        let node = &document.nodes[index];
        let Some(number) = node.mesh else { continue };
        let Some(mesh) = document.meshes.get(number) else {
            let message = format!("does not exist: the file has {} meshes", document.meshes.len());
            return Err(fault(message).at(format!("mesh {number} (from 0)")));
        };
        for (k, primitive) in mesh.primitives.iter().enumerate() {
            let name = |f: Fault| f.at(format!("mesh {number} primitive {k} (from 0)"));
            let Some(read) = primitive::read(primitive, accessors).map_err(name)? else { continue };
            let base: Vec<DVec3> = (0..read.count() as u32).map(|v| read.position(v).as_dvec3()).collect();
            let mut targets = Vec::new();
            for target in &primitive.targets {
                // A target may move nothing but normals.
                let Some(&accessor) = target.get("POSITION") else {
                    targets.push(vec![DVec3::ZERO; base.len()]);
                    continue;
                };
                let values = accessors.floats(accessor, 3).map_err(name)?;
                let moved: Vec<DVec3> =
                    values.as_chunks::<3>().0.iter().map(|p| Vec3::from(*p).as_dvec3()).collect();
                if moved.len() != base.len() {
                    let message =
                        format!("a morph target has {} vertices, its base {}", moved.len(), base.len());
                    return Err(name(fault(message)));
                }
                targets.push(moved);
            }
            let skin = match (node.skin, primitive.attributes.contains_key("JOINTS_0")) {
                (Some(skin), true) => {
                    Some(bones(document, order, skin, primitive, base.len(), accessors).map_err(name)?)
                }
                _ => None,
            };
            parts.push(Part { node: index, triangles: read.indices, base, targets, skin });
        }
    }
    Ok(parts)
}

fn bones(
    document: &Document,
    order: &[(usize, Option<usize>)],
    number: usize,
    primitive: &super::document::Primitive,
    count: usize,
    accessors: &mut Accessors,
) -> Result<Bones, Fault> {
    let Some(skin) = document.skins.get(number) else {
        return Err(fault(format!(
            "skin {number} (from 0) does not exist: the file has {}",
            document.skins.len()
        )));
    };
    let nodes: std::collections::HashSet<usize> = order.iter().map(|&(node, _)| node).collect();
    if let Some(joint) = skin.joints.iter().find(|joint| !nodes.contains(joint)) {
        return Err(fault(format!("skin {number} (from 0): joint {joint} is not a node of the scene")));
    }
    let inverse = match skin.inverse_bind_matrices {
        None => vec![DMat4::IDENTITY; skin.joints.len()],
        Some(accessor) => {
            let numbers = accessors.floats(accessor, 16)?;
            numbers.as_chunks::<16>().0.iter().map(|m| DMat4::from_cols_array(&m.map(f64::from))).collect()
        }
    };
    if inverse.len() < skin.joints.len() {
        let (given, needed) = (inverse.len(), skin.joints.len());
        return Err(fault(format!(
            "skin {number} (from 0) has {given} inverse bind matrices for {needed} joints"
        )));
    }
    let mut pulls: Vec<Vec<(usize, f64)>> = vec![Vec::new(); count];
    for set in 0.. {
        let attribute = |what: &str| primitive.attributes.get(&format!("{what}_{set}")).copied();
        let (Some(joints), Some(weights)) = (attribute("JOINTS"), attribute("WEIGHTS")) else { break };
        let (joints, weights) = (accessors.floats(joints, 4)?, accessors.floats(weights, 4)?);
        if joints.len() != 4 * count || weights.len() != 4 * count {
            return Err(fault(format!(
                "JOINTS_{set} and WEIGHTS_{set} must have four numbers for each of {count} vertices"
            )));
        }
        for (k, (&joint, &weight)) in joints.iter().zip(weights.iter()).enumerate() {
            if weight == 0.0 {
                continue;
            }
            let joint = joint as usize;
            if joint >= skin.joints.len() {
                let all = skin.joints.len();
                return Err(fault(format!(
                    "vertex {} follows joint {joint}: the skin has {all}, counted from 0",
                    k / 4
                )));
            }
            pulls[k / 4].push((joint, f64::from(weight)));
        }
    }
    for pulls in &mut pulls {
        let sum: f64 = pulls.iter().map(|(_, weight)| weight).sum();
        if sum > 0.0 {
            pulls.iter_mut().for_each(|(_, weight)| *weight /= sum);
        }
    }
    Ok(Bones { joints: skin.joints.clone(), inverse, pulls })
}

impl Part {
    /// Adds where its vertices are at `time` to `positions`.
    fn place(
        &self,
        document: &Document,
        globals: &[Option<DMat4>],
        tracks: &[Track],
        time: f64,
        positions: &mut Vec<Vec3>,
    ) {
        let node = &document.nodes[self.node];
        let playing = |track: &&Track| track.property == Property::Weights;
        let weights = of_node(tracks, self.node)
            .iter()
            .find(playing)
            .and_then(|track| track.at(time))
            .or_else(|| node.weights.clone());
        let mesh = node.mesh.and_then(|mesh| document.meshes.get(mesh));
        let weights = weights.or_else(|| mesh?.weights.clone()).unwrap_or_default();
        let own = globals[self.node].unwrap_or(DMat4::IDENTITY);
        let bones: Vec<DMat4> = self
            .skin
            .iter()
            .flat_map(|skin| {
                let place = |joint: usize| globals[joint].unwrap_or(DMat4::IDENTITY);
                skin.joints.iter().zip(&skin.inverse).map(move |(&joint, inverse)| place(joint) * *inverse)
            })
            .collect();
        for (v, &base) in self.base.iter().enumerate() {
            let morphed = self.targets.iter().zip(&weights).fold(base, |p, (target, &w)| p + target[v] * w);
            let pulls = self.skin.as_ref().map(|skin| &skin.pulls[v]).filter(|pulls| !pulls.is_empty());
            let placed = match pulls {
                Some(pulls) => pulls.iter().fold(DVec3::ZERO, |sum, &(joint, weight)| {
                    sum + bones[joint].transform_point3(morphed) * weight
                }),
                None => own.transform_point3(morphed),
            };
            positions.push(placed.as_vec3());
        }
    }
}
