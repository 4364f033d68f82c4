//! Bad scenes, meshes and arguments: exit code 2, and words that name the place and what is allowed.

use crate::program;

use program::{Place, SCENE};

/// Replaces `from` in the good scene, and expects `words`, from `run` and from `check`.
fn scene_is_refused(from: &str, to: &str, words: &[&str]) {
    assert!(SCENE.contains(from));
    let place = Place::new();
    place.write("bad.toml", &SCENE.replace(from, to));
    place.bad("run bad.toml -o out", 2, words);
    place.bad("check bad.toml", 2, words);
    assert!(!place.path("out").exists(), "bad input leaves no folder");
}

/// Expects `words` of a mesh file, alone and in a scene.
fn mesh_is_refused(text: &str, words: &[&str]) {
    let place = Place::new();
    place.write("bad.obj", text);
    place.bad("check bad.obj", 2, words);
    place.bad("check bad.obj", 2, &["error:", "bad.obj"]);
    place.write(
        "scene.toml",
        "[[cloth]]\nname = \"s\"\nmesh = { file = \"bad.obj\" }\nmaterial = \"denim\"\n",
    );
    place.bad("run scene.toml -o out", 2, words);
    assert!(!place.path("out").exists());
}

#[test]
fn the_good_scene_is_fine() {
    let place = Place::new();
    assert!(place.good("check scene-in.toml").out.contains("81 vertices, 128 triangles"));
}

#[test]
fn missing_or_unreadable_file() {
    let place = Place::new();
    place.bad("run missing.toml", 2, &["error:", "missing.toml", "no such file"]);
    place.bad("check missing.obj", 2, &["missing.obj"]);
    place.bad("run .", 2, &["folder"]);
    place.bad("run hangin-sheet", 2, &["hangin-sheet", "hanging-sheet"]);
    std::fs::write(place.path("binary.toml"), [0xff, 0xfe, 0x00, 0x80]).unwrap();
    place.bad("run binary.toml", 2, &["binary.toml"]);
}

#[test]
fn invalid_toml() {
    scene_is_refused("[[cloth]]", "[[cloth]", &["bad.toml:5", "TOML"]);
}

#[test]
fn unknown_key_with_the_nearest_known_one() {
    scene_is_refused("frames = 12", "framse = 12", &["bad.toml:2", "framse", "\"frames\""]);
    scene_is_refused("strain =", "strian =", &["bad.toml:9", "strian", "\"strain\""]);
}

#[test]
fn wrong_type() {
    scene_is_refused("frames = 12", "frames = \"twelve\"", &["bad.toml:2", "scene.frames", "integer"]);
    scene_is_refused("tolerance = { past = 0.01 }", "tolerance = []", &["bad.toml:4", "solver.tolerance"]);
}

#[test]
fn out_of_range_or_not_a_number() {
    scene_is_refused("frames = 12", "frames = 0", &["bad.toml:2", "scene.frames", "from 1"]);
    scene_is_refused("frames = 12", "frames = -3", &["scene.frames"]);
    scene_is_refused("0.05", "nan", &["bad.toml:9", "cloth.sheet.strain.max"]);
    scene_is_refused("0.05", "inf", &["cloth.sheet.strain.max"]);
    scene_is_refused("tolerance = { past = 0.01 }", "tolerance = -1.0", &["solver.tolerance"]);
}

#[test]
fn limits_that_cannot_be_met() {
    scene_is_refused("max = 0.05", "min = 0.2, max = 0.05", &["cloth.sheet.strain.min", "above max"]);
    scene_is_refused("max = 0.05", "min = -1.5", &["cloth.sheet.strain.min", "-1"]);
}

#[test]
fn nothing_without_mass_or_size() {
    for density in ["0.0", "-0.1"] {
        let material = format!("{{ base = \"denim\", density = {density} }}");
        scene_is_refused("\"polyester\"", &material, &["bad.toml:8", "density"]);
    }
    for size in ["[0.0, 1.0]", "[1.0, -1.0]"] {
        scene_is_refused("[1.0, 1.0]", size, &["bad.toml:7", "size"]);
    }
    scene_is_refused("[8, 8]", "[0, 8]", &["cells"]);
}

#[test]
fn pins_that_hold_nothing() {
    scene_is_refused("corner:top-left", "box:5,5,5,6,6,6", &["bad.toml:10", "pin[0].select", "no vertex"]);
    scene_is_refused("corner:top-left", "index:4000", &["pin[0].select"]);
    scene_is_refused("corner:top-left", "corner:middle", &["pin[0].select", "top-left"]);
}

#[test]
fn all_problems_at_once() {
    let place = Place::new();
    let text =
        SCENE.replace("frames = 12", "frames = 0").replace("0.05", "nan").replace("polyester", "tweed");
    place.write("bad.toml", &text);
    place.bad("check bad.toml", 2, &["scene.frames", "strain.max", "tweed"]);
    let answer = place.taut("check bad.toml --json");
    assert_eq!(answer.code, Some(2));
    let found: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(found["ok"], false);
    assert!(found["problems"].as_array().unwrap().len() >= 3, "{found}");
    assert_eq!(found["problems"][0]["file"], "bad.toml");
}

#[test]
fn meshes() {
    let triangle = "v 0 0 0\nv 1 0 0\nv 0 0 1\n";
    mesh_is_refused("", &["bad.obj", "empty"]);
    mesh_is_refused(triangle, &["bad.obj"]);
    mesh_is_refused(&format!("{triangle}f 1 2 9\n"), &["bad.obj:4", "vertex 9"]);
    mesh_is_refused("v 0 0 0\nv nan 0 0\nv 0 0 1\nf 1 2 3\n", &["bad.obj:2", "finite"]);
    mesh_is_refused("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", &["face 0", "degenerate"]);
    mesh_is_refused(&format!("{triangle}f 1 2 3\nf 1 2 3\n"), &["faces 0 and 1"]);
    let third = "v 0 1 0\nv 0 -1 0\n";
    mesh_is_refused(&format!("{triangle}{third}f 1 2 3\nf 2 1 4\nf 1 2 5\n"), &["edge", "3 faces"]);
    mesh_is_refused(&format!("{triangle}v 1 0 -1\nf 1 2 3\nf 1 2 4\n"), &["faces 0 and 1", "direction"]);
    mesh_is_refused(&format!("{triangle}v 0 1 0\nf 1 2 3\n"), &["vertex 3", "no face"]);
}

#[test]
fn arguments() {
    let place = Place::new();
    place.bad("run", 2, &["SCENE"]);
    place.bad("fly", 2, &["fly"]);
    place.bad("run scene-in.toml --threads 0", 2, &["--threads"]);
    place.bad("run scene-in.toml --frames 0", 2, &["scene.frames"]);
    place.bad("run scene-in.toml --frames -7", 2, &["scene.frames"]);
    place.bad("run scene-in.toml --set nonsense", 2, &["nonsense", "KEY=VALUE"]);
    place.bad("run scene-in.toml --set cloth.sheet.strian.max=0.1", 2, &["strian", "strain"]);
    place.bad("run scene-in.toml --resume --force", 2, &["--force"]);
    place.bad("run --resume", 2, &["folder"]);
    place.bad("check some.obj --set a=1", 2, &["--set"]);
    place.bad("scenes nothing", 2, &["nothing", "hanging-sheet"]);
    place.bad("verify nothing", 2, &["nothing"]);
    place.bad("bench nothing", 2, &["nothing"]);
    place.bad("completions csh", 2, &["csh"]);
}
