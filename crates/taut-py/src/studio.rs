//! The studio on a port of its own: what notebooks show inline.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use taut_studio::{Options, Studio as Running, StudioError, page::Page};

use crate::errors;

/// A studio that runs until it is closed.
#[pyclass(frozen, module = "taut")]
pub struct Studio(Mutex<Option<Running>>);

#[pymethods]
impl Studio {
    #[new]
    #[pyo3(signature = (what, overrides = Vec::new(), port = None, threads = 0, playing = true))]
    fn start(
        py: Python<'_>,
        what: String,
        overrides: Vec<String>,
        port: Option<u16>,
        threads: usize,
        playing: bool,
    ) -> PyResult<Self> {
        if let Some(why) = Page::missing() {
            return Err(errors::raise(py, "UnsupportedError", why));
        }
        let options = Options { overrides, port, threads, page: Page::Built, playing, ..Options::new(what) };
        let started = py.detach(|| Running::start(options));
        started.map(|studio| Self(Mutex::new(Some(studio)))).map_err(|error| match error {
            StudioError::Input(problems) => errors::problems(py, &problems),
            error => errors::raise(py, "ParameterError", error.to_string()),
        })
    }

    /// Its address, with what a page needs to be let in; `None` once it is closed.
    #[getter]
    fn url(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(Running::url)
    }

    /// Ends it.
    fn close(&self, py: Python<'_>) {
        let studio = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        py.detach(|| drop(studio));
    }
}
