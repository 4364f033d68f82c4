//! Coarser tetrahedral meshes of the same solid, for hierarchies.

use rayon::prelude::*;

use super::prepare::Prepared;
use crate::mesh::{TriangleMesh, locate::Locator, tetrahedra::TetrahedronMesh};

/// Minimum number of vertices of a level; smaller ones are not worth it: the previous level can be solved
/// directly.
const MIN_VERTICES: usize = 150;

/// Coarser levels of `finest`, which fills `surface` at `spacing` \[m\]: stuffed at twice the spacing, four
/// times and so on, finest first. It ends before a level that would lose parts (some vertex of `finest`
/// further from it than its spacing), or have fewer than 150 vertices. For a mesh from a file, use its
/// [surface](TetrahedronMesh::surface) and [`spacing_of`].
pub fn solid_levels(surface: &TriangleMesh, spacing: f32, finest: &TetrahedronMesh) -> Vec<TetrahedronMesh> {
    let mut levels = Vec::new();
    let Ok(prepared) = Prepared::new(surface) else { return levels };
    let mut spacing = f64::from(spacing);
    // An invalid spacing gives no levels, and the loop ends: each try doubles it.
    while spacing > 0.0 && spacing.is_finite() {
        spacing *= 2.0;
        let Ok(filled) = prepared.fill(spacing) else { break };
        let locator = Locator::new(&filled.positions, &filled.tetrahedra);
        let keeps = |x: &glam::Vec3| {
            locator.nearest(x.as_dvec3()).is_some_and(|found| found.squared <= spacing * spacing)
        };
        if filled.positions.len() < MIN_VERTICES || !finest.positions.par_iter().all(keeps) {
            break;
        }
        levels.push(filled.mesh());
    }
    levels
}

/// The spacing at which stuffing would make tetrahedra as large as those of `mesh` \[m\]: a mean in which
/// large ones have more weight, since those cut by a surface are small.
pub fn spacing_of(mesh: &TetrahedronMesh) -> f32 {
    let volumes = || (0..mesh.tetrahedra.len()).map(|t| mesh.volume(t).abs());
    let (sum, squares): (f64, f64) = (volumes().sum(), volumes().map(|volume| volume * volume).sum());
    if sum > 0.0 { (12.0 * squares / sum).cbrt() as f32 } else { 0.0 }
}
