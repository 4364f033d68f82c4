//! Runs that are read.

use std::path::PathBuf;

use numpy::{PyArray1, PyArray2};
use pyo3::{prelude::*, types::PyAny};
use taut_io::{
    Problem,
    recording::{self, Connections},
};

use crate::{arrays, convert::to_python, errors};

/// A run folder, read frame by frame.
#[pyclass(frozen, module = "taut")]
#[derive(Debug)]
pub struct Recording(recording::Recording);

impl Recording {
    fn index(&self, py: Python<'_>, body: &str) -> PyResult<usize> {
        let found = self.0.bodies().iter().position(|own| own.name == body);
        found.ok_or_else(|| {
            let names: Vec<&str> = self.0.bodies().iter().map(|own| own.name.as_str()).collect();
            let message = format!("there is no body called {body:?}; there are {}", names.join(", "));
            errors::raise(py, "StaleHandleError", message)
        })
    }

    fn check(&self, py: Python<'_>, frame: u32) -> PyResult<()> {
        if frame <= self.0.last_frame() {
            return Ok(());
        }
        let message = format!("there is no frame {frame}; there are 0 to {}", self.0.last_frame());
        Err(errors::raise(py, "VertexError", message))
    }

    fn connections(&self, py: Python<'_>, body: &str, frame: u32) -> PyResult<std::sync::Arc<Connections>> {
        let index = self.index(py, body)?;
        self.check(py, frame)?;
        let found: Result<_, Problem> = py.detach(|| self.0.connections(index, frame));
        found.map_err(|found| errors::problem(py, found))
    }
}

#[pymethods]
impl Recording {
    #[new]
    fn open(py: Python<'_>, out: PathBuf) -> PyResult<Self> {
        let opened = py.detach(|| recording::Recording::open(&out));
        opened.map(Self).map_err(|found| errors::problems(py, &found))
    }

    /// The name of its scene.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Number of its last frame; the first is 0.
    #[getter]
    fn last_frame(&self) -> u32 {
        self.0.last_frame()
    }

    /// Frames a second.
    #[getter]
    fn frame_rate(&self) -> f32 {
        self.0.frame_rate()
    }

    /// Names of its bodies.
    #[getter]
    fn bodies(&self) -> Vec<String> {
        self.0.bodies().iter().map(|body| body.name.clone()).collect()
    }

    /// Points of a body in a frame: vertices, of a soft body those of its surface.
    fn positions<'py>(&self, py: Python<'py>, body: &str, frame: u32) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let index = self.index(py, body)?;
        self.check(py, frame)?;
        let read = py.detach(|| self.0.read(index, frame)).map_err(|found| errors::problem(py, found))?;
        arrays::to_rows(py, read.positions.len(), read.positions.iter().copied())
    }

    /// Triangles of a surface in a frame.
    #[pyo3(signature = (body, frame = 0))]
    fn triangles<'py>(&self, py: Python<'py>, body: &str, frame: u32) -> PyResult<Bound<'py, PyArray2<u32>>> {
        arrays::to_corners(py, self.connections(py, body, frame)?.triangles())
    }

    /// Numbers of points of the curves of hair or particles in a frame; none of a surface.
    #[pyo3(signature = (body, frame = 0))]
    fn curves<'py>(&self, py: Python<'py>, body: &str, frame: u32) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let counts = match &*self.connections(py, body, frame)? {
            Connections::Curves(counts) => counts.clone(),
            Connections::Triangles(_) => Vec::new(),
        };
        Ok(PyArray1::from_vec(py, counts))
    }

    /// What was measured in each frame.
    fn metrics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let lines = py.detach(|| self.0.metrics()).map_err(|found| errors::problem(py, found))?;
        to_python(py, &lines)
    }

    fn __repr__(&self) -> String {
        format!("<taut.Recording of {:?}, frames 0 to {}>", self.0.name(), self.0.last_frame())
    }
}
