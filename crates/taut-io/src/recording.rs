//! A run folder, opened for display or export.
//!
//! [`Recording::open`] reads everything that is small (scene, manifest, rest meshes, names of the frames) and
//! refuses an incomplete folder; positions are read frame by frame and not kept, so a run may be larger than
//! memory.

mod guides;
mod lines;
mod open;
mod soft;
mod torn;

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::RangeInclusive,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use glam::{Vec2, Vec3};
use taut::{Description, Obstacle, Pose, RigidBody, mesh::midpoints::Midpoints};

use crate::{
    Problem, Problems,
    output::{
        folder::{holds_run, is_being_written, read_manifest},
        layout::{Layout, check_names},
        metrics::{self, FrameLine},
        npy, tears,
    },
    scene,
};

pub use guides::ShownStrands;
pub use lines::ShownLines;
pub use soft::SoftBody;
pub use torn::gather;

/// A run folder, opened for reading.
#[derive(Debug)]
pub struct Recording {
    files: Layout,
    name: String,
    frame_rate: f32,
    last_frame: u32,
    frames_wanted: u32,
    bodies: Vec<Body>,
    description: Description,
    /// Poses of rigid bodies in each frame.
    poses: Vec<Vec<Pose>>,
    /// For each body, the connectivity that was read last, and the frame of its change.
    kept: Vec<Kept>,
}

/// Connectivity, and the first frame in which it is valid.
type Kept = Mutex<Option<(u32, Arc<Connections>)>>;

/// A body of a recording.
#[derive(Debug)]
pub struct Body {
    /// Name; its files are named after it.
    pub name: String,
    /// Rest shape, with the initial connectivity; for a soft body, its display surface.
    pub rest: Geometry,
    /// Texture coordinates of the corners of each rest triangle, v upwards, where its mesh had them.
    pub uvs: Option<Vec<[Vec2; 3]>>,
    /// Frames at which its connectivity changes, in order; usually none.
    pub changes: Vec<u32>,
    /// Its index among the bodies of the [description](Recording::description), if it is one of them and of
    /// the same kind.
    pub described: Option<usize>,
    /// Its tetrahedra, if it is a soft body.
    pub soft: Option<SoftBody>,
    /// How its vertices follow the points of its frames, if it is developable cloth.
    pub midpoints: Option<Arc<Midpoints>>,
    /// How its curves follow particles, if it is such.
    pub lines: Option<ShownLines>,
    /// How its strands follow those that were simulated, if it is hair with guides.
    pub strands: Option<ShownStrands>,
    /// Radius of its curves at each of their points \[m\], as many as points; none if it is not known, or if
    /// there are no curves.
    pub radii: Option<Vec<f32>>,
}

/// Positions and connectivity of a body.
#[derive(Clone, Debug)]
pub struct Geometry {
    /// Positions \[m\].
    pub positions: Vec<Vec3>,
    /// Connectivity.
    pub connections: Arc<Connections>,
}

/// Connectivity of vertices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Connections {
    /// Vertices of each triangle.
    Triangles(Vec<[u32; 3]>),
    /// Number of vertices of each strand; the vertices of the first come first.
    Curves(Vec<u32>),
}

impl Connections {
    /// The triangles; empty for curves.
    pub fn triangles(&self) -> &[[u32; 3]] {
        match self {
            Self::Triangles(triangles) => triangles,
            Self::Curves(_) => &[],
        }
    }

    /// The edges along curves; empty for triangles.
    pub fn edges_of_curves(&self) -> Vec<[u32; 2]> {
        let Self::Curves(counts) = self else { return Vec::new() };
        let mut first = 0;
        let mut edges = Vec::new();
        for count in counts {
            edges.extend((first + 1..first + count).map(|v| [v - 1, v]));
            first += count;
        }
        edges
    }
}

impl Body {
    /// Whether `geometry` has the initial connectivity of this body, so that its rest shape applies.
    pub fn starts_with(&self, geometry: &Geometry) -> bool {
        Arc::ptr_eq(&self.rest.connections, &geometry.connections)
    }
}

