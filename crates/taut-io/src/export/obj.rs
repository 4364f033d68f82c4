//! Wavefront OBJ (`.obj`): text, one file a frame.
//!
//! One object called after the body, its vertices in the order of the run. Positions are written so that reading them gives the
//! same float32. Triangles have smooth normals, and texture coordinates where the mesh had them, up to the frame in which
//! triangles change; strands are lines (`l`).

use std::io::Write;

use super::{ExportError, Job, normals::vertex_normals, sink::write_file, uvs::Table};
use crate::recording::{Body, Connections, Geometry};

/// Writes `NAME.0042.obj` of every body and frame.
pub(super) fn write(job: &Job) -> Result<(), ExportError> {
    job.each_body(|index, body| {
        let uvs = body.uvs.as_deref().map(Table::new);
        job.each_frame(index, |frame, geometry| {
            let uvs = uvs.as_ref().filter(|_| body.starts_with(&geometry));
            write_file(&job.frame_path(body, frame, "obj"), &text(&body.name, &geometry, uvs, true))
        })
    })
}

/// Writes `NAME.obj` with the rest shape of `body`.
pub(super) fn write_rest(job: &Job, body: &Body) -> Result<(), ExportError> {
    let uvs = body.uvs.as_deref().map(Table::new);
    let path = job.path.join(format!("{}.obj", body.name));
    write_file(&path, &text(&body.name, &body.rest, uvs.as_ref(), false))
}

/// The text of a file with one object.
fn text(name: &str, geometry: &Geometry, uvs: Option<&Table>, with_normals: bool) -> Vec<u8> {
    let triangles = geometry.connections.triangles();
    let with_normals = with_normals && !triangles.is_empty();
    let mut text = Vec::with_capacity(64 * geometry.positions.len() + 48 * triangles.len());
    put(&mut text, format_args!("# taut {}; metres\no {name}\n", env!("CARGO_PKG_VERSION")));
    for x in &geometry.positions {
        put(&mut text, format_args!("v {} {} {}\n", x.x, x.y, x.z));
    }
    for uv in uvs.iter().flat_map(|table| &table.values) {
        put(&mut text, format_args!("vt {} {}\n", uv.x, uv.y));
    }
    if with_normals {
        for n in vertex_normals(&geometry.positions, triangles) {
            put(&mut text, format_args!("vn {:.4} {:.4} {:.4}\n", n.x, n.y, n.z));
        }
        text.extend_from_slice(b"s 1\n");
    }
    match &*geometry.connections {
        Connections::Triangles(triangles) => {
            for (t, triangle) in triangles.iter().enumerate() {
                text.push(b'f');
                for k in 0..3 {
                    let vertex = triangle[k] + 1;
                    match (uvs.map(|table| table.corners[t][k] + 1), with_normals) {
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
