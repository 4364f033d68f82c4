//! Bend limits of one hinge: how far its angle is past them, and the move that brings it back.
//!
//! Lanes have no arc functions, so angles are sines and cosines of their halves: sin((θ − a)/2) = sin(θ/2)
//! cos(a/2) − cos(θ/2) sin(a/2) says how far θ is from a.

use super::{
    dihedral::{Dihedral, dihedral},
    real::{Real, V3, dot, scale},
};

/// Largest sine of half a correction that one projection makes: about 29 degrees.
const LARGEST_HALF: f32 = 0.25;

/// Moves beyond this \[m\] are the debris of numbers that overflowed.
const DEBRIS: f32 = 1e9;

/// Sine and cosine of half an angle.
pub type Half<R> = [R; 2];

/// The angles that a hinge may have.
#[derive(Clone, Copy, Debug)]
pub struct Allowed<R> {
    /// At rest.
    pub rest: Half<R>,
    /// Smallest; zeros if there is none.
    pub min: Half<R>,
    /// Largest; zeros if there is none.
    pub max: Half<R>,
}

impl Allowed<f32> {
    /// From angles \[rad\]; `min` and `max` beyond ±π are no limits.
    pub fn new(rest: f32, min: f32, max: f32) -> Self {
        let half = |angle: f32| {
            let half = 0.5 * f64::from(angle).clamp(-std::f64::consts::PI, std::f64::consts::PI);
            [half.sin() as f32, half.cos() as f32]
        };
        // Nothing is past two zeros.
        let bound = |angle: f32| {
            if f64::from(angle.abs()) < std::f64::consts::PI { half(angle) } else { [0.0, 0.0] }
        };
        Self { rest: half(rest), min: bound(min), max: bound(max) }
    }
}

/// The angle \[rad\] by which a hinge is past its limits, from what [`past`] gives.
pub fn excess_angle(sin_half: f32) -> f32 {
    2.0 * sin_half.clamp(0.0, 1.0).asin()
}

/// Half the angle θ as sine and cosine, taken within a half turn of the rest angle, so that a hinge that is
/// folded up at rest may close; and whether that meant adding a whole turn.
#[inline(always)]
pub fn near_rest<R: Real>(d: &Dihedral<R>, rest: Half<R>) -> (Half<R>, R::Mask) {
    let far = (d.cos_half * rest[1] + d.sin_half * rest[0]).lt(R::splat(0.0));
    ([R::select(far, -d.sin_half, d.sin_half), R::select(far, -d.cos_half, d.cos_half)], far)
}

/// sin(excess/2) over the largest and under the smallest angle; negative inside.
#[inline(always)]
pub fn past<R: Real>(theta: Half<R>, allowed: &Allowed<R>) -> [R; 2] {
    let [sin, cos] = theta;
    [sin * allowed.max[1] - cos * allowed.max[0], cos * allowed.min[0] - sin * allowed.min[1]]
}

/// How far a hinge is past its limits, at least 0: see [`excess_angle`].
#[inline(always)]
pub fn bend_excess<R: Real>(x: &[V3<R>; 4], allowed: &Allowed<R>) -> R {
    let (theta, _) = near_rest(&dihedral(x), allowed.rest);
    let [over, under] = past(theta, allowed);
    over.max(under).max(R::splat(0.0))
}

