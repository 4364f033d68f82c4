//! The torus.

use std::f64::consts::PI;

use glam::Vec3;

use super::{
    GenerateError,
    patch::{Faces, alternating, unit_square},
    require_count, require_length, require_size, require_spacing,
    rings::Ring,
};
use crate::mesh::TriangleMesh;

/// A patch closed in both directions: around the axis, and around the tube from its outside upwards.
pub(super) fn generate(major: f32, minor: f32, segments: [u32; 2]) -> Result<TriangleMesh, GenerateError> {
    let (r, tube) = (require_length("major", major)?, require_length("minor", minor)?);
    if tube >= r {
        return Err(GenerateError::Torus { major, minor });
    }
    let around = require_count("segments[0]", segments[0], 3)?;
    let across = require_count("segments[1]", segments[1], 3)?;
    require_size(u128::from(around) * u128::from(across))?;
    let chord = |radius: f64, count: u64| 2.0 * radius * (PI / count as f64).sin();
    // Cells are narrowest inside the hole and widest outside.
    for radius in [r - tube, r + tube] {
        require_spacing(chord(radius, around), chord(tube, across), 2.0 * (r + tube))?;
    }

    let (axis, section) = (Ring { first: 0, count: around }, Ring { first: 0, count: across });
    let mut positions = Vec::with_capacity((around * across) as usize);
    for j in 0..across {
        let (out, up) = section.direction(j);
        let distance = r + tube * out;
        positions.extend((0..around).map(|i| {
            let (cos, sin) = axis.direction(i);
            Vec3::new((distance * cos) as f32, (tube * up) as f32, (-distance * sin) as f32)
        }));
    }
    let mut faces = Faces::with_capacity((2 * around * across) as usize);
    let cells = [around, across];
    let vertex = |i: u64, j: u64| (j % across) * around + i % around;
    faces.patch(cells, vertex, unit_square(cells), alternating);
    Ok(TriangleMesh {
        positions,
        triangles: faces.triangles,
        uvs: Some(faces.uvs),
        ..TriangleMesh::default()
    })
}
