//! `material` of a soft body: a name from the engine's table, or parameters.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::decimal;

/// Material of a soft body: a named material, or a table of parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum SolidMaterial {
    /// A named material.
    Named(SolidMaterialName),
    /// Parameters, alone or on top of a named material.
    Table(SolidMaterialTable),
}

/// A name from the engine's table of materials of soft bodies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct SolidMaterialName(pub String);

// By hand, so that the schema lists the engine's own names and editors can offer them.
impl JsonSchema for SolidMaterialName {
    fn schema_name() -> Cow<'static, str> {
        "SolidMaterialName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = taut::SolidMaterial::names().collect();
        json_schema!({ "type": "string", "enum": names })
    }
}

/// Mechanical properties of a soft body. Without `base`, `density` and `young` are required.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SolidMaterialTable {
    /// Named material that supplies omitted parameters. None by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<SolidMaterialName>,
    /// Mass per volume \[kg/m³\]. 0.001 to 1000000.
    #[schemars(range(min = 0.001, max = 1_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Young's modulus \[Pa\]. 0 to 10¹².
    #[schemars(range(min = 0, max = 1_000_000_000_000_u64))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub young: Option<f64>,
    /// Poisson's ratio. That of `base`, or 0.4 by default; −0.99 to 0.499.
    #[schemars(range(min = -0.99, max = 0.499))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poisson: Option<f64>,
    /// Mass-proportional damping of motion relative to the ground \[1/s\]. That of `base`, or 0.2 by default;
    /// 0 to 10000.
    #[schemars(range(min = 0, max = 10_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damping: Option<f64>,
    /// Stiffness-proportional damping: the time by which stress leads strain \[s\]. That of `base`, or 0 by
    /// default; 0 to 10.
    #[schemars(range(min = 0, max = 10))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viscosity: Option<f64>,
}

impl Default for SolidMaterial {
    fn default() -> Self {
        SolidMaterial::Named(SolidMaterialName("silicone".into()))
    }
}

impl SolidMaterial {
    /// The same with every parameter written out, so that later changes of the table of materials do not
    /// change an old scene.
    pub fn written_out(&self) -> SolidMaterial {
        let material = self.build();
        let table = match self {
            Self::Named(name) => {
                SolidMaterialTable { base: Some(name.clone()), ..SolidMaterialTable::default() }
            }
            Self::Table(table) => table.clone(),
        };
        Self::Table(SolidMaterialTable {
            base: table.base,
            density: table.density.or(Some(decimal(material.density))),
            young: table.young.or(Some(decimal(material.young))),
            poisson: table.poisson.or(Some(decimal(material.poisson))),
            damping: table.damping.or(Some(decimal(material.damping))),
            viscosity: table.viscosity.or(Some(decimal(material.viscosity))),
        })
    }

    /// The engine's material. A table that changes nothing is its base material.
    pub fn build(&self) -> taut::SolidMaterial {
        let table = match self {
            Self::Named(name) => return named(name),
            Self::Table(table) => table,
        };
        let base = table.base.as_ref().map(named);
        let mut material = base.clone().unwrap_or_else(bare);
        let set = |target: &mut f32, value: Option<f64>| {
            if let Some(value) = value {
                *target = value as f32;
            }
        };
        set(&mut material.density, table.density);
        set(&mut material.young, table.young);
        set(&mut material.poisson, table.poisson);
        set(&mut material.damping, table.damping);
        set(&mut material.viscosity, table.viscosity);
        if base.as_ref() != Some(&material) {
            material.name = "custom".into();
            material.source = match &table.base {
                Some(base) => format!("scene file, from {}", base.0),
                None => "scene file".into(),
            };
        }
        material
    }
}

/// The named material; the schema accepts only known names.
fn named(name: &SolidMaterialName) -> taut::SolidMaterial {
    taut::SolidMaterial::named(&name.0).unwrap_or_else(bare)
}

/// Defaults of a table without `base`: the rules require density and Young's modulus.
fn bare() -> taut::SolidMaterial {
    taut::SolidMaterial {
        name: "custom".into(),
        density: 1000.0,
        young: 0.0,
        poisson: 0.4,
        damping: 0.2,
        viscosity: 0.0,
        source: "scene file".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_out_names_give_the_same_material() {
        for name in taut::SolidMaterial::names() {
            let material = SolidMaterial::Named(SolidMaterialName(name.into()));
            assert_eq!(material.written_out().build(), material.build());
            assert_eq!(material.written_out().build().name, name);
        }
    }

    #[test]
    fn a_changed_base_is_custom_and_the_default_is_known() {
        let base = Some(SolidMaterialName("foam".into()));
        let table = SolidMaterialTable { base, young: Some(5e4), ..SolidMaterialTable::default() };
        let material = SolidMaterial::Table(table).build();
        assert_eq!((material.name.as_str(), material.young, material.poisson), ("custom", 5e4, 0.2));
        assert_eq!(SolidMaterial::default().build().name, "silicone");
    }
}
