//! The flat rectangular sheet, regular or irregular.

use std::collections::BTreeMap;

use glam::{DVec2, Vec2, Vec3};

use super::{
    Diagonals, GenerateError, MAX_LENGTH, MAX_VERTICES, MIN_ASPECT, MIN_LENGTH, irregular, least_spacing,
    patch::{Faces, alternating},
    require_count, require_length, require_size, require_spacing,
};
use crate::mesh::TriangleMesh;

/// A flat sheet of `size` \[m\] in x and z with `cells` quads, at y = 0 from the origin.
///
/// Its vertices run along x first; its corners are the groups `corner:top-left`, `corner:top-right`,
/// `corner:bottom-left` and `corner:bottom-right`. Arguments out of range are clamped to the nearest allowed
/// ones (a non-finite size becomes 1 m); [`Generator::Grid`](super::Generator::Grid) rejects them instead.
pub fn grid(size: [f32; 2], cells: [u32; 2], diagonals: Diagonals, seed: u64) -> TriangleMesh {
    let (size, cells) = nearest_allowed(size, cells);
    build(size.map(f64::from), cells.map(u64::from), diagonals, seed)
}

/// A sheet, or why it cannot be made.
pub(super) fn generate(
    size: [f32; 2],
    cells: [u32; 2],
    diagonals: Diagonals,
    seed: u64,
) -> Result<TriangleMesh, GenerateError> {
    let lengths = [require_length("size[0]", size[0])?, require_length("size[1]", size[1])?];
    let counts = [require_count("cells[0]", cells[0], 1)?, require_count("cells[1]", cells[1], 1)?];
    require_size(counts.iter().map(|&n| u128::from(n) + 1).product())?;
    let spacing = |axis: usize| lengths[axis] / counts[axis] as f64;
    require_spacing(spacing(0), spacing(1), lengths[0].max(lengths[1]))?;
    Ok(build(lengths, counts, diagonals, seed))
}

/// The allowed arguments nearest to the given ones: lengths first, then fewer cells, then longer thin sides.
pub(super) fn nearest_allowed(size: [f32; 2], cells: [u32; 2]) -> ([f32; 2], [u32; 2]) {
    let mut size = size.map(|x| if x.is_nan() { 1.0 } else { x.clamp(MIN_LENGTH, MAX_LENGTH) });
    let least = least_spacing(f64::from(size[0].max(size[1])));
    // The margin keeps rounding of the quotient from ending just below the limit.
    let most = |axis: usize| (f64::from(size[axis]) / (least * 1.000_001)).floor().max(1.0) as u32;
    let mut cells = [cells[0].clamp(1, most(0)), cells[1].clamp(1, most(1))];
    if (u64::from(cells[0]) + 1) * (u64::from(cells[1]) + 1) > MAX_VERTICES {
        // Reduced together, so that cells keep their shape where possible.
        let shrink = (MAX_VERTICES as f64 / (f64::from(cells[0]) * f64::from(cells[1]))).sqrt();
        cells = cells.map(|n| ((f64::from(n) * shrink * 0.999) as u32).max(1));
        let longer = usize::from(cells[1] > cells[0]);
        let room = MAX_VERTICES / (u64::from(cells[1 - longer]) + 1) - 1;
        cells[longer] = cells[longer].min(room as u32).max(1);
    }
    for axis in [0, 1] {
        let other = f64::from(size[1 - axis]) / f64::from(cells[1 - axis]);
        let needed = (MIN_ASPECT * other).max(least) * 1.000_001 * f64::from(cells[axis]);
        size[axis] = size[axis].max(needed as f32);
    }
    (size, cells)
}

fn build(size: [f64; 2], cells: [u64; 2], diagonals: Diagonals, seed: u64) -> TriangleMesh {
    let columns = cells[0] + 1;
    let jittered = diagonals == Diagonals::Jittered;
    let mut positions = Vec::with_capacity((columns * (cells[1] + 1)) as usize);
    for j in 0..=cells[1] {
        for i in 0..=cells[0] {
            let mut point = DVec2::new(i as f64, j as f64);
            if jittered {
                let free = DVec2::new(
                    f64::from(u8::from(i > 0 && i < cells[0])),
                    f64::from(u8::from(j > 0 && j < cells[1])),
                );
                point += free * offset(seed, j * columns + i);
            }
            let x = (point.x / cells[0] as f64 * size[0]) as f32;
            let z = (point.y / cells[1] as f64 * size[1]) as f32;
            positions.push(Vec3::new(x, 0.0, z));
        }
    }

    let mut faces = Faces::with_capacity((cells[0] * cells[1] * 2) as usize);
    let extent = Vec2::new(size[0] as f32, size[1] as f32);
    let vertex = |j: u64, i: u64| j * columns + i;
    let uv = |j: u64, i: u64| grid_uv(positions[vertex(j, i) as usize], extent);
    // Rows first, so that the front is up: z × x = y.
    faces.patch([cells[1], cells[0]], vertex, uv, |j, i| match diagonals {
        Diagonals::Regular => false,
        Diagonals::Alternating | Diagonals::Delaunay => alternating(i, j),
        Diagonals::Jittered => random(seed ^ DIAGONAL_STREAM, j * columns + i) & 1 == 1,
    });

    let last = cells[1] * columns;
    let corners = [
        ("corner:top-left", 0),
        ("corner:top-right", cells[0]),
        ("corner:bottom-left", last),
        ("corner:bottom-right", last + cells[0]),
    ];
    let groups: BTreeMap<_, _> =
        corners.into_iter().map(|(name, vertex)| (name.to_owned(), vec![vertex as u32])).collect();
    let mut mesh = TriangleMesh { positions, triangles: faces.triangles, uvs: Some(faces.uvs), groups };
    if diagonals == Diagonals::Delaunay {
        let spacing = [0, 1].map(|axis| size[axis] / cells[axis] as f64);
        irregular::scatter(&mut mesh, extent.to_array(), spacing, seed);
    }
    mesh
}

/// Texture coordinate of a point of a sheet of `size` \[m\]. The image is upright seen from above with x to
/// the right: v is 1 at the top (z = 0).
pub(super) fn grid_uv(p: Vec3, size: Vec2) -> Vec2 {
    Vec2::new(p.x / size.x, 1.0 - p.z / size.y)
}

/// Keeps the choice of diagonals independent of the offsets.
const DIAGONAL_STREAM: u64 = 0x6a09_e667_f3bc_c908;

/// A random offset in the disc of a quarter of a cell, in cells. In the square of that size a triangle could
/// become flat; in the disc its height stays above a fifth of a cell.
fn offset(seed: u64, index: u64) -> DVec2 {
    0.25 * in_disc(seed, index)
}

/// A random point of the unit disc.
pub(super) fn in_disc(seed: u64, index: u64) -> DVec2 {
    let unit = |stream: u64| random(seed ^ stream, index) as f64 / u64::MAX as f64;
    let radius = unit(0x3c6e_f372_fe94_f82b).sqrt();
    DVec2::from_angle(std::f64::consts::TAU * unit(0xa54f_f53a_5f1d_36f1)) * radius
}

/// Element `index` of the sequence that starts at `seed` (splitmix64: Steele, Lea, Flood 2014).
fn random(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
