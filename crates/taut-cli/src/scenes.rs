//! `taut scenes`: the built-in scenes, and the JSON Schema of scene files.

use std::process::ExitCode;

use serde::Serialize;
use taut_io::scene::{self, BuiltIn};

use crate::{
    args::ScenesArgs,
    failure::Failure,
    summary::elements,
    terminal::{self, BOLD, DIM, styled},
};

/// A built-in scene, for people and for scripts.
#[derive(Serialize)]
struct Entry {
    name: &'static str,
    description: String,
    frames: u32,
    bodies: usize,
    vertices: usize,
    triangles: usize,
    tetrahedra: usize,
    segments: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'static str>,
}

/// Lists the built-in scenes, prints one, or prints the schema.
pub fn scenes(args: &ScenesArgs) -> Result<ExitCode, Failure> {
    if args.schema {
        terminal::print_json(&scene::schema())?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(name) = &args.name {
        let built_in = scene::built_in().iter().find(|built_in| built_in.name == name.as_str());
        let Some(built_in) = built_in else {
            let names: Vec<&str> = scene::built_in().iter().map(|built_in| built_in.name).collect();
            return Err(Failure::input(
                format!("no built-in scene is named {name:?}"),
                format!("built-in scenes: {}", names.join(", ")),
            ));
        };
        if args.json {
            terminal::print_json(&Entry { text: Some(built_in.text), ..entry(built_in)? })?;
        } else {
            terminal::print(built_in.text)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let entries = scene::built_in().iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    if args.json {
        terminal::print_json(&entries)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for e in &entries {
        let size = format!("{} frames, {}", e.frames, elements(e.triangles, e.tetrahedra, e.segments));
        text.push_str(&format!("{}  {}\n", styled(BOLD, format_args!("{:<20}", e.name)), styled(DIM, size)));
        text.push_str(&format!("{:<22}{}\n", "", e.description));
    }
    text.push_str("\n`taut run NAME` runs one, `taut scenes NAME > my.toml` copies it as a template\n");
    terminal::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn entry(built_in: &BuiltIn) -> Result<Entry, Failure> {
    let scene = scene::load(built_in.name, &[])?;
    let description = scene.build()?;
    let count = |kind: &str| {
        let of_kind = description.bodies.iter().filter(|body| body.kind() == kind);
        of_kind.map(|body| body.element_count()).sum()
    };
    Ok(Entry {
        name: built_in.name,
        description: scene.description().into(),
        frames: scene.frames,
        bodies: description.bodies.len(),
        vertices: description.bodies.iter().map(|body| body.rest_positions().len()).sum(),
        triangles: count("cloth"),
        tetrahedra: count("solid"),
        segments: count("particles"),
        text: None,
    })
}
