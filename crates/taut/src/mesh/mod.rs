//! Triangle meshes: the type, generators, adjacency, normals, reordering and validation; and tetrahedral
//! meshes.

pub mod adjacency;
pub mod check;
pub mod cut;
pub mod generate;
pub mod groom;
pub mod lines;
pub mod locate;
pub mod midpoints;
pub mod normals;
pub mod reorder;
pub mod split;
pub mod stuff;
pub mod tessellate;
pub mod tetrahedra;
pub mod thin;

use std::collections::BTreeMap;

use glam::{Vec2, Vec3};

/// A triangle mesh as a user gives it: positions, faces, and further data of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriangleMesh {
    /// Vertex positions \[m\].
    pub positions: Vec<Vec3>,
    /// Vertex indices of each triangle, counter-clockwise seen from its front.
    pub triangles: Vec<[u32; 3]>,
    /// Texture coordinates of each triangle's corners, where the mesh has them.
    pub uvs: Option<Vec<[Vec2; 3]>>,
    /// Named sets of vertices: groups of a file, and `corner:…` names of a grid. Sorted indices.
    pub groups: BTreeMap<String, Vec<u32>>,
}
