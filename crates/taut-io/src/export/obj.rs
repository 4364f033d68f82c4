//! Wavefront OBJ (`.obj`): text, one file per frame.
//!
//! One object named after the body, its vertices in the order of the run. Positions round-trip to the same
//! float32. Triangles have smooth normals, and texture coordinates if the mesh has them; torn triangles keep
//! theirs. Strands are lines (`l`).

use std::io::Write;

use glam::Vec2;
use taut::mesh::normals::vertex_normals;

use super::{ExportError, Job, sink::write_file, uvs::Table};
use crate::recording::{Body, Connections, Geometry};

/// Writes `NAME.0042.obj` of every body and frame.
pub(super) fn write(job: &Job) -> Result<(), ExportError> {
    job.each_body(|index, body| {
        // The same in every frame until a change.
        let elements = elements(&body.rest.connections, body.uvs.as_deref(), true);
        job.each_frame(index, |frame, geometry| {
            let mut text = vertices(&body.name, &geometry, true);
            if body.starts_with(&geometry) {
                text.extend_from_slice(&elements);
            } else {
                let uvs = body.uvs.as_deref().filter(|_| body.origins(&geometry).is_some());
                text.extend(self::elements(&geometry.connections, uvs, true));
            }
            write_file(&job.frame_path(body, frame, "obj"), &text)
        })
    })
}

/// Writes `NAME.obj` with the rest shape `rest` of `body`, which may be torn.
pub(super) fn write_rest(job: &Job, body: &Body, rest: &Geometry) -> Result<(), ExportError> {
    let mut text = vertices(&body.name, rest, false);
    text.extend(elements(&rest.connections, body.uvs.as_deref(), false));
    write_file(&job.path.join(format!("{}.obj", body.name)), &text)
}

/// The beginning of a file with one object: its vertices.
fn vertices(name: &str, geometry: &Geometry, with_normals: bool) -> Vec<u8> {
    let Geometry { positions, connections } = geometry;
    let mut text = Vec::with_capacity(64 * positions.len());
    put(&mut text, format_args!("# taut {}; metres\no {name}\n", env!("CARGO_PKG_VERSION")));
    for x in positions {
        put(&mut text, format_args!("v {} {} {}\n", x.x, x.y, x.z));
    }
    if let Connections::Triangles(triangles) = &**connections
        && with_normals
    {
        for n in vertex_normals(positions, triangles.iter().copied()) {
            put(&mut text, format_args!("vn {:.4} {:.4} {:.4}\n", n.x, n.y, n.z));
        }
    }
    text
}

/// The rest of the file: texture coordinates, and triangles or lines.
fn elements(connections: &Connections, uvs: Option<&[[Vec2; 3]]>, with_normals: bool) -> Vec<u8> {
    let mut text = Vec::new();
    match connections {
        Connections::Triangles(triangles) => {
            let table = uvs.map(Table::new);
            for uv in table.iter().flat_map(|table| &table.values) {
                put(&mut text, format_args!("vt {} {}\n", uv.x, uv.y));
            }
            if with_normals {
                text.extend_from_slice(b"s 1\n");
            }
            for (t, triangle) in triangles.iter().enumerate() {
                text.push(b'f');
                for k in 0..3 {
                    let vertex = triangle[k] + 1;
                    match (table.as_ref().map(|table| table.corners[t][k] + 1), with_normals) {
                        (None, false) => put(&mut text, format_args!(" {vertex}")),
                        (None, true) => put(&mut text, format_args!(" {vertex}//{vertex}")),
                        (Some(uv), false) => put(&mut text, format_args!(" {vertex}/{uv}")),
                        (Some(uv), true) => put(&mut text, format_args!(" {vertex}/{uv}/{vertex}")),
                    }
                }
                text.push(b'\n');
            }
        }
        Connections::Curves(counts) => {
            let mut next = 1;
            for count in counts {
                text.push(b'l');
                for vertex in next..next + count {
                    put(&mut text, format_args!(" {vertex}"));
                }
                text.push(b'\n');
                next += count;
            }
        }
    }
    text
}

fn put(text: &mut Vec<u8>, words: std::fmt::Arguments) {
    text.write_fmt(words).expect("memory takes what is written");
}
