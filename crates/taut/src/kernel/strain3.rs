//! The strain limit of one tetrahedron (W2): two ways to bring its principal stretches back into range.
//!
//! **Gradient** (the default), as for [triangles](super::strain). With gᵢ the gradients of the rest shape
//! functions, vertex i moves by −λ wᵢ (v·gᵢ) u, which gives no linear momentum, since Σ gᵢ = 0, and no
//! angular one, since F v is along u.
//! - One stretch outside. The other directions turn along; the exact length of the step is the root of a
//!   quadratic, and the tetrahedron *lands*, inside out or not.
//! - More outside, or the others would leave their limits: the shape U T Vᵀ is given, with the outer
//!   stretches at their limits, and is put where it is nearest in the mass metric. The rotation that does it
//!   gives no angular momentum (Procrustes).
//!
//! **Paper** (section 3.1.3). U T Vᵀ about the centre of mass; one pinned vertex: about it.
//!
//! Two or three pinned vertices hold an edge or a face, on which no projection can change a stretch. There
//! both ways go along the gradients several times, damped where pins leave little room, and stay if that does
//! not help.
//!
//! Cost: one decomposition, two if the shape is given; see `benches/tetrahedra.rs`.

use super::{
    jacobi3::{Decomposed, M3, decompose},
    real::{Real, V3, add, cross, dot, scale, select3, sub},
    strain::Range,
    tetrahedron::{RestInverse3, gradient3, past3, surely_inside},
};

/// What a projection did to a tetrahedron.
#[derive(Clone, Copy)]
pub struct Projected3<R: Real> {
    /// How far the worst principal stretch was past its limit, before.
    pub residual: R,
    /// How its vertices move \[m\].
    pub moves: [V3<R>; 4],
}

/// Brings a tetrahedron back to its limits along the mass-weighted gradients. `w` are inverse masses; any
/// common factor cancels. `None` if all lanes are inside (the early-out, W3).
#[inline(always)]
pub fn limit_strain_gradient3<R: Real>(
    x: &[V3<R>; 4],
    w: [R; 4],
    rest: &RestInverse3<R>,
    range: Range<R>,
    relaxation: R,
) -> Option<Projected3<R>> {
    let out = violation(x, rest, range)?;
    let w = relative(w);
    let g = shape_gradients(rest);
    let (mut moves, lands) = single_step(&out.parts, w, &g, range);
    let given = out.active & !lands;
    if R::any(given) {
        let (placed, held) = placed::<R, true>(x, w, rest, &out);
        for i in 0..4 {
            moves[i] = select3::<R>(given, placed[i], moves[i]);
        }
        around_pins(x, w, rest, range, &out, held & given, &mut moves);
    }
    Some(out.relaxed(moves, relaxation))
}

/// Brings a tetrahedron back to its limits as published. `None` if all lanes are inside.
#[inline(always)]
pub fn limit_strain_paper3<R: Real>(
    x: &[V3<R>; 4],
    w: [R; 4],
    rest: &RestInverse3<R>,
    range: Range<R>,
    relaxation: R,
) -> Option<Projected3<R>> {
    let out = violation(x, rest, range)?;
    let w = relative(w);
    let (mut moves, held) = placed::<R, false>(x, w, rest, &out);
    around_pins(x, w, rest, range, &out, held & out.active, &mut moves);
    Some(out.relaxed(moves, relaxation))
}

/// A tetrahedron of which some lane is outside its limits.
struct Violation<R: Real> {
    parts: Decomposed<R>,
    /// Stretches within limits.
    target: [R; 3],
    active: R::Mask,
    residual: R,
}

impl<R: Real> Violation<R> {
    /// Moves of the lanes that are outside, as far as asked.
    #[inline(always)]
    fn relaxed(&self, moves: [V3<R>; 4], relaxation: R) -> Projected3<R> {
        let zero = R::splat(0.0);
        let mut relaxed = [[zero; 3]; 4];
        for i in 0..4 {
            relaxed[i] = select3::<R>(self.active, scale(moves[i], relaxation), [zero; 3]);
        }
        Projected3 { residual: self.residual, moves: relaxed }
    }
}

