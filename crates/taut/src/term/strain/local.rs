//! The part of an iteration that each triangle does by itself: clamp, update its dual, pull at its vertices.

use super::{
    super::corners::{Pulls, put},
    law::{LawKind, LawsOver},
};
use crate::{
    element::{triangle::StrainElement, woven::WeaveLanes},
    exec::batch::{Over, lanes_of},
    kernel::{
        clamp::{clamp_stretches, clamp_stretches_facing},
        lanes::{BATCH, Lanes, Work},
        membrane::{relax_isotropic, relax_woven},
        real::{Real, V3, add, combine, scale},
        strain::{Range, strain_residual},
        svd2::{RestInverse, deformation_gradient},
        weave::{Limits, WeaveRange},
    },
    limit::NO_LIMIT,
};

/// [`BATCH`] triangles side by side, in the order of their vertices: they need no colours.
#[derive(Clone, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct NearestBatch {
    pub(crate) rest: [[f32; BATCH]; 3],
    pub(crate) area: [f32; BATCH],
    pub(crate) min: [f32; BATCH],
    pub(crate) max: [f32; BATCH],
}

impl NearestBatch {
    /// Packs elements with their `areas` \[m²\]. Lanes that are left get a triangle without area or limits.
    pub fn pack(indices: &[u32], elements: &[StrainElement], areas: &[f64]) -> Self {
        Self {
            rest: [0, 1, 2].map(|k| lanes_of(indices, 0.0, |e| elements[e].rest[k])),
            area: lanes_of(indices, 0.0, |e| areas[e] as f32),
            min: lanes_of(indices, 0.0, |e| elements[e].range.min),
            max: lanes_of(indices, NO_LIMIT, |e| elements[e].range.max),
        }
    }

    /// Rest inverses of some lanes.
    #[inline(always)]
    pub(crate) fn rest<L: Lanes>(&self, at: usize) -> RestInverse<L> {
        L::load_all(&self.rest, at)
    }
}

/// Where the limits of some batches are: a body has one kind for all its triangles.
pub(crate) trait LimitSource: Copy {
    /// The kind of limits.
    type Limits<L: Lanes>: Limits<L>;

    /// Limits of some lanes of batch `b`, of the batches at hand.
    fn limits<L: Lanes>(self, b: usize, at: usize) -> Self::Limits<L>;
}

/// The same in all directions.
impl LimitSource for Over<'_, NearestBatch, 3> {
    type Limits<L: Lanes> = Range<L>;

    #[inline(always)]
    fn limits<L: Lanes>(self, b: usize, at: usize) -> Range<L> {
        Range { min: L::load(&self.data(b).min, at), max: L::load(&self.data(b).max, at) }
    }
}

/// Along warp, weft and bias.
impl LimitSource for &[WeaveLanes] {
    type Limits<L: Lanes> = WeaveRange<L>;

    #[inline(always)]
    fn limits<L: Lanes>(self, b: usize, at: usize) -> WeaveRange<L> {
        self[b].limits(at)
    }
}

/// In what form an iteration finds or leaves duals u, where p is what was asked for and α the
/// over-relaxation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// u.
    Dual,
    /// u, and p beside it.
    Both,
    /// u − (α − 1) p: half of the memory, but of use only to the next iteration with the same κ.
    Mixed,
}

/// What an iteration remembers of a batch.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct BatchState {
    /// Duals, or what holds them: both columns of a gradient.
    pub dual: [[f32; BATCH]; 6],
    /// Normals that triangles with a lower limit have to face.
    pub facing: [[f32; BATCH]; 3],
    /// What was asked for in the last iteration, if that is held: both columns of a gradient.
    pub asked: [[f32; BATCH]; 6],
    /// By how much lower and upper limits have given way: see [`Strain::give_way`](super::Strain::give_way).
    pub slack: [[f32; BATCH]; 2],
    /// Residuals past the limits as they were given, of both, and of upper ones alone.
    pub residuals: [[f32; BATCH]; 2],
    /// Largest residual past the limits as they were given.
    pub worst: f32,
    /// Sum of these residuals.
    pub sum: f32,
    /// Largest residual past the limits as far as they have given way.
    pub beyond: f32,
}

