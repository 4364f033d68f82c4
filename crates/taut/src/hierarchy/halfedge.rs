//! Half-edges in flat arrays: connectivity that is updated while the mesh changes.
//!
//! Half-edge `3 t + k` runs from corner `k` of triangle `t` to corner `k + 1`. Only the twin across the edge
//! is stored; next and previous follow from the index. A vertex stores one outgoing half-edge: on a boundary
//! the boundary half-edge, so that a counter-clockwise rotation from there visits the whole fan.
//!
//! Where fans of triangles touch in one vertex, each fan gets a separate vertex ([`HalfEdges::new`] returns
//! which are copies of which), so that every vertex here has one fan: a disc or half a disc.

/// No half-edge, no vertex, no triangle.
pub(crate) const NONE: u32 = u32::MAX;

/// The next half-edge in the same triangle.
pub(crate) fn next(h: u32) -> u32 {
    if h % 3 == 2 { h - 2 } else { h + 1 }
}

/// The previous half-edge in the same triangle.
pub(crate) fn prev(h: u32) -> u32 {
    if h.is_multiple_of(3) { h + 2 } else { h - 1 }
}

/// Connectivity of a triangle mesh with one fan per vertex.
#[derive(Clone, Debug, Default)]
pub(crate) struct HalfEdges {
    /// Start vertex of each half-edge; `NONE` for the three of a deleted triangle.
    pub tail: Vec<u32>,
    /// The same edge in the other direction; `NONE` on a boundary.
    pub twin: Vec<u32>,
    /// An outgoing half-edge of each vertex, the boundary's where there is one; `NONE` for a vertex without
    /// triangles.
    pub out: Vec<u32>,
}

impl HalfEdges {
    /// Finds twins, and splits vertices with several fans. Also returns, for each added vertex, the one that
    /// it copies.
    ///
    /// Edges of more than two triangles, or of two that run the same way, become boundaries of all of them.
    /// Indices must be below `vertex_count` and differ within a triangle.
    pub fn new(vertex_count: usize, triangles: &[[u32; 3]]) -> (Self, Vec<u32>) {
        let tail: Vec<u32> = triangles.iter().flatten().copied().collect();
        let mut sides: Vec<(u64, u32)> = (0..tail.len() as u32)
            .map(|h| {
                let (a, b) = (tail[h as usize], tail[next(h) as usize]);
                (u64::from(a.min(b)) << 32 | u64::from(a.max(b)), h)
            })
            .collect();
        sides.sort_unstable();
        let mut twin = vec![NONE; tail.len()];
        for pair in sides.chunk_by(|a, b| a.0 == b.0) {
            if let &[(_, g), (_, h)] = pair
                && tail[g as usize] != tail[h as usize]
            {
                twin[g as usize] = h;
                twin[h as usize] = g;
            }
        }
        let mut mesh = Self { tail, twin, out: vec![NONE; vertex_count] };
        let copies = mesh.split_fans();
        (mesh, copies)
    }

    /// Sets `out` of every vertex; gives each further fan of a vertex a separate vertex.
    fn split_fans(&mut self) -> Vec<u32> {
        let mut copies = Vec::new();
        let mut seen = vec![false; self.tail.len()];
        for h in 0..self.tail.len() as u32 {
            if seen[h as usize] {
                continue;
            }
            let v = self.tail[h as usize];
            let start = self.first_of_fan(h);
            let owner = if self.out[v as usize] == NONE {
                v
            } else {
                copies.push(v);
                self.out.push(NONE);
                self.out.len() as u32 - 1
            };
            self.out[owner as usize] = start;
            let mut g = start;
            loop {
                seen[g as usize] = true;
                self.tail[g as usize] = owner;
                g = self.twin[prev(g) as usize];
                if g == NONE || g == start {
                    break;
                }
            }
        }
        copies
    }

    /// Rotates clockwise from `h` to the boundary; `h` itself if there is none.
    fn first_of_fan(&self, h: u32) -> u32 {
        let mut g = h;
        while self.twin[g as usize] != NONE {
            g = next(self.twin[g as usize]);
            if g == h {
                break;
            }
        }
        g
    }