#[inline(always)]
fn violation<R: Real>(x: &[V3<R>; 4], rest: &RestInverse3<R>, range: Range<R>) -> Option<Violation<R>> {
    let zero = R::splat(0.0);
    let f = gradient3(x, rest);
    let inside = surely_inside(&f, range);
    if !R::any(!inside) {
        return None;
    }
    let parts = decompose(&f);
    let mut target = [zero; 3];
    for k in 0..3 {
        target[k] = parts.s[k].clamp(range.min, range.max);
    }
    let residual = R::select(inside, zero, past3(parts.s, range));
    Some(Violation { parts, target, active: zero.lt(residual), residual })
}

/// Inverse masses over the largest of them, so that products of four keep their digits.
#[inline(always)]
fn relative<R: Real>(w: [R; 4]) -> [R; 4] {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let largest = w[0].max(w[1]).max(w[2].max(w[3]));
    let inverse = one / R::select(zero.lt(largest), largest, one);
    [w[0] * inverse, w[1] * inverse, w[2] * inverse, w[3] * inverse]
}

/// Gradients of the shape functions at rest \[1/m\].
#[inline(always)]
fn shape_gradients<R: Real>(rest: &RestInverse3<R>) -> [V3<R>; 4] {
    let mut g = [[R::splat(0.0); 3]; 4];
    for k in 0..3 {
        for i in 0..3 {
            g[i + 1][k] = rest[k][i];
        }
        g[0][k] = -(rest[k][0] + rest[k][1] + rest[k][2]);
    }
    g
}

/// The step along the gradient of the one stretch that is outside, and where it lands.
///
/// With G = Σ wᵢ gᵢ gᵢᵀ and κ = Vᵀ G v, a step of λ changes row k of diag(s) by −λ κᵀ. The result has the
/// singular value t where (y / t)² = 1 − λ² Σ κᵢ² / (t² − sᵢ²) over the others, y = s − λ κₖ: a quadratic in
/// y, of whose roots the positive one makes the element right side out. The others follow from the
/// invariants.
#[inline(always)]
fn single_step<R: Real>(
    d: &Decomposed<R>,
    w: [R; 4],
    g: &[V3<R>; 4],
    range: Range<R>,
) -> ([V3<R>; 4], R::Mask) {
    let (zero, one, half, tiny) = (R::splat(0.0), R::splat(1.0), R::splat(0.5), R::splat(1e-30));
    let first = range.max.lt(d.s[0]);
    let last = d.s[2].lt(range.min);
    let between = range.min.le(d.s[1]) & d.s[1].le(range.max);
    let alone = between & ((first & !last) | (last & !first));
    let s = R::select(first, d.s[0], d.s[2]);
    let t = R::select(first, range.max, range.min);
    let (o, n) = (d.s[1], R::select(first, d.s[2], d.s[0]));
    let (u, v) = (select3::<R>(first, d.u[0], d.u[2]), select3::<R>(first, d.v[0], d.v[2]));
    let far = select3::<R>(first, d.v[2], d.v[0]);
    let (mut kappa, mut total) = ([zero; 3], zero);
    let mut weighted = [zero; 4];
    for i in 0..4 {
        weighted[i] = w[i] * dot(v, g[i]);
        kappa[0] = kappa[0] + weighted[i] * dot(v, g[i]);
        kappa[1] = kappa[1] + weighted[i] * dot(d.v[1], g[i]);
        kappa[2] = kappa[2] + weighted[i] * dot(far, g[i]);
        total = total + w[i] * dot(g[i], g[i]);
    }
    let own = kappa[0].max(tiny);
    let (ratio_o, ratio_n) = (kappa[1] / own, kappa[2] / own);
    let (squared_o, squared_n) = (ratio_o * ratio_o, ratio_n * ratio_n);
    let tt = t * t;
    let (gap_o, gap_n) = (tt - o * o, tt - n * n);
    let p = tt
        * (squared_o / R::select(gap_o.abs().le(tiny), tiny, gap_o)
            + squared_n / R::select(gap_n.abs().le(tiny), tiny, gap_n));
    let root = tt + p * (tt - s * s);
    let y = (p * s + root.max(zero).sqrt()) / (one + p);
    let step = s - y;
    // Sum and product of the squares of the others.
    let square = step * step;
    let sum = (o * o + n * n + y * y + square * (squared_o + squared_n)) - tt;
    let minors =
        o * o * (n * n) + y * y * (o * o + n * n) + square * (squared_n * (o * o) + squared_o * (n * n));
    let product = minors - tt * sum;
    // Both squares are within limits where their parabola is positive at either limit. Room for rounding:
    // near a limit, and near a double root, the given shape is the safe way.
    let room = R::splat(4e-6);
    let (low, high) = (range.min * range.min, range.max.min(R::splat(1e4)) * range.max.min(R::splat(1e4)));
    let middle = half * sum;
    let within = low.le(middle)
        & middle.le(high)
        & (room * low * low).le((low - sum) * low + product)
        & (room * high * high).le((high - sum) * high + product);
    let solved = (R::splat(0.05) * tt).le(root)
        & R::splat(0.05).le(one + p)
        & (R::splat(1e-4) * total).le(kappa[0])
        & zero.lt(kappa[0]);
    let mut moves = [[zero; 3]; 4];
    for i in 0..4 {
        moves[i] = scale(u, -(step * (weighted[i] / own)));
    }
    (moves, alone & solved & within)
}

