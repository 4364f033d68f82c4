//! Pictures and video of runs, and what is refused.

use crate::program;

use program::Place;

fn ran() -> Place {
    let place = Place::new();
    place.good("run scene-in.toml -o out --frames 4 --quiet");
    place
}

/// Names in a folder that should not be left behind.
fn parts(place: &Place, folder: &str) -> Vec<String> {
    let names = place.files(folder).into_keys();
    names.filter(|name| name.contains("part") || name.starts_with('.')).collect()
}

#[test]
fn pictures_sequences_and_clips_are_written() {
    let place = ran();
    let small = "render out --size 64x48 --quiet";
    place.good(&format!("{small} -o still.png"));
    place.good(&format!("{small} -o start.png --frame 0"));
    let files = place.files(".");
    assert!(files["still.png"].starts_with(b"\x89PNG") && files["start.png"].starts_with(b"\x89PNG"));
    assert_ne!(files["still.png"], files["start.png"]);

    place.good(&format!("{small} -o seq/f.%03d.png --frames 1-3"));
    let names: Vec<String> = place.files("seq").into_keys().collect();
    assert_eq!(names, ["f.001.png", "f.002.png", "f.003.png"]);
    place.good(&format!("{small} -o folder"));
    assert_eq!(place.files("folder").len(), 5);
    place.good(&format!("{small} -o clip.gif"));
    place.good(&format!("{small} -o clip.apng"));
    assert!(place.files(".")["clip.gif"].starts_with(b"GIF89a"));

    let answer = place.good("render out --size 64x48 --frame 2 --json");
    let told: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!(told["first_frame"], 2);
    assert!(place.path("out/render.png").exists());
    // The camera that it tells can be given.
    let camera = told["camera"].as_str().unwrap();
    place.good(&format!("{small} -o again.png --frame 2 --camera {camera}"));
    assert_eq!(parts(&place, "."), [""; 0]);
}

#[test]
fn every_colouring_makes_another_picture() {
    let place = ran();
    let mut seen = Vec::new();
    for color in ["fabric", "level", "strain", "residual", "hsv", "overstretch"] {
        place.good(&format!("render out --size 96x64 --quiet -o {color}.png --color {color}"));
        let bytes = std::fs::read(place.path(&format!("{color}.png"))).unwrap();
        assert!(!seen.contains(&bytes), "{color} looks like another");
        seen.push(bytes);
    }
    place.bad("render out -o x.png --color plaid", 2, &["overstretch"]);
    place.bad("render out -o x.png --color level --level 9", 2, &["level 9 does not exist"]);
}

#[test]
fn threads_do_not_change_the_picture() {
    let place = ran();
    for threads in [1, 2, 5] {
        place.good(&format!("render out --size 128x96 --quiet -o {threads}.png --threads {threads}"));
    }
    let files = place.files(".");
    assert!(files["1.png"] == files["2.png"] && files["1.png"] == files["5.png"]);
}

#[test]
fn what_makes_no_picture_is_refused_and_leaves_nothing() {
    let place = ran();
    for (arguments, words) in [
        ("--size 0x10 -o x.png", "1280x720"),
        ("--size 100000x100000 -o x.png", "8192"),
        ("--size 64 -o x.png", "WIDTHxHEIGHT"),
        ("-o x.jpeg", ".mp4, .gif or .apng"),
        ("-o x.%s.png", "frame.%04d.png"),
        ("-o x.png --frames 1-3", "--frame N"),
        ("-o x.png --frame 99", "frames 0 to 4"),
        ("-o x.gif --frames 3-99", "frames 0 to 4"),
        ("-o x.png --frame 1 --frames 1-2", "cannot be used with"),
        ("-o x.png --zoom 0", "must be a positive number"),
        ("-o x.png --fps -1", "--fps"),
        ("-o x.png --camera 1,2,3", "EYE_X"),
        ("-o x.png --camera nan,0,0/0,0,0", "finite"),
        ("-o x.png --camera 1,2,3/1,2,3", "apart"),
        ("-o x.png --camera 1,2,3/0,0,0/0", "field of view"),
        ("-o x.png --camera 0,0,9/0,0,99", "sees no body"),
        ("-o x.png --camera 0,0,9/0,0,99", "--camera "),
        ("-o x.png --view below", "three-quarter"),
        ("-o x.png --camera 0,0,9/0,0,0 --view top", "cannot be used with"),
    ] {
        place.bad(&format!("render out {arguments}"), 2, &[words]);
    }
    place.bad("render nowhere -o x.png", 2, &["nowhere"]);
    let left: Vec<String> = place.files(".").into_keys().collect();
    assert_eq!(left, ["scene-in.toml"]);
}

