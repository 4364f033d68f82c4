//! Invariants of every generated mesh, whatever its parameters.

use std::{collections::HashMap, f64::consts::PI};

use glam::{DVec3, Vec2, Vec3};
use proptest::prelude::*;

use super::{Generator::*, *};
use crate::mesh::check::check;

/// Measures of a mesh that has no problems.
struct Measure {
    euler: i64,
    boundary_edges: usize,
    area: f64,
    /// Enclosed volume; its sign is that of the orientation.
    volume: f64,
    /// Smallest and largest of all angles, in degrees.
    angles: (f64, f64),
}

fn measure(mesh: &TriangleMesh) -> Measure {
    assert_eq!(check(mesh), []);
    let p = |v: u32| mesh.positions[v as usize].as_dvec3();
    let mut edges: HashMap<(u32, u32), usize> = HashMap::new();
    let (mut area, mut volume, mut angles) = (0.0, 0.0, (180.0f64, 0.0f64));
    for &t in &mesh.triangles {
        for i in 0..3 {
            let (a, b, c) = (t[i], t[(i + 1) % 3], t[(i + 2) % 3]);
            *edges.entry((a.min(b), a.max(b))).or_default() += 1;
            let angle = (p(b) - p(a)).angle_between(p(c) - p(a)).to_degrees();
            angles = (angles.0.min(angle), angles.1.max(angle));
        }
        let [a, b, c] = t.map(p);
        area += (b - a).cross(c - a).length() / 2.0;
        volume += a.dot(b.cross(c)) / 6.0;
    }
    let euler = mesh.positions.len() as i64 - edges.len() as i64 + mesh.triangles.len() as i64;
    let boundary_edges = edges.values().filter(|&&faces| faces == 1).count();
    Measure { euler, boundary_edges, area, volume, angles }
}

/// Every triangle's texture coordinates are contiguous (no jump across a seam: none is wider than `widest`),
/// have an area, and are not mirrored.
fn assert_uvs_sound(mesh: &TriangleMesh, widest: f32) {
    let uvs = mesh.uvs.as_ref().unwrap();
    assert_eq!(uvs.len(), mesh.triangles.len());
    for (face, [a, b, c]) in uvs.iter().enumerate() {
        assert!([a, b, c].iter().all(|uv| uv.x > -1e-4 && uv.x < 2.0 && uv.y > -1e-4 && uv.y < 1.0001));
        let span = a.max(*b).max(*c) - a.min(*b).min(*c);
        assert!(span.x <= widest, "face {face}: {a} {b} {c}");
        assert!((*b - *a).perp_dot(*c - *a) > 0.0, "face {face} is mirrored: {a} {b} {c}");
    }
}

fn close(a: f64, b: f64, relative: f64) -> bool {
    (a - b).abs() <= relative * b.abs()
}

