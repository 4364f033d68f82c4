//! Strain of the tetrahedra of a soft body, as the certificate measures it, on its display surface.

use glam::Vec3;
use taut::{Limit, Solid, measure::RestTetrahedra, mesh::tetrahedra::TetrahedronMesh};

use super::Coloring;

/// The rest shape of a soft body, prepared for measuring.
#[derive(Clone, Debug)]
pub struct SoftGauge {
    rest: RestTetrahedra,
    limit: Limit,
}

impl SoftGauge {
    /// Prepares `mesh` with the limits of `solid`, or none.
    pub fn new(mesh: &TetrahedronMesh, solid: Option<&Solid>) -> Self {
        let limit = solid.map(|solid| solid.strain).unwrap_or_default();
        Self { rest: RestTetrahedra::new(mesh), limit }
    }

    /// The value of `coloring` at each of `positions`: the volume-weighted mean over the tetrahedra around
    /// it, or the largest residual.
    pub fn at_vertices(&self, positions: &[Vec3], coloring: Coloring) -> Vec<f32> {
        let mut sums = vec![[0.0_f64; 2]; positions.len()];
        for t in 0..self.rest.len() {
            let measured = self.rest.tetrahedron(t, positions, self.limit);
            let [largest, _, smallest] = measured.stretches.map(|s| s - 1.0);
            let value = match coloring {
                // The one that is further from rest.
                Coloring::Strain if -smallest > largest => smallest,
                Coloring::Strain => largest,
                Coloring::Overstretch => largest.max(0.0),
                _ => measured.residual,
            };
            for v in self.rest.corners(t) {
                let [sum, weight] = &mut sums[v as usize];
                if coloring == Coloring::Residual {
                    (*sum, *weight) = (sum.max(value), 1.0);
                } else {
                    *sum += self.rest.volume(t) * value;
                    *weight += self.rest.volume(t);
                }
            }
        }
        sums.iter().map(|[sum, weight]| if *weight > 0.0 { (sum / weight) as f32 } else { 0.0 }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use taut::SolidMaterial;

    #[test]
    fn vertices_take_the_mean_of_their_tetrahedra_and_the_largest_residual() {
        let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::new(-1.0, 0.0, 0.0)];
        let mesh = TetrahedronMesh { positions, tetrahedra: vec![[0, 1, 2, 3], [0, 2, 4, 3]] };
        let mut solid = Solid::new("s", mesh.clone(), SolidMaterial::named("foam").unwrap());
        solid.strain = Limit { min: Some(-0.1), max: Some(0.1) };
        let gauge = SoftGauge::new(&mesh, Some(&solid));
        // The first is stretched by 30 %, the second compressed by half; both have the same volume.
        let mut positions = mesh.positions.clone();
        positions[1].x = 1.3;
        positions[4].x = -0.5;
        let close = |values: Vec<f32>, wanted: [f32; 5]| {
            assert!(values.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-6), "{values:?} {wanted:?}");
        };
        close(gauge.at_vertices(&positions, Coloring::Strain), [-0.1, 0.3, -0.1, -0.1, -0.5]);
        close(gauge.at_vertices(&positions, Coloring::Overstretch), [0.15, 0.3, 0.15, 0.15, 0.0]);
        close(gauge.at_vertices(&positions, Coloring::Residual), [0.4, 0.2, 0.4, 0.4, 0.4]);
    }
}
