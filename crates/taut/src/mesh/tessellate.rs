//! Fills a closed surface with tetrahedra whose boundary has the vertices of that surface, for levels of
//! solids (section 4.1 of the main paper).
//!
//! The paper uses TetGen and then Stellar. Here the vertices of the surface and evenly spaced points inside
//! it are joined by a Delaunay tetrahedralisation, what is outside is cut away, and the shapes
//! are improved.
//!
//! Unlike TetGen, faces of the surface that are not Delaunay are not forced in: others of the same vertices
//! take their places, which a level does not notice. So edges of the surface may be flipped and narrow
//! grooves filled. How much the volume may differ for that is checked, as is everything a level needs; what
//! cannot be filled is refused with a reason. [Stuffing](super::stuff) takes any surface, but rounds it by
//! the size of a cell; this keeps it.
//!
//! Everything but the choice of inner points runs on one thread.

mod complex;
mod delaunay;
mod improve;
mod points;

use glam::DVec3;

use super::{
    TriangleMesh,
    check::MeshProblem,
    stuff::{
        StuffError,
        mend::{mend, volume},
        prepare::{Prepared, used},
    },
    tetrahedra::TetrahedronMesh,
};
use complex::Complex;
use delaunay::delaunay;
use improve::improve;

pub use complex::quality;

/// Least quality of a tetrahedron (1: regular, 0: flat); the lattice leaves none below 0.2.
pub const MIN_QUALITY: f64 = 0.1;
/// Largest relative difference between the volume that the surface encloses and that of the tetrahedra.
pub const MAX_VOLUME_ERROR: f64 = 0.1;

/// Why a surface is not filled.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TessellateError {
    /// The spacing is not a positive length.
    #[error("the spacing is {spacing} m: must be more than 0")]
    Spacing {
        /// The given spacing \[m\].
        spacing: f32,
    },
    /// The mesh itself is invalid.
    #[error(transparent)]
    Mesh(#[from] MeshProblem),
    /// It has holes, or faces without consistent orientation.
    #[error("{edges} of its edges are open")]
    Open {
        /// Edges that do not have as many faces in one direction as in the other.
        edges: usize,
    },
    /// It intersects itself.
    #[error("it passes through itself ({times} times an edge through a face)")]
    Intersects {
        /// How often.
        times: usize,
    },
    /// It is flat, or smaller than the spacing can resolve.
    #[error("it encloses too little for a spacing of {spacing} m")]
    Empty {
        /// The given spacing \[m\].
        spacing: f32,
    },
    /// Too many points.
    #[error("a spacing of {spacing} m is too fine for it")]
    TooFine {
        /// The given spacing \[m\].
        spacing: f32,
    },
    /// The tetrahedra do not fill what the surface encloses.
    #[error("the tetrahedra of its vertices have {:.0} % of its volume", 100.0 * of)]
    Volume {
        /// Their volume, relative to what it encloses.
        of: f64,
    },
    /// A tetrahedron stayed flat.
    #[error(
        "a tetrahedron of its vertices stays flat (quality {quality:.3}, at least {MIN_QUALITY} is needed)"
    )]
    Flat {
        /// Its [quality].
        quality: f64,
    },
    /// The boundary of the tetrahedra is not a manifold.
    #[error("tetrahedra of its vertices hang together by edges or vertices alone")]
    NonManifold,
}

/// Fills `surface` with tetrahedra that have its vertices, and others inside at about `spacing` \[m\]: edges
/// there are 0.87 and 1 times as long. The same input gives the same bits.
pub fn tessellate(surface: &TriangleMesh, spacing: f32) -> Result<TetrahedronMesh, TessellateError> {
    if !(spacing > 0.0 && spacing.is_finite()) {
        return Err(TessellateError::Spacing { spacing });
    }
    let empty = TessellateError::Empty { spacing };
    let prepared = Prepared::new(surface).map_err(|error| match error {
        StuffError::Mesh(problem) => TessellateError::Mesh(problem),
        _ => empty.clone(),
    })?;
    if prepared.open > 0 {
        return Err(TessellateError::Open { edges: prepared.open });
    }
    let times = prepared.piercings();
    if times > 0 {
        return Err(TessellateError::Intersects { times });
    }
    let (points, inner) =
        points::points(&prepared, f64::from(spacing)).ok_or(TessellateError::TooFine { spacing })?;
    let mut tetrahedra = delaunay(&points).ok_or_else(|| empty.clone())?;
    let middle = |t: &[u32; 4]| 0.25 * t.iter().map(|&v| points[v as usize]).sum::<DVec3>();
    tetrahedra.retain(|t| prepared.tree.winding(middle(t)) > 0.5);
    mend(&mut tetrahedra, &points).ok_or(TessellateError::NonManifold)?;
    if tetrahedra.is_empty() {
        return Err(empty);
    }
    let mut complex = Complex::new(points, tetrahedra);
    improve(&mut complex, inner);
    checked(&complex, prepared.volume)
}

/// The result in single precision, if it is all that a level must be.
fn checked(complex: &Complex, enclosed: f64) -> Result<TetrahedronMesh, TessellateError> {
    let mut tetrahedra = complex.remaining();
    // What is stored decides.
    let rounded: Vec<DVec3> = complex.positions.iter().map(|x| x.as_vec3().as_dvec3()).collect();
    if mend(&mut tetrahedra, &rounded) != Some(0) {
        return Err(TessellateError::NonManifold);
    }
    let of = tetrahedra.iter().map(|t| volume(t, &rounded)).sum::<f64>() / enclosed;
    if of.is_nan() || (of - 1.0).abs() > MAX_VOLUME_ERROR {
        return Err(TessellateError::Volume { of });
    }
    let qualities = tetrahedra.iter().map(|t| quality(t.map(|v| rounded[v as usize])));
    let least = qualities.fold(f64::INFINITY, f64::min);
    if least < MIN_QUALITY {
        return Err(TessellateError::Flat { quality: least });
    }
    let (positions, tetrahedra) = used(&rounded, tetrahedra);
    Ok(TetrahedronMesh { positions: positions.iter().map(|x| x.as_vec3()).collect(), tetrahedra })
}
