//! Procedural meshes: the shapes that scenes, tests and benchmarks start from.
//!
//! Every shape is manifold, has no degenerate triangle, and faces outward (flat ones face up, towards +y).
//! Shapes are computed in double precision and rounded once, so that symmetric shapes stay symmetric.
//! [`Generator`] is the form a scene file uses: it rejects invalid parameters with a message. [`grid`] is the
//! short form for programs: it clamps its arguments to the nearest allowed values instead.

mod animals;
mod bar;
mod blobs;
mod cape;
mod capsule;
mod cuboid;
mod curtain;
mod cylinder;
mod disc;
mod ell;
pub mod figure;
#[cfg(test)]
mod fit;
mod grid;
mod irregular;
mod patch;
mod pattern;
mod rings;
mod shirt;
mod sphere;
#[cfg(test)]
mod tests;
mod torus;

use serde::{Deserialize, Serialize};

use glam::Vec3;

use super::TriangleMesh;

pub use animals::{bunny, creature, duck};
pub use bar::bar;
pub use grid::grid;
#[cfg(test)]
pub(crate) use pattern::delaunay::triangulate;
pub use pattern::fill::fill;

/// Maximum number of vertices of a generated mesh.
pub const MAX_VERTICES: u64 = 16_000_000;
/// Minimum length of a shape \[m\].
pub const MIN_LENGTH: f32 = 1e-4;
/// Maximum length of a shape \[m\].
pub const MAX_LENGTH: f32 = 1e5;
/// Minimum spacing of vertices \[m\]: ten times what [`check`](super::check::check) reports as too short.
pub const MIN_SPACING: f64 = 1e-5;
/// Minimum spacing relative to the whole shape: at 1e-5, rounding positions to f32 moves an edge by 1 % at
/// most.
const MIN_RELATIVE_SPACING: f64 = 1e-5;
/// Minimum ratio of the two spacings of a cell; thinner ones are too close to degenerate to hold a limit.
const MIN_ASPECT: f64 = 1e-3;

/// Direction of the diagonals of a grid's cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Diagonals {
    /// All in the same direction.
    Regular,
    /// Alternating from cell to cell, so that no direction is preferred.
    #[default]
    Alternating,
    /// Vertices moved at random by up to a quarter of a cell (boundary vertices along the boundary, corners
    /// not at all), and each diagonal chosen at random.
    Jittered,
    /// Irregular: interior vertices moved at random by up to 0.45 cells, with a Delaunay triangulation.
    Delaunay,
}

