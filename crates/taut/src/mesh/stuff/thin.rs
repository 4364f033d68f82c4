//! Warns about parts of a surface that are thinner than a cell, and suggests a spacing that keeps them.

use glam::DVec3;
use rayon::prelude::*;

use super::{
    prepare::{Filled, Prepared},
    shown,
};
use crate::mesh::locate::Locator;

/// Maximum number of sampled vertices of the surface: enough to find parts of a thousandth of the area.
const MAX_SAMPLES: usize = 20_000;
/// Fraction of lost volume that is reported even if every vertex is near.
const MIN_REPORTED_LOSS: f64 = 0.05;

/// A sentence if parts of the surface are further than a spacing from the tetrahedra, or much volume is
/// missing.
pub(super) fn warning(prepared: &Prepared, filled: &Filled, spacing: f64) -> Option<String> {
    let locator = Locator::new(&filled.positions, &filled.tetrahedra);
    let mut normals = vec![DVec3::ZERO; prepared.positions.len()];
    for triangle in &prepared.triangles {
        let [a, b, c] = triangle.map(|v| prepared.positions[v as usize].as_dvec3());
        triangle.iter().for_each(|&v| normals[v as usize] += (b - a).cross(c - a));
    }
    let stride = prepared.positions.len().div_ceil(MAX_SAMPLES);
    let sampled: Vec<usize> =
        (0..normals.len()).step_by(stride).filter(|&v| normals[v] != DVec3::ZERO).collect();
    let beyond = |&&v: &&usize| {
        let x = prepared.positions[v].as_dvec3();
        locator.nearest(x).is_none_or(|found| found.squared > spacing * spacing)
    };
    let lost: Vec<usize> = sampled.par_iter().filter(beyond).copied().collect();
    let missing = 1.0 - filled.volume() / prepared.volume;
    if lost.is_empty() && missing < MIN_REPORTED_LOSS {
        return None;
    }
    let mut thickness: Vec<f64> = lost.iter().filter_map(|&v| through(prepared, v, normals[v])).collect();
    thickness.sort_unstable_by(f64::total_cmp);
    // Half of the lost parts would be kept; without any, volume is lost at corners alone, with the square of
    // the spacing.
    let right = match thickness.get(thickness.len() / 2) {
        Some(&middle) => middle.min(0.5 * spacing),
        None => 0.5 * spacing,
    };
    let part = 100.0 * lost.len() as f64 / sampled.len() as f64;
    Some(format!(
        "a spacing of {} m is coarse for this surface: {part:.1} % of its vertices are further than that from the tetrahedra, and {:.1} % of \
         the volume is lost; parts thinner than the spacing vanish: {} m would be right",
        shown(spacing),
        100.0 * missing.max(0.0),
        shown(right)
    ))
}

/// Thickness of the surface below vertex `v` \[m\].
fn through(prepared: &Prepared, v: usize, normal: DVec3) -> Option<f64> {
    let x = prepared.positions[v].as_dvec3();
    let reach = 10.0 * prepared.thickness();
    let end = x - normal.normalize_or_zero() * reach;
    let mut found = Vec::new();
    prepared.tree.crossings(x, end, &mut found);
    // The faces around the vertex itself are at the very start of the ray.
    found.iter().map(|&(t, _)| t * reach).find(|&way| way > 1e-4 * reach)
}
