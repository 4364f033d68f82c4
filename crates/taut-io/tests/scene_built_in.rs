//! Every built-in scene loads and builds.

use taut_io::scene::{built_in, load};

#[test]
fn every_built_in_scene_builds() {
    for scene in built_in() {
        let loaded = load(scene.name, &[]).unwrap_or_else(|problems| panic!("{}:\n{problems}", scene.name));
        let description = loaded.build().unwrap_or_else(|problems| panic!("{}:\n{problems}", scene.name));
        assert!(!description.cloths.is_empty());
        assert!(!loaded.description().is_empty(), "{} has no description", scene.name);
        assert!(loaded.warnings().is_empty(), "{}: {:?}", scene.name, loaded.warnings());
        assert!(scene.text.contains("[expect]"), "{} expects nothing", scene.name);
        println!("{}", loaded.to_toml());
    }
}
#[test]
fn sch() { println!("{}", serde_json::to_string_pretty(&taut_io::scene::schema()).unwrap()); }
