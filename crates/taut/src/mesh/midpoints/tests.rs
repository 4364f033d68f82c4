//! Points against what they stand for.

use super::*;
use crate::mesh::generate::{Diagonals, grid};

fn sheet(cells: [u32; 2], diagonals: Diagonals) -> TriangleMesh {
    grid([1.0, 0.7], cells, diagonals, 3)
}

/// The value of a sum of points at `x`.
fn value(sum: &Sum, x: &[Vec3]) -> DVec3 {
    sum.iter().map(|&(point, weight)| weight * x[point as usize].as_dvec3()).sum()
}

fn all() -> Vec<(TriangleMesh, TriangleMesh, Midpoints)> {
    let meshes = [Diagonals::Regular, Diagonals::Alternating, Diagonals::Jittered];
    let meshes = meshes.into_iter().map(|diagonals| sheet([9, 7], diagonals));
    meshes
        .map(|mesh| {
            let (own, midpoints) = Midpoints::new(&mesh, &[34]).unwrap();
            (mesh, own, midpoints)
        })
        .collect()
}

fn area(mesh: &TriangleMesh) -> f64 {
    let of = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| mesh.positions[v as usize].as_dvec3());
        0.5 * (b - a).cross(c - a).dot(normal_of(mesh, &mesh.triangles[0]))
    };
    mesh.triangles.iter().map(of).sum()
}

#[test]
fn faces_between_points_cover_the_mesh_without_gaps() {
    for (mesh, own, midpoints) in all() {
        assert!((area(&own) - area(&mesh)).abs() < 1e-6, "{} and {}", area(&own), area(&mesh));
        let [before, after] = [&mesh, &own].map(|mesh| Adjacency::new(&mesh.triangles));
        assert_eq!(before.boundary.len(), after.boundary.len());
        // Every edge is between two faces, but for those of the border, which are the same.
        assert_eq!(before.edges.len() - before.hinges.len(), after.edges.len() - after.hinges.len());
        let mut is_corner = vec![false; own.positions.len()];
        own.triangles.iter().flatten().for_each(|&v| is_corner[v as usize] = true);
        let mut is_mean = vec![false; own.positions.len()];
        midpoints.means.iter().for_each(|mean| is_mean[mean.point as usize] = true);
        assert!(is_corner.iter().zip(&is_mean).all(|(corner, mean)| corner != mean));
        assert!(midpoints.points[34].is_some(), "a named vertex is a point");
    }
}

#[test]
fn masses_are_those_of_the_cloth_and_means_have_none() {
    for (mesh, own, midpoints) in all() {
        let masses = midpoints.masses(0.3);
        assert!((masses.iter().sum::<f64>() - 0.3 * area(&mesh)).abs() < 1e-6);
        for (point, mass) in masses.iter().enumerate() {
            let is_mean = midpoints.means.iter().any(|mean| mean.point as usize == point);
            assert_eq!(*mass > 0.0, !is_mean);
        }
        // The centre of mass too.
        let centre: DVec3 = own.positions.iter().zip(&masses).map(|(x, m)| *m * x.as_dvec3()).sum();
        let middle = centre / (0.3 * area(&mesh));
        let corners = mesh.positions.iter().map(|x| x.as_dvec3());
        let (low, high) = corners.fold((DVec3::MAX, DVec3::MIN), |(l, h), x| (l.min(x), h.max(x)));
        assert!((middle - 0.5 * (low + high)).length() < 1e-3, "{middle}");
    }
}

#[test]
fn what_moves_linearly_neither_jumps_nor_bends_and_is_shown_where_it_is() {
    for (mesh, own, midpoints) in all() {
        let map = |x: &Vec3| Vec3::new(2.0 * x.x - x.y, 0.3 * x.y + x.z, 1.0 - x.x + 0.5 * x.z);
        let x: Vec<Vec3> = own.positions.iter().map(map).collect();
        let vertices: Vec<Vec3> = mesh.positions.iter().map(map).collect();
        for edge in &midpoints.edges {
            assert!(value(&midpoints.bending(edge), &x).length() < 1e-5);
            assert!(midpoints.bending(edge).len() <= 6);
            if let Some(jump) = midpoints.jump(edge) {
                assert!(value(&jump, &x).length() < 1e-6 && jump.len() <= 4);
            }
        }
        let shown = midpoints.to_shown(&x);
        assert!(shown.iter().zip(&vertices).all(|(a, b)| a.distance(*b) < 1e-6));
        assert!(midpoints.of_shown(&vertices).iter().zip(&x).all(|(a, b)| a.distance(*b) < 1e-6));
    }
}

