use std::path::Path;

use taut::{HairRest, mesh::groom::Interpolation};

use super::*;
use crate::{Problems, scene};

/// The hair of a scene, and its warnings.
fn built(text: &str, folder: &Path) -> Result<(Vec<taut::Hair>, Vec<String>), String> {
    let all = |problems: Problems| problems.to_string();
    let scene = scene::parse(text, "test", folder, &[]).map_err(all)?;
    // What is written comes back the same.
    let again = scene::parse(&scene.to_toml(), "test", folder, &[]).map_err(|p| format!("again: {p}"))?;
    assert_eq!(again.scene.hair, scene.scene.hair);
    let mut builder = Builder::new(&scene, false);
    let obstacles = scene.scene.obstacle.iter().enumerate();
    let meshes: Vec<MeshObstacle> = obstacles.filter_map(|(k, given)| builder.surface(k, given)).collect();
    let hair = scene.scene.hair.iter().enumerate();
    let hair: Vec<_> = hair.filter_map(|(k, given)| builder.hair(k, given, &meshes)).collect();
    let warnings = builder.warnings.iter().map(ToString::to_string).collect();
    let problems = builder.report.into_sorted();
    if problems.is_empty() { Ok((hair, warnings)) } else { Err(Problems(problems).to_string()) }
}

fn says(text: &str) -> String {
    built(text, Path::new(".")).unwrap_err()
}

const HEAD: &str = "[[obstacle]]\nname = \"floor\"\nshape = { plane = {} }\n\
                    [[obstacle]]\nname = \"head\"\nshape = { sphere = { radius = 0.1 } }\ntransform = { translate = [0, 1.7, 0] }\n";

#[test]
fn grown_hair_has_all_that_the_scene_says() {
    let text = format!(
        "{HEAD}[[hair]]\nname = \"fringe\"\nmaterial = {{ base = \"wool\", damping = 3 }}\nmodel = \"rod\"\n\
         rest = {{ sag-free = {{ stiffen = 20 }} }}\nstretch = {{ max = 0.02 }}\nbend = 30\ntwist = 40\n\
         contact = {{ thickness = 0.001, cohesion = 0.5 }}\nvelocity = [1, 0, 0]\npin = [{{ select = \"corner:tip\" }}]\n\
         mesh = {{ grow = {{ on = \"head\", count = 200, length = 0.2, segments = 30, droop = 0.5, comb = [0, 0, 1], \
         radius = 0.00005, taper = 0.4, select = \"box:-1,1.7,-1,1,2,1\", length_variation = 0.1 }} }}\n\
         [[hair]]\nmesh = {{ grow = {{ mesh = {{ sphere = {{ radius = 1, frequency = 4 }} }}, density = 10, length = 0.3 }} }}\n\
         rest = \"sag-free\"\nmodel = \"springs\"\nroot = \"free\"\ntransform = {{ scale = 2, translate = [5, 0, 0] }}\nsegments = 8\n"
    );
    let (hair, warnings) = built(&text, Path::new(".")).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    let [fringe, fur] = &hair[..] else { panic!() };
    assert_eq!((fringe.name.as_str(), fur.name.as_str()), ("fringe", "hair-2"));
    assert_eq!((fringe.groom.counts.len(), fringe.groom.counts[0]), (200, 31));
    assert_eq!((fringe.roots, fur.roots), (Roots::Obstacle(1), Roots::Free));
    assert_eq!(
        (fringe.rest, fur.rest),
        (HairRest::SagFree { stiffen: 20.0 }, HairRest::SagFree { stiffen: 1.0 })
    );
    assert_eq!((fringe.stretch.min, fringe.stretch.max), (Some(-0.01), Some(0.02)));
    assert_eq!((fringe.bend, fringe.twist, fringe.velocity), (Some(30.0), Some(40.0), Vec3::X));
    assert_eq!((fringe.contact.thickness, fringe.contact.friction), (0.001, 0.3));
    assert_eq!((fringe.material.damping, fringe.material.density), (3.0, 1310.0));
    assert_eq!(fringe.pins[0].vertices.len(), 200);
    assert_eq!(fringe.pins[0].vertices[1], 61);
    let [root, tip] = [0, 30].map(|v| fringe.groom.radii[v]);
    assert!((root - 5e-5).abs() < 1e-10 && (tip - 3e-5).abs() < 1e-10, "{root} {tip}");
    assert_eq!(fringe.start, fringe.groom.positions);
    assert!(fringe.groom.roots().iter().all(|x| x.y > 1.68), "only above the box");
    // 10 on each of 4π m², then twice as large.
    assert!((110..=126).contains(&fur.groom.counts.len()), "{}", fur.groom.counts.len());
    assert!(fur.groom.counts.iter().all(|count| *count == 9));
    assert!(fur.groom.strand_lengths().all(|length| (length - 0.6).abs() < 1e-3));
    assert_eq!(fur.groom.radii[0], 7e-5, "of the material, scaled");
    assert_eq!((fringe.full.is_none(), fur.material.name.as_str()), (true, "european"));
}

