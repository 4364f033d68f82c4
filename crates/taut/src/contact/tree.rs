//! A bounding volume hierarchy over the primitives of a surface: built once, refitted when positions change.
//!
//! Nodes are stored in depth-first order. A node whose box is missed jumps to its `skip`, so that a query is
//! one loop without a stack. Refitting runs through the same array backwards.
//!
//! Primitives move along straight lines during a step. A box around a primitive's whole path would overlap
//! those of all its neighbours in cloth that moves by more than an edge. So start positions and displacements
//! have separate boxes ([`Swept`]), and two primitives are tested by their starts and their *relative*
//! displacement: a common motion adds no overlaps.

use crate::exec::threads::Threads;

/// An axis-aligned box \[m\]. The fourth components are 0: four are compared at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Lowest corner.
    pub low: [f32; 4],
    /// Highest corner.
    pub high: [f32; 4],
}

impl Bounds {
    /// The empty box.
    pub const EMPTY: Self = Self { low: [f32::INFINITY; 4], high: [f32::NEG_INFINITY; 4] };

    /// The smallest box that contains this one and the point `x`.
    #[inline(always)]
    pub fn with(mut self, x: &[f32; 4]) -> Self {
        let x = [x[0], x[1], x[2], 0.0];
        for k in 0..4 {
            self.low[k] = self.low[k].min(x[k]);
            self.high[k] = self.high[k].max(x[k]);
        }
        self
    }

    /// The smallest box that contains this one and another.
    #[inline(always)]
    pub fn union(mut self, other: &Self) -> Self {
        for k in 0..4 {
            self.low[k] = self.low[k].min(other.low[k]);
            self.high[k] = self.high[k].max(other.high[k]);
        }
        self
    }

    /// Squared distance of the point `x` from the box \[m²\]; 0 inside.
    #[inline]
    pub fn distance_squared(&self, x: &[f64; 3]) -> f64 {
        let mut sum = 0.0;
        for (k, &x) in x.iter().enumerate() {
            let past = (f64::from(self.low[k]) - x).max(x - f64::from(self.high[k])).max(0.0);
            sum += past * past;
        }
        sum
    }

    fn middle(&self, axis: usize) -> f32 {
        0.5 * self.low[axis] + 0.5 * self.high[axis]
    }
}

/// Start positions and displacements of the points of a primitive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Swept {
    /// Box of their start positions \[m\].
    pub start: Bounds,
    /// Box of their displacements \[m\].
    pub way: Bounds,
}

impl Swept {
    /// No points.
    pub const EMPTY: Self = Self { start: Bounds::EMPTY, way: Bounds::EMPTY };

    /// Extended by a point that moves from `from` to `to`.
    #[inline(always)]
    pub fn with(self, from: &[f32; 4], to: &[f32; 4]) -> Self {
        let way = std::array::from_fn(|k| to[k] - from[k]);
        Self { start: self.start.with(from), way: self.way.with(&way) }
    }

    /// Extended by the points of another primitive.
    #[inline(always)]
    pub fn union(self, other: &Self) -> Self {
        Self { start: self.start.union(&other.start), way: self.way.union(&other.way) }
    }

    /// Inflated by `margin` \[m\] on every side, and by the rounding error of starts and displacements.
    #[inline(always)]
    pub fn grown(mut self, margin: f32) -> Self {
        for k in 0..4 {
            let size = self.start.low[k].abs().max(self.start.high[k].abs());
            let way = self.way.low[k].abs().max(self.way.high[k].abs());
            // Differences and sums of a few such numbers have a smaller rounding error.
            let rounding = 4.0 * f32::EPSILON * (size + way);
            self.start.low[k] -= margin + rounding;
            self.start.high[k] += margin + rounding;
        }
        self
    }

    /// Whether two primitives may share a point at some time of the step. If not, there is an axis along
    /// which they stay apart.
    #[inline(always)]
    pub fn meets(&self, other: &Self) -> bool {
        let mut apart = false;
        for k in 0..4 {
            let over =
                (self.start.low[k] - other.start.high[k]) + (self.way.low[k] - other.way.high[k]).min(0.0);
            let under =
                (other.start.low[k] - self.start.high[k]) + (other.way.low[k] - self.way.high[k]).min(0.0);
            apart |= (over > 0.0) | (under > 0.0);
        }
        !apart
    }
}

/// Primitives below which refitting is not parallel.
const GRAIN: usize = 1000;

/// Maximum number of primitives in a leaf.
const MAX_LEAF_SIZE: usize = 6;

/// Upper bound on the depth of a tree.
const MAX_DEPTH: usize = 64;

