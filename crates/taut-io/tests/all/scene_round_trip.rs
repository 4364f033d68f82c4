//! The written-out scene loads again and builds to the same bits, with its files moved along.

use crate::mesh_samples;
use crate::scene_folder;

use std::{fs, path::Path};

use scene_folder::Folder;
use taut_io::scene::{self, LoadedScene, RunExtremes, built_in, load, parse};

/// What was built, in full: floats print as the shortest digits that give the same bits.
fn built(scene: &LoadedScene) -> String {
    format!("{:?}", scene.build().unwrap_or_else(|problems| panic!("{problems}")))
}

#[track_caller]
fn survives(scene: &LoadedScene, folder: &Path) {
    let text = scene.to_toml();
    let again =
        parse(&text, &scene.name, folder, &[]).unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    assert_eq!(again.to_toml(), text);
    assert_eq!((again.frames, again.frame_rate), (scene.frames, scene.frame_rate));
    assert!(built(&again) == built(scene), "another description from\n{text}");
}

const SEWN: &str = r#"
[[cloth]]
name = "front"
mesh = { grid = { size = [1, 1], cells = [4, 4] } }
[[cloth]]
name = "back"
mesh = { grid = { size = [1, 1], cells = [4, 4] } }
transform.translate = [0.01, 0.02, 0]
[[seam]]
cloths = ["front", "back"]
within = 0.1
[[seam]]
name = "dart"
cloth = "front"
from = "index:7,0-1"
to = "index:17,23-24"
speed = 0.25
[[seam]]
cloths = ["back", "front"]
pairs = [[3, 12], [12, 3]]
[expect]
final_opening = 0.001
"#;

const SOLIDS: &str = r#"
[[solid]]
mesh = { bar = { size = [1, 0.2, 0.2], cells = [10, 2, 2] } }
transform = { translate = [0, 1, 0], rotate = [0, 90, 0], scale = 0.5 }
strain = { min = -0.05, max = 0.1 }
velocity = [0, -1, 0]
pin = [{ select = "box:0,0,0,0,1,1", until = 0.5 }, { select = "boundary", from = 1 }]
[[solid]]
name = "ball"
mesh = { file = "ball.ply" }
spacing = 0.03
material = { base = "foam", young = 12345.0 }
volume = "preserve"
pin = [{ select = "all", until = 0.5 }]
"#;

#[test]
fn solids_survive_and_need_no_cloth() {
    let folder = Folder::new();
    let ball = taut::mesh::generate::Generator::Sphere { radius: 0.1, frequency: 6 }.generate().unwrap();
    folder.write("ball.ply", taut_io::mesh::write_ply(&ball));
    let scene = parse(SOLIDS, "solids", folder.path(), &[]).unwrap();
    survives(&scene, folder.path());
    let description = scene.build().unwrap();
    assert!(description.cloths().next().is_none() && scene.warnings().is_empty(), "{:?}", scene.warnings());
    let solids: Vec<_> = description.solids().collect();
    let [bar, lump] = solids[..] else { panic!("two solids") };
    assert_eq!((bar.name.as_str(), bar.mesh.positions.len(), bar.mesh.tetrahedra.len()), ("solid", 99, 240));
    // Half as large at rest, then turned and moved: its far end points along -z.
    assert_eq!(bar.mesh.positions[10], glam::Vec3::new(0.5, 0.0, 0.0));
    assert!(bar.start[10].distance(glam::Vec3::new(0.0, 1.0, -0.5)) < 1e-6, "{}", bar.start[10]);
    assert_eq!((bar.strain.min, bar.strain.max, bar.preserve_volume), (Some(-0.05), Some(0.1), false));
    assert_eq!(bar.pins[0].vertices, [0, 11, 22, 33, 44, 55, 66, 77, 88]);
    assert_eq!(
        bar.pins[1].vertices.len(),
        99 - 9,
        "a bar of two by two cubes has its inner vertices on one line"
    );
    assert!(bar.skin.is_none() && bar.levels[0].tetrahedra.len() < bar.mesh.tetrahedra.len());

    assert_eq!(lump.skin.as_ref().unwrap().triangles, ball.triangles);
    assert_eq!((lump.material.name.as_str(), lump.material.young), ("custom", 12345.0));
    assert!(lump.preserve_volume && lump.mesh.tetrahedra.len() > 20);
    assert_eq!(lump.pins[0].vertices.len(), lump.mesh.positions.len());

    // The file travels with the scene.
    let other = Folder::new();
    let moved = scene.with_inputs_in(other.path());
    assert!(moved.to_toml().contains("inputs/ball.ply"), "{}", moved.to_toml());
    fs::create_dir(other.path().join("inputs")).unwrap();
    fs::copy(&scene.inputs()[0].1, &moved.inputs()[0].1).unwrap();
    assert!(built(&moved) == built(&scene));
}

