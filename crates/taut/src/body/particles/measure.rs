//! What the segments of point masses have come to.

use glam::Vec3;

use crate::{
    Limit, Particles,
    measure::{BodyCertificate, StrainMeasure, past},
    mesh::lines::LineMesh,
};

/// The rest shape of point masses, prepared for measuring.
#[derive(Clone, Debug, Default)]
pub struct RestSegments {
    segments: Vec<[u32; 2]>,
    /// Lengths in the rest shape \[m\].
    lengths: Vec<f64>,
    /// Largest extent, or the diameter of a particle if that is more \[m\].
    size: f64,
}

impl RestSegments {
    /// Prepares `mesh`, drawn with `radius` \[m\].
    pub fn new(mesh: &LineMesh, radius: f32) -> Self {
        let (low, high) =
            mesh.positions.iter().fold((Vec3::MAX, Vec3::MIN), |(l, h), &p| (l.min(p), h.max(p)));
        let extent = if mesh.positions.is_empty() { 0.0 } else { (high - low).max_element() };
        Self {
            lengths: (0..mesh.segments.len()).map(|k| mesh.length(k)).collect(),
            segments: mesh.segments.clone(),
            size: f64::from(extent.max(2.0 * radius)),
        }
    }

    /// The same of segments that are `lengths` \[m\] long at rest, of a body of this `size` \[m\].
    pub(crate) fn of(segments: Vec<[u32; 2]>, lengths: Vec<f64>, size: f64) -> Self {
        Self { segments, lengths, size }
    }

    /// The length of all of them \[m\].
    pub(crate) fn length(&self) -> f64 {
        self.lengths.iter().sum()
    }

    /// About how large it is \[m\].
    pub(crate) fn size(&self) -> f64 {
        self.size
    }

    /// Measures the segments at `positions` \[m\] against the limits: stretches are those of segments, and
    /// what is said of edges is the same.
    pub fn measure(&self, positions: &[Vec3], edge: Limit) -> StrainMeasure {
        let mut m = StrainMeasure::default();
        if self.segments.is_empty() {
            (m.max_stretch, m.min_stretch, m.mean_stretch, m.mean_compression) = (1.0, 1.0, 1.0, 1.0);
            return m;
        }
        (m.min_stretch, m.max_edge_strain) = (f64::INFINITY, f64::NEG_INFINITY);
        m.min_edge_strain = f64::INFINITY;
        let mut worst = (-1.0, -1.0);
        for (k, (&[a, b], &rest)) in self.segments.iter().zip(&self.lengths).enumerate() {
            let [a_at, b_at] = [a, b].map(|v| positions[v as usize].as_dvec3());
            let stretch = if rest > 0.0 { a_at.distance(b_at) / rest } else { 1.0 };
            if stretch > m.max_stretch {
                (m.max_stretch, m.most_stretched) = (stretch, k as u32);
            }
            if stretch < m.min_stretch {
                (m.min_stretch, m.most_compressed) = (stretch, k as u32);
            }
            m.mean_stretch += stretch;
            let [below, above] = past(edge, stretch, stretch);
            let residual = below.max(above);
            m.max_edge_residual = m.max_edge_residual.max(residual);
            m.mean_edge_residual += residual;
            m.edge_violations += u64::from(residual > 1e-6);
            let badness = (residual, (stretch - 1.0).abs());
            if badness > worst {
                (worst, m.worst_edge, m.worst_element) = (badness, [a, b], k as u32);
            }
        }
        let count = self.segments.len() as f64;
        m.mean_stretch /= count;
        m.mean_edge_residual /= count;
        m.mean_compression = m.mean_stretch;
        (m.max_edge_strain, m.min_edge_strain) = (m.max_stretch - 1.0, m.min_stretch - 1.0);
        m
    }

    /// Strains of `positions` \[m\]. Energy is that of springs, which have a part of the certificate of
    /// their own: whether they are broken is not in positions.
    pub(crate) fn certify(&self, particles: &Particles, positions: &[Vec3]) -> BodyCertificate {
        BodyCertificate {
            name: particles.name.clone(),
            strain: self.measure(positions, particles.edge),
            ..BodyCertificate::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretched_segment_is_measured() {
        let mesh = LineMesh::chain(Vec3::ZERO, Vec3::X, 2);
        let rest = RestSegments::new(&mesh, 0.0);
        let limit = Limit { min: None, max: Some(0.1) };
        let positions = [Vec3::ZERO, Vec3::new(0.5, 0.0, 0.0), Vec3::new(1.1, 0.0, 0.0)];
        let measured = rest.measure(&positions, limit);
        assert!((measured.max_stretch - 1.2).abs() < 1e-6 && measured.most_stretched == 1);
        assert!((measured.max_edge_residual - 0.1).abs() < 1e-6 && measured.edge_violations == 1);
        assert_eq!((measured.worst_edge, measured.min_stretch), ([1, 2], 1.0));
        assert_eq!(RestSegments::default().measure(&[], limit).max_stretch, 1.0);
    }
}
