//! Rigid bodies as a block of the filter: their places are unknowns beside those of the vertices that they
//! touch.
//!
//! Each contact is a block as in [`contact`](super::contact), with the body where it is in this iteration: f
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

use glam::{Mat3, Vec3};

use crate::{
    boundary::{
        motion::Pose,
        rigid::{RigidBody, turn_between, turned},
        solids::PUSH,
    },
    kernel::lanes::Quad,
};

/// Weight of a contact in units of the vertex's mass.
const WEIGHT: f32 = 1000.0;

/// Factor on the weight of vertices that stay inside.
const BOOST: f32 = 4.0;

/// Largest weight, as a share of the matrix's diagonal.
const MOST: f32 = 0.1;

/// Depth from which on a vertex is led back to the side of the body that it came from, in thicknesses of the
/// body.
const DEEP: f32 = 0.25;

/// Cosine of the angle between normals past which a vertex is on another side of the body.
const FACING: f32 = 0.25;

/// Unknowns of a body: its displacement and its turn.
const UNKNOWNS: usize = 6;

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
    /// How deep it may still be at the end of the step \[m\]: not at all, unless it began inside.
    sunk: f32,
    /// The side of the body that it is on, in the body's frame: a point of the surface and the outward normal
    /// there.
    side: [Vec3; 2],
    /// Whether it would go so far that this side alone counts.
    fast: bool,
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

/// The rigid bodies of a filter, and what touches them.
#[derive(Debug, Default)]
pub struct Rigid {
    bodies: Vec<RigidBody>,
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
    /// Length of the step \[s\].
    duration: f32,
}

impl Rigid {
    /// Those of `bodies` that a filter of `count` vertices may touch.
    pub fn new(count: usize, of: &[RigidBody]) -> Self {
        let bodies = of.len();
        if bodies == 0 {
            return Self::default();
        }
        Self {
            bodies: of.to_vec(),
            list: Vec::with_capacity(count * bodies),
            placed: Vec::with_capacity(bodies),
            extra: vec![0.0; count],
            columns: vec![vec![[0.0; 4]; count]; bodies],
            matrix: vec![0.0; (UNKNOWNS * bodies) * (UNKNOWNS * bodies)],
            unknowns: vec![0.0; UNKNOWNS * bodies],
            stale: true,
            duration: 0.0,
        }
    }

    /// Whether there is nothing that may touch.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether there are bodies at all.
    pub fn has_bodies(&self) -> bool {
        !self.bodies.is_empty()
    }

    /// Whether some vertex of `x` is nearer to a body than `near` \[m\].
    pub fn reaches(&self, x: &[Quad], near: f32) -> bool {
        self.list.iter().any(|touch| {
            let b = touch.body as usize;
            touch.depth_at(&self.bodies[b], &self.placed[b], position(&x[touch.vertex as usize])) > -near
        })
    }

    /// Floats that must be kept from one step to the next.
    pub fn dual_count(&self) -> usize {
        3 * self.extra.len() * self.bodies.len()
    }

    /// Prepares a step of `duration` \[s\] in which vertices go from `old` to about `x`, and bodies from the
    /// first to about the second of their `poses`. `unit` is the mean mass of vertices \[kg\], `reach` \[m\]
    /// how much further than its way a vertex may be carried. Vertices without mass in `masses` are held, or
    /// another stands for them.
    pub fn begin(
        &mut self,
        poses: &[[Pose; 2]],
        [old, x]: [&[Quad]; 2],
        masses: &[f32],
        [unit, duration, reach]: [f32; 3],
    ) {
        self.list.clear();
        self.placed.clear();
        self.duration = duration;
        self.stale = true;
        for (b, (body, &[start, goal])) in self.bodies.iter().zip(poses).enumerate() {
            self.placed.push(Placed {
                start,
                goal,
                now: goal,
                mass: body.mass / unit,
                inertia: body.inertia_in_space(goal.rotation) * (1.0 / unit),
                pull: [Vec3::ZERO; 2],
            });
            for (i, (old, x)) in old.iter().zip(x).enumerate().filter(|(i, _)| masses[*i] > 0.0) {
                let (from, to) = (start.to_body(position(old)), goal.to_body(position(x)));
                let way = (to - from).length();
                let [(begin, normal), (end, _)] = [from, to].map(|p| body.obstacle.gap(p));
                if begin.min(end) < reach + way {
                    let entry = body.obstacle.entry(from, to);
                    self.list.push(BodyTouch {
                        vertex: i as u32,
                        body: b as u32,
                        w: Vec3::ZERO,
                        boost: 0.0,
                        depth: f32::NEG_INFINITY,
                        sunk: (-begin - PUSH * duration).max(0.0),
                        side: entry.unwrap_or([from - normal * begin, normal]),
                        fast: entry.is_some(),
                        before: Vec3::ZERO,
                        arm: Vec3::ZERO,
                    });
                }
            }
        }
    }

