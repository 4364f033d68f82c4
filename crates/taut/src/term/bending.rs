//! Bending as a term: what hinges pull while limits are met, where the solve is elastic.
//!
//! The velocity update is explicit, and carries the bending of a fine mesh only in hundreds of substeps;
//! softened to what a few can carry, cloth that piles up would crumple like foil. So here the state that is
//! looked for minimises ½ (x − x₀)ᵀ M (x − x₀) + dt² W(x), implicitly. W = ½ k c |K x − t|², with the linear
//! map K of [bend limits](super::bend_limit): |K x| is 2 sin(θ/2), so that W is the hinge's energy for small
//! bends (quadratic bending, as Bergou and others have it for flat cloth), and t the same of the rest shape,
//! along the hinge's normal of the moment. K is constant, and goes into the matrix.

use std::sync::Arc;

use super::{
    Block, Stage, Step, Term,
    bend_limit::{hinge_map, mean_normal},
    corners::{Pulling, WeightedCorners, put},
};
use crate::{
    exec::batch::{Batches, Over, lanes_of},
    hierarchy::multigrid::{Stiff, StiffHinge},
    kernel::{
        dihedral::dihedral,
        lanes::{BATCH, Lanes, Quad, Work, run},
        real::{V3, add, combine, scale, sub},
    },
    solve::nearest::tuning::BATCH_GRAIN,
    velocity::bending::HingeElement,
};

/// One hinge that bends inside the filter.
#[derive(Clone, Copy, Debug)]
pub struct FoldElement {
    /// Vertices, stiffness and rest shape.
    pub hinge: HingeElement,
    /// Where the feet of the two wings are on the edge, from 0 to 1.
    pub feet: [f32; 2],
}

impl FoldElement {
    /// K \[1/m\].
    fn map(&self) -> [f64; 4] {
        hinge_map(self.feet, self.hinge.heights)
    }
}

/// Hinges of a filter that bend inside it. Vertices count from the filter's first.
#[derive(Clone, Debug, Default)]
pub struct Bending {
    batches: Batches<FoldBatch, 4>,
    /// Hinges of each vertex, with its weight in K.
    corners: WeightedCorners,
    /// What they add to the matrix, beside the mass.
    stiff: Vec<StiffHinge>,
}

/// [`BATCH`] hinges side by side.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct FoldBatch {
    /// K.
    map: [[f32; BATCH]; 4],
    /// dt² k c in units of the mean mass.
    weight: [f32; BATCH],
    /// 2 sin(θ₀/2).
    rest: [f32; BATCH],
    /// Whether any of them is bent at rest.
    curved: bool,
}

impl Bending {
    /// Tables of `elements`, whose vertices count from `first`, of a filter of `count` vertices; `unit` is
    /// dt² over the mean mass \[s²/kg\].
    pub fn new(elements: &[FoldElement], first: u32, count: usize, unit: f64) -> Self {
        let pack = |indices: &[u32]| {
            let rest = lanes_of(indices, 0.0, |e| 2.0 * elements[e].hinge.rest_sin_half);
            FoldBatch {
                map: [0, 1, 2, 3].map(|k| lanes_of(indices, 0.0, |e| elements[e].map()[k] as f32)),
                weight: lanes_of(indices, 0.0, |e| (unit * f64::from(elements[e].hinge.stiffness)) as f32),
                curved: rest.iter().any(|r| r.abs() > 1e-6),
                rest,
            }
        };
        let vertices: Vec<[u32; 4]> = elements.iter().map(|e| e.hinge.vertices.map(|v| v - first)).collect();
        let weights: Vec<[f32; 4]> = elements.iter().map(|e| e.map().map(|w| w as f32)).collect();
        Self {
            batches: Batches::pack(count, 0, &vertices, pack),
            corners: WeightedCorners::new(count, &vertices, &weights),
            stiff: stiff_folds(elements, first, unit),
        }
    }
}

impl Block for Bending {
    fn name(&self) -> &'static str {
        "bending"
    }

    fn matrix<'a>(&'a self, stiff: &mut Stiff<'a>) {
        stiff.folds.push(&self.stiff);
    }

    fn term(self: Arc<Self>) -> Box<dyn Term> {
        Box::new(BendingTerm { pulls: vec![[[0.0; 4]; BATCH]; self.batches.len()], tables: self })
    }
}

/// Memory of the bending hinges of a filter.
#[derive(Debug)]
struct BendingTerm {
    tables: Arc<Bending>,
    /// What each pulls, but for the weights of its vertices.
    pulls: Vec<[Quad; BATCH]>,
}

impl Term for BendingTerm {
    fn allows_finish(&self) -> bool {
        true
    }

    fn local(&mut self, step: &Step, x: &mut [Quad], _stage: &Stage, _look: bool) {
        let Self { tables, pulls } = self;
        let (hinges, settings) = (tables.batches.over(x), step.settings);
        settings.threads.each(pulls, BATCH_GRAIN, |first, pulls| {
            let batches = hinges.part(first..first + pulls.len());
            run(settings.lanes, PullFolds { batches, pulls, stiffening: step.stiffening });
        });
    }

    fn pulling<'a>(&'a self, _x: &'a [Quad]) -> Option<Pulling<'a>> {
        Some(Pulling::weighted(&self.tables.corners, &self.pulls, None))
    }
}

/// What hinges add to the matrix beside the mass.
fn stiff_folds(elements: &[FoldElement], first: u32, unit: f64) -> Vec<StiffHinge> {
    let stiff =
        |e: &FoldElement| (e.hinge.vertices.map(|v| v - first), e.map(), unit * f64::from(e.hinge.stiffness));
    elements.iter().map(stiff).collect()
}

/// The pulls −dt² k c Kᵀ (K x − t) of some batches.
struct PullFolds<'a> {
    /// Hinges.
    batches: Over<'a, FoldBatch, 4>,
    /// Where their pulls go, but for K.
    pulls: &'a mut [[Quad; BATCH]],
    /// Factor on their stiffness.
    stiffening: f32,
}

impl Work for PullFolds<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let zero = L::splat(0.0);
        for (batch, pulls) in self.batches.iter().zip(self.pulls) {
            for at in (0..BATCH).step_by(L::WIDTH) {
                let x: [V3<L>; 4] = batch.corners(at);
                let map: [L; 4] = L::load_all(&batch.map, at);
                let wings = combine(sub(x[2], x[0]), map[2], sub(x[3], x[0]), map[3]);
                let mut bent = add(wings, scale(sub(x[1], x[0]), map[1]));
                if batch.curved {
                    let d = dihedral(&x);
                    let n = mean_normal(&x, d.sin_half, zero.lt(zero));
                    bent = add(bent, scale(n, L::load(&batch.rest, at)));
                }
                let weight = L::load(&batch.weight, at) * L::splat(self.stiffening);
                put(pulls, at, scale(bent, zero - weight));
            }
        }
    }
}
