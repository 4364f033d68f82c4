//! Which folders a run writes into, and what happens when it no longer can.

use crate::program;

use std::fs;

use program::Place;

#[test]
fn a_folder_with_another_run_is_kept() {
    let place = Place::new();
    place.good("run scene-in.toml -o out");
    let before = place.files("out/frames");
    place.bad("run scene-in.toml -o out", 2, &["out", "already contains a run", "--resume", "--force"]);
    place.bad("run scene-in.toml -o out --set cloth.sheet.strain.max=0.2", 2, &["--force"]);
    place.bad(
        "run scene-in.toml -o out --resume --set cloth.sheet.strain.max=0.2",
        2,
        &["different scene", "0.2"],
    );
    place.bad("run --resume -o out --set cloth.sheet.strain.max=0.2", 2, &["different scene"]);
    place.bad("run flag -o out --resume", 2, &["different scene"]);
    assert_eq!(place.files("out/frames"), before);
    place.good("verify out");
}

#[test]
fn force_removes_the_run_and_nothing_else() {
    let place = Place::new();
    place.good("run scene-in.toml -o out --frames 20");
    fs::write(place.path("out/notes.txt"), "mine").unwrap();
    fs::write(place.path("out/frames/mine.txt"), "mine").unwrap();
    fs::write(place.path("out/other.rest.ply"), "mine").unwrap();
    place.good("run scene-in.toml -o out --force --frames 5");
    assert_eq!(place.read("out/notes.txt"), "mine");
    assert_eq!(place.read("out/other.rest.ply"), "mine");
    let frames = place.files("out/frames");
    assert_eq!(frames.len(), 7, "frames 0 to 5, and the user's file: {:?}", frames.keys());
    place.good("verify out");
}

#[test]
fn folders_with_other_files_are_not_used_by_accident() {
    let place = Place::new();
    fs::create_dir(place.path("full")).unwrap();
    place.write("full/letter.txt", "dear");
    place.bad("run scene-in.toml -o full", 2, &["full", "letter.txt", "--force"]);
    place.good("run scene-in.toml -o full --force --frames 2");
    assert_eq!(place.read("full/letter.txt"), "dear");

    // Names that a run would write, but none wrote: not even with --force.
    fs::create_dir(place.path("project")).unwrap();
    place.write("project/scene.toml", "my only copy");
    place.bad("run scene-in.toml -o project --force", 2, &["scene.toml", "-o"]);
    assert_eq!(place.read("project/scene.toml"), "my only copy");
}

#[test]
fn a_folder_that_cannot_be_made_is_bad_input() {
    let place = Place::new();
    place.write("file", "");
    place.bad("run scene-in.toml -o file", 2, &["file", "is a file"]);
    place.bad("run scene-in.toml -o file/below", 2, &["file/below", "could not create"]);
    place.bad("run scene-in.toml -o file --force", 2, &["is a file"]);
    place.bad("run --resume -o nothing-here", 2, &["nothing-here", "no resumable run"]);
    assert_eq!(place.read("file"), "");
}

#[test]
fn the_default_folder_is_named_after_the_scene() {
    let place = Place::new();
    place.good("run scene-in.toml --frames 1 --quiet");
    assert!(place.path("out/scene-in/frames/sheet.0001.npy").exists());
    place.good("run scene-in.toml --frames 3 --resume");
    assert!(place.path("out/scene-in/frames/sheet.0003.npy").exists());
    let outcome: serde_json::Value = serde_json::from_str(&place.read("out/scene-in/outcome.json")).unwrap();
    assert_eq!((&outcome["scene"], &outcome["frames"]), (&"scene-in".into(), &3.into()));
}

#[test]
fn one_run_at_a_time() {
    let place = Place::new();
    place.good("run scene-in.toml -o out");
    let lock = fs::OpenOptions::new().write(true).open(place.path("out/checkpoint/lock")).unwrap();
    lock.lock().unwrap();
    place.bad("run --resume -o out --frames 20", 2, &["another run is writing"]);
    place.bad("run scene-in.toml -o out --force", 2, &["another run is writing"]);
    // Not by dropping it: a child of another test, not yet started, may still hold it open.
    lock.unlock().unwrap();
    place.good("run --resume -o out --frames 20");
}

#[test]
fn a_frame_that_cannot_be_written_ends_the_run_with_the_others_whole() {
    let place = Place::new();
    place.good("run scene-in.toml -o whole --frames 30");
    place.good("run scene-in.toml -o out --frames 10");
    // A folder where a frame should go: no permission needed to make it fail, not even as root.
    fs::create_dir_all(place.path("out/frames/sheet.0015.npy/in-the-way")).unwrap();
    let answer = place.bad(
        "run --resume -o out --frames 30",
        3,
        &["could not write", "sheet.0015.npy", "--resume -o out"],
    );
    assert!(answer.err.contains("frames up to 14 are complete"), "{}", answer.err);
    let outcome: serde_json::Value = serde_json::from_str(&place.read("out/outcome.json")).unwrap();
    assert_eq!((&outcome["status"], &outcome["frames"]), (&"failed".into(), &14.into()));
    fs::remove_dir_all(place.path("out/frames/sheet.0015.npy")).unwrap();
    place.good("run --resume -o out");
    assert_eq!(place.files("whole/frames"), place.files("out/frames"));
    assert_eq!(place.metrics("whole"), place.metrics("out"));
}

#[cfg(unix)]
#[test]
fn a_full_disk_ends_the_run_with_the_frames_so_far_whole() {
    let place = Place::new();
    place.good("run scene-in.toml -o whole --frames 60");
    // No file may grow beyond 16 blocks of 1024 bytes: metrics.jsonl is the first to do so.
    let script = format!(
        "trap '' XFSZ; ulimit -f 16; exec {} run scene-in.toml -o out --frames 60",
        env!("CARGO_BIN_EXE_taut")
    );
    let mut command = std::process::Command::new("bash");
    let output = command.args(["-c", &script]).current_dir(place.path("")).output().unwrap();
    let answer = program::Answer::from(output);
    assert_eq!(answer.code, Some(3), "{}", answer.err);
    assert!(answer.err.contains("metrics.jsonl") && answer.err.contains("--resume"), "{}", answer.err);
    assert!(place.read("out/metrics.jsonl").ends_with('\n'), "no torn line");
    let (whole, frames) = (place.files("whole/frames"), place.files("out/frames"));
    assert!(frames.len() > 5 && frames.iter().all(|(name, bytes)| &whole[name] == bytes));
    place.good("run --resume -o out");
    assert_eq!(whole, place.files("out/frames"));
    assert_eq!(place.metrics("whole"), place.metrics("out"));
}
