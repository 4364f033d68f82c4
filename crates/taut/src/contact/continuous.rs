//! Continuous collision detection: the time of impact of two primitives that move along straight lines.
//!
//! Conservative advancement (additive, as Li et al. describe it for codimensional contact): two primitives at
//! distance d, whose points move relative to each other by at most l in the rest of the step, cannot meet
//! before the fraction d / l of it. So time advances by a little less than that, repeatedly. No roots are
//! solved for, nothing is missed, and a common motion of all four vertices costs nothing, since it is
//! subtracted first.
//!
//! Primitives that slide along each other would need many such advances. A separating plane helps: along the
//! line between their nearest points, no vertex of one reaches a vertex of the other before the time that
//! their heights and speeds along that line give. The later of the two bounds is used.
//!
//! Why rounding misses nothing. Positions are single precision; all arithmetic is in double precision
//! relative to one of the vertices, so that sums and differences have an error of about 1e-15 of the size S
//! of a pair (including its displacement). The measured distance is that of two points of the primitives, so
//! it is too small by no more than that. It is too large where these are not exactly the nearest points:
//! between nearly parallel edges or in slivers at an angle θ, by about 1e-16 S / θ, or by θ S where the end
//! points decide, so by 1e-8 S at worst. Time advances by 0.9 of the distance, which leaves a tenth of it for
//! such errors: enough while the distance is over 1e-7 S; anything nearer counts as a contact.
//! `tests/detection.rs` of the program compares 100,000 pairs with ipctk.

use glam::DVec3;

use super::distance::{Nearest, combined, edge_edge, vertex_triangle};

/// Which primitives four vertices stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A vertex (the first) and a triangle (the others).
    VertexTriangle,
    /// An edge (the first two) and another edge (the others).
    EdgeEdge,
}

impl Kind {
    /// The nearest points of the two primitives.
    #[inline]
    pub fn nearest(self, x: &[DVec3; 4]) -> Nearest {
        match self {
            Self::VertexTriangle => vertex_triangle(x),
            Self::EdgeEdge => edge_edge(x),
        }
    }

    /// A vertex of each of the two primitives.
    #[inline(always)]
    pub fn one_of_each(self, vertices: &[u32; 4]) -> [u32; 2] {
        match self {
            Self::VertexTriangle => [vertices[0], vertices[1]],
            Self::EdgeEdge => [vertices[0], vertices[2]],
        }
    }

    /// For how long, as a fraction of the step, a plane keeps two primitives `gap` \[m\] apart: along the
    /// line between their nearest points, as long as each vertex of one is above each vertex of the other.
    /// Valid for any direction, whatever its rounding.
    #[inline]
    fn until_plane(self, x: &[DVec3; 4], way: &[DVec3; 4], nearest: &Nearest, gap: f64) -> f64 {
        let normal = combined(x, &nearest.weights).normalize_or_zero();
        let first = match self {
            Self::VertexTriangle => 1,
            Self::EdgeEdge => 2,
        };
        let mut until = f64::INFINITY;
        for a in 0..first {
            for b in first..4 {
                let (over, nearing) = (normal.dot(x[a] - x[b]) - gap, normal.dot(way[b] - way[a]));
                if over <= 0.0 {
                    return 0.0;
                }
                if nearing > 0.0 {
                    until = until.min(over / nearing);
                }
            }
        }
        until
    }

    /// Largest relative displacement of points of the two primitives \[m\].
    fn reach(self, way: &[DVec3; 4]) -> f64 {
        let length = |i: usize| way[i].length();
        match self {
            Self::VertexTriangle => length(0) + length(1).max(length(2)).max(length(3)),
            Self::EdgeEdge => length(0).max(length(1)) + length(2).max(length(3)),
        }
    }
}

/// Whether two primitives stay further apart than `gap` \[m\] along a guessed line: that between their
/// centres at half the step. Positions along a fixed line are linear in time, so that the start and the end
/// decide. This test is cheap, and settles most pairs.
#[inline(always)]
pub fn stay_apart(kind: Kind, from: &[DVec3; 4], to: &[DVec3; 4], gap: f64) -> bool {
    let middle = |i: usize| from[i] + to[i];
    let line = match kind {
        Kind::VertexTriangle => 3.0 * middle(0) - (middle(1) + middle(2) + middle(3)),
        Kind::EdgeEdge => (middle(0) + middle(1)) - (middle(2) + middle(3)),
    };
    apart_along(kind, line, from, to, gap)
}

/// Whether two primitives stay further apart than `gap` \[m\] along `line`, of any length, from the second to
/// the first.
#[inline(always)]
pub fn apart_along(kind: Kind, line: DVec3, from: &[DVec3; 4], to: &[DVec3; 4], gap: f64) -> bool {
    let apart = |x: &[DVec3; 4]| {
        let [a, b, c, d] = x.map(|x| (x - from[0]).dot(line));
        match kind {
            Kind::VertexTriangle => a - b.max(c).max(d),
            Kind::EdgeEdge => a.min(b) - c.max(d),
        }
    };
    let least = apart(from).min(apart(to));
    // Slightly more than the gap: far more than the rounding error.
    least > 0.0 && least * least > 1.000_001 * gap * gap * line.length_squared()
}

/// Fraction of the remaining distance by which time advances. The rest is far more than the rounding error.
const ADVANCE_FRACTION: f64 = 0.9;

/// Fraction of the initial distance below which a pair counts as in contact.
const CONTACT_FRACTION: f64 = 1e-6;

/// The same for a pair with a gap, as a fraction of that gap: it need not be that close.
const CONTACT_FRACTION_OF_GAP: f64 = 1e-2;

