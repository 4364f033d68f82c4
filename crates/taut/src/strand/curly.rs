//! Newton steps of strands with material frames: bent, and twisted, at rest.
//!
//! Energy of a joint, with t the tangents, c = e₁/l₁ − e₀/l₀, m_k the material directions of both segments,
//! and τ the twist between them:
//!
//!   E = k_b [½ |c|² − ½ Σ κ_k (t₁·m_k⁰ − t₀·m_k¹)] + ½ g_t (τ − τ̄)².
//!
//! Frames move with their edges without twist, and turn by angles θ, which are unknowns of the same matrix:
//! alternating x and θ diverges. The gradient is exact, with ∂τ/∂e = (t₀ × t₁)/((1 + c) |e|). The Hessian is
//! Σ (ω₁ − ω₀)ᵀ S (ω₁ − ω₀), with ω = t × δe/l + t δθ the rotation of a segment, S = k (1 − ddᵀ) + g_t ddᵀ, d
//! the mean tangent, k = k_b √(1 + κ²): positive semidefinite. To that comes max(t·(λ∇C + ∂E/∂e), 0)/l of the
//! whole force along a segment (with λ alone it takes twice the iterations). Unknowns are (θ_{i−1}, x_i,
//! λ_{i−1}) node by node: half-bandwidth 12.

use super::{
    HEAVY,
    frames::{angle_of_half_tangent, half_twist, orthogonal, transport, unit},
    limits::STIFFENING,
    newton::{LoadRows, Moved, Setting, Stride, advance, is_held, length_row, node_gradient},
    work::{CURLY, EdgeBlock, JointBlock, Work},
};
use crate::kernel::{
    lanes::Lanes,
    real::{V3, add, combine, cross, dot, scale, select3, sub},
};

/// Added to the stiffness of every angle, over that of the joint before: free ones have no position.
const HOLD: f32 = 1e-6;

/// What a joint does to the segments beside it.
struct Joint<L> {
    /// Gradients by edges and angles, the one before first.
    edge: [V3<L>; 2],
    angle: [L; 2],
    /// Stiffness across the mean tangent and about it.
    bend: L,
    twist: L,
}

/// Gradient and stiffness of joint `i`.
#[inline(always)]
fn joint<L: Lanes>(set: &Setting<'_, L>, work: &Work<'_, L>, i: usize) -> Joint<L> {
    let (half, one) = (L::splat(0.5), L::splat(1.0));
    let (e0, e1) = (work.edge[i - 1], work.edge[i]);
    let (t0, t1) = (work.tangent[i - 1], work.tangent[i]);
    let (m0, m1) = (work.frame[i - 1], work.frame[i]);
    let (p0, p1) = (cross(t0, m0), cross(t1, m1));
    let (a, b) = (set.inverse_length(i - 1), set.inverse_length(i));
    let (r0, r1) = (one / dot(e0, t0), one / dot(e1, t1));
    let [k1, k2] = L::load_rows(&set.rods.curvature[i], set.at);
    let k = set.bend(i);
    let mut g = L::of(&set.rods.twist[i], set.at) * set.c_dt2;
    let cosine = dot(t0, t1);
    let c = combine(e1, b, e0, -a);
    let mut chord = k;
    let mut bend = k * (one + k1 * k1 + k2 * k2).sqrt();
    let tau = angle_of_half_tangent(half_twist((t0, m0), (t1, m1)));
    let change = tau - L::of(&set.rods.rest_twist[i], set.at);
    let mut torque = g * change;
    if !set.rods.limits.is_empty() {
        let (force, stiffness) = set.stiffen(i, c);
        (chord, bend) = (chord + force, bend + stiffness);
        let room = L::of(&set.rods.limits[i].twist[0], set.at);
        let past = change - change.clamp(-room, room);
        let stiff = L::splat(STIFFENING) * g;
        torque = torque + stiff * past;
        g = g + L::select(room.lt(change.abs()), stiff, L::splat(0.0));
    }
    // The curvature directions of both frames, and how they turn with the angles.
    let (bent0, bent1) = (combine(m0, k1, p0, k2), combine(m1, k1, p1, k2));
    let (turned0, turned1) = (combine(p0, k1, m0, -k2), combine(p1, k1, m1, -k2));
    let along0 = half * dot(bent1, t0);
    let along1 = half * dot(bent0, t1);
    // −½ (a₁ + cos a₀) for t₀ and −½ (a₀ + cos a₁) for t₁, without their parts along the tangents.
    let turn0 = sub(combine(bent1, half, bent0, half * cosine), scale(t0, along0));
    let turn1 = sub(combine(bent0, half, bent1, half * cosine), scale(t1, along1));
    let twist = scale(cross(t0, t1), torque / (one + cosine).max(L::splat(1e-6)));
    let edge0 = combine(combine(c, -(chord * a), turn0, k * r0), one, twist, r0);
    let edge1 = combine(combine(c, chord * b, turn1, -(k * r1)), one, twist, r1);
    let angle0 = -(torque + half * k * dot(t1, turned0));
    let angle1 = torque + half * k * dot(t0, turned1);
    Joint { edge: [edge0, edge1], angle: [angle0, angle1], bend, twist: g }
}