impl Recording {
    /// Opens the run folder `root`.
    ///
    /// # Errors
    /// All that is missing or damaged, each with its file: not a run folder, an unreadable rest mesh, a
    /// missing frame between others. A run that was stopped early is accepted
    /// ([`frames_wanted`](Self::frames_wanted) is then larger than [`last_frame`](Self::last_frame)).
    pub fn open(root: &Path) -> Result<Self, Problems> {
        let files = Layout::new(root);
        if !root.is_dir() {
            return Err(complain(root, "is not a run folder").into());
        }
        if !holds_run(root) || !files.scene().is_file() {
            let missing = if holds_run(root) { files.scene() } else { files.manifest() };
            let message = format!("is not a run folder: {} is missing", missing.display());
            return Err(complain(root, message).into());
        }
        let manifest = read_manifest(root)
            .map_err(|error| Problem { message: error.to_string(), ..Problem::default() })?;
        check_names(manifest.bodies.iter().map(String::as_str))?;
        let scene = scene::load(&files.scene().to_string_lossy(), &[])?;
        let description = scene.build_recorded()?;
        let listed = Listed::read(&files)?;

        let mut problems = Vec::new();
        let mut bodies = Vec::new();
        for name in &manifest.bodies {
            let changes = listed.faces.get(name).into_iter().flatten().copied().collect();
            match open::body(&files, &description, changes, name) {
                Ok(body) => bodies.push(body),
                Err(problem) => problems.push(problem),
            }
        }
        let last_frame = listed.last(&files, &manifest.bodies)?;
        problems.extend(listed.missing(&files, &manifest.bodies, last_frame));
        if !problems.is_empty() {
            return Err(Problems(problems));
        }
        let poses = rigid_poses(&files, &description.rigid_bodies, last_frame)?;
        Ok(Self {
            poses,
            name: manifest.scene,
            frame_rate: scene.frame_rate,
            last_frame,
            frames_wanted: scene.frames,
            kept: bodies.iter().map(|_| Mutex::default()).collect(),
            bodies,
            description,
            files,
        })
    }

