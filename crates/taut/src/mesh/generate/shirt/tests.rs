//! Invariants of the shirt: it can be sewn, it fits, and it starts with little strain.

use super::*;
use crate::{
    contact::{intersection::piercings, surface::Surface},
    mesh::{
        adjacency::Adjacency,
        check::check,
        generate::{figure::Figure, fit::Fit},
    },
};

/// Triangles with the vertices of every seam merged.
fn sewn(shirt: &Garment) -> Vec<[u32; 3]> {
    let mut one: Vec<u32> = (0..shirt.start.len() as u32).collect();
    // Seams meet in fours: four rounds propagate the smallest number everywhere.
    for _ in 0..4 {
        for &[v, w] in &shirt.seams {
            let least = one[v as usize].min(one[w as usize]);
            one[v as usize] = least;
            one[w as usize] = least;
        }
    }
    shirt.mesh.triangles.iter().map(|t| t.map(|v| one[v as usize])).collect()
}

#[test]
fn flat_even_and_sewn_to_one_surface_with_four_openings() {
    for edge in [0.03, 0.012] {
        let shirt = generate(edge).unwrap();
        let mesh = &shirt.mesh;
        assert_eq!(check(mesh), []);
        assert!(mesh.positions.iter().all(|p| p.y == 0.0));
        for x in [&mesh.positions, &shirt.start] {
            for e in Adjacency::new(&mesh.triangles).edges {
                let length = (x[e[0] as usize] - x[e[1] as usize]).length() / edge;
                assert!((0.5..1.7).contains(&length), "{length} edges at {}", x[e[0] as usize]);
            }
        }
        let welded = sewn(&shirt);
        let adjacency = Adjacency::new(&welded);
        assert_eq!(adjacency.edges.len(), adjacency.hinges.len() + adjacency.boundary.len(), "of one sense");
        let used: std::collections::BTreeSet<u32> = welded.iter().flatten().copied().collect();
        let euler = used.len() as i64 - adjacency.edges.len() as i64 + welded.len() as i64;
        assert_eq!(euler, 2 - 4, "a sphere with four openings");
        assert_eq!(shirt.mesh.groups.len(), 4);
        for &[v, w] in &shirt.seams {
            assert_eq!(shirt.start[v as usize], shirt.start[w as usize], "seam {v}, {w}");
        }
    }
    assert!(generate(0.1).is_err() && generate(f32::NAN).is_err());
}

#[test]
fn starts_around_the_figure_with_little_strain() {
    let shirt = generate(0.012).unwrap();
    let fit = Fit::measure(&shirt, &Figure::new(0.02).unwrap());
    assert!(fit.clearance > 0.009, "{fit:?}");
    assert!(fit.least > -0.11 && fit.most < 0.1, "{fit:?}");
    assert!(fit.beyond(0.05) < 0.015, "{}", fit.beyond(0.05));
    let x: Vec<[f32; 3]> = shirt.start.iter().map(|p| p.to_array()).collect();
    assert_eq!(piercings(&Surface::new(sewn(&shirt)), &x), []);
}

#[test]
fn sewn_edges_have_the_same_length_on_both_sides() {
    for edge in [0.03, 0.012] {
        let shirt = generate(edge).unwrap();
        let x = &shirt.mesh.positions;
        let edges = Adjacency::new(&shirt.mesh.triangles).edges;
        let is_edge = |v: u32, w: u32| edges.binary_search(&[v.min(w), v.max(w)]).is_ok();
        let length = |v: u32, w: u32| f64::from((x[v as usize] - x[w as usize]).length());
        let (mut largest, mut segments) = (0.0f64, 0);
        for &[a, b] in &shirt.seams {
            for &[c, d] in shirt.seams.iter().filter(|&&[c, d]| is_edge(a, c) && is_edge(b, d)) {
                largest = largest.max((length(a, c) / length(b, d) - 1.0).abs());
                segments += 1;
            }
        }
        assert!(
            segments > 100 && largest < 0.005,
            "edge {edge}: {segments} segments differ by up to {largest}"
        );
    }
}

#[test]
fn the_same_every_time() {
    assert_eq!(generate(0.02).unwrap(), generate(0.02).unwrap());
}
