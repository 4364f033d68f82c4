//! Which segments are near a segment: a grid of cells, filled by a counting sort.
//!
//! Segments are cut into pieces no longer than [`PIECE_REACHES`] times the distance asked for (or than twice
//! the median segment, if that is more), and each piece lies in the cell of its middle. A query visits the
//! cells within `reach` plus half a piece of a piece, 16 entries at a time, and lets through those whose
//! cylinders may touch. That is exact: no pair within the distance is missed. Two samples a segment, in cells
//! of twice the thickness, cost a fraction of it, but miss segments that cross between their samples.
//!
//! Cell indices wrap around, each axis by a power of two, so that scenes of any extent share one table.
//! Neighbours in x are neighbours in memory: a row of cells is one range. Neighbouring cells never share an
//! entry of the table, as in hash grids they may, so nothing is met twice.

use glam::Vec3;

use crate::{
    exec::threads::Threads,
    kernel::lanes::{BATCH, Lanes, Quad},
};

/// Longest piece, in distances that are asked for.
const PIECE_REACHES: f32 = 4.0;

/// Most pieces of a segment. A segment that would have more is no hair, and is skipped.
const MAX_PIECES: u32 = 64;

/// Width of a cell, in distances within which a query has to look.
const CELL: f32 = 1.0;

/// Length from which on a segment is skipped, and largest distance that is searched \[m\]: their squares are
/// far from overflow.
const MAX_LENGTH: f32 = 1e6;

/// Cells from the origin up to which points are accepted, along each axis: up to there a cell is wider than
/// what positions are rounded to.
const MAX_CELLS: f32 = (1 << 20) as f32;

/// Fewest cells along an axis before indices wrap, in powers of two. A query spans at most 8 cells.
const MIN_BITS: u32 = 4;

/// Most cells of a grid, in powers of two.
const MAX_BITS: u32 = 24;

/// Part of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Piece {
    /// First node of the segment.
    pub segment: u32,
    /// Which part, from the start of the segment.
    pub part: u32,
}

/// Middles and halves (from the middle to the end) of 16 pieces: x, y and z of both \[m\].
type Block = [[f32; BATCH]; 6];

/// Pieces of segments by the cells that they are in.
#[derive(Debug, Default)]
pub(super) struct Grid {
    /// Distance within which segments are found \[m\].
    reach: f32,
    /// Distance from a piece within which middles of others may matter \[m\].
    around: f32,
    /// Cells a metre \[1/m\].
    inverse: f32,
    /// Cells along each axis before indices wrap, in powers of two.
    bits: [u32; 3],
    /// Length of each segment, by its first node \[m\]; negative if there is none.
    lengths: Vec<f32>,
    /// Number of pieces of each segment, by its first node; 0 if it is skipped.
    pub parts: Vec<u32>,
    pieces: Vec<Piece>,
    /// Cell of each piece.
    cells: Vec<u32>,
    /// First entry of each cell, and the end of the last.
    starts: Vec<u32>,
    /// The pieces by cell.
    sorted: Vec<Piece>,
    blocks: Vec<Block>,
    /// First nodes of the segments that are in the grid, near ones one after the other.
    pub order: Vec<u32>,
    /// Segments that were skipped: not finite, far away or absurdly long.
    pub skipped: usize,
}

pub(super) fn point(x: &Quad) -> Vec3 {
    Vec3::new(x[0], x[1], x[2])
}

/// Middle of a part of the segment after node `v`, and the way from there to its end \[m\].
#[inline(always)]
fn part(x: &[Quad], v: usize, part: u32, parts: u32) -> (Vec3, Vec3) {
    let (a, b) = (point(&x[v]), point(&x[v + 1]));
    let count = parts.max(1) as f32;
    let whole = b - a;
    (a + whole * ((part as f32 + 0.5) / count), whole * (0.5 / count))
}

