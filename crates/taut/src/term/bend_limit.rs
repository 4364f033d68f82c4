//! Bend limits of hinges as a term (W4): what each hinge does by itself in an iteration.
//!
//! The map K x = (x₂ − foot₂)/h₂ + (x₃ − foot₃)/h₃, with feet and heights of the rest shape, adds the
//! directions of the two wings. It is linear, so it goes into the matrix like the deformation gradient, with
//! the weight κ (A₁ + A₂)/3; and −K x · n, n the mean normal of the hinge, is 2 ρ sin(θ/2), ρ the mean
//! stretch of the wings' heights. That is clamped between 2 ρ sin(a/2) of the allowed angles a. At rest it is
//! 2 sin(θ₀/2), whatever the curvature.
//!
//! The dual is one number a hinge, along n, and so turns with it. Limits that cannot be met give way, for one
//! step: after lower limits on strain, before upper ones.

use std::sync::Arc;

use super::{
    Block, Excess, Iteration, Stage, Step, Term,
    corners::{Pulling, WeightedCorners, put},
    span,
};
use crate::{
    element::hinge::{AllowedLanes, BendElement, allowed_lanes, load_allowed, set_allowed},
    exec::batch::{Batches, Over, lanes_of},
    hierarchy::multigrid::{Stiff, StiffHinge},
    kernel::{
        bend::{Allowed, bend_excess, near_rest, past},
        dihedral::dihedral,
        lanes::{BATCH, Lanes, Quad, Work, run},
        real::{Real, V3, add, combine, cross, dot, scale, select3, sub},
    },
    solve::nearest::{
        ramp::Opening,
        tuning::{
            BATCH_GRAIN, BEND_LEAST_ITERATIONS, BEND_SLACK_GENEROSITY, BEND_STRETCH, BEND_WEIGHT,
            CLOTH_GIVES_WAY_EVERY, CLOTH_ON_ITS_WAY, WARM_START, bends_give_way_from,
        },
    },
};

/// Stands for "no limit" on 2 ρ sin(θ/2), which is hardly ever beyond 2.
const NO_BOUND: f32 = 1e9;

/// Duals beyond this are the debris of numbers that overflowed.
const DEBRIS: f32 = 1e6;

/// Hinges of a filter with limits. Vertices count from the filter's first.
#[derive(Clone, Debug, Default)]
pub struct BendLimits {
    batches: Batches<NearestBend, 4>,
    /// Hinges of each vertex, with its weight in K.
    corners: WeightedCorners,
    /// What they add to the matrix.
    stiff: Vec<StiffHinge>,
    /// Number of hinges.
    count: usize,
}

/// [`BATCH`] hinges side by side.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct NearestBend {
    /// K.
    map: [[f32; BATCH]; 4],
    /// A third of the area, times [`BEND_WEIGHT`].
    weight: [f32; BATCH],
    allowed: AllowedLanes,
    /// 2 sin(a/2) of the allowed angles.
    bounds: [[f32; BATCH]; 2],
}

/// Part of all batches, as its reciprocal, from which on that many pull.
const MANY_PULL: usize = 4;

/// What an iteration remembers of a batch of hinges.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
struct BendState {
    /// Duals.
    dual: [f32; BATCH],
    /// By how much limits have given way in this step, of 2 ρ sin(θ/2).
    slack: [f32; BATCH],
    /// Excess past the limits as they were given, as [`bend_excess`].
    excess: [f32; BATCH],
    /// The largest of these.
    worst: f32,
    /// Largest excess past the limits as far as they have given way, about.
    beyond: f32,
    /// Whether any of them pulls. If not, all their pulls are 0.
    pulls: bool,
}

/// K of a hinge \[1/m\].
fn map(element: &BendElement) -> [f64; 4] {
    hinge_map(element.feet, element.heights)
}

/// K of a hinge with these feet and heights \[m\] of its wings \[1/m\].
pub(super) fn hinge_map(feet: [f32; 2], heights: [f32; 2]) -> [f64; 4] {
    let ([t2, t3], [h2, h3]) = (feet.map(f64::from), heights.map(f64::from));
    [-(1.0 - t2) / h2 - (1.0 - t3) / h3, -t2 / h2 - t3 / h3, 1.0 / h2, 1.0 / h3]
}