/// A tree of boxes over primitives that are numbered from 0.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    /// The primitives in leaf order.
    parts: Vec<u32>,
    /// Their boxes, in the same order.
    boxes: Vec<Swept>,
    /// The nodes that are leaves.
    leaves: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Swept,
    /// The next node if the box is missed.
    skip: u32,
    /// Index of the first primitive of a leaf; unused in other nodes.
    first: u32,
    /// Number of primitives of a leaf; 0 in other nodes.
    count: u32,
    /// Number of a leaf among all leaves; unused in other nodes.
    leaf: u32,
}

impl Tree {
    /// A tree over primitives with these boxes, split in halves along the longest side.
    pub fn new(boxes: &[Swept]) -> Self {
        Self::with_leaves_of(boxes, MAX_LEAF_SIZE)
    }

    /// The same, with leaves of at most so many primitives.
    pub fn with_leaves_of(boxes: &[Swept], most: usize) -> Self {
        let mut parts: Vec<u32> = (0..boxes.len() as u32).collect();
        let mut nodes = Vec::with_capacity(2 * boxes.len().div_ceil(most) + 1);
        if !boxes.is_empty() {
            split(boxes, &mut parts, (0, most), &mut nodes);
        }
        let boxes = parts.iter().map(|&part| boxes[part as usize]).collect();
        let leaves: Vec<u32> = (0..nodes.len() as u32).filter(|&i| nodes[i as usize].count > 0).collect();
        for (number, &leaf) in (0..).zip(&leaves) {
            nodes[leaf as usize].leaf = number;
        }
        let mut tree = Self { nodes, parts, boxes, leaves };
        tree.fit_nodes();
        tree
    }

    /// Whether there are no primitives.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Refits the tree to new boxes of the same primitives.
    pub fn refit(&mut self, box_of: impl Fn(u32) -> Swept) {
        for (bounds, &part) in self.boxes.iter_mut().zip(&self.parts) {
            *bounds = box_of(part);
        }
        self.fit_nodes();
    }

    /// The same on several threads.
    pub fn refit_on(&mut self, threads: &Threads, box_of: impl Fn(u32) -> Swept + Sync) {
        let parts = &self.parts;
        threads.each(&mut self.boxes, GRAIN, |first, boxes| {
            for (bounds, &part) in boxes.iter_mut().zip(&parts[first..]) {
                *bounds = box_of(part);
            }
        });
        self.fit_nodes();
    }

    fn fit_nodes(&mut self) {
        for i in (0..self.nodes.len()).rev() {
            let Node { first, count, .. } = self.nodes[i];
            let bounds = if count > 0 {
                let boxes = &self.boxes[first as usize..(first + count) as usize];
                boxes.iter().fold(Swept::EMPTY, Swept::union)
            } else {
                // Its two children: the next node, and the one after that one's subtree.
                let second = self.nodes[i + 1].skip as usize;
                self.nodes[i + 1].bounds.union(&self.nodes[second].bounds)
            };
            self.nodes[i].bounds = bounds;
        }
    }

    /// Calls `found` with each primitive whose box `part` may meet, in tree order.
    #[inline(always)]
    pub fn search(&self, part: &Swept, mut found: impl FnMut(u32)) {
        self.visit(0, part, |node| {
            for place in node.places() {
                if self.boxes[place].meets(part) {
                    found(self.parts[place]);
                }
            }
        });
    }

    /// Whether there is a primitive whose box `part` may meet.
    pub fn meets_any(&self, part: &Swept) -> bool {
        let mut i = 0;
        while let Some(node) = self.nodes.get(i) {
            if !node.bounds.meets(part) {
                i = node.skip as usize;
                continue;
            }
            if node.places().any(|place| self.boxes[place].meets(part)) {
                return true;
            }
            i += 1;
        }
        false
    }

    /// The primitive whose start is nearest to the point `x`, closer than the square root of `within` \[m²\],
    /// and its squared distance, which `squared` computes. On a tie, the first in tree order.
    pub fn nearest(
        &self,
        x: &[f64; 3],
        within: f64,
        mut squared: impl FnMut(u32) -> f64,
    ) -> Option<(u32, f64)> {
        let (mut best, mut found) = (within, None);
        // Every split halves the primitives: no tree is deeper than this.
        let mut later = [(0u32, 0.0f64); MAX_DEPTH];
        let mut waiting = usize::from(!self.nodes.is_empty());
        while waiting > 0 {
            waiting -= 1;
            let (at, distance) = later[waiting];
            if distance >= best {
                continue;
            }
            let node = &self.nodes[at as usize];
            if node.count > 0 {
                for place in node.places() {
                    if self.boxes[place].start.distance_squared(x) < best {
                        let distance = squared(self.parts[place]);
                        if distance < best {
                            (best, found) = (distance, Some((self.parts[place], distance)));
                        }
                    }
                }
                continue;
            }
            let children = [at + 1, self.nodes[at as usize + 1].skip];
            let [first, second] =
                children.map(|child| (child, self.nodes[child as usize].bounds.start.distance_squared(x)));
            // The nearer child is searched first.
            let [far, near] = if second.1 < first.1 { [first, second] } else { [second, first] };
            (later[waiting], later[waiting + 1]) = (far, near);
            waiting += 2;
        }
        found
    }

