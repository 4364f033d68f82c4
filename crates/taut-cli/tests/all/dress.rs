//! `taut dress`: a pattern and a body become a scene that can be run, stopped and resumed while it is sewn.

use crate::program;

use std::{process::Stdio, thread::sleep, time::Duration};

use program::Place;
use taut_io::output::npy;

/// Two panels of 30 by 40 cm in front of a post and behind it, sewn along their sides.
const PATTERN: &str = r#"{
  "pattern": {
    "panels": {
      "front": {"translation": [0, 100, 15], "rotation": [0, 0, 0],
        "vertices": [[-15, 0], [15, 0], [15, 40], [-15, 40]],
        "edges": [{"endpoints": [0, 1]}, {"endpoints": [1, 2]}, {"endpoints": [2, 3]}, {"endpoints": [3, 0]}]},
      "back": {"translation": [0, 100, -15], "rotation": [0, 0, 0],
        "vertices": [[-15, 0], [15, 0], [15, 42], [-15, 42]],
        "edges": [{"endpoints": [1, 0]}, {"endpoints": [0, 3]}, {"endpoints": [3, 2]}, {"endpoints": [2, 1]}]}
    },
    "stitches": [
      [{"panel": "front", "edge": 1}, {"panel": "back", "edge": 3}],
      [{"panel": "front", "edge": 3}, {"panel": "back", "edge": 1}]
    ]
  },
  "properties": {"curvature_coords": "relative", "units_in_meter": 100}
}"#;

/// A post of 12 by 12 cm, 1.7 m tall, scaled, with its faces turned inwards if `inward`.
fn post(scale: f64, inward: bool) -> String {
    let mut text = String::new();
    for k in 0..8 {
        let pick = |bit: i32, values: [f64; 2]| values[usize::from(k & bit != 0)] * scale;
        let [x, y, z] = [pick(1, [-0.06, 0.06]), pick(2, [0.0, 1.7]), pick(4, [-0.06, 0.06])];
        text += &format!("v {x} {y} {z}\n");
    }
    let faces = [[1, 3, 4, 2], [5, 6, 8, 7], [1, 2, 6, 5], [3, 7, 8, 4], [1, 5, 7, 3], [2, 4, 8, 6]];
    for mut face in faces {
        if inward {
            face.reverse();
        }
        text += &format!("f {} {} {} {}\n", face[0], face[1], face[2], face[3]);
    }
    text
}

fn place() -> Place {
    let place = Place::new();
    place.write("pattern.json", PATTERN);
    place.write("post.obj", &post(1.0, false));
    place
}

#[test]
fn a_pattern_is_sewn_around_a_body() {
    let place = place();
    let answer = place.good("dress pattern.json post.obj -o worn.toml --edge 0.04");
    for words in [
        "2 panels, 2 stitches",
        "30 cm open",
        "4.9 %, stitch 0 (front edge 1: 40.0 cm, back edge 3: 42.0 cm)",
    ] {
        assert!(answer.out.contains(words), "{}", answer.out);
    }
    assert!(answer.err.is_empty(), "{}", answer.err);
    place.bad("dress pattern.json post.obj -o worn.toml", 2, &["worn.toml", "already exists", "--force"]);
    let found = place.good("dress pattern.json post.obj -o worn.toml --edge 0.04 --force --json").out;
    let found: serde_json::Value = serde_json::from_str(&found).unwrap();
    assert_eq!((&found["panels"], &found["stitches"]), (&2.into(), &2.into()));
    let check = place.good("check worn.toml").out;
    assert!(check.contains("sewing: 22 pairs up to 30.1 cm apart, closed in 0.88 s"), "{check}");
    assert!(check.contains("no gravity for 2.2 s"), "{check}");
    // The sides close, and what hung in the air falls when the phase ends.
    place.good("run worn.toml -o worn --frames 90");
    let last = place.metrics("worn").pop().unwrap();
    let seams = &last["certificate"]["seams"][0];
    assert_eq!(seams["open"], 0, "{seams}");
    let height = |frame: u32| {
        let x = npy::read_any(&place.path(&format!("worn/frames/pattern.{frame:04}.npy"))).unwrap();
        x.iter().map(|x| f64::from(x.y)).sum::<f64>() / x.len() as f64
    };
    let heights = [0, 60, 90].map(height);
    assert!((heights[1] - heights[0]).abs() < 0.05 && heights[2] < heights[1] - 0.02, "{heights:?}");
}

