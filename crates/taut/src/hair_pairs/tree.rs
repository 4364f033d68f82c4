//! Which segments are near a segment: a tree of boxes, 16 below each, over segments in Morton order.
//!
//! Segments are sorted along a curve that fills space, so that 16 of them in a row lie close together: a
//! block, with a box around it. 16 blocks have a box too, and so on to the root. A whole block of segments
//! looks for the blocks near it at once, which makes the way through the tree cheap. Then each of its
//! segments looks in which of these boxes it may find something, tests the cylinders of the 16 segments in
//! there side by side, and collects those that get through until there are 16 of them to measure.
//!
//! That is exact: the order only decides how tight boxes are, so nothing depends on how wide the cells of the
//! curve are or on where it wraps around, and long segments need no care but to make a box larger. In a grid
//! of cells, a query tests all segments in whole rows of cells, most of which are not near it.

mod boxes;

use glam::Vec3;

use self::boxes::{Probe, Window, around_boxes, around_points, column, grown};
use super::segment::{Closest, Ends, closest};
use crate::{
    exec::threads::Threads,
    kernel::{
        lanes::{BATCH, Lanes, Quad},
        real::{dot, select3},
    },
};

/// Length of segments up to which none is skipped, in distances that are asked for and in segments of median
/// length. Longer ones are no hair, and would be near everything.
const LONGEST: [f32; 2] = [256.0, 64.0];

/// Length from which on a segment is skipped, and largest distance that is searched \[m\]: their squares are
/// far from overflow.
const MAX_LENGTH: f32 = 1e6;

/// Distances that are asked for from the origin up to which points are accepted: up to there these are more
/// than what positions are rounded to.
const MAX_REACHES: f32 = (1 << 20) as f32;

/// Bits of a cell of the curve along each axis, of which three make a digit of the sort.
const CELL_BITS: u32 = 10;

/// Entries of a digit.
const DIGITS: usize = 1 << CELL_BITS;

/// Width of cells of the curve, in distances from the middle of a segment that matter.
const CELL: f32 = 0.5;

/// Blocks near a block that are looked through at a time.
const AT_ONCE: usize = 8 * BATCH;

/// Boxes on the way through the tree that are still to be opened: at most 15 on each of its levels, and one.
const OPEN: usize = 128;

/// Middles and halves (from the middle to the end) of 16 segments: x, y and z of both \[m\].
type Block = [[f32; BATCH]; 6];

/// Lower and upper corners of 16 boxes: x, y and z of both \[m\].
type Boxes = [[f32; BATCH]; 6];

/// No box: it overlaps nothing.
const NO_BOX: [f32; 6] = [f32::MAX, f32::MAX, f32::MAX, f32::MIN, f32::MIN, f32::MIN];

/// A tree of segments.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// Distance within which segments are found \[m\].
    reach: f32,
    /// Length of each segment, by its first node \[m\]; negative if there is none or it is skipped.
    lengths: Vec<f32>,
    /// Place on the curve (upper half) and first node (lower half) of each segment, and room to sort them.
    keys: [Vec<u64>; 2],
    /// First nodes of the segments that are in the tree, near ones one after the other.
    pub order: Vec<u32>,
    /// Start and end of each of them.
    points: Vec<Quad>,
    blocks: Vec<Block>,
    /// Boxes of blocks, boxes of 16 of these, and so on.
    levels: Vec<Vec<Boxes>>,
    /// Segments that were skipped: not finite, far away or absurdly long.
    pub skipped: usize,
}

/// Who looks for segments near those of a block.
pub(super) trait Visitor {
    /// Distance up to which the segment `own` of the block still wants others \[m\].
    fn reach(&self, own: usize) -> f32;

    /// Whether the segment with this rank may be measured at all by the one with rank `own`.
    fn wants(own: u32, other: u32) -> bool;

    /// Square of the distance up to which it is shown others \[m²\], as they are measured here.
    fn limit(&self, own: usize) -> f32;

    /// Gets segments that are within this limit, or were before it was called: the bits of `lanes` say which
    /// of `others`, by their ranks; with the squares of their distances \[m²\].
    fn visit(&mut self, own: usize, lanes: u32, others: &[u32; BATCH], squared: &[f32; BATCH]);

    /// What is added to the distance of those that are visited \[m\], for a segment of this length.
    fn margin(length: f32) -> f32;
}

pub(super) fn point(x: &Quad) -> Vec3 {
    Vec3::new(x[0], x[1], x[2])
}

/// Spreads ten bits: each gets two zeros before it.
fn spread(bits: u32) -> u32 {
    let bits = (bits | bits << 16) & 0x0300_00ff;
    let bits = (bits | bits << 8) & 0x0300_f00f;
    let bits = (bits | bits << 4) & 0x030c_30c3;
    (bits | bits << 2) & 0x0924_9249
}