impl BendLimits {
    /// Tables of `elements`, whose vertices count from `first`; the body has `count` vertices.
    pub fn new(elements: &[BendElement], first: u32, count: usize) -> Self {
        let pack = |indices: &[u32]| {
            let mut batch = NearestBend {
                map: [0, 1, 2, 3].map(|k| lanes_of(indices, 0.0, |e| map(&elements[e])[k] as f32)),
                weight: lanes_of(indices, 0.0, |e| BEND_WEIGHT * elements[e].area / 3.0),
                bounds: [[-NO_BOUND; BATCH], [NO_BOUND; BATCH]],
                allowed: allowed_lanes(indices, elements),
            };
            for (lane, &e) in indices.iter().enumerate() {
                let BendElement { min, max, .. } = elements[e as usize];
                batch.set_angles(lane, [min, max]);
            }
            batch
        };
        let vertices: Vec<[u32; 4]> = elements.iter().map(|e| e.vertices.map(|v| v - first)).collect();
        let weights: Vec<[f32; 4]> = elements.iter().map(|e| map(e).map(|w| w as f32)).collect();
        Self {
            batches: Batches::pack(count, 0, &vertices, pack),
            corners: WeightedCorners::new(count, &vertices, &weights),
            stiff: stiff_hinges(elements, first),
            count: elements.len(),
        }
    }

    /// Numbers of the hinges of the vertices `vertices`, which belong to whole bodies.
    pub(crate) fn span(&self, vertices: &std::ops::Range<usize>) -> std::ops::Range<usize> {
        span(self.count, vertices, |h| self.batches[h / BATCH].vertices(h % BATCH)[0])
    }

    /// How far hinge number `h` is past its limits: see [`bend_excess`].
    fn excess_of(&self, h: usize, x: &[Quad]) -> f32 {
        let (batch, lane) = (&self.batches[h / BATCH], h % BATCH);
        let corners = batch.vertices(lane).map(|v| [x[v][0], x[v][1], x[v][2]]);
        let [a, b, c, d, e, f] = batch.allowed.map(|lanes| lanes[lane]);
        bend_excess(&corners, &Allowed { rest: [a, b], min: [c, d], max: [e, f] })
    }

    /// The same, of which the hinges from number `first` on have other limits, `angles` \[rad\].
    pub(crate) fn with_angles(&self, first: usize, angles: impl Iterator<Item = [f32; 2]>) -> Self {
        let mut changed = self.clone();
        for (h, angles) in (first..).zip(angles) {
            changed.batches.data_mut(h / BATCH).set_angles(h % BATCH, angles);
        }
        changed
    }
}

impl NearestBend {
    /// Gives the hinge in lane `lane` other limits \[rad\].
    fn set_angles(&mut self, lane: usize, angles: [f32; 2]) {
        set_allowed(&mut self.allowed, lane, angles);
        let bound = |side: usize, none: f32| {
            let limited = angles[side].abs() < std::f32::consts::PI;
            if limited { 2.0 * self.allowed[2 + 2 * side][lane] } else { none }
        };
        let bounds = [bound(0, -NO_BOUND), bound(1, NO_BOUND)];
        (self.bounds[0][lane], self.bounds[1][lane]) = (bounds[0], bounds[1]);
    }
}

impl Block for BendLimits {
    fn name(&self) -> &'static str {
        "bend limits"
    }

    fn kept(&self) -> usize {
        self.batches.len() * BATCH
    }

    fn matrix<'a>(&'a self, stiff: &mut Stiff<'a>) {
        stiff.hinges.push(&self.stiff);
    }

    fn term(self: Arc<Self>) -> Box<dyn Term> {
        Box::new(BendLimitTerm {
            states: vec![BendState::default(); self.batches.len()],
            pulls: vec![[[0.0; 4]; BATCH]; self.batches.len()],
            pulling: vec![false; self.batches.len()],
            pulled: vec![false; self.corners.vertex_count()],
            rescale: 1.0,
            given_way: false,
            lost: f64::INFINITY,
            tables: self,
        })
    }
}

/// Duals and memory of the limited hinges of a filter.
#[derive(Debug)]
struct BendLimitTerm {
    tables: Arc<BendLimits>,
    states: Vec<BendState>,
    /// What each pulls, but for the weights of its vertices.
    pulls: Vec<[Quad; BATCH]>,
    /// By batch: whether any of its hinges pulls. Most are well inside their limits.
    pulling: Vec<bool>,
    /// By vertex: whether one of these batches may pull at it.
    pulled: Vec<bool>,
    /// Factor on the duals in the next iteration.
    rescale: f32,
    /// Whether any limits have given way in this step.
    given_way: bool,
    /// Sum of excesses when limits might last have given way.
    lost: f64,
}