#[test]
fn several_patterns_are_layers() {
    let place = place();
    let wider = PATTERN.replace("-15,", "-18,").replace("[15,", "[18,");
    place.write("over.json", &wider);
    let answer = place.good("dress pattern.json over.json post.obj -o worn.toml --edge 0.04");
    for words in ["worn.toml, pattern: 2 panels", "worn.toml, over: 2 panels", "40 cm open"] {
        assert!(answer.out.contains(words), "{}", answer.out);
    }
    assert!(
        answer.err.contains("over.json: front: starts 2 cm higher, 5 cm further in front"),
        "{}",
        answer.err
    );
    place.good("run worn.toml -o worn --frames 100");
    let last = place.metrics("worn").pop().unwrap();
    let certificate = &last["certificate"];
    for seam in certificate["seams"].as_array().unwrap() {
        assert_eq!(seam["open"], 0, "{seam}");
    }
    assert_eq!(certificate["contact"]["intersections"], 0);
    // The one over the other is outside: in front of it in front, behind it at the back.
    let [under, over] = ["pattern", "over"].map(|name| {
        let x = npy::read_any(&place.path(&format!("worn/frames/{name}.0100.npy"))).unwrap();
        let depths = x.iter().map(|x| x.z);
        [depths.clone().fold(f32::MAX, f32::min), depths.fold(f32::MIN, f32::max)]
    });
    assert!(over[0] < under[0] && over[1] > under[1], "{under:?} {over:?}");
    // With the body as an option; the same pattern twice has two names.
    place.good("dress pattern.json pattern.json --body post.obj -o twice.toml --edge 0.05");
    assert!(place.read("twice.toml").contains("name = \"pattern-2\""));
}

#[test]
fn units_and_sides_are_guessed_and_said() {
    let place = place();
    place.write("cm.obj", &post(100.0, true));
    let answer = place.good("dress pattern.json cm.obj -o a.toml --edge 0.05");
    for words in ["cm.obj: is 170.0 units tall; guessed cm, which makes it 1.70 m", "inside out"] {
        assert!(answer.err.contains(words), "{}", answer.err);
    }
    assert!(place.read("a.toml").contains("scale = 0.01"));
    place.write("metres.json", &PATTERN.replace("\"units_in_meter\": 100", "\"units_in_meter\": 1"));
    let answer = place.good("dress metres.json post.obj -o b.toml --edge 0.05");
    assert!(answer.err.contains("guessed 100, which makes it 0.42 m"), "{}", answer.err);
    assert!(place.read("b.toml").contains("units_in_meter = 100"));
    place.good("check b.toml");
    // A body that lies along z.
    let turned: String = post(1.0, false)
        .lines()
        .map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
            ["v", x, y, z] => format!("v {x} -{z} {y}\n").replace("--", ""),
            _ => format!("{line}\n"),
        })
        .collect();
    place.write("z.obj", &turned);
    let answer = place.good("dress pattern.json z.obj -o c.toml --edge 0.05");
    assert!(answer.err.contains("z is up"), "{}", answer.err);
    assert!(place.read("c.toml").contains("rotate = [-90.0, 0.0, 0.0]"));
}

