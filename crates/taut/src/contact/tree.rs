//! A tree of boxes about the parts of a surface: built once, refitted whenever things have moved.
//!
//! Nodes lie in the order in which a depth-first search meets them. A node whose box is missed is left by its `skip`, so that
//! searching is one loop without a stack. Refitting goes through the same array backwards.

/// A box along the axes \[m\]. The fourth numbers are not used: four are compared at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Lowest corner.
    pub low: [f32; 4],
    /// Highest corner.
    pub high: [f32; 4],
}

impl Bounds {
    /// A box that holds nothing.
    pub const EMPTY: Self = Self { low: [f32::INFINITY; 4], high: [f32::NEG_INFINITY; 4] };

    /// The smallest box that holds this one and the point `x`.
    #[inline(always)]
    pub fn with(mut self, x: &[f32; 4]) -> Self {
        for k in 0..4 {
            self.low[k] = self.low[k].min(x[k]);
            self.high[k] = self.high[k].max(x[k]);
        }
        self
    }

    /// The smallest box that holds this one and another.
    #[inline(always)]
    pub fn union(mut self, other: &Self) -> Self {
        for k in 0..4 {
            self.low[k] = self.low[k].min(other.low[k]);
            self.high[k] = self.high[k].max(other.high[k]);
        }
        self
    }

    /// The box that reaches further by `margin` \[m\] on every side, rounded outwards.
    #[inline(always)]
    pub fn grown(mut self, margin: f32) -> Self {
        for k in 0..4 {
            self.low[k] = (self.low[k] - margin).next_down();
            self.high[k] = (self.high[k] + margin).next_up();
        }
        self
    }

    /// Whether the boxes share a point.
    #[inline(always)]
    pub fn meets(&self, other: &Self) -> bool {
        let mut apart = false;
        for k in 0..3 {
            apart |= (self.low[k] > other.high[k]) | (other.low[k] > self.high[k]);
        }
        !apart
    }

    fn middle(&self, axis: usize) -> f32 {
        0.5 * self.low[axis] + 0.5 * self.high[axis]
    }
}

/// Parts in a leaf, at most.
const LEAF: usize = 4;

/// A tree of boxes about parts that are numbered from 0.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    /// The parts in the order of the leaves.
    parts: Vec<u32>,
    /// Their boxes, in the same order.
    boxes: Vec<Bounds>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Bounds,
    /// The node to go on with if the box is missed.
    skip: u32,
    /// Place of the first part of a leaf; of no use elsewhere.
    first: u32,
    /// Number of parts of a leaf; 0 of other nodes.
    count: u32,
}

impl Tree {
    /// A tree about the parts with these boxes, split in halves along the longest side.
    pub fn new(boxes: &[Bounds]) -> Self {
        let mut parts: Vec<u32> = (0..boxes.len() as u32).collect();
        let mut nodes = Vec::with_capacity(2 * boxes.len().div_ceil(LEAF) + 1);
        if !boxes.is_empty() {
            split(boxes, &mut parts, 0, &mut nodes);
        }
        let boxes = parts.iter().map(|&part| boxes[part as usize]).collect();
        let mut tree = Self { nodes, parts, boxes };
        tree.fit_nodes();
        tree
    }

    /// Number of parts.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Whether there are no parts.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Fits the tree to other boxes of the same parts.
    pub fn refit(&mut self, box_of: impl Fn(u32) -> Bounds) {
        for (bounds, &part) in self.boxes.iter_mut().zip(&self.parts) {
            *bounds = box_of(part);
        }
        self.fit_nodes();
    }

    fn fit_nodes(&mut self) {
        for i in (0..self.nodes.len()).rev() {
            let Node { first, count, .. } = self.nodes[i];
            let bounds = if count > 0 {
                let boxes = &self.boxes[first as usize..(first + count) as usize];
                boxes.iter().fold(Bounds::EMPTY, Bounds::union)
            } else {
                // Its two children: the next node, and the one after that one's subtree.
                let second = self.nodes[i + 1].skip as usize;
                self.nodes[i + 1].bounds.union(&self.nodes[second].bounds)
            };
            self.nodes[i].bounds = bounds;
        }
    }

    /// Calls `found` with each part whose box meets `bounds`, in the tree's order.
    #[inline(always)]
    pub fn search(&self, bounds: &Bounds, mut found: impl FnMut(u32)) {
        let mut i = 0;
        while let Some(node) = self.nodes.get(i) {
            if !node.bounds.meets(bounds) {
                i = node.skip as usize;
                continue;
            }
            let parts = node.first as usize..(node.first + node.count) as usize;
            for place in parts {
                if self.boxes[place].meets(bounds) {
                    found(self.parts[place]);
                }
            }
            i += 1;
        }
    }
}

/// Adds the subtree of `parts`, of which the first has place `first`.
fn split(boxes: &[Bounds], parts: &mut [u32], first: usize, nodes: &mut Vec<Node>) {
    let node = nodes.len();
    let count = if parts.len() <= LEAF { parts.len() as u32 } else { 0 };
    nodes.push(Node { bounds: Bounds::EMPTY, skip: 0, first: first as u32, count });
    if count == 0 {
        let all = parts.iter().fold(Bounds::EMPTY, |all, &part| all.union(&boxes[part as usize]));
        let side = |k: usize| all.high[k] - all.low[k];
        let axis = (0..3).fold(0, |best, k| if side(k) > side(best) { k } else { best });
        let half = parts.len() / 2;
        parts.select_nth_unstable_by(half, |&a, &b| {
            let (x, y) = (boxes[a as usize].middle(axis), boxes[b as usize].middle(axis));
            x.total_cmp(&y).then(a.cmp(&b))
        });
        let (left, right) = parts.split_at_mut(half);
        // What follows in the order of the tree is near in the order of the parts as well.
        left.sort_unstable();
        right.sort_unstable();
        split(boxes, left, first, nodes);
        split(boxes, right, first + half, nodes);
    }
    nodes[node].skip = nodes.len() as u32;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::random::Random;

    fn soup(random: &mut Random, count: usize, size: f32) -> Vec<Bounds> {
        let mut boxes = Vec::new();
        for _ in 0..count {
            let corner: [f32; 4] = std::array::from_fn(|_| random.unit());
            let other: [f32; 4] = std::array::from_fn(|k| corner[k] + size * random.unit());
            boxes.push(Bounds::EMPTY.with(&corner).with(&other));
        }
        boxes
    }

    fn found(tree: &Tree, bounds: &Bounds) -> Vec<u32> {
        let mut found = Vec::new();
        tree.search(bounds, |part| found.push(part));
        found.sort_unstable();
        found
    }

    #[test]
    fn finds_what_trying_all_finds_also_after_refitting() {
        let mut random = Random::new(7, 0);
        for count in [0, 1, 3, 4, 5, 17, 300] {
            let (first, second) = (soup(&mut random, count, 0.2), soup(&mut random, count, 0.3));
            let mut tree = Tree::new(&first);
            for boxes in [&first, &second] {
                tree.refit(|part| boxes[part as usize]);
                for query in soup(&mut random, 50, 0.2) {
                    let all: Vec<u32> =
                        (0..count as u32).filter(|&part| boxes[part as usize].meets(&query)).collect();
                    assert_eq!(found(&tree, &query), all);
                }
            }
        }
    }

    #[test]
    fn growing_rounds_outwards() {
        let bounds = Bounds::EMPTY.with(&[1.0, -1.0, 1e6, 0.0]).grown(1e-9);
        assert!(bounds.low[0] < 1.0 && bounds.high[1] > -1.0 && bounds.low[2] < 1e6);
    }
}
