//! Deformation of triangles of patches that are curved at rest, 16 at a time, and what it proves of a piece.
//!
//! A piece that is not too curved is the graph of a function over a plane, with axes a and b and normal c.
//! There it is convex or not, as a pattern is. With G = dx/dX of a triangle and its normal N at rest, what
//! leads along a in that plane leads along a − (a·N / c·N) c at rest, so that
//!
//! ```text
//! dx/du = G [a, b] − G c sᵀ,     s = [a·N, b·N] / c·N
//! ```
//!
//! G is stored with N leading to the normal now. It is then a rotation, the same in all triangles, if a piece
//! moves as a whole, however curved it is.

use super::{Patch, Piece, least_eigenvalue, rotation, smaller_stretch};
use crate::{
    contact::surface::Surface,
    exec::{
        batch::{Batches, Over, lanes_of},
        threads::Threads,
    },
    kernel::{
        lanes::{BATCH, LaneKind, Lanes, Quad, Work, run},
        real::{cross, dot},
    },
};

/// Batches, and patches, below which a loop is not shared between threads.
const GRAIN: usize = 32;

/// Where the three axes of space at rest lead, one after the other.
type Frame = [f32; 9];

/// Frames of up to 16 triangles of a patch; lanes that are left have that of the first.
type FrameBatch = [[f32; BATCH]; 9];

/// The plane that a piece is seen in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chart {
    /// Its two axes and its normal.
    pub axes: [[f32; 3]; 3],
    /// Largest tangent of the angle between a triangle of the piece and the plane.
    pub slope: f32,
}

/// What frames of 16 triangles of a patch are made from, beside positions.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Rest {
    /// What is multiplied by the two edges: the pseudo-inverse of those at rest \[1/m\].
    edges: [[[f32; BATCH]; 3]; 2],
    /// Normal at rest.
    normal: [[f32; BATCH]; 3],
    /// Number of triangles.
    count: usize,
}

/// Triangles of all patches that have no pattern, one patch after the other.
#[derive(Debug, Default)]
pub(super) struct Shells {
    batches: Batches<Rest, 3>,
    /// By patch: its first batch, and that of the next.
    first: Vec<u32>,
}

impl Shells {
    /// Those of `all` patches of a surface.
    pub fn new(surface: &Surface, all: &[Patch]) -> Self {
        let mut batches = Batches::new(surface.fixed_from.min(surface.radius.len() as u32) as usize);
        let mut first = vec![0];
        for patch in all {
            let own = if patch.is_flat || surface.rest.is_empty() { &[] } else { &patch.triangles[..] };
            for triangles in own.chunks(BATCH) {
                // Lanes that are left repeat the first triangle.
                let whole: [u32; BATCH] = lanes_of(triangles, triangles[0], |t| t as u32);
                let rest = whole.map(|t| rest_of(surface, t));
                let lanes = |i: usize| [0, 1, 2].map(|k| rest.map(|rest| rest[i][k]));
                let rest = Rest { edges: [lanes(0), lanes(1)], normal: lanes(2), count: triangles.len() };
                batches.push(&whole, 0, |t| surface.triangles[t], rest);
            }
            first.push(batches.len() as u32);
        }
        Self { batches, first }
    }

    /// Which batches patch `patch` has.
    #[inline(always)]
    fn of(&self, patch: u32) -> std::ops::Range<usize> {
        self.first[patch as usize] as usize..self.first[patch as usize + 1] as usize
    }
}

/// The rows of the pseudo-inverse of two edges of triangle `t` at rest, and its normal; zero where it has no
/// area.
fn rest_of(surface: &Surface, t: u32) -> [[f32; 3]; 3] {
    let [a, b, c] = surface.triangles[t as usize].map(|v| surface.rest[v as usize].as_dvec3());
    let (e, f) = (b - a, c - a);
    let normal = e.cross(f);
    let rows = [f.cross(normal) / normal.length_squared(), normal.cross(e) / normal.length_squared()];
    let all = [rows[0], rows[1], normal.normalize_or_zero()].map(|row| row.as_vec3().to_array());
    if all.iter().flatten().all(|r| r.is_finite()) { all } else { [[0.0; 3]; 3] }
}

