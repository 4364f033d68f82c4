//! Animated glTF files as sequences: nodes, morph targets and skins, in every interpolation; nothing in them
//! makes a reader panic.

use crate::scene_folder;

use glam::Vec3;
use scene_folder::Folder;
use serde_json::{Value, json};
use taut::Simulation;
use taut_io::mesh::sequence::{MeshSequence, read_animation};

/// A file in the making: numbers go to a buffer beside it.
#[derive(Default)]
struct File {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl File {
    fn floats(&mut self, shape: &str, numbers: &[f32]) -> usize {
        let width = match shape {
            "SCALAR" => 1,
            "VEC3" => 3,
            "VEC4" => 4,
            _ => 16,
        };
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        self.add(shape, 5126, numbers.len() / width, &bytes)
    }

    fn add(&mut self, shape: &str, kind: u32, count: usize, bytes: &[u8]) -> usize {
        self.views.push(json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() }));
        self.bytes.extend_from_slice(bytes);
        let view = self.views.len() - 1;
        self.accessors
            .push(json!({ "bufferView": view, "componentType": kind, "count": count, "type": shape }));
        self.accessors.len() - 1
    }

    /// The document with what was added.
    fn document(&self, mut parts: Value) -> Value {
        parts["asset"] = json!({ "version": "2.0" });
        parts["buffers"] = json!([{ "uri": "data.bin", "byteLength": self.bytes.len() }]);
        (parts["bufferViews"], parts["accessors"]) = (json!(self.views), json!(self.accessors));
        parts
    }

    fn read(&self, folder: &Folder, document: &Value, rate: f64) -> Result<MeshSequence, String> {
        folder.write("data.bin", &self.bytes);
        let path = folder.write("walk.gltf", document.to_string());
        read_animation(&path, rate, 0.5).map_err(|problem| problem.to_string())
    }
}

const TRIANGLE: [f32; 9] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];

fn near(sequence: &MeshSequence, frame: usize, vertex: usize, place: [f32; 3]) {
    let p = sequence.positions[frame][vertex];
    assert!(p.distance(Vec3::from(place)) < 1e-5, "frame {frame} vertex {vertex}: {p}, not {place:?}");
}

/// A triangle in a node that turns by 90 degrees about y in a node that rises by 2 m in a second, and then
/// stays for another.
fn turning(interpolation: &str) -> (File, Value) {
    let mut file = File::default();
    let positions = file.floats("VEC3", &TRIANGLE);
    let times = file.floats("SCALAR", &[1.0, 2.0, 3.0]);
    let half = 0.5f32.sqrt();
    let cubic = interpolation == "CUBICSPLINE";
    let keyed = |keys: &[&[f32]]| -> Vec<f32> {
        let none = vec![0.0; keys[0].len()];
        // Flat tangents on both sides.
        keys.iter()
            .flat_map(|key| if cubic { [&none[..], key, &none].concat() } else { key.to_vec() })
            .collect()
    };
    let turns = file
        .floats("VEC4", &keyed(&[&[0.0, 0.0, 0.0, 1.0], &[0.0, half, 0.0, half], &[0.0, half, 0.0, half]]));
    let rises = file.floats("VEC3", &keyed(&[&[0.0, 0.0, 0.0], &[0.0, 2.0, 0.0], &[0.0, 2.0, 0.0]]));
    let sampler = |output: usize| json!({ "input": times, "output": output, "interpolation": interpolation });
    let document = file.document(json!({
        "scenes": [{ "nodes": [1] }],
        "nodes": [{ "mesh": 0, "translation": [1, 0, 0] }, { "children": [0], "scale": [2, 2, 2] }],
        "meshes": [{ "primitives": [{ "attributes": { "POSITION": positions } }] }],
        "animations": [{
            "samplers": [sampler(turns), sampler(rises)],
            "channels": [
                { "sampler": 0, "target": { "node": 0, "path": "rotation" } },
                { "sampler": 1, "target": { "node": 1, "path": "translation" } },
                { "sampler": 1, "target": { "node": 1, "path": "pointer" } },
            ],
        }],
    }));
    (file, document)
}

#[test]
fn nodes_move_in_every_interpolation() {
    let folder = Folder::new();
    for interpolation in ["LINEAR", "STEP", "CUBICSPLINE"] {
        let (file, document) = turning(interpolation);
        let sequence = file.read(&folder, &document, 4.0).unwrap();
        assert_eq!(sequence.triangles, [[0, 1, 2]]);
        assert_eq!(sequence.times, [0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5]);
        near(&sequence, 0, 1, [4.0, 0.0, 0.0]);
        // x turns to −z, and (1, 0, 0) before, twice as large; and all of it rises.
        near(&sequence, 4, 1, [2.0, 2.0, -2.0]);
        near(&sequence, 8, 1, [2.0, 2.0, -2.0]);
        // A quarter of the way in time: straight on, not yet, or slowly at first (3 s² − 2 s³).
        let rise = match interpolation {
            "LINEAR" => 0.5,
            "STEP" => 0.0,
            _ => 2.0 * (3.0 / 16.0 - 2.0 / 64.0),
        };
        near(&sequence, 1, 0, [2.0, rise, 0.0]);
        if interpolation == "LINEAR" {
            let (sin, cos) = (22.5f32.to_radians().sin(), 22.5f32.to_radians().cos());
            near(&sequence, 1, 1, [2.0 + 2.0 * cos, 0.5, -2.0 * sin]);
        }
    }
}

