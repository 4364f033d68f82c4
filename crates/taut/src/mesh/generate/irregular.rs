//! Irregular flat meshes: random points with a Delaunay triangulation.

use glam::{DVec2, Vec2, Vec3, Vec3Swizzles};

use super::grid::{grid_uv, in_disc};
use crate::{
    hierarchy::{HalfEdges, NONE, flip, prev},
    mesh::TriangleMesh,
};

/// How often every point is moved. Each round starts from the last triangulation, so that points move further
/// than the triangles of a grid would allow.
const ROUNDS: u64 = 3;
/// Minimum height over longest side of a triangle after a move, which keeps angles above about 8 degrees even
/// before the flips.
const MIN_HEIGHT: f64 = 0.15;

/// Maximum distance of a point from its grid position, in cells.
const MAX_DISTANCE_IN_CELLS: f64 = 0.45;

/// Moves the interior vertices of a flat sheet of `size` \[m\] with vertices `spacing` \[m\] apart to random
/// positions, and flips edges until the triangulation is Delaunay, scaled so that cells are square. Texture
/// coordinates are those of a grid.
pub(super) fn scatter(mesh: &mut TriangleMesh, size: [f32; 2], spacing: [f64; 2], seed: u64) {
    // Oriented so that triangles are counter-clockwise: z × x = y.
    let cell = DVec2::new(spacing[1], spacing[0]);
    let mut points: Vec<DVec2> = mesh.positions.iter().map(|p| p.as_dvec3().zx() / cell).collect();
    let (mut half, _) = HalfEdges::new(points.len(), &mesh.triangles);
    let homes = points.clone();
    for round in 0..ROUNDS {
        for v in (0..points.len() as u32).filter(|&v| !half.on_boundary(v)) {
            let before = points[v as usize];
            let index = round * homes.len() as u64 + u64::from(v);
            points[v as usize] = homes[v as usize] + MAX_DISTANCE_IN_CELLS * in_disc(seed, index);
            let fine = half.ring(v).all(|h| {
                let [a, b, c] = half.corners(h / 3).map(|v| points[v as usize]);
                let sides = [b - a, c - b, a - c].map(DVec2::length_squared);
                (b - a).perp_dot(c - a) >= MIN_HEIGHT * sides[0].max(sides[1]).max(sides[2])
            });
            if !fine {
                points[v as usize] = before;
            }
        }
        make_delaunay(&mut half, &points);
    }
    for (t, corners) in mesh.triangles.iter_mut().enumerate() {
        *corners = half.corners(t as u32);
    }
    // Boundary vertices keep their bits.
    for (v, point) in points.iter().enumerate().filter(|(v, _)| !half.on_boundary(*v as u32)) {
        let point = *point * cell;
        mesh.positions[v] = Vec3::new(point.y as f32, 0.0, point.x as f32);
    }
    let uv = |v: u32| grid_uv(mesh.positions[v as usize], Vec2::from_array(size));
    mesh.uvs = Some(mesh.triangles.iter().map(|t| t.map(uv)).collect());
}

/// Flips edges whose opposite angles add up to more than 180 degrees until there is none.
fn make_delaunay(half: &mut HalfEdges, points: &[DVec2]) {
    let mut stack: Vec<u32> = (0..half.tail.len() as u32).rev().collect();
    while let Some(h) = stack.pop() {
        let twin = half.twin[h as usize];
        if twin == NONE {
            continue;
        }
        let [x, y] = [h, twin].map(|side| points[half.tail[side as usize] as usize]);
        let [c, d] = [h, twin].map(|side| points[half.tail[prev(side) as usize] as usize]);
        let cotangent = |p: DVec2| (x - p).dot(y - p) / (x - p).perp_dot(y - p).abs();
        // The margin keeps four cocircular points from flipping for ever.
        if cotangent(c) + cotangent(d) < -1e-9 {
            flip(half, h);
            stack.extend([h, prev(h), twin, prev(twin)]);
        }
    }
}
