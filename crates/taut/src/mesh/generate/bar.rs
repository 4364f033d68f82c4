//! A box of tetrahedra.

use glam::DVec3;

use super::{GenerateError, require_count, require_length, require_size, require_spacing};
use crate::mesh::tetrahedra::TetrahedronMesh;

/// Corners of the five tetrahedra of a cube, as bits of x, y and z: one in the middle, four at corners.
const FIVE: [[usize; 4]; 5] = [
    [0b001, 0b010, 0b100, 0b111],
    [0b000, 0b001, 0b010, 0b100],
    [0b011, 0b010, 0b001, 0b111],
    [0b101, 0b001, 0b100, 0b111],
    [0b110, 0b100, 0b010, 0b111],
];

/// A box of tetrahedra centred at the origin: `size` along x, y and z \[m\], of so many cells. Each cell is cut into five tetrahedra, its neighbours
/// in the mirror image, so that no direction is preferred. `[60, 8, 5]` cells are 12,000 tetrahedra, `[49, 20, 20]` are 98,000.
///
/// # Errors
/// If a length or count is out of range, or cells would be too small, too thin or too many.
pub fn bar(size: [f32; 3], cells: [u32; 3]) -> Result<TetrahedronMesh, GenerateError> {
    let mut lengths = [0.0; 3];
    for (length, (name, value)) in lengths.iter_mut().zip(["length", "height", "depth"].into_iter().zip(size))
    {
        *length = require_length(name, value)?;
    }
    for (name, value) in ["cells along x", "cells along y", "cells along z"].into_iter().zip(cells) {
        require_count(name, value, 1)?;
    }
    require_size(cells.iter().map(|&n| u128::from(n) + 1).product())?;
    let [lx, ly, lz] = lengths;
    let [nx, ny, nz] = cells.map(f64::from);
    let extent = lx.max(ly).max(lz);
    require_spacing(lx / nx, ly / ny, extent)?;
    require_spacing(ly / ny, lz / nz, extent)?;
    require_spacing(lz / nz, lx / nx, extent)?;
    let [nx, ny, nz] = cells;
    let number = |x: u32, y: u32, z: u32| (z * (ny + 1) + y) * (nx + 1) + x;
    let mut mesh = TetrahedronMesh::default();
    for z in 0..=nz {
        for y in 0..=ny {
            for x in 0..=nx {
                let part = DVec3::new(
                    f64::from(x) / f64::from(nx),
                    f64::from(y) / f64::from(ny),
                    f64::from(z) / f64::from(nz),
                );
                mesh.positions.push(((part - 0.5) * DVec3::from(lengths)).as_vec3());
            }
        }
    }
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                let odd = (x + y + z) % 2 == 1;
                for corners in FIVE {
                    let mut tetrahedron = corners.map(|bits| {
                        let [i, j, k] = [0, 1, 2].map(|axis| (bits >> axis & 1) as u32);
                        // The mirror image along x.
                        number(x + if odd { 1 - i } else { i }, y + j, z + k)
                    });
                    let [a, b, c, d] = tetrahedron.map(|v| mesh.positions[v as usize].as_dvec3());
                    if (b - a).cross(c - a).dot(d - a) < 0.0 {
                        tetrahedron.swap(0, 1);
                    }
                    mesh.tetrahedra.push(tetrahedron);
                }
            }
        }
    }
    Ok(mesh)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_full_and_bounded_by_their_six_sides() {
        let mesh = bar([1.0, 0.3, 0.2], [6, 3, 2]).unwrap();
        assert_eq!(mesh.tetrahedra.len(), 6 * 3 * 2 * 5);
        let volumes: Vec<f64> = (0..mesh.tetrahedra.len()).map(|t| mesh.volume(t)).collect();
        assert!(volumes.iter().all(|&v| v > 0.0));
        assert!((volumes.iter().sum::<f64>() - 0.06).abs() < 1e-7);
        // Neighbours agree: nothing but two triangles for each outer side of a cell is alone.
        assert_eq!(mesh.boundary().len(), 2 * 2 * (6 * 3 + 3 * 2 + 2 * 6));
    }

    #[test]
    fn absurd_bars_are_refused() {
        assert!(bar([0.0, 1.0, 1.0], [1; 3]).is_err());
        assert!(bar([1.0; 3], [1, 0, 1]).is_err());
        assert!(bar([1.0; 3], [u32::MAX; 3]).is_err());
        assert!(bar([1.0, 1.0, 1e-3], [1, 1, 100]).is_err());
    }
}
