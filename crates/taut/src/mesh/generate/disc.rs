//! The flat round sheet.

use glam::{Vec2, Vec3};

use super::{
    GenerateError, require_count, require_length, require_size, require_spacing,
    rings::{Ring, stitch},
};
use crate::mesh::TriangleMesh;

/// Rings of 6, 12, 18, … vertices: nearly equilateral triangles everywhere, and no preferred direction.
pub(super) fn generate(radius: f32, rings: u32) -> Result<TriangleMesh, GenerateError> {
    let radius = require_length("radius", radius)?;
    let rings = require_count("rings", rings, 1)?;
    require_size(1 + 3 * u128::from(rings) * (u128::from(rings) + 1))?;
    let spacing = radius / rings as f64;
    require_spacing(spacing, spacing, 2.0 * radius)?;

    let mut positions = vec![Vec3::ZERO];
    let (mut triangles, mut uvs) = (Vec::new(), Vec::new());
    let mut inner = Ring { first: 0, count: 1 };
    for ring in 1..=rings {
        let outer = Ring { first: positions.len() as u64, count: 6 * ring };
        let distance = radius * ring as f64 / rings as f64;
        positions.extend((0..outer.count).map(|k| {
            let (cos, sin) = outer.direction(k);
            // Angles grow from x towards −z, which is counter-clockwise seen from above.
            Vec3::new((distance * cos) as f32, 0.0, (-distance * sin) as f32)
        }));
        stitch(inner, outer, |corners| {
            let triangle = corners.map(|(ring, k)| [inner, outer][ring].vertex(k));
            triangles.push(triangle);
            uvs.push(triangle.map(|v| planar_uv(positions[v as usize], radius as f32)));
        });
        inner = outer;
    }
    Ok(TriangleMesh { positions, triangles, uvs: Some(uvs), ..TriangleMesh::default() })
}

/// The disc seen from above with x to the right fills the unit square.
fn planar_uv(p: Vec3, radius: f32) -> Vec2 {
    Vec2::new(0.5 + 0.5 * p.x / radius, 0.5 - 0.5 * p.z / radius)
}
