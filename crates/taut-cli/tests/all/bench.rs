//! `taut bench --convergence` and `--paper`.

use crate::program;

use program::Place;
use serde_json::Value;

const SCHEMES: [&str; 7] = ["sweep", "serial", "jacobi", "nearest", "cycle", "paper", "paper, repeated"];

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

#[test]
fn every_scheme_has_a_curve_that_goes_somewhere() {
    let place = Place::new();
    let found = json(&place.good("bench scene-in.toml --convergence --json --threads 2").out);
    assert_eq!(
        (&found["frame"], &found["triangles"], &found["steps_per_frame"]),
        (&6.into(), &128.into(), &1.into())
    );
    let before = number(&found["prediction"]["max_residual"]);
    assert!(before > number(&found["tolerance"]), "{found}");
    let curves = found["curves"].as_array().unwrap();
    assert!(curves.iter().map(|c| c["scheme"].as_str().unwrap()).eq(SCHEMES), "{found}");
    for curve in curves {
        let points = curve["points"].as_array().unwrap();
        assert!(points.len() >= 3, "{curve}");
        for pair in points.windows(2) {
            assert!(number(&pair[0]["iterations"]) < number(&pair[1]["iterations"]), "{curve}");
        }
        assert!(points.iter().all(|p| number(&p["ms"]) > 0.0), "{curve}");
        let last = points.last().unwrap();
        // A point that is said to be within its tolerance is, in double precision too.
        for point in points {
            assert!(point["within"] != true || number(&point["max_residual"]) <= 0.01, "{point}");
        }
        assert!(number(&last["mean_residual"]) <= number(&last["max_residual"]), "{curve}");
        if curve["scheme"] == "nearest" {
            assert_eq!((&last["within"], &curve["ended"]), (&true.into(), &true.into()), "{curve}");
            // It does the iterations that an unbiased step needs, though fewer were within the limits.
            assert_eq!(last["iterations"], 22, "{curve}");
        }
    }
}

#[test]
fn a_point_is_the_step_that_a_run_would_take() {
    let place = Place::new();
    let tight = "--set solver.tolerance={past=0.0002} --set cloth.sheet.strain.max=0.0005";
    let set = "--set solver.iterations=4 --set solver.scheme=sweep --set solver.steps_per_frame=1";
    place.good(&format!("run scene-in.toml -o out --frames 1 {tight} {set}"));
    let body = &place.metrics("out")[1]["certificate"]["bodies"][0];
    let found = json(&place.good(&format!("bench scene-in.toml --convergence --frame 1 --json {tight}")).out);
    let points = found["curves"][0]["points"].as_array().unwrap();
    let fourth = points.iter().find(|p| p["iterations"] == 4).unwrap();
    for key in ["max_residual", "mean_residual"] {
        assert_eq!(fourth[key], body[key], "{key}");
    }
}

