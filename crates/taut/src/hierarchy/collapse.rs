//! Edge collapses, lowest cost first.
//!
//! The cost of an edge is its squared length plus eight times the quadric error of its collapse. Length alone
//! samples evenly but removes limbs; quadrics alone keep limbs but leave needles. A collapse is rejected if
//! the surface would change its topology (link condition), fold over, or get long or thin triangles.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glam::DVec3;

use super::coarsen::{Coarsener, FOLD, Kind, SHARP};
use super::halfedge::{NONE, next, prev};

/// Weight of the quadric error relative to the squared length.
const QUADRIC_WEIGHT: f64 = 8.0;
/// Maximum number of neighbours of a vertex.
const MAX_NEIGHBORS: usize = 11;

/// Requirements on the result of a collapse.
pub(super) struct Guard {
    /// Maximum edge length \[m\].
    pub longest: f64,
    /// Cosine of the largest angle by which a triangle may rotate.
    pub cos_normal: f64,
    /// Minimum quality of triangles, unless they were worse before.
    pub quality: f64,
}

/// Position of the vertex that remains after a collapse.
struct Merger {
    keep: u32,
    gone: u32,
    position: DVec3,
    home: u32,
}

/// An edge in the queue: cost (bits of a positive number, which sort like it), end points, and the sum of
/// their versions.
type Entry = Reverse<(u64, u32, u32, u32)>;

