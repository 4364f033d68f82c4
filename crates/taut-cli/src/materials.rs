//! `taut materials`: the table of materials, with sources.

use std::process::ExitCode;

use taut::Material;

use crate::{args::MaterialsArgs, failure::Failure, terminal};

/// Prints the table of materials.
pub fn materials(args: &MaterialsArgs) -> Result<ExitCode, Failure> {
    let all: Vec<Material> = Material::names().filter_map(Material::named).collect();
    if args.json {
        terminal::print_json(&all)?;
        return Ok(ExitCode::SUCCESS);
    }
    let heading = ["material", "kg/m²", "stretch N/m", "Poisson", "bend N m"].map(String::from);
    let mut rows = vec![heading.to_vec()];
    rows.extend(all.iter().map(|m| {
        vec![
            m.name.clone(),
            format!("{:.4}", m.density),
            format!("{:.1}", m.stretch),
            format!("{:.2}", m.poisson),
            format!("{:.2e}", m.bend),
        ]
    }));
    let table = terminal::table(&rows);
    let sources = std::iter::once("source").chain(all.iter().map(|m| m.source.as_str()));
    let text: String =
        table.lines().zip(sources).map(|(line, source)| format!("{line}  {source}\n")).collect();
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}
