//! Fills a closed surface with tetrahedra: isosurface stuffing (Labelle and Shewchuk, SIGGRAPH 2007).
//!
//! A body-centred cubic lattice covers the surface. Its points are inside or outside; where an edge crosses
//! the surface near a point, the point snaps to the crossing; the remaining tetrahedra of the lattice are cut
//! by a few stencils. Dihedral angles on all surfaces that were tried are within the published bounds of
//! 10.78° and 164.74° (15° to 151° is usual; α is 0.24999 of a long edge, 0.41189 of a short one).
//! Independent random cuts reach 10.2° and 151° at worst. The surface of the result interpolates the given
//! one at its vertices and cuts its corners; fine detail is preserved by
//! [embedding](crate::low_level::Embedding) the given surface.
//!
//! Unlike the paper, there is no distance field. Inside is where the [winding
//! number](https://doi.org/10.1145/2461912.2461916) is over 0.5, and edges are cut where they intersect
//! triangles, so that surfaces need not be clean:
//! - a hole is closed by a smooth cap, with a warning that states the number of open edges;
//! - a self-intersecting surface gives the union of its insides, with a warning;
//! - vertices at one position are merged, faces without area are ignored; an inverted surface is flipped;
//! - parts thinner than about the spacing lose volume or vanish, with a warning that states how much, and
//!   which spacing keeps them.
//!
//! The result has a manifold boundary: where tetrahedra are connected by an edge or a vertex alone, the
//! smaller side is dropped, and so are detached components. 75K tetrahedra of a scan of 70K triangles take
//! about a second.

mod field;
mod lattice;
pub(crate) mod levels;
pub(super) mod mend;
pub(super) mod prepare;
mod stencil;
mod thin;
mod winding;

use glam::DVec3;

use super::{TriangleMesh, check::MeshProblem, tetrahedra::TetrahedronMesh};

pub(crate) use field::Field;
use lattice::{Grid, Lattice};
pub use levels::{solid_levels, spacing_of};
use mend::mend;
use prepare::Prepared;
use stencil::Filling;

/// Maximum number of lattice points, inside and outside.
pub const MAX_POINTS: u64 = 1 << 26;
/// Minimum spacing relative to the largest coordinate: below, rounding to f32 would change angles by degrees.
pub const MIN_RELATIVE_SPACING: f32 = 1e-5;
/// Maximum number of fillings that are tried to reach a requested number of tetrahedra.
const MAX_TRIES: usize = 6;

/// How a surface is filled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StuffOptions {
    /// Spacing of the lattice, which is the longest interior edge \[m\]: edges there are 0.87 and 1 times as
    /// long. A cube of the spacing holds 12 tetrahedra.
    pub spacing: f32,
}

impl StuffOptions {
    /// The spacing that fills `surface` with about the requested number of tetrahedra, mostly within 2 %.
    /// Each try is one filling; two are usual.
    pub fn for_count(surface: &TriangleMesh, tetrahedra: usize) -> Result<Self, StuffError> {
        let prepared = Prepared::new(surface)?;
        let wanted = tetrahedra.max(1) as f64;
        let mut spacing = prepared.spacing_for(wanted)?;
        let mut best: Option<(f64, f64)> = None;
        for _ in 0..MAX_TRIES {
            let count = match prepared.fill(spacing) {
                Ok(filled) => filled.tetrahedra.len() as f64,
                Err(error @ StuffError::TooFine { .. }) if best.is_none() => return Err(error),
                // A spacing at which nothing is left is too large, and a slightly smaller one may not be
                // pinched.
                Err(StuffError::NonManifold { .. }) => {
                    spacing *= 0.97;
                    continue;
                }
                Err(_) => 1.0,
            };
            let off = (count / wanted).ln().abs();
            if best.is_none_or(|(least, _)| off < least) {
                best = Some((off, spacing));
            }
            if off < 0.02 {
                break;
            }
            // The estimate has about the same relative error at the next spacing.
            let estimate = wanted * prepared.estimate(spacing) / count;
            spacing = prepared.spacing_for(estimate)?.clamp(0.5 * spacing, 2.0 * spacing);
        }
        Ok(Self { spacing: best.map_or(spacing, |(_, spacing)| spacing) as f32 })
    }
}

