//! Arrays that show memory of a simulation itself, and what keeps it in place meanwhile.
//!
//! A view borrows: while one is alive, whatever would change or move what it shows is refused
//! (`InUseError`), as Rust would refuse it. That is checked with a count, under the simulation's lock.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use numpy::{
    PyArray2, PyArrayMethods,
    ndarray::{ArrayView2, ShapeBuilder},
};
use pyo3::prelude::*;

use crate::simulation::Simulation;

/// How many views of a simulation are alive.
#[derive(Clone, Debug, Default)]
pub struct Views(Arc<AtomicUsize>);

impl Views {
    /// Whether there is any.
    pub fn any(&self) -> bool {
        self.0.load(Ordering::Acquire) > 0
    }

    fn begin(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

/// What a view's array is based on: it keeps the simulation alive and unchanged.
#[pyclass(frozen, module = "taut")]
struct Loan {
    views: Views,
    _of: Py<Simulation>,
}

impl Drop for Loan {
    fn drop(&mut self) {
        self.views.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Vectors in memory of a simulation: the first of `count` rows of four numbers.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    first: *const f32,
    count: usize,
}

// SAFETY: it is a place, which is read only while a `Loan` keeps what is there.
unsafe impl Send for Rows {}

impl Rows {
    /// Those of `quads`, lent from now on: the caller holds the simulation's lock, and makes an array of them
    /// with [`show`] at once.
    pub fn lend(quads: &[[f32; 4]], views: &Views) -> Self {
        views.begin();
        Self { first: quads.as_ptr().cast(), count: quads.len() }
    }
}

/// A read-only (n, 3) array over `rows` of `simulation`, which have been lent by `views`.
pub fn show<'py>(
    simulation: Bound<'py, Simulation>,
    rows: Rows,
    views: Views,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let py = simulation.py();
    let loan = Bound::new(py, Loan { views, _of: simulation.unbind() })?;
    // SAFETY: the rows are there as long as the loan is: the simulation is alive, and nothing that would
    // change or move them runs while there are views. Three of the four numbers of each row are shown.
    let array = unsafe {
        let shown = ArrayView2::from_shape_ptr((rows.count, 3).strides((4, 1)), rows.first);
        PyArray2::borrow_from_array(&shown, loan.into_any())
    };
    array
        .try_readwrite()
        .map_err(|error| crate::errors::raise(py, "Error", error.to_string()))?
        .make_nonwriteable();
    Ok(array)
}
