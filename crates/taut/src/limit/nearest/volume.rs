//! One-ring volumes as a block of the filter (W13; Irving, Schroeder and Fedkiw 2007): the volume around every vertex, that of the
//! tetrahedra that share it, stays what it is at rest.
//!
//! Volumes of single tetrahedra cannot all be kept: there are more of them than unknowns, and the body would lock. There is one
//! ring a vertex, with a pressure for its multiplier. With e = V/V₀ − 1 of a ring, one iteration is
//!
//! ```text
//! e of every ring                       summed by vertex in a fixed order
//! e ← 2 e − W e                         W: mean over a ring of the means of its tetrahedra; makes up for what they share
//! π ← π + ρ e;  q = (π + ρ e) / κ       as duals of other blocks do
//! pulls − κ V₀ q̄ cof F                  of every tetrahedron, q̄ the mean of its corners' q
//! ```
//!
//! The paper projects velocities, by a solve of its own in every step. Here pressures settle while strains do, in the same iterations; the matrix stays as it is, since
//! κ L bounds what ρ < κ/3 adds to it; ρ = κ/2 diverges (a linearised augmented Lagrangian). Pressures go from step to step with the other duals. They are scalars: nothing turns them.
//! Forces are gradients of volumes, so momentum is kept.

use super::{Scratch, VERTEX_GRAIN, tables::Filter, tetrahedra::NearestTetrahedron};
use crate::{
    kernel::{
        lanes::{BATCH, Lanes, Quad, Work, run},
        real::{Real, V3, cross, dot},
        tetrahedron::{M3, gradient3},
    },
    limit::{Settings, colored::SharedQuads},
};

/// ρ over κ.
const RHO: f32 = 0.25;

/// Largest error of a ring that counts: predictions may be wild.
const MOST: f32 = 0.5;

/// Largest pressure, in units of κ at the ramp's factor 1: what cannot be met should not wind up without end.
const WOUND: f32 = 3.0;

/// Largest q: the second derivative of volume is indefinite, and pressures beyond κ would outweigh the matrix.
const STRONGEST: f32 = 1.0;

/// Entries of a gradient, in sum, beyond which its element feels no pressure: cofactors are squares.
const WILD: f32 = 30.0;

/// Batches below which a loop is not shared between threads.
const GRAIN: usize = 32;

/// Memory of the block.
#[derive(Clone, Debug, Default)]
pub struct Volumes {
    /// How much volume each tetrahedron has gained, weighted as in the matrix.
    gains: Vec<[f32; BATCH]>,
    /// By vertex: q, π, e of its ring, and e with what is shared made up for.
    rings: Vec<Quad>,
}

impl Volumes {
    /// For a filter of `batches` tetrahedra and `count` vertices.
    pub fn new(batches: usize, count: usize) -> Self {
        Self { gains: vec![[0.0; BATCH]; batches], rings: vec![[0.0; 4]; count] }
    }

    /// Takes `factor` times what was kept of the last step's duals.
    pub fn take(&mut self, kept: &[f32], factor: f32) {
        for (ring, kept) in self.rings.iter_mut().zip(kept) {
            ring[1] = if kept.abs() <= WOUND { factor * kept } else { 0.0 };
        }
    }

    /// Keeps the pressures.
    pub fn keep(&self, kept: &mut [f32]) {
        for (ring, kept) in self.rings.iter().zip(kept) {
            *kept = ring[1];
        }
    }

    /// Largest relative error of a ring, as it was last measured.
    pub fn worst(&self) -> f32 {
        self.rings.iter().fold(0.0f32, |worst, ring| worst.max(ring[2].abs()))
    }

    /// q of all vertices, for [`pressure`]; none where no volume is kept.
    pub fn shared(&mut self) -> Option<SharedQuads> {
        (!self.rings.is_empty()).then(|| SharedQuads::new(&mut self.rings))
    }
}

/// What belongs to the rings of a filter: for every vertex the inverse of the weighted volume around it; 0 where it is not kept, or nothing can
/// change it. Empty if no ring is kept.
pub fn inverse_rings(tetrahedra: &[([u32; 4], f64, bool)], masses: &[f32]) -> Vec<f32> {
    if !tetrahedra.iter().any(|(_, _, kept)| *kept) {
        return Vec::new();
    }
    let mut rings = vec![(0.0, false); masses.len()];
    for (vertices, volume, _) in tetrahedra.iter().filter(|(_, _, kept)| *kept) {
        let free = vertices.iter().any(|&v| masses[v as usize] > 0.0);
        for &v in vertices {
            let (sum, moves) = &mut rings[v as usize];
            *sum += volume;
            *moves |= free;
        }
    }
    rings.into_iter().map(|(sum, moves)| if moves { (1.0 / sum) as f32 } else { 0.0 }).collect()
}

impl Filter {
    /// Whether volumes are kept.
    pub(super) fn keeps_volumes(&self) -> bool {
        !self.rings.is_empty()
    }

