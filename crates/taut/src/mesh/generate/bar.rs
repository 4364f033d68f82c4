//! A bar of tetrahedra.

use glam::Vec3;

use super::{GenerateError, require_count, require_length, require_size, require_spacing};
use crate::mesh::tetrahedra::TetrahedronMesh;

/// The orders in which a path from one corner of a cube to the opposite one can take its three axes, each
/// with whether the permutation is even: one tetrahedron each.
const PATHS: [([usize; 3], bool); 6] = [
    ([0, 1, 2], true),
    ([1, 2, 0], true),
    ([2, 0, 1], true),
    ([0, 2, 1], false),
    ([2, 1, 0], false),
    ([1, 0, 2], false),
];

/// A bar of `cells` boxes, x, y and z from 0 to `size` \[m\], each split into six tetrahedra around one of
/// its diagonals. Adjacent boxes are mirror images, so that no direction is preferred. Vertices run along x
/// first, then y, then z.
///
/// # Errors
/// If a parameter is out of range, there would be more than [`MAX_VERTICES`](super::MAX_VERTICES) vertices,
/// or boxes would be too small or too thin for single precision.
pub fn bar(size: Vec3, cells: [u32; 3]) -> Result<TetrahedronMesh, GenerateError> {
    let mut lengths = [0.0; 3];
    let mut n = [0; 3];
    for axis in 0..3 {
        lengths[axis] = require_length(["size[0]", "size[1]", "size[2]"][axis], size[axis])?;
        n[axis] = require_count(["cells[0]", "cells[1]", "cells[2]"][axis], cells[axis], 1)?;
    }
    require_size(n.iter().map(|&n| u128::from(n) + 1).product())?;
    let extent = lengths.into_iter().fold(0.0, f64::max);
    let spacing = |axis: usize| lengths[axis] / n[axis] as f64;
    for (a, b) in [(0, 1), (1, 2), (2, 0)] {
        require_spacing(spacing(a), spacing(b), extent)?;
    }
    let mut mesh = TetrahedronMesh::default();
    each(n.map(|n| n + 1), |point| {
        let place = |axis: usize| (lengths[axis] * (point[axis] as f64 / n[axis] as f64)) as f32;
        mesh.positions.push(Vec3::from_array(std::array::from_fn(place)));
    });
    let index = |[x, y, z]: [u64; 3]| (x + (n[0] + 1) * (y + (n[1] + 1) * z)) as u32;
    each(n, |cell| {
        // In odd cells the diagonal starts from the other end.
        let mirrored = cell.iter().sum::<u64>() % 2 == 1;
        for (path, even) in PATHS {
            let mut ends = [0; 3];
            let corner = |ends: [u64; 3]| {
                index(std::array::from_fn(|axis| {
                    cell[axis] + if cell[axis] % 2 == 1 { 1 - ends[axis] } else { ends[axis] }
                }))
            };
            let mut corners = [corner(ends); 4];
            for (k, axis) in path.into_iter().enumerate() {
                ends[axis] = 1;
                corners[k + 1] = corner(ends);
            }
            if even == mirrored {
                corners.swap(2, 3);
            }
            mesh.tetrahedra.push(corners);
        }
    });
    Ok(mesh)
}

/// Calls `visit` with every point of a lattice, x first.
fn each(counts: [u64; 3], mut visit: impl FnMut([u64; 3])) {
    for z in 0..counts[2] {
        for y in 0..counts[1] {
            for x in 0..counts[0] {
                visit([x, y, z]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_filled_once() {
        let mesh = bar(Vec3::new(3.0, 1.0, 0.5), [6, 3, 2]).unwrap();
        assert_eq!((mesh.positions.len(), mesh.tetrahedra.len()), (7 * 4 * 3, 6 * 6 * 3 * 2));
        let volumes: Vec<f64> = (0..mesh.tetrahedra.len()).map(|t| mesh.volume(t)).collect();
        let each = 1.5 / volumes.len() as f64;
        assert!(volumes.iter().all(|v| (v - each).abs() < 1e-6 * each), "right side out, all alike");
        // Two triangles for every outer square: interior faces match each other.
        assert_eq!(mesh.boundary().len(), 4 * (6 * 3 + 3 * 2 + 2 * 6));
        assert_eq!(mesh.positions.last(), Some(&Vec3::new(3.0, 1.0, 0.5)));
    }

    #[test]
    fn bars_that_cannot_be_made_are_refused() {
        for (size, cells) in [
            (Vec3::new(0.0, 1.0, 1.0), [1, 1, 1]),
            (Vec3::new(f32::NAN, 1.0, 1.0), [1, 1, 1]),
            (Vec3::ONE, [0, 1, 1]),
            (Vec3::ONE, [u32::MAX; 3]),
            (Vec3::new(1000.0, 1e-3, 1.0), [1, 1, 1]),
        ] {
            assert!(bar(size, cells).is_err(), "{size} {cells:?}");
        }
    }
}
