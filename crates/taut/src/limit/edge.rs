//! The strain limit of edges, in batches of lanes (T1): no decomposition, one length an element.

use super::colored::{SharedQuads, lanes_of, offsets_of};
use crate::kernel::{
    lanes::{BATCH, Lanes, VertexOffset, Work},
    real::{Real, V3, add, dot, scale, sub},
    strain::Range,
};

/// One edge with its limits.
#[derive(Clone, Copy, Debug)]
pub struct EdgeElement {
    /// Vertices.
    pub vertices: [u32; 2],
    /// Rest length \[m\].
    pub rest: f32,
    /// Allowed stretches.
    pub range: Range<f32>,
    /// Weight of its correction in a Jacobi iteration.
    pub share: f32,
}

/// [`BATCH`] edges side by side.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct EdgeBatch {
    pub(super) vertices: [[VertexOffset; BATCH]; 2],
    pub(super) rest: [f32; BATCH],
    pub(super) min: [f32; BATCH],
    pub(super) max: [f32; BATCH],
    share: [f32; BATCH],
}

impl EdgeBatch {
    /// Packs elements; lanes that are left get an edge of the vertex `spare`, which is inside its limits.
    pub fn pack(indices: &[u32], elements: &[EdgeElement], spare: u32) -> Self {
        Self {
            vertices: [0, 1].map(|k| offsets_of(indices, spare, |e| elements[e].vertices[k])),
            rest: lanes_of(indices, 1.0, |e| elements[e].rest),
            min: lanes_of(indices, 0.0, |e| elements[e].range.min),
            max: lanes_of(indices, super::NO_LIMIT, |e| elements[e].range.max),
            share: lanes_of(indices, 0.0, |e| elements[e].share),
        }
    }
}

/// Moves of the two vertices of an edge that bring it back to its limits, and its residual before; keeps
/// linear and angular momentum. `w` are inverse masses.
#[inline(always)]
pub fn limit_edge<R: Real>(
    x: [V3<R>; 2],
    w: [R; 2],
    rest: R,
    range: Range<R>,
    relaxation: R,
) -> ([V3<R>; 2], R) {
    let (zero, tiny) = (R::splat(0.0), R::splat(1e-30));
    let d = sub(x[1], x[0]);
    let length = dot(d, d).sqrt();
    let stretch = length / rest;
    let goal = stretch.clamp(range.min, range.max);
    let residual = (stretch - range.max).max(range.min - stretch).max(zero);
    // A collapsed edge has no direction of its own: it opens along x.
    let point = length.le(rest * R::splat(1e-6));
    let along = [
        R::select(point, R::splat(1.0), d[0] / length.max(tiny)),
        R::select(point, zero, d[1] / length.max(tiny)),
        R::select(point, zero, d[2] / length.max(tiny)),
    ];
    let factor = (goal - stretch) * rest * relaxation / (w[0] + w[1]).max(tiny);
    ([scale(along, -(factor * w[0])), scale(along, factor * w[1])], residual)
}

/// What to do with the corrections of edges.
#[derive(Clone, Copy, Debug)]
pub enum EdgeWork {
    /// Apply them in place.
    Sweep,
    /// Add them, weighted, to these sums.
    Accumulate(SharedQuads),
    /// Nothing: only measure.
    Check,
}

/// Goes over some batches of edges of one colour. Gives the largest residual met.
pub struct SweepEdges<'a> {
    /// Batches of one colour (of any colours for a check).
    pub batches: &'a [EdgeBatch],
    /// Positions, and inverse mass as fourth component.
    pub x: SharedQuads,
    /// What to do with corrections.
    pub work: EdgeWork,
    /// Factor on the corrections.
    pub relaxation: f32,
}

impl Work for SweepEdges<'_> {
    type Output = f32;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> f32 {
        let mut worst = L::splat(0.0);
        for batch in self.batches {
            for at in (0..BATCH).step_by(L::WIDTH) {
                // SAFETY: indices are of vertices of the world, and edges of a colour share none.
                let (p, q) = unsafe {
                    (
                        L::gather(self.x.base(), &batch.vertices[0], at),
                        L::gather(self.x.base(), &batch.vertices[1], at),
                    )
                };
                let range = Range { min: L::load(&batch.min, at), max: L::load(&batch.max, at) };
                let mut relaxation = L::splat(self.relaxation);
                if let EdgeWork::Accumulate(_) = self.work {
                    relaxation = relaxation * L::load(&batch.share, at);
                }
                let x = [[p[0], p[1], p[2]], [q[0], q[1], q[2]]];
                let (moves, residual) =
                    limit_edge(x, [p[3], q[3]], L::load(&batch.rest, at), range, relaxation);
                worst = worst.max(residual);
                if !L::any(L::splat(0.0).lt(residual)) {
                    continue;
                }
                for (k, w) in [p[3], q[3]].into_iter().enumerate() {
                    // SAFETY: as above.
                    unsafe {
                        match self.work {
                            EdgeWork::Sweep => {
                                let [a, b, c] = add(x[k], moves[k]);
                                L::scatter(self.x.base(), &batch.vertices[k], at, [a, b, c, w]);
                            }
                            EdgeWork::Accumulate(sums) => {
                                let sum = L::gather(sums.base(), &batch.vertices[k], at);
                                let [a, b, c] = add([sum[0], sum[1], sum[2]], moves[k]);
                                L::scatter(sums.base(), &batch.vertices[k], at, [a, b, c, sum[3]]);
                            }
                            EdgeWork::Check => {}
                        }
                    }
                }
            }
        }
        worst.largest()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn one_projection_lands_and_keeps_momentum(
            x in prop::array::uniform2(prop::array::uniform3(-2.0f64..2.0)),
            w in prop::array::uniform2(0.1f64..3.0),
            rest in 0.2f64..2.0,
            pinned in 0..3usize,
        ) {
            let mut w = w;
            if pinned < 2 {
                w[pinned] = 0.0;
            }
            let range = Range { min: 0.9, max: 1.1 };
            let (moves, _) = limit_edge(x, w, rest, range, 1.0);
            let moved = [add(x[0], moves[0]), add(x[1], moves[1])];
            let d = sub(moved[1], moved[0]);
            let stretch = dot(d, d).sqrt() / rest;
            prop_assert!((0.9 - 1e-9..=1.1 + 1e-9).contains(&stretch));
            if pinned == 2 {
                for k in 0..3 {
                    prop_assert!((moves[0][k] / w[0] + moves[1][k] / w[1]).abs() < 1e-9);
                }
            }
        }
    }
}
