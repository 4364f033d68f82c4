//! Removes tetrahedra until the boundary is a manifold, and removes detached components.
//!
//! Where a part is about as thin as a cell, tetrahedra may be connected by a vertex or an edge alone, or thin
//! necks be broken.

use std::collections::HashMap;

use glam::DVec3;

use crate::{contact::tangle::Sets, mesh::tetrahedra::FACES};

/// Maximum number of rounds. Each one drops at least one tetrahedron; a few are usual.
const MAX_ROUNDS: usize = 64;

/// Drops tetrahedra until every edge of the boundary has two faces and every vertex one fan of them. Returns
/// how many were dropped, or `None` if the boundary is still not a manifold.
pub(in crate::mesh) fn mend(tetrahedra: &mut Vec<[u32; 4]>, positions: &[DVec3]) -> Option<usize> {
    let count = tetrahedra.len();
    for _ in 0..MAX_ROUNDS {
        let bad = pinched(tetrahedra);
        if bad.is_empty() {
            return Some(count - tetrahedra.len());
        }
        drop_about(tetrahedra, positions, &bad);
    }
    None
}

/// A vertex or an edge (else the same twice) where the boundary is not a manifold. Sorted.
fn pinched(tetrahedra: &[[u32; 4]]) -> Vec<[u32; 2]> {
    let boundary = boundary(tetrahedra);
    let mut edges: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * boundary.len());
    for (f, &[a, b, c]) in boundary.iter().enumerate() {
        edges.extend([[a, b], [b, c], [c, a]].map(|[a, b]| ([a.min(b), a.max(b)], f as u32)));
    }
    edges.sort_unstable();
    let mut bad = Vec::new();
    // Faces around a vertex are connected through edges: corners of faces are numbered 3f + k.
    let mut fans = Sets::new(3 * boundary.len());
    let corner =
        |f: u32, v: u32| 3 * f + (0..3).find(|&k| boundary[f as usize][k as usize] == v).unwrap_or(0);
    for same in edges.chunk_by(|a, b| a.0 == b.0) {
        let edge = same[0].0;
        if same.len() != 2 {
            bad.push(edge);
        }
        for pair in same.windows(2) {
            edge.iter().for_each(|&v| fans.unite(corner(pair[0].1, v), corner(pair[1].1, v)));
        }
    }
    let mut first: HashMap<u32, u32> = HashMap::with_capacity(boundary.len() / 2);
    for (f, face) in boundary.iter().enumerate() {
        for (k, &v) in face.iter().enumerate() {
            let fan = fans.of((3 * f + k) as u32);
            if *first.entry(v).or_insert(fan) != fan {
                bad.push([v, v]);
            }
        }
    }
    bad.sort_unstable();
    bad.dedup();
    bad
}

/// Faces of one tetrahedron only, in the order of their vertices.
fn boundary(tetrahedra: &[[u32; 4]]) -> Vec<[u32; 3]> {
    let mut faces = sorted_faces(tetrahedra);
    faces.sort_unstable();
    let alone = |same: &&[([u32; 3], u32)]| same.len() == 1;
    faces.chunk_by(|a, b| a.0 == b.0).filter(alone).map(|same| same[0].0).collect()
}

/// All faces with sorted vertices, and their tetrahedra.
fn sorted_faces(tetrahedra: &[[u32; 4]]) -> Vec<([u32; 3], u32)> {
    let faces = tetrahedra.iter().enumerate().flat_map(|(t, tetrahedron)| {
        FACES.map(|face| {
            let mut face = face.map(|k| tetrahedron[k]);
            face.sort_unstable();
            (face, t as u32)
        })
    });
    faces.collect()
}

/// Of the face-connected groups around each bad vertex or edge only the largest is kept; a single group is
/// dropped.
fn drop_about(tetrahedra: &mut Vec<[u32; 4]>, positions: &[DVec3], bad: &[[u32; 2]]) {
    let mut about: HashMap<u32, Vec<u32>> = bad.iter().flatten().map(|&v| (v, Vec::new())).collect();
    for (t, tetrahedron) in tetrahedra.iter().enumerate() {
        for v in tetrahedron {
            if let Some(list) = about.get_mut(v) {
                list.push(t as u32);
            }
        }
    }
    let mut dropped = vec![false; tetrahedra.len()];
    for &[a, b] in bad {
        let star: Vec<u32> = about[&a]
            .iter()
            .copied()
            .filter(|&t| !dropped[t as usize] && tetrahedra[t as usize].contains(&b))
            .collect();
        let corners: Vec<[u32; 4]> = star.iter().map(|&t| tetrahedra[t as usize]).collect();
        let mut groups = groups(&corners, |face| face.contains(&a) && face.contains(&b));
        let mut volumes: HashMap<u32, f64> = HashMap::new();
        for (k, corners) in corners.iter().enumerate() {
            *volumes.entry(groups.of(k as u32)).or_default() += volume(corners, positions);
        }
        let more = |x: &(&u32, &f64), y: &(&u32, &f64)| x.1.total_cmp(y.1).then(y.0.cmp(x.0));
        let largest =
            (volumes.len() > 1).then(|| volumes.iter().max_by(more)).flatten().map(|(&group, _)| group);
        for (k, &t) in star.iter().enumerate() {
            dropped[t as usize] |= Some(groups.of(k as u32)) != largest;
        }
    }
    let mut dropped = dropped.into_iter();
    tetrahedra.retain(|_| dropped.next() == Some(false));
}

/// Which tetrahedra are connected through faces that `through` accepts.
fn groups(tetrahedra: &[[u32; 4]], through: impl Fn(&[u32; 3]) -> bool) -> Sets {
    let mut faces = sorted_faces(tetrahedra);
    faces.retain(|(face, _)| through(face));
    faces.sort_unstable();
    let mut sets = Sets::new(tetrahedra.len());
    for same in faces.chunk_by(|a, b| a.0 == b.0) {
        same.windows(2).for_each(|pair| sets.unite(pair[0].1, pair[1].1));
    }
    sets
}

/// Volume of a tetrahedron \[m³\].
pub(in crate::mesh) fn volume(corners: &[u32; 4], positions: &[DVec3]) -> f64 {
    let [a, b, c, d] = corners.map(|v| positions[v as usize]);
    (b - a).cross(c - a).dot(d - a) / 6.0
}

/// Face-connected components, each as the indices of its tetrahedra; the largest first.
pub(super) fn pieces(tetrahedra: &[[u32; 4]], positions: &[DVec3]) -> Vec<Vec<u32>> {
    let mut sets = groups(tetrahedra, |_| true);
    let mut lists: Vec<Vec<u32>> = vec![Vec::new(); tetrahedra.len()];
    for t in 0..tetrahedra.len() as u32 {
        lists[sets.of(t) as usize].push(t);
    }
    lists.retain(|list| !list.is_empty());
    let size =
        |list: &Vec<u32>| list.iter().map(|&t| volume(&tetrahedra[t as usize], positions)).sum::<f64>();
    lists.sort_by(|a, b| size(b).total_cmp(&size(a)));
    lists
}
