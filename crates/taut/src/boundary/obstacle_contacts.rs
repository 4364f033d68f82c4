//! Contacts of cloth with analytic obstacles, inside the limiter's iterations (W6).
//!
//! A vertex inside an obstacle, or nearer than its margin, is pushed out. Its depth gives friction (Eq. 7):
//! its tangential displacement, relative to that of the surface in this step, is shortened by μ times the
//! depth, or cancelled if it is shorter than that (the static case). Written for displacements in a step; the
//! paper writes velocities, which are these over the step. Restitution is applied after the step, in
//! [`ObstacleContacts::respond`].
//!
//! As in the paper, only vertices are tested, not edges; a vertex that would jump across a thin obstacle is
//! stopped where it enters.

use glam::Vec3;

use super::{motion::Pose, obstacle::Obstacle};
use crate::{exec::threads::Threads, kernel::lanes::Quad};

/// Rounds over the obstacles in which a vertex is pushed out: leaving one may enter its neighbour.
const EXPEL_ROUNDS: u32 = 4;

/// Speed at which cloth that begins a step inside an obstacle is pushed out \[m/s\]. Pushing it out in one
/// step would throw it.
pub(crate) const PUSH_OUT_SPEED: f32 = 2.0;

/// Cloth that begins a step inside by this fraction of the push-out distance of a step is still being pushed
/// out.
const STILL_DEEP_FRACTION: f32 = 0.1;

/// Maximum speed of cloth that is dragged along, in units of [`PUSH_OUT_SPEED`].
const MAX_DRAGGED_SPEED: f32 = 1.5;

/// No obstacle.
const NONE: u32 = u32::MAX;

/// Contact of one vertex in this step.
#[derive(Clone, Copy, Debug)]
struct Contact {
    /// The obstacle that it touched last, or [`NONE`].
    obstacle: u32,
    /// Outward normal there.
    normal: Vec3,
    /// Allowed depth at the end of the step \[m\]: 0, unless it began inside.
    sunk: f32,
}

/// An obstacle in a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    /// Poses at the start and at the end of the step.
    pub poses: [Pose; 2],
    /// Largest distance of its surface from its origin, including its margin and the rounding error \[m\].
    radius: f32,
}

impl Placed {
    /// Lower bound of the distance of `p` from the obstacle at the end of the step \[m\]: a cheap test that
    /// it is out of reach.
    pub fn at_least(&self, p: Vec3) -> f32 {
        (p - self.poses[1].position).length() - self.radius
    }

    /// Whether a vertex that moves from `from` by `way` certainly stays further away than `near` \[m\].
    fn is_far(&self, from: Vec3, way: f32, near: f32) -> bool {
        self.poses[0] == self.poses[1] && self.at_least(from) > 1.001 * (near + way)
    }
}

/// Obstacles at the start and the end of a step, the vertices that may touch them, and their contacts.
#[derive(Debug, Default)]
pub struct ObstacleContacts {
    /// One per obstacle.
    pub(super) placed: Vec<Placed>,
    /// Length of the step \[s\].
    duration: f32,
    /// When it ends \[s\].
    end: f32,
    /// Largest depth of a vertex at the start of the step \[m\].
    deepest: f32,
    /// Vertices that may touch an obstacle in this step.
    candidates: Vec<u32>,
    /// By candidate.
    contacts: Vec<Contact>,
    /// By vertex: whether it is a candidate, how deep it began the step and how deep it may end it \[m\].
    seen: Vec<Option<[f32; 2]>>,
}

/// Vertices below which a loop is not shared between threads.
const GRAIN: usize = 512;

impl ObstacleContacts {
    /// Whether some vertex began the step inside an obstacle, even if it gets out in this one.
    fn frees(&self) -> bool {
        self.deepest > STILL_DEEP_FRACTION * PUSH_OUT_SPEED * self.duration
    }

    /// When the step ends \[s\].
    pub(crate) fn end_time(&self) -> f32 {
        self.end
    }

    /// Scratch for `vertex_count` vertices and `obstacle_count` obstacles, so that steps do not allocate.
    pub fn with_capacity(vertex_count: usize, obstacle_count: usize) -> Self {
        if obstacle_count == 0 {
            return Self::default();
        }
        Self {
            placed: Vec::with_capacity(obstacle_count),
            duration: 0.0,
            end: 0.0,
            deepest: 0.0,
            candidates: Vec::with_capacity(vertex_count),
            contacts: Vec::with_capacity(vertex_count),
            seen: Vec::with_capacity(vertex_count),
        }
    }

