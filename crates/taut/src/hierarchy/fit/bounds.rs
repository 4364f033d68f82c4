//! Closed-form limits of a coarse element, from the rest shape and the limits of the base mesh.
//!
//! Along a line over the surface whose hinges may bend by Θ in total, a chord is at least sinc(Θ/2) of the
//! arc length between its ends, since an arc of constant curvature is the extreme case (Schur's comparison
//! theorem): the lower limit is the base's times that. Where the line is already curved at rest, its length
//! exceeds the chord by a factor, and the upper limit is the base's times that factor. Both are evaluated for
//! the edges of the triangle, and the loosest is used. A coarse hinge bends at most by the sum over all
//! hinges between its wings.
//!
//! The upper limit is not a true bound: folds across a triangle can stretch it by up to √2. It is kept
//! because looser limits make coarse levels useless.

use glam::DVec3;

use super::patch::{Element, Fine, Patch, Places};
use super::{angle_and_heights, within_half_turn};
use crate::limit::NO_LIMIT;

/// Excess of an arc length over its chord that counts as rounding error.
const MAX_STRAIGHT_EXCESS: f64 = 1e-5;

/// What a line over the surface crosses.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Crossing {
    /// Sum of the largest angles that its hinges may have, to either side \[rad\]; infinite without a limit.
    pub turning: f64,
    /// Sums of how far its hinges may bend from rest, down and up \[rad\]; infinite without a limit.
    pub bend: [f64; 2],
    /// Length of the line over the distance of its ends; at least 1.
    pub detour: f64,
}

/// Smallest and largest stretch of a triangle, or angle of a hinge \[rad\].
pub(super) fn bounds(fine: &Fine, (patch, _): (&Patch, Places<'_>), element: &Element) -> [f32; 2] {
    if element.is_triangle() { stretches(fine, patch, element) } else { bends(fine, patch, element) }
}

fn stretches(fine: &Fine, patch: &Patch, element: &Element) -> [f32; 2] {
    let range = patch.triangles.iter().map(|&t| fine.strain[t as usize]);
    let (min, max) = range.fold((1f32, 1f32), |(min, max), r| (min.min(r.min), max.max(r.max)));
    let (mut shrink, mut detour) = (1f64, 1f64);
    for k in 0..3 {
        let line = crossing(fine, patch, element.points[k], element.points[(k + 1) % 3], element);
        shrink = shrink.min(line.detour * sinc(0.5 * line.turning));
        detour = detour.max(line.detour);
    }
    let upper = if max < NO_LIMIT { max * detour as f32 } else { NO_LIMIT };
    [min * shrink as f32, upper]
}

fn bends(fine: &Fine, patch: &Patch, element: &Element) -> [f32; 2] {
    let [a, b, c, d] = [0, 1, 2, 3].map(|k| element.points[k]);
    let middle = 0.5 * (a + b);
    let rest = angle_and_heights([a, b, c, d]).0;
    // One of the two is extended slightly, to cross hinges that lie on the edge itself.
    let beyond = middle + (middle - c).normalize_or_zero() * (1e-2 * patch.edge);
    let first = crossing(fine, patch, c, beyond, element).bend;
    let second = crossing(fine, patch, d, middle, element).bend;
    [
        within_half_turn(rest - first[0] - second[0]).min(rest as f32),
        within_half_turn(rest + first[1] + second[1]).max(rest as f32),
    ]
}

/// What the line from `a` to `b` crosses, projected along the element's normal.
pub(super) fn crossing(fine: &Fine, patch: &Patch, a: DVec3, b: DVec3, element: &Element) -> Crossing {
    let chord = b - a;
    let length = chord.length();
    let along = chord / length.max(f64::MIN_POSITIVE);
    let across = element.normal().cross(along).normalize_or_zero();
    // Offset from the corners and edges of regular meshes, to the element's side of its edges.
    let center = element.points.iter().sum::<DVec3>() / element.points.len() as f64;
    let shift = 1e-3 * patch.edge * if (center - a).dot(across) < 0.0 { -1.0 } else { 1.0 };
    let mut found = Crossing { detour: 1.0, ..Crossing::default() };
    let mut points = Vec::new();
    for &h in &patch.hinges {
        let [p, q] = [0, 1].map(|k| fine.positions[fine.hinges[h as usize][k] as usize] - a);
        let [at_p, at_q] = [p, q].map(|x| x.dot(across) - shift);
        if (at_p < 0.0) == (at_q < 0.0) {
            continue;
        }
        let x = p.lerp(q, at_p / (at_p - at_q));
        let place = x.dot(along);
        if place <= 0.0 || place >= length {
            continue;
        }
        points.push((place, x));
        let rest = f64::from(fine.rest_angle[h as usize]);
        let [low, high] = fine.bend[h as usize].map(|angle| {
            let angle = f64::from(angle);
            if angle.abs() < std::f64::consts::PI { angle } else { f64::INFINITY.copysign(angle) }
        });
        found.turning += low.abs().max(high.abs());
        found.bend = [found.bend[0] + (rest - low), found.bend[1] + (high - rest)];
    }
    points.sort_by(|x, y| x.0.total_cmp(&y.0));
    // The ends are shifted like the line.
    let ends = [across * shift, chord + across * shift];
    let way = points
        .iter()
        .map(|x| x.1)
        .chain([ends[1]])
        .fold((ends[0], 0.0), |(last, sum), x| (x, sum + last.distance(x)));
    if way.1 > (1.0 + MAX_STRAIGHT_EXCESS) * length {
        found.detour = way.1 / length.max(f64::MIN_POSITIVE);
    }
    found
}

/// sin(x) / x, and 0 beyond its first zero.
fn sinc(x: f64) -> f64 {
    if x >= std::f64::consts::PI {
        0.0
    } else if x < 1e-8 {
        1.0
    } else {
        x.sin() / x
    }
}
