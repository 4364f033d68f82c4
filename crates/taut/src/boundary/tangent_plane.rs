//! Obstacles as planes: what a vertex that presses on one sees of it between two looks at the shape itself.

use glam::Vec3;

use super::{obstacle::Obstacle, obstacle_contacts::ObstacleContacts};

/// An obstacle as a vertex sees it that presses on it: the plane that touches it.
#[derive(Clone, Copy, Debug)]
pub struct TangentPlane {
    /// Outward normal, and its product with points of the plane \[m\].
    normal: Vec3,
    offset: f32,
    /// Where the vertex was when this was the obstacle's plane \[m\].
    touches: Vec3,
    /// Where the vertex would be had it moved with the obstacle \[m\].
    start: Vec3,
    friction: f32,
}

impl TangentPlane {
    /// Whether `p` is no further than `reach` \[m\] from where it touches.
    #[inline(always)]
    pub fn is_within(&self, p: Vec3, reach: f32) -> bool {
        (p - self.touches).length_squared() <= reach * reach
    }

    /// How deep `p` is inside \[m\]; negative outside.
    #[inline(always)]
    pub fn depth(&self, p: Vec3) -> f32 {
        self.offset - self.normal.dot(p)
    }

    /// As [`ObstacleContacts::nearest_outside`].
    #[inline(always)]
    pub fn nearest_outside(&self, p: Vec3) -> Vec3 {
        let depth = self.depth(p);
        if depth <= 0.0 {
            return p;
        }
        let p = p + self.normal * depth;
        let slip = p - self.start;
        let slip = slip - self.normal * slip.dot(self.normal);
        let (length, hold) = (slip.length(), self.friction * depth);
        p - if length <= hold { slip } else { slip * (hold / length) }
    }
}

impl ObstacleContacts {
    /// The plane that stands for the obstacles near `p` \[m\], which is inside one, for a vertex that began
    /// the step at `old` and may be `sunk` \[m\] deep. `None` if another obstacle is within `reach` \[m\].
    pub fn tangent_plane(
        &self,
        obstacles: &[Obstacle],
        old: Vec3,
        sunk: f32,
        p: Vec3,
        reach: f32,
    ) -> Option<TangentPlane> {
        let mut plane = None;
        for (obstacle, placed) in obstacles.iter().zip(&self.placed) {
            if placed.at_least(p) > 2.0 * reach {
                continue;
            }
            let (distance, normal) = obstacle.gap(placed.poses[1].to_body(p));
            if distance > 2.0 * reach {
                continue;
            }
            if plane.is_some() {
                return None;
            }
            let normal = placed.poses[1].rotation * normal;
            let on_surface = p - normal * (distance + sunk);
            let before = placed.poses[0].to_world(placed.poses[1].to_body(on_surface));
            plane = Some(TangentPlane {
                normal,
                offset: normal.dot(on_surface),
                touches: p,
                start: old + (on_surface - before),
                friction: obstacle.friction,
            });
        }
        plane
    }
}

#[cfg(test)]
mod tests {
    use glam::Quat;

    use super::*;
    use crate::{Motion, boundary::obstacle::Shape, exec::threads::Threads};

    #[test]
    fn near_where_it_touches_a_plane_pushes_as_the_shape_does() {
        let ball = Obstacle {
            name: "ball".into(),
            shape: Shape::Sphere { radius: 0.5 },
            position: Vec3::ZERO,
            rotation: Quat::IDENTITY,
            motion: Motion::default(),
            friction: 0.4,
            restitution: 0.0,
            margin: 0.001,
        };
        let obstacles = [ball];
        let old = Vec3::new(0.3, 0.41, 0.0);
        let quads = [[old.x, old.y, old.z, 1.0]];
        let mut contacts = ObstacleContacts::with_capacity(1, 1);
        contacts.begin(&Threads::alone(), &obstacles, [0.0, 0.01], &quads, &mut quads.clone(), 0.1);
        let p = Vec3::new(0.305, 0.39, 0.002);
        let plane = contacts.tangent_plane(&obstacles, old, 0.0, p, 0.01).unwrap();
        let exact = |p| contacts.nearest_outside(&obstacles, old, 0.0, p);
        assert!(plane.nearest_outside(p).distance(exact(p)) < 1e-5);
        // A millimetre further the sphere has curved away by a millionth of a metre.
        let near = p + Vec3::new(1e-3, 0.0, 1e-3);
        assert!(plane.is_within(near, 0.01) && !plane.is_within(near, 1e-4));
        assert!(plane.nearest_outside(near).distance(exact(near)) < 1e-4);
        let outside = Vec3::new(0.5, 0.6, 0.0);
        assert_eq!(plane.nearest_outside(outside), outside);
        assert!(plane.depth(outside) < 0.0 && plane.depth(p) > 0.0);
    }
}
