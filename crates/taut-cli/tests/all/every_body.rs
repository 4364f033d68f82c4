//! Every kind of body through everything that is done with one: run, verify, resume, export, render, save
//! from the studio. A new kind does not compile without its scene here.

use std::{net::TcpStream, path::Path, time::Duration};

use serde_json::{Value, json};
use taut::{
    Body, Cloth, Hair, HairMaterial, Material, Particles, Solid, SolidMaterial,
    mesh::{generate, groom::Groom, lines::LineMesh},
};
use taut_io::{export::Format, scene};
use taut_studio::{Options, Studio, page::Page};
use tungstenite::{Message, WebSocket, handshake::client::generate_key, http};

use crate::program::Place;

/// How long the studio may take to answer, on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(60);

/// A sheet of developable cloth, which is of a kind with other cloth but has points in place of vertices.
const DEVELOPABLE: &str = r#"
[scene]
frames = 4
[[cloth]]
name = "piece"
mesh = { grid = { size = [0.4, 0.4], cells = [8, 8] } }
model = "developable"
strain = { min = -0.02, max = 0.02 }
pin = [{ select = "corner:top-left" }, { select = "index:40" }]
"#;

/// One body of each kind.
fn kinds() -> Vec<Body> {
    let sheet = generate::grid([0.4, 0.4], [6, 6], generate::Diagonals::Alternating, 0);
    let bar = generate::bar(glam::Vec3::new(0.3, 0.1, 0.1), [6, 2, 2]).unwrap();
    vec![
        Cloth::new("sheet", sheet, Material::named("denim").unwrap()).into(),
        Solid::new("bar", bar, SolidMaterial::named("jelly").unwrap()).into(),
        Particles::new("net", LineMesh::net([0.4, 0.4], [6, 6]), 0.01).into(),
        Hair::new("hair", Groom::default(), HairMaterial::named("european").unwrap()).into(),
    ]
}

/// A scene of one body of the kind that `body` is, held at one side.
fn scene_of(body: &Body) -> &'static str {
    match body {
        Body::Cloth(_) => {
            r#"
[scene]
frames = 4
[[cloth]]
name = "piece"
mesh = { grid = { size = [0.4, 0.4], cells = [6, 6] } }
material = "denim"
strain = { max = 0.05 }
pin = [{ select = "corner:top-left" }]
"#
        }
        Body::Solid(_) => {
            r#"
[scene]
frames = 4
[[solid]]
name = "piece"
mesh = { bar = { size = [0.3, 0.1, 0.1], cells = [6, 2, 2] } }
material = "jelly"
strain = { min = -0.05, max = 0.05 }
pin = [{ select = "box:0,0,0,0,1,1" }]
"#
        }
        Body::Particles(_) => {
            r#"
[scene]
frames = 4
[[particles]]
name = "piece"
mesh = { net = { size = [0.4, 0.4], cells = [6, 6] } }
spring = { stiffness = 1000, damping = 0.1 }
edge = { max = 0.05 }
pin = [{ select = "corner:top-left" }]
"#
        }
        Body::Hair(_) => {
            r#"
[scene]
frames = 4
[[hair]]
name = "piece"
mesh = { grow = { mesh = { sphere = { radius = 0.1, frequency = 4 } }, count = 20, length = 0.1, segments = 20, curl = { radius = 0.004, pitch = 0.02 } } }
contact = { thickness = 0.001 }
"#
        }
    }
}

#[test]
fn every_kind_of_body_runs_is_verified_resumed_exported_drawn_and_saved() {
    let scenes: Vec<(Body, &str)> = kinds().into_iter().map(|body| (body.clone(), scene_of(&body))).collect();
    let developable = (scenes[0].0.clone(), DEVELOPABLE);
    for (body, scene) in scenes.into_iter().chain([developable]) {
        let place = Place::new();
        let kind = body.kind();
        place.write("one.toml", scene);
        let checked: Value = serde_json::from_str(&place.good("check one.toml --json").out).unwrap();
        assert!(checked["schedule"]["steps_per_frame"].as_u64().unwrap() >= 1, "{kind}: {checked}");
        assert!(checked["schedule"]["rule"].is_string() && checked["schedule"]["max_substeps"].is_u64());
        assert!(place.good("check one.toml").out.contains(" per frame: "), "{kind}");

        place.good("run one.toml -o out --frames 2");
        place.good("verify out");
        place.good("run --resume --frames 4 -o out");
        place.good("run one.toml -o whole");
        assert_eq!(place.files("out/frames"), place.files("whole/frames"), "{kind}: resumed");
        place.good("verify out");
        for format in Format::ALL {
            let ending = format.extension().map_or_else(String::new, |ending| format!(".{ending}"));
            let command = format!("export out --format {0} -o to-{0}{ending}", format.name());
            if format.takes_surfaces() || matches!(body, Body::Particles(_) | Body::Hair(_)) {
                place.good(&command);
            } else {
                place.bad(&command, 2, &["has no strands"]);
            }
        }
        place.good("render out -o strain.png --frame 4 --size 96x64 --color strain");
        assert!(place.path("strain.png").metadata().unwrap().len() > 100, "{kind}");

        let folder = place.path("");
        save_from_studio(&folder.join("one.toml"));
        let saved = scene::load(folder.join("changed.toml").to_str().unwrap(), &[]).unwrap();
        let saved = saved.build().unwrap();
        assert_eq!((saved.bodies.len(), saved.bodies[0].kind()), (1, kind));
        let limit = match &saved.bodies[0] {
            Body::Particles(_) | Body::Hair(_) => saved.bodies[0].edge(),
            body => body.strain_bounds(),
        };
        assert_eq!(limit.max, Some(0.02), "{kind}");
        place.good("run changed.toml -o again --frames 1");
    }
}

/// Opens `scene` in the studio, changes its limit on stretch to 2 %, and saves it as `changed`.
fn save_from_studio(scene: &Path) {
    let studio = Studio::start(Options {
        port: Some(0),
        threads: 1,
        page: Page::Single("<!doctype html>"),
        ..Options::new(scene.to_str().unwrap())
    })
    .unwrap();
    let address = studio.address();
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let request = http::Request::builder()
        .uri(format!("ws://{address}/ws"))
        .header("Host", address.to_string())
        .header("Origin", format!("http://{address}"))
        .header("Connection", "Upgrade")
        .header("Upgrade", "websocket")
        .header("Sec-WebSocket-Version", "13")
        .header("Sec-WebSocket-Key", generate_key());
    let (mut socket, _) = tungstenite::client::client(request.body(()).unwrap(), stream).unwrap();
    say(&mut socket, json!({"type": "set", "key": "stretch_max", "value": 0.02}));
    say(&mut socket, json!({"type": "save", "name": "changed"}));
    loop {
        let Message::Text(text) = socket.read().unwrap() else { continue };
        let message: Value = serde_json::from_str(&text).unwrap();
        assert_ne!(message["type"], "error", "{message}");
        if message["type"] == "saved" {
            return;
        }
    }
}

fn say(socket: &mut WebSocket<TcpStream>, message: Value) {
    socket.send(Message::text(message.to_string())).unwrap();
}
