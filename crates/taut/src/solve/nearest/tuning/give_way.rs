//! When and how far limits of cloth give way: see [`term::strain::give_way`](crate::term::strain::give_way).
//!
//! All of it was tuned on one garment, a shirt of 41K triangles within ±1 % on a figure that walks and raises
//! its arms, and tried on a coarser one: strain 457 % without, at most 2 % with it.

use super::GIVE_WAY_FROM;
use crate::term::Step;

/// Iteration from which on lower limits of cloth give way where they cannot be met, if something touches.
pub const CLOTH_GIVES_WAY_FROM: u32 = 16;

/// The same of upper limits.
pub const CLOTH_STRETCHES_FROM: u32 = 48;

/// Iterations between two times that they do.
pub const CLOTH_GIVES_WAY_EVERY: u32 = 8;

/// When lower limits of cloth give way. Where nothing touches, iterations may be many before limits are met
/// that can be met. Cloth that carries a body takes more still, and what gave way would let the body through:
/// it does not give way.
pub fn cloth_gives_way_from(step: &Step) -> u32 {
    match step {
        Step { is_loaded: true, .. } => u32::MAX,
        Step { touching: true, .. } => CLOTH_GIVES_WAY_FROM,
        _ => 2 * GIVE_WAY_FROM,
    }
}

/// When upper limits of cloth do.
pub fn cloth_stretches_from(step: &Step) -> u32 {
    match step {
        Step { is_loaded: true, .. } => u32::MAX,
        Step { touching: true, .. } => CLOTH_STRETCHES_FROM,
        _ => 4 * GIVE_WAY_FROM,
    }
}

/// When a step may end although bend limits are not met, if all else is as far as it has given way.
pub fn bends_end_from(step: &Step) -> u32 {
    cloth_stretches_from(step).saturating_mul(2)
}

/// By how much limits of cloth give way, over what is lost around.
pub const CLOTH_SLACK_GENEROSITY: f32 = 1.2;

/// The same of lower limits, over that.
pub const CLOTH_SLACK_GROWTH: f32 = 2.0;

/// The least by which a lower limit of cloth gives way, if it does.
pub const CLOTH_LEAST_SLACK: f32 = 0.05;

/// What is left in the next step of what has given way.
pub const CLOTH_SLACK_WARM: f32 = 0.9;
