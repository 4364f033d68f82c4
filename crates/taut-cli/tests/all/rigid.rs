//! Rigid bodies, from the scene to the files of a run: verified, resumed and exported.

use crate::program;

use program::Place;

const SCENE: &str = r#"
[scene]
frames = 12

[[cloth]]
name = "sheet"
mesh = { grid = { size = [1.0, 1.0], cells = [12, 12] } }
strain = { max = 0.05 }
pin = [{ select = "boundary" }]

[[obstacle]]
name = "ball"
shape = { sphere = { center = [0.5, 0.15, 0.5], radius = 0.1 } }
mass = 2.0
velocity = [0.0, -1.0, 0.0]
"#;

#[test]
fn a_run_with_a_rigid_body_is_verified_resumed_and_exported() {
    let place = Place::new();
    place.write("ball.toml", SCENE);
    place.good("run ball.toml -o whole");
    place.good("verify whole");
    place.good("run ball.toml --frames 5 -o parts");
    place.good("run --resume --frames 12 -o parts");
    let frame = |run: &str| std::fs::read(place.path(&format!("{run}/frames/sheet.0012.npy"))).unwrap();
    assert_eq!(frame("whole"), frame("parts"));

    place.good("export whole --format usda -o whole.usda");
    let text = std::fs::read_to_string(place.path("whole.usda")).unwrap();
    let (_, ball) = text.split_once("def Sphere \"ball\"").unwrap();
    assert!(ball.contains("xformOp:translate.timeSamples"), "{ball}");

    let file = place.path("whole/metrics.jsonl");
    let metrics = std::fs::read_to_string(&file).unwrap();
    let start = metrics.find("\"rigid_bodies\"").unwrap();
    let (before, after) = metrics.split_at(start);
    let moved = after.replacen("\"position\":[0.5", "\"position\":[0.6", 1);
    assert_ne!(moved, after);
    std::fs::write(&file, format!("{before}{moved}")).unwrap();
    place.bad("verify whole", 1, &["frame 0", "ball", "expected"]);
}
