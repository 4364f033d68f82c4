//! What a hostile or unlucky user does to `taut export`, `render` and `plot`: clear errors, and nothing left
//! behind.

use crate::program;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use program::Place;

const FRAMES: usize = 4;

fn ran() -> Place {
    let place = Place::new();
    place.good(&format!("run scene-in.toml -o out --frames {FRAMES} --quiet"));
    place
}

/// Everything under a folder.
fn tree(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(tree(&path));
        }
        found.insert(path);
    }
    found
}

/// Runs the program, which must refuse with each of `words` and leave everything as it was.
fn refused(place: &Place, arguments: &str, words: &[&str]) {
    let before = tree(&place.path(""));
    place.bad(arguments, 2, words);
    let after = tree(&place.path(""));
    let left: Vec<_> = after.difference(&before).collect();
    assert!(left.is_empty(), "taut {arguments} left {left:?}");
    assert_eq!(before.len(), after.len(), "taut {arguments} removed something");
}

/// A NumPy file of rows of three numbers.
fn npy(kind: &str, rows: &[[[u8; 4]; 3]]) -> Vec<u8> {
    let shape = rows.len();
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}, 3), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(rows.iter().flatten().flatten());
    bytes
}

fn faces(triangle: [i32; 3]) -> Vec<u8> {
    npy("<i4", &[triangle.map(i32::to_le_bytes)])
}

#[test]
fn refusals_leave_no_folders() {
    let place = ran();
    let nothing = "--camera 0,0,50/0,0,100";
    for to in ["new/deep/x.png", "new/deep/x.%04d.png", "new/x.gif", "new/folder"] {
        refused(&place, &format!("render out -o {to} {nothing}"), &["sees no body", "--camera"]);
    }
    refused(&place, "render out -o new/x.gif --fps 1e9", &["x.gif", "0.01 to 1000"]);
    let frame = place.path("out/frames/sheet.0003.npy");
    let whole = fs::read(&frame).unwrap();
    fs::write(&frame, &whole[..200]).unwrap();
    for format in ["usd", "usda", "pc2", "mdd", "obj", "ply", "vtk", "gltf", "npz"] {
        refused(&place, &format!("export out --format {format}"), &["sheet.0003.npy", "frame 3 of sheet"]);
    }
    refused(&place, "render out -o new/x.%04d.png --size 32x32", &["sheet.0003.npy", "frame 3 of sheet"]);
}

#[test]
fn numbers_without_measure_in_names_take_no_memory() {
    let place = ran();
    fs::copy(place.path("out/frames/sheet.0003.npy"), place.path("out/frames/sheet.4294967295.npy")).unwrap();
    refused(
        &place,
        "export out --format usd",
        &["sheet.0005.npy", "frame 5 of sheet is missing (and 4294967289 more)"],
    );
    refused(&place, "render out -o x.png", &["frame 5 of sheet is missing"]);
}

#[test]
fn names_in_the_manifest_do_not_lead_out_of_the_folder() {
    let place = ran();
    let manifest = place.read("out/checkpoint/manifest.json");
    let with = |scene: &str| {
        let mut value: serde_json::Value = serde_json::from_str(&manifest).unwrap();
        value["scene"] = scene.into();
        place.write("out/checkpoint/manifest.json", &value.to_string());
    };
    let long = "x".repeat(300);
    for scene in ["../../../out-of-here", "/tmp/out-of-here", "", "..", "a\nb", &long] {
        with(scene);
        let before = tree(&place.path(""));
        place.good("export out --format npz --quiet");
        let after = tree(&place.path(""));
        let new: Vec<_> = after.difference(&before).filter(|path| path.is_file()).collect();
        assert_eq!(new.len(), 1, "{scene:?}: {new:?}");
        assert_eq!(new[0].parent().unwrap(), place.path("out/export"), "{scene:?}");
        fs::remove_dir_all(place.path("out/export")).unwrap();
    }
}

