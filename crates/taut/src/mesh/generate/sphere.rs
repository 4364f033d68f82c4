//! The sphere from an icosahedron.

use std::{collections::HashMap, f64::consts::TAU};

use glam::{DVec3, Vec2, Vec3};

use super::{GenerateError, require_count, require_length, require_size, require_spacing};
use crate::mesh::TriangleMesh;

/// Maximum ratio of an edge length to the mean; the minimum is above its inverse.
const MAX_EDGE_RATIO: f64 = 1.3;

/// Subdivides every face of an icosahedron into `frequency`² triangles and projects the points to the sphere.
pub(super) fn generate(radius: f32, frequency: u32) -> Result<TriangleMesh, GenerateError> {
    let r = require_length("radius", radius)?;
    let f = require_count("frequency", frequency, 1)?;
    require_size(10 * u128::from(f) * u128::from(f) + 2)?;
    let spacing = 1.05 * r / f as f64 / MAX_EDGE_RATIO;
    require_spacing(spacing, spacing, 2.0 * r)?;

    let (corners, faces) = icosahedron();
    let mut points: Vec<DVec3> = corners.to_vec();
    let mut edges: HashMap<(usize, usize), u64> = HashMap::with_capacity(30);
    let mut triangles = Vec::with_capacity((20 * f * f) as usize);
    let mut rows: Vec<Vec<u32>> = Vec::new();
    for face in faces {
        let [a, b, c] = face;
        let mut edge = |from: usize, to: usize, k: u64| -> u32 {
            if k == 0 || k == f {
                return if k == 0 { from } else { to } as u32;
            }
            let key = (from.min(to), from.max(to));
            let first = *edges.entry(key).or_insert_with(|| {
                let first = points.len() as u64;
                points.extend((1..f).map(|k| corners[key.0].lerp(corners[key.1], k as f64 / f as f64)));
                first
            });
            (first + if from < to { k - 1 } else { f - 1 - k }) as u32
        };
        // Row j runs from side ab (at a for j = 0) to side ac … with f − j parts.
        rows.clear();
        for j in 0..=f {
            let last = f - j;
            let mut row = vec![0; last as usize + 1];
            row[0] = edge(a, c, j);
            row[last as usize] = edge(b, c, j);
            if j == 0 {
                (1..f).for_each(|i| row[i as usize] = edge(a, b, i));
            }
            rows.push(row);
        }
        for (j, row) in rows.iter_mut().enumerate().skip(1) {
            let last = row.len() - 1;
            for (i, slot) in row.iter_mut().enumerate().take(last).skip(1) {
                *slot = points.len() as u32;
                let (s, t) = (i as f64 / f as f64, j as f64 / f as f64);
                points.push(corners[a] * (1.0 - s - t) + corners[b] * s + corners[c] * t);
            }
        }
        for pair in rows.windows(2) {
            let (low, high) = (&pair[0], &pair[1]);
            for i in 0..high.len() {
                triangles.push([low[i], low[i + 1], high[i]]);
                if i + 1 < high.len() {
                    triangles.push([low[i + 1], high[i + 1], high[i]]);
                }
            }
        }
    }
    let positions: Vec<Vec3> = points.into_iter().map(|p| (p.normalize() * r).as_vec3()).collect();
    let uvs = triangles.iter().map(|t| spherical_uv(t.map(|v| positions[v as usize]))).collect();
    Ok(TriangleMesh { positions, triangles, uvs: Some(uvs), ..TriangleMesh::default() })
}

/// Corners (poles on the y axis) and outward faces.
fn icosahedron() -> ([DVec3; 12], [[usize; 3]; 20]) {
    let mut corners = [DVec3::Y; 12];
    corners[11] = -DVec3::Y;
    let (height, distance) = (1.0 / 5f64.sqrt(), 2.0 / 5f64.sqrt());
    let mut faces = [[0; 3]; 20];
    for k in 0..5 {
        for (row, half, sign) in [(1, 0.0, 1.0), (6, 0.5, -1.0)] {
            let (sin, cos) = (TAU * (k as f64 + half) / 5.0).sin_cos();
            corners[row + k] = DVec3::new(distance * cos, sign * height, -distance * sin);
        }
        let next = (k + 1) % 5;
        let (upper, upper_next, lower, lower_next) = (1 + k, 1 + next, 6 + k, 6 + next);
        faces[4 * k] = [0, upper, upper_next];
        faces[4 * k + 1] = [upper, lower, upper_next];
        faces[4 * k + 2] = [upper_next, lower, lower_next];
        faces[4 * k + 3] = [11, lower_next, lower];
    }
    (corners, faces)
}

/// Longitude and latitude. Corners of a triangle across the seam continue past 1 instead of jumping back to
/// 0, and a pole takes the middle longitude of the other two corners.
fn spherical_uv(corners: [Vec3; 3]) -> [Vec2; 3] {
    let is_pole = |p: Vec3| p.x.hypot(p.z) < 1e-6 * p.length();
    let mut u = corners.map(|p| (-p.z).atan2(p.x) / std::f32::consts::TAU + 0.5);
    let pole = corners.iter().position(|&p| is_pole(p));
    let others = (0..3).filter(|&i| Some(i) != pole);
    let highest = others.clone().map(|i| u[i]).fold(0.0, f32::max);
    for i in others.clone() {
        if highest - u[i] > 0.5 {
            u[i] += 1.0;
        }
    }
    if let Some(pole) = pole {
        u[pole] = others.map(|i| u[i]).sum::<f32>() / 2.0;
    }
    std::array::from_fn(|i| {
        let v = (corners[i].y / corners[i].length()).clamp(-1.0, 1.0).asin() / std::f32::consts::PI + 0.5;
        Vec2::new(u[i], v)
    })
}