#[test]
fn guides_are_simulated_and_the_others_follow() {
    let grow = "mesh = { grow = { on = \"head\", count = 300, length = 0.1 } }";
    for (guides, count, all) in [
        ("{ count = 40 }", 40, Some(300)),
        ("{ fraction = 0.1 }", 30, Some(300)),
        ("{ count = 300 }", 300, None),
        ("{ interpolate = 900 }", 300, Some(900)),
    ] {
        let (hair, _) =
            built(&format!("{HEAD}[[hair]]\n{grow}\nguides = {guides}\n"), Path::new(".")).unwrap();
        assert_eq!(hair[0].groom.counts.len(), count, "{guides}");
        assert_eq!(hair[0].full.as_ref().map(|full| full.counts.len()), all, "{guides}");
        if let Some(full) = &hair[0].full {
            assert!(Interpolation::new(hair[0].groom.clone(), full.clone(), 3).is_some());
        }
    }
    let wrong = says("[[hair]]\nmesh = { file = \"a.hair\" }\nguides = { interpolate = 5 }\n");
    assert!(wrong.contains("hair[0].guides.interpolate") && wrong.contains("root = { obstacle"), "{wrong}");
}

#[test]
fn hair_of_files_is_placed_checked_and_rooted() {
    let folder = tempfile::tempdir().unwrap();
    let strand = |x: f32| [0.0, 5.0, 10.0].map(|y| Vec3::new(x, 10.0 + y, 0.0));
    let groom =
        Groom { positions: [strand(0.0), strand(0.1)].concat(), counts: vec![3, 3], radii: vec![0.004; 6] };
    let write = |name: &str, groom: &Groom| {
        std::fs::write(folder.path().join(name), crate::mesh::write_hair(groom).unwrap()).unwrap();
    };
    write("a.hair", &groom);
    let scene = |keys: &str| {
        format!(
            "{HEAD}[[hair]]\nroot = {{ obstacle = \"head\" }}\ntransform = {{ scale = 0.01, translate = [0, 1.7, 0] }}\n{keys}\n"
        )
    };
    let (hair, warnings) = built(&scene("mesh = { file = \"a.hair\" }"), folder.path()).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    assert!(
        (hair[0].groom.positions[0].y - 1.8).abs() < 1e-6 && (hair[0].groom.radii[0] - 4e-5).abs() < 1e-10
    );
    // With the tip on the head, with a root that is off it, and with a point that is not a number.
    let mut reversed = groom.clone();
    reversed.positions[..3].reverse();
    write("reversed.hair", &reversed);
    let wrong = built(&scene("mesh = { file = \"reversed.hair\" }"), folder.path()).unwrap_err();
    assert!(wrong.contains("hair.hair.root: strand 0 ") && wrong.contains("reverse it"), "{wrong}");
    let mut off = groom.clone();
    off.positions[3].y = 12.0;
    write("off.hair", &off);
    let (_, warnings) = built(&scene("mesh = { file = \"off.hair\" }"), folder.path()).unwrap();
    assert!(warnings[0].contains("strand 1 (from 0) begins 0.02"), "{warnings:?}");
    let mut nan = groom.clone();
    nan.positions[4].x = f32::NAN;
    write("nan.hair", &nan);
    let wrong = built(&scene("mesh = { file = \"nan.hair\" }"), folder.path()).unwrap_err();
    assert!(wrong.contains("transform") || wrong.contains("strand 1, point 1"), "{wrong}");
    std::fs::write(folder.path().join("cut.hair"), b"HAIR\x01").unwrap();
    let wrong = built(&scene("mesh = { file = \"cut.hair\" }"), folder.path()).unwrap_err();
    assert!(wrong.contains("cut.hair: is truncated") && wrong.contains("mesh of hair \"hair\""), "{wrong}");
    let wrong = built(&scene("mesh = { file = \"none.hair\" }"), folder.path()).unwrap_err();
    assert!(wrong.contains("file not found"), "{wrong}");
}

