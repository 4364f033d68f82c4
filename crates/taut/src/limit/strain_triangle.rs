//! The strain limit of triangles, in batches of lanes (W1, W3).

use super::colored::{SharedQuads, lanes_of, offsets_of};
use crate::{
    Projection,
    kernel::{
        lanes::{BATCH, Lanes, VertexOffset, Work},
        real::{V3, add},
        strain::{Projected, Range, limit_strain_gradient, limit_strain_paper, strain_residual},
    },
};

/// One triangle with its limits.
#[derive(Clone, Copy, Debug)]
pub struct StrainElement {
    /// Vertices.
    pub vertices: [u32; 3],
    /// Inverse of the rest edge matrix \[1/m\].
    pub rest: [f32; 3],
    /// Allowed stretches.
    pub range: Range<f32>,
    /// Weight of its correction in a Jacobi iteration.
    pub share: f32,
}

/// [`BATCH`] triangles side by side.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct StrainBatch {
    vertices: [[VertexOffset; BATCH]; 3],
    rest: [[f32; BATCH]; 3],
    min: [f32; BATCH],
    max: [f32; BATCH],
    share: [f32; BATCH],
}

impl StrainBatch {
    /// Packs elements; lanes that are left get a triangle of the vertex `spare`, which is inside its limits.
    pub fn pack(indices: &[u32], elements: &[StrainElement], spare: u32) -> Self {
        let rest = |k: usize, fill: f32| lanes_of(indices, fill, |e| elements[e].rest[k]);
        Self {
            vertices: [0, 1, 2].map(|k| offsets_of(indices, spare, |e| elements[e].vertices[k])),
            rest: [rest(0, 1.0), rest(1, 0.0), rest(2, 1.0)],
            min: lanes_of(indices, 0.0, |e| elements[e].range.min),
            max: lanes_of(indices, super::NO_LIMIT, |e| elements[e].range.max),
            share: lanes_of(indices, 0.0, |e| elements[e].share),
        }
    }

    #[inline(always)]
    fn rest<L: Lanes>(&self, at: usize) -> [L; 3] {
        [L::load(&self.rest[0], at), L::load(&self.rest[1], at), L::load(&self.rest[2], at)]
    }

    #[inline(always)]
    fn range<L: Lanes>(&self, at: usize) -> Range<L> {
        Range { min: L::load(&self.min, at), max: L::load(&self.max, at) }
    }

    /// # Safety
    /// As [`Lanes::gather`].
    #[inline(always)]
    unsafe fn gather<L: Lanes>(&self, x: SharedQuads, at: usize) -> [[L; 4]; 3] {
        // SAFETY: the caller's promise.
        unsafe {
            [
                L::gather(x.base(), &self.vertices[0], at),
                L::gather(x.base(), &self.vertices[1], at),
                L::gather(x.base(), &self.vertices[2], at),
            ]
        }
    }
}

#[inline(always)]
fn position<L: Lanes>(quad: &[L; 4]) -> V3<L> {
    [quad[0], quad[1], quad[2]]
}

#[inline(always)]
fn project<L: Lanes, const PAPER: bool>(
    quads: &[[L; 4]; 3],
    batch: &StrainBatch,
    at: usize,
    relaxation: L,
) -> Option<Projected<L>> {
    let x = [position(&quads[0]), position(&quads[1]), position(&quads[2])];
    let w = [quads[0][3], quads[1][3], quads[2][3]];
    if PAPER {
        limit_strain_paper(&x, w, batch.rest(at), batch.range(at), relaxation)
    } else {
        limit_strain_gradient(&x, w, batch.rest(at), batch.range(at), relaxation)
    }
}

/// Projects every triangle of some batches of one colour, in place. Gives the largest residual met.
pub struct SweepStrain<'a> {
    /// Batches of one colour.
    pub batches: &'a [StrainBatch],
    /// Positions, and inverse mass as fourth component.
    pub x: SharedQuads,
    /// How one triangle is projected.
    pub projection: Projection,
    /// Factor on the corrections.
    pub relaxation: f32,
}

