//! The open tube.

use std::f64::consts::PI;

use glam::Vec3;

use super::{
    GenerateError,
    patch::{Faces, alternating, unit_square},
    require_count, require_length, require_size, require_spacing,
    rings::Ring,
};
use crate::mesh::TriangleMesh;

/// Rings of equal count from the bottom to the top; angles grow counter-clockwise seen from above.
pub(super) fn generate(radius: f32, height: f32, segments: [u32; 2]) -> Result<TriangleMesh, GenerateError> {
    let (radius, height) = (require_length("radius", radius)?, require_length("height", height)?);
    let around = require_count("segments[0]", segments[0], 3)?;
    let along = require_count("segments[1]", segments[1], 1)?;
    require_size(u128::from(around) * (u128::from(along) + 1))?;
    let chord = 2.0 * radius * (PI / around as f64).sin();
    require_spacing(chord, height / along as f64, height.max(2.0 * radius))?;

    let ring = Ring { first: 0, count: around };
    let mut positions = Vec::with_capacity((around * (along + 1)) as usize);
    for j in 0..=along {
        let y = (height * (j as f64 / along as f64 - 0.5)) as f32;
        positions.extend((0..around).map(|k| {
            let (cos, sin) = ring.direction(k);
            Vec3::new((radius * cos) as f32, y, (-radius * sin) as f32)
        }));
    }
    let mut faces = Faces::with_capacity((2 * around * along) as usize);
    let cells = [around, along];
    faces.patch(cells, |i, j| j * around + i % around, unit_square(cells), alternating);

    let end = |row: u64| (row * around..(row + 1) * around).map(|v| v as u32).collect();
    let groups = [("ring:bottom".to_owned(), end(0)), ("ring:top".to_owned(), end(along))].into();
    Ok(TriangleMesh { positions, triangles: faces.triangles, uvs: Some(faces.uvs), groups })
}