impl Grid {
    /// Sorts the segments from each node `v` to the next where `is_segment[v]`, at positions `x` \[m\], to
    /// find those within `reach` \[m\] of each other.
    pub(super) fn build(&mut self, is_segment: &[bool], x: &[Quad], reach: f32, threads: &Threads) {
        self.reach = if reach > 0.0 { reach.min(MAX_LENGTH) } else { 0.0 };
        self.measure(is_segment, x, threads);
        let longest = self.longest_piece();
        let half = self.divide(longest);
        self.around = (self.reach + half).max(1e-9);
        self.inverse = 1.0 / (CELL * self.around);
        self.list(x);
        self.sort(x, threads);
    }

    /// Takes the lengths of all segments.
    fn measure(&mut self, is_segment: &[bool], x: &[Quad], threads: &Threads) {
        self.lengths.resize(is_segment.len(), -1.0);
        threads.each(&mut self.lengths, 4096, |first, lengths| {
            for (k, length) in lengths.iter_mut().enumerate() {
                let v = first + k;
                let known = if is_segment[v] { point(&x[v]).distance(point(&x[v + 1])) } else { -1.0 };
                *length = if known < MAX_LENGTH { known } else { -1.0 };
            }
        });
        self.skipped = is_segment.iter().zip(&self.lengths).filter(|(is, l)| **is && **l < 0.0).count();
    }

    /// How long pieces may be \[m\]: a multiple of the distance asked for, or, so that there are not many
    /// more pieces than segments, an upper bound of their median.
    fn longest_piece(&self) -> f32 {
        let mut by_exponent = [0usize; 256];
        self.lengths
            .iter()
            .filter(|&&l| l >= 0.0)
            .for_each(|l| by_exponent[(l.to_bits() >> 23) as usize] += 1);
        let half = by_exponent.iter().sum::<usize>() / 2;
        let mut below = 0;
        let median = by_exponent.iter().position(|count| {
            below += count;
            below > half
        });
        let bound = f32::from_bits(((median.unwrap_or(0) as u32) + 1).min(254) << 23);
        bound.max(PIECE_REACHES * self.reach)
    }

    /// Decides on the number of pieces of each segment; gives half the length of the longest \[m\].
    fn divide(&mut self, longest: f32) -> f32 {
        let mut half = 0.0f32;
        self.parts.resize(self.lengths.len(), 0);
        for (parts, &length) in self.parts.iter_mut().zip(&self.lengths) {
            let count = (length / longest).ceil().max(1.0);
            *parts = if length < 0.0 || count > MAX_PIECES as f32 { 0 } else { count as u32 };
            if *parts > 0 {
                half = half.max(0.5 * length / count);
            }
            self.skipped += usize::from(length >= 0.0 && *parts == 0);
        }
        half
    }

    /// Lists the pieces of the segments that are not too far away.
    fn list(&mut self, x: &[Quad]) {
        let limit = MAX_CELLS / self.inverse;
        let is_near = |x: &Quad| point(x).abs().max_element() < limit;
        self.pieces.clear();
        for (v, parts) in self.parts.iter_mut().enumerate() {
            if *parts == 0 {
                continue;
            }
            if !(is_near(&x[v]) && is_near(&x[v + 1])) {
                (*parts, self.skipped) = (0, self.skipped + 1);
                continue;
            }
            self.pieces.extend((0..*parts).map(|part| Piece { segment: v as u32, part }));
        }
    }

