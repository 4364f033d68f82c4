//! Changed scenes as files.

use serde_json::json;

use crate::client::{Client, SHEET, get, open_sheet};

#[test]
fn a_changed_scene_is_saved_with_its_comments() {
    let folder = tempfile::tempdir().unwrap();
    let studio = open_sheet(folder.path());
    let mut client = Client::new(&studio);
    client.set("stretch_max", json!(0.02));
    client.set("gravity", json!(1.62));
    client.set("wind", json!([0.0, 0.0, 3.0]));
    client.set("stiffness", json!(2.0));
    client.set("bend_max", json!(45.0));
    client.set("fps", json!(60));
    client.say(json!({"type": "pin", "body": 0, "vertex": 40}));
    client.say(json!({"type": "save", "name": "changed"}));
    let saved = client.text("saved");
    assert!(saved["path"].as_str().unwrap().ends_with("changed.toml"));
    let text = std::fs::read_to_string(folder.path().join("changed.toml")).unwrap();
    assert!(text.starts_with("# A small sheet.\n"), "{text}");
    assert!(text.contains("# five in a hundred"), "{text}");
    let scene = taut_io::scene::load(folder.path().join("changed.toml").to_str().unwrap(), &[]).unwrap();
    let description = scene.build().unwrap();
    let (cloth, before) =
        (&description.bodies[0].as_cloth().unwrap(), taut::Material::named("polyester").unwrap());
    assert_eq!((cloth.strain.min, cloth.strain.max), (Some(-0.3), Some(0.02)));
    assert_eq!((cloth.bend.min, cloth.bend.max), (Some(-45.0), Some(45.0)));
    assert_eq!(description.gravity.to_array(), [0.0, -1.62, 0.0]);
    assert_eq!(description.air.wind[0].1.to_array(), [0.0, 0.0, 3.0]);
    assert_eq!(
        (scene.frame_rate, description.solver.budget_ms),
        (60.0, None),
        "the studio's own budget is not saved"
    );
    assert!((cloth.material.stretch.warp / before.stretch.warp - 2.0).abs() < 1e-4);
    assert!(cloth.pins.iter().any(|pin| pin.vertices == [40]) && cloth.pins.len() == 3);

    // It can be chosen, and what is shown can be saved over it, but over nothing else.
    client.say(json!({"type": "scene", "name": "changed.toml"}));
    assert_eq!(client.text("scene")["name"], "changed");
    client.say(json!({"type": "save", "name": "changed.toml"}));
    client.text("saved");
    std::fs::write(folder.path().join("precious.toml"), "x").unwrap();
    client.say(json!({"type": "save", "name": "precious"}));
    assert!(client.text("problem")["text"].as_str().unwrap().contains("another name"));
    assert_eq!(std::fs::read_to_string(folder.path().join("precious.toml")).unwrap(), "x");
}

#[test]
fn pins_that_were_taken_away_are_gone_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let studio = open_sheet(folder.path());
    let mut client = Client::new(&studio);
    let pins = client.frame("a frame", |_| true).pins;
    assert_eq!(pins.len(), 2);
    let [body, vertex] = pins[0];
    client.say(json!({"type": "unpin", "body": body, "vertex": vertex}));
    client.frame("one pin", |f| f.pins.len() == 1);
    let (_, _, text) = get(studio.address(), "/api/export?format=toml", &[]);
    let text = String::from_utf8(text).unwrap();
    let left = pins[1][1];
    assert!(text.contains(&format!("pin = [{{ select = \"index:{left}\" }}]")), "{text}");
    client.say(json!({"type": "reset"}));
}

#[test]
fn what_is_unchanged_is_saved_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let studio = open_sheet(folder.path());
    let mut client = Client::new(&studio);
    client.say(json!({"type": "save", "name": "copy"}));
    client.text("saved");
    assert_eq!(std::fs::read_to_string(folder.path().join("copy.toml")).unwrap(), SHEET);
}
