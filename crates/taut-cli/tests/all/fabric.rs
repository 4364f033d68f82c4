//! `taut test-fabric` and `taut fit-fabric`: what they print and write, and what they refuse.

use crate::program::Place;

#[test]
fn a_fabric_is_tested_and_drawn() {
    let place = Place::new();
    let answer = place.good("test-fabric denim --rings 4 -o tests");
    for words in ["drape coefficient", "published: 70 to 90 %", "bending length [cm]", "by the law"] {
        assert!(answer.out.contains(words), "{}", answer.out);
    }
    let files = place.files("tests");
    assert_eq!(files.len(), 3, "{:?}", files.keys());
    let curves = place.read("tests/denim-extension.csv");
    assert!(curves.starts_with("pull,strain,force_per_width_N_per_m,narrowing\n"), "{curves}");
    assert_eq!(curves.lines().count(), 1 + 4 * 5);
    place.bad("test-fabric denim --rings 4 -o tests", 2, &["denim-extension.csv", "force"]);
}

#[test]
fn json_tells_what_was_found() {
    let answer = Place::new().good("test-fabric silk paper --rings 4 --json");
    let reports: serde_json::Value = serde_json::from_str(&answer.out).unwrap();
    for (report, name) in reports.as_array().unwrap().iter().zip(["silk", "paper"]) {
        assert_eq!(report["material"]["name"], name);
        let number = |value: &serde_json::Value| value.as_f64().unwrap();
        for cut in report["cantilever"].as_array().unwrap() {
            let off = number(&cut["bending_length"]) / number(&cut["expected"]) - 1.0;
            assert!(off.abs() < 0.05, "{cut}");
        }
        for cut in report["hanging"].as_array().unwrap() {
            let off = number(&cut["strain"]) / number(&cut["expected"][0]) - 1.0;
            assert!(off.abs() < 0.05, "{cut}");
        }
    }
    assert!(reports[1]["drape"]["coefficient"].as_f64() > reports[0]["drape"]["coefficient"].as_f64());
}

#[test]
fn a_fit_is_a_line_of_a_scene_file() {
    let place = Place::new();
    let answer = place.good("fit-fabric denim --bending-length 2.6 --cut weft");
    assert!(answer.out.contains("bending length along the weft 2.6"), "{}", answer.out);
    let line = answer.out.lines().next().unwrap();
    let table = line.strip_prefix("material = ").unwrap();
    place.write("scene.toml", &crate::program::SCENE.replace("material = \"polyester\"", line));
    place.good("check scene.toml");
    assert!(table.contains("base = \"denim\""), "{table}");
}

#[test]
fn what_cannot_be_is_named() {
    let place = Place::new();
    place.bad("test-fabric dnim", 2, &["dnim", "did you mean \"denim\""]);
    place.bad("fit-fabric cotton --drape 140", 2, &["140", "from 1 to 99"]);
    place.bad("fit-fabric cotton --bending-length nan", 2, &["bending length", "0.1 to 50"]);
    place.bad("fit-fabric cotton", 2, &["--drape"]);
}
