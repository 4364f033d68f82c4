//! Solids from surfaces: shapes, angles, and what happens to surfaces that are not clean.

use std::collections::HashMap;

use glam::{DVec3, Vec3};
use taut::embedding::Embedding;
use taut::mesh::{
    TriangleMesh,
    generate::Generator,
    locate::transfer,
    stuff::{StuffError, StuffOptions, Stuffed, solid_levels, spacing_of, stuff},
    tetrahedra::{EDGES, TetrahedronMesh},
};

/// Labelle and Shewchuk 2007: dihedral angles for α of 0.24999 and 0.41189 \[°\]; positions are rounded to
/// f32 here.
const ANGLES: [f64; 2] = [10.78 - 0.01, 164.74 + 0.01];

fn made(generator: Generator) -> TriangleMesh {
    generator.generate().unwrap()
}

fn sphere(radius: f32, frequency: u32) -> TriangleMesh {
    made(Generator::Sphere { radius, frequency })
}

fn moved(mut mesh: TriangleMesh, by: Vec3) -> TriangleMesh {
    mesh.positions.iter_mut().for_each(|x| *x += by);
    mesh
}

fn both(mut a: TriangleMesh, b: TriangleMesh) -> TriangleMesh {
    let first = a.positions.len() as u32;
    a.positions.extend(b.positions);
    a.triangles.extend(b.triangles.iter().map(|t| t.map(|v| v + first)));
    a
}

fn volume(mesh: &TetrahedronMesh) -> f64 {
    (0..mesh.tetrahedra.len()).map(|t| mesh.volume(t)).sum()
}

/// Smallest and largest dihedral angle \[°\].
fn angles(mesh: &TetrahedronMesh) -> [f64; 2] {
    let mut range = [180.0f64, 0.0f64];
    for t in &mesh.tetrahedra {
        let x = t.map(|v| mesh.positions[v as usize].as_dvec3());
        for [i, j] in EDGES {
            let [k, l] = [0, 1, 2, 3].into_iter().filter(|&k| k != i && k != j).collect::<Vec<_>>()[..]
            else {
                unreachable!()
            };
            // Both sides seen along the edge.
            let edge = (x[j] - x[i]).normalize();
            let across = |k: usize| {
                let side = x[k] - x[i];
                (side - edge * side.dot(edge)).normalize()
            };
            let angle = across(k).dot(across(l)).clamp(-1.0, 1.0).acos().to_degrees();
            range = [range[0].min(angle), range[1].max(angle)];
        }
    }
    range
}

/// Everything that must hold of any result.
fn assert_sound(mesh: &TetrahedronMesh) {
    let mut used = vec![false; mesh.positions.len()];
    mesh.tetrahedra.iter().flatten().for_each(|&v| used[v as usize] = true);
    assert!(used.iter().all(|&used| used), "a vertex that nothing uses");
    assert!((0..mesh.tetrahedra.len()).all(|t| mesh.volume(t) > 0.0));
    let [least, most] = angles(mesh);
    assert!(least >= ANGLES[0] && most <= ANGLES[1], "{least} {most}");
    let boundary = mesh.boundary();
    let mut edges: HashMap<[u32; 2], i32> = HashMap::new();
    for &[a, b, c] in &boundary {
        for edge in [[a, b], [b, c], [c, a]] {
            let count = edges.entry(edge).or_default();
            *count += 1;
            assert_eq!(*count, 1, "an edge that is passed twice in one direction");
        }
    }
    assert!(edges.keys().all(|&[a, b]| edges.contains_key(&[b, a])), "an open boundary");
    // Around each vertex one fan: from face to face over the edges at the vertex, all of its faces are met.
    let mut next: HashMap<[u32; 2], u32> = HashMap::new();
    let mut count: HashMap<u32, (usize, u32)> = HashMap::new();
    for &[a, b, c] in &boundary {
        for [v, from, to] in [[a, b, c], [b, c, a], [c, a, b]] {
            next.insert([v, from], to);
            let entry = count.entry(v).or_insert((0, from));
            entry.0 += 1;
        }
    }
    for (v, (faces, start)) in count {
        let (mut at, mut met) = (start, 0);
        loop {
            at = next[&[v, at]];
            met += 1;
            if at == start {
                break;
            }
        }
        assert_eq!(met, faces, "vertex {v} has several fans");
    }
}

fn filled(surface: &TriangleMesh, spacing: f32) -> Stuffed {
    let stuffed = stuff(surface, &StuffOptions { spacing }).unwrap();
    assert_sound(&stuffed.mesh);
    stuffed
}

