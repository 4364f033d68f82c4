//! `taut export`: what every format has in common, above all what it refuses.

use crate::program;

use program::Place;

fn place_with_run() -> Place {
    let place = Place::new();
    place.good("run scene-in.toml -o out");
    place
}

#[test]
fn what_exists_is_kept_unless_forced() {
    let place = place_with_run();
    place.good("export out --format pc2");
    let before = place.files("out/export/pc2");
    place.bad("export out --format pc2", 2, &["out/export/pc2", "already exists", "--force"]);
    place.write("out/export/pc2/mine.txt", "kept");
    place.good("export out --format pc2 --frames 3-5 --force");
    let after = place.files("out/export/pc2");
    assert!(after["sheet.pc2"].len() < before["sheet.pc2"].len());
    assert_eq!(after["mine.txt"], b"kept");
}

#[test]
fn damaged_runs_are_named_and_leave_nothing() {
    let place = place_with_run();
    let frame = place.path("out/frames/sheet.0007.npy");
    let whole = std::fs::read(&frame).unwrap();
    std::fs::write(&frame, &whole[..whole.len() - 5]).unwrap();
    place.bad("export out --format pc2", 2, &["sheet.0007.npy", "frame 7 of sheet", "truncated"]);
    assert!(place.files("out").keys().all(|name| !name.starts_with('.')));
    assert!(!place.path("out/export/pc2").exists());
    std::fs::remove_file(&frame).unwrap();
    place.bad("export out --format pc2", 2, &["sheet.0007.npy", "missing"]);
    std::fs::write(&frame, whole).unwrap();

    let rest = place.path("out/sheet.rest.ply");
    let mesh = std::fs::read(&rest).unwrap();
    std::fs::remove_file(&rest).unwrap();
    place.bad("export out --format pc2", 2, &["sheet.rest.ply", "rest mesh of sheet"]);
    std::fs::write(&rest, mesh).unwrap();
    place.good("export out --format pc2");
}

#[test]
fn frames_and_formats_that_are_not_there_are_refused() {
    let place = place_with_run();
    place.bad("export out --format fbx", 2, &["fbx", "pc2"]);
    place.bad("export out", 2, &["--format"]);
    place.bad("export nowhere --format pc2", 2, &["nowhere"]);
    place.bad("export . --format pc2", 2, &["not a run folder"]);
    place.bad("export out --format pc2 --frames 5-99", 2, &["frames 0 to 12"]);
    place.bad("export out --format pc2 --frames 5-2", 2, &["frame 5 comes after frame 2"]);
    place.bad("export out --format pc2 --frames x", 2, &["not a frame number"]);
}

#[test]
fn a_run_that_was_stopped_is_exported_only_as_far_as_asked() {
    let place = place_with_run();
    for frame in 9..=12 {
        std::fs::remove_file(place.path(&format!("out/frames/sheet.{frame:04}.npy"))).unwrap();
    }
    place.bad("export out --format pc2", 2, &["stopped after frame 8 of 12", "--frames 0-8", "--resume"]);
    place.good("export out --format pc2 --frames 0-8");
}

#[test]
fn a_run_can_export_when_it_is_done() {
    let place = Place::new();
    place.bad("run scene-in.toml -o out --export fbx", 2, &["fbx"]);
    assert!(!place.path("out").exists(), "nothing is simulated before the formats are known");
    place.good("run scene-in.toml -o out --export pc2");
    assert!(place.path("out/export/pc2/sheet.pc2").exists());
}
