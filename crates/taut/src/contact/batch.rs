//! Edges or triangles in lanes: which of 16 may come near another primitive, in single precision.
//!
//! Most primitives of two pieces of cloth that are near each other are not near each other themselves. Two
//! of them are left out if they stay further apart than they must along one line, that between their centres
//! at half the step, or along an axis: heights along a fixed line are linear in time, so that both ends of
//! the step decide. Double precision sees only what is left.
//!
//! Why rounding misses nothing. Any direction serves as a line, however it was rounded. Positions are
//! subtracted from one of the points first, which has a relative error of ε = 2⁻²⁴, and a height is a sum of
//! three products: for points within D of each other, heights along a line of length l are off by less than
//! 4 ε D l, their differences by 10 ε D l. [`ROUNDING`] D l is more than that.

use super::tree::Swept;
use crate::kernel::{
    lanes::{BATCH, LaneKind, Lanes, Quad, Work, run},
    real::{V3, add, dot, scale, sub},
};

/// What rounding may add to a distance, over the size of what is compared.
const ROUNDING: f32 = 2e-6;

/// A primitive of K vertices on its way: where these begin and end the step \[m\].
pub type Moving<const K: usize> = [[[f32; 3]; K]; 2];

/// The primitive of these vertices, which move from `old` to `x` \[m\].
#[inline(always)]
pub fn moving<const K: usize>(vertices: &[u32; K], old: &[Quad], x: &[Quad]) -> Moving<K> {
    let mut ends = [[[0.0; 3]; K]; 2];
    for (end, x) in ends.iter_mut().zip([old, x]) {
        for (place, &v) in end.iter_mut().zip(vertices) {
            *place = [x[v as usize][0], x[v as usize][1], x[v as usize][2]];
        }
    }
    ends
}

/// Up to 16 primitives of K vertices on their way, side by side.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Batch<const K: usize> {
    /// By end of the step, vertex and axis \[m\].
    ends: [[[[f32; BATCH]; 3]; K]; 2],
    count: u32,
}

impl<const K: usize> Default for Batch<K> {
    fn default() -> Self {
        Self { ends: [[[[0.0; BATCH]; 3]; K]; 2], count: 0 }
    }
}

impl<const K: usize> Batch<K> {
    /// Takes these primitives, at most 16, in place of those that it has.
    #[inline(always)]
    pub fn take(&mut self, primitives: impl Iterator<Item = Moving<K>>) {
        self.count = 0;
        for (lane, primitive) in primitives.take(BATCH).enumerate() {
            for end in 0..2 {
                for k in 0..K {
                    for axis in 0..3 {
                        self.ends[end][k][axis][lane] = primitive[end][k][axis];
                    }
                }
            }
            self.count += 1;
        }
    }
}

/// How far apart primitives in two boxes must stay to be left out \[m\]: a little more than `reach`, for
/// rounding.
pub fn needed(reach: f32, a: &Swept, b: &Swept) -> f32 {
    let way = |about: &Swept, k: usize| about.way.low[k].abs().max(about.way.high[k].abs());
    let size: f32 = (0..3)
        .map(|k| {
            let extent = a.start.high[k].max(b.start.high[k]) - a.start.low[k].min(b.start.low[k]);
            extent + way(a, k) + way(b, k)
        })
        .sum();
    reach * (1.0 + 1e-5) + ROUNDING * size
}

/// Calls `found` with the number of each of the `others` and, in ascending order, the numbers of all
/// primitives of `batched` that may come near it.
#[inline(always)]
pub fn meet<const K: usize, const J: usize>(
    lanes: LaneKind,
    batched: Batched<K>,
    others: impl Iterator<Item = Moving<J>>,
    found: impl FnMut(usize, usize),
) {
    run(lanes, Meet { batched, others, found });
}

/// Primitives side by side.
#[derive(Clone, Copy, Debug)]
pub struct Batched<'a, const K: usize> {
    /// All of them.
    pub batches: &'a [Batch<K>],
    /// How far others must stay apart from them to be left out \[m\].
    pub needed: f32,
    /// Their box, grown by as much.
    pub about: Swept,
}

struct Meet<'a, const K: usize, I, F> {
    batched: Batched<'a, K>,
    others: I,
    found: F,
}