/// U T Vᵀ about the centre of mass, or the one pinned vertex; if `NEAREST`, turned to where it is nearest in
/// the mass metric. Also lanes with more pinned vertices, for which that is no answer.
#[inline(always)]
fn placed<R: Real, const NEAREST: bool>(
    x: &[V3<R>; 4],
    w: [R; 4],
    rest: &RestInverse3<R>,
    out: &Violation<R>,
) -> ([V3<R>; 4], R::Mask) {
    let (zero, one, tiny) = (R::splat(0.0), R::splat(1.0), R::splat(1e-30));
    let d = &out.parts;
    // Mass fractions from inverse masses: a pinned vertex (w = 0) takes the whole weight.
    let (front, back) = (w[0] * w[1], w[2] * w[3]);
    let mut share = [w[1] * back, w[0] * back, front * w[3], front * w[2]];
    let sum = (share[0] + share[1]) + (share[2] + share[3]);
    let inverse = one / sum.max(tiny);
    let edges = rest_edges(rest);
    // Corners now and as they should be, from corner 0.
    let (mut now, mut goal) = ([[zero; 3]; 4], [[zero; 3]; 4]);
    let (mut center, mut goal_center) = ([zero; 3], [zero; 3]);
    for i in 0..4 {
        share[i] = share[i] * inverse;
        if i > 0 {
            now[i] = sub(x[i], x[0]);
            for k in 0..3 {
                goal[i] = add(goal[i], scale(d.u[k], out.target[k] * dot(d.v[k], edges[i - 1])));
            }
            center = add(center, scale(now[i], share[i]));
            goal_center = add(goal_center, scale(goal[i], share[i]));
        }
    }
    for i in 0..4 {
        now[i] = sub(now[i], center);
        goal[i] = sub(goal[i], goal_center);
    }
    if NEAREST {
        let mut moment = [[zero; 3]; 3];
        for i in 0..4 {
            let mass = R::select(w[i].le(zero), zero, one / w[i].max(tiny));
            for k in 0..3 {
                moment[k] = add(moment[k], scale(now[i], mass * goal[i][k]));
            }
        }
        let turn = decompose(&moment);
        for i in 0..4 {
            let mut turned = [zero; 3];
            for k in 0..3 {
                turned = add(turned, scale(turn.u[k], dot(turn.v[k], goal[i])));
            }
            goal[i] = turned;
        }
    }
    let mut moves = [[zero; 3]; 4];
    for i in 0..4 {
        // Mass fractions round: a pinned vertex must not move by a bit.
        moves[i] = select3::<R>(w[i].le(zero), [zero; 3], sub(goal[i], now[i]));
    }
    (moves, sum.le(tiny))
}

