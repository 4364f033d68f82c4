//! When the solve of a step ends, and what kind of step it is.

use crate::budget::Deadline;

/// When to end.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    /// Largest residual past a limit; the mean must be a tenth of it.
    pub tolerance: f32,
    /// Largest excess past a bend limit: the sine of half that angle.
    pub bend: f32,
    /// Least number of iterations, so that motion is not biased.
    pub least: u32,
    /// Most iterations.
    pub iterations: u32,
    /// When to end with what there is.
    pub deadline: Option<Deadline>,
    /// Iterations that it may take past the deadline, if limits are not met before.
    pub min_iterations_past_deadline: u32,
    /// Factor on stiffness.
    pub stiffening: f32,
    /// Whether the bodies hardly move.
    pub is_calm: bool,
    /// Whether the step is too short for the usual stages of an implicit integrator.
    pub is_short: bool,
}

impl Stop {
    pub(super) fn is_late(&self, iteration: u32) -> bool {
        iteration > 0
            && iteration >= self.min_iterations_past_deadline
            && self.deadline.is_some_and(|deadline| deadline.is_past())
    }
}