/// A shape to generate: the value of `mesh = { grid = { … } }` in a scene file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Generator {
    /// A flat sheet: x from 0 to width, y = 0, z from 0 to depth. Its corners are the groups
    /// `corner:top-left` (0, 0, 0), `corner:top-right` (width, 0, 0), `corner:bottom-left` and
    /// `corner:bottom-right` (at z = depth).
    Grid {
        /// Width and depth \[m\].
        size: [f32; 2],
        /// Quads along width and depth; each becomes two triangles.
        cells: [u32; 2],
        /// Direction of the diagonals.
        #[serde(default)]
        diagonals: Diagonals,
        /// Seed of [`Diagonals::Jittered`] and [`Diagonals::Delaunay`]; unused by the others.
        #[serde(default)]
        seed: u64,
    },
    /// A flat L-shaped sheet with a hole, with irregular triangles ([`Diagonals::Delaunay`]): a grid without
    /// its top right quarter and without the middle of its bottom left one. Its outer corners are the groups
    /// `corner:top-left`, `corner:bottom-left` and `corner:bottom-right`.
    Ell {
        /// Width and depth of the whole grid \[m\].
        size: [f32; 2],
        /// Quads along width and depth of the whole grid, at least 8 each; about seven in ten are left.
        cells: [u32; 2],
        /// Seed of the vertex positions.
        #[serde(default)]
        seed: u64,
    },
    /// A flat round sheet in the xz plane, centred at the origin, of concentric rings of 6, 12, 18, …
    /// vertices.
    Disc {
        /// Radius \[m\].
        radius: f32,
        /// Rings around the centre.
        rings: u32,
    },
    /// An open tube along y, centred at the origin. Its ends are the groups `ring:top` and `ring:bottom`.
    Cylinder {
        /// Radius \[m\].
        radius: f32,
        /// Length along y \[m\].
        height: f32,
        /// Quads around and along.
        segments: [u32; 2],
    },
    /// A sphere at the origin: an icosahedron whose edges are subdivided into `frequency` parts, so that it
    /// has 20 · frequency² triangles of nearly equal size.
    Sphere {
        /// Radius \[m\].
        radius: f32,
        /// Parts of each edge of the icosahedron.
        frequency: u32,
    },
    /// A torus around the y axis, centred at the origin.
    Torus {
        /// Radius of the centre line of the tube \[m\].
        major: f32,
        /// Radius of the tube \[m\]; less than `major`.
        minor: f32,
        /// Quads around the axis and around the tube.
        segments: [u32; 2],
    },
    /// A closed tube along y with hemispheres at both ends, centred at the origin.
    Capsule {
        /// Radius \[m\].
        radius: f32,
        /// Length of the straight part \[m\]; the total is longer by two radii.
        height: f32,
        /// Quads around and along the straight part; the caps have the resolution of the tube around its
        /// axis.
        segments: [u32; 2],
    },
    /// A closed box centred at the origin; its faces share the vertices of its edges.
    Box {
        /// Lengths along x, y and z \[m\].
        size: [f32; 3],
        /// Quads along x, y and z.
        cells: [u32; 3],
    },
    /// A creature like a small dragon, standing at y = 0 and facing +x: neck, four legs, tail, spines along
    /// its back, short wings.
    Creature {
        /// From snout to tail \[m\]; its height is about half of that.
        length: f32,
        /// Approximate number of triangles: from 500 to 2 million.
        triangles: u32,
    },
    /// A rabbit with two long ears, standing at y = 0 and facing +x.
    Bunny {
        /// From feet to ears \[m\].
        height: f32,
        /// Approximate number of triangles: from 500 to 2 million.
        triangles: u32,
    },
    /// A bath duck, its lowest point at y = 0 and facing +x.
    Duck {
        /// From bill to tail \[m\].
        length: f32,
        /// Approximate number of triangles: from 500 to 2 million.
        triangles: u32,
    },
    /// A human [figure](figure::Figure) in its first pose.
    Figure {
        /// Edge length \[m\].
        edge: f32,
    },
    /// A T-shirt for the figure: four flat panels side by side, whose [seams](Garment::seams) must be sewn,
    /// and that start around the figure. Groups `hem`, `neckline`, `cuff:left` and `cuff:right`.
    Shirt {
        /// Edge length \[m\]: 0.007 gives 40K triangles.
        edge: f32,
    },
    /// A cape for the figure: a flat piece that starts hanging behind its back. Groups `shoulder:left` and
    /// `shoulder:right`.
    Cape {
        /// Edge length \[m\]: 0.01 gives 17K triangles.
        edge: f32,
    },
    /// A flat sheet, as [`Generator::Grid`], that starts hanging from a rail in even waves: the rail runs
    /// along x from 0, at y = 0. Group `rail`.
    Curtain {
        /// Width and height \[m\].
        size: [f32; 2],
        /// Quads along width and height.
        cells: [u32; 2],
        /// Number of waves.
        pleats: u32,
        /// Their depth from front to back \[m\].
        depth: f32,
    },
}

/// A mesh with a separate initial shape: garments are cut flat, and start around a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Garment {
    /// The rest shape: the pattern.
    pub mesh: TriangleMesh,
    /// Initial positions of its vertices \[m\].
    pub start: Vec<Vec3>,
    /// Pairs of vertices that are sewn together.
    pub seams: Vec<[u32; 2]>,
}

impl From<TriangleMesh> for Garment {
    /// A mesh that starts in its rest shape.
    fn from(mesh: TriangleMesh) -> Self {
        Self { start: mesh.positions.clone(), mesh, seams: Vec::new() }
    }
}

/// Why a shape cannot be generated.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum GenerateError {
    /// A length is not a number, or out of range.
    #[error("{name} = {value}: must be from {MIN_LENGTH} to {MAX_LENGTH} m")]
    Length {
        /// The parameter.
        name: &'static str,
        /// What was given \[m\].
        value: f32,
    },
    /// A value is out of range.
    #[error("{name} = {value}: must be from {least} to {most}")]
    Range {
        /// The parameter.
        name: &'static str,
        /// What was given.
        value: f32,
        /// Smallest allowed value.
        least: f32,
        /// Largest allowed value.
        most: f32,
    },
    /// A count is too small.
    #[error("{name} = {value}: must be at least {least}")]
    Count {
        /// The parameter.
        name: &'static str,
        /// What was given.
        value: u32,
        /// Smallest allowed value.
        least: u32,
    },
    /// The mesh would be too large.
    #[error(
        "would have {vertices} vertices: at most {MAX_VERTICES} are allowed; use fewer cells, segments or rings"
    )]
    TooLarge {
        /// Number of vertices that it would have (saturated at the largest representable number).
        vertices: u64,
    },
    /// Vertices would be too near to each other.
    #[error(
        "vertices would be {spacing:e} m apart: must be at least {least:e} m for this size; use fewer of them"
    )]
    Spacing {
        /// Their distance \[m\].
        spacing: f64,
        /// Smallest allowed distance \[m\].
        least: f64,
    },
    /// Cells would be too thin.
    #[error(
        "cells would measure {short:e} by {long:e} m: the short side must be at least a thousandth of the long one; \
         choose counts in proportion to the lengths"
    )]
    Aspect {
        /// Their short side \[m\].
        short: f64,
        /// Their long side \[m\].
        long: f64,
    },
    /// More waves than the width of a curtain has room for.
    #[error("pleats = {pleats}: at most {most} of this depth fit into this width")]
    Pleats {
        /// What was given.
        pleats: u32,
        /// Largest allowed number.
        most: u32,
    },
    /// The tube of a torus would intersect itself.
    #[error("minor = {minor}: must be less than major = {major}")]
    Torus {
        /// Radius of the circle \[m\].
        major: f32,
        /// Radius of the tube \[m\].
        minor: f32,
    },
}

