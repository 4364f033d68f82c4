//! `[[light]]`: lamps of a scene.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Vector;

/// A lamp in `taut view`. It affects neither the simulation nor `taut render`, which has its own light.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Light {
    /// Position \[m\]. Each −1000000 to 1000000.
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub position: Vector,
    /// Colour, as `#rrggbb`. `"#ffe0b0"`, a warm white, by default.
    #[serde(default = "warm")]
    #[schemars(regex(pattern = "^#[0-9a-fA-F]{6}$"))]
    pub color: String,
    /// Relative brightness; 1 is a typical lamp. 1 by default; 0 to 1000.
    #[serde(default = "usual")]
    #[schemars(range(min = 0, max = 1000))]
    pub intensity: f64,
}

fn warm() -> String {
    "#ffe0b0".into()
}

fn usual() -> f64 {
    1.0
}
