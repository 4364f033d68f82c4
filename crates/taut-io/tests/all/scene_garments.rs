//! Garments and the figure in scene files: flat at rest, dressed at the start, and a figure that moves.

use crate::scene_folder;

use scene_folder::{Folder, refused};

fn garment(mesh: &str, more: &str) -> String {
    format!("[[cloth]]\nname = \"worn\"\nmesh = {mesh}\n{more}\n")
}

#[test]
fn a_garment_is_flat_at_rest_and_starts_around_the_figure() {
    let folder = Folder::new();
    let place = "transform = { scale = 2.0, rotate = [0.0, 90.0, 0.0], translate = [0.0, 0.5, 0.0] }";
    let text = garment("{ shirt = { edge = 0.03 } }", place);
    let built = folder.load(text).unwrap().build().unwrap_or_else(|problems| panic!("{problems}"));
    let shirt = built.bodies[0].as_cloth().unwrap();
    assert!(shirt.mesh.positions.iter().all(|p| p.y == 0.0));
    let extent = |x: &[glam::Vec3], axis: usize| {
        let all = x.iter().map(|p| p[axis]);
        (all.clone().fold(f32::MAX, f32::min), all.fold(f32::MIN, f32::max))
    };
    // Twice as large, turned so that its width lies along z, and moved up.
    let (low, high) = extent(&shirt.start, 1);
    assert!((low - 2.14).abs() < 0.01 && high > 3.4, "{low} {high}");
    assert!(extent(&shirt.start, 2).1 > 0.6 && extent(&shirt.start, 0).1 < 0.35);
    let edge = shirt.mesh.triangles[0];
    let lengths =
        [&shirt.mesh.positions, &shirt.start].map(|x| (x[edge[0] as usize] - x[edge[1] as usize]).length());
    assert!((lengths[0] / lengths[1] - 1.0).abs() < 0.1, "{lengths:?}");
}

#[test]
fn a_figure_moves_as_an_obstacle() {
    let folder = Folder::new();
    let text = format!(
        "[scene]\nframes = 45\n{}[[obstacle]]\nsequence = {{ figure = {{ edge = 0.025 }}, rate = 60 }}\n\
         [[obstacle]]\nmesh = {{ figure = {{ edge = 0.025 }} }}\n",
        garment("{ cape = { edge = 0.03 } }", "pin = [{ select = \"group:shoulder:left\" }]")
    );
    let built = folder.load(text).unwrap().build().unwrap_or_else(|problems| panic!("{problems}"));
    let [moving, still] = built.mesh_obstacles.as_slice() else { panic!() };
    assert_eq!(moving.frames.times.len(), 91);
    assert_eq!((still.frames.times.len(), &still.triangles), (1, &moving.triangles));
    let far = |time: f32| {
        let pairs = moving.positions_at(time).into_iter().zip(still.positions_at(time));
        pairs.map(|(p, q)| (p - q).length()).fold(0.0, f32::max)
    };
    assert!(far(0.4) < 1e-6 && far(1.5) > 0.1, "{} {}", far(0.4), far(1.5));
    assert!(!built.bodies[0].as_cloth().unwrap().pins[0].vertices.is_empty());
}

#[test]
fn what_cannot_be_made_is_refused() {
    let mesh = Some("cloth.worn.mesh.shirt.edge");
    refused(garment("{ shirt = { edge = 0.1 } }", ""), Some(3), mesh, &["0.002 to 0.03"]);
    let scale = "transform = { scale = [1.0, 2.0, 1.0] }";
    let key = Some("cloth.worn.transform.scale");
    refused(garment("{ shirt = { edge = 0.03 } }", scale), Some(4), key, &["one number", "shirt"]);
    let curtain = "{ curtain = { size = [1.0, 1.0], cells = [9, 9], pleats = 6, depth = 0.1 } }";
    refused(garment(curtain, ""), Some(3), Some("cloth.worn.mesh.curtain"), &["pleats = 6", "at most 4"]);
    let grid = garment("{ grid = { size = [1, 1], cells = [2, 2] } }", "");
    let sequence = |keys: &str| format!("{grid}[[obstacle]]\nname = \"it\"\nsequence = {{ {keys} }}\n");
    let key = |key: &'static str| Some(key);
    refused(
        sequence("figure = { edge = 0.02 }, file = \"a.pc2\""),
        Some(7),
        key("obstacle.it.sequence.file"),
        &["cannot be combined with figure"],
    );
    refused(
        sequence("figure = { edge = 0.03 }"),
        Some(7),
        key("obstacle.it.sequence.figure"),
        &["edge = 0.03", "0.005 to 0.025"],
    );
    refused(
        sequence("figure = { edge = 0.02 }, rate = 90000"),
        Some(7),
        key("obstacle.it.sequence.rate"),
        &["at most 20000"],
    );
}
