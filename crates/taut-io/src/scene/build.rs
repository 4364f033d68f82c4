//! Builds the engine's description from a well-formed scene: reads and checks meshes, places bodies, resolves
//! selections.

use std::{collections::BTreeSet, f64::consts::TAU};

use glam::{DQuat, DVec3, Vec3};
use taut::{
    Description,
    low_level::Keyframe,
    mesh::{
        TriangleMesh,
        check::{MAX_COORDINATE, check},
        cut,
        generate::Garment,
        split,
    },
};

use super::{
    LoadedScene, contact,
    format::{Air, Cloth, FromFile, MotionKey, Obstacle, Seam, Transform, Vector, Wind},
    noise::{self, Octaves},
    patterns,
    report::{Path, Report},
    seams, shapes, surfaces,
    tree::{Node, Origin},
};
use crate::{Problem, Problems};

/// The built description, and warnings.
pub(super) struct Built {
    pub description: Description,
    pub warnings: Vec<Problem>,
}

/// See [`LoadedScene::build`]. `recorded`: the scene has been run before, so that its meshes were checked.
pub(super) fn build(scene: &LoadedScene, recorded: bool) -> Result<Built, Problems> {
    let mut builder = Builder::new(scene, recorded);
    let settings = &scene.scene;
    let mesh_obstacles: Vec<taut::MeshObstacle> = settings
        .obstacle
        .iter()
        .enumerate()
        .filter_map(|(index, obstacle)| builder.surface(index, obstacle))
        .collect();
    let cloths: Vec<taut::Cloth> =
        settings.cloth.iter().enumerate().filter_map(|(index, cloth)| builder.cloth(index, cloth)).collect();
    let solids: Vec<taut::Solid> =
        settings.solid.iter().enumerate().filter_map(|(index, solid)| builder.solid(index, solid)).collect();
    if !builder.report.problems.is_empty() {
        return Err(Problems(builder.report.into_sorted()));
    }
    let mut particles = Vec::new();
    for (index, given) in settings.particles.iter().enumerate() {
        particles.extend(builder.particles(index, given));
    }
    let mut hair = Vec::new();
    for (index, given) in settings.hair.iter().enumerate() {
        hair.extend(builder.hair(index, given, &mesh_obstacles));
    }
    if !builder.report.problems.is_empty() {
        return Err(Problems(builder.report.into_sorted()));
    }
    let seams = settings.seam.iter().enumerate();
    let mut seams: Vec<taut::Seam> =
        seams.filter_map(|(index, seam)| builder.seam(index, seam, &cloths)).collect();
    seams.append(&mut builder.sewn);
    let contact = contact::contact(settings, &cloths);
    let bodies = cloths.into_iter().map(taut::Body::from).chain(solids.into_iter().map(taut::Body::from));
    let bodies = bodies.chain(particles.into_iter().map(taut::Body::from));
    let bodies: Vec<taut::Body> = bodies.chain(hair.into_iter().map(taut::Body::from)).collect();
    let rigid_bodies: Vec<_> = settings.obstacle.iter().filter_map(shapes::rigid).collect();
    let mut springs = Vec::new();
    for (index, given) in settings.spring.iter().enumerate() {
        springs.extend(builder.springs(index, given, (&bodies, &rigid_bodies)));
    }
    if !builder.report.problems.is_empty() {
        return Err(Problems(builder.report.into_sorted()));
    }
    let description = Description {
        bodies,
        seams,
        springs,
        obstacles: settings.obstacle.iter().filter_map(shapes::fixed).collect(),
        mesh_obstacles,
        rigid_bodies,
        gravity: vector(settings.scene.gravity).as_vec3(),
        sewing: settings.scene.sewing as f32,
        air: air(&settings.air),
        contact,
        frame_time: (1.0 / f64::from(scene.frame_rate)) as f32,
        solver: settings.solver.build(),
        seed: settings.scene.seed,
    };
    builder.check_pressures(&description);
    if !builder.report.problems.is_empty() {
        return Err(Problems(builder.report.into_sorted()));
    }
    Ok(Built { description, warnings: builder.warnings })
}

pub(super) fn vector(v: Vector) -> DVec3 {
    DVec3::from_array(v)
}

/// Rotation about x, then y, then z by `degrees`.
pub(super) fn rotation(degrees: Vector) -> DQuat {
    let [x, y, z] = degrees.map(|angle| angle / 360.0 * TAU);
    DQuat::from_rotation_z(z) * DQuat::from_rotation_y(y) * DQuat::from_rotation_x(x)
}

