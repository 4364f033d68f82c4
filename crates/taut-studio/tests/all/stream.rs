//! What every viewer gets: the scene, its meshes, and frames as long as it answers.

use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::Message;

use crate::client::{Client, Heard, get, open, open_sheet};

#[test]
fn scene_meshes_and_frames_arrive() {
    let folder = tempfile::tempdir().unwrap();
    let studio = open_sheet(folder.path());
    let mut client = Client::new(&studio);
    let hello = client.text("hello");
    assert_eq!(
        (&hello["version"], &hello["mode"], &hello["driving"]),
        (&json!(1), &json!("live"), &json!(true))
    );
    let scene = client.text("scene");
    assert_eq!(scene["name"], "sheet");
    assert_eq!(scene["frames"], Value::Null);
    assert_eq!(scene["bodies"][0]["vertices"], 81);
    assert_eq!(scene["bodies"][0]["limited"], true);
    assert_eq!(scene["tolerance"].as_f64().unwrap() as f32, 0.0);
    assert_eq!(scene["parameters"]["stretch_max"].as_f64().unwrap() as f32, 0.05);
    assert_eq!(scene["bounds"]["max"][0].as_f64().unwrap(), 1.0);
    let mesh = client.wait("a mesh", |heard| match heard {
        Heard::Mesh(mesh) => Some(mesh.clone()),
        _ => None,
    });
    assert_eq!((mesh.epoch, mesh.what, mesh.index), (1, 0, 0));
    assert_eq!((mesh.positions.len(), mesh.triangles.len()), (81, 128));
    let frames = client.frames(10);
    for pair in frames.windows(2) {
        assert!(pair[1].number > pair[0].number && pair[1].time > pair[0].time);
    }
    let last = &frames[9];
    assert_eq!((last.epoch, last.bodies.len(), last.bodies[0].len()), (1, 1, 81));
    assert!(last.bodies[0].iter().any(|x| x[1] < -0.001), "the sheet falls");
    assert_eq!(last.pins.len(), 2);
}

#[test]
fn acknowledgements_are_heard_however_much_else_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let studio = open_sheet(folder.path());
    let mut client = Client::new(&studio);
    let is_frame = |heard: &Heard| matches!(heard, Heard::Frame(_)).then_some(());
    // Two frames come and are not answered at once.
    let mut under_way = Vec::new();
    while under_way.len() < 2 {
        if let Heard::Frame(frame) = client.hear().unwrap() {
            under_way.push(frame.number);
        }
    }
    // Past all that is taken at once, with the answers at the end.
    let mut send = |message: Value| client.socket.send(Message::text(message.to_string())).unwrap();
    (0..1500).for_each(|_| send(json!({"type": "draws", "software": false})));
    under_way.into_iter().for_each(|frame| send(json!({"type": "ack", "frame": frame})));
    for _ in 0..3 {
        client.wait("a frame after them", is_frame);
    }
}

#[test]
fn stale_frames_are_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let studio = open_sheet(folder.path());
    let mut quick = Client::new(&studio);
    let mut slow = Client::new(&studio);
    slow.socket.get_ref().set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    // It answers none: two frames come, and then no more, however many there are.
    let mut unanswered = Vec::new();
    let mut others = 0;
    loop {
        quick.frames(1);
        match slow.hear() {
            Ok(Heard::Frame(frame)) => unanswered.push(frame.number),
            Ok(_) => others += 1,
            Err(_) if unanswered.len() >= 2 => break,
            Err(_) => {}
        }
        assert!(others < 100);
    }
    assert_eq!(unanswered.len(), 2);
    let newest = quick.frames(30)[29].number;
    slow.socket.get_ref().set_read_timeout(Some(crate::client::PATIENCE)).unwrap();
    slow.say(json!({"type": "ack", "frame": unanswered[0]}));
    let next = slow.frame("a frame", |_| true);
    assert!(next.number >= newest, "frame {} comes after {newest}: frames were queued", next.number);
}

#[test]
fn colours_and_levels_come_when_asked_for() {
    let studio = open("star");
    let mut client = Client::new(&studio);
    client.set("colouring", json!("strain"));
    client.set("levels_shown", json!(true));
    let frame = client.frame("colours and levels", |f| !f.colours.is_empty() && !f.levels.is_empty());
    assert_eq!(frame.colours[0].len(), frame.bodies[0].len());
    assert!(frame.levels.windows(2).all(|pair| pair[0].1.len() > pair[1].1.len()), "each is coarser");
    // Levels lie in the surface: not far from the mesh.
    let near = |x: &[f32; 3]| frame.bodies[0].iter().any(|y| (0..3).all(|k| (x[k] - y[k]).abs() < 0.03));
    assert!(frame.levels[0].1.iter().all(near));
    assert_eq!(frame.obstacles.len(), 1);
    for colouring in ["residual", "hsv"] {
        client.set("colouring", json!(colouring));
        client.text("parameters");
        assert!(!client.frame("colours", |_| true).colours.is_empty());
    }
    client.set("colouring", json!("none"));
    client.frame("no colours", |f| f.colours.is_empty());
}

#[test]
fn solids_show_their_surface() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cube.toml");
    let text = "[[solid]]\nmesh = { bar = { size = [0.3, 0.3, 0.3], cells = [3, 3, 3] } }\nstrain = { min = -0.1, max = 0.1 }\n";
    std::fs::write(&path, text).unwrap();
    let studio = open(path.to_str().unwrap());
    let mut client = Client::new(&studio);
    let scene = client.text("scene");
    assert_eq!(scene["bodies"][0]["kind"], "solid");
    // 4³ vertices less the 2³ inside.
    assert_eq!(scene["bodies"][0]["vertices"], 56);
    client.set("colouring", json!("residual"));
    let frame = client.frame("colours", |f| !f.colours.is_empty());
    assert_eq!((frame.bodies[0].len(), frame.colours[0].len()), (56, 56));
}

#[test]
fn the_page_scenes_and_exports_are_given_out() {
    let folder = tempfile::tempdir().unwrap();
    let studio = open_sheet(folder.path());
    let address = studio.address();
    let (status, head, body) = get(address, "/", &[]);
    assert_eq!((status, body.starts_with(b"<!doctype html>")), (200, true));
    assert!(head.to_lowercase().contains("content-security-policy"));
    let (_, _, body) = get(address, "/api/scenes", &[]);
    let scenes: Vec<Value> = serde_json::from_slice(&body).unwrap();
    assert!(scenes.iter().any(|s| s["name"] == "curtains" && s["source"] == "built-in"));
    assert!(scenes.iter().any(|s| s["name"] == "sheet.toml" && s["source"] == "file"));
    let (status, head, body) = get(address, "/api/export?format=obj", &[]);
    assert_eq!(status, 200);
    assert!(head.contains("attachment; filename=\"sheet.0000.obj\""), "{head}");
    let mesh = taut_io::mesh::parse(&body, taut_io::mesh::Format::Obj, None).unwrap();
    assert_eq!((mesh.positions.len(), mesh.triangles.len()), (81, 128));
    let (_, _, body) = get(address, "/api/export?format=toml", &[]);
    assert_eq!(String::from_utf8(body).unwrap(), crate::client::SHEET);
    assert_eq!(get(address, "/api/export?format=exe", &[]).0, 400);
    assert_eq!(get(address, "/nothing", &[]).0, 404);
}