impl<const K: usize, const J: usize, I: Iterator<Item = Moving<J>>, F: FnMut(usize, usize)> Work
    for Meet<'_, K, I, F>
{
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(mut self) {
        let Batched { batches, needed, about } = self.batched;
        for (number, other) in self.others.enumerate() {
            if !about.meets(&box_of(&other)) {
                continue;
            }
            for (first, batch) in batches.iter().enumerate() {
                let mut near = 0;
                for at in (0..BATCH).step_by(L::WIDTH) {
                    near |= near_lanes::<L, K, J>(batch, at, &other, needed) << at;
                }
                near &= (1u32 << batch.count) - 1;
                while near != 0 {
                    (self.found)(number, BATCH * first + near.trailing_zeros() as usize);
                    near &= near - 1;
                }
            }
        }
    }
}

/// The box of a primitive.
#[inline(always)]
fn box_of<const J: usize>(other: &Moving<J>) -> Swept {
    let mut about = Swept::EMPTY;
    for j in 0..J {
        let [from, to] = [other[0][j], other[1][j]];
        about = about.with(&[from[0], from[1], from[2], 0.0], &[to[0], to[1], to[2], 0.0]);
    }
    about
}

/// Which lanes may come nearer to `other` than `needed` \[m\]. Loops, not iterators: what takes a closure is
/// not compiled for the lanes.
#[inline(always)]
fn near_lanes<L: Lanes, const K: usize, const J: usize>(
    batch: &Batch<K>,
    at: usize,
    other: &Moving<J>,
    needed: f32,
) -> u32 {
    let zero = [L::splat(0.0); 3];
    let origin = splat3(&other[0][0]);
    let (mut own, mut others) = ([[zero; K]; 2], [[zero; J]; 2]);
    let (mut own_sum, mut other_sum) = (zero, zero);
    for end in 0..2 {
        for k in 0..K {
            own[end][k] = sub(L::load_all(&batch.ends[end][k], at), origin);
            own_sum = add(own_sum, own[end][k]);
        }
        for j in 0..J {
            others[end][j] = sub(splat3(&other[end][j]), origin);
            other_sum = add(other_sum, others[end][j]);
        }
    }
    // From the centre of the own to that of the other, times 2 K J.
    let line = sub(scale(other_sum, L::splat(K as f32)), scale(own_sum, L::splat(J as f32)));
    let mut apart = L::splat(f32::INFINITY);
    for end in 0..2 {
        let (mut highest, mut lowest) = (dot(own[end][0], line), dot(others[end][0], line));
        for k in 1..K {
            highest = highest.max(dot(own[end][k], line));
        }
        for j in 1..J {
            lowest = lowest.min(dot(others[end][j], line));
        }
        apart = apart.min(lowest - highest);
    }
    let far = L::splat(needed);
    let near = !(far * dot(line, line).sqrt()).lt(apart);
    if !L::any(near) {
        return 0;
    }
    L::bits(near & !apart_along_axis(&own, &others, far))
}

#[inline(always)]
fn splat3<L: Lanes>(p: &[f32; 3]) -> V3<L> {
    [L::splat(p[0]), L::splat(p[1]), L::splat(p[2])]
}

/// Where two primitives stay further apart than `far` along an axis.
#[inline(always)]
fn apart_along_axis<L: Lanes, const K: usize, const J: usize>(
    own: &[[V3<L>; K]; 2],
    others: &[[V3<L>; J]; 2],
    far: L,
) -> L::Mask {
    let mut apart = L::splat(1.0).lt(L::splat(0.0));
    for axis in 0..3 {
        let ([low, high], [way_low, way_high]) = ranges(own, axis);
        let ([other_low, other_high], [other_way_low, other_way_high]) = ranges(others, axis);
        let zero = L::splat(0.0);
        let over = (low - other_high) + (way_low - other_way_high).min(zero);
        let under = (other_low - high) + (other_way_low - way_high).min(zero);
        apart = apart | far.lt(over) | far.lt(under);
    }
    apart
}

/// The least and greatest coordinate along an axis where points begin, and of their displacements.
#[inline(always)]
fn ranges<L: Lanes, const K: usize>(ends: &[[V3<L>; K]; 2], axis: usize) -> ([L; 2], [L; 2]) {
    let way = ends[1][0][axis] - ends[0][0][axis];
    let (mut start, mut ways) = ([ends[0][0][axis]; 2], [way; 2]);
    for k in 1..K {
        let (p, way) = (ends[0][k][axis], ends[1][k][axis] - ends[0][k][axis]);
        start = [start[0].min(p), start[1].max(p)];
        ways = [ways[0].min(way), ways[1].max(way)];
    }
    (start, ways)
}
