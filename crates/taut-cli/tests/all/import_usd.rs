//! USD files as input: those that Pixar's own library wrote show what that library says they show, and
//! exports of taut come back.

use crate::{clients::python, program::Place};

use std::{collections::BTreeMap, fs};

use glam::{Vec2, Vec3};
use serde::Deserialize;
use taut_io::mesh::{read, sequence::read_animation};

const MAKE: &str = include_str!("clients/make_usd.py");

/// What a file shows.
#[derive(Deserialize)]
struct Expected {
    faces: usize,
    still: Option<Vec<[f32; 3]>>,
    rate: Option<f64>,
    times: Option<Vec<f64>>,
    frames: Option<Vec<Vec<[f32; 3]>>>,
    triangles: Option<Vec<[u32; 3]>>,
    uvs: Option<Vec<[f32; 2]>>,
}

fn compare(found: &[Vec3], expected: &[[f32; 3]], name: &str) {
    assert_eq!(found.len(), expected.len(), "{name}");
    for (vertex, (x, y)) in found.iter().zip(expected).enumerate() {
        let y = Vec3::from(*y);
        assert!(x.distance(y) <= 2e-6 * y.length().max(1.0), "{name}, vertex {vertex}: {x}, not {y}");
    }
}

#[test]
#[ignore = "full tier: needs Python"]
fn files_of_pixar_are_read_as_pixar_reads_them() {
    let folder = tempfile::tempdir().unwrap();
    python(MAKE, &[folder.path()]);
    let text = fs::read_to_string(folder.path().join("expected.json")).unwrap();
    let all: BTreeMap<String, Expected> = serde_json::from_str(&text).unwrap();
    assert!(all.len() >= 20);
    for (name, expected) in &all {
        let path = folder.path().join(name);
        let mesh = read(&path).unwrap();
        if let Some(still) = &expected.still {
            compare(&mesh.positions, still, name);
        }
        if let (Some(triangles), Some(uvs)) = (&expected.triangles, &expected.uvs) {
            assert_eq!(&mesh.triangles, triangles, "{name}");
            let found: Vec<Vec2> = mesh.uvs.unwrap().into_iter().flatten().collect();
            assert_eq!(found, uvs.iter().map(|&uv| Vec2::from(uv)).collect::<Vec<_>>(), "{name}");
        }
        let Some(frames) = &expected.frames else { continue };
        let sequence = read_animation(&path, expected.rate, 0.0).unwrap();
        assert_eq!(sequence.triangles.len(), 2 * expected.faces, "{name}: all faces have four corners");
        assert_eq!(sequence.positions.len(), frames.len(), "{name}");
        for (k, (found, frame)) in sequence.positions.iter().zip(frames).enumerate() {
            compare(found, frame, &format!("{name}, frame {k}"));
        }
        let times = expected.times.as_ref().unwrap();
        assert!(sequence.times.iter().zip(times).all(|(a, b)| (a - b).abs() < 1e-9), "{name}");
    }
}

#[test]
fn exports_of_taut_come_back() {
    let place = Place::new();
    place.good("run scene-in.toml -o out");
    let rest = read(&place.path("out/sheet.rest.ply")).unwrap();
    for name in ["a.usda", "a.usdc", "b.usd"] {
        place.good(&format!("export out -o {name}"));
        let sequence = read_animation(&place.path(name), None, 0.0).unwrap();
        assert_eq!(sequence.triangles, rest.triangles, "{name}");
        assert_eq!(sequence.positions.len(), 13, "{name}");
        for (frame, positions) in sequence.positions.iter().enumerate() {
            let stored = place.path(&format!("out/frames/sheet.{frame:04}.npy"));
            let stored = taut_io::output::npy::read(&stored, rest.positions.len()).unwrap();
            assert_eq!(positions, &stored, "{name}, frame {frame}");
            assert!((sequence.times[frame] - frame as f64 / 30.0).abs() < 1e-9, "{name}");
        }
        let mesh = read(&place.path(name)).unwrap();
        assert_eq!(mesh.positions, sequence.positions[0], "{name}: at the start");
        assert_eq!(mesh.groups["sheet"].len(), mesh.positions.len());
        // As an obstacle that moves, as one that does not, and as cloth.
        place.write(
            "again.toml",
            &format!(
                "[scene]\nframes = 2\n[[cloth]]\nmesh = {{ file = \"{name}\" }}\n[[obstacle]]\nsequence.file = \"{name}\"\n\
                 transform.translate = [0.0, -2.0, 0.0]\n[[obstacle]]\nmesh = \"{name}\"\ntransform.translate = [0.0, -4.0, 0.0]\n"
            ),
        );
        place.good("run again.toml -o again --force");
        assert!(place.path(&format!("again/inputs/{name}")).is_file());
    }
}

#[test]
fn a_run_whose_limits_gave_way_is_told_by_check() {
    let place = Place::new();
    place.good("run scene-in.toml -o out");
    assert!(!place.good("check out").err.contains("gave way"));
    let mut outcome: serde_json::Value = serde_json::from_str(&place.read("out/outcome.json")).unwrap();
    outcome["figures"]["given_way_frames"] = 3.into();
    outcome["figures"]["most_given_way"] = 412.into();
    place.write("out/outcome.json", &outcome.to_string());
    let told = place.good("check out").err;
    assert!(told.contains("gave way in 3 frames of this run, in up to 412 elements"), "{told}");
}
