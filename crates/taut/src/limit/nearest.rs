//! The nearest feasible state in the mass metric: `Scheme::Nearest`.
//!
//! Of all states within the limits, a step should end in the one that changes velocities least: minimise
//! ½ (x − x₀)ᵀ M (x − x₀) with every triangle's stretches in range and every vertex outside obstacles. ADMM
//! splits that: B x are the deformation gradients, p the same clamped, u their disagreement so far. One
//! iteration:
//!
//! ```text
//! f = B x + u;  p = f clamped                       every triangle by itself, in lanes
//! r = M (x₀ − x) + κ Bᵀ A (2 (p − f) + u);  u ← f − p    gathered by vertex in a fixed order
//! x ← x + V-cycle(r)                                about (M + κ Bᵀ A B)⁻¹ r
//! ```
//!
//! The matrix never changes, so one linear multigrid cycle replaces the coarse limits of section 3.3 of the
//! paper (its section 6 asks for such a constrained-Lagrangian solve). κ = c ℓ² n / Area in units of the mean
//! mass, ℓ the size of the body: soft at first (c = 0.03, or 0.003 where only a small part is to be mended),
//! which finds the right place, then stiffer, until the limits are met. Duals start from nine tenths of the
//! last step's, turned with their triangles ([`warm`]). The last few triangles are settled one by one
//! ([`finish`]). Stopping at the first feasible state would bias motion towards stiffness, so there is a
//! least number of iterations.
//!
//! Obstacles are a block of their own ([`contact`]); a projection after each iteration diverges, and one at
//! the end leaves strain. Parts that touch are a block too ([`pairs`]), bodies that may touch are filtered
//! together, and where there is contact the filter is elastic: stretches are drawn to 1 before they are
//! clamped, and bending is a part of the matrix ([`fold`]). Tetrahedra are a block of their own kind
//! ([`tetrahedra`]), always elastic. Bend limits are another ([`bend`]), with a linear map of their own
//! beside B, seams that are open a third ([`links`]), rigid bodies one more, with unknowns of their own
//! ([`rigid`]). Edges keep to the sweeps, which run afterwards.

pub mod bend;
pub mod contact;
pub mod facing;
pub mod finish;
pub mod fold;
pub mod grips;
pub mod links;
pub mod local;
pub mod pairs;
pub mod reference;
pub mod rigid;
pub mod tables;
pub mod tetrahedra;
pub mod volume;
pub mod warm;

use std::sync::atomic::{AtomicBool, Ordering};

use bend::{BendState, ClampBends};
use contact::{Surroundings, Touch};
use finish::Finish;
use fold::PullFolds;
use grips::Held;
use links::Links;
use local::{BatchState, ClampTriangles, Pulls};
use pairs::Pairs;
use rigid::Rigid;

use super::{Settings, colored::SharedQuads, enforce::Enforced};
use crate::{
    budget::Deadline,
    hierarchy::multigrid::Cycle,
    kernel::lanes::{BATCH, Quad, run},
};
use tables::Filter;
use tetrahedra::{ClampTetrahedra, TetrahedronState, TurnSolidDuals};
use volume::Volumes;
use warm::{TurnDuals, Way};

/// Factors c on the stiffness, from soft to stiff.
pub(crate) const RAMP: [f32; 4] = [0.003, 0.03, 0.3, 1.0];

/// Iterations that each factor but the last is given before the next is tried, which happens only if the
/// limits are not met by then; more with obstacles, whose contacts have to be found meanwhile.
const PATIENCE: [u32; 3] = [8, 6, 14];
const PATIENCE_WITH_CONTACT: [u32; 3] = [8, 8, 16];

/// Mean residual over the largest one, of the prediction, below which a step starts with the first factor:
/// what has to be mended is then so small a part of the body that the second would drag along too much around
/// it.
const LOCAL: f32 = 0.002;

/// The factor that a step starts with where there are tetrahedra. What resists in three directions is dragged
/// along less by stiffness: a clamped bar comes to rest where a converged run does, calmer than with softer
/// factors, which missed one of its frames.
const SOLID: usize = 3;

