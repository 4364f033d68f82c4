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
    /// Young's modulus times thickness \[N/m\]: one number, or a table of `warp`, `weft` and `shear`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stretch: Option<Stretch>,
    /// Poisson's ratio: how much it narrows, of what it is stretched along the warp. Below 0.5 if `stretch`
    /// is one number, else below the square root of warp over weft. That of `base` if it may be, or 0.3 by
    /// default; −1000 to 1000.
    #[schemars(range(min = -1000, max = 1000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub poisson: Option<f64>,
    /// Flexural rigidity \[N m\]: one number, or a table of `warp`, `weft` and `bias`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bend: Option<Bend>,
    /// Thickness \[m\]: the distance that cloth keeps from cloth, if `contact.thickness` is not set. A
    /// quarter of an edge by default; 0.00001 to 1.
    #[schemars(range(min = 0.000_01, max = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thickness: Option<f64>,
    /// Mass-proportional damping of motion relative to the ground \[1/s\]. That of `base`, or 0.1 by default;
    /// 0 to 10000.
    #[schemars(range(min = 0, max = 10_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damping: Option<f64>,
    /// Stiffness-proportional damping of explicit forces (`integrator = "leap-frog"`): the time by which
    /// stress leads strain \[s\]. That of `base`, or 0 by default; 0 to 10.
    #[schemars(range(min = 0, max = 10))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub viscosity: Option<f64>,
    /// Damping of bending with an implicit integrator: the time by which the moment leads the curvature
    /// \[s\]. That of `base`, or 0 by default; 0 to 10.
    #[schemars(range(min = 0, max = 10))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bend_damping: Option<f64>,
}

/// Stiffness against stretching: in all directions, or by direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Stretch {
    /// In all directions \[N/m\]. 0 to 10⁹.
    Alike(#[schemars(range(min = 0, max = 1_000_000_000))] f64),
    /// By direction.
    Woven(WovenStretch),
}

/// Stiffness against stretching by direction: Young's modulus times thickness \[N/m\]. Without `base`, `warp`
/// and `weft` are required.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct WovenStretch {
    /// Along the warp. That of `base` by default; 0 to 10⁹.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warp: Option<f64>,
    /// Along the weft, perpendicular to the warp. That of `base` by default; 0 to 10⁹.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weft: Option<f64>,
    /// Shear modulus times thickness. That of `base` by default, or without one what would follow from warp,
    /// weft and Poisson's ratio alone: far more than woven cloth has; 0 to 10⁹.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shear: Option<f64>,
}

/// Stiffness against bending: in all directions, or by direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Bend {
    /// In all directions \[N m\]. 0 to 1000000.
    Alike(#[schemars(range(min = 0, max = 1_000_000))] f64),
    /// By direction.
    Woven(WovenBend),
}

/// Flexural rigidity of strips cut along three directions \[N m\]. Without `base`, `warp` and `weft` are
/// required.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct WovenBend {
    /// Along the warp. That of `base` by default; 0 to 1000000.
    #[schemars(range(min = 0, max = 1_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warp: Option<f64>,
    /// Along the weft, perpendicular to the warp. That of `base` by default; 0 to 1000000.
    #[schemars(range(min = 0, max = 1_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weft: Option<f64>,
    /// At 45 degrees to both, at least a quarter of their sum. That of `base` by default, or without one
    /// what an isotropic sheet has; 0 to 1000000.
    #[schemars(range(min = 0, max = 1_000_000))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bias: Option<f64>,
}

impl Stretch {
    /// The engine's, with `base` for what is omitted.
    fn build(self, base: taut::Stretching) -> taut::Stretching {
        match self {
            Self::Alike(stretch) => (stretch as f32).into(),
            Self::Woven(WovenStretch { warp, weft, shear }) => taut::Stretching {
                warp: warp.map_or(base.warp, |warp| warp as f32),
                weft: weft.map_or(base.weft, |weft| weft as f32),
                shear: shear.map(|shear| shear as f32).or(base.shear),
            },
        }
    }

    fn of(stretch: taut::Stretching) -> Self {
        let taut::Stretching { warp, weft, shear } = stretch;
        if warp == weft && shear.is_none() {
            return Self::Alike(decimal(warp));
        }
        let [warp, weft] = [warp, weft].map(|modulus| Some(decimal(modulus)));
        Self::Woven(WovenStretch { warp, weft, shear: shear.map(decimal) })
    }
}

impl Bend {
    /// The engine's, with `base` for what is omitted.
    fn build(self, base: taut::Bending) -> taut::Bending {
        match self {
            Self::Alike(bend) => (bend as f32).into(),
            Self::Woven(WovenBend { warp, weft, bias }) => taut::Bending {
                warp: warp.map_or(base.warp, |warp| warp as f32),
                weft: weft.map_or(base.weft, |weft| weft as f32),
                bias: bias.map(|bias| bias as f32).or(base.bias),
            },
        }
    }

    fn of(bend: taut::Bending) -> Self {
        let taut::Bending { warp, weft, bias } = bend;
        if warp == weft && bias.is_none() {
            return Self::Alike(decimal(warp));
        }
        let [warp, weft] = [warp, weft].map(|rigidity| Some(decimal(rigidity)));
        Self::Woven(WovenBend { warp, weft, bias: bias.map(decimal) })
    }
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
            stretch: Some(Stretch::of(material.stretch)),
            poisson: table.poisson.or(Some(decimal(material.poisson))),
            bend: Some(Bend::of(material.bend)),
            thickness: table.thickness,
            damping: table.damping.or(Some(decimal(material.damping))),
            viscosity: table.viscosity.or(Some(decimal(material.viscosity))),
            bend_damping: table.bend_damping.or(Some(decimal(material.bend_damping))),
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
        if let Some(stretch) = table.stretch {
            material.stretch = stretch.build(material.stretch);
            // That of woven cloth may be too large for cloth that is the same in all directions.
            if matches!(stretch, Stretch::Alike(_)) && material.poisson >= 0.5 {
                material.poisson = POISSON;
            }
        }
        if let Some(bend) = table.bend {
            material.bend = bend.build(material.bend);
        }
        set(&mut material.poisson, table.poisson);
        set(&mut material.damping, table.damping);
        set(&mut material.viscosity, table.viscosity);
        set(&mut material.bend_damping, table.bend_damping);
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

/// Poisson's ratio of a table that leaves it open.
const POISSON: f32 = 0.3;

/// The named material; the schema accepts only known names.
fn named(name: &MaterialName) -> taut::Material {
    taut::Material::named(&name.0).unwrap_or_else(bare)
}

/// Defaults of a table without `base`: the rules require density, stretch and bend.
fn bare() -> taut::Material {
    taut::Material {
        name: "custom".into(),
        density: 1.0,
        stretch: 0.0.into(),
        poisson: POISSON,
        bend: 0.0.into(),
        damping: 0.1,
        viscosity: 0.0,
        bend_damping: 0.0,
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
