//! `taut verify` passes what a run wrote, and names frame and element of whatever was changed afterwards.

use crate::program;

use program::{Place, SCENE, nudge};

fn place_with_run() -> Place {
    let place = Place::new();
    place.good("run scene-in.toml -o out");
    place.good("verify out");
    place
}

#[test]
fn one_moved_vertex_is_named() {
    let place = place_with_run();
    let file = place.path("out/frames/sheet.0007.npy");
    let original = std::fs::read(&file).unwrap();
    for vertex in [0, 1, 40, 80] {
        for axis in 0..3 {
            for by in [5e-3, -5e-3] {
                nudge(&file, vertex, axis, by);
                let answer = place.bad("verify out", 1, &["frame 7: sheet: ", "triangle"]);
                let named = format!("vertex {vertex} ");
                assert!(answer.err.contains(&named), "{named} axis {axis} by {by}:\n{}", answer.err);
                assert!(!answer.err.contains("frame 6") && !answer.err.contains("frame 8"), "{}", answer.err);
                std::fs::write(&file, &original).unwrap();
            }
        }
    }
    place.good("verify out");
}

#[test]
fn a_broken_limit_names_the_triangle_and_its_stretch() {
    let place = place_with_run();
    nudge(&place.path("out/frames/sheet.0007.npy"), 40, 1, 0.3);
    let answer =
        place.bad("verify out", 1, &["frame 7: sheet: triangle", "stretched to", ", limit 1.05", "vertices"]);
    assert!(answer.out.contains("failed verification"), "{}", answer.out);
    let answer = place.taut("verify out --json --threads 1");
    let found: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!((answer.code, &found["ok"]), (Some(1), &serde_json::Value::from(false)));
    let limit = found["failures"].as_array().unwrap().iter().find(|f| f["kind"] == "limit").unwrap();
    assert_eq!((&limit["frame"], &limit["body"]), (&7.into(), &"sheet".into()));
    assert!(limit["element"].as_str().unwrap().starts_with("triangle "), "{limit}");
}

#[test]
fn a_changed_start_and_a_moved_pin_are_noticed() {
    let place = place_with_run();
    nudge(&place.path("out/frames/sheet.0000.npy"), 17, 1, 5e-3);
    place.bad("verify out", 1, &["frame 0: sheet: vertex 17"]);
    let place = place_with_run();
    nudge(&place.path("out/frames/sheet.0003.npy"), 0, 1, 5e-3);
    place.bad("verify out", 1, &["frame 3: sheet: ", "pinned vertex"]);
}

#[test]
fn a_position_that_is_no_number_is_named() {
    let place = place_with_run();
    nudge(&place.path("out/frames/sheet.0005.npy"), 9, 2, f32::NAN);
    place.bad("verify out", 1, &["frame 5: sheet: vertex 9", "not finite"]);
}

#[test]
fn files_that_are_missing_truncated_or_too_many() {
    let place = place_with_run();
    let frame = place.path("out/frames/sheet.0004.npy");
    let bytes = std::fs::read(&frame).unwrap();
    std::fs::write(&frame, &bytes[..bytes.len() - 5]).unwrap();
    place.bad("verify out", 1, &["frame 4: sheet: ", "truncated"]);
    std::fs::remove_file(&frame).unwrap();
    place.bad("verify out", 1, &["frame 4: sheet: ", "sheet.0004.npy"]);
    std::fs::write(place.path("out/frames/sheet.0013.npy"), &bytes).unwrap();
    place.bad("verify out", 1, &["frame 13: sheet: ", "no such frame"]);
    std::fs::remove_file(place.path("out/frames/sheet.0013.npy")).unwrap();
    std::fs::write(&frame, &bytes).unwrap();
    place.good("verify out");

    let metrics = place.read("out/metrics.jsonl");
    let lines: Vec<&str> = metrics.lines().collect();
    place.write("out/metrics.jsonl", &[&lines[..6], &lines[7..]].concat().join("\n"));
    place.bad("verify out", 1, &["frame 6: metrics.jsonl has no line"]);
    place.write("out/metrics.jsonl", &format!("{metrics}{}\n", lines[12]));
    place.bad("verify out", 1, &["line 14 of metrics.jsonl"]);
    place.write("out/metrics.jsonl", &metrics[..metrics.len() - 40]);
    place.bad("verify out", 1, &["metrics.jsonl:13"]);
    place.write("out/metrics.jsonl", &metrics.replacen("\"max_stretch\":1.0", "\"max_stretch\":1.1", 4));
    place.bad("verify out", 1, &["max_stretch is"]);
    std::fs::remove_file(place.path("out/metrics.jsonl")).unwrap();
    place.bad("verify out", 1, &["metrics.jsonl"]);
}

