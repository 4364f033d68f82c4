//! The strain limit of one triangle (W1): two ways to bring its principal stretches back into range.
//!
//! **Gradient** (the default). Each principal stretch sᵢ moves along its mass-weighted gradient: with bᵢ the
//! gradients of the rest shape functions and G = Σ wᵢ bᵢ bᵢᵀ, vertex i moves by k wᵢ (v·bᵢ) u. That gives no
//! angular momentum, and since Σ bᵢ = 0 no linear one. Pinned vertices need no case: their w is 0.
//! - One stretch outside. The other direction turns along, so the first-order step misses the limit
//!   by an amount of second order; the exact length of the step is the root of a quadratic, and the triangle
//!   *lands*.
//! - Both outside: the shape is given, only its place is free. F changes by U (R T − S) Vᵀ with the rotation
//!   R that is nearest in the mass metric, which is the one that gives no angular momentum.
//!
//! **Paper** (Eq. 4). U T Vᵀ about the centre of mass; one pinned vertex: about it; two: at right angles to
//! their line.
//!
//! Kernels avoid closures over lanes: only what is inlined for sure gets the lanes' instructions.
//!
//! Cost: 16 lanes, all violating, one thread: see `benches/kernels.rs`.

use super::{
    real::{Real, V3, add, combine, dot, perpendicular, scale, select3, sub},
    svd2::{Principal, RestInverse, cauchy, deformation_gradient, principal},
    weave::Limits,
};

/// Allowed principal stretches; 1 is the rest length. No limit: 0 below, a huge number above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range<R> {
    /// Smallest.
    pub min: R,
    /// Largest.
    pub max: R,
}

/// What a projection did to a triangle.
#[derive(Clone, Copy)]
pub struct Projected<R: Real> {
    /// How far the worse principal stretch was past its limit, before.
    pub residual: R,
    /// How its vertices move \[m\].
    pub moves: [V3<R>; 3],
}

/// How far the worse principal stretch is past its limit; 0 inside.
#[inline(always)]
pub fn strain_residual<R: Real, M: Limits<R>>(x: &[V3<R>; 3], rest: RestInverse<R>, limits: M) -> R {
    let c = cauchy(&deformation_gradient(x, rest));
    M::past(&limits.ranges(&c), [c.larger.sqrt(), c.smaller.sqrt()])
}

/// Brings a triangle back to its limits along the mass-weighted gradients. `w` are inverse masses; any common
/// factor cancels, and one that makes them about the square of an edge keeps products of four inside a
/// float's range. `None` if all lanes are inside (the early-out, W3).
#[inline(always)]
pub fn limit_strain_gradient<R: Real, M: Limits<R>>(
    x: &[V3<R>; 3],
    w: [R; 3],
    rest: RestInverse<R>,
    limits: M,
    relaxation: R,
) -> Option<Projected<R>> {
    let Violation { principal, active, residual, ranges } = violation(x, rest, limits)?;
    let (zero, tiny) = (R::splat(0.0), R::splat(1e-30));
    let g = Metric::new(principal.v, w, rest);
    let single = g.single_step(principal.s, &ranges);
    let factor = R::select(active, relaxation, zero);
    // The direction in space is p / s.
    let p = select3::<R>(single.first, principal.p[0], principal.p[1]);
    let along = select3::<R>(single.first, g.along[0], g.along[1]);
    let bottom = single.bottom * single.s;
    let k = R::select(bottom.le(tiny), zero, single.top / bottom) * factor;
    let mut moves = [[zero; 3]; 3];
    for i in 0..3 {
        moves[i] = scale(p, k * w[i] * along[i]);
    }
    // A lane must get the same bits whatever its neighbours are, so this adds to the above and does not
    // replace it. Of a collapsed triangle p₁ is no direction to go along; the shape is.
    let given = active & (single.misses | (principal.flat & !single.first));
    if R::any(given) {
        let u = principal.directions();
        let shape = g.moves_to_shape(&principal, &u, w, rest, &ranges, &single);
        for i in 0..3 {
            moves[i] = select3::<R>(given, scale(shape[i], factor), moves[i]);
        }
    }
    Some(Projected { residual, moves })
}

/// A triangle of which some lane is outside its limits.
struct Violation<R: Real> {
    principal: Principal<R>,
    /// Lanes outside.
    active: R::Mask,
    /// How far the worse stretch is past its limit.
    residual: R,
    /// What the larger and the smaller stretch may be.
    ranges: [Range<R>; 2],
}