#[test]
fn seams_are_found_and_survive() {
    let scene = parse(SEWN, "sewn", Path::new(""), &[]).unwrap();
    survives(&scene, Path::new(""));
    let seams = scene.build().unwrap().seams;
    let names: Vec<&str> = seams.iter().map(|seam| seam.name.as_str()).collect();
    assert_eq!(names, ["seam", "dart", "seam-3"]);
    // The border of a grid of 5 by 5 vertices, each to its like.
    assert_eq!(seams[0].pairs.len(), 16);
    assert!(seams[0].pairs.iter().all(|[a, b]| a.0 == 0 && b.0 == 1 && a.1 == b.1));
    assert_eq!(seams[1].pairs, [[(0, 7), (0, 17)], [(0, 0), (0, 23)], [(0, 1), (0, 24)]]);
    assert_eq!((seams[1].speed, seams[2].speed), (0.25, 1.0));
    assert_eq!(seams[2].pairs, [[(1, 3), (0, 12)], [(1, 12), (0, 3)]]);
    let unmet = scene.unmet(&RunExtremes { final_opening: 0.1, ..RunExtremes::default() });
    assert!(unmet.iter().any(|line| line.contains("expect.final_opening")), "{unmet:?}");
}

#[test]
fn every_file_of_the_folder_of_scenes_is_built_in() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut files: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
    // Patterns of scenes.
    files.retain(|name| !name.ends_with(".json"));
    files.sort();
    let mut scenes: Vec<String> = built_in().iter().map(|scene| format!("{}.toml", scene.name)).collect();
    scenes.sort();
    assert_eq!(files, scenes);
}

#[test]
fn every_built_in_scene_survives() {
    for built_in in built_in() {
        let scene =
            load(built_in.name, &[]).unwrap_or_else(|problems| panic!("{}:\n{problems}", built_in.name));
        assert!(scene.warnings().is_empty(), "{}: {:?}", built_in.name, scene.warnings());
        assert!(!scene.description().is_empty(), "{} has no description", built_in.name);
        assert!(built_in.text.contains("[expect]"), "{} expects nothing", built_in.name);
        survives(&scene, Path::new(""));
    }
}