impl BatchState {
    /// Limits of some lanes, as far as they have given way.
    #[inline(always)]
    fn widen<L: Lanes, M: Limits<L>>(&self, given: M, at: usize) -> M {
        let [below, above]: [L; 2] = L::load_all(&self.slack, at);
        given.widened_by(below, above)
    }

    /// Takes down the residuals of a batch.
    #[inline(always)]
    pub(crate) fn note(&mut self, mut residuals: [f32; BATCH]) {
        self.worst = largest(&residuals);
        self.beyond = self.worst;
        // By halves, so that the order does not depend on the width of the lanes.
        for half in [8, 4, 2, 1] {
            for k in 0..half {
                residuals[k] += residuals[k + half];
            }
        }
        self.sum = residuals[0];
    }

    /// Takes down the residuals of a batch past the limits as they are given, and as far as they have given
    /// way. Without lower limits, all are past upper ones.
    fn note_sides(&mut self, given: [f32; BATCH], beyond: &[f32; BATCH], has_lower: bool) {
        self.residuals[0] = given;
        if !has_lower {
            self.residuals[1] = given;
        }
        self.beyond = largest(beyond);
    }
}

/// The largest of a batch of residuals; nothing counts where something is not a number.
fn largest(residuals: &[f32; BATCH]) -> f32 {
    let mut largest = 0.0;
    for k in 0..BATCH {
        largest = <f32 as Real>::max(largest, residuals[k]);
    }
    largest
}

/// Duals beyond this are the debris of numbers that overflowed; strains are of the order of 1.
const DEBRIS: f32 = 1e6;

/// One iteration of some batches: f = Bx + u, p = f clamped, pulls κ A Bᵀ(2 (p − f) + u), u ← f − p. Where it
/// is over-relaxed by α, f = α Bx + (1 − α) p + u with the p of the iteration before, and f − Bx takes the
/// place of u in the pulls.
pub struct ClampTriangles<'a> {
    /// Triangles.
    pub batches: Over<'a, NearestBatch, 3>,
    /// Their limits along warp, weft and bias, if they have such.
    pub weaves: Option<&'a [WeaveLanes]>,
    /// Their duals and residuals.
    pub states: &'a mut [BatchState],
    /// Where their pulls go.
    pub pulls: &'a mut [Pulls],
    /// κ.
    pub stiffness: f32,
    /// Factor on the duals as they come.
    pub rescale: f32,
    /// Whether triangles have lower limits, and know which way they face.
    pub faced: bool,
    /// Their law inside the limits.
    pub laws: LawsOver<'a>,
    /// Factor on these.
    pub stiffening: f32,
    /// Whether to measure residuals.
    pub measure: bool,
    /// Whether any limits have given way.
    pub given_way: bool,
    /// Over-relaxation; the first iteration of a step, which finds [`Held::Dual`], has none.
    pub over_relaxation: f32,
    /// In what form it finds the duals.
    pub found: Held,
    /// In what form it leaves them.
    pub leaves: Held,
}

impl Work for ClampTriangles<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        match self.weaves {
            None => {
                let batches = self.batches;
                self.clamp::<L, _>(batches);
            }
            Some(weaves) => self.clamp::<L, _>(weaves),
        }
    }
}