/// Moves of the four vertices towards the limits along the gradient of the angle, weighted with inverse
/// masses `w`, which keeps linear and angular momentum; and the excess met, as [`bend_excess`].
#[inline(always)]
pub fn limit_bend<R: Real>(
    x: &[V3<R>; 4],
    w: [R; 4],
    allowed: &Allowed<R>,
    relaxation: R,
) -> ([V3<R>; 4], R) {
    let (zero, largest) = (R::splat(0.0), R::splat(LARGEST_HALF));
    let d = dihedral(x);
    let (theta, _) = near_rest(&d, allowed.rest);
    let [over, under] = past(theta, allowed);
    let excess = over.max(under).max(zero);
    let half = under.max(zero).min(largest) - over.max(zero).min(largest);
    let mut sum = zero;
    for k in 0..4 {
        sum = sum + w[k] * dot(d.gradient[k], d.gradient[k]);
    }
    let step = (half + half) * relaxation / sum.max(R::splat(1e-30));
    let mut moves = [[zero; 3]; 4];
    let mut size = zero;
    for k in 0..4 {
        moves[k] = scale(d.gradient[k], w[k] * step);
        size = size + moves[k][0].abs() + moves[k][1].abs() + moves[k][2].abs();
    }
    let sane = size.le(R::splat(DEBRIS));
    for k in 0..4 {
        for j in 0..3 {
            moves[k][j] = R::select(sane, moves[k][j], zero);
        }
    }
    (moves, excess)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::{
        dihedral::dihedral_angle,
        real::{add, cross},
    };

    fn angle(x: &[V3<f32>; 4]) -> f32 {
        dihedral_angle(&x.map(|p| p.map(f64::from))) as f32
    }

    fn hinge(theta: f32, heights: [f32; 2], feet: [f32; 2]) -> [V3<f32>; 4] {
        let right = [heights[1] * theta.cos(), feet[1], -heights[1] * theta.sin()];
        [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-heights[0], feet[0], 0.0], right]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]
        #[test]
        fn excess_is_how_far_the_angle_is_past(
            x in prop::array::uniform4(prop::array::uniform3(-1.0f32..1.0)), rest in -3.0f32..3.0, low in 0.0f32..3.0, high in 0.0f32..3.0,
        ) {
            let d = dihedral(&x);
            prop_assume!(d.heights[0] > 0.05 && d.heights[1] > 0.05 && d.cos_half > 0.01);
            let (min, max) = (rest - low, rest + high);
            let pi = std::f32::consts::PI;
            let theta = rest + (angle(&x) - rest + 3.0 * pi).rem_euclid(2.0 * pi) - pi;
            let over = if max < pi { theta - max } else { 0.0 };
            let under = if min > -pi { min - theta } else { 0.0 };
            let expected = over.max(under).max(0.0);
            prop_assume!(expected < 3.0 && (theta - rest).abs() < 3.1);
            let found = excess_angle(bend_excess(&x, &Allowed::new(rest, min, max)));
            prop_assert!((found - expected).abs() < 2e-3, "{found} {expected}");
        }

        #[test]
        fn moves_bring_it_closer_and_keep_momentum(
            theta in -2.0f32..2.0, heights in prop::array::uniform2(0.3f32..1.0), feet in prop::array::uniform2(0.0f32..1.0),
            w in prop::array::uniform4(0.1f32..2.0), limit in 0.05f32..2.0,
        ) {
            let x = hinge(theta, heights, feet);
            let allowed = Allowed::new(0.0, -limit, limit);
            let (moves, excess) = limit_bend(&x, w, &allowed, 1.0);
            let moved = [0, 1, 2, 3].map(|k| add(x[k], moves[k]));
            let after = bend_excess(&moved, &allowed);
            prop_assert!(excess == 0.0 || after < excess, "{excess} {after}");
            prop_assert!(excess > 0.0 || moves == [[0.0; 3]; 4]);
            let (mut linear, mut angular) = ([0.0f32; 3], [0.0f32; 3]);
            for k in 0..4 {
                let impulse = scale(moves[k], 1.0 / w[k]);
                linear = add(linear, impulse);
                angular = add(angular, cross(x[k], impulse));
            }
            let size = linear.iter().chain(&angular).fold(0.0f32, |a, b| a.max(b.abs()));
            prop_assert!(size < 1e-3, "{linear:?} {angular:?}");
        }

        #[test]
        fn collapsed_and_pinned_hinges_stay_finite(x in prop::array::uniform4(prop::array::uniform3(-1.0f32..1.0)), which in 0..4usize, with in 0..4usize) {
            let mut x = x;
            x[which] = x[with];
            for w in [[1.0; 4], [0.0; 4], [0.0, 0.0, 1.0, 0.0]] {
                let (moves, excess) = limit_bend(&x, w, &Allowed::new(0.5, 0.4, 0.6), 1.0);
                prop_assert!(excess.is_finite() && moves.iter().flatten().all(|m| m.abs() < 10.0), "{moves:?}");
            }
        }
    }

    #[test]
    fn without_a_limit_nothing_is_past_it() {
        let none = Allowed::new(0.0, -4.0, 4.0);
        for theta in [-3.1f32, -1.0, 0.0, 2.0, 3.13] {
            let x = hinge(theta, [0.8, 0.7], [0.4, 0.3]);
            assert_eq!(bend_excess(&x, &none), 0.0);
        }
    }
}