    /// Sets `h`, or the boundary half-edge of the same fan, as the outgoing half-edge of its vertex.
    pub fn settle(&mut self, h: u32) {
        let v = self.tail[h as usize] as usize;
        self.out[v] = self.first_of_fan(h);
    }

    /// End vertex of `h`.
    pub fn head(&self, h: u32) -> u32 {
        self.tail[next(h) as usize]
    }

    /// Vertices of triangle `t`.
    pub fn corners(&self, t: u32) -> [u32; 3] {
        let h = 3 * t as usize;
        [self.tail[h], self.tail[h + 1], self.tail[h + 2]]
    }

    /// Number of triangles, including deleted ones.
    pub fn slots(&self) -> u32 {
        (self.tail.len() / 3) as u32
    }

    /// Whether triangle `t` exists.
    pub fn is_alive(&self, t: u32) -> bool {
        self.tail[3 * t as usize] != NONE
    }

    /// Whether `v` lies on a boundary.
    pub fn on_boundary(&self, v: u32) -> bool {
        let h = self.out[v as usize];
        h != NONE && self.twin[h as usize] == NONE
    }

    /// Outgoing half-edges of `v`, counter-clockwise; one for each of its triangles.
    pub fn ring(&self, v: u32) -> Ring<'_> {
        let start = self.out[v as usize];
        Ring { mesh: self, start, at: start }
    }

    /// Number of triangles of `v`.
    pub fn triangles_around(&self, v: u32) -> usize {
        self.ring(v).count()
    }

    /// Fills `found` with the neighbours of `v`.
    pub fn neighbors(&self, v: u32, found: &mut Vec<u32>) {
        found.clear();
        let mut last = NONE;
        for h in self.ring(v) {
            found.push(self.head(h));
            last = prev(h);
        }
        if last != NONE && self.twin[last as usize] == NONE {
            found.push(self.tail[last as usize]);
        }
    }

    /// The half-edge from `a` to `b`, or from `b` to `a` if only that exists.
    pub fn find(&self, a: u32, b: u32) -> Option<u32> {
        self.ring(a).find_map(|h| {
            if self.head(h) == b {
                return Some(h);
            }
            let incoming = prev(h);
            (self.tail[incoming as usize] == b).then_some(incoming)
        })
    }

    /// The boundary half-edge after `h`, itself a boundary half-edge.
    pub fn boundary_next(&self, h: u32) -> u32 {
        self.out[self.head(h) as usize]
    }

    /// The boundary half-edge before `h`, itself a boundary half-edge.
    pub fn boundary_prev(&self, h: u32) -> u32 {
        let v = self.tail[h as usize];
        self.ring(v).last().map_or(NONE, prev)
    }
}

/// Iterator of [`HalfEdges::ring`].
pub(crate) struct Ring<'a> {
    mesh: &'a HalfEdges,
    start: u32,
    at: u32,
}

impl Iterator for Ring<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if self.at == NONE {
            return None;
        }
        let h = self.at;
        let following = self.mesh.twin[prev(h) as usize];
        self.at = if following == self.start { NONE } else { following };
        Some(h)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fan_starts_at_the_boundary_and_a_closed_ring_goes_round() {
        let (open, copies) = HalfEdges::new(4, &[[0, 1, 2], [0, 2, 3]]);
        assert!(copies.is_empty());
        let heads: Vec<u32> = open.ring(0).map(|h| open.head(h)).collect();
        assert_eq!(heads, [1, 2]);
        let mut neighbors = Vec::new();
        open.neighbors(0, &mut neighbors);
        assert_eq!(neighbors, [1, 2, 3]);
        let start = open.out[0];
        assert_eq!(open.boundary_prev(open.boundary_next(start)), start);
        let (closed, _) = HalfEdges::new(4, &[[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]);
        assert!((0..4).all(|v| closed.triangles_around(v) == 3 && !closed.on_boundary(v)));
    }

    #[test]
    fn fans_that_touch_in_a_vertex_are_taken_apart() {
        let (mesh, copies) = HalfEdges::new(5, &[[0, 1, 2], [0, 3, 4]]);
        assert_eq!(copies, [0]);
        assert_eq!(mesh.corners(1), [5, 3, 4]);
        assert_eq!((mesh.triangles_around(0), mesh.triangles_around(5)), (1, 1));
    }
}
