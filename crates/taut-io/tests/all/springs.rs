//! `[[particles]]` and `[[spring]]` of scene files: what they become, and what is refused.

use std::path::Path;

use taut::{Body, SpringEnd};
use taut_io::scene;

const SCENE: &str = r#"
[[cloth]]
name = "sheet"
mesh = { grid = { size = [1.0, 1.0], cells = [4, 4] } }

[[particles]]
name = "rope"
mesh = { chain = { to = [0, -1, 0], segments = 4 } }
mass_per_length = 0.4
spring = { stiffness = 100, damping = 0.1, rest = 0.9 }
edge = { max = 0.1 }
pin = [{ select = "corner:start" }]

[[spring]]
from = { body = "sheet", select = "index:3,1" }
to = { body = "rope", select = "index:2,4" }
rest_length = 0.2
stiffness = 50
damping = 0.5
breaking_force = 9
"#;

fn problems(text: &str) -> String {
    let loaded = scene::parse(text, "scene", Path::new("."), &[]);
    match loaded.and_then(|scene| scene.build().map(|_| ())) {
        Ok(()) => String::new(),
        Err(problems) => problems.to_string(),
    }
}

#[test]
fn particles_and_springs_are_built() {
    let built = scene::parse(SCENE, "scene", Path::new("."), &[]).unwrap().build().unwrap();
    let Body::Particles(rope) = &built.bodies[1] else { panic!("{:?}", built.bodies[1].kind()) };
    assert_eq!((rope.mesh.positions.len(), rope.mesh.segments.len()), (5, 4));
    let wanted = [0.05, 0.1, 0.1, 0.1, 0.05];
    assert!(rope.masses.iter().zip(wanted).all(|(m, w)| (m - w).abs() < 1e-7), "{:?}", rope.masses);
    assert_eq!((rope.springs.rest, rope.edge.max, &rope.pins[0].vertices), (0.9, Some(0.1), &vec![0]));
    let ends: Vec<_> = built.springs.iter().map(|spring| spring.ends).collect();
    let at = |body, vertex| SpringEnd::Vertex { body, vertex };
    assert_eq!(ends, [[at(0, 3), at(1, 2)], [at(0, 1), at(1, 4)]]);
    assert_eq!((built.springs[0].rest, built.springs[0].breaking_force), (Some(0.2), Some(9.0)));
    // What is written out says the same.
    let again = scene::parse(SCENE, "scene", Path::new("."), &[]).unwrap().to_toml();
    let again = scene::parse(&again, "scene", Path::new("."), &[]).unwrap().build().unwrap();
    assert_eq!(again.springs, built.springs);
}

#[test]
fn bad_input_is_refused_with_line_and_key() {
    let cases = [
        ("body = \"rope\", select", "body = \"rpoe\", select", "no body is named \"rpoe\"", "16"),
        ("index:2,4", "index:2,9", "vertex 9 does not exist", "16"),
        ("index:2,4", "index:2,3,4", "must select one or the same number", "16"),
        ("stiffness = 50", "stiffness = -50", "-50", "18"),
        ("stiffness = 50", "stiffness = nan", "nan", "18"),
        (
            "to = { body = \"rope\", select = \"index:2,4\" }",
            "to = { point = [0, 1, 0], select = \"all\" }",
            "cannot be combined",
            "16",
        ),
        (
            "to = { body = \"rope\", select = \"index:2,4\" }",
            "to = { body = \"sheet\", select = \"index:3,2\" }",
            "joins vertex 3 to itself",
            "16",
        ),
        (
            "spring = { stiffness = 100,",
            "spring = { breaking_force = 3, stiffness = 100,",
            "cannot be combined with edge",
            "10",
        ),
        ("mass_per_length = 0.4", "mass_per_length = 0.4\nmass = 1", "cannot be combined with mass", "9"),
        ("name = \"rope\"", "name = \"sheet\"", "names must be unique", "7"),
    ];
    for (from, to, what, line) in cases {
        assert!(SCENE.contains(from), "{from}");
        let found = problems(&SCENE.replacen(from, to, 1));
        assert!(found.contains(what) && found.contains(&format!("line {line}:")), "{to}: {found}");
    }
    assert!(problems(SCENE).is_empty(), "{}", problems(SCENE));
}