    /// Takes up `duals`, which [`keep`](Self::keep) left at the end of the last step, of vertices nearer than
    /// `near` \[m\] to a body.
    pub fn warm(&mut self, x: &[Quad], duals: &[f32], near: f32, c: f32) {
        let count = x.len();
        for touch in &mut self.list {
            let (i, b) = (touch.vertex as usize, touch.body as usize);
            let depth = touch.depth_at(&self.bodies[b], &self.placed[b], position(&x[i]));
            if depth > -near {
                touch.boost = 1.0;
                let dual = Vec3::from_slice(&duals[3 * (b * count + i)..][..3]);
                touch.w = if dual.is_finite() { dual / c } else { Vec3::ZERO };
            }
        }
    }

    /// Leaves the duals, in units that do not depend on weights, for the next step.
    pub fn keep(&self, duals: &mut [f32], c: f32) {
        let count = self.extra.len();
        duals.fill(0.0);
        for touch in &self.list {
            let at = 3 * (touch.body as usize * count + touch.vertex as usize);
            duals[at..at + 3].copy_from_slice(&(touch.w * (touch.boost * c)).to_array());
        }
    }

    /// What contacts add to the diagonal at vertex `i`; up to date after [`Rigid::weigh`].
    pub fn extra(&self, i: usize) -> f32 {
        if self.list.is_empty() { 0.0 } else { self.extra[i] }
    }

    /// Sums what contacts add to the diagonal, with the ramp's factor `c`.
    pub fn weigh(&mut self, masses: &[f32], c: f32) {
        if self.list.is_empty() {
            return;
        }
        self.stale = true;
        self.extra.fill(0.0);
        for touch in &self.list {
            self.extra[touch.vertex as usize] += touch.weight(masses, c);
        }
    }

    /// After the ramp's factor has grown by `growth`.
    pub fn rescale(&mut self, growth: f32) {
        self.list.iter_mut().for_each(|touch| touch.w /= growth);
    }

    /// More weight for vertices that are deeper inside than `shallow` \[m\]. Says whether that changed.
    pub fn strengthen(&mut self, masses: &[f32], c: f32, diagonal: &[f32], shallow: f32) -> bool {
        let mut grown = false;
        for touch in &mut self.list {
            if touch.boost <= 0.0 || touch.depth <= shallow {
                continue;
            }
            let i = touch.vertex as usize;
            let most = MOST * diagonal[i] / (WEIGHT * c * masses[i]);
            let boost = (touch.boost * BOOST).min(most).max(touch.boost);
            touch.w *= touch.boost / boost;
            grown |= boost > touch.boost;
            touch.boost = boost;
        }
        grown
    }

    /// One iteration of all contacts: adds their pulls to `r`, and takes the opposite for the bodies. Gives
    /// the deepest penetration \[m\], and whether some vertex has begun to touch.
    pub fn iterate(&mut self, [old, x]: [&[Quad]; 2], r: &mut [Quad], masses: &[f32], c: f32) -> (f32, bool) {
        for placed in &mut self.placed {
            let turn = turn_between(placed.now.rotation, placed.goal.rotation);
            placed.pull = [placed.mass * (placed.goal.position - placed.now.position), placed.inertia * turn];
        }
        let (mut deepest, mut begun) = (0.0f32, false);
        for touch in &mut self.list {
            let (i, b) = (touch.vertex as usize, touch.body as usize);
            let (body, placed) = (&self.bodies[b], &mut self.placed[b]);
            let at = position(&x[i]);
            touch.before = at;
            touch.depth = touch.depth_at(body, placed, at);
            deepest = deepest.max(touch.depth);
            if touch.boost <= 0.0 {
                if touch.depth <= 0.0 {
                    continue;
                }
                (touch.boost, begun) = (1.0, true);
            }
            let moved = touch.settled(body, placed, position(&old[i]), at);
            let pull = touch.weight(masses, c) * (2.0 * moved + touch.w);
            touch.w = -moved;
            for k in 0..3 {
                r[i][k] += pull[k];
            }
            placed.pull[0] -= pull;
            placed.pull[1] -= (at - placed.now.position).cross(pull);
        }
        (deepest, begun)
    }