    /// Prepares a step between two `times` \[s\], in which vertices move from `old` to about `x`. A vertex
    /// that would pass right through an obstacle is stopped in it. `reach` \[m\] is how far limits may move a
    /// vertex beyond its displacement.
    pub fn begin(
        &mut self,
        threads: &Threads,
        obstacles: &[Obstacle],
        times: [f32; 2],
        old: &[Quad],
        x: &mut [Quad],
        reach: f32,
    ) {
        (self.duration, self.end, self.deepest) = (times[1] - times[0], times[1], 0.0);
        self.placed.clear();
        self.placed.extend(obstacles.iter().map(|o| Placed {
            poses: times.map(|t| o.pose(t)),
            radius: 1.001 * (o.shape.radius() + o.margin),
        }));
        self.candidates.clear();
        self.contacts.clear();
        if obstacles.is_empty() {
            return;
        }
        self.seen.resize(x.len(), None);
        let (placed, duration): (&[Placed], f32) = (&self.placed, self.duration);
        threads.each_pair(x, &mut self.seen, GRAIN, |first, x, seen| {
            for ((x, seen), old) in x.iter_mut().zip(seen).zip(&old[first..]) {
                *seen = meet(obstacles, placed, position(old), x, reach).then(|| {
                    [
                        began(obstacles, placed, position(old)),
                        sunk(obstacles, placed, position(old), duration),
                    ]
                });
            }
        });
        for (v, seen) in self.seen.iter().enumerate() {
            if let Some([deep, sunk]) = *seen {
                self.candidates.push(v as u32);
                self.deepest = self.deepest.max(deep);
                self.contacts.push(Contact { obstacle: NONE, normal: Vec3::Y, sunk });
            }
        }
    }

    /// Pushes candidates that are inside back to the surface, with friction. Returns the largest penetration
    /// found \[m\].
    pub fn project(
        &mut self,
        threads: &Threads,
        obstacles: &[Obstacle],
        old: &[Quad],
        x: &mut [Quad],
    ) -> f32 {
        let placed = &self.placed;
        let candidates = &self.candidates;
        threads.largest_at(&mut self.contacts, (candidates, x), GRAIN, |v, contact, quad| {
            let mut p = position(quad);
            let depth = settle(obstacles, placed, position(&old[v]), &mut p, contact);
            quad[..3].copy_from_slice(&p.to_array());
            depth
        })
    }

    /// Vertices that may touch an obstacle in this step, in ascending order.
    pub fn candidates(&self) -> &[u32] {
        &self.candidates
    }

    /// Allowed depth at the end of the step of a vertex that began it at `old` \[m\]: 0, unless it began
    /// inside.
    pub fn sunk(&self, obstacles: &[Obstacle], old: Vec3) -> f32 {
        sunk(obstacles, &self.placed, old, self.duration)
    }

    /// Depth of `p` \[m\] in an obstacle at the end of the step \[m\]; negative outside. Changes by at most
    /// the displacement of `p`.
    pub fn depth(&self, obstacles: &[Obstacle], p: Vec3) -> f32 {
        let mut deepest = f32::NEG_INFINITY;
        for (obstacle, placed) in obstacles.iter().zip(&self.placed) {
            if -placed.at_least(p) > deepest {
                deepest = deepest.max(-obstacle.gap(placed.poses[1].to_body(p)).0);
            }
        }
        deepest
    }

    /// Projection of `p`, which began the step at `old` and may be `sunk` \[m\] deep: to the surface with
    /// friction if it is inside, unchanged otherwise.
    pub fn nearest_outside(&self, obstacles: &[Obstacle], old: Vec3, sunk: f32, p: Vec3) -> Vec3 {
        nearest_outside(obstacles, &self.placed, old, sunk, p)
    }

    /// `p`, which may be `sunk` \[m\] deep, on the surface if it is inside, without friction.
    pub fn expelled(&self, obstacles: &[Obstacle], sunk: f32, mut p: Vec3) -> Vec3 {
        expel_point(obstacles, &self.placed, sunk, &mut p, EXPEL_ROUNDS);
        p
    }

    /// Moves every vertex to its [`ObstacleContacts::nearest_outside`].
    pub fn move_outside(&mut self, threads: &Threads, obstacles: &[Obstacle], old: &[Quad], x: &mut [Quad]) {
        let Self { placed, candidates, contacts, .. } = self;
        threads.largest_at(contacts, (candidates, x), GRAIN, |v, contact, quad| {
            let p = nearest_outside(obstacles, placed, position(&old[v]), contact.sunk, position(quad));
            quad[..3].copy_from_slice(&p.to_array());
            0.0
        });
    }

