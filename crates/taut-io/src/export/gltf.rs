//! glTF 2.0 (`.glb`): one binary file for the web, with an animation.
//!
//! A node for each body. Its mesh is the first frame, with a morph target for each further one (differences
//! of positions and normals) and an animation of their weights: at the time of a frame the weight of its
//! target is 1 and all others are 0, between frames positions are linear. Readers add base and difference in
//! float32: the relative error is at most 6e-8 of the position and of the displacement from the first frame.
//! Normals are included because a viewer without them would show facets. The first vertices are those of the
//! run, in order; copies of vertices at texture seams follow. Time starts at the first exported frame. Cloth
//! that tears has the vertices and triangles of the last frame from the start: where it has not torn yet,
//! vertices are at the same place and have the same normal, so that nothing shows.
//!
//! Strands are one primitive of lines, by pairs of vertices: line strips would be one primitive a strand,
//! each with accessors of its own for every frame. Their radii \[m\], if they are known, are the attribute
//! `_RADIUS`; viewers draw lines one pixel wide.
//!
//! Mesh obstacles are nodes of the same kind; static ones have no targets. Other obstacles are nodes with
//! meshes, moved by translations and rotations sampled at the frames; a plane is a square twice the extent of
//! the cloth in the first frame.
//!
//! All sizes are known beforehand, so frames are written as they are read; bounds of the differences, which
//! glTF requires in the header, are filled in at the end.

mod layout;

use glam::{Quat, Vec3};
use serde_json::{Value, json};
use taut::{Obstacle, Pose, low_level::Surface, mesh::normals::vertex_normals};

use self::layout::{Kind, Layout};
use super::{
    ExportError, Job, Settled,
    sink::{Sink, put_floats, put_indices, put_vectors},
    uvs::Split,
};
use crate::{
    Problem,
    recording::{Body, Connections, Geometry, gather},
};

const TRIANGLES: u32 = 4;
const LINES: u32 = 1;
/// Header of the file, and of each of its two chunks.
const FILE_HEADER: u64 = 12;
const CHUNK_HEADER: u64 = 8;
/// Base colours of cloth, cyclic, linear.
const COLORS: [[f32; 3]; 4] =
    [[0.35, 0.08, 0.07], [0.06, 0.16, 0.32], [0.42, 0.28, 0.08], [0.09, 0.24, 0.14]];
const OBSTACLE_COLOR: [f32; 3] = [0.45, 0.45, 0.45];

/// Writes everything to one file.
pub(super) fn write(job: &Job) -> Result<(), ExportError> {
    let mut layout = Layout::default();
    let mut bodies = Vec::new();
    job.each_body(|index, body| {
        let settled = job.settled(index, "gltf")?;
        bodies.push(Moving::body(index, body, job.read(index, *job.frames.start())?, settled, &mut layout));
        Ok(())
    })?;
    let cloths = bodies.len();
    for index in 0..job.recording.description().mesh_obstacles.len() {
        bodies.push(Moving::obstacle(job, index, cloths, &mut layout));
    }
    let document = document(job, &mut bodies, cloths, &mut layout);

    let mut json = document.clone();
    layout.describe(&mut json);
    let room = (json.to_string().len() + layout.room_for_bounds()).next_multiple_of(4);
    let length = FILE_HEADER + 2 * CHUNK_HEADER + room as u64 + layout.length();
    let total = u32::try_from(length).map_err(|_| too_long(job, length))?;

    let mut file = Sink::create(job.path)?;
    file.put(b"glTF")?;
    for word in [2, total, room as u32] {
        file.put(&word.to_le_bytes())?;
    }
    file.put(b"JSON")?;
    let start = file.length();
    file.put(&vec![b' '; room])?;
    file.put(&(layout.length() as u32).to_le_bytes())?;
    file.put(b"BIN\0")?;
    file.put(&layout.known)?;
    for body in &bodies {
        body.put_weights(job, &mut file)?;
    }
    for body in &bodies {
        body.put_targets(job, &mut layout, &mut file)?;
    }
    debug_assert_eq!(file.length(), length);
    let mut json = document;
    layout.describe(&mut json);
    file.patch(start, json.to_string().as_bytes())?;
    file.finish()
}

fn too_long(job: &Job, length: u64) -> ExportError {
    let message = format!(
        "frames {} to {} would take {:.1} GiB, but a .glb file is limited to 4: export fewer with --frames, or to usd",
        job.frames.start(),
        job.frames.end(),
        length as f64 / f64::from(1 << 30)
    );
    Problem { file: Some(job.recording.root().into()), message, ..Problem::default() }.into()
}

