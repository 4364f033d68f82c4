//! `pressure` of `[[cloth]]`: the gas inside a closed cloth.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use taut::PressureLaw;

/// Pressure inside a closed cloth, or inside several that seams close; requires exactly one of `over`,
/// `pascal` and `gas`. The gas has no mass, and acts while the seams of the bag are closed. Limits take
/// precedence. Needs `solver.scheme = "nearest"` and an implicit integrator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Pressure {
    /// Factor on the volume at rest, at which the volume is kept, as far as limits allow it: a number, or
    /// keyframes `[{ time, value }]`. None by default; 0.001 to 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over: Option<Factor>,
    /// Pressure above that of the air around \[Pa\], whatever the volume: a number, or keyframes
    /// `[{ time, value }]`. None by default; −100000 to 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pascal: Option<Pascal>,
    /// Amount of gas, as its pressure above that of the air around (101325 Pa) at the volume at rest \[Pa\];
    /// squeezing raises the pressure: absolute pressure times volume is constant. A number, or keyframes
    /// `[{ time, value }]`. None by default; −100000 to 1000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gas: Option<Pascal>,
    /// Volume that `over` and `gas` refer to \[m³\]. That of the rest shape by default, or that of the start
    /// where flat panels are sewn; required for bags that are flat then. 0.000000000001 to 1000000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.000_000_000_001, max = 1_000_000_000))]
    pub volume: Option<f64>,
    /// Names of the other cloths that make up the bag with this one. None by default.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub with: Vec<String>,
}

/// A factor over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Factor {
    /// Constant; 0.001 to 1000.
    Constant(#[schemars(range(min = 0.001, max = 1000))] f64),
    /// Linear between keyframes, constant before the first and after the last.
    Keyframes(#[schemars(length(min = 1, max = 100_000))] Vec<FactorKey>),
}

/// A keyframe of a factor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactorKey {
    /// Time \[s\]; later than the previous keyframe. 0 to 1000000.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub time: f64,
    /// Factor; 0.001 to 1000.
    #[schemars(range(min = 0.001, max = 1000))]
    pub value: f64,
}

/// A pressure over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Pascal {
    /// Constant \[Pa\]; −100000 to 1000000.
    Constant(#[schemars(range(min = -100_000, max = 1_000_000))] f64),
    /// Linear between keyframes, constant before the first and after the last.
    Keyframes(#[schemars(length(min = 1, max = 100_000))] Vec<PascalKey>),
}

/// A keyframe of a pressure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PascalKey {
    /// Time \[s\]; later than the previous keyframe. 0 to 1000000.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub time: f64,
    /// Pressure \[Pa\]; −100000 to 1000000.
    #[schemars(range(min = -100_000, max = 1_000_000))]
    pub value: f64,
}

impl Pascal {
    fn values(&self) -> Vec<(f32, f32)> {
        match self {
            Self::Constant(value) => vec![(0.0, *value as f32)],
            Self::Keyframes(keys) => keys.iter().map(|key| (key.time as f32, key.value as f32)).collect(),
        }
    }
}

impl Factor {
    fn values(&self) -> Vec<(f32, f32)> {
        match self {
            Self::Constant(value) => vec![(0.0, *value as f32)],
            Self::Keyframes(keys) => keys.iter().map(|key| (key.time as f32, key.value as f32)).collect(),
        }
    }
}

impl Pressure {
    /// The engine's, of the first law that is given: the rules ask for exactly one.
    pub fn build(&self) -> Option<taut::Pressure> {
        let over = self.over.as_ref().map(|factor| (PressureLaw::Over, factor.values()));
        let pascal = self.pascal.as_ref().map(|pascal| (PressureLaw::Pascal, pascal.values()));
        let gas = self.gas.as_ref().map(|gas| (PressureLaw::Gas, gas.values()));
        let (law, values) = over.or(pascal).or(gas)?;
        let volume = self.volume.map(|volume| volume as f32);
        Some(taut::Pressure { law, values, volume, with: self.with.clone() })
    }
}
