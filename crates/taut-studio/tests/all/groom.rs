//! Hair that is combed and cut, and its threshold; and finished runs of such.

use std::path::Path;

use serde_json::{Value, json};
use taut_io::recording::{Connections, Recording};
use taut_studio::Studio;

use crate::{
    client::{Client, Frame, Heard, Mesh, open},
    replay::run,
};

/// Straight strands that hang from a beam: 8 of 20 segments.
const HAIR: &str = r#"
[scene]
description = "Strands on a beam."
[[hair]]
name = "hair"
mesh = { grow = { mesh = { box = { size = [0.2, 0.02, 0.02], cells = [4, 1, 1] } }, select = "box:-1,-1,-1,1,-0.009,1", count = 8, length = 0.2, segments = 20 } }
rest = "straight"
tear = { stretch = 0.02 }
"#;

const POINTS: usize = 8 * 21;

/// What is shown of the only body.
struct Shown {
    mesh: Mesh,
    frame: Frame,
}

impl Shown {
    fn until(&mut self, client: &mut Client, what: &str, wanted: impl Fn(&Frame, &Mesh) -> bool) {
        client.wait(what, |heard| {
            match heard {
                Heard::Mesh(mesh) if mesh.what == 0 => self.mesh = mesh.clone(),
                Heard::Frame(frame) => {
                    self.frame = frame.clone();
                    assert_eq!((frame.bodies[0].len(), self.mesh.triangles.len()), (POINTS, 8 * 20));
                    return wanted(frame, &self.mesh).then_some(());
                }
                _ => {}
            }
            None
        });
    }

    fn step(&mut self, client: &mut Client) {
        let next = self.frame.number + 1;
        client.say(json!({"type": "step"}));
        self.until(client, "a step", |frame, _| frame.number >= next);
    }

    /// The lowest point.
    fn tip(&self) -> usize {
        let x = &self.frame.bodies[0];
        (0..x.len()).min_by(|&a, &b| x[a][1].total_cmp(&x[b][1])).unwrap()
    }
}

/// Segments that are cut.
fn cuts(mesh: &Mesh) -> usize {
    mesh.triangles.iter().filter(|t| t[0] == t[1]).count()
}

fn start(folder: &Path) -> (Studio, Client, Shown) {
    let path = folder.join("hair.toml");
    std::fs::write(&path, HAIR).unwrap();
    let studio = open(path.to_str().unwrap());
    let mut client = Client::new(&studio);
    let mesh = client.wait("the mesh", |heard| match heard {
        Heard::Mesh(mesh) if mesh.what == 0 => Some(mesh.clone()),
        _ => None,
    });
    let mut shown = Shown { mesh, frame: Frame::default() };
    client.set("budget_ms", json!(1000.0));
    client.say(json!({"type": "pause"}));
    client.say(json!({"type": "reset"}));
    shown.until(&mut client, "the start", |frame, _| frame.number == 0);
    (studio, client, shown)
}

/// A problem with a request.
fn refused(client: &mut Client, request: Value, why: &str) {
    client.say(request);
    client.wait("a problem", |heard| match heard {
        Heard::Text(text) if text["type"] == "problem" => {
            let said = text["text"].as_str().unwrap_or_default();
            assert!(said.contains(why), "{said}");
            Some(())
        }
        _ => None,
    });
}

#[test]
fn a_brush_combs_and_a_stroke_cuts() {
    let folder = tempfile::tempdir().unwrap();
    let (_studio, mut client, mut shown) = start(folder.path());
    (0..3).for_each(|_| shown.step(&mut client));
    let tip = shown.tip();
    let begun = shown.frame.bodies[0][tip];
    let at = |k: usize| [begun[0], begun[1] + 0.05, begun[2] + 0.005 * k as f32];
    for k in 0..12 {
        client.say(json!({"type": "comb", "from": at(k), "to": at(k + 1), "radius": 0.06}));
        shown.step(&mut client);
        assert!(shown.frame.max_strain <= 0.01 + 1e-4, "strain {}", shown.frame.max_strain);
    }
    let combed = shown.frame.bodies[0][tip];
    assert!(combed[2] - begun[2] > 0.02, "from {begun:?} to {combed:?}");
    refused(&mut client, json!({"type": "comb", "from": at(0), "to": at(1), "radius": 0.0}), "radius");
    refused(
        &mut client,
        json!({"type": "comb", "from": at(0), "to": [1e9, 0.0, 0.0], "radius": 0.1}),
        "within",
    );

    client.say(json!({"type": "reset"}));
    shown.until(&mut client, "the start", |frame, _| frame.number == 0);
    // A stroke beside all strands, and one across those that hang, half way down: some grow sideways.
    let stroke = |from: f32, to: f32| json!({"type": "cut", "eye": [0.0, -0.11, 1.0], "from": [from, -0.11, -1.0], "to": [to, -0.11, -1.0]});
    client.say(stroke(2.0, 3.0));
    client.say(stroke(-1.0, 1.0));
    shown.until(&mut client, "the cut", |_, mesh| cuts(mesh) >= 3);
    let tip = shown.tip();
    let before = shown.frame.bodies[0][tip][1];
    (0..6).for_each(|_| shown.step(&mut client));
    assert!(shown.frame.bodies[0][tip][1] < before - 0.05, "what was cut off hangs in the air");
    refused(
        &mut client,
        json!({"type": "cut", "eye": [0.0, 0.0, 1e9], "from": at(0), "to": at(1)}),
        "within",
    );
    client.say(json!({"type": "reset"}));
    shown.until(&mut client, "the whole", |frame, mesh| frame.number == 0 && cuts(mesh) == 0);
}

#[test]
fn the_threshold_is_a_parameter() {
    let folder = tempfile::tempdir().unwrap();
    let (_studio, mut client, _) = start(folder.path());
    client.set("tear", json!(0.5));
    client.say(json!({"type": "save", "name": "stronger"}));
    client.wait("the file", |heard| match heard {
        Heard::Text(text) if text["type"] == "saved" => Some(()),
        _ => None,
    });
    let text = std::fs::read_to_string(folder.path().join("stronger.toml")).unwrap();
    assert!(text.contains("tear = { stretch = 0.5 }"), "{text}");
}

#[test]
fn a_finished_run_is_shown_cut_and_whole_as_it_is_sought() {
    let folder = tempfile::tempdir().unwrap();
    let pins = "pin = [{ select = \"corner:tip\", motion = [{ time = 0.0 }, { time = 1.0, translate = [0.0, -0.2, 0.0] }] }]\n";
    let out = run(folder.path(), &(HAIR.to_owned() + pins), 12);
    let stored = Recording::open(Path::new(&out)).unwrap();
    let cut = stored.bodies()[0].changes[0];
    let studio = open(&out);
    let mut client = Client::new(&studio);
    let mut mesh: Option<Mesh> = None;
    for number in [12, cut - 1, cut, 0, 12] {
        client.say(json!({"type": "pause"}));
        client.say(json!({"type": "seek", "frame": number}));
        client.wait("the frame", |heard| {
            match heard {
                Heard::Mesh(new) if new.what == 0 => mesh = Some(new.clone()),
                Heard::Frame(frame) if frame.number == number => return Some(()),
                _ => {}
            }
            None
        });
        let Connections::Curves(counts) = &*stored.read(0, number).unwrap().connections else { panic!() };
        assert_eq!(mesh.as_ref().map(cuts), Some(counts.len() - 8), "frame {number}");
    }
}