/// How the frames of a patch are spread.
#[derive(Clone, Copy, Debug, Default)]
struct Spread {
    mean: Frame,
    /// Largest distance of one from the mean.
    largest: f32,
}

/// Frames at one end of a step.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// By batch.
    all: Vec<FrameBatch>,
    /// By patch.
    spread: Vec<Spread>,
}

impl Frames {
    /// Memory for those of `shells`.
    pub fn new(shells: &Shells) -> Self {
        Self {
            all: vec![[[0.0; BATCH]; 9]; shells.batches.len()],
            spread: vec![Spread::default(); shells.first.len() - 1],
        }
    }

    /// Takes those of vertices at `x` \[m\].
    pub fn take(&mut self, threads: &Threads, shells: &Shells, x: &[Quad]) {
        let (over, lanes) = (shells.batches.over(x), LaneKind::detect());
        threads.each(&mut self.all, GRAIN, |first, frames| {
            run(lanes, Take { batches: over.part(first..first + frames.len()), frames });
        });
        let all: &[FrameBatch] = &self.all;
        threads.each(&mut self.spread, GRAIN, |first, spread| {
            for (k, spread) in spread.iter_mut().enumerate() {
                *spread = spread_of(shells, all, (first + k) as u32);
            }
        });
    }
}

fn spread_of(shells: &Shells, all: &[FrameBatch], patch: u32) -> Spread {
    let own = shells.of(patch);
    let counts = shells.batches[own.clone()].iter().map(|batch| batch.count);
    let (mut mean, mut count) = ([0.0; 9], 0);
    for (batch, own) in all[own.clone()].iter().zip(counts) {
        for k in 0..9 {
            mean[k] += batch[k][..own].iter().sum::<f32>();
        }
        count += own;
    }
    let mean = mean.map(|sum| sum / count.max(1) as f32);
    let mut largest = 0.0f32;
    for batch in &all[own] {
        let mut squares = [0.0f32; BATCH];
        for k in 0..9 {
            for lane in 0..BATCH {
                squares[lane] += (batch[k][lane] - mean[k]) * (batch[k][lane] - mean[k]);
            }
        }
        largest = squares.iter().fold(largest, |most, square| most.max(*square));
    }
    Spread { mean, largest: largest.sqrt() }
}

/// Frames of some batches, in lanes.
struct Take<'a> {
    batches: Over<'a, Rest, 3>,
    frames: &'a mut [FrameBatch],
}

impl Work for Take<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (batch, frames) in self.batches.iter().zip(self.frames) {
            for at in (0..BATCH).step_by(L::WIDTH) {
                let x = batch.corners::<L>(at);
                let [mut a, mut b] = [[L::splat(0.0); 3]; 2];
                for k in 0..3 {
                    (a[k], b[k]) = (x[1][k] - x[0][k], x[2][k] - x[0][k]);
                }
                let rows: [[L; 3]; 2] = [L::load_all(&batch.edges[0], at), L::load_all(&batch.edges[1], at)];
                let normal: [L; 3] = L::load_all(&batch.normal, at);
                let now = cross(a, b);
                let length = dot(now, now).max(L::splat(f32::MIN_POSITIVE)).sqrt();
                for axis in 0..3 {
                    for k in 0..3 {
                        let along = a[k] * rows[0][axis] + b[k] * rows[1][axis];
                        (along + now[k] / length * normal[axis]).store(&mut frames[3 * axis + k], at);
                    }
                }
            }
        }
    }
}

