//! Which edges and corners are sewn together, and how many segments each edge gets.

use super::{Pattern, Side, Stitch};

/// Least number of segments of an edge whose two ends are sewn together: a hem or a cuff, which would have no
/// opening otherwise.
const MIN_RING: usize = 3;

/// Disjoint sets.
pub(super) struct Sets(Vec<usize>);

impl Sets {
    pub fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    pub fn root(&mut self, mut v: usize) -> usize {
        while self.0[v] != v {
            self.0[v] = self.0[self.0[v]];
            v = self.0[v];
        }
        v
    }

    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}

/// Numbers of segments by panel and edge, for edges of about `edge` \[m\]. Edges that are connected by
/// stitches have the same number, that of their mean length.
pub(super) fn segments(pattern: &Pattern, edge: f64) -> Vec<Vec<usize>> {
    let firsts = starts(pattern.panels.iter().map(|panel| panel.edges.len()));
    let id = |side: Side| firsts[side.panel] + side.edge;
    let count = firsts[pattern.panels.len()];
    let mut sets = Sets::new(count);
    for stitch in &pattern.stitches {
        let [a, b] = stitch.sides.map(id);
        sets.join(a, b);
    }
    let rings = rings(pattern);
    // By set: sum of lengths, number of edges, least number of segments.
    let mut totals = vec![(0.0, 0.0, 1); count];
    for (panel, (own, rings)) in pattern.panels.iter().zip(&rings).enumerate() {
        for (edge, is_ring) in rings.iter().enumerate() {
            let side = Side { panel, edge };
            let total = &mut totals[sets.root(id(side))];
            let least = if *is_ring {
                MIN_RING
            } else if own.edges.len() < 3 {
                2
            } else {
                1
            };
            *total = (total.0 + pattern.length(side), total.1 + 1.0, total.2.max(least));
        }
    }
    let mut number = |side: Side| {
        let (sum, edges, least) = totals[sets.root(id(side))];
        ((sum / edges / edge).round() as usize).max(least)
    };
    let of_panel = |(panel, own): (usize, &super::Panel)| {
        (0..own.edges.len()).map(|edge| number(Side { panel, edge })).collect()
    };
    pattern.panels.iter().enumerate().map(of_panel).collect()
}

/// Start of each part, and the sum.
fn starts(counts: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut starts = vec![0];
    for count in counts {
        starts.push(starts[starts.len() - 1] + count);
    }
    starts
}

/// By panel and edge: whether its two ends are sewn together.
fn rings(pattern: &Pattern) -> Vec<Vec<bool>> {
    let most = |panel: &super::Panel| {
        panel.edges.iter().flat_map(|edge| edge.ends).max().map_or(0, |vertex| vertex + 1)
    };
    let firsts = starts(pattern.panels.iter().map(most));
    let mut sets = Sets::new(firsts[pattern.panels.len()]);
    let corners =
        |side: Side| pattern.panels[side.panel].edges[side.edge].ends.map(|v| firsts[side.panel] + v);
    for Stitch { sides, is_right_wrong } in &pattern.stitches {
        let ([a, b], [mut c, mut d]) = (corners(sides[0]), corners(sides[1]));
        if !is_right_wrong {
            std::mem::swap(&mut c, &mut d);
        }
        sets.join(a, c);
        sets.join(b, d);
    }
    let mut rings = Vec::new();
    for (panel, own) in pattern.panels.iter().enumerate() {
        let is_ring = |edge: usize| {
            let [a, b] = corners(Side { panel, edge });
            sets.root(a) == sets.root(b)
        };
        rings.push((0..own.edges.len()).map(is_ring).collect());
    }
    rings
}