/// The engine's motion.
pub(super) fn motion(keys: &[MotionKey], pivot: DVec3) -> taut::Motion {
    let key = |key: &MotionKey| Keyframe {
        time: key.time as f32,
        translate: vector(key.translate).as_vec3(),
        rotate: vector(key.rotate).as_vec3(),
    };
    taut::Motion { keys: keys.iter().map(key).collect(), pivot: pivot.as_vec3(), ..taut::Motion::default() }
}

/// Whether the triangles of a mesh name its vertices, and these are somewhere.
fn can_be_drawn(mesh: &TriangleMesh) -> bool {
    let count = mesh.positions.len() as u32;
    let uvs = mesh.uvs.as_ref().is_none_or(|uvs| uvs.len() == mesh.triangles.len());
    let mut named = mesh.triangles.iter().flatten().chain(mesh.groups.values().flatten());
    let near = |x: &Vec3| x.is_finite() && x.abs().max_element() <= MAX_COORDINATE;
    uvs && !mesh.triangles.is_empty() && named.all(|&v| v < count) && mesh.positions.iter().all(near)
}

fn air(air: &Air) -> taut::Air {
    let wind = match &air.wind {
        Wind::Constant([0.0, 0.0, 0.0]) => Vec::new(),
        Wind::Constant(velocity) => vec![(0.0, vector(*velocity).as_vec3())],
        Wind::Keyframes(keys) => {
            keys.iter().map(|key| (key.time as f32, vector(key.velocity).as_vec3())).collect()
        }
    };
    taut::Air { density: air.density as f32, wind, gust: air.gust as f32 }
}

/// How far the two sides of a cut start apart, over the size of the triangles beside it: so that they touch
/// nowhere.
const CUT_WIDTH: f32 = 2e-3;

/// `garment` with the cut mesh `mesh`, whose vertices were `origins`.
fn cut_garment(garment: Garment, mesh: TriangleMesh, origins: &[u32]) -> Garment {
    let count = garment.start.len();
    let start: Vec<Vec3> = origins.iter().map(|&v| garment.start[v as usize]).collect();
    let ways = split::into_own_triangles(start.len(), &mesh.triangles, |v| start[v as usize]);
    let mut moved = start;
    let beside = origins[count..].iter().copied().chain(count as u32..origins.len() as u32);
    for v in beside.collect::<BTreeSet<u32>>() {
        moved[v as usize] += CUT_WIDTH * ways[v as usize];
    }
    Garment { mesh, start: moved, seams: garment.seams }
}

/// The body that a message refers to.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// `cloth`, `solid`, …
    pub kind: &'static str,
    /// Index among those.
    pub index: usize,
    /// Its name.
    pub name: &'a str,
}

/// A scene being built, and the problems found so far.
pub(super) struct Builder<'a> {
    pub scene: &'a LoadedScene,
    /// Whether it has been run before.
    recorded: bool,
    pub report: Report<'a>,
    pub warnings: Vec<Problem>,
    /// Seams of generated meshes.
    sewn: Vec<taut::Seam>,
}

impl<'a> Builder<'a> {
    /// For a scene; see [`build`].
    pub fn new(scene: &'a LoadedScene, recorded: bool) -> Self {
        let report = Report::new(scene.file.clone(), &scene.overrides);
        Self { scene, recorded, report, warnings: Vec::new(), sewn: Vec::new() }
    }
}