/// A moving mesh.
#[derive(Clone, Copy)]
enum Mover {
    Body(usize),
    MeshObstacle(usize),
}

/// A body or a mesh obstacle as base and morph targets.
struct Moving {
    mover: Mover,
    /// Whether it has targets; a static one has none.
    is_moving: bool,
    /// Index in the run of each vertex.
    sources: Vec<u32>,
    /// What it is torn to, if it is.
    settled: Option<Settled>,
    positions: Vec<Vec3>,
    /// None for strands.
    normals: Option<Vec<Vec3>>,
    primitive: Value,
    /// Accessor of positions of each target, and of normals.
    targets: Vec<(usize, Option<usize>)>,
}

impl Moving {
    /// A body in its first frame, `geometry`.
    fn body(index: usize, body: &Body, geometry: Geometry, settled: Settled, layout: &mut Layout) -> Self {
        let rest = &settled.rest;
        let split = Split::new(rest.positions.len(), rest.connections.triangles(), body.uvs.as_deref());
        let material = index % COLORS.len();
        let shape = (geometry, body.radii.as_deref());
        Self::new((Mover::Body(index), true), shape, Some(settled), split, material, layout)
    }

    /// One of the mesh obstacles, whose material follows those of `cloths` cloths.
    fn obstacle(job: &Job, index: usize, cloths: usize, layout: &mut Layout) -> Self {
        let obstacle = &job.recording.description().mesh_obstacles[index];
        let geometry = obstacle_in(job, index, *job.frames.start());
        let split = Split::new(geometry.positions.len(), &obstacle.triangles, None);
        let (mover, material) = (Mover::MeshObstacle(index), cloth_materials(cloths));
        Self::new((mover, obstacle.is_moving()), (geometry, None), None, split, material, layout)
    }

    fn new(
        (mover, is_moving): (Mover, bool),
        (geometry, radii): (Geometry, Option<&[f32]>),
        settled: Option<Settled>,
        split: Split,
        material: usize,
        layout: &mut Layout,
    ) -> Self {
        let mut moving = Self {
            mover,
            is_moving,
            sources: split.sources,
            settled,
            positions: Vec::new(),
            normals: None,
            primitive: Value::Null,
            targets: Vec::new(),
        };
        let connections =
            moving.settled.as_ref().map_or(&geometry.connections, |settled| &settled.rest.connections);
        let edges = connections.edges_of_curves();
        (moving.positions, moving.normals) = moving.shape(&geometry);
        let mode = if moving.normals.is_some() { TRIANGLES } else { LINES };
        let indices = layout.add(Kind::Indices, |bytes| {
            put_indices(bytes, split.triangles.as_flattened());
            put_indices(bytes, edges.as_flattened());
        });
        let at = layout.add(Kind::Positions, |bytes| put_vectors(bytes, &moving.positions));
        let mut attributes = json!({ "POSITION": at });
        if let Some(normals) = &moving.normals {
            attributes["NORMAL"] = layout.add(Kind::Vectors, |bytes| put_vectors(bytes, normals)).into();
        }
        if !split.uvs.is_empty() {
            // glTF has v downwards.
            let uvs = split.uvs.iter().flat_map(|uv| [uv.x, 1.0 - uv.y]);
            attributes["TEXCOORD_0"] = layout.add(Kind::Uvs, |bytes| put_floats(bytes, uvs)).into();
        }
        if let Some(radii) = radii {
            let at = layout.add(Kind::Numbers, |bytes| put_floats(bytes, radii.iter().copied()));
            attributes["_RADIUS"] = at.into();
        }
        moving.primitive =
            json!({ "attributes": attributes, "indices": indices, "mode": mode, "material": material });
        moving
    }

    /// Positions and normals of all vertices in a frame, including copies.
    fn shape(&self, geometry: &Geometry) -> (Vec<Vec3>, Option<Vec<Vec3>>) {
        let Geometry { positions, connections } = geometry;
        // Those of the frame itself: cloth is smooth where it will tear later.
        let normals = match &**connections {
            Connections::Triangles(triangles) => Some(vertex_normals(positions, triangles.iter().copied())),
            Connections::Curves(_) => None,
        };
        let place = |vectors: &[Vec3]| match &self.settled {
            Some(settled) => gather(&settled.spread(geometry, vectors), &self.sources),
            None => gather(vectors, &self.sources),
        };
        (place(positions), normals.as_deref().map(place))
    }