impl ClampTriangles<'_> {
    #[inline(always)]
    fn clamp<L: Lanes, S: LimitSource>(self, source: S) {
        let (zero, rescale, kappa) = (L::splat(0.0), L::splat(self.rescale), L::splat(self.stiffness));
        let more = L::splat(self.over_relaxation - 1.0);
        let mut laws = self.laws.at::<L>(self.stiffness, self.stiffening);
        let all = self.batches.iter().zip(self.states).zip(self.pulls).enumerate();
        for (number, ((batch, state), pulls)) in all {
            let mut residuals = [0.0; BATCH];
            let mut beyond = [0.0; BATCH];
            for at in (0..BATCH).step_by(L::WIDTH) {
                let x = batch.corners(at);
                let (rest, given) = (batch.rest::<L>(at), source.limits::<L>(number, at));
                let limits = if self.given_way { state.widen(given, at) } else { given };
                if self.measure {
                    strain_residual(&x, rest, given).store(&mut residuals, at);
                    strain_residual(&x, rest, limits).store(&mut beyond, at);
                }
                if self.measure && self.faced {
                    let upper = given.widened_by(L::splat(NO_LIMIT), zero);
                    strain_residual(&x, rest, upper).store(&mut state.residuals[1], at);
                }
                let g = deformation_gradient(&x, rest);
                let [a, b, c, d, e, f]: [L; 6] = L::load_all(&state.dual, at);
                let mut u = [scale([a, b, c], rescale), scale([d, e, f], rescale)];
                if self.found != Held::Dual {
                    for k in 0..2 {
                        for j in 0..3 {
                            u[k][j] = u[k][j] + more * g[k][j];
                        }
                    }
                }
                if self.found == Held::Both {
                    let asked: [L; 6] = L::load_all(&state.asked, at);
                    for k in 0..2 {
                        for j in 0..3 {
                            u[k][j] = u[k][j] - more * asked[3 * k + j];
                        }
                    }
                }
                let g = [add(g[0], u[0]), add(g[1], u[1])];
                let facing = if self.faced { L::load_all(&state.facing, at) } else { [zero; 3] };
                let clamped = match self.laws.kind {
                    LawKind::Isotropic => {
                        Some(relax_isotropic(&g, limits, laws.isotropic(number, at), facing))
                    }
                    LawKind::Woven => Some(relax_woven(&g, limits, laws.woven(number, at), facing)),
                    LawKind::Free if self.faced => clamp_stretches_facing(&g, limits, facing),
                    LawKind::Free => clamp_stretches(&g, limits),
                };
                let moved = match clamped {
                    Some(moved) => guarded(moved),
                    None => [[zero; 3]; 2],
                };
                let weight = L::load(&batch.area, at) * kappa;
                let mut pull = [[zero; 3]; 2];
                for k in 0..2 {
                    for j in 0..3 {
                        let asked = g[k][j] + moved[k][j];
                        let own = zero - moved[k][j];
                        let left = if self.leaves == Held::Mixed { own - more * asked } else { own };
                        left.store(&mut state.dual[3 * k + j], at);
                        if self.leaves == Held::Both {
                            asked.store(&mut state.asked[3 * k + j], at);
                        }
                        pull[k][j] = (moved[k][j] + moved[k][j] + u[k][j]) * weight;
                    }
                }
                let second = combine(pull[0], rest[0], pull[1], rest[1]);
                let third = scale(pull[1], rest[2]);
                let first = scale(add(second, third), L::splat(-1.0));
                put(&mut pulls[0], at, first);
                put(&mut pulls[1], at, second);
                put(&mut pulls[2], at, third);
            }
            if self.measure {
                state.note(residuals);
                state.note_sides(residuals, &beyond, self.faced);
            }
        }
    }
}

/// Nothing in lanes where something is not a number or absurd.
#[inline(always)]
fn guarded<L: Lanes>(moved: [V3<L>; 2]) -> [V3<L>; 2] {
    let zero = L::splat(0.0);
    let mut size = zero;
    for k in 0..2 {
        for j in 0..3 {
            size = size + moved[k][j].abs();
        }
    }
    let sane = size.le(L::splat(DEBRIS));
    let mut kept = moved;
    for k in 0..2 {
        for j in 0..3 {
            kept[k][j] = L::select(sane, moved[k][j], zero);
        }
    }
    kept
}
