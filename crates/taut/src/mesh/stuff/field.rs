//! Input of the stuffing: anything that defines an inside, and where a segment crosses its surface.

use glam::DVec3;

use super::winding::WindingTree;

/// Bisections of an edge where the cut has no closed form.
const BISECTIONS: usize = 20;

/// A solid, as a point set.
pub(crate) trait Field: Sync {
    /// Whether `p` \[m\] is inside.
    fn is_inside(&self, p: DVec3) -> bool;

    /// Whether both points are known to be inside, or both outside.
    fn is_same_between(&self, _p: DVec3, _q: DVec3) -> bool {
        false
    }

    /// The fraction of the segment from `inside` to `outside` at which the solid ends.
    fn leaving(&self, inside: DVec3, outside: DVec3) -> f64 {
        let (mut from, mut to) = (0.0, 1.0);
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (from + to);
            let within = self.is_inside(inside.lerp(outside, middle));
            *(if within { &mut from } else { &mut to }) = middle;
        }
        0.5 * (from + to)
    }
}

/// The inside of a triangle surface: where its winding number is over 0.5.
pub(super) struct Enclosed<'a> {
    pub tree: &'a WindingTree,
    /// Whether winding numbers change only at triangles.
    pub closed: bool,
}

impl Field for Enclosed<'_> {
    fn is_inside(&self, p: DVec3) -> bool {
        self.tree.winding(p) > 0.5
    }

    fn is_same_between(&self, p: DVec3, q: DVec3) -> bool {
        self.closed && !self.tree.touches(p.min(q), p.max(q))
    }

    /// Where the winding number falls to 0.5 or less: at a triangle, or, in a hole, between triangles.
    fn leaving(&self, inside: DVec3, outside: DVec3) -> f64 {
        let mut found = Vec::new();
        self.tree.crossings(inside, outside, &mut found);
        match found[..] {
            [(t, true)] => t,
            [] => Hole(self).leaving(inside, outside),
            _ => {
                let mut winding = self.tree.winding(inside);
                for &(t, out) in &found {
                    winding += if out { -1.0 } else { 1.0 };
                    if winding <= 0.5 {
                        return t;
                    }
                }
                found[found.len() - 1].0
            }
        }
    }
}

/// The same without intersecting triangles.
struct Hole<'a>(&'a Enclosed<'a>);

impl Field for Hole<'_> {
    fn is_inside(&self, p: DVec3) -> bool {
        self.0.is_inside(p)
    }
}
