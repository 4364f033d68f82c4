//! Deformation gradients of all triangles of patches that have a pattern, 16 at a time.

use super::Patch;
use crate::{
    contact::surface::Surface,
    exec::{
        batch::{Batches, Over, lanes_of},
        threads::Threads,
    },
    kernel::lanes::{BATCH, LaneKind, Lanes, Quad, Work, run},
};

/// A deformation gradient: where the two directions of the pattern lead.
pub(super) type Gradient = [f32; 6];

/// Gradients of up to 16 triangles of a patch, side by side; lanes that are left have that of the first.
pub(super) type GradientBatch = [[f32; BATCH]; 6];

/// Batches, and patches, below which a loop is not shared between threads.
const GRAIN: usize = 32;

/// What gradients of 16 triangles of a patch are made from, beside positions.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
struct Pattern {
    /// The inverse of two edges in the pattern \[1/m\].
    rest: [[f32; BATCH]; 4],
    /// Number of triangles.
    count: usize,
}

/// Triangles of all patches that have a pattern, one patch after the other.
#[derive(Debug, Default)]
pub(super) struct Triangles {
    batches: Batches<Pattern, 3>,
    /// By patch: its first batch, and that of the next.
    first: Vec<u32>,
}

impl Triangles {
    /// Those of `all` patches of a surface; `rest` has the inverse of two edges of each in the pattern.
    pub fn new(surface: &Surface, all: &[Patch], rest: &[[f32; 4]]) -> Self {
        let mut batches = Batches::new(surface.fixed_from.min(surface.radius.len() as u32) as usize);
        let mut first = vec![0];
        for patch in all {
            let own = if patch.is_flat { &patch.triangles[..] } else { &[] };
            for triangles in own.chunks(BATCH) {
                // Lanes that are left repeat the first triangle.
                let whole: [u32; BATCH] = lanes_of(triangles, triangles[0], |t| t as u32);
                let rest = [0, 1, 2, 3].map(|k| whole.map(|t| rest[t as usize][k]));
                let pattern = Pattern { rest, count: triangles.len() };
                batches.push(&whole, 0, |t| surface.triangles[t], pattern);
            }
            first.push(batches.len() as u32);
        }
        Self { batches, first }
    }

    /// Which batches patch `patch` has.
    #[inline(always)]
    pub fn of(&self, patch: u32) -> std::ops::Range<usize> {
        self.first[patch as usize] as usize..self.first[patch as usize + 1] as usize
    }
}

/// How the gradients of a patch are spread.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spread {
    pub mean: Gradient,
    /// Largest distance of one from the mean.
    pub largest: f32,
}

/// Gradients at one end of a step.
#[derive(Debug, Default)]
pub(super) struct Gradients {
    /// By batch.
    pub all: Vec<GradientBatch>,
    /// By patch.
    pub spread: Vec<Spread>,
}

impl Gradients {
    /// Memory for those of `triangles`.
    pub fn new(triangles: &Triangles) -> Self {
        Self {
            all: vec![[[0.0; BATCH]; 6]; triangles.batches.len()],
            spread: vec![Spread::default(); triangles.first.len() - 1],
        }
    }

    /// Takes those of vertices at `x` \[m\].
    pub fn take(&mut self, threads: &Threads, triangles: &Triangles, x: &[Quad]) {
        let (over, lanes) = (triangles.batches.over(x), LaneKind::detect());
        threads.each(&mut self.all, GRAIN, |first, gradients| {
            run(lanes, Take { batches: over.part(first..first + gradients.len()), gradients });
        });
        let all: &[GradientBatch] = &self.all;
        threads.each(&mut self.spread, GRAIN, |first, spread| {
            for (k, spread) in spread.iter_mut().enumerate() {
                *spread = spread_of(triangles, all, (first + k) as u32);
            }
        });
    }
}

fn spread_of(triangles: &Triangles, all: &[GradientBatch], patch: u32) -> Spread {
    let own = triangles.of(patch);
    let counts = triangles.batches[own.clone()].iter().map(|batch| batch.count);
    let (mut mean, mut count) = ([0.0; 6], 0);
    for (batch, own) in all[own.clone()].iter().zip(counts) {
        for k in 0..6 {
            mean[k] += batch[k][..own].iter().sum::<f32>();
        }
        count += own;
    }
    let mean = mean.map(|sum| sum / count.max(1) as f32);
    let mut largest = 0.0f32;
    for batch in &all[own] {
        let mut squares = [0.0f32; BATCH];
        for k in 0..6 {
            for lane in 0..BATCH {
                squares[lane] += (batch[k][lane] - mean[k]) * (batch[k][lane] - mean[k]);
            }
        }
        largest = squares.iter().fold(largest, |most, square| most.max(*square));
    }
    Spread { mean, largest: largest.sqrt() }
}

/// Gradients of some batches, in lanes.
struct Take<'a> {
    batches: Over<'a, Pattern, 3>,
    gradients: &'a mut [GradientBatch],
}

impl Work for Take<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (batch, gradients) in self.batches.iter().zip(self.gradients) {
            for at in (0..BATCH).step_by(L::WIDTH) {
                let x = batch.corners::<L>(at);
                let rest: [L; 4] = L::load_all(&batch.rest, at);
                for k in 0..3 {
                    let (a, b) = (x[1][k] - x[0][k], x[2][k] - x[0][k]);
                    (a * rest[0] + b * rest[2]).store(&mut gradients[k], at);
                    (a * rest[1] + b * rest[3]).store(&mut gradients[3 + k], at);
                }
            }
        }
    }
}
