//! What the tetrahedra of a soft solid have come to: principal stretches, inversions, volumes around
//! vertices.

use glam::{DMat3, DVec3, Vec3};
use serde::{Deserialize, Serialize};

use crate::{
    Limit, Model, Solid,
    kernel::svd3::{Svd3, svd3_f64},
    measure::{BodyCertificate, Energy, StrainMeasure, past},
    mesh::tetrahedra::TetrahedronMesh,
    velocity::fem_tetrahedron::{lame, solid_energy},
};

/// What belongs to soft solids alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SolidMeasure {
    /// Tetrahedra that are inside out.
    pub inverted: u64,
    /// Volume of all tetrahedra \[m³\].
    pub volume: f64,
    /// Largest relative change of the volume around a vertex, that of all tetrahedra that share it.
    pub max_ring_volume_error: f64,
    /// Mean over vertices of that.
    pub mean_ring_volume_error: f64,
}

/// What one tetrahedron has come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TetrahedronMeasure {
    /// Principal stretches, the largest first (1 = at rest); the last is negative if it is inside out.
    pub stretches: [f64; 3],
    /// Direction in space of the largest one, of unit length; its sign means nothing.
    pub direction: DVec3,
    /// How far past its limits it is, at least 0.
    pub residual: f64,
}

/// The rest shape of a soft solid, prepared for measuring, in double precision.
#[derive(Clone, Debug, Default)]
pub struct RestTetrahedra {
    tetrahedra: Vec<[u32; 4]>,
    inverses: Vec<DMat3>,
    volumes: Vec<f64>,
    /// Volume around each vertex \[m³\].
    rings: Vec<f64>,
}

/// Edges from the first corner.
fn edges([a, b, c, d]: [DVec3; 4]) -> DMat3 {
    DMat3::from_cols(b - a, c - a, d - a)
}

impl RestTetrahedra {
    /// Prepares `mesh`. Tetrahedra without volume measure as at rest; the checks refuse them before.
    pub fn new(mesh: &TetrahedronMesh) -> Self {
        let mut rest = Self { tetrahedra: mesh.tetrahedra.clone(), ..Self::default() };
        rest.rings.resize(mesh.positions.len(), 0.0);
        for tetrahedron in &mesh.tetrahedra {
            let edges = edges(tetrahedron.map(|v| mesh.positions[v as usize].as_dvec3()));
            let inverse = edges.inverse();
            let volume = edges.determinant() / 6.0;
            rest.inverses.push(if inverse.is_finite() { inverse } else { DMat3::ZERO });
            rest.volumes.push(volume);
            tetrahedron.iter().for_each(|&v| rest.rings[v as usize] += volume);
        }
        rest
    }

    /// About how large it is: the cubic root of its volume \[m\].
    pub(crate) fn size(&self) -> f64 {
        self.volumes.iter().sum::<f64>().cbrt()
    }

    /// Strains, volumes and stored energy of `positions` \[m\].
    pub(crate) fn certify(&self, solid: &Solid, positions: &[Vec3]) -> BodyCertificate {
        let [young, poisson] = [solid.material.young, solid.material.poisson].map(f64::from);
        BodyCertificate {
            name: solid.name.clone(),
            strain: self.measure(positions, solid.strain),
            solid: Some(self.measure_volumes(positions)),
            energy: match solid.model {
                // A stiffness from 0 to 1 stores no energy.
                Model::Pbd(_) => Energy::default(),
                _ => Energy { stretch: self.energy(positions, lame(young, poisson)), ..Energy::default() },
            },
            ..BodyCertificate::default()
        }
    }

    /// Number of tetrahedra.
    pub fn len(&self) -> usize {
        self.tetrahedra.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tetrahedra.is_empty()
    }

    /// Volume of tetrahedron `t` at rest \[m³\].
    pub fn volume(&self, t: usize) -> f64 {
        self.volumes[t]
    }

    /// Vertices of tetrahedron `t`.
    pub fn corners(&self, t: usize) -> [u32; 4] {
        self.tetrahedra[t]
    }

    fn edges(&self, t: usize, positions: &[Vec3]) -> DMat3 {
        edges(self.tetrahedra[t].map(|v| positions[v as usize].as_dvec3()))
    }

    /// Measures tetrahedron `t` against its limits.
    pub fn tetrahedron(&self, t: usize, positions: &[Vec3], strain: Limit) -> TetrahedronMeasure {
        let inverse = self.inverses[t];
        let f = if inverse == DMat3::ZERO { DMat3::IDENTITY } else { self.edges(t, positions) * inverse };
        let Svd3 { u, s, .. } = svd3_f64(f);
        let [below, above] = past(strain, s.x, s.z);
        let residual = below.max(above);
        TetrahedronMeasure { stretches: s.to_array(), direction: u.x_axis, residual }
    }