    /// Name of the scene.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        self.files.root()
    }

    /// Frames per second \[1/s\].
    pub fn frame_rate(&self) -> f32 {
        self.frame_rate
    }

    /// Number of the last frame; all from 0, the initial state, exist.
    pub fn last_frame(&self) -> u32 {
        self.last_frame
    }

    /// Number of frames of the scene: more than [`last_frame`](Self::last_frame) if the run was stopped.
    pub fn frames_wanted(&self) -> u32 {
        self.frames_wanted
    }

    /// Its bodies.
    pub fn bodies(&self) -> &[Body] {
        &self.bodies
    }

    /// The simulated description: limits, obstacles with their motion, the duration of a frame.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// What the description says of one of the [bodies](Self::bodies), if it is one of its own.
    pub fn described(&self, body: &Body) -> Option<&taut::Body> {
        self.description.bodies.get(body.described?)
    }

    /// Time of a frame \[s\].
    pub fn time(&self, frame: u32) -> f32 {
        frame as f32 * self.description.frame_time
    }

    /// Obstacles that are given by formula: those without mass, then rigid bodies.
    pub fn obstacles(&self) -> impl Iterator<Item = &Obstacle> {
        let Description { obstacles, rigid_bodies, .. } = &self.description;
        obstacles.iter().chain(rigid_bodies.iter().map(|body| &body.obstacle))
    }

    /// Where number `index` of the [obstacles](Self::obstacles) is in frame `frame`.
    pub fn pose(&self, index: usize, frame: u32) -> Pose {
        match index.checked_sub(self.description.obstacles.len()) {
            None => self.description.obstacles[index].pose(self.time(frame)),
            Some(body) => self.poses[frame as usize][body],
        }
    }

    /// Whether number `index` of the [obstacles](Self::obstacles) ever moves.
    pub fn is_moving(&self, index: usize) -> bool {
        self.description.obstacles.get(index).is_none_or(|obstacle| obstacle.motion.is_moving())
    }

    /// The file of one frame of one body.
    pub fn frame_file(&self, body: usize, frame: u32) -> PathBuf {
        self.files.frame(&self.bodies[body].name, frame)
    }

    /// Reads the tetrahedral vertices of the soft body `body` in one frame \[m\].
    ///
    /// # Errors
    /// As [`read`](Self::read); also if it is not a soft body.
    pub fn read_tetrahedra(&self, body: usize, frame: u32) -> Result<Vec<Vec3>, Problem> {
        let Body { name, soft, .. } = &self.bodies[body];
        let key = Some(format!("frame {frame} of {name}"));
        let path = self.files.frame(name, frame);
        let Some(soft) = soft else {
            return Err(Problem { key, ..complain(&path, "contains no tetrahedra") });
        };
        let read = npy::read(&path, soft.mesh.positions.len()).and_then(|x| finite(&path, x));
        read.map_err(|problem| Problem { key, ..problem })
    }

    /// Reads the points of developable cloth in one frame \[m\]: what is simulated and measured.
    ///
    /// # Errors
    /// As [`read`](Self::read); also if it is not developable.
    pub fn read_points(&self, body: usize, frame: u32) -> Result<Vec<Vec3>, Problem> {
        let Body { name, midpoints, .. } = &self.bodies[body];
        let key = Some(format!("frame {frame} of {name}"));
        let path = self.files.frame(name, frame);
        let Some(midpoints) = midpoints else {
            return Err(Problem { key, ..complain(&path, "contains no midpoints") });
        };
        let read = npy::read(&path, midpoints.point_count()).and_then(|x| finite(&path, x));
        read.map_err(|problem| Problem { key, ..problem })
    }

    /// Reads one frame of one body; for a soft body, its display surface; for developable cloth, its
    /// vertices.
    ///
    /// # Errors
    /// A problem with the file: truncated, wrong number of vertices, a non-finite position.
    pub fn read(&self, body: usize, frame: u32) -> Result<Geometry, Problem> {
        let Body { name, rest, changes, soft, .. } = &self.bodies[body];
        if let Some(soft) = soft {
            let positions = soft.to_surface(&self.read_tetrahedra(body, frame)?);
            return Ok(Geometry { positions, connections: rest.connections.clone() });
        }
        if let Some(midpoints) = &self.bodies[body].midpoints {
            let positions = midpoints.to_shown(&self.read_points(body, frame)?);
            return Ok(Geometry { positions, connections: rest.connections.clone() });
        }
        let path = self.files.frame(name, frame);
        if let Some(lines) = &self.bodies[body].lines {
            let at_frame =
                |problem: Problem| Problem { key: Some(format!("frame {frame} of {name}")), ..problem };
            let read = npy::read(&path, lines.particle_count).and_then(|x| finite(&path, x));
            let positions = lines.points(&read.map_err(at_frame)?);
            return Ok(Geometry { positions, connections: rest.connections.clone() });
        }
        if let Some(strands) = &self.bodies[body].strands {
            let at_frame =
                |problem: Problem| Problem { key: Some(format!("frame {frame} of {name}")), ..problem };
            let read = npy::read(&path, strands.guide_points).and_then(|x| finite(&path, x));
            let now = (&self.description, self.time(frame));
            return Ok(strands.geometry(&read.map_err(at_frame)?, now, rest));
        }
        let at_frame =
            |problem: Problem| Problem { key: Some(format!("frame {frame} of {name}")), ..problem };
        let connections = self.connections(body, frame).map_err(at_frame)?;
        // With other connectivity the number of vertices may differ; the triangles give its minimum.
        let changed = changes.iter().rfind(|&&change| change <= frame);
        let positions = match changed {
            None => tears::read_whole(&path, rest.positions.len()),
            Some(_) => npy::read_any(&path),
        };
        let positions = positions.map_err(at_frame)?;
        if let Some(&change) = changed
            && let Err(message) = self.bodies[body].fits(&connections, positions.len())
        {
            let message = message + &format!(" {}", self.changes_file(body, change).display());
            return Err(at_frame(complain(&path, message)));
        }
        let positions = finite(&path, positions).map_err(at_frame)?;
        Ok(Geometry { positions, connections })
    }

    /// The file of the connectivity of body `body` that changes at frame `change`.
    fn changes_file(&self, body: usize, change: u32) -> PathBuf {
        let Body { name, rest, .. } = &self.bodies[body];
        match *rest.connections {
            Connections::Triangles(_) => self.files.faces(name, change),
            Connections::Curves(_) => self.files.strands(name, change),
        }
    }

    /// Connectivity of a body in frame `frame`. The last one is cached, so that frames in order read each
    /// file once.
    ///
    /// # Errors
    /// A problem with the file.
    pub fn connections(&self, body: usize, frame: u32) -> Result<Arc<Connections>, Problem> {
        let Body { rest, changes, .. } = &self.bodies[body];
        let Some(&change) = changes.iter().rfind(|&&change| change <= frame) else {
            return Ok(rest.connections.clone());
        };
        let mut kept = self.kept[body].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, connections)) = kept.as_ref().filter(|(number, _)| *number == change) {
            return Ok(connections.clone());
        }
        let path = self.changes_file(body, change);
        let connections = Arc::new(match *rest.connections {
            Connections::Triangles(_) => Connections::Triangles(npy::read_triangles(&path)?),
            Connections::Curves(ref whole) => Connections::Curves(tears::read_strands(&path, whole)?),
        });
        *kept = Some((change, connections.clone()));
        Ok(connections)
    }

    /// The recorded metrics of each frame.
    ///
    /// # Errors
    /// A problem with the file and its first unreadable line.
    pub fn metrics(&self) -> Result<Vec<FrameLine>, Problem> {
        metrics::read(&self.files.metrics())?.into_iter().collect()
    }

    /// The frames `from` to `to`; by default from the first or to the last.
    ///
    /// # Errors
    /// If these frames do not exist; the message gives the existing range.
    pub fn frames(&self, from: Option<u32>, to: Option<u32>) -> Result<RangeInclusive<u32>, Problem> {
        let last = self.last_frame;
        if to.is_none() && last < self.frames_wanted {
            let (wanted, root, from) = (self.frames_wanted, self.root().display(), from.unwrap_or(0));
            let what = if is_being_written(self.root()) {
                format!("is still being written, frame {last} of {wanted}: wait until the run has finished")
            } else {
                format!(
                    "was stopped after frame {last} of {wanted}: resume with `taut run --resume -o {root}`"
                )
            };
            let message = format!("{what}, or use the existing frames with --frames {from}-{last}");
            return Err(complain(self.root(), message));
        }
        let (from, to) = (from.unwrap_or(0), to.unwrap_or(last));
        if from > to || to > last {
            let wanted = if from == to {
                format!("frame {from} does not exist")
            } else {
                format!("frames {from} to {to} do not exist")
            };
            return Err(complain(self.root(), format!("has frames 0 to {last}: {wanted}")));
        }
        Ok(from..=to)
    }
}