    /// Number of leaves.
    pub fn leaf_count(&self) -> usize {
        self.leaves.len()
    }

    /// The primitives of a leaf.
    pub fn leaf(&self, leaf: usize) -> &[u32] {
        &self.parts[self.nodes[self.leaves[leaf] as usize].places()]
    }

    /// Calls `found` with the number and the box of each leaf whose box `part` may meet.
    #[inline(always)]
    pub fn search_leaves(&self, part: &Swept, mut found: impl FnMut(usize, &Swept)) {
        self.visit(0, part, |node| found(node.leaf as usize, &node.bounds));
    }

    /// Calls `found` with each two primitives that may meet, one of leaf `leaf` and the other of the same or
    /// a later leaf: over all leaves, every such pair once.
    #[inline(always)]
    pub fn meet_later(&self, leaf: usize, mut found: impl FnMut(u32, u32)) {
        let at = self.leaves[leaf] as usize;
        let own = &self.nodes[at];
        // The nodes after a leaf in the array are the later leaves and the ancestors of these that are not
        // its own.
        self.visit(at, &own.bounds, |node| {
            for a in own.places() {
                for b in node.places().skip_while(|&b| b <= a) {
                    if self.boxes[a].meets(&self.boxes[b]) {
                        found(self.parts[a], self.parts[b]);
                    }
                }
            }
        });
    }

    /// Calls `found` with each two primitives that may meet, one of leaf `leaf` and one of another tree.
    #[inline(always)]
    pub fn meet_leaf(&self, leaf: usize, other: &Self, mut found: impl FnMut(u32, u32)) {
        let own = &self.nodes[self.leaves[leaf] as usize];
        other.visit(0, &own.bounds, |node| {
            for a in own.places() {
                for b in node.places() {
                    if self.boxes[a].meets(&other.boxes[b]) {
                        found(self.parts[a], other.parts[b]);
                    }
                }
            }
        });
    }

    /// Calls `leaf` with each leaf, from node `from` on, whose box may meet `part`.
    #[inline(always)]
    fn visit(&self, from: usize, part: &Swept, mut leaf: impl FnMut(&Node)) {
        let mut i = from;
        while let Some(node) = self.nodes.get(i) {
            if !node.bounds.meets(part) {
                i = node.skip as usize;
                continue;
            }
            if node.count > 0 {
                leaf(node);
            }
            i += 1;
        }
    }
}

