//! Edges that a triangulation must have: the sides of a polygon, which Delaunay triangles may cross where two
//! sides are nearer to each other than their vertices are.
//!
//! A missing side is inserted by flips of the edges that cross it (Sloan 1993). What is inside then follows
//! from the sides alone: triangles are reached from them without crossing one.

use std::collections::HashMap;

use glam::DVec2;
use robust::{Coord, orient2d};

/// Flips of one edge, for each edge that crosses a side at first, after which the side is given up.
const MAX_FLIPS: usize = 64;

/// Triangles of `points`, of which the first `sides` are a counter-clockwise polygon without crossings, in
/// which every side is an edge, and only those inside. `None` if a side cannot be inserted.
pub fn inside(points: &[DVec2], triangles: Vec<[u32; 3]>, sides: usize) -> Option<Vec<[u32; 3]>> {
    let mut net = Net::new(points, triangles);
    let side = |k: usize| [k as u32, ((k + 1) % sides) as u32];
    for k in 0..sides {
        net.insert(side(k))?;
    }
    let mut kept = vec![false; net.triangles.len()];
    let mut open: Vec<usize> = Vec::new();
    for k in 0..sides {
        let [a, b] = side(k);
        open.push(*net.beside.get(&(a, b))?);
    }
    let is_side = |a: u32, b: u32| {
        let (a, b) = (a as usize, b as usize);
        a < sides && b < sides && ((a + 1) % sides == b || (b + 1) % sides == a)
    };
    while let Some(t) = open.pop() {
        if std::mem::replace(&mut kept[t], true) {
            continue;
        }
        let [a, b, c] = net.triangles[t];
        for (p, q) in [(a, b), (b, c), (c, a)] {
            if !is_side(p, q) {
                // The hull ends at sides only.
                open.push(*net.beside.get(&(q, p))?);
            }
        }
    }
    let mut kept = kept.into_iter();
    net.triangles.retain(|_| kept.next().unwrap_or(false));
    Some(net.triangles)
}

/// Triangles, found by their directed edges.
struct Net<'a> {
    points: &'a [DVec2],
    triangles: Vec<[u32; 3]>,
    beside: HashMap<(u32, u32), usize>,
}

impl<'a> Net<'a> {
    fn new(points: &'a [DVec2], triangles: Vec<[u32; 3]>) -> Self {
        let mut net = Self { points, beside: HashMap::with_capacity(3 * triangles.len()), triangles };
        for t in 0..net.triangles.len() {
            net.register(t);
        }
        net
    }

    fn register(&mut self, t: usize) {
        let [a, b, c] = self.triangles[t];
        for edge in [(a, b), (b, c), (c, a)] {
            self.beside.insert(edge, t);
        }
    }

    fn turn(&self, a: u32, b: u32, c: u32) -> f64 {
        let at = |v: u32| Coord { x: self.points[v as usize].x, y: self.points[v as usize].y };
        orient2d(at(a), at(b), at(c))
    }

    /// Whether the inner parts of two segments without a common end cross.
    fn crosses(&self, [a, b]: [u32; 2], [p, q]: [u32; 2]) -> bool {
        if a == p || a == q || b == p || b == q {
            return false;
        }
        let opposite = |x: f64, y: f64| (x > 0.0 && y < 0.0) || (x < 0.0 && y > 0.0);
        opposite(self.turn(a, b, p), self.turn(a, b, q)) && opposite(self.turn(p, q, a), self.turn(p, q, b))
    }

    /// Makes `side` an edge.
    fn insert(&mut self, side: [u32; 2]) -> Option<()> {
        let has = |net: &Self| {
            net.beside.contains_key(&(side[0], side[1])) || net.beside.contains_key(&(side[1], side[0]))
        };
        if has(self) {
            return Some(());
        }
        let mut crossing = std::collections::VecDeque::new();
        for &[a, b, c] in &self.triangles {
            for edge in [[a, b], [b, c], [c, a]] {
                if edge[0] < edge[1] && self.crosses(side, edge) {
                    crossing.push_back(edge);
                }
            }
        }
        let mut left = MAX_FLIPS * (crossing.len() + 1);
        while let Some([u, v]) = crossing.pop_front() {
            left = left.checked_sub(1)?;
            let (&t, &s) = (self.beside.get(&(u, v))?, self.beside.get(&(v, u))?);
            let third = |t: usize| self.triangles[t].into_iter().find(|&w| w != u && w != v);
            let (w, z) = (third(t)?, third(s)?);
            // The corners in order are u, z, v, w. Both new triangles must have an area.
            if self.turn(w, u, z) <= 0.0 || self.turn(z, v, w) <= 0.0 {
                crossing.push_back([u, v]);
                continue;
            }
            self.flip((u, v, t), (w, z, s));
            if self.crosses(side, [w, z]) {
                crossing.push_back([w.min(z), w.max(z)]);
            }
        }
        has(self).then_some(())
    }

    /// Replaces triangles (u, v, w) and (v, u, z) by (w, u, z) and (z, v, w).
    fn flip(&mut self, (u, v, t): (u32, u32, usize), (w, z, s): (u32, u32, usize)) {
        for edge in [(u, v), (v, u)] {
            self.beside.remove(&edge);
        }
        self.triangles[t] = [w, u, z];
        self.triangles[s] = [z, v, w];
        self.register(t);
        self.register(s);
    }
}
