//! Every tuned number of the edge model ([`edge_model`](crate::limit::edge_model)).

/// Iterations of a coarse level between two projections out of obstacles.
pub const BETWEEN_OBSTACLES: u32 = 8;

/// Residual, in tolerances, from which on grips give way. Fixed iterations leave about two tolerances at
/// pins.
///
/// Half or twice: no change in `tang-sheet` and `tang-star`.
pub const TORN: f32 = 4.0;

/// Fraction of a pull that is kept from step to step: with all of it cloth keeps trembling.
///
/// `tang-sheet`: residual up to 3.4 % with half of it and 6.5 % with all, in place of 2.7; `tang-star` 9.8
/// and 17 % in place of 8.4.
pub const PULL_KEPT: f32 = 0.9;

/// Most that a kept pull moves the vertices of an edge towards each other, as a fraction of its length. An
/// edge that pulls by more throws vertices beside the line that it pulls along further to the other side than
/// they were.
///
/// `tang-star`: residual up to 9.0 % with half of it, 8.3 % with twice, in place of 8.4.
pub const PULL_MOST: f32 = 0.5;

/// Factor on what is added to a vertex's weight, from one ring around held vertices to the next.
///
/// `tang-sheet`: residual up to 2.1 % with half of it, 4.6 % with twice, in place of 2.7; `tang-star` 8.6 and
/// 11 % in place of 8.4.
pub const WEIGHT_FALL: f32 = 0.5;

/// Addition to a weight below which rings end.
///
/// `tang-sheet`: residual up to 2.7 % with half of it, 2.1 % with twice; `tang-star` 8.8 and 8.5 % in place
/// of 8.4.
pub const WEIGHT_LEAST: f32 = 0.05;

/// Largest weight of a vertex.
///
/// `tang-sheet`: residual up to 2.5 % with half of it, in place of 2.7; twice: no change.
pub const WEIGHT_MOST: f32 = 32.0;
