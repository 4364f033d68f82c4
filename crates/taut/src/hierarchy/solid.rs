//! Coarser tetrahedral levels of a solid, from the levels of its surface (section 4.1 of the main paper): the
//! boundary of the finest mesh is coarsened as any triangle mesh is, and each coarse surface is
//! [filled](crate::mesh::tessellate) with tetrahedra.
//!
//! Every level is twice as coarse as the next finer one, and starts from the finest surface, so that errors
//! do not add up. The size of its triangles is chosen to fit the tetrahedra inside: stuffed solids have a
//! surface that is finer than their lattice.
//!
//! A level whose surface cannot be coarsened or filled is a [lattice](crate::mesh::stuff) instead, with a
//! note that says why.

use super::{Options, build};
use crate::{
    LevelKind,
    mesh::{
        TriangleMesh,
        stuff::{
            levels::{Lattices, MIN_VERTICES, keeps_parts},
            solid_levels, spacing_of,
        },
        tessellate::tessellate,
        tetrahedra::TetrahedronMesh,
    },
};

/// Length of an edge of a lattice, in its spacings: between those of the two kinds of edges that it has.
const EDGE_PER_SPACING: f64 = 0.93;
/// A level with more than this fraction of the tetrahedra of the finer one is not worth it.
const MAX_RATIO: f64 = 0.5;

/// Coarser levels of a solid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SolidLevels {
    /// Finest first.
    pub meshes: Vec<TetrahedronMesh>,
    /// Levels that are lattices since their surface cannot be filled, and why: sentences for the user.
    pub notes: Vec<String>,
}

/// Coarser levels of `finest`. `stuffed` is the surface and the spacing \[m\] that made it, if it was
/// [stuffed](crate::mesh::stuff::stuff); else its own surface and [spacing](spacing_of) take their place.
/// Levels end before one that would lose parts (some vertex of `finest` further from it than its spacing) or
/// have fewer than 150 vertices; small solids have none.
pub fn levels_of(
    finest: &TetrahedronMesh,
    stuffed: Option<(&TriangleMesh, f32)>,
    kind: LevelKind,
) -> SolidLevels {
    let own = finest.surface();
    let (surface, spacing) = stuffed.unwrap_or_else(|| (&own, spacing_of(finest)));
    match kind {
        LevelKind::Lattice => {
            SolidLevels { meshes: solid_levels(surface, spacing, finest), ..SolidLevels::default() }
        }
        LevelKind::Surface => from_surfaces(finest, &own, (surface, spacing)),
    }
}

/// Levels from those of the surface `own` of `finest`; lattices fill the `other` surface.
fn from_surfaces(finest: &TetrahedronMesh, own: &TriangleMesh, other: (&TriangleMesh, f32)) -> SolidLevels {
    let mut levels = SolidLevels::default();
    let edge = mean_edge(own);
    // Where triangles are larger than tetrahedra, those decide.
    let mut spacing = f64::from(other.1).max(edge / EDGE_PER_SPACING);
    let lattices = Lattices::new(other.0);
    while spacing > 0.0 && spacing.is_finite() {
        spacing *= 2.0;
        let finer = levels.meshes.last().unwrap_or(finest);
        let filled = coarse_surface(own, edge, spacing)
            .and_then(|surface| tessellate(&surface, spacing as f32).map_err(|error| error.to_string()))
            .and_then(|level| fits(level, finer, spacing, finest));
        let level = match filled {
            Ok(level) => level,
            Err(reason) => {
                let lattice = lattices.as_ref().and_then(|lattices| lattices.at(spacing));
                let lattice = lattice.and_then(|level| fits(level, finer, spacing, finest).ok()).flatten();
                if lattice.is_some() {
                    let number = levels.meshes.len() + 1;
                    let note = format!("level {number} is a lattice, not made from the surface: {reason}");
                    levels.notes.push(note);
                }
                lattice
            }
        };
        let Some(level) = level else { break };
        levels.meshes.push(level);
    }
    levels
}

/// The level, if it is fit for use; `None` if it is so small that levels end before it; else why not.
fn fits(
    level: TetrahedronMesh,
    finer: &TetrahedronMesh,
    spacing: f64,
    finest: &TetrahedronMesh,
) -> Result<Option<TetrahedronMesh>, String> {
    let [count, of] = [&level, finer].map(|mesh| mesh.tetrahedra.len());
    if level.positions.len() < MIN_VERTICES {
        Ok(None)
    } else if count as f64 > MAX_RATIO * of as f64 {
        Err(format!("it has {count} tetrahedra, and the next finer one {of}"))
    } else if !keeps_parts(&level, spacing, finest) {
        Err("it loses parts".into())
    } else {
        Ok(Some(level))
    }
}

/// The surface `fine` with edges that fit tetrahedra of a spacing \[m\]; `edge` is the mean of its own \[m\].
fn coarse_surface(fine: &TriangleMesh, edge: f64, spacing: f64) -> Result<TriangleMesh, String> {
    let ratio = (EDGE_PER_SPACING * spacing / edge).powi(2);
    // One level.
    let coarsest = (fine.positions.len() as f64 / ratio) as usize;
    let options = Options { ratio: ratio as f32, coarsest };
    let level = build(fine, &options).levels.into_iter().next();
    level.map(|level| level.mesh).ok_or_else(|| "it cannot be coarsened further".into())
}

/// \[m\]; 0 without triangles.
fn mean_edge(surface: &TriangleMesh) -> f64 {
    let at = |v: u32| surface.positions[v as usize].as_dvec3();
    let around =
        |&[a, b, c]: &[u32; 3]| at(a).distance(at(b)) + at(b).distance(at(c)) + at(c).distance(at(a));
    surface.triangles.iter().map(around).sum::<f64>() / (3 * surface.triangles.len().max(1)) as f64
}
