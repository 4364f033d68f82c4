//! The closed box.

use glam::Vec3;

use super::{
    GenerateError,
    patch::{Faces, alternating, unit_square},
    require_count, require_length, require_size, require_spacing,
};
use crate::mesh::TriangleMesh;

/// Six patches over the surface points of a lattice; each face fills the unit square of texture coordinates.
pub(super) fn generate(size: [f32; 3], cells: [u32; 3]) -> Result<TriangleMesh, GenerateError> {
    let mut lengths = [0.0; 3];
    let mut n = [0; 3];
    for axis in 0..3 {
        lengths[axis] = require_length(["size[0]", "size[1]", "size[2]"][axis], size[axis])?;
        n[axis] = require_count(["cells[0]", "cells[1]", "cells[2]"][axis], cells[axis], 1)?;
    }
    let [x, y, z] = n.map(u128::from);
    require_size(2 * (x * y + y * z + z * x) + 2)?;
    let extent = lengths.into_iter().fold(0.0, f64::max);
    let spacing = |axis: usize| lengths[axis] / n[axis] as f64;
    for (a, b) in [(0, 1), (1, 2), (2, 0)] {
        require_spacing(spacing(a), spacing(b), extent)?;
    }

    let lattice = Lattice { n };
    let mut positions = Vec::with_capacity((2 * (x * y + y * z + z * x) + 2) as usize);
    lattice.for_each(|point| {
        let p: [f32; 3] =
            std::array::from_fn(|axis| (lengths[axis] * (point[axis] as f64 / n[axis] as f64 - 0.5)) as f32);
        positions.push(Vec3::from(p));
    });

    let mut faces = Faces::with_capacity((4 * (x * y + y * z + z * x)) as usize);
    for axis in 0..3 {
        // Axes in cyclic order: a × b points along `axis`.
        let (a, b) = ((axis + 1) % 3, (axis + 2) % 3);
        for (level, (a, b)) in [(n[axis], (a, b)), (0, (b, a))] {
            let vertex = |i: u64, j: u64| {
                let mut point = [0; 3];
                (point[axis], point[a], point[b]) = (level, i, j);
                lattice.index(point)
            };
            let sides = [n[a], n[b]];
            faces.patch(sides, vertex, unit_square(sides), alternating);
        }
    }
    Ok(TriangleMesh {
        positions,
        triangles: faces.triangles,
        uvs: Some(faces.uvs),
        ..TriangleMesh::default()
    })
}

/// Numbers the surface points of a lattice layer by layer along y: whole layers at both ends, rims between.
struct Lattice {
    n: [u64; 3],
}

impl Lattice {
    /// Vertices of a whole layer.
    fn layer(&self) -> u64 {
        (self.n[0] + 1) * (self.n[2] + 1)
    }

    /// Vertices of a rim.
    fn rim(&self) -> u64 {
        2 * (self.n[0] + self.n[2])
    }

    /// Calls `visit` with every surface point in the order of its index.
    fn for_each(&self, mut visit: impl FnMut([u64; 3])) {
        let [nx, ny, nz] = self.n;
        for y in 0..=ny {
            if y == 0 || y == ny {
                for z in 0..=nz {
                    (0..=nx).for_each(|x| visit([x, y, z]));
                }
            } else {
                (0..nx).for_each(|x| visit([x, y, 0]));
                (0..nz).for_each(|z| visit([nx, y, z]));
                (0..nx).for_each(|x| visit([nx - x, y, nz]));
                (0..nz).for_each(|z| visit([0, y, nz - z]));
            }
        }
    }

    /// Index of a surface point.
    fn index(&self, [x, y, z]: [u64; 3]) -> u64 {
        let [nx, ny, nz] = self.n;
        let before = match y {
            0 => 0,
            _ => self.layer() + (y - 1) * self.rim(),
        };
        if y == 0 || y == ny {
            return before + z * (nx + 1) + x;
        }
        let along_rim = if z == 0 && x < nx {
            x
        } else if x == nx && z < nz {
            nx + z
        } else if z == nz && x > 0 {
            nx + nz + (nx - x)
        } else {
            2 * nx + nz + (nz - z)
        };
        before + along_rim
    }
}