/// The same where they touch something: with the last, what is hit stops too soon.
const SOLID_TOUCHING: usize = 2;

/// From when on, and how often, limits of tetrahedra that are not met give way. Where nothing touches it is
/// rare that they cannot be met.
const GIVE_WAY_FROM: u32 = 144;
const GIVE_WAY_TOUCHING_FROM: u32 = 48;
const GIVE_WAY_EVERY: u32 = 16;

/// What of the error that rings had so many iterations ago is left, at least, where they cannot be kept.
const STALLED: f32 = 0.95;

/// What of the tolerance elements may be past limits that have given way.
const EVEN: f32 = 1.0;

/// Least number of iterations of a step that is a whole frame, so that motion is not biased. Shorter steps
/// have less to mend.
const LEAST: u32 = 20;

/// The same where the filter is elastic: more, because stresses have to find their balance as well; with
/// less, cloth at rest trembles.
const LEAST_ELASTIC: u32 = 36;

/// How deep a vertex may be inside an obstacle where the filter is elastic, in lengths of an edge: limits are
/// far off then, and it is put outside.
const SHALLOW: f32 = 0.016;

/// The same where it is not, or where there are tetrahedra, in what the tolerance is of such a length.
const SHALLOW_HARD: f32 = 0.3;

/// The same in gaps, where cloth touches cloth: what lies on it is not put outside with it.
const SHALLOW_IN_GAPS: f32 = 0.1;

/// How far a rigid body may still go in the last iteration, in lengths of an edge.
const SETTLED: f32 = 0.001;

/// Iterations after which more triangles may be settled one by one.
const LONG: u32 = 32;

/// What of the last step's duals a step starts with.
const WARM: f32 = 0.9;

/// What a step starts with of how far limits gave way in the last, in parts that touch nothing which would
/// ask for it again.
const WARM_ALONE: f32 = 0.5;

/// From when on, and how often, grips give way to limits that are not met.
const LOOSEN_FROM: u32 = 20;
const LOOSEN_EVERY: u32 = 4;

/// From when on, and how often, contacts that are still inside get more weight.
const STRENGTHEN_FROM: u32 = 12;
const STRENGTHEN_EVERY: u32 = 4;

/// What of its gap a pair of touching parts may lack at the end.
const LACKING: f32 = 0.3;

/// What of the tolerance is used while seams are open: putting twins in one place at the end strains the
/// triangles around.
const OPEN_SEAMS: f32 = 0.8;

/// What of the tolerance is used while a rigid body may touch: taut cloth gives way across itself by far more
/// than it stretches, and a body that is taken back by that much in the next step is thrown.
const CARRYING: f32 = 0.1;

/// Batches below which a loop is not shared between threads.
const GRAIN: usize = 16;

/// Vertices below which a loop is not shared between threads.
const VERTEX_GRAIN: usize = 400;

/// What sharing the loops of a filter between threads costs, as a factor on its time.
const SHARING: f32 = 1.3;

/// Floats that are kept of a batch's duals.
const DUALS: usize = 3 * BATCH;

/// Memory that filtering one body needs, kept between steps.
#[derive(Debug)]
pub struct Scratch {
    goal: Vec<Quad>,
    turned: Vec<Quad>,
    states: Vec<BatchState>,
    pulls: Vec<Pulls>,
    solid_states: Vec<TetrahedronState>,
    solid_pulls: Vec<Pulls<4>>,
    /// A number a vertex, if there are tetrahedra.
    around: Vec<f32>,
    volumes: Volumes,
    bend_states: Vec<BendState>,
    bend_pulls: Vec<Pulls<4>>,
    fold_pulls: Vec<Pulls<4>>,
    touches: Vec<Touch>,
    /// Whether some have begun to touch since the matrices were chosen.
    begun: bool,
    /// Parts of this body that touch others, and each other; the caller says which.
    pub pairs: Pairs,
    /// Bodies that it may touch, which move with it; the caller says where they are.
    pub rigid: Rigid,
    /// Open seams; the caller says how far.
    pub links: Links,
    /// Points that are gripped; the caller says which.
    pub grips: Held,
    finish: Finish,
    cycle: Cycle,
    /// That of the filter that this one changes places with when seams close.
    other: Cycle,
    /// Where its duals begin among those of all filters; the caller says that.
    pub first_dual: usize,
    /// How the last step ended.
    pub ended: Enforced,
}

