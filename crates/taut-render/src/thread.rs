//! Strands as round threads: a prism around each, with smooth normals.

use glam::Vec3;
use taut::low_level::Surface;

use crate::scene::Threads;

/// Sides of a thread: with smooth normals it looks round when it is thin.
pub const SIDES: u32 = 6;

/// The surface of all strands, a ring of vertices around each point, and the point of each ring. A strand of
/// fewer than two vertices has none.
pub fn tessellate(threads: &Threads) -> (Surface, Vec<u32>) {
    let (mut surface, mut rings) = (Surface::default(), Vec::new());
    let mut start = 0;
    for &count in &threads.strands {
        let end = (start + count as usize).min(threads.positions.len());
        strand(&threads.positions[start..end], threads.radius, &mut surface);
        rings.extend((start as u32..end as u32).filter(|_| end - start >= 2));
        start = end;
    }
    (surface, rings)
}

fn strand(points: &[Vec3], radius: f32, surface: &mut Surface) {
    if points.len() < 2 {
        return;
    }
    let first = surface.positions.len() as u32;
    // A single particle is as long as it is wide.
    let stub = [points[0] - radius * Vec3::X, points[0] + radius * Vec3::X];
    let points = if points.len() == 2 && points[0] == points[1] { &stub } else { points };
    // The frame is carried along, so that the prism does not twist.
    let mut across = Vec3::ZERO;
    for (k, &p) in points.iter().enumerate() {
        let along = points[(k + 1).min(points.len() - 1)] - points[k.saturating_sub(1)];
        let along = along.normalize_or(Vec3::X);
        across = (across - along * across.dot(along)).normalize_or(along.any_orthonormal_vector());
        let other = along.cross(across);
        for side in 0..SIDES {
            let (s, c) = (std::f32::consts::TAU * side as f32 / SIDES as f32).sin_cos();
            let n = c * across + s * other;
            surface.positions.push(p + n * radius);
            surface.normals.push(n);
        }
    }
    for k in 0..points.len() as u32 - 1 {
        for side in 0..SIDES {
            let next = (side + 1) % SIDES;
            let [a, b] = [side, next].map(|s| first + k * SIDES + s);
            surface.triangles.extend([[a, b, b + SIDES], [a, b + SIDES, a + SIDES]]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scene::srgb;

    #[test]
    fn threads_are_round_and_face_out() {
        let positions: Vec<Vec3> =
            (0..20).map(|k| Vec3::new((0.5 * k as f32).sin(), 0.1 * k as f32, 0.0)).collect();
        let threads = Threads {
            positions: positions.clone(),
            strands: vec![19, 1],
            radius: 0.01,
            color: srgb(0, 0, 0),
            colors: Vec::new(),
            shading: 1.0,
        };
        let (surface, rings) = tessellate(&threads);
        assert_eq!(rings, (0..19).collect::<Vec<_>>());
        assert_eq!(surface.positions.len(), 19 * SIDES as usize);
        for (v, &p) in surface.positions.iter().enumerate() {
            assert!((p.distance(positions[v / SIDES as usize]) - 0.01).abs() < 1e-5);
        }
        for t in &surface.triangles {
            let [a, b, c] = t.map(|v| surface.positions[v as usize]);
            let outward: Vec3 = t.iter().map(|&v| surface.normals[v as usize]).sum();
            assert!((b - a).cross(c - a).dot(outward) > 0.0);
        }
    }
}
