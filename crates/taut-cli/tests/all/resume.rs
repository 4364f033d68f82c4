//! The same scene gives the same bytes: at any number of threads, and however often it was stopped on the
//! way.

use crate::program;

use std::{
    process::Stdio,
    thread::sleep,
    time::{Duration, Instant},
};

use program::Place;

/// Starts a run, and kills it without warning when frame `frame` is there.
fn kill_at(place: &Place, arguments: &str, out: &str, frame: u32) {
    let mut child = place.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let file = place.path(&format!("{out}/frames/sheet.{frame:04}.npy"));
    let started = Instant::now();
    while !file.exists() && child.try_wait().unwrap().is_none() {
        assert!(started.elapsed() < Duration::from_secs(120), "frame {frame} never came");
        sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

fn assert_same(place: &Place, a: &str, b: &str) {
    let (frames_a, frames_b) = (place.files(&format!("{a}/frames")), place.files(&format!("{b}/frames")));
    assert_eq!(frames_a.keys().collect::<Vec<_>>(), frames_b.keys().collect::<Vec<_>>());
    for (name, bytes) in &frames_a {
        assert!(bytes == &frames_b[name], "{name} differs between {a} and {b}");
    }
    assert_eq!(place.metrics(a), place.metrics(b));
    assert_eq!(place.read(&format!("{a}/scene.toml")), place.read(&format!("{b}/scene.toml")));
}

#[test]
fn any_number_of_threads() {
    let place = Place::new();
    let scene = "scene-in.toml --frames 30 --set cloth.sheet.mesh.grid.cells=[20,20]";
    for threads in [1, 2, 5] {
        place.good(&format!("run {scene} -o t{threads} --threads {threads}"));
    }
    assert_same(&place, "t1", "t2");
    assert_same(&place, "t1", "t5");
    assert_eq!(place.files("t1/frames").len(), 31);
}

/// Contact, a rigid body, tetrahedra, the edge model, limits by direction.
#[test]
fn built_in_scenes_on_any_number_of_threads() {
    let place = Place::new();
    for scene in ["stack", "trampoline", "bar", "tang-sheet", "weave"] {
        for threads in [1, 2, 5] {
            place.good(&format!("run {scene} --frames 3 -o {scene}-{threads} --threads {threads}"));
        }
        for threads in [2, 5] {
            assert_same(&place, &format!("{scene}-1"), &format!("{scene}-{threads}"));
        }
    }
}

#[test]
fn killed_and_resumed() {
    let place = Place::new();
    let scene = "scene-in.toml --frames 260";
    place.good(&format!("run {scene} -o whole"));
    // Before any checkpoint, after the first, and again at once.
    kill_at(&place, &format!("run {scene} -o killed"), "killed", 3);
    for frame in [200, 201, 240] {
        kill_at(&place, "run --resume -o killed", "killed", frame);
        assert!(!place.path("killed/outcome.json").exists());
    }
    let answer = place.good("run --resume -o killed");
    assert!(answer.err.contains("resuming from frame"), "{}", answer.err);
    assert_same(&place, "whole", "killed");
    place.good("verify killed");
}

#[test]
fn the_effective_scene_runs_again() {
    let place = Place::new();
    place.good("run flag --frames 8 --set cloth.*.mesh.grid.cells=[9,9] -o first");
    place.good("run first/scene.toml -o second");
    assert_same(&place, "first", "second");
    place.good("run first/scene.toml -o first --force");
    assert_same(&place, "second", "first");
}

#[test]
fn meshes_from_files_travel_with_the_run() {
    let place = Place::new();
    let mesh = "v 0 0 0\nv 1 0 0\nv 0 0 1\nv 1 0 1\nf 1 3 2\nf 2 3 4\n";
    place.write("quad.obj", mesh);
    let scene = "[scene]\nframes = 6\n[[cloth]]\nname = \"sheet\"\nmesh = { file = \"quad.obj\" }\n\
                 material = \"denim\"\nstrain = { max = 0.1 }\npin = [{ select = \"index:0\" }]\n";
    place.write("quad.toml", scene);
    place.good("run quad.toml -o first");
    std::fs::remove_file(place.path("quad.obj")).unwrap();
    place.good("verify first");
    place.good("run --resume -o first --frames 9");
    place.good("run first/scene.toml -o first --force --frames 9");
    place.good("verify first");

    // Resuming with the original scene works while its mesh is the same.
    place.write("quad.obj", mesh);
    place.good("run quad.toml -o first --resume --frames 9");
    place.write("quad.obj", &mesh.replace("v 1 0 1", "v 1 0 2"));
    place.bad("run quad.toml -o first --resume --frames 9", 2, &["quad.obj", "changed"]);
}

#[test]
fn a_finished_run_can_be_made_longer() {
    let place = Place::new();
    place.good("run scene-in.toml --frames 20 -o whole");
    place.good("run scene-in.toml --frames 8 -o longer");
    place.good("run --resume -o longer");
    assert_eq!(place.files("longer/frames").len(), 9);
    place.good("run --resume -o longer --frames 20");
    assert_same(&place, "whole", "longer");
    place.good("verify longer");
    place.bad("run --resume -o longer --frames 5", 2, &["20 frames", "--force"]);
}

#[test]
fn a_damaged_checkpoint_or_lost_frame_costs_time_only() {
    let place = Place::new();
    place.good("run scene-in.toml -o whole");
    place.good("run scene-in.toml -o damaged");
    for (name, bytes) in place.files("damaged/checkpoint") {
        if name.ends_with(".state") {
            std::fs::write(place.path(&format!("damaged/checkpoint/{name}")), &bytes[..bytes.len() / 2])
                .unwrap();
        }
    }
    let answer = place.good("run --resume -o damaged");
    assert!(answer.err.contains("warning:") && answer.err.contains("is ignored"), "{}", answer.err);
    assert_same(&place, "whole", "damaged");

    std::fs::remove_file(place.path("damaged/frames/sheet.0004.npy")).unwrap();
    let answer = place.good("run --resume -o damaged");
    assert!(answer.err.contains("sheet.0004.npy"), "{}", answer.err);
    assert_same(&place, "whole", "damaged");
}

#[cfg(unix)]
#[test]
fn interrupted_and_resumed() {
    let place = Place::new();
    place.good("run scene-in.toml --frames 200 -o whole");
    let child = place.command("run scene-in.toml --frames 200 -o stopped --json");
    let mut child = { child }.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while !place.path("stopped/frames/sheet.0020.npy").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        sleep(Duration::from_millis(1));
    }
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    let answer = program::Answer::from(child.wait_with_output().unwrap());
    assert_eq!(answer.code, Some(130), "{}", answer.err);
    assert!(answer.err.contains("taut run --resume -o stopped"), "{}", answer.err);
    let outcome: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(outcome["status"], "interrupted");
    let written: serde_json::Value = serde_json::from_str(&place.read("stopped/outcome.json")).unwrap();
    assert_eq!(written, outcome);
    place.bad("verify stopped", 1, &["missing", "--resume"]);
    place.good("run --resume -o stopped");
    assert_same(&place, "whole", "stopped");
}
