//! What points of strands touch: obstacles given by a formula, bodies with mass, meshes and cloth.
//!
//! Each point keeps off the nearest of them by a plane ([`Touch`]). Obstacles by a formula and bodies are
//! evaluated where a point is, as often as asked; triangles are looked for once a pass ([`detect`]), since
//! that takes a tree. Closed meshes have an inside, which a point that is there leaves on the nearest way. Of
//! cloth and open meshes a point keeps on the side on which it began the step.
//!
//! Between two of them that are nearer to each other than both margins, such as a ball on a floor, a point
//! goes to the middle of what room there is ([`squeezed`]): the nearer one alone would push it into the
//! other.
//!
//! Points are kept off, not the segments between them: an edge of cloth or a corner that is sharper than
//! segments are long can reach between two points.
//!
//! [`detect`]: StrandContacts::detect
//! [`squeezed`]: nearest::squeezed

mod lanes;
mod nearest;

use glam::{DVec3, Mat3, Vec3};

use nearest::Nearest;

use super::{
    distance::vertex_triangle,
    inside::ClosedMesh,
    tree::{Swept, Tree},
};
use crate::{Obstacle, World, boundary::motion::Pose, exec::threads::Threads, kernel::lanes::Quad};

/// Points below which a loop is not shared between threads.
const GRAIN: usize = 512;

/// Distance beyond a point's way in the step, and that of cloth, within which triangles are looked for \[m\].
const REACH: f32 = 2e-3;

/// What a point keeps off: the plane n·x = offset, ahead of which it stays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    /// Outward normal n.
    pub normal: Vec3,
    /// \[m\]
    pub offset: f32,
    /// Where the touched point of the surface went in this step \[m\].
    pub drift: Vec3,
    /// Coulomb friction coefficient.
    pub friction: f32,
    /// What it belongs to.
    pub thing: Thing,
}

/// What a point touches.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Thing {
    /// What nothing moves.
    Fixed,
    /// A closed mesh, which nothing moves either.
    Closed,
    /// A rigid body of the description.
    Body(u32),
    /// A triangle of cloth or of a soft body, and the weights of its corners at the point that is touched.
    Face([u32; 3], [f32; 3]),
}

/// An obstacle by a formula at the start and the end of the step.
#[derive(Clone, Copy, Debug)]
struct Placed {
    poses: [Pose; 2],
    /// The rotations of both.
    turns: [Mat3; 2],
    /// Largest distance of its surface from its origin \[m\].
    radius: f32,
}

impl Placed {
    fn new(obstacle: &Obstacle, poses: [Pose; 2]) -> Self {
        let radius = 1.001 * (obstacle.shape.radius() + obstacle.margin);
        Self { poses, turns: poses.map(|pose| Mat3::from_quat(pose.rotation)), radius }
    }
}

/// How near closed meshes are to a point.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// The distance that all of them had at least \[m\],
    least: f32,
    /// when the point was here \[m\].
    at: Vec3,
    /// The face that was nearest.
    face: u32,
}

/// What strands may touch in a step.
#[derive(Debug, Default)]
pub(crate) struct StrandContacts {
    placed: Vec<Placed>,
    /// By mesh obstacle: what tells inside from outside, if it is closed.
    closed: Vec<Option<ClosedMesh>>,
    /// Triangles of cloth and of open meshes, of the world's surface.
    open: Vec<u32>,
    /// How far they went in the step \[m\].
    way: f32,
    tree: Tree,
    /// By point: what it touches of triangles.
    faces: Vec<Option<Touch>>,
    /// By point: how near closed meshes are.
    known: Vec<Known>,
    scratch: Vec<Vec3>,
}

/// The state of a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Around<'a> {
    /// The world.
    pub world: &'a World,
    /// Positions at the start of the step \[m\].
    pub old: &'a [Quad],
    /// Positions now: of all but strands those at the end of the step \[m\].
    pub x: &'a [Quad],
}