impl Tree {
    /// Sorts the segments from each node `v` to the next where `is_segment[v]`, at positions `x` \[m\], to
    /// find those within `reach` \[m\] of each other.
    pub(super) fn build(&mut self, is_segment: &[bool], x: &[Quad], reach: f32, threads: &Threads) {
        self.reach = if reach > 0.0 { reach.min(MAX_LENGTH) } else { 0.0 };
        let median = self.measure(is_segment, x, threads);
        self.list(x, median, threads);
        self.sort();
        self.fill(x, threads);
    }

    /// Takes the lengths of all segments; gives an upper bound of their median \[m\].
    fn measure(&mut self, is_segment: &[bool], x: &[Quad], threads: &Threads) -> f32 {
        self.lengths.resize(is_segment.len(), -1.0);
        threads.each(&mut self.lengths, 4096, |first, lengths| {
            for (k, length) in lengths.iter_mut().enumerate() {
                let v = first + k;
                let known = if is_segment[v] { point(&x[v]).distance(point(&x[v + 1])) } else { -1.0 };
                *length = if known < MAX_LENGTH { known } else { -1.0 };
            }
        });
        self.skipped = 0;
        let mut by_exponent = [0usize; 256];
        for (&length, &is_segment) in self.lengths.iter().zip(is_segment) {
            if length >= 0.0 {
                by_exponent[(length.to_bits() >> 23) as usize] += 1;
            } else {
                self.skipped += usize::from(is_segment);
            }
        }
        let half = by_exponent.iter().sum::<usize>() / 2;
        let mut below = 0;
        let median = by_exponent.iter().position(|count| {
            below += count;
            below > half
        });
        f32::from_bits(((median.unwrap_or(0) as u32) + 1).min(254) << 23)
    }

    /// Lists the segments that are neither absurdly long nor too far away, with their places on the curve.
    fn list(&mut self, x: &[Quad], median: f32, threads: &Threads) {
        let longest = (LONGEST[0] * self.reach).max(LONGEST[1] * median);
        let width = CELL * (self.reach + 0.5 * median).max(1e-9);
        let limit = MAX_REACHES / CELL * width;
        for keys in &mut self.keys {
            keys.clear();
            keys.reserve(self.lengths.len());
        }
        let keys = &mut self.keys[0];
        for (v, &length) in self.lengths.iter().enumerate().filter(|(_, length)| **length >= 0.0) {
            let is_near = |x: &Quad| point(x).abs().max_element() < limit;
            if length <= longest && is_near(&x[v]) && is_near(&x[v + 1]) {
                keys.push(v as u64);
            } else {
                self.skipped += 1;
            }
        }
        let inverse = 0.5 / width;
        threads.each(keys, 2048, |_, keys| {
            for key in keys {
                let v = *key as usize;
                let cell = (point(&x[v]) + point(&x[v + 1])) * inverse;
                let [i, j, k] =
                    cell.floor().to_array().map(|c| spread(c as i32 as u32 & (DIGITS as u32 - 1)));
                *key |= u64::from(i | j << 1 | k << 2) << 32;
            }
        });
    }

    /// Sorts the segments along the curve, by one digit after the other. Equal ones stay in their order.
    fn sort(&mut self) {
        let [keys, spare] = &mut self.keys;
        spare.resize(keys.len(), 0);
        let mut counts = [[0u32; DIGITS]; 3];
        let digit = |key: u64, place: usize| (key >> (32 + CELL_BITS as usize * place)) as usize % DIGITS;
        for &key in &*keys {
            (0..3).for_each(|place| counts[place][digit(key, place)] += 1);
        }
        for (place, counts) in counts.iter_mut().enumerate() {
            let mut sum = 0;
            for count in counts.iter_mut() {
                (*count, sum) = (sum, sum + *count);
            }
            for &key in &*keys {
                let next = &mut counts[digit(key, place)];
                spare[*next as usize] = key;
                *next += 1;
            }
            std::mem::swap(keys, spare);
        }
    }

