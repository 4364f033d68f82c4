//! What cloth is made of, changed while it runs: the slider of stiffness and the menu of materials.

use std::path::Path;

use serde_json::{Value, json};
use taut::Material;
use taut_studio::Studio;

use crate::client::{Client, Frame, open};

/// A soft sheet without limits that hangs from two corners, slowed down so that it comes to rest.
const SOFT: &str = r#"# A soft sheet.
[scene]
description = "A soft sheet."

[[cloth]]
name = "sheet"
mesh = { grid = { size = [1.0, 1.0], cells = [8, 8] } }
material = { base = "cotton", stretch = 30.0, poisson = 0.3, damping = 6.0 }      # like rubber
pin = [{ select = "corner:top-left" }, { select = "corner:top-right" }]
"#;

fn open_soft(folder: &Path) -> (Studio, Client) {
    let path = folder.join("soft.toml");
    std::fs::write(&path, SOFT).unwrap();
    let studio = open(path.to_str().unwrap());
    let mut client = Client::new(&studio);
    // Whatever else the machine does, all iterations are done.
    client.set("budget_ms", json!(1000.0));
    client.say(json!({"type": "pause"}));
    (studio, client)
}

/// The frame `count` frames later, one step after the other.
fn later(client: &mut Client, count: u32) -> Frame {
    client.say(json!({"type": "step"}));
    let mut frame = client.frame("a step", |_| true);
    let last = frame.number + count;
    while frame.number < last {
        let next = frame.number + 1;
        client.say(json!({"type": "step"}));
        frame = client.frame("the next step", |f| f.number >= next);
    }
    frame
}

/// Sets a parameter, and waits until it is set.
fn set(client: &mut Client, key: &str, value: &Value) {
    client.set(key, value.clone());
    loop {
        let parameters = client.text("parameters");
        let close = |a: &Value, b: &Value| match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-4,
            _ => a == b,
        };
        if close(&parameters[key], value) {
            return;
        }
    }
}

/// How far it hangs \[m\].
fn sag(frame: &Frame) -> f32 {
    -frame.bodies[0].iter().map(|x| x[1]).fold(f32::INFINITY, f32::min)
}

#[test]
fn stiffness_and_material_change_how_far_it_hangs() {
    let folder = tempfile::tempdir().unwrap();
    let (_studio, mut client) = open_soft(folder.path());
    let soft = sag(&later(&mut client, 90));
    set(&mut client, "stiffness", &json!(10.0));
    let stiff = sag(&later(&mut client, 90));
    assert!(stiff < soft - 0.03, "ten times as stiff: {soft} m, then {stiff} m");
    set(&mut client, "stiffness", &json!(1.0));
    set(&mut client, "material", &json!("denim"));
    let denim = sag(&later(&mut client, 90));
    assert!(denim < soft - 0.03, "denim: {soft} m, then {denim} m");
    // What it was made of comes back.
    set(&mut client, "material", &Value::Null);
    let again = sag(&later(&mut client, 120));
    assert!((again - soft).abs() < 0.01, "as in the scene: {soft} m, then {again} m");
}

#[test]
fn a_small_change_of_stiffness_moves_nothing_far() {
    let folder = tempfile::tempdir().unwrap();
    let (_studio, mut client) = open_soft(folder.path());
    let mut before = later(&mut client, 90);
    for k in 1..=5 {
        set(&mut client, "stiffness", &json!(1.0 + 0.01 * f64::from(k)));
        let after = later(&mut client, 0);
        let moved = |(a, b): (&[f32; 3], &[f32; 3])| (0..3).map(|c| (a[c] - b[c]).abs()).fold(0.0, f32::max);
        let largest = after.bodies[0].iter().zip(&before.bodies[0]).map(moved).fold(0.0, f32::max);
        assert!(largest < 0.003, "change {k}: {largest} m in a frame");
        before = after;
    }
}

#[test]
fn every_material_can_be_chosen_and_others_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("soft.toml");
    std::fs::write(&path, SOFT).unwrap();
    let studio = open(path.to_str().unwrap());
    let mut client = Client::new(&studio);
    let scene = client.text("scene");
    let offered: Vec<&str> = scene["materials"].as_array().unwrap().iter().flat_map(Value::as_str).collect();
    assert_eq!(offered, Material::names().collect::<Vec<_>>());
    assert!(offered.len() >= 18 && scene["parameters"]["material"].is_null(), "{scene}");
    for name in Material::names() {
        set(&mut client, "material", &json!(name));
    }
    client.set("material", json!("unobtainium"));
    let problem = client.text("problem")["text"].as_str().unwrap().to_owned();
    assert!(problem.contains("unobtainium") && problem.contains("denim"), "{problem}");
}

#[test]
fn what_is_saved_runs_as_it_was_shown() {
    let folder = tempfile::tempdir().unwrap();
    let (_studio, mut client) = open_soft(folder.path());
    // A change of a parameter that is confirmed comes after all that was said before it, and frames that
    // arrive afterwards are not older.
    let mut budget = 900.0;
    let mut confirm = |client: &mut Client| {
        budget += 1.0;
        set(client, "budget_ms", &json!(budget));
    };
    let mut from_the_start = |client: &mut Client| {
        client.say(json!({"type": "pause"}));
        confirm(client);
        client.say(json!({"type": "reset"}));
        confirm(client);
        (1..=20).fold(Frame::default(), |_, number| {
            client.say(json!({"type": "step"}));
            client.frame("the next step", |frame| frame.number >= number)
        })
    };
    for (material, stiffness) in [(json!("denim"), 10.0), (Value::Null, 3.0), (json!("paper"), 1.0)] {
        set(&mut client, "material", &material);
        set(&mut client, "stiffness", &json!(stiffness));
        let shown = from_the_start(&mut client);
        client.say(json!({"type": "save", "name": "saved"}));
        client.text("saved");
        let text = std::fs::read_to_string(folder.path().join("saved.toml")).unwrap();
        assert!(text.starts_with("# A soft sheet.\n") && text.contains("# like rubber"), "{text}");
        client.say(json!({"type": "scene", "name": "saved.toml"}));
        assert_eq!(client.text("scene")["name"], "saved");
        let again = from_the_start(&mut client);
        assert_eq!([shown.number, again.number], [20, 20]);
        assert!(again.bodies == shown.bodies, "{material} × {stiffness}:\n{text}");
        client.say(json!({"type": "scene", "name": "soft.toml"}));
        assert_eq!(client.text("scene")["name"], "soft");
    }
}