impl Scratch {
    /// The same with memory for the cycles of `other`, which changes places with this filter when seams close
    /// or open.
    #[must_use]
    pub fn beside(mut self, other: &Filter) -> Self {
        let folds = self.fold_pulls.len().max(other.folds.batches.len());
        self.fold_pulls.resize(folds, [[[0.0; 4]; BATCH]; 4]);
        Self { other: other.multigrid.scratch(), ..self }
    }

    /// Goes on with the other filter.
    pub fn exchange(&mut self) {
        std::mem::swap(&mut self.cycle, &mut self.other);
    }
}

/// How many iterations a step needs at least so that motion is not biased, with `steps` of them a frame.
pub fn least_iterations(steps: u32, elastic: bool) -> u32 {
    (2 * if elastic { LEAST_ELASTIC } else { LEAST } / (steps + 1)).max(4)
}

/// Whether `filters` are done sooner if each is done by one of `threads` threads than if all threads do one
/// after the other.
pub fn is_best_whole(filters: &[Filter], threads: usize) -> bool {
    let sizes = || filters.iter().map(|filter| filter.vertices.len());
    let (total, largest) = (sizes().sum::<usize>(), sizes().max().unwrap_or(0).max(1));
    let whole = largest * total.div_ceil(largest * threads);
    let shared = |size: usize| SHARING * size as f32 / threads.min(size / VERTEX_GRAIN).max(1) as f32;
    (whole as f32) < sizes().map(shared).sum()
}

/// When to end.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// Largest residual past a limit; the mean must be a tenth of it.
    pub tolerance: f32,
    /// Largest excess past a bend limit: the sine of half that angle.
    pub bend: f32,
    /// Least number of iterations: see [`least_iterations`].
    pub least: u32,
    /// Most iterations.
    pub iterations: u32,
    /// When to end with what there is.
    pub deadline: Option<Deadline>,
    /// Iterations that it may take whatever the time is, if limits are not met before.
    pub insist: u32,
}

impl Filter {
    /// Memory for [`Filter::filter`]; `obstacles` says whether there are any.
    pub fn scratch(&self, obstacles: bool) -> Scratch {
        let count = self.vertices.len();
        Scratch {
            goal: vec![[0.0; 4]; count],
            turned: vec![[0.0; 4]; if self.two_sided { count } else { 0 }],
            states: vec![BatchState::default(); self.batches.len()],
            pulls: vec![[[[0.0; 4]; BATCH]; 3]; self.batches.len()],
            solid_states: vec![TetrahedronState::default(); self.tetrahedra.batches.len()],
            solid_pulls: vec![[[[0.0; 4]; BATCH]; 4]; self.tetrahedra.batches.len()],
            around: vec![0.0; if self.tetrahedra.batches.is_empty() { 0 } else { count }],
            volumes: Volumes::new(self.rings.len()),
            bend_states: vec![BendState::default(); self.bends.batches.len()],
            bend_pulls: vec![[[[0.0; 4]; BATCH]; 4]; self.bends.batches.len()],
            fold_pulls: vec![[[[0.0; 4]; BATCH]; 4]; self.folds.batches.len()],
            touches: vec![Touch::default(); if obstacles { count } else { 0 }],
            begun: false,
            pairs: Pairs::new(count),
            rigid: Rigid::default(),
            links: Links::new(self.link_count),
            grips: Held::new(count),
            finish: Finish::new(self.triangle_count),
            cycle: self.multigrid.scratch(),
            other: Cycle::default(),
            first_dual: 0,
            ended: Enforced::default(),
        }
    }

