//! A finished run is measured by its rest tables: whoever opens it builds no levels and no matrices, until
//! somebody asks to see a level.

use std::{path::Path, process::Command};

use serde_json::json;
use taut::low_level::levels_built;
use taut_io::{
    export::{self, Format},
    output::verify::verify,
    recording::Recording,
};
use taut_render::{
    Picture, Renderer,
    film::{Film, Options},
};

use crate::{
    client::{Client, Heard, open},
    replay,
};

/// Set in the process that counts.
const ALONE: &str = "TAUT_TEST_ALONE";

const SCENE: &str = r#"
contact = false

[[cloth]]
name = "sheet"
mesh = { grid = { size = [1.0, 1.0], cells = [24, 24] } }
strain = { max = 0.05 }
bend = { min = -30, max = 30 }

[[solid]]
name = "cube"
mesh = { bar = { size = [0.3, 0.3, 0.3], cells = [4, 4, 4] } }
strain = { min = -0.1, max = 0.1 }
"#;

/// The count is one of the process, in which other tests build levels: this one runs once more in a process
/// of its own.
#[test]
fn opening_a_finished_run_builds_no_levels() {
    if std::env::var_os(ALONE).is_some() {
        return count();
    }
    let name = "no_levels::opening_a_finished_run_builds_no_levels";
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--exact", name, "--nocapture"]).env(ALONE, "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let why = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}\n{why}");
}

fn count() {
    let folder = tempfile::tempdir().unwrap();
    let out = replay::run(folder.path(), SCENE, 3);
    let before = levels_built();
    assert!(before >= 4, "levels and matrices of a run are counted: {before}");
    let built = || levels_built() - before;

    let found = verify(Path::new(&out), 1).unwrap();
    assert!(found.failures.is_empty(), "{:?}", found.failures);
    assert_eq!(built(), 0, "verify");

    let recording = Recording::open(Path::new(&out)).unwrap();
    let to = folder.path().join("shapes");
    export::export(&recording, Format::Ply, &to, 0..=3, false, &()).unwrap();
    assert_eq!(built(), 0, "export");

    let draw = |options: Options| {
        let film = Film::new(&recording, 3..=3, options).unwrap();
        let mut picture = Picture::new(64, 48, [255; 4]);
        film.draw(&mut Renderer::new(1).unwrap(), 3, &mut picture).unwrap();
    };
    let coloring = taut_render::Coloring::Strain;
    draw(Options { size: [64, 48], ..Options::default() });
    draw(Options { size: [64, 48], coloring, ..Options::default() });
    assert_eq!(built(), 0, "render");
    draw(Options { size: [64, 48], mesh_level: 1, ..Options::default() });
    assert_eq!(built(), 1, "render --mesh-level 1");

    let before = levels_built();
    let built = || levels_built() - before;
    let studio = open(&out);
    let mut client = Client::new(&studio);
    assert_eq!(client.text("scene")["has_levels"], true);
    client.frame("the last frame", |f| f.number == 3);
    client.set("colouring", json!("strain"));
    client.frame("colours", |f| !f.colours.is_empty());
    assert_eq!(built(), 0, "studio");
    client.set("levels_shown", json!(true));
    let level = client.wait("a level before its frames", |heard| match heard {
        Heard::Mesh(mesh) if mesh.what == 2 => Some(mesh.clone()),
        Heard::Frame(frame) => {
            assert!(frame.levels.is_empty(), "no mesh came before");
            None
        }
        _ => None,
    });
    let frame = client.frame("levels", |f| !f.levels.is_empty());
    assert_eq!((level.index, level.positions.len()), (0, frame.levels[0].1.len()));
    client.set("levels_shown", json!(false));
    client.frame("no levels", |f| f.levels.is_empty());
    client.set("levels_shown", json!(true));
    client.frame("levels again", |f| !f.levels.is_empty());
    assert_eq!(built(), 1, "levels are built once");
    // Who comes later is sent them as well.
    let mut late = Client::new(&studio);
    let level = late.wait("a level", |heard| match heard {
        Heard::Mesh(mesh) if mesh.what == 2 => Some(mesh.index),
        _ => None,
    });
    assert_eq!((level, built()), (0, 1));
}
