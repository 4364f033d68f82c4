//! Each kind of problem in a mesh that has no other, and none in a sound one.

use super::*;
use crate::mesh::generate::{Diagonals, grid};

fn mesh(positions: &[[f32; 3]], triangles: &[[u32; 3]]) -> TriangleMesh {
    TriangleMesh {
        positions: positions.iter().map(|&p| p.into()).collect(),
        triangles: triangles.to_vec(),
        ..TriangleMesh::default()
    }
}

/// Two triangles over the unit square.
fn square() -> TriangleMesh {
    mesh(&[[0., 0., 0.], [1., 0., 0.], [1., 0., 1.], [0., 0., 1.]], &[[0, 2, 1], [0, 3, 2]])
}

/// The only problem of `mesh`.
fn only(mesh: &TriangleMesh) -> MeshProblem {
    let found = check(mesh);
    assert_eq!(found.len(), 1, "{found:?}");
    found.into_iter().next().unwrap()
}

#[test]
fn a_sound_mesh_has_no_problems() {
    assert_eq!(check(&square()), []);
    assert_eq!(check(&grid([1.0, 2.0], [30, 40], Diagonals::Jittered, 7)), []);
}

#[test]
fn an_empty_mesh() {
    assert_eq!(only(&TriangleMesh::default()).kind(), Kind::Empty);
    let points = mesh(&[[0., 0., 0.]], &[]);
    assert_eq!(
        check(&points).iter().map(MeshProblem::kind).collect::<Vec<_>>(),
        [Kind::Empty, Kind::Unreferenced]
    );
}

#[test]
fn a_face_index_out_of_range() {
    let mut m = square();
    m.triangles.push([1, 2, 4]);
    let problem = only(&m);
    assert_eq!(problem, MeshProblem::FaceIndex { face: 2, index: 4, vertices: 4 });
    assert_eq!(problem.to_string(), "face 2 (from 0) uses vertex 4: the mesh has 4 vertices, counted from 0");
    m.triangles[2] = [u32::MAX; 3];
    assert_eq!(only(&m).kind(), Kind::FaceIndex);
}

#[test]
fn texture_coordinates_and_groups_that_do_not_fit() {
    let mut m = square();
    m.uvs = Some(Vec::new());
    assert_eq!(only(&m), MeshProblem::UvCount { uvs: 0, faces: 2 });
    m.uvs = None;
    m.groups.insert("hem".into(), vec![1, 9]);
    let problem = only(&m);
    assert_eq!(problem, MeshProblem::GroupIndex { group: "hem".into(), index: 9, vertices: 4 });
}

#[test]
fn a_position_that_is_not_finite() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut m = square();
        m.positions[3].z = bad;
        let problem = only(&m);
        assert!(matches!(problem, MeshProblem::NonFinite { vertex: 3, .. }), "{problem}");
    }
}

#[test]
fn a_position_that_is_absurd() {
    let mut m = square();
    m.positions.iter_mut().for_each(|p| p.x = p.x * 10.0 + 1_000_001.0);
    let found = check(&m);
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(found.iter().all(|p| p.kind() == Kind::TooFar && p.is_error()));
    assert!(found[0].to_string().contains("unit"), "{}", found[0]);
}

#[test]
fn a_degenerate_face() {
    // Collinear, thinner than the threshold, and with a repeated vertex; just above the threshold is sound.
    for (height, degenerate) in [(0.0, true), (0.9e-4, true), (1.2e-4, false)] {
        let m = mesh(&[[0., 0., 0.], [1., 0., 0.], [0.5, 0., height]], &[[0, 1, 2]]);
        let found = check(&m);
        assert_eq!(found.iter().any(|p| p.kind() == Kind::Degenerate), degenerate, "{height}: {found:?}");
        assert!(found.len() <= 1, "{found:?}");
    }
    let mut m = square();
    m.triangles.push([1, 1, 2]);
    let problem = only(&m);
    assert!(matches!(problem, MeshProblem::Degenerate { face: 2, vertices: [1, 1, 2], .. }), "{problem}");
    assert!(problem.to_string().starts_with("face 2 (from 0; vertices 1, 1, 2) is degenerate"), "{problem}");
}

#[test]
fn all_vertices_in_one_point() {
    assert_eq!(only(&mesh(&[[1., 1., 1.]; 3], &[[0, 1, 2]])).kind(), Kind::Degenerate);
}

