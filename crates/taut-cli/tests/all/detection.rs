//! Continuous detection against ipctk's, on pairs that are random, nearly degenerate, grazing, tiny, huge,
//! slow and fast.

use crate::clients;

use std::{fs, path::Path};

use clients::python;
use glam::{DVec3, Vec3};
use taut::low_level::{ContactKind as Kind, Random, first_contact};

/// Pairs that are compared.
const PAIRS: usize = 100_000;

/// Compares taut's answers with ipctk's.
const COMPARE: &str = include_str!("clients/detection.py");

/// Four vertices at the start and at the end of a step.
type Moving = [[Vec3; 4]; 2];

fn point(random: &mut Random) -> Vec3 {
    Vec3::from_array([(); 3].map(|()| random.unit() - 0.5))
}

/// Some number of this size, either way, over six orders of magnitude.
fn wide(random: &mut Random) -> f32 {
    let size = 10f32.powf(-6.0 * random.unit());
    if random.unit() < 0.5 { size } else { -size }
}

/// Parts that meet in known points at a known time, `off` by this much \[m\] along y.
fn planted(random: &mut Random, kind: Kind, squash: f32, [s, t]: [f32; 2], off: f32) -> Moving {
    let flat = Vec3::new(1.0, squash, 1.0);
    let mut x = [(); 4].map(|()| point(random) * flat);
    match kind {
        Kind::VertexTriangle => {
            let [_, a, b, c] = x;
            x[0] = a + (b - a) * (s * (1.0 - t)) + (c - a) * (s * t);
        }
        Kind::EdgeEdge => {
            let [a, b, c, _] = x;
            x[3] = c + (a + (b - a) * s - c) / (0.05 + 0.95 * t);
        }
    }
    x[0].y += off;
    let when = random.unit();
    let ways = [(); 4].map(|()| point(random));
    [std::array::from_fn(|i| x[i] - ways[i] * when), std::array::from_fn(|i| x[i] + ways[i] * (1.0 - when))]
}

fn random_pair(random: &mut Random, size: f32, way: f32) -> Moving {
    let from = [(); 4].map(|()| point(random) * size);
    [from, from.map(|x| x + point(random) * way)]
}

/// A pair of class `class`, of 10.
fn pair(random: &mut Random, class: usize, kind: Kind) -> Moving {
    let inside = [random.unit(), random.unit()];
    match class {
        0 => random_pair(random, 1.0, 2.0),
        1 => random_pair(random, 1e-4, 2e-4),
        2 => random_pair(random, 1e3, 2e3),
        // Fast, and slow.
        3 => random_pair(random, 0.1, 10.0),
        4 => random_pair(random, 1.0, 0.02),
        // Nearly in one plane, at rest or not.
        5 => {
            let flat = Vec3::new(1.0, 1e-3 * wide(random), 1.0);
            random_pair(random, 1.0, 0.5).map(|x| x.map(|x| x * flat))
        }
        6 => planted(random, kind, 1.0, inside, 0.0),
        7 => {
            let squash = wide(random);
            planted(random, kind, squash, inside, 0.0)
        }
        // Grazing a corner, an end or a side, or just not.
        8 => {
            let on =
                [[0.0, 0.0], [1.0, inside[1]], [1.0, 1.0], [inside[0], 1.0]][(4.0 * inside[0]) as usize % 4];
            let off = 0.01 * wide(random);
            planted(random, kind, 1.0, on, off)
        }
        // Layers that slide along each other, a little apart, and come nearer or not.
        _ => {
            let apart = 1e-3 * (0.1 + random.unit());
            let lower = |v: usize| matches!((kind, v), (Kind::VertexTriangle, 1..) | (Kind::EdgeEdge, 2..));
            let lift = |v: usize, x: Vec3, y: f32| Vec3::new(x.x, if lower(v) { 0.0 } else { y }, x.z) * 0.01;
            let from = [(); 4].map(|()| point(random));
            let way = point(random) * 0.5;
            let nearer = apart * (2.5 * random.unit() - 1.5);
            [
                std::array::from_fn(|v| lift(v, from[v], apart)),
                std::array::from_fn(|v| {
                    lift(v, from[v] + if lower(v) { Vec3::ZERO } else { way }, apart + nearer)
                }),
            ]
        }
    }
}

#[test]
#[ignore = "full tier: needs Python"]
fn no_collision_of_ipctk_is_missed_and_false_alarms_are_few() {
    let mut random = Random::new(2026, 0);
    let (mut vertices, mut kinds, mut times): (Vec<u8>, Vec<u8>, Vec<u8>) = Default::default();
    for i in 0..PAIRS {
        let kind = if i % 2 == 0 { Kind::VertexTriangle } else { Kind::EdgeEdge };
        let [from, to] = pair(&mut random, i / 2 % 10, kind);
        let doubled = |x: [Vec3; 4]| x.map(|x| x.as_dvec3());
        let found: Option<f64> = first_contact(kind, &doubled(from), &doubled(to), 0.0);
        for x in [from, to].as_flattened().iter().map(|x| x.as_dvec3()) {
            let DVec3 { x, y, z } = x;
            [x, y, z].iter().for_each(|x| vertices.extend(x.to_le_bytes()));
        }
        kinds.push((i % 2) as u8);
        times.extend(found.unwrap_or(f64::NAN).to_le_bytes());
    }
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [("vertices", vertices), ("kinds", kinds), ("times", times)] {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let said = python(COMPARE, &[folder.path(), Path::new("10")]);
    println!("{said}");
    assert!(said.contains("no collision missed"), "{said}");
}
