//! Arguments that are words or lists of vertices: what they mean, and what is said of others.

use pyo3::{prelude::*, types::PyAny};
use taut::{Material, Pin, Scheme};

use crate::{arrays, errors};

/// What is said of a word that is none of those `known`.
pub fn unknown(py: Python<'_>, what: &str, given: &str, known: impl Iterator<Item = &'static str>) -> PyErr {
    let known: Vec<&str> = known.collect();
    errors::raise(py, "ParameterError", format!("{what} is {given:?}; must be one of {}", known.join(", ")))
}

/// The fabric of this name.
pub fn material_of(py: Python<'_>, name: &str) -> PyResult<Material> {
    Material::named(name).ok_or_else(|| unknown(py, "material", name, Material::names()))
}

/// The scheme of this name.
pub fn scheme_of(py: Python<'_>, name: &str) -> PyResult<Scheme> {
    let all = [
        ("nearest", Scheme::Nearest),
        ("sweep", Scheme::Sweep),
        ("serial", Scheme::Serial),
        ("jacobi", Scheme::Jacobi),
        ("cycle", Scheme::Cycle),
        ("paper", Scheme::Paper),
    ];
    let found = all.iter().find(|(known, _)| *known == name);
    found
        .map(|(_, scheme)| *scheme)
        .ok_or_else(|| unknown(py, "scheme", name, all.iter().map(|(known, _)| *known)))
}

/// The pin that holds these vertices, if there are any.
pub fn pins_of(py: Python<'_>, pins: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<Pin>> {
    let vertices = pins.map(|pins| arrays::vertices(py, "pins", pins)).transpose()?.unwrap_or_default();
    Ok(if vertices.is_empty() { Vec::new() } else { vec![Pin { vertices, ..Pin::default() }] })
}