#[test]
fn cloth_that_flew_away_is_named_instead_of_drawn() {
    let place = ran();
    let frame = place.path("out/frames/sheet.0002.npy");
    let whole = fs::read(&frame).unwrap();
    for far in [1e10f32, 1e30, f32::MAX, -1e18] {
        let mut bytes = whole.clone();
        let end = bytes.len();
        bytes[end - 4..].copy_from_slice(&far.to_le_bytes());
        fs::write(&frame, bytes).unwrap();
        let words = ["sheet.0002.npy", "frame 2 of sheet", "vertex 80", "million kilometres"];
        for color in ["fabric", "strain", "hsv"] {
            refused(&place, &format!("render out -o x.gif --size 64x64 --color {color}"), &words);
        }
    }
}

#[test]
fn triangles_that_join_nothing_are_named() {
    let place = ran();
    let path = place.path("out/frames/sheet.0003.faces.npy");
    fs::write(&path, faces([0, 1, -1])).unwrap();
    let words = ["sheet.0003.faces.npy", "frame 3 of sheet", "triangle 0", "[0, 1, -1]"];
    refused(&place, "export out --format usd", &words);
    refused(&place, "render out -o x.gif", &words);
    fs::write(&path, faces([0, 1, 81])).unwrap();
    refused(&place, "export out --format obj", &["sheet.0003.npy", "81 vertices", "too few for vertex 81"]);
    fs::write(&path, faces([0, 1, 80])).unwrap();
    refused(&place, "export out --format pc2", &["change in frame 3", "--frames 0-2"]);
    place.good("export out --format pc2 --frames 0-2");
    fs::rename(&path, place.path("out/frames/sheet.0000.faces.npy")).unwrap();
    let answer = place.bad("export out --format gltf", 2, &["change in frame 0"]);
    assert!(!answer.err.contains("--frames"), "there are none before: {}", answer.err);
    // A body of which nothing is left.
    fs::write(place.path("out/frames/sheet.0003.faces.npy"), npy("<i4", &[])).unwrap();
    fs::write(place.path("out/frames/sheet.0003.npy"), npy("<f4", &[])).unwrap();
    refused(&place, "render out -o x.png --frame 3", &["no body has a vertex"]);
}

#[test]
fn settings_that_would_change_nothing_are_refused() {
    let place = ran();
    refused(&place, "render out -o x.png --level 0", &["--color level"]);
    refused(&place, "render out -o x.png --range 0.1", &["--range", "--color strain"]);
    refused(&place, "render out -o x.png --fps 30", &["--fps", "video"]);
    refused(&place, "render out -o x.png --zoom 1e9", &["zoom is", "to 32.9"]);
    refused(&place, "render out -o x.png --zoom 1e-9 --camera 0,0,3/0,0,0", &["zoom is"]);
    refused(&place, "export out --format usd -o x.obj", &["x.obj", "is the extension of obj", ".usdc"]);
    refused(&place, "export out --format obj -o x.usd", &["x.usd", "is the extension of usd", "folder"]);
}

#[test]
fn settings_of_one_bench_are_refused_by_the_others() {
    let place = Place::new();
    for (arguments, word) in [
        ("bench hanging-sheet --markdown", "--markdown"),
        ("bench hanging-sheet --compare -o x.svg", "--out"),
        ("bench hanging-sheet --compare --frame 3", "--frame"),
        ("bench --paper -o x.svg", "--out"),
        ("bench --paper --frame 3", "--frame"),
        ("bench hanging-sheet --convergence --frame -1", "not in 1.."),
    ] {
        place.bad(arguments, 2, &[word]);
    }
}