    /// Whether columns and factors have to be made anew, because weights have changed.
    pub fn is_stale(&self) -> bool {
        self.stale
    }

    /// Number of bodies.
    pub fn body_count(&self) -> usize {
        self.placed.len()
    }

    /// Puts E J of body `b` into `r`, and its columns to 0; one cycle then makes V E J of them.
    pub fn load_columns(
        &mut self,
        b: usize,
        x: &[Quad],
        r: &mut [Quad],
        masses: &[f32],
        c: f32,
    ) -> &mut [Quad] {
        r.fill([0.0; 4]);
        let middle = self.placed[b].now.position;
        for touch in self.list.iter_mut().filter(|touch| touch.body as usize == b) {
            let i = touch.vertex as usize;
            let e = touch.weight(masses, c);
            touch.arm = position(&x[i]) - middle;
            let arm = touch.arm * e;
            r[i] = [arm.x, arm.y, arm.z, e];
        }
        self.columns[b].fill([0.0; 4]);
        &mut self.columns[b]
    }

    /// Makes the matrix of the bodies' unknowns from the columns, and its factors.
    pub fn factor(&mut self, masses: &[f32], c: f32) {
        let n = UNKNOWNS * self.placed.len();
        self.matrix.fill(0.0);
        for (b, placed) in self.placed.iter().enumerate() {
            for k in 0..3 {
                self.matrix[(UNKNOWNS * b + k) * (n + 1)] = f64::from(placed.mass);
                for j in 0..3 {
                    let at = (UNKNOWNS * b + 3 + k) * n + UNKNOWNS * b + 3 + j;
                    self.matrix[at] = f64::from(placed.inertia.col(j)[k]);
                }
            }
        }
        for touch in &self.list {
            let e = touch.weight(masses, c);
            if e <= 0.0 {
                continue;
            }
            let row = UNKNOWNS * touch.body as usize;
            for b in 0..self.placed.len() {
                let own = b == touch.body as usize;
                let [ax, ay, az, one] = self.columns[b][touch.vertex as usize];
                for k in 0..UNKNOWNS {
                    // How far unit k of body b moves the point under the vertex, less how far it moves the
                    // vertex.
                    let unit = axis(k % 3);
                    let moved = if k < 3 { unit * one } else { unit.cross(Vec3::new(ax, ay, az)) };
                    let under = match (own, k < 3) {
                        (false, _) => Vec3::ZERO,
                        (true, true) => unit,
                        (true, false) => unit.cross(touch.arm),
                    };
                    let force = e * (under - moved);
                    let torque = touch.arm.cross(force);
                    for j in 0..3 {
                        self.matrix[(row + j) * n + UNKNOWNS * b + k] += f64::from(force[j]);
                        self.matrix[(row + 3 + j) * n + UNKNOWNS * b + k] += f64::from(torque[j]);
                    }
                }
            }
        }
        // The cycle is not quite symmetric; nor is it quite an inverse, so that a pivot may come out smaller
        // than the mass alone, which it never is.
        for i in 0..n {
            for j in 0..i {
                let mean = 0.5 * (self.matrix[i * n + j] + self.matrix[j * n + i]);
                (self.matrix[i * n + j], self.matrix[j * n + i]) = (mean, mean);
            }
        }
        for i in 0..n {
            let placed = &self.placed[i / UNKNOWNS];
            let k = i % UNKNOWNS;
            let own = if k < 3 { placed.mass } else { smallest(&placed.inertia) };
            let pivot = self.matrix[i * n + i].max(0.5 * f64::from(own));
            self.matrix[i * n + i] = pivot;
            for j in i + 1..n {
                let factor = self.matrix[j * n + i] / pivot;
                self.matrix[j * n + i] = factor;
                for k in i + 1..n {
                    self.matrix[j * n + k] -= factor * self.matrix[i * n + k];
                }
            }
        }
        self.stale = false;
    }

