//! Files of hair: those that Python wrote from the published format hold what it says, and `taut check` says
//! what a file holds and what is wrong with it.

use std::{collections::BTreeMap, fs, process::Command};

use crate::program::Place;
use glam::Vec3;
use serde::Deserialize;
use taut::mesh::groom::Groom;
use taut_io::mesh::{read_groom, write_hair, write_strands};

const MAKE: &str = include_str!("clients/make_hair.py");

#[derive(Deserialize)]
struct Expected {
    counts: Vec<u32>,
    points: Vec<[f32; 3]>,
    radii: Vec<f32>,
}

#[test]
#[ignore = "full tier: needs Python"]
fn hair_files_of_the_published_format_are_read() {
    let folder = tempfile::tempdir().unwrap();
    // Any Python will do: the script needs no packages.
    let made = Command::new("python3").arg("-c").arg(MAKE).arg(folder.path()).status().unwrap();
    assert!(made.success());
    let text = fs::read_to_string(folder.path().join("expected.json")).unwrap();
    let all: BTreeMap<String, Expected> = serde_json::from_str(&text).unwrap();
    assert_eq!(all.len(), 2);
    for (name, expected) in &all {
        let groom = read_groom(&folder.path().join(name)).unwrap();
        assert_eq!(groom.counts, expected.counts, "{name}");
        assert_eq!(
            groom.positions,
            expected.points.iter().map(|&x| Vec3::from(x)).collect::<Vec<_>>(),
            "{name}"
        );
        let near = |(a, b): (&f32, &f32)| (a - b).abs() <= 1e-6 * b;
        assert!(
            groom.radii.len() == expected.radii.len() && groom.radii.iter().zip(&expected.radii).all(near),
            "{name}"
        );
        assert_eq!(groom.problems(), []);
    }
}

#[test]
fn check_says_what_a_file_of_hair_holds() {
    let place = Place::new();
    let positions = [0.0, 1.0].map(|x| [0.0, 0.1, 0.2].map(|y| Vec3::new(x, y, 0.0))).concat();
    let groom = Groom { positions, counts: vec![3, 3], radii: vec![4e-5; 6] };
    fs::write(place.path("a.hair"), write_hair(&groom).unwrap()).unwrap();
    let said = place.good("check a.hair").out;
    for words in ["2 strands, 6 points, 2 segments a strand", "0.2000 m", "radius 0.040 mm", "no problems"] {
        assert!(said.contains(words), "{said}");
    }
    let json: serde_json::Value = serde_json::from_str(&place.good("check a.hair --json").out).unwrap();
    assert_eq!((&json["ok"], &json["groom"]["strands"]), (&true.into(), &2.into()));
    fs::write(place.path("a.ply"), write_strands(&groom.positions, &groom.counts)).unwrap();
    assert!(place.good("check a.ply").out.contains("no radii"));

    let mut short = groom.clone();
    short.positions[5] = short.positions[4];
    fs::write(place.path("short.hair"), write_hair(&short).unwrap()).unwrap();
    place.bad("check short.hair", 2, &["short.hair", "strand 1, points 1 and 2 (from 0)"]);
    fs::write(place.path("cut.hair"), &write_hair(&groom).unwrap()[..150]).unwrap();
    place.bad("check cut.hair", 2, &["cut.hair", "is truncated", "points of 6"]);
    place.bad("check none.hair", 2, &["no such file"]);
}
