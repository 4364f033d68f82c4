//! `taut materials`: the tables of materials of cloth and of solids, with sources.

use std::process::ExitCode;

use serde::Serialize;
use taut::{Material, SolidMaterial};

use crate::{args::MaterialsArgs, failure::Failure, terminal};

/// A material, for scripts.
#[derive(Serialize)]
#[serde(tag = "of", rename_all = "lowercase")]
enum Entry {
    Cloth(Material),
    Solid(SolidMaterial),
}

/// Prints the tables of materials.
pub fn materials(args: &MaterialsArgs) -> Result<ExitCode, Failure> {
    let cloth: Vec<Material> = Material::names().filter_map(Material::named).collect();
    let solid: Vec<SolidMaterial> = SolidMaterial::names().filter_map(SolidMaterial::named).collect();
    if args.json {
        let cloth = cloth.into_iter().map(Entry::Cloth);
        let all: Vec<Entry> = cloth.chain(solid.into_iter().map(Entry::Solid)).collect();
        terminal::print_json(&all)?;
        return Ok(ExitCode::SUCCESS);
    }
    let heading = ["cloth", "kg/m²", "stretch N/m", "Poisson", "bend N m"].map(String::from);
    let mut rows = vec![heading.to_vec()];
    rows.extend(cloth.iter().map(|m| {
        vec![
            m.name.clone(),
            format!("{:.4}", m.density),
            format!("{:.1}", m.stretch),
            format!("{:.2}", m.poisson),
            format!("{:.2e}", m.bend),
        ]
    }));
    let mut text = with_sources(&rows, cloth.iter().map(|m| m.source.as_str()));
    let heading = ["solid", "kg/m³", "Young Pa", "Poisson"].map(String::from);
    let mut rows = vec![heading.to_vec()];
    rows.extend(solid.iter().map(|m| {
        vec![
            m.name.clone(),
            format!("{:.0}", m.density),
            format!("{:.1e}", m.young),
            format!("{:.2}", m.poisson),
        ]
    }));
    text.push('\n');
    text += &with_sources(&rows, solid.iter().map(|m| m.source.as_str()));
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// A table whose last column, the sources, is left-aligned.
fn with_sources<'a>(rows: &[Vec<String>], sources: impl Iterator<Item = &'a str>) -> String {
    let table = terminal::table(rows);
    let sources = std::iter::once("source").chain(sources);
    table.lines().zip(sources).map(|(line, source)| format!("{line}  {source}\n")).collect()
}
