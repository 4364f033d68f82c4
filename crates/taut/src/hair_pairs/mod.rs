//! Contact of strands of hair with each other: which segments are near ([`grid`], [`segment`]), what they do
//! to each other ([`forces`]), and how deep they overlap.
//!
//! A segment is known by its first node. Each has a list of at most [`MAX_PARTNERS`] others, the nearest; a
//! pair counts if each is in the list of the other, so that forces are equal and opposite. Both sides
//! evaluate it by themselves, from the same numbers: that is twice the work, and needs neither lists of pairs
//! nor sums that threads would share, so results do not depend on the number of threads.
//!
//! This is no guarantee: strands that move by more than their thickness in a step may pass each other, and in
//! a dense place pairs beyond the nearest have no force. [`StrandPairs::overlap`] measures all.

mod forces;
mod grid;
mod segment;

use glam::{DVec3, Vec3};

pub(crate) use self::forces::{NodeBlock, PairLaw, PairState};
use self::grid::{Grid, Piece, point};
use crate::{
    contact::distance::edge_edge,
    exec::threads::Threads,
    kernel::lanes::{self, LaneKind, Lanes, Quad, Work},
};

/// Most partners of a segment.
pub(crate) const MAX_PARTNERS: usize = 8;

/// Segments of the same strand that are fewer apart do not touch: what keeps them apart is bending.
pub(crate) const MIN_APART: u32 = 8;

/// Segments that a thread takes at a time: dense places take much longer than others.
const TAKEN: usize = 512;

/// No segment.
const NONE: u32 = u32::MAX;

/// Partners of a segment, by their first nodes; [`NONE`] after the last.
type Partners = [u32; MAX_PARTNERS];

/// How strands overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Overlap {
    /// Thickness less the smallest distance \[m\], at least 0.
    pub deepest: f64,
    /// Number of pairs of segments nearer than the thickness.
    pub pairs: u64,
    /// Segments that were not measured: not finite, far away or absurdly long.
    pub skipped: usize,
}

/// Finds and evaluates the pairs of segments of strands that touch.
#[derive(Debug)]
pub(crate) struct StrandPairs {
    /// Strand of each node.
    strands: Vec<u32>,
    /// Whether a segment starts at a node: not at the last of a strand.
    is_segment: Vec<bool>,
    grid: Grid,
    /// The nearest segments of each one, in the order of the grid.
    found: Vec<Partners>,
    /// Place of each segment in that order.
    ranks: Vec<u32>,
    /// Partners by the first node of a segment, nearest first.
    partners: Vec<Partners>,
    /// Deepest overlap \[m\] and number of overlaps of segments with later ones, in the order of the grid.
    overlaps: Vec<(f64, u32)>,
}

impl StrandPairs {
    /// For strands with these numbers of nodes, one after the other.
    pub(crate) fn new(counts: &[u32]) -> Self {
        let nodes = counts.iter().map(|&count| count as usize).sum();
        let (mut strands, mut is_segment) = (Vec::with_capacity(nodes), Vec::with_capacity(nodes));
        for (k, &count) in counts.iter().enumerate() {
            strands.extend((0..count).map(|_| k as u32));
            is_segment.extend((0..count).map(|v| v + 1 < count));
        }
        Self {
            strands,
            is_segment,
            grid: Grid::default(),
            found: Vec::new(),
            ranks: vec![NONE; nodes],
            partners: vec![[NONE; MAX_PARTNERS]; nodes],
            overlaps: Vec::new(),
        }
    }

    /// Whether two segments can touch: not neighbours on the same strand.
    fn may_touch(strands: &[u32], a: u32, b: u32) -> bool {
        strands[a as usize] != strands[b as usize] || a.abs_diff(b) >= MIN_APART
    }

