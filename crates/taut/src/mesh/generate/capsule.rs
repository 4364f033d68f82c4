//! The closed tube with round ends.

use std::f64::consts::{FRAC_PI_2, PI};

use glam::{Vec2, Vec3};

use super::{
    GenerateError, require_count, require_length, require_size, require_spacing,
    rings::{Ring, stitch},
};
use crate::mesh::TriangleMesh;

/// Rings from the bottom pole to the top pole. In a cap their vertex count shrinks with their circumference,
/// so that triangles near the poles are as large as those of the tube.
pub(super) fn generate(radius: f32, height: f32, segments: [u32; 2]) -> Result<TriangleMesh, GenerateError> {
    let (radius, height) = (require_length("radius", radius)?, require_length("height", height)?);
    let around = require_count("segments[0]", segments[0], 3)?;
    let along = require_count("segments[1]", segments[1], 1)?;
    require_size(u128::from(around) * (u128::from(along) + 1))?;
    let chord = 2.0 * radius * (PI / around as f64).sin();
    require_spacing(chord, height / along as f64, height + 2.0 * radius)?;
    // A pole's first ring may be shorter than the tube's chords by rounding of counts, never by half.
    require_spacing(chord / 2.0, chord, height + 2.0 * radius)?;

    let cap = ((around as f64 / 4.0).round() as u64).max(1);
    // (distance from the axis, y, arc length from the bottom) of every ring, and its count.
    let mut rows = Vec::with_capacity((2 * cap + along + 1) as usize);
    let quarter = radius * FRAC_PI_2;
    for i in 0..cap {
        let angle = FRAC_PI_2 * i as f64 / cap as f64;
        let count = if i == 0 { 1 } else { ((around as f64 * angle.sin()).round() as u64).clamp(3, around) };
        rows.push((count, radius * angle.sin(), -height / 2.0 - radius * angle.cos(), radius * angle));
    }
    for j in 0..=along {
        let part = j as f64 / along as f64;
        rows.push((around, radius, height * (part - 0.5), quarter + height * part));
    }
    for i in (0..cap).rev() {
        let (count, distance, y, arc) = rows[i as usize];
        rows.push((count, distance, -y, 2.0 * quarter + height - arc));
    }

    let vertices = rows.iter().map(|row| u128::from(row.0)).sum();
    require_size(vertices)?;
    let mut positions = Vec::with_capacity(vertices as usize);
    let mut rings = Vec::with_capacity(rows.len());
    for &(count, distance, y, _) in &rows {
        let ring = Ring { first: positions.len() as u64, count };
        positions.extend((0..count).map(|k| {
            let (cos, sin) = ring.direction(k);
            Vec3::new((distance * cos) as f32, y as f32, (-distance * sin) as f32)
        }));
        rings.push(ring);
    }

    let length = 2.0 * quarter + height;
    let (mut triangles, mut uvs) = (Vec::new(), Vec::new());
    for (pair, row) in rings.windows(2).zip(rows.windows(2)) {
        // The triangulation needs the shorter ring inside; seen from the pole above, the order of the angles
        // is reversed.
        let upper_inside = pair[1].count == 1;
        let (inner, outer) = if upper_inside { (1, 0) } else { (0, 1) };
        stitch(pair[inner], pair[outer], |corners| {
            // The centre of a pole's triangle is its texture coordinate.
            let around_pole = |k: u64| (k as f64 + 0.5) / pair[outer].count as f64;
            let edge = corners.iter().filter(|c| c.0 == 1).map(|c| c.1).min().unwrap_or(0);
            let mut triangle = corners.map(|(ring, k)| {
                let which = if ring == 0 { inner } else { outer };
                let u = if pair[which].count == 1 { around_pole(edge) } else { pair[which].turn(k) };
                let v = row[which].3 / length;
                (pair[which].vertex(k), Vec2::new(u as f32, v as f32))
            });
            // From the bottom, a ring above is outside and angles run clockwise as seen from outside.
            if !upper_inside {
                triangle.swap(1, 2);
            }
            triangles.push(triangle.map(|c| c.0));
            uvs.push(triangle.map(|c| c.1));
        });
    }
    Ok(TriangleMesh { positions, triangles, uvs: Some(uvs), ..TriangleMesh::default() })
}