    /// After the cycle has moved `x`: moves the bodies, and `x` with them. Gives how far the farthest body
    /// went \[m\].
    pub fn solve(&mut self, x: &mut [Quad], masses: &[f32], c: f32) -> f32 {
        let n = UNKNOWNS * self.placed.len();
        for (b, placed) in self.placed.iter().enumerate() {
            for k in 0..3 {
                self.unknowns[UNKNOWNS * b + k] = f64::from(placed.pull[0][k]);
                self.unknowns[UNKNOWNS * b + 3 + k] = f64::from(placed.pull[1][k]);
            }
        }
        for touch in &self.list {
            let e = touch.weight(masses, c);
            if e > 0.0 {
                let force = e * (position(&x[touch.vertex as usize]) - touch.before);
                let torque = touch.arm.cross(force);
                let row = UNKNOWNS * touch.body as usize;
                for k in 0..3 {
                    self.unknowns[row + k] += f64::from(force[k]);
                    self.unknowns[row + 3 + k] += f64::from(torque[k]);
                }
            }
        }
        for i in 0..n {
            for j in 0..i {
                self.unknowns[i] -= self.matrix[i * n + j] * self.unknowns[j];
            }
        }
        for i in (0..n).rev() {
            for j in i + 1..n {
                self.unknowns[i] -= self.matrix[i * n + j] * self.unknowns[j];
            }
            self.unknowns[i] /= self.matrix[i * n + i];
        }
        let mut farthest = 0.0f32;
        for (b, placed) in self.placed.iter_mut().enumerate() {
            let at = |k: usize| self.unknowns[UNKNOWNS * b + k] as f32;
            let (shift, turn) = (Vec3::new(at(0), at(1), at(2)), Vec3::new(at(3), at(4), at(5)));
            placed.now.position += shift;
            placed.now.rotation = turned(placed.now.rotation, turn);
            farthest = farthest.max(shift.length());
            for (x, column) in x.iter_mut().zip(&self.columns[b]) {
                let [ax, ay, az, one] = *column;
                let moved = shift * one + turn.cross(Vec3::new(ax, ay, az));
                for k in 0..3 {
                    x[k] += moved[k];
                }
            }
        }
        farthest
    }

    /// Where the bodies are at the end of the step.
    pub fn poses(&self) -> impl Iterator<Item = Pose> {
        self.placed.iter().map(|placed| placed.now)
    }

    /// The last word of a step: puts every vertex that is deeper inside a body's margin than half of it
    /// outside, without friction. (What is less is left: putting it out would stretch cloth that is within
    /// its limits.)
    pub fn expel(&self, x: &mut [Quad]) {
        for touch in self.list.iter().filter(|touch| touch.boost > 0.0) {
            let (i, b) = (touch.vertex as usize, touch.body as usize);
            let pose = &self.placed[b].now;
            let local = pose.to_body(position(&x[i]));
            let (distance, normal) = touch.gap(&self.bodies[b], local);
            let depth = -distance - touch.sunk;
            if depth > 0.5 * self.bodies[b].obstacle.margin {
                let p = pose.to_world(local + normal * depth);
                x[i][..3].copy_from_slice(&p.to_array());
            }
        }
    }
}

impl BodyTouch {
    fn weight(&self, masses: &[f32], c: f32) -> f32 {
        WEIGHT * c * masses[self.vertex as usize] * self.boost
    }

    /// Distance from where vertices are held \[m\], and outward normal, in the body's frame. A vertex that is
    /// deep inside, or nearer to another side of the body than it began the step on, is led back to that
    /// side.
    #[inline(always)]
    fn gap(&self, body: &RigidBody, local: Vec3) -> (f32, Vec3) {
        let (distance, normal) = body.obstacle.gap(local);
        let [point, side] = self.side;
        if self.fast || distance < -DEEP * body.obstacle.shape.thickness() || normal.dot(side) < FACING {
            return ((local - point).dot(side), side);
        }
        (distance, normal)
    }

    fn depth_at(&self, body: &RigidBody, placed: &Placed, p: Vec3) -> f32 {
        -self.gap(body, placed.now.to_body(p)).0 - self.sunk
    }

    /// What takes `x` + w \[m\], of a vertex that began the step at `old`, out of the body, with friction
    /// (Eq. 7). The body counts as flat, as it is at `x`: where the load is heavy, w leads through the body
    /// to its far side.
    #[inline(always)]
    fn settled(&self, body: &RigidBody, placed: &Placed, old: Vec3, x: Vec3) -> Vec3 {
        let now = &placed.now;
        let (distance, normal) = self.gap(body, now.to_body(x));
        let normal = now.rotation * normal;
        let depth = -distance - normal.dot(self.w) - self.sunk;
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

fn axis(k: usize) -> Vec3 {
    let mut unit = Vec3::ZERO;
    unit[k] = 1.0;
    unit
}

/// The smallest entry of a diagonal.
fn smallest(matrix: &Mat3) -> f32 {
    matrix.x_axis.x.min(matrix.y_axis.y).min(matrix.z_axis.z)
}

fn position(quad: &Quad) -> Vec3 {
    Vec3::new(quad[0], quad[1], quad[2])
}