const POSITION_BASED: &str = r#"
[[particles]]
name = "rope"
mesh = { chain = { to = [0, -1, 0], segments = 4 } }
model = "pbd"
spring = { stiffness = 100 }
pbd = { damping = 0.1 }
[[cloth]]
name = "sheet"
mesh = { grid = { size = [1.0, 1.0], cells = [4, 4] } }
model = "pbd"
[[cloth]]
name = "other"
mesh = { grid = { size = [1.0, 1.0], cells = [4, 4] } }
model = "pbd"
[[seam]]
cloths = ["sheet", "other"]
within = 0.1
[[spring]]
from = { body = "sheet", select = "index:3" }
to = { body = "rope", select = "index:2" }
stiffness = 50
"#;

#[test]
fn particles_springs_and_seams_of_the_model_pbd() {
    let built = scene::parse(POSITION_BASED, "scene", Path::new("."), &[]).unwrap().build().unwrap();
    let rope = built.bodies.iter().find_map(Body::as_particles).unwrap();
    assert_eq!(rope.model.pbd().map(|pbd| pbd.damping), Some(0.1));
    assert_eq!((built.seams.len(), built.springs.len()), (1, 1));
    let cases = [
        ("model = \"pbd\"\nspring", "spring", "model: is \"fem\" by default, must be \"pbd\"", "2"),
        ("damping = 0.1", "stretch = 0.5", "spring.stiffness", "7"),
        ("damping = 0.1", "compliance = { stretch = 0.5 }", "spring.stiffness", "7"),
        ("damping = 0.1", "bend = 0.5", "particles have stretch", "7"),
        ("damping = 0.1", "volume = 0.5", "particles have stretch", "7"),
        ("damping = 0.1", "damping = nan", "nan", "7"),
        ("stiffness = 100", "stiffness = 0, breaking_force = 2", "needs a stiffness above 0", "6"),
        ("model = \"pbd\"\nspring", "model = \"edge\"\nspring", "\"fem\" or \"pbd\"", "5"),
    ];
    for (from, to, what, line) in cases {
        assert!(POSITION_BASED.contains(from), "{from}");
        let found = problems(&POSITION_BASED.replacen(from, to, 1));
        assert!(found.contains(what) && found.contains(&format!("line {line}:")), "{to}: {found}");
    }
}

const HUNG: &str = r#"
[[cloth]]
name = "sheet"
mesh = { grid = { size = [1.0, 1.0], cells = [4, 4] } }

[[obstacle]]
name = "ball"
shape = { sphere = { center = [0, 1, 0], radius = 0.2 } }
transform = { rotate = [0, 0, 90] }
mass = 2

[[spring]]
from = { body = "ball", at = [-1, 1.2, 0] }
to = { point = [-1, 3, 0] }
stiffness = 1000
"#;

#[test]
fn springs_end_at_points_of_obstacles_with_mass() {
    let built = scene::parse(HUNG, "scene", Path::new("."), &[]).unwrap().build().unwrap();
    let [SpringEnd::RigidBody { body: 0, at }, SpringEnd::Point(point)] = built.springs[0].ends else {
        panic!("{:?}", built.springs[0].ends);
    };
    // The centre is turned to (−1, 0, 0), and with it the axes of the ball.
    assert!((at - glam::Vec3::new(1.2, 0.0, 0.0)).length() < 1e-5, "{at}");
    assert_eq!(point, glam::Vec3::new(-1.0, 3.0, 0.0));
    let cases = [
        ("\"ball\", at", "\"bell\", at", "must name one", "line 13:"),
        ("at = [-1, 1.2, 0]", "select = \"all\"", "given by `at`", "line 13:"),
        ("point = [-1, 3, 0]", "body = \"ball\"", "the same obstacle", "line 14:"),
        ("point = [-1, 3, 0]", "body = \"sheet\", select = \"index:3\"", "to vertices", "line 14:"),
        ("mass = 2\n", "", "must name one", "line 12:"),
    ];
    for (from, to, what, line) in cases {
        assert!(HUNG.contains(from), "{from}");
        let found = problems(&HUNG.replacen(from, to, 1));
        assert!(found.contains(what) && found.contains(line), "{to}: {found}");
    }
}
