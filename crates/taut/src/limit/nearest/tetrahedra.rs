//! Tetrahedra as a block of the filter: what each does by itself in an iteration, and its dual from step to
//! step.
//!
//! As triangles do, with three stretches in place of two: f = Bx + u, p = f with its stretches drawn to 1 by
//! what the material is worth and then clamped, pulls κ V Bᵀ(2 (p − f) + u), u ← f − p. The sign of the
//! smallest stretch tells which side out an element is, so that inverted ones come back the shortest way. A
//! dual is kept as the symmetric matrix S of u = R S, R the rotation of its element, as [`warm`](super::warm)
//! does.

use super::{
    local::{Pulls, put},
    tables::Corners,
    volume::{gain, mean},
    warm::Way,
};
use crate::{
    hierarchy::multigrid::StiffTetrahedron,
    kernel::{
        jacobi3::decompose,
        lanes::{BATCH, Lanes, Quad, VertexOffset, Work},
        real::{Real, V3, add, dot, scale},
        strain::Range,
        tetrahedron::{
            M3, RestInverse3, clamp_stretches3, ease_stretches3, gradient3, press_stretches3, residual3,
        },
    },
    limit::{
        NO_LIMIT,
        colored::{SharedQuads, lanes_of, offsets_of},
        strain_tetrahedron::TetrahedronElement,
    },
};

/// Floats that are kept of a batch: six of a dual, and how far limits give way.
pub const DUALS: usize = 7 * BATCH;

/// Factor on the mean excess around an element that its limits give way by: a little more than is lost, so
/// that it is enough soon.
const GENEROUS: f32 = 1.1;

/// Mean excess up to which limits are met in the end, given time, however tight the tolerance is.
const LEAST_LOSS: f32 = 0.005;

/// What is less has given way no longer.
const NOTHING: f32 = 1e-3;

/// Duals beyond this are the debris of numbers that overflowed; strains are of the order of 1.
const DEBRIS: f32 = 1e6;

/// Tetrahedra of the bodies of a filter.
#[derive(Clone, Debug, Default)]
pub struct Tetrahedra {
    pub(super) batches: Vec<NearestTetrahedron>,
    pub(super) count: usize,
    /// Places of each vertex in the pulls of all batches.
    pub(super) corners: Corners,
    /// Whether any is elastic inside its limits.
    pub(super) elastic: bool,
}

/// What tetrahedra are to the filter beside their limits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Weight {
    /// Weight in the matrix: rest volume \[m³\]; of several bodies, such that κ is right for each.
    pub volume: f64,
    /// Lamé's second and first parameter inside the limits, in the units of κ.
    pub elastic: [f64; 2],
    /// Whether the volume around its vertices is kept.
    pub keeps_volume: bool,
}

/// [`BATCH`] tetrahedra side by side.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct NearestTetrahedron {
    pub(super) vertices: [[VertexOffset; BATCH]; 4],
    /// Columns of the inverse rest matrix, one after the other.
    rest: [[f32; BATCH]; 9],
    pub(super) volume: [f32; BATCH],
    range: [[f32; BATCH]; 2],
    pub(super) elastic: [[f32; BATCH]; 2],
}

impl Tetrahedra {
    /// Tables of `elements` with their `weights`, whose vertices count from `first`; the filter has `count`
    /// vertices.
    pub fn new(elements: &[TetrahedronElement], weights: &[Weight], first: u32, count: usize) -> Self {
        let indices: Vec<u32> = (0..elements.len() as u32).collect();
        let pack = |indices: &[u32]| NearestTetrahedron {
            vertices: [0, 1, 2, 3].map(|k| offsets_of(indices, 0, |e| elements[e].vertices[k] - first)),
            rest: std::array::from_fn(|k| lanes_of(indices, 0.0, |e| elements[e].rest[k / 3][k % 3])),
            volume: lanes_of(indices, 0.0, |e| weights[e].volume as f32),
            range: [
                lanes_of(indices, 0.0, |e| elements[e].range.min),
                lanes_of(indices, NO_LIMIT, |e| elements[e].range.max),
            ],
            elastic: [0, 1].map(|k| lanes_of(indices, 0.0, |e| weights[e].elastic[k] as f32)),
        };
        let vertices: Vec<[u32; 4]> = elements.iter().map(|e| e.vertices.map(|v| v - first)).collect();
        Self {
            batches: indices.chunks(BATCH).map(pack).collect(),
            count: elements.len(),
            corners: Corners::new(count, &vertices),
            elastic: weights.iter().any(|w| w.elastic != [0.0; 2]),
        }
    }

