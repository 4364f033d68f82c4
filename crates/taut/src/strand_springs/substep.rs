//! One substep of a batch: all springs and symplectic Euler, in one pass from root to tip.
//!
//! A particle feels springs to the three before it and the three after it. So when the springs that particle
//! i anchors are done, its force is complete and it can move: no later spring asks where it was. The pass
//! keeps four particles and their forces at hand.
//!
//! No closures here: they would not be compiled for the lanes' instructions.

use super::{
    OutsideForces, SegmentLimits, Site,
    altitude::shortest,
    build::{Anchor, Batch, PARTICLE_ROWS, Row, SpringRows, is_stretch},
    limit::limit_segments,
    plan::Plan,
};
use crate::kernel::{
    lanes::{BATCH, Lanes, Work},
    real::{V3, add, combine, dot, scale, sub},
};

/// First row of a particle's velocity, and of the low parts of its position and velocity.
pub(super) const V: usize = 6;
pub(super) const LOW: usize = 3;

/// Length below which a spring has no direction \[m\].
const TINY: f32 = 1e-20;

/// The rows of a particle in the kept state.
pub(super) type ParticleRows = [Row; PARTICLE_ROWS];

/// All substeps of a step, of one batch.
pub(super) struct Substeps<'a, F> {
    pub batch: &'a Batch,
    /// Particles, with padding.
    pub particles: &'a mut [ParticleRows],
    /// 1 for each edge that is whole, by its first particle, and 0 for one that is cut.
    pub whole: &'a mut [Row],
    pub plan: Plan,
    /// Length of a substep \[s\].
    pub h: f32,
    /// Gravity \[m/s²\].
    pub gravity: [f32; 3],
    /// Rate at which motion dies away \[1/s\].
    pub drag: f32,
    pub limits: SegmentLimits,
    pub is_rooted: bool,
    pub outside: &'a F,
}

impl<F: OutsideForces> Work for Substeps<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let has_limits = self.limits != SegmentLimits::default();
        for at in (0..BATCH).step_by(L::WIDTH) {
            for step in 0..self.plan.substeps {
                self.substep::<L>(at, self.h * step as f32);
                if has_limits {
                    limit_segments::<L, F>(&mut self, at);
                }
            }
        }
    }
}

/// A value in two parts, of which the second is what rounding took from the first.
#[derive(Clone, Copy)]
pub(super) struct Twofold<L> {
    pub high: V3<L>,
    pub low: V3<L>,
}

impl<L: Lanes> Twofold<L> {
    /// From the rows `first..` of a particle.
    #[inline(always)]
    pub fn load(rows: &ParticleRows, first: usize, at: usize) -> Self {
        let mut all = Self { high: [L::splat(0.0); 3], low: [L::splat(0.0); 3] };
        for c in 0..3 {
            all.high[c] = L::load(&rows[first + c], at);
            all.low[c] = L::load(&rows[first + LOW + c], at);
        }
        all
    }

    /// Back to the rows `first..` of a particle.
    #[inline(always)]
    pub fn store(self, rows: &mut ParticleRows, first: usize, at: usize) {
        for c in 0..3 {
            self.high[c].store(&mut rows[first + c], at);
            self.low[c].store(&mut rows[first + LOW + c], at);
        }
    }

    /// The sum with `d`, exact but for the rounding of the low part (Knuth's two-sum).
    #[inline(always)]
    pub fn plus(self, d: V3<L>) -> Self {
        let mut sum = self;
        for c in 0..3 {
            let part = self.low[c] + d[c];
            let high = self.high[c] + part;
            let taken = high - self.high[c];
            sum.high[c] = high;
            sum.low[c] = (self.high[c] - (high - taken)) + (part - taken);
        }
        sum
    }

    /// This − `other`, for two that are close.
    #[inline(always)]
    pub fn minus(self, other: Self) -> V3<L> {
        add(sub(self.high, other.high), sub(self.low, other.low))
    }
}

/// A particle and the force on it.
#[derive(Clone, Copy)]
struct Particle<L> {
    x: Twofold<L>,
    v: Twofold<L>,
    /// \[N\]
    force: V3<L>,
}

impl<L: Lanes> Particle<L> {
    #[inline(always)]
    fn load(rows: &ParticleRows, at: usize) -> Self {
        let (x, v) = (Twofold::load(rows, 0, at), Twofold::load(rows, V, at));
        Self { x, v, force: [L::splat(0.0); 3] }
    }
}

/// Factors on a spring.
#[derive(Clone, Copy)]
struct Factors<L> {
    stiffness: L,
    damping: L,
}

impl SpringRows {
    /// Stiffness, length and damping of the lanes from `at`.
    #[inline(always)]
    fn load<L: Lanes>(&self, at: usize) -> [L; 3] {
        [L::load(&self.stiffness, at), L::load(&self.length, at), L::load(&self.damping, at)]
    }
}

impl<L: Lanes> Factors<L> {
    /// For springs softened by `softening`: damping keeps its ratio.
    #[inline(always)]
    fn new(softening: f32) -> Self {
        Self { stiffness: L::splat(softening), damping: L::splat(softening.sqrt()) }
    }

