//! The scene file: TOML in SI units.
//!
//! [`load`] reads a file or a built-in scene and reports all problems at once; [`LoadedScene::build`] reads
//! the files it refers to and builds the engine's description. The stages are:
//!
//! 1. a tree of values with their lines (`tree`), changed by overrides (`overrides`),
//! 2. checks against the JSON Schema (`validate`), which is generated from the types (`schema`, `format`),
//!    and against rules that a schema cannot express (`rules`), every problem with file, line and key
//!    (`report`),
//! 3. the typed scene (`format`), from which the description is built: meshes and initial states (`build`,
//!    `noise`), selections (`select`, `map`), pins (`pins`), seams (`seams`), obstacles (`shapes`,
//!    `surfaces`), soft bodies (`tetrahedra`).

mod build;
mod built_in;
mod contact;
mod format;
mod hair;
mod inputs;
mod map;
mod names;
pub(crate) mod nearest;
mod noise;
mod overrides;
mod particles;
mod patterns;
mod pins;
mod read;
mod report;
mod rules;
mod schema;
mod seams;
mod select;
mod shapes;
mod surfaces;
mod tears;
mod tetrahedra;
mod tree;
mod validate;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use taut::{Description, low_level::fit::Method, measure::TearCertificate};

use crate::{Problem, Problems};

pub use built_in::{BuiltIn, built_in};

/// A well-formed scene: every key is known, every value in range.
#[derive(Clone, Debug)]
pub struct LoadedScene {
    /// Name: the built-in scene's, or the file's without extension.
    pub name: String,
    /// Number of frames to simulate, from frame 1; frame 0 is the initial state.
    pub frames: u32,
    /// Frames per second \[1/s\].
    pub frame_rate: f32,
    /// The file it was read from, if it is not built in.
    pub file: Option<PathBuf>,
    /// Folder that paths in the scene are relative to.
    base: PathBuf,
    /// The typed scene, with all defaults.
    scene: format::Scene,
    /// The source tree, for line numbers in messages.
    tree: Arc<tree::Node>,
    /// Overrides it was loaded with.
    overrides: Arc<[String]>,
    /// Where its files will be after relocation.
    moved_inputs: Option<Vec<(String, PathBuf)>>,
    /// Warnings of [`build`](Self::build).
    warnings: OnceLock<Vec<Problem>>,
}

/// A lamp of a scene; it does not affect the simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Light {
    /// Position \[m\].
    pub position: [f32; 3],
    /// Colour, as `#rrggbb`.
    pub color: String,
    /// Relative brightness; 1 is a typical lamp.
    pub intensity: f32,
}

/// Extremes of a run that `[expect]` can check.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunExtremes {
    /// Largest principal strain of any triangle in any frame after frame 0.
    pub max_strain: f64,
    /// Smallest principal strain.
    pub min_strain: f64,
    /// Largest residual past a strain or edge limit.
    pub max_residual: f64,
    /// Largest excess past a bend limit \[°\].
    pub max_bend_excess: f64,
    /// Deepest penetration of an obstacle \[m\].
    pub max_penetration: f64,
    /// Largest opening of a seam in the last frame \[m\].
    pub final_opening: f64,
    /// Smallest and largest volume of a closed cloth with pressure in the last frame \[m³\]; none if there is
    /// none, or its seams are open.
    pub final_volumes: Option<[f64; 2]>,
    /// What all cloth that may tear has torn to by the last frame.
    pub torn: TearCertificate,
    /// Lowest and highest position of any vertex in the last frame, per axis \[m\].
    pub final_bounds: [[f64; 3]; 2],
}

impl LoadedScene {
    /// Reads meshes and maps, resolves selections, and builds the engine's description.
    ///
    /// # Errors
    /// All problems of the files that the scene refers to and of its selections, at once.
    pub fn build(&self) -> Result<Description, Problems> {
        let built = build::build(self, false)?;
        // Set once: building again gives the same warnings unless the files change.
        let _ = self.warnings.set(built.warnings);
        Ok(built.description)
    }

    /// The same for a scene that has been run, to open what was recorded: meshes of cloth were checked then,
    /// which takes most of the time that it takes to build a large one.
    ///
    /// # Errors
    /// As [`build`](Self::build), but for meshes of cloth that can be drawn.
    pub(crate) fn build_recorded(&self) -> Result<Description, Problems> {
        Ok(build::build(self, true)?.description)
    }

    /// Warnings about a scene that can still be simulated: odd meshes, overlapping pins. Empty if it cannot
    /// be built.
    pub fn warnings(&self) -> Vec<Problem> {
        if self.warnings.get().is_none() {
            // The error is reported to callers of `build`.
            let _ = self.build();
        }
        self.warnings.get().cloned().unwrap_or_default()
    }

    /// Method that fits the limits of coarser levels, where a scheme uses them.
    pub fn fit_method(&self) -> Method {
        self.scene.solver.fit.build()
    }

    /// Whether its scheme uses fitted limits on coarser levels ([`fit_scene`](crate::cache::fit::fit_scene)).
    pub fn fits_levels(&self) -> bool {
        self.scene.solver.scheme == format::Scheme::Paper
    }

    /// Description of the scene, in one sentence; may be empty.
    pub fn description(&self) -> &str {
        &self.scene.scene.description
    }

    /// Its lamps; if there are none, the viewer uses its own light.
    pub fn lights(&self) -> Vec<Light> {
        let light = |light: &format::Light| Light {
            position: light.position.map(|x| x as f32),
            color: light.color.clone(),
            intensity: light.intensity as f32,
        };
        self.scene.light.iter().map(light).collect()
    }

    /// The effective scene with all defaults, as TOML. Unset optional keys are omitted.
    pub fn to_toml(&self) -> String {
        let mut scene = self.scene.clone();
        // A caller may have changed these.
        scene.scene.frames = self.frames;
        if scene.scene.frame_rate as f32 != self.frame_rate {
            scene.scene.frame_rate = format::decimal(self.frame_rate);
        }
        toml::to_string(&scene).unwrap_or_else(|error| format!("# the scene could not be written: {error}\n"))
    }

    /// Files that the scene reads (meshes and their buffers, sequences, maps), as written in the scene and as
    /// actual paths; each once.
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

    /// Unmet expectations, one line each.
    pub fn unmet(&self, extremes: &RunExtremes) -> Vec<String> {
        self.scene.expect.unmet(extremes)
    }

    /// Whether the scene has expectations.
    pub fn expects(&self) -> bool {
        self.scene.expect != Default::default()
    }

    /// Actual path of a file that the scene refers to.
    fn resolve(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }
}

/// Reads a scene: a path to a TOML file, or the name of a built-in scene; `overrides` are `KEY=VALUE`, for
/// example `cloth.sheet.mesh.grid.cells=[64,64]`. Bodies are addressed by name, by index from 0, or all with
/// `*`; VALUE is TOML, and an unquoted word is a string.
///
/// # Errors
/// All problems of the scene file at once.
pub fn load(path_or_name: &str, overrides: &[String]) -> Result<LoadedScene, Problems> {
    read::load(path_or_name, overrides)
}

/// Reads a scene from its TOML text, as [`load`] does from a file. Paths in it are relative to `folder`.
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
