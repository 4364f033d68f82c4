//! Continuous detection: when two parts that move along straight lines first come near each other.
//!
//! Conservative advancement (additive, as Li and others describe it for codimensional contact): two parts at distance d, whose points move relative
//! to each other by at most l in the rest of the step, cannot meet before the share d / l of it has gone by. So time goes on by
//! a little less than that, again and again. No roots are sought, nothing is missed, and a common motion of all
//! four vertices costs nothing, since it is taken off first.

use glam::DVec3;

use super::distance::{Nearest, edge_edge, vertex_triangle};

/// Which parts are meant by four vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The first, and the triangle of the others.
    VertexTriangle,
    /// The edge of the first two, and that of the others.
    EdgeEdge,
}

impl Kind {
    /// The nearest points of the two parts.
    #[inline]
    pub fn nearest(self, x: &[DVec3; 4]) -> Nearest {
        match self {
            Self::VertexTriangle => vertex_triangle(x),
            Self::EdgeEdge => edge_edge(x),
        }
    }

    /// A vertex of each of the two parts.
    #[inline(always)]
    pub fn one_of_each(self, vertices: &[u32; 4]) -> [u32; 2] {
        match self {
            Self::VertexTriangle => [vertices[0], vertices[1]],
            Self::EdgeEdge => [vertices[0], vertices[2]],
        }
    }

    /// How far points of the two parts move relative to each other, at most \[m\].
    fn reach(self, way: &[DVec3; 4]) -> f64 {
        let length = |i: usize| way[i].length();
        match self {
            Self::VertexTriangle => length(0) + length(1).max(length(2)).max(length(3)),
            Self::EdgeEdge => length(0).max(length(1)) + length(2).max(length(3)),
        }
    }
}

/// Whether two parts stay further apart than `gap` \[m\] on their way along a line that is easily guessed: that between their middles, half way. Places along a fixed line
/// change evenly, so that the start and the end tell. This is quick, and settles most pairs.
#[inline(always)]
pub fn stay_apart(kind: Kind, from: &[DVec3; 4], to: &[DVec3; 4], gap: f64) -> bool {
    let middle = |i: usize| from[i] + to[i];
    let line = match kind {
        Kind::VertexTriangle => 3.0 * middle(0) - (middle(1) + middle(2) + middle(3)),
        Kind::EdgeEdge => (middle(0) + middle(1)) - (middle(2) + middle(3)),
    };
    let apart = |x: &[DVec3; 4]| {
        let [a, b, c, d] = x.map(|x| (x - from[0]).dot(line));
        match kind {
            Kind::VertexTriangle => a - b.max(c).max(d),
            Kind::EdgeEdge => a.min(b) - c.max(d),
        }
    };
    let least = apart(from).min(apart(to));
    // A little more than the gap, which is far more than what rounding can take.
    least > 0.0 && least * least > 1.000_001 * gap * gap * line.length_squared()
}

/// What of the distance that is left is gone through in one go. The rest is far more than what rounding can take.
const SHARE: f64 = 0.9;

/// What is left of the distance at the start when a pair counts as in contact.
const LEFT: f64 = 1e-3;

/// Goes of one pair, at most. What is not decided by then counts as a contact at the time that was reached, which is safe.
const MOST: u32 = 1000;

/// When parts first come nearer than `gap` \[m\], as a share of the step from 0 to 1: never later than in truth, and earlier only by a
/// thousandth of the distance at the start. `None`: they stay apart through the whole step. Of a pair that begins nearer than twice the gap
/// no more is asked than to keep half of its distance.
pub fn first_contact(kind: Kind, from: &[DVec3; 4], to: &[DVec3; 4], gap: f64) -> Option<f64> {
    let mut way: [DVec3; 4] = std::array::from_fn(|i| to[i] - from[i]);
    let common = (way[0] + way[1] + way[2] + way[3]) * 0.25;
    way = way.map(|w| w - common);
    // About the origin, where rounding is smallest.
    let from = from.map(|x| x - from[0]);
    let start = kind.nearest(&from).squared.sqrt();
    if start <= 0.0 {
        return Some(0.0);
    }
    let reach = kind.reach(&way);
    let gap = gap.min(0.5 * start);
    let left = LEFT * (start - gap);
    let (mut time, mut distance) = (0.0, start);
    for _ in 0..MOST {
        // Also where the way is nothing at all: then this is beyond every time.
        time += SHARE * (distance - gap) / reach;
        if time >= 1.0 {
            return None;
        }
        let x = std::array::from_fn(|i| from[i] + way[i] * time);
        distance = kind.nearest(&x).squared.sqrt();
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

    /// Planted: the parts meet in known points at a known time.
    #[test]
    fn planted_contacts_are_never_missed_nor_found_late() {
        let mut random = Random::new(13, 0);
        for round in 0..20_000 {
            let kind = if round % 2 == 0 { Kind::VertexTriangle } else { Kind::EdgeEdge };
            // Nearly flat, nearly parallel and tiny ones too.
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
