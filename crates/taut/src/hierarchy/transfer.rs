//! Restriction and prolongation between a level and the next finer one (Wang et al. 2010, section 4.1).
//!
//! Each fine vertex is interpolated from the coarse triangle that is closest *on the surface*: the search
//! starts at the coarse vertex into which the fine one was merged and walks from triangle to triangle while
//! that gets closer, entering none that faces the other way. Then every vertex also tries the triangles of
//! its neighbours, which corrects walks that ended in a local minimum. Layers that are close in space are far
//! on the surface, and are not confused.
//!
//! Only corrections are prolonged (Tang et al., Algorithm 2): detail of the fine mesh is never overwritten.

use glam::{DVec3, Vec3};

use super::coarsen::Coarsener;
use super::halfedge::NONE;
use super::surface::{Hit, Surface};

/// For each vertex of the next finer level: the vertices of the closest element of this level, and
/// barycentric weights. Elements have three corners on surfaces, and four where there are solids.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transfer<const K: usize = 3> {
    /// Vertices of this level.
    pub corners: Vec<[u32; K]>,
    /// Each within \[0, 1\], with sum 1; all 0 for a vertex that no element uses.
    pub weights: Vec<[f32; K]>,
}

/// Triangles as elements with an unused fourth corner.
impl From<Transfer> for Transfer<4> {
    fn from(surface: Transfer) -> Self {
        Self {
            corners: surface.corners.into_iter().map(|[a, b, c]| [a, b, c, a]).collect(),
            weights: surface.weights.into_iter().map(|[a, b, c]| [a, b, c, 0.0]).collect(),
        }
    }
}

impl Transfer {
    /// Adds the interpolated corrections `coarse` to `fine`. Where all three are zero, `fine` keeps its bits.
    pub fn upsample(&self, coarse: &[Vec3], fine: &mut [Vec3]) {
        for ((value, corners), weights) in fine.iter_mut().zip(&self.corners).zip(&self.weights) {
            let [a, b, c] = corners.map(|v| coarse[v as usize]);
            let correction = a * weights[0] + b * weights[1] + c * weights[2];
            // Adding zero would turn -0 into 0.
            if correction != Vec3::ZERO {
                *value += correction;
            }
        }
    }

    /// Sets `coarse` to the weighted averages of `fine`: the transpose of [`upsample`](Self::upsample), each
    /// row divided by its sum. Constants are preserved, as positions and velocities require. Coarse vertices
    /// without fine ones keep their values.
    pub fn downsample(&self, fine: &[Vec3], coarse: &mut [Vec3]) {
        let mut sums = vec![(Vec3::ZERO, 0f32); coarse.len()];
        for ((&value, corners), weights) in fine.iter().zip(&self.corners).zip(&self.weights) {
            for k in 0..3 {
                let sum = &mut sums[corners[k] as usize];
                *sum = (sum.0 + value * weights[k], sum.1 + weights[k]);
            }
        }
        for (value, (sum, weight)) in coarse.iter_mut().zip(sums) {
            if weight > 0.0 {
                *value = sum / weight;
            }
        }
    }

    /// Adds the transpose of [`upsample`](Self::upsample) of `fine` to `coarse`: sums are preserved, as
    /// forces, residuals and momenta require.
    pub fn upsample_transposed(&self, fine: &[Vec3], coarse: &mut [Vec3]) {
        for ((&value, corners), weights) in fine.iter().zip(&self.corners).zip(&self.weights) {
            for k in 0..3 {
                coarse[corners[k] as usize] += value * weights[k];
            }
        }
    }

    /// Finds the closest elements of the mesh being coarsened for the first `count` vertices of `fine`,
    /// starting at the coarse vertices `seeds`.
    pub(super) fn new(fine: &Surface, count: usize, seeds: &[u32], coarsener: &Coarsener) -> Self {
        let coarse = &coarsener.work;
        let facing: Vec<DVec3> = (0..count as u32).map(|v| fine.normals_around(v).0).collect();
        let first: Vec<Option<Hit>> = (0..count)
            .map(|v| {
                let start = *coarse.half.out.get(*seeds.get(v)? as usize)?;
                (start != NONE)
                    .then(|| coarse.walk(best_start(coarse, start, facing[v]), fine.positions[v], facing[v]))
            })
            .collect();
        let mut transfer = Self::default();
        let mut neighbors = Vec::new();
        for v in 0..count {
            let Some(mut hit) = first[v] else {
                transfer.corners.push([0; 3]);
                transfer.weights.push([0.0; 3]);
                continue;
            };
            fine.half.neighbors(v as u32, &mut neighbors);
            for &u in &neighbors {
                let Some(Some(other)) = first.get(u as usize) else { continue };
                if other.triangle != hit.triangle && coarse.faces(other.triangle, facing[v]) {
                    let tried = coarse.hit(other.triangle, fine.positions[v]);
                    if tried.distance2 < hit.distance2 {
                        hit = tried;
                    }
                }
            }
            transfer.corners.push(coarse.half.corners(hit.triangle).map(|v| coarsener.original(v)));
            transfer.weights.push(rounded(hit.weights));
        }
        transfer
    }
}

/// The first triangle around the start vertex of half-edge `start` that faces the right way; any if none
/// does.
fn best_start(coarse: &Surface, start: u32, facing: DVec3) -> u32 {
    let v = coarse.half.tail[start as usize];
    coarse.half.ring(v).map(|h| h / 3).find(|&t| coarse.faces(t, facing)).unwrap_or(start / 3)
}

/// Weights in single precision: within \[0, 1\], and with sum 1 up to rounding.
pub(super) fn rounded(weights: [f64; 3]) -> [f32; 3] {
    if !weights.iter().all(|w| w.is_finite()) {
        return [1.0, 0.0, 0.0];
    }
    weights.map(|w| w.clamp(0.0, 1.0) as f32)
}