#[test]
fn captions_tell_which_characters_become_boxes() {
    let place = ran();
    let draw = |caption: &str| {
        let mut command = place.command("render out -o x.png --force --quiet --size 64x64");
        let output = command.args(["--caption", caption]).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(draw("“quoted”, 5 % — so\nit is"), "");
    let warning = draw("Grüße 😀 ü");
    assert!(warning.contains("no 'ü', 'ß', '😀':"), "{warning}");
}

#[test]
fn numbers_below_zero_are_no_unknown_options() {
    let place = ran();
    for (option, says) in [
        ("--frame -1", "non-negative integer"),
        ("--color level --level -1", "non-negative integer"),
        ("--frames -1", "20-60"),
        ("--threads -1", "1..=1024"),
    ] {
        let answer = place.bad(&format!("render out -o x.gif {option}"), 2, &[says]);
        assert!(!answer.err.contains("unexpected argument"), "{}", answer.err);
    }
    refused(&place, "render out -o x.png --frame 9", &["frames 0 to 4", "frame 9 does not exist"]);
}

#[test]
fn files_and_folders_in_the_way_are_named() {
    let place = ran();
    place.write("file", "x");
    for to in ["file/x.png", "file/x.gif", "file/%d.png", "file/x"] {
        refused(&place, &format!("render out -o {to}"), &["file: is a file, expected a folder"]);
    }
    refused(&place, "export out --format usd -o file/x.usd", &["file: is a file, expected a folder"]);
    refused(&place, "export out --format usd -o x.usd/", &["is a folder, expected a file"]);
    refused(&place, "render out -o x.png/", &["is a folder, expected a file"]);
    fs::create_dir(place.path("3.png")).unwrap();
    refused(&place, "render out -o %d.png --force --size 32x32", &["3.png: is a folder"]);
}

#[test]
fn a_sequence_is_replaced_as_a_whole_or_not_at_all() {
    let place = ran();
    place.write("f.0003.png", "mine");
    refused(&place, "render out -o f.%04d.png --size 32x32", &["f.0003.png", "--force"]);
    place.write("f.0000.png", "mine too");
    let frame = place.path("out/frames/sheet.0004.npy");
    let whole = fs::read(&frame).unwrap();
    fs::write(&frame, b"torn").unwrap();
    refused(&place, "render out -o f.%04d.png --size 32x32 --force", &["sheet.0004.npy"]);
    assert_eq!((place.read("f.0000.png"), place.read("f.0003.png")), ("mine too".into(), "mine".into()));
    fs::write(&frame, whole).unwrap();
    place.good("render out -o f.%04d.png --size 32x32 --force");
    let files = place.files(".");
    assert_eq!(files.keys().filter(|name| name.ends_with(".png")).count(), FRAMES + 1);
    assert!(files["f.0003.png"].starts_with(b"\x89PNG"));
    assert!(!files.keys().any(|name| name.contains("part")));
}

/// Two at once, and what a killed one leaves.
#[test]
fn one_place_is_written_by_one_at_a_time() {
    let place = ran();
    for (hidden, command) in [
        (".x.usd.lock.taut-part", "export out -o x.usd --quiet"),
        (".x.gif.lock.taut-part", "render out -o x.gif --size 32x32 --quiet"),
        (".x.%d.png.lock.taut-part", "render out -o x.%d.png --size 32x32 --quiet"),
    ] {
        let lock = fs::File::create(place.path(hidden)).unwrap();
        lock.lock().unwrap();
        refused(&place, command, &["is being written by another process", "wait"]);
        // Not by dropping it: a child of another test, not yet started, may still hold it open.
        lock.unlock().unwrap();
        place.good(command);
        assert!(!place.path(hidden).exists(), "{hidden}");
    }
}

#[test]
fn a_run_that_is_not_done_yet_is_told_from_one_that_was_stopped() {
    let place = ran();
    fs::remove_file(place.path("out/frames/sheet.0004.npy")).unwrap();
    refused(&place, "export out --format usd", &["was stopped after frame 3 of 4", "--resume"]);
    let lock = fs::File::options().write(true).open(place.path("out/checkpoint/lock")).unwrap();
    lock.lock().unwrap();
    refused(&place, "export out --format usd", &["still being written, frame 3 of 4", "--frames 0-3"]);
    place.good("export out --format usd --frames 0-3");
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_nothing() {
    use std::{
        process::Stdio,
        thread::sleep,
        time::{Duration, Instant},
    };
    let place = Place::new();
    place.good("run scene-in.toml -o out --frames 40 --quiet");
    for to in ["new/x.gif", "new/x.%04d.png", "new/folder"] {
        let before = tree(&place.path(""));
        let mut command = place.command(&format!("render out -o {to} --size 1920x1080"));
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let started = Instant::now();
        // It listens before it makes anything.
        while !place.path("new").exists() {
            assert!(started.elapsed() < Duration::from_secs(60), "{to}: nothing is written");
            sleep(Duration::from_millis(2));
        }
        let id = child.id().to_string();
        assert!(std::process::Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(130), "{to}");
        assert_eq!(tree(&place.path("")), before, "{to}");
    }
}
