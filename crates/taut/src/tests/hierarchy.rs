//! Levels of meshes: counts, shapes, topology, boundaries, and what travels between them.

use std::collections::BTreeSet;

use glam::Vec3;
use proptest::prelude::*;
use taut::hierarchy::{Hierarchy, Options, build};
use taut::kernel::random::Random;
use taut::mesh::adjacency::Adjacency;
use taut::mesh::check::check;
use taut::mesh::generate::{Diagonals, Generator, grid};
use taut::mesh::{TriangleMesh, check};

/// What a level must keep.
struct Figures {
    euler: i64,
    /// Smallest angle \[degrees\].
    angle: f32,
    /// \[m²\]
    area: f64,
    /// Length of all boundaries \[m\].
    boundary: f64,
}

fn figures(mesh: &TriangleMesh) -> Figures {
    let adjacency = Adjacency::new(&mesh.triangles);
    let at = |v: u32| mesh.positions[v as usize];
    let inner: BTreeSet<[u32; 2]> =
        adjacency.hinges.iter().map(|h| [h[0].min(h[1]), h[0].max(h[1])]).collect();
    let (mut angle, mut area) = (180f32, 0.0);
    for triangle in &mesh.triangles {
        let p = triangle.map(at);
        area += 0.5 * f64::from((p[1] - p[0]).cross(p[2] - p[0]).length());
        for k in 0..3 {
            angle = angle.min((p[(k + 1) % 3] - p[k]).angle_between(p[(k + 2) % 3] - p[k]).to_degrees());
        }
    }
    Figures {
        euler: mesh.positions.len() as i64 - adjacency.edges.len() as i64 + mesh.triangles.len() as i64,
        angle,
        area,
        boundary: adjacency
            .edges
            .iter()
            .filter(|&edge| !inner.contains(edge))
            .map(|&[a, b]| f64::from(at(a).distance(at(b))))
            .sum(),
    }
}

/// Without errors and with the topology of the base; transfer rows valid, and they name existing vertices.
fn assert_sound(base: &TriangleMesh, hierarchy: &Hierarchy) {
    let euler = figures(base).euler;
    let mut fine = base;
    for (k, level) in hierarchy.levels.iter().enumerate() {
        let errors: Vec<_> = check(&level.mesh).into_iter().filter(check::MeshProblem::is_error).collect();
        assert!(errors.is_empty(), "level {}: {errors:?}", k + 1);
        assert_eq!(figures(&level.mesh).euler, euler, "level {}", k + 1);
        assert!(level.mesh.triangles.len() < fine.triangles.len());
        assert_eq!(level.transfer.corners.len(), fine.positions.len());
        assert_eq!(level.transfer.weights.len(), fine.positions.len());
        let count = level.mesh.positions.len() as u32;
        for (corners, weights) in level.transfer.corners.iter().zip(&level.transfer.weights) {
            assert!(corners.iter().all(|&v| v < count));
            assert!(weights.iter().all(|w| (0.0..=1.0).contains(w)), "{weights:?}");
            assert!((weights.iter().sum::<f32>() - 1.0).abs() < 1e-6, "{weights:?}");
        }
        fine = &level.mesh;
    }
}

/// Sound, and each level has a quarter of the triangles and good shapes. `area` and `boundary` are the
/// largest relative losses at levels of at least 250 vertices.
fn assert_good(name: &str, mesh: &TriangleMesh, levels: usize, area: f64, boundary: f64) -> Hierarchy {
    let hierarchy = build(mesh, &Options::default());
    assert_sound(mesh, &hierarchy);
    assert_eq!(hierarchy.levels.len(), levels, "{name}");
    let base = figures(mesh);
    let mut before = mesh.triangles.len() as f64;
    for level in &hierarchy.levels {
        let (count, found) = (level.mesh.triangles.len() as f64, figures(&level.mesh));
        assert!((4.0 * count / before - 1.0).abs() < 0.05, "{name}: {before} to {count} triangles");
        assert!(found.angle >= 20.0, "{name}: {count} triangles, angle {}", found.angle);
        if level.mesh.positions.len() >= 250 {
            assert!((found.area / base.area - 1.0).abs() <= area, "{name}: area {}", found.area);
            let loss = (found.boundary - base.boundary).abs();
            assert!(loss <= boundary * base.boundary, "{name}: boundary {}", found.boundary);
        }
        before = count;
    }
    hierarchy
}

/// Point of the next level for each vertex of `fine` \[m\].
fn interpolated(hierarchy: &Hierarchy, level: usize) -> Vec<Vec3> {
    let level = &hierarchy.levels[level];
    let mut points = vec![Vec3::ZERO; level.transfer.corners.len()];
    level.transfer.upsample(&level.mesh.positions, &mut points);
    points
}

