//! The strain limit of edges (T1): no decomposition, one length an element.

use super::{Element, LimitLanes, Limited};
use crate::{
    Projection,
    exec::{
        batch::{lanes_of, weights, xyz},
        colored::Corners,
    },
    kernel::{
        lanes::{BATCH, Lanes},
        real::{Real, V3, dot, scale, sub},
        strain::Range,
    },
    limit::NO_LIMIT,
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
    let residual = past(stretch, range);
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

/// How far a stretch is past its limits; 0 inside.
#[inline(always)]
fn past<R: Real>(stretch: R, range: Range<R>) -> R {
    (stretch - range.max).max(range.min - stretch).max(R::splat(0.0))
}

/// What a batch holds of edges.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct EdgeLanes {
    rest: [f32; BATCH],
    min: [f32; BATCH],
    max: [f32; BATCH],
    share: [f32; BATCH],
}

impl EdgeLanes {
    /// Rest lengths \[m\].
    #[inline(always)]
    pub fn rest<L: Lanes>(&self, at: usize) -> L {
        L::load(&self.rest, at)
    }

    /// Allowed stretches.
    #[inline(always)]
    pub fn range<L: Lanes>(&self, at: usize) -> Range<L> {
        Range { min: L::load(&self.min, at), max: L::load(&self.max, at) }
    }

    /// Gives the element in lane `lane` other limits.
    pub fn set_range(&mut self, lane: usize, range: Range<f32>) {
        (self.min[lane], self.max[lane]) = (range.min, range.max);
    }
}

impl Element<2> for EdgeElement {
    type Lanes = EdgeLanes;

    fn vertices(&self) -> [u32; 2] {
        self.vertices
    }

    fn pack(numbers: &[u32], elements: &[Self]) -> EdgeLanes {
        EdgeLanes {
            rest: lanes_of(numbers, 1.0, |e| elements[e].rest),
            min: lanes_of(numbers, 0.0, |e| elements[e].range.min),
            max: lanes_of(numbers, NO_LIMIT, |e| elements[e].range.max),
            share: lanes_of(numbers, 0.0, |e| elements[e].share),
        }
    }
}

impl LimitLanes<2> for EdgeLanes {
    #[inline(always)]
    fn share<L: Lanes>(&self, at: usize) -> L {
        L::load(&self.share, at)
    }

    #[inline(always)]
    fn project<L: Lanes, const PAPER: bool>(
        &self,
        at: usize,
        corners: &Corners<L, 2>,
        relaxation: L,
        worst: &mut L,
    ) -> Option<[V3<L>; 2]> {
        let (x, w) = (xyz(&corners.quads), weights(&corners.quads));
        let (moves, residual) = limit_edge(x, w, self.rest(at), self.range(at), relaxation);
        *worst = worst.max(residual);
        L::any(L::splat(0.0).lt(residual)).then_some(moves)
    }

    #[inline(always)]
    fn residual<L: Lanes>(&self, at: usize, x: &[V3<L>; 2]) -> L {
        let d = sub(x[1], x[0]);
        past(dot(d, d).sqrt() / self.rest(at), self.range(at))
    }
}

impl Limited<2> for EdgeElement {
    fn project_one(
        &self,
        x: &[V3<f32>; 2],
        w: [f32; 2],
        _projection: Projection,
        relaxation: f32,
    ) -> (f32, Option<[V3<f32>; 2]>) {
        let (moves, residual) = limit_edge(*x, w, self.rest, self.range, relaxation);
        (residual, Some(moves))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::real::add;

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
