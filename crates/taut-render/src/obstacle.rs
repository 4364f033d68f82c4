//! Solid shapes as triangles, with smooth normals where the shape is round and sharp edges where it is not.

use std::f32::consts::{PI, TAU};

use glam::Vec3;
use taut::boundary::obstacle::Shape;

/// Segments around a round shape: enough that outlines look round.
const AROUND: u32 = 72;

/// Triangles with a normal at each vertex.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Solid {
    /// Vertices about the shape's origin \[m\].
    pub positions: Vec<Vec3>,
    /// Unit normals, outwards.
    pub normals: Vec<Vec3>,
    /// Triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// The surface of `shape`; a plane is a square, `extent` \[m\] to each side.
pub fn tessellate(shape: &Shape, extent: f32) -> Solid {
    let mut solid = Solid::default();
    match *shape {
        Shape::Plane => {
            let corner = |x: f32, z: f32| (Vec3::new(x * extent, 0.0, z * extent), Vec3::Y);
            solid.patch([1, 1], |u, v| corner(2.0 * u - 1.0, 1.0 - 2.0 * v));
        }
        Shape::Sphere { radius } => solid.patch([AROUND, AROUND / 2], |u, v| {
            let n = ball(u * TAU, (v - 0.5) * PI);
            (n * radius, n)
        }),
        Shape::Box { size } => solid.cuboid(0.5 * size),
        Shape::Capsule { radius, length } => {
            let rows = AROUND / 2 + 1;
            solid.patch([AROUND, rows], |u, v| {
                // One row of the patch is the straight part in the middle.
                let row = (v * rows as f32).round();
                let half = (rows - 1) as f32 / 2.0;
                let (latitude, lift) = if row <= half {
                    ((row / half - 1.0) * 0.5 * PI, -0.5 * length)
                } else {
                    ((row - half - 1.0) / half * 0.5 * PI, 0.5 * length)
                };
                let n = ball(u * TAU, latitude);
                (n * radius + Vec3::Y * lift, n)
            });
        }
        Shape::Cylinder { radius, height } => {
            let out = |u: f32| ball(u * TAU, 0.0);
            solid.patch([AROUND, 1], |u, v| (out(u) * radius + Vec3::Y * (v - 0.5) * height, out(u)));
            for side in [-1.0, 1.0] {
                let center = Vec3::Y * (0.5 * height * side);
                solid.patch([AROUND, 1], |u, v| {
                    let reach = if side > 0.0 { 1.0 - v } else { v };
                    (out(u) * (radius * reach) + center, Vec3::Y * side)
                });
            }
        }
        Shape::Torus { major, minor } => solid.patch([AROUND, AROUND / 2], |u, v| {
            let (around, n) = (ball(u * TAU, 0.0), ball(u * TAU, v * TAU));
            (around * major + n * minor, n)
        }),
    }
    solid
}

/// A point of the unit ball by longitude and latitude \[radians\].
fn ball(longitude: f32, latitude: f32) -> Vec3 {
    let (s, c) = longitude.sin_cos();
    let (up, out) = latitude.sin_cos();
    Vec3::new(out * s, up, out * c)
}

impl Solid {
    /// A patch of `cells`, by position and normal at u and v of 0 to 1; seen from outside u goes right and v up.
    fn patch(&mut self, cells: [u32; 2], at: impl Fn(f32, f32) -> (Vec3, Vec3)) {
        let first = self.positions.len() as u32;
        for j in 0..=cells[1] {
            for i in 0..=cells[0] {
                let (p, n) = at(i as f32 / cells[0] as f32, j as f32 / cells[1] as f32);
                self.positions.push(p);
                self.normals.push(n);
            }
        }
        for j in 0..cells[1] {
            for i in 0..cells[0] {
                let a = first + j * (cells[0] + 1) + i;
                let c = a + cells[0] + 1;
                self.triangles.extend([[a, a + 1, c + 1], [a, c + 1, c]]);
            }
        }
    }

    fn cuboid(&mut self, half: Vec3) {
        for axis in 0..3 {
            for side in [-1.0, 1.0] {
                let (mut n, mut x, mut y) = (Vec3::ZERO, Vec3::ZERO, Vec3::ZERO);
                n[axis] = side;
                x[(axis + 1) % 3] = side;
                y[(axis + 2) % 3] = 1.0;
                self.patch([1, 1], |u, v| (half * (n + x * (2.0 * u - 1.0) + y * (2.0 * v - 1.0)), n));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_lies_on_its_surface_and_faces_out() {
        for shape in [
            Shape::Plane,
            Shape::Sphere { radius: 0.7 },
            Shape::Box { size: Vec3::new(1.0, 0.6, 1.4) },
            Shape::Capsule { radius: 0.4, length: 0.8 },
            Shape::Cylinder { radius: 0.6, height: 0.9 },
            Shape::Torus { major: 0.8, minor: 0.3 },
        ] {
            let solid = tessellate(&shape, 2.0);
            for (&p, &n) in solid.positions.iter().zip(&solid.normals) {
                assert!(shape.distance(p).0.abs() < 1e-5, "{shape:?} {p}");
                assert!((n.length() - 1.0).abs() < 1e-5);
                // A little outside, the distance grows along the normal.
                assert!((shape.distance(p + n * 0.01).0 - 0.01).abs() < 1e-4, "{shape:?} {p} {n}");
            }
            let mut area = 0.0;
            for t in &solid.triangles {
                let [a, b, c] = t.map(|v| solid.positions[v as usize]);
                let face = (b - a).cross(c - a);
                let normal: Vec3 = t.iter().map(|&v| solid.normals[v as usize]).sum();
                // The poles of a ball have triangles without area.
                assert!(face.dot(normal) > 0.0 || face.length() < 1e-9, "{shape:?} {t:?}");
                area += 0.5 * face.length();
            }
            let (r, h) = (0.6f32, 0.9f32);
            let exact = match shape {
                Shape::Plane => 16.0,
                Shape::Sphere { radius } => 4.0 * PI * radius * radius,
                Shape::Box { .. } => 2.0 * (0.6 + 0.6 * 1.4 + 1.4),
                Shape::Capsule { radius, length } => TAU * radius * (2.0 * radius + length),
                Shape::Cylinder { .. } => TAU * r * (r + h),
                Shape::Torus { major, minor } => TAU * TAU * major * minor,
            };
            assert!((area / exact - 1.0).abs() < 3e-3, "{shape:?}: {area} {exact}");
        }
    }
}
