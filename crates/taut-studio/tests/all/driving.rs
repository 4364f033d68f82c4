//! What the driver can do, and who drives.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::{Client, Frame, Heard, open_sheet};

/// The middle of the sheet's lower edge.
const HEM: u32 = 76;

/// A sheet, and a viewer that drives it.
fn driven() -> (tempfile::TempDir, taut_studio::Studio, Client) {
    let folder = tempfile::tempdir().unwrap();
    let studio = open_sheet(folder.path());
    let mut client = Client::new(&studio);
    client.frames(1);
    (folder, studio, client)
}

/// The triangle of the sheet that has vertex `vertex` as its first corner, and the weights that mean this
/// corner.
fn corner(client: &mut Client, vertex: u32) -> (u32, [f32; 3]) {
    client.say(json!({"type": "scene", "name": "sheet.toml"}));
    let mesh = client.wait("a mesh", |heard| match heard {
        Heard::Mesh(mesh) => Some(mesh.clone()),
        _ => None,
    });
    let found = mesh.triangles.iter().enumerate().find_map(|(t, corners)| {
        let k = corners.iter().position(|&v| v == vertex)?;
        let mut weights = [0.0; 3];
        weights[k] = 1.0;
        Some((t as u32, weights))
    });
    found.unwrap()
}

fn distance(frame: &Frame, vertex: usize, to: [f32; 3]) -> f32 {
    let x = frame.bodies[0][vertex];
    (0..3).map(|k| (x[k] - to[k]).powi(2)).sum::<f32>().sqrt()
}

#[test]
fn whoever_watches_may_say_that_it_draws_on_the_processor() {
    let (_folder, studio, mut driver) = driven();
    let mut watcher = Client::new(&studio);
    for software in [true, false, true] {
        watcher.say(json!({"type": "draws", "software": software}));
        watcher.say(json!({"type": "ping", "stamp": 3.0}));
        // What is refused is answered with a problem, and would come before.
        let answer = watcher.wait("an answer", |heard| match heard {
            Heard::Text(text) if ["pong", "problem"].contains(&text["type"].as_str()?) => Some(text.clone()),
            _ => None,
        });
        assert_eq!(answer["type"], "pong", "{answer}");
        let from = driver.frames(1)[0].number;
        driver.frame("the simulation goes on", |frame| frame.number > from + 5);
    }
    drop(watcher);
    let from = driver.frames(1)[0].number;
    driver.frame("the simulation goes on without it", |frame| frame.number > from + 5);
}

#[test]
fn a_drag_moves_the_grabbed_vertex() {
    for hard in [true, false] {
        let (_folder, _studio, mut client) = driven();
        let (triangle, weights) = corner(&mut client, HEM);
        // Hanging, it has room to be pulled up.
        let start = client
            .frame("the sheet hanging", |f| f.epoch == 2 && f.bodies[0][HEM as usize][1] < -0.8)
            .bodies[0][HEM as usize];
        let point = [start[0] + 0.1, start[1] + 0.25, start[2]];
        client.say(json!({"type": "grab", "body": 0, "triangle": triangle, "weights": weights, "point": start, "hard": hard, "id": 1}));
        client.say(json!({"type": "drag", "id": 1, "point": point, "stamp": 12.5}));
        let near = client.frame("the vertex at the pointer", |f| distance(f, HEM as usize, point) < 0.02);
        assert_eq!(near.echo, 12.5, "the frame says which drag it has seen");
        let later = client.frames(20);
        assert!(later.iter().all(|f| distance(f, HEM as usize, point) < 0.1), "it is held there");
        client.say(json!({"type": "release", "id": 1}));
        client.frame("it falls", |f| distance(f, HEM as usize, point) > 0.15);
    }
}

#[test]
fn the_limit_changes_the_measured_strain() {
    let (_folder, _studio, mut client) = driven();
    client.set("gravity", json!(60.0));
    client.set("stretch_max", json!(0.2));
    let loose = client.frame("a larger strain", |f| f.max_strain > 0.12 && f.max_strain < 0.25).max_strain;
    client.set("stretch_max", json!(0.02));
    let parameters = client.text("parameters");
    assert_eq!(parameters["stretch_max"].as_f64().unwrap() as f32, 0.02);
    let tight = client.frame("a smaller strain", |f| f.max_strain < 0.035).max_strain;
    assert!(tight < 0.5 * loose);
    client.set("limiter", json!("off"));
    client.frame("no limit", |f| f.max_strain > 0.3);
}