const ODD: &str = r#"
[scene]
description = "quotes \" and \\ and ünïcode 布 and a\nnew line"
frames = 1000000
frame_rate = 23.976
gravity = [1e-300, -0.1, 3]
seed = 9223372036854775807
[air]
density = 0
wind = [{ time = 0, velocity = [1, 2, 3] }, { time = 0.1, velocity = [0.1, 0.2, 0.30000000000000004] }]
gust = 0.3333333333333333
[solver]
scheme = "jacobi"
projection = "paper"
tolerance = 1e-9
budget_ms = 0.1
relaxation = 1.95
[[cloth]]
mesh = { box = { size = [0.1, 0.2, 0.30000001], cells = [1, 2, 3] } }
transform = { scale = [1, 2, 0.7], rotate = [33.3, -720, 1e-3], translate = [0.1, 0.2, 0.3] }
material = { density = 0.123456789, stretch = 1e9, bend = 0, poisson = -0.5 }
strain = { min = -1, max = 0.1 }
edge = { min = -0.3333333333333333 }
bend = { min = -60.1, max = 0.3333333333333333 }
velocity = [0.1, -0.2, 1e-30]
noise = { amplitude = 0.001, seed = 5 }
pin = [
    { select = "index:0-3", motion = [{ time = 0 }, { time = 0.1, rotate = [0, 720, 0.1] }] },
    { select = "box:-9,-9,-9,9,0,9", pivot = [0.1, 0, 0] },
]
[[cloth]]
name = "sphere_1"
mesh.sphere = { radius = 0.7, frequency = 3 }
material.base = "paper"
pin = [
    { select = "index:9", attach = "stool", until = 3 },
    { select = "index:11,12", attach = "stool", shape = "skin", stiffness = 1e3, fade_in = 0.1, until = 4, fade_out = 0.7 },
]
[[cloth]]
mesh.torus = { major = 0.7, minor = 0.1, segments = [12, 6] }
[[cloth]]
mesh.capsule = { radius = 0.2, height = 0.5, segments = [8, 3] }
[[cloth]]
mesh.cylinder = { radius = 0.2, height = 0.5, segments = [8, 3] }
pin = [
    { select = "group:ring:top", until = 0.30000001 },
    { select = "group:ring:top", from = 0.5, until = 1e6 },
]
[[cloth]]
mesh.grid = { size = [1, 1], cells = [3, 3], diagonals = "jittered" }
material = { base = "denim", viscosity = 0.001 }
strain = { warp = { min = -0.1, max = 0.01 }, weft = { min = 0, max = 0.1 }, bias = { min = -1, max = 0.3333333333333333 }, direction = [0.1, 3, 1] }
pin = [{ select = "boundary" }]
[[cloth]]
mesh.ell = { size = [1, 1.5], cells = [9, 12], seed = 3 }
imperfection = 0
pin = [{ select = "corner:bottom-right" }]
[[cloth]]
mesh.grid = { size = [1, 1], cells = [3, 3], diagonals = "delaunay" }
imperfection = 0.0001
strain = { warp = {}, weft = {}, bias = {}, direction = "v" }
[[obstacle]]
shape.plane = { normal = [1, 1, 0], point = [0, -3, 0] }
[[obstacle]]
shape.box.size = [1, 2, 3]
transform = { rotate = [0, 45, 0], scale = 0.1, translate = [9, 9, 9] }
motion = [{ time = 0.1, translate = [1, 0, 0] }]
pivot = [0, 0.1, 0]
[[obstacle]]
shape.capsule = { from = [5, 0, 0], to = [5.1, 0.1, 0.2], radius = 0.1 }
restitution = 1
[[obstacle]]
name = "c"
shape.cylinder = { from = [7, 0, 0], to = [7, -1, 0], radius = 0.1 }
[[obstacle]]
shape.torus = { axis = [0, 0, -2], major = 0.3, minor = 0.1 }
[[obstacle]]
name = "stool"
mesh = { box = { size = [0.4, 0.3, 0.4], cells = [1, 2, 1] } }
transform = { rotate = [0, 30, 0], scale = [1, 2, 1.1], translate = [9, 9, 9] }
friction = 0.7
margin = 0.003
motion = [{ time = 0.1, translate = [1, 0, 0] }]
[expect]
final_min = [-1e6, -1e6, -1e6]
final_max = [1e6, 1e6, 1e6]
"#;

#[test]
fn odd_settings_survive() {
    let scene = parse(ODD, "odd", Path::new(""), &[]).unwrap_or_else(|problems| panic!("{problems}"));
    survives(&scene, Path::new(""));
    let description = scene.build().unwrap();
    let names: Vec<&str> = description.cloths().map(|cloth| cloth.name.as_str()).collect();
    let (bend, none) =
        (description.bodies[0].as_cloth().unwrap().bend, description.bodies[1].as_cloth().unwrap().bend);
    assert_eq!((bend.min, bend.max, none.is_some()), (Some(-60.1), Some(1.0 / 3.0), false));
    assert_eq!(
        names,
        ["cloth", "sphere_1", "cloth-3", "cloth-4", "cloth-5", "cloth-6", "cloth-7", "cloth-8"]
    );
    let times: Vec<_> =
        description.bodies[4].as_cloth().unwrap().pins.iter().map(|pin| (pin.from, pin.until)).collect();
    assert_eq!(times, [(0.0, Some(0.3)), (0.5, Some(1e6))]);
    let overlap = scene.warnings();
    assert!(overlap.len() == 1 && overlap[0].message.contains("pinned by pin[0]"), "{overlap:?}");
}

#[test]
fn frames_changed_by_the_caller_are_written() {
    let mut scene = load("hanging-sheet", &[]).unwrap();
    scene.frames = 5;
    scene.frame_rate = 24.0;
    let text = scene.to_toml();
    assert!(text.contains("frames = 5\n") && text.contains("frame_rate = 24.0\n"), "{text}");
}

