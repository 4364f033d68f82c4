//! The strain limit of tetrahedra, in batches of lanes (W2, W3).

use super::{
    colored::{SharedQuads, lanes_of, offsets_of},
    edge::EdgeWork,
};
use crate::{
    Projection,
    kernel::{
        lanes::{BATCH, Lanes, VertexOffset, Work},
        real::add,
        strain::Range,
        strain3::{limit_strain_gradient3, limit_strain_paper3},
        tetrahedron::{RestInverse3, residual3},
    },
};

/// A tetrahedron with limits.
#[derive(Clone, Copy, Debug)]
pub struct TetrahedronElement {
    /// Vertices.
    pub vertices: [u32; 4],
    /// Columns of the inverse of its rest edges \[1/m\].
    pub rest: [[f32; 3]; 3],
    /// Allowed stretches.
    pub range: Range<f32>,
    /// What of its correction a Jacobi iteration takes.
    pub share: f32,
}

/// [`BATCH`] tetrahedra side by side.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct TetrahedronBatch {
    vertices: [[VertexOffset; BATCH]; 4],
    rest: [[f32; BATCH]; 9],
    min: [f32; BATCH],
    max: [f32; BATCH],
    share: [f32; BATCH],
}

impl TetrahedronBatch {
    /// Packs elements; lanes that are left get a tetrahedron of the vertex `spare`, which does not move: it
    /// is a point of no mass that nobody looks at.
    pub fn pack(indices: &[u32], elements: &[TetrahedronElement], spare: u32) -> Self {
        let unit = |k: usize| if k.is_multiple_of(4) { 1.0 } else { 0.0 };
        Self {
            vertices: [0, 1, 2, 3].map(|k| offsets_of(indices, spare, |e| elements[e].vertices[k])),
            rest: std::array::from_fn(|k| lanes_of(indices, unit(k), |e| elements[e].rest[k / 3][k % 3])),
            // A point has stretches of 0: it is past no limit of these.
            min: lanes_of(indices, NO_LOWER, |e| elements[e].range.min),
            max: lanes_of(indices, super::NO_LIMIT, |e| elements[e].range.max),
            share: lanes_of(indices, 0.0, |e| elements[e].share),
        }
    }

    #[inline(always)]
    fn rest<L: Lanes>(&self, at: usize) -> RestInverse3<L> {
        let [a, b, c, d, e, f, g, h, i]: [L; 9] = L::load_all(&self.rest, at);
        [[a, b, c], [d, e, f], [g, h, i]]
    }

    #[inline(always)]
    fn range<L: Lanes>(&self, at: usize) -> Range<L> {
        Range { min: L::load(&self.min, at), max: L::load(&self.max, at) }
    }
}

/// A lower limit that even an element inside out is not past.
const NO_LOWER: f32 = -1.0;

/// Goes over some batches of tetrahedra of one colour. Gives the largest residual met.
pub struct SweepTetrahedra<'a> {
    /// Batches of one colour (of any colours for a check).
    pub batches: &'a [TetrahedronBatch],
    /// Positions, and inverse mass as fourth component.
    pub x: SharedQuads,
    /// What to do with corrections.
    pub work: EdgeWork,
    /// How one tetrahedron is projected.
    pub projection: Projection,
    /// Factor on the corrections.
    pub relaxation: f32,
}

impl SweepTetrahedra<'_> {
    #[inline(always)]
    unsafe fn sweep<L: Lanes, const PAPER: bool>(&self) -> f32 {
        let mut worst = L::splat(0.0);
        for batch in self.batches {
            for at in (0..BATCH).step_by(L::WIDTH) {
                let (mut x, mut w) = ([[L::splat(0.0); 3]; 4], [L::splat(0.0); 4]);
                for k in 0..4 {
                    // SAFETY: indices are of vertices of the world, and elements of a colour share none.
                    let quad = unsafe { L::gather(self.x.base(), &batch.vertices[k], at) };
                    (x[k], w[k]) = ([quad[0], quad[1], quad[2]], quad[3]);
                }
                let (rest, range) = (batch.rest::<L>(at), batch.range::<L>(at));
                if let EdgeWork::Check = self.work {
                    worst = worst.max(residual3(&x, &rest, range));
                    continue;
                }
                let mut relaxation = L::splat(self.relaxation);
                if let EdgeWork::Accumulate(_) = self.work {
                    relaxation = relaxation * L::load(&batch.share, at);
                }
                let projected = if PAPER {
                    limit_strain_paper3(&x, w, &rest, range, relaxation)
                } else {
                    limit_strain_gradient3(&x, w, &rest, range, relaxation)
                };
                let Some(p) = projected else { continue };
                worst = worst.max(p.residual);
                for k in 0..4 {
                    // SAFETY: as above.
                    unsafe {
                        if let EdgeWork::Accumulate(sums) = self.work {
                            let sum = L::gather(sums.base(), &batch.vertices[k], at);
                            let [a, b, c] = add([sum[0], sum[1], sum[2]], p.moves[k]);
                            L::scatter(sums.base(), &batch.vertices[k], at, [a, b, c, sum[3]]);
                        } else {
                            let [a, b, c] = add(x[k], p.moves[k]);
                            L::scatter(self.x.base(), &batch.vertices[k], at, [a, b, c, w[k]]);
                        }
                    }
                }
            }
        }
        worst.largest()
    }
}

impl Work for SweepTetrahedra<'_> {
    type Output = f32;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> f32 {
        // SAFETY: the caller's promise.
        unsafe {
            match self.projection {
                Projection::Gradient => self.sweep::<L, false>(),
                Projection::Paper => self.sweep::<L, true>(),
            }
        }
    }
}
