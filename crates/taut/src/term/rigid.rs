//! Rigid bodies as a term (S4): their places are unknowns beside those of the vertices that they touch.
//!
//! Each contact is as in [`obstacle`](super::obstacle), with the body where it is in this iteration: f
//! = x + w, p = f put outside, pull e (2 (p − f) + w), w ← f − p. The vertex gets the pull, the body its
//! opposite, as force and as torque about its middle, beside its own inertia M (b₀ − b). With J the
//! displacement of the touched points by the six unknowns b of each body, an iteration solves
//!
//! ```text
//! ⎡ A     −E J          ⎤ ⎡ δx ⎤   ⎡ r_x ⎤      A = M + κ Bᵀ A B + E, the matrix that the cycle solves
//! ⎣ −JᵀE   M_b + Jᵀ E J ⎦ ⎣ δb ⎦ = ⎣ r_b ⎦
//! ```
//!
//! by elimination: with V the cycle, (M_b + Jᵀ E J − Jᵀ E V E J) δb = r_b + Jᵀ E V r_x, then δx = V r_x + V E
//! J δb. V E J is one more cycle for each body whenever weights change: e times the arms and e itself are the
//! four components of a [`Quad`]. So a heavy body moves as far as the cloth under it lets it in every
//! iteration; with its diagonal alone it would creep.

mod solve;

use std::sync::Arc;

use glam::{Mat3, Vec3};

use super::{Block, Outcome, Scene, Stage, Stale, Step, Term};
use crate::{
    boundary::{
        motion::Pose,
        rigid::{RigidBody, turn_between},
        rigid_side::RigidSide,
    },
    hierarchy::multigrid::Cycle,
    kernel::lanes::Quad,
    solve::nearest::{
        filter::Filter,
        ramp::Opening,
        tuning::{
            OBSTACLE_BOOST, OBSTACLE_NEAR, OBSTACLE_SHALLOW, OBSTACLE_WEIGHT_MOST, RIGID_SETTLED,
            RIGID_TOLERANCE, RIGID_WEIGHT,
        },
    },
};
use solve::UNKNOWNS;

/// What one vertex has to do with one body.
#[derive(Clone, Copy, Debug)]
struct BodyTouch {
    /// Of the filter.
    vertex: u32,
    body: u32,
    /// Dual \[m\].
    w: Vec3,
    /// Factor on the weight; 0 while it does not touch.
    boost: f32,
    /// How deep it was inside when it was last looked at \[m\].
    depth: f32,
    side: RigidSide,
    /// Where it was before the cycle \[m\].
    before: Vec3,
    /// From the body's middle to it, when weights were last chosen \[m\].
    arm: Vec3,
}

/// A body in this step; masses in units of the mean mass of vertices.
#[derive(Clone, Copy, Debug)]
struct Placed {
    start: Pose,
    goal: Pose,
    now: Pose,
    mass: f32,
    inertia: Mat3,
    /// What pulls it: force and torque.
    pull: [Vec3; 2],
}

/// The rigid bodies of a scene, for a filter of so many vertices.
#[derive(Clone, Debug)]
pub struct RigidBodies {
    /// Bodies.
    pub bodies: Vec<RigidBody>,
    /// Number of vertices of the filter.
    pub count: usize,
}

impl Block for RigidBodies {
    fn name(&self) -> &'static str {
        "rigid bodies"
    }

    fn kept(&self) -> usize {
        3 * self.count * self.bodies.len()
    }

    fn term(self: Arc<Self>) -> Box<dyn Term> {
        let (count, bodies) = (self.count, self.bodies.len());
        Box::new(RigidTerm {
            list: Vec::with_capacity(count * bodies),
            placed: Vec::with_capacity(bodies),
            extra: vec![0.0; count],
            columns: vec![vec![[0.0; 4]; count]; bodies],
            matrix: vec![0.0; (UNKNOWNS * bodies) * (UNKNOWNS * bodies)],
            unknowns: vec![0.0; UNKNOWNS * bodies],
            stale: true,
            begun: false,
            deepest: 0.0,
            moved: 0.0,
            tables: self,
        })
    }
}

