//! What can be filled: anything that says what is inside, and where a way out passes through its surface.

use glam::DVec3;

use super::winding::WindingTree;

/// Halvings of an edge where nothing else says where it is cut.
const HALVINGS: usize = 20;

/// A solid, by its points.
pub(crate) trait Field: Sync {
    /// Whether `p` \[m\] is inside.
    fn is_inside(&self, p: DVec3) -> bool;

    /// Whether it is known that both points are inside, or both outside.
    fn is_same_between(&self, _p: DVec3, _q: DVec3) -> bool {
        false
    }

    /// The part of the way from `inside` to `outside` where the solid is left.
    fn leaving(&self, inside: DVec3, outside: DVec3) -> f64 {
        let (mut from, mut to) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (from + to);
            let within = self.is_inside(inside.lerp(outside, middle));
            *(if within { &mut from } else { &mut to }) = middle;
        }
        0.5 * (from + to)
    }
}

/// The inside of a surface of triangles: where its winding number is over 0.5.
pub(super) struct Enclosed<'a> {
    pub tree: &'a WindingTree,
    /// Whether winding numbers change only where triangles are passed through.
    pub closed: bool,
}

impl Field for Enclosed<'_> {
    fn is_inside(&self, p: DVec3) -> bool {
        self.tree.winding(p) > 0.5
    }

    fn is_same_between(&self, p: DVec3, q: DVec3) -> bool {
        self.closed && !self.tree.touches(p.min(q), p.max(q))
    }

    /// Where the winding number falls to 0.5 or less: at a triangle, or, in a hole, in between.
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

/// The same without a look at triangles.
struct Hole<'a>(&'a Enclosed<'a>);

impl Field for Hole<'_> {
    fn is_inside(&self, p: DVec3) -> bool {
        self.0.is_inside(p)
    }
}
