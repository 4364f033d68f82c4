//! Strands of hair as elastic rods whose segments keep their length: one implicit step, solved directly.
//!
//! For every strand, it looks for the minimum of ½ (x − x₀)ᵀ M (x − x₀) + c dt² W(x) in which every segment
//! is within its limits on strain, with x₀ the goal (the prediction), and W the energy of bending, of twist,
//! and of what acts from outside. Strands are one-dimensional, so Newton's method on the saddle point of
//! positions and tensions (multipliers of length) needs one banded factorisation a step, of half-bandwidth 8
//! for strands that are straight at rest ([`straight`]) and 12 for those with material frames ([`curly`]); 16
//! strands side by side in lanes. Tensions are kept as the first guess of the next step. Typically 4
//! iterations.
//!
//! Where Newton's method does not converge, a strand stays where its last iteration left it: with contact
//! that is nearer to the solution than what ADMM finds. If that is far off or not finite, ADMM starts anew
//! ([`admm`]). Then [`finish`] brings every segment within its limits, and every bend, whatever came before:
//! limits hold in every step, not only in converged ones. Strands with non-finite numbers do not spread them.
//! Positions are single precision: 10 m from the origin they are 1 µm apart, which is 0.1 % of a segment of 1
//! mm.
//!
//! | what | how | after |
//! |---|---|---|
//! | bending, twist | discrete elastic rods; chords as curvature, carried frames | Bergou et al. 2010 |
//! | lengths | constraints, not stiff springs | Bergou et al. 2008, who project after the step |
//! | the linear system | direct, banded, with multipliers | Kugelstadt 2016 (block tridiagonal, compliant) |
//! | start without sag | closed form, tip to root, and a test of stability | Takahashi, Batty 2024 iterate |
//! | contact | a penalty with friction, by the caller ([`NodeForces`]) | |
//!
//! On one core with 16 lanes, a frame of one step of 10,000 strands of 50 segments takes about 25 ms
//! (straight) or 35 ms (with a head that they touch), 5,000 curls of 50 take about 90 ms (`tests/bench.rs`).
//! Alternatives that were worse: ADMM with 20 iterations costs as much and is 40 times less precise, and for
//! curls it does not converge; alternating angles and positions diverges; halving late steps of curls only
//! delays them.

mod admm;
mod banded;
mod batch;
mod carry;
mod curly;
mod finish;
mod frames;
mod limits;
mod measure;
mod newton;
mod rest;
mod solve;
mod stability;
mod straight;
#[cfg(test)]
mod tests;
mod work;

use std::ops::Range;

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use self::{
    batch::Rods,
    limits::StretchBand,
    rest::{Made, StrandRest},
    solve::{BatchSolve, ThreadScratch},
};
pub(crate) use self::{rest::RestReport, solve::Solved, work::Pull};
use crate::{
    HairRest, Limit,
    exec::{
        strips::{Strip, Strips},
        threads::Threads,
    },
    kernel::{
        lanes::{BATCH, LaneKind, Lanes, Quad, Row, run},
        real::V3,
    },
    mesh::groom::strands_of,
};

/// Mass of held nodes, in units of that of others, and stiffness of unknowns that are fixed.
const HEAVY: f32 = 1e18;

/// Strands, as they are styled, and what they are made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StrandSetup<'a> {
    /// Points of all strands \[m\], one strand after the other, each from its root to its tip.
    pub(crate) positions: &'a [Vec3],
    /// Number of points of each strand, at least two.
    pub(crate) counts: &'a [u32],
    /// The same before any strand was cut: pieces have the rest shape that they have in the whole.
    pub(crate) whole: &'a [u32],
    /// Radius at each point \[m\].
    pub(crate) radii: &'a [f32],
    /// Mass per volume \[kg/m³\].
    pub(crate) density: f32,
    /// Young's modulus \[Pa\].
    pub(crate) young: f32,
    /// Shear modulus \[Pa\].
    pub(crate) shear: f32,
    /// Limits on the strain of segments.
    pub(crate) stretch: Limit,
    /// Largest change of the turning of a joint \[°/cm\].
    pub(crate) bend: Option<f32>,
    /// Largest change of the twist of a joint \[°/cm\].
    pub(crate) twist: Option<f32>,
    /// The shape without stress.
    pub(crate) rest: HairRest,
    /// Gravity that the style is in balance with, if it is free of sag \[m/s²\].
    pub(crate) gravity: Vec3,
}

