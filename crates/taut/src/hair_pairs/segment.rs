//! Nearest points of two segments.
//!
//! The textbook method (Ericson, Real-Time Collision Detection, 5.1.9): the nearest points of the lines,
//! brought back into both segments one after the other. Its determinant is the square of a cross product; it
//! is computed as one here, since in single precision uu·vv − (uv)² has no correct digit for strands that lie
//! side by side. For parallel segments the middle of the part where they are side by side is taken: a force
//! there turns neither.

use glam::Vec3;

/// Squared sine of the angle below which segments count as parallel. Their distance then has an error of at
/// most 1e-4 of their length.
const PARALLEL_SINE_SQUARED: f32 = 1e-8;

/// Nearest points of two segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Nearest {
    /// Where the points are: 0 at the start of a segment, 1 at its end.
    pub at: [f32; 2],
    /// From the point of the second segment to that of the first \[m\].
    pub apart: Vec3,
}

/// The nearest points of the segments `a` and `b`, from start to end \[m\].
#[inline(always)]
pub(super) fn nearest(a: [Vec3; 2], b: [Vec3; 2]) -> Nearest {
    let (u, v, w) = (a[1] - a[0], b[1] - b[0], a[0] - b[0]);
    let (uu, vv, uv, uw, vw) = (u.dot(u), v.dot(v), u.dot(v), u.dot(w), v.dot(w));
    let on_a = |t: f32| if uu > 0.0 { ((uv * t - uw) / uu).clamp(0.0, 1.0) } else { 0.0 };
    let across = u.cross(v);
    let sine = across.length_squared();
    let mut s = if sine > PARALLEL_SINE_SQUARED * uu * vv {
        (-across.dot(w.cross(v)) / sine).clamp(0.0, 1.0)
    } else {
        0.5 * (on_a(0.0) + on_a(1.0))
    };
    let free = if vv > 0.0 { (uv * s + vw) / vv } else { 0.0 };
    let t = free.clamp(0.0, 1.0);
    if t != free || vv == 0.0 {
        s = on_a(t);
    }
    Nearest { at: [s, t], apart: w + u * s - v * t }
}

/// Length over which two segments touch when they are near \[m\]: the part of the first beside which the
/// second lies; for segments that cross, `width` \[m\], or the shorter of the two where that is less.
#[inline(always)]
pub(super) fn touching_length(a: [Vec3; 2], b: [Vec3; 2], width: f32) -> f32 {
    let (u, v) = (a[1] - a[0], b[1] - b[0]);
    let (uu, vv) = (u.length_squared(), v.length_squared());
    let on_a = |x: Vec3| if uu > 0.0 { ((x - a[0]).dot(u) / uu).clamp(0.0, 1.0) } else { 0.0 };
    let beside = (on_a(b[1]) - on_a(b[0])).abs() * uu.sqrt();
    beside.max(width).min(uu.min(vv).sqrt())
}
