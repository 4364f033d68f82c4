//! What soft solids are made of: a few materials by name, or any numbers.
//!
//! Moduli are those at small strain, rounded: rubbers, foams and flesh differ by a factor of several between
//! grades, so that two digits would pretend. Damping: enough to end ringing within seconds.

use serde::Serialize;

/// Mechanical properties of a soft solid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SolidMaterial {
    /// Name, or `custom`.
    pub name: String,
    /// Mass per volume \[kg/m³\].
    pub density: f32,
    /// Young's modulus \[Pa\].
    pub young: f32,
    /// Poisson's ratio, −1 < ν < 0.5.
    pub poisson: f32,
    /// Rate at which motion relative to the ground dies away \[1/s\].
    pub damping: f32,
    /// Stiffness-proportional damping: the time by which stress runs ahead of strain \[s\].
    pub viscosity: f32,
    /// Where the numbers come from.
    pub source: String,
}

/// A row of the table of named materials.
struct Row {
    name: &'static str,
    density: f32,
    young: f32,
    poisson: f32,
    source: &'static str,
}

const TABLE: &[Row] = &[
    Row {
        name: "rubber",
        density: 1100.0,
        young: 1.5e6,
        poisson: 0.47,
        source: "natural rubber, soft: handbook values",
    },
    Row {
        name: "silicone",
        density: 1070.0,
        young: 7e4,
        poisson: 0.47,
        source: "casting silicone, Shore 00-30: data sheets",
    },
    Row {
        name: "foam",
        density: 30.0,
        young: 3e4,
        poisson: 0.2,
        source: "upholstery foam, polyurethane: data sheets",
    },
    Row {
        name: "flesh",
        density: 1050.0,
        young: 2e4,
        poisson: 0.45,
        source: "relaxed muscle and fat together: literature",
    },
    Row { name: "jelly", density: 1000.0, young: 5e3, poisson: 0.45, source: "gelatine dessert: literature" },
];

impl SolidMaterial {
    /// Names of all materials in the table.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|row| row.name)
    }

    /// The material called `name`, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.name == name).map(|row| Self {
            name: row.name.into(),
            density: row.density,
            young: row.young,
            poisson: row.poisson,
            damping: 0.2,
            viscosity: 0.0,
            source: row.source.into(),
        })
    }
}
