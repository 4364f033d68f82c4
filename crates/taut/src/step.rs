//! One step: the pipeline of the main paper's figure 2, and nothing else.
use serde::Serialize;

use crate::{State, World, WorldError};

/// How a frame went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FrameReport {
    /// Iterations of the limiter, over all steps of the frame.
    pub iterations: u32,
    /// Substeps of the velocity update, over all steps of the frame.
    pub substeps: u32,
    /// Whether every step ended within the tolerance.
    pub converged: bool,
    /// Largest residual past a limit at the end of the frame, as the limiter saw it.
    pub residual: f32,
    /// Vertices whose prediction was not a finite number and was put back.
    pub rescued: u32,
    /// Time spent in the velocity update \[ms\].
    pub velocity_ms: f32,
    /// Time spent limiting \[ms\].
    pub limit_ms: f32,
    /// Time spent on the rest of the step \[ms\].
    pub position_ms: f32,
}

/// Scratch memory and threads that advance a [`State`].
#[derive(Debug)]
pub struct Stepper {}

impl Stepper {
    /// Prepares to step `world` with `threads` threads (0: one per core).
    ///
    /// # Errors
    /// If the threads cannot be started.
    pub fn new(_world: &World, _threads: usize) -> Result<Self, WorldError> {
        Ok(Self {})
    }

    /// Advances by one frame.
    pub fn advance_frame(&mut self, _world: &World, _state: &mut State) -> FrameReport {
        FrameReport::default()
    }
}
