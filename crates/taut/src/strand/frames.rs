//! Material frames along a strand: moved without twist, turned about tangents, and the twist between two.
//!
//! A frame is kept as its direction m₁ at right angles to the unit tangent t; m₂ = t × m₁. Between steps only
//! the twist at joints is kept, as the tangent of its half: whoever moves a whole strand moves its frames
//! too.

use crate::kernel::{
    angle::angle_of_half,
    real::{Real, V3, add, combine, cross, dot, scale},
};

/// The unit vector along `a`; finite for zero.
#[inline(always)]
pub(super) fn unit<R: Real>(a: V3<R>) -> V3<R> {
    scale(a, R::splat(1.0) / dot(a, a).sqrt().max(R::splat(1e-18)))
}

/// `m` turned by the smallest rotation that takes the unit vector `t0` to `t1`.
#[inline(always)]
pub(super) fn transport<R: Real>(m: V3<R>, t0: V3<R>, t1: V3<R>) -> V3<R> {
    let (axis, cosine) = (cross(t0, t1), dot(t0, t1));
    // Opposite directions have no smallest rotation: any will do that stays finite.
    let along = dot(axis, m) / (R::splat(1.0) + cosine).max(R::splat(1e-6));
    add(combine(m, cosine, axis, along), cross(axis, m))
}

/// The part of `m` at right angles to the unit vector `t`, made a unit vector.
#[inline(always)]
pub(super) fn orthogonal<R: Real>(m: V3<R>, t: V3<R>) -> V3<R> {
    unit(combine(m, R::splat(1.0), t, -dot(m, t)))
}

/// Tangent of half the twist from the frame `m0` at tangent `t0` to `m1` at `t1`.
#[inline(always)]
pub(super) fn half_twist<R: Real>((t0, m0): (V3<R>, V3<R>), (t1, m1): (V3<R>, V3<R>)) -> R {
    let untwisted = transport(m0, t0, t1);
    let (sine, cosine) = (dot(cross(untwisted, m1), t1), dot(untwisted, m1));
    sine / (R::splat(1.0) + cosine).max(R::splat(1e-6))
}

/// The angle \[rad\] of which the tangent of the half is given.
#[inline(always)]
pub(super) fn angle_of_half_tangent<R: Real>(tangent: R) -> R {
    let cosine = R::splat(1.0) / (R::splat(1.0) + tangent * tangent).sqrt();
    angle_of_half(tangent * cosine, cosine)
}

/// The frame at `t1` that has a twist, whose half has this tangent, from the frame `m0` at `t0`.
#[inline(always)]
pub(super) fn twisted<R: Real>((t0, m0): (V3<R>, V3<R>), t1: V3<R>, tangent: R) -> V3<R> {
    let m = orthogonal(transport(m0, t0, t1), t1);
    let one = R::splat(1.0);
    let scale = one / (one + tangent * tangent);
    combine(m, (one - tangent * tangent) * scale, cross(t1, m), (tangent + tangent) * scale)
}

/// Frames of all segments of a strand from that of the first and the twist at joints.
#[inline(always)]
pub(super) fn lay<R: Real>(tangents: &[V3<R>], frames: &mut [V3<R>], twist: impl Fn(usize) -> R) {
    for j in 1..tangents.len() {
        frames[j] = twisted((tangents[j - 1], frames[j - 1]), tangents[j], twist(j));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::real::perpendicular;

    #[test]
    fn a_twist_that_is_laid_is_measured() {
        let (t0, t1) = (unit([1.0, 0.2, -0.1]), unit([0.3, 0.9, 0.4]));
        let m0: V3<f64> = perpendicular(t0);
        for angle in [-3.0f64, -1.0, 0.0, 1e-3, 0.5, 2.0, 3.1] {
            let tangent = (0.5 * angle).tan();
            let m1 = twisted((t0, m0), t1, tangent);
            assert!((dot(m1, m1) - 1.0).abs() < 1e-12 && dot(m1, t1).abs() < 1e-12);
            let found = half_twist((t0, m0), (t1, m1));
            assert!((angle_of_half_tangent(found) - angle).abs() < 1e-6, "{angle}");
        }
    }
}