impl Coarsener<'_> {
    /// Collapses edges until `target` triangles are left, or no collapse is allowed.
    pub fn collapse_to(&mut self, target: usize, guard: &Guard) {
        let mut version = vec![0u32; self.work.positions.len()];
        let mut entries = Vec::with_capacity(self.triangle_count * 2);
        for h in 0..self.work.half.tail.len() as u32 {
            let twin = self.work.half.twin[h as usize];
            if self.work.half.is_alive(h / 3) && (twin == NONE || h < twin) {
                entries.push(self.entry(self.work.half.tail[h as usize], self.work.half.head(h), &version));
            }
        }
        let mut queue: BinaryHeap<Entry> = entries.into();
        let mut neighbors = Vec::new();
        while self.triangle_count > target {
            let Some(Reverse((_, a, b, sum))) = queue.pop() else { break };
            // Versions only grow, so an equal sum means that neither end has changed.
            if version[a as usize].wrapping_add(version[b as usize]) != sum {
                continue;
            }
            let Some(h) = self.work.half.find(a, b) else { continue };
            let Some(keep) = self.collapse(h, guard) else { continue };
            version[keep as usize] += 1;
            let gone = if keep == a { b } else { a };
            version[gone as usize] = u32::MAX / 2;
            self.work.half.neighbors(keep, &mut neighbors);
            for &v in &neighbors {
                queue.push(self.entry(keep, v, &version));
            }
        }
    }

    fn entry(&self, a: u32, b: u32, version: &[u32]) -> Entry {
        let (pa, pb) = (self.work.positions[a as usize], self.work.positions[b as usize]);
        let q = self.quadric[a as usize].plus(&self.quadric[b as usize]);
        let error = q.error(pa).min(q.error(pb)).min(q.error(0.5 * (pa + pb)));
        let price = pa.distance_squared(pb) + QUADRIC_WEIGHT * error;
        Reverse((price.to_bits(), a, b, version[a as usize].wrapping_add(version[b as usize])))
    }

    /// Collapses the edge of half-edge `h` if that is allowed. Returns the vertex that remains.
    pub fn collapse(&mut self, h: u32, guard: &Guard) -> Option<u32> {
        let merger = self.merger(h)?;
        if !self.keeps_topology(h) {
            return None;
        }
        let Merger { keep, gone, position, home } = merger;
        if !self.accepts(keep, gone, position, guard) || !self.accepts(gone, keep, position, guard) {
            return None;
        }
        self.merge(h, keep, gone);
        self.work.positions[keep as usize] = position;
        self.home[keep as usize] = home;
        self.quadric[keep as usize] = self.quadric[keep as usize].plus(&self.quadric[gone as usize]);
        self.parent[gone as usize] = keep;
        Some(keep)
    }

    /// Which end remains, and at which position.
    fn merger(&self, h: u32) -> Option<Merger> {
        let (mut keep, mut gone) = (self.work.half.tail[h as usize], self.work.half.head(h));
        let kind = |v: u32| self.kind[v as usize];
        if kind(gone) > kind(keep) {
            std::mem::swap(&mut keep, &mut gone);
        }
        if kind(keep) == Kind::Locked || kind(gone) >= Kind::Corner {
            return None;
        }
        let at = |v: u32| self.work.positions[v as usize];
        let home = |v: u32| self.home[v as usize];
        let middle = 0.5 * (at(keep) + at(gone));
        let (position, home) = match (kind(keep), kind(gone)) {
            (Kind::Inner, Kind::Inner) => {
                let q = self.quadric[keep as usize].plus(&self.quadric[gone as usize]);
                let [ea, eb, em] = [at(keep), at(gone), middle].map(|p| q.error(p));
                let slack = 0.02 * at(keep).distance_squared(at(gone));
                let sharp = [keep, gone].map(|v| self.flatness(v) < SHARP);
                if sharp[0] == sharp[1] && em <= slack + ea.min(eb) {
                    (middle, home(keep))
                } else if sharp[0] && !sharp[1] || sharp[0] == sharp[1] && ea <= eb {
                    (at(keep), home(keep))
                } else {
                    (at(gone), home(gone))
                }
            }
            (Kind::Curve, Kind::Curve) => {
                let (home, point) = self.base.walk_boundary(home(keep), middle);
                (point, home)
            }
            // Pulling a fold to a boundary would move one layer to the other.
            _ if self.flatness(gone) < FOLD && self.flatness(keep) >= FOLD => return None,
            _ => (at(keep), home(keep)),
        };
        Some(Merger { keep, gone, position, home })
    }

    /// Whether collapsing `h` leaves a manifold of the same topology.
    fn keeps_topology(&mut self, h: u32) -> bool {
        let half = &self.work.half;
        let (a, b, twin) = (half.tail[h as usize], half.head(h), half.twin[h as usize]);
        if twin != NONE && half.on_boundary(a) && half.on_boundary(b) {
            return false;
        }
        let [around_a, around_b] = &mut self.scratch;
        half.neighbors(a, around_a);
        half.neighbors(b, around_b);
        let shared = around_a.iter().filter(|v| around_b.contains(v)).count();
        if shared != if twin == NONE { 1 } else { 2 } {
            return false;
        }
        let after = around_a.len() + around_b.len() - shared - 2;
        let (around_a, around_b) = (&self.scratch[0], &self.scratch[1]);
        if around_a.iter().any(|&v| around_b.iter().any(|&u| self.are_copies(v, u))) {
            return false;
        }
        if after > MAX_NEIGHBORS && after >= around_a.len().max(around_b.len()) {
            return false;
        }
        [h, twin].into_iter().filter(|&side| side != NONE).all(|side| {
            let wing = half.tail[prev(side) as usize];
            half.triangles_around(wing) > if half.on_boundary(wing) { 1 } else { 3 }
        })
    }

    /// Removes `gone` and the one or two triangles of `h`.
    fn merge(&mut self, h: u32, keep: u32, gone: u32) {
        let half = &mut self.work.half;
        let twin = half.twin[h as usize];
        let ring = &mut self.scratch[0];
        ring.clear();
        ring.extend(half.ring(gone));
        for &g in ring.iter() {
            half.tail[g as usize] = keep;
        }
        half.out[gone as usize] = NONE;
        ring.clear();
        for side in [h, twin].into_iter().filter(|&side| side != NONE) {
            let (n, p) = (half.twin[next(side) as usize], half.twin[prev(side) as usize]);
            if n != NONE {
                half.twin[n as usize] = p;
                ring.extend([n, next(n)]);
            }
            if p != NONE {
                half.twin[p as usize] = n;
                ring.extend([p, next(p)]);
            }
            let first = 3 * (side as usize / 3);
            half.tail[first..first + 3].fill(NONE);
            self.triangle_count -= 1;
        }
        // The remaining half-edges at the two gaps start at the remaining vertex and at both wings.
        for &g in ring.iter() {
            half.settle(g);
        }
    }
}