#[test]
fn every_parameter_can_be_set_and_bad_values_are_refused() {
    let (_folder, _studio, mut client) = driven();
    let good: [(&str, Value); 12] = [
        ("limiter", json!("edge")),
        ("stretch_max", json!(0.08)),
        ("limiter", json!("isotropic")),
        ("stretch_min", json!(-0.2)),
        ("bend_max", json!(30.0)),
        ("stiffness", json!(2.0)),
        ("wind", json!([1.0, 0.0, -2.0])),
        ("budget_ms", json!(5.0)),
        ("fps", json!(60.0)),
        ("bend_max", Value::Null),
        ("stretch_min", Value::Null),
        ("colouring", json!("hsv")),
    ];
    for (key, value) in good {
        client.set(key, value.clone());
        let now = client.wait(key, |heard| match heard {
            Heard::Text(text) if text["type"] == "problem" => panic!("{key}: {text}"),
            Heard::Text(text) if text["type"] == "parameters" => Some(text[key].clone()),
            _ => None,
        });
        match value.as_f64() {
            Some(number) => assert_eq!(now.as_f64().unwrap() as f32, number as f32, "{key}"),
            None => assert_eq!(now, value, "{key}"),
        }
        client.frames(2);
    }
    for (key, value, right) in [
        ("stretch_max", json!(-1), "from 0 to 10"),
        ("stretch_max", json!("wide"), "number"),
        ("fps", json!(25), "30 or 60"),
        ("wind", json!([1.0, 2.0]), "three numbers"),
        ("wind", json!([1e30, 2.0, 0.0]), "three numbers"),
        ("gravity", json!(1e300), "number from"),
        ("colour", json!("red"), "known: limiter"),
    ] {
        client.set(key, value);
        let text = client.text("problem")["text"].as_str().unwrap().to_owned();
        assert!(text.contains(right), "{key}: {text}");
    }
}

#[test]
fn pause_step_reset_and_play() {
    let (_folder, _studio, mut client) = driven();
    client.say(json!({"type": "pause"}));
    let state = client.wait("a pause", |heard| match heard {
        Heard::Text(text) if text["type"] == "state" && text["playing"] == false => Some(text.clone()),
        _ => None,
    });
    let frame = state["frame"].as_u64().unwrap() as u32;
    for k in 1..=3 {
        client.say(json!({"type": "step"}));
        client.frame("one more frame", |f| f.number == frame + k);
    }
    client.say(json!({"type": "reset"}));
    let start = client.frame("the start", |f| f.number == 0);
    assert!(start.bodies[0].iter().all(|x| x[1].abs() < 1e-3), "the sheet lies flat at the start");
    client.say(json!({"type": "play"}));
    client.frame("running frames", |f| f.number == 5);
}

#[test]
fn pins_hold_and_let_go() {
    let (_folder, _studio, mut client) = driven();
    client.say(json!({"type": "pin", "body": 0, "vertex": 40}));
    let pinned = client.frame("a pin", |f| f.pins.contains(&[0, 40]));
    let at = pinned.bodies[0][40];
    let later = &client.frames(15)[14];
    assert!(distance(later, 40, at) < 1e-3);
    client.say(json!({"type": "unpin", "body": 0, "vertex": 40}));
    client.frame("no pin", |f| !f.pins.contains(&[0, 40]) && f.number > later.number);
    client.say(json!({"type": "pin", "body": 0, "vertex": 4000}));
    assert!(client.text("problem")["text"].as_str().unwrap().contains("4000"));
    client.say(
        json!({"type": "grab", "body": 7, "triangle": 0, "weights": [1, 0, 0], "point": [0, 0, 0], "id": 9}),
    );
    assert!(client.text("problem")["text"].as_str().unwrap().contains("body 7"));
}

#[test]
fn another_scene_is_another_epoch() {
    let (_folder, _studio, mut client) = driven();
    client.say(json!({"type": "scene", "name": "flag"}));
    let scene = client.text("scene");
    assert_eq!((&scene["name"], &scene["epoch"]), (&json!("flag"), &json!(2)));
    let frame = client.frame("a frame of the flag", |f| f.epoch == 2);
    assert_eq!(frame.bodies[0].len(), 49 * 33);
    client.say(json!({"type": "scene", "name": "no-such-scene.toml"}));
    assert!(client.text("problem")["text"].as_str().unwrap().contains("no-such-scene"));
    client.frames(3);
}

#[test]
fn one_drives_and_hands_over() {
    let (_folder, studio, mut first) = driven();
    let mut second = Client::new(&studio);
    let hello = second.text("hello");
    assert_eq!((&hello["driving"], &hello["viewers"]), (&json!(false), &json!(2)));
    second.say(json!({"type": "pause"}));
    assert!(second.text("problem")["text"].as_str().unwrap().contains("drive"));
    second.say(json!({"type": "drive"}));
    let drives = |client: &mut Client, wanted: bool| {
        client.wait("a hand-over", |heard| match heard {
            Heard::Text(text) if text["type"] == "state" && text["driving"] == wanted => Some(()),
            _ => None,
        });
    };
    drives(&mut second, true);
    drives(&mut first, false);
    first.say(json!({"type": "pause"}));
    assert!(first.text("problem")["text"].as_str().unwrap().contains("drive"));
    // Whoever drives and leaves hands over to the one that has been there longest.
    drop(second);
    drives(&mut first, true);
    first.say(json!({"type": "pause"}));
    first.wait("a pause", |heard| match heard {
        Heard::Text(text) if text["type"] == "state" && text["playing"] == false => Some(()),
        _ => None,
    });
}

#[test]
fn nonsense_is_answered_and_nothing_stops() {
    let (_folder, _studio, mut client) = driven();
    for text in [
        "",
        "{",
        "[]",
        "{\"type\":\"fly\"}",
        "{\"type\":\"drag\",\"id\":1}",
        "{\"type\":\"seek\",\"frame\":3}",
    ] {
        client.socket.send(tungstenite::Message::text(text)).unwrap();
        client.text("problem");
    }
    client.say(json!({"type": "ping", "stamp": 17.25}));
    assert_eq!(client.text("pong")["stamp"], 17.25);
    let begun = Instant::now();
    client.frames(10);
    assert!(begun.elapsed() < Duration::from_secs(20));
}
