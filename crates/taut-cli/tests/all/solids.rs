//! Soft solids, from the scene to the files of a run: verified, resumed, exported and drawn.

use crate::clients;
use crate::program;

use std::{
    path::Path,
    process::Stdio,
    thread::sleep,
    time::{Duration, Instant},
};

use clients::{python, validate_gltf};
use program::{Place, nudge};
use taut_io::{export::Format, mesh, recording::Recording};

/// Reads what taut wrote of solids with other people's programs.
const CHECK: &str = include_str!("clients/solids.py");

/// A ball that falls on a sheet, and a bar that is held at one end; nothing touches.
const SCENE: &str = r#"
contact = false

[scene]
frames = 10

[[cloth]]
name = "sheet"
mesh = { grid = { size = [0.5, 0.5], cells = [8, 8] } }
transform = { translate = [-0.25, 0.0, -0.25] }
strain = { max = 0.05 }
pin = [{ select = "boundary" }]

[[solid]]
name = "beam"
mesh = { bar = { size = [0.4, 0.1, 0.1], cells = [8, 2, 2] } }
transform = { translate = [1.0, 0.0, 0.0] }
material = "jelly"
strain = { min = -0.05, max = 0.05 }
pin = [{ select = "box:0,0,0,0,1,1" }]

[[solid]]
name = "ball"
mesh = { file = "ball.obj" }
spacing = 0.04
transform = { translate = [0.0, 1.0, 0.0], rotate = [0.0, 0.0, 30.0] }
velocity = [0.0, -0.5, 0.0]
strain = { min = -0.1, max = 0.1 }
"#;

