//! What hair is made of: a few materials by name.
//!
//! Values are those of the literature, rounded: fibres of one head differ by a third in radius and modulus,
//! so that more digits would pretend. The shear modulus of keratin is far less than that of an isotropic
//! solid, since its fibrils lie along the fibre. Damping: enough to end ringing within seconds.

use crate::HairMaterial;

/// A row of the table of named materials.
struct Row {
    name: &'static str,
    density: f32,
    radius: f32,
    young: f32,
    shear: f32,
    damping: f32,
    source: &'static str,
}

const TABLE: &[Row] = &[
    Row {
        name: "european",
        density: 1300.0,
        radius: 3.5e-5,
        young: 4e9,
        shear: 1e9,
        damping: 1.0,
        source: "human hair, literature values, rounded: density 1300 kg/m³, Young 3–5 GPa, shear about 1 GPa at 50–65 % humidity, diameter 50–90 µm",
    },
    Row {
        name: "asian",
        density: 1300.0,
        radius: 4.5e-5,
        young: 4e9,
        shear: 1e9,
        damping: 1.0,
        source: "human hair, literature values, rounded: as european, diameter 80–120 µm, nearly round",
    },
    Row {
        name: "coily",
        density: 1300.0,
        radius: 3.5e-5,
        young: 3e9,
        shear: 1e9,
        damping: 1.5,
        source: "human hair of African origin, literature values, rounded: elliptic, 55 by 95 µm, here round with about the same area; Young 2.5–4 GPa",
    },
    Row {
        name: "wool",
        density: 1310.0,
        radius: 1.2e-5,
        young: 3.5e9,
        shear: 1e9,
        damping: 2.0,
        source: "merino wool, handbook values, rounded: density 1310 kg/m³, Young 3–4 GPa, diameter 18–25 µm",
    },
    Row {
        name: "nylon",
        density: 1140.0,
        radius: 4e-5,
        young: 2.5e9,
        shear: 9e8,
        damping: 1.0,
        source: "polyamide 6 monofilament, as in wigs and dolls, handbook values, rounded: density 1140 kg/m³, Young 2–3 GPa, diameter 60–100 µm",
    },
    Row {
        name: "wet",
        density: 1320.0,
        radius: 4e-5,
        young: 1.5e9,
        shear: 2e8,
        damping: 3.0,
        source: "human hair in water, literature values, rounded: a third of the dry Young's modulus, a fifth of the dry shear modulus, 14 % thicker; the density is with the water in the fibre; damping is a guess",
    },
];

impl HairMaterial {
    /// Names of all materials in the table.
    pub fn names() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|row| row.name)
    }

    /// The material called `name`, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        TABLE.iter().find(|row| row.name == name).map(|row| Self {
            name: row.name.into(),
            density: row.density,
            radius: row.radius,
            young: row.young,
            shear: row.shear,
            damping: row.damping,
            source: row.source.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn materials_are_those_of_fibres() {
        for name in HairMaterial::names() {
            let material = HairMaterial::named(name).unwrap();
            assert!((1000.0..1500.0).contains(&material.density), "{name}");
            assert!((1e-5..1e-4).contains(&material.radius), "{name}");
            // No isotropic solid has more than half of its Young's modulus.
            assert!(material.shear < 0.5 * material.young && material.shear > 0.0, "{name}");
            assert!(!material.source.is_empty());
        }
        assert!(HairMaterial::named("european").is_some() && HairMaterial::named("steel").is_none());
    }
}