    /// Number of floats that must be kept from one step to the next.
    pub fn dual_count(&self, obstacles: bool) -> usize {
        self.batches.len() * DUALS
            + self.tetrahedra.batches.len() * tetrahedra::DUALS
            + self.rings.len()
            + self.bends.batches.len() * BATCH
            + 3 * self.link_count
            + if obstacles { 3 * self.vertices.len() } else { 0 }
    }

    /// Moves the body's vertices `x` to about the nearest state within its limits. `duals` are kept between
    /// steps.
    pub fn filter(
        &self,
        settings: &Settings,
        x: &mut [Quad],
        around: &Surroundings,
        duals: &mut [f32],
        scratch: &mut Scratch,
        stop: Stop,
    ) -> Enforced {
        let threads = settings.threads;
        scratch.goal.copy_from_slice(x);
        scratch.grips.free(self, &mut scratch.goal);
        let share = if self.links.is_empty() { 1.0 } else { OPEN_SEAMS };
        let share = if scratch.rigid.is_empty() { share } else { CARRYING };
        let stop = Stop { tolerance: share * stop.tolerance, ..stop };
        let (near_obstacles, near_cloth) = (!scratch.touches.is_empty(), !scratch.pairs.is_empty());
        let touching = near_obstacles || near_cloth || !scratch.rigid.is_empty();
        let (strain_duals, duals) = duals.split_at_mut(self.batches.len() * DUALS);
        let (solid_duals, duals) = duals.split_at_mut(self.tetrahedra.batches.len() * tetrahedra::DUALS);
        let (ring_duals, duals) = duals.split_at_mut(self.rings.len());
        let (bend_duals, duals) = duals.split_at_mut(self.bends.batches.len() * BATCH);
        let (link_duals, contact_duals) = duals.split_at_mut(3 * self.link_count);
        if self.two_sided {
            self.face(settings, [around.old, x], &mut scratch.turned, &mut scratch.states);
        }
        let slack = if touching { WARM } else { WARM_ALONE };
        self.turn(settings, x, scratch, [strain_duals, solid_duals], Way::Begin, [WARM, slack]);
        for (state, duals) in scratch.bend_states.iter_mut().zip(bend_duals.chunks_exact(BATCH)) {
            for (dual, kept) in state.dual.iter_mut().zip(duals) {
                *dual = WARM * kept;
            }
        }
        scratch.volumes.take(ring_duals, WARM, stop.tolerance);
        let plain = self.bends.batches.is_empty() && self.tetrahedra.batches.is_empty();
        let alone = !touching && plain && self.links.is_empty();
        let (worst, mean) = self.residual(scratch);
        let mut stage = usize::from(!alone || mean > LOCAL * worst);
        if !self.tetrahedra.batches.is_empty() {
            stage = if touching { SOLID_TOUCHING } else { SOLID };
        }
        if scratch.rigid.has_bodies() && !scratch.rigid.reaches(x, 0.25 * self.edge_length) {
            // κ is that of cloth which carries a body.
            stage = 0;
        }
        let mut rescale = 1.0 / RAMP[stage];
        let (contact_duals, body_duals) =
            contact_duals.split_at_mut(contact_duals.len() - scratch.rigid.dual_count());
        self.begin_contacts(x, around, contact_duals, &mut scratch.touches, RAMP[stage]);
        scratch.rigid.warm(x, body_duals, 0.25 * self.edge_length, RAMP[stage]);
        self.choose(scratch, stage);
        if touching {
            let Scratch { solid_states, around, touches, pairs, rigid, .. } = &mut *scratch;
            let touched = |i: usize| {
                let obstacle = touches.get(i).is_some_and(Touch::touches);
                obstacle || pairs.extra(i) > 0.0 || rigid.extra(i) > 0.0
            };
            self.tetrahedra.come_back(solid_states, around, WARM_ALONE / WARM, touched);
        }
        scratch.links.take(link_duals, WARM / RAMP[stage]);

        let soft = self.elastic && self.tetrahedra.batches.is_empty();
        let hard = if self.rings.is_empty() { SHALLOW_HARD } else { volume::SHALLOW };
        let shallow = self.edge_length * if soft { SHALLOW } else { hard * stop.tolerance };
        let shallow = shallow.min(SHALLOW_IN_GAPS * scratch.pairs.widest_gap());
        let patience = if touching { PATIENCE_WITH_CONTACT } else { PATIENCE };
        let ring_tolerance = stop.tolerance * if touching { volume::TOUCHING } else { 1.0 };
        let least = stop.least.min(stop.iterations);
        let give_way_from = if touching { GIVE_WAY_TOUCHING_FROM } else { GIVE_WAY_FROM };
        let (mut since, mut stiffen, mut moved) = (0, false, 0.0);
        let (mut stalled, mut rings_before) = (false, f32::MAX);
        let mut enforced = Enforced::default();
        for iteration in 0..=stop.iterations {
            if stiffen {
                let growth = RAMP[stage + 1] / RAMP[stage];
                (stage, rescale, since, stiffen) = (stage + 1, 1.0 / growth, 0, false);
                scratch.touches.iter_mut().for_each(|t| t.rescale(growth));
                scratch.pairs.rescale(growth);
                scratch.rigid.rescale(growth);
                scratch.links.rescale(growth);
                self.choose(scratch, stage);
            }
            if touching && iteration % STRENGTHEN_EVERY == 0 {
                let grown = iteration >= STRENGTHEN_FROM && self.strengthen(scratch, stage);
                // What has begun to touch weighs little against the rest of the matrix, and can wait so long.
                if grown || scratch.begun {
                    self.choose(scratch, stage);
                }
            }
            let late = iteration > 0
                && iteration >= stop.insist
                && stop.deadline.is_some_and(|deadline| deadline.is_past());
            let impatient = patience.get(stage).is_some_and(|&patience| since >= patience);
            let measure = iteration >= least || impatient || late;
            self.clamp(settings, x, scratch, stage, rescale, measure);
            (rescale, since) = (1.0, since + 1);
            let (mut within, mut spread) = (false, false);
            if measure {
                let (worst, mean) = self.residual(scratch);
                let bend = scratch.bend_states.iter().fold(0.0f32, |worst, state| worst.max(state.worst));
                let even = mean <= 0.1 * stop.tolerance;
                let volume = scratch.volumes.worst();
                let sewn = scratch.links.are_closed(&self.links, x, self.edge_length, iteration);
                within = even && worst <= stop.tolerance && bend <= stop.bend && sewn;
                within &= volume <= ring_tolerance;
                let often = iteration < LONG || iteration % 4 == 0;
                if even && !within && alone && iteration >= least && often {
                    within = self.finish(x, scratch, stop.tolerance, iteration >= LONG);
                }
                if !within && iteration >= give_way_from && iteration % GIVE_WAY_EVERY == 0 {
                    let Scratch { solid_states, around, .. } = &mut *scratch;
                    let alone = iteration >= GIVE_WAY_FROM;
                    self.tetrahedra.give_way(solid_states, around, stop.tolerance, alone);
                }
                if !within
                    && iteration >= LOOSEN_FROM
                    && iteration % LOOSEN_EVERY == 0
                    && scratch.grips.give_way(self)
                {
                    self.choose(scratch, stage);
                }
                stiffen = impatient && !within;
                let residual = if within { worst.min(stop.tolerance) } else { worst };
                enforced = Enforced { iterations: iteration, residual, bend, converged: within };
                spread = !within && iteration > give_way_from && self.is_spread(scratch, stop.tolerance);
                // Rings that are merely late are waited for; those that come no nearer contradict what
                // touches.
                let late_rings = scratch.volumes.worst_possible();
                if iteration >= give_way_from && iteration % GIVE_WAY_EVERY == 0 {
                    stalled = late_rings > STALLED * rings_before || iteration >= GIVE_WAY_FROM;
                    rings_before = late_rings;
                }
                spread &= late_rings <= ring_tolerance || stalled;
                if (within || spread) && !touching && iteration >= least
                    || late
                    || iteration == stop.iterations
                {
                    break;
                }
            }
            let deepest = if near_obstacles {
                self.gather_with_contacts(settings, x, around, scratch, stage)
            } else {
                self.gather(settings, x, scratch);
                0.0
            };
            let r = scratch.cycle.residual();
            let lacking = scratch.pairs.iterate(x, r, &self.masses, RAMP[stage]);
            scratch.links.iterate(&self.links, x, r, &self.masses, self.stiffness[stage]);
            scratch.grips.iterate(self, x, r);
            // Half as deep inside bodies: what is put out of them in the end does not push them.
            let (sunk, begun) = scratch.rigid.iterate([around.old, x], r, &self.masses, RAMP[stage]);
            let settled = deepest.max(2.0 * sunk) <= shallow && moved <= SETTLED * self.edge_length;
            if touching && (within || spread) && settled && lacking <= LACKING && iteration >= least {
                break;
            }
            if begun {
                self.choose(scratch, stage);
            }
            self.multigrid.cycle(threads, &mut scratch.cycle, x);
            moved = self.move_bodies(settings, x, scratch, stage);
        }

        self.turn(settings, x, scratch, [strain_duals, solid_duals], Way::End, [RAMP[stage], 1.0]);
        scratch.volumes.keep(ring_duals);
        for (state, duals) in scratch.bend_states.iter().zip(bend_duals.chunks_exact_mut(BATCH)) {
            for (kept, dual) in duals.iter_mut().zip(&state.dual) {
                *kept = dual * RAMP[stage];
            }
        }
        scratch.links.keep(link_duals, if self.links.is_empty() { 0.0 } else { RAMP[stage] });
        for (touch, duals) in scratch.touches.iter().zip(contact_duals.chunks_exact_mut(3)) {
            duals.copy_from_slice(&touch.dual(RAMP[stage]));
        }
        scratch.rigid.keep(body_duals, RAMP[stage]);
        enforced
    }

