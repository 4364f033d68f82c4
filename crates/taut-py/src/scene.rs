//! Scenes: built in, from files, or from text.

use std::path::PathBuf;

use pyo3::prelude::*;
use taut_io::scene::{self, LoadedScene};

use crate::{convert, errors};

/// A scene that has been read and checked.
#[pyclass(frozen, module = "taut")]
#[derive(Clone, Debug)]
pub struct Scene {
    pub loaded: LoadedScene,
    pub given: Given,
}

/// What a scene was made from: enough to make it again in another process.
#[derive(Clone, Debug)]
pub struct Given {
    /// A name of a built-in scene or a path; or the text of a file.
    pub source: String,
    /// Of a text: its name, and the folder that paths in it are relative to.
    pub text: Option<(String, PathBuf)>,
    /// `KEY=VALUE`.
    pub overrides: Vec<String>,
}

impl Given {
    fn load(&self) -> Result<LoadedScene, taut_io::Problems> {
        match &self.text {
            None => scene::load(&self.source, &self.overrides),
            Some((name, folder)) => scene::parse(&self.source, name, folder, &self.overrides),
        }
    }
}

impl Scene {
    fn from_given(py: Python<'_>, given: Given) -> PyResult<Self> {
        let loaded = py.detach(|| given.load()).map_err(|found| errors::problems(py, &found))?;
        Ok(Self { loaded, given })
    }
}

#[pymethods]
impl Scene {
    /// Of a built-in scene's name or a path.
    #[staticmethod]
    #[pyo3(signature = (name, overrides = Vec::new()))]
    fn load(py: Python<'_>, name: String, overrides: Vec<String>) -> PyResult<Self> {
        // A path goes on to be right if the process changes its folder, or the scene goes to another one.
        let path = std::path::Path::new(&name);
        let source = match path.is_relative() && path.is_file() {
            true => std::path::absolute(path).map_or(name.clone(), |path| path.display().to_string()),
            false => name.clone(),
        };
        Self::from_given(py, Given { source, text: None, overrides })
    }

    /// Of the text of a scene file.
    #[staticmethod]
    #[pyo3(signature = (text, name, folder, overrides = Vec::new()))]
    fn parse(
        py: Python<'_>,
        text: String,
        name: String,
        folder: PathBuf,
        overrides: Vec<String>,
    ) -> PyResult<Self> {
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        Self::from_given(py, Given { source: text, text: Some((name, folder)), overrides })
    }

    /// Its name: that of the built-in scene, or of the file.
    #[getter]
    fn name(&self) -> &str {
        &self.loaded.name
    }

    /// What it shows, in a sentence.
    #[getter]
    fn description(&self) -> &str {
        self.loaded.description()
    }

    /// How many frames a run of it has.
    #[getter]
    fn frames(&self) -> u32 {
        self.loaded.frames
    }

    /// Frames a second.
    #[getter]
    fn frame_rate(&self) -> f32 {
        self.loaded.frame_rate
    }

    /// The folder that paths of the scene are relative to.
    #[getter]
    fn folder(&self) -> PathBuf {
        let of_file = || self.loaded.file.as_deref().and_then(std::path::Path::parent).map(PathBuf::from);
        let given = self.given.text.as_ref().map(|(_, folder)| folder.clone());
        given.or_else(of_file).unwrap_or_else(|| PathBuf::from("."))
    }

    /// The whole scene with all defaults, as the text of a scene file.
    fn to_toml(&self) -> String {
        self.loaded.to_toml()
    }

    /// Reads what the scene refers to; gives warnings.
    fn check(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        py.detach(|| self.loaded.build().map(drop)).map_err(|found| errors::problems(py, &found))?;
        Ok(self.loaded.warnings().iter().map(ToString::to_string).collect())
    }

    fn __reduce__(slf: &Bound<'_, Self>) -> PyResult<(Py<PyAny>, Py<PyAny>)> {
        let (py, given) = (slf.py(), &slf.get().given);
        let class = py.get_type::<Self>();
        let (function, arguments) = match &given.text {
            None => ("load", (given.source.clone(), given.overrides.clone()).into_pyobject(py)?.into_any()),
            Some((name, folder)) => {
                let all = (given.source.clone(), name.clone(), folder.clone(), given.overrides.clone());
                ("parse", all.into_pyobject(py)?.into_any())
            }
        };
        Ok((class.getattr(function)?.unbind(), arguments.unbind()))
    }

    fn __repr__(&self) -> String {
        format!("<taut.Scene {:?}, {} frames>", self.loaded.name, self.loaded.frames)
    }
}

/// Names of the built-in scenes.
#[pyfunction]
pub fn scenes() -> Vec<&'static str> {
    scene::built_in().iter().map(|scene| scene.name).collect()
}

/// The JSON Schema of scene files.
#[pyfunction]
pub fn schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    convert::to_python(py, &scene::schema())
}