impl StrandContacts {
    /// For the strands of `world`.
    pub fn new(world: &World) -> Self {
        let count = world.strands.len();
        if count == 0 {
            return Self::default();
        }
        let description = &world.description;
        let mut is_open = vec![true; world.start.len()];
        let mut first = world.fixtures.start;
        for (obstacle, inside) in description.mesh_obstacles.iter().zip(&world.insides) {
            let end = first + obstacle.vertex_count();
            is_open[first..end].fill(inside.is_none());
            first = end;
        }
        let triangles = world.surface.as_ref().map_or(&[][..], |surface| &surface.triangles);
        let open: Vec<u32> =
            (0..triangles.len() as u32).filter(|&t| is_open[triangles[t as usize][0] as usize]).collect();
        let about = |t: &u32| {
            let corners = triangles[*t as usize].iter().map(|&v| &world.start[v as usize]);
            corners.fold(Swept::EMPTY, |about, at| about.with(at, at))
        };
        let boxes: Vec<Swept> = open.iter().map(about).collect();
        Self {
            placed: Vec::with_capacity(description.obstacles.len() + description.rigid_bodies.len()),
            closed: world.insides.clone(),
            tree: Tree::new(&boxes),
            open,
            way: 0.0,
            faces: vec![None; count],
            known: vec![Known::default(); count],
            scratch: Vec::new(),
        }
    }

    /// Whether there are triangles to touch.
    pub fn has_faces(&self) -> bool {
        !self.open.is_empty() || self.closed.iter().any(Option::is_some)
    }

    /// Prepares a step between two `times` \[s\]; `bodies` are poses of rigid bodies at both.
    pub fn begin(&mut self, threads: &Threads, around: Around, times: [f32; 2], bodies: &[[Pose; 2]]) {
        let description = &around.world.description;
        self.placed.clear();
        let by_formula = description.obstacles.iter();
        self.placed.extend(by_formula.map(|o| Placed::new(o, times.map(|t| o.pose(t)))));
        let with_mass = description.rigid_bodies.iter().zip(bodies);
        self.placed.extend(with_mass.map(|(body, &poses)| Placed::new(&body.obstacle, poses)));
        let Some(surface) = &around.world.surface else { return };
        let mut first = around.world.fixtures.start;
        for (obstacle, closed) in description.mesh_obstacles.iter().zip(&mut self.closed) {
            let own = first..first + obstacle.vertex_count();
            first = own.end;
            let Some(closed) = closed else { continue };
            let way = own.clone().map(|v| way(around.old, around.x, v)).fold(0.0, f32::max);
            let is_at =
                |quads: &[Quad], closed: &ClosedMesh| closed.is_at(|v| position(&quads[own.start + v]));
            // What is known holds of where it was last; a state may be another one since.
            let left = if is_at(around.old, closed) { way } else { f32::INFINITY };
            if left > 0.0 {
                self.known.iter_mut().for_each(|known| known.least -= left);
            }
            if !is_at(around.x, closed) {
                self.scratch.clear();
                self.scratch.extend(own.map(|v| position(&around.x[v])));
                closed.fit(&self.scratch);
            }
        }
        let (open, triangles) = (&self.open, &surface.triangles);
        let corners = open.iter().flat_map(|&t| triangles[t as usize]);
        self.way = corners.map(|v| way(around.old, around.x, v as usize)).fold(0.0, f32::max);
        // About both ends of the step: points are looked for at both.
        self.tree.refit_on(threads, |k| {
            let triangle = &triangles[open[k as usize] as usize];
            triangle.iter().fold(Swept::EMPTY, |about, &v| {
                let [old, now] = [&around.old[v as usize], &around.x[v as usize]];
                about.with(old, old).with(now, now)
            })
        });
    }

    /// Finds the triangles that points touch, which are at `around.x` now.
    pub fn detect(&mut self, threads: &Threads, around: Around) {
        let Some(surface) = around.world.surface.as_ref().filter(|_| self.has_faces()) else { return };
        let first = around.world.strands.start;
        let Self { closed, open, tree, faces, known, way: open_way, .. } = self;
        let (closed, open, tree, open_way) = (&*closed, &*open, &*tree, *open_way);
        threads.each_pair(faces, known, GRAIN, |from, faces, known| {
            for (k, (face, known)) in faces.iter_mut().zip(known).enumerate() {
                let v = first + from + k;
                *face = None;
                if around.x[v][3] <= 0.0 {
                    continue;
                }
                let reach = REACH + way(around.old, around.x, v);
                let inside = in_closed(around, closed, v, reach, known);
                let beside = || beside(around, &surface.triangles, (open, tree), v, reach + open_way);
                *face = inside.or_else(beside);
            }
        });
    }

