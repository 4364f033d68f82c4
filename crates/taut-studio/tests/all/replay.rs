//! Finished runs.

use std::path::Path;

use serde_json::json;
use taut::{Simulation, World};
use taut_io::{
    output::{recorder::Recorder, resume},
    scene,
};

use crate::client::{Client, SHEET, get, open};

/// Runs `scene` for `frames` frames into a folder.
pub fn run(folder: &Path, scene: &str, frames: u32) -> String {
    let file = folder.join("sheet.toml");
    std::fs::write(&file, scene).unwrap();
    let name = file.to_str().unwrap();
    let loaded = scene::load(name, &[format!("scene.frames={frames}")]).unwrap();
    let world = World::new(loaded.build().unwrap()).unwrap();
    let root = folder.join("out");
    let identity = resume::identity(&loaded, &root);
    let mut recorder = Recorder::create(&root, false, &loaded, &identity, &world, 1).unwrap();
    let mut simulation = Simulation::resume(world, None, 1).unwrap();
    recorder.record(simulation.world(), simulation.state(), None, 0.0).unwrap();
    for _ in 0..frames {
        let report = simulation.step_frame();
        recorder.record(simulation.world(), simulation.state(), Some(&report), 1.0).unwrap();
    }
    root.to_str().unwrap().to_owned()
}

#[test]
fn a_finished_run_plays_and_can_be_sought() {
    let folder = tempfile::tempdir().unwrap();
    let out = run(folder.path(), SHEET, 20);
    let studio = open(&out);
    let mut client = Client::new(&studio);
    assert_eq!(client.text("hello")["mode"], "replay");
    let scene = client.text("scene");
    assert_eq!((&scene["frames"], &scene["name"]), (&json!(20), &json!("sheet")));
    let last = client.frame("the last frame", |f| f.number == 20);
    assert!(last.bodies[0].iter().any(|x| x[1] < -0.1));
    client.say(json!({"type": "seek", "frame": 7}));
    let seventh = client.frame("frame 7", |f| f.number == 7);
    let stored = taut_io::recording::Recording::open(Path::new(&out)).unwrap();
    let positions: Vec<[f32; 3]> =
        stored.read(0, 7).unwrap().positions.iter().map(|x| x.to_array()).collect();
    assert_eq!(seventh.bodies[0], positions);
    client.say(json!({"type": "step"}));
    client.frame("frame 8", |f| f.number == 8);
    client.say(json!({"type": "seek", "frame": 4_000_000_000u32}));
    client.frame("the last frame", |f| f.number == 20);
    client.say(json!({"type": "reset"}));
    client.frame("the start", |f| f.number == 0);
    client.set("colouring", json!("strain"));
    client.frame("colours", |f| !f.colours.is_empty());
    client.set("stretch_max", json!(0.5));
    assert!(client.text("problem")["text"].as_str().unwrap().contains("finished run"));
    client.say(json!({"type": "scene", "name": "flag"}));
    client.text("problem");
    assert_eq!(get(studio.address(), "/api/scenes", &[]).2, b"[]");
    assert_eq!(get(studio.address(), "/api/export?format=ply", &[]).0, 200);
}

#[test]
fn limits_that_gave_way_are_sent() {
    let folder = tempfile::tempdir().unwrap();
    let out = run(folder.path(), SHEET, 3);
    // As if limits of the second frame could not be met.
    let path = Path::new(&out).join("metrics.jsonl");
    let lines = std::fs::read_to_string(&path).unwrap();
    let change = |(k, line): (usize, &str)| {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        if k == 2 {
            line["report"]["given_way"] = json!(412);
            line["certificate"]["bodies"][0]["max_compression_residual"] = json!(0.25);
            line["certificate"]["bodies"][0]["max_stretch_residual"] = json!(0.125);
        }
        line.to_string() + "\n"
    };
    std::fs::write(&path, lines.lines().enumerate().map(change).collect::<String>()).unwrap();
    let studio = open(&out);
    let mut client = Client::new(&studio);
    assert_eq!(client.frame("the last frame", |f| f.number == 3).given_way, None);
    client.say(json!({"type": "seek", "frame": 2}));
    let (elements, [lower_mean, lower, upper_mean, upper]) =
        client.frame("frame 2", |f| f.number == 2).given_way.unwrap();
    assert_eq!((elements, lower, upper), (412, 0.25, 0.125));
    assert!((0.0..=lower).contains(&lower_mean) && (0.0..=upper).contains(&upper_mean));
}

#[test]
fn a_folder_that_is_no_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let options = taut_studio::Options::new(folder.path().to_str().unwrap());
    let error = taut_studio::Studio::start(options).unwrap_err().to_string();
    assert!(error.contains("neither a scene file nor a run folder"), "{error}");
}