#[test]
fn what_makes_no_sense_is_refused_with_its_key() {
    let grow = |keys: &str| format!("{HEAD}[[hair]]\nmesh = {{ grow = {{ length = 0.1, {keys} }} }}\n");
    for (text, expected) in [
        (grow("on = \"head\""), "mesh.grow.count: is missing; it or density is required"),
        (grow("on = \"head\", count = 5, density = 5"), "density: cannot be combined with count"),
        (grow("count = 5"), "grow.on: is missing; it or mesh is required"),
        (grow("on = \"hed\", count = 5"), "no obstacle is named \"hed\""),
        (grow("on = \"floor\", count = 5"), "is a plane"),
        (grow("on = \"head\", count = 5, select = \"group:scalp\""), "mesh.grow.select"),
        (grow("on = \"head\", count = 5, select = \"box:5,5,5,6,6,6\""), "mesh.grow.select"),
        (grow("on = \"head\", count = 5, curl = { radius = 0.001, pitch = 0.002 }"), "at least"),
        (grow("on = \"head\", count = 5000000, segments = 100"), "more than 10000000 points"),
        (grow("on = \"head\", density = 0.001"), "increase the density"),
        (
            grow("on = \"head\", count = 5") + "transform = { scale = 2 }\n",
            "cannot be combined with mesh.grow.on",
        ),
        (grow("on = \"head\", count = 5") + "transform = { scale = [1, 2, 1] }\n", "must be one number"),
        (grow("on = \"head\", count = 5") + "rest = \"curved\"\n", "rest"),
        (grow("on = \"head\", count = 5") + "pin = [{ select = \"boundary\" }]\n", "corner:root"),
        (grow("on = \"head\", count = 5") + "stretch = { max = 0.01, mean = 0 }\n", "unknown key"),
        (
            grow("on = \"head\", count = 5") + "[[hair]]\nname = \"hair\"\nmesh = { file = \"\" }\n",
            "empty string",
        ),
        (
            grow("on = \"head\", count = 5")
                + "[[particles]]\nname = \"hair\"\nmesh = { points = [[0, 0, 0]] }\n",
            "",
        ),
    ] {
        let wrong = says(&text);
        assert!(wrong.contains(expected), "{text}\n{wrong}");
    }
    let both = "[[particles]]\nname = \"Fur\"\nmesh = { points = [[0, 9, 0]] }\n[[hair]]\nname = \"fur\"\nmesh = { file = \"a.hair\" }\n";
    assert!(says(both).contains("also the name of particles[0]"));
}

#[test]
fn files_of_hair_go_with_the_scene() {
    let text = "[[hair]]\nmesh = { file = \"x/a.hair\" }\n[[hair]]\nmesh = { grow = { mesh = { file = \"b.obj\" }, count = 1, length = 1, weight = \"map:w.csv\" } }\n";
    let scene = scene::parse(text, "test", Path::new("."), &[]).unwrap();
    let names: Vec<String> = scene.inputs().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["x/a.hair", "b.obj", "w.csv"]);
    let moved = scene.with_inputs_in(Path::new("out")).to_toml();
    for copy in ["inputs/a.hair", "inputs/b.obj", "map:inputs/w.csv"] {
        assert!(moved.contains(copy), "{moved}");
    }
}

#[test]
fn hair_becomes_a_body_behind_all_others() {
    let text = format!(
        "{HEAD}[[hair]]\nmesh = {{ grow = {{ on = \"head\", count = 7, length = 0.1 }} }}\n[[particles]]\nmesh = {{ points = [[0, 1, 0]] }}\n"
    );
    let built = scene::parse(&text, "test", Path::new("."), &[]).unwrap().build().unwrap();
    let kinds: Vec<_> = built.bodies.iter().map(taut::Body::kind).collect();
    assert_eq!(kinds, ["particles", "hair"]);
    assert_eq!(built.bodies[1].as_hair().unwrap().groom.counts.len(), 7);
}
