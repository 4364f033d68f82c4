//! Meshes made by formula.
use super::TriangleMesh;

/// Which way the diagonal of a grid's cells runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Diagonals {
    /// All the same way.
    Regular,
    /// Turned from cell to cell, so that no direction is preferred.
    #[default]
    Alternating,
    /// Inner vertices moved at random by up to a quarter of a cell, and each diagonal chosen at random.
    Jittered,
}

/// A flat sheet of `size` \[m\] in x and z with `cells` quads, at y = 0 from the origin.
pub fn grid(_size: [f32; 2], _cells: [u32; 2], _diagonals: Diagonals, _seed: u64) -> TriangleMesh {
    TriangleMesh::default()
}
