//! Which stretches are allowed in which direction (W13): the same in all, or apart along warp, weft and bias.
//!
//! With θ the angle of a principal direction from the warp, c = cos²θ and t = cos²2θ (1 along warp and weft,
//! 0 half-way between, along the bias), a limit in that direction is
//!
//! ```text
//! limit(θ) = bias + t ((weft + c (warp − weft)) − bias)
//! ```
//!
//! in this order of operations, so that three equal limits give that limit to the bit, and a weave of equal
//! limits the same simulation as the isotropic limit. cos 2θ comes from the entries of FᵀF; no angle is ever
//! computed.
//!
//! The larger stretch is held below the upper limit of its direction and the smaller one above the lower
//! limit of its own. On the other sides the tightest of the three limits holds, whatever the direction: if
//! even the smaller stretch is above the upper limit of the warp, then so is the stretch along the warp, and
//! alike below. This makes the rule whole where a triangle is round, both stretches are equal and any
//! direction is a principal one: round triangles are inside or outside whichever direction rounding picks,
//! and a triangle whose stretches were clamped is inside.
//!
//! Threads do not lie along principal directions in general, and by principal stretches alone they could
//! stretch further than pulled straight: at 45 degrees to a pull that the bias allows, or turned just a
//! little out of the way. So the stretches along warp and weft themselves are kept to their limits as well,
//! a² = c s₀² + (1 − c) s₁² for the warp, 1 − c in place of c for the weft. Where they are not after
//! clamping, both principal stretches go along the gradient of a² to where they are. Cloth that is pulled
//! along the bias therefore reaches the limit there only as it narrows, as woven cloth does.

use super::{real::Real, strain::Range, svd2::Cauchy};

/// The stretches that a triangle is allowed.
pub trait Limits<R: Real>: Copy {
    /// Allowed larger and smaller principal stretch of a triangle with this FᵀF.
    fn ranges(self, c: &Cauchy<R>) -> [Range<R>; 2];

    /// Whether a triangle with this FᵀF is within its `ranges`.
    fn inside(ranges: &[Range<R>; 2], c: &Cauchy<R>) -> R::Mask;

    /// How far the worse of the stretches `s`, the larger first, is past its range; 0 inside.
    fn past(ranges: &[Range<R>; 2], s: [R; 2]) -> R;

    /// The same with lower limits less by `below`, though not below 0, and upper ones more by `above`.
    fn widened_by(self, below: R, above: R) -> Self;
}

impl<R: Real> Limits<R> for Range<R> {
    #[inline(always)]
    fn ranges(self, _: &Cauchy<R>) -> [Range<R>; 2] {
        [self, self]
    }

    #[inline(always)]
    fn inside(ranges: &[Range<R>; 2], c: &Cauchy<R>) -> R::Mask {
        let range = ranges[0];
        c.larger.le(range.max * range.max) & (range.min * range.min).le(c.smaller)
    }

    #[inline(always)]
    fn past(ranges: &[Range<R>; 2], s: [R; 2]) -> R {
        let range = ranges[0];
        (s[0] - range.max).max(range.min - s[1]).max(R::splat(0.0))
    }

    #[inline(always)]
    fn widened_by(self, below: R, above: R) -> Self {
        Self { min: (self.min - below).max(R::splat(0.0)), max: self.max + above }
    }
}

/// Allowed stretches along warp, weft and bias.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeaveRange<R> {
    /// Along the warp.
    pub warp: Range<R>,
    /// Along the weft, at right angles to it.
    pub weft: Range<R>,
    /// Half-way between the two, either way.
    pub bias: Range<R>,
    /// Cosine and sine of twice the angle of the warp from the first edge at rest.
    pub axis: [R; 2],
}

