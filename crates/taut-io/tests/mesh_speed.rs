//! How long it takes to read a large mesh; run by hand with `--ignored --nocapture`.

mod mesh_samples;

use mesh_samples::*;
use taut::mesh::generate::{Diagonals, grid};
use taut_io::mesh::{Format, parse, write_ply};

#[test]
#[ignore = "prints timings"]
fn a_million_triangles() {
    let mut mesh = grid([1.0, 1.0], [710, 710], Diagonals::Jittered, 0);
    mesh.uvs = None;
    let small = grid([1.0, 1.0], [250, 250], Diagonals::Jittered, 0);
    let container = glb(&gltf_json(&small, "", ""), &gltf_buffer(&small));
    for (name, format, bytes) in [
        ("obj", Format::Obj, obj_text(&mesh)),
        ("ply, text", Format::Ply, ply_text(&mesh)),
        ("ply, binary", Format::Ply, write_ply(&mesh)),
        ("stl, text", Format::Stl, stl_text(&mesh)),
        ("stl, binary", Format::Stl, stl_binary(&mesh)),
        ("glb", Format::Gltf, container),
    ] {
        let start = std::time::Instant::now();
        let read = parse(&bytes, format, None).unwrap();
        println!(
            "{name}: {} triangles, {} MB in {:?}",
            read.triangles.len(),
            bytes.len() / 1_000_000,
            start.elapsed()
        );
    }
}

/// Every mesh in the folder `TAUT_MESHES`, and what is wrong with it.
#[test]
#[ignore = "needs a folder of meshes"]
fn meshes_of_a_folder() {
    let Ok(folder) = std::env::var("TAUT_MESHES") else { return };
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mesh = match taut_io::mesh::read(&path) {
            Ok(mesh) => mesh,
            Err(problem) => {
                println!("{problem}");
                continue;
            }
        };
        println!("{}: {} vertices, {} triangles", path.display(), mesh.positions.len(), mesh.triangles.len());
        taut::mesh::check::check(&mesh).iter().take(5).for_each(|problem| println!("  {problem}"));
    }
}
