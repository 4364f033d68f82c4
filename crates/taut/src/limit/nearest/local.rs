//! The part of an iteration that each triangle does by itself: clamp, update its dual, pull at its vertices.

use crate::{
    kernel::{
        clamp::clamp_stretches,
        lanes::{BATCH, Lanes, Quad, VertexOffset, Work},
        real::{Real, V3, add, combine, scale},
        strain::{Range, strain_residual},
        svd2::deformation_gradient,
    },
    limit::{
        NO_LIMIT,
        colored::{SharedQuads, lanes_of, offsets_of},
        strain_triangle::StrainElement,
    },
};

/// [`BATCH`] triangles side by side, in the order of their vertices: they need no colours.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct NearestBatch {
    vertices: [[VertexOffset; BATCH]; 3],
    rest: [[f32; BATCH]; 3],
    area: [f32; BATCH],
    min: [f32; BATCH],
    max: [f32; BATCH],
}

impl NearestBatch {
    /// Packs elements with their `areas` \[m²\]; vertices count from `first`. Lanes that are left get a triangle without
    /// area or limits.
    pub fn pack(indices: &[u32], elements: &[StrainElement], areas: &[f64], first: u32) -> Self {
        Self {
            vertices: [0, 1, 2].map(|k| offsets_of(indices, 0, |e| elements[e].vertices[k] - first)),
            rest: [0, 1, 2].map(|k| lanes_of(indices, 0.0, |e| elements[e].rest[k])),
            area: lanes_of(indices, 0.0, |e| areas[e] as f32),
            min: lanes_of(indices, 0.0, |e| elements[e].range.min),
            max: lanes_of(indices, NO_LIMIT, |e| elements[e].range.max),
        }
    }
}

/// What an iteration remembers of a batch.
#[derive(Clone, Debug, Default)]
#[repr(C, align(64))]
pub struct BatchState {
    /// Duals: both columns of a gradient.
    pub dual: [[f32; BATCH]; 6],
    /// Largest residual past the limits.
    pub worst: f32,
    /// Sum of the residuals.
    pub sum: f32,
}

/// Pulls of the elements of a batch at their corners.
pub type Pulls<const K: usize = 3> = [[Quad; BATCH]; K];

/// Where the lanes of a batch go in one corner's [`Pulls`].
const IN_ORDER: [VertexOffset; BATCH] = {
    let mut offsets = [VertexOffset::new(0); BATCH];
    let mut k = 0;
    while k < BATCH {
        offsets[k] = VertexOffset::new(k as u32);
        k += 1;
    }
    offsets
};

/// Duals beyond this are the debris of numbers that overflowed; strains are of the order of 1.
const DEBRIS: f32 = 1e6;

/// One iteration of some batches: f = Bx + u, p = f clamped, pulls κ A Bᵀ(2 (p − f) + u), u ← f − p.
pub struct ClampTriangles<'a> {
    /// Triangles.
    pub batches: &'a [NearestBatch],
    /// Their duals and residuals.
    pub states: &'a mut [BatchState],
    /// Where their pulls go.
    pub pulls: &'a mut [Pulls],
    /// Positions; nobody writes meanwhile.
    pub x: SharedQuads,
    /// κ.
    pub stiffness: f32,
    /// Factor on the duals as they come.
    pub rescale: f32,
    /// Whether to measure residuals.
    pub measure: bool,
}

impl Work for ClampTriangles<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) {
        let (zero, rescale, kappa) = (L::splat(0.0), L::splat(self.rescale), L::splat(self.stiffness));
        for ((batch, state), pulls) in self.batches.iter().zip(self.states).zip(self.pulls) {
            let mut residuals = [0.0; BATCH];
            for at in (0..BATCH).step_by(L::WIDTH) {
                // SAFETY: indices are of vertices of the body; nobody writes meanwhile.
                let x = unsafe { L::corners(self.x.base(), &batch.vertices, at) };
                let rest: [L; 3] = L::load_all(&batch.rest, at);
                let range = Range { min: L::load(&batch.min, at), max: L::load(&batch.max, at) };
                if self.measure {
                    strain_residual(&x, rest, range).store(&mut residuals, at);
                }
                let [a, b, c, d, e, f]: [L; 6] = L::load_all(&state.dual, at);
                let u = [scale([a, b, c], rescale), scale([d, e, f], rescale)];
                let g = deformation_gradient(&x, rest);
                let g = [add(g[0], u[0]), add(g[1], u[1])];
                let moved = match clamp_stretches(&g, range) {
                    Some(moved) => guarded(moved),
                    None => [[zero; 3]; 2],
                };
                let weight = L::load(&batch.area, at) * kappa;
                let mut pull = [[zero; 3]; 2];
                for k in 0..2 {
                    for j in 0..3 {
                        (zero - moved[k][j]).store(&mut state.dual[3 * k + j], at);
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
                state.worst = residuals.iter().fold(0.0, |worst, &r| <f32 as Real>::max(worst, r));
                // By halves, so that the order does not depend on the width of the lanes.
                for half in [8, 4, 2, 1] {
                    for k in 0..half {
                        residuals[k] += residuals[k + half];
                    }
                }
                state.sum = residuals[0];
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

/// Writes the pulls at one corner.
#[inline(always)]
pub(super) fn put<L: Lanes>(pulls: &mut [Quad; BATCH], at: usize, pull: V3<L>) {
    // SAFETY: the offsets are those of a batch, which is ours alone.
    unsafe { L::scatter(pulls.as_mut_ptr(), &IN_ORDER, at, [pull[0], pull[1], pull[2], L::splat(0.0)]) }
}
