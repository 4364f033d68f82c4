//! Coarser levels of a mesh, and what they are for: solving on all of them at once.
//!
//! A level is known by its [`Transfer`] alone: where the vertices of the next finer level lie between its own.
//! [`lattice`] makes such levels for sheets; [`multigrid`] builds coarse matrices from them and solves.

pub mod lattice;
pub mod multigrid;
mod sparse;

/// How a level hangs on the next coarser one: each of its vertices lies between three coarse ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transfer {
    /// Coarse vertices, for each finer vertex.
    pub corners: Vec<[u32; 3]>,
    /// Their barycentric weights, which sum to 1.
    pub weights: Vec<[f32; 3]>,
}

impl Transfer {
    /// Number of coarse vertices: one more than the largest that is named.
    pub fn coarse_count(&self) -> usize {
        self.corners.iter().flatten().map(|&c| c as usize + 1).max().unwrap_or(0)
    }
}