    /// What the point `v` of all vertices, at `p` \[m\], keeps off: of what is nearer than `reach` \[m\] the
    /// nearest. Cloth and open meshes are where they were last [detected](Self::detect).
    pub fn touch(&self, world: &World, v: usize, p: Vec3, reach: f32) -> Option<Touch> {
        let open = self.faces.get(v - world.strands.start).copied().flatten();
        let open = open.filter(|touch| !matches!(touch.thing, Thing::Closed));
        let mut nearest = Nearest::within(reach);
        nearest.take(open.map(|touch| (touch.normal.dot(p) - touch.offset, touch)));
        self.take_solid(world, v, p, &mut nearest);
        nearest.touch()
    }

    /// The same of what has an inside: obstacles by a formula, bodies with mass and closed meshes, but for
    /// how the latter drift.
    pub fn touch_solid(&self, world: &World, v: usize, p: Vec3, reach: f32) -> Option<Touch> {
        let mut nearest = Nearest::within(reach);
        self.take_solid(world, v, p, &mut nearest);
        nearest.touch()
    }

    fn take_solid(&self, world: &World, v: usize, p: Vec3, nearest: &mut Nearest) {
        let description = &world.description;
        let count = description.obstacles.len();
        nearest.take(self.touch_closed(world, v, p, nearest.reach));
        for (k, placed) in self.placed.iter().enumerate() {
            let [begin, end] = &placed.poses;
            if (p - end.position).length() - placed.radius > nearest.far() {
                continue;
            }
            let (obstacle, thing) = match k.checked_sub(count) {
                None => (&description.obstacles[k], Thing::Fixed),
                Some(body) => (&description.rigid_bodies[body].obstacle, Thing::Body(body as u32)),
            };
            let local = end.to_body(p);
            let (gap, normal) = obstacle.gap(local);
            let normal = end.rotation * normal;
            let (offset, drift) = (normal.dot(p) - gap, p - begin.to_world(local));
            let friction = obstacle.friction;
            nearest.take(Some((gap, Touch { normal, offset, drift, friction, thing })));
        }
    }

    /// The nearest of the closed meshes, and how far it is away \[m\].
    fn touch_closed(&self, world: &World, v: usize, p: Vec3, reach: f32) -> Option<(f32, Touch)> {
        let known = self.known.get(v - world.strands.start)?;
        if known.least - p.distance(known.at) > reach {
            return None;
        }
        let mut found: Option<(f32, Touch)> = None;
        for (obstacle, closed) in world.description.mesh_obstacles.iter().zip(&self.closed) {
            let Some(closed) = closed else { continue };
            let signed = closed.signed_distance_from(p, Some(known.face));
            let gap = signed.distance as f32 - obstacle.margin;
            if gap < found.map_or(reach, |(gap, _)| gap) {
                let normal = signed.normal.as_vec3();
                let (offset, friction) = (normal.dot(p) - gap, obstacle.friction);
                found =
                    Some((gap, Touch { normal, offset, drift: Vec3::ZERO, friction, thing: Thing::Closed }));
            }
        }
        found
    }
}

/// How far vertex `v` went \[m\].
fn way(old: &[Quad], x: &[Quad], v: usize) -> f32 {
    position(&x[v]).distance(position(&old[v]))
}

/// What point `v` touches of closed meshes.
fn in_closed(
    around: Around,
    closed: &[Option<ClosedMesh>],
    v: usize,
    reach: f32,
    known: &mut Known,
) -> Option<Touch> {
    let (p, world) = (position(&around.x[v]), around.world);
    if known.least - p.distance(known.at) > reach {
        return None;
    }
    (known.least, known.at) = (f32::INFINITY, p);
    let mut found: Option<(f32, Touch)> = None;
    let mut first = world.fixtures.start as u32;
    for (obstacle, closed) in world.description.mesh_obstacles.iter().zip(closed) {
        let own = first;
        first += obstacle.vertex_count() as u32;
        let Some(closed) = closed else { continue };
        let signed = closed.signed_distance_from(p, Some(known.face));
        let gap = signed.distance as f32 - obstacle.margin;
        known.least = known.least.min(gap);
        if gap < found.map_or(reach, |(gap, _)| gap) {
            known.face = signed.face;
            let corners = obstacle.triangles[signed.face as usize].map(|c| own + c);
            let drift = drift(around, corners, signed.nearest);
            let normal = signed.normal.as_vec3();
            let offset = normal.dot(p) - gap;
            let touch = Touch { normal, offset, drift, friction: obstacle.friction, thing: Thing::Closed };
            found = Some((gap, touch));
        }
    }
    found.map(|(_, touch)| touch)
}