#[test]
fn convergence_is_told_in_tables_and_drawn() {
    let place = Place::new();
    let scene = program::SCENE.replace("strain = ", "bend = { min = -2, max = 2 }\nstrain = ");
    place.write("bent.toml", &scene);
    let answer = place.good("bench bent.toml --convergence --frame 3 -o curves.svg --set solver.fit=bounds");
    for word in [
        "first step of frame 3",
        "largest residual after",
        "mean residual after",
        "bend excess after",
        "tolerance 0.01",
    ] {
        assert!(answer.out.contains(word), "{word}: {}", answer.out);
    }
    for scheme in SCHEMES {
        assert_eq!(answer.out.matches(&format!("\n{scheme} ")).count(), 4, "{scheme}: {}", answer.out);
    }
    let svg = place.read("curves.svg");
    assert!(well_formed(&svg), "{svg}");
    assert!(SCHEMES.iter().all(|scheme| svg.contains(scheme)) && svg.contains("tolerance"), "{svg}");
    place.good("bench scene-in.toml --convergence --frame 1 -o curves.png");
    let png = std::fs::read(place.path("curves.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
}

/// Whether every element of an XML text is closed by its own name, and there is one root.
fn well_formed(text: &str) -> bool {
    let (mut open, mut roots) = (Vec::new(), 0);
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let Some(end) = rest[start..].find('>') else { return false };
        let tag = &rest[start + 1..start + end];
        rest = &rest[start + end + 1..];
        if tag.starts_with(['?', '!']) {
            continue;
        }
        let name = tag.trim_matches('/').split_whitespace().next().unwrap_or_default();
        if tag.starts_with('/') {
            if open.pop() != Some(name) {
                return false;
            }
            continue;
        }
        roots += usize::from(open.is_empty());
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    open.is_empty() && roots == 1
}

#[test]
fn a_pile_of_layers_is_measured_beside_the_published_time() {
    let place = Place::new();
    let found = json(&place.good("bench --layers 4 --cells 32 --frames 12 --json --threads 2").out);
    assert_eq!((&found["layers"], &found["triangles"]), (&4.into(), &(4 * 32 * 32 * 2).into()));
    assert_eq!((&found["frames"], &found["intersecting_frames"]), (&12.into(), &0.into()));
    assert!(
        found["max_residual"].as_f64().unwrap() <= found["tolerance"].as_f64().unwrap() + 1e-6,
        "{found}"
    );
    // They have met by then, and keep apart.
    assert!(found["smallest_gap"].as_f64().unwrap() > 0.0, "{found}");
    let told = place.good("bench --layers 2 --cells 6 --frames 2").out;
    assert!(told.contains("0.21 s per step") && told.contains("per triangle"), "{told}");
    place.bad("bench flag --layers 2", 2, &["--layers"]);
    place.bad("bench flag --cells 2", 2, &["--layers"]);
}

#[test]
fn convergence_refuses_what_it_cannot_do() {
    let place = Place::new();
    place.bad("bench --convergence", 2, &["one scene", "0 given"]);
    place.bad("bench scene-in.toml flag --convergence", 2, &["2 given"]);
    place.bad("bench missing.toml --convergence", 2, &["missing.toml"]);
    place.bad("bench scene-in.toml --convergence --frame 13", 2, &["--frame 13", "12 frames"]);
    place.bad("bench scene-in.toml --convergence --frame 0", 2, &["--frame"]);
    place.bad("bench scene-in.toml --convergence --frames 3", 2, &["--frames"]);
    place.bad("bench scene-in.toml --convergence --compare", 2, &["--compare"]);
    place.bad("bench scene-in.toml --frame 3", 2, &["--convergence"]);
    place.bad("bench scene-in.toml -o a.svg", 2, &["--convergence"]);
    let free = program::SCENE.replace("strain = { max = 0.05 }\n", "");
    place.write("free.toml", &free);
    place.bad("bench free.toml --convergence", 2, &["no body has limits", "hint:"]);
    // Files are looked at before anything is measured, and stay as they were.
    for name in ["a.gif", "a", ".svg", "svg"] {
        place.bad(&format!("bench scene-in.toml --convergence -o {name}"), 2, &[name, ".svg or .png"]);
    }
    place.bad("bench scene-in.toml --convergence -o nowhere/a.svg", 2, &["nowhere", "folder does not exist"]);
    place.write("a.svg", "mine");
    place.bad("bench scene-in.toml --convergence -o a.svg", 2, &["a.svg", "--force"]);
    assert_eq!(place.read("a.svg"), "mine");
    place.good("bench scene-in.toml --convergence --frame 1 -o a.svg --force");
    assert!(place.read("a.svg").contains("<svg"));
    std::fs::create_dir(place.path("b.svg")).unwrap();
    place.bad("bench scene-in.toml --convergence -o b.svg --force", 2, &["b.svg", "folder"]);
}

#[test]
fn the_paper_is_quoted_and_measured_beside() {
    let place = Place::new();
    // Without gravity there is little to limit: the published method takes minutes otherwise.
    let quick = "--set solver.fit=bounds --set scene.gravity=[0,0,0]";
    // Those that take seconds.
    let some = "--example cloth --example duck --example tori";
    let found = json(&place.good(&format!("bench --paper {some} --frames 1 --json {quick}")).out);
    let rows = found["table_1"].as_array().unwrap();
    let examples: Vec<&str> = rows.iter().map(|r| r["published"]["example"].as_str().unwrap()).collect();
    assert_eq!(examples, ["Cloth", "Duck", "Tori"]);
    for row in rows {
        let measured = row["measured"].as_array().unwrap();
        assert!(!measured.is_empty(), "{row}");
        let wanted = number(&row["published"]["elements"]);
        for scene in measured {
            assert!((number(&scene["elements"]) / wanted - 1.0).abs() < 0.05, "{scene}");
            for scheme in ["nearest", "paper", "repeated"] {
                assert_eq!(scene[scheme]["frames"], 1);
                assert!(number(&scene[scheme]["mean_ms"]) > 0.0);
            }
            assert!(number(&scene["nearest"]["max_residual"]) <= 0.0101, "{scene}");
            assert!(number(&scene["faster_than_paper_repeated"]) > 0.0);
        }
    }
    assert_eq!(rows[0]["measured"].as_array().unwrap().len(), 3);
    assert_eq!(found["figure_9"].as_array().unwrap().len(), 5);
    let stiff = &found["figure_9"][3]["measured"];
    assert!(stiff["steps_per_frame"] == 100 && number(&stiff["max_strain"]) < 0.1, "{stiff}");
    let races = found["figure_14"]["races"].as_array().unwrap();
    let ms = |scheme: &str| races.iter().find(|r| r["scheme"] == scheme).map(|r| number(&r["ms"])).unwrap();
    assert!(ms("nearest") < ms("serial"), "{races:?}");
    let markdown = place.good(&format!("bench --paper {some} --markdown --frames 1 {quick}")).out;
    for word in ["13.11", "Tori: tori, 52476 tetrahedra", "Cloth: bend-loose, 12800 triangles", "±60 °/cm"]
    {
        assert!(markdown.contains(word), "{word}: {markdown}");
    }
    let tables = markdown.split("### ").skip(1).map(|t| t.lines().filter(|l| l.starts_with('|')).count());
    assert_eq!(tables.collect::<Vec<_>>(), [5, 5, 5, 5, 5, 5, 7, 7], "{markdown}");
    let columns = |line: &str| line.matches('|').count();
    for table in markdown.split("### ").skip(1) {
        let mut lines = table.lines().filter(|l| l.starts_with('|')).map(columns);
        let first = lines.next().unwrap();
        assert!(lines.all(|count| count == first), "{table}");
    }
    place.bad("bench flag --paper", 2, &["--paper"]);
    place.bad("bench --markdown", 2, &["--paper"]);
    place.bad("bench --example duck", 2, &["--paper"]);
    place.bad("bench --paper --example goose", 2, &["goose", "dragon-hollow"]);
    place.bad("bench --paper --frames 0", 2, &["--frames"]);
}
