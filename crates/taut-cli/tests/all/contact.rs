//! What passes through what: certificates, `taut verify` and `taut check` say it, and ipctk, which knows
//! nothing of taut, says the same.

use crate::clients;
use crate::program;

use std::path::Path;

use clients::python;
use program::{Place, nudge};

/// Compares frame by frame what ipctk finds with what the run wrote.
const AGREE: &str = include_str!("clients/intersections.py");

/// A sheet that falls on its edge and folds up, small.
const FOLDING: &str = r#"[scene]
frames = 18
[contact]
thickness = 0.004
[[cloth]]
name = "sheet"
mesh = { grid = { size = [0.4, 0.4], cells = [14, 14] } }
transform = { translate = [0.0, 0.42, 0.0], rotate = [80.0, 0.0, 0.0] }
velocity = [0.0, -2.0, 0.0]
material = "polyester"
strain = { max = 0.05 }
[[obstacle]]
name = "floor"
shape = { plane = { normal = [0.0, 1.0, 0.0] } }
friction = 0.3
"#;

/// Two sheets that cross each other from the start.
const CROSSED: &str = r#"[scene]
frames = 3
[contact]
thickness = 0.002
[[cloth]]
name = "lying"
mesh = { grid = { size = [0.4, 0.4], cells = [6, 6] } }
material = "polyester"
[[cloth]]
name = "standing"
mesh = { grid = { size = [0.2, 0.2], cells = [4, 4] } }
transform = { translate = [0.01, 0.03, 0.02], rotate = [83.0, 10.0, 0.0] }
material = "polyester"
"#;

fn agree(place: &Place, run: &str, expected: &str) {
    let said = python(AGREE, &[&place.path(run), Path::new(expected)]);
    assert!(said.contains("agree"), "{said}");
}

/// Triangles at most that have a vertex in common with `vertex` lie this far from it in the grid.
const FAR: usize = 15 * 15 - 1;

#[test]
#[ignore = "full tier: needs Python"]
fn a_run_with_contact_holds_and_what_is_planted_is_named_by_all() {
    let place = Place::new();
    place.write("folding.toml", FOLDING);
    let answer = place.good("run folding.toml -o out");
    assert!(answer.out.contains("no intersections, smallest gap"), "{}", answer.out);
    let answer = place.good("verify out");
    assert!(answer.out.contains("no intersections"), "{}", answer.out);
    agree(&place, "out", "none");

    // A corner pushed through the opposite part of the sheet: its edges go through faces far from it.
    let file = place.path("out/frames/sheet.0009.npy");
    let whole = std::fs::read(&file).unwrap();
    let at = |vertex: usize| -> [f32; 3] {
        std::array::from_fn(|k| {
            let first = whole.len() - 12 * (FAR + 1) + 12 * vertex + 4 * k;
            f32::from_le_bytes(whole[first..first + 4].try_into().unwrap())
        })
    };
    let (corner, target, beyond) = (at(0), at(15 * 7 + 7), at(15 * 7 + 8));
    for k in 0..3 {
        let aim = 0.5 * (target[k] + beyond[k]);
        nudge(&file, 0, k, 1.3 * (aim - corner[k]));
    }
    let words = ["frame 9: sheet: edge 0, ", "intersects face", "of sheet", "intersections, recorded 0"];
    let answer = place.bad("verify out", 1, &words);
    assert!(!answer.err.contains("frame 8") && !answer.err.contains("frame 10"), "{}", answer.err);
    let found: serde_json::Value = serde_json::from_str(&place.taut("verify out --json").out).unwrap();
    let kinds: Vec<&str> =
        found["failures"].as_array().unwrap().iter().filter_map(|f| f["kind"].as_str()).collect();
    assert!(kinds.contains(&"intersection"), "{kinds:?}");
    assert_eq!(found["figures"]["contact"]["first_crossed"]["frame"], 9);
    agree(&place, "out", "9");
}

#[test]
fn a_gap_that_was_changed_is_noticed() {
    let place = Place::new();
    place.write("folding.toml", FOLDING);
    place.good("run folding.toml -o out");
    let metrics = place.read("out/metrics.jsonl");
    let last = metrics.rfind("\"smallest_gap\":0.00").unwrap();
    place.write(
        "out/metrics.jsonl",
        &format!("{}\"smallest_gap\":0.09{}", &metrics[..last], &metrics[last + 19..]),
    );
    place.bad("verify out", 1, &["the smallest gap is", "recorded 9"]);
}

#[test]
#[ignore = "full tier: needs Python"]
fn without_contact_ipctk_finds_what_taut_finds() {
    let place = Place::new();
    place.write("through.toml", &FOLDING.replace("thickness = 0.004", "thickness = 0.0"));
    place.good("run through.toml -o out");
    assert!(!place.read("out/metrics.jsonl").contains("\"contact\""));
    // The same frames, looked at as if contact had been on.
    place.write(
        "out/scene.toml",
        &place.read("out/scene.toml").replace("thickness = 0.0\n", "thickness = 0.004\n"),
    );
    let answer = place.bad("verify out", 1, &["intersects face", "has no contact data"]);
    assert!(answer.err.contains("of sheet"), "{}", answer.err);
    agree(&place, "out", "some");
}

#[test]
#[ignore = "full tier: needs Python"]
fn a_tangled_start_is_told_by_check_and_drawn_and_no_reason_to_fail() {
    let place = Place::new();
    place.write("crossed.toml", CROSSED);
    let answer = place.good("check crossed.toml --ply tangled.ply");
    assert!(answer.err.contains("tangled at the start: edge"), "{}", answer.err);
    assert!(answer.err.contains("of lying") && answer.err.contains("of standing"), "{}", answer.err);
    let found: serde_json::Value =
        serde_json::from_str(&place.good("check crossed.toml --json").out).unwrap();
    assert!(found["tangle"]["intersections"].as_u64().unwrap() > 4, "{found}");
    let named = found["tangle"]["first"][0]["edge"][0].to_string();
    let script = "import meshio, sys, numpy as np\n\
        m = meshio.read(sys.argv[1])\n\
        color = {name: m.point_data[name].astype(np.uint8) for name in ('red', 'green')}\n\
        red = np.flatnonzero((color['red'] > 200) & (color['green'] < 100))\n\
        assert int(sys.argv[2]) in red and 4 < len(red) < len(m.points) / 2, red\n";
    python(script, &[&place.path("tangled.ply"), Path::new(&named)]);
    place.bad("check crossed.toml --ply tangled.ply", 2, &["tangled.ply", "--force"]);
    place.bad("check crossed.toml --ply tangled.obj", 2, &[".ply"]);
    // As a mesh of its own it is as tangled.
    let answer = place.good("check tangled.ply");
    assert!(answer.err.contains("tangled at the start"), "{}", answer.err);
    let answer = place.good("check scene-in.toml");
    assert!(!answer.err.contains("tangled") && !answer.out.contains("tangled"), "{}", answer.err);

    let answer = place.good("run crossed.toml -o out");
    assert!(answer.out.contains("tangled at the start"), "{}", answer.out);
    place.good("verify out");
    agree(&place, "out", "some");
}
