//! What each tetrahedron does by itself in an iteration, in lanes, and its dual from step to step.

use super::Weight;
use super::{
    super::{
        corners::{Pulls, put},
        strain::warm::Way,
        volume::mean,
    },
    DUALS,
};
use crate::{
    element::tetrahedron::TetrahedronElement,
    exec::batch::{Over, lanes_of},
    kernel::{
        jacobi3::decompose,
        lanes::{BATCH, Lanes, Work},
        real::{Real, V3, add, dot, scale},
        strain::Range,
        tetrahedron::{
            M3, RestInverse3, clamp_stretches3, ease_stretches3, gradient3, press_stretches3, residual3,
        },
    },
    limit::NO_LIMIT,
    solve::nearest::tuning::{LIMITS_NEAR, SLACK_FORGOTTEN},
};

/// Duals beyond this are the debris of numbers that overflowed; strains are of the order of 1.
const DEBRIS: f32 = 1e6;

/// [`BATCH`] tetrahedra side by side.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct NearestTetrahedron {
    /// Columns of the inverse rest matrix, one after the other.
    pub(crate) rest: [[f32; BATCH]; 9],
    pub(crate) volume: [f32; BATCH],
    pub(crate) range: [[f32; BATCH]; 2],
    pub(crate) elastic: [[f32; BATCH]; 2],
}

impl NearestTetrahedron {
    /// Packs elements with their weights. Lanes that are left get a tetrahedron without volume or limits.
    pub(crate) fn pack(indices: &[u32], elements: &[TetrahedronElement], weights: &[Weight]) -> Self {
        Self {
            rest: std::array::from_fn(|k| lanes_of(indices, 0.0, |e| elements[e].rest[k / 3][k % 3])),
            volume: lanes_of(indices, 0.0, |e| weights[e].volume as f32),
            range: [
                lanes_of(indices, 0.0, |e| elements[e].range.min),
                lanes_of(indices, NO_LIMIT, |e| elements[e].range.max),
            ],
            elastic: [0, 1].map(|k| lanes_of(indices, 0.0, |e| weights[e].elastic[k] as f32)),
        }
    }

    #[inline(always)]
    pub(crate) fn rest<L: Lanes>(&self, at: usize) -> RestInverse3<L> {
        columns(L::load_all(&self.rest, at))
    }

    /// Gives the tetrahedron in lane `lane` other limits.
    pub(crate) fn set_range(&mut self, lane: usize, range: Range<f32>) {
        (self.range[0][lane], self.range[1][lane]) = (range.min, range.max);
    }

    #[inline(always)]
    pub(crate) fn limits<L: Lanes>(&self, at: usize) -> Range<L> {
        Range { min: L::load(&self.range[0], at), max: L::load(&self.range[1], at) }
    }
}

/// Nine numbers as the columns of a matrix.
#[inline(always)]
pub(crate) fn columns<L: Real>(m: [L; 9]) -> M3<L> {
    [[m[0], m[1], m[2]], [m[3], m[4], m[5]], [m[6], m[7], m[8]]]
}

/// What an iteration remembers of a batch.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct TetrahedronState {
    /// Duals: the columns of a gradient.
    pub dual: [[f32; BATCH]; 9],
    /// How far limits give way: see [`Tetrahedra::give_way`].
    pub slack: [f32; BATCH],
    /// Residuals past the limits, as they were last measured.
    pub residuals: [f32; BATCH],
    /// The largest of them.
    pub worst: f32,
    /// Their sum.
    pub sum: f32,
    /// Largest residual past limits that have given way.
    pub beyond: f32,
    /// Whether the step began with a stretch that is near a limit, or past it ([`LIMITS_NEAR`]).
    pub is_near: bool,
    /// Stretches before pressure and limits, if volumes are kept.
    pub eased: [[f32; BATCH]; 3],
    /// Pressures that would mend the volumes that these come to, weighted as in the matrix.
    pub lacks: [f32; BATCH],
    /// Volume gained since rest, weighted as in the matrix, as it was last measured.
    pub gains: [f32; BATCH],
}

