//! Adjacency: edges, hinges, and the triangles around a vertex.

use super::TriangleMesh;

/// Edges and hinges of a triangle mesh, in an order that depends on the mesh alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adjacency {
    /// Every edge once, as (smaller, larger) vertex, sorted.
    pub edges: Vec<[u32; 2]>,
    /// Interior edges as hinges: edge vertices, then the wing of the triangle that runs along the edge
    /// forwards, then the wing of the one that runs backwards.
    pub hinges: Vec<[u32; 4]>,
    /// Triangles of each hinge, forwards first.
    pub hinge_triangles: Vec<[u32; 2]>,
    /// Vertices on a border, sorted.
    pub boundary: Vec<u32>,
}

impl Adjacency {
    /// Finds edges and hinges. Where more than two triangles share an edge, or two run along it in the same
    /// direction, it makes no hinge; [`check`](super::check) reports such edges.
    pub fn new(triangles: &[[u32; 3]]) -> Self {
        // (smaller vertex, larger vertex, triangle, wing, forwards)
        let mut sides: Vec<(u32, u32, u32, u32, bool)> = triangles
            .iter()
            .enumerate()
            .flat_map(|(t, &[a, b, c])| {
                [(a, b, c), (b, c, a), (c, a, b)]
                    .map(|(p, q, wing)| (p.min(q), p.max(q), t as u32, wing, p < q))
            })
            .collect();
        sides.sort_unstable();
        let mut adjacency = Self::default();
        for run in sides.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let edge = [run[0].0, run[0].1];
            adjacency.edges.push(edge);
            match run {
                [_] => adjacency.boundary.extend(edge),
                [p, q] if p.4 != q.4 => {
                    let (forwards, backwards) = if p.4 { (p, q) } else { (q, p) };
                    adjacency.hinges.push([edge[0], edge[1], forwards.3, backwards.3]);
                    adjacency.hinge_triangles.push([forwards.2, backwards.2]);
                }
                _ => {}
            }
        }
        adjacency.boundary.sort_unstable();
        adjacency.boundary.dedup();
        adjacency
    }
}

/// Whether every edge of `mesh` belongs to two triangles that run along it in opposite directions, so that it
/// encloses a volume.
pub fn is_closed(mesh: &TriangleMesh) -> bool {
    let adjacency = Adjacency::new(&mesh.triangles);
    adjacency.hinges.len() == adjacency.edges.len()
}

/// Neighbours of each vertex in one array: those of `v` are `items[starts[v]..starts[v + 1]]`.
#[derive(Clone, Debug, Default)]
pub struct Neighbors {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Neighbors {
    /// Vertices joined by an edge.
    pub fn new(vertex_count: usize, edges: &[[u32; 2]]) -> Self {
        let mut starts = vec![0u32; vertex_count + 1];
        for v in edges.iter().flatten() {
            starts[*v as usize + 1] += 1;
        }
        for v in 0..vertex_count {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let mut items = vec![0; edges.len() * 2];
        for &[a, b] in edges {
            for (from, to) in [(a, b), (b, a)] {
                items[next[from as usize] as usize] = to;
                next[from as usize] += 1;
            }
        }
        Self { starts, items }
    }

    /// Neighbours of `vertex`.
    pub fn of(&self, vertex: u32) -> &[u32] {
        &self.items[self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_triangles_make_five_edges_and_one_hinge() {
        let adjacency = Adjacency::new(&[[0, 1, 2], [2, 1, 3]]);
        assert_eq!(adjacency.edges, [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(adjacency.hinges, [[1, 2, 0, 3]]);
        assert_eq!(adjacency.hinge_triangles, [[0, 1]]);
        assert_eq!(adjacency.boundary, [0, 1, 2, 3]);
    }

    #[test]
    fn a_closed_tetrahedron_has_no_boundary() {
        let adjacency = Adjacency::new(&[[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]);
        assert_eq!((adjacency.edges.len(), adjacency.hinges.len(), adjacency.boundary.len()), (6, 6, 0));
    }

    #[test]
    fn neighbors_of_a_path() {
        let neighbors = Neighbors::new(4, &[[0, 1], [1, 2]]);
        assert_eq!(neighbors.of(1), [0, 2]);
        assert!(neighbors.of(3).is_empty());
    }
}
