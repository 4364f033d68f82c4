//! Reads a path or a name into a well-formed scene: text, tree, overrides, checks, types.

use std::{
    fs::File,
    io::Read,
    path::{Path as FilePath, PathBuf},
    sync::Arc,
};

use super::{
    LoadedScene, built_in,
    format::Scene,
    names,
    nearest::hint,
    overrides,
    report::{MAX_PROBLEMS, Path, Report},
    rules,
    schema::Part,
    tree::{Node, Origin, Value},
    validate::validate,
};
use crate::{Problem, Problems};

/// Largest scene file that is read \[bytes\].
const MAX_BYTES: u64 = 16 << 20;

/// See [`super::load`].
pub(super) fn load(path_or_name: &str, overrides: &[String]) -> Result<LoadedScene, Problems> {
    if let Some(scene) = built_in().iter().find(|scene| scene.name == path_or_name) {
        return parse(scene.text, scene.name, None, overrides);
    }
    let path = FilePath::new(path_or_name);
    let text = read_text(path)?;
    let name = path.file_stem().map_or_else(|| "scene".into(), |stem| stem.to_string_lossy().into_owned());
    parse(&text, &name, Some(path.to_owned()), overrides)
}

/// Reads a scene from its text. `file` is its path; other paths are relative to it.
pub(super) fn parse(
    text: &str,
    name: &str,
    file: Option<PathBuf>,
    overrides: &[String],
) -> Result<LoadedScene, Problems> {
    let mut report = Report::new(file.clone(), overrides);
    let mut tree = Node::parse(text).map_err(|errors| {
        let problem = |error: super::tree::SyntaxError| Problem {
            file: file.clone(),
            line: Some(error.line),
            key: None,
            message: format!("column {}: not valid TOML: {}", error.column, error.message),
        };
        Problems(errors.into_iter().take(MAX_PROBLEMS).map(problem).collect())
    })?;
    let empty = matches!(&tree.value, Value::Table(entries) if entries.is_empty());
    overrides::apply(&mut tree, overrides, &mut report);
    if empty && overrides.is_empty() {
        report.add(
            Origin::File,
            &Path::Root,
            "is empty; a scene requires at least one [[cloth]], [[solid]], [[particles]] or [[hair]]",
        );
    } else if let Some(root) = Part::root() {
        validate(&tree, root, &Path::Root, &mut report);
        rules::check(&tree, &mut report);
    }
    if report.problems.is_empty() {
        match serde_json::from_value::<Scene>(tree.to_json()) {
            Ok(scene) => return Ok(loaded(scene, tree, name, file, overrides)),
            // Only if the schema accepts what the types refuse.
            Err(error) => report.add(Origin::File, &Path::Root, error.to_string()),
        }
    }
    Err(Problems(report.into_sorted()))
}

/// Fills in names and materials, which need more than a field's default.
fn loaded(
    mut scene: Scene,
    tree: Node,
    name: &str,
    file: Option<PathBuf>,
    overrides: &[String],
) -> LoadedScene {
    let given: Vec<Option<&str>> = scene.cloth.iter().map(|cloth| cloth.name.as_deref()).collect();
    let cloth_names = names::complete("cloth", &given);
    let given: Vec<Option<&str>> = scene.solid.iter().map(|solid| solid.name.as_deref()).collect();
    let solid_names = names::complete("solid", &given);
    let given: Vec<Option<&str>> = scene.particles.iter().map(|body| body.name.as_deref()).collect();
    let particle_names = names::complete("particles", &given);
    let given: Vec<Option<&str>> = scene.spring.iter().map(|spring| spring.name.as_deref()).collect();
    let spring_names = names::complete("spring", &given);
    let given: Vec<Option<&str>> = scene.hair.iter().map(|hair| hair.name.as_deref()).collect();
    let hair_names = names::complete("hair", &given);
    for (hair, name) in scene.hair.iter_mut().zip(hair_names) {
        hair.name = Some(name);
        hair.material = hair.material.written_out();
    }
    for (body, name) in scene.particles.iter_mut().zip(particle_names) {
        body.name = Some(name);
    }
    for (spring, name) in scene.spring.iter_mut().zip(spring_names) {
        spring.name = Some(name);
    }
    let given: Vec<Option<&str>> = scene.obstacle.iter().map(|obstacle| obstacle.name.as_deref()).collect();
    let obstacle_names = names::complete("obstacle", &given);
    let given: Vec<Option<&str>> = scene.seam.iter().map(|seam| seam.name.as_deref()).collect();
    let seam_names = names::complete("seam", &given);
    for (seam, name) in scene.seam.iter_mut().zip(seam_names) {
        seam.name = Some(name);
    }
    for (cloth, name) in scene.cloth.iter_mut().zip(cloth_names) {
        cloth.name = Some(name);
        cloth.material = cloth.material.written_out();
    }
    for (solid, name) in scene.solid.iter_mut().zip(solid_names) {
        solid.name = Some(name);
        solid.material = solid.material.written_out();
    }
    for (obstacle, name) in scene.obstacle.iter_mut().zip(obstacle_names) {
        obstacle.name = Some(name);
    }
    LoadedScene {
        name: name.to_owned(),
        frames: scene.scene.frames,
        frame_rate: scene.scene.frame_rate as f32,
        base: file.as_deref().and_then(FilePath::parent).map(FilePath::to_owned).unwrap_or_default(),
        file,
        scene,
        tree: Arc::new(tree),
        overrides: overrides.into(),
        moved_inputs: None,
        warnings: std::sync::OnceLock::new(),
    }
}

/// The text of a scene file.
fn read_text(path: &FilePath) -> Result<String, Problem> {
    let problem = |message: String| Problem { file: Some(path.to_owned()), message, ..Problem::default() };
    let failed = |error: std::io::Error| problem(format!("cannot be read: {error}"));
    let file = File::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => problem(not_found(path)),
        _ => failed(error),
    })?;
    let data = file.metadata().map_err(failed)?;
    if data.is_dir() {
        return Err(problem("is a folder; expected a TOML file or the name of a built-in scene".into()));
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(problem(format!("is larger than {} MB, the limit for scene files", MAX_BYTES >> 20)));
    }
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
        Problem { line: Some(line), ..problem("is not UTF-8 text".into()) }
    })
}

fn not_found(path: &FilePath) -> String {
    let names: Vec<&str> = built_in().iter().map(|scene| scene.name).collect();
    let text = path.to_string_lossy();
    let stem = path.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let near = hint(&stem, names.iter().copied());
    let what = if text.contains(['/', '\\']) || text.ends_with(".toml") {
        "no such file, and no built-in scene with that name"
    } else {
        "neither a file nor a built-in scene"
    };
    format!("{what}{near} built in: {}", names.join(", "))
}