    /// Takes the duals that are kept, or keeps them.
    fn turn(
        &self,
        settings: &Settings,
        x: &mut [Quad],
        scratch: &mut Scratch,
        [kept, solid]: [&mut [f32]; 2],
        way: Way,
        [factor, slack]: [f32; 2],
    ) {
        let x = SharedQuads::new(x);
        let (kept, _) = kept.as_chunks_mut::<DUALS>();
        settings.threads.each_pair(&mut scratch.states, kept, GRAIN, |first, states, kept| {
            let batches = &self.batches[first..first + states.len()];
            let (kept, weaves) = (kept.as_flattened_mut(), self.weaves(first, batches.len()));
            run(settings.lanes, TurnDuals { batches, weaves, states, kept, x, way, factor });
        });
        let (kept, _) = solid.as_chunks_mut::<{ tetrahedra::DUALS }>();
        settings.threads.each_pair(&mut scratch.solid_states, kept, GRAIN, |first, states, kept| {
            let batches = &self.tetrahedra.batches[first..first + states.len()];
            let kept = kept.as_flattened_mut();
            let work = TurnSolidDuals { batches, states, kept, x, way, factor, slack };
            run(settings.lanes, work);
        });
    }

    /// What every triangle, tetrahedron and hinge does by itself.
    fn clamp(
        &self,
        settings: &Settings,
        x: &mut [Quad],
        scratch: &mut Scratch,
        stage: usize,
        rescale: f32,
        measure: bool,
    ) {
        let (x, stiffness, faced) = (SharedQuads::new(x), self.stiffness[stage], self.two_sided);
        settings.threads.each_pair(&mut scratch.states, &mut scratch.pulls, GRAIN, |first, states, pulls| {
            let batches = &self.batches[first..first + states.len()];
            let weaves = self.weaves(first, batches.len());
            run(
                settings.lanes,
                ClampTriangles {
                    batches,
                    weaves,
                    states,
                    pulls,
                    x,
                    stiffness,
                    rescale,
                    faced,
                    elastic: self.elastic,
                    measure,
                },
            );
        });
        self.press(settings, x, scratch, [stiffness, rescale], measure);
        let pressures = scratch.volumes.shared();
        let Scratch { solid_states, solid_pulls, .. } = &mut *scratch;
        settings.threads.each_pair(solid_states, solid_pulls, GRAIN, |first, states, pulls| {
            let batches = &self.tetrahedra.batches[first..first + states.len()];
            let elastic = self.tetrahedra.elastic;
            let work = ClampTetrahedra {
                batches,
                states,
                pulls,
                x,
                pressures,
                stiffness,
                rescale,
                elastic,
                measure,
            };
            run(settings.lanes, work);
        });
        let Scratch { bend_states, bend_pulls, .. } = &mut *scratch;
        settings.threads.each_pair(bend_states, bend_pulls, GRAIN, |first, states, pulls| {
            let batches = &self.bends.batches[first..first + states.len()];
            run(settings.lanes, ClampBends { batches, states, pulls, x, stiffness, rescale });
        });
        // There are more of them while seams are closed.
        let fold_pulls = &mut scratch.fold_pulls[..self.folds.batches.len()];
        settings.threads.each(fold_pulls, GRAIN, |first, pulls| {
            let batches = &self.folds.batches[first..first + pulls.len()];
            run(settings.lanes, PullFolds { batches, pulls, x });
        });
    }

