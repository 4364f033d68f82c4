//! `taut materials`: the tables of materials of cloth, of solids and of hair, with sources.

use std::process::ExitCode;

use serde::Serialize;
use taut::{HairMaterial, Material, SolidMaterial};

use crate::{args::MaterialsArgs, failure::Failure, terminal};

/// A material, for scripts.
#[derive(Serialize)]
#[serde(tag = "of", rename_all = "lowercase")]
enum Entry {
    Cloth(Material),
    Solid(SolidMaterial),
    Hair(HairMaterial),
}

/// Prints the tables of materials.
pub fn materials(args: &MaterialsArgs) -> Result<ExitCode, Failure> {
    let cloth: Vec<Material> = Material::names().filter_map(Material::named).collect();
    let solid: Vec<SolidMaterial> = SolidMaterial::names().filter_map(SolidMaterial::named).collect();
    let hair: Vec<HairMaterial> = HairMaterial::names().filter_map(HairMaterial::named).collect();
    if args.json {
        let cloth = cloth.into_iter().map(Entry::Cloth);
        let all: Vec<Entry> = cloth
            .chain(solid.into_iter().map(Entry::Solid))
            .chain(hair.into_iter().map(Entry::Hair))
            .collect();
        terminal::print_json(&all)?;
        return Ok(ExitCode::SUCCESS);
    }
    let heading = ["cloth", "kg/m²", "warp N/m", "weft", "shear", "Poisson", "bend µN m", "weft", "bias"]
        .map(String::from);
    let mut rows = vec![heading.to_vec()];
    rows.extend(cloth.iter().map(|m| {
        vec![
            m.name.clone(),
            format!("{:.4}", m.density),
            short(m.stretch.warp),
            short(m.stretch.weft),
            m.stretch.shear.map_or("–".into(), short),
            format!("{:.2}", m.poisson),
            short(1e6 * m.bend.warp),
            short(1e6 * m.bend.weft),
            m.bend.bias.map_or("–".into(), |bias| short(1e6 * bias)),
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
    let heading = ["hair", "kg/m³", "radius µm", "Young Pa", "shear Pa"].map(String::from);
    let mut rows = vec![heading.to_vec()];
    rows.extend(hair.iter().map(|m| {
        vec![
            m.name.clone(),
            format!("{:.0}", m.density),
            format!("{:.0}", 1e6 * m.radius),
            format!("{:.1e}", m.young),
            format!("{:.1e}", m.shear),
        ]
    }));
    text.push('\n');
    text += &with_sources(&rows, hair.iter().map(|m| m.source.as_str()));
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Three digits.
fn short(number: f32) -> String {
    let digits = (2 - number.abs().max(1e-9).log10().floor() as i32).clamp(0, 3) as usize;
    format!("{number:.digits$}")
}

/// A table whose last column, the sources, is left-aligned.
fn with_sources<'a>(rows: &[Vec<String>], sources: impl Iterator<Item = &'a str>) -> String {
    let table = terminal::table(rows);
    let sources = std::iter::once("source").chain(sources);
    table.lines().zip(sources).map(|(line, source)| format!("{line}  {source}\n")).collect()
}