impl<R: Real> Limits<R> for WeaveRange<R> {
    #[inline(always)]
    fn ranges(self, c: &Cauchy<R>) -> [Range<R>; 2] {
        let half = R::splat(0.5);
        let Self { warp, weft, bias, axis } = self;
        let q = c.turn_from(axis);
        // The second principal direction is at right angles to the first: the cosine changes its sign.
        let (first, second, t) = (half + half * q, half - half * q, q * q);
        let least = warp.max.min(weft.max).min(bias.max);
        let most = warp.min.max(weft.min).max(bias.min);
        // What rounding takes off is given back: no direction is tighter than the tightest.
        let max = (bias.max + t * ((weft.max + first * (warp.max - weft.max)) - bias.max)).max(least);
        let min = (bias.min + t * ((weft.min + second * (warp.min - weft.min)) - bias.min)).min(most);
        let s = [c.larger.sqrt().clamp(most, max), c.smaller.sqrt().clamp(min, least)];
        // Rounding must not set a thread in motion: equal limits have to stay equal.
        let (above, below) = (R::splat(1.0 + SLACK), R::splat(1.0 - SLACK));
        let (mut s, mut long, mut short) = (s, most.lt(most), most.lt(most));
        for (limit, shares) in [(warp, [first, second]), (weft, [second, first])] {
            let over = (limit.max * limit.max * above).lt(thread(s, shares));
            s = along_thread(s, shares, limit.max, over);
            let under = thread(s, shares).lt(limit.min * limit.min * below);
            s = along_thread(s, shares, limit.min, under);
            (long, short) = (long | over, short | under);
        }
        [
            Range { min: R::select(short, s[0], most), max: R::select(long, s[0], max) },
            Range { min: R::select(short, s[1], min), max: R::select(long, s[1].max(min), least) },
        ]
    }

    #[inline(always)]
    fn inside(ranges: &[Range<R>; 2], c: &Cauchy<R>) -> R::Mask {
        let [r0, r1] = *ranges;
        c.larger.le(r0.max * r0.max)
            & (r1.min * r1.min).le(c.smaller)
            & (r0.min * r0.min).le(c.larger)
            & c.smaller.le(r1.max * r1.max)
    }

    #[inline(always)]
    fn past(ranges: &[Range<R>; 2], s: [R; 2]) -> R {
        let [r0, r1] = *ranges;
        (s[0] - r0.max).max(r1.min - s[1]).max(s[1] - r1.max).max(r0.min - s[0]).max(R::splat(0.0))
    }

    #[inline(always)]
    fn widened_by(self, below: R, above: R) -> Self {
        let Self { warp, weft, bias, axis } = self;
        let wide = |range: Range<R>| range.widened_by(below, above);
        Self { warp: wide(warp), weft: wide(weft), bias: wide(bias), axis }
    }
}

/// How far the square of a thread's stretch may be past that of its limit, relatively: far above rounding.
const SLACK: f32 = 1e-5;

/// The square of a thread's stretch, by the squared cosines of its angles to the principal directions.
#[inline(always)]
fn thread<R: Real>(s: [R; 2], shares: [R; 2]) -> R {
    shares[0] * s[0] * s[0] + shares[1] * s[1] * s[1]
}

