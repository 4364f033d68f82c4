//! Numbers of [pairs](crate::term::pair) of touching parts.

/// Weight of a pair in units of its vertices' mass, whatever κ is.
///
/// `stack`: 164 iterations a frame with three times as much, 191 with ten times, in place of 156.
pub const PAIR_WEIGHT: f32 = 9.0;

/// The same where there are soft solids.
pub const PAIR_WEIGHT_SOLID: f32 = 90.0;

/// Most weight of all pairs of a vertex, in units of that of a single one: where more pull at it, each has
/// less.
///
/// A sheet on a mesh obstacle with three times finer edges: 34 iterations a frame; 35 with twice as much, 39
/// with half, 49 without a bound. `stack`, `folding`, `twist`, `cape`: within a tenth of what they take
/// without.
pub const PAIR_CROWD: f32 = 8.0;

/// Factor on the weight of pairs that stay too near.
///
/// `stack`: no change; `folding`: 63.8 and 64.2 iterations a frame in place of 63.4.
pub const PAIR_BOOST: f32 = 4.0;

/// Largest weight, as a fraction of the matrix's diagonal.
///
/// `stack`: no change; `folding`: 63.5 and 63.1 iterations a frame in place of 63.4.
pub const PAIR_WEIGHT_MOST: f32 = 0.3;

/// Fraction of its gap that a pair may lack before it gets more weight.
///
/// `stack`: no change; `folding`: 64.0 and 64.3 iterations a frame in place of 63.4.
pub const PAIR_NEAR: f32 = 0.1;

/// Fraction of its gap that a pair may lack at the end.
///
/// `stack`: 61.2 iterations a frame with half of it; `folding`: 65.9 in place of 63.4; twice: no change.
pub const PAIR_LACKING: f32 = 0.3;