#[test]
fn an_edge_that_is_too_short() {
    let s = 0.9e-6;
    let m = mesh(&[[0., 0., 0.], [s, 0., 0.], [0., 0., s]], &[[0, 2, 1]]);
    let problem = only(&m);
    assert!(matches!(problem, MeshProblem::ShortEdge { face: 0, vertices: [0, 2], .. }), "{problem}");
    let s = 1.1e-6;
    assert_eq!(check(&mesh(&[[0., 0., 0.], [s, 0., 0.], [0., 0., s]], &[[0, 2, 1]])), []);
}

#[test]
fn a_duplicate_face_in_any_order() {
    for copy in [[0, 2, 1], [2, 1, 0], [1, 0, 2], [0, 1, 2], [1, 2, 0], [2, 0, 1]] {
        let mut m = square();
        m.triangles.push(copy);
        assert_eq!(only(&m), MeshProblem::DuplicateFace { first: 0, second: 2, vertices: [0, 1, 2] });
    }
}

#[test]
fn an_edge_of_three_faces() {
    let mut m = square();
    m.positions.push(Vec3::new(0.5, 1.0, 0.5));
    m.triangles.push([0, 2, 4]);
    let problem = only(&m);
    let expected = MeshProblem::NonManifoldEdge { vertices: [0, 2], faces: vec![0, 1, 2], count: 3 };
    assert_eq!(problem, expected);
    assert!(problem.to_string().contains("belongs to 3 faces (0, 1, 2):"), "{problem}");
}

#[test]
fn a_face_turned_over() {
    let mut m = square();
    m.triangles[1].swap(0, 1);
    let problem = only(&m);
    assert_eq!(problem, MeshProblem::Orientation { faces: [0, 1], vertices: [0, 2] });
    assert!(problem.is_error());
}

#[test]
fn a_moebius_strip_cannot_be_oriented() {
    let n = 12;
    let mut m = TriangleMesh::default();
    for i in 0..n {
        let angle = std::f32::consts::TAU * i as f32 / n as f32;
        for side in [-0.3, 0.3] {
            let out = 1.0 + side * (angle / 2.0).cos();
            m.positions.push(Vec3::new(out * angle.cos(), side * (angle / 2.0).sin(), out * angle.sin()));
        }
        let here = [2 * i, 2 * i + 1];
        let next = if i + 1 < n { [2 * i + 2, 2 * i + 3] } else { [1, 0] };
        m.triangles.extend([[here[0], next[0], here[1]], [here[1], next[0], next[1]]]);
    }
    assert_eq!(only(&m).kind(), Kind::Orientation);
}

#[test]
fn two_parts_that_touch_in_a_vertex_are_a_warning() {
    let m = mesh(
        &[[0., 0., 0.], [1., 0., 0.], [1., 0., 1.], [-1., 0., 0.], [-1., 0., -1.]],
        &[[0, 2, 1], [0, 4, 3]],
    );
    let problem = only(&m);
    assert_eq!(problem, MeshProblem::NonManifoldVertex { vertex: 0, fans: 2 });
    assert!(!problem.is_error());
}

#[test]
fn a_vertex_without_a_face() {
    let mut m = square();
    m.positions.insert(0, Vec3::ONE);
    m.triangles.iter_mut().flatten().for_each(|v| *v += 1);
    assert_eq!(only(&m), MeshProblem::Unreferenced { vertex: 0 });
}

#[test]
fn many_of_a_kind_are_counted() {
    let mut m = square();
    m.positions.extend([Vec3::ONE; 50]);
    let found = check(&m);
    assert_eq!(found.len(), MAX_LISTED_PER_KIND + 1);
    let last = found.last().unwrap();
    assert_eq!(*last, MeshProblem::More { kind: Kind::Unreferenced, count: 50 - MAX_LISTED_PER_KIND });
    assert_eq!(last.to_string(), "… and 30 more of this kind: vertices without a face");
    assert!(last.is_error());
}

#[test]
fn the_order_does_not_depend_on_threads() {
    let mut m = grid([1.0, 1.0], [40, 40], Diagonals::Jittered, 3);
    for face in (0..m.triangles.len()).step_by(5) {
        m.triangles[face].swap(0, 1);
    }
    m.triangles.extend_from_within(0..100);
    m.positions[77].y = f32::NAN;
    let reference = check(&m);
    assert!(reference.len() > 40);
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(format!("{:?}", pool.install(|| check(&m))), format!("{reference:?}"));
    }
}
