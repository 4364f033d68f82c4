//! Triangles between two rings of any number of vertices: used by discs and the caps of capsules.

use std::f64::consts::TAU;

/// A closed ring of `count` vertices from index `first`, vertex k at angle k / count of a turn.
#[derive(Clone, Copy)]
pub(super) struct Ring {
    pub first: u64,
    pub count: u64,
}

impl Ring {
    /// Vertex at step `k`, which may run once past the end.
    pub fn vertex(&self, k: u64) -> u32 {
        (self.first + k % self.count) as u32
    }

    /// Fraction of a turn at step `k`; 1 at the end, so that texture coordinates do not jump back.
    pub fn turn(&self, k: u64) -> f64 {
        k as f64 / self.count as f64
    }

    /// Cosine and sine of step `k`.
    pub fn direction(&self, k: u64) -> (f64, f64) {
        let (sin, cos) = (TAU * self.turn(k)).sin_cos();
        (cos, sin)
    }
}

/// Emits the triangles between two rings as (ring, step) triples, where ring 0 is `inner` and 1 is `outer`,
/// counter-clockwise when angles grow counter-clockwise and `outer` is outside.
///
/// The walk advances along the ring whose next vertex comes first, in integers, so that the same triangles
/// result on every machine and seams match. A ring of one vertex is a pole.
pub(super) fn stitch(inner: Ring, outer: Ring, mut emit: impl FnMut([(usize, u64); 3])) {
    let (mut i, mut o) = (0, 0);
    let inner_end = if inner.count == 1 { 0 } else { inner.count };
    while i < inner_end || o < outer.count {
        // Middles of the next edges, (2i + 1) / (2 inner) against (2o + 1) / (2 outer) of a turn.
        let outer_first =
            i == inner_end || (o < outer.count && (2 * o + 1) * inner.count <= (2 * i + 1) * outer.count);
        if outer_first {
            emit([(0, i), (1, o), (1, o + 1)]);
            o += 1;
        } else {
            emit([(0, i), (1, o), (0, i + 1)]);
            i += 1;
        }
    }
}