#[test]
fn bad_input_is_named() {
    let place = place();
    place.bad("dress", 2, &["<FILES>"]);
    place.bad("dress pattern.json", 2, &["pattern.json is a pattern, and no body is given"]);
    place.bad("dress post.obj", 2, &["no pattern is given"]);
    // Every file that is wrong is named.
    place.write(
        "bad.json",
        &PATTERN.replace("\"panel\": \"back\", \"edge\": 3", "\"panel\": \"side\", \"edge\": 3"),
    );
    place.bad("dress pattern.json bad.json post.obj -o a.toml", 2, &["bad.json", "side"]);
    place.bad("dress bad.json nothing.json nobody.obj -o a.toml", 2, &["side", "nothing.json", "nobody.obj"]);
    place.bad("dress pattern.json nobody.obj", 2, &["nobody.obj", "file not found", "mesh of a body"]);
    place.bad("dress nothing.json post.obj", 2, &["nothing.json", "file not found", "GarmentCode"]);
    place.bad("dress pattern.json post.obj -o a.txt", 2, &["a.txt", ".toml"]);
    place.bad("dress pattern.json post.obj --edge 3", 2, &["--edge", "0.001 to 0.1"]);
    place.write("far.json", &PATTERN.replace("[0, 100,", "[0, 500,"));
    place.bad("dress far.json post.obj", 2, &["far.json", "not around the body", "5.00"]);
    place.write(
        "missing.json",
        &PATTERN.replace("\"panel\": \"back\", \"edge\": 3", "\"panel\": \"bak\", \"edge\": 3"),
    );
    place.bad(
        "dress missing.json post.obj",
        2,
        &["missing.json", "stitch 0", "\"bak\"", "did you mean \"back\""],
    );
    place.write(
        "broken.json",
        &PATTERN.replace("\"translation\": [0, 100, 15],", "\"translation\": [0, 100, 15]"),
    );
    place.bad("dress broken.json post.obj", 2, &["broken.json:4", "not valid JSON"]);
    place.write("empty.obj", "v 0 0 0\nv 0 1 0\nv 0 0 1\n");
    place.bad("dress pattern.json empty.obj", 2, &["empty.obj"]);
    place.write("worn.toml", "[[cloth]]\nname = \"it\"\nmesh = { pattern = { file = \"missing.json\" } }\n");
    place.bad("check worn.toml", 2, &["missing.json", "stitch 0", "pattern of cloth \"it\""]);
    place.write("both.toml", "[[cloth]]\nmesh = { pattern = { file = \"a.json\", built_in = \"dress\" } }\n");
    place.bad("check both.toml", 2, &["both.toml:2", "cannot be combined with file"]);
    place.write("short.toml", "[[cloth]]\nmesh = { pattern = \"a.json\" }\n");
    place.bad("check short.toml", 2, &["short.toml:2", "file not found", "a.json"]);
}

#[test]
fn a_run_that_is_killed_while_it_is_sewn_resumes_to_the_same_bits() {
    let place = place();
    place.good("dress pattern.json post.obj -o worn.toml --edge 0.04");
    place.good("run worn.toml -o whole --frames 50 --threads 2");
    let mut child = place.command("run worn.toml -o killed --frames 50 --threads 1");
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let file = place.path("killed/frames/pattern.0011.npy");
    while !file.exists() && child.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    place.good("run --resume -o killed --threads 2");
    assert_eq!(place.files("whole/frames"), place.files("killed/frames"));
    // The copy of the pattern goes with the run.
    assert!(place.path("whole/inputs/pattern.json").exists());
    place.good("verify killed");
}

#[test]
fn a_pocket_is_sewn_to_vertices_inside_a_panel() {
    // A sheet of 12 × 12 quads, a pocket of 4 × 4 in front of its middle, sewn along three sides.
    let mut pairs = Vec::new();
    for row in 0..5 {
        for column in 0..5 {
            if column % 4 == 0 || row == 4 {
                pairs.push([5 * row + column, 13 * (4 + row) + 4 + column]);
            }
        }
    }
    let place = Place::new();
    place.write(
        "pocket.toml",
        &format!(
            r#"
[scene]
frames = 30
[contact]
thickness = 0.004
[[cloth]]
name = "front"
mesh = {{ grid = {{ size = [0.48, 0.48], cells = [12, 12] }} }}
transform = {{ translate = [0.0, 1.0, 0.0], rotate = [90.0, 0.0, 0.0] }}
strain = {{ max = 0.05 }}
[[cloth.pin]]
select = "box:-1,-1,-1,1,1,0.001"
[[cloth]]
name = "pocket"
mesh = {{ grid = {{ size = [0.16, 0.16], cells = [4, 4] }} }}
transform = {{ translate = [0.16, 0.84, 0.02], rotate = [90.0, 0.0, 0.0] }}
strain = {{ max = 0.05 }}
[[seam]]
cloths = ["pocket", "front"]
pairs = {pairs:?}
[expect]
max_strain = 0.061
final_opening = 0.0
"#
        ),
    );
    place.good("run pocket.toml -o worn");
    let last = place.metrics("worn").pop().unwrap();
    assert_eq!(last["certificate"]["contact"]["intersections"], 0);
}
