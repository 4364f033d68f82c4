//! Strands that are deep in something go around it.

use std::ops::Range;

use glam::Vec3;

use super::{DEEP, StrandBox};
use crate::{Body, State, World, contact::strands::Touch, kernel::lanes::Quad};

/// Times that a point is pushed out and put back to its distance from the one before.
const ROUNDS: u32 = 8;

/// The arm of this length that ends on the plane which the end of `arm` is behind by a depth \[m\], or as
/// near as it can. An arm that points straight at the plane would come no nearer to that by being pushed out
/// and made as long again.
fn onto(arm: Vec3, (normal, depth): (Vec3, f32), length: f32) -> Vec3 {
    let along = (arm.dot(normal) + depth).clamp(-length, length);
    let side = (arm - normal * arm.dot(normal)).try_normalize();
    let side = side.unwrap_or_else(|| normal.any_orthonormal_vector());
    normal * along + side * (length * length - along * along).max(0.0).sqrt()
}

/// Takes the strand of the vertices `own` around what it is in, as `touch` says: in which direction a point
/// is out of it, and how deep it is in \[m\].
fn go_around(touch: impl Fn(usize, Vec3) -> (Vec3, f32), own: Range<usize>, x: &mut [Quad]) {
    let at = |x: &[Quad], v: usize| Vec3::from_slice(&x[v][..3]);
    let mut before = at(x, own.start);
    // The first point of a free strand has none to keep its distance from.
    if x[own.start][3] > 0.0 {
        let (normal, depth) = touch(own.start, before);
        let p = before + normal * depth;
        x[own.start][..3].copy_from_slice(&p.to_array());
    }
    for v in own.start + 1..own.end {
        let was = at(x, v);
        let length = was.distance(before);
        let previous = at(x, v - 1);
        before = was;
        if x[v][3] <= 0.0 {
            continue;
        }
        let mut p = previous + (was - previous).normalize_or(Vec3::NEG_Y) * length;
        for _ in 0..ROUNDS {
            let (normal, depth) = touch(v, p);
            if depth <= 0.1 * DEEP {
                break;
            }
            p = previous + onto(p - previous, (normal, depth), length);
        }
        if p.is_finite() {
            x[v][..3].copy_from_slice(&p.to_array());
        }
    }
}

impl StrandBox {
    /// The last line of defence: strands with points deep inside something go around it, from root to tip.
    /// Segments keep the lengths that they have. Not with a limit on bend, which comes first. Between cloth
    /// and what has an inside the latter wins.
    pub(super) fn expel(&self, world: &World, state: &mut State) {
        let contacts = &self.contacts;
        let depth = |found: Option<Touch>, p: Vec3| {
            found.map_or((Vec3::ZERO, 0.0), |t| (t.normal, (t.offset - t.normal.dot(p)).max(0.0)))
        };
        let any = |v: usize, p: Vec3| depth(contacts.touch(world, v, p, 0.0), p);
        let solid = |v: usize, p: Vec3| depth(contacts.touch_solid(world, v, p, 0.0), p);
        let hairs = world.description.bodies.iter().filter_map(Body::as_hair);
        for (hair, tables) in hairs.zip(&world.hair).filter(|(hair, _)| hair.bend.is_none()) {
            let among =
                tables.vertices.start - world.strands.start..tables.vertices.end - world.strands.start;
            for own in hair.groom.strands() {
                let is_deep = |depth: &f32| *depth > DEEP;
                if !self.depth[among.start + own.start..among.start + own.end].iter().any(is_deep) {
                    continue;
                }
                let own = tables.vertices.start + own.start..tables.vertices.start + own.end;
                go_around(any, own.clone(), &mut state.x);
                let is_inside = |v: usize| {
                    let x = &state.x[v];
                    x[3] > 0.0 && solid(v, Vec3::from_slice(&x[..3])).1 > DEEP
                };
                if contacts.has_faces() && own.clone().any(is_inside) {
                    go_around(solid, own, &mut state.x);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arms_end_on_planes_at_their_length() {
        // Straight at the plane, slantwise, and from so far behind that it cannot be reached.
        for (arm, depth, rises) in
            [(Vec3::NEG_Y, 0.25, -0.75), (Vec3::new(0.6, -0.8, 0.0), 0.3, -0.5), (Vec3::NEG_Y, 3.0, 1.0)]
        {
            let found = onto(arm, (Vec3::Y, depth), 1.0);
            assert!((found.length() - 1.0).abs() < 1e-6 && (found.y - rises).abs() < 1e-6, "{found}");
        }
    }
}