    /// Fills the blocks and boxes with the sorted segments.
    fn fill(&mut self, x: &[Quad], threads: &Threads) {
        let Self { keys, order, points, blocks, levels, .. } = self;
        let keys = &keys[0];
        order.resize(keys.len(), 0);
        points.resize(2 * keys.len(), [0.0; 4]);
        threads.each_pair(order, points.as_chunks_mut::<2>().0, 4096, |first, order, points| {
            for ((order, points), key) in order.iter_mut().zip(points).zip(&keys[first..]) {
                let v = *key as u32;
                *order = v;
                *points = [x[v as usize], x[v as usize + 1]];
            }
        });
        let count = keys.len().div_ceil(BATCH);
        blocks.resize(count, [[f32::NAN; BATCH]; 6]);
        let points = &*points;
        threads.each(blocks, 128, |first, blocks| {
            for (block, points) in blocks.iter_mut().zip(points[2 * BATCH * first..].chunks(2 * BATCH)) {
                // Nothing is near the places that are left in the last one.
                *block = [[f32::NAN; BATCH]; 6];
                for (lane, ends) in points.as_chunks::<2>().0.iter().enumerate() {
                    let [a, b] = [point(&ends[0]), point(&ends[1])];
                    let (middle, half) = (0.5 * (a + b), 0.5 * (b - a));
                    for c in 0..3 {
                        (block[c][lane], block[3 + c][lane]) = (middle[c], half[c]);
                    }
                }
            }
        });
        let mut boxes = count;
        let mut height = 0;
        while boxes > 0 {
            let entries = boxes.div_ceil(BATCH);
            if levels.len() == height {
                levels.push(Vec::new());
            }
            let (below, level) = levels.split_at_mut(height);
            let level = &mut level[0];
            level.resize(entries, [[0.0; BATCH]; 6]);
            threads.each(level, 32, |first, level| {
                for (k, entry) in level.iter_mut().enumerate() {
                    for lane in 0..BATCH {
                        let at = (first + k) * BATCH + lane;
                        let own = match below.last() {
                            _ if at >= boxes => NO_BOX,
                            None => around_points(&points[2 * BATCH * at..]),
                            Some(below) => around_boxes(&below[at]),
                        };
                        (0..6).for_each(|c| entry[c][lane] = own[c]);
                    }
                }
            });
            (boxes, height) = (if entries > 1 { entries } else { 0 }, height + 1);
        }
        levels.truncate(height);
    }

    /// Blocks of segments.
    pub(super) fn count(&self) -> usize {
        self.blocks.len()
    }

    /// The first nodes of the segments of a block.
    pub(super) fn members(&self, block: usize) -> &[u32] {
        &self.order[block * BATCH..self.order.len().min((block + 1) * BATCH)]
    }

    /// Entries that all arrays have room for.
    #[cfg(test)]
    pub(super) fn capacities(&self) -> [usize; 8] {
        let one = [self.lengths.capacity(), self.keys[0].capacity(), self.keys[1].capacity()];
        let rest = [self.order.capacity(), self.points.capacity(), self.blocks.capacity()];
        let levels = self.levels.iter().map(Vec::capacity).sum();
        [one[0], one[1], one[2], rest[0], rest[1], rest[2], levels, self.levels.capacity()]
    }