/// A folder with the scene and the surface that it names, in `ball.obj`.
fn place() -> Place {
    let place = Place::new();
    let sphere = taut::mesh::generate::Generator::Sphere { radius: 0.1, frequency: 8 }.generate().unwrap();
    let mut text = String::from("o ball\n");
    sphere.positions.iter().for_each(|x| text += &format!("v {} {} {}\n", x.x, x.y, x.z));
    sphere.triangles.iter().for_each(|t| text += &format!("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1));
    place.write("ball.obj", &text);
    place.write("solids.toml", SCENE);
    place
}

fn assert_same(place: &Place, a: &str, b: &str) {
    let (frames_a, frames_b) = (place.files(&format!("{a}/frames")), place.files(&format!("{b}/frames")));
    assert_eq!(frames_a.keys().collect::<Vec<_>>(), frames_b.keys().collect::<Vec<_>>());
    for (name, bytes) in &frames_a {
        assert!(bytes == &frames_b[name], "{name} differs between {a} and {b}");
    }
    assert_eq!(place.metrics(a), place.metrics(b));
}

#[test]
fn a_run_tells_of_its_tetrahedra_and_holds() {
    let place = place();
    let answer = place.good("check solids.toml").out;
    assert!(answer.contains("beam: 81 vertices, 192 tetrahedra"), "{answer}");
    let answer = place.good("run solids.toml -o out").out;
    assert!(answer.contains(" tetrahedra: done") && answer.contains("held in every frame"), "{answer}");
    assert!(answer.contains("no inverted elements"), "{answer}");
    let answer = place.good("verify out").out;
    assert!(answer.contains("bodies: 3, triangles: 128, tetrahedra: "), "{answer}");
    let names: Vec<String> = place.files("out").into_keys().collect();
    for name in ["sheet.rest.ply", "beam.rest.vtu", "beam.skin.ply", "ball.rest.vtu", "ball.skin.ply"] {
        assert!(names.iter().any(|other| other == name), "{name} in {names:?}");
    }
    assert!(!names.contains(&"ball.rest.ply".to_string()));
    let bodies = &place.metrics("out")[10]["certificate"]["bodies"];
    assert_eq!(bodies[2]["solid"]["inverted"], 0);
    assert!(bodies[0].get("solid").is_none() && bodies[1]["solid"]["volume"].as_f64().unwrap() > 3.9e-3);
    // What is left of an older run goes.
    place.good("run solids.toml -o out --force --set solid.beam.name=rod --frames 1");
    assert!(!place.path("out/beam.rest.vtu").exists() && !place.path("out/beam.skin.ply").exists());
    place.good("verify out");
}

#[test]
fn threads_and_kills_change_no_byte() {
    let place = place();
    place.good("run solids.toml --frames 40 -o whole --threads 1");
    place.good("run solids.toml --frames 40 -o two --threads 2");
    assert_same(&place, "whole", "two");
    let mut child = place.command("run solids.toml --frames 40 -o killed");
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    while !place.path("killed/frames/ball.0020.npy").exists() && child.try_wait().unwrap().is_none() {
        assert!(started.elapsed() < Duration::from_secs(120), "frame 20 never came");
        sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    place.good("run --resume -o killed");
    assert_same(&place, "whole", "killed");
    // From a checkpoint of frame 12.
    place.good("run solids.toml --frames 12 -o longer");
    place.good("run --resume --frames 40 -o longer");
    assert_same(&place, "whole", "longer");
    place.good("verify killed");
}

#[test]
fn what_was_changed_afterwards_is_found() {
    let place = place();
    place.good("run solids.toml -o out");
    let frame = place.path("out/frames/beam.0004.npy");
    let whole = std::fs::read(&frame).unwrap();
    nudge(&frame, 40, 1, 5e-3);
    place.bad("verify out", 1, &["frame 4: beam: vertex 40", "of tetrahedra"]);
    nudge(&frame, 40, 1, 0.2);
    place.bad("verify out", 1, &["frame 4: beam: tetrahedron ", ", limit "]);
    std::fs::write(&frame, &whole[..whole.len() - 7]).unwrap();
    place.bad("verify out", 1, &["beam.0004.npy", "truncated"]);
    place.bad("export out --format obj -o objs", 2, &["frame 4 of beam", "truncated"]);
    std::fs::write(&frame, whole).unwrap();
    place.good("verify out");

    for (file, element) in [("ball.skin.ply", "vertex"), ("ball.rest.vtu", "ball.rest.vtu")] {
        let path = place.path(&format!("out/{file}"));
        let whole = std::fs::read(&path).unwrap();
        // A low byte of a coordinate.
        let mut changed = whole.clone();
        let header = changed.windows(2).rposition(|two| two == b"\n_" || two == b"r\n").unwrap() + 2;
        changed[header + if file.ends_with("vtu") { 20 } else { 12 }] ^= 4;
        std::fs::write(&path, &changed).unwrap();
        place.bad("verify out", 1, &["ball", element, "is not the rest mesh of the scene"]);
        std::fs::remove_file(&path).unwrap();
        place.bad("verify out", 1, &[file, "could not be read"]);
        place.bad("export out --format obj -o objs", 2, &["rest mesh of ball"]);
        std::fs::write(&path, whole).unwrap();
    }
    place.good("verify out");
}

#[test]
#[ignore = "full tier: needs Python and Node"]
fn every_export_shows_the_surface_that_was_given() {
    let place = place();
    place.good("run solids.toml -o out");
    let recording = Recording::open(&place.path("out")).unwrap();
    let ball = recording.bodies().iter().position(|body| body.name == "ball").unwrap();
    let given = mesh::read(&place.path("ball.obj")).unwrap();
    let body = &recording.bodies()[ball];
    assert_eq!((body.rest.positions.len(), body.rest.connections.triangles()), (642, &given.triangles[..]));
    // It starts as it was given, turned and moved, though the tetrahedra cut its corners.
    let turn = glam::Quat::from_rotation_z(30f32.to_radians());
    for (x, rest) in recording.read(ball, 0).unwrap().positions.iter().zip(&given.positions) {
        let wanted = turn * *rest + glam::Vec3::Y;
        assert!(x.distance(wanted) < 1e-5, "{x} {wanted}");
    }
    // A bar is shown by its own faces, to the bit.
    let beam = recording.bodies().iter().position(|body| body.name == "beam").unwrap();
    let (shown, all) = (recording.read(beam, 7).unwrap(), recording.read_tetrahedra(beam, 7).unwrap());
    assert_eq!((shown.positions.len(), all.len()), (74, 81));
    assert!(shown.positions.iter().all(|x| all.contains(x)));

    for format in Format::ALL.into_iter().filter(|format| format.takes_surfaces()) {
        let ending = format.extension().map_or_else(String::new, |ending| format!(".{ending}"));
        place.good(&format!("export out --format {0} -o to-{0}{ending}", format.name()));
    }
    python(CHECK, &[&place.path("out"), &place.path("")]);
    let report = validate_gltf(&place.path("to-gltf.glb"));
    let issues = &report["issues"];
    assert_eq!((&issues["numErrors"], &issues["numWarnings"]), (&0.into(), &0.into()), "{issues:#}");
}

#[test]
fn pictures_and_plots_know_solids() {
    let place = place();
    place.good("run solids.toml -o out --frames 3");
    let picture = |color: &str| {
        place.good(&format!("render out -o {color}.png --frame 3 --size 200x120 --color {color}"));
        std::fs::read(place.path(&format!("{color}.png"))).unwrap()
    };
    let all = ["fabric", "strain", "residual", "hsv", "overstretch", "level"].map(picture);
    for (k, picture) in all.iter().enumerate() {
        assert!(all[..k].iter().all(|other| other != picture), "every colouring shows something else");
    }
    place.good("plot out");
    assert!(place.read("out/plot.svg").contains("limit: beam"), "limits of solids are drawn");
}

#[test]
fn tetrahedral_files_are_checked_and_run() {
    let place = place();
    place.good("run solids.toml -o out --frames 1");
    let answer = place.good("check out/beam.rest.vtu").out;
    assert!(answer.contains("81 vertices, 192 tetrahedra"), "{answer}");
    std::fs::copy(place.path("out/beam.rest.vtu"), place.path("beam.vtu")).unwrap();
    let scene = "[scene]\nframes = 4\n[[solid]]\nname = \"beam\"\nmesh = { file = \"beam.vtu\" }\n\
                 strain = { max = 0.05 }\npin = [{ select = \"index:0,9,18\" }]\n";
    place.write("beam.toml", scene);
    place.good("run beam.toml -o other");
    std::fs::remove_file(place.path("beam.vtu")).unwrap();
    place.good("verify other");
    place.write("bad.vtu", "<VTKFile>");
    place.bad("check bad.vtu", 2, &["bad.vtu"]);
    assert!(Path::new(&place.path("other/inputs/beam.vtu")).exists());
}
