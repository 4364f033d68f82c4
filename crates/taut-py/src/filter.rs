//! The velocity filter: limits for somebody else's simulator.

use std::sync::{Mutex, PoisonError};

use numpy::PyArray2;
use pyo3::{prelude::*, types::PyAny};
use taut::{FilterSetup, mesh::TriangleMesh};

use crate::{
    arrays,
    convert::{LimitArg, limit, to_python},
    errors,
};

/// Filters velocities so that a time step keeps the limits.
#[pyclass(frozen, module = "taut")]
#[derive(Debug)]
pub struct VelocityFilter(Mutex<taut::VelocityFilter>);

#[pymethods]
impl VelocityFilter {
    #[new]
    #[pyo3(signature = (positions, triangles, masses, *, stretch = None, edges = None, bend = None, threads = 1))]
    #[allow(clippy::too_many_arguments)]
    fn begin(
        py: Python<'_>,
        positions: &Bound<'_, PyAny>,
        triangles: &Bound<'_, PyAny>,
        masses: &Bound<'_, PyAny>,
        stretch: Option<LimitArg>,
        edges: Option<LimitArg>,
        bend: Option<LimitArg>,
        threads: usize,
    ) -> PyResult<Self> {
        let mesh = TriangleMesh {
            positions: arrays::vectors(py, "positions", positions)?,
            triangles: arrays::corners(py, "triangles", triangles)?,
            ..TriangleMesh::default()
        };
        let mut setup = FilterSetup::new(mesh, arrays::numbers(py, "masses", masses)?);
        (setup.strain, setup.edge, setup.bend) = (limit(stretch), limit(edges), limit(bend));
        setup.threads = threads;
        let made = py.detach(|| taut::VelocityFilter::new(setup));
        made.map(|filter| Self(Mutex::new(filter))).map_err(|error| errors::filter(py, &error))
    }

    /// The velocities that keep the limits, and what was measured.
    fn apply<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        velocities: &Bound<'py, PyAny>,
        dt: f32,
    ) -> PyResult<(Bound<'py, PyArray2<f32>>, Bound<'py, PyAny>)> {
        let x = arrays::vectors(py, "positions", positions)?;
        let mut v = arrays::vectors(py, "velocities", velocities)?;
        let filtered = py.detach(|| {
            let mut filter = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            filter.apply(&x, &mut v, dt)
        });
        let filtered = filtered.map_err(|error| errors::filter(py, &error))?;
        let report = serde_json::json!({
            "iterations": filtered.iterations,
            "converged": filtered.converged,
            "strain": filtered.strain,
            "bend": filtered.bend,
            "rescued": filtered.rescued,
        });
        Ok((arrays::to_rows(py, v.len(), v.iter().copied())?, to_python(py, &report)?))
    }

    /// Holds or frees a vertex.
    fn set_held(&self, py: Python<'_>, vertex: usize, held: bool) -> PyResult<()> {
        let mut filter = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        filter.set_held(vertex, held).map_err(|error| errors::filter(py, &error))
    }

    /// Forgets what it keeps from one call to the next.
    fn reset(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).reset();
    }
}
