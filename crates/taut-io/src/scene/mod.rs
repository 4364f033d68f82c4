//! The scene file.

use std::path::{Path, PathBuf};

use taut::Description;

use crate::Problems;

/// A scene that has been read and found well-formed: every key known, every value in range.
#[derive(Clone, Debug)]
pub struct LoadedScene {
    /// Its name: the built-in scene's, or the file's without extension.
    pub name: String,
    /// Number of frames to simulate, from frame 1; frame 0 is the start.
    pub frames: u32,
    /// Frames a second.
    pub frame_rate: f32,
    /// The file it was read from, if it is not built in.
    pub file: Option<PathBuf>,
}

/// Why a finished run does not meet its scene's `[expect]`, one line each. `expect` gets the run's extremes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunExtremes {
    /// Largest principal strain of any triangle in any frame after the start.
    pub max_strain: f64,
    /// Smallest principal strain.
    pub min_strain: f64,
    /// Largest residual past a strain or edge limit.
    pub max_residual: f64,
    /// Deepest penetration of an obstacle \[m\].
    pub max_penetration: f64,
    /// Lowest and highest position of any vertex at the last frame, per axis \[m\].
    pub final_bounds: [[f64; 3]; 2],
}

impl LoadedScene {
    /// Reads meshes and maps, resolves selections, and makes what the engine needs. All problems at once.
    ///
    /// # Errors
    /// All that is wrong with the files that the scene names and with what it selects.
    pub fn build(&self) -> Result<Description, Problems> {
        Ok(Description::default())
    }

    /// The effective scene with every default written out, as TOML.
    pub fn to_toml(&self) -> String {
        String::new()
    }

    /// Files that the scene reads (meshes, maps), as it names them and where they are.
    pub fn inputs(&self) -> Vec<(String, PathBuf)> {
        Vec::new()
    }

    /// The same scene, reading its files from the folder `inputs/` beside the scene file it will be written to.
    pub fn with_inputs_in(&self, _folder: &Path) -> LoadedScene {
        self.clone()
    }

    /// What of `[expect]` does not hold, one line each.
    pub fn unmet(&self, _extremes: &RunExtremes) -> Vec<String> {
        Vec::new()
    }
}

/// A scene that comes with taut.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn {
    /// Its name, as in `taut run NAME`.
    pub name: &'static str,
    /// Its TOML text.
    pub text: &'static str,
}

/// All built-in scenes.
pub fn built_in() -> &'static [BuiltIn] {
    &[]
}

/// Reads a scene: a path to a TOML file, or the name of a built-in scene; `overrides` are `KEY=VALUE` as in
/// `cloth.sheet.mesh.grid.cells=[64,64]`.
///
/// # Errors
/// All problems of the scene file at once.
pub fn load(_path_or_name: &str, _overrides: &[String]) -> Result<LoadedScene, Problems> {
    Ok(LoadedScene { name: "scene".into(), frames: 1, frame_rate: 30.0, file: None })
}

/// The JSON Schema of the scene file.
pub fn schema() -> serde_json::Value {
    serde_json::Value::Null
}