#[test]
fn a_jump_is_how_far_corners_are_apart() {
    for (_, own, midpoints) in all() {
        let x: Vec<Vec3> = (0..own.positions.len())
            .map(|i| own.positions[i] + 0.01 * Vec3::new((3.0 * i as f32).sin(), (5.0 * i as f32).cos(), 0.3))
            .collect();
        let mut x = x;
        midpoints.settle(&mut x);
        let corner = |t: u32, v: u32| {
            let t = t as usize;
            let k = midpoints.shown.triangles[t].iter().position(|&c| c == v).unwrap();
            let e = midpoints.elements[t].map(|p| x[p as usize].as_dvec3());
            if midpoints.conforming[t] { e[k] } else { e[(k + 1) % 3] + e[(k + 2) % 3] - e[k] }
        };
        for edge in &midpoints.edges {
            let [s, t] = edge.triangles;
            let apart = edge.vertices.map(|v| corner(s, v) - corner(t, v));
            assert!((apart[0] + apart[1]).length() < 1e-6, "midpoints agree");
            let jump = midpoints.jump(edge).map_or(DVec3::ZERO, |jump| value(&jump, &x));
            assert!((jump - apart[1]).length() < 1e-6, "{jump} and {}", apart[1]);
        }
    }
}

#[test]
fn what_cannot_have_such_triangles_is_refused_by_name() {
    let refused = |mesh: &TriangleMesh| Midpoints::new(mesh, &[]).expect_err("refused");
    assert!(refused(&sheet([2, 9], Diagonals::Regular)).contains("at least 4 cells wide"));
    let mut bent = sheet([9, 7], Diagonals::Regular);
    bent.positions.iter_mut().for_each(|p| p.y += p.x * p.x);
    assert!(refused(&bent).contains("flat at rest"));
    let mut thrice = sheet([9, 7], Diagonals::Regular);
    let [a, b, _] = thrice.triangles[30];
    thrice.triangles.push([a, b, 0]);
    assert!(refused(&thrice).contains("at most two triangles an edge"));
    let mut turned = sheet([9, 7], Diagonals::Regular);
    turned.triangles[30].swap(0, 1);
    assert!(refused(&turned).contains("agree on their front"));
}

/// The stiffness Σ ∇φ · ∇φ A of triangles of `elements` with points at `x`, times `factor` of each, as a
/// dense matrix of `count` points.
fn stiffness(
    elements: &[[u32; 3]],
    x: &[Vec3],
    factor: impl Fn(usize) -> f64,
    ends: impl Fn(u32) -> [u32; 2],
    count: usize,
) -> Vec<f64> {
    let mut matrix = vec![0.0; count * count];
    for (t, corners) in elements.iter().enumerate() {
        let p = corners.map(|v| x[v as usize].as_dvec3());
        let double_area = (p[1] - p[0]).cross(p[2] - p[0]).length();
        let side = |k: usize| p[(k + 2) % 3] - p[(k + 1) % 3];
        for i in 0..3 {
            for j in 0..3 {
                let entry = 0.5 * factor(t) * side(i).dot(side(j)) / double_area;
                for a in ends(corners[i]) {
                    for b in ends(corners[j]) {
                        matrix[a as usize * count + b as usize] += 0.25 * entry;
                    }
                }
            }
        }
    }
    matrix
}

#[test]
fn the_first_level_has_the_stiffness_and_the_masses_of_linear_triangles() {
    for (mesh, own, midpoints) in all() {
        let count = mesh.positions.len();
        // Every point in the middle of its ends: Pᵀ K P.
        let between = |point: u32| midpoints.between[point as usize];
        let factor = |t: usize| midpoints.area_factor(t);
        let first = stiffness(&midpoints.elements, &own.positions, factor, between, count);
        let linear = stiffness(&mesh.triangles, &mesh.positions, |_| 1.0, |v| [v; 2], count);
        let largest = linear.iter().fold(0.0f64, |most, entry| most.max(entry.abs()));
        for (a, b) in first.iter().zip(&linear) {
            assert!((a - b).abs() < 1e-4 * largest, "{a} and {b}");
        }
        let (mut masses, mut thirds) = (vec![0.0; count], vec![0.0; count]);
        for (mass, ends) in midpoints.masses(1.0).iter().zip(&midpoints.between) {
            ends.iter().for_each(|&end| masses[end as usize] += 0.5 * mass);
        }
        for (t, corners) in mesh.triangles.iter().enumerate() {
            corners.iter().for_each(|&v| thirds[v as usize] += midpoints.area(t as u32) / 3.0);
        }
        assert!(masses.iter().zip(&thirds).all(|(a, b)| (a - b).abs() < 1e-9), "{masses:?} and {thirds:?}");
    }
}
