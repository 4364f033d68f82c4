//! Values of other kinds than arrays: vectors, limits, and what has a structure.

use glam::{Quat, Vec3};
use pyo3::{prelude::*, types::PyAny};
use taut::Limit;

use crate::errors;

/// Three numbers.
pub type Triple = [f32; 3];

/// A limit: `None`, the largest strain, or a pair of the smallest and the largest, each of which may be
/// `None`.
#[derive(Clone, Copy, Debug, FromPyObject)]
pub enum LimitArg {
    /// The largest.
    Largest(f32),
    /// Both.
    Both(Option<f32>, Option<f32>),
}

/// The limit that a caller gave.
pub fn limit(given: Option<LimitArg>) -> Limit {
    match given {
        None => Limit::default(),
        Some(LimitArg::Largest(max)) => Limit { min: None, max: Some(max) },
        Some(LimitArg::Both(min, max)) => Limit { min, max },
    }
}

/// A vector.
pub fn vector(of: Triple) -> Vec3 {
    Vec3::from_array(of)
}

/// A rotation from x, y, z, w.
pub fn rotation(py: Python<'_>, of: Option<[f32; 4]>) -> PyResult<Quat> {
    let Some([x, y, z, w]) = of else { return Ok(Quat::IDENTITY) };
    let given = Quat::from_xyzw(x, y, z, w);
    if given.is_finite() && given.length() > 1e-6 {
        return Ok(given.normalize());
    }
    let message =
        format!("rotation is ({x}, {y}, {z}, {w}); it must be a quaternion x, y, z, w that is not 0");
    Err(errors::raise(py, "ParameterError", message))
}

/// The dictionary, list or number that `value` is as JSON.
pub fn to_python<'py>(py: Python<'py>, value: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value)
        .map_err(|error| errors::raise(py, "Error", format!("cannot be shown: {error}")))?;
    py.import("json")?.call_method1("loads", (text,))
}