impl Generator {
    /// Generates the mesh.
    ///
    /// # Errors
    /// If a parameter is out of range, the mesh would have more than [`MAX_VERTICES`] vertices, or its
    /// triangles would be too small or too thin for single precision.
    pub fn generate(&self) -> Result<TriangleMesh, GenerateError> {
        Ok(self.make()?.mesh)
    }

    /// Generates the mesh, its initial positions, and its seams.
    ///
    /// # Errors
    /// As [`Generator::generate`].
    pub fn make(&self) -> Result<Garment, GenerateError> {
        let mesh = match *self {
            Self::Shirt { edge } => return shirt::generate(edge),
            Self::Cape { edge } => return cape::generate(edge),
            Self::Curtain { size, cells, pleats, depth } => {
                return curtain::generate(size, cells, pleats, depth);
            }
            Self::Creature { length, triangles } => creature(length, triangles)?,
            Self::Bunny { height, triangles } => bunny(height, triangles)?,
            Self::Duck { length, triangles } => duck(length, triangles)?,
            Self::Figure { edge } => figure::Figure::new(edge)?.mesh().clone(),
            Self::Grid { size, cells, diagonals, seed } => grid::generate(size, cells, diagonals, seed)?,
            Self::Ell { size, cells, seed } => ell::generate(size, cells, seed)?,
            Self::Disc { radius, rings } => disc::generate(radius, rings)?,
            Self::Cylinder { radius, height, segments } => cylinder::generate(radius, height, segments)?,
            Self::Sphere { radius, frequency } => sphere::generate(radius, frequency)?,
            Self::Torus { major, minor, segments } => torus::generate(major, minor, segments)?,
            Self::Capsule { radius, height, segments } => capsule::generate(radius, height, segments)?,
            Self::Box { size, cells } => cuboid::generate(size, cells)?,
        };
        Ok(Garment::from(mesh))
    }
}

/// Rejects a length that is not finite or out of range.
fn require_length(name: &'static str, value: f32) -> Result<f64, GenerateError> {
    // Written so that NaN is rejected.
    if (MIN_LENGTH..=MAX_LENGTH).contains(&value) {
        Ok(f64::from(value))
    } else {
        Err(GenerateError::Length { name, value })
    }
}

/// Rejects a value that is not finite or outside a range.
fn require_range(name: &'static str, value: f32, [least, most]: [f32; 2]) -> Result<f64, GenerateError> {
    if (least..=most).contains(&value) {
        Ok(f64::from(value))
    } else {
        Err(GenerateError::Range { name, value, least, most })
    }
}

/// Rejects a count below `least`.
fn require_count(name: &'static str, value: u32, least: u32) -> Result<u64, GenerateError> {
    if value >= least { Ok(u64::from(value)) } else { Err(GenerateError::Count { name, value, least }) }
}

/// Rejects meshes that are too large. Counts are u128, in which no product of user counts overflows.
fn require_size(vertices: u128) -> Result<(), GenerateError> {
    if vertices <= u128::from(MAX_VERTICES) {
        Ok(())
    } else {
        Err(GenerateError::TooLarge { vertices: u64::try_from(vertices).unwrap_or(u64::MAX) })
    }
}

/// Minimum spacing of vertices in a shape whose largest coordinate is `extent` \[m\].
fn least_spacing(extent: f64) -> f64 {
    MIN_SPACING.max(extent * MIN_RELATIVE_SPACING)
}

/// Rejects cells whose sides single precision cannot resolve. All in metres.
fn require_spacing(a: f64, b: f64, extent: f64) -> Result<(), GenerateError> {
    let (short, long, least) = (a.min(b), a.max(b), least_spacing(extent));
    if short < least {
        Err(GenerateError::Spacing { spacing: short, least })
    } else if short < MIN_ASPECT * long {
        Err(GenerateError::Aspect { short, long })
    } else {
        Ok(())
    }
}
