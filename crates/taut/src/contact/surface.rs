//! The parts of all surfaces that may touch: vertices, edges, triangles.

use std::collections::BTreeSet;

/// Vertices, edges and triangles of everything that may touch, numbered as in the arrays of the engine.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// Vertices that belong to a triangle or an edge.
    pub vertices: Vec<u32>,
    /// Edges, each once, by their vertices in ascending order.
    pub edges: Vec<[u32; 2]>,
    /// Triangles.
    pub triangles: Vec<[u32; 3]>,
}

impl Surface {
    /// The parts of these triangles.
    pub fn new(triangles: Vec<[u32; 3]>) -> Self {
        let mut edges: Vec<[u32; 2]> = triangles
            .iter()
            .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        edges.sort_unstable();
        edges.dedup();
        let vertices: BTreeSet<u32> = triangles.iter().flatten().copied().collect();
        Self { vertices: vertices.into_iter().collect(), edges, triangles }
    }
}
