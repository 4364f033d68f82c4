//! `pbd`: settings of position-based dynamics.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the model `"pbd"`. A stiffness from 0 to 1 is the part of its error that a constraint loses in
/// a step, however many iterations that has; `compliance` takes the place of a stiffness where it is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Pbd {
    /// Stiffness of the lengths of edges. 1 by default; 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub stretch: Option<f64>,
    /// Stiffness of the angles between adjacent triangles of cloth. 0.1 by default; 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub bend: Option<f64>,
    /// Stiffness of the volume that a closed cloth encloses, or of every tetrahedron of a soft body. 0 by
    /// default for cloth, 1 for soft bodies; 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub volume: Option<f64>,
    /// Part of all motion that is not that of a rigid body which is lost in each step. 0 by default; 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1))]
    pub damping: Option<f64>,
    /// Iterations of each step; the solver takes the largest number of all bodies. 20 by default; 1 to 10000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10_000))]
    pub iterations: Option<u32>,
    /// Compliances (XPBD), the inverse of a stiffness in physical units, which depends neither on the
    /// iterations nor on the length of a step. None by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compliance: Option<Compliance>,
}

/// Compliances of the model `"pbd"`, each instead of the stiffness with the same name; 0 is rigid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Compliance {
    /// Of every edge \[m/N\]. None by default; 0 to 1000000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub stretch: Option<f64>,
    /// Of the angle of every hinge of cloth \[1/(N m)\]. None by default; 0 to 1000000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub bend: Option<f64>,
    /// Of volumes \[m³/Pa\]. None by default; 0 to 1000000000.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub volume: Option<f64>,
}

impl Pbd {
    /// The engine's.
    pub fn build(self) -> taut::PbdModel {
        let usual = taut::PbdModel::default();
        let compliance = self.compliance.unwrap_or_default();
        // The rules refuse both.
        let stiffness = |k: Option<f64>, alpha: Option<f64>| {
            let compliant = alpha.map(|alpha| taut::PbdStiffness::Compliance(alpha as f32));
            compliant.or(k.map(|k| taut::PbdStiffness::Part(k as f32)))
        };
        taut::PbdModel {
            stretch: stiffness(self.stretch, compliance.stretch).unwrap_or(usual.stretch),
            bend: stiffness(self.bend, compliance.bend).unwrap_or(usual.bend),
            volume: stiffness(self.volume, compliance.volume),
            damping: self.damping.map_or(usual.damping, |damping| damping as f32),
            iterations: self.iterations.unwrap_or(usual.iterations),
        }
    }
}
