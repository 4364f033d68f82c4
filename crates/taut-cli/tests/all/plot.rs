//! Figures of runs, and what happens when they cannot be drawn.

use crate::program;

use std::fs;

use program::Place;

#[test]
fn a_run_is_drawn_as_svg_and_png() {
    let place = Place::new();
    place.good("run scene-in.toml -o out");
    let said = place.good("plot out").out;
    assert!(said.contains("plot.svg") && said.contains("residual past limits"), "{said}");
    let svg = place.read("out/plot.svg");
    for word in [
        "<svg",
        "Residual past limits",
        "tolerance",
        "Largest stretch",
        ">limit<",
        "Energy",
        "[ms]",
        "kinetic",
    ] {
        assert!(svg.contains(word), "{word}");
    }
    assert!(!svg.contains("compression") && !svg.contains("bend limits"), "there are no such limits");
    place.good("plot out -o figure.PNG");
    assert!(fs::read(place.path("figure.PNG")).unwrap().starts_with(b"\x89PNG"));
    place.good("verify out");
    place.good("run --resume -o out --frames 14");
}

#[test]
fn limits_that_are_set_are_drawn() {
    let place = Place::new();
    place.good("run scene-in.toml -o out --set cloth.sheet.strain.min=-0.04 --set cloth.sheet.bend.max=40 --frames 3");
    place.good("plot out");
    let svg = place.read("out/plot.svg");
    assert!(svg.contains("Largest compression") && svg.contains("Excess past bend limits"));
}

#[test]
fn several_runs_are_compared() {
    let place = Place::new();
    place.good("run scene-in.toml -o a/loose --frames 5");
    place.good("run scene-in.toml -o tight --frames 8 --set cloth.sheet.strain.max=0.02");
    place.bad("plot a/loose tight", 2, &["several", "-o"]);
    place.good("plot a/loose tight -o both.svg");
    let svg = place.read("both.svg");
    assert!(svg.contains(">loose: largest<") && svg.contains(">tight: largest<") && svg.contains(">tight<"));
    assert!(svg.contains(">limit: loose<") && svg.contains(">limit: tight<"), "two limits");
    place.good("run scene-in.toml -o b/loose --frames 5");
    place.good("plot a/loose b/loose -o both.svg --force");
    assert!(place.read("both.svg").contains("b/loose: largest"));
}

#[test]
fn what_is_there_is_kept_unless_forced() {
    let place = Place::new();
    place.good("run scene-in.toml -o out --frames 2");
    place.write("out/plot.svg", "mine");
    place.bad("plot out", 2, &["plot.svg", "--force"]);
    assert_eq!(place.read("out/plot.svg"), "mine");
    place.good("plot out --force");
    assert!(place.read("out/plot.svg").starts_with("<svg"));
}

#[test]
fn bad_names_and_folders_are_told() {
    let place = Place::new();
    place.good("run scene-in.toml -o out --frames 3");
    for name in ["figure.pdf", "figure", "svg"] {
        place.bad(&format!("plot out -o {name}"), 2, &[name, ".svg", ".png"]);
    }
    place.bad("plot nowhere", 2, &["nowhere", "metrics.jsonl", "taut run"]);
    place.bad("plot", 2, &["OUT"]);
    place.bad("plot out -o no/where/figure.svg", 3, &["could not write", "figure.svg"]);
    fs::create_dir(place.path("folder.svg")).unwrap();
    place.bad("plot out -o folder.svg --force", 3, &["could not write", "folder.svg"]);
    assert_eq!(fs::read_dir(place.path("folder.svg")).unwrap().count(), 0);

    let whole = place.read("out/metrics.jsonl");
    let lines: Vec<&str> = whole.lines().collect();
    let damaged = [
        (String::new(), "metrics.jsonl:1"),
        (format!("{}\nnonsense\n{}\n", lines[0], lines[1]), "metrics.jsonl:2"),
        (format!("{}\n{}\n", lines[0], lines[2]), "metrics.jsonl:2"),
        (whole[..whole.len() - 20].to_owned(), "metrics.jsonl:4"),
    ];
    for (text, place_of_it) in damaged {
        place.write("out/metrics.jsonl", &text);
        place.bad("plot out", 2, &[place_of_it]);
        assert!(!place.path("out/plot.svg").exists());
    }
    place.write("out/metrics.jsonl", &whole);
    fs::remove_file(place.path("out/scene.toml")).unwrap();
    place.bad("plot out", 2, &["scene.toml"]);
    let left: Vec<_> = fs::read_dir(place.path("out")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("part")), "{left:?}");
}