#[test]
fn placement_is_scale_then_rotation_then_translation() {
    let text = "[[cloth]]\nmesh.grid = { size = [1, 1], cells = [1, 1] }\n\
                transform = { scale = [2, 1, 3], rotate = [90, 0, 90], translate = [10, 20, 30] }\n\
                [[obstacle]]\nshape.capsule = { from = [1, 0, 0], to = [3, 0, 0], radius = 0.5 }\n\
                transform = { scale = 2, rotate = [0, 0, 90], translate = [0, 1, 0] }\n";
    let built = parse(text, "a", Path::new(""), &[]).unwrap().build().unwrap();
    let (cloth, obstacle) = (&built.bodies[0].as_cloth().unwrap(), &built.obstacles[0]);
    assert_eq!(
        cloth.mesh.positions.iter().fold(glam::Vec3::ZERO, |m, x| m.max(*x)),
        glam::Vec3::new(2.0, 0.0, 3.0)
    );
    // (2, 0, 3): about x to (2, -3, 0), about z to (3, 2, 0).
    let last = *cloth.start.last().unwrap();
    assert!((last - glam::Vec3::new(13.0, 22.0, 30.0)).length() < 1e-5, "{last}");
    assert!((obstacle.position - glam::Vec3::new(0.0, 5.0, 0.0)).length() < 1e-5);
    assert!(((obstacle.rotation * glam::Vec3::Y).abs() - glam::Vec3::Y).length() < 1e-5);
    assert_eq!(obstacle.shape, taut::Shape::Capsule { radius: 1.0, length: 4.0 });
    assert_eq!(obstacle.motion.pivot, obstacle.position);
}

#[test]
fn maps_move_with_the_scene() {
    let (folder, out) = (Folder::new(), Folder::new());
    folder.write("maps/a.txt", "1\n".repeat(25));
    folder.write("other/a.txt", format!("{}0\n", "1\n".repeat(24)));
    let text = "[[cloth]]\nmesh.grid = { size = [1, 1], cells = [4, 4] }\n\
                pin = [{ select = \"map:other/a.txt\" }, { select = \"map: maps/../maps/a.txt\" }]\n";
    moves(&folder, &out, text, &["other/a.txt", "maps/../maps/a.txt"]);
}

/// Loads a scene in `folder`, moves it to `out` as a run does, deletes the original, and wants the same
/// description.
fn moves(folder: &Folder, out: &Folder, text: &str, names: &[&str]) {
    let scene = folder.load(text).unwrap_or_else(|problems| panic!("{problems}"));
    let wanted = built(&scene);
    let moved = scene.with_inputs_in(out.path());
    let (from, to) = (scene.inputs(), moved.inputs());
    assert_eq!(from.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), names);
    assert_eq!(from.len(), to.len());
    for ((_, from), (name, to)) in from.iter().zip(&to) {
        assert_eq!(*to, out.path().join(name));
        assert!(name.starts_with("inputs/") && !name.contains(".."), "{name}");
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    }
    fs::write(out.path().join("scene.toml"), moved.to_toml()).unwrap();
    fs::remove_dir_all(folder.path()).unwrap();
    let again = load(out.path().join("scene.toml").to_str().unwrap(), &[]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(built(&again), wanted);
    assert_eq!(built(&moved), wanted);
}

/// A triangle with one corner at (x, 0, 0), as OBJ.
fn flap(x: f32) -> String {
    format!("v {x} 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\n")
}

/// The same at each of `xs` as PC2, and the mesh that it moves is any of these.
fn cache(xs: &[f32]) -> Vec<u8> {
    let mut bytes = b"POINTCACHE2\0".to_vec();
    for word in [1_i32.to_le_bytes(), 3_i32.to_le_bytes(), 0_f32.to_le_bytes(), 1_f32.to_le_bytes()] {
        bytes.extend(word);
    }
    bytes.extend((xs.len() as i32).to_le_bytes());
    for x in xs {
        bytes.extend([*x, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0].iter().flat_map(|n| n.to_le_bytes()));
    }
    bytes
}

const CLOTH: &str = "[[cloth]]\nmesh.grid = { size = [1, 1], cells = [4, 4] }\n";