/// The rigid bodies of a filter, and what touches them.
#[derive(Debug)]
struct RigidTerm {
    tables: Arc<RigidBodies>,
    list: Vec<BodyTouch>,
    placed: Vec<Placed>,
    /// What contacts add to the diagonal, by vertex.
    extra: Vec<f32>,
    /// V E J of each body: by vertex that of e times the arm, and of e.
    columns: Vec<Vec<Quad>>,
    /// The matrix of all bodies' unknowns, row by row; its triangular factors, once `stale` is false.
    matrix: Vec<f64>,
    unknowns: Vec<f64>,
    /// Whether weights have changed since `columns` were made.
    stale: bool,
    /// Whether some vertex has begun to touch since the matrix was chosen.
    begun: bool,
    /// Deepest penetration in the last iteration \[m\].
    deepest: f32,
    /// How far the farthest body went in the last iteration \[m\].
    moved: f32,
}

impl RigidTerm {
    /// Whether some vertex of `x` is nearer to a body than `near` \[m\].
    fn reaches(&self, x: &[Quad], near: f32) -> bool {
        self.list.iter().any(|touch| {
            let b = touch.body as usize;
            let at = position(&x[touch.vertex as usize]);
            touch.depth_at(&self.tables.bodies[b], &self.placed[b], at) > -near
        })
    }
}

impl RigidTerm {
    /// Whether some vertex touches body `b`.
    fn is_touched(&self, b: usize, masses: &[f32], c: f32) -> bool {
        self.list.iter().any(|touch| touch.body as usize == b && touch.weight(masses, c) > 0.0)
    }
}

impl Term for RigidTerm {
    fn prepare(&mut self, scene: &Scene, filter: &Filter) {
        let (old, x) = (&scene.old[filter.vertices.clone()], &scene.x[filter.vertices.clone()]);
        // Lighter where the integrator multiplies forces on vertices by less than the square of a step.
        let unit = scene.mean_mass / filter.square_factor as f32;
        self.list.clear();
        self.placed.clear();
        (self.stale, self.begun, self.deepest, self.moved) = (true, false, 0.0, 0.0);
        for (b, (body, &[start, goal])) in self.tables.bodies.iter().zip(scene.poses).enumerate() {
            self.placed.push(Placed {
                start,
                goal,
                now: goal,
                mass: body.mass / unit,
                inertia: body.inertia_in_space(goal.rotation) * (1.0 / unit),
                pull: [Vec3::ZERO; 2],
            });
            for (i, (old, x)) in old.iter().zip(x).enumerate().filter(|(i, _)| filter.masses[*i] > 0.0) {
                let places = [old, x].map(position);
                if let Some(side) = RigidSide::of(body, [start, goal], places, (scene.reach, scene.dt)) {
                    self.list.push(BodyTouch {
                        vertex: i as u32,
                        body: b as u32,
                        w: Vec3::ZERO,
                        boost: 0.0,
                        depth: f32::NEG_INFINITY,
                        side,
                        before: Vec3::ZERO,
                        arm: Vec3::ZERO,
                    });
                }
            }
        }
    }

    fn is_load(&self) -> bool {
        self.touches()
    }

    fn touches(&self) -> bool {
        !self.list.is_empty()
    }

    fn tolerance_factor(&self) -> f32 {
        if self.list.is_empty() { 1.0 } else { RIGID_TOLERANCE }
    }

    fn allows_finish(&self) -> bool {
        true
    }

    fn opening(&self, step: &Step, x: &[Quad]) -> Option<Opening> {
        // κ is that of cloth which carries a body.
        (!self.reaches(x, OBSTACLE_NEAR * step.filter.edge_length)).then_some(Opening::Stage(0))
    }