/// What is known of the nodes of some lanes when outside forces are asked for. Slices are by node, from the
/// root.
pub(crate) struct NodeStates<'a, L> {
    /// The batch: which strands and vertices its lanes are.
    pub(crate) strip: &'a Strip,
    /// The first of the lanes.
    pub(crate) at: usize,
    /// Number of the iteration in this solve.
    pub(crate) iteration: usize,
    /// Positions \[m\].
    pub(crate) x: &'a [V3<L>],
    /// Positions before the step \[m\].
    pub(crate) old: &'a [V3<L>],
    /// Mean mass of the strand's nodes over c dt² \[N/m\]: a spring of this stiffness is as stiff as inertia.
    pub(crate) stiffness: L,
    /// To be added to: gradients \[N\] and Hessians \[N/m\].
    pub(crate) pull: &'a mut [Pull<L>],
    /// [`NodeForces::memory`] numbers a node, 0 at the first iteration, then as they were left.
    pub(crate) memory: &'a mut [L],
}

/// Forces on nodes from outside: obstacles, grips, hair of other strands, wind.
pub(crate) trait NodeForces: Sync {
    /// Numbers a node that are remembered from iteration to iteration.
    fn memory(&self) -> usize {
        0
    }

    /// Whether anything acts on these strands.
    fn acts_on(&self, strip: &Strip) -> bool;

    /// Adds the gradient and the Hessian of an energy at every node.
    fn add<L: Lanes>(&self, nodes: NodeStates<'_, L>);
}

/// No forces.
#[cfg(test)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoForces;

#[cfg(test)]
impl NodeForces for NoForces {
    fn acts_on(&self, _: &Strip) -> bool {
        false
    }

    fn add<L: Lanes>(&self, _: NodeStates<'_, L>) {}
}

/// One step to solve. Arrays of nodes are in the order of the groom; fourth components are not used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StrandStep<'a, F> {
    /// Where nodes would go without elasticity and limits \[m\]; where held ones go.
    pub(crate) goal: &'a [Quad],
    /// Positions before the step \[m\].
    pub(crate) old: &'a [Quad],
    /// Factor on the mass of each node; empty for none.
    pub(crate) inertia: &'a [f32],
    /// c dt² \[s²\], over the factor of drag: dt² for backward Euler, 4/9 dt² for BDF2.
    pub(crate) c_dt2: f32,
    /// Direction m₁ of the first segment of each strand at the end of the step, as [`Strands::root_frame`]
    /// turned with the root. It is held where both ends of the segment are; none, or 0: as it was before.
    pub(crate) root_frames: Option<&'a [Quad]>,
    /// Forces from outside.
    pub(crate) forces: &'a F,
    /// Most iterations of Newton's method.
    pub(crate) iterations: usize,
    /// Whether strands that do not converge in these are left to ADMM: not where more passes follow.
    pub(crate) is_last: bool,
}

impl<F> StrandStep<'_, F> {
    /// Most iterations, unless the caller has other needs: 20 leave 12 % of the steps of shaken curls
    /// unconverged, 30 leave 0.3 %.
    pub(crate) const ITERATIONS: usize = 30;
}

/// Scratch memory of solves.
#[derive(Debug)]
pub(crate) struct StrandScratch {
    threads: Vec<ThreadScratch>,
}

/// Where points lie along a curve that visits neighbours after each other (Morton's), 1024 places a side.
fn places(points: &[Vec3]) -> Vec<u32> {
    let bounds =
        points.iter().fold([Vec3::INFINITY, Vec3::NEG_INFINITY], |[low, high], &p| [low.min(p), high.max(p)]);
    let scale = 1023.0 / (bounds[1] - bounds[0]).max_element().max(f32::MIN_POSITIVE);
    let spread = |value: f32| (0..10).fold(0, |bits, k| bits | (value as u32 >> k & 1) << (3 * k));
    let place = |p: &Vec3| {
        let [x, y, z] = ((p - bounds[0]) * scale).to_array();
        spread(x) | spread(y) << 1 | spread(z) << 2
    };
    points.iter().map(place).collect()
}

/// Strands in batches: what does not change.
#[derive(Clone, Debug)]
pub(crate) struct Strands {
    strips: Strips,
    rods: Vec<Rods>,
    /// The part of each batch in what is kept.
    parts: Vec<Range<usize>>,
    band: StretchBand,
    /// Directions m₁ of first segments, as strands are styled, by strand.
    roots: Vec<Vec3>,
    masses: Vec<f32>,
    report: RestReport,
}