/// A sphere with bumps, ridges and noise, 70K triangles as uneven as a scan's, with a hole at the bottom.
fn scan() -> TriangleMesh {
    let mut mesh = sphere(0.1, 61);
    let mut noise = 1u64;
    let mut random = || {
        noise = noise.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (noise >> 40) as f32 / (1u64 << 24) as f32 - 0.5
    };
    for x in &mut mesh.positions {
        let d = *x / 0.1;
        let bumps = (5.0 * d.x).sin() * (4.0 * d.y).cos() + 0.4 * (17.0 * d.z + 9.0 * d.x).sin();
        *x = *x * (1.0 + 0.12 * bumps) + 3e-4 * Vec3::new(random(), random(), random());
    }
    let low = |t: &[u32; 3]| t.iter().any(|&v| mesh.positions[v as usize].y > -0.09);
    mesh.triangles.retain(low);
    mesh
}

#[test]
fn spheres_tori_and_boxes_are_filled_to_their_volume() {
    let pi = std::f64::consts::PI;
    let torus = made(Generator::Torus { major: 0.5, minor: 0.2, segments: [90, 36] });
    let cuboid = made(Generator::Box { size: [1.0, 0.5, 0.7], cells: [1, 1, 1] });
    for (surface, spacing, right) in [
        (sphere(0.5, 20), 0.05, 4.0 / 3.0 * pi * 0.125),
        (torus, 0.05, 2.0 * pi * pi * 0.5 * 0.04),
        (cuboid, 0.04, 0.35),
    ] {
        let stuffed = filled(&surface, spacing);
        assert_eq!(stuffed.warnings, Vec::<String>::new());
        let volume = volume(&stuffed.mesh);
        assert!((volume / right - 1.0).abs() < 0.02, "{volume} {right}");
        // Boundary vertices lie on the surface; of a sphere or torus that can be seen.
        let expected = 12.0 * right / f64::from(spacing).powi(3);
        let count = stuffed.mesh.tetrahedra.len() as f64;
        assert!(count > 0.9 * expected && count < 2.0 * expected, "{count} {expected}");
    }
    let ball = filled(&sphere(0.5, 40), 0.05).mesh;
    for face in ball.boundary() {
        for v in face {
            assert!((ball.positions[v as usize].length() - 0.5).abs() < 2e-3);
        }
    }
}

#[test]
fn a_scan_with_a_hole_and_75k_tetrahedra_is_filled() {
    let surface = scan();
    assert!(surface.triangles.len() > 70_000);
    let options = StuffOptions::for_count(&surface, 75_000).unwrap();
    let stuffed = stuff(&surface, &options).unwrap();
    assert_sound(&stuffed.mesh);
    let count = stuffed.mesh.tetrahedra.len();
    assert!((73_000..77_000).contains(&count), "{count}");
    assert!(
        stuffed.warnings.len() == 1 && stuffed.warnings[0].contains("edges of the surface are open"),
        "{stuffed:?}"
    );
    // The hole is closed: the lowest point is near where it is.
    let lowest = stuffed.mesh.positions.iter().map(|x| x.y).fold(f32::INFINITY, f32::min);
    assert!((-0.1..-0.08).contains(&lowest), "{lowest}");
    println!("{count} tetrahedra, angles {:?}", angles(&stuffed.mesh));

    let embedding = Embedding::barycentric(&stuffed.mesh, &surface.positions);
    let rest = embedding.points(&stuffed.mesh.positions);
    let off = rest.iter().zip(&surface.positions).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(off < 1e-5 * 0.2, "{off}");
}

#[test]
fn holes_are_closed_and_named() {
    let mut surface = sphere(0.5, 16);
    let whole = filled(&surface, 0.06).mesh;
    surface.triangles.retain(|t| t.iter().any(|&v| surface.positions[v as usize].y < 0.46));
    let stuffed = filled(&surface, 0.06);
    assert_eq!(stuffed.warnings.len(), 1, "{:?}", stuffed.warnings);
    assert!(stuffed.warnings[0].contains("edges of the surface are open"), "{:?}", stuffed.warnings);
    assert!((volume(&stuffed.mesh) / volume(&whole) - 1.0).abs() < 0.01);
    // Nothing sticks out of the hole.
    let highest = stuffed.mesh.positions.iter().map(|x| x.y).fold(0.0, f32::max);
    assert!(highest < 0.5, "{highest}");
}

#[test]
fn what_passes_through_itself_is_filled_as_one() {
    let pair = both(sphere(0.3, 12), moved(sphere(0.3, 12), Vec3::new(0.3, 0.013, 0.0)));
    let stuffed = filled(&pair, 0.04);
    assert!(stuffed.warnings.iter().any(|w| w.contains("passes through itself")), "{:?}", stuffed.warnings);
    // Two balls, less the lens that they share.
    let (r, d) = (0.3f64, 0.3f64);
    let pi = std::f64::consts::PI;
    let lens = pi / 12.0 * (4.0 * r + d) * (2.0 * r - d).powi(2);
    let right = 2.0 * 4.0 / 3.0 * pi * r.powi(3) - lens;
    assert!((volume(&stuffed.mesh) / right - 1.0).abs() < 0.03, "{} {right}", volume(&stuffed.mesh));
}

