//! `taut check`: everything that would stop a run, found without running.

use std::{path::Path, process::ExitCode};

use serde::Serialize;
use taut::{World, mesh::TriangleMesh};
use taut_io::{
    Problem, Problems, mesh,
    output::{layout::check_names, outcome::BodySize, recorder::body_sizes},
    scene,
};

use crate::{
    args::CheckArgs,
    failure::{Failure, code},
    terminal::{self, GOOD, styled},
};

/// What was found.
#[derive(Default, Serialize)]
struct Found {
    ok: bool,
    problems: Vec<Place>,
    warnings: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frames: Option<u32>,
    bodies: Vec<BodySize>,
    obstacles: usize,
}

/// A problem, for scripts.
#[derive(Serialize)]
struct Place {
    file: Option<String>,
    line: Option<usize>,
    key: Option<String>,
    message: String,
}

impl From<&Problem> for Place {
    fn from(problem: &Problem) -> Self {
        Self {
            file: problem.file.as_ref().map(|file| file.display().to_string()),
            line: problem.line,
            key: problem.key.clone(),
            message: problem.message.clone(),
        }
    }
}

/// Checks a scene or a mesh.
pub fn check(args: &CheckArgs) -> Result<ExitCode, Failure> {
    let extension = Path::new(&args.input).extension().and_then(|e| e.to_str()).unwrap_or_default();
    let is_mesh = ["obj", "ply", "stl", "gltf", "glb"].contains(&extension.to_lowercase().as_str());
    if is_mesh && !args.set.set.is_empty() {
        return Err(Failure::input("--set changes a scene, and this is a mesh", "leave --set away"));
    }
    let found = if is_mesh { check_mesh(Path::new(&args.input)) } else { check_scene(args) };
    match found {
        Ok(found) => {
            found.warnings.iter().for_each(|warning| terminal::warning(warning));
            if args.json {
                terminal::print_json(&found)?
            } else {
                terminal::print(&describe(args, &found))?
            }
            Ok(ExitCode::SUCCESS)
        }
        Err(problems) if args.json => {
            let problems = problems.0.iter().map(Place::from).collect();
            terminal::print_json(&Found { problems, ..Found::default() })?;
            Ok(code::BAD_INPUT.into())
        }
        Err(problems) => {
            let n = problems.0.len();
            let hint = (n > 1).then(|| format!("{n} problems in all"));
            Err(Failure::Input { problems, hint })
        }
    }
}

fn check_scene(args: &CheckArgs) -> Result<Found, Problems> {
    let scene = scene::load(&args.input, &args.set.set)?;
    let description = scene.build()?;
    check_names(description.cloths.iter().map(|cloth| cloth.name.as_str()))?;
    let world = World::new(description).map_err(|error| Problem {
        file: scene.file.clone(),
        message: error.to_string(),
        ..Problem::default()
    })?;
    Ok(Found {
        ok: true,
        warnings: scene.warnings().iter().map(ToString::to_string).chain(world.warnings()).collect(),
        frames: Some(scene.frames),
        bodies: body_sizes(&world),
        obstacles: world.description().obstacles.len() + world.description().mesh_obstacles.len(),
        ..Found::default()
    })
}

fn check_mesh(path: &Path) -> Result<Found, Problems> {
    let mesh = mesh::read(path)?;
    let problems: Vec<Problem> = taut::mesh::check::check(&mesh)
        .iter()
        .map(|problem| Problem {
            file: Some(path.into()),
            message: problem.to_string(),
            ..Problem::default()
        })
        .collect();
    if !problems.is_empty() {
        return Err(Problems(problems));
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Found { ok: true, bodies: vec![size(name, &mesh)], ..Found::default() })
}

fn size(name: String, mesh: &TriangleMesh) -> BodySize {
    BodySize { name, vertices: mesh.positions.len(), triangles: mesh.triangles.len() }
}

fn describe(args: &CheckArgs, found: &Found) -> String {
    let verdict = match found.warnings.len() {
        0 => "fine".to_string(),
        1 => "can be run, with a warning".to_string(),
        n => format!("can be run, with {n} warnings"),
    };
    let mut text = format!("{}: {}\n", args.input, styled(GOOD, verdict));
    for body in &found.bodies {
        text.push_str(&format!(
            "  {}: {} vertices, {} triangles\n",
            body.name, body.vertices, body.triangles
        ));
    }
    if let Some(frames) = found.frames {
        text.push_str(&format!("  obstacles: {}, frames: {frames}\n", found.obstacles));
    }
    text
}
