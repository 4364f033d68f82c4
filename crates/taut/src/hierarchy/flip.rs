//! Edge flips to a Delaunay triangulation of the surface: an edge is flipped when the angles that face it add
//! up to more than 180 degrees.

use super::coarsen::{Coarsener, Kind};
use super::halfedge::{HalfEdges, NONE, next, prev};
use super::surface::{Surface, cross};

/// Cosine of the angle between two triangles beyond which their edge is a feature of the shape and is kept.
const COS_CREASE: f64 = 0.5;
/// Cosine of the largest angle by which a flip may rotate the surface.
const COS_TURN: f64 = 0.5;

impl Coarsener<'_> {
    /// Flips edges until all are Delaunay (or ten flips per edge: on curved surfaces flips may cycle).
    pub fn flip_all(&mut self) {
        let half = &self.work.half;
        let mut stack: Vec<u32> = (0..half.tail.len() as u32)
            .filter(|&h| half.is_alive(h / 3) && half.twin[h as usize] != NONE && h < half.twin[h as usize])
            .collect();
        let mut left = 10 * stack.len();
        while let Some(h) = stack.pop() {
            if left == 0 {
                break;
            }
            if self.wants_flip(h) {
                left -= 1;
                let twin = self.work.half.twin[h as usize];
                flip(&mut self.work.half, h);
                stack.extend([h, prev(h), twin, prev(twin)]);
            }
        }
    }

    fn wants_flip(&self, h: u32) -> bool {
        let half = &self.work.half;
        let twin = half.twin[h as usize];
        if twin == NONE || !self.work.wants_flip(h) {
            return false;
        }
        let [c, d] = [h, twin].map(|side| half.tail[prev(side) as usize]);
        let [c_locked, d_locked] = [c, d].map(|v| self.kind[v as usize] == Kind::Locked);
        let meets_copy = |v: u32, other: u32| {
            half.ring(v).any(|h| {
                self.are_copies(other, half.head(h)) || self.are_copies(other, half.tail[prev(h) as usize])
            })
        };
        !(c_locked && (d_locked || meets_copy(d, c)) || d_locked && meets_copy(c, d))
    }
}

impl Surface {
    /// Whether the edge of `h` is not Delaunay, and can be flipped: that neither turns the surface by much,
    /// nor flattens a crease, nor makes an edge twice.
    pub fn wants_flip(&self, h: u32) -> bool {
        let half = &self.half;
        let twin = half.twin[h as usize];
        if twin == NONE {
            return false;
        }
        let [x, y] = [half.tail[h as usize], half.tail[twin as usize]];
        let [c, d] = [h, twin].map(|side| half.tail[prev(side) as usize]);
        let [px, py, pc, pd] = [x, y, c, d].map(|v| self.positions[v as usize]);
        let (nc, nd) = (cross([px, py, pc]), cross([py, px, pd]));
        let (lc, ld) = (nc.length(), nd.length());
        // cot c + cot d < 0, without the divisions.
        let (dc, dd) = ((px - pc).dot(py - pc), (px - pd).dot(py - pd));
        if dc * ld + dd * lc >= -1e-6 * lc * ld {
            return false;
        }
        if lc > 0.0 && ld > 0.0 && nc.dot(nd) < COS_CREASE * lc * ld {
            return false;
        }
        let around = nc.normalize_or_zero() + nd.normalize_or_zero();
        let turns_little = [[px, pd, pc], [py, pc, pd]]
            .iter()
            .all(|&triangle| cross(triangle).normalize_or_zero().dot(around) >= COS_TURN * around.length());
        around.length_squared() > 0.0
            && turns_little
            && [x, y].iter().all(|&v| half.triangles_around(v) > if half.on_boundary(v) { 1 } else { 3 })
            && half.find(c, d).is_none()
    }
}

/// Flips the edge of `h` to the other diagonal of its two triangles.
pub(crate) fn flip(half: &mut HalfEdges, h: u32) {
    let g = half.twin[h as usize];
    let (c, d) = (half.tail[prev(h) as usize], half.tail[prev(g) as usize]);
    let (across_h, across_g) = (half.twin[next(h) as usize], half.twin[next(g) as usize]);
    let mut link = |a: u32, b: u32| {
        half.twin[a as usize] = b;
        if b != NONE {
            half.twin[b as usize] = a;
        }
    };
    link(h, across_g);
    link(g, across_h);
    link(next(h), next(g));
    half.tail[next(h) as usize] = d;
    half.tail[next(g) as usize] = c;
    for side in [h, g, prev(h), prev(g)] {
        half.settle(side);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flip_turns_the_diagonal_and_keeps_the_boundary() {
        let (mut half, _) = HalfEdges::new(4, &[[0, 1, 2], [0, 2, 3]]);
        let h = half.find(0, 2).unwrap();
        flip(&mut half, h);
        assert!(half.find(0, 2).is_none() && half.find(1, 3).is_some());
        let mut triangles = [half.corners(0), half.corners(1)].map(|mut t| {
            t.sort_unstable();
            t
        });
        triangles.sort_unstable();
        assert_eq!(triangles, [[0, 1, 3], [1, 2, 3]]);
        assert!((0..4).all(|v| half.on_boundary(v)));
        assert_eq!([0, 1, 2, 3].map(|v| half.triangles_around(v)), [1, 2, 1, 2]);
        let start = half.out[0];
        assert_eq!((0..4).fold(start, |h, _| half.boundary_next(h)), start);
    }
}
