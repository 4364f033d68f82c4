//! Levels of a flat mesh: regular lattices laid over its plane, each with half the cells of the one before.
//!
//! Coarse vertices need not be vertices of a mesh, since coarse matrices are Galerkin products: any interpolation
//! gives one. Over a grid the lattices are its own coarser grids. Lattice points that interpolate nothing are left out.
//! On meshes that are not flat it lays the lattice over the two widest axes; layers then share coarse vertices, which
//! is still a valid, if poor, correction.

use glam::{Vec2, Vec3};

use super::Transfer;

/// Levels stop at about this many vertices, which are solved directly.
const COARSEST: usize = 100;

/// The levels above a mesh with vertices at `rest` \[m\] and an area of `area` \[m²\], finest first.
pub fn levels(rest: &[Vec3], area: f64) -> Vec<Transfer> {
    let (low, high) = rest.iter().fold((Vec3::MAX, Vec3::MIN), |(l, h), &p| (l.min(p), h.max(p)));
    let extent = high - low;
    let narrowest = extent.min_position();
    let axes = [0, 1, 2].into_iter().filter(|&k| k != narrowest).collect::<Vec<_>>();
    let flatten = |p: Vec3| Vec2::new(p[axes[0]], p[axes[1]]);
    let (corner, size) = (flatten(low), flatten(extent));
    let spacing = (area / rest.len() as f64).sqrt() as f32;
    let mut cells = size.to_array().map(|s| ((0.5 * s / spacing) as u32).max(1));
    let mut points: Vec<Vec2> = rest.iter().map(|&p| (flatten(p) - corner) / size).collect();
    let mut transfers = Vec::new();
    while points.len() > COARSEST {
        let (transfer, coarse) = lay(&points, cells);
        if coarse.len() * 4 > points.len() * 3 {
            break;
        }
        transfers.push(transfer);
        points = coarse;
        cells = cells.map(|c| (c / 2).max(1));
    }
    transfers
}

/// Lays a lattice of `cells` over `points` of the unit square. Gives the points of the lattice that are used.
fn lay(points: &[Vec2], cells: [u32; 2]) -> (Transfer, Vec<Vec2>) {
    let columns = cells[0] + 1;
    let mut number = vec![u32::MAX; (columns * (cells[1] + 1)) as usize];
    let mut coarse = Vec::new();
    let mut transfer = Transfer::default();
    for p in points {
        // A point on a line of the lattice up to rounding is on it.
        let along = |t: f32, cells: u32| {
            let t = t * cells as f32;
            let t = if (t - t.round()).abs() < 1e-3 { t.round() } else { t };
            let cell = (t as u32).min(cells - 1);
            (cell, t - cell as f32)
        };
        let ((i, s), (j, t)) = (along(p.x, cells[0]), along(p.y, cells[1]));
        let at = |i: u32, j: u32| (j * columns + i) as usize;
        let (nodes, weights) = if s + t <= 1.0 {
            ([at(i, j), at(i + 1, j), at(i, j + 1)], [1.0 - s - t, s, t])
        } else {
            ([at(i + 1, j + 1), at(i, j + 1), at(i + 1, j)], [s + t - 1.0, 1.0 - s, 1.0 - t])
        };
        let mut corners = [u32::MAX; 3];
        for k in 0..3 {
            if weights[k] > 0.0 {
                let place = &mut number[nodes[k]];
                if *place == u32::MAX {
                    *place = coarse.len() as u32;
                    let node = nodes[k] as u32;
                    coarse.push(Vec2::new(
                        (node % columns) as f32 / cells[0] as f32,
                        (node / columns) as f32 / cells[1] as f32,
                    ));
                }
                corners[k] = *place;
            }
        }
        let any = corners.into_iter().find(|&c| c != u32::MAX).unwrap_or(0);
        transfer.corners.push(corners.map(|c| if c == u32::MAX { any } else { c }));
        transfer.weights.push(weights);
    }
    (transfer, coarse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate;

    #[test]
    fn lattices_reproduce_linear_functions_and_halve() {
        let mesh = generate::grid([1.0, 1.0], [64, 64], generate::Diagonals::Jittered, 1);
        let levels = levels(&mesh.positions, 1.0);
        let counts: Vec<usize> = levels.iter().map(Transfer::coarse_count).collect();
        assert_eq!(counts, [33 * 33, 17 * 17, 9 * 9]);
        for transfer in &levels {
            for (c, w) in transfer.corners.iter().zip(&transfer.weights) {
                assert!((w.iter().sum::<f32>() - 1.0).abs() < 1e-6 && w.iter().all(|w| *w >= 0.0), "{c:?} {w:?}");
            }
        }
    }
}
