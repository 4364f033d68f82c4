//! Jumps of nonconforming triangles as a term: how far the corners of two triangles may come apart at the
//! ends of their edge.
//!
//! Triangles that agree at midpoints alone may turn about these against each other: without this term corners
//! at sharp folds are up to 0.8 edges apart, and what is shown in their mean stretches by tens of per cent.
//! With a limit of 0.1 edges they are not, and cloth bends as freely. With 0 triangles would be conforming.
//!
//! With J = C x, a constant linear map of four points: f = J + u; p = f shortened to the limit; pull w κ Cᵀ
//! (2 (p − f) + u), u ← f − p, with w a part of (A₁ + A₂) / 3ℓ². C is 0 for what is linear over vertices, so
//! that coarse levels know nothing of it.

use std::sync::Arc;

use super::{
    Block, Excess, Stage, Step, Term,
    corners::{Pulling, WeightedCorners, put},
};
use crate::{
    exec::batch::{Batches, Over, lanes_of},
    hierarchy::multigrid::{Stiff, StiffHinge},
    kernel::{
        lanes::{BATCH, Lanes, Quad, Work, run},
        real::{V3, add, dot, scale, sub},
    },
    solve::nearest::tuning::{BATCH_GRAIN, JUMP_PAST, JUMP_PATIENCE, JUMP_WEIGHT, WARM_START},
};

/// A jump, of points of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JumpElement {
    /// Points.
    pub vertices: [u32; 4],
    /// C; its entries sum to 0.
    pub map: [f32; 4],
    /// What |J| may be \[m\].
    pub most: f32,
    /// (A₁ + A₂) / 3ℓ², times what makes κ right for its body.
    pub weight: f32,
}

/// A batch of jumps.
#[derive(Clone, Debug, PartialEq)]
#[repr(C, align(64))]
struct JumpBatch {
    map: [[f32; BATCH]; 4],
    most: [f32; BATCH],
    weight: [f32; BATCH],
}

/// What an iteration remembers of a batch.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
struct JumpState {
    dual: [[f32; BATCH]; 3],
    /// The largest |J| over what it may be.
    worst: f32,
    /// Whether any of them pulls. If not, all their pulls are 0.
    pulls: bool,
}

/// Floats that are kept of a batch.
const KEPT: usize = 3 * BATCH;

/// The jumps of a filter.
#[derive(Clone, Debug)]
pub struct Jumps {
    batches: Batches<JumpBatch, 4>,
    corners: WeightedCorners,
    /// What they add to the matrix.
    stiff: Vec<StiffHinge>,
}

impl Jumps {
    /// The block of `elements`, if there are any.
    pub(crate) fn block(elements: &[JumpElement], first: u32, count: usize) -> Option<Arc<dyn Block>> {
        (!elements.is_empty()).then(|| Arc::new(Self::new(elements, first, count)) as Arc<dyn Block>)
    }

    /// Tables of `elements`, whose points count from `first`; the filter has `count`.
    pub fn new(elements: &[JumpElement], first: u32, count: usize) -> Self {
        let pack = |indices: &[u32]| JumpBatch {
            map: [0, 1, 2, 3].map(|k| lanes_of(indices, 0.0, |e| elements[e].map[k])),
            most: lanes_of(indices, 1.0, |e| elements[e].most),
            weight: lanes_of(indices, 0.0, |e| JUMP_WEIGHT * elements[e].weight),
        };
        let vertices: Vec<[u32; 4]> = elements.iter().map(|e| e.vertices.map(|v| v - first)).collect();
        let maps: Vec<[f32; 4]> = elements.iter().map(|e| e.map).collect();
        let stiff = elements
            .iter()
            .zip(&vertices)
            .map(|(e, &vertices)| (vertices, e.map.map(f64::from), f64::from(JUMP_WEIGHT * e.weight)));
        Self {
            stiff: stiff.collect(),
            batches: Batches::pack(count, 0, &vertices, pack),
            corners: WeightedCorners::new(count, &vertices, &maps),
        }
    }
}

impl Block for Jumps {
    fn name(&self) -> &'static str {
        "jumps"
    }

    fn kept(&self) -> usize {
        self.batches.len() * KEPT
    }

    fn matrix<'a>(&'a self, stiff: &mut Stiff<'a>) {
        stiff.hinges.push(&self.stiff);
    }

    fn term(self: Arc<Self>) -> Box<dyn Term> {
        Box::new(JumpTerm {
            states: vec![JumpState::default(); self.batches.len()],
            pulls: vec![[[0.0; 4]; BATCH]; self.batches.len()],
            pulling: vec![false; self.batches.len()],
            everywhere: vec![true; self.corners.vertex_count()],
            rescale: 1.0,
            tables: self,
        })
    }
}

