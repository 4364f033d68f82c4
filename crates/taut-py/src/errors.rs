//! Exceptions: classes of `taut._errors`, raised with what they know.

use pyo3::{
    IntoPyObjectExt,
    exceptions::PyRuntimeError,
    prelude::*,
    types::{PyDict, PyTuple},
};
use taut::{FilterError, SimulationError};
use taut_io::{
    Problem, Problems,
    export::ExportError,
    output::{OutputError, session::SessionError},
};

/// The exception `class` of `taut._errors` with a message.
pub fn raise(py: Python<'_>, class: &str, message: impl Into<String>) -> PyErr {
    raise_with(py, class, message.into(), None)
}

fn raise_with(py: Python<'_>, class: &str, message: String, more: Option<Bound<'_, PyDict>>) -> PyErr {
    let made = || -> PyResult<Bound<'_, PyAny>> {
        let class = py.import("taut._errors")?.getattr(class)?;
        class.call(PyTuple::new(py, [message.clone()])?, more.as_ref())
    };
    match made() {
        Ok(error) => PyErr::from_value(error),
        // Only if the package itself is damaged.
        Err(_) => PyRuntimeError::new_err(message),
    }
}

/// All problems of a scene or a file.
pub fn problems(py: Python<'_>, problems: &Problems) -> PyErr {
    let listed = || -> PyResult<Bound<'_, PyDict>> {
        let rows = problems.0.iter().map(|problem| row(py, problem)).collect::<PyResult<Vec<_>>>()?;
        let more = PyDict::new(py);
        more.set_item("problems", rows)?;
        Ok(more)
    };
    raise_with(py, "SceneError", problems.to_string(), listed().ok())
}

/// File, line, key and message.
fn row<'py>(py: Python<'py>, problem: &Problem) -> PyResult<Bound<'py, PyTuple>> {
    let Problem { file, line, key, message } = problem;
    let file = file.as_ref().map(|file| file.display().to_string());
    PyTuple::new(
        py,
        [
            file.into_bound_py_any(py)?,
            line.into_bound_py_any(py)?,
            key.into_bound_py_any(py)?,
            message.into_bound_py_any(py)?,
        ],
    )
}

/// One problem.
pub fn problem(py: Python<'_>, one: Problem) -> PyErr {
    problems(py, &one.into())
}

/// What the front door refuses.
pub fn simulation(py: Python<'_>, error: &SimulationError) -> PyErr {
    let class = match error {
        SimulationError::StaleHandle { .. } => "StaleHandleError",
        SimulationError::NoSuchVertex { .. } => "VertexError",
        SimulationError::Unsupported { .. } => "UnsupportedError",
        _ => "ParameterError",
    };
    raise(py, class, error.to_string())
}

/// What the velocity filter refuses.
pub fn filter(py: Python<'_>, error: &FilterError) -> PyErr {
    let class = match error {
        FilterError::NoVertex { .. } => "VertexError",
        _ => "ParameterError",
    };
    raise(py, class, error.to_string())
}

/// What happened to a run folder.
pub fn output(py: Python<'_>, error: &OutputError) -> PyErr {
    let message = match error {
        OutputError::Refused { problem, .. } => problem.to_string(),
        OutputError::Io { .. } => error.to_string(),
    };
    raise(py, "RunFolderError", message)
}

/// Why a run could not be begun or resumed.
pub fn session(py: Python<'_>, error: &SessionError) -> PyErr {
    match error {
        SessionError::Input(found) => problems(py, found),
        SessionError::Folder(error) | SessionError::Write(error) => output(py, error),
        SessionError::Engine(error) => simulation(py, error),
    }
}

/// Why an export ended.
pub fn export(py: Python<'_>, error: ExportError) -> PyErr {
    match error {
        ExportError::Input(found) => problem(py, found),
        ExportError::Write(error) => output(py, &error),
        ExportError::Stopped => pyo3::exceptions::PyKeyboardInterrupt::new_err("the export was stopped"),
    }
}
