//! Contact of strands of hair with each other: which segments are near ([`tree`], [`segment`]), what they do
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
mod segment;
mod tree;

pub(crate) use self::forces::{NodeBlock, PairLaw, PairState};
use self::{
    forces::{Evaluation, smallest},
    tree::{Tree, Visitor, point},
};
use crate::{
    contact::distance::edge_edge,
    exec::threads::Threads,
    kernel::lanes::{self, BATCH, LaneKind, Lanes, Quad, Work},
};

/// Most partners of a segment.
pub(crate) const MAX_PARTNERS: usize = 8;

/// Segments of the same strand that are fewer apart do not touch: what keeps them apart is bending.
pub(crate) const MIN_APART: u32 = 8;

/// Segments that a thread takes at a time, and blocks of them: dense places take much longer than others.
const TAKEN: usize = 2048;
const TAKEN_BLOCKS: usize = 32;

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
    tree: Tree,
    /// The nearest segments of each one, in the order of the tree.
    found: Vec<[Partners; BATCH]>,
    /// Place of each segment in that order.
    ranks: Vec<u32>,
    /// Partners by the first node of a segment, nearest first.
    partners: Vec<Partners>,
    /// Positions when pairs are evaluated \[m\], and the smallest mass of the segment that starts there.
    placed: Vec<Quad>,
    /// Deepest overlap \[m\] and number of overlaps of the segments of a block with later ones.
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
            tree: Tree::default(),
            found: Vec::new(),
            ranks: vec![NONE; nodes],
            partners: vec![[NONE; MAX_PARTNERS]; nodes],
            placed: Vec::new(),
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
        self.tree.build(&self.is_segment, x, reach, threads);
        let (tree, strands, kind) = (&self.tree, &self.strands, LaneKind::detect());
        self.found.resize(tree.count(), [[NONE; MAX_PARTNERS]; BATCH]);
        threads.each_piece(&mut self.found, TAKEN_BLOCKS, |first, found| {
            lanes::run(kind, Nearest { tree, strands, reach, first, found });
        });
        self.ranks.fill(NONE);
        for (rank, &v) in tree.order.iter().enumerate() {
            self.ranks[v as usize] = rank as u32;
        }
        let (ranks, found) = (&self.ranks, self.found.as_flattened());
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
        self.tree.skipped
    }

    /// Sets the blocks of all nodes to what the pairs found last do at the positions in `state`. They may
    /// serve for several iterations.
    pub(crate) fn evaluate(
        &mut self,
        law: &PairLaw,
        state: &PairState<'_>,
        blocks: &mut [NodeBlock],
        threads: &Threads,
    ) {
        let nodes = self.strands.len();
        let lengths = [state.x.len(), state.old.len(), state.mass.len(), blocks.len()];
        assert_eq!(lengths, [nodes; 4], "state and strands do not match");
        let mass = |v: usize| state.mass.get(v).copied().unwrap_or(0.0);
        self.placed.resize(nodes, [0.0; 4]);
        threads.each(&mut self.placed, TAKEN, |first, placed| {
            for (v, placed) in (first..).zip(placed) {
                let [x, y, z, _] = state.x[v];
                *placed = [x, y, z, smallest(mass(v), mass(v + 1))];
            }
        });
        let (x, partners, kind) = (&self.placed[..], &self.partners[..], LaneKind::detect());
        threads.each_piece(blocks, TAKEN, |first, blocks| {
            let (old, c_dt2) = (state.old, state.c_dt2);
            lanes::run(kind, Evaluation { law, c_dt2, x, old, partners, first, blocks });
        });
    }

    /// How all segments overlap that may touch, also beyond [`MAX_PARTNERS`]. Uses the tree of the search;
    /// pairs that were found stay.
    pub(crate) fn overlap(&mut self, x: &[Quad], thickness: f32, threads: &Threads) -> Overlap {
        assert_eq!(x.len(), self.strands.len(), "positions and strands do not match");
        self.tree.build(&self.is_segment, x, thickness, threads);
        let (tree, strands, kind) = (&self.tree, &self.strands, LaneKind::detect());
        self.overlaps.resize(tree.count(), (0.0, 0));
        threads.each_piece(&mut self.overlaps, TAKEN_BLOCKS, |first, overlaps| {
            lanes::run(kind, Overlaps { tree, strands, x, thickness, first, overlaps });
        });
        let mut all = Overlap { skipped: tree.skipped, ..Overlap::default() };
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

/// Finds the nearest segments of each one in blocks from `first` on.
struct Nearest<'a> {
    tree: &'a Tree,
    strands: &'a [u32],
    reach: f32,
    first: usize,
    found: &'a mut [[Partners; BATCH]],
}

impl Work for Nearest<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { tree, strands, reach, first, found } = self;
        for (k, found) in found.iter_mut().enumerate() {
            let list = List { keys: [(f32::INFINITY, NONE); MAX_PARTNERS], count: 0 };
            let (lists, limits) = ([list; BATCH], [(reach * reach, reach); BATCH]);
            let members = tree.members(first + k);
            let mut lists = Lists { tree, strands, members, lists, limits };
            tree.near::<L>(first + k, &mut lists);
            for lane in 0..BATCH {
                for place in 0..MAX_PARTNERS {
                    found[lane][place] = lists.lists[lane].keys[place].1;
                }
            }
        }
    }
}