    fn enter(&mut self, step: &Step, x: &[Quad], kept: &[f32], stage: &Stage) {
        let (count, near) = (x.len(), OBSTACLE_NEAR * step.filter.edge_length);
        for touch in &mut self.list {
            let (i, b) = (touch.vertex as usize, touch.body as usize);
            let depth = touch.depth_at(&self.tables.bodies[b], &self.placed[b], position(&x[i]));
            if depth > -near {
                touch.boost = 1.0;
                let dual = Vec3::from_slice(&kept[3 * (b * count + i)..][..3]);
                touch.w = if dual.is_finite() { dual / stage.c } else { Vec3::ZERO };
            }
        }
    }

    fn mark_touched(&self, touched: &mut [bool]) {
        // Weights of all that is listed have been summed: those that do not touch weigh nothing.
        if !self.list.is_empty() {
            touched.iter_mut().zip(&self.extra).for_each(|(touched, extra)| *touched |= *extra > 0.0);
        }
    }

    fn rescale(&mut self, growth: f32) {
        self.list.iter_mut().for_each(|touch| touch.w /= growth);
    }

    fn weigh(&mut self, step: &Step, stage: &Stage, diagonal: &mut [f32]) {
        if self.list.is_empty() {
            return;
        }
        (self.stale, self.begun) = (true, false);
        self.extra.fill(0.0);
        for touch in &self.list {
            self.extra[touch.vertex as usize] += touch.weight(&step.filter.masses, stage.c);
        }
        diagonal.iter_mut().zip(&self.extra).for_each(|(d, extra)| *d += extra);
    }

    fn stale(&self) -> Stale {
        if self.begun { Stale::Now } else { Stale::No }
    }

    fn strengthen(&mut self, step: &Step, stage: &Stage, diagonal: &[f32]) -> bool {
        let (masses, shallow) = (&step.filter.masses, OBSTACLE_SHALLOW * step.filter.edge_length);
        let mut grown = false;
        for touch in &mut self.list {
            if touch.boost <= 0.0 || touch.depth <= shallow {
                continue;
            }
            let i = touch.vertex as usize;
            let most = OBSTACLE_WEIGHT_MOST * diagonal[i] / (RIGID_WEIGHT * stage.c * masses[i]);
            let boost = (touch.boost * OBSTACLE_BOOST).min(most).max(touch.boost);
            touch.w *= touch.boost / boost;
            grown |= boost > touch.boost;
            touch.boost = boost;
        }
        grown
    }

    /// Pulls at the vertices, and takes the opposite for the bodies.
    fn pull(&mut self, step: &Step, x: &[Quad], stage: &Stage, r: &mut [Quad]) {
        for placed in &mut self.placed {
            let turn = turn_between(placed.now.rotation, placed.goal.rotation);
            placed.pull = [placed.mass * (placed.goal.position - placed.now.position), placed.inertia * turn];
        }
        self.deepest = 0.0;
        for touch in &mut self.list {
            let (i, b) = (touch.vertex as usize, touch.body as usize);
            let (body, placed) = (&self.tables.bodies[b], &mut self.placed[b]);
            let at = position(&x[i]);
            touch.before = at;
            touch.depth = touch.depth_at(body, placed, at);
            self.deepest = self.deepest.max(touch.depth);
            if touch.boost <= 0.0 {
                if touch.depth <= 0.0 {
                    continue;
                }
                (touch.boost, self.begun) = (1.0, true);
            }
            let moved = touch.settled(body, placed, position(&step.around.old[i]), at);
            let pull = touch.weight(&step.filter.masses, stage.c) * (2.0 * moved + touch.w);
            touch.w = -moved;
            for k in 0..3 {
                r[i][k] += pull[k];
            }
            placed.pull[0] -= pull;
            placed.pull[1] -= (at - placed.now.position).cross(pull);
        }
    }

