//! Cloth that is pulled until it tears, and finished runs of such.

use std::path::Path;

use serde_json::json;
use taut_studio::Studio;

use crate::{
    client::{Client, Frame, Heard, Mesh, get, open},
    replay::run,
};

/// A sheet that is held at its upper corners, and tears before it reaches its limit.
const SHEET: &str = r#"# A weak sheet.
[scene]
description = "A weak sheet."
gravity = [0.0, -1.0, 0.0]

[[cloth]]
name = "sheet"
mesh = { grid = { size = [1.0, 1.0], cells = [8, 8] } }
material = "polyester"
strain = { max = 0.06 }
tear = { stretch = 0.04, random = 0.1 }      # weak
pin = [{ select = "corner:top-left" }, { select = "corner:top-right" }]
"#;

const WHOLE: usize = 81;

fn open_sheet(folder: &Path) -> (Studio, Client) {
    let path = folder.join("weak.toml");
    std::fs::write(&path, SHEET).unwrap();
    let studio = open(path.to_str().unwrap());
    let mut client = Client::new(&studio);
    client.set("budget_ms", json!(1000.0));
    client.say(json!({"type": "pause"}));
    client.say(json!({"type": "reset"}));
    client.frame("the start", |frame| frame.number == 0);
    (studio, client)
}

/// The mesh of the first body as it came last, and every frame with it: these must fit.
struct Shown {
    mesh: Mesh,
    frame: Frame,
}

impl Shown {
    /// Follows what comes until `wanted` holds.
    fn until(&mut self, client: &mut Client, what: &str, wanted: impl Fn(&Frame) -> bool) {
        client.wait(what, |heard| {
            match heard {
                Heard::Mesh(mesh) if mesh.what == 0 && mesh.index == 0 => self.mesh = mesh.clone(),
                Heard::Frame(frame) => {
                    self.frame = frame.clone();
                    assert_eq!(frame.bodies[0].len(), self.mesh.positions.len(), "frame {}", frame.number);
                    let highest = self.mesh.triangles.iter().flatten().max().unwrap();
                    assert_eq!(*highest as usize + 1, frame.bodies[0].len());
                    assert_eq!(self.mesh.triangles.len(), 128);
                    return wanted(frame).then_some(());
                }
                _ => {}
            }
            None
        });
    }

    fn step(&mut self, client: &mut Client) {
        let next = self.frame.number + 1;
        client.say(json!({"type": "step"}));
        self.until(client, "a step", |frame| frame.number >= next);
    }

    fn count(&self) -> usize {
        self.frame.bodies[0].len()
    }
}

fn whole(client: &mut Client) -> Shown {
    let mesh = client.wait("the mesh", |heard| match heard {
        Heard::Mesh(mesh) if mesh.what == 0 => Some(mesh.clone()),
        _ => None,
    });
    Shown { mesh, frame: Frame::default() }
}

/// Pulls a lower corner away until the sheet has torn; the grip stays.
fn pull(client: &mut Client, shown: &mut Shown) {
    let corner = (0..WHOLE as u32)
        .max_by(|&a, &b| {
            let depth = |v: u32| {
                let x = shown.mesh.positions[v as usize];
                x[0] + x[2] - x[1]
            };
            depth(a).total_cmp(&depth(b))
        })
        .unwrap();
    let triangle = shown.mesh.triangles.iter().position(|t| t.contains(&corner)).unwrap();
    let weights = shown.mesh.triangles[triangle].map(|v| f32::from(u8::from(v == corner)));
    let start = shown.frame.bodies[0][corner as usize];
    let grab = json!({"type": "grab", "body": 0, "triangle": triangle, "weights": weights, "point": start, "hard": true, "id": 1});
    client.say(grab);
    for k in 1..400 {
        let far = 0.02 * k as f32;
        let to = [start[0] + far, start[1], start[2] + far];
        client.say(json!({"type": "drag", "id": 1, "point": to, "stamp": k}));
        shown.step(client);
        if shown.count() > WHOLE + 4 {
            return;
        }
    }
    panic!("it did not tear");
}

#[test]
fn a_sheet_tears_by_hand_and_is_whole_after_a_reset() {
    let folder = tempfile::tempdir().unwrap();
    let (studio, mut client) = open_sheet(folder.path());
    let mut second = Client::new(&studio);
    let mut shown = whole(&mut second);
    // The second viewer watches; what the first sees of meshes came before.
    let mut own = Shown { mesh: shown.mesh.clone(), frame: Frame::default() };
    client.say(json!({"type": "reset"}));
    own.until(&mut client, "a frame", |frame| frame.number == 0);
    (0..20).for_each(|_| own.step(&mut client));
    assert_eq!((own.count(), shown.mesh.positions.len()), (WHOLE, WHOLE));
    client.set("colouring", json!("strain"));
    pull(&mut client, &mut own);
    let torn = own.count();
    assert_eq!(own.frame.colours[0].len(), torn);
    // The limit holds in what is left, the grip still holds, and tears go on.
    for _ in 0..10 {
        own.step(&mut client);
        assert!(own.frame.max_strain <= 0.06 + 0.012, "strain {}", own.frame.max_strain);
    }
    let torn_to = own.frame.number;
    shown.until(&mut second, "the torn sheet", |frame| frame.number == torn_to);
    assert_eq!(shown.mesh.triangles, own.mesh.triangles);

    // One who comes later, files, levels.
    let mut late = Client::new(&studio);
    let mut late_shown = whole(&mut late);
    late_shown.until(&mut late, "the torn sheet", |frame| frame.number == torn_to);
    assert_eq!((late_shown.count(), &late_shown.mesh.triangles), (own.count(), &own.mesh.triangles));
    for format in ["obj", "ply"] {
        let file = get(studio.address(), &format!("/api/export?format={format}"), &[]).2;
        let kind = if format == "obj" { taut_io::mesh::Format::Obj } else { taut_io::mesh::Format::Ply };
        let mesh = taut_io::mesh::parse(&file, kind, None).unwrap();
        assert_eq!((mesh.positions.len(), &mesh.triangles), (own.count(), &own.mesh.triangles));
    }
    client.set("material", json!("denim"));
    client.set("levels_shown", json!(true));
    own.step(&mut client);

    client.say(json!({"type": "reset"}));
    own.until(&mut client, "the start", |frame| frame.number == 0);
    assert_eq!((own.count(), &own.mesh.triangles), (WHOLE, &own.mesh.triangles));
    assert_eq!(own.mesh.positions.len(), WHOLE);
    client.set("material", json!(null));
    pull(&mut client, &mut own);
    assert!(own.count() > WHOLE);
}

