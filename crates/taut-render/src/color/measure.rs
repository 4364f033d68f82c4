//! Strain of every triangle of a body, as the certificate measures it.

use glam::Vec3;
use taut::{Cloth, Limit, measure::RestShape, mesh::TriangleMesh};

/// Measurements of a triangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// Principal strains, the larger first (0 = at rest).
    pub strains: [f32; 2],
    /// Excess of the worse of them past its limit, at least 0.
    pub residual: f32,
    /// The same past lower and past upper limits alone.
    pub residuals: [f32; 2],
    /// Angle, in the rest shape, of the direction of the strain whose magnitude is larger, from the x axis
    /// (from the z axis where the triangle faces along x), −π to π \[radians\].
    pub angle: f32,
}

/// The rest shape of a body, prepared for measuring.
#[derive(Clone, Debug)]
pub struct Gauge {
    rest: RestShape,
    /// First edge, and its perpendicular, of each triangle, in coordinates along the reference directions.
    frames: Vec<[[f32; 2]; 2]>,
    limit: Limit,
    vertices: usize,
}

impl Gauge {
    /// Prepares `mesh` with the limits of `cloth`, or none.
    ///
    /// # Errors
    /// If the cloth has limits along its threads, and a triangle has no threads.
    pub fn new(mesh: &TriangleMesh, cloth: Option<&Cloth>) -> Result<Self, String> {
        let mut rest = RestShape::new(mesh, Vec::new());
        if let Some(cloth) = cloth.filter(|cloth| cloth.elements().len() == mesh.triangles.len()) {
            rest = rest.woven(cloth.weave_ranges()?);
        }
        let frames = mesh.triangles.iter().map(|t| frame(t.map(|v| mesh.positions[v as usize]))).collect();
        let limit = cloth.map_or(Limit::default(), |cloth| cloth.strain);
        Ok(Self { rest, frames, limit, vertices: mesh.positions.len() })
    }

    /// The same with another limit in all directions.
    #[must_use]
    pub fn with_limit(self, limit: Limit) -> Self {
        Self { limit, ..self }
    }

    /// Measures a frame. `None` if its vertices do not match the rest shape.
    pub fn measure(&self, positions: &[Vec3]) -> Option<Vec<Measured>> {
        if positions.len() != self.vertices {
            return None;
        }
        let measure = |t: usize| {
            let measure = self.rest.triangle(t, positions, self.limit);
            let strains = measure.stretches.map(|s| (s - 1.0) as f32);
            // The second direction is the first rotated to the left.
            let [x, y] = measure.rest_direction.as_vec2().to_array();
            let [x, y] = if strains[1].abs() > strains[0].abs() { [-y, x] } else { [x, y] };
            let [e, n] = self.frames[t];
            Measured {
                strains,
                residual: measure.residual as f32,
                residuals: measure.residuals.map(|past| past as f32),
                angle: (x * e[1] + y * n[1]).atan2(x * e[0] + y * n[0]),
            }
        };
        Some((0..self.frames.len()).map(measure).collect())
    }
}

/// The first edge of a triangle and the direction to its left, each by its components along the reference
/// direction in its plane and to the left of that.
fn frame([a, b, c]: [Vec3; 3]) -> [[f32; 2]; 2] {
    let normal = (b - a).cross(c - a).normalize_or(Vec3::Y);
    let axis = if normal.x.abs() < 0.9 { Vec3::X } else { Vec3::Z };
    let reference = (axis - normal * axis.dot(normal)).normalize_or(Vec3::X);
    let left = normal.cross(reference);
    let edge = (b - a).normalize_or(reference);
    let other = normal.cross(edge);
    [edge, other].map(|d| [d.dot(reference), d.dot(left)])
}

