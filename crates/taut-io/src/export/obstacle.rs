//! Surfaces of obstacles as triangles, for formats that know no solids.

use std::f32::consts::{PI, TAU};

use glam::{Vec2, Vec3};
use taut::boundary::obstacle::Shape;

/// Segments of a full turn.
const SEGMENTS: u32 = 64;

/// A triangulated surface in the obstacle's own frame.
#[derive(Default)]
pub(super) struct Surface {
    /// Positions \[m\].
    pub positions: Vec<Vec3>,
    /// Outward unit normals.
    pub normals: Vec<Vec3>,
    /// Counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

impl Surface {
    /// The surface of `shape`; a plane is a square with edges of `plane` \[m\].
    pub fn new(shape: &Shape, plane: f32) -> Self {
        let mut surface = Self::default();
        match *shape {
            Shape::Plane => surface.add_face(Vec3::Y, Vec3::new(0.5 * plane, 0.0, 0.5 * plane)),
            Shape::Box { size } => {
                for normal in [Vec3::X, Vec3::Y, Vec3::Z] {
                    surface.add_face(normal, 0.5 * size);
                    surface.add_face(-normal, 0.5 * size);
                }
            }
            Shape::Sphere { radius } => surface.add_turned(&arc(0.0, -0.5 * PI, 0.5 * PI, radius, 0.0)),
            Shape::Capsule { radius, length } => {
                let mut profile = arc(0.0, -0.5 * PI, 0.0, radius, -0.5 * length);
                profile.extend(arc(0.0, 0.0, 0.5 * PI, radius, 0.5 * length));
                surface.add_turned(&profile);
            }
            Shape::Cylinder { radius, height } => {
                let (low, high) = (-0.5 * height, 0.5 * height);
                let point = |r, y, normal| (Vec2::new(r, y), normal);
                surface.add_turned(&[point(0.0, low, -Vec2::Y), point(radius, low, -Vec2::Y)]);
                surface.add_turned(&[point(radius, low, Vec2::X), point(radius, high, Vec2::X)]);
                surface.add_turned(&[point(radius, high, Vec2::Y), point(0.0, high, Vec2::Y)]);
            }
            Shape::Torus { major, minor } => surface.add_turned(&arc(major, -PI, PI, minor, 0.0)),
        }
        surface
    }

    /// The face towards ±x, ±y or ±z of a box of half size `half`.
    fn add_face(&mut self, normal: Vec3, half: Vec3) {
        let first = self.positions.len() as u32;
        let (u, v) = (Vec3::new(normal.y, normal.z, normal.x), Vec3::new(normal.z, normal.x, normal.y));
        for (a, b) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
            self.positions.push(half * (normal + a * u + b * v));
            self.normals.push(normal);
        }
        for corners in [[0, 1, 2], [0, 2, 3]] {
            self.add_triangle(corners.map(|k| first + k));
        }
    }

    /// Turns a profile of points (distance from the axis, height) and normals about the y axis.
    fn add_turned(&mut self, profile: &[(Vec2, Vec2)]) {
        let first = self.positions.len() as u32;
        for (point, normal) in profile {
            for k in 0..SEGMENTS {
                let (sin, cos) = (TAU * k as f32 / SEGMENTS as f32).sin_cos();
                let turned = |p: Vec2| Vec3::new(p.x * cos, p.y, p.x * sin);
                self.positions.push(turned(*point));
                self.normals.push(turned(*normal).normalize());
            }
        }
        for (row, ends) in profile.windows(2).enumerate() {
            let at = |row: usize, k: u32| first + row as u32 * SEGMENTS + k % SEGMENTS;
            for k in 0..SEGMENTS {
                let [a, b, c, d] = [at(row, k), at(row, k + 1), at(row + 1, k), at(row + 1, k + 1)];
                // On the axis the row is one point, and one of the halves has no area.
                if ends[0].0.x > 0.0 {
                    self.add_triangle([a, b, c]);
                }
                if ends[1].0.x > 0.0 {
                    self.add_triangle([b, d, c]);
                }
            }
        }
    }

    /// Adds a triangle, turned so that its front is outside.
    fn add_triangle(&mut self, [a, b, c]: [u32; 3]) {
        let [p, q, r] = [a, b, c].map(|v| self.positions[v as usize]);
        let outward: Vec3 = [a, b, c].map(|v| self.normals[v as usize]).into_iter().sum();
        let front = (q - p).cross(r - p).dot(outward) > 0.0;
        self.triangles.push(if front { [a, b, c] } else { [a, c, b] });
    }
}

/// Points and normals on a circle of `radius` about (`center`, `height`), from one angle to another.
fn arc(center: f32, from: f32, to: f32, radius: f32, height: f32) -> Vec<(Vec2, Vec2)> {
    let steps = ((to - from) / TAU * SEGMENTS as f32).round() as u32;
    let point = |k| {
        let normal = Vec2::from_angle(from + (to - from) * k as f32 / steps as f32);
        let point = Vec2::new(center, height) + radius * normal;
        // Poles lie on the axis, where rounding would leave them beside it.
        let on_axis = center == 0.0 && point.x < 1e-4 * radius;
        (if on_axis { Vec2::new(0.0, point.y) } else { point }, normal)
    };
    (0..=steps).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surfaces_are_closed_lie_on_their_shapes_and_face_outwards() {
        let shapes = [
            (Shape::Sphere { radius: 0.5 }, 4.0 / 3.0 * PI * 0.125),
            (Shape::Box { size: Vec3::new(1.0, 2.0, 3.0) }, 6.0),
            (Shape::Capsule { radius: 0.5, length: 2.0 }, 4.0 / 3.0 * PI * 0.125 + PI * 0.5),
            (Shape::Cylinder { radius: 0.5, height: 2.0 }, PI * 0.5),
            (Shape::Torus { major: 2.0, minor: 0.5 }, TAU * 2.0 * PI * 0.25),
        ];
        for (shape, volume) in shapes {
            let surface = Surface::new(&shape, 1.0);
            for (x, n) in surface.positions.iter().zip(&surface.normals) {
                assert!(shape.distance(*x).0.abs() < 1e-5, "{shape:?} {x}");
                assert!(
                    (n.length() - 1.0).abs() < 1e-5 && shape.distance(*x + 0.01 * *n).0 > 0.0099,
                    "{shape:?}"
                );
            }
            let six_fold = surface.triangles.iter().map(|t| {
                let [a, b, c] = t.map(|v| surface.positions[v as usize]);
                a.cross(b).dot(c)
            });
            let found = six_fold.sum::<f32>() / 6.0;
            assert!((found / volume - 1.0).abs() < 0.01, "{shape:?}: {found}, not {volume}");
        }
        let plane = Surface::new(&Shape::Plane, 4.0);
        assert!(plane.positions.iter().all(|x| x.abs() == Vec3::new(2.0, 0.0, 2.0)));
    }
}