fn up(mesh: &TriangleMesh) -> bool {
    mesh.triangles.iter().all(|t| {
        let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
        (b - a).cross(c - a).y > 0.0
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn grids(w in 0.5f32..5.0, d in 0.5f32..5.0, nx in 1u32..30, nz in 1u32..30, kind in 0..4, seed: u64) {
        let diagonals = [Diagonals::Regular, Diagonals::Alternating, Diagonals::Jittered, Diagonals::Delaunay]
            [kind as usize];
        let mesh = Grid { size: [w, d], cells: [nx, nz], diagonals, seed }.generate().unwrap();
        prop_assert_eq!(&mesh, &grid([w, d], [nx, nz], diagonals, seed));
        let m = measure(&mesh);
        prop_assert_eq!((m.euler, m.boundary_edges), (1, 2 * (nx + nz) as usize));
        prop_assert!(close(m.area, f64::from(w) * f64::from(d), 1e-5) && up(&mesh));
        let widest = if diagonals == Diagonals::Delaunay { 3.0 } else { 1.6 };
        assert_uvs_sound(&mesh, (widest / nx as f32).min(1.0));
        let corner = |name: &str| mesh.positions[mesh.groups[&format!("corner:{name}")][0] as usize];
        prop_assert_eq!(corner("top-left"), Vec3::ZERO);
        prop_assert_eq!(corner("top-right"), Vec3::new(w, 0.0, 0.0));
        prop_assert_eq!(corner("bottom-left"), Vec3::new(0.0, 0.0, d));
        prop_assert_eq!(corner("bottom-right"), Vec3::new(w, 0.0, d));
        for (i, p) in mesh.positions.iter().enumerate() {
            let (i, j) = (i as u32 % (nx + 1), i as u32 / (nx + 1));
            prop_assert_eq!(p.y, 0.0);
            prop_assert!((p.x == 0.0) == (i == 0) && (p.x == w) == (i == nx));
            prop_assert!((p.z == 0.0) == (j == 0) && (p.z == d) == (j == nz));
        }
    }

    #[test]
    fn a_grid_of_anything_is_made(size in prop::array::uniform2(any::<f32>()),
                                  wild in prop::array::uniform2(0u32..1000)) {
        measure(&grid(size, wild, Diagonals::Jittered, 1));
    }

    #[test]
    fn arguments_of_any_size_are_moved_into_range(size in prop::array::uniform2(any::<f32>()),
                                                  cells in prop::array::uniform2(any::<u32>())) {
        let (size, cells) = grid::nearest_allowed(size, cells);
        prop_assert!((u64::from(cells[0]) + 1) * (u64::from(cells[1]) + 1) <= MAX_VERTICES);
        let spacing = |axis: usize| f64::from(size[axis]) / f64::from(cells[axis]);
        prop_assert!(cells[0] >= 1 && cells[1] >= 1 && size.iter().all(|s| s.is_finite()));
        let extent = f64::from(size[0].max(size[1]));
        prop_assert!(require_spacing(spacing(0), spacing(1), extent).is_ok(), "{:?} {:?}", size, cells);
    }

    #[test]
    fn discs(r in 0.01f32..100.0, rings in 1u32..30) {
        let mesh = Disc { radius: r, rings }.generate().unwrap();
        let m = measure(&mesh);
        prop_assert_eq!((m.euler, m.boundary_edges), (1, 6 * rings as usize));
        let n = f64::from(6 * rings);
        prop_assert!(close(m.area, n / 2.0 * (2.0 * PI / n).sin() * f64::from(r).powi(2), 1e-4) && up(&mesh));
        prop_assert!(m.angles.0 > 35.0 && m.angles.1 < 95.0, "{:?}", m.angles);
        assert_uvs_sound(&mesh, 0.51);
    }

    #[test]
    fn cylinders(r in 0.5f32..5.0, h in 0.5f32..5.0, around in 3u32..40, along in 1u32..30) {
        let mesh = Cylinder { radius: r, height: h, segments: [around, along] }.generate().unwrap();
        let m = measure(&mesh);
        prop_assert_eq!((m.euler, m.boundary_edges), (0, 2 * around as usize));
        let chord = 2.0 * f64::from(r) * (PI / f64::from(around)).sin();
        prop_assert!(close(m.area, chord * f64::from(around) * f64::from(h), 1e-4));
        prop_assert!(m.volume > 0.0);
        assert_uvs_sound(&mesh, 1.0 / around as f32 + 1e-6);
        let height = |name: &str| mesh.groups[name].iter().map(|&v| mesh.positions[v as usize].y).sum::<f32>();
        prop_assert!(height("ring:top") > 0.0 && height("ring:bottom") < 0.0);
        prop_assert_eq!(mesh.groups["ring:top"].len(), around as usize);
    }

    #[test]
    fn spheres(r in 0.01f32..100.0, frequency in 1u32..24) {
        let mesh = Sphere { radius: r, frequency }.generate().unwrap();
        let m = measure(&mesh);
        prop_assert_eq!((m.euler, m.boundary_edges), (2, 0));
        prop_assert_eq!(mesh.triangles.len(), 20 * (frequency * frequency) as usize);
        prop_assert!(mesh.positions.iter().all(|p| (p.length() / r - 1.0).abs() < 1e-5));
        let (r, slack) = (f64::from(r), 0.35 / f64::from(frequency * frequency));
        prop_assert!(close(m.area, 4.0 * PI * r * r, slack), "{} of {}", m.area, 4.0 * PI * r * r);
        prop_assert!(close(m.volume, 4.0 / 3.0 * PI * r.powi(3), 2.0 * slack));
        prop_assert!(m.angles.0 > 50.0 && m.angles.1 < 74.0, "{:?}", m.angles);
        assert_uvs_sound(&mesh, 0.5);
    }

    #[test]
    fn tori(major in 1.0f32..5.0, part in 0.05f32..0.9, around in 3u32..40, across in 3u32..40) {
        let minor = major * part;
        let mesh = Torus { major, minor, segments: [around, across] }.generate().unwrap();
        let m = measure(&mesh);
        prop_assert_eq!((m.euler, m.boundary_edges), (0, 0));
        prop_assert!(m.volume > 0.0);
        if around.min(across) > 20 {
            let area = 4.0 * PI * PI * f64::from(major) * f64::from(minor);
            prop_assert!(close(m.area, area, 0.02), "{} of {area}", m.area);
        }
        assert_uvs_sound(&mesh, 1.0 / around as f32 + 1e-6);
    }

    #[test]
    fn capsules(r in 0.5f32..5.0, h in 0.5f32..5.0, around in 3u32..40, along in 1u32..20) {
        let mesh = Capsule { radius: r, height: h, segments: [around, along] }.generate().unwrap();
        let m = measure(&mesh);
        prop_assert_eq!((m.euler, m.boundary_edges), (2, 0));
        let (r, h) = (f64::from(r), f64::from(h));
        prop_assert!(m.volume > 0.0);
        if around > 16 {
            prop_assert!(close(m.area, 2.0 * PI * r * (h + 2.0 * r), 0.05));
            prop_assert!(close(m.volume, PI * r * r * (h + 4.0 / 3.0 * r), 0.08));
        }
        assert_uvs_sound(&mesh, 0.34);
        let (low, high) = mesh.positions.iter().fold((0.0f32, 0.0f32), |(l, g), p| (l.min(p.y), g.max(p.y)));
        prop_assert!(close(f64::from(high - low), h + 2.0 * r, 1e-5));
    }

    #[test]
    fn boxes(size in prop::array::uniform3(0.1f32..10.0), cells in prop::array::uniform3(1u32..12)) {
        let mesh = Box { size, cells }.generate().unwrap();
        let m = measure(&mesh);
        prop_assert_eq!((m.euler, m.boundary_edges), (2, 0));
        let [x, y, z] = size.map(f64::from);
        prop_assert!(close(m.area, 2.0 * (x * y + y * z + z * x), 1e-4) && close(m.volume, x * y * z, 1e-4));
        assert_uvs_sound(&mesh, 1.0);
    }

    /// Whatever the parameters: a mesh without problems, or an error, and never a panic. Counts are drawn so
    /// that generated meshes stay small and too large ones occur as well.
    #[test]
    fn anything(shape in 0..9, l in prop::array::uniform3(any::<f32>()), small: bool,
                n in prop::array::uniform3(prop_oneof![0u32..40, any::<u32>()])) {
        let l = if small { l.map(|x| (x.abs() % 3.0) + 0.001) } else { l };
        let generator = match shape {
            0 => Grid { size: [l[0], l[1]], cells: [n[0], n[1]], diagonals: Diagonals::Jittered, seed: 5 },
            1 => Disc { radius: l[0], rings: n[0] },
            2 => Cylinder { radius: l[0], height: l[1], segments: [n[0], n[1]] },
            3 => Sphere { radius: l[0], frequency: n[0] },
            4 => Torus { major: l[0], minor: l[1], segments: [n[0], n[1]] },
            5 => Capsule { radius: l[0], height: l[1], segments: [n[0], n[1]] },
            6 => Grid { size: [l[0], l[1]], cells: [n[0], n[1]], diagonals: Diagonals::Delaunay, seed: 5 },
            7 => Ell { size: [l[0], l[1]], cells: [n[0], n[1]], seed: 5 },
            _ => Box { size: l, cells: n },
        };
        match generator.generate() {
            Ok(mesh) => prop_assert_eq!(check(&mesh), []),
            Err(error) => prop_assert!(!error.to_string().is_empty()),
        }
    }
}

#[test]
fn capsule_triangles_are_well_shaped() {
    let mesh = Capsule { radius: 0.5, height: 1.0, segments: [48, 15] }.generate().unwrap();
    let (least, most) = measure(&mesh).angles;
    assert!(least > 25.0 && most < 110.0, "{least} {most}");
}

#[test]
fn jitter_depends_on_the_seed_alone() {
    let make = |seed| grid([1.0, 1.0], [10, 10], Diagonals::Jittered, seed);
    assert_eq!(make(1), make(1));
    assert_ne!(make(1), make(2));
    let moved = make(1)
        .positions
        .iter()
        .zip(&grid([1.0, 1.0], [10, 10], Diagonals::Regular, 1).positions)
        .map(|(a, b)| a.distance(*b))
        .fold(0.0, f32::max);
    assert!(moved > 0.015 && moved <= 0.0251, "{moved}");
    // A thousand seeds at the finest irregularity: no triangle is nearly flat.
    for seed in 0..1000 {
        let (least, _) = measure(&grid([1.0, 1.0], [6, 6], Diagonals::Jittered, seed)).angles;
        assert!(least > 8.0, "seed {seed}: {least}");
    }
}

#[test]
fn delaunay_leaves_no_pattern_and_no_edge_to_flip() {
    let mesh = grid([1.0, 1.0], [30, 30], Diagonals::Delaunay, 4);
    assert_eq!(mesh, grid([1.0, 1.0], [30, 30], Diagonals::Delaunay, 4));
    assert_ne!(mesh, grid([1.0, 1.0], [30, 30], Diagonals::Delaunay, 5));
    let adjacency = crate::mesh::adjacency::Adjacency::new(&mesh.triangles);
    let p = |v: u32| mesh.positions[v as usize].as_dvec3();
    for &[a, b, c, d] in &adjacency.hinges {
        let angle = |v: u32| (p(a) - p(v)).angle_between(p(b) - p(v)).to_degrees();
        assert!(angle(c) + angle(d) < 180.01, "edge {a} {b}");
    }
    let mut triangles = vec![0; mesh.positions.len()];
    mesh.triangles.iter().flatten().for_each(|&v| triangles[v as usize] += 1);
    adjacency.boundary.iter().for_each(|&v| triangles[v as usize] = 0);
    let of = |count: usize| triangles.iter().filter(|&&t| t == count).count();
    assert!(of(5) > 100 && of(6) > 100 && of(7) > 100 && of(8) + of(4) > 30, "{triangles:?}");
    for seed in 0..200 {
        let (least, _) = measure(&grid([1.0, 1.0], [8, 8], Diagonals::Delaunay, seed)).angles;
        assert!(least > 5.0, "seed {seed}: {least}");
    }
}

#[test]
fn an_ell_has_its_hole_and_its_corners() {
    for cells in [[8, 8], [9, 13], [32, 32]] {
        let mesh = Ell { size: [2.0, 1.0], cells, seed: 3 }.generate().unwrap();
        let m = measure(&mesh);
        assert_eq!(m.euler, 0, "{cells:?}");
        assert!(up(&mesh) && m.area > 1.2 && m.area < 1.6, "{cells:?}: {}", m.area);
        assert_uvs_sound(&mesh, 0.4);
        let corner = |name: &str| mesh.positions[mesh.groups[&format!("corner:{name}")][0] as usize];
        assert_eq!(corner("top-left"), Vec3::ZERO);
        assert_eq!(corner("bottom-left"), Vec3::new(0.0, 0.0, 1.0));
        assert_eq!(corner("bottom-right"), Vec3::new(2.0, 0.0, 1.0));
        assert!(!mesh.groups.contains_key("corner:top-right"));
    }
    let even = Ell { size: [1.0, 1.0], cells: [32, 32], seed: 3 }.generate().unwrap();
    assert!(close(measure(&even).area, 1.0 - 0.25 - 0.0625, 1e-5));
    let message = Ell { size: [1.0, 1.0], cells: [8, 7], seed: 0 }.generate().unwrap_err().to_string();
    assert_eq!(message, "cells[1] = 7: must be at least 8");
}

#[test]
fn diagonals_run_as_they_say() {
    let cut = |diagonals| {
        let mesh = grid([2.0, 1.0], [2, 1], diagonals, 0);
        let shared = |pair: &[[u32; 3]]| -> Vec<u32> {
            let mut both: Vec<u32> = pair[0].iter().copied().filter(|v| pair[1].contains(v)).collect();
            both.sort_unstable();
            both
        };
        mesh.triangles.chunks(2).map(shared).collect::<Vec<_>>()
    };
    assert_eq!(cut(Diagonals::Regular).len(), 2);
    let direction = |edge: &Vec<u32>| (edge[1] as i64 - edge[0] as i64) % 3;
    let regular = cut(Diagonals::Regular);
    assert_eq!(direction(&regular[0]), direction(&regular[1]));
    let alternating: Vec<Vec<u32>> = {
        let mesh = grid([2.0, 2.0], [2, 2], Diagonals::Alternating, 0);
        mesh.triangles
            .chunks(2)
            .map(|p| p[0].iter().copied().filter(|v| p[1].contains(v)).collect())
            .collect()
    };
    // All four diagonals of a 2 × 2 grid meet its middle, or none does.
    let at_middle = alternating.iter().filter(|edge| edge.contains(&4)).count();
    assert!(at_middle == 4 || at_middle == 0, "{alternating:?}");
}

#[test]
fn errors_name_the_parameter_and_what_is_allowed() {
    let message = |generator: Generator| generator.generate().unwrap_err().to_string();
    let disc = |radius, rings| message(Disc { radius, rings });
    assert_eq!(disc(-1.0, 3), "radius = -1: must be from 0.0001 to 100000 m");
    assert_eq!(disc(f32::NAN, 3), "radius = NaN: must be from 0.0001 to 100000 m");
    assert_eq!(disc(1.0, 0), "rings = 0: must be at least 1");
    assert!(
        disc(1.0, u32::MAX).starts_with("would have 55340232208128671745 vertices")
            || disc(1.0, u32::MAX).starts_with(&format!("would have {} vertices", u64::MAX))
    );
    assert!(message(Torus { major: 1.0, minor: 1.0, segments: [9, 9] }).contains("less than major"));
    assert!(message(Cylinder { radius: 1.0, height: 1.0, segments: [2, 1] }).contains("segments[0] = 2"));
    let thin = Grid { size: [1e4, 0.1], cells: [1, 1], diagonals: Diagonals::Regular, seed: 0 };
    assert!(message(thin).contains("a thousandth"), "{}", message(thin));
    let fine = Grid { size: [1e-4, 1e-4], cells: [100, 100], diagonals: Diagonals::Regular, seed: 0 };
    assert!(message(fine).contains("apart"), "{}", message(fine));
    let large = Box { size: [1.0; 3], cells: [u32::MAX; 3] };
    assert!(matches!(large.generate(), Err(GenerateError::TooLarge { .. })));
}

#[test]
fn sphere_corners_lie_on_the_axis() {
    let mesh = Sphere { radius: 2.0, frequency: 3 }.generate().unwrap();
    assert_eq!(mesh.positions[0].as_dvec3(), DVec3::new(0.0, 2.0, 0.0));
    assert_eq!(mesh.positions[11].as_dvec3(), DVec3::new(0.0, -2.0, 0.0));
    let seam = mesh.uvs.unwrap().into_iter().flatten().filter(|uv: &Vec2| uv.x > 1.0).count();
    assert!(seam > 0, "no triangle crosses the seam");
}