/// Means of the values of triangles at their vertices, weighted by rest area.
pub fn at_vertices(values: &[f32], mesh: &TriangleMesh) -> Vec<f32> {
    let mut sums = vec![[0.0f32; 2]; mesh.positions.len()];
    for (t, &value) in mesh.triangles.iter().zip(values) {
        let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
        let area = (b - a).cross(c - a).length();
        for &v in t {
            let sum = &mut sums[v as usize];
            *sum = [sum[0] + area * value, sum[1] + area];
        }
    }
    sums.iter().map(|[sum, area]| if *area > 0.0 { sum / area } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{color::Coloring, scene::srgb};
    use taut::Material;

    /// One triangle in the plane y = 0, facing up.
    fn triangle() -> TriangleMesh {
        let positions = vec![Vec3::ZERO, Vec3::Z, Vec3::X];
        TriangleMesh { positions, triangles: vec![[0, 1, 2]], ..TriangleMesh::default() }
    }

    fn gauge(max: f32) -> Gauge {
        let mut cloth = Cloth::new("c", triangle(), Material::named("polyester").unwrap());
        cloth.strain = Limit { min: Some(-0.05), max: Some(max) };
        Gauge::new(&triangle(), Some(&cloth)).unwrap()
    }

    #[test]
    fn a_known_stretch_is_measured_with_its_direction() {
        let stretched = |scale: Vec3| triangle().positions.iter().map(|&p| p * scale).collect::<Vec<_>>();
        let along_x = gauge(0.05).measure(&stretched(Vec3::new(1.2, 1.0, 1.0))).unwrap()[0];
        assert!((along_x.strains[0] - 0.2).abs() < 1e-6 && along_x.strains[1].abs() < 1e-6);
        assert!((along_x.residual - 0.15).abs() < 1e-6);
        assert!(along_x.angle.sin().abs() < 1e-5, "along x: {}", along_x.angle);
        let along_z = gauge(0.05).measure(&stretched(Vec3::new(1.0, 1.0, 1.2))).unwrap()[0];
        assert!(along_z.angle.cos().abs() < 1e-5, "along z: {}", along_z.angle);
        let pushed = gauge(0.05).measure(&stretched(Vec3::new(0.7, 1.0, 1.1))).unwrap()[0];
        assert!((pushed.strains[1] + 0.3).abs() < 1e-6 && (pushed.residual - 0.25).abs() < 1e-6);
        assert!(pushed.angle.sin().abs() < 1e-5, "the larger strain is along x: {}", pushed.angle);
        assert_eq!(gauge(0.05).measure(&[Vec3::ZERO]), None);
    }

    #[test]
    fn a_known_stretch_has_its_colour() {
        let stretched: Vec<Vec3> =
            triangle().positions.iter().map(|&p| p * Vec3::new(1.2, 1.0, 1.0)).collect();
        let m = gauge(0.1).measure(&stretched).unwrap()[0];
        // Along x: red; a single strain: fully saturated; residual as large as the range: bright.
        let close = |a: Vec3, b: Vec3| (a - b).abs().max_element() < 0.02;
        assert!(close(Coloring::Hsv.color(&m, 0.1), srgb(255, 0, 0)));
        assert!(close(Coloring::Hsv.color(&m, 0.2), srgb(128, 0, 0)));
        assert!(close(Coloring::Strain.color(&m, 0.2), srgb(146, 22, 42)));
        assert!(close(Coloring::Overstretch.color(&m, 0.2), srgb(206, 20, 24)));
        assert!(close(Coloring::Residual.color(&m, 0.1), srgb(104, 14, 38)));
        let at_rest = gauge(0.1).measure(&triangle().positions).unwrap()[0];
        assert_eq!(Coloring::Hsv.color(&at_rest, 0.1), Vec3::ZERO, "within its limits: black");
        let both: Vec<Vec3> = triangle().positions.iter().map(|&p| p * 1.3).collect();
        let m = gauge(0.1).measure(&both).unwrap()[0];
        assert!(close(Coloring::Hsv.color(&m, 0.2), Vec3::ONE), "the same both ways has no direction: white");
    }

    #[test]
    fn vertices_take_the_mean_of_their_triangles() {
        let positions = vec![Vec3::ZERO, Vec3::Z, Vec3::X, Vec3::new(1.0, 0.0, 1.0)];
        let mesh =
            TriangleMesh { positions, triangles: vec![[0, 1, 2], [2, 1, 3]], ..TriangleMesh::default() };
        assert_eq!(at_vertices(&[1.0, 3.0], &mesh), [1.0, 2.0, 2.0, 3.0]);
    }
}
