//! `[[light]]`: lamps of a scene.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Vector;

/// A lamp, for the page of `taut view`. Of no consequence to the simulation; `taut render` has light of its
/// own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Light {
    /// Where it is \[m\]. Each −1000000 to 1000000.
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub position: Vector,
    /// Its colour, as `#rrggbb`. `"#ffe0b0"`, a warm white, by default.
    #[serde(default = "warm")]
    #[schemars(regex(pattern = "^#[0-9a-fA-F]{6}$"))]
    pub color: String,
    /// How bright it is; 1 is a usual lamp. 1 by default; 0 to 1000.
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
