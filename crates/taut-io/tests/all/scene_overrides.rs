//! Overrides of the command line: what they reach, what they make room for, and what is said of bad ones.

use crate::scene_folder;

use scene_folder::GOOD;
use taut_io::{
    Problems,
    scene::{self, LoadedScene},
};

fn load(overrides: &[&str]) -> Result<LoadedScene, Problems> {
    let overrides: Vec<String> = overrides.iter().map(|text| text.to_string()).collect();
    scene::load("hanging-sheet", &overrides)
}

/// Loads with `overrides`, and wants this line in the written-out scene.
#[track_caller]
fn sets(overrides: &[&str], line: &str) {
    let text = load(overrides).unwrap_or_else(|problems| panic!("{problems}")).to_toml();
    assert!(text.lines().any(|l| l == line), "no `{line}` in\n{text}");
}

#[track_caller]
fn refuses(text: &str, key: &str, words: &[&str]) {
    let problems = load(&[text]).expect_err(text);
    let problem = &problems.0[0];
    assert_eq!(problem.key.as_deref(), Some(key), "{problems}");
    assert_eq!((problem.file.as_deref(), problem.line), (None, None), "{problems}");
    for word in words.iter().copied().chain([text]) {
        assert!(problem.message.contains(word), "no `{word}` in: {problems}");
    }
}

#[test]
fn keys_bodies_and_values() {
    sets(&["scene.frames=7"], "frames = 7");
    sets(&["cloth.sheet.mesh.grid.cells=[64,32]"], "cells = [64, 32]");
    sets(&["cloth.sheet.strain.max=0.01"], "max = 0.01");
    sets(&["cloth.0.strain.min = -0.25"], "min = -0.25");
    sets(&["cloth[0].strain.min=-0.25"], "min = -0.25");
    sets(&["cloth.*.edge.max=0.5"], "max = 0.5");
    sets(&["cloth.sheet.pin.1.select=index:3,4"], "select = \"index:3,4\"");
    sets(&["solver.scheme=jacobi"], "scheme = \"jacobi\"");
    sets(&["solver.scheme=\"serial\""], "scheme = \"serial\"");
    sets(&["solver.budget_ms=8"], "budget_ms = 8.0");
    sets(&["scene.frames=7", "scene.frames=8"], "frames = 8");
    sets(&["obstacle=[{ shape.sphere.radius = 2 }]", "obstacle.obstacle.friction=0.75"], "friction = 0.75");
}

#[test]
fn one_alternative_makes_room_for_another() {
    let scene =
        load(&["cloth.sheet.mesh.disc.radius=0.5", "cloth.sheet.mesh.disc.rings=3", "cloth.sheet.pin=[]"])
            .unwrap();
    let text = scene.to_toml();
    assert!(text.contains("[cloth.mesh.disc]") && !text.contains("grid"), "{text}");
    assert_eq!(scene.build().unwrap().bodies[0].as_cloth().unwrap().mesh.positions.len(), 1 + 6 + 12 + 18);
}

#[test]
fn a_named_material_becomes_the_base() {
    let material = load(&["cloth.sheet.material=denim", "cloth.sheet.material.density=0.5"]).unwrap();
    let built = material.build().unwrap();
    let material = &built.bodies[0].as_cloth().unwrap().material;
    assert_eq!((material.density, material.stretch), (0.5, taut::Material::named("denim").unwrap().stretch));
}

#[test]
fn all_bodies_at_once() {
    let text = format!("{GOOD}[[cloth]]\nmesh.disc = {{ radius = 1, rings = 2 }}\n");
    let overrides = ["cloth.*.strain.max=0.125".to_owned(), "cloth.cloth-2.strain.min=-0.5".to_owned()];
    let scene = scene::parse(&text, "two", "".as_ref(), &overrides).unwrap().build().unwrap();
    assert!(scene.cloths().all(|cloth| cloth.strain.max == Some(0.125)));
    assert_eq!(
        (scene.bodies[0].as_cloth().unwrap().strain.min, scene.bodies[1].as_cloth().unwrap().strain.min),
        (None, Some(-0.5))
    );
}

#[test]
fn bad_overrides_are_named() {
    refuses("scene.frames", "scene.frames", &["must be KEY=VALUE"]);
    refuses("scene.frmaes=3", "scene.frmaes", &["did you mean \"frames\"?"]);
    refuses("scene.frames=0", "scene.frames", &["is 0, must be an integer from 1"]);
    refuses("scene.frames=many", "scene.frames", &["is the string \"many\""]);
    refuses("scene.frames=", "scene.frames", &["the value is missing"]);
    refuses("scene.frames=[1,", "scene.frames", &["not valid TOML"]);
    refuses("scene.frames.x=1", "scene.frames.x", &["scene.frames is 90 and has no keys"]);
    refuses("cloth.shet.strain.max=1", "cloth.shet.strain.max", &["is named \"shet\"", "\"sheet\"?"]);
    refuses("cloth.5.strain.max=1", "cloth.5.strain.max", &["cloth has 1 items"]);
    refuses("cloth.sheet.pin.a.select=all", "cloth.sheet.pin.a.select", &["index from 0"]);
    refuses("obstacle.0.friction=1", "obstacle.0.friction", &["the scene has no obstacle"]);
    refuses("cloth.sheet.strain.max=nan", "cloth.sheet.strain.max", &["is nan"]);
    refuses("cloth..x=1", "cloth..x", &["must be dotted"]);
    refuses("cloth.sheet.mesh.gird.cells=[1,1]", "cloth.sheet.mesh.gird", &["did you mean \"grid\"?"]);
    assert!(
        load(&["=1"]).is_err()
            && load(&[""]).is_err()
            && load(&["a\n=1"]).is_err()
            && load(&["a=1\nb=2"]).is_err()
    );
}

#[test]
fn problems_of_the_file_and_of_overrides_come_together() {
    let overrides = ["scene.seed=-1".to_owned()];
    let problems = scene::parse(&GOOD.replace("= 3", "= 0"), "x", "".as_ref(), &overrides).unwrap_err();
    let keys: Vec<_> = problems.0.iter().map(|problem| problem.key.as_deref().unwrap()).collect();
    assert_eq!(keys, ["scene.frames", "scene.seed"], "{problems}");
}

#[test]
fn a_selection_of_an_override_is_named_when_it_matches_nothing() {
    let problems = load(&["cloth.sheet.pin.0.select=corner:middle"]).unwrap().build().unwrap_err();
    assert!(problems.to_string().contains("override `cloth.sheet.pin.0.select=corner:middle`"), "{problems}");
}
