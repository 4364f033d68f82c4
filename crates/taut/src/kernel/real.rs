//! Numbers that kernels compute with: one `f32`, one `f64`, or several lanes of `f32` side by side.
//!
//! The trait holds what kernels need and no more. Comparisons give masks, and [`Real::select`] takes the
//! place of branches, so that one text serves both a single number and a vector.

use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// A number, or several side by side.
pub trait Real:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// One truth value a lane.
    type Mask: Copy + BitAnd<Output = Self::Mask> + BitOr<Output = Self::Mask> + Not<Output = Self::Mask>;

    /// Relative rounding of a lane: the distance from 1 to the next number.
    const EPSILON: f32;

    /// The same value in every lane.
    fn splat(value: f32) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// The smaller of two; `other` if they cannot be compared.
    fn min(self, other: Self) -> Self;
    /// The larger of two; `other` if they cannot be compared.
    fn max(self, other: Self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// `self < other`.
    fn lt(self, other: Self) -> Self::Mask;
    /// `self <= other`.
    fn le(self, other: Self) -> Self::Mask;
    /// `yes` where the mask is set, `no` elsewhere.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// Whether the mask is set in any lane.
    fn any(mask: Self::Mask) -> bool;

    /// `self` brought between `low` and `high`.
    #[inline(always)]
    fn clamp(self, low: Self, high: Self) -> Self {
        self.max(low).min(high)
    }
}

macro_rules! scalar {
    ($number:ty) => {
        impl Real for $number {
            type Mask = bool;
            const EPSILON: f32 = <$number>::EPSILON as f32;

            #[inline(always)]
            fn splat(value: f32) -> Self {
                value as $number
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                self.sqrt()
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                if self < other { self } else { other }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self > other { self } else { other }
            }
            #[inline(always)]
            fn abs(self) -> Self {
                self.abs()
            }
            #[inline(always)]
            fn lt(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn le(self, other: Self) -> bool {
                self <= other
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
            #[inline(always)]
            fn any(mask: bool) -> bool {
                mask
            }
        }
    };
}

scalar!(f32);
scalar!(f64);

/// A vector of three.
pub type V3<R> = [R; 3];

/// a − b.
#[inline(always)]
pub fn sub<R: Real>(a: V3<R>, b: V3<R>) -> V3<R> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// a + b.
#[inline(always)]
pub fn add<R: Real>(a: V3<R>, b: V3<R>) -> V3<R> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

/// a s.
#[inline(always)]
pub fn scale<R: Real>(a: V3<R>, s: R) -> V3<R> {
    [a[0] * s, a[1] * s, a[2] * s]
}

/// a s + b t.
#[inline(always)]
pub fn combine<R: Real>(a: V3<R>, s: R, b: V3<R>, t: R) -> V3<R> {
    [a[0] * s + b[0] * t, a[1] * s + b[1] * t, a[2] * s + b[2] * t]
}

/// a · b.
#[inline(always)]
pub fn dot<R: Real>(a: V3<R>, b: V3<R>) -> R {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// a × b.
#[inline(always)]
pub fn cross<R: Real>(a: V3<R>, b: V3<R>) -> V3<R> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// `yes` where the mask is set, `no` elsewhere.
#[inline(always)]
pub fn select3<R: Real>(mask: R::Mask, yes: V3<R>, no: V3<R>) -> V3<R> {
    [R::select(mask, yes[0], no[0]), R::select(mask, yes[1], no[1]), R::select(mask, yes[2], no[2])]
}

/// Some unit vector at right angles to the unit vector `u`; zero for zero.
#[inline(always)]
pub fn perpendicular<R: Real>(u: V3<R>) -> V3<R> {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    // Crossing with the axis that u is least aligned with keeps the product away from zero.
    let x_least = u[0].abs().le(u[1].abs()) & u[0].abs().le(u[2].abs());
    let y_least = u[1].abs().le(u[2].abs());
    let axis =
        select3::<R>(x_least, [one, zero, zero], select3::<R>(y_least, [zero, one, zero], [zero, zero, one]));
    let p = cross(u, axis);
    scale(p, one / dot(p, p).sqrt().max(R::splat(1e-30)))
}
