//! `taut export`: what other programs read in every format is what the run wrote.

use crate::clients;
use crate::program;

use std::path::Path;

use clients::{python, validate_gltf};
use glam::Vec3;
use program::Place;
use taut_io::mesh::{write_ply, write_strands};

/// Compares an export with the frames of its run.
const CHECK: &str = include_str!("clients/formats.py");
const LAST: u32 = 12;

/// What the scene of [`Place`] has not: an obstacle that moves, and one that lies still.
const OBSTACLES: &str = r#"
[[obstacle]]
name = "ball"
shape = { sphere = { center = [0.5, -2.0, 0.0], radius = 0.25 } }
motion = [{ time = 0.0 }, { time = 0.4, translate = [1.2, 0.0, 0.0], rotate = [0.0, 0.0, 240.0] }]
[[obstacle]]
name = "floor"
shape = { plane = { point = [0.0, -3.0, 0.0] } }
"#;

/// A run of a sheet, beside which two strands move.
fn place_with_run() -> Place {
    let place = Place::new();
    place.write("scene-in.toml", &(program::SCENE.to_string() + OBSTACLES));
    place.good("run scene-in.toml -o out");
    let rest: Vec<Vec3> = (0..7).map(|k| Vec3::new(0.1 * k as f32, 0.0, 2.0)).collect();
    let frames = (0..=LAST).map(|frame| {
        let wave = |x: &Vec3| *x + Vec3::Y * (x.x * 20.0 + frame as f32).sin();
        rest.iter().map(wave).collect()
    });
    place.add_body("schöne Haare & Garn", &write_strands(&rest, &[4, 3]), frames);
    place
}

/// A square of two triangles that comes apart along its diagonal in frame 5.
fn add_torn_body(place: &Place) {
    let (mesh, torn) = (square(), [[0, 1, 2], [4, 5, 3]]);
    let frames = (0..=LAST).map(|frame| {
        let mut positions = square().positions;
        if frame >= 5 {
            positions.extend([positions[2], positions[1]].map(|x| x + Vec3::X * (frame - 4) as f32));
            positions[3] += Vec3::X * (frame - 4) as f32;
        }
        positions
    });
    place.add_body("torn", &write_ply(&mesh), frames);
    place.write_triangles("torn", 5, &torn);
}

fn square() -> taut::mesh::TriangleMesh {
    let positions = [[0, 0], [1, 0], [0, 1], [1, 1]].map(|[x, z]| Vec3::new(x as f32, 5.0, z as f32));
    taut::mesh::TriangleMesh {
        positions: positions.into(),
        triangles: vec![[0, 1, 2], [2, 1, 3]],
        ..Default::default()
    }
}

fn export_and_check(place: &Place, format: &str, to: &str) {
    place.good(&format!("export out --format {format} -o {to}"));
    python(CHECK, &[Path::new(format), &place.path("out"), &place.path(to)]);
}

#[test]
#[ignore = "full tier: needs Python"]
fn point_caches_hold_the_frames_and_their_mesh_the_order() {
    let place = place_with_run();
    export_and_check(&place, "pc2", "cache");
    export_and_check(&place, "mdd", "other-cache");
    add_torn_body(&place);
    export_and_check(&place, "pc2", "torn-cache");
    export_and_check(&place, "mdd", "other-torn-cache");
}

#[test]
#[ignore = "full tier: needs Python"]
fn sequences_hold_the_frames_even_if_triangles_change() {
    let place = place_with_run();
    add_torn_body(&place);
    export_and_check(&place, "obj", "objs");
    export_and_check(&place, "ply", "plys");
}

#[test]
#[ignore = "full tier: needs Python"]
fn vtk_holds_strain_stress_and_residual_of_every_triangle() {
    let place = place_with_run();
    add_torn_body(&place);
    export_and_check(&place, "vtk", "grids");
}

#[test]
#[ignore = "full tier: needs Python"]
fn npz_holds_everything() {
    let place = place_with_run();
    export_and_check(&place, "npz", "fixed.npz");
    add_torn_body(&place);
    export_and_check(&place, "npz", "torn.npz");
}

#[test]
#[ignore = "full tier: needs Python and Node"]
fn gltf_is_valid_and_its_morph_targets_are_the_frames() {
    let place = place_with_run();
    export_and_check(&place, "gltf", "shot.glb");
    place.good("export out -o one.glb --frames 7");
    for name in ["shot.glb", "one.glb"] {
        let report = validate_gltf(&place.path(name));
        let issues = &report["issues"];
        assert_eq!((&issues["numErrors"], &issues["numWarnings"]), (&0.into(), &0.into()), "{issues:#}");
        assert_eq!(report["info"]["hasMorphTargets"], name == "shot.glb", "{report:#}");
    }
    add_torn_body(&place);
    export_and_check(&place, "gltf", "torn.glb");
    let report = validate_gltf(&place.path("torn.glb"));
    assert_eq!(report["issues"]["numErrors"], 0, "{report:#}");
}

#[test]
fn triangles_that_change_by_more_than_tears_are_refused_where_they_cannot_be_held() {
    let place = place_with_run();
    add_torn_body(&place);
    // One triangle is turned over in frame 8.
    place.write_triangles("torn", 8, &[[0, 2, 1], [4, 5, 3]]);
    for format in ["pc2", "mdd", "gltf"] {
        let words = ["triangles of torn change in frame 5 by more than tears", format, "--frames"];
        place.bad(&format!("export out --format {format} -o x"), 2, &words);
        assert!(!place.path("x").exists());
        place.good(&format!("export out --format {format} -o torn-{format} --frames 2-7"));
        place.good(&format!("export out --format {format} -o early-{format} --frames 0-4"));
        place.bad(&format!("export out --format {format} -o x --frames 9-10"), 2, &["more than tears"]);
    }
}

#[test]
fn every_format_is_in_the_help_and_names_the_frame_that_is_damaged() {
    let place = place_with_run();
    let help = place.good("export --help").out;
    let frame = place.path("out/frames/sheet.0007.npy");
    let whole = std::fs::read(&frame).unwrap();
    std::fs::write(&frame, &whole[..whole.len() - 5]).unwrap();
    for format in taut_io::export::Format::ALL {
        assert!(help.contains(format.name()) && help.contains(format.purpose()), "{help}");
        let words = ["sheet.0007.npy", "frame 7 of sheet", "truncated"];
        if !format.takes_surfaces() {
            place.good(&format!("export out --format {} -o strands", format.name()));
            continue;
        }
        place.bad(&format!("export out --format {}", format.name()), 2, &words);
    }
    assert!(!place.path("out/export").exists());
}
