//! Stanford PLY (`.ply`): binary, one file per frame.
//!
//! Little-endian, vertices in the order of the run: float positions \[m\], unit normals of triangles, texture
//! coordinates `s`, `t` if every vertex has exactly one (a mesh with texture seams has none); then faces, or
//! the edges of strands, with a `radius` \[m\] at each vertex if it is known.

use glam::{Vec2, Vec3};
use taut::mesh::normals::vertex_normals;

use super::{
    ExportError, Job,
    sink::{put_floats, put_indices, put_vectors, write_file},
    uvs::Split,
};
use crate::{
    mesh::write_strands,
    recording::{Body, Connections, Geometry},
};

/// Writes `NAME.0042.ply` of every body and frame.
pub(super) fn write(job: &Job) -> Result<(), ExportError> {
    job.each_body(|index, body| {
        let uvs = vertex_uvs(body);
        job.each_frame(index, |frame, geometry| {
            let origins = uvs.as_ref().and_then(|_| body.origins(&geometry));
            let uvs: Option<Vec<Vec2>> = uvs
                .as_ref()
                .zip(origins)
                .map(|(uvs, origins)| origins.iter().map(|&v| uvs[v as usize]).collect());
            let bytes = match &*geometry.connections {
                Connections::Triangles(triangles) => encode(&geometry.positions, triangles, uvs.as_deref()),
                Connections::Curves(counts) => match &body.radii {
                    Some(radii) => encode_strands(&geometry, counts, radii),
                    None => write_strands(&geometry.positions, counts),
                },
            };
            write_file(&job.frame_path(body, frame, "ply"), &bytes)
        })
    })
}

/// Texture coordinates of the vertices of `body`, if each has one.
fn vertex_uvs(body: &Body) -> Option<Vec<Vec2>> {
    let vertices = body.rest.positions.len();
    let split = Split::new(vertices, body.rest.connections.triangles(), Some(body.uvs.as_deref()?));
    (split.sources.len() == vertices).then_some(split.uvs)
}

fn encode(positions: &[Vec3], triangles: &[[u32; 3]], uvs: Option<&[Vec2]>) -> Vec<u8> {
    let names = ["x", "y", "z", "nx", "ny", "nz", "s", "t"];
    let names = &names[..if uvs.is_some() { 8 } else { 6 }];
    let properties: String = names.iter().map(|name| format!("property float {name}\n")).collect();
    let header = format!(
        "ply\nformat binary_little_endian 1.0\ncomment taut {}\nelement vertex {}\n{properties}element face {}\n\
         property list uchar int vertex_indices\nend_header\n",
        env!("CARGO_PKG_VERSION"),
        positions.len(),
        triangles.len()
    );
    let mut bytes = header.into_bytes();
    bytes.reserve_exact(4 * names.len() * positions.len() + 13 * triangles.len());
    for (v, (x, normal)) in
        positions.iter().zip(vertex_normals(positions, triangles.iter().copied())).enumerate()
    {
        put_vectors(&mut bytes, &[*x, normal]);
        if let Some(uvs) = uvs {
            put_floats(&mut bytes, uvs[v].to_array());
        }
    }
    for triangle in triangles {
        bytes.push(3);
        put_indices(&mut bytes, triangle);
    }
    bytes
}

/// Strands of `counts` points each, with their radii.
fn encode_strands(geometry: &Geometry, counts: &[u32], radii: &[f32]) -> Vec<u8> {
    let (positions, edges) = (&geometry.positions, geometry.connections.edges_of_curves());
    let names = ["x", "y", "z", "radius"];
    let properties: String = names.iter().map(|name| format!("property float {name}\n")).collect();
    let header = format!(
        "ply\nformat binary_little_endian 1.0\ncomment taut {}; strands: {}\nelement vertex {}\n{properties}\
         element edge {}\nproperty int vertex1\nproperty int vertex2\nend_header\n",
        env!("CARGO_PKG_VERSION"),
        counts.len(),
        positions.len(),
        edges.len()
    );
    let mut bytes = header.into_bytes();
    bytes.reserve_exact(16 * positions.len() + 8 * edges.len());
    for (x, &radius) in positions.iter().zip(radii) {
        put_floats(&mut bytes, [x.x, x.y, x.z, radius]);
    }
    put_indices(&mut bytes, edges.as_flattened());
    bytes
}