/// Duals of the jumps of a filter.
#[derive(Debug)]
struct JumpTerm {
    tables: Arc<Jumps>,
    states: Vec<JumpState>,
    /// What each pulls, but for C.
    pulls: Vec<[Quad; BATCH]>,
    /// By batch: whether any of its jumps pulls.
    pulling: Vec<bool>,
    everywhere: Vec<bool>,
    /// Factor on the duals in the next iteration.
    rescale: f32,
}

impl Term for JumpTerm {
    fn begin(&mut self, _step: &Step, _x: &mut [Quad], kept: &mut [f32]) {
        for (state, kept) in self.states.iter_mut().zip(kept.chunks_exact(KEPT)) {
            let dual = state.dual.as_flattened_mut();
            dual.iter_mut().zip(kept).for_each(|(dual, kept)| *dual = WARM_START * kept);
        }
    }

    fn enter(&mut self, _step: &Step, _x: &[Quad], _kept: &[f32], stage: &Stage) {
        self.rescale = 1.0 / stage.c;
    }

    fn rescale(&mut self, growth: f32) {
        self.rescale = 1.0 / growth;
    }

    fn local(&mut self, step: &Step, x: &mut [Quad], stage: &Stage, _look: bool) {
        let Self { tables, states, pulls, pulling, rescale, .. } = self;
        let (jumps, settings) = (tables.batches.over(x), step.settings);
        let (stiffness, rescale) = (stage.kappa, std::mem::replace(rescale, 1.0));
        settings.threads.each_pair(states, pulls, BATCH_GRAIN, |first, states, pulls| {
            let batches = jumps.part(first..first + states.len());
            run(settings.lanes, ShortenJumps { batches, states, pulls, stiffness, rescale });
        });
        pulling.iter_mut().zip(states).for_each(|(pulling, state)| *pulling = state.pulls);
    }

    fn pulling<'a>(&'a self, _x: &'a [Quad]) -> Option<Pulling<'a>> {
        Some(Pulling::weighted(&self.tables.corners, &self.pulls, Some([&self.pulling, &self.everywhere])))
    }

    /// A step does not end with jumps far past their limit, but waits for them only so long.
    fn measure(&self, _step: &Step, _x: &[Quad], iteration: u32, excess: &mut Excess) {
        let worst = self.states.iter().map(|state| state.worst).fold(0.0, f32::max);
        excess.unmet |= worst > JUMP_PAST && iteration < JUMP_PATIENCE;
    }

    fn end(&mut self, _step: &Step, _x: &mut [Quad], stage: &Stage, kept: &mut [f32]) {
        for (state, kept) in self.states.iter().zip(kept.chunks_exact_mut(KEPT)) {
            let dual = state.dual.as_flattened();
            kept.iter_mut().zip(dual).for_each(|(kept, dual)| *kept = dual * stage.c);
        }
    }
}

/// One iteration of some batches.
struct ShortenJumps<'a> {
    batches: Over<'a, JumpBatch, 4>,
    states: &'a mut [JumpState],
    pulls: &'a mut [[Quad; BATCH]],
    stiffness: f32,
    rescale: f32,
}

impl Work for ShortenJumps<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let (zero, one, tiny) = (L::splat(0.0), L::splat(1.0), L::splat(1e-20));
        let (rescale, kappa) = (L::splat(self.rescale), L::splat(self.stiffness));
        for ((batch, state), pulls) in self.batches.iter().zip(self.states).zip(self.pulls) {
            let (mut worst, mut strength) = (zero, zero);
            let did_pull = state.pulls;
            for at in (0..BATCH).step_by(L::WIDTH) {
                let x: [V3<L>; 4] = batch.corners(at);
                let map: [L; 4] = L::load_all(&batch.map, at);
                let part = |k: usize| scale(sub(x[k], x[0]), map[k]);
                let jump = add(add(part(1), part(2)), part(3));
                let most = L::load(&batch.most, at);
                worst = worst.max(dot(jump, jump).sqrt() / most);
                let dual: [L; 3] = L::load_all(&state.dual, at);
                let u = scale(dual, rescale);
                let f = add(jump, u);
                let length = dot(f, f).sqrt().max(tiny);
                let excess = one - most / length;
                // Not in lanes where something is not a number.
                let part = L::select(zero.lt(excess), excess, zero);
                let past = scale(f, part);
                for (k, past) in past.iter().enumerate() {
                    past.store(&mut state.dual[k], at);
                }
                let weight = L::load(&batch.weight, at) * kappa;
                let pull = scale(sub(u, add(past, past)), weight);
                let amount = dot(pull, pull);
                strength = strength.max(amount);
                if did_pull || amount.largest() > 0.0 {
                    put(pulls, at, pull);
                }
            }
            state.worst = worst.largest();
            state.pulls = strength.largest() > 0.0;
        }
    }
}
