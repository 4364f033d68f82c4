//! The scene file: what is simulated, as TOML in SI units.
//!
//! [`load`] reads a file or a built-in scene and finds all that is wrong with it at once;
//! [`LoadedScene::build`] reads the files it names and makes what the engine needs. On the way a scene is
//!
//! 1. a tree of values that know their lines (`tree`), changed by the command line (`overrides`),
//! 2. checked along the JSON Schema (`validate`), which is generated from the types (`schema`, `format`), and
//!   by what
//!    a schema cannot say (`rules`), every problem with file, line and key (`report`),
//! 3. typed (`format`), and built: meshes and starts (`build`, `noise`), selections (`select`, `map`), seams
//!   (`seams`),
//!    obstacles (`solids`, `surfaces`), soft solids (`tetrahedra`).

mod build;
mod built_in;
mod format;
mod inputs;
mod map;
mod names;
mod nearest;
mod noise;
mod overrides;
mod read;
mod report;
mod rules;
mod schema;
mod seams;
mod select;
mod solids;
mod surfaces;
mod tetrahedra;
mod tree;
mod validate;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use taut::{Description, hierarchy::fit::Method};

use crate::{Problem, Problems};

pub use built_in::{BuiltIn, built_in};

/// A scene that has been read and found well-formed: every key known, every value in range.
#[derive(Clone, Debug)]
pub struct LoadedScene {
    /// Its name: the built-in scene's, or the file's without extension.
    pub name: String,
    /// Number of frames to simulate, from frame 1; frame 0 is the start.
    pub frames: u32,
    /// Frames a second \[1/s\].
    pub frame_rate: f32,
    /// The file it was read from, if it is not built in.
    pub file: Option<PathBuf>,
    /// Folder that the files it names are relative to.
    base: PathBuf,
    /// What it says, every default written out.
    scene: format::Scene,
    /// What was written, for the lines of messages.
    tree: Arc<tree::Node>,
    /// Overrides that it was loaded with.
    overrides: Arc<[String]>,
    /// Where its files will be, once it has been moved.
    moved_inputs: Option<Vec<(String, PathBuf)>>,
    /// What [`build`](Self::build) warned of.
    warnings: OnceLock<Vec<Problem>>,
}

/// A lamp of a scene, of no consequence to the simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Light {
    /// Where it is \[m\].
    pub position: [f32; 3],
    /// Its colour, as `#rrggbb`.
    pub color: String,
    /// How bright it is; 1 is a usual lamp.
    pub intensity: f32,
}

/// What a run came to, as far as `[expect]` asks for it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunExtremes {
    /// Largest principal strain of any triangle in any frame after the start.
    pub max_strain: f64,
    /// Smallest principal strain.
    pub min_strain: f64,
    /// Largest residual past a strain or edge limit.
    pub max_residual: f64,
    /// Largest excess past a bend limit \[°\].
    pub max_bend_excess: f64,
    /// Deepest penetration of an obstacle \[m\].
    pub max_penetration: f64,
    /// Largest opening of a seam at the last frame \[m\].
    pub final_opening: f64,
    /// Lowest and highest position of any vertex at the last frame, per axis \[m\].
    pub final_bounds: [[f64; 3]; 2],
}

impl LoadedScene {
    /// Reads meshes and maps, resolves selections, and makes what the engine needs. All problems at once.
    ///
    /// # Errors
    /// All that is wrong with the files that the scene names and with what it selects.
    pub fn build(&self) -> Result<Description, Problems> {
        let built = build::build(self)?;
        // Set once: building again finds the same, as long as the files are the same.
        let _ = self.warnings.set(built.warnings);
        Ok(built.description)
    }

    /// What a user should know of the scene, though it can be simulated: oddities of meshes, pins that
    /// overlap. Empty if it cannot be built.
    pub fn warnings(&self) -> Vec<Problem> {
        if self.warnings.get().is_none() {
            // The error is for those who call `build`.
            let _ = self.build();
        }
        self.warnings.get().cloned().unwrap_or_default()
    }

    /// How the limits of coarser levels are to be found, where a scheme uses them.
    pub fn fit_method(&self) -> Method {
        self.scene.solver.fit.build()
    }

    /// Whether its scheme uses fitted limits on coarser levels ([`fit_scene`](crate::cache::fit::fit_scene)).
    pub fn fits_levels(&self) -> bool {
        self.scene.solver.scheme == format::Scheme::Paper
    }

    /// What the scene shows, in a sentence; may be empty.
    pub fn description(&self) -> &str {
        &self.scene.scene.description
    }

    /// Its lamps; none leaves light to whoever shows the scene.
    pub fn lights(&self) -> Vec<Light> {
        let light = |light: &format::Light| Light {
            position: light.position.map(|x| x as f32),
            color: light.color.clone(),
            intensity: light.intensity as f32,
        };
        self.scene.light.iter().map(light).collect()
    }

    /// The effective scene with every default written out, as TOML. Optional keys that are not set are left
    /// out.
    pub fn to_toml(&self) -> String {
        let mut scene = self.scene.clone();
        // A caller may have changed these.
        scene.scene.frames = self.frames;
        if scene.scene.frame_rate as f32 != self.frame_rate {
            scene.scene.frame_rate = format::decimal(self.frame_rate);
        }
        toml::to_string(&scene).unwrap_or_else(|error| format!("# the scene could not be written: {error}\n"))
    }

    /// Files that the scene reads (meshes and their buffers, sequences, maps), as it names them and where
    /// they are; each once.
    pub fn inputs(&self) -> Vec<(String, PathBuf)> {
        match &self.moved_inputs {
            Some(inputs) => inputs.clone(),
            None => inputs::list(self).into_iter().map(|input| (input.name, input.path)).collect(),
        }
    }

    /// The same scene, reading its files from `folder/inputs/`; `folder` is where its
    /// [`to_toml`](Self::to_toml) will be written. Its [`inputs`](Self::inputs) are in the order of this
    /// one's: copy each to where the other has it.
    pub fn with_inputs_in(&self, folder: &Path) -> LoadedScene {
        inputs::moved(self, folder)
    }

    /// What of `[expect]` does not hold, one line each.
    pub fn unmet(&self, extremes: &RunExtremes) -> Vec<String> {
        self.scene.expect.unmet(extremes)
    }

    /// Whether the scene says in `[expect]` what must hold.
    pub fn expects(&self) -> bool {
        self.scene.expect != Default::default()
    }

    /// Where a file that the scene names lies.
    fn resolve(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }
}

/// Reads a scene: a path to a TOML file, or the name of a built-in scene; `overrides` are `KEY=VALUE` as in
/// `cloth.sheet.mesh.grid.cells=[64,64]`. Bodies are chosen by name, by index from 0, or all with `*`; VALUE
/// is TOML, and a word without quotes is a text.
///
/// # Errors
/// All problems of the scene file at once.
pub fn load(path_or_name: &str, overrides: &[String]) -> Result<LoadedScene, Problems> {
    read::load(path_or_name, overrides)
}

/// Reads a scene from its TOML text, as [`load`] does from a file. `name` is what it is called; `folder` is
/// what the files that it names are relative to.
///
/// # Errors
/// All problems of the text at once.
pub fn parse(text: &str, name: &str, folder: &Path, overrides: &[String]) -> Result<LoadedScene, Problems> {
    let scene = read::parse(text, name, None, overrides)?;
    Ok(LoadedScene { base: folder.to_owned(), ..scene })
}

/// The JSON Schema (draft 2020-12) of the scene file, for editors.
pub fn schema() -> serde_json::Value {
    schema::scene_schema().clone()
}