    /// Shows `visitor`, for each segment of a block, all that may be near it; most of them are.
    #[inline(always)]
    pub(super) fn near<L: Lanes>(&self, block: usize, visitor: &mut impl Visitor) {
        let mut found = Found { ids: [0; AT_ONCE], boxes: [[[0.0; BATCH]; 6]; AT_ONCE / BATCH], count: 0 };
        // What is in the same block comes first: whoever wants the nearest then needs not look far.
        found.add(block as u32, self.box_of(block));
        self.look_through::<L>(block, &mut found, visitor);
        let own = grown(self.box_of(block), self.reach, self.slack(self.box_of(block), 0.0));
        let own = Window::<L>::new(&own);
        let mut open = [(0u32, 0u32); OPEN];
        open[0] = (self.levels.len() as u32 - 1, 0);
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let (level, entry) = open[count];
            let boxes = &self.levels[level as usize][entry as usize];
            let mut bits = own.overlaps(boxes);
            while bits != 0 {
                let lane = bits.trailing_zeros();
                bits &= bits - 1;
                let child = entry * BATCH as u32 + lane;
                if level > 0 {
                    open[count] = (level - 1, child);
                    count += 1;
                } else if child as usize != block {
                    if found.count == AT_ONCE {
                        self.look_through::<L>(block, &mut found, visitor);
                    }
                    found.add(child, column(boxes, lane as usize));
                }
            }
        }
        self.look_through::<L>(block, &mut found, visitor);
    }

    /// The box of a block.
    #[inline(always)]
    fn box_of(&self, block: usize) -> [f32; 6] {
        column(&self.levels[0][block / BATCH], block % BATCH)
    }

    /// What rounding of positions in this box may add to a distance, for a segment of this half length \[m\].
    #[inline(always)]
    fn slack(&self, corners: [f32; 6], half: f32) -> f32 {
        let mut largest = 0.0f32;
        for c in corners {
            largest = largest.max(c.abs());
        }
        1e-6 * largest + 1e-4 * (self.reach + half) + 1e-13
    }

    /// Shows `visitor` what may be near each segment of `block` in the blocks `found`, and empties these.
    #[inline(always)]
    fn look_through<L: Lanes>(&self, block: usize, found: &mut Found, visitor: &mut impl Visitor) {
        // Places that are left have no box.
        for k in found.count..found.count.next_multiple_of(BATCH) {
            found.put(k, NO_BOX);
        }
        for own in 0..self.members(block).len() {
            self.look_for::<L, _>(block, own, found, visitor);
        }
        found.count = 0;
    }

    #[inline(always)]
    fn look_for<L: Lanes, V: Visitor>(&self, block: usize, own: usize, found: &Found, visitor: &mut V) {
        let rank = block * BATCH + own;
        let ends = [self.points[2 * rank], self.points[2 * rank + 1]];
        let column = column(&self.blocks[block], own);
        let [x, y, z, hx, hy, hz] = column;
        let half = (hx * hx + hy * hy + hz * hz).sqrt();
        let (corners, margin) = (around_points(&ends), V::margin(2.0 * half));
        let slack = self.slack(corners, half) + margin;
        let probe = Probe::<L>::new([x, y, z], [hx, hy, hz], half, slack);
        let (mut others, mut count) = ([0u32; 2 * BATCH], 0);
        let mut reach = visitor.reach(own);
        for (group, boxes) in found.boxes[..found.count.div_ceil(BATCH)].iter().enumerate() {
            let mut near = Window::<L>::new(&grown(corners, reach, slack)).overlaps(boxes);
            while near != 0 {
                let other = found.ids[group * BATCH + near.trailing_zeros() as usize];
                near &= near - 1;
                let mut bits = 0;
                for at in (0..BATCH).step_by(L::WIDTH) {
                    bits |= probe.touches(&self.blocks[other as usize], at, reach) << at;
                }
                while bits != 0 {
                    let other = other * BATCH as u32 + bits.trailing_zeros();
                    bits &= bits - 1;
                    others[count] = other;
                    count += usize::from(V::wants(rank as u32, other));
                }
                if count >= BATCH {
                    self.show::<L>((rank, own, ends), &others, BATCH, visitor);
                    reach = visitor.reach(own);
                    count -= BATCH;
                    for k in 0..BATCH {
                        others[k] = others[BATCH + k];
                    }
                }
            }
        }
        if count > 0 {
            self.show::<L>((rank, own, ends), &others, count, visitor);
        }
    }

    /// Measures the distances of one segment and others.
    #[inline(always)]
    fn show<L: Lanes>(
        &self,
        (rank, own, ends): (usize, usize, [Quad; 2]),
        given: &[u32; 2 * BATCH],
        count: usize,
        visitor: &mut impl Visitor,
    ) {
        let mut others = [rank as u32; BATCH];
        let (mut starts, mut stops, mut lower) = ([0u32; BATCH], [0u32; BATCH], [0.0f32; BATCH]);
        for lane in 0..BATCH {
            let other = if lane < count { given[lane] } else { rank as u32 };
            others[lane] = other;
            (starts[lane], stops[lane]) = (2 * other, 2 * other + 1);
            lower[lane] = if other < rank as u32 { 1.0 } else { 0.0 };
        }
        let (mut squared, mut lanes) = ([0.0f32; BATCH], 0u32);
        let (own_ends, limit) = (Ends::<L>::splat(ends), L::splat(visitor.limit(own)));
        for at in (0..BATCH).step_by(L::WIDTH) {
            let [x, y, z, _] = L::fetch(&self.points, &starts, at);
            let [p, q, r, _] = L::fetch(&self.points, &stops, at);
            let other = Ends { start: [x, y, z], end: [p, q, r] };
            // In the order of their ranks, so that both sides have the same bits.
            let is_lower = L::splat(0.0).lt(L::load(&lower, at));
            let first = Ends {
                start: select3::<L>(is_lower, other.start, own_ends.start),
                end: select3::<L>(is_lower, other.end, own_ends.end),
            };
            let second = Ends {
                start: select3::<L>(is_lower, own_ends.start, other.start),
                end: select3::<L>(is_lower, own_ends.end, other.end),
            };
            let Closest { apart, .. } = closest(first, second);
            let distance = dot(apart, apart);
            distance.store(&mut squared, at);
            lanes |= L::bits(distance.le(limit)) << at;
        }
        lanes &= (1 << count) - 1;
        if lanes != 0 {
            visitor.visit(own, lanes, &others, &squared);
        }
    }
}

/// Blocks that are to be looked through.
struct Found {
    ids: [u32; AT_ONCE],
    boxes: [Boxes; AT_ONCE / BATCH],
    count: usize,
}

impl Found {
    #[inline(always)]
    fn add(&mut self, id: u32, corners: [f32; 6]) {
        self.ids[self.count] = id;
        self.put(self.count, corners);
        self.count += 1;
    }

    #[inline(always)]
    fn put(&mut self, place: usize, corners: [f32; 6]) {
        for c in 0..6 {
            self.boxes[place / BATCH][c][place % BATCH] = corners[c];
        }
    }
}