#[test]
fn the_rest_mesh_and_the_scene_count() {
    let place = place_with_run();
    let rest = place.path("out/sheet.rest.ply");
    let mut bytes = std::fs::read(&rest).unwrap();
    let header = bytes.windows(11).position(|w| w == b"end_header\n").unwrap() + 11;
    bytes[header + 14] ^= 0x40;
    std::fs::write(&rest, bytes).unwrap();
    place.bad("verify out", 1, &["sheet: vertex 1: ", "rest mesh"]);
    std::fs::remove_file(&rest).unwrap();
    place.bad("verify out", 1, &["sheet.rest.ply"]);

    let place = place_with_run();
    let scene = place.read("out/scene.toml");
    place.write("out/scene.toml", &scene.replace("max = 0.05", "max = 0.001"));
    place.bad("verify out", 1, &["stretched to"]);
    place.write("out/scene.toml", "nonsense");
    place.bad("verify out", 2, &["scene.toml:1"]);
    std::fs::remove_file(place.path("out/scene.toml")).unwrap();
    place.bad("verify out", 2, &["scene.toml"]);
}

#[test]
fn a_limit_that_the_run_did_not_reach_is_called_that() {
    let place = Place::new();
    place
        .write("hard.toml", &SCENE.replace("tolerance = { past = 0.01 }", "tolerance = 0.0\niterations = 1"));
    let answer = place.good("run hard.toml -o out --frames 30");
    assert!(answer.out.contains("had a step that did not converge"), "{}", answer.out);
    place.bad("verify out", 1, &["limit not reached"]);
}

#[test]
fn expectations_decide_the_exit_code() {
    let place = Place::new();
    place.write("strict.toml", &format!("{SCENE}[expect]\nmax_strain = 0.000001\n"));
    let answer = place.bad("run strict.toml -o out", 1, &["expectation not met", "max_strain"]);
    assert!(answer.out.contains("expectations not met"), "{}", answer.out);
    let outcome: serde_json::Value = serde_json::from_str(&place.read("out/outcome.json")).unwrap();
    assert_eq!(outcome["status"], "expectation-failed");
    assert_eq!(outcome["unmet"].as_array().unwrap().len(), 1);
    place.bad("verify out", 1, &["max_strain"]);
}

/// One corner is let go after frame 4, another vertex is caught in frame 6.
#[test]
fn pins_that_switch_are_verified_from_files_and_survive_a_resume() {
    let place = Place::new();
    let pins = "{ select = \"corner:top-right\", until = 0.13 }, { select = \"index:40\", from = 0.2 }";
    let scene = SCENE.replace("{ select = \"corner:top-right\" }", pins);
    for scheme in ["nearest", "cycle"] {
        place.write("scene-in.toml", &scene.replace("[solver]", &format!("[solver]\nscheme = \"{scheme}\"")));
        place.good(&format!("run scene-in.toml -o {scheme}"));
        place.good(&format!("verify {scheme}"));
        place.good(&format!("run scene-in.toml -o {scheme}-parts --frames 8"));
        place.good(&format!("run --resume -o {scheme}-parts --frames 12"));
        for frame in 9..=12 {
            let frames = [scheme.into(), format!("{scheme}-parts")]
                .map(|run| std::fs::read(place.path(&format!("{run}/frames/sheet.{frame:04}.npy"))).unwrap());
            assert_eq!(frames[0], frames[1], "{scheme}: frame {frame}");
        }
    }
    let file = |frame: u32| place.path(&format!("nearest/frames/sheet.{frame:04}.npy"));
    nudge(&file(9), 40, 1, 1e-3);
    place.bad("verify nearest", 1, &["frame 9: sheet: ", "a pinned vertex is 1.000 mm from its target"]);
    nudge(&file(9), 40, 1, -1e-3);
    nudge(&file(5), 40, 1, 1e-3);
    let answer = place.bad("verify nearest", 1, &["frame 5: sheet: "]);
    assert!(!answer.err.contains("pinned vertex"), "{}", answer.err);
}
