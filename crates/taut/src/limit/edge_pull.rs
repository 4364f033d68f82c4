//! Limits of edges, with what each pulls at its vertices kept from step to step, in batches of lanes.
//!
//! An edge that only moves its vertices back to where its limit is pulls by as much as they have gone too
//! far. One at a pin carries a thousand vertices, and would have to be far too long for that, or be met very
//! often. So the pull of each edge is remembered: a step begins with those of the last, and a sweep changes
//! each by what is missing. An edge gives back what it has where it is shorter than its limit, and ends at
//! its limit or without a pull: projected Gauss–Seidel with a warm start. What pushes apart at a lower limit
//! is forgotten: cloth gives way to that by folding.

use super::Settings;
use super::tuning::edge_model::{PULL_KEPT, PULL_MOST};
use crate::{
    element::{edge::EdgeLanes, iterate::shuffled},
    exec::{
        batch::{weights, xyz},
        colored::{Colored, Corners, Kernel},
    },
    kernel::{
        lanes::{BATCH, Lanes, Quad},
        random::Random,
        real::{Real, V3, dot, scale, sub},
        strain::Range,
    },
};

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

/// Changes pulls so that limits are met; `relaxation` is a factor on what is missing.
struct ChangePulls {
    relaxation: f32,
}

impl Kernel<EdgeLanes, 2> for ChangePulls {
    type Beside = Pulls;

    #[inline(always)]
    fn apply<L: Lanes>(
        &self,
        edges: &EdgeLanes,
        pulls: &mut Pulls,
        at: usize,
        corners: &Corners<L, 2>,
        worst: &mut L,
    ) -> Option<[V3<L>; 2]> {
        let [p, q] = weights(&corners.quads);
        let (rest, had) = (edges.rest(at), L::load(pulls, at));
        let (along, length) = direction(xyz(&corners.quads), rest);
        let relaxation = L::splat(self.relaxation);
        let (now, residual) = pull_of_edge(length, p + q, rest, edges.range(at), relaxation, had);
        *worst = worst.max(residual);
        let more = now - had;
        if !L::any(L::splat(0.0).lt(more.abs())) {
            return None;
        }
        now.store(pulls, at);
        let moves = scale(along, more);
        Some([scale(moves, p), scale(moves, -q)])
    }
}

/// Begins a step with most of the pulls that the last one ended with.
struct KeepPulls;

impl Kernel<EdgeLanes, 2> for KeepPulls {
    type Beside = Pulls;

    #[inline(always)]
    fn apply<L: Lanes>(
        &self,
        edges: &EdgeLanes,
        pulls: &mut Pulls,
        at: usize,
        corners: &Corners<L, 2>,
        _worst: &mut L,
    ) -> Option<[V3<L>; 2]> {
        let (zero, [p, q]) = (L::splat(0.0), weights(&corners.quads));
        let (rest, had) = (edges.rest::<L>(at), L::load(pulls, at));
        let (along, _) = direction(xyz(&corners.quads), rest);
        let most = L::splat(PULL_MOST) * rest / (p + q).max(L::splat(1e-30));
        let now = (had * L::splat(PULL_KEPT)).min(most).max(zero);
        now.store(pulls, at);
        let moves = scale(along, now);
        L::any(zero.lt(now.abs())).then_some([scale(moves, p), scale(moves, -q)])
    }
}

/// One sweep over all edges whose pulls are kept, colours in random order. Gives the largest residual met on
/// the way.
pub fn sweep_pulls(
    settings: &Settings,
    colored: &Colored<EdgeLanes, 2>,
    pulls: &mut [Pulls],
    x: &mut [Quad],
    random: &mut Random,
    order: &mut Vec<u32>,
) -> f32 {
    shuffled(order, colored.color_count(), random);
    let kernel = ChangePulls { relaxation: settings.relaxation };
    order.iter().fold(0.0, |worst, &color| {
        worst.max(colored.sweep_color(settings.exec(), color as usize, x, pulls, &kernel))
    })
}

/// Begins a step with the pulls that the last one ended with: most of them, all at once, from where vertices
/// are now. `moves` is scratch of the length of `x`.
pub fn begin_pulls(
    settings: &Settings,
    colored: &Colored<EdgeLanes, 2>,
    pulls: &mut [Pulls],
    x: &mut [Quad],
    moves: &mut [Quad],
) {
    moves.fill([0.0; 4]);
    for color in 0..colored.color_count() {
        colored.accumulate_color(settings.exec(), color, (x, None), moves, pulls, &KeepPulls);
    }
    for (x, moved) in x.iter_mut().zip(moves.iter()) {
        if moved[..3] != [0.0; 3] {
            for k in 0..3 {
                x[k] += moved[k];
            }
        }
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