    /// Finds the pairs nearer than `reach` \[m\] at positions `x` \[m\]: [`PairLaw::reach`] and what segments
    /// may approach each other until the next search.
    pub(crate) fn search(&mut self, x: &[Quad], reach: f32, threads: &Threads) {
        assert_eq!(x.len(), self.strands.len(), "positions and strands do not match");
        self.grid.build(&self.is_segment, x, reach, threads);
        let (grid, strands, kind) = (&self.grid, &self.strands, LaneKind::detect());
        self.found.resize(grid.order.len(), [NONE; MAX_PARTNERS]);
        threads.each_piece(&mut self.found, TAKEN, |first, found| {
            let order = &grid.order[first..first + found.len()];
            lanes::run(kind, Nearest { grid, strands, x, reach, order, found });
        });
        self.ranks.fill(NONE);
        for (rank, &v) in grid.order.iter().enumerate() {
            self.ranks[v as usize] = rank as u32;
        }
        let (ranks, found) = (&self.ranks, &self.found);
        threads.each(&mut self.partners, TAKEN, |first, partners| {
            for (k, partners) in partners.iter_mut().enumerate() {
                let v = (first + k) as u32;
                *partners = mutual(v, ranks, found);
            }
        });
    }

    #[cfg(test)]
    /// The pairs that were found, each once, by the first nodes of their segments, the lower first.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        let sides = self.partners.iter().enumerate();
        sides.flat_map(|(v, partners)| {
            let v = v as u32;
            partners.iter().filter(move |&&other| other != NONE && v < other).map(move |&other| [v, other])
        })
    }

    #[cfg(test)]
    /// Segments that the last search skipped: not finite, far away or absurdly long.
    pub(crate) fn skipped(&self) -> usize {
        self.grid.skipped
    }

    /// Sets the blocks of all nodes to what the pairs found last do at the positions in `state`. They may
    /// serve for several iterations.
    pub(crate) fn evaluate(
        &self,
        law: &PairLaw,
        state: &PairState<'_>,
        blocks: &mut [NodeBlock],
        threads: &Threads,
    ) {
        let nodes = self.strands.len();
        let lengths = [state.x.len(), state.old.len(), state.mass.len(), blocks.len()];
        assert_eq!(lengths, [nodes; 4], "state and strands do not match");
        let side = |v: usize| {
            let (mut start, mut end) = (NodeBlock::default(), NodeBlock::default());
            for &other in self.partners[v].iter().take_while(|&&other| other != NONE) {
                forces::add_side(law, state, [v, other as usize], [&mut start, &mut end]);
            }
            (start, end)
        };
        threads.each_piece(blocks, TAKEN, |first, blocks| {
            // The segment that ends at the first node is evaluated here too, for that end.
            let mut before = if first > 0 { side(first - 1).1 } else { NodeBlock::default() };
            for (k, block) in blocks.iter_mut().enumerate() {
                let (start, end) = side(first + k);
                *block = before;
                for c in 0..6 {
                    block.h[c] += start.h[c];
                }
                for c in 0..3 {
                    block.b[c] += start.b[c];
                }
                before = end;
            }
        });
    }

    /// How all segments overlap that may touch, also beyond [`MAX_PARTNERS`]. Uses the grid of the search;
    /// pairs that were found stay.
    pub(crate) fn overlap(&mut self, x: &[Quad], thickness: f32, threads: &Threads) -> Overlap {
        assert_eq!(x.len(), self.strands.len(), "positions and strands do not match");
        self.grid.build(&self.is_segment, x, thickness, threads);
        let (grid, strands, kind) = (&self.grid, &self.strands, LaneKind::detect());
        self.overlaps.resize(grid.order.len(), (0.0, 0));
        threads.each_piece(&mut self.overlaps, TAKEN, |first, overlaps| {
            let order = &grid.order[first..first + overlaps.len()];
            lanes::run(kind, Overlaps { grid, strands, x, thickness, order, overlaps });
        });
        let mut all = Overlap { skipped: grid.skipped, ..Overlap::default() };
        for &(deepest, pairs) in &self.overlaps {
            all.deepest = all.deepest.max(deepest);
            all.pairs += u64::from(pairs);
        }
        all
    }
}

/// The partners of segment `v` of which it is one.
fn mutual(v: u32, ranks: &[u32], found: &[Partners]) -> Partners {
    let mut partners = [NONE; MAX_PARTNERS];
    let Some(own) = found.get(ranks[v as usize] as usize) else { return partners };
    let theirs = |other: &u32| found[ranks[*other as usize] as usize];
    let both = own.iter().take_while(|&&other| other != NONE).filter(|other| theirs(other).contains(&v));
    partners.iter_mut().zip(both).for_each(|(place, &other)| *place = other);
    partners
}

