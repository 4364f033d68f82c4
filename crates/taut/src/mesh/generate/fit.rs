//! Initial fit of a garment: strain, and distance from the figure.

use glam::{DMat2, DVec2, DVec3};

use super::{Garment, figure::Figure};
use crate::contact::distance::vertex_triangle;

/// Initial measures of a garment.
#[derive(Clone, Debug)]
pub struct Fit {
    /// Smallest and largest principal strain of all triangles.
    pub least: f64,
    /// Largest.
    pub most: f64,
    /// Smallest distance of a vertex from the figure \[m\]; negative inside.
    pub clearance: f64,
    /// The larger absolute strain of each triangle.
    strains: Vec<f64>,
}

impl Fit {
    /// Measures a garment on the figure in its first pose.
    pub fn measure(garment: &Garment, figure: &Figure) -> Self {
        let mut fit = Self { least: 0.0, most: 0.0, clearance: f64::MAX, strains: Vec::new() };
        for t in &garment.mesh.triangles {
            let rest = t.map(|v| garment.mesh.positions[v as usize].as_dvec3());
            let [low, high] = strains(rest, t.map(|v| garment.start[v as usize].as_dvec3()));
            fit.least = fit.least.min(low);
            fit.most = fit.most.max(high);
            fit.strains.push(high.max(-low));
        }
        let body = figure.mesh();
        let corners: Vec<[DVec3; 3]> =
            body.triangles.iter().map(|t| t.map(|v| body.positions[v as usize].as_dvec3())).collect();
        for p in garment.start.iter().map(|p| p.as_dvec3()) {
            // No corner of a triangle is further from its nearest point than its sides are long.
            let mut nearest = (f64::MAX, 0);
            for (k, &[a, b, c]) in corners.iter().enumerate() {
                if (a - p).length() - 0.05 < nearest.0 {
                    let distance = vertex_triangle(&[p, a, b, c]).squared.sqrt();
                    if distance < nearest.0 {
                        nearest = (distance, k);
                    }
                }
            }
            let [a, b, c] = corners[nearest.1];
            let outside = (b - a).cross(c - a).dot(p - a) >= 0.0;
            fit.clearance = fit.clearance.min(if outside { nearest.0 } else { -nearest.0 });
        }
        fit
    }

    /// The fraction of triangles whose strain exceeds `limit`.
    pub fn beyond(&self, limit: f64) -> f64 {
        self.strains.iter().filter(|strain| **strain > limit).count() as f64 / self.strains.len() as f64
    }
}

/// Principal strains of a triangle, the smaller one first.
fn strains([a, b, c]: [DVec3; 3], [x, y, z]: [DVec3; 3]) -> [f64; 2] {
    let along = (b - a).normalize();
    let across = (c - a).reject_from_normalized(along);
    let rest =
        DMat2::from_cols(DVec2::new((b - a).length(), 0.0), DVec2::new((c - a).dot(along), across.length()))
            .inverse();
    let u = (y - x) * rest.x_axis.x + (z - x) * rest.x_axis.y;
    let v = (y - x) * rest.y_axis.x + (z - x) * rest.y_axis.y;
    let (mean, half) = ((u.dot(u) + v.dot(v)) / 2.0, (u.dot(u) - v.dot(v)) / 2.0);
    let spread = half.hypot(u.dot(v));
    [(mean - spread).max(0.0).sqrt() - 1.0, (mean + spread).sqrt() - 1.0]
}
