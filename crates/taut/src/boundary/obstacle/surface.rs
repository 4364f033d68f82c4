//! Triangle surfaces of shapes, for drawing and export: smooth where the shape is round, with sharp edges
//! where it is not.

use std::f32::consts::{PI, TAU};

use glam::{Vec2, Vec3};

use super::Shape;

/// Segments of a full turn: enough that outlines look round.
const SEGMENTS_PER_TURN: u32 = 72;

/// Triangles with a normal at each vertex.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Vertices \[m\].
    pub positions: Vec<Vec3>,
    /// Unit normals, outwards.
    pub normals: Vec<Vec3>,
    /// Triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// A point (distance from the axis, height) \[m\] and its normal.
type Outline = (Vec2, Vec2);

impl Shape {
    /// Its surface, relative to its origin; that of a plane is a square that extends `reach` \[m\] to each
    /// side.
    pub fn surface(&self, reach: f32) -> Surface {
        let mut surface = Surface::default();
        match *self {
            Self::Plane => surface.add_face(Vec3::Y, Vec3::new(reach, 0.0, reach)),
            Self::Box { size } => {
                for normal in [Vec3::X, Vec3::Y, Vec3::Z] {
                    surface.add_face(normal, 0.5 * size);
                    surface.add_face(-normal, 0.5 * size);
                }
            }
            Self::Sphere { radius } => surface.add_turned(&half_circle(radius, 0.0), false),
            Self::Capsule { radius, length } => surface.add_turned(&half_circle(radius, 0.5 * length), false),
            Self::Cylinder { radius, height } => {
                let (low, high) = (-0.5 * height, 0.5 * height);
                let point = |r, y, normal| (Vec2::new(r, y), normal);
                surface.add_turned(&[point(0.0, low, -Vec2::Y), point(radius, low, -Vec2::Y)], false);
                surface.add_turned(&[point(radius, low, Vec2::X), point(radius, high, Vec2::X)], false);
                surface.add_turned(&[point(radius, high, Vec2::Y), point(0.0, high, Vec2::Y)], false);
            }
            Self::Torus { major, minor } => {
                // A tube is thin: half as many segments are enough.
                let steps = SEGMENTS_PER_TURN / 2;
                let normals = (0..steps).map(|k| Vec2::from_angle(TAU * k as f32 / steps as f32));
                let circle: Vec<Outline> = normals.map(|n| (major * Vec2::X + minor * n, n)).collect();
                surface.add_turned(&circle, true);
            }
        }
        surface
    }
}

/// Half a circle from the lower pole to the upper, with its halves shifted by `lift` \[m\] down and up.
fn half_circle(radius: f32, lift: f32) -> Vec<Outline> {
    let quarter = SEGMENTS_PER_TURN / 4;
    let point = |k: u32, lift: f32| {
        let normal = Vec2::from_angle(0.5 * PI * (k as f32 / quarter as f32 - 1.0));
        // Poles lie on the axis; rounding would leave them beside it.
        let normal = if k == 0 || k == 2 * quarter { Vec2::new(0.0, normal.y) } else { normal };
        (radius * normal + lift * Vec2::Y, normal)
    };
    // Without a straight part in between, both have the same points on the equator.
    let above = quarter + u32::from(lift == 0.0);
    let lower = (0..=quarter).map(|k| point(k, -lift));
    lower.chain((above..=2 * quarter).map(|k| point(k, lift))).collect()
}

impl Surface {
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

    /// Revolves an outline about the y axis; the last point of a `closed` one is followed by the first.
    fn add_turned(&mut self, outline: &[Outline], closed: bool) {
        let first = self.positions.len() as u32;
        for (point, normal) in outline {
            for k in 0..SEGMENTS_PER_TURN {
                let (sin, cos) = (TAU * k as f32 / SEGMENTS_PER_TURN as f32).sin_cos();
                let turned = |p: Vec2| Vec3::new(p.x * cos, p.y, p.x * sin);
                self.positions.push(turned(*point));
                self.normals.push(turned(*normal).normalize());
            }
        }
        for row in 0..outline.len() - usize::from(!closed) {
            let next = (row + 1) % outline.len();
            let at = |row: usize, k: u32| first + row as u32 * SEGMENTS_PER_TURN + k % SEGMENTS_PER_TURN;
            for k in 0..SEGMENTS_PER_TURN {
                let [a, b, c, d] = [at(row, k), at(row, k + 1), at(next, k), at(next, k + 1)];
                // On the axis the row is one point, and one of the halves has no area.
                if outline[row].0.x > 0.0 {
                    self.add_triangle([a, b, c]);
                }
                if outline[next].0.x > 0.0 {
                    self.add_triangle([b, d, c]);
                }
            }
        }
    }

    /// Adds a triangle, oriented so that its front is outside.
    fn add_triangle(&mut self, [a, b, c]: [u32; 3]) {
        let [p, q, r] = [a, b, c].map(|v| self.positions[v as usize]);
        let outward: Vec3 = [a, b, c].map(|v| self.normals[v as usize]).into_iter().sum();
        let front = (q - p).cross(r - p).dot(outward) > 0.0;
        self.triangles.push(if front { [a, b, c] } else { [a, c, b] });
    }
}

#[cfg(test)]
mod tests {
    use super::{super::tests::shapes, *};

    #[test]
    fn surfaces_are_closed_lie_on_their_shapes_and_face_outwards() {
        for shape in shapes() {
            let surface = shape.surface(2.0);
            for (&p, &n) in surface.positions.iter().zip(&surface.normals) {
                assert!(shape.distance(p).0.abs() < 1e-5, "{shape:?} {p}");
                assert!((n.length() - 1.0).abs() < 1e-5);
                // Slightly outside, the distance grows along the normal.
                assert!((shape.distance(p + n * 0.01).0 - 0.01).abs() < 1e-4, "{shape:?} {p} {n}");
            }
            let (mut area, mut volume) = (0.0, 0.0);
            for t in &surface.triangles {
                let [a, b, c] = t.map(|v| surface.positions[v as usize]);
                let face = (b - a).cross(c - a);
                let normal: Vec3 = t.iter().map(|&v| surface.normals[v as usize]).sum();
                assert!(face.dot(normal) > 0.0, "{shape:?} {t:?}");
                area += 0.5 * face.length();
                volume += a.cross(b).dot(c) / 6.0;
            }
            let ball = |r: f32| [4.0 * PI * r * r, 4.0 / 3.0 * PI * r * r * r];
            let [exact_area, exact_volume] = match shape {
                Shape::Plane => [16.0, 0.0],
                Shape::Sphere { radius } => ball(radius),
                Shape::Box { size } => {
                    [2.0 * size.dot(Vec3::new(size.y, size.z, size.x)), size.element_product()]
                }
                Shape::Capsule { radius: r, length } => {
                    [ball(r)[0] + TAU * r * length, ball(r)[1] + PI * r * r * length]
                }
                Shape::Cylinder { radius: r, height } => [TAU * r * (r + height), PI * r * r * height],
                Shape::Torus { major, minor } => {
                    [TAU * TAU * major * minor, TAU * major * PI * minor * minor]
                }
            };
            assert!((area / exact_area - 1.0).abs() < 3e-3, "{shape:?}: {area}, not {exact_area}");
            assert!(
                (volume - exact_volume).abs() <= 0.01 * exact_volume,
                "{shape:?}: {volume}, not {exact_volume}"
            );
        }
        let plane = Shape::Plane.surface(2.0);
        assert!(plane.positions.iter().all(|x| x.abs() == Vec3::new(2.0, 0.0, 2.0)));
    }
}