    /// How much volume tetrahedron `t` has gained, weighted as in the matrix.
    pub(super) fn gain(&self, t: usize, x: &[Quad]) -> f32 {
        let (batch, lane) = (&self.batches[t / BATCH], t % BATCH);
        let corners = batch.vertices.map(|v| x[v[lane].index()]).map(|x| [x[0], x[1], x[2]]);
        gain(&gradient3(&corners, &columns(batch.rest.map(|r| r[lane]))), batch.volume[lane])
    }
}

impl Tetrahedra {
    /// Lets the limits of elements give way where they cannot be met, as when plates press a solid together
    /// by more than it may be: by the mean of what is lost around each, so that error is spread and nothing
    /// is crushed. `around` is room for a number a vertex. `alone`: so do single elements, by what they lost.
    pub fn give_way(&self, states: &mut [TetrahedronState], around: &mut [f32], tolerance: f32, alone: bool) {
        for (i, around) in around.iter_mut().enumerate() {
            let (mut sum, mut count) = (0.0, 0.0);
            for &place in self.corners.of(i) {
                let (batch, lane) = (place as usize / (4 * BATCH), place as usize % BATCH);
                sum += states[batch].residuals[lane];
                count += 1.0;
            }
            *around = if count > 0.0 { sum / count } else { 0.0 };
        }
        for (batch, state) in self.batches.iter().zip(states) {
            for lane in 0..BATCH {
                let mean = batch.vertices.iter().map(|v| around[v[lane].index()]).sum::<f32>() * 0.25;
                let (own, mut slack) = (state.residuals[lane], 0.0);
                if mean > (0.5 * tolerance).max(LEAST_LOSS) {
                    slack = GENEROUS * mean;
                }
                if alone && own > tolerance {
                    slack = own.max(slack);
                }
                state.slack[lane] = slack.min(1.0);
            }
        }
    }
}

impl Tetrahedra {
    /// Takes back limits that gave way, by `factor`, where nothing presses any more: in parts whose limits
    /// gave way and no vertex of which is `touched`. Limits give way by a little more than is lost, so that
    /// without this what was crushed would stay so. `around` is room for a number a vertex.
    pub fn come_back(
        &self,
        states: &mut [TetrahedronState],
        around: &mut [f32],
        factor: f32,
        touched: impl Fn(usize) -> bool,
    ) {
        if states.iter().all(|state| state.slack == [0.0; BATCH]) {
            return;
        }
        for (i, around) in around.iter_mut().enumerate() {
            *around = f32::from(u8::from(touched(i)));
        }
        let mut spreads = true;
        while spreads {
            spreads = false;
            for (batch, state) in self.batches.iter().zip(states.iter()) {
                for lane in (0..BATCH).filter(|&lane| state.slack[lane] > 0.0) {
                    let corners = batch.vertices.map(|v| v[lane].index());
                    let pressed = corners.map(|i| around[i] > 0.0);
                    if pressed.contains(&true) && pressed.contains(&false) {
                        corners.into_iter().for_each(|i| around[i] = 1.0);
                        spreads = true;
                    }
                }
            }
        }
        for (batch, state) in self.batches.iter().zip(states) {
            for lane in 0..BATCH {
                if batch.vertices.iter().all(|v| around[v[lane].index()] <= 0.0) {
                    state.slack[lane] *= factor;
                }
            }
        }
    }
}

