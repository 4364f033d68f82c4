//! Placement and motion: `transform` and `motion`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Three numbers: x, y, z.
pub(crate) type Vector = [f64; 3];

/// Initial placement of a body: scaled, then rotated, then translated, about the origin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Transform {
    /// Displacement \[m\]. `[0, 0, 0]` by default; each −1000000 to 1000000.
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub translate: Vector,
    /// Rotation about the x, then the y, then the z axis \[degrees\]. `[0, 0, 0]` by default; each −1000000
    /// to 1000000.
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub rotate: Vector,
    /// Scale factor, or one for each axis (cloth only); it scales the rest shape. 1 by default; 0.000001 to
    /// 1000000.
    pub scale: Scale,
}

impl Default for Transform {
    fn default() -> Self {
        Self { translate: [0.0; 3], rotate: [0.0; 3], scale: Scale::Uniform(1.0) }
    }
}

/// Scale factor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Scale {
    /// The same along all axes; 0.000001 to 1000000.
    Uniform(#[schemars(range(min = 0.000_001, max = 1_000_000))] f64),
    /// One for each axis; each 0.000001 to 1000000.
    PerAxis(#[schemars(inner(range(min = 0.000_001, max = 1_000_000)))] Vector),
}

impl Scale {
    /// The factor along each axis.
    pub fn factors(self) -> Vector {
        match self {
            Scale::Uniform(factor) => [factor; 3],
            Scale::PerAxis(factors) => factors,
        }
    }
}

/// A keyframe of a motion, relative to the initial placement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MotionKey {
    /// Time \[s\]; later than the previous keyframe. 0 to 1000000.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub time: f64,
    /// Displacement \[m\]. `[0, 0, 0]` by default; each −1000000 to 1000000.
    #[serde(default)]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub translate: Vector,
    /// Rotation about the x, then the y, then the z axis through the pivot \[degrees\]; angles beyond 360
    /// give several turns. `[0, 0, 0]` by default; each −1000000 to 1000000.
    #[serde(default)]
    #[schemars(inner(range(min = -1_000_000, max = 1_000_000)))]
    pub rotate: Vector,
}