    /// Reserves the differences of the frames after the first.
    fn reserve_targets(&mut self, job: &Job, layout: &mut Layout) {
        let vertices = self.positions.len();
        for _ in (1..job.count()).filter(|_| self.is_moving) {
            let positions = layout.reserve(Kind::Positions, vertices);
            let normals = self.normals.is_some().then(|| layout.reserve(Kind::Vectors, vertices));
            self.targets.push((positions, normals));
        }
    }

    fn mesh(&self, job: &Job, name: &str) -> Value {
        let mut primitive = self.primitive.clone();
        let mut mesh = json!({ "name": name });
        if !self.targets.is_empty() {
            let target = |&(positions, normals): &(usize, Option<usize>)| {
                let mut target = json!({ "POSITION": positions });
                if let Some(normals) = normals {
                    target["NORMAL"] = normals.into();
                }
                target
            };
            primitive["targets"] = self.targets.iter().map(target).collect();
            let names = job.frames.clone().skip(1).map(|frame| format!("frame {frame:04}"));
            mesh["extras"] = json!({ "targetNames": names.collect::<Vec<_>>() });
        }
        mesh["primitives"] = json!([primitive]);
        mesh
    }

    /// One row per frame: all zero in the first, then one target after the other.
    fn put_weights(&self, job: &Job, file: &mut Sink) -> Result<(), ExportError> {
        let targets = self.targets.len();
        if targets == 0 {
            return Ok(());
        }
        for frame in 0..job.count() as usize {
            let mut row = Vec::with_capacity(4 * targets);
            put_floats(&mut row, (1..=targets).map(|target| f32::from(u8::from(target == frame))));
            file.put(&row)?;
        }
        Ok(())
    }

    fn put_targets(&self, job: &Job, layout: &mut Layout, file: &mut Sink) -> Result<(), ExportError> {
        let mut bytes = Vec::new();
        let mut put = |accessor: usize, now: &[Vec3], base: &[Vec3]| {
            bytes.clear();
            let differences = now.iter().zip(base).map(|(now, base)| *now - *base);
            put_floats(&mut bytes, differences.flat_map(|d| d.to_array()));
            layout.measure(accessor, &bytes);
            file.put(&bytes)
        };
        for (frame, &(positions, normals)) in job.frames.clone().skip(1).zip(&self.targets) {
            let geometry = match self.mover {
                Mover::Body(index) => job.read(index, frame)?,
                Mover::MeshObstacle(index) => obstacle_in(job, index, frame),
            };
            let now = self.shape(&geometry);
            put(positions, &now.0, &self.positions)?;
            if let (Some(accessor), Some(now), Some(base)) = (normals, &now.1, &self.normals) {
                put(accessor, now, base)?;
            }
        }
        Ok(())
    }
}

/// The header without the parts added by [`Layout::describe`]. Lays out everything.
fn document(job: &Job, bodies: &mut [Moving], cloths: usize, layout: &mut Layout) -> Value {
    let recording = job.recording;
    let first = recording.time(*job.frames.start());
    let is_animated = job.count() > 1;
    let times = is_animated.then(|| {
        let times = job.frames.clone().map(|frame| recording.time(frame) - first);
        layout.add(Kind::Times, |bytes| put_floats(bytes, times))
    });
    let mut animation = Animation { times, samplers: Vec::new(), channels: Vec::new() };
    let mut obstacles = Vec::new();
    for (index, obstacle) in recording.obstacles().enumerate() {
        let distances = bodies.iter().flat_map(|body| &body.positions).map(|x| x.distance(obstacle.position));
        let surface = obstacle.shape.surface(2.0 * distances.fold(0.25, f32::max));
        obstacles.push((
            solid(obstacle, &surface, cloth_materials(cloths), layout),
            node(obstacle, recording.pose(index, *job.frames.start()), bodies.len() + index),
        ));
        animation.add_motion(job, index, bodies.len() + index, layout);
    }
    for index in (0..bodies.len()).filter(|&index| bodies[index].is_moving) {
        animation.add_weights(job, index, layout);
    }
    for body in &mut *bodies {
        body.reserve_targets(job, layout);
    }

    let about = |body: &Moving| match body.mover {
        Mover::Body(index) => recording.bodies()[index].name.as_str(),
        Mover::MeshObstacle(index) => recording.description().mesh_obstacles[index].name.as_str(),
    };
    let mut meshes: Vec<Value> = bodies.iter().map(|body| body.mesh(job, about(body))).collect();
    let node_of = |(index, body): (usize, &Moving)| json!({ "name": about(body), "mesh": index });
    let mut nodes: Vec<Value> = bodies.iter().enumerate().map(node_of).collect();
    for (mesh, node) in obstacles {
        meshes.push(mesh);
        nodes.push(node);
    }
    let mut document = json!({
        "asset": { "version": "2.0", "generator": concat!("taut ", env!("CARGO_PKG_VERSION")) },
        "scene": 0,
        "scenes": [{ "name": recording.name(), "nodes": (0..nodes.len()).collect::<Vec<_>>() }],
        "nodes": nodes,
        "meshes": meshes,
        "materials": materials(cloths, bodies.len() > cloths || recording.obstacles().next().is_some()),
    });
    if is_animated {
        document["animations"] = json!([{ "name": recording.name(), "samplers": animation.samplers, "channels": animation.channels }]);
    }
    document
}