    /// Errors and pressures of all rings, with κ of the ramp's factor `c`.
    pub(super) fn press(&self, settings: &Settings, x: SharedQuads, scratch: &mut Scratch, c: f32) {
        if !self.keeps_volumes() {
            return;
        }
        let Volumes { gains, rings } = &mut scratch.volumes;
        settings.threads.each(gains, GRAIN, |first, gains| {
            let batches = &self.tetrahedra.batches[first..first + gains.len()];
            run(settings.lanes, Gain { batches, gains, x });
        });
        let flat = gains.as_flattened();
        settings.threads.each(rings, VERTEX_GRAIN, |first, rings| {
            for (k, ring) in rings.iter_mut().enumerate() {
                ring[2] = self.around(first + k, flat);
                ring[3] = <f32 as Real>::clamp(ring[2], -MOST, MOST);
            }
        });
        let shared: &[Quad] = rings;
        settings.threads.each(gains, GRAIN, |first, gains| {
            let batches = &self.tetrahedra.batches[first..first + gains.len()];
            for (batch, gains) in batches.iter().zip(gains) {
                for (lane, gain) in gains.iter_mut().enumerate() {
                    let e = |k: usize| shared[batch.vertices[k][lane].index()][3];
                    *gain = 0.25 * batch.volume[lane] * ((e(0) + e(1)) + (e(2) + e(3)));
                }
            }
        });
        let flat = gains.as_flattened();
        settings.threads.each(rings, VERTEX_GRAIN, |first, rings| {
            for (k, ring) in rings.iter_mut().enumerate() {
                let counted = <f32 as Real>::clamp(ring[2], -MOST, MOST);
                ring[3] += counted - self.around(first + k, flat);
            }
        });
        settings.threads.each(rings, VERTEX_GRAIN, |_, rings| {
            for ring in rings {
                let step = RHO * c * ring[3];
                ring[1] = <f32 as Real>::clamp(ring[1] + step, -WOUND, WOUND);
                ring[0] = <f32 as Real>::clamp((ring[1] + step) / c, -STRONGEST, STRONGEST);
            }
        });
    }

    /// The mean around vertex `i` of what is given by tetrahedron; 0 where it does not count.
    #[inline(always)]
    fn around(&self, i: usize, weighted: &[f32]) -> f32 {
        let inverse = self.rings[i];
        if inverse <= 0.0 {
            return 0.0;
        }
        let mut sum = 0.0;
        for &c in self.tetrahedra.corners.of(i) {
            sum += weighted[element_of(c)];
        }
        sum * inverse
    }

    /// Largest relative error of a ring at `x`, measured anew.
    pub fn ring_error(&self, x: &[Quad]) -> f32 {
        let mut worst = 0.0f32;
        for (i, &inverse) in self.rings.iter().enumerate().filter(|(_, inverse)| **inverse > 0.0) {
            let corners = self.tetrahedra.corners.of(i);
            let gain: f32 = corners.iter().map(|&c| self.tetrahedra.gain(element_of(c), x)).sum();
            worst = <f32 as Real>::max(worst, (gain * inverse).abs());
        }
        worst
    }
}

/// The tetrahedron that a place in the pulls belongs to.
fn element_of(corner: u32) -> usize {
    let (block, lane) = (corner as usize / BATCH, corner as usize % BATCH);
    block / 4 * BATCH + lane
}

/// How much volume some batches have gained.
struct Gain<'a> {
    batches: &'a [NearestTetrahedron],
    gains: &'a mut [[f32; BATCH]],
    /// Positions; nobody writes meanwhile.
    x: SharedQuads,
}

impl Work for Gain<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) {
        for (batch, gains) in self.batches.iter().zip(self.gains) {
            for at in (0..BATCH).step_by(L::WIDTH) {
                // SAFETY: indices are of vertices of the filter; nobody writes meanwhile.
                let x: [V3<L>; 4] = unsafe { L::corners(self.x.base(), &batch.vertices, at) };
                let f = gradient3(&x, &batch.rest::<L>(at));
                gain(&f, L::load(&batch.volume, at)).store(gains, at);
            }
        }
    }
}

/// V₀ (det F − 1).
#[inline(always)]
pub(super) fn gain<R: Real>(f: &M3<R>, volume: R) -> R {
    (dot(f[0], cross(f[1], f[2])) - R::splat(1.0)) * volume
}

/// What the pressures q of its corners add to the pull of an element with gradient `f`, before its weight.
#[inline(always)]
pub(super) fn pressure<R: Real>(f: &M3<R>, q: &[V3<R>; 4]) -> M3<R> {
    let (zero, mut size) = (R::splat(0.0), R::splat(0.0));
    for k in 0..3 {
        for j in 0..3 {
            size = size + f[k][j].abs();
        }
    }
    let mean = ((q[0][0] + q[1][0]) + (q[2][0] + q[3][0])) * R::splat(-0.25);
    let mean = R::select(size.le(R::splat(WILD)), mean, zero);
    let mut pull = [cross(f[1], f[2]), cross(f[2], f[0]), cross(f[0], f[1])];
    for k in 0..3 {
        for j in 0..3 {
            // Absurd gradients overflow: 0 times that is no number.
            let entry = pull[k][j].clamp(R::splat(-WILD * WILD), R::splat(WILD * WILD));
            pull[k][j] = entry * mean;
        }
    }
    pull
}
