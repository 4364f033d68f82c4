//! The tables of materials that a scene can name, from the engine's own.

use taut::{Material, SolidMaterial};

use crate::scene_reference::table;

/// The table, with sources.
pub fn table_of(materials: &[Material]) -> String {
    let mut rows = vec![
        [
            "name",
            "density [kg/m²]",
            "stretch: warp, weft, shear [N/m]",
            "Poisson",
            "bend: warp, weft, bias [µN m]",
            "source",
        ]
        .map(String::from),
    ];
    rows.extend(materials.iter().map(|m| {
        [
            format!("`{}`", m.name),
            m.density.to_string(),
            by_direction([m.stretch.warp, m.stretch.weft], m.stretch.shear),
            format!("{:.2}", m.poisson),
            by_direction([1e6 * m.bend.warp, 1e6 * m.bend.weft], m.bend.bias.map(|bias| 1e6 * bias)),
            m.source.clone(),
        ]
    }));
    table(&rows)
}

/// One number for all directions, or three; with three digits.
fn by_direction([warp, weft]: [f32; 2], third: Option<f32>) -> String {
    let short = |number: f32| {
        let digits = (2 - number.abs().max(1e-9).log10().floor() as i32).clamp(0, 3) as usize;
        format!("{number:.digits$}")
    };
    match third {
        None if warp == weft => short(warp),
        None => format!("{}, {}", short(warp), short(weft)),
        Some(third) => format!("{}, {}, {}", short(warp), short(weft), short(third)),
    }
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