#[test]
fn the_threshold_is_a_parameter_and_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let (studio, mut client) = open_sheet(folder.path());
    for (value, words) in [(json!(0.0), "0.001"), (json!("far"), "number"), (json!(-1), "number")] {
        client.set("tear", value);
        assert!(client.text("problem")["text"].as_str().unwrap().contains(words));
    }
    client.set("tear", json!(0.03));
    client.wait("the threshold", |heard| match heard {
        Heard::Text(text) if text["type"] == "parameters" && text["tear"].as_f64() > Some(0.0299) => {
            text["tear"].as_f64().filter(|tear| *tear < 0.0301)
        }
        _ => None,
    });
    client.say(json!({"type": "save", "name": "kept"}));
    let path = client.text("saved")["path"].as_str().unwrap().to_owned();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("tear = { stretch = 0.03, random = 0.1 }      # weak"), "{text}");
    client.set("tear", json!(null));
    client.say(json!({"type": "save", "name": "kept"}));
    client.text("saved");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("tear") && text.contains("strain"), "{text}");
    // Nothing tears without a threshold, whatever it is stretched to.
    client.set("limiter", json!("off"));
    client.set("gravity", json!(80.0));
    let mut own = Shown { mesh: whole(&mut Client::new(&studio)).mesh, frame: Frame::default() };
    own.step(&mut client);
    (0..12).for_each(|_| own.step(&mut client));
    assert!(own.count() == WHOLE && own.frame.max_strain > 0.05, "{}", own.frame.max_strain);
}

/// A strip that is pulled apart by its pins.
const STRIP: &str = r#"
contact = false
[scene]
gravity = [0.0, 0.0, 0.0]
frame_rate = 60
[[cloth]]
name = "strip"
mesh = { grid = { size = [0.4, 0.1], cells = [16, 4] } }
material = "polyester"
tear = { stretch = 0.08, weak = [{ select = "box:0.19,-1,-1,0.21,1,0.03", factor = 0.4 }] }
[[cloth.pin]]
select = "box:-1,-1,-1,0.001,1,1"
motion = [{ time = 0.0 }, { time = 0.5, translate = [-0.05, 0.0, 0.0] }]
[[cloth.pin]]
select = "box:0.399,-1,-1,1,1,1"
motion = [{ time = 0.0 }, { time = 0.5, translate = [0.05, 0.0, 0.0] }]
"#;

#[test]
fn a_finished_run_is_shown_torn_and_whole_as_it_is_sought() {
    let folder = tempfile::tempdir().unwrap();
    let out = run(folder.path(), STRIP, 24);
    let stored = taut_io::recording::Recording::open(Path::new(&out)).unwrap();
    let tear = stored.bodies()[0].changes[0];
    let studio = open(&out);
    let mut client = Client::new(&studio);
    let mut shown = whole(&mut client);
    client.say(json!({"type": "pause"}));
    client.set("colouring", json!("strain"));
    client.say(json!({"type": "play"}));
    let follow = |shown: &mut Shown, client: &mut Client, number: u32| {
        client.say(json!({"type": "pause"}));
        client.say(json!({"type": "seek", "frame": number}));
        client.wait("the frame", |heard| {
            match heard {
                Heard::Mesh(mesh) if mesh.what == 0 => shown.mesh = mesh.clone(),
                Heard::Frame(frame) => {
                    assert_eq!(frame.bodies[0].len(), shown.mesh.positions.len());
                    if frame.number == number {
                        shown.frame = frame.clone();
                        return Some(());
                    }
                }
                _ => {}
            }
            None
        });
        let read = stored.read(0, number).unwrap();
        assert_eq!(shown.mesh.triangles, read.connections.triangles());
        let positions: Vec<[f32; 3]> = read.positions.iter().map(|x| x.to_array()).collect();
        assert_eq!(shown.frame.bodies[0], positions);
        assert!(shown.frame.colours.is_empty() || shown.frame.colours[0].len() == positions.len());
    };
    for number in [24, tear - 1, tear, 0, 24, tear] {
        follow(&mut shown, &mut client, number);
        // Colours are those of strain, not of what cannot be measured: it is relieved beside a tear.
        let colours = &shown.frame.colours[0];
        assert!(number != tear || colours.iter().any(|colour| *colour != colours[0]), "frame {number}");
    }
    let file = get(studio.address(), "/api/export?format=obj", &[]).2;
    let mesh = taut_io::mesh::parse(&file, taut_io::mesh::Format::Obj, None).unwrap();
    assert_eq!(mesh.triangles, shown.mesh.triangles);
}
