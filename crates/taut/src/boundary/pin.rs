//! Vertices that are held.
use super::motion::Motion;

/// Vertices that are held where they start, or carried along by a motion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pin {
    /// Vertex indices, in the mesh's order.
    pub vertices: Vec<u32>,
    /// How they move.
    pub motion: Motion,
}
