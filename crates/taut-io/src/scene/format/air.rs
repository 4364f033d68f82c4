//! `[air]`: drag and wind.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Vector, decimal};

/// The air around the cloth: drag and wind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Air {
    /// Density \[kg/m³\]. 1.2 by default; 0 (a vacuum) to 1000.
    #[schemars(range(min = 0, max = 1000))]
    pub density: f64,
    /// Wind velocity \[m/s\]: `[x, y, z]`, or linearly interpolated keyframes `[{ time, velocity }]`.
    /// `[0, 0, 0]` by default.
    pub wind: Wind,
    /// Strength of gusts as a fraction of the wind's speed: seeded turbulence over time and space. 0 by
    /// default; 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub gust: f64,
}

impl Default for Air {
    fn default() -> Self {
        let air = taut::Air::default();
        Self { density: decimal(air.density), wind: Wind::Constant([0.0; 3]), gust: decimal(air.gust) }
    }
}

/// Wind velocity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Wind {
    /// Constant \[m/s\]; each −1000 to 1000.
    Constant(#[schemars(inner(range(min = -1000, max = 1000)))] Vector),
    /// Linear between keyframes, constant before the first and after the last.
    Keyframes(#[schemars(length(min = 1, max = 100_000))] Vec<WindKey>),
}

/// A keyframe of the wind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WindKey {
    /// Time \[s\]; later than the previous keyframe. 0 to 1000000.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub time: f64,
    /// Velocity \[m/s\]; each −1000 to 1000.
    #[schemars(inner(range(min = -1000, max = 1000)))]
    pub velocity: Vector,
}
