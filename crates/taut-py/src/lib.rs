//! The module `taut._taut`: what the Python package `taut` is made of. Users import `taut`, which documents
//! each class and function; here is how they meet the engine.
//!
//! Long work runs without the interpreter's lock. Numbers go in and out as numpy arrays; what has a structure
//! (reports, certificates, events) as the dictionaries of its JSON, which are those of run folders.

mod arrays;
mod convert;
mod errors;
mod events;
mod filter;
mod mesh;
mod picture;
mod recording;
mod run;
mod scene;
mod simulation;
mod studio;
mod view;
mod words;

use pyo3::prelude::*;

#[pymodule]
fn _taut(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<scene::Scene>()?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<simulation::Body>()?;
    module.add_class::<simulation::Obstacle>()?;
    module.add_class::<simulation::Grip>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<recording::Recording>()?;
    module.add_class::<filter::VelocityFilter>()?;
    module.add_class::<studio::Studio>()?;
    module.add_function(wrap_pyfunction!(mesh::grid, module)?)?;
    module.add_function(wrap_pyfunction!(mesh::read_mesh, module)?)?;
    module.add_function(wrap_pyfunction!(mesh::materials, module)?)?;
    module.add_function(wrap_pyfunction!(scene::scenes, module)?)?;
    module.add_function(wrap_pyfunction!(scene::schema, module)?)?;
    module.add_function(wrap_pyfunction!(run::verify, module)?)?;
    module.add_function(wrap_pyfunction!(run::export, module)?)?;
    module.add_function(wrap_pyfunction!(picture::render, module)?)?;
    Ok(())
}