    /// Whether all is within limits some of which have given way.
    fn is_spread(&self, scratch: &Scratch, tolerance: f32) -> bool {
        let beyond = scratch.solid_states.iter().fold(0.0f32, |worst, state| worst.max(state.beyond));
        let triangles = scratch.states.iter().fold(0.0f32, |worst, state| worst.max(state.worst));
        !self.tetrahedra.batches.is_empty() && beyond <= EVEN * tolerance && triangles <= tolerance
    }

    /// Largest and mean residual, as they were last measured.
    fn residual(&self, scratch: &Scratch) -> (f32, f32) {
        let triangles = scratch.states.iter().map(|state| (state.worst, state.sum));
        let solids = scratch.solid_states.iter().map(|state| (state.worst, state.sum));
        let (worst, sum) = triangles
            .chain(solids)
            .fold((0.0f32, 0.0f64), |(worst, total), (w, sum)| (worst.max(w), total + f64::from(sum)));
        let count = self.triangle_count + self.tetrahedra.count;
        (worst, (sum / count.max(1) as f64) as f32)
    }

    /// r of vertex `i`, without contact.
    #[inline(always)]
    fn gathered(&self, x: &[Quad], goal: &[Quad], pulls: [&[Quad]; 4], i: usize) -> Quad {
        let mass = self.masses[i];
        if mass <= 0.0 {
            return [0.0; 4];
        }
        let mut sum = [0.0; 4];
        for k in 0..3 {
            sum[k] = mass * (goal[i][k] - x[i][k]);
        }
        let corners = [&self.corners, &self.tetrahedra.corners, &self.bends.corners, &self.folds.corners];
        for (corners, pulls) in corners.into_iter().zip(pulls) {
            for &c in corners.of(i) {
                let pull = &pulls[c as usize];
                for k in 0..4 {
                    sum[k] += pull[k];
                }
            }
        }
        sum
    }