#[test]
fn what_exists_is_replaced_only_by_force() {
    let place = ran();
    place.write("x.png", "mine");
    place.write("x.gif", "mine");
    place.write("f.0002.png", "mine");
    for name in ["x.png", "x.gif", "f.%04d.png"] {
        place.bad(&format!("render out --size 64x48 -o {name}"), 2, &["--force"]);
    }
    assert_eq!(place.read("x.png"), "mine");
    assert_eq!(place.read("x.gif"), "mine");
    let left: Vec<String> = place.files(".").into_keys().collect();
    assert_eq!(left, ["f.0002.png", "scene-in.toml", "x.gif", "x.png"], "what was begun is gone");
    place.good("render out --size 64x48 --quiet -o x.png --force");
    assert!(place.files(".")["x.png"].starts_with(b"\x89PNG"));
}

#[test]
fn damaged_frames_are_named_and_nothing_is_left() {
    let place = ran();
    let frame = place.path("out/frames/sheet.0003.npy");
    let bytes = std::fs::read(&frame).unwrap();
    std::fs::write(&frame, &bytes[..bytes.len() / 2]).unwrap();
    for name in ["x.gif", "x.%04d.png", "folder", "x.apng"] {
        place.bad(&format!("render out --size 64x48 -o {name}"), 2, &["sheet.0003.npy", "frame 3"]);
    }
    std::fs::remove_file(&frame).unwrap();
    place.bad("render out --size 64x48 -o x.gif", 2, &["sheet.0003.npy", "missing"]);
    let left: Vec<String> = place.files(".").into_keys().collect();
    assert_eq!(left, ["scene-in.toml"]);
    assert!(!place.path("folder").exists());
}

#[test]
fn odd_sizes_of_a_video_are_told() {
    let place = ran();
    let answer = place.taut("render out --size 65x49 -o x.mp4 --frames 0-1");
    // A build without H.264 refuses, and says what to do.
    if answer.code == Some(0) {
        assert!(answer.err.contains("66x50"), "{}", answer.err);
    } else {
        assert_eq!(answer.code, Some(2), "{}", answer.err);
    }
}

#[test]
fn cloth_of_the_edge_model_goes_on_is_verified_and_drawn_level_by_level() {
    let place = Place::new();
    place.good("run tang-sheet -o whole --frames 6 --quiet");
    place.good("run tang-sheet -o parts --frames 3 --quiet");
    place.good("run --resume -o parts --frames 6 --quiet");
    assert_eq!(place.files("whole/frames"), place.files("parts/frames"));
    place.good("verify whole");
    let mut seen = Vec::new();
    for level in 0..4 {
        place.good(&format!("render whole --size 96x64 --quiet -o {level}.png --mesh-level {level}"));
        let bytes = std::fs::read(place.path(&format!("{level}.png"))).unwrap();
        assert!(!seen.contains(&bytes), "level {level} looks like another");
        seen.push(bytes);
    }
    place.bad("render whole -o x.png --mesh-level 4", 2, &["levels 0 to 3", "level 4 does not exist"]);
    place.bad("render whole -o x.png --mesh-level 1 --color level", 2, &["omit one of them"]);
    place.good("run bar -o soft --frames 1 --quiet");
    place.bad("render soft -o x.png --mesh-level 1", 2, &["has no cloth", "omit --mesh-level"]);
}