impl Node {
    /// Index range of the primitives of a leaf.
    #[inline(always)]
    fn places(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

/// Adds the subtree of `parts`, whose first primitive has index `first`, with at most `most` in a leaf.
fn split(boxes: &[Swept], parts: &mut [u32], (first, most): (usize, usize), nodes: &mut Vec<Node>) {
    let node = nodes.len();
    let count = if parts.len() <= most { parts.len() as u32 } else { 0 };
    nodes.push(Node { bounds: Swept::EMPTY, skip: 0, first: first as u32, count, leaf: 0 });
    if count == 0 {
        let all = parts.iter().fold(Bounds::EMPTY, |all, &part| all.union(&boxes[part as usize].start));
        let side = |k: usize| all.high[k] - all.low[k];
        let axis = (0..3).fold(0, |best, k| if side(k) > side(best) { k } else { best });
        let half = parts.len() / 2;
        parts.select_nth_unstable_by(half, |&a, &b| {
            let (x, y) = (boxes[a as usize].start.middle(axis), boxes[b as usize].start.middle(axis));
            x.total_cmp(&y).then(a.cmp(&b))
        });
        let (left, right) = parts.split_at_mut(half);
        // Neighbours in tree order are also neighbours in the order of the primitives.
        left.sort_unstable();
        right.sort_unstable();
        split(boxes, left, (first, most), nodes);
        split(boxes, right, (first + half, most), nodes);
    }
    nodes[node].skip = nodes.len() as u32;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::random::Random;

    fn point(random: &mut Random) -> [f32; 4] {
        [(); 4].map(|()| random.unit())
    }

    fn soup(random: &mut Random, count: usize, size: f32) -> Vec<Swept> {
        let mut parts = Vec::new();
        for _ in 0..count {
            let middle = point(random);
            let mut part = Swept::EMPTY;
            for _ in 0..3 {
                let (corner, way) = (point(random), point(random));
                let from: [f32; 4] = std::array::from_fn(|k| middle[k] + size * corner[k]);
                let to = std::array::from_fn(|k| from[k] + 0.5 * way[k]);
                part = part.with(&from, &to);
            }
            parts.push(part.grown(0.01));
        }
        parts
    }

    fn found(tree: &Tree, part: &Swept) -> Vec<u32> {
        let mut found = Vec::new();
        tree.search(part, |part| found.push(part));
        found.sort_unstable();
        found
    }

    #[test]
    fn finds_what_trying_all_finds_also_after_refitting() {
        let mut random = Random::new(7, 0);
        for count in [0, 1, 3, 4, 5, 17, 300] {
            let (first, second) = (soup(&mut random, count, 0.2), soup(&mut random, count, 0.3));
            let mut tree = Tree::new(&first);
            for parts in [&first, &second] {
                tree.refit_on(&Threads::new(2).unwrap(), |part| parts[part as usize]);
                for query in soup(&mut random, 50, 0.2) {
                    let all: Vec<u32> =
                        (0..count as u32).filter(|&part| parts[part as usize].meets(&query)).collect();
                    assert_eq!(found(&tree, &query), all);
                }
            }
        }
    }

    #[test]
    fn the_nearest_is_what_trying_all_finds() {
        let mut random = Random::new(11, 0);
        for count in [0, 1, 6, 7, 300] {
            let parts = soup(&mut random, count, 0.05);
            let tree = Tree::new(&parts);
            for round in 0..200 {
                let x = [(); 3].map(|()| f64::from(3.0 * random.unit() - 1.0));
                let squared = |part: u32| parts[part as usize].start.distance_squared(&x);
                let within = if round % 2 == 0 { f64::INFINITY } else { 0.04 };
                let all =
                    (0..count as u32).map(squared).filter(|&d| d < within).fold(f64::INFINITY, f64::min);
                match tree.nearest(&x, within, squared) {
                    Some((part, distance)) => {
                        assert_eq!(distance, all);
                        assert_eq!(squared(part), all);
                    }
                    None => assert_eq!(all, f64::INFINITY),
                }
            }
        }
    }

    #[test]
    fn leaf_by_leaf_every_pair_is_met_once() {
        let mut random = Random::new(8, 0);
        for count in [0, 1, 5, 6, 7, 90] {
            let parts = soup(&mut random, count, 0.2);
            let tree = Tree::new(&parts);
            let mut within = Vec::new();
            for leaf in 0..tree.leaf_count() {
                tree.meet_later(leaf, |a, b| within.push([a.min(b), a.max(b)]));
            }
            within.sort_unstable();
            let pairs = (0..count as u32).flat_map(|a| (a + 1..count as u32).map(move |b| [a, b]));
            let all: Vec<[u32; 2]> =
                pairs.filter(|&[a, b]| parts[a as usize].meets(&parts[b as usize])).collect();
            assert_eq!(within, all);
        }
    }

    #[test]
    fn points_that_meet_on_their_way_are_never_told_apart() {
        let mut random = Random::new(9, 0);
        for round in 0..20_000 {
            let size = [1.0, 1e-4, 1e4][round % 3];
            let time = random.unit();
            let meeting = point(&mut random).map(|x| 1e3 * x);
            let mut through = || {
                let way = point(&mut random).map(|w| size * (w - 0.5));
                let from: [f32; 4] = std::array::from_fn(|k| meeting[k] - time * way[k]);
                Swept::EMPTY.with(&from, &std::array::from_fn(|k| from[k] + way[k])).grown(0.0)
            };
            let (a, b) = (through(), through());
            assert!(a.meets(&b) && b.meets(&a), "{a:?} {b:?}");
        }
    }

    #[test]
    fn what_moves_together_is_as_far_apart_as_at_rest() {
        let at = |x: f32, far: f32| {
            Swept::EMPTY.with(&[x, 0.0, 0.0, 0.0], &[x + far, 2.0 * far, far, 0.0]).grown(1e-3)
        };
        assert!(!at(0.0, 1.0).meets(&at(0.01, 1.0)));
        assert!(at(0.0, 1.0).meets(&at(0.01, 0.9)));
        assert!(at(0.0, 0.0).meets(&at(0.0015, 0.0)));
    }
}