    fn gather(&self, settings: &Settings, x: &[Quad], scratch: &mut Scratch) {
        let Scratch { goal, pulls, solid_pulls, bend_pulls, fold_pulls, cycle, .. } = scratch;
        let pulls = [
            pulls.as_flattened().as_flattened(),
            solid_pulls.as_flattened().as_flattened(),
            bend_pulls.as_flattened().as_flattened(),
            fold_pulls.as_flattened().as_flattened(),
        ];
        settings.threads.each(cycle.residual(), VERTEX_GRAIN, |first, part| {
            for (k, r) in part.iter_mut().enumerate() {
                *r = self.gathered(x, goal, pulls, first + k);
            }
        });
    }

    /// The same with contacts. Gives the deepest penetration \[m\].
    fn gather_with_contacts(
        &self,
        settings: &Settings,
        x: &[Quad],
        around: &Surroundings,
        scratch: &mut Scratch,
        stage: usize,
    ) -> f32 {
        let Scratch { goal, pulls, solid_pulls, bend_pulls, fold_pulls, cycle, touches, .. } = scratch;
        let pulls = [
            pulls.as_flattened().as_flattened(),
            solid_pulls.as_flattened().as_flattened(),
            bend_pulls.as_flattened().as_flattened(),
            fold_pulls.as_flattened().as_flattened(),
        ];
        let begun = AtomicBool::new(false);
        settings.threads.each_pair(cycle.residual(), touches, VERTEX_GRAIN, |first, part, touches| {
            for (k, (r, touch)) in part.iter_mut().zip(touches).enumerate() {
                let i = first + k;
                *r = self.gathered(x, goal, pulls, i);
                if self.masses[i] > 0.0 {
                    let touched = touch.touches();
                    let pull = touch.iterate(around, i, &x[i], self.masses[i], RAMP[stage]);
                    if touch.touches() != touched {
                        begun.store(true, Ordering::Relaxed);
                    }
                    for k in 0..3 {
                        r[k] += pull[k];
                    }
                }
            }
        });
        scratch.begun |= begun.into_inner();
        scratch.touches.iter().fold(0.0f32, |deepest, t| deepest.max(t.depth))
    }