impl TetrahedronState {
    /// Limits as far as they have given way.
    #[inline(always)]
    pub(crate) fn given_way<L: Lanes>(&self, limits: Range<L>, at: usize) -> Range<L> {
        // Stretches below nothing are no shape, whatever gives way.
        let slack = L::load(&self.slack, at);
        Range { min: (limits.min - slack).max(L::splat(0.0)), max: limits.max + slack }
    }

    #[inline(always)]
    pub(crate) fn note(&mut self, mut residuals: [f32; BATCH]) {
        self.residuals = residuals;
        (self.worst, self.beyond) = (0.0, 0.0);
        for k in 0..BATCH {
            self.worst = <f32 as Real>::max(self.worst, residuals[k]);
            self.beyond = <f32 as Real>::max(self.beyond, residuals[k] - self.slack[k]);
        }
        // By halves, so that the order does not depend on the width of the lanes.
        for half in [8, 4, 2, 1] {
            for k in 0..half {
                residuals[k] += residuals[k + half];
            }
        }
        self.sum = residuals[0];
    }
}

/// One iteration of some batches.
pub struct ClampTetrahedra<'a> {
    /// Tetrahedra.
    pub batches: Over<'a, NearestTetrahedron, 4>,
    /// Their duals and residuals.
    pub states: &'a mut [TetrahedronState],
    /// Where their pulls go.
    pub pulls: &'a mut [Pulls<4>],
    /// κ.
    pub stiffness: f32,
    /// Factor on the duals as they come.
    pub rescale: f32,
    /// Whether they are elastic inside their limits.
    pub elastic: bool,
    /// Factor on their stiffness.
    pub stiffening: f32,
    /// Whether to measure residuals.
    pub measure: bool,
}

impl Work for ClampTetrahedra<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let (zero, rescale, kappa) = (L::splat(0.0), L::splat(self.rescale), L::splat(self.stiffness));
        for ((batch, state), pulls) in self.batches.iter().zip(self.states).zip(self.pulls) {
            let mut residuals = [0.0; BATCH];
            for at in (0..BATCH).step_by(L::WIDTH) {
                let x: [V3<L>; 4] = batch.corners(at);
                let (rest, limits) = (batch.rest::<L>(at), batch.limits::<L>(at));
                if self.measure {
                    residual3(&x, &rest, limits).store(&mut residuals, at);
                }
                let mut u = columns(L::load_all(&state.dual, at));
                let mut f = gradient3(&x, &rest);
                for k in 0..3 {
                    u[k] = scale(u[k], rescale);
                    f[k] = add(f[k], u[k]);
                }
                let limits = state.given_way(limits, at);
                let mut moduli: [L; 2] = L::load_all(&batch.elastic, at);
                if self.stiffening > 1.0 {
                    moduli = moduli.map(|modulus| modulus * L::splat(self.stiffening));
                }
                let [mu, lambda] = moduli;
                let clamped = if let Some(pressures) = batch.second_corners(at) {
                    Some(press_stretches3(&f, limits, [mu, lambda, kappa], mean(&pressures)))
                } else if self.elastic {
                    Some(ease_stretches3(&f, limits, mu, lambda, kappa))
                } else {
                    clamp_stretches3(&f, limits)
                };
                let moved = match clamped {
                    Some(moved) => guarded(moved),
                    None => [[zero; 3]; 3],
                };
                let weight = L::load(&batch.volume, at) * kappa;
                let mut pull = [[zero; 3]; 3];
                for k in 0..3 {
                    for j in 0..3 {
                        (zero - moved[k][j]).store(&mut state.dual[3 * k + j], at);
                        pull[k][j] = (moved[k][j] + moved[k][j] + u[k][j]) * weight;
                    }
                }
                // P Bᵀ: the pull at corner i + 1 is P times row i of the inverse.
                let mut sum = [zero; 3];
                for i in 0..3 {
                    let mut corner = scale(pull[0], rest[0][i]);
                    for k in 1..3 {
                        corner = add(corner, scale(pull[k], rest[k][i]));
                    }
                    sum = add(sum, corner);
                    put(&mut pulls[i + 1], at, corner);
                }
                put(&mut pulls[0], at, scale(sum, L::splat(-1.0)));
            }
            if self.measure {
                state.note(residuals);
            }
        }
    }
}