/// Keeps the triangles whose centre passes, and the vertices that they use.
fn cut(mesh: &TriangleMesh, keep: impl Fn(usize, Vec3) -> bool) -> TriangleMesh {
    let mut new = vec![u32::MAX; mesh.positions.len()];
    let mut result = TriangleMesh::default();
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        if keep(t, triangle.iter().map(|&v| mesh.positions[v as usize]).sum::<Vec3>() / 3.0) {
            result.triangles.push(triangle.map(|v| {
                if new[v as usize] == u32::MAX {
                    new[v as usize] = result.positions.len() as u32;
                    result.positions.push(mesh.positions[v as usize]);
                }
                new[v as usize]
            }));
        }
    }
    result
}

/// Several meshes as one, each moved.
fn together(pieces: &[(&TriangleMesh, Vec3)]) -> TriangleMesh {
    let mut result = TriangleMesh::default();
    for (mesh, offset) in pieces {
        let first = result.positions.len() as u32;
        result.positions.extend(mesh.positions.iter().map(|&p| p + offset));
        result.triangles.extend(mesh.triangles.iter().map(|t| t.map(|v| v + first)));
    }
    result
}

fn l_with_hole() -> TriangleMesh {
    let sheet = grid([1.0, 1.0], [64, 64], Diagonals::Alternating, 0);
    cut(&sheet, |_, c| {
        let hole = (0.125..0.375).contains(&c.x) && (0.125..0.375).contains(&c.z);
        !hole && (c.x < 0.5 || c.z < 0.5)
    })
}

#[test]
fn sheets_become_good_sheets_and_reproduce_linear_functions() {
    for diagonals in [Diagonals::Regular, Diagonals::Alternating, Diagonals::Jittered] {
        let mesh = grid([1.0, 1.0], [64, 64], diagonals, 3);
        let hierarchy = assert_good(&format!("{diagonals:?}"), &mesh, 3, 1e-5, 1e-5);
        let mut fine = &mesh;
        for (k, level) in hierarchy.levels.iter().enumerate() {
            for (p, q) in interpolated(&hierarchy, k).iter().zip(&fine.positions) {
                assert!(p.distance(*q) < 1e-5, "level {}: {q} becomes {p}", k + 1);
            }
            fine = &level.mesh;
        }
    }
}

#[test]
fn curved_shapes_keep_area_boundary_and_topology() {
    let shapes = [
        ("disc", Generator::Disc { radius: 0.5, rings: 40 }, 3),
        ("cylinder", Generator::Cylinder { radius: 0.2, height: 1.0, segments: [64, 50] }, 3),
        ("sphere", Generator::Sphere { radius: 0.5, frequency: 24 }, 3),
        ("torus", Generator::Torus { major: 0.5, minor: 0.15, segments: [120, 36] }, 3),
        ("capsule", Generator::Capsule { radius: 0.1, height: 0.5, segments: [48, 40] }, 2),
        ("box", Generator::Box { size: [1.0, 0.5, 0.7], cells: [40, 20, 28] }, 3),
    ];
    for (name, shape, levels) in shapes {
        assert_good(name, &shape.generate().unwrap(), levels, 0.03, 0.02);
    }
}

#[test]
fn an_l_with_a_hole_keeps_its_corners() {
    let mesh = l_with_hole();
    let hierarchy = assert_good("L with hole", &mesh, 3, 1e-4, 1e-4);
    let corners = [
        [0.0, 0.0],
        [1.0, 0.0],
        [1.0, 0.5],
        [0.5, 0.5],
        [0.5, 1.0],
        [0.0, 1.0],
        [0.125, 0.125],
        [0.375, 0.125],
        [0.375, 0.375],
        [0.125, 0.375],
    ];
    for level in &hierarchy.levels {
        for [x, z] in corners {
            let corner = Vec3::new(x, 0.0, z);
            assert!(level.mesh.positions.iter().any(|p| p.distance(corner) < 1e-5), "{corner}");
        }
    }
}

#[test]
fn pieces_side_by_side_do_not_mix() {
    let sheet = grid([0.5, 0.5], [40, 40], Diagonals::Alternating, 0);
    let ball = Generator::Sphere { radius: 0.2, frequency: 12 }.generate().unwrap();
    // Two sheets 3 mm apart, and a sphere that cuts through both.
    let mesh =
        together(&[(&sheet, Vec3::ZERO), (&sheet, Vec3::Y * 0.003), (&ball, Vec3::new(0.25, 0.1, 0.25))]);
    let hierarchy = build(&mesh, &Options::default());
    assert_sound(&mesh, &hierarchy);
    assert!(hierarchy.levels.len() >= 3);
    let mut pieces = piece_of_each(&mesh);
    for level in &hierarchy.levels {
        let coarse = piece_of_each(&level.mesh);
        assert_eq!(coarse.iter().max(), Some(&2));
        // Vertices keep their order, so that pieces are numbered alike.
        for (fine, corners) in level.transfer.corners.iter().enumerate() {
            assert!(corners.iter().all(|&v| coarse[v as usize] == pieces[fine]), "vertex {fine}");
        }
        pieces = coarse;
    }
}