/// A triangle whose first vertex is lifted by a morph target, and whose others follow two joints, one of
/// which rises.
fn skinned() -> (File, Value) {
    let mut file = File::default();
    let positions = file.floats("VEC3", &TRIANGLE);
    let lift = file.floats("VEC3", &[0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let joints = file.add("VEC4", 5121, 3, &[0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0]);
    let weights = file.floats("VEC4", &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.25, 0.25, 0.0, 0.0]);
    let mut inverse = [[0.0; 16]; 2];
    for matrix in &mut inverse {
        (0..4).for_each(|k| matrix[5 * k] = 1.0);
    }
    // The second joint is at (1, 0, 0) where it is bound.
    inverse[1][12] = -1.0;
    let inverse = file.floats("MAT4", inverse.as_flattened());
    let times = file.floats("SCALAR", &[0.0, 1.0]);
    let rises = file.floats("VEC3", &[1.0, 0.0, 0.0, 1.0, 4.0, 0.0]);
    let morphs = file.floats("SCALAR", &[0.0, 1.0]);
    let document = file.document(json!({
        "scenes": [{ "nodes": [0, 1] }],
        "nodes": [{ "mesh": 0, "skin": 0, "translation": [9, 9, 9] }, { "children": [2] }, { "translation": [1, 0, 0] }],
        "meshes": [{ "primitives": [{
            "attributes": { "POSITION": positions, "JOINTS_0": joints, "WEIGHTS_0": weights },
            "targets": [{ "POSITION": lift }],
        }] }],
        "skins": [{ "joints": [1, 2], "inverseBindMatrices": inverse }],
        "animations": [{
            "samplers": [{ "input": times, "output": rises }, { "input": times, "output": morphs }],
            "channels": [
                { "sampler": 0, "target": { "node": 2, "path": "translation" } },
                { "sampler": 1, "target": { "node": 0, "path": "weights" } },
            ],
        }],
    }));
    (file, document)
}

#[test]
fn skins_and_morph_targets_move_vertices() {
    let folder = Folder::new();
    let (file, document) = skinned();
    let sequence = file.read(&folder, &document, 2.0).unwrap();
    assert_eq!(sequence.positions.len(), 3);
    // The node of a skinned mesh itself does not count.
    for (v, corner) in [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]].into_iter().enumerate() {
        near(&sequence, 0, v, corner);
    }
    near(&sequence, 1, 0, [0.0, 0.5, 0.0]);
    near(&sequence, 2, 0, [0.0, 1.0, 0.0]);
    near(&sequence, 2, 1, [1.0, 4.0, 0.0]);
    // Weights that do not add up to 1 count in proportion.
    near(&sequence, 2, 2, [0.0, 2.0, 1.0]);
}

#[test]
fn pins_follow_a_skinned_model() {
    let folder = Folder::new();
    let (file, document) = skinned();
    file.read(&folder, &document, 2.0).unwrap();
    let scene = |keys: &str| {
        let text = format!(
            "[scene]\nframes = 30\n[[cloth]]\nmesh = {{ grid = {{ size = [0.4, 0.4], cells = [4, 4] }} }}\n\
             transform = {{ translate = [0.2, 0.1, 0.2] }}\npin = [{{ select = \"index:0-9\", attach = \"model\"{keys} }}]\n\
             [[obstacle]]\nname = \"model\"\nsequence = {{ file = \"walk.gltf\", rate = 30 }}\n"
        );
        folder.load(text).unwrap().build().unwrap_or_else(|problems| panic!("{problems}"))
    };
    let run = |keys: &str| {
        let mut simulation = Simulation::from_description(scene(keys), 2).unwrap();
        let body = simulation.bodies().next().unwrap();
        let places = |simulation: &Simulation| simulation.positions(body).unwrap().iter().collect::<Vec<_>>();
        let start = places(&simulation);
        (0..30).for_each(|_| _ = simulation.step_frame());
        (start, places(&simulation))
    };
    let change = |start: &[Vec3], end: &[Vec3]| {
        let pairs = (0..9).map(|v| end[v].distance(end[v + 1]) - start[v].distance(start[v + 1]));
        pairs.map(f32::abs).fold(0.0, f32::max)
    };
    // The corners of the model's face have risen by 1, 4 and 2 m: it has tilted, and is stretched.
    let risen = |p: Vec3| 1.0 + 3.0 * p.x + p.z;
    let (start, end) = run("");
    assert!(change(&start, &end) < 1e-5, "rigid: {}", change(&start, &end));
    let mean = |x: &[Vec3]| x[..10].iter().sum::<Vec3>() / 10.0;
    let (from, to) = (mean(&start), mean(&end));
    assert!((to.y - from.y - risen(from)).abs() < 0.15, "{from} {to}");
    let (start, end) = run(", shape = \"skin\"");
    assert!(change(&start, &end) > 0.05, "skin: {}", change(&start, &end));
    let (from, to) = (start[7], end[7]);
    assert!((to.y - from.y - risen(from)).abs() < 0.15, "{from} {to}");
}