/// Nothing in lanes where something is not a number or absurd.
#[inline(always)]
fn guarded<L: Lanes>(moved: M3<L>) -> M3<L> {
    let zero = L::splat(0.0);
    let mut size = zero;
    for k in 0..3 {
        for j in 0..3 {
            size = size + moved[k][j].abs();
        }
    }
    let sane = size.le(L::splat(DEBRIS));
    let mut kept = moved;
    for k in 0..3 {
        for j in 0..3 {
            kept[k][j] = L::select(sane, moved[k][j], zero);
        }
    }
    kept
}

/// Turns the duals of some batches, and measures residuals.
pub struct TurnSolidDuals<'a> {
    /// Tetrahedra.
    pub batches: Over<'a, NearestTetrahedron, 4>,
    /// Their duals.
    pub states: &'a mut [TetrahedronState],
    /// What is kept of them.
    pub kept: &'a mut [f32],
    /// Which way.
    pub way: Way,
    /// Factor on the way.
    pub factor: f32,
    /// Factor on how far limits gave way, on the way in.
    pub slack: f32,
}

/// The rotation of a gradient: U Vᵀ, which is never a reflection.
#[inline(always)]
fn rotation3<L: Real>(f: &M3<L>) -> M3<L> {
    let d = decompose(f);
    let mut r = [[L::splat(0.0); 3]; 3];
    for k in 0..3 {
        for j in 0..3 {
            r[k][j] = d.u[0][j] * d.v[0][k] + d.u[1][j] * d.v[1][k] + d.u[2][j] * d.v[2][k];
        }
    }
    r
}

/// The part of `limits` that is not near them.
#[inline(always)]
fn middle<L: Real>(limits: Range<L>) -> Range<L> {
    let (one, part) = (L::splat(1.0), L::splat(LIMITS_NEAR));
    Range { min: one + (limits.min - one) * part, max: one + (limits.max - one) * part }
}

/// Where the entries of a symmetric matrix are kept.
const SYMMETRIC: [[usize; 3]; 3] = [[0, 1, 2], [1, 3, 4], [2, 4, 5]];

impl Work for TurnSolidDuals<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let (zero, half, factor) = (L::splat(0.0), L::splat(0.5), L::splat(self.factor));
        for ((batch, state), kept) in
            self.batches.iter().zip(self.states).zip(self.kept.chunks_exact_mut(DUALS))
        {
            let (kept, _) = kept.as_chunks_mut::<BATCH>();
            let mut residuals = [0.0; BATCH];
            state.is_near = false;
            for at in (0..BATCH).step_by(L::WIDTH) {
                let x: [V3<L>; 4] = batch.corners(at);
                let rest = batch.rest::<L>(at);
                let r = rotation3(&gradient3(&x, &rest));
                residual3(&x, &rest, batch.limits(at)).store(&mut residuals, at);
                match self.way {
                    Way::Begin => {
                        let near = residual3(&x, &rest, middle(batch.limits(at)));
                        state.is_near |= L::any(zero.lt(near));
                        let slack = L::load(&kept[6], at) * L::splat(self.slack);
                        let sane = slack.le(L::splat(1.0)) & L::splat(SLACK_FORGOTTEN).le(slack);
                        L::select(sane, slack, zero).store(&mut state.slack, at);
                        let mut s = [zero; 6];
                        let mut size = zero;
                        for k in 0..6 {
                            s[k] = L::load(&kept[k], at) * factor;
                            size = size + s[k].abs();
                        }
                        let sane = size.le(L::splat(DEBRIS));
                        for k in 0..3 {
                            let mut column = scale(r[0], s[SYMMETRIC[0][k]]);
                            for j in 1..3 {
                                column = add(column, scale(r[j], s[SYMMETRIC[j][k]]));
                            }
                            for j in 0..3 {
                                L::select(sane, column[j], zero).store(&mut state.dual[3 * k + j], at);
                            }
                        }
                    }
                    Way::End => {
                        L::load(&state.slack, at).store(&mut kept[6], at);
                        let u = columns(L::load_all(&state.dual, at));
                        for i in 0..3 {
                            for k in i..3 {
                                let both = dot(r[i], u[k]) + dot(r[k], u[i]);
                                (both * half * factor).store(&mut kept[SYMMETRIC[i][k]], at);
                            }
                        }
                    }
                }
            }
            state.note(residuals);
        }
    }
}