/// Number of each vertex's piece, in the order of the pieces' first vertices.
fn piece_of_each(mesh: &TriangleMesh) -> Vec<usize> {
    let mut piece = vec![usize::MAX; mesh.positions.len()];
    let edges = Adjacency::new(&mesh.triangles).edges;
    let neighbors = taut::mesh::adjacency::Neighbors::new(piece.len(), &edges);
    let mut count = 0;
    for v in 0..piece.len() {
        if piece[v] == usize::MAX {
            let mut stack = vec![v as u32];
            while let Some(u) = stack.pop() {
                if std::mem::replace(&mut piece[u as usize], count) == usize::MAX {
                    stack.extend(neighbors.of(u).iter().filter(|&&w| piece[w as usize] == usize::MAX));
                }
            }
            count += 1;
        }
    }
    piece
}

#[test]
fn layers_of_a_folded_sheet_do_not_mix() {
    const GAP: f32 = 0.003;
    const FLAT: f32 = 0.0;
    // Coarse triangles of a wavy sheet lie further from the base than the layers from each other: distance in
    // space alone would choose the wrong one.
    const WAVY: f32 = 0.02;
    let round = 0.5 * std::f32::consts::PI * GAP;
    for (cells, arc, height) in [(100, GAP, FLAT), (240, round, FLAT), (100, GAP, WAVY), (240, round, WAVY)] {
        let mut mesh = grid([1.0, 0.5], [cells, cells / 2], Diagonals::Alternating, 0);
        let wave = |z: f32| height * (z * 8.0 * std::f32::consts::PI).sin();
        // Bent upwards at x = 0.5 through half a circle of height GAP; `arc` is the length that it takes.
        let start = 0.5 - 0.5 * arc;
        for p in &mut mesh.positions {
            let turn = ((p.x - start) / arc).clamp(0.0, 1.0) * std::f32::consts::PI;
            let beyond = (p.x - start - arc).max(0.0);
            let (x, y) = (p.x.min(start) - beyond + 0.5 * GAP * turn.sin(), 0.5 * GAP * (1.0 - turn.cos()));
            *p = Vec3::new(x, y + wave(p.z), p.z);
        }
        // Distance along the sheet, across the fold \[m\].
        let along = |p: Vec3| if p.y - wave(p.z) < 0.5 * GAP { p.x } else { 1.0 - p.x };
        let area = figures(&mesh).area;
        let hierarchy = build(&mesh, &Options::default());
        assert_sound(&mesh, &hierarchy);
        assert!(hierarchy.levels.len() >= 3);
        let mut fine = &mesh;
        for (k, level) in hierarchy.levels.iter().enumerate() {
            let spacing = (1.15 / level.mesh.triangles.len() as f32).sqrt();
            let mut worst = 0f32;
            for (v, (corners, weights)) in
                level.transfer.corners.iter().zip(&level.transfer.weights).enumerate()
            {
                let found: f32 =
                    (0..3).map(|i| weights[i] * along(level.mesh.positions[corners[i] as usize])).sum();
                worst = worst.max((found - along(fine.positions[v])).abs());
            }
            assert!(worst < 0.1 * spacing + GAP, "level {}: {worst} at spacing {spacing}", k + 1);
            if height == FLAT {
                let found = figures(&level.mesh).area;
                assert!((found / area - 1.0).abs() < 0.02, "level {}: area {found} of {area}", k + 1);
            }
            fine = &level.mesh;
        }
    }
}

#[test]
fn small_and_odd_pieces_stay() {
    let triangle = TriangleMesh {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Z],
        triangles: vec![[0, 2, 1]],
        ..TriangleMesh::default()
    };
    let tetrahedron = TriangleMesh {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
        triangles: vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]],
        ..TriangleMesh::default()
    };
    let strip = grid([4.0, 0.05], [80, 1], Diagonals::Regular, 0);
    let deep = Options { coarsest: 1, ..Options::default() };
    for mesh in [&TriangleMesh::default(), &triangle, &tetrahedron] {
        assert!(build(mesh, &deep).levels.is_empty());
    }
    assert_sound(&strip, &build(&strip, &deep));
    let sheet = grid([1.0, 1.0], [30, 30], Diagonals::Jittered, 1);
    let large = TriangleMesh {
        positions: triangle.positions.iter().map(|&p| p * 300.0).collect(),
        ..triangle.clone()
    };
    let parts = [&triangle, &tetrahedron, &strip, &sheet, &large];
    let all: Vec<_> = parts.iter().enumerate().map(|(k, &mesh)| (mesh, Vec3::Y * k as f32)).collect();
    let mesh = together(&all);
    let hierarchy = build(&mesh, &deep);
    assert_sound(&mesh, &hierarchy);
    // The large triangle does not hide the sheet: levels go on in steps of four.
    let first = hierarchy.levels[0].mesh.triangles.len() as f32 / mesh.triangles.len() as f32;
    assert!((0.23..0.28).contains(&first), "{first}");
}