    /// Moves the bodies that `x` touches, and `x` with them, after the cycle has moved it. Gives how far the
    /// farthest went \[m\].
    fn move_bodies(&self, settings: &Settings, x: &mut [Quad], scratch: &mut Scratch, stage: usize) -> f32 {
        let Scratch { rigid, cycle, .. } = scratch;
        if rigid.is_empty() {
            return 0.0;
        }
        if rigid.is_stale() {
            for body in 0..rigid.body_count() {
                let columns = rigid.load_columns(body, x, cycle.residual(), &self.masses, RAMP[stage]);
                self.multigrid.cycle(settings.threads, cycle, columns);
            }
            rigid.factor(&self.masses, RAMP[stage]);
        }
        rigid.solve(x, &self.masses, RAMP[stage])
    }

    /// Takes the matrices of a stage of the ramp, with the weights of contacts.
    fn choose(&self, scratch: &mut Scratch, stage: usize) {
        scratch.begun = false;
        scratch.pairs.weigh(RAMP[stage]);
        scratch.rigid.weigh(&self.masses, RAMP[stage]);
        let Scratch { touches, pairs, rigid, grips, cycle, .. } = scratch;
        self.multigrid.choose(cycle, stage, |i| {
            touches.get(i).map_or(0.0, |t| t.weight(self.masses[i], RAMP[stage]))
                + pairs.extra(i)
                + rigid.extra(i)
                + self.masses[i] * grips.extra(i)
        });
    }

    /// More weight for what stays too deep or too near. Says whether that changed.
    fn strengthen(&self, scratch: &mut Scratch, stage: usize) -> bool {
        let diagonal = self.multigrid.diagonal(stage);
        let mut grown = false;
        for (i, touch) in scratch.touches.iter_mut().enumerate().filter(|(i, _)| self.masses[*i] > 0.0) {
            grown |= touch.strengthen(self.masses[i], RAMP[stage], diagonal[i], 0.02 * self.edge_length);
        }
        grown |= scratch.pairs.strengthen(RAMP[stage], diagonal);
        grown |= scratch.rigid.strengthen(&self.masses, RAMP[stage], diagonal, 0.02 * self.edge_length);
        grown
    }

    fn begin_contacts(
        &self,
        x: &[Quad],
        around: &Surroundings,
        duals: &[f32],
        touches: &mut [Touch],
        c: f32,
    ) {
        let (first, end) = (self.vertices.start as u32, self.vertices.end as u32);
        let candidates = around.solids.candidates();
        let from = candidates.partition_point(|&v| v < first);
        let mut near = candidates[from..].iter().take_while(|&&v| v < end).peekable();
        for (i, (touch, dual)) in touches.iter_mut().zip(duals.chunks_exact(3)).enumerate() {
            let candidate = near.next_if_eq(&&(first + i as u32)).is_some();
            let dual = [dual[0], dual[1], dual[2]];
            *touch =
                Touch::begin(around, candidate, [&around.old[i], &x[i]], dual, 0.25 * self.edge_length, c);
        }
    }
}