    /// The counting sort.
    fn sort(&mut self, x: &[Quad], threads: &Threads) {
        let bits = (self.pieces.len().max(1).ilog2() + 2).clamp(3 * MIN_BITS, MAX_BITS);
        self.bits = [bits / 3, (bits + 1) / 3, bits.div_ceil(3)];
        let (pieces, parts, inverse, bits) = (&self.pieces, &self.parts, self.inverse, self.bits);
        self.cells.resize(pieces.len(), 0);
        threads.each(&mut self.cells, 2048, |first, cells| {
            for (cell, piece) in cells.iter_mut().zip(&pieces[first..]) {
                let v = piece.segment as usize;
                let middle = part(x, v, piece.part, parts[v]).0;
                let [i, j, k] = (middle * inverse).floor().to_array().map(|c| c as i32);
                *cell = row(bits, j, k) + (i as u32 & ((1 << bits[0]) - 1));
            }
        });
        self.starts.clear();
        self.starts.resize((1 << (bits[0] + bits[1] + bits[2])) + 1, 0);
        self.cells.iter().for_each(|&cell| self.starts[cell as usize] += 1);
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.sorted.resize(pieces.len(), Piece::default());
        for (&cell, &piece) in self.cells.iter().zip(pieces).rev() {
            let start = &mut self.starts[cell as usize];
            *start -= 1;
            self.sorted[*start as usize] = piece;
        }
        self.order.clear();
        self.order.extend(self.sorted.iter().filter(|piece| piece.part == 0).map(|piece| piece.segment));
        self.blocks.resize(pieces.len().div_ceil(BATCH), [[0.0; BATCH]; 6]);
        let (parts, sorted) = (&self.parts, &self.sorted);
        threads.each(&mut self.blocks, 128, |first, blocks| {
            for (block, pieces) in blocks.iter_mut().zip(sorted[first * BATCH..].chunks(BATCH)) {
                for (lane, piece) in pieces.iter().enumerate() {
                    let v = piece.segment as usize;
                    let (middle, half) = part(x, v, piece.part, parts[v]);
                    for c in 0..3 {
                        (block[c][lane], block[3 + c][lane]) = (middle[c], half[c]);
                    }
                }
            }
        });
    }

    /// Entries that all arrays have room for.
    #[cfg(test)]
    pub(super) fn capacities(&self) -> [usize; 8] {
        let one =
            [self.lengths.capacity(), self.parts.capacity(), self.pieces.capacity(), self.cells.capacity()];
        let rest =
            [self.starts.capacity(), self.sorted.capacity(), self.blocks.capacity(), self.order.capacity()];
        [one[0], one[1], one[2], one[3], rest[0], rest[1], rest[2], rest[3]]
    }

    /// Whether nearest points at `at` on two segments lie on these pieces of them: of all pairs of pieces of
    /// two segments only one is.
    #[inline(always)]
    pub(super) fn is_pair_of(&self, pieces: [Piece; 2], at: [f32; 2]) -> bool {
        (0..2).all(|k| {
            let parts = self.parts[pieces[k].segment as usize];
            parts == 1 || ((at[k] * parts as f32) as u32).min(parts - 1) == pieces[k].part
        })
    }

    /// Calls `found` with pieces of the segment `v` and pieces (of that segment too) that may be near them.
    /// `found` gives the distance up to which it wants others \[m\], at most that of the grid.
    #[inline(always)]
    pub(super) fn near<L: Lanes>(&self, x: &[Quad], v: u32, mut found: impl FnMut(Piece, Piece) -> f32) {
        let parts = self.parts[v as usize];
        let mut reach = self.reach;
        for k in 0..parts {
            let (middle, half) = part(x, v as usize, k, parts);
            self.near_piece::<L>(middle, half, &mut reach, |other| {
                found(Piece { segment: v, part: k }, other)
            });
        }
    }

    #[inline(always)]
    fn near_piece<L: Lanes>(
        &self,
        middle: Vec3,
        half: Vec3,
        reach: &mut f32,
        mut found: impl FnMut(Piece) -> f32,
    ) {
        let side = half.abs();
        // Rounding of positions, and of what is computed of them here.
        let slack = 1e-6 * (middle.abs() + side).max_element() + 1e-4 * self.around;
        let around = self.around + slack;
        let width = 1.0 / self.inverse;
        let first = ((middle - side - around) * self.inverse).floor().as_ivec3();
        let last = ((middle + side + around) * self.inverse).floor().as_ivec3();
        let gap = |cell: i32, c: usize| {
            let low = cell as f32 * width;
            (low - slack - middle[c] - side[c]).max(middle[c] - side[c] - low - width - slack).max(0.0)
        };
        let mask = (1 << self.bits[0]) - 1;
        let probe = Probe::<L>::new(middle, half, slack);
        for k in first.z..=last.z {
            let left = around * around - gap(k, 2) * gap(k, 2);
            for j in first.y..=last.y {
                let gap = gap(j, 1);
                let squared = left - gap * gap;
                if squared < 0.0 {
                    continue;
                }
                let ahead = side.x + squared.sqrt() + slack;
                let [from, to] = [-ahead, ahead].map(|by| ((middle.x + by) * self.inverse).floor() as i32);
                let start = from as u32 & mask;
                let end = start + ((to - from).max(0) as u32).min(mask);
                let row = row(self.bits, j, k);
                self.in_row(&probe, [row + start, row + end.min(mask)], reach, &mut found);
                if end > mask {
                    self.in_row(&probe, [row, row + (end & mask)], reach, &mut found);
                }
            }
        }
    }