#[test]
fn meshes_and_sequences_of_obstacles_move_with_the_scene() {
    let (folder, out) = (Folder::new(), Folder::new());
    folder.write("still.obj", flap(7.0));
    folder.write("walk/flap.pc2", cache(&[1.0, 2.0, 5.0]));
    folder.write("walk/flap.obj", flap(0.0));
    for (number, x) in [(8, 1.0), (9, 2.0), (10, 3.0), (12, 5.0), (100, 9.0)] {
        folder.write(&format!("walk/step{number:02}.obj"), flap(x));
    }
    let text = format!(
        "{CLOTH}[[obstacle]]\nmesh = \"still.obj\"\n[[obstacle]]\nmesh.file = \"still.obj\"\n\
         [[obstacle]]\nsequence = {{ files = \"walk/step##.obj\", last = 12, rate = 10, start = 0.5 }}\n\
         [[obstacle]]\nsequence = {{ files = \"walk/step##.obj\", first = 9 }}\n\
         [[obstacle]]\nsequence = {{ file = \"walk/flap.pc2\", mesh = \"walk/flap.obj\", rate = 2 }}\n"
    );
    let scene = folder.load(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let built = scene.build().unwrap_or_else(|problems| panic!("{problems}"));
    let [still, same, steps, all, cached] = built.mesh_obstacles.as_slice() else { panic!() };
    assert_eq!(still.positions_at(3.0)[0].x, 7.0);
    assert_eq!(still.frames, same.frames);
    let x = |obstacle: &taut::MeshObstacle, time: f32| obstacle.positions_at(time)[0].x;
    for (time, place) in [(0.0, 1.0), (0.5, 1.0), (0.65, 2.5), (0.8, 4.0), (0.9, 5.0), (9.0, 5.0)] {
        assert!((x(steps, time) - place).abs() < 1e-5, "{time}");
    }
    assert!((x(all, 91.0 / 30.0) - 9.0).abs() < 1e-5);
    assert_eq!((x(cached, 0.25), x(cached, 1.0), x(cached, 2.0)), (1.5, 5.0, 5.0));
    let inputs: Vec<String> = scene.inputs().into_iter().map(|(name, _)| name).collect();
    let names: Vec<&str> = inputs.iter().map(String::as_str).collect();
    assert_eq!(names.len(), 4 + 4 + 3, "two folders of steps, and three files: {names:?}");
    moves(&folder, &out, &text, &names);
}

#[test]
fn expectations_say_both_figures() {
    let text = format!(
        "{ODD}max_strain = 0.06\nmin_strain = -0.1\nmax_residual = 0.01\nmax_bend_excess = 2\nmax_penetration = 0.001\n"
    );
    let scene = parse(&text, "a", Path::new(""), &[]).unwrap();
    let met = RunExtremes { max_strain: 0.06, min_strain: -0.1, ..RunExtremes::default() };
    assert!(scene.unmet(&met).is_empty());
    let mut broken = RunExtremes {
        final_volumes: None,
        final_opening: 0.0,
        max_strain: 0.07,
        min_strain: -0.2,
        max_residual: f64::NAN,
        max_bend_excess: 3.5,
        max_penetration: 0.5,
        final_bounds: [[-2e6, 0.0, 0.0], [0.0, 3e6, 0.0]],
        ..RunExtremes::default()
    };
    let unmet = scene.unmet(&broken);
    assert_eq!(unmet.len(), 7, "{unmet:?}");
    assert_eq!(unmet[0], "expect.max_strain: the largest strain is 0.07, expected at most 0.06");
    assert!(unmet.iter().any(|line| line.contains("past a bend limit [°] is 3.5, expected at most 2")));
    assert!(
        unmet.iter().any(|line| line.contains("the highest y at the last frame [m] is 3000000")),
        "{unmet:?}"
    );
    broken.max_strain = f64::INFINITY;
    assert!(scene.unmet(&broken)[0].contains("is inf, expected at most 0.06"));
}

#[test]
fn the_schema_documents_and_bounds_everything() {
    let schema = scene::schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["title"], "taut scene");
    let mut numbers = 0;
    walk(&schema, "", &mut numbers);
    assert!(numbers > 50, "{numbers}");
}

/// Every key has a description, every number a range, every table refuses unknown keys.
fn walk(schema: &serde_json::Value, path: &str, numbers: &mut usize) {
    let Some(object) = schema.as_object() else { return };
    if matches!(object.get("type").and_then(|kind| kind.as_str()), Some("number" | "integer")) {
        *numbers += 1;
        assert!(object.contains_key("minimum") && object.contains_key("maximum"), "{path} has no range");
    }
    assert_ne!(object.get("type"), Some(&"null".into()), "{path}: TOML has no null");
    if let Some(properties) = object.get("properties").and_then(|properties| properties.as_object()) {
        assert_eq!(object["additionalProperties"], false, "{path}");
        // The alternatives of an enum are described as a whole.
        let tagged = properties.len() == 1 && object.contains_key("description");
        for (key, value) in properties {
            let described = value["description"].as_str().is_some_and(|text| !text.contains("\\["));
            assert!(described || tagged, "{path}.{key} has no description");
            walk(value, &format!("{path}.{key}"), numbers);
        }
    }
    for key in ["$defs", "items", "oneOf", "anyOf"] {
        match object.get(key) {
            Some(serde_json::Value::Array(choices)) => {
                choices.iter().for_each(|choice| walk(choice, path, numbers))
            }
            Some(inner) if key == "$defs" => {
                inner.as_object().unwrap().iter().for_each(|(name, inner)| walk(inner, name, numbers));
            }
            Some(inner) => walk(inner, path, numbers),
            None => {}
        }
    }
}

