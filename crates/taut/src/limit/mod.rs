//! Limits, and how they are enforced over a whole mesh (section 3.2 of the paper, W5).
//!
//! What is limited, and single iterations over it, are in [`element`](crate::element); here is [`enforce`],
//! the loop around them, with [`contact`] and [`rigid`] bodies inside; [`aim`] is where it goes to. Over
//! several levels: [`cycle`] and [`paper`], which share [`levels`], and [`nearest`](crate::solve::nearest).

pub mod aim;
pub mod bend_paper;
pub mod contact;
pub mod cycle;
pub mod edge_model;
pub mod edge_pull;
pub mod edge_weight;
pub mod enforce;
pub mod levels;
pub mod paper;
pub mod rigid;
pub mod tuning;

use crate::{
    Limit, Projection,
    exec::{colored::Exec, threads::Threads},
    kernel::{lanes::LaneKind, strain::Range},
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

impl<'a> Settings<'a> {
    /// Who does it, and with what lanes.
    pub fn exec(&self) -> Exec<'a> {
        Exec { threads: self.threads, lanes: self.lanes }
    }
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
