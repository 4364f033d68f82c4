//! `taut fit`: what it prints, that it keeps limits, and that runs use them.

use crate::program;

use program::{Place, SCENE};

fn place() -> Place {
    let place = Place::new();
    let scene = SCENE
        .replace("cells = [8, 8]", "cells = [16, 16]")
        .replace(
            "strain = { max = 0.05 }",
            "strain = { min = -0.05, max = 0.05 }\nbend = { min = -3, max = 3 }",
        )
        .replace("frames = 12", "frames = 1");
    place.write("fit.toml", &scene);
    place
}

#[test]
fn fits_once_and_then_takes_them_from_the_cache() {
    let place = place();
    let first = place.good("fit fit.toml").out;
    assert!(first.contains("sheet: fitted (direct)") && first.contains("bend upper"), "{first}");
    let second = place.good("fit fit.toml").out;
    assert!(second.contains("sheet: from the cache (direct)"), "{second}");
    assert!(place.good("fit fit.toml --force").out.contains("fitted"));
    assert!(place.good("fit fit.toml --set cloth.sheet.strain.max=0.06").out.contains("fitted"));
    assert!(place.good("fit fit.toml --set solver.fit=indirect").out.contains("fitted (indirect)"));
    assert_eq!(place.files("cache").len(), 3);
}

#[test]
fn json_tells_the_ranges() {
    let place = place();
    let answer = place.good("fit fit.toml --json --threads 1");
    let cloths: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    let level = &cloths[0]["levels"][0];
    assert_eq!((&cloths[0]["cloth"], &cloths[0]["from_cache"]), (&"sheet".into(), &false.into()));
    let number = |key: &str, k: usize| level[key][k].as_f64().unwrap();
    assert!(number("lower", 0) <= number("lower", 1) && number("lower", 2) <= 0.951, "{level}");
    assert!((number("upper", 1) - 1.05).abs() < 1e-5 && number("bend_upper", 1) > 10.0, "{level}");
    assert!(level["seconds"].as_f64().unwrap() > 0.0 && level["triangles"].as_u64().unwrap() > 50);
}

#[test]
fn a_damaged_file_costs_one_warning() {
    let place = place();
    place.good("fit fit.toml");
    let (name, bytes) = place.files("cache").into_iter().next().unwrap();
    std::fs::write(place.path("cache").join(&name), &bytes[..bytes.len() / 2]).unwrap();
    let answer = place.good("fit fit.toml");
    assert_eq!(answer.err.lines().count(), 1, "{}", answer.err);
    assert!(answer.err.contains("warning:") && answer.err.contains(&name), "{}", answer.err);
    assert_eq!(place.files("cache")[&name], bytes);
}

#[test]
fn scenes_without_limits_and_bad_scenes() {
    let place = place();
    place.write("free.toml", &SCENE.replace("strain = { max = 0.05 }\n", ""));
    assert!(place.good("fit free.toml").out.contains("nothing to fit"));
    assert!(place.good("fit scene-in.toml").out.contains("too small"));
    place.bad("fit missing.toml", 2, &["missing.toml"]);
    place.bad("fit fit.toml --set solver.fit=best", 2, &["solver.fit", "direct"]);
}

#[test]
fn the_scheme_paper_uses_what_was_fitted() {
    let place = place();
    let run = |name: &str, set: &str| {
        place.taut(&format!("run fit.toml -o {name} --quiet --set solver.scheme=paper {set}"));
        (place.files("cache").len(), place.files(&format!("{name}/frames")))
    };
    let (kept, first) = run("a", "");
    assert_eq!(kept, 1, "the run keeps what it fitted");
    let (kept, again) = run("b", "");
    assert!(kept == 1 && again == first, "the same limits give the same bits");
    assert_eq!(run("c", "--set solver.fit=bounds").0, 2);
    place.taut("run fit.toml -o d --quiet");
    assert_eq!(place.files("cache").len(), 2, "other schemes fit nothing");
}
