//! The tables of materials that a scene can name, from the engine's own.

use taut::{Material, SolidMaterial};

use crate::scene_reference::table;

/// The table, with sources.
pub fn table_of(materials: &[Material]) -> String {
    let mut rows = vec![
        ["name", "density [kg/m²]", "stretch [N/m]", "Poisson", "bend [N m]", "source"].map(String::from),
    ];
    rows.extend(materials.iter().map(|m| {
        [
            format!("`{}`", m.name),
            m.density.to_string(),
            m.stretch.to_string(),
            m.poisson.to_string(),
            format!("{:.2e}", m.bend),
            m.source.clone(),
        ]
    }));
    table(&rows)
}

/// The table of all named materials.
pub fn table_of_all() -> String {
    table_of(&Material::names().filter_map(Material::named).collect::<Vec<_>>())
}

/// The table of all named materials of solids.
pub fn table_of_solids() -> String {
    let mut rows =
        vec![["name", "density [kg/m³]", "Young's modulus [Pa]", "Poisson", "source"].map(String::from)];
    rows.extend(SolidMaterial::names().filter_map(SolidMaterial::named).map(|m| {
        [
            format!("`{}`", m.name),
            m.density.to_string(),
            m.young.to_string(),
            m.poisson.to_string(),
            m.source.clone(),
        ]
    }));
    table(&rows)
}
