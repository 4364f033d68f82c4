//! The strain limit of triangles, in batches of lanes (W1, W3).

use super::{
    colored::{SharedQuads, lanes_of, offsets_of},
    weave::WeaveLanes,
};
use crate::{
    Projection,
    kernel::{
        lanes::{BATCH, Lanes, VertexOffset, Work},
        real::{V3, add},
        strain::{Projected, Range, limit_strain_gradient, limit_strain_paper, strain_residual},
        weave::{Limits, WeaveRange},
    },
};

/// One triangle with its limits.
#[derive(Clone, Copy, Debug)]
pub struct StrainElement {
    /// Vertices.
    pub vertices: [u32; 3],
    /// Inverse of the rest edge matrix \[1/m\].
    pub rest: [f32; 3],
    /// Allowed stretches in all directions, unless `weave` says otherwise.
    pub range: Range<f32>,
    /// Allowed stretches along warp, weft and bias.
    pub weave: Option<WeaveRange<f32>>,
    /// Weight of its correction in a Jacobi iteration.
    pub share: f32,
}

impl StrainElement {
    /// Whether there is a lower limit in any direction.
    pub fn has_lower_limit(&self) -> bool {
        match &self.weave {
            None => self.range.min > 0.0,
            Some(weave) => [weave.warp, weave.weft, weave.bias].iter().any(|range| range.min > 0.0),
        }
    }
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

/// [`BATCH`] triangles side by side with limits along warp, weft and bias.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct WovenBatch {
    triangles: StrainBatch,
    weave: WeaveLanes,
}

impl WovenBatch {
    /// As [`StrainBatch::pack`].
    pub fn pack(indices: &[u32], elements: &[StrainElement], spare: u32) -> Self {
        Self {
            triangles: StrainBatch::pack(indices, elements, spare),
            weave: WeaveLanes::pack(indices, elements),
        }
    }
}

/// Triangles side by side with limits of some kind: which kind is settled once for all of them.
pub trait LimitedBatch: Sync {
    /// The kind of limits.
    type Limits<L: Lanes>: Limits<L>;

    /// The triangles.
    fn triangles(&self) -> &StrainBatch;

    /// Limits of some lanes.
    fn limits<L: Lanes>(&self, at: usize) -> Self::Limits<L>;
}

impl LimitedBatch for StrainBatch {
    type Limits<L: Lanes> = Range<L>;

    #[inline(always)]
    fn triangles(&self) -> &StrainBatch {
        self
    }

    #[inline(always)]
    fn limits<L: Lanes>(&self, at: usize) -> Range<L> {
        Range { min: L::load(&self.min, at), max: L::load(&self.max, at) }
    }
}

impl LimitedBatch for WovenBatch {
    type Limits<L: Lanes> = WeaveRange<L>;

    #[inline(always)]
    fn triangles(&self) -> &StrainBatch {
        &self.triangles
    }

    #[inline(always)]
    fn limits<L: Lanes>(&self, at: usize) -> WeaveRange<L> {
        self.weave.limits(at)
    }
}

#[inline(always)]
fn position<L: Lanes>(quad: &[L; 4]) -> V3<L> {
    [quad[0], quad[1], quad[2]]
}

#[inline(always)]
fn project<L: Lanes, B: LimitedBatch, const PAPER: bool>(
    quads: &[[L; 4]; 3],
    batch: &B,
    at: usize,
    relaxation: L,
) -> Option<Projected<L>> {
    let x = [position(&quads[0]), position(&quads[1]), position(&quads[2])];
    let w = [quads[0][3], quads[1][3], quads[2][3]];
    if PAPER {
        limit_strain_paper(&x, w, batch.triangles().rest(at), batch.limits::<L>(at), relaxation)
    } else {
        limit_strain_gradient(&x, w, batch.triangles().rest(at), batch.limits::<L>(at), relaxation)
    }
}

