//! Every tuned number of the edge model ([`edge_model`](crate::limit::edge_model)).

/// Iterations of a coarse level between two projections out of obstacles.
pub const BETWEEN_OBSTACLES: u32 = 8;

/// Residual, in tolerances, from which on grips give way. Fixed iterations leave about two tolerances at
/// pins.
pub const TORN: f32 = 4.0;

/// Fraction of a pull that is kept from step to step: with all of it cloth keeps trembling.
pub const PULL_KEPT: f32 = 0.9;

/// Most that a kept pull moves the vertices of an edge towards each other, as a fraction of its length. An
/// edge that pulls by more throws vertices beside the line that it pulls along further to the other side than
/// they were.
pub const PULL_MOST: f32 = 0.5;

/// Factor on what is added to a vertex's weight, from one ring around held vertices to the next.
pub const WEIGHT_FALL: f32 = 0.5;

/// Addition to a weight below which rings end.
pub const WEIGHT_LEAST: f32 = 0.05;

/// Largest weight of a vertex.
pub const WEIGHT_MOST: f32 = 32.0;