/// The nearest segments of those of a block.
struct Lists<'a> {
    tree: &'a Tree,
    strands: &'a [u32],
    members: &'a [u32],
    lists: [List; BATCH],
    /// Up to where others still get into the list of each: the square \[m²\], and its root \[m\].
    limits: [(f32, f32); BATCH],
}

impl Visitor for Lists<'_> {
    #[inline(always)]
    fn reach(&self, own: usize) -> f32 {
        self.limits[own].1
    }

    #[inline(always)]
    fn wants(own: u32, other: u32) -> bool {
        own != other
    }

    #[inline(always)]
    fn limit(&self, own: usize) -> f32 {
        self.limits[own].0
    }

    #[inline(always)]
    fn visit(&mut self, own: usize, mut lanes: u32, others: &[u32; BATCH], squared: &[f32; BATCH]) {
        let (v, list) = (self.members[own], &mut self.lists[own]);
        let (mut limit, mut is_full) = (self.limits[own].0, false);
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize % BATCH;
            lanes &= lanes - 1;
            // Equal distances must still be met: the lower index goes first.
            if squared[lane] <= limit {
                let other = self.tree.order[others[lane] as usize];
                if StrandPairs::may_touch(self.strands, v, other) && list.add((squared[lane], other)) {
                    (limit, is_full) = (list.keys[MAX_PARTNERS - 1].0, true);
                }
            }
        }
        if is_full {
            self.limits[own] = (limit, limit.sqrt());
        }
    }

    #[inline(always)]
    fn margin(_: f32) -> f32 {
        0.0
    }
}

/// The nearest segments, by distance and index.
#[derive(Clone, Copy)]
struct List {
    keys: [(f32, u32); MAX_PARTNERS],
    count: usize,
}

impl List {
    /// Puts one where it belongs; says whether the list is full.
    #[inline(always)]
    fn add(&mut self, key: (f32, u32)) -> bool {
        let mut place = self.count.min(MAX_PARTNERS - 1);
        if self.count == MAX_PARTNERS && !is_less(key, self.keys[place]) {
            return true;
        }
        while place > 0 && is_less(key, self.keys[place - 1]) {
            self.keys[place] = self.keys[place - 1];
            place -= 1;
        }
        self.keys[place] = key;
        self.count = (self.count + 1).min(MAX_PARTNERS);
        self.count == MAX_PARTNERS
    }
}

#[inline(always)]
fn is_less(a: (f32, u32), b: (f32, u32)) -> bool {
    a.0 < b.0 || (a.0 == b.0 && a.1 < b.1)
}

/// Measures how the segments of blocks from `first` on overlap later ones.
struct Overlaps<'a> {
    tree: &'a Tree,
    strands: &'a [u32],
    x: &'a [Quad],
    thickness: f32,
    first: usize,
    overlaps: &'a mut [(f64, u32)],
}

impl Work for Overlaps<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Self { tree, strands, x, thickness, first, overlaps } = self;
        for (k, overlap) in overlaps.iter_mut().enumerate() {
            let members = tree.members(first + k);
            let mut measure = Measure { tree, strands, x, thickness, members, deepest: 0.0, pairs: 0 };
            tree.near::<L>(first + k, &mut measure);
            *overlap = (measure.deepest, measure.pairs);
        }
    }
}

/// What overlaps segments of a block.
struct Measure<'a> {
    tree: &'a Tree,
    strands: &'a [u32],
    x: &'a [Quad],
    thickness: f32,
    members: &'a [u32],
    deepest: f64,
    pairs: u32,
}

impl Visitor for Measure<'_> {
    #[inline(always)]
    fn reach(&self, _: usize) -> f32 {
        self.thickness
    }

    #[inline(always)]
    fn wants(own: u32, other: u32) -> bool {
        own < other
    }

    #[inline(always)]
    fn limit(&self, own: usize) -> f32 {
        let v = self.members[own] as usize;
        let [a, b] = [point(&self.x[v]), point(&self.x[v + 1])];
        let limit = self.thickness + Self::margin(a.distance(b)) + 1e-6 * a.abs().max_element();
        limit * limit
    }

    #[inline(always)]
    fn visit(&mut self, own: usize, mut lanes: u32, others: &[u32; BATCH], _: &[f32; BATCH]) {
        let v = self.members[own];
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize % BATCH;
            lanes &= lanes - 1;
            let other = self.tree.order[others[lane] as usize];
            if StrandPairs::may_touch(self.strands, v, other) {
                // What single precision cannot tell is measured in double precision.
                let (a, b) = (v.min(other), v.max(other));
                let ends = [a, a + 1, b, b + 1].map(|v| point(&self.x[v as usize]).as_dvec3());
                let depth = f64::from(self.thickness) - edge_edge(&ends).squared.sqrt();
                if depth > 0.0 {
                    (self.deepest, self.pairs) = (self.deepest.max(depth), self.pairs + 1);
                }
            }
        }
    }

    /// Twice what [`closest`](segment::closest) may be wrong by.
    #[inline(always)]
    fn margin(length: f32) -> f32 {
        2e-4 * length
    }
}

#[cfg(test)]
mod tests;
