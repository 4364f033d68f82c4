//! Materials of built-in scenes are what they say: none is softened to what steps can carry.

use crate::program::Place;

#[test]
fn no_built_in_scene_is_softened() {
    let place = Place::new();
    let scenes = place.good("scenes --json").out;
    let scenes: serde_json::Value = serde_json::from_str(&scenes).unwrap();
    let names: Vec<&str> = scenes.as_array().unwrap().iter().flat_map(|s| s["name"].as_str()).collect();
    assert!(names.len() >= 24 && names.contains(&"tang-sheet") && names.contains(&"tang-star"), "{names:?}");
    for name in names {
        let said = place.good(&format!("check {name}"));
        let all = format!("{}{}", said.out, said.err).to_lowercase();
        assert!(!all.contains("soften"), "{name}: {all}");
    }
    // The same words appear where a user asks for more than explicit steps carry.
    let said = place.good("check tang-sheet --set cloth.sheet.material=\"polyester\"");
    assert!(format!("{}{}", said.out, said.err).contains("stretch stiffness is softened"), "{}", said.err);
}