/// What tetrahedra add to the matrix.
pub fn stiff_tetrahedra(
    elements: &[TetrahedronElement],
    weights: &[Weight],
    first: u32,
) -> Vec<StiffTetrahedron> {
    let gradients = |e: &TetrahedronElement| {
        // Rows of the inverse are the gradients of the last three shape functions.
        let row = |i: usize| [0, 1, 2].map(|k| f64::from(e.rest[k][i]));
        let rows = [row(0), row(1), row(2)];
        let first = [0, 1, 2].map(|k| -(rows[0][k] + rows[1][k] + rows[2][k]));
        [first, rows[0], rows[1], rows[2]]
    };
    elements
        .iter()
        .zip(weights)
        .map(|(e, w)| (e.vertices.map(|v| v - first), gradients(e), w.volume))
        .collect()
}

impl NearestTetrahedron {
    #[inline(always)]
    pub(super) fn rest<L: Lanes>(&self, at: usize) -> RestInverse3<L> {
        columns(L::load_all(&self.rest, at))
    }

    #[inline(always)]
    pub(super) fn limits<L: Lanes>(&self, at: usize) -> Range<L> {
        Range { min: L::load(&self.range[0], at), max: L::load(&self.range[1], at) }
    }
}

/// Nine numbers as the columns of a matrix.
#[inline(always)]
pub(super) fn columns<L: Real>(m: [L; 9]) -> M3<L> {
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
    pub(super) fn given_way<L: Lanes>(&self, limits: Range<L>, at: usize) -> Range<L> {
        // Stretches below nothing are no shape, whatever gives way.
        let slack = L::load(&self.slack, at);
        Range { min: (limits.min - slack).max(L::splat(0.0)), max: limits.max + slack }
    }

    #[inline(always)]
    fn note(&mut self, mut residuals: [f32; BATCH]) {
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
    pub batches: &'a [NearestTetrahedron],
    /// Their duals and residuals.
    pub states: &'a mut [TetrahedronState],
    /// Where their pulls go.
    pub pulls: &'a mut [Pulls<4>],
    /// Positions; nobody writes meanwhile.
    pub x: SharedQuads,
    /// Pressures of their vertices, if volumes are kept.
    pub pressures: Option<SharedQuads>,
    /// κ.
    pub stiffness: f32,
    /// Factor on the duals as they come.
    pub rescale: f32,
    /// Whether they are elastic inside their limits.
    pub elastic: bool,
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
                // SAFETY: indices are of vertices of the filter; nobody writes meanwhile.
                let x: [V3<L>; 4] = unsafe { L::corners(self.x.base(), &batch.vertices, at) };
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
                let [mu, lambda]: [L; 2] = L::load_all(&batch.elastic, at);
                let clamped = if let Some(q) = self.pressures {
                    // SAFETY: as above, with as many rings as vertices.
                    let pressure = mean(&unsafe { L::corners(q.base(), &batch.vertices, at) });
                    Some(press_stretches3(&f, limits, [mu, lambda, kappa], pressure))
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
    pub batches: &'a [NearestTetrahedron],
    /// Their duals.
    pub states: &'a mut [TetrahedronState],
    /// What is kept of them.
    pub kept: &'a mut [f32],
    /// Positions; nobody writes meanwhile.
    pub x: SharedQuads,
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
            for at in (0..BATCH).step_by(L::WIDTH) {
                // SAFETY: indices are of vertices of the filter; nobody writes meanwhile.
                let x: [V3<L>; 4] = unsafe { L::corners(self.x.base(), &batch.vertices, at) };
                let rest = batch.rest::<L>(at);
                let r = rotation3(&gradient3(&x, &rest));
                residual3(&x, &rest, batch.limits(at)).store(&mut residuals, at);
                match self.way {
                    Way::Begin => {
                        let slack = L::load(&kept[6], at) * L::splat(self.slack);
                        let sane = slack.le(L::splat(1.0)) & L::splat(NOTHING).le(slack);
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