#[test]
fn what_is_wrong_is_named() {
    let folder = Folder::new();
    let says = |change: &dyn Fn(&mut Value), words: &[&str]| {
        let (file, mut document) = skinned();
        change(&mut document);
        let problem = file.read(&folder, &document, 2.0).unwrap_err();
        assert!(problem.contains("walk.gltf") && words.iter().all(|w| problem.contains(w)), "{problem}");
    };
    says(&|d| d["animations"] = json!([]), &["has no animation"]);
    says(&|d| d["animations"][0]["channels"] = json!([]), &["moves nothing"]);
    says(
        &|d| d["animations"][0]["samplers"][1]["output"] = json!(6),
        &["channel 1 (from 0)", "type \"VEC3\""],
    );
    says(
        &|d| d["animations"][0]["samplers"][0]["input"] = json!(99),
        &["accessor 99 (from 0) does not exist"],
    );
    says(&|d| d["animations"][0]["channels"][0]["sampler"] = json!(7), &["sampler 7 does not exist"]);
    says(&|d| d["animations"][0]["channels"][0]["target"]["node"] = json!(7), &["node 7 does not exist"]);
    says(
        &|d| d["animations"][0]["samplers"][0]["interpolation"] = json!("SLOW"),
        &["\"SLOW\"", "CUBICSPLINE"],
    );
    says(
        &|d| d["animations"][0]["samplers"][0]["interpolation"] = json!("CUBICSPLINE"),
        &["6 numbers for 2 keys", "18"],
    );
    says(&|d| d["skins"][0]["joints"] = json!([1]), &["vertex 1 follows joint 1", "has 1"]);
    says(&|d| d["skins"][0]["joints"] = json!([1, 8]), &["joint 8 is not a node"]);
    says(&|d| d["nodes"][0]["skin"] = json!(3), &["skin 3 (from 0) does not exist"]);
    let without_weights = |d: &mut Value| d["animations"][0]["channels"].as_array_mut().unwrap().truncate(1);
    let with = |key: &'static str, value: Value| {
        move |d: &mut Value| {
            without_weights(d);
            *d.pointer_mut(key).unwrap() = value.clone();
        }
    };
    says(&with("/nodes/0/mesh", json!(3)), &["mesh 3 (from 0)", "does not exist"]);
    says(&with("/meshes/0/primitives", json!([])), &["contains no faces"]);
    let (file, document) = skinned();
    let fast = file.read(&folder, &document, 1e9).unwrap_err();
    assert!(fast.contains("choose another rate"), "{fast}");
}

#[test]
fn no_garbage_makes_it_panic() {
    let folder = Folder::new();
    let (mut good, mut state) = (0, 12345u64);
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for round in 0..600 {
        let (mut file, document) = if round % 2 == 0 { turning("CUBICSPLINE") } else { skinned() };
        let mut text = document.to_string().into_bytes();
        for _ in 0..=random(3) {
            if random(3) == 0 {
                let at = random(file.bytes.len());
                file.bytes[at] = random(256) as u8;
            } else {
                // Another digit, mostly: what stays JSON gets furthest.
                let digits: Vec<usize> = (0..text.len()).filter(|&k| text[k].is_ascii_digit()).collect();
                let at = if random(8) == 0 { random(text.len()) } else { digits[random(digits.len())] };
                text[at] = b'0' + random(10) as u8;
            }
        }
        folder.write("data.bin", &file.bytes);
        let path = folder.write("walk.gltf", &text);
        if let Ok(sequence) = read_animation(&path, 3.0, 0.0) {
            good += 1;
            let count = sequence.positions[0].len();
            assert!(sequence.triangles.iter().flatten().all(|&v| (v as usize) < count));
            assert!(sequence.positions.iter().all(|frame| frame.len() == count));
            assert!(sequence.positions.iter().flatten().all(|p| p.is_finite()));
        }
    }
    assert!(good > 50, "{good}");
}
