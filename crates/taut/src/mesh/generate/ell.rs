//! The L-shaped sheet with a hole.

use super::{Diagonals, GenerateError, grid, irregular::scatter, require_count};
use crate::mesh::TriangleMesh;

/// Fewest cells along each side, so that the hole has some.
const MIN_CELLS: u32 = 8;
const NONE: u32 = u32::MAX;

/// A grid without its top right quarter and the middle of its bottom left one, with random vertices.
pub(super) fn generate(size: [f32; 2], cells: [u32; 2], seed: u64) -> Result<TriangleMesh, GenerateError> {
    let counts =
        [require_count("cells[0]", cells[0], MIN_CELLS)?, require_count("cells[1]", cells[1], MIN_CELLS)?];
    let mut mesh = grid::generate(size, cells, Diagonals::Alternating, seed)?;
    keep(&mut mesh, |[x, z]| {
        // Centres of cells, in eighths.
        let within = |x: f32, axis: usize, from: u64, to: u64| {
            let cell = (x / size[axis] * cells[axis] as f32) as u64;
            (from * counts[axis]..to * counts[axis]).contains(&(8 * cell))
        };
        let quarter = within(x, 0, 4, 8) && within(z, 1, 0, 4);
        let hole = within(x, 0, 1, 3) && within(z, 1, 5, 7);
        !quarter && !hole
    });
    let spacing = [0, 1].map(|axis| f64::from(size[axis]) / f64::from(cells[axis]));
    scatter(&mut mesh, size, spacing, seed);
    Ok(mesh)
}

/// Keeps the triangles whose centre (x, z) passes, and their vertices; removes groups that lose vertices.
fn keep(mesh: &mut TriangleMesh, passes: impl Fn([f32; 2]) -> bool) {
    let centre = |t: &[u32; 3]| {
        let sum = t.iter().map(|&v| mesh.positions[v as usize]).sum::<glam::Vec3>() / 3.0;
        [sum.x, sum.z]
    };
    let kept: Vec<[u32; 3]> = mesh.triangles.iter().filter(|t| passes(centre(t))).copied().collect();
    let mut place = vec![NONE; mesh.positions.len()];
    kept.iter().flatten().for_each(|&v| place[v as usize] = 0);
    let mut positions = Vec::new();
    for (place, &position) in place.iter_mut().zip(&mesh.positions).filter(|(place, _)| **place != NONE) {
        *place = positions.len() as u32;
        positions.push(position);
    }
    mesh.positions = positions;
    mesh.triangles = kept.into_iter().map(|t| t.map(|v| place[v as usize])).collect();
    mesh.groups.retain(|_, vertices| {
        vertices.iter_mut().for_each(|v| *v = place[*v as usize]);
        !vertices.contains(&NONE)
    });
    // Recomputed when the vertices have moved.
    mesh.uvs = None;
}