/// A filled surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Stuffed {
    /// The tetrahedra: positive volumes, every vertex used, a manifold boundary.
    pub mesh: TetrahedronMesh,
    /// Warnings for the user: sentences about the surface and about lost parts.
    pub warnings: Vec<String>,
}

/// Why a surface cannot be filled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StuffError {
    /// The spacing is not a positive length.
    #[error("the spacing is {spacing} m: must be more than 0")]
    Spacing {
        /// The given spacing \[m\].
        spacing: f32,
    },
    /// The mesh itself is invalid.
    #[error(transparent)]
    Mesh(#[from] MeshProblem),
    /// The lattice would be too large.
    #[error("a spacing of {spacing} m is too fine: this surface allows {smallest} m or more")]
    TooFine {
        /// The given spacing \[m\].
        spacing: f32,
        /// The smallest spacing that works \[m\].
        smallest: f32,
    },
    /// There is no inside.
    #[error(
        "the surface encloses nothing ({open} of its edges are open): it must be closed, except for small holes"
    )]
    EnclosesNothing {
        /// Edges that do not have exactly two consistently oriented faces.
        open: usize,
    },
    /// No lattice point is inside, or nothing is left after mending.
    #[error(
        "nothing is left at a spacing of {spacing} m: the surface is thinner everywhere; a spacing of {} m or less would keep it",
        shown(f64::from(*right))
    )]
    TooCoarse {
        /// The given spacing \[m\].
        spacing: f32,
        /// Mean thickness of the surface \[m\].
        right: f32,
    },
    /// The boundary stayed pinched.
    #[error(
        "at a spacing of {spacing} m some tetrahedra are connected by edges or vertices alone, and dropping them does not fix it: use a spacing of {} m or less",
        shown(f64::from(*right))
    )]
    NonManifold {
        /// The given spacing \[m\].
        spacing: f32,
        /// Half of that \[m\].
        right: f32,
    },
}

/// A length with three significant digits.
fn shown(length: f64) -> String {
    let digits = if length > 0.0 { (2.0 - length.log10().floor()).clamp(0.0, 20.0) } else { 0.0 };
    format!("{length:.*}", digits as usize)
}

/// The manifold boundary of the inside of `field` within the box from `low` to `high` \[m\]; `None` if it
/// cannot be made at this spacing \[m\].
pub(crate) fn boundary_of(field: &impl Field, low: DVec3, high: DVec3, spacing: f64) -> Option<TriangleMesh> {
    let grid = Grid::new(low, high, spacing);
    if grid.count().is_none_or(|points| points > MAX_POINTS) {
        return None;
    }
    let lattice = Lattice::new(grid, field);
    let Filling { positions, mut tetrahedra, .. } = Filling::new(&lattice);
    mend(&mut tetrahedra, &positions)?;
    let positions = positions.iter().map(|x| x.as_vec3()).collect();
    Some(TetrahedronMesh { positions, tetrahedra }.surface())
}

/// Fills `surface` with tetrahedra. The same surface and spacing give a bit-identical mesh, at any number of
/// threads.
pub fn stuff(surface: &TriangleMesh, options: &StuffOptions) -> Result<Stuffed, StuffError> {
    let spacing = options.spacing;
    if !(spacing > 0.0 && spacing.is_finite()) {
        return Err(StuffError::Spacing { spacing });
    }
    let prepared = Prepared::new(surface)?;
    let mut filled = prepared.fill(f64::from(spacing))?;
    let mut warnings = prepared.warnings();
    warnings.append(&mut filled.warnings);
    warnings.extend(thin::warning(&prepared, &filled, f64::from(spacing)));
    Ok(Stuffed { mesh: filled.mesh(), warnings })
}
