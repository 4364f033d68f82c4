//! Obstacles that are meshes, from the scene to the files of a run: they travel with it, are verified,
//! exported and drawn.

use crate::program;

use program::Place;
use serde_json::Value;

/// A face beside the corner of the sheet at (0, 0, 1), which sinks from file to file, with that corner
/// attached; and a box that stands still.
fn place_with_run() -> Place {
    let place = Place::new();
    std::fs::create_dir(place.path("walk")).unwrap();
    for number in 7..=13 {
        let y = -0.02 * (number - 7) as f32;
        let text = format!("v -0.3 {y} 1\nv -0.1 {y} 1\nv -0.3 {y} 1.1\nf 1 2 3\n");
        place.write(&format!("walk/flap.{number:02}.obj"), &text);
    }
    let scene =
        program::SCENE.replace("pin = [", "pin = [{ select = \"corner:bottom-left\", attach = \"flap\" }, ");
    let obstacles = r#"
[[obstacle]]
name = "flap"
sequence = { files = "walk/flap.##.obj", rate = 15 }
[[obstacle]]
name = "crate"
mesh = { box = { size = [0.2, 0.2, 0.2], cells = [1, 1, 1] } }
transform = { translate = [0.5, -2.0, 0.5] }
"#;
    place.write("scene-in.toml", &(scene + obstacles));
    let told = place.good("check scene-in.toml");
    assert!(told.out.contains("obstacles: 2"), "{}", told.out);
    place.good("run scene-in.toml -o out");
    // The folder of the run has all that it needs.
    std::fs::remove_dir_all(place.path("walk")).unwrap();
    place
}

#[test]
fn a_run_with_a_sequence_is_verified_from_its_folder_alone() {
    let place = place_with_run();
    place.good("verify out");
    let frame = |n: u32| {
        taut_io::output::npy::read_any(&place.path(&format!("out/frames/sheet.{n:04}.npy"))).unwrap()
    };
    let corner = frame(0).iter().position(|x| x.distance(glam::Vec3::Z) < 1e-3).unwrap();
    // Half of the 12 frames of the sequence's six steps of 2 cm.
    let moved = frame(6)[corner];
    assert!(moved.distance(glam::Vec3::new(0.0, -0.06, 1.0)) < 1e-5, "{moved}");
    let mut changed = frame(6);
    changed[corner].y += 0.001;
    place.write_frame("sheet", 6, &changed);
    place.bad("verify out", 1, &["frame 6", "sheet"]);
    changed[corner].y -= 0.001;
    place.write_frame("sheet", 6, &changed);
    let file = place.path("out/inputs/flap.sequence/flap.09.obj");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("-0.04"), "{text}");
    std::fs::write(&file, text.replace("-0.04", "-0.09")).unwrap();
    place.bad("verify out", 1, &["frame 4", "a pinned vertex is 50.000 mm from its target"]);
}

#[test]
fn mesh_obstacles_are_exported_and_drawn() {
    let place = place_with_run();
    place.good("export out -o all.glb");
    let bytes = std::fs::read(place.path("all.glb")).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let json: Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    let targets =
        |mesh: usize| json["meshes"][mesh]["primitives"][0]["targets"].as_array().map_or(0, Vec::len);
    let names: Vec<&str> =
        json["nodes"].as_array().unwrap().iter().map(|n| n["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["sheet", "flap", "crate"]);
    assert_eq!([targets(0), targets(1), targets(2)], [12, 12, 0]);
    // It can be read back as what it shows.
    let read = taut_io::mesh::sequence::read_animation(&place.path("all.glb"), 30.0, 0.0).unwrap();
    let flap = &read.positions[12][81..84];
    assert!(flap[0].distance(glam::Vec3::new(-0.3, -0.12, 1.0)) < 1e-5, "{flap:?}");

    place.good("export out -o all.usda");
    let text = place.read("all.usda");
    let (_, obstacles) = text.split_once("def Scope \"Obstacles\"").unwrap();
    let (flap, still) = obstacles.split_once("def Mesh \"crate\"").unwrap();
    assert!(flap.contains("def Mesh \"flap\"") && flap.contains("points.timeSamples"), "{flap}");
    assert!(still.contains("points = [") && !still.contains("timeSamples"), "{still}");

    let drawn = |scene: &str| {
        place.good(&format!("render {scene} --frame 12 --size 160x120 -o {scene}.png"));
        std::fs::read(place.path(&format!("{scene}.png"))).unwrap()
    };
    let with = drawn("out");
    let scene = place.read("scene-in.toml");
    let bare = scene
        .split("[[obstacle]]")
        .next()
        .unwrap()
        .replace("{ select = \"corner:bottom-left\", attach = \"flap\" }, ", "");
    place.write("bare.toml", &bare);
    place.good("run bare.toml -o bare");
    assert_ne!(with, drawn("bare"));
}
