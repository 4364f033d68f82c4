//! Bending as a part of the filter: what hinges pull while limits are met, where cloth touches.
//!
//! The velocity update is explicit, and carries the bending of a fine mesh only in hundreds of substeps;
//! softened to what a few can carry, cloth that piles up would crumple like foil. So here the state that is
//! looked for minimises ½ (x − x₀)ᵀ M (x − x₀) + dt² W(x), implicitly. W = ½ k c |K x − t|², with the linear
//! map K of [bend limits](super::bend): |K x| is 2 sin(θ/2), so that W is the hinge's energy for small bends
//! (quadratic bending, as Bergou and others have it for flat cloth), and t the same of the rest shape, along
//! the hinge's normal of the moment. K is constant, and goes into the matrix.

use super::{
    bend::mean_normal,
    local::{Pulls, put},
    tables::Corners,
};
use crate::{
    hierarchy::multigrid::StiffHinge,
    kernel::{
        dihedral::dihedral,
        lanes::{BATCH, Lanes, VertexOffset, Work},
        real::{V3, add, combine, scale, sub},
    },
    limit::colored::{SharedQuads, lanes_of, offsets_of},
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
        super::bend::hinge_map(self.feet, self.hinge.heights)
    }
}

/// Hinges of a filter that bend inside it.
#[derive(Clone, Debug, Default)]
pub struct Folds {
    pub(super) batches: Vec<FoldBatch>,
    /// Places of each vertex in the pulls of all batches.
    pub(super) corners: Corners,
}

/// [`BATCH`] hinges side by side.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct FoldBatch {
    vertices: [[VertexOffset; BATCH]; 4],
    /// K.
    map: [[f32; BATCH]; 4],
    /// dt² k c in units of the mean mass.
    weight: [f32; BATCH],
    /// 2 sin(θ₀/2).
    rest: [f32; BATCH],
    /// Whether any of them is bent at rest.
    curved: bool,
}

impl Folds {
    /// Tables of `elements`, whose vertices count from `first`, of a filter of `count` vertices; `unit` is
    /// dt² over the mean mass \[s²/kg\].
    pub fn new(elements: &[FoldElement], first: u32, count: usize, unit: f64) -> Self {
        let indices: Vec<u32> = (0..elements.len() as u32).collect();
        let pack = |indices: &[u32]| {
            let rest = lanes_of(indices, 0.0, |e| 2.0 * elements[e].hinge.rest_sin_half);
            FoldBatch {
                vertices: [0, 1, 2, 3]
                    .map(|k| offsets_of(indices, 0, |e| elements[e].hinge.vertices[k] - first)),
                map: [0, 1, 2, 3].map(|k| lanes_of(indices, 0.0, |e| elements[e].map()[k] as f32)),
                weight: lanes_of(indices, 0.0, |e| (unit * f64::from(elements[e].hinge.stiffness)) as f32),
                curved: rest.iter().any(|r| r.abs() > 1e-6),
                rest,
            }
        };
        let vertices: Vec<[u32; 4]> = elements.iter().map(|e| e.hinge.vertices.map(|v| v - first)).collect();
        Self { batches: indices.chunks(BATCH).map(pack).collect(), corners: Corners::new(count, &vertices) }
    }
}

/// What hinges add to the matrix beside the mass.
pub fn stiff_folds(elements: &[FoldElement], first: u32, unit: f64) -> Vec<StiffHinge> {
    let stiff =
        |e: &FoldElement| (e.hinge.vertices.map(|v| v - first), e.map(), unit * f64::from(e.hinge.stiffness));
    elements.iter().map(stiff).collect()
}

/// The pulls −dt² k c Kᵀ (K x − t) of some batches.
pub struct PullFolds<'a> {
    /// Hinges.
    pub batches: &'a [FoldBatch],
    /// Where their pulls go.
    pub pulls: &'a mut [Pulls<4>],
    /// Positions; nobody writes meanwhile.
    pub x: SharedQuads,
}

impl Work for PullFolds<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let zero = L::splat(0.0);
        for (batch, pulls) in self.batches.iter().zip(self.pulls) {
            for at in (0..BATCH).step_by(L::WIDTH) {
                // SAFETY: indices are of vertices of the filter; nobody writes meanwhile.
                let x: [V3<L>; 4] = unsafe { L::corners(self.x.base(), &batch.vertices, at) };
                let map: [L; 4] = L::load_all(&batch.map, at);
                let wings = combine(sub(x[2], x[0]), map[2], sub(x[3], x[0]), map[3]);
                let mut bent = add(wings, scale(sub(x[1], x[0]), map[1]));
                if batch.curved {
                    let d = dihedral(&x);
                    let n = mean_normal(&x, d.sin_half, zero.lt(zero));
                    bent = add(bent, scale(n, L::load(&batch.rest, at)));
                }
                let pull = scale(bent, zero - L::load(&batch.weight, at));
                for k in 0..4 {
                    put(&mut pulls[k], at, scale(pull, map[k]));
                }
            }
        }
    }
}