/// Adds the share of a joint in the Hessian of one of its segments: `h` is d × t / l, `along` is d·t.
#[inline(always)]
fn add_own<L: Lanes>(own: &mut EdgeBlock<L>, (k, q): (L, L), t: V3<L>, h: V3<L>, (inverse, along): (L, L)) {
    let a = scale(t, inverse);
    let mut w = 0;
    for r in 0..3 {
        for c in 0..=r {
            let mut v = q * h[r] * h[c] - k * a[r] * a[c];
            if r == c {
                v = v + k * inverse * inverse;
            }
            own[w] = own[w] + v;
            w += 1;
        }
    }
    for r in 0..3 {
        own[6 + r] = own[6 + r] + q * along * h[r];
    }
    own[9] = own[9] + k + q * along * along;
}

/// The share of joint `i` in the Hessian: of both segments, and between them.
#[inline(always)]
fn hessian<L: Lanes>(set: &Setting<'_, L>, work: &mut Work<'_, L>, i: usize, bend: L, twist: L) {
    let (t0, t1) = (work.tangent[i - 1], work.tangent[i]);
    let (k, q) = (bend, twist - bend);
    let d = unit(add(t0, t1));
    let cosine = dot(t0, t1);
    let (a, b) = (set.inverse_length(i - 1), set.inverse_length(i));
    let (h0, h1) = (scale(cross(d, t0), a), scale(cross(d, t1), b));
    let (along0, along1) = (dot(d, t0), dot(d, t1));
    add_own(&mut work.own[i - 1], (k, q), t0, h0, (a, along0));
    add_own(&mut work.own[i], (k, q), t1, h1, (b, along1));
    let (a0, a1) = (scale(t0, a), scale(t1, b));
    let across = cross(t1, t0);
    let block: &mut JointBlock<L> = &mut work.joint[i];
    for r in 0..3 {
        for c in 0..3 {
            let mut v = q * h0[r] * h1[c] - k * a1[r] * a0[c];
            if r == c {
                v = v + k * cosine * a * b;
            }
            block[4 * r + c] = -v;
        }
        block[4 * r + 3] = -(k * across[r] * a + q * h0[r] * along1);
        block[12 + r] = -(q * h1[r] * along0 - k * across[r] * b);
    }
    block[15] = -(k * cosine + q * along0 * along1);
}

/// Gradients by edges and angles, of elasticity alone.
#[inline(always)]
pub(super) fn gradient<L: Lanes>(set: &Setting<'_, L>, work: &mut Work<'_, L>) {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    work.gradient.fill([zero; 3]);
    work.angle_gradient.fill(zero);
    for i in 1..work.nodes - 1 {
        let found = joint(set, work, i);
        for (s, j) in [i - 1, i].into_iter().enumerate() {
            work.gradient[j] = combine(work.gradient[j], one, found.edge[s], one);
            work.angle_gradient[j] = work.angle_gradient[j] + found.angle[s];
        }
    }
}

/// Gradients and blocks of the Hessian of all segments.
#[inline(always)]
fn assemble<L: Lanes>(set: &Setting<'_, L>, work: &mut Work<'_, L>) {
    let (zero, one) = (L::splat(0.0), L::splat(1.0));
    let n = work.nodes - 1;
    for j in 0..n {
        work.gradient[j] = scale(work.edge[j], work.tension[j] * set.inverse_length(j));
        work.own[j] = [zero; 10];
        work.angle_gradient[j] = zero;
    }
    work.joint[0] = [zero; 16];
    work.joint[n] = [zero; 16];
    for i in 1..n {
        let found = joint(set, work, i);
        for (s, j) in [i - 1, i].into_iter().enumerate() {
            work.gradient[j] = combine(work.gradient[j], one, found.edge[s], one);
            work.angle_gradient[j] = work.angle_gradient[j] + found.angle[s];
        }
        hessian(set, work, i, found.bend, found.twist);
    }
}

/// What a change of an angle counts as, in terms of a move \[m/rad\].
const ARM: f32 = 1e-3;

/// One Newton step.
#[inline(always)]
pub(super) fn newton<L: Lanes>(set: &Setting<'_, L>, work: &mut Work<'_, L>, stride: Stride<L>) -> Moved<L> {
    let (nodes, first) = (work.nodes, set.first);
    assemble(set, work);
    work.banded::<CURLY>().begin();
    for i in first..nodes {
        push_node(set, work, i);
    }
    let end = CURLY + 5 * (nodes - first);
    work.banded::<CURLY>().solve(end);
    let mut angles = L::splat(0.0);
    for r in (CURLY..end).step_by(5) {
        let angle = work.banded::<CURLY>().right[r];
        angles = angle.abs().max(angles);
    }
    let (mut moved, factor) = advance::<L, CURLY, 5>(set, work, stride, (1, angles));
    for j in first.max(1) - 1..nodes - 1 {
        let turn = work.banded::<CURLY>().right[CURLY + 5 * (j + 1 - first)];
        move_frame(work, j, turn * factor, stride.active);
    }
    moved.largest = moved.largest.max(angles * L::splat(ARM));
    moved
}