    /// Records which obstacle each candidate touches, within `reach` \[m\], for
    /// [`ObstacleContacts::respond`].
    pub fn note_contacts(&mut self, threads: &Threads, obstacles: &[Obstacle], x: &[Quad], reach: f32) {
        let Self { placed, candidates, contacts, .. } = self;
        let (placed, candidates): (&[Placed], &[u32]) = (placed, candidates);
        threads.each(contacts, GRAIN, |first, contacts| {
            for (contact, &v) in contacts.iter_mut().zip(&candidates[first..]) {
                let p = position(&x[v as usize]);
                for (o, (obstacle, placed)) in obstacles.iter().zip(placed).enumerate() {
                    if placed.at_least(p) > reach {
                        continue;
                    }
                    let poses = &placed.poses;
                    let (distance, normal) = obstacle.gap(poses[1].to_body(p));
                    if distance < reach {
                        (contact.obstacle, contact.normal) = (o as u32, poses[1].rotation * normal);
                    }
                }
            }
        });
    }

    /// The last stage of a step: moves every vertex that is still inside an obstacle to its surface, without
    /// friction.
    pub fn expel(&mut self, threads: &Threads, obstacles: &[Obstacle], x: &mut [Quad]) {
        let Self { placed, candidates, contacts, .. } = self;
        threads.largest_at(contacts, (candidates, x), GRAIN, |_, contact, quad| {
            let mut p = position(quad);
            expel_point(obstacles, placed, contact.sunk, &mut p, EXPEL_ROUNDS);
            quad[..3].copy_from_slice(&p.to_array());
            0.0
        });
    }

    /// While a vertex is pushed out, none is thrown: no vertex moves further from `old` than `predicted`, or
    /// than the maximum for vertices that are dragged along; `dt` \[s\]. The rest of the correction is left
    /// to the next steps. Returns whether a vertex was held back.
    pub fn hold_back(&self, dt: f32, old: &[Quad], predicted: &[Quad], x: &mut [Quad]) -> bool {
        if !self.frees() {
            return false;
        }
        let mut held = false;
        for ((x, old), predicted) in x.iter_mut().zip(old).zip(predicted).filter(|((x, _), _)| x[3] > 0.0) {
            let (start, way) = (position(old), position(x) - position(old));
            let most = (position(predicted) - start).length().max(MAX_DRAGGED_SPEED * PUSH_OUT_SPEED * dt);
            if way.length() > most {
                x[..3].copy_from_slice(&(start + way * (most / way.length())).to_array());
                held = true;
            }
        }
        held
    }

    /// While a vertex is pushed out, none is thrown: a vertex that limiting made faster than predicted, and
    /// faster than the push-out, is slowed down to that. `predicted` are the velocities before limiting, `v`
    /// those after \[m/s\].
    pub fn calm(&self, predicted: &[Quad], v: &mut [Quad]) {
        if !self.frees() {
            return;
        }
        for (v, predicted) in v.iter_mut().zip(predicted) {
            let (speed, most) = (position(v).length(), position(predicted).length().max(PUSH_OUT_SPEED));
            if speed > most {
                v[..3].iter_mut().for_each(|v| *v *= most / speed);
            }
        }
    }

    /// Restitution: a vertex that hit an obstacle leaves it with the obstacle's fraction of its approaching
    /// speed. One that was inside from the start leaves without being thrown. `predicted` are the velocities
    /// before limiting, `v` those after \[m/s\]; `dt` \[s\].
    pub fn respond(
        &self,
        obstacles: &[Obstacle],
        dt: f32,
        old: &[Quad],
        x: &[Quad],
        predicted: &[Quad],
        v: &mut [Quad],
    ) {
        for (&vertex, contact) in self.candidates.iter().zip(&self.contacts) {
            if contact.obstacle == NONE {
                continue;
            }
            let k = vertex as usize;
            let obstacle = &obstacles[contact.obstacle as usize];
            let poses = &self.placed[contact.obstacle as usize].poses;
            let p = position(&x[k]);
            let surface_velocity = (p - poses[0].to_world(poses[1].to_body(p))) / dt;
            let approach = (position(&predicted[k]) - surface_velocity).dot(contact.normal);
            let leaving = (position(&v[k]) - surface_velocity).dot(contact.normal);
            let wanted = obstacle.restitution * (-approach).max(0.0);
            let began_inside = obstacle.gap(poses[0].to_body(position(&old[k]))).0 < -1e-5;
            if leaving < wanted && obstacle.restitution > 0.0 || began_inside && leaving > wanted {
                let velocity = position(&v[k]) + contact.normal * (wanted - leaving);
                v[k][..3].copy_from_slice(&velocity.to_array());
            }
        }
    }
}