fn complain(path: &Path, message: impl Into<String>) -> Problem {
    Problem { file: Some(path.into()), message: message.into(), ..Problem::default() }
}

/// The positions read from `path`, if all are finite.
fn finite(path: &Path, positions: Vec<Vec3>) -> Result<Vec<Vec3>, Problem> {
    match positions.iter().position(|x| !x.is_finite()) {
        None => Ok(positions),
        Some(vertex) => {
            let message = format!("vertex {vertex} is at {}, which is not finite", positions[vertex]);
            Err(complain(path, message))
        }
    }
}

/// Poses of `bodies` in each frame up to `last`, from the metrics.
fn rigid_poses(files: &Layout, bodies: &[RigidBody], last: u32) -> Result<Vec<Vec<Pose>>, Problem> {
    let mut poses = Vec::new();
    if bodies.is_empty() {
        return Ok(poses);
    }
    let path = files.metrics();
    for line in metrics::read(&path)? {
        let FrameLine { frame, certificate, .. } = line?;
        if frame as usize == poses.len() && certificate.rigid_bodies.len() == bodies.len() {
            poses.push(certificate.rigid_bodies.iter().map(|body| body.pose()).collect());
        }
    }
    if poses.len() as u64 <= u64::from(last) {
        let message = format!("has no poses of rigid bodies in frame {}", poses.len());
        return Err(complain(&path, message));
    }
    Ok(poses)
}

/// Frame numbers and connectivity changes of each body, from the file names.
#[derive(Default)]
struct Listed {
    frames: BTreeMap<String, BTreeSet<u32>>,
    faces: BTreeMap<String, BTreeSet<u32>>,
}

impl Listed {
    fn read(files: &Layout) -> Result<Self, Problem> {
        let folder = files.frames();
        let unreadable = |error| complain(&folder, format!("could not be read: {error}"));
        let mut listed = Self::default();
        for entry in std::fs::read_dir(&folder).map_err(unreadable)? {
            let name = entry.map_err(unreadable)?.file_name();
            let Some(name) = name.to_str() else { continue };
            if let Some((body, frame)) = Layout::parse_frame(name) {
                listed.frames.entry(body.into()).or_default().insert(frame);
            } else if let Some((body, frame)) = Layout::parse_changes(name) {
                listed.faces.entry(body.into()).or_default().insert(frame);
            }
        }
        Ok(listed)
    }

    /// The last frame that all `bodies` have: a killed run may have written only some bodies of the next one.
    fn last(&self, files: &Layout, bodies: &[String]) -> Result<u32, Problem> {
        let mut last = None;
        for body in bodies {
            let of_body = self.frames.get(body).and_then(|frames| frames.last().copied());
            let of_body =
                of_body.ok_or_else(|| complain(&files.frame(body, 0), format!("no frames of {body}")))?;
            last = Some(last.map_or(of_body, |last: u32| last.min(of_body)));
        }
        last.ok_or_else(|| complain(&files.manifest(), "names no bodies"))
    }

    /// Missing frames before `last`.
    fn missing(&self, files: &Layout, bodies: &[String], last: u32) -> Vec<Problem> {
        let mut problems = Vec::new();
        for body in bodies {
            let there = self.frames.get(body);
            let count = there.map_or(0, |there| there.range(..=last).count() as u64);
            let missing = u64::from(last) + 1 - count;
            // Bounded by the number of files, whatever the number of the last one.
            let first = (0..=last).find(|frame| there.is_none_or(|there| !there.contains(frame)));
            if let Some(first) = first {
                let more = if missing == 1 { String::new() } else { format!(" (and {} more)", missing - 1) };
                let message =
                    format!("frame {first} of {body} is missing{more}, though frames up to {last} exist");
                problems.push(complain(&files.frame(body, first), message));
            }
        }
        problems
    }
}
