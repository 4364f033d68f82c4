//! Limits of edges, with what each pulls at its vertices kept from step to step, in batches of lanes.
//!
//! An edge that only moves its vertices back to where its limit is pulls by as much as they have gone too
//! far. One at a pin carries a thousand vertices, and would have to be far too long for that, or be met very
//! often. So the pull of each edge is remembered: a step begins with those of the last, and a sweep changes
//! each by what is missing. An edge gives back what it has where it is shorter than its limit, and ends at
//! its limit or without a pull: projected Gauss–Seidel with a warm start. What pushes apart at a lower limit
//! is forgotten: cloth gives way to that by folding.

use super::{colored::SharedQuads, edge::EdgeBatch};
use crate::kernel::{
    lanes::{BATCH, Lanes, Work},
    real::{Real, V3, add, dot, scale, sub},
    strain::Range,
};
use crate::velocity::fem::add_to;

/// What is left of a pull from step to step: all of it would keep cloth trembling.
const KEPT: f32 = 0.9;

/// Most that a remembered pull moves the vertices of an edge towards each other, over its length. An edge
/// that pulls by more throws vertices beside the line that it pulls along further to the other side than they
/// were.
const STEADY: f32 = 0.5;

/// Pulls of a batch of edges: by what they move a vertex, over its inverse mass. Positive ones draw together,
/// negative ones push apart.
pub type Pulls = [f32; BATCH];

/// The pull of an edge of `length` that had the pull `had` so far, and its residual before. `weight` is the
/// sum of the inverse masses of its vertices.
#[inline(always)]
pub fn pull_of_edge<R: Real>(
    length: R,
    weight: R,
    rest: R,
    range: Range<R>,
    relaxation: R,
    had: R,
) -> (R, R) {
    let (zero, tiny) = (R::splat(0.0), R::splat(1e-30));
    let (over, under) = (length - range.max * rest, length - range.min * rest);
    let share = R::select(tiny.lt(weight), relaxation / weight.max(tiny), zero);
    let pull = (had + over * share).max((had + under * share).min(zero));
    (pull, (over / rest).max(-(under / rest)).max(zero))
}

/// From the first vertex of an edge to the second, with length 1, and how far that is. A collapsed edge has
/// no direction of its own: it opens along x.
#[inline(always)]
fn direction<R: Real>(x: [V3<R>; 2], rest: R) -> (V3<R>, R) {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let d = sub(x[1], x[0]);
    let length = dot(d, d).sqrt();
    let point = length.le(rest * R::splat(1e-6));
    let along = scale(d, one / length.max(R::splat(1e-30)));
    let along =
        [R::select(point, one, along[0]), R::select(point, zero, along[1]), R::select(point, zero, along[2])];
    (along, length)
}

/// What to do with pulls.
#[derive(Clone, Copy, Debug)]
pub enum PullWork {
    /// Change them so that limits are met, times a factor on what is missing.
    Sweep(f32),
    /// Begin a step with most of what the last one ended with; what that moves is added to these sums.
    Begin(SharedQuads),
}

/// Goes over some batches of edges of one colour. Gives the largest residual met.
pub struct PullEdges<'a> {
    /// Batches of one colour.
    pub batches: &'a [EdgeBatch],
    /// Their pulls.
    pub pulls: &'a mut [Pulls],
    /// Positions, and inverse mass as fourth component.
    pub x: SharedQuads,
    /// What to do.
    pub work: PullWork,
}

impl Work for PullEdges<'_> {
    type Output = f32;

    #[inline(always)]
    unsafe fn run<L: Lanes>(self) -> f32 {
        let (zero, mut worst) = (L::splat(0.0), L::splat(0.0));
        for (batch, pulls) in self.batches.iter().zip(self.pulls) {
            for at in (0..BATCH).step_by(L::WIDTH) {
                // SAFETY: indices are of vertices of the world, and edges of a colour share none.
                let (p, q) = unsafe {
                    (
                        L::gather(self.x.base(), &batch.vertices[0], at),
                        L::gather(self.x.base(), &batch.vertices[1], at),
                    )
                };
                let range = Range { min: L::load(&batch.min, at), max: L::load(&batch.max, at) };
                let (rest, had) = (L::load(&batch.rest, at), L::load(pulls, at));
                let x = [[p[0], p[1], p[2]], [q[0], q[1], q[2]]];
                let (along, length) = direction(x, rest);
                let (now, more) = match self.work {
                    PullWork::Sweep(relaxation) => {
                        let relaxation = L::splat(relaxation);
                        let (now, residual) = pull_of_edge(length, p[3] + q[3], rest, range, relaxation, had);
                        worst = worst.max(residual);
                        (now, now - had)
                    }
                    PullWork::Begin(sums) => {
                        let most = L::splat(STEADY) * rest / (p[3] + q[3]).max(L::splat(1e-30));
                        let now = (had * L::splat(KEPT)).min(most).max(zero);
                        now.store(pulls, at);
                        if L::any(zero.lt(now.abs())) {
                            let moves = scale(along, now);
                            // SAFETY: as above.
                            unsafe {
                                add_to(sums, &batch.vertices[0], at, scale(moves, p[3]));
                                add_to(sums, &batch.vertices[1], at, scale(moves, -q[3]));
                            }
                        }
                        continue;
                    }
                };
                if !L::any(zero.lt(more.abs())) {
                    continue;
                }
                now.store(pulls, at);
                let moves = scale(along, more);
                let [a, b, c] = add(x[0], scale(moves, p[3]));
                let [d, e, f] = sub(x[1], scale(moves, q[3]));
                // SAFETY: as above.
                unsafe {
                    L::scatter(self.x.base(), &batch.vertices[0], at, [a, b, c, p[3]]);
                    L::scatter(self.x.base(), &batch.vertices[1], at, [d, e, f, q[3]]);
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
        fn an_edge_ends_at_its_limit_or_without_a_pull(
            length in 0.0f64..3.0,
            w in prop::array::uniform2(0.0f64..2.0),
            rest in 0.3f64..2.0,
            had in -1.0f64..1.0,
        ) {
            let weight = w[0] + w[1];
            prop_assume!(weight > 0.01);
            let range = Range { min: 0.9, max: 1.1 };
            let (pull, residual) = pull_of_edge(length, weight, rest, range, 1.0, had);
            let now = (length - (pull - had) * weight) / rest;
            prop_assert!((residual - (length / rest - 1.1).max(0.9 - length / rest).max(0.0)).abs() < 1e-12);
            prop_assert!((0.9 - 1e-9..=1.1 + 1e-9).contains(&now), "stretched to {now}");
            // Only what is at a limit pulls or pushes.
            prop_assert!(pull < 1e-9 || (now - 1.1).abs() < 1e-9);
            prop_assert!(pull > -1e-9 || (now - 0.9).abs() < 1e-9);
        }
    }

    #[test]
    fn an_edge_that_is_held_at_both_ends_pulls_at_nothing() {
        let (pull, residual) = pull_of_edge(2.0f32, 0.0, 1.0, Range { min: 0.9, max: 1.1 }, 1.0, 0.0);
        assert_eq!((pull, residual > 0.8), (0.0, true));
    }
}