/// What point `v` touches of cloth and of open meshes: it stays on the side on which it began the step.
fn beside(
    around: Around,
    triangles: &[[u32; 3]],
    (open, tree): (&[u32], &Tree),
    v: usize,
    reach: f32,
) -> Option<Touch> {
    let Around { world, old, x } = around;
    let p = position(&x[v]).as_dvec3();
    let at = |quads: &[Quad], v: u32| position(&quads[v as usize]).as_dvec3();
    let nearest = |k: u32| {
        let [a, b, c] = triangles[open[k as usize] as usize].map(|v| at(x, v));
        vertex_triangle(&[p, a, b, c])
    };
    let surface = world.surface.as_ref()?;
    let most = f64::from(reach).powi(2);
    let (k, _) = tree.nearest(&p.to_array(), most, |k| nearest(k).squared)?;
    let corners = triangles[open[k as usize] as usize];
    let [_, a, b, c] = nearest(k).weights;
    let weights = [-a, -b, -c];
    let on = |quads: &[Quad]| (0..3).map(|k| weights[k] * at(quads, corners[k])).sum::<DVec3>();
    let normal = |quads: &[Quad], corners: [u32; 3]| {
        let [a, b, c] = corners.map(|v| at(quads, v));
        (b - a).cross(c - a).normalize_or_zero()
    };
    let (now, before) = (on(x), on(old));
    // The side of that triangle of the same piece which was nearest: planes of curved cloth cut each other.
    let start = at(old, v as u32);
    let piece = surface.piece[corners[0] as usize];
    let nearest_then = |k: u32| {
        let corners = triangles[open[k as usize] as usize];
        let [a, b, c] = corners.map(|v| at(old, v));
        let is_same = surface.piece[corners[0] as usize] == piece;
        if is_same { vertex_triangle(&[start, a, b, c]).squared } else { f64::INFINITY }
    };
    let most = nearest_then(k) * 1.000_001;
    let then = tree.nearest(&start.to_array(), most, nearest_then).map_or(k, |(then, _)| then);
    let then = triangles[open[then as usize] as usize];
    let side = (start - at(old, then[0])).dot(normal(old, then));
    let outward = if side < 0.0 { -normal(x, corners) } else { normal(x, corners) };
    let arm = p - now;
    // Beyond an edge, the direction to the point; behind the triangle, that of its side.
    let out = if arm.dot(outward) > 0.0 { arm.normalize_or(outward) } else { outward };
    let corner = corners[0] as usize;
    let radius = surface.radius[corner];
    let out = out.as_vec3();
    let weights = weights.map(|w| w as f32);
    Some(Touch {
        normal: out,
        offset: out.dot(now.as_vec3()) + radius,
        drift: (now - before).as_vec3(),
        friction: surface.friction[corner],
        thing: if surface.is_fixed(corners[0]) { Thing::Fixed } else { Thing::Face(corners, weights) },
    })
}

/// Where the point `p` of the triangle `corners` went in the step \[m\].
fn drift(around: Around, corners: [u32; 3], p: DVec3) -> Vec3 {
    let at = |quads: &[Quad], v: u32| position(&quads[v as usize]).as_dvec3();
    let [a, b, c] = corners.map(|v| at(around.x, v));
    let [_, wa, wb, wc] = vertex_triangle(&[p, a, b, c]).weights;
    let weights = [-wa, -wb, -wc];
    let before: DVec3 = (0..3).map(|k| weights[k] * at(around.old, corners[k])).sum();
    (p - before).as_vec3()
}

fn position(quad: &Quad) -> Vec3 {
    Vec3::new(quad[0], quad[1], quad[2])
}
