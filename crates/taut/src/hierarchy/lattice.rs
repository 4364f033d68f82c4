//! Coarser levels of solids for the linear multigrid: nodes of cubic lattices, each with twice the spacing of
//! the previous one.
//!
//! Cubes are split into six tetrahedra along their diagonal (Freudenthal), which is nested: the tetrahedra of
//! a lattice fill those of the next coarser one. A vertex is interpolated from the four nodes of the
//! tetrahedron that contains it at rest, so weights are positive and linear fields are reproduced exactly, on
//! any mesh, also where the solid is thinner than a cube: coarse matrices are Galerkin products, which need
//! no conforming coarse mesh. Disconnected components share no node.

use std::collections::HashMap;

use glam::{IVec3, Vec3};

use super::Transfer;

/// Spacing of the first lattice, in mean distances of vertices.
const FIRST_SPACING: f64 = 2.0;

/// Maximum number of nodes of the coarsest level.
const MAX_COARSEST_NODES: usize = 200;

/// A level with more than this fraction of the nodes of the finer one is skipped.
const MAX_NODE_RATIO: f64 = 0.6;

/// Levels of a solid with vertices at `rest` \[m\] and a volume of `volume` \[m³\]; `tetrahedra` give its
/// connectivity. Finest first.
pub fn lattice(rest: &[Vec3], tetrahedra: &[[u32; 4]], volume: f64) -> Vec<Transfer<4>> {
    super::count_build();
    let pieces = pieces(rest.len(), tetrahedra);
    let origin = rest.iter().copied().fold(Vec3::MAX, Vec3::min);
    let width = FIRST_SPACING * (volume / rest.len().max(1) as f64).cbrt();
    let mut transfers = Vec::new();
    // Positions in units of the current lattice.
    let mut points: Vec<(u32, Vec3)> =
        pieces.iter().zip(rest).map(|(&piece, &p)| (piece, (p - origin) / width as f32)).collect();
    while points.len() > MAX_COARSEST_NODES {
        let (transfer, nodes) = step(&points);
        if nodes.len() as f64 > MAX_NODE_RATIO * points.len() as f64 {
            break;
        }
        points = nodes.into_iter().map(|(piece, node)| (piece, 0.5 * node.as_vec3())).collect();
        transfers.push(transfer);
    }
    transfers
}

/// Nodes around each point of a lattice with cubes of width 1, and the nodes that exist.
fn step(points: &[(u32, Vec3)]) -> (Transfer<4>, Vec<(u32, IVec3)>) {
    let mut numbers: HashMap<(u32, IVec3), u32> = HashMap::new();
    let mut nodes = Vec::new();
    let mut transfer = Transfer::default();
    for &(piece, p) in points {
        let (cell, part) = (p.floor().as_ivec3(), p - p.floor());
        // From the corner of the cube along the axis of its largest coordinate, then the next.
        let mut axes = [0, 1, 2];
        axes.sort_by(|&a, &b| part[b].total_cmp(&part[a]));
        let [a, b, c] = axes.map(|axis| part[axis]);
        let weights = [1.0 - a, a - b, b - c, c];
        let mut node = cell;
        let mut corners = [0; 4];
        let mut used = None;
        for k in 0..4 {
            if k > 0 {
                node[axes[k - 1]] += 1;
            }
            if weights[k] > 0.0 {
                let next = nodes.len() as u32;
                corners[k] = *numbers.entry((piece, node)).or_insert_with(|| {
                    nodes.push((piece, node));
                    next
                });
                used = Some(corners[k]);
            }
        }
        // Corners without weight name a node that exists.
        for k in 0..4 {
            if weights[k] <= 0.0 {
                corners[k] = used.unwrap_or(0);
            }
        }
        transfer.corners.push(corners);
        transfer.weights.push(weights);
    }
    (transfer, nodes)
}

/// A label for each vertex, equal within a connected component.
fn pieces(count: usize, tetrahedra: &[[u32; 4]]) -> Vec<u32> {
    let mut parents: Vec<u32> = (0..count as u32).collect();
    fn root(parents: &mut [u32], mut v: u32) -> u32 {
        while parents[v as usize] != v {
            parents[v as usize] = parents[parents[v as usize] as usize];
            v = parents[v as usize];
        }
        v
    }
    for t in tetrahedra {
        for k in 1..4 {
            let (a, b) = (root(&mut parents, t[0]), root(&mut parents, t[k]));
            parents[a.max(b) as usize] = a.min(b);
        }
    }
    (0..count as u32).map(|v| root(&mut parents, v)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::random::Random;

    #[test]
    fn weights_are_convex_and_meet_linear_fields() {
        let mut random = Random::new(1, 0);
        let points: Vec<Vec3> =
            (0..3000).map(|_| Vec3::new(random.unit(), random.unit(), random.unit())).collect();
        let all: Vec<[u32; 4]> = (0..2997).map(|i| [i, i + 1, i + 2, i + 3]).collect();
        let transfers = lattice(&points, &all, 1.0);
        assert!(transfers.len() >= 2);
        let fine: Vec<(u32, Vec3)> = points
            .iter()
            .map(|&p| {
                let origin = points.iter().copied().fold(Vec3::MAX, Vec3::min);
                (0, (p - origin) / (FIRST_SPACING * (1.0f64 / 3000.0).cbrt()) as f32)
            })
            .collect();
        let (transfer, nodes) = step(&fine);
        assert_eq!(transfer, transfers[0]);
        let mut used = vec![false; nodes.len()];
        for ((_, p), (corners, weights)) in fine.iter().zip(transfer.corners.iter().zip(&transfer.weights)) {
            let mut sum = Vec3::ZERO;
            for k in 0..4 {
                assert!((0.0..=1.0).contains(&weights[k]));
                sum += weights[k] * nodes[corners[k] as usize].1.as_vec3();
                used[corners[k] as usize] |= weights[k] > 0.0;
            }
            assert!(sum.distance(*p) < 1e-5, "{sum} {p}");
        }
        assert!(used.iter().all(|u| *u), "every node takes part");
    }

    #[test]
    fn pieces_share_no_node() {
        let near =
            |x: f32| [[x, 0.0, 0.0], [x, 0.1, 0.0], [x, 0.0, 0.1], [x + 0.1, 0.0, 0.0]].map(Vec3::from);
        let points: Vec<Vec3> = [near(0.0), near(0.01)].concat();
        let pieces = pieces(8, &[[0, 1, 2, 3], [4, 5, 6, 7]]);
        let (transfer, _) = step(&pieces.iter().copied().zip(points).collect::<Vec<_>>());
        let of = |range: std::ops::Range<usize>| transfer.corners[range].concat();
        assert!(of(0..4).iter().all(|c| !of(4..8).contains(c)));
    }
}
