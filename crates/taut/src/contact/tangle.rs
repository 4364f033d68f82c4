//! Which primitives are tangled: they intersect, or are on a side that they reached by passing through.
//! Contacts between tangled primitives are disabled, since they would only hold the tangle in place.

use super::{candidates::Pair, continuous::Kind, surface::Surface};

/// Disjoint sets of vertices (union–find).
#[derive(Clone, Debug, Default)]
pub(crate) struct Sets {
    parent: Vec<u32>,
}

impl Sets {
    pub fn new(count: usize) -> Self {
        Self { parent: (0..count as u32).collect() }
    }

    /// Every vertex is alone again.
    pub fn part(&mut self) {
        (0..).zip(&mut self.parent).for_each(|(v, parent)| *parent = v);
    }

    pub fn of(&mut self, v: u32) -> u32 {
        let mut root = v;
        while self.parent[root as usize] != root {
            let above = self.parent[self.parent[root as usize] as usize];
            self.parent[root as usize] = above;
            root = above;
        }
        root
    }

    pub fn unite(&mut self, a: u32, b: u32) {
        let (a, b) = (self.of(a), self.of(b));
        // The lower vertex becomes the root, whatever the order of calls.
        self.parent[a.max(b) as usize] = a.min(b);
    }
}

/// Tangled vertices, by the tangle that they belong to; 0 is none. Empty where nothing is tangled.
#[derive(Clone, Debug, Default)]
pub struct Tangle {
    /// Of cloth with cloth.
    cloth: Vec<u32>,
    /// Of cloth with mesh obstacles.
    fixed: Vec<u32>,
    /// Whether panels may pass through other panels, though neither through themselves nor through obstacles:
    /// in the sewing phase, in which they overlap.
    pub lets_cloth_pass: bool,
}

impl Tangle {
    /// Nothing is tangled.
    pub fn clear(&mut self) {
        self.cloth.clear();
        self.fixed.clear();
    }

    /// Whether nothing is.
    pub fn is_empty(&self) -> bool {
        self.cloth.is_empty()
    }

    /// Takes marked vertices and their sets, of cloth with cloth and of cloth with obstacles.
    pub(super) fn set(&mut self, [cloth, fixed]: [Labels; 2]) {
        self.cloth = cloth.numbers();
        self.fixed = fixed.numbers();
    }

    /// Whether the primitives of a pair with these vertices belong to one tangle, or may pass through each
    /// other anyway.
    #[inline(always)]
    pub fn ignores(&self, surface: &Surface, pair: &Pair, vertices: &[u32; 4]) -> bool {
        self.lets_cloth_pass && surface.is_between_panels(pair.kind, vertices)
            || !self.is_empty() && self.belong_together(surface, pair.kind, vertices)
    }

    fn belong_together(&self, surface: &Surface, kind: Kind, vertices: &[u32; 4]) -> bool {
        let of = if vertices.iter().any(|&v| surface.is_fixed(v)) { &self.fixed } else { &self.cloth };
        let own = match kind {
            Kind::VertexTriangle => 1,
            Kind::EdgeEdge => 2,
        };
        let (first, second) = vertices.split_at(own);
        let number = |v: &u32| of[*v as usize];
        first.iter().map(number).any(|a| a > 0 && second.iter().any(|v| number(v) == a))
    }
}

/// Marked vertices, and their sets.
#[derive(Clone, Debug)]
pub(super) struct Labels {
    sets: Sets,
    marked: Vec<bool>,
}

impl Labels {
    pub fn new(count: usize) -> Self {
        Self { sets: Sets::new(count), marked: vec![false; count] }
    }

    /// Marks two vertices of one tangle.
    pub fn mark(&mut self, a: u32, b: u32) {
        self.sets.unite(a, b);
        self.marked[a as usize] = true;
        self.marked[b as usize] = true;
    }

    /// Marks the neighbours of marked vertices.
    pub fn grow(&mut self, around: impl Fn(u32) -> std::ops::Range<usize>, others: &[u32]) {
        let marked: Vec<u32> = (0..self.marked.len() as u32).filter(|&v| self.marked[v as usize]).collect();
        for v in marked {
            for &other in &others[around(v)] {
                self.mark(v, other);
            }
        }
    }

    fn numbers(mut self) -> Vec<u32> {
        (0..self.marked.len() as u32)
            .map(|v| if self.marked[v as usize] { self.sets.of(v) + 1 } else { 0 })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_one_tangle_are_ignored_and_others_are_not() {
        let surface = Surface::new(vec![[0, 1, 2], [3, 4, 5], [6, 7, 8]]);
        let mut tangle = Tangle::default();
        let pair = |first: u32, second: u32| Pair { kind: Kind::VertexTriangle, first, second };
        let ignores = |tangle: &Tangle, pair: Pair| tangle.ignores(&surface, &pair, &pair.vertices(&surface));
        assert!(!ignores(&tangle, pair(0, 1)));
        let mut labels = Labels::new(9);
        labels.mark(3, 0);
        labels.mark(1, 7);
        tangle.set([labels, Labels::new(9)]);
        assert!(ignores(&tangle, pair(0, 1)) && ignores(&tangle, pair(1, 2)));
        assert!(!ignores(&tangle, pair(0, 2)), "two tangles");
        assert!(!ignores(&tangle, pair(4, 0)), "beside it");
        let edges = Pair { kind: Kind::EdgeEdge, first: 0, second: 3 };
        assert_eq!(edges.vertices(&surface), [0, 1, 3, 4]);
        assert!(ignores(&tangle, edges));
    }
}