/// Below this fraction of the size of a pair, distances are too inaccurate to advance by.
const MIN_RELATIVE_DISTANCE: f64 = 1e-7;

/// Maximum number of advances per pair. A pair that is undecided by then counts as a contact at the time
/// reached, which is safe.
const MAX_ADVANCES: u32 = 1000;

/// The time of impact: when the primitives first come closer than `gap` \[m\], as a fraction of the step from
/// 0 to 1. Never later than the true time, and earlier only by a hundredth of the gap, or a millionth of the
/// initial distance. `None`: they stay apart through the whole step. A pair that begins closer than twice the
/// gap must only keep half of its distance.
pub fn first_contact(kind: Kind, from: &[DVec3; 4], to: &[DVec3; 4], gap: f64) -> Option<f64> {
    let mut way: [DVec3; 4] = std::array::from_fn(|i| to[i] - from[i]);
    let common = (way[0] + way[1] + way[2] + way[3]) * 0.25;
    way = way.map(|w| w - common);
    // Relative to the origin, where rounding is smallest.
    let from = from.map(|x| x - from[0]);
    let start = kind.nearest(&from).squared.sqrt();
    if start <= 0.0 {
        return Some(0.0);
    }
    let reach = kind.reach(&way);
    let gap = gap.min(0.5 * start);
    let size = from.iter().fold(reach, |size, x| size.max(x.abs().max_element()));
    let left = (CONTACT_FRACTION * (start - gap))
        .max(CONTACT_FRACTION_OF_GAP * gap)
        .max((MIN_RELATIVE_DISTANCE * size).min(0.1 * (start - gap)));
    let (mut time, mut x, mut nearest) = (0.0, from, kind.nearest(&from));
    for _ in 0..MAX_ADVANCES {
        let distance = nearest.squared.sqrt();
        // Also with zero displacement: then the bound is beyond every time.
        let safe = ((distance - gap) / reach).max(kind.until_plane(&x, &way, &nearest, gap));
        time += ADVANCE_FRACTION * safe;
        if time >= 1.0 {
            return None;
        }
        x = std::array::from_fn(|i| from[i] + way[i] * time);
        nearest = kind.nearest(&x);
        let distance = nearest.squared.sqrt();
        if distance - gap <= left {
            return Some(time);
        }
    }
    Some(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::random::Random;

    fn point(random: &mut Random) -> DVec3 {
        DVec3::from_array([(); 3].map(|()| f64::from(random.unit())))
    }

    #[test]
    fn a_vertex_that_falls_through_a_triangle_is_caught_in_time() {
        let triangle = [DVec3::ZERO, DVec3::X, DVec3::Z];
        let at = |y: f64| [DVec3::new(0.2, y, 0.2), triangle[0], triangle[1], triangle[2]];
        let time = first_contact(Kind::VertexTriangle, &at(1.0), &at(-3.0), 0.0).unwrap();
        assert!(time <= 0.25 && time > 0.249, "{time}");
        assert_eq!(first_contact(Kind::VertexTriangle, &at(1.0), &at(0.1), 0.0), None);
        assert!(first_contact(Kind::VertexTriangle, &at(1.0), &at(0.1), 0.2).is_some());
        assert_eq!(first_contact(Kind::VertexTriangle, &at(1.0), &at(1.0), 0.2), None);
        let touching = [triangle[0], triangle[0], triangle[1], triangle[2]];
        assert_eq!(first_contact(Kind::VertexTriangle, &touching, &at(1.0), 0.0), Some(0.0));
    }

    #[test]
    fn what_moves_together_never_meets() {
        let mut random = Random::new(11, 0);
        for _ in 0..1000 {
            let x = [(); 4].map(|()| point(&mut random));
            let away = point(&mut random) * 1e3;
            for kind in [Kind::VertexTriangle, Kind::EdgeEdge] {
                assert_eq!(first_contact(kind, &x, &x.map(|x| x + away), 1e-3), None);
            }
        }
    }

    /// Constructed: the primitives meet in known points at a known time.
    #[test]
    fn planted_contacts_are_never_missed_nor_found_late() {
        let mut random = Random::new(13, 0);
        for round in 0..20_000 {
            let kind = if round % 2 == 0 { Kind::VertexTriangle } else { Kind::EdgeEdge };
            // Includes nearly flat, nearly parallel and tiny primitives.
            let squash = [1.0, 1e-3, 1e-6][round / 2 % 3];
            let size = [1.0, 1e-3][round / 6 % 2];
            let mut meeting = [(); 4].map(|()| point(&mut random) * DVec3::new(1.0, squash, 1.0) * size);
            let (s, t) = (f64::from(random.unit()), f64::from(random.unit()));
            match kind {
                Kind::VertexTriangle => {
                    let [_, a, b, c] = meeting;
                    meeting[0] = a + (b - a) * (s * (1.0 - t)) + (c - a) * (s * t);
                }
                Kind::EdgeEdge => {
                    let [a, b, c, _] = meeting;
                    let on = a + (b - a) * s;
                    meeting[3] = c + (on - c) / (0.1 + 0.9 * t);
                }
            }
            let when = 0.05 + 0.9 * f64::from(random.unit());
            let ways = [(); 4].map(|()| (point(&mut random) - DVec3::splat(0.5)) * size);
            let from: [DVec3; 4] = std::array::from_fn(|i| meeting[i] - ways[i] * when);
            let to: [DVec3; 4] = std::array::from_fn(|i| meeting[i] + ways[i] * (1.0 - when));
            let found = first_contact(kind, &from, &to, 0.0);
            assert!(found.is_some_and(|time| time <= when + 1e-9), "{round} {kind:?}: {found:?} {when}");
        }
    }
}
