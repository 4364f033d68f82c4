//! Limits, and how they are enforced over a whole mesh (section 3.2 of the paper, W5).
//!
//! One file a limit ([`strain_triangle`], [`strain_tetrahedron`], [`edge`], [`bend`]), one a way to go
//! through the mesh ([`sweep`]: colours, lanes and threads; [`serial`]: the paper's randomised Gauss–Seidel;
//! [`jacobi`]), and [`enforce`], the loop around them. Over several levels: [`nearest`], [`cycle`] and
//! [`paper`]; the last two share [`levels`].

pub mod bend;
pub mod bend_paper;
pub mod colored;
pub mod cycle;
pub mod edge;
pub mod edge_model;
pub mod edge_pull;
pub mod edge_weight;
pub mod enforce;
pub mod jacobi;
pub mod levels;
pub mod nearest;
pub mod paper;
pub mod serial;
pub mod strain_tetrahedron;
pub mod strain_triangle;
pub mod sweep;
pub mod weave;

use crate::{
    Limit, Projection,
    kernel::{lanes::LaneKind, strain::Range},
    parallel::Threads,
};

/// How an iteration is done, whatever the scheme.
#[derive(Clone, Copy, Debug)]
pub struct Settings<'a> {
    /// Who does it.
    pub threads: &'a Threads,
    /// With what lanes.
    pub lanes: LaneKind,
    /// How one triangle is projected.
    pub projection: Projection,
    /// Factor on every correction.
    pub relaxation: f32,
}

/// Stands for "no upper limit": far above any stretch, and its square still fits a float.
pub const NO_LIMIT: f32 = 1e9;

impl Limit {
    /// Whether there is a limit on either side.
    pub fn is_some(self) -> bool {
        self.min.is_some() || self.max.is_some()
    }

    /// The range of stretches (1 = at rest) that it allows.
    pub fn range(self) -> Range<f32> {
        Range { min: self.min.map_or(0.0, |m| 1.0 + m), max: self.max.map_or(NO_LIMIT, |m| 1.0 + m) }
    }
}
