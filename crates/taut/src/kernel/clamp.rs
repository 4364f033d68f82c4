//! The nearest deformation gradient within limits: the same principal directions, stretches clamped.
//!
//! This is what a triangle asks for by itself, without regard to masses; weighing that against inertia is left to
//! whoever sums up.

use super::{
    real::{Real, V3, combine, scale, select3},
    strain::Range,
    svd2::{cauchy, principal},
};

/// p − f, where p is f with its principal stretches clamped to `range`; `None` if all lanes are inside.
#[inline(always)]
pub fn clamp_stretches<R: Real>(f: &[V3<R>; 2], range: Range<R>) -> Option<[V3<R>; 2]> {
    let c = cauchy(f);
    let inside = c.larger.le(range.max * range.max) & (range.min * range.min).le(c.smaller);
    if !R::any(!inside) {
        return None;
    }
    let principal = principal(f, &c);
    let d = principal.directions();
    let [vx, vy] = principal.v;
    let shrink = R::splat(1.0) / (vx * vx + vy * vy);
    let d0 = scale(d[0], (principal.s[0].clamp(range.min, range.max) - principal.s[0]) * shrink);
    let d1 = scale(d[1], (principal.s[1].clamp(range.min, range.max) - principal.s[1]) * shrink);
    let zero = [R::splat(0.0); 3];
    Some([
        select3::<R>(inside, zero, combine(d0, vx, d1, -vy)),
        select3::<R>(inside, zero, combine(d0, vy, d1, vx)),
    ])
}

/// The columns of the rotation that is nearest to F.
#[inline(always)]
pub fn rotation<R: Real>(f: &[V3<R>; 2]) -> [V3<R>; 2] {
    let principal = principal(f, &cauchy(f));
    let d = principal.directions();
    let [vx, vy] = principal.v;
    let shrink = R::splat(1.0) / (vx * vx + vy * vy);
    let (d0, d1) = (scale(d[0], shrink), scale(d[1], shrink));
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
