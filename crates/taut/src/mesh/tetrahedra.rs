//! Tetrahedral meshes: the elements of soft solids.

use std::collections::HashMap;

use glam::{DMat3, Vec3};

use super::TriangleMesh;

/// A tetrahedral mesh: positions, and four vertices for each tetrahedron.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetrahedronMesh {
    /// Vertex positions \[m\].
    pub positions: Vec<Vec3>,
    /// Vertex indices of each tetrahedron. Seen from the fourth, the other three run clockwise: its
    /// [volume](Self::volume) is positive.
    pub tetrahedra: Vec<[u32; 4]>,
}

/// Corners of the faces of a tetrahedron, counter-clockwise seen from outside.
pub const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

/// Corners of the edges of a tetrahedron.
pub const EDGES: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];

impl TetrahedronMesh {
    /// Signed volume of tetrahedron `t` \[m³\]; negative if it is inverted.
    pub fn volume(&self, t: usize) -> f64 {
        let [a, b, c, d] = self.tetrahedra[t].map(|v| self.positions[v as usize].as_dvec3());
        DMat3::from_cols(b - a, c - a, d - a).determinant() / 6.0
    }

    /// Faces that belong to one tetrahedron only, counter-clockwise seen from outside, in the order of
    /// tetrahedra.
    pub fn boundary(&self) -> Vec<[u32; 3]> {
        let mut seen: HashMap<[u32; 3], u32> = HashMap::with_capacity(2 * self.tetrahedra.len());
        let faces = || self.tetrahedra.iter().flat_map(|t| FACES.map(|face| face.map(|k| t[k])));
        let key = |mut face: [u32; 3]| {
            face.sort_unstable();
            face
        };
        for face in faces() {
            *seen.entry(key(face)).or_default() += 1;
        }
        faces().filter(|face| seen[&key(*face)] == 1).collect()
    }

    /// The [boundary](Self::boundary) as a separate mesh: only its vertices, in their order.
    pub fn surface(&self) -> TriangleMesh {
        let mut triangles = self.boundary();
        let mut place = vec![u32::MAX; self.positions.len()];
        triangles.iter().flatten().for_each(|&v| place[v as usize] = 0);
        let mut positions = Vec::new();
        for (v, place) in place.iter_mut().enumerate().filter(|(_, place)| **place == 0) {
            *place = positions.len() as u32;
            positions.push(self.positions[v]);
        }
        triangles.iter_mut().flatten().for_each(|v| *v = place[*v as usize]);
        TriangleMesh { positions, triangles, ..TriangleMesh::default() }
    }

    /// All edges, each once, the smaller vertex first, sorted.
    pub fn edges(&self) -> Vec<[u32; 2]> {
        let edges = self.tetrahedra.iter().flat_map(|t| EDGES.map(|[i, j]| [t[i].min(t[j]), t[i].max(t[j])]));
        let mut edges: Vec<_> = edges.collect();
        edges.sort_unstable();
        edges.dedup();
        edges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> TetrahedronMesh {
        let positions = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::ONE];
        TetrahedronMesh { positions, tetrahedra: vec![[0, 1, 2, 3], [1, 2, 3, 4]] }
    }

    #[test]
    fn volumes_are_positive() {
        assert!((two().volume(0) - 1.0 / 6.0).abs() < 1e-12);
        assert!((two().volume(1) - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn the_boundary_faces_out_and_leaves_the_inner_face_out() {
        let mesh = two();
        let boundary = mesh.boundary();
        assert_eq!(boundary.len(), 6);
        // The flux of x out of a closed surface is three times the enclosed volume.
        let flux: f32 = boundary
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
                a.dot(b.cross(c))
            })
            .sum();
        assert!((flux / 6.0 - 0.5).abs() < 1e-6, "{flux}");
        assert_eq!(mesh.edges().len(), 9);
    }

    #[test]
    fn the_surface_has_its_own_vertices() {
        // The centre of a cube of 12 tetrahedra is inside.
        let corner = |k: u32| Vec3::new((k & 1) as f32, (k >> 1 & 1) as f32, (k >> 2) as f32);
        let mut positions = vec![Vec3::splat(0.5)];
        positions.extend((0..8).map(corner));
        let sides = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let halves =
            sides.iter().flat_map(|[a, b, c, d]| [[0, a + 1, b + 1, c + 1], [0, a + 1, c + 1, d + 1]]);
        let mesh = TetrahedronMesh { positions, tetrahedra: halves.collect() };
        let surface = mesh.surface();
        assert_eq!((surface.positions.len(), surface.triangles.len()), (8, 12));
        assert_eq!(surface.positions, mesh.positions[1..]);
        assert!(surface.triangles.iter().flatten().all(|v| *v < 8));
    }
}