#[test]
fn buffers_of_gltf_files_move_with_them() {
    let (folder, out) = (Folder::new(), Folder::new());
    folder.write(
        "shirt/x.gltf",
        r#"{ "buffers": [{ "uri": "../data/a%20b.bin" }, { "uri": "data:,x" }, { "uri": "c.bin" }] }"#,
    );
    folder.write("x.gltf", r#"{ "buffers": [{ "uri": "c.bin" }] }"#);
    let cloth = |file: &str| format!("[[cloth]]\nmesh.file = \"{file}\"\n");
    let text = [cloth("shirt/x.gltf"), cloth("x.gltf"), cloth("x.gltf"), cloth("a.obj")].concat();
    let scene = folder.load(text).unwrap();
    let names = |scene: &LoadedScene| scene.inputs().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(
        names(&scene),
        ["shirt/x.gltf", "shirt/../data/a b.bin", "shirt/c.bin", "x.gltf", "c.bin", "a.obj"]
    );
    let wanted = [
        "inputs/x.gltf.files/d/x.gltf",
        "inputs/x.gltf.files/data/a b.bin",
        "inputs/x.gltf.files/d/c.bin",
        "inputs/x.gltf",
        "inputs/c.bin",
        "inputs/a.obj",
    ];
    assert_eq!(names(&scene.with_inputs_in(out.path())), wanted);
}

#[test]
fn both_files_of_tetgen_move() {
    let (folder, out) = (Folder::new(), Folder::new());
    folder.write("toys/one.node", "4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n");
    folder.write("toys/one.ele", "1 4 0\n0 0 1 2 3\n");
    let solid = "[[solid]]\nmesh.file = \"toys/one.ele\"\n";
    let scene = folder.load(solid).unwrap();
    let names = |scene: &LoadedScene| scene.inputs().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
    assert_eq!(names(&scene), ["toys/one.ele", "toys/one.node"]);
    let moved = scene.with_inputs_in(out.path());
    assert_eq!(names(&moved), ["inputs/one.ele", "inputs/one.node"]);
    fs::create_dir(out.path().join("inputs")).unwrap();
    for ((_, from), (_, to)) in scene.inputs().into_iter().zip(moved.inputs()) {
        fs::copy(from, to).unwrap();
    }
    assert!(built(&moved) == built(&scene));
}

/// A square of two triangles, with a vertex group.
const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\ng top\nf 1 3 2\ng bottom\nf 1 4 3\n";

#[test]
fn mesh_files_move_with_the_scene() {
    let (folder, out) = (Folder::new(), Folder::new());
    folder.write("meshes/square.obj", SQUARE);
    folder.write("square.obj", SQUARE);
    let text = "[[cloth]]\nmesh.file = \"meshes/square.obj\"\npin = [{ select = \"group:top\" }]\n\
                [[cloth]]\nmesh.file = \"square.obj\"\ntransform.scale = 0.1\n";
    moves(&folder, &out, text, &["meshes/square.obj", "square.obj"]);
}

#[test]
fn gltf_files_move_with_the_scene() {
    let (folder, out) = (Folder::new(), Folder::new());
    let mesh = mesh_samples::tetrahedron();
    folder.write("a/b/x.gltf", mesh_samples::gltf_json(&mesh, r#""uri":"../x%20y.bin","#, ""));
    folder.write("a/x y.bin", mesh_samples::gltf_buffer(&mesh));
    folder.write("y.glb", mesh_samples::glb(&mesh_samples::gltf_json(&mesh, r#""uri":"y.bin","#, ""), &[]));
    folder.write("y.bin", mesh_samples::gltf_buffer(&mesh));
    let text = "[[cloth]]\nmesh.file = \"a/b/x.gltf\"\n[[cloth]]\nmesh.file = \"y.glb\"\n";
    moves(&folder, &out, text, &["a/b/x.gltf", "a/b/../x y.bin", "y.glb", "y.bin"]);
}