impl Strands {
    /// Builds tables. Numbers must be finite, and counts must match.
    pub(crate) fn new(setup: &StrandSetup<'_>) -> Self {
        let made = Made {
            density: setup.density.into(),
            young: setup.young.into(),
            shear: setup.shear.into(),
            gravity: setup.gravity.as_dvec3(),
        };
        let pieces: Vec<Range<usize>> = strands_of(setup.counts).collect();
        let fit = |own: Range<usize>| {
            let mut report = RestReport::default();
            let x: Vec<DVec3> = setup.positions[own.clone()].iter().map(|x| x.as_dvec3()).collect();
            let radii: Vec<f64> = setup.radii[own.clone()].iter().map(|&r| r.into()).collect();
            let whole = StrandRest::new(&x, &radii, &made, setup.rest, &mut report);
            let first = pieces.partition_point(|piece| piece.start < own.start);
            let pieces = pieces[first..].iter().take_while(|piece| piece.end <= own.end);
            let pieces = pieces.map(|piece| piece.start - own.start..piece.end - own.start);
            let rests: Vec<StrandRest> = pieces.map(|piece| whole.piece(&x, piece)).collect();
            (rests, report)
        };
        let wholes: Vec<Range<usize>> = strands_of(setup.whole).collect();
        let fitted: Vec<(Vec<StrandRest>, RestReport)> = wholes.into_par_iter().map(fit).collect();
        let (rests, reports): (Vec<Vec<StrandRest>>, Vec<RestReport>) = fitted.into_iter().unzip();
        let rests: Vec<StrandRest> = rests.into_iter().flatten().collect();
        let report = reports.iter().fold(RestReport::default(), |all, one| all.with(one));
        let roots: Vec<Vec3> = pieces.iter().map(|own| setup.positions[own.start]).collect();
        let strips = Strips::new(setup.counts, &places(&roots));
        let limits = [setup.bend, setup.twist];
        let rods: Vec<Rods> = strips
            .batches()
            .par_iter()
            .map(|strip| Rods::new(std::array::from_fn(|lane| &rests[strip.number(lane)]), limits))
            .collect();
        let mut end = 0;
        let parts = rods
            .iter()
            .map(|rods| {
                let begin = end;
                end += BATCH * rods.kept_rows();
                begin..end
            })
            .collect();
        Self {
            strips,
            rods,
            parts,
            band: StretchBand::new(setup.stretch),
            roots: rests.iter().map(|rest| rest.frame.as_vec3()).collect(),
            masses: rests.iter().flat_map(|rest| rest.mass.iter().map(|&mass| mass as f32)).collect(),
            report,
        }
    }

    /// Mass of every node \[kg\].
    pub(crate) fn masses(&self) -> &[f32] {
        &self.masses
    }

    /// What became of rest shapes.
    pub(crate) fn report(&self) -> RestReport {
        self.report
    }

    /// Direction m₁ of the first segment of a strand as it is styled: turned with the root, it is what
    /// [`StrandStep::root_frames`] takes.
    pub(crate) fn root_frame(&self, strand: usize) -> Vec3 {
        self.roots[strand]
    }

    /// Whether any strand has material frames, so that root frames matter.
    pub(crate) fn has_frames(&self) -> bool {
        self.rods.iter().any(|rods| rods.is_curly)
    }

    /// Floats that are kept from step to step.
    pub(crate) fn kept_count(&self) -> usize {
        self.parts.last().map_or(0, |part| part.end)
    }

    /// What is kept, at the start: no tension, no twist, roots as they are styled.
    pub(crate) fn begin(&self, kept: &mut [f32]) {
        for ((strip, rods), part) in self.strips.batches().iter().zip(&self.rods).zip(&self.parts) {
            let kept = &mut kept[part.clone()];
            kept.fill(0.0);
            if rods.is_curly {
                let root = 2 * rods.segments() * BATCH;
                for lane in 0..BATCH {
                    let frame = self.roots[strip.number(lane)].to_array();
                    (0..3).for_each(|c| kept[root + c * BATCH + lane] = frame[c]);
                }
            }
        }
    }

    /// Scratch memory for this many threads and forces that remember `memory` numbers a node.
    pub(crate) fn scratch(&self, threads: usize, memory: usize) -> StrandScratch {
        let nodes = self.rods.iter().map(|rods| rods.nodes).max().unwrap_or(0);
        let one = || ThreadScratch {
            rows: vec![Row::splat(0.0); work::rows(nodes, memory)],
            points: Vec::with_capacity(nodes),
            solved: Solved::default(),
        };
        StrandScratch { threads: (0..threads.max(1)).map(|_| one()).collect() }
    }

    /// Solves a step. `x` holds the first guess \[m\], best where old positions go with the root, and inverse
    /// masses, 0 where held; then the result. `kept` is what [`Strands::begin`] began.
    pub(crate) fn solve<F: NodeForces>(
        &self,
        threads: &Threads,
        kind: LaneKind,
        step: &StrandStep<'_, F>,
        (x, kept): (&mut [Quad], &mut [f32]),
        scratch: &mut StrandScratch,
    ) -> Solved {
        scratch.threads.iter_mut().for_each(|scratch| scratch.solved = Solved::default());
        let parts = (kept, &self.parts[..]);
        self.strips.each(threads, &mut scratch.threads, x, parts, |k, scratch, x, kept| {
            run(kind, BatchSolve { rods: &self.rods[k], band: &self.band, step, x, kept, scratch });
        });
        let mut solved = Solved::default();
        scratch.threads.iter().for_each(|scratch| solved.add(&scratch.solved));
        solved
    }
}
