//! `taut export` of strands: every format has the points, the numbers of points and the radii of the run, as
//! other programs read them.

use crate::clients;
use crate::program;

use std::path::Path;

use clients::{python, validate_gltf};
use glam::Vec3;
use program::Place;
use taut_io::mesh::write_strands;

const CHECK: &str = include_str!("clients/strands.py");

/// Two ropes of different radius, and hair that is thinner at its tips.
const SCENE: &str = r#"
[scene]
frames = 5
[[particles]]
name = "thick-rope"
mesh = { chain = { from = [-1.5, 1.0, -0.3], to = [1.5, 1.0, -0.3], segments = 30 } }
radius = 0.015
spring = { stiffness = 5000, damping = 5, rest = 1.02 }
pin = [{ select = "boundary" }]
[[particles]]
name = "net"
mesh = { net = { size = [1.0, 1.0], cells = [6, 4] } }
radius = 0.004
spring = { stiffness = 2000, damping = 0.5 }
pin = [{ select = "boundary" }]
[[obstacle]]
name = "ball"
shape = { sphere = { radius = 0.1 } }
transform = { translate = [0.0, -1.0, 0.0] }
[[hair]]
name = "fur"
mesh = { grow = { on = "ball", count = 12, length = 0.2, segments = 10, taper = 0.25, curl = { radius = 0.01, pitch = 0.15 } } }
material = { base = "wool", radius = 2e-4 }
"#;

fn place_with_run() -> Place {
    let place = Place::new();
    place.write("ropes.toml", SCENE);
    place.good("run ropes.toml -o out");
    // Strands that the scene does not describe have no radius.
    let strands = |n: u32| -> Vec<Vec3> {
        (0..7).map(|k| Vec3::new(0.1 * k as f32, 0.01 * (n * k) as f32, -1.0 / 3.0)).collect()
    };
    place.add_body("unknown", &write_strands(&strands(0), &[4, 3]), (0..=5).map(strands));
    place
}

#[test]
#[ignore = "full tier: needs Python and Node"]
fn every_format_has_points_counts_and_radii_of_strands() {
    let place = place_with_run();
    for (format, to) in [
        ("usd", "ropes.usdc"),
        ("usda", "ropes.usda"),
        ("ply", "plys"),
        ("obj", "objs"),
        ("npz", "ropes.npz"),
        ("vtk", "grids"),
        ("gltf", "ropes.glb"),
        ("hair", "hairs"),
    ] {
        place.good(&format!("export out --format {format} -o {to}"));
        let kind = if format == "usda" { "usd" } else { format };
        let said = python(CHECK, &[Path::new(kind), &place.path("out"), &place.path(to)]);
        assert_eq!(said.trim(), "good", "{format}");
    }
    let report = validate_gltf(&place.path("ropes.glb"));
    let issues = &report["issues"];
    assert_eq!((&issues["numErrors"], &issues["numWarnings"]), (&0.into(), &0.into()), "{issues:#}");
}

#[test]
fn strands_that_a_hair_file_cannot_hold_are_refused_by_name() {
    let place = place_with_run();
    let strands: Vec<Vec3> = (0..65_540).map(|k| Vec3::X * k as f32).collect();
    place.add_body("endless", &write_strands(&strands, &[3, 65_537]), (0..=5).map(|_| strands.clone()));
    let words = ["strand 1 (from 0) of endless has 65536 segments", "65535", "usd"];
    place.bad("export out --format hair -o x", 2, &words);
    assert!(!place.path("x").exists());
    place.good("export out --format ply -o y --frames 0-0");
}
