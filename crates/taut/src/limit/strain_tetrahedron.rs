//! Limits on the principal stretches of tetrahedra (W2).

use crate::kernel::strain::Range;

/// A tetrahedron with limits.
#[derive(Clone, Copy, Debug)]
pub struct TetrahedronElement {
    /// Vertices.
    pub vertices: [u32; 4],
    /// Columns of the inverse of its rest edges \[1/m\].
    pub rest: [[f32; 3]; 3],
    /// Allowed stretches.
    pub range: Range<f32>,
    /// What of its correction a Jacobi iteration takes.
    pub share: f32,
}