#[test]
fn several_bodies_cavities_and_surfaces_that_look_inwards() {
    let apart = both(sphere(0.3, 12), moved(sphere(0.1, 12), Vec3::X));
    let stuffed = filled(&apart, 0.05);
    assert!(stuffed.warnings.is_empty());
    assert!(
        stuffed.mesh.positions.iter().any(|x| x.x > 0.9) && stuffed.mesh.positions.iter().any(|x| x.x < 0.0)
    );

    let mut inner = sphere(0.25, 12);
    inner.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    let hollow = filled(&both(sphere(0.5, 12), inner), 0.06);
    assert!(hollow.warnings.is_empty());
    assert!(hollow.mesh.positions.iter().all(|x| x.length() > 0.2));

    let mut inward = sphere(0.5, 12);
    inward.triangles.iter_mut().for_each(|t| t.swap(0, 1));
    let turned = filled(&inward, 0.06);
    assert!(turned.warnings[0].contains("look inwards"), "{:?}", turned.warnings);
    assert_eq!(turned.mesh.tetrahedra.len(), filled(&sphere(0.5, 12), 0.06).mesh.tetrahedra.len());
}

#[test]
fn vertices_in_one_place_are_one_and_bits_do_not_depend_on_threads() {
    let surface = sphere(0.5, 12);
    let corners = surface.triangles.iter().flatten();
    let split = TriangleMesh {
        positions: corners.map(|&v| surface.positions[v as usize]).collect(),
        triangles: (0..surface.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect(),
        ..TriangleMesh::default()
    };
    let whole = filled(&surface, 0.07);
    assert_eq!(whole, filled(&split, 0.07));
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(whole, pool.install(|| filled(&surface, 0.07)), "{threads}");
    }
}

#[test]
fn thin_parts_are_reported_with_what_is_lost_and_what_would_keep_it() {
    // A ball with a plate of 2 cm, at a spacing of 8.
    let plate = made(Generator::Box { size: [2.0, 0.02, 0.5], cells: [60, 1, 20] });
    let surface = both(sphere(0.4, 16), moved(plate, Vec3::new(1.0, 0.013, 0.0)));
    let stuffed = filled(&surface, 0.08);
    let warning = stuffed.warnings.iter().find(|w| w.contains("coarse for this surface"));
    assert!(warning.is_some_and(|w| w.contains("0.0200 m would be right")), "{:?}", stuffed.warnings);
    let fine = filled(&surface, 0.02);
    assert!(!fine.warnings.iter().any(|w| w.contains("coarse for this surface")), "{:?}", fine.warnings);

    let thin = made(Generator::Box { size: [1.0, 0.02, 1.0], cells: [10, 1, 10] });
    let error = stuff(&thin, &StuffOptions { spacing: 0.5 }).unwrap_err();
    assert!(matches!(error, StuffError::TooCoarse { .. }), "{error}");
}

#[test]
fn what_cannot_be_filled_is_refused_with_reasons() {
    let refused =
        |surface: &TriangleMesh, spacing| stuff(surface, &StuffOptions { spacing }).unwrap_err().to_string();
    let sheet =
        made(Generator::Grid { size: [1.0, 1.0], cells: [8, 8], diagonals: Default::default(), seed: 0 });
    assert!(
        refused(&sheet, 0.1).contains("encloses nothing (32 of its edges are open)"),
        "{}",
        refused(&sheet, 0.1)
    );
    let tube = made(Generator::Cylinder { radius: 0.05, height: 1.0, segments: [12, 20] });
    // A long tube is closed well inside, and open at its ends.
    assert!(!filled(&tube, 0.02).warnings.is_empty());
    let ball = sphere(0.5, 8);
    for spacing in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(refused(&ball, spacing).contains("must be more than 0"));
    }
    let fine = refused(&ball, 1e-4);
    assert!(fine.contains("too fine"), "{fine}");
    let mut broken = ball.clone();
    broken.triangles[7][1] = 9999;
    assert!(refused(&broken, 0.1).contains("face 7"), "{}", refused(&broken, 0.1));
    let mut broken = ball.clone();
    broken.positions[5].x = f32::NAN;
    assert!(refused(&broken, 0.1).contains("vertex 5"));
    let flat = TriangleMesh {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        triangles: vec![[0, 1, 2], [0, 2, 1]],
        ..TriangleMesh::default()
    };
    assert!(refused(&flat, 0.1).contains("encloses nothing"));
    assert!(refused(&TriangleMesh::default(), 0.1).contains("0 vertices"));
    assert!(StuffOptions::for_count(&flat, 100).is_err());
}