impl Term for BendLimitTerm {
    fn begin(&mut self, _step: &Step, _x: &mut [Quad], kept: &mut [f32]) {
        for (state, kept) in self.states.iter_mut().zip(kept.chunks_exact(BATCH)) {
            for (dual, kept) in state.dual.iter_mut().zip(kept) {
                *dual = WARM_START * kept;
            }
            state.slack = [0.0; BATCH];
        }
        (self.given_way, self.lost) = (false, f64::INFINITY);
    }

    fn least_iterations(&self, step: &Step) -> u32 {
        if step.touching { BEND_LEAST_ITERATIONS } else { 0 }
    }

    fn opening(&self, step: &Step, _x: &[Quad]) -> Option<Opening> {
        step.touching.then_some(Opening::Bends)
    }

    fn enter(&mut self, _step: &Step, _x: &[Quad], _kept: &[f32], stage: &Stage) {
        self.rescale = 1.0 / stage.c;
    }

    fn rescale(&mut self, growth: f32) {
        self.rescale = 1.0 / growth;
    }

    fn local(&mut self, step: &Step, x: &mut [Quad], stage: &Stage, _look: bool) {
        let Self { tables, states, pulls, pulling, pulled, rescale, .. } = self;
        let (hinges, settings) = (tables.batches.over(x), step.settings);
        let (stiffness, rescale) = (stage.kappa, std::mem::replace(rescale, 1.0));
        settings.threads.each_pair(states, pulls, BATCH_GRAIN, |first, states, pulls| {
            let batches = hinges.part(first..first + states.len());
            run(settings.lanes, ClampBends { batches, states, pulls, stiffness, rescale });
        });
        pulling.iter_mut().zip(states).for_each(|(pulling, state)| *pulling = state.pulls);
        let count = pulling.iter().filter(|pulls| **pulls).count();
        // Where many pull, it is not worth the time to find out at which vertices.
        pulled.fill(MANY_PULL * count > pulling.len());
        if !pulled.first().is_some_and(|pulled| *pulled) {
            for (batch, _) in pulling.iter().enumerate().filter(|(_, pulls)| **pulls) {
                for lane in 0..BATCH {
                    tables.batches[batch].vertices(lane).iter().for_each(|&v| pulled[v] = true);
                }
            }
        }
    }

    fn pulling<'a>(&'a self, _x: &'a [Quad]) -> Option<Pulling<'a>> {
        Some(Pulling::weighted(&self.tables.corners, &self.pulls, Some([&self.pulling, &self.pulled])))
    }

    fn measure(&self, _step: &Step, _x: &[Quad], _iteration: u32, excess: &mut Excess) {
        for state in &self.states {
            excess.bend = excess.bend.max(state.worst);
            excess.bend_beyond = excess.bend_beyond.max(state.beyond);
        }
        excess.can_give_way |= self.given_way;
    }

    fn give_way(&mut self, step: &Step, iteration: Iteration) -> bool {
        let Iteration { number, within } = iteration;
        if within || number < bends_give_way_from(step) || !number.is_multiple_of(CLOTH_GIVES_WAY_EVERY) {
            return false;
        }
        let lost = self.states.iter().flat_map(|state| &state.excess).map(|&excess| f64::from(excess)).sum();
        let is_on_its_way = lost < f64::from(CLOTH_ON_ITS_WAY) * self.lost;
        self.lost = lost;
        for state in
            self.states.iter_mut().filter(|state| !is_on_its_way && state.beyond > step.bend_tolerance)
        {
            for (slack, excess) in state.slack.iter_mut().zip(&state.excess) {
                if *excess - 0.5 * *slack > step.bend_tolerance {
                    *slack = 2.0 * BEND_SLACK_GENEROSITY * excess;
                    self.given_way = true;
                }
            }
        }
        false
    }

    fn is_within(&self, step: &Step, x: &[Quad], moved: &[(u32, Quad)]) -> bool {
        let is_within = |hinge: u32| self.tables.excess_of(hinge as usize, x) <= step.bend_tolerance;
        let at = |v: u32| self.tables.corners.of(v as usize);
        moved.iter().all(|&(v, _)| at(v).iter().all(|&(hinge, _)| is_within(hinge)))
    }

    fn end(&mut self, _step: &Step, _x: &mut [Quad], stage: &Stage, kept: &mut [f32]) {
        for (state, kept) in self.states.iter().zip(kept.chunks_exact_mut(BATCH)) {
            for (kept, dual) in kept.iter_mut().zip(&state.dual) {
                *kept = dual * stage.c;
            }
        }
    }
}

