//! Small seeded displacements of the start, so that flat cloth can buckle.

use glam::Vec3;

use crate::{Cloth, Description, IMPERFECTION, kernel::random::Random, mesh::normals::normal_sums};

/// Keeps these random numbers apart from those of other uses of the same seed.
const STREAM: u64 = 0x1f83_d9ab_fb41_bd6b;

/// Where the vertices of `cloth`, number `body` of the scene, start: displaced along their normals by up to
/// its imperfection, except those that are held then. `edge` is its mean length of an edge \[m\].
pub(crate) fn start(cloth: &Cloth, edge: f32, body: u64, description: &Description) -> Vec<Vec3> {
    let mut start = cloth.start.clone();
    let amplitude = cloth.imperfection.unwrap_or(IMPERFECTION * edge);
    if amplitude <= 0.0 {
        return start;
    }
    let normals = normal_sums(&start, cloth.mesh.triangles.iter().copied());
    let mut held = vec![false; start.len()];
    let at_start = cloth.pins.iter().filter(|pin| pin.frames(description.frame_time).contains(&0));
    at_start.flat_map(|pin| &pin.vertices).for_each(|&v| held[v as usize] = true);
    let mut random = Random::new(description.seed ^ STREAM, body);
    for ((x, normal), held) in start.iter_mut().zip(normals).zip(held) {
        // Drawn for held vertices too, so that pins change nothing elsewhere.
        let share = 2.0 * random.unit() - 1.0;
        if !held {
            *x += amplitude * share * normal.normalize_or_zero();
        }
    }
    if let Some(midpoints) = &cloth.midpoints {
        midpoints.settle(&mut start);
    }
    start
}