/// Principal stretches, lanes outside and residual, unless all lanes are inside.
#[inline(always)]
fn violation<R: Real, M: Limits<R>>(x: &[V3<R>; 3], rest: RestInverse<R>, limits: M) -> Option<Violation<R>> {
    let f = deformation_gradient(x, rest);
    let c = cauchy(&f);
    let ranges = limits.ranges(&c);
    let inside = M::inside(&ranges, &c);
    if !R::any(!inside) {
        return None;
    }
    let principal = principal(&f, &c);
    let residual = M::past(&ranges, principal.s);
    Some(Violation { principal, active: !inside, residual, ranges })
}

/// The mass metric of a triangle in its principal directions v, which need not be of unit length: along grows
/// with |v|, G with |v|², and a move, which is G⁻¹ times two of the others, not at all.
struct Metric<R> {
    /// vₖ · bᵢ.
    along: [[R; 3]; 2],
    /// G = Σ wᵢ bᵢ bᵢᵀ in the basis v: diagonal and off-diagonal.
    diagonal: [R; 2],
    off: R,
}

/// A step along the gradient of one principal stretch: its length is top / bottom.
struct SingleStep<R: Real> {
    /// Whether it is the first (larger) stretch that is outside.
    first: R::Mask,
    /// That stretch.
    s: R,
    top: R,
    bottom: R,
    /// Where the other stretch goes, or stays if the limit is out of reach.
    other: R,
    /// Where one step does not do: both stretches are outside, or would be, or the limit is out of its reach.
    misses: R::Mask,
}

impl<R: Real> Metric<R> {
    #[inline(always)]
    fn new(v: [R; 2], w: [R; 3], rest: RestInverse<R>) -> Self {
        let [vx, vy] = v;
        let (a1, a2) = (vx * rest[0] + vy * rest[1], vy * rest[2]);
        let (b1, b2) = (vx * rest[1] - vy * rest[0], vx * rest[2]);
        let along = [[-(a1 + a2), a1, a2], [-(b1 + b2), b1, b2]];
        let weighted = [w[0] * along[0][0], w[1] * along[0][1], w[2] * along[0][2]];
        let across = [w[0] * along[1][0], w[1] * along[1][1], w[2] * along[1][2]];
        Self {
            along,
            diagonal: [dot(weighted, along[0]), dot(across, along[1])],
            off: dot(weighted, along[1]),
        }
    }

    /// The step that takes the one stretch that is outside, s with target t, to its limit; o is the other
    /// one.
    ///
    /// After a step of k along the gradient the decomposition is that of [[y, k off], [0, o]] with y = s + k
    /// g, and it has the singular value t where (t² − o²)(t² − y²) = (k off t)². With a = (off t)² and b = g²
    /// (t² − o²) the root is y = (a s ± √D) / (a + b), D = b (b t² + a (t² − s²)), in one of two forms that
    /// do not cancel.
    #[inline(always)]
    fn single_step(&self, s: [R; 2], ranges: &[Range<R>; 2]) -> SingleStep<R> {
        let zero = R::splat(0.0);
        let ([s0, s1], [r0, r1]) = (s, *ranges);
        let first = r0.max.lt(s0) | s0.lt(r0.min);
        let second = r1.max.lt(s1) | s1.lt(r1.min);
        let (s, o) = (R::select(first, s0, s1), R::select(first, s1, s0));
        let (own, other) = (choose(first, r0, r1), choose(first, r1, r0));
        let t = s.clamp(own.min, own.max);
        let g = R::select(first, self.diagonal[0], self.diagonal[1]);
        let square = t * t;
        let a = self.off * self.off * square;
        let signed = g * g * (square - o * o);
        let b = signed.abs();
        let shrinks = zero.le(signed);
        let slack = a * (square - s * s);
        let inner = b * square + R::select(shrinks, slack, -slack);
        let root = (b * inner).max(zero).sqrt();
        let top = R::select(shrinks, a * s + root, b * square + a * s * s);
        let bottom = R::select(shrinks, a + b, a * s + root);
        // Near a double root the square root would lose half of the digits.
        let rooted = (b * square * R::splat(0.05)).le(inner) & zero.lt(b);
        // The determinant tells where the other stretch goes: o y / t.
        let (product, unit) = (o * top, t * bottom);
        let lands = rooted
            & product.le(unit * other.max * R::splat(1.000001))
            & (unit * other.min * R::splat(0.999999)).le(product);
        SingleStep {
            first,
            s,
            top: top - s * bottom,
            bottom: bottom * g,
            other: R::select(rooted, product / unit.max(R::splat(1e-30)), o),
            misses: (first & second) | !lands,
        }
    }

