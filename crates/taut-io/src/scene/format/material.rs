//! `material`: a name from the engine's table, or parameters.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::decimal;

/// Material of cloth: a named fabric or film, or a table of parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Material {
    /// A named fabric or film.
    Named(MaterialName),
    /// Parameters, alone or on top of a named material.
    Table(MaterialTable),
}

/// A name from the engine's table of materials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct MaterialName(pub String);

// By hand, so that the schema lists the engine's own names and editors can offer them.
impl JsonSchema for MaterialName {
    fn schema_name() -> Cow<'static, str> {
        "MaterialName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = taut::Material::names().collect();
        json_schema!({ "type": "string", "enum": names })
    }
}

/// Mechanical properties of a sheet. Without `base`, `density`, `stretch` and `bend` are required.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct MaterialTable {
    /// Named material that supplies omitted parameters. None by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<MaterialName>,
    /// Mass per area \[kg/m²\]. 0.000001 to 1000000.
    #[schemars(range(min = 0.000_001, max = 1_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Young's modulus times thickness \[N/m\]. 0 to 10⁹.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stretch: Option<f64>,
    /// Poisson's ratio. That of `base`, or 0.3 by default; −0.99 to 0.99.
    #[schemars(range(min = -0.99, max = 0.99))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poisson: Option<f64>,
    /// Flexural rigidity \[N m\]. 0 to 1000000.
    #[schemars(range(min = 0, max = 1_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bend: Option<f64>,
    /// Mass-proportional damping of motion relative to the ground \[1/s\]. That of `base`, or 0.1 by default;
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

impl Default for Material {
    fn default() -> Self {
        Material::Named(MaterialName("polyester".into()))
    }
}

impl Material {
    /// The same with every parameter written out, so that later changes of the table of materials do not
    /// change an old scene.
    pub fn written_out(&self) -> Material {
        let material = self.build();
        let table = match self {
            Material::Named(name) => MaterialTable { base: Some(name.clone()), ..MaterialTable::default() },
            Material::Table(table) => table.clone(),
        };
        Material::Table(MaterialTable {
            base: table.base,
            density: table.density.or(Some(decimal(material.density))),
            stretch: table.stretch.or(Some(decimal(material.stretch))),
            poisson: table.poisson.or(Some(decimal(material.poisson))),
            bend: table.bend.or(Some(decimal(material.bend))),
            damping: table.damping.or(Some(decimal(material.damping))),
            viscosity: table.viscosity.or(Some(decimal(material.viscosity))),
        })
    }

    /// The engine's material. A table that changes nothing is its base material.
    pub fn build(&self) -> taut::Material {
        let table = match self {
            Material::Named(name) => return named(name),
            Material::Table(table) => table,
        };
        let base = table.base.as_ref().map(named);
        let mut material = base.clone().unwrap_or_else(bare);
        let set = |target: &mut f32, value: Option<f64>| {
            if let Some(value) = value {
                *target = value as f32;
            }
        };
        set(&mut material.density, table.density);
        set(&mut material.stretch, table.stretch);
        set(&mut material.poisson, table.poisson);
        set(&mut material.bend, table.bend);
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
fn named(name: &MaterialName) -> taut::Material {
    taut::Material::named(&name.0).unwrap_or_else(bare)
}

/// Defaults of a table without `base`: the rules require density, stretch and bend.
fn bare() -> taut::Material {
    taut::Material {
        name: "custom".into(),
        density: 1.0,
        stretch: 0.0,
        poisson: 0.3,
        bend: 0.0,
        damping: 0.1,
        viscosity: 0.0,
        source: "scene file".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_out_names_give_the_same_material() {
        for name in taut::Material::names() {
            let material = Material::Named(MaterialName(name.into()));
            assert_eq!(material.written_out().build(), material.build());
            assert_eq!(material.written_out().build().name, name);
        }
    }

    #[test]
    fn a_changed_base_is_custom_and_stays_so() {
        let table = MaterialTable {
            base: Some(MaterialName("denim".into())),
            density: Some(0.4),
            ..MaterialTable::default()
        };
        let material = Material::Table(table).build();
        assert_eq!((material.name.as_str(), material.density), ("custom", 0.4));
        assert_eq!(material.stretch, taut::Material::named("denim").unwrap().stretch);
    }
}
