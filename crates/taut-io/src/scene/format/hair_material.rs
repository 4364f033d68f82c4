//! `material` of hair: a name from the engine's table, or parameters.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::decimal;

/// Material of hair: a named material, or a table of parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum HairMaterial {
    /// A named material.
    Named(HairMaterialName),
    /// Parameters, alone or on top of a named material.
    Table(HairMaterialTable),
}

/// Name of the material of hair that scenes have by default.
const DEFAULT: &str = "european";

/// A name from the engine's table of materials of hair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct HairMaterialName(pub String);

// By hand, so that the schema lists the engine's own names and editors can offer them.
impl JsonSchema for HairMaterialName {
    fn schema_name() -> Cow<'static, str> {
        "HairMaterialName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = taut::HairMaterial::names().collect();
        json_schema!({ "type": "string", "enum": names })
    }
}

/// Mechanical properties of hair: those of `base` but for the keys that are given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct HairMaterialTable {
    /// Named material that supplies omitted parameters. `"european"` by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<HairMaterialName>,
    /// Mass per volume \[kg/m³\]. That of `base` by default; 0.001 to 1000000.
    #[schemars(range(min = 0.001, max = 1_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Radius of strands whose groom says none \[m\]. That of `base` by default; 0.000000001 to 1.
    #[schemars(range(min = 0.000_000_001, max = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<f64>,
    /// Young's modulus \[Pa\]. That of `base` by default; 0 to 10¹³.
    #[schemars(range(min = 0, max = 10_000_000_000_000_u64))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub young: Option<f64>,
    /// Shear modulus, for twist \[Pa\]. That of `base` by default; 0 to 10¹³.
    #[schemars(range(min = 0, max = 10_000_000_000_000_u64))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shear: Option<f64>,
    /// Rate at which motion dies away \[1/s\]. That of `base` by default; 0 to 10000.
    #[schemars(range(min = 0, max = 10_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damping: Option<f64>,
}

impl Default for HairMaterial {
    fn default() -> Self {
        HairMaterial::Named(HairMaterialName(DEFAULT.into()))
    }
}

impl HairMaterial {
    /// The same with every parameter written out, so that later changes of the table of materials do not
    /// change an old scene.
    pub fn written_out(&self) -> HairMaterial {
        let material = self.build();
        let table = match self {
            Self::Named(name) => {
                HairMaterialTable { base: Some(name.clone()), ..HairMaterialTable::default() }
            }
            Self::Table(table) => table.clone(),
        };
        Self::Table(HairMaterialTable {
            base: table.base,
            density: table.density.or(Some(decimal(material.density))),
            radius: table.radius.or(Some(decimal(material.radius))),
            young: table.young.or(Some(decimal(material.young))),
            shear: table.shear.or(Some(decimal(material.shear))),
            damping: table.damping.or(Some(decimal(material.damping))),
        })
    }

    /// The engine's material. A table that changes nothing is its base material.
    pub fn build(&self) -> taut::HairMaterial {
        let table = match self {
            Self::Named(name) => return named(Some(name)),
            Self::Table(table) => table,
        };
        let base = named(table.base.as_ref());
        let mut material = base.clone();
        let set = |target: &mut f32, value: Option<f64>| {
            if let Some(value) = value {
                *target = value as f32;
            }
        };
        set(&mut material.density, table.density);
        set(&mut material.radius, table.radius);
        set(&mut material.young, table.young);
        set(&mut material.shear, table.shear);
        set(&mut material.damping, table.damping);
        if base != material {
            material.source = format!("scene file, from {}", base.name);
            material.name = "custom".into();
        }
        material
    }
}

/// The named material, or the default one; the schema accepts only known names.
fn named(name: Option<&HairMaterialName>) -> taut::HairMaterial {
    let name = name.map_or(DEFAULT, |name| name.0.as_str());
    taut::HairMaterial::named(name).unwrap_or_else(|| taut::HairMaterial {
        name: "custom".into(),
        density: 1300.0,
        radius: 3.5e-5,
        young: 4e9,
        shear: 1e9,
        damping: 1.0,
        source: "scene file".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_out_names_give_the_same_material() {
        for name in taut::HairMaterial::names() {
            let material = HairMaterial::Named(HairMaterialName(name.into()));
            assert_eq!(material.written_out().build(), material.build());
            assert_eq!(material.written_out().build().name, name);
        }
        assert_eq!(HairMaterial::default().build().name, "european");
    }

    #[test]
    fn a_changed_base_is_custom() {
        let base = Some(HairMaterialName("wool".into()));
        let table = HairMaterialTable { base, radius: Some(2e-5), ..HairMaterialTable::default() };
        let material = HairMaterial::Table(table).build();
        assert_eq!((material.name.as_str(), material.radius, material.density), ("custom", 2e-5, 1310.0));
    }
}