/// Mesh obstacle number `index` in a frame.
fn obstacle_in(job: &Job, index: usize, frame: u32) -> Geometry {
    let obstacle = &job.recording.description().mesh_obstacles[index];
    Geometry {
        positions: obstacle.positions_at(job.recording.time(frame)),
        connections: Connections::Triangles(obstacle.triangles.clone()).into(),
    }
}

/// Number of materials of `bodies` bodies, used cyclically; that of obstacles follows.
fn cloth_materials(bodies: usize) -> usize {
    bodies.min(COLORS.len())
}

fn materials(bodies: usize, has_obstacles: bool) -> Vec<Value> {
    let material = |name: &str, [r, g, b]: [f32; 3], is_cloth: bool| {
        let roughness = if is_cloth { 0.9 } else { 0.6 };
        json!({
            "name": name,
            "doubleSided": is_cloth,
            "pbrMetallicRoughness":
                { "baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": roughness },
        })
    };
    let cloth = (0..cloth_materials(bodies)).map(|k| material(&format!("cloth {}", k + 1), COLORS[k], true));
    let solid = has_obstacles.then(|| material("obstacle", OBSTACLE_COLOR, false));
    cloth.chain(solid).collect()
}

fn solid(obstacle: &Obstacle, surface: &Surface, material: usize, layout: &mut Layout) -> Value {
    let indices = layout.add(Kind::Indices, |bytes| put_indices(bytes, surface.triangles.as_flattened()));
    let positions = layout.add(Kind::Positions, |bytes| put_vectors(bytes, &surface.positions));
    let normals = layout.add(Kind::Vectors, |bytes| put_vectors(bytes, &surface.normals));
    let attributes = json!({ "POSITION": positions, "NORMAL": normals });
    let primitive =
        json!({ "attributes": attributes, "indices": indices, "mode": TRIANGLES, "material": material });
    json!({ "name": obstacle.name, "primitives": [primitive] })
}

fn node(obstacle: &Obstacle, Pose { rotation, position }: Pose, mesh: usize) -> Value {
    json!({
        "name": obstacle.name,
        "mesh": mesh,
        "translation": position.to_array(),
        "rotation": rotation.normalize().to_array(),
    })
}

struct Animation {
    /// Accessor of the times of the frames, if there are several.
    times: Option<usize>,
    samplers: Vec<Value>,
    channels: Vec<Value>,
}

impl Animation {
    fn add(&mut self, node: usize, path: &str, output: usize) {
        self.channels
            .push(json!({ "sampler": self.samplers.len(), "target": { "node": node, "path": path } }));
        self.samplers.push(json!({ "input": self.times, "output": output, "interpolation": "LINEAR" }));
    }

    fn add_motion(&mut self, job: &Job, index: usize, node: usize, layout: &mut Layout) {
        if self.times.is_none() || !job.recording.is_moving(index) {
            return;
        }
        let poses: Vec<Pose> = job.frames.clone().map(|frame| job.recording.pose(index, frame)).collect();
        let places = layout.add(Kind::Translations, |bytes| {
            put_floats(bytes, poses.iter().flat_map(|pose| pose.position.to_array()));
        });
        self.add(node, "translation", places);
        let mut last = Quat::IDENTITY;
        let turns = poses.iter().flat_map(|pose| {
            // q and −q are the same rotation, but interpolate differently.
            let rotation = pose.rotation.normalize();
            last = if rotation.dot(last) < 0.0 { -rotation } else { rotation };
            last.to_array()
        });
        let turns: Vec<f32> = turns.collect();
        let turns = layout.add(Kind::Rotations, |bytes| put_floats(bytes, turns));
        self.add(node, "rotation", turns);
    }

    fn add_weights(&mut self, job: &Job, node: usize, layout: &mut Layout) {
        if self.times.is_some() {
            let frames = job.count() as usize;
            let output = layout.reserve(Kind::Weights, frames * (frames - 1));
            self.add(node, "weights", output);
        }
    }
}
