//! USD files that Pixar's own library wrote: taut reads what that library says they show.

use crate::clients::python;

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
