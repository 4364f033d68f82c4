//! numpy arrays in and out: which shapes and kinds are taken, and what is said of others.

use glam::Vec3;
use numpy::{
    IntoPyArray, PyArray2, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArray, PyUntypedArrayMethods, ndarray::Array2,
};
use pyo3::{prelude::*, types::PyAny};

use crate::errors;

/// Vectors, as rows of a (n, 3) array of numbers, or of what numpy makes one of.
pub fn vectors(py: Python<'_>, what: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<Vec3>> {
    let array = rows(py, what, given, "fiu", "numbers", "float32", Some(3))?;
    let array: PyReadonlyArray2<'_, f32> = array.extract()?;
    Ok(array.as_array().rows().into_iter().map(|row| Vec3::new(row[0], row[1], row[2])).collect())
}

/// Numbers of vertices, as rows of a (n, K) array of integers.
pub fn corners<const K: usize>(
    py: Python<'_>,
    what: &str,
    given: &Bound<'_, PyAny>,
) -> PyResult<Vec<[u32; K]>> {
    let array = rows(py, what, given, "iu", "integers", "int64", Some(K))?;
    let array: PyReadonlyArray2<'_, i64> = array.extract()?;
    let mut found = Vec::with_capacity(array.shape()[0]);
    for (k, row) in array.as_array().rows().into_iter().enumerate() {
        let mut corners = [0; K];
        for (corner, &vertex) in corners.iter_mut().zip(row) {
            *corner = u32::try_from(vertex).map_err(|_| {
                let message = format!("{what}[{k}] names vertex {vertex}; vertices are numbered from 0");
                errors::raise(py, "VertexError", message)
            })?;
        }
        found.push(corners);
    }
    Ok(found)
}

/// Numbers of vertices, as a (n,) array of integers.
pub fn vertices(py: Python<'_>, what: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    let array = rows(py, what, given, "iu", "integers", "int64", None)?;
    let array: PyReadonlyArray1<'_, i64> = array.extract()?;
    let number = |&vertex: &i64| {
        u32::try_from(vertex).map_err(|_| {
            let message = format!("{what} names vertex {vertex}; vertices are numbered from 0");
            errors::raise(py, "VertexError", message)
        })
    };
    array.as_array().iter().map(number).collect()
}

/// Numbers, as a (n,) array.
pub fn numbers(py: Python<'_>, what: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let array = rows(py, what, given, "fiu", "numbers", "float64", None)?;
    let array: PyReadonlyArray1<'_, f64> = array.extract()?;
    Ok(array.as_array().iter().copied().collect())
}

/// `given` as an array of `dtype`, if its kind is one of `kinds` and its shape (n, `width`), or (n,).
fn rows<'py>(
    py: Python<'py>,
    what: &str,
    given: &Bound<'py, PyAny>,
    kinds: &str,
    of: &str,
    dtype: &str,
    width: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let numpy = py.import("numpy")?;
    let wanted = match width {
        Some(width) => format!("an array of {of} of shape (n, {width})"),
        None => format!("an array of {of} of shape (n,)"),
    };
    let wrong = |found: String| {
        errors::raise(py, "ParameterError", format!("{what} must be {wanted}; it is {found}"))
    };
    let array = numpy.call_method1("asarray", (given,)).map_err(|_| {
        let kind = given.get_type().name().map_or_else(|_| "?".into(), |name| name.to_string());
        wrong(format!("of type {kind}"))
    })?;
    let array = array.cast_into::<PyUntypedArray>()?;
    let shape = array.shape();
    let shown = || match shape {
        [one] => format!("({one},)"),
        all => format!("({})", all.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    };
    let kind = array.dtype().kind() as char;
    // An empty list has no kind of its own.
    if !kinds.contains(kind) && array.len() > 0 {
        return Err(wrong(format!("of dtype {}", array.dtype())));
    }
    let fits = match width {
        Some(width) => shape.len() == 2 && shape[1] == width,
        None => shape.len() == 1,
    };
    if !fits {
        return Err(wrong(format!("of shape {}", shown())));
    }
    array.call_method1("astype", (dtype,))
}

/// A new (n, 3) array of float32.
pub fn to_rows<'py>(
    py: Python<'py>,
    count: usize,
    vectors: impl Iterator<Item = Vec3>,
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let mut flat = Vec::with_capacity(3 * count);
    vectors.for_each(|v| flat.extend_from_slice(&v.to_array()));
    made(py, [flat.len() / 3, 3], flat)
}

/// A new (n, K) array of uint32.
pub fn to_corners<'py, const K: usize>(
    py: Python<'py>,
    corners: &[[u32; K]],
) -> PyResult<Bound<'py, PyArray2<u32>>> {
    made(py, [corners.len(), K], corners.as_flattened().to_vec())
}

/// A new array.
pub fn made<'py, T: numpy::Element>(
    py: Python<'py>,
    shape: [usize; 2],
    flat: Vec<T>,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let array =
        Array2::from_shape_vec(shape, flat).map_err(|error| errors::raise(py, "Error", error.to_string()))?;
    Ok(array.into_pyarray(py))
}

/// Writes vectors into a caller's (n, 3) float32 array.
pub fn write_rows(
    py: Python<'_>,
    into: &Bound<'_, PyArray2<f32>>,
    count: usize,
    vectors: impl Iterator<Item = Vec3>,
) -> PyResult<()> {
    if into.shape() != [count, 3] {
        let message = format!("out must be of shape ({count}, 3); it is of shape {:?}", into.shape());
        return Err(errors::raise(py, "ParameterError", message));
    }
    let mut array = into.try_readwrite().map_err(|error| {
        let message = format!("out cannot be written to: {error}");
        errors::raise(py, "InUseError", message)
    })?;
    for (mut row, v) in array.as_array_mut().rows_mut().into_iter().zip(vectors) {
        (0..3).for_each(|k| row[k] = v[k]);
    }
    Ok(())
}
