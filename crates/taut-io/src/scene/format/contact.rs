//! `contact`: contact of surfaces.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Contact of cloth with itself, other cloth and mesh obstacles: on or off, or a table of settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Contact {
    /// `false`: cloth passes through cloth; `true`: the defaults.
    Switch(bool),
    /// Settings.
    Table(ContactTable),
}

/// Contact of cloth with itself, other cloth and mesh obstacles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ContactTable {
    /// Distance that cloths keep from each other and from themselves \[m\]; 0 allows cloth to intersect
    /// cloth. By default the thickness of the thinnest cloth: that of its material, or a quarter of the mean
    /// length of its edges; 0 in scenes without cloth, with obstacles that have a mass, with model `edge` or
    /// `pbd`, or with a scheme other than `nearest`. 0 to 1.
    #[schemars(range(min = 0, max = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thickness: Option<f64>,
    /// Coulomb friction coefficient of cloth on cloth. 0.3 by default; 0 to 100.
    #[schemars(range(min = 0, max = 100))]
    pub friction: f64,
}

impl Default for Contact {
    fn default() -> Self {
        Self::Table(ContactTable::default())
    }
}

impl Default for ContactTable {
    fn default() -> Self {
        Self { thickness: None, friction: 0.3 }
    }
}