/// Projects every triangle of some batches of one colour, in place. Gives the largest residual met.
pub struct SweepStrain<'a, B = StrainBatch> {
    /// Batches of one colour.
    pub batches: &'a [B],
    /// Positions, and inverse mass as fourth component.
    pub x: SharedQuads,
    /// How one triangle is projected.
    pub projection: Projection,
    /// Factor on the corrections.
    pub relaxation: f32,
}

impl<B: LimitedBatch> SweepStrain<'_, B> {
    #[inline(always)]
    unsafe fn sweep<L: Lanes, const PAPER: bool>(&self) -> f32 {
        let relaxation = L::splat(self.relaxation);
        let mut worst = L::splat(0.0);
        for batch in self.batches {
            let triangles = batch.triangles();
            for at in (0..BATCH).step_by(L::WIDTH) {
                // SAFETY: indices are of vertices of the world, and elements of a colour share none.
                let quads = unsafe { triangles.gather::<L>(self.x, at) };
                let Some(p) = project::<L, B, PAPER>(&quads, batch, at, relaxation) else { continue };
                worst = worst.max(p.residual);
                for k in 0..3 {
                    let [x, y, z] = add(position(&quads[k]), p.moves[k]);
                    // SAFETY: as above.
                    unsafe { L::scatter(self.x.base(), &triangles.vertices[k], at, [x, y, z, quads[k][3]]) };
                }
            }
        }
        worst.largest()
    }
}

impl<B: LimitedBatch> Work for SweepStrain<'_, B> {
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

/// Adds the weighted correction of every triangle of some batches of one colour to `moves`. Gives the largest
/// residual.
pub struct AccumulateStrain<'a, B = StrainBatch> {
    /// Batches of one colour.
    pub batches: &'a [B],
    /// Positions, and inverse mass as fourth component; read only.
    pub x: SharedQuads,
    /// Where corrections are summed.
    pub moves: SharedQuads,
    /// How one triangle is projected.
    pub projection: Projection,
    /// Factor on the corrections.
    pub relaxation: f32,
}

impl<B: LimitedBatch> AccumulateStrain<'_, B> {
    #[inline(always)]
    unsafe fn accumulate<L: Lanes, const PAPER: bool>(&self) -> f32 {
        let mut worst = L::splat(0.0);
        for batch in self.batches {
            let triangles = batch.triangles();
            for at in (0..BATCH).step_by(L::WIDTH) {
                // SAFETY: indices are of vertices of the world, and elements of a colour share none.
                let quads = unsafe { triangles.gather::<L>(self.x, at) };
                let relaxation = L::splat(self.relaxation) * L::load(&triangles.share, at);
                let Some(p) = project::<L, B, PAPER>(&quads, batch, at, relaxation) else { continue };
                worst = worst.max(p.residual);
                for k in 0..3 {
                    // SAFETY: as above.
                    unsafe {
                        let sum = L::gather(self.moves.base(), &triangles.vertices[k], at);
                        let [x, y, z] = add(position(&sum), p.moves[k]);
                        L::scatter(self.moves.base(), &triangles.vertices[k], at, [x, y, z, sum[3]]);
                    }
                }
            }
        }
        worst.largest()
    }
}

impl<B: LimitedBatch> Work for AccumulateStrain<'_, B> {
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
pub struct CheckStrain<'a, B = StrainBatch> {
    /// Any batches.
    pub batches: &'a [B],
    /// Positions.
    pub x: SharedQuads,
}

impl<B: LimitedBatch> Work for CheckStrain<'_, B> {
    type Output = f32;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> f32 {
        let mut worst = L::splat(0.0);
        for batch in self.batches {
            let triangles = batch.triangles();
            for at in (0..BATCH).step_by(L::WIDTH) {
                // SAFETY: indices are of vertices of the world; nobody writes meanwhile.
                let quads = unsafe { triangles.gather::<L>(self.x, at) };
                let x = [position(&quads[0]), position(&quads[1]), position(&quads[2])];
                worst = worst.max(strain_residual(&x, triangles.rest(at), batch.limits::<L>(at)));
            }
        }
        worst.largest()
    }
}
