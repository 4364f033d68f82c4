//! What developable cloth has come to beside the strain of its triangles: how far these have come apart, and
//! what that does to what is shown.

use glam::{DVec3, Vec3};
use serde::{Deserialize, Serialize};

use super::RestShape;
use crate::{Limit, mesh::midpoints::Midpoints};

/// How far the triangles of developable cloth have come apart, and the strain of what is shown, which no
/// limit holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MidpointCertificate {
    /// Largest distance of the corners of two triangles at the ends of their edge, over its length.
    pub max_jump: f64,
    /// Mean over all inner edges between such triangles.
    pub mean_jump: f64,
    /// Largest principal strain of a shown triangle.
    pub max_shown_strain: f64,
    /// Smallest principal strain of a shown triangle.
    pub min_shown_strain: f64,
}

/// Rest tables of what is shown.
#[derive(Clone, Debug)]
pub(crate) struct ShownShape {
    shape: RestShape,
    /// Jumps as sums of points, with one over the length of the edge \[1/m\].
    jumps: Vec<(Vec<(u32, f64)>, f64)>,
}

impl ShownShape {
    /// Of cloth with these midpoints.
    pub fn new(midpoints: &Midpoints) -> Self {
        let jumps = midpoints.edges.iter();
        let jumps = jumps.filter_map(|edge| Some((midpoints.jump(edge)?, midpoints.length(edge).recip())));
        Self { shape: RestShape::new(&midpoints.shown, Vec::new()), jumps: jumps.collect() }
    }

    /// Measures `points` \[m\].
    pub fn measure(&self, midpoints: &Midpoints, points: &[Vec3]) -> MidpointCertificate {
        let jump = |(sum, rate): &(Vec<(u32, f64)>, f64)| {
            let apart: DVec3 = sum.iter().map(|&(v, weight)| weight * points[v as usize].as_dvec3()).sum();
            rate * apart.length()
        };
        let (max, sum) = self.jumps.iter().map(jump).fold((0.0f64, 0.0), |(m, s), j| (m.max(j), s + j));
        let shown = midpoints.to_shown(points);
        let strain = self.shape.measure(&shown, Limit::default(), Limit::default());
        MidpointCertificate {
            max_jump: max,
            mean_jump: sum / self.jumps.len().max(1) as f64,
            max_shown_strain: strain.max_stretch - 1.0,
            min_shown_strain: strain.min_stretch - 1.0,
        }
    }
}