    /// Both stretches are given, so only the place of the shape is free: it is turned by the rotation R that
    /// is nearest in the mass metric, about the centre of mass or the pinned vertex. `u` are the principal
    /// directions in space, as long as v.
    #[inline(always)]
    fn moves_to_shape(
        &self,
        principal: &Principal<R>,
        u: &[V3<R>; 2],
        w: [R; 3],
        rest: RestInverse<R>,
        ranges: &[Range<R>; 2],
        step: &SingleStep<R>,
    ) -> [V3<R>; 3] {
        let (zero, one, tiny) = (R::splat(0.0), R::splat(1.0), R::splat(1e-30));
        let ([s0, s1], [r0, r1]) = (principal.s, *ranges);
        let (own, other) = (choose(step.first, r0, r1), choose(step.first, r1, r0));
        // Where the other stretch would leave its limits on the way, it is held at that limit.
        let second = r1.max.lt(s1) | s1.lt(r1.min);
        let target = step.s.clamp(own.min, own.max);
        let landing = step.other.clamp(other.min, other.max);
        let t0 = R::select(step.first, target, landing);
        let t1 = R::select(step.first & !second, landing, s1.clamp(r1.min, r1.max));
        let sine = self.off * (t1 * s0 - t0 * s1);
        let cosine = t0 * s0 * self.diagonal[1] + t1 * s1 * self.diagonal[0];
        let size = (sine * sine + cosine * cosine).sqrt();
        let unturned = size.le(tiny);
        let inverse_size = one / size.max(tiny);
        let c = R::select(unturned, one, cosine * inverse_size);
        let z = R::select(unturned, zero, sine * inverse_size);
        // The change of F in the principal directions: R T − S.
        let change = [[c * t0 - s0, -(z * t1)], [z * t0, c * t1 - s1]];
        let (mut moves, held) = moves_about_center(change, principal.v, u, w, rest);
        if R::any(held) {
            let alone = self.moves_of_one_vertex(principal.s, u, w, [t0, t1], step);
            for i in 0..3 {
                moves[i] = select3::<R>(held, alone[i], moves[i]);
            }
        }
        moves
    }

    /// Two vertices pinned: one vertex must give the triangle both stretches `t`, which it can where the
    /// stretch of the pinned edge lies between them; otherwise it goes as far along the single step as that
    /// helps.
    #[inline(always)]
    fn moves_of_one_vertex(
        &self,
        s: [R; 2],
        u: &[V3<R>; 2],
        w: [R; 3],
        t: [R; 2],
        step: &SingleStep<R>,
    ) -> [V3<R>; 3] {
        let (zero, one, tiny) = (R::splat(0.0), R::splat(1.0), R::splat(1e-30));
        let [s0, s1] = s;
        // b of the free vertex in the basis v, as unit vector n and length; the pinned edge runs along (−n₁,
        // n₀).
        let (mut b0, mut b1, mut weight) = (zero, zero, zero);
        for i in 0..3 {
            let free = !w[i].le(zero);
            b0 = R::select(free, self.along[0][i], b0);
            b1 = R::select(free, self.along[1][i], b1);
            weight = R::select(free, w[i], weight);
        }
        let length = (b0 * b0 + b1 * b1).sqrt().max(tiny);
        let (n0, n1) = (b0 / length, b1 / length);
        // F along the edge and across it, in the basis u.
        let edge = [-(s0 * n1), s1 * n0];
        let across = [s0 * n0, s1 * n1];
        let a = (edge[0] * edge[0] + edge[1] * edge[1]).sqrt().max(tiny);
        let unit = [edge[0] / a, edge[1] / a];
        let normal = [unit[1], -unit[0]];
        let shear = across[0] * unit[0] + across[1] * unit[1];
        let room = (t[0] * t[0] - a * a) * (a * a - t[1] * t[1]);
        let new_shear = R::select(shear.lt(zero), -one, one) * room.max(zero).sqrt() / a;
        let height = t[0] * t[1] / a;
        let goal = [unit[0] * new_shear + normal[0] * height, unit[1] * new_shear + normal[1] * height];
        let k = R::select(step.bottom.le(tiny), zero, step.top / step.bottom) * weight;
        let feasible = zero.le(room);
        let y0 = R::select(feasible, (goal[0] - across[0]) / length, R::select(step.first, k * b0, zero));
        let y1 = R::select(feasible, (goal[1] - across[1]) / length, R::select(step.first, zero, k * b1));
        let shift = combine(u[0], y0, u[1], y1);
        let none = [zero; 3];
        [
            select3::<R>(w[0].le(zero), none, shift),
            select3::<R>(w[1].le(zero), none, shift),
            select3::<R>(w[2].le(zero), none, shift),
        ]
    }
}