    /// Tests the entries of the cells from the first to the last, including it.
    #[inline(always)]
    fn in_row<L: Lanes>(
        &self,
        probe: &Probe<L>,
        [first, last]: [u32; 2],
        reach: &mut f32,
        found: &mut impl FnMut(Piece) -> f32,
    ) {
        let (start, end) = (self.starts[first as usize] as usize, self.starts[last as usize + 1] as usize);
        if start == end {
            return;
        }
        for b in start / BATCH..end.div_ceil(BATCH) {
            let base = b * BATCH;
            let mut bits = 0;
            for at in (0..BATCH).step_by(L::WIDTH) {
                bits |= probe.touches(&self.blocks[b], at, *reach) << at;
            }
            bits &= u32::MAX << start.saturating_sub(base);
            bits &= u32::MAX >> (32 - (end - base).min(BATCH));
            while bits != 0 {
                let lane = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                *reach = found(self.sorted[base + lane]);
            }
        }
    }
}

/// First cell of a row along x.
#[inline(always)]
fn row(bits: [u32; 3], j: i32, k: i32) -> u32 {
    let (j, k) = (j as u32 & ((1 << bits[1]) - 1), k as u32 & ((1 << bits[2]) - 1));
    ((k << bits[1]) + j) << bits[0]
}

#[inline(always)]
fn dot<L: Lanes>(a: [L; 3], b: [L; 3]) -> L {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// A piece that others are compared with.
struct Probe<L> {
    middle: [L; 3],
    /// Unit vector along it, or 0.
    along: [L; 3],
    /// Half its length \[m\].
    half: L,
    /// What rounding may add to a distance \[m\].
    slack: f32,
}

impl<L: Lanes> Probe<L> {
    #[inline(always)]
    fn new(middle: Vec3, half: Vec3, slack: f32) -> Self {
        let (along, length) = (half.normalize_or_zero(), half.length());
        Self {
            middle: [L::splat(middle.x), L::splat(middle.y), L::splat(middle.z)],
            along: [L::splat(along.x), L::splat(along.y), L::splat(along.z)],
            half: L::splat(length),
            slack,
        }
    }

    /// Which of the pieces `block[..][at..at + WIDTH]` reach into the cylinder of radius `reach` \[m\] around
    /// this one, as bits: the others are further away. Strands mostly lie side by side, and then hardly any
    /// piece gets through that is not near.
    #[inline(always)]
    fn touches(&self, block: &Block, at: usize, reach: f32) -> u32 {
        let [x, y, z, hx, hy, hz] = L::load_all(block, at);
        let apart = [x - self.middle[0], y - self.middle[1], z - self.middle[2]];
        let half = [hx, hy, hz];
        let (apart_squared, half_squared) = (dot(apart, apart), dot(half, half));
        let (along, half_along) = (dot(apart, self.along), dot(half, self.along));
        let reach = L::splat(reach + self.slack);
        let [zero, rounding] = [L::splat(0.0), L::splat(1e-6)];
        let half_across =
            ((half_squared - half_along * half_along).max(zero) + half_squared * rounding).sqrt();
        let across = apart_squared - along * along - (apart_squared + half_squared) * rounding;
        let limit = reach + half_across;
        L::bits(across.le(limit * limit) & along.abs().le(self.half + half_along.abs() + reach))
    }
}