    /// Measures `positions` against the limits. Solids have no limits on edges: what is said of edges stays
    /// 0.
    pub fn measure(&self, positions: &[Vec3], strain: Limit) -> StrainMeasure {
        let mut m = StrainMeasure { min_stretch: f64::INFINITY, ..StrainMeasure::default() };
        let mut worst = (-1.0, -1.0);
        for t in 0..self.tetrahedra.len() {
            let TetrahedronMeasure { stretches: [larger, _, smaller], residual, .. } =
                self.tetrahedron(t, positions, strain);
            if larger > m.max_stretch {
                (m.max_stretch, m.most_stretched) = (larger, t as u32);
            }
            if smaller < m.min_stretch {
                (m.min_stretch, m.most_compressed) = (smaller, t as u32);
            }
            m.mean_stretch += larger;
            m.mean_compression += smaller;
            m.add_residuals(past(strain, larger, smaller));
            let badness = (residual, (larger - 1.0).max(1.0 - smaller));
            if badness > worst {
                (worst, m.worst_element) = (badness, t as u32);
            }
        }
        let count = self.tetrahedra.len().max(1) as f64;
        m.mean_stretch /= count;
        m.mean_compression /= count;
        m.mean_residual /= count;
        m.mean_compression_residual /= count;
        m
    }

    /// Elastic energy \[J\] with Lamé's parameters λ and μ \[Pa\].
    pub fn energy(&self, positions: &[Vec3], lame: [f64; 2]) -> f64 {
        (0..self.tetrahedra.len())
            .map(|t| {
                let x = self.tetrahedra[t].map(|v| positions[v as usize].as_dvec3().to_array());
                let rest = self.inverses[t].to_cols_array_2d();
                solid_energy(&x, &rest, lame.map(|modulus| modulus * self.volumes[t]))
            })
            .sum()
    }

    /// Measures volumes.
    pub fn measure_volumes(&self, positions: &[Vec3]) -> SolidMeasure {
        let mut measure = SolidMeasure::default();
        let mut rings = vec![0.0; self.rings.len()];
        for (t, tetrahedron) in self.tetrahedra.iter().enumerate() {
            let volume = self.edges(t, positions).determinant() / 6.0;
            measure.volume += volume;
            measure.inverted += u64::from(volume < 0.0);
            tetrahedron.iter().for_each(|&v| rings[v as usize] += volume);
        }
        let mut count = 0.0;
        for (now, rest) in rings.iter().zip(&self.rings).filter(|(_, rest)| **rest > 0.0) {
            let error = (now / rest - 1.0).abs();
            measure.max_ring_volume_error = measure.max_ring_volume_error.max(error);
            measure.mean_ring_volume_error += error;
            count += 1.0;
        }
        measure.mean_ring_volume_error /= f64::max(count, 1.0);
        measure
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> TetrahedronMesh {
        let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE];
        TetrahedronMesh { positions, tetrahedra: vec![[0, 1, 2, 3], [1, 2, 3, 4]] }
    }

    #[test]
    fn a_known_deformation_is_measured() {
        let rest = RestTetrahedra::new(&two());
        let limit = Limit { min: Some(-0.1), max: Some(0.1) };
        let positions: Vec<Vec3> = two().positions.iter().map(|x| *x * Vec3::new(1.25, 1.0, 0.75)).collect();
        for t in 0..2 {
            let m = rest.tetrahedron(t, &positions, limit);
            let wanted = [1.25, 1.0, 0.75];
            assert!((0..3).all(|k| (m.stretches[k] - wanted[k]).abs() < 1e-12), "{m:?}");
            assert!((m.residual - 0.15).abs() < 1e-7 && (m.direction.x.abs() - 1.0).abs() < 1e-12);
        }
        let all = rest.measure(&positions, limit);
        assert_eq!((all.violations, all.max_edge_strain), (2, 0.0));
        assert!((all.mean_stretch - 1.25).abs() < 1e-12 && (all.min_stretch - 0.75).abs() < 1e-12);
    }

    #[test]
    fn what_is_inside_out_has_a_negative_stretch() {
        let rest = RestTetrahedra::new(&two());
        // The first corner goes through the face that both share.
        let mut positions = two().positions;
        positions[0] = Vec3::splat(0.5);
        assert!(rest.tetrahedron(0, &positions, Limit::default()).stretches[2] < 0.0);
        let solid = rest.measure_volumes(&positions);
        assert_eq!(solid.inverted, 1);
        assert!((solid.volume - (1.0 / 3.0 - 1.0 / 12.0)).abs() < 1e-12);
        // Around the first corner, 1/6 has become -1/12.
        assert!((solid.max_ring_volume_error - 1.5).abs() < 1e-12);
        assert_eq!(rest.measure_volumes(&two().positions).max_ring_volume_error, 0.0);
    }
}
