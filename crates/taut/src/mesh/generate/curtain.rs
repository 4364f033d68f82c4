//! A pleated curtain: a flat sheet that starts hanging from a rail in even waves.

use std::f64::consts::TAU;

use glam::Vec3;

use super::{Diagonals, Garment, GenerateError, grid, require_count, require_length};

/// Sample points of one pleat.
const FINE: usize = 4096;

/// A sheet of width and height `size` \[m\] with `pleats` pleats, each `depth` \[m\] from front to back. The
/// rail runs along x from 0, and the curtain hangs down from y = 0, its front towards +z. Its upper edge is
/// the group `rail`.
pub(super) fn generate(
    size: [f32; 2],
    cells: [u32; 2],
    pleats: u32,
    depth: f32,
) -> Result<Garment, GenerateError> {
    let mut mesh = grid::generate(size, cells, Diagonals::Alternating, 0)?;
    let amplitude = require_length("depth", depth)? / 2.0;
    let count = require_count("pleats", pleats, 1)? as f64;
    // A fold of four sides of `depth` uses up all of the width.
    let most = (f64::from(size[0]) / (4.0 * amplitude)) * 0.9;
    if count > most {
        return Err(GenerateError::Pleats { pleats, most: most as u32 });
    }
    let length = f64::from(size[0]) / count;
    let period = period(amplitude, length);
    let lengths = lengths(amplitude, period);
    let place = |x: f32| {
        // Whole pleats, and the fraction of the last one.
        let pleat = (f64::from(x) / length).floor();
        let wanted = (f64::from(x) / length - pleat) * lengths[FINE];
        let after = lengths.partition_point(|&l| l < wanted).clamp(1, FINE);
        let part = (wanted - lengths[after - 1]) / (lengths[after] - lengths[after - 1]);
        let t = (after as f64 - 1.0 + part) / FINE as f64;
        ((pleat + t) * period, amplitude * (TAU * t).sin())
    };
    let start = mesh
        .positions
        .iter()
        .map(|p| {
            let (x, z) = place(p.x);
            Vec3::new(x as f32, -p.z, z as f32)
        })
        .collect();
    mesh.groups.insert("rail".to_owned(), (0..=cells[0]).collect());
    Ok(Garment { mesh, start, seams: Vec::new() })
}

/// Arc lengths along one wave up to each of [`FINE`] points \[m\].
fn lengths(amplitude: f64, period: f64) -> Vec<f64> {
    let mut lengths = vec![0.0];
    for k in 0..FINE {
        let [a, b] = [k, k + 1].map(|k| amplitude * (TAU * k as f64 / FINE as f64).sin());
        lengths.push(lengths[k] + (b - a).hypot(period / FINE as f64));
    }
    lengths
}

/// Width of a wave of this arc length \[m\].
fn period(amplitude: f64, length: f64) -> f64 {
    let (mut low, mut high) = (0.0, length);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if lengths(amplitude, middle)[FINE] < length { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate::Generator;

    #[test]
    fn keeps_its_lengths_and_is_as_deep_as_asked_for() {
        let curtain = generate([1.2, 0.8], [240, 16], 6, 0.06).unwrap();
        let deepest = curtain.start.iter().fold(0.0f32, |deep, p| deep.max(p.z.abs()));
        assert!((deepest - 0.03).abs() < 1e-4, "{deepest}");
        for v in 0..240 {
            let [rest, now] = [&curtain.mesh.positions, &curtain.start].map(|x| (x[v + 1] - x[v]).length());
            assert!((now / rest - 1.0).abs() < 0.01, "{now} m from {rest} m");
        }
        assert_eq!(curtain.mesh.groups["rail"], (0..=240).collect::<Vec<u32>>());
        assert!(curtain.mesh.groups["rail"].iter().all(|&v| curtain.start[v as usize].y == 0.0));
        let width = curtain.start[240].x;
        assert!(width > 0.5 && width < 1.1, "{width}");
    }

    #[test]
    fn too_many_pleats_are_refused() {
        let curtain = |pleats| Generator::Curtain { size: [1.0, 1.0], cells: [40, 40], pleats, depth: 0.1 };
        assert!(curtain(4).make().is_ok());
        let refused = curtain(6).make().unwrap_err();
        assert_eq!(refused.to_string(), "pleats = 6: at most 4 of this depth fit into this width");
    }
}