/// Whether a vertex that moves from `from` \[m\] to about `x` may meet an obstacle. One that would pass right
/// through is stopped in it.
fn meet(obstacles: &[Obstacle], placed: &[Placed], from: Vec3, x: &mut Quad, reach: f32) -> bool {
    if x[3] == 0.0 {
        return false;
    }
    let mut to = position(x);
    let way = (to - from).length();
    let mut may_meet = false;
    for (obstacle, placed) in obstacles.iter().zip(placed) {
        if placed.is_far(from, way, reach + way) {
            continue;
        }
        let poses = &placed.poses;
        // In the obstacle's frame, in which the vertex may be faster.
        let [begin, end] = [poses[0].to_body(from), poses[1].to_body(to)];
        let near = reach + way.max((end - begin).length());
        let distances = [begin, poses[1].to_body(from), end].map(|p| obstacle.gap(p).0);
        if distances.iter().any(|&distance| distance < near) {
            may_meet = true;
            if let Some(entry) = passes_through(obstacle, poses, from, to) {
                to = entry;
                x[..3].copy_from_slice(&entry.to_array());
            }
        }
    }
    may_meet
}

/// See [`ObstacleContacts::nearest_outside`].
fn nearest_outside(obstacles: &[Obstacle], placed: &[Placed], old: Vec3, sunk: f32, mut p: Vec3) -> Vec3 {
    let mut contact = Contact { obstacle: NONE, normal: Vec3::Y, sunk };
    if settle(obstacles, placed, old, &mut p, &mut contact) > 0.0 {
        // Friction moves along the tangent, which may enter a convex surface.
        expel_point(obstacles, placed, sunk, &mut p, 1);
    }
    p
}

/// Pushes `p`, which began the step at `old`, to the surface of each obstacle that it is inside of, with
/// friction. Returns the largest penetration found \[m\].
fn settle(obstacles: &[Obstacle], placed: &[Placed], old: Vec3, p: &mut Vec3, contact: &mut Contact) -> f32 {
    let mut worst = 0.0f32;
    for (o, (obstacle, placed)) in obstacles.iter().zip(placed).enumerate() {
        if placed.at_least(*p) > 0.0 {
            continue;
        }
        let poses = &placed.poses;
        let body = poses[1].to_body(*p);
        let (distance, normal) = obstacle.gap(body);
        let depth = -distance - contact.sunk;
        if depth <= 0.0 {
            continue;
        }
        worst = worst.max(depth);
        let normal = poses[1].rotation * normal;
        *p += normal * depth;
        // Position at the start of the step of the surface point that the vertex is now on.
        let surface = poses[0].to_world(poses[1].to_body(*p));
        let slip = surface - old;
        let slip = slip - normal * slip.dot(normal);
        let length = slip.length();
        let hold = obstacle.friction * depth;
        *p -= if length <= hold { slip } else { slip * (hold / length) };
        (contact.obstacle, contact.normal) = (o as u32, normal);
    }
    worst
}

/// Allowed depth at the end of a step of `duration` \[s\] of a vertex that begins it at `old` \[m\]: 0,
/// unless it begins inside.
fn sunk(obstacles: &[Obstacle], placed: &[Placed], old: Vec3, duration: f32) -> f32 {
    (began(obstacles, placed, old) - PUSH_OUT_SPEED * duration).max(0.0)
}

/// Depth in an obstacle of a vertex that begins a step at `old` \[m\]; negative outside.
fn began(obstacles: &[Obstacle], placed: &[Placed], old: Vec3) -> f32 {
    let mut deepest = f32::NEG_INFINITY;
    for (obstacle, Placed { poses: [begin, _], radius }) in obstacles.iter().zip(placed) {
        if radius - (old - begin.position).length() > deepest {
            deepest = deepest.max(-obstacle.gap(begin.to_body(old)).0);
        }
    }
    deepest
}

/// Pushes `p`, up to the depth `sunk`, to the surface of each obstacle that it is inside of, without
/// friction, in at most `rounds` rounds.
fn expel_point(obstacles: &[Obstacle], placed: &[Placed], sunk: f32, p: &mut Vec3, rounds: u32) {
    for _ in 0..rounds {
        let mut moved = false;
        for (obstacle, placed) in obstacles.iter().zip(placed) {
            if placed.at_least(*p) > 0.0 {
                continue;
            }
            let poses = &placed.poses;
            let (distance, normal) = obstacle.gap(poses[1].to_body(*p));
            let depth = -distance - sunk;
            if depth > 0.0 {
                *p += poses[1].rotation * normal * depth;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
}

/// Where a vertex that moves from `from` to `to` is just inside an obstacle, if it would come out on the
/// other side.
fn passes_through(obstacle: &Obstacle, poses: &[Pose; 2], from: Vec3, to: Vec3) -> Option<Vec3> {
    // In the obstacle's own frame, which moves with it.
    let (start, end) = (poses[0].to_body(from), poses[1].to_body(to));
    if obstacle.gap(end).0 <= 0.0 {
        return None;
    }
    let [point, normal] = obstacle.entry(start, end)?;
    Some(poses[1].to_world(point - normal * (1e-3 * (end - start).length())))
}

fn position(quad: &Quad) -> Vec3 {
    Vec3::new(quad[0], quad[1], quad[2])
}