    #[inline(always)]
    fn times(self, whole: L) -> Self {
        Self { stiffness: self.stiffness * whole, damping: self.damping * whole }
    }
}

/// Adds the force of a spring between `a` and `b`.
#[inline(always)]
fn add_side<L: Lanes>(
    rows: &SpringRows,
    at: usize,
    factors: Factors<L>,
    a: &mut Particle<L>,
    b: &mut Particle<L>,
) {
    let [k, rest, c] = rows.load::<L>(at);
    let along = b.x.minus(a.x);
    let length = dot(along, along).sqrt().max(L::splat(TINY));
    let direction = scale(along, L::splat(1.0) / length);
    let rate = dot(direction, sub(b.v.high, a.v.high));
    let pull = k * factors.stiffness * (length - rest) + c * factors.damping * rate;
    let force = scale(direction, pull);
    a.force = add(a.force, force);
    b.force = sub(b.force, force);
}

/// Adds the force of the altitude spring of four particles: it pushes while the altitude is too short.
#[inline(always)]
fn add_altitude<L: Lanes>(rows: &SpringRows, at: usize, factors: Factors<L>, p: &mut [Particle<L>; 4]) {
    let [k, floor, c] = rows.load::<L>(at);
    let zero = L::splat(0.0);
    let sides = [p[1].x.minus(p[0].x), p[2].x.minus(p[0].x), p[3].x.minus(p[0].x)];
    let altitude = shortest(sides[0], sides[1], sides[2]);
    // The sign of the volume at rest: an inverted tetrahedron has a height below zero.
    let sign = L::select(floor.lt(zero), L::splat(-1.0), L::splat(1.0));
    let missing = (floor - altitude.height) * sign;
    if !L::any(zero.lt(missing * k)) {
        return;
    }
    let mut rate = zero;
    for j in 0..4 {
        rate = rate + altitude.weights[j] * dot(altitude.normal, p[j].v.high);
    }
    let push = k * factors.stiffness * missing - c * factors.damping * rate * sign;
    let push = L::select(zero.lt(missing), push.max(zero), zero) * sign;
    for j in 0..4 {
        p[j].force = add(p[j].force, scale(altitude.normal, push * altitude.weights[j]));
    }
}

impl<F: OutsideForces> Substeps<'_, F> {
    /// One substep of the lanes from `at`, `time` after the start of the step.
    #[inline(always)]
    fn substep<L: Lanes>(&mut self, at: usize, time: f32) {
        let stretch = Factors::<L>::new(self.plan.stretch);
        let shape = Factors::<L>::new(self.plan.shape);
        let (zero, h) = (L::splat(0.0), L::splat(self.h));
        let gravity = [L::splat(self.gravity[0]), L::splat(self.gravity[1]), L::splat(self.gravity[2])];
        // 1 − exp(−drag h) of the velocity is lost in a substep.
        let drag = L::splat(-(-self.drag * self.h).exp_m1() / self.h);
        let first = &self.particles[..4];
        let mut p = [
            Particle::<L>::load(&first[0], at),
            Particle::load(&first[1], at),
            Particle::load(&first[2], at),
            Particle::load(&first[3], at),
        ];
        let mut whole =
            [L::load(&self.whole[0], at), L::load(&self.whole[1], at), L::load(&self.whole[2], at)];
        for i in 0..self.batch.len() {
            let Anchor { sides, altitude } = &self.batch.anchors[i];
            // A spring is gone if one of the edges that it spans is cut.
            let spans = [whole[0], whole[0] * whole[1], whole[0] * whole[1] * whole[2]];
            for kind in 0..3 {
                let factors = if is_stretch(self.batch.layout, i, kind) { stretch } else { shape };
                let [first, rest @ ..] = &mut p;
                add_side(&sides[kind], at, factors.times(spans[kind]), first, &mut rest[kind]);
            }
            add_altitude(altitude, at, shape.times(spans[2]), &mut p);
            let Particle { x, v, force } = p[0];
            let w = L::load(&self.batch.inverse_mass[i], at);
            let site = Site { strands: &self.batch.strands, at, point: self.batch.layout.point(i), time };
            let outside = self.outside.acceleration(site, x.high, v.high, w);
            let is_free = zero.lt(w);
            let steady = combine(add(gravity, outside), L::splat(1.0), v.high, -drag);
            let mut gained = [zero; 3];
            for c in 0..3 {
                gained[c] = L::select(is_free, h * (force[c] * w + steady[c]), zero);
            }
            let v = v.plus(gained);
            v.store(&mut self.particles[i], V, at);
            x.plus(scale(v.high, h)).store(&mut self.particles[i], 0, at);
            if i + 1 < self.batch.len() {
                let next = Particle::load(&self.particles[i + 4], at);
                p = [p[1], p[2], p[3], next];
                whole = [whole[1], whole[2], L::load(&self.whole[i + 3], at)];
            }
        }
    }
}
