//! When and how far limits of cloth give way: see [`term::strain::give_way`](crate::term::strain::give_way).
//!
//! All of it was tuned on one garment, a shirt of 41K triangles within ±1 % on a figure that walks and raises
//! its arms, and tried on a coarser one: strain 457 % without, at most 2 % with it.

use super::GIVE_WAY_FROM;
use crate::term::Step;

/// Iteration from which on lower limits of cloth give way where they cannot be met, if surfaces touch.
pub const CLOTH_GIVES_WAY_FROM: u32 = 16;

/// The same of upper limits.
pub const CLOTH_STRETCHES_FROM: u32 = 48;

/// Iterations between two times that they do.
pub const CLOTH_GIVES_WAY_EVERY: u32 = 8;

/// When lower limits of cloth give way. Where surfaces do not touch surfaces, iterations may be many before
/// limits are met that can be met: scenes `bend-tight` and `bend-loose`, which lie on a floor, would be
/// crushed by up to 60 %. Cloth that carries a body takes more still, and what gave way would let the body
/// through: it does not give way.
pub fn cloth_gives_way_from(step: &Step) -> u32 {
    match step {
        Step { is_loaded: true, .. } => u32::MAX,
        Step { between_surfaces: true, .. } => CLOTH_GIVES_WAY_FROM,
        _ => 2 * GIVE_WAY_FROM,
    }
}

/// When upper limits of cloth do.
pub fn cloth_stretches_from(step: &Step) -> u32 {
    match step {
        Step { is_loaded: true, .. } => u32::MAX,
        Step { between_surfaces: true, .. } => CLOTH_STRETCHES_FROM,
        _ => 4 * GIVE_WAY_FROM,
    }
}

/// Residuals that are less than this fraction of what they were [`CLOTH_GIVES_WAY_EVERY`] iterations before
/// are on their way: nothing gives way.
pub const CLOTH_ON_ITS_WAY: f32 = 0.8;

/// When a step may end although bend limits are not met, if all else is as far as it has given way.
pub fn bends_end_from(step: &Step) -> u32 {
    cloth_stretches_from(step).saturating_mul(2)
}

/// When bend limits give way where they cannot be met: after lower limits on strain, before upper ones.
pub fn bends_give_way_from(step: &Step) -> u32 {
    cloth_gives_way_from(step).saturating_add(cloth_stretches_from(step)) / 2
}

/// By how much a bend limit gives way, over its excess.
pub const BEND_SLACK_GENEROSITY: f32 = 1.2;

/// By how much limits of cloth give way, over what is lost around.
pub const CLOTH_SLACK_GENEROSITY: f32 = 1.2;

/// The same of lower limits, over that.
pub const CLOTH_SLACK_GROWTH: f32 = 2.0;

/// The least by which a lower limit of cloth gives way, if it does.
pub const CLOTH_LEAST_SLACK: f32 = 0.05;

/// What is left in the next step of what has given way.
pub const CLOTH_SLACK_WARM: f32 = 0.9;