impl Chart {
    /// Whether what the triangles of `piece` do over this plane is so much alike that λ is at least `needed`.
    #[inline(always)]
    pub fn is_safe<L: Lanes>(
        &self,
        piece: &Piece,
        (shells, ends): (&Shells, &[Frames; 2]),
        needed: f32,
    ) -> bool {
        let of = |&patch: &u32| ends.iter().map(move |end| &end.spread[patch as usize]);
        let mut mean = [0.0; 9];
        for own in piece.near.iter().flat_map(of) {
            for k in 0..9 {
                mean[k] += own.mean[k] / (2 * piece.near.len()) as f32;
            }
        }
        let [a, b, c] = self.axes.map(|axis| lead(&mean, axis));
        let along = [a[0], a[1], a[2], b[0], b[1], b[2]];
        let Some(r) = rotation(&along) else { return false };
        // λ of a triangle is at least that of the mean frame less its distance from that, which is felt more
        // where it is steep, and less what leads along the plane from above.
        let lean = dot([r[0], r[1], r[2]], c).hypot(dot([r[3], r[4], r[5]], c));
        let apart = |own: &Spread| (0..9).map(|k| (own.mean[k] - mean[k]).powi(2)).sum::<f32>().sqrt();
        let spread =
            piece.reaches.iter().flat_map(of).fold(0.0f32, |most, own| most.max(apart(own) + own.largest));
        if smaller_stretch(&along) - lean * self.slope - spread * self.slope.hypot(1.0) >= needed {
            return true;
        }
        let mut axes = [[L::splat(0.0); 3]; 3];
        for k in 0..9 {
            axes[k / 3][k % 3] = L::splat(self.axes[k / 3][k % 3]);
        }
        let plane = Plane { axes, r: splat_all(&r), needed };
        for end in ends {
            for &p in &piece.near {
                for batch in shells.of(p) {
                    if plane.fall_short(&shells.batches[batch], &end.all[batch]) != 0 {
                        return false;
                    }
                }
            }
            for &[p, batch, own] in &piece.extra {
                let batch = shells.of(p).start + batch as usize;
                if plane.fall_short(&shells.batches[batch], &end.all[batch]) & own != 0 {
                    return false;
                }
            }
        }
        true
    }
}

/// Where a frame leads from `axis`.
fn lead(frame: &Frame, axis: [f32; 3]) -> [f32; 3] {
    [0, 1, 2].map(|k| frame[k] * axis[0] + frame[3 + k] * axis[1] + frame[6 + k] * axis[2])
}

// Loops, not iterators: what takes a closure is not compiled for the lanes.
#[inline(always)]
fn splat_all<L: Lanes>(values: &[f32; 6]) -> [L; 6] {
    let mut lanes = [L::splat(0.0); 6];
    for k in 0..6 {
        lanes[k] = L::splat(values[k]);
    }
    lanes
}

/// A plane in lanes, where its axes lead on average, and what λ must be.
struct Plane<L> {
    axes: [[L; 3]; 3],
    r: [L; 6],
    needed: f32,
}

impl<L: Lanes> Plane<L> {
    /// Which triangles of a batch have a λ of less than what is needed, as bits.
    #[inline(always)]
    fn fall_short(&self, rest: &Rest, frames: &FrameBatch) -> u32 {
        let mut short = 0;
        for at in (0..BATCH).step_by(L::WIDTH) {
            let normal: [L; 3] = L::load_all(&rest.normal, at);
            let g: [L; 9] = L::load_all(frames, at);
            let up = dot(self.axes[2], normal);
            let slopes = [dot(self.axes[0], normal) / up, dot(self.axes[1], normal) / up];
            let mut f = [L::splat(0.0); 6];
            for k in 0..3 {
                let row = [g[k], g[3 + k], g[6 + k]];
                let above = dot(self.axes[2], row);
                f[k] = dot(self.axes[0], row) - slopes[0] * above;
                f[3 + k] = dot(self.axes[1], row) - slopes[1] * above;
            }
            short |= L::bits(!L::splat(self.needed).le(least_eigenvalue(&self.r, &f))) << at;
        }
        short
    }
}
