//! Nearest points of two segments, for many pairs side by side.
//!
//! The textbook method (Ericson, Real-Time Collision Detection, 5.1.9): the nearest points of the lines,
//! brought back into both segments one after the other. Its determinant is the square of a cross product; it
//! is computed as one here, since in single precision uu·vv − (uv)² has no correct digit for strands that lie
//! side by side. For parallel segments the middle of the part where they are side by side is taken: a force
//! there turns neither.

#[cfg(test)]
use glam::Vec3;

use crate::kernel::{
    lanes::Quad,
    real::{Real, V3, cross, dot, sub},
};

/// Squared sine of the angle below which segments count as parallel. Their distance then has an error of at
/// most 1e-4 of their length.
const PARALLEL_SINE_SQUARED: f32 = 1e-8;

/// What a square of a length is divided by at least \[m²\]: a point is a segment too.
const LEAST: f32 = 1e-30;

/// Start and end of a segment \[m\].
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends<R> {
    pub start: V3<R>,
    pub end: V3<R>,
}

impl<R: Real> Ends<R> {
    /// The same segment in all lanes.
    #[inline(always)]
    pub(super) fn splat([a, b]: [Quad; 2]) -> Self {
        let start = [R::splat(a[0]), R::splat(a[1]), R::splat(a[2])];
        let end = [R::splat(b[0]), R::splat(b[1]), R::splat(b[2])];
        Self { start, end }
    }

    /// From start to end \[m\].
    #[inline(always)]
    pub(super) fn along(self) -> V3<R> {
        sub(self.end, self.start)
    }
}

/// Nearest points of two segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closest<R> {
    /// Where the points are: 0 at the start of a segment, 1 at its end.
    pub at: [R; 2],
    /// From the point of the second segment to that of the first \[m\].
    pub apart: V3<R>,
}

/// Brings a share into a segment; what is no number becomes 0.
#[inline(always)]
fn inside<R: Real>(share: R) -> R {
    share.clamp(R::splat(0.0), R::splat(1.0))
}

/// The nearest points of the segments `a` and `b`.
#[inline(always)]
pub(super) fn closest<R: Real>(a: Ends<R>, b: Ends<R>) -> Closest<R> {
    let (u, v, w) = (a.along(), b.along(), sub(a.start, b.start));
    let (uu, vv, uv, uw, vw) = (dot(u, u), dot(v, v), dot(u, v), dot(u, w), dot(v, w));
    let (zero, one, least) = (R::splat(0.0), R::splat(1.0), R::splat(LEAST));
    // Of a point, all products are 0, and so is its share.
    let (by_uu, by_vv) = (one / uu.max(least), one / vv.max(least));
    let across = cross(u, v);
    let sine = dot(across, across);
    let is_crossing = (R::splat(PARALLEL_SINE_SQUARED) * uu * vv).lt(sine);
    let crossing = inside(-dot(across, cross(w, v)) / sine.max(R::splat(f32::MIN_POSITIVE)));
    let beside = R::splat(0.5) * (inside(-uw * by_uu) + inside((uv - uw) * by_uu));
    let s = R::select(is_crossing, crossing, beside);
    let free = (uv * s + vw) * by_vv;
    let t = inside(free);
    let is_free = zero.le(free) & free.le(one) & zero.lt(vv);
    let s = R::select(is_free, s, inside((uv * t - uw) * by_uu));
    let apart = [w[0] + u[0] * s - v[0] * t, w[1] + u[1] * s - v[1] * t, w[2] + u[2] * s - v[2] * t];
    Closest { at: [s, t], apart }
}

/// Length over which two segments touch when they are near \[m\]: the part of the first beside which the
/// second lies; for segments that cross, `width` \[m\], or the shorter of the two where that is less.
#[inline(always)]
pub(super) fn touching<R: Real>(a: Ends<R>, b: Ends<R>, width: R) -> R {
    let (u, v) = (a.along(), b.along());
    let (uu, vv) = (dot(u, u), dot(v, v));
    let by_uu = R::splat(1.0) / uu.max(R::splat(LEAST));
    let ends = [dot(sub(b.start, a.start), u) * by_uu, dot(sub(b.end, a.start), u) * by_uu];
    let beside = (inside(ends[1]) - inside(ends[0])).abs() * uu.sqrt();
    beside.max(width).min(uu.min(vv).sqrt())
}

/// [`Closest`] of one pair.
#[cfg(test)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Nearest {
    pub at: [f32; 2],
    pub apart: Vec3,
}

#[cfg(test)]
fn ends([start, end]: [Vec3; 2]) -> Ends<f32> {
    Ends { start: start.to_array(), end: end.to_array() }
}

/// [`closest`] of one pair.
#[cfg(test)]
pub(super) fn nearest(a: [Vec3; 2], b: [Vec3; 2]) -> Nearest {
    let found = closest(ends(a), ends(b));
    Nearest { at: found.at, apart: Vec3::from_array(found.apart) }
}

/// [`touching`] of one pair.
#[cfg(test)]
pub(super) fn touching_length(a: [Vec3; 2], b: [Vec3; 2], width: f32) -> f32 {
    touching(ends(a), ends(b), width)
}
