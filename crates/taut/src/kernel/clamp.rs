//! The nearest deformation gradient within limits: the same principal directions, stretches clamped.
//!
//! This is what a triangle asks for by itself, without regard to masses; weighing that against inertia is
//! left to whoever sums up.

use super::{
    real::{Real, V3, combine, cross, dot, scale, select3},
    strain::Range,
    svd2::{Cauchy, cauchy, principal},
    weave::Limits,
};

/// p − f, where p is f with its principal stretches clamped to its limits; `None` if all lanes are inside.
#[inline(always)]
pub fn clamp_stretches<R: Real, M: Limits<R>>(f: &[V3<R>; 2], limits: M) -> Option<[V3<R>; 2]> {
    let (zero, c) = (R::splat(0.0), cauchy(f));
    clamp::<R, M>(f, &c, &limits.ranges(&c), zero.lt(zero))
}

/// The same, where a lower limit also keeps f from being turned inside out: its smaller stretch counts as
/// negative where its normal points away from `facing`.
#[inline(always)]
pub fn clamp_stretches_facing<R: Real, M: Limits<R>>(
    f: &[V3<R>; 2],
    limits: M,
    facing: V3<R>,
) -> Option<[V3<R>; 2]> {
    let (zero, c) = (R::splat(0.0), cauchy(f));
    let ranges = limits.ranges(&c);
    clamp::<R, M>(f, &c, &ranges, dot(cross(f[0], f[1]), facing).lt(zero) & zero.lt(ranges[1].min))
}

#[inline(always)]
fn clamp<R: Real, M: Limits<R>>(
    f: &[V3<R>; 2],
    c: &Cauchy<R>,
    ranges: &[Range<R>; 2],
    turned: R::Mask,
) -> Option<[V3<R>; 2]> {
    let inside = M::inside(ranges, c) & !turned;
    if !R::any(!inside) {
        return None;
    }
    let [first, second] = moved(f, c, ranges, turned);
    let zero = [R::splat(0.0); 3];
    Some([select3::<R>(inside, zero, first), select3::<R>(inside, zero, second)])
}

/// p − f, where p is f with its stretches clamped.
#[inline(always)]
fn moved<R: Real>(f: &[V3<R>; 2], c: &Cauchy<R>, ranges: &[Range<R>; 2], turned: R::Mask) -> [V3<R>; 2] {
    let [r0, r1] = *ranges;
    let principal = principal(f, c);
    let d = principal.directions();
    let [vx, vy] = principal.v;
    let shrink = R::splat(1.0) / (vx * vx + vy * vy);
    let [s0, s1] = principal.s;
    let d0 = scale(d[0], (s0.clamp(r0.min, r0.max) - s0) * shrink);
    // −s₁ of a triangle inside out is brought to the lower limit along −d₁.
    let opened = R::select(turned, -r1.min, s1.clamp(r1.min, r1.max));
    let d1 = scale(d[1], (opened - s1) * shrink);
    [combine(d0, vx, d1, -vy), combine(d0, vy, d1, vx)]
}

/// The columns of the rotation that is nearest to F, of those whose normal does not point away from `facing`.
#[inline(always)]
pub fn rotation<R: Real>(f: &[V3<R>; 2], facing: V3<R>) -> [V3<R>; 2] {
    let principal = principal(f, &cauchy(f));
    let d = principal.directions();
    let [vx, vy] = principal.v;
    let shrink = R::splat(1.0) / (vx * vx + vy * vy);
    let turned = dot(cross(f[0], f[1]), facing).lt(R::splat(0.0));
    let (d0, d1) = (scale(d[0], shrink), scale(d[1], R::select(turned, -shrink, shrink)));
    [combine(d0, vx, d1, -vy), combine(d0, vy, d1, vx)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::{real::add, svd2::svd2};

    proptest! {
        #[test]
        fn lands_on_the_limits_and_nothing_nearer_does(
            f in prop::array::uniform2(prop::array::uniform3(-2.0f64..2.0)),
            other in prop::array::uniform2(prop::array::uniform3(-2.0f64..2.0)),
        ) {
            let range = Range { min: 0.9, max: 1.1 };
            let project = |f: [V3<f64>; 2]| {
                clamp_stretches(&f, range).map_or(f, |g| [add(f[0], g[0]), add(f[1], g[1])])
            };
            let p = project(f);
            let s = svd2(&p, &cauchy(&p)).s;
            prop_assert!(s[0] <= 1.1 + 1e-9 && s[1] >= 0.9 - 1e-9, "{s:?}");
            let distance = |q: [V3<f64>; 2]| {
                (0..2).flat_map(|k| (0..3).map(move |j| (q[k][j] - f[k][j]).powi(2))).sum::<f64>()
            };
            prop_assert!(distance(p) <= distance(project(other)) + 1e-9);
        }
    }
}
