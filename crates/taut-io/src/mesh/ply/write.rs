//! Writing PLY: what `NAME.rest.ply` of a run holds.

use taut::mesh::TriangleMesh;

/// The bytes of a binary PLY file of `mesh` (positions and faces).
///
/// Little endian, `float` positions \[m\], faces as lists of `uchar` length and `int` indices. Reading it
/// back gives the same bits.
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

/// The colour of vertices of marked faces, and that of the others.
const MARKED: [u8; 3] = [220, 30, 30];
const UNMARKED: [u8; 3] = [180, 180, 180];

/// Faces, some of which are marked, as the bytes of a binary little-endian PLY file: vertices of marked ones
/// are red, others grey. Colours are those of vertices, which every program can show; many cannot read those
/// of faces.
pub fn write_marked_ply(positions: &[[f32; 3]], faces: &[([u32; 3], bool)]) -> Vec<u8> {
    let header = format!(
        "ply\nformat binary_little_endian 1.0\ncomment taut\nelement vertex {}\nproperty float x\nproperty float y\n\
         property float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\nelement face {}\n\
         property list uchar int vertex_indices\nend_header\n",
        positions.len(),
        faces.len()
    );
    let mut bytes = header.into_bytes();
    bytes.reserve_exact(15 * positions.len() + 13 * faces.len());
    let mut colors = vec![UNMARKED; positions.len()];
    for (face, _) in faces.iter().filter(|(_, marked)| *marked) {
        face.iter().for_each(|&v| colors[v as usize] = MARKED);
    }
    for (position, color) in positions.iter().zip(colors) {
        position.iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
        bytes.extend_from_slice(&color);
    }
    for (face, _) in faces {
        bytes.push(3);
        face.iter().for_each(|index| bytes.extend_from_slice(&index.to_le_bytes()));
    }
    bytes
}