/// `yes` where the mask is set, `no` elsewhere.
#[inline(always)]
fn choose<R: Real>(mask: R::Mask, yes: Range<R>, no: Range<R>) -> Range<R> {
    Range { min: R::select(mask, yes.min, no.min), max: R::select(mask, yes.max, no.max) }
}

/// Moves that change F by u `change` vᵀ / |v|² and keep the centre of mass, or the one pinned vertex (Eq. 4);
/// and where more are pinned, for which that is not enough.
#[inline(always)]
fn moves_about_center<R: Real>(
    change: [[R; 2]; 2],
    v: [R; 2],
    u: &[V3<R>; 2],
    w: [R; 3],
    rest: RestInverse<R>,
) -> ([V3<R>; 3], R::Mask) {
    let (zero, one, tiny) = (R::splat(0.0), R::splat(1.0), R::splat(1e-30));
    let [vx, vy] = v;
    // The rest corners over |v|²: (i11, 0) and (−i01, i00) over the determinant.
    let inverse = one / (rest[0] * rest[2] * (vx * vx + vy * vy));
    let (a, b, c) = (rest[2] * inverse, -(rest[1] * inverse), rest[0] * inverse);
    let first = [vx * a, -(vy * a)];
    let second = [vx * b + vy * c, vx * c - vy * b];
    let d = [
        combine(
            u[0],
            change[0][0] * first[0] + change[0][1] * first[1],
            u[1],
            change[1][0] * first[0] + change[1][1] * first[1],
        ),
        combine(
            u[0],
            change[0][0] * second[0] + change[0][1] * second[1],
            u[1],
            change[1][0] * second[0] + change[1][1] * second[1],
        ),
    ];
    // Mass fractions from inverse masses: a pinned vertex (w = 0) takes the whole weight.
    let products = [w[1] * w[2], w[2] * w[0], w[0] * w[1]];
    let sum = products[0] + products[1] + products[2];
    let share = one / sum.max(tiny);
    let x0 = combine(d[0], -(products[1] * share), d[1], -(products[2] * share));
    let mut moves = [x0, add(x0, d[0]), add(x0, d[1])];
    for i in 0..3 {
        // Mass fractions round: a pinned vertex must not move by a bit.
        moves[i] = select3::<R>(w[i].le(zero), [zero; 3], moves[i]);
    }
    (moves, sum.le(tiny))
}

/// Brings a triangle back to its limits as published: Eq. 4 with its cases of one, two and three pinned
/// vertices. `None` if all lanes are inside.
#[inline(always)]
pub fn limit_strain_paper<R: Real, M: Limits<R>>(
    x: &[V3<R>; 3],
    w: [R; 3],
    rest: RestInverse<R>,
    limits: M,
    relaxation: R,
) -> Option<Projected<R>> {
    let Violation { principal, active, residual, ranges } = violation(x, rest, limits)?;
    let zero = R::splat(0.0);
    let ([s0, s1], [r0, r1]) = (principal.s, ranges);
    let change = [[s0.clamp(r0.min, r0.max) - s0, zero], [zero, s1.clamp(r1.min, r1.max) - s1]];
    let (mut moves, held) = moves_about_center(change, principal.v, &principal.directions(), w, rest);
    if R::any(held & active) {
        let range = Range { min: r1.min, max: r0.max };
        let across = moves_across_pinned_edge(x, w, &rest_corners(rest), range);
        for i in 0..3 {
            moves[i] = select3::<R>(held, across[i], moves[i]);
        }
    }
    let factor = R::select(active, relaxation, zero);
    for i in 0..3 {
        moves[i] = scale(moves[i], factor);
    }
    Some(Projected { residual, moves })
}

/// The corners of the rest triangle in its own frame: at the origin, on the x axis, above it.
#[inline(always)]
fn rest_corners<R: Real>(rest: RestInverse<R>) -> [[R; 2]; 3] {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    [[zero, zero], [one / rest[0], zero], [-(rest[1] / (rest[0] * rest[2])), one / rest[2]]]
}

