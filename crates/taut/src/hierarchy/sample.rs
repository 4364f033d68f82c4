//! Where the vertices of a level lie on the base mesh.
//!
//! Positions go down by being *sampled* there: averaging them over a neighbourhood would round off what is curved, and a
//! limit would see that as compression.

use super::coarsen::{Coarsener, Kind};
use super::transfer::rounded;

/// For each vertex of a level: the vertices of the base triangle that it lies on, and barycentric weights.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Vertices of the base mesh.
    pub corners: Vec<[u32; 3]>,
    /// Each within \[0, 1\], with sum 1.
    pub weights: Vec<[f32; 3]>,
}

impl Sample {
    /// Reads off where the vertices of the mesh being coarsened lie; the base's last vertices are copies of `copies`.
    pub(super) fn new(coarsener: &Coarsener, copies: &[u32]) -> Self {
        let Coarsener { base, work, kind, home, .. } = coarsener;
        let originals = base.positions.len() - copies.len();
        let mut sample = Self::default();
        for v in 0..work.positions.len() - coarsener.copies.len() {
            // Of a vertex on a boundary, the half-edge that it lies on is known.
            let triangle = if kind[v] == Kind::Inner { home[v] } else { home[v] / 3 };
            let corners = base.half.corners(triangle);
            sample
                .corners
                .push(corners.map(|c| (c as usize).checked_sub(originals).map_or(c, |k| copies[k])));
            sample.weights.push(rounded(base.hit(triangle, work.positions[v]).weights));
        }
        sample
    }
}