#[test]
fn soups_of_triangles_never_panic_and_give_sound_meshes_or_words() {
    let mut noise = 7u64;
    let mut random = move || {
        noise = noise.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (noise >> 33) as u32
    };
    let mut sound = 0;
    for _ in 0..60 {
        let mut surface = sphere(0.5, 3 + random() % 4);
        for _ in 0..random() % 40 {
            let count = surface.positions.len() as u32;
            let t = (random() as usize) % surface.triangles.len();
            match random() % 4 {
                0 => surface.triangles[t] = [random() % count, random() % count, random() % count],
                1 => drop(surface.triangles.swap_remove(t)),
                2 => surface.triangles[t].swap(0, 1),
                _ => surface.positions[t % count as usize] *= 0.3 + 1.4 * (random() % 1000) as f32 / 1000.0,
            }
        }
        match stuff(&surface, &StuffOptions { spacing: 0.12 }) {
            Ok(stuffed) => {
                assert_sound(&stuffed.mesh);
                sound += 1;
            }
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
    assert!(sound > 40, "{sound}");
}

#[test]
fn a_wanted_number_of_tetrahedra_is_met() {
    let torus = made(Generator::Torus { major: 0.5, minor: 0.2, segments: [60, 30] });
    for wanted in [5_000, 17_300] {
        let options = StuffOptions::for_count(&torus, wanted).unwrap();
        let count = filled(&torus, options.spacing).mesh.tetrahedra.len() as f64;
        assert!((count / wanted as f64 - 1.0).abs() < 0.03, "{count} {wanted}");
    }
}

#[test]
fn levels_are_coarser_and_keep_all_parts() {
    let torus = made(Generator::Torus { major: 0.5, minor: 0.2, segments: [60, 30] });
    let finest = filled(&torus, 0.03).mesh;
    let levels = solid_levels(&torus, 0.03, &finest);
    assert!(levels.len() >= 2, "{}", levels.len());
    let mut finer = &finest;
    for level in &levels {
        assert!(level.positions.len() >= 150 && 3 * level.positions.len() < finer.positions.len());
        let rows = transfer(level, &finer.positions);
        assert_eq!(rows.len(), finer.positions.len());
        for ((corners, weights), x) in rows.iter().zip(&finer.positions) {
            assert!(weights.iter().all(|w| (0.0..=1.0).contains(w)), "{weights:?}");
            assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            let at: Vec3 = corners.iter().zip(weights).map(|(&v, w)| level.positions[v as usize] * *w).sum();
            assert!(at.distance(*x) < 0.1, "{x} {at}");
        }
        finer = level;
    }
    // As from a file: from its own surface.
    let own = solid_levels(&finest.surface(), spacing_of(&finest), &finest);
    assert_eq!(own.len(), levels.len());
    assert!((spacing_of(&finest) / 0.03 - 1.0).abs() < 0.05, "{}", spacing_of(&finest));
    // A part that a coarser level would lose ends them: an arm as thin as two cells.
    let arm = moved(made(Generator::Box { size: [1.0, 0.06, 0.06], cells: [30, 2, 2] }), Vec3::X);
    let body = both(torus, arm);
    let finest = filled(&body, 0.03).mesh;
    assert!(solid_levels(&body, 0.03, &finest).len() < levels.len());
}

#[test]
fn embedded_points_follow_every_affine_map_inside_and_outside() {
    let mesh = filled(&sphere(0.5, 12), 0.1).mesh;
    let points: Vec<Vec3> = sphere(0.55, 20).positions.into_iter().chain(sphere(0.2, 5).positions).collect();
    let embedding = Embedding::barycentric(&mesh, &points);
    assert_eq!(embedding.point_count(), points.len());
    let map = |x: &Vec3| {
        let x = x.as_dvec3();
        let y = DVec3::new(1.1 * x.x + 0.2 * x.y, 0.9 * x.y - 0.3 * x.z, x.z + 0.1 * x.x)
            + DVec3::new(3.0, 1.0, -2.0);
        y.as_vec3()
    };
    let positions: Vec<Vec3> = mesh.positions.iter().map(map).collect();
    let out = embedding.points(&positions);
    for (x, y) in points.iter().zip(&out) {
        assert!(y.distance(map(x)) < 2e-5, "{x} {y} {}", map(x));
    }
    // Nearest tetrahedra with moderate weights: a face that goes on, not a sliver.
    let Embedding::Barycentric { corners, weights, .. } = &embedding else { panic!("tetrahedra") };
    assert!(weights.iter().flatten().all(|w| w.abs() < 6.0));
    assert!(corners.iter().flatten().all(|&v| (v as usize) < mesh.positions.len()));
    let none = Embedding::barycentric(&TetrahedronMesh::default(), &points);
    assert!(none.point_count() == 0 && transfer(&TetrahedronMesh::default(), &points).is_empty());
}