/// Principal stretches moved along the gradient of a thread's squared stretch to where it is `limit`, where
/// the mask is set. With steps sᵢ (1 − λ cᵢ) that is a quadratic in λ, A λ² − 2 B λ + C = 0; of its roots the
/// one near zero.
#[inline(always)]
fn along_thread<R: Real>(s: [R; 2], shares: [R; 2], limit: R, outside: R::Mask) -> [R; 2] {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let weighted = [shares[0] * s[0], shares[1] * s[1]];
    let b = weighted[0] * weighted[0] + weighted[1] * weighted[1];
    let a = shares[0] * weighted[0] * weighted[0] + shares[1] * weighted[1] * weighted[1];
    let c = thread(s, shares) - limit * limit;
    let bottom = b + (b * b - a * c).max(zero).sqrt();
    let lambda = R::select(outside, c / bottom.max(R::splat(1e-30)), zero);
    [s[0] * (one - lambda * shares[0]), s[1] * (one - lambda * shares[1])]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::svd2::cauchy;

    fn weave(axis: [f64; 2]) -> WeaveRange<f64> {
        WeaveRange {
            warp: Range { min: 0.99, max: 1.01 },
            weft: Range { min: 0.97, max: 1.03 },
            bias: Range { min: 0.85, max: 1.15 },
            axis,
        }
    }

    /// FᵀF of stretches `s`, the first at `turn` from the first edge.
    fn pulled(s: [f64; 2], turn: f64) -> Cauchy<f64> {
        let (sine, cosine) = turn.sin_cos();
        let [a, b] = [sine * sine, cosine * cosine];
        let off = (s[0] - s[1]) * sine * cosine;
        cauchy(&[[s[0] * b + s[1] * a, off, 0.0], [off, s[0] * a + s[1] * b, 0.0]])
    }

    #[test]
    fn warp_weft_and_bias_have_their_own_limits() {
        let degrees = |angle: f64| angle.to_radians();
        for warp in [0.0, 17.0, 90.0, -130.0] {
            let double = 2.0 * degrees(warp);
            let limits = weave([double.cos(), double.sin()]);
            for (turn, max, min) in [(0.0, 1.01, 0.97), (180.0, 1.01, 0.97), (90.0, 1.03, 0.99)] {
                let [larger, smaller] = limits.ranges(&pulled([1.2, 0.9], degrees(warp + turn)));
                assert!((larger.max - max).abs() < 1e-12, "{warp} {turn}: {larger:?}");
                assert!((smaller.min - min).abs() < 1e-12, "{warp} {turn}: {smaller:?}");
                assert_eq!((larger.min, smaller.max), (0.99, 1.01));
            }
            for turn in [45.0, -45.0] {
                // Stretches that threads at 45 degrees to them can follow.
                let [larger, smaller] = limits.ranges(&pulled([1.12, 0.84], degrees(warp + turn)));
                assert!((larger.max - 1.15).abs() < 1e-12, "{warp} {turn}: {larger:?}");
                assert!((smaller.min - 0.85).abs() < 1e-12, "{warp} {turn}: {smaller:?}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn equal_limits_are_the_isotropic_one_to_the_bit(
            f in prop::array::uniform2(prop::array::uniform3(-2.0f32..2.0)),
            min in 0.0f32..1.0,
            max in prop::sample::select(vec![1.0f32, 1.01, 1.05, 1.3, 1e9]),
            turn in -3.2f32..3.2,
        ) {
            let range = Range { min, max };
            let limits = WeaveRange { warp: range, weft: range, bias: range, axis: [turn.cos(), turn.sin()] };
            let c = cauchy(&f);
            let ranges = limits.ranges(&c);
            prop_assert_eq!(ranges, [range; 2]);
            prop_assert_eq!(WeaveRange::inside(&ranges, &c), Range::inside(&ranges, &c));
            let s = [c.larger.sqrt(), c.smaller.sqrt()];
            prop_assert_eq!(WeaveRange::past(&ranges, s), Range::past(&ranges, s));
        }

        #[test]
        fn clamped_stretches_are_inside_and_threads_within_their_limits(
            s in (0.9f64..1.4, 0.5f64..1.0).prop_map(|(larger, ratio)| [larger, larger * ratio]),
            turn in -3.2f64..3.2,
            upper_only: bool,
        ) {
            let mut limits = weave([1.0, 0.0]);
            if upper_only {
                [limits.warp.min, limits.weft.min, limits.bias.min] = [0.0; 3];
            }
            let mut s = s;
            for _ in 0..200 {
                let ranges = limits.ranges(&pulled(s, turn));
                s = [0, 1].map(|k| Real::clamp(s[k], ranges[k].min, ranges[k].max));
                if upper_only {
                    break;
                }
            }
            let c = pulled(s, turn);
            let past = WeaveRange::past(&limits.ranges(&c), s);
            prop_assert!(past < 1e-4, "{s:?}: {past}");
            let share = turn.cos() * turn.cos();
            for (limit, shares) in [(limits.warp, [share, 1.0 - share]), (limits.weft, [1.0 - share, share])] {
                let a = thread(s, shares).sqrt();
                prop_assert!(a < limit.max + 1e-4 && a > limit.min - 1e-4, "{s:?}: {a} {limit:?}");
            }
        }
    }
}