/// Two vertices pinned: the third moves at right angles to their line. `range` is from what the smaller
/// stretch may be at least to what the larger may be at most. With F = [[a, b], [0, d]] in frames along the
/// line, a principal stretch t asks for d² = t² (t² − a² − b²) / (t² − a²).
#[inline(always)]
fn moves_across_pinned_edge<R: Real>(
    x: &[V3<R>; 3],
    w: [R; 3],
    r: &[[R; 2]; 3],
    range: Range<R>,
) -> [V3<R>; 3] {
    let (zero, one, tiny) = (R::splat(0.0), R::splat(1.0), R::splat(1e-30));
    let free = [!w[0].le(zero), !w[1].le(zero), !w[2].le(zero)];
    let lift = |p: [R; 2]| [p[0], p[1], zero];
    let from = pick::<R>(free, x[1], x[2], x[0]);
    let to = pick::<R>(free, x[2], x[0], x[1]);
    let tip = pick::<R>(free, x[0], x[1], x[2]);
    let rest_from = pick::<R>(free, lift(r[1]), lift(r[2]), lift(r[0]));
    let rest_to = pick::<R>(free, lift(r[2]), lift(r[0]), lift(r[1]));
    let rest_tip = pick::<R>(free, lift(r[0]), lift(r[1]), lift(r[2]));

    let line = sub(to, from);
    let length = dot(line, line).sqrt();
    let along = scale(line, one / length.max(tiny));
    let arm = sub(tip, from);
    let reach = dot(arm, along);
    let offset = sub(arm, scale(along, reach));
    // Once more: of a flat triangle's offset only rounding is left after the first time.
    let offset = sub(offset, scale(along, dot(offset, along)));
    let height = dot(offset, offset).sqrt();

    let rest_line = [rest_to[0] - rest_from[0], rest_to[1] - rest_from[1]];
    let rest_length = (rest_line[0] * rest_line[0] + rest_line[1] * rest_line[1]).sqrt();
    let rest_arm = [rest_tip[0] - rest_from[0], rest_tip[1] - rest_from[1]];
    let rest_reach = (rest_arm[0] * rest_line[0] + rest_arm[1] * rest_line[1]) / rest_length;
    let rest_height = (rest_line[0] * rest_arm[1] - rest_line[1] * rest_arm[0]).abs() / rest_length;

    let a = length / rest_length;
    let b = (reach - a * rest_reach) / rest_height;
    let d = height / rest_height;
    // Where the pinned edge alone breaks a limit, no place of the tip mends it, and the tip stays.
    let huge = R::splat(1e30);
    let low = R::select(range.min.lt(a), height_for::<R>(range.min, a, b, zero), zero);
    let high = R::select(a.lt(range.max), height_for::<R>(range.max, a, b, d), huge);
    let wanted = R::select(low.le(high), d.clamp(low, high), d);
    let flat = height.le(length * R::splat(1e-6));
    let up = select3::<R>(flat, perpendicular(along), scale(offset, one / height.max(tiny)));
    let shift = scale(up, (wanted - d) * rest_height);
    let none = [zero; 3];
    [
        select3::<R>(free[0], shift, none),
        select3::<R>(free[1], shift, none),
        select3::<R>(free[2], shift, none),
    ]
}

/// d for a principal stretch t, or `otherwise` where there is none.
#[inline(always)]
fn height_for<R: Real>(t: R, a: R, b: R, otherwise: R) -> R {
    let (zero, tiny) = (R::splat(0.0), R::splat(1e-30));
    let gap = t * t - a * a;
    let square = t * t * (gap - b * b) / R::select(gap.abs().le(tiny), tiny, gap);
    R::select(zero.le(square), square.max(zero).sqrt(), otherwise)
}

/// `a` where vertex 0 is the free one, `b` where 1 is, else `c`.
#[inline(always)]
fn pick<R: Real>(free: [R::Mask; 3], a: V3<R>, b: V3<R>, c: V3<R>) -> V3<R> {
    select3::<R>(free[0], a, select3::<R>(free[1], b, c))
}

/// Angular momentum (times dt) that moves give: Σ x × move / w, for tests and measurements. Free vertices
/// only.
#[cfg(test)]
pub fn angular_impulse(x: &[V3<f64>; 3], w: [f64; 3], moves: &[V3<f64>; 3]) -> V3<f64> {
    (0..3).fold([0.0; 3], |sum, i| {
        if w[i] > 0.0 { add(sum, scale(super::real::cross(x[i], moves[i]), 1.0 / w[i])) } else { sum }
    })
}
