//! `[contact]`: contact of surfaces.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Contact of cloth with itself, other cloth and mesh obstacles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Contact {
    /// Distance that cloths keep from each other and from themselves \[m\]; 0 allows cloth to intersect
    /// cloth. 0 by default; 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    pub thickness: f64,
    /// Coulomb friction coefficient of cloth on cloth. 0.3 by default; 0 to 100.
    #[schemars(range(min = 0, max = 100))]
    pub friction: f64,
}

impl Default for Contact {
    fn default() -> Self {
        Self { thickness: 0.0, friction: 0.3 }
    }
}
