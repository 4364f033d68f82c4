//! Newton steps of strands that are straight at rest, without frames.
//!
//! Energy: inertia, ½ Σ k_b |e_i/l_i − e_{i−1}/l_{i−1}|², outside forces; subject to C_j = ½(|e|²/l − l) = 0.
//! The Hessian of bending is constant and the same for x, y, z; the tension adds max(λ, 0)/l times that of a
//! string. Unknowns are (x_i, λ_{i−1}) node by node: half-bandwidth 8.

use super::{
    newton::{Moved, Setting, Stride, add_joint, advance, length_row, node_gradient},
    work::{STRAIGHT, Work},
};
use crate::kernel::{
    lanes::Lanes,
    real::{combine, scale},
};

/// Gradients by edges, of elasticity alone.
#[inline(always)]
pub(super) fn gradient<L: Lanes>(set: &Setting<'_, L>, work: &mut Work<'_, L>) {
    let one = L::splat(1.0);
    work.gradient.fill([L::splat(0.0); 3]);
    for i in 1..work.nodes - 1 {
        let (a, b) = (set.inverse_length(i - 1), set.inverse_length(i));
        let c = combine(work.edge[i], b, work.edge[i - 1], -a);
        let k = set.bend(i);
        work.gradient[i] = combine(work.gradient[i], one, c, k * b);
        work.gradient[i - 1] = combine(work.gradient[i - 1], one, c, -(k * a));
    }
}

/// Gradients by edges, and the pentadiagonal matrix with tension and limits on bend.
#[inline(always)]
fn assemble<L: Lanes>(set: &Setting<'_, L>, work: &mut Work<'_, L>) {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let nodes = work.nodes;
    work.matrix[..nodes].copy_from_slice(&work.base[..nodes]);
    for j in 0..nodes - 1 {
        let pull = work.tension[j] * set.inverse_length(j);
        work.gradient[j] = scale(work.edge[j], pull);
        let weight = pull.max(zero);
        work.matrix[j][0] = work.matrix[j][0] + weight;
        work.matrix[j + 1][0] = work.matrix[j + 1][0] + weight;
        work.matrix[j + 1][1] = work.matrix[j + 1][1] - weight;
    }
    for i in 1..nodes - 1 {
        let (a, b) = (set.inverse_length(i - 1), set.inverse_length(i));
        let c = combine(work.edge[i], b, work.edge[i - 1], -a);
        let mut k = set.bend(i);
        if !set.rods.limits.is_empty() {
            let (force, stiffness) = set.stiffen(i, c);
            k = k + force;
            add_joint(work.matrix, i, stiffness, a, b);
        }
        work.gradient[i] = combine(work.gradient[i], one, c, k * b);
        work.gradient[i - 1] = combine(work.gradient[i - 1], one, c, -(k * a));
    }
}

/// One Newton step.
#[inline(always)]
pub(super) fn newton<L: Lanes>(set: &Setting<'_, L>, work: &mut Work<'_, L>, stride: Stride<L>) -> Moved<L> {
    let zero = L::splat(0.0);
    assemble(set, work);
    let (nodes, first) = (work.nodes, set.first);
    work.banded::<STRAIGHT>().begin();
    for i in first..nodes {
        let k = i - first;
        let r = STRAIGHT + 4 * k;
        let [own, one_back, two_back] = work.matrix[i];
        let one_back = if k >= 1 { one_back } else { zero };
        let two_back = if k >= 2 { two_back } else { zero };
        let g = node_gradient(set, work, i);
        let mut hessian = [zero; 6];
        if set.is_pulled {
            for q in 0..6 {
                hessian[q] = work.pull[i][3 + q] * set.force;
            }
        }
        let mut banded = work.banded::<STRAIGHT>();
        for c in 0..3 {
            let mut a = [zero; STRAIGHT];
            a[7] = two_back;
            a[3] = one_back;
            // xx; xy, yy; xz, yz, zz: the entry beside the diagonal is the nearer one.
            let row = c * (c + 1) / 2;
            for back in 0..c {
                a[back] = hessian[row + c - 1 - back];
            }
            banded.push::<8>(r + c, a, own + hessian[row + c], -g[c]);
        }
        let mut a = [zero; STRAIGHT];
        let (mut diagonal, mut right) = (L::splat(-1.0), zero);
        if i > 0 {
            (diagonal, right) = length_row(set, work, i - 1);
            let along = scale(work.edge[i - 1], set.inverse_length(i - 1));
            for c in 0..3 {
                a[2 - c] = along[c];
                if k >= 1 {
                    a[6 - c] = -along[c];
                }
            }
        }
        work.banded::<STRAIGHT>().push::<7>(r + 3, a, diagonal, right);
    }
    work.banded::<STRAIGHT>().solve(STRAIGHT + 4 * (nodes - first));
    advance::<L, STRAIGHT, 4>(set, work, stride, (0, zero)).0
}