impl SweepStrain<'_> {
    #[inline(always)]
    unsafe fn sweep<L: Lanes, const PAPER: bool>(&self) -> f32 {
        let relaxation = L::splat(self.relaxation);
        let mut worst = L::splat(0.0);
        for batch in self.batches {
            for at in (0..BATCH).step_by(L::WIDTH) {
                // SAFETY: indices are of vertices of the world, and elements of a colour share none.
                let quads = unsafe { batch.gather::<L>(self.x, at) };
                let Some(p) = project::<L, PAPER>(&quads, batch, at, relaxation) else { continue };
                worst = worst.max(p.residual);
                for k in 0..3 {
                    let [x, y, z] = add(position(&quads[k]), p.moves[k]);
                    // SAFETY: as above.
                    unsafe { L::scatter(self.x.base(), &batch.vertices[k], at, [x, y, z, quads[k][3]]) };
                }
            }
        }
        worst.largest()
    }
}

impl Work for SweepStrain<'_> {
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

/// Adds the weighted correction of every triangle of some batches of one colour to `moves`. Gives the largest residual.
pub struct AccumulateStrain<'a> {
    /// Batches of one colour.
    pub batches: &'a [StrainBatch],
    /// Positions, and inverse mass as fourth component; read only.
    pub x: SharedQuads,
    /// Where corrections are summed.
    pub moves: SharedQuads,
    /// How one triangle is projected.
    pub projection: Projection,
    /// Factor on the corrections.
    pub relaxation: f32,
}

impl AccumulateStrain<'_> {
    #[inline(always)]
    unsafe fn accumulate<L: Lanes, const PAPER: bool>(&self) -> f32 {
        let mut worst = L::splat(0.0);
        for batch in self.batches {
            for at in (0..BATCH).step_by(L::WIDTH) {
                // SAFETY: indices are of vertices of the world, and elements of a colour share none.
                let quads = unsafe { batch.gather::<L>(self.x, at) };
                let relaxation = L::splat(self.relaxation) * L::load(&batch.share, at);
                let Some(p) = project::<L, PAPER>(&quads, batch, at, relaxation) else { continue };
                worst = worst.max(p.residual);
                for k in 0..3 {
                    // SAFETY: as above.
                    unsafe {
                        let sum = L::gather(self.moves.base(), &batch.vertices[k], at);
                        let [x, y, z] = add(position(&sum), p.moves[k]);
                        L::scatter(self.moves.base(), &batch.vertices[k], at, [x, y, z, sum[3]]);
                    }
                }
            }
        }
        worst.largest()
    }
}

impl Work for AccumulateStrain<'_> {
    type Output = f32;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> f32 {
        // SAFETY: the caller's promise.
        unsafe {
            match self.projection {
                Projection::Gradient => self.accumulate::<L, false>(),
                Projection::Paper => self.accumulate::<L, true>(),
            }
        }
    }
}

/// The largest residual of some batches; nothing moves.
pub struct CheckStrain<'a> {
    /// Any batches.
    pub batches: &'a [StrainBatch],
    /// Positions.
    pub x: SharedQuads,
}

impl Work for CheckStrain<'_> {
    type Output = f32;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> f32 {
        let mut worst = L::splat(0.0);
        for batch in self.batches {
            for at in (0..BATCH).step_by(L::WIDTH) {
                // SAFETY: indices are of vertices of the world; nobody writes meanwhile.
                let quads = unsafe { batch.gather::<L>(self.x, at) };
                let x = [position(&quads[0]), position(&quads[1]), position(&quads[2])];
                worst = worst.max(strain_residual(&x, batch.rest(at), batch.range(at)));
            }
        }
        worst.largest()
    }
}