/// Edges from corner 0 at rest \[m\]: the inverse of the inverse.
#[inline(always)]
fn rest_edges<R: Real>(rest: &RestInverse3<R>) -> M3<R> {
    let rows = [cross(rest[1], rest[2]), cross(rest[2], rest[0]), cross(rest[0], rest[1])];
    let inverse = R::splat(1.0) / dot(rest[0], rows[0]);
    let mut edges = [[R::splat(0.0); 3]; 3];
    for i in 0..3 {
        for k in 0..3 {
            edges[i][k] = rows[k][i] * inverse;
        }
    }
    edges
}

/// Steps along the gradients around pinned vertices.
const STEPS: usize = 12;

/// Two or more vertices pinned (`held`): steps along the gradients of all stretches that are outside, at
/// once, of which the first order is independent. Where pins hold a stretch, no step is enough; so steps are
/// damped, and the best place that was met counts.
#[inline(always)]
fn around_pins<R: Real>(
    x: &[V3<R>; 4],
    w: [R; 4],
    rest: &RestInverse3<R>,
    range: Range<R>,
    out: &Violation<R>,
    held: R::Mask,
    moves: &mut [V3<R>; 4],
) {
    if !R::any(held) {
        return;
    }
    let (zero, tiny) = (R::splat(0.0), R::splat(1e-30));
    let g = shape_gradients(rest);
    let mut total = zero;
    for i in 0..4 {
        total = total + w[i] * dot(g[i], g[i]);
    }
    let damping = total * R::splat(0.02);
    let mut d = out.parts;
    let (mut at, mut best, mut least) = ([[zero; 3]; 4], [[zero; 3]; 4], out.residual);
    for _ in 0..STEPS {
        let mut change = [[zero; 3]; 4];
        for k in 0..3 {
            let past = d.s[k] - d.s[k].clamp(range.min, range.max);
            let (mut along, mut own) = ([zero; 4], zero);
            for i in 0..4 {
                along[i] = w[i] * dot(d.v[k], g[i]);
                own = own + along[i] * dot(d.v[k], g[i]);
            }
            let step = past * (own / (own * own + damping * damping).max(tiny));
            for i in 0..4 {
                change[i] = sub(change[i], scale(d.u[k], step * along[i]));
            }
        }
        let mut there = *x;
        for i in 0..4 {
            at[i] = add(at[i], change[i]);
            there[i] = add(x[i], at[i]);
        }
        d = decompose(&gradient3(&there, rest));
        let residual = past3(d.s, range);
        let better = residual.lt(least);
        least = R::select(better, residual, least);
        for i in 0..4 {
            best[i] = select3::<R>(better, at[i], best[i]);
        }
    }
    for i in 0..4 {
        moves[i] = select3::<R>(held, best[i], moves[i]);
    }
}

/// Angular momentum (times dt) that moves give: Σ x × move / w, for tests and measurements. Free vertices
/// only.
#[cfg(test)]
pub fn angular_impulse3(x: &[V3<f64>; 4], w: [f64; 4], moves: &[V3<f64>; 4]) -> V3<f64> {
    let mut sum = [0.0; 3];
    for i in 0..4 {
        if w[i] > 0.0 {
            sum = add(sum, scale(cross(x[i], moves[i]), 1.0 / w[i]));
        }
    }
    sum
}
