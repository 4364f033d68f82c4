//! Writing PLY: what `NAME.rest.ply` of a run holds.

use taut::mesh::TriangleMesh;

/// The bytes of a binary PLY file of `mesh` (positions and faces).
///
/// Little endian, `float` positions \[m\], faces as lists of `uchar` length and `int` indices. Reading it back gives
/// the same bits.
pub fn write_ply(mesh: &TriangleMesh) -> Vec<u8> {
    let header = format!(
        "ply\nformat binary_little_endian 1.0\ncomment taut\nelement vertex {}\nproperty float x\nproperty float y\n\
         property float z\nelement face {}\nproperty list uchar int vertex_indices\nend_header\n",
        mesh.positions.len(),
        mesh.triangles.len()
    );
    let mut bytes = header.into_bytes();
    bytes.reserve_exact(12 * mesh.positions.len() + 13 * mesh.triangles.len());
    for coordinate in mesh.positions.iter().flat_map(|position| position.to_array()) {
        bytes.extend_from_slice(&coordinate.to_le_bytes());
    }
    for triangle in &mesh.triangles {
        bytes.push(3);
        for index in triangle {
            bytes.extend_from_slice(&index.to_le_bytes());
        }
    }
    bytes
}