impl Builder<'_> {
    /// One mesh obstacle, or `None` if it is not a mesh or a problem was reported.
    pub fn surface(&mut self, index: usize, obstacle: &Obstacle) -> Option<taut::MeshObstacle> {
        let name = obstacle.name.as_deref().unwrap_or_default();
        let place = Place { kind: "obstacle", index, name };
        match surfaces::obstacle(self.scene, obstacle)? {
            Ok(obstacle) => return Some(obstacle),
            Err(surfaces::Refusal::Keys(keys, message)) => {
                self.refuse::<()>(place, &keys, message);
            }
            Err(surfaces::Refusal::File(problem)) => {
                let message = format!("{} (mesh of obstacle \"{name}\")", problem.message);
                self.report.problems.push(Problem { message, ..problem });
            }
        }
        None
    }

    /// One cloth, or `None` if a problem was reported.
    fn cloth(&mut self, index: usize, given: &Cloth) -> Option<taut::Cloth> {
        let cloth = given;
        let name = cloth.name.clone().unwrap_or_default();
        let place = Place { kind: "cloth", index, name: &name };
        let Garment { mesh, mut start, seams } = self.mesh(place, cloth)?;
        if let Some(noise) = cloth.noise {
            let seed = noise.seed.unwrap_or(self.scene.scene.scene.seed);
            let (amplitude, frequency, count) = (noise.amplitude, noise.frequency, noise.octaves);
            noise::displace(&mut start, Octaves { amplitude, count, frequency, seed });
        }
        let start = self.start(place, &cloth.transform, start)?;
        let before = self.report.problems.len();
        let pins = self.pins(place, &cloth.pin, &start, |select, file| select.resolve(&mesh, file));
        let tear = cloth.tear.as_ref().map(|tear| self.tear(place, tear, &mesh));
        let cloth = taut::Cloth {
            name: name.clone(),
            mesh,
            start,
            velocity: vector(cloth.velocity).as_vec3(),
            material: cloth.material.build(),
            model: cloth.engine_model(),
            strain: cloth.strain.build(),
            weave: cloth.strain.weave(),
            warp: cloth.warp.map(|warp| warp.build()),
            edge: cloth.edge.build(),
            bend: cloth.bend.build(),
            coarse: None,
            pins,
            masses: None,
            imperfection: cloth.imperfection.map(|length| length as f32),
            pressure: cloth.pressure.as_ref().and_then(|pressure| pressure.build()),
            tear,
            torn: None,
            midpoints: None,
        };
        if let Err(problem) = cloth.check_weave() {
            let keys: &[&str] = if cloth.warp.is_some() { &["warp"] } else { &["strain", "direction"] };
            self.refuse::<()>(place, keys, problem);
        }
        if let Some((key, problem)) = cloth.material.problem() {
            self.refuse::<()>(place, &["material", key], problem);
        }
        let encloses = cloth.model.pbd().is_some_and(|pbd| pbd.volume.is_some_and(|volume| volume.acts()));
        if encloses && !taut::mesh::adjacency::is_closed(&cloth.mesh) {
            let stiffness = given.pbd.and_then(|pbd| pbd.volume).is_some();
            let keys: &[&str] = if stiffness { &["pbd", "volume"] } else { &["pbd", "compliance", "volume"] };
            let problem =
                "needs closed cloth: this mesh has a border, or faces that do not agree on which side is out";
            self.refuse::<()>(place, keys, problem.to_owned());
        }
        if !seams.is_empty() {
            let speed = patterns::speed(given, &seams, &cloth.start, self.scene.scene.scene.sewing);
            self.sewn.push(seams::within_cloth(cloth.name.clone(), index, &seams, speed));
        }
        if self.report.problems.len() > before {
            return None;
        }
        match cloth.model.developable() {
            None => Some(cloth),
            Some(settings) => match cloth.developable(settings) {
                Ok(cloth) => Some(cloth),
                Err(problem) => self.refuse(place, &["model"], problem),
            },
        }
    }

    /// The rest mesh and the initial positions before rotation and translation: generated or read, scaled,
    /// checked.
    fn mesh(&mut self, place: Place<'_>, cloth: &Cloth) -> Option<Garment> {
        let (tag, name) = (cloth.mesh.tag(), place.name);
        let keys = ["mesh", tag];
        let (mut garment, file) = match cloth.mesh.generator(self.scene.scene.scene.seed) {
            Ok(generator) => match generator.make() {
                Ok(garment) => (garment, None),
                Err(error) => return self.refuse(place, &keys, error.to_string()),
            },
            Err(FromFile::Pattern(pattern)) => match patterns::read(self.scene, pattern) {
                Ok(sewn) => {
                    for warning in sewn.warnings {
                        let warning = self.at(place, &keys, warning);
                        self.warnings.push(warning);
                    }
                    (sewn.garment, None)
                }
                Err(patterns::Refusal::Key(message)) => return self.refuse(place, &keys, message),
                Err(patterns::Refusal::File(problems)) => {
                    let named = |problem: Problem| Problem {
                        message: format!("{} (pattern of cloth \"{name}\")", problem.message),
                        ..problem
                    };
                    self.report.problems.extend(problems.0.into_iter().map(named));
                    return None;
                }
            },
            Err(FromFile::Mesh(file)) => {
                let path = self.scene.resolve(file);
                if !path.exists() {
                    return self.refuse(place, &keys, format!("file not found: {}", path.display()));
                }
                match crate::mesh::read(&path) {
                    Ok(mesh) => (Garment::from(mesh), Some(path)),
                    Err(problem) => {
                        let message = format!("{} (mesh of cloth \"{name}\")", problem.message);
                        self.report.problems.push(Problem { message, ..problem });
                        return None;
                    }
                }
            }
        };
        let scale = vector(cloth.transform.scale.factors());
        if scale != DVec3::ONE {
            // A garment is flat at rest and upright initially: scaled along one axis, the two would not
            // match.
            if garment.start != garment.mesh.positions && scale != DVec3::splat(scale.x) {
                let message = format!("must be one number: a {tag} supports uniform scale only");
                return self.refuse(place, &["transform", "scale"], message);
            }
            let scaled = |x: &mut Vec3| *x = (scale * x.as_dvec3()).as_vec3();
            garment.mesh.positions.iter_mut().chain(&mut garment.start).for_each(scaled);
        }
        for (number, cut) in cloth.cut.iter().enumerate() {
            let made = cut::cut(&garment.mesh, vector(cut.from).as_vec3(), vector(cut.to).as_vec3());
            match made {
                Ok((mesh, origins)) => garment = cut_garment(garment, mesh, &origins),
                Err(error) => return self.refuse(place, &[&format!("cut[{number}]")], error.to_string()),
            }
        }
        if self.recorded && can_be_drawn(&garment.mesh) {
            return Some(garment);
        }
        let mut sound = true;
        for problem in check(&garment.mesh) {
            let message = match &file {
                Some(_) => format!("{problem} (mesh of cloth \"{name}\")"),
                None => problem.to_string(),
            };
            let found = match &file {
                Some(path) => Problem { file: Some(path.clone()), message, ..Problem::default() },
                None => self.at(place, &keys, message),
            };
            if problem.is_error() {
                sound = false;
                self.report.problems.push(found);
            } else {
                self.warnings.push(found);
            }
        }
        sound.then_some(garment)
    }

    /// The initial positions: `start`, rotated and translated.
    pub fn start(
        &mut self,
        place: Place<'_>,
        transform: &Transform,
        mut start: Vec<Vec3>,
    ) -> Option<Vec<Vec3>> {
        let (turn, shift) = (rotation(transform.rotate), vector(transform.translate));
        start.iter_mut().for_each(|x| *x = (turn * x.as_dvec3() + shift).as_vec3());
        // Written so that NaN is outside.
        let outside = |x: &Vec3| !(x.abs().max_element() <= MAX_COORDINATE && x.is_finite());
        match start.iter().position(outside) {
            Some(vertex) => {
                let message = format!(
                    "places vertex {vertex} at {}, every coordinate must be within ±{MAX_COORDINATE} m",
                    start[vertex]
                );
                self.refuse(place, &["transform"], message)
            }
            None => Some(start),
        }
    }

    /// Reports cloth that has a pressure and is not closed, with the seams of the whole scene.
    fn check_pressures(&mut self, description: &Description) {
        if self.recorded || !description.cloths().any(|cloth| cloth.pressure.is_some()) {
            return;
        }
        if let Err(taut::WorldError::Cloth { name, problem }) = taut::Ruler::new(description.clone())
            && problem.starts_with("pressure")
            && let Some(index) = description.cloths().position(|cloth| cloth.name == name)
        {
            self.refuse::<()>(Place { kind: "cloth", index, name: &name }, &["pressure"], problem);
        }
    }

    /// A seam, or `None` if a problem was reported.
    fn seam(&mut self, index: usize, seam: &Seam, cloths: &[taut::Cloth]) -> Option<taut::Seam> {
        let refusals = match seams::build(seam, cloths, |file| self.scene.resolve(file)) {
            Ok(seam) => return Some(seam),
            Err(refusals) => refusals,
        };
        let name = seam.name.clone().unwrap_or_default();
        for (key, message) in refusals {
            self.refuse::<()>(Place { kind: "seam", index, name: &name }, &[key], message);
        }
        None
    }

    /// Reports a problem of a key of a body.
    pub fn refuse<T>(&mut self, place: Place<'_>, keys: &[&str], message: String) -> Option<T> {
        let problem = self.at(place, keys, message);
        self.report.problems.push(problem);
        None
    }

    /// A problem of a key of a body, with the line of the nearest key that the scene has.
    pub fn at(&self, Place { kind, index, name }: Place<'_>, keys: &[&str], message: String) -> Problem {
        let mut node = self.scene.tree.items_of(kind).get(index);
        let mut origin = node.map_or(Origin::File, |node| node.origin);
        for key in keys {
            node = node.and_then(|node| find(node, key));
            origin = node.map_or(origin, |node| node.origin);
        }
        let root = Path::Root;
        let list = Path::Key(&root, kind);
        let body = Path::Named(&list, name);
        // An index belongs to the key's text here: `pin[0]`.
        let key = keys.iter().fold(body.to_string(), |path, key| format!("{path}.{key}"));
        Problem { key: Some(key), ..self.report.problem(origin, &body, message) }
    }
}

/// The entry `key` of a table, where `key` may end with an index: `pin[0]`.
fn find<'a>(node: &'a Node, key: &str) -> Option<&'a Node> {
    match key.strip_suffix(']').and_then(|key| key.split_once('[')) {
        Some((key, index)) => node.items_of(key).get(index.parse::<usize>().ok()?),
        None => node.get(key),
    }
}