/// What hinges add to the matrix.
fn stiff_hinges(elements: &[BendElement], first: u32) -> Vec<StiffHinge> {
    elements
        .iter()
        .map(|e| (e.vertices.map(|v| v - first), map(e), f64::from(BEND_WEIGHT * e.area) / 3.0))
        .collect()
}

/// One iteration of some batches: s = −n·K x + u, p = s clamped, pulls −κ A Kᵀ n (2 (p − s) + u), u ← s − p.
struct ClampBends<'a> {
    /// Hinges.
    batches: Over<'a, NearestBend, 4>,
    /// Their duals and excesses.
    states: &'a mut [BendState],
    /// Where their pulls go, but for K.
    pulls: &'a mut [[Quad; BATCH]],
    /// κ.
    stiffness: f32,
    /// Factor on the duals as they come.
    rescale: f32,
}

impl Work for ClampBends<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let (zero, half) = (L::splat(0.0), L::splat(0.5));
        let (rescale, kappa) = (L::splat(self.rescale), L::splat(self.stiffness));
        for ((batch, state), pulls) in self.batches.iter().zip(self.states).zip(self.pulls) {
            let (mut worst, mut beyond, mut strength) = (zero, zero, zero);
            let did_pull = state.pulls;
            for at in (0..BATCH).step_by(L::WIDTH) {
                let x: [V3<L>; 4] = batch.corners(at);
                let map: [L; 4] = L::load_all(&batch.map, at);
                let allowed = load_allowed(&batch.allowed, at);
                let d = dihedral(&x);
                let (theta, far) = near_rest(&d, allowed.rest);
                let [over, under] = past(theta, &allowed);
                let (excess, slack) = (over.max(under).max(zero), L::load(&state.slack, at));
                excess.store(&mut state.excess, at);
                worst = worst.max(excess);
                beyond = beyond.max(excess - half * slack);
                let n = mean_normal(&x, d.sin_half, far);

                let edge = combine(sub(x[2], x[0]), map[2], sub(x[3], x[0]), map[3]);
                let bent = add(edge, scale(sub(x[1], x[0]), map[1]));
                let u = L::load(&state.dual, at) * rescale;
                let s = u - dot(n, bent);
                let stretch = ((d.heights[0] * map[2] + d.heights[1] * map[3]) * half)
                    .clamp(L::splat(BEND_STRETCH[0]), L::splat(BEND_STRETCH[1]));
                let [low, high]: [L; 2] = L::load_all(&batch.bounds, at);
                let moved = s.clamp(low * stretch - slack, high * stretch + slack) - s;
                // Not in lanes where something is not a number.
                let moved = L::select(moved.abs().le(L::splat(DEBRIS)), moved, zero);
                (zero - moved).store(&mut state.dual, at);
                let amount = (moved + moved + u) * L::load(&batch.weight, at) * kappa;
                strength = strength.max(amount.abs());
                if did_pull || amount.abs().largest() > 0.0 {
                    put(pulls, at, scale(n, zero - amount));
                }
            }
            (state.worst, state.beyond) = (worst.largest(), beyond.largest());
            state.pulls = strength.largest() > 0.0;
        }
    }
}

/// The unit normal halfway between those of the two triangles; the direction away from the wings where they
/// are folded onto each other. Turned round where `far`.
#[inline(always)]
pub(super) fn mean_normal<L: Real>(x: &[V3<L>; 4], sin_half: L, far: L::Mask) -> V3<L> {
    let (zero, one, tiny) = (L::splat(0.0), L::splat(1.0), L::splat(1e-30));
    let edge = sub(x[1], x[0]);
    let axis = scale(edge, one / dot(edge, edge).sqrt().max(tiny));
    let (n1, n2) = (cross(axis, sub(x[2], x[0])), cross(sub(x[3], x[0]), axis));
    let n1 = scale(n1, one / dot(n1, n1).sqrt().max(tiny));
    let n2 = scale(n2, one / dot(n2, n2).sqrt().max(tiny));
    let folded = dot(n1, n2).lt(zero);
    let flat = add(n1, n2);
    // The wings point along (n₁ − n₂) × axis, away from the mean normal on a ridge.
    let wings = cross(sub(n1, n2), axis);
    let ridge = scale(wings, L::select(sin_half.lt(zero), one, -one));
    let n = select3::<L>(folded, ridge, flat);
    let size = dot(n, n).sqrt();
    let n = scale(n, L::select(far, -one, one) / size.max(tiny));
    select3::<L>(L::splat(0.5).lt(size), n, [zero; 3])
}