#[test]
fn fans_that_touch_in_a_vertex_stay_together() {
    let sheet = grid([1.0, 1.0], [20, 20], Diagonals::Alternating, 0);
    let mut mesh = together(&[(&sheet, Vec3::ZERO), (&sheet, Vec3::new(1.0, 0.0, 1.0))]);
    let (kept, gone) = (21 * 21 - 1, 21 * 21);
    assert_eq!(mesh.positions[kept as usize], mesh.positions[gone as usize]);
    for v in mesh.triangles.iter_mut().flatten() {
        *v = if *v == gone {
            kept
        } else if *v > gone {
            *v - 1
        } else {
            *v
        };
    }
    mesh.positions.remove(gone as usize);
    let hierarchy = build(&mesh, &Options { coarsest: 20, ..Options::default() });
    assert_sound(&mesh, &hierarchy);
    assert!(hierarchy.levels.len() >= 2);
    for level in &hierarchy.levels {
        let warnings = check(&level.mesh);
        assert!(matches!(warnings[..], [check::MeshProblem::NonManifoldVertex { .. }]), "{warnings:?}");
    }
}

#[test]
fn bad_input_has_no_levels() {
    let mut mesh = grid([1.0, 1.0], [30, 30], Diagonals::Regular, 0);
    mesh.positions[7].y = f32::NAN;
    assert!(build(&mesh, &Options::default()).levels.is_empty());
    mesh.positions[7].y = 0.0;
    mesh.triangles[3][1] = 1_000_000;
    assert!(build(&mesh, &Options::default()).levels.is_empty());
}

#[test]
fn the_same_mesh_gives_the_same_bits() {
    let mesh = grid([1.0, 1.0], [50, 50], Diagonals::Jittered, 9);
    assert_eq!(build(&mesh, &Options::default()), build(&mesh, &Options::default()));
}

#[test]
fn zero_corrections_keep_bits_and_constants_stay_constant() {
    let mesh = l_with_hole();
    let hierarchy = build(&mesh, &Options::default());
    let level = &hierarchy.levels[0];
    let coarse_count = level.mesh.positions.len();
    let mut fine: Vec<Vec3> = mesh.positions.iter().map(|&p| -p).collect();
    let before = fine.clone();
    level.transfer.upsample(&vec![Vec3::ZERO; coarse_count], &mut fine);
    let bits = |values: &[Vec3]| -> Vec<[u32; 3]> {
        values.iter().map(|v| v.to_array().map(f32::to_bits)).collect()
    };
    assert_eq!(bits(&fine), bits(&before));

    let constant = vec![Vec3::new(1.0, 2.0, 3.0); mesh.positions.len()];
    let mut coarse = vec![Vec3::ZERO; coarse_count];
    level.transfer.downsample(&constant, &mut coarse);
    assert!(coarse.iter().all(|c| c.distance(constant[0]) < 1e-5));
    let mut sums = vec![Vec3::ZERO; coarse_count];
    level.transfer.upsample_transposed(&constant, &mut sums);
    let total: Vec3 = sums.iter().sum();
    let wanted = constant[0] * mesh.positions.len() as f32;
    assert!(total.distance(wanted) < 1e-3 * wanted.length(), "{total}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever is cut out of a crumpled sheet, levels are sound: holes of any size, islands, fans that
    /// touch.
    #[test]
    fn sheets_full_of_holes_stay_sound(seed in 0u64..1 << 32, cells in 2u32..30, part in 0.02f32..0.5, rough in 0f32..0.05) {
        let mut sheet = grid([1.0, 1.0], [cells, cells], Diagonals::Jittered, seed);
        let mut random = Random::new(seed, 1);
        for p in &mut sheet.positions {
            p.y = rough * (random.unit() - 0.5);
        }
        let gone: Vec<bool> = sheet.triangles.iter().map(|_| random.unit() < part).collect();
        let mesh = cut(&sheet, |t, _| !gone[t]);
        prop_assume!(!mesh.triangles.is_empty());
        let hierarchy = build(&mesh, &Options { coarsest: 4, ..Options::default() });
        assert_sound(&mesh, &hierarchy);
    }
}
