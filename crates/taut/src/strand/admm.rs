//! The method of multipliers (ADMM), for strands where Newton's method does not converge: slow, and not
//! precise, but it needs no tangent of the constraints and cannot be thrown off by them.
//!
//! Every edge is projected onto the lengths it may have, and a pentadiagonal system, the same for x, y and z,
//! brings them together. Weights are those of the tension that the motion of this step would cause in a
//! hanging strand: proportional to what hangs below. Outside forces enter by their gradient and the trace of
//! their Hessian, which bounds it. Frames move with their edges and do not turn; limits on bend and twist are
//! left to the finish.

use super::{
    curly,
    newton::{Setting, base_matrix, node_gradient},
    solve::Pulls,
    straight,
    work::Work,
};
use crate::kernel::{
    lanes::Lanes,
    real::{combine, dot, scale, select3, sub},
};

/// Iterations, and those after which a strand within its limits is done.
const ITERATIONS: usize = 60;
const LEAST: usize = 20;

/// Smallest weight of a segment, in units of a node's mass.
const LIGHTEST: f32 = 1e-2;

/// Starts anew from the first guess and moves the lanes `active`.
#[inline(always)]
pub(super) fn solve<L: Lanes>(
    set: &Setting<'_, L>,
    work: &mut Work<'_, L>,
    pulls: &mut impl Pulls<L>,
    mut active: L::Mask,
) {
    begin(set, work, active);
    for iteration in 0..ITERATIONS {
        pulls.add(work, iteration);
        if set.rods.is_curly {
            curly::gradient(set, work);
        } else {
            straight::gradient(set, work);
        }
        let in_band = project_edges(set, work, active);
        if iteration >= LEAST {
            active = active & !in_band;
        }
        if !L::any(active) {
            break;
        }
        descend(set, work, active);
    }
    for j in 0..work.nodes - 1 {
        let along = dot(work.dual[j], work.edge[j]) * work.weight[j] * set.inverse_length(j);
        work.tension[j] = along;
    }
}

fn begin<L: Lanes>(set: &Setting<'_, L>, work: &mut Work<'_, L>, active: L::Mask) {
    let (zero, n) = (L::splat(0.0), work.nodes - 1);
    base_matrix(set, work);
    let mut farthest = zero;
    for i in 0..=n {
        work.x[i] = select3::<L>(active, work.guess[i], work.x[i]);
        let d = sub(work.goal[i], work.guess[i]);
        farthest = dot(d, d).max(farthest);
    }
    let farthest = farthest.sqrt();
    for j in 0..n {
        work.edge[j] = sub(work.x[j + 1], work.x[j]);
        work.dual[j] = [zero; 3];
        let hanging = L::splat((n - j + 1) as f32);
        work.weight[j] = (farthest * set.inverse_length(j) * hanging).max(L::splat(LIGHTEST));
        if set.rods.is_curly {
            curly::move_frame(work, j, zero, active);
        }
    }
}

/// Projects edges, turns duals, and adds to gradients what pulls edges to their projections. Says which lanes
/// are within their limits.
fn project_edges<L: Lanes>(set: &Setting<'_, L>, work: &mut Work<'_, L>, active: L::Mask) -> L::Mask {
    let one = L::splat(1.0);
    let [low, high] = set.band.fixed.map_or(set.band.aim, |length| [length; 2]).map(L::splat);
    let [least, most] = set.band.held.map(L::splat);
    let mut in_band = one.le(one);
    for j in 0..work.nodes - 1 {
        let (e, u) = (work.edge[j], work.dual[j]);
        let inverse = set.inverse_length(j);
        let stretch = dot(e, e).sqrt() * inverse;
        in_band = in_band & least.le(stretch) & stretch.le(most);
        let f = combine(e, one, u, one);
        let stretch = (dot(f, f).sqrt() * inverse).max(L::splat(1e-6));
        let projected = scale(f, stretch.clamp(low, high) / stretch);
        let dual = sub(f, projected);
        let pull = combine(sub(e, projected), one, dual, one);
        work.gradient[j] = combine(work.gradient[j], one, pull, work.weight[j]);
        work.dual[j] = select3::<L>(active, dual, u);
    }
    in_band
}

/// Solves the pentadiagonal system and moves nodes.
fn descend<L: Lanes>(set: &Setting<'_, L>, work: &mut Work<'_, L>, active: L::Mask) {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let (nodes, first) = (work.nodes, set.first);
    work.matrix[..nodes].copy_from_slice(&work.base[..nodes]);
    for j in 0..nodes - 1 {
        let weight = work.weight[j];
        work.matrix[j][0] = work.matrix[j][0] + weight;
        work.matrix[j + 1][0] = work.matrix[j + 1][0] + weight;
        work.matrix[j + 1][1] = work.matrix[j + 1][1] - weight;
    }
    // Factors take the place of the matrix: inverse pivots, and the columns one and two back.
    let mut solved = [[zero; 3]; 2];
    for i in first..nodes {
        let [mut own, mut one_back, mut two_back] = work.matrix[i];
        if set.is_pulled {
            let pull = &work.pull[i];
            own = own + (pull[3] + pull[5] + pull[8]) * set.force;
        }
        let mut right = scale(node_gradient(set, work, i), -one);
        let (mut by_one, mut by_two) = (zero, zero);
        if i >= first + 2 {
            by_two = two_back * work.matrix[i - 2][0];
            one_back = one_back - two_back * work.matrix[i - 1][1];
            right = combine(right, one, solved[0], -by_two);
        } else {
            two_back = zero;
        }
        if i > first {
            by_one = one_back * work.matrix[i - 1][0];
            right = combine(right, one, solved[1], -by_one);
        } else {
            one_back = zero;
        }
        work.matrix[i] = [one / (own - one_back * by_one - two_back * by_two), by_one, by_two];
        solved = [solved[1], right];
        // Edge i is not needed by now; the solution is kept in its place.
        work.edge[i] = right;
    }
    let mut known = [[zero; 3]; 2];
    let [mut by_one, mut by_two, mut by_two_next] = [zero; 3];
    for i in (first..nodes).rev() {
        let [inverse, one_back, two_back] = work.matrix[i];
        let x = scale(work.edge[i], inverse);
        let x = combine(x, one, known[0], -by_one);
        let x = combine(x, one, known[1], -by_two);
        known = [x, known[0]];
        (by_one, by_two, by_two_next) = (one_back, by_two_next, two_back);
        let to = combine(work.x[i], one, x, one);
        work.x[i] = select3::<L>(active, to, work.x[i]);
    }
    for j in 0..nodes - 1 {
        work.edge[j] = sub(work.x[j + 1], work.x[j]);
        if set.rods.is_curly {
            curly::move_frame(work, j, zero, active);
        }
    }
}