/// Finds the nearest segments of each one in `order`.
struct Nearest<'a> {
    grid: &'a Grid,
    strands: &'a [u32],
    x: &'a [Quad],
    reach: f32,
    order: &'a [u32],
    found: &'a mut [Partners],
}

impl Work for Nearest<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let ends = |v: u32| [point(&self.x[v as usize]), point(&self.x[v as usize + 1])];
        for (&v, found) in self.order.iter().zip(self.found) {
            let own = ends(v);
            let mut list = List { keys: [(f32::INFINITY, NONE); MAX_PARTNERS], count: 0 };
            let mut limit = self.reach * self.reach;
            let mut reach = self.reach;
            self.grid.near::<L>(self.x, v, |piece, other| {
                if StrandPairs::may_touch(self.strands, v, other.segment) {
                    let squared = distance(self.grid, [piece, other], [own, ends(other.segment)]);
                    if squared <= limit && list.add((squared, other.segment)) {
                        // Equal distances must still be met: the lower index goes first.
                        limit = list.keys[MAX_PARTNERS - 1].0;
                        reach = limit.sqrt();
                    }
                }
                reach
            });
            *found = list.keys.map(|(_, other)| other);
        }
    }
}

/// Square of the distance of two segments \[m²\]; infinite if their nearest points are not on these pieces.
#[inline(always)]
fn distance(grid: &Grid, pieces: [Piece; 2], ends: [[Vec3; 2]; 2]) -> f32 {
    // In the order of their indices, so that both sides have the same bits.
    let first = usize::from(pieces[1].segment < pieces[0].segment);
    let order = [first, 1 - first];
    let found = segment::nearest(ends[order[0]], ends[order[1]]);
    let is_here = grid.is_pair_of(order.map(|k| pieces[k]), found.at);
    if is_here { found.apart.length_squared() } else { f32::INFINITY }
}

/// The nearest segments, by distance and index.
struct List {
    keys: [(f32, u32); MAX_PARTNERS],
    count: usize,
}

impl List {
    /// Puts one where it belongs; says whether the list is full.
    #[inline(always)]
    fn add(&mut self, key: (f32, u32)) -> bool {
        let mut place = self.count.min(MAX_PARTNERS - 1);
        if self.count == MAX_PARTNERS && key >= self.keys[place] {
            return true;
        }
        while place > 0 && key < self.keys[place - 1] {
            self.keys[place] = self.keys[place - 1];
            place -= 1;
        }
        self.keys[place] = key;
        self.count = (self.count + 1).min(MAX_PARTNERS);
        self.count == MAX_PARTNERS
    }
}

/// Measures how each segment in `order` overlaps later ones.
struct Overlaps<'a> {
    grid: &'a Grid,
    strands: &'a [u32],
    x: &'a [Quad],
    thickness: f32,
    order: &'a [u32],
    overlaps: &'a mut [(f64, u32)],
}

impl Work for Overlaps<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let at = |v: u32| point(&self.x[v as usize]).as_dvec3();
        let ends = |v: u32| [at(v), at(v + 1)];
        let thickness = f64::from(self.thickness);
        for (&v, overlap) in self.order.iter().zip(self.overlaps) {
            let own: [DVec3; 2] = ends(v);
            *overlap = (0.0, 0);
            self.grid.near::<L>(self.x, v, |piece, other| {
                if v < other.segment && StrandPairs::may_touch(self.strands, v, other.segment) {
                    let [c, d] = ends(other.segment);
                    let found = edge_edge(&[own[0], own[1], c, d]);
                    let on = [found.weights[1] as f32, -found.weights[3] as f32];
                    let depth = thickness - found.squared.sqrt();
                    if depth > 0.0 && self.grid.is_pair_of([piece, other], on) {
                        *overlap = (overlap.0.max(depth), overlap.1 + 1);
                    }
                }
                self.thickness
            });
        }
    }
}

#[cfg(test)]
mod tests;