    fn is_settled(&self, step: &Step) -> bool {
        // Half as deep as in obstacles: what is pushed out of bodies in the end does not push them.
        2.0 * self.deepest <= step.shallow && self.moved <= RIGID_SETTLED * step.filter.edge_length
    }

    fn after_cycle(&mut self, step: &Step, stage: &Stage, cycle: &mut Cycle, x: &mut [Quad]) {
        if self.list.is_empty() {
            return;
        }
        let Filter { masses, multigrid, .. } = step.filter;
        if self.stale {
            for body in 0..self.placed.len() {
                if !self.is_touched(body, masses, stage.c) {
                    self.columns[body].fill([0.0; 4]);
                    continue;
                }
                let columns = self.load_columns(body, x, cycle.residual(), masses, stage.c);
                multigrid.cycle(step.settings.threads, cycle, columns);
            }
            self.factor(masses, stage.c);
        }
        self.moved = self.solve(x, masses, stage.c);
    }

    fn end(&mut self, _step: &Step, _x: &mut [Quad], stage: &Stage, kept: &mut [f32]) {
        let count = self.extra.len();
        kept.fill(0.0);
        for touch in &self.list {
            let at = 3 * (touch.body as usize * count + touch.vertex as usize);
            kept[at..at + 3].copy_from_slice(&(touch.w * (touch.boost * stage.c)).to_array());
        }
    }

    /// Pushes out every vertex that is deeper inside a body's margin than half of it, without friction. (What
    /// is less is left: pushing it out would stretch cloth that is within its limits.)
    fn expel(&self, x: &mut [Quad]) {
        for touch in self.list.iter().filter(|touch| touch.boost > 0.0) {
            let (i, b) = (touch.vertex as usize, touch.body as usize);
            let pose = &self.placed[b].now;
            let local = pose.to_body(position(&x[i]));
            let (distance, normal) = touch.side.gap(&self.tables.bodies[b], local);
            let depth = -distance - touch.side.sunk;
            if depth > 0.5 * self.tables.bodies[b].obstacle.margin {
                let p = pose.to_world(local + normal * depth);
                x[i][..3].copy_from_slice(&p.to_array());
            }
        }
    }

    fn report(&self, _filter: &Filter, outcome: &mut Outcome) {
        for (poses, placed) in outcome.poses.iter_mut().zip(&self.placed) {
            poses[1] = placed.now;
        }
    }
}

impl BodyTouch {
    fn weight(&self, masses: &[f32], c: f32) -> f32 {
        RIGID_WEIGHT * c * masses[self.vertex as usize] * self.boost
    }

    fn depth_at(&self, body: &RigidBody, placed: &Placed, p: Vec3) -> f32 {
        -self.side.gap(body, placed.now.to_body(p)).0 - self.side.sunk
    }

    /// What takes `x` + w \[m\], of a vertex that began the step at `old`, out of the body, with friction
    /// (Eq. 7). The body counts as flat, as it is at `x`: where the load is heavy, w leads through the body
    /// to its far side.
    #[inline(always)]
    fn settled(&self, body: &RigidBody, placed: &Placed, old: Vec3, x: Vec3) -> Vec3 {
        let now = &placed.now;
        let (distance, normal) = self.side.gap(body, now.to_body(x));
        let normal = now.rotation * normal;
        let depth = -distance - normal.dot(self.w) - self.side.sunk;
        if depth <= 0.0 {
            return Vec3::ZERO;
        }
        let f = x + self.w;
        let slip = placed.start.to_world(now.to_body(f + normal * depth)) - old;
        let slip = slip - normal * slip.dot(normal);
        let (length, hold) = (slip.length(), body.obstacle.friction * depth);
        normal * depth - if length <= hold { slip } else { slip * (hold / length) }
    }
}

fn position(quad: &Quad) -> Vec3 {
    Vec3::new(quad[0], quad[1], quad[2])
}