/// Moves the frame of segment `j` with its edge, and turns it by `turn`.
#[inline(always)]
pub(super) fn move_frame<L: Lanes>(work: &mut Work<'_, L>, j: usize, turn: L, active: L::Mask) {
    let (t0, t1) = (work.tangent[j], unit(work.edge[j]));
    let m = transport(work.frame[j], t0, t1);
    let m = combine(m, L::splat(1.0), cross(t1, m), turn);
    work.frame[j] = select3::<L>(active, orthogonal(m, t1), work.frame[j]);
    work.tangent[j] = select3::<L>(active, t1, t0);
}

/// Entry of a symmetric 3 × 3 block.
#[inline(always)]
fn entry<L: Lanes>(block: &EdgeBlock<L>, r: usize, c: usize) -> L {
    if r >= c { block[r * (r + 1) / 2 + c] } else { block[c * (c + 1) / 2 + r] }
}

/// The five rows of node `i` and of the segment `i − 1` before it.
#[inline(always)]
fn push_node<L: Lanes>(set: &Setting<'_, L>, work: &mut Work<'_, L>, i: usize) {
    let zero = L::splat(0.0);
    let k = i - set.first;
    let (has_one, has_two) = (k >= 1, k >= 2);
    let r0 = CURLY + 5 * k;
    // Before the root there is no segment: its rows are those of the unit matrix.
    let nothing = i == 0;
    let own = if nothing { [zero; 10] } else { work.own[i - 1] };
    let before = if nothing { [zero; 16] } else { work.joint[i - 1] };
    let behind = work.joint[i];
    let next = if i + 1 < work.nodes { work.own[i] } else { [zero; 10] };
    let weight = |j: usize| {
        let along = dot(work.gradient[j], work.tangent[j]);
        along.max(zero) * set.inverse_length(j)
    };
    let weight_own = if nothing { zero } else { weight(i - 1) };
    let weight_next = if i + 1 < work.nodes { weight(i) } else { zero };
    let g = node_gradient(set, work, i);

    // The angle of segment i − 1.
    let mut a = [zero; CURLY];
    let (mut diagonal, mut right) = (L::splat(1.0), zero);
    if !nothing {
        for c in 0..3 {
            if has_two {
                a[8 - c] = -before[4 * c + 3];
            }
            if has_one {
                a[3 - c] = before[4 * c + 3] - own[6 + c];
            }
        }
        if has_one {
            a[4] = before[15];
        }
        let held = is_held(work.mass[i - 1]) & is_held(work.mass[i]);
        let loose = own[9] + own[9] * L::splat(HOLD) + L::splat(1e-12);
        diagonal = L::select(held, L::splat(HEAVY), loose);
        right = -work.angle_gradient[i - 1];
    }
    work.banded::<CURLY>().push::<9>(r0, a, diagonal, right);

    let mut hessian = [zero; 6];
    if set.is_pulled {
        for q in 0..6 {
            hessian[q] = work.pull[i][3 + q] * set.force;
        }
    }
    let mass = work.mass[i];
    let mut banded = work.banded::<CURLY>();
    for c in 0..3 {
        let within =
            |c2: usize| entry(&own, c, c2) + entry(&next, c, c2) - behind[4 * c + c2] - behind[4 * c2 + c];
        let row = c * (c + 1) / 2;
        let mut a = [zero; CURLY];
        for c2 in 0..c {
            a[c - c2 - 1] = within(c2) + hessian[row + c2];
        }
        a[c] = own[6 + c] - behind[12 + c];
        for c2 in 0..3 {
            if has_one {
                let mut v = before[4 * c2 + c] - entry(&own, c, c2) + behind[4 * c2 + c];
                if c == c2 {
                    v = v - weight_own;
                }
                a[4 + c - c2] = v;
            }
            if has_two {
                a[9 + c - c2] = -before[4 * c2 + c];
            }
        }
        if has_one {
            a[5 + c] = before[12 + c];
        }
        let diagonal = mass + weight_own + weight_next + within(c) + hessian[row + c];
        banded.push::<12>(r0 + 1 + c, a, diagonal, -g[c]);
    }

    push_length(set, work, i);
}

/// The row of the length of the segment before node `i`.
#[inline(always)]
fn push_length<L: Lanes>(set: &Setting<'_, L>, work: &mut Work<'_, L>, i: usize) {
    let (zero, k) = (L::splat(0.0), i - set.first);
    let mut a = [zero; CURLY];
    let (mut diagonal, mut right) = (L::splat(-1.0), zero);
    if i > 0 {
        (diagonal, right) = length_row(set, work, i - 1);
        let along = scale(work.edge[i - 1], set.inverse_length(i - 1));
        for c in 0..3 {
            a[2 - c] = along[c];
            if k >= 1 {
                a[7 - c] = -along[c];
            }
        }
    }
    work.banded::<CURLY>().push::<8>(CURLY + 5 * k + 4, a, diagonal, right);
}
