//! Meshes and materials.

use std::path::PathBuf;

use pyo3::{prelude::*, types::PyDict};
use taut::{Material, SolidMaterial, mesh::generate};

use crate::{arrays, errors};

/// A mesh as Python sees it: positions and triangles.
type Arrays<'py> = (Bound<'py, numpy::PyArray2<f32>>, Bound<'py, numpy::PyArray2<u32>>);

/// A flat grid of triangles.
#[pyfunction]
#[pyo3(signature = (size = [1.0, 1.0], cells = [32, 32], diagonals = "alternating", seed = 0))]
pub fn grid<'py>(
    py: Python<'py>,
    size: [f32; 2],
    cells: [u32; 2],
    diagonals: &str,
    seed: u64,
) -> PyResult<Arrays<'py>> {
    let diagonals = match diagonals {
        "regular" => generate::Diagonals::Regular,
        "alternating" => generate::Diagonals::Alternating,
        "jittered" => generate::Diagonals::Jittered,
        "delaunay" => generate::Diagonals::Delaunay,
        other => {
            let message =
                format!("diagonals is {other:?}; must be regular, alternating, jittered or delaunay");
            return Err(errors::raise(py, "ParameterError", message));
        }
    };
    let fits = size.iter().all(|s| *s > 0.0 && *s <= 1e5) && cells.iter().all(|c| (1..=4096).contains(c));
    if !fits {
        let message = format!(
            "size is {size:?} and cells {cells:?}; sizes must be above 0 and at most 1e5 m, cells 1 to 4096"
        );
        return Err(errors::raise(py, "ParameterError", message));
    }
    let mesh = py.detach(|| generate::grid(size, cells, diagonals, seed));
    Ok((
        arrays::to_rows(py, mesh.positions.len(), mesh.positions.iter().copied())?,
        arrays::to_corners(py, &mesh.triangles)?,
    ))
}

/// Reads a mesh file.
#[pyfunction]
pub fn read_mesh(py: Python<'_>, path: PathBuf) -> PyResult<Arrays<'_>> {
    let mesh = py.detach(|| taut_io::mesh::read(&path)).map_err(|found| errors::problem(py, found))?;
    Ok((
        arrays::to_rows(py, mesh.positions.len(), mesh.positions.iter().copied())?,
        arrays::to_corners(py, &mesh.triangles)?,
    ))
}

/// Names of all materials: of cloth and of soft bodies.
#[pyfunction]
pub fn materials(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    all.set_item("cloth", Material::names().collect::<Vec<_>>())?;
    all.set_item("solid", SolidMaterial::names().collect::<Vec<_>>())?;
    Ok(all)
}
