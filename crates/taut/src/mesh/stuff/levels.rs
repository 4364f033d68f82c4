//! Coarser tetrahedral meshes of the same solid, for hierarchies.

use rayon::prelude::*;

use super::prepare::Prepared;
use crate::mesh::{TriangleMesh, locate::Locator, tetrahedra::TetrahedronMesh};

/// Minimum number of vertices of a level; smaller ones are not worth it: the previous level can be solved
/// directly.
pub(crate) const MIN_VERTICES: usize = 150;

/// Coarser levels of `finest`, which fills `surface` at `spacing` \[m\]: stuffed at twice the spacing, four
/// times and so on, finest first. It ends before a level that would lose parts (some vertex of `finest`
/// further from it than its spacing), or have fewer than 150 vertices. For a mesh from a file, use its
/// [surface](TetrahedronMesh::surface) and [`spacing_of`].
pub fn solid_levels(surface: &TriangleMesh, spacing: f32, finest: &TetrahedronMesh) -> Vec<TetrahedronMesh> {
    let mut levels = Vec::new();
    let Some(lattices) = Lattices::new(surface) else { return levels };
    let mut spacing = f64::from(spacing);
    // An invalid spacing gives no levels, and the loop ends: each try doubles it.
    while spacing > 0.0 && spacing.is_finite() {
        spacing *= 2.0;
        match lattices.at(spacing) {
            Some(level) if level.positions.len() >= MIN_VERTICES && keeps_parts(&level, spacing, finest) => {
                levels.push(level)
            }
            _ => break,
        }
    }
    levels
}

/// Fills one surface at several spacings.
pub(crate) struct Lattices(Prepared);

impl Lattices {
    /// `None` if `surface` cannot be filled at all.
    pub fn new(surface: &TriangleMesh) -> Option<Self> {
        Prepared::new(surface).ok().map(Self)
    }

    /// The lattice of a spacing \[m\]; `None` if it cannot be filled at that.
    pub fn at(&self, spacing: f64) -> Option<TetrahedronMesh> {
        self.0.fill(spacing).ok().map(|filled| filled.mesh())
    }
}

/// Whether all vertices of `finest` are within a spacing \[m\] of `level`.
pub(crate) fn keeps_parts(level: &TetrahedronMesh, spacing: f64, finest: &TetrahedronMesh) -> bool {
    let positions: Vec<_> = level.positions.iter().map(|x| x.as_dvec3()).collect();
    let locator = Locator::new(&positions, &level.tetrahedra);
    let keeps = |x: &glam::Vec3| {
        locator.nearest(x.as_dvec3()).is_some_and(|found| found.squared <= spacing * spacing)
    };
    finest.positions.par_iter().all(keeps)
}

/// The spacing at which stuffing would make tetrahedra as large as those of `mesh` \[m\]: a mean in which
/// large ones have more weight, since those cut by a surface are small.
pub fn spacing_of(mesh: &TetrahedronMesh) -> f32 {
    let volumes = || (0..mesh.tetrahedra.len()).map(|t| mesh.volume(t).abs());
    let (sum, squares): (f64, f64) = (volumes().sum(), volumes().map(|volume| volume * volume).sum());
    if sum > 0.0 { (12.0 * squares / sum).cbrt() as f32 } else { 0.0 }
}
