//! Jumps between nonconforming triangles.

/// Part of κ (A₁ + A₂)/3ℓ² that a jump weighs.
pub const JUMP_WEIGHT: f32 = 0.3;

/// Largest jump with which a step ends, over its limit, while it may still have [`JUMP_PATIENCE`].
pub const JUMP_PAST: f32 = 1.25;

/// Iterations after which a step no longer waits for jumps.
pub const JUMP_PATIENCE: u32 = 200;
