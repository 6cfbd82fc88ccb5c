//! Values of parameters from Python: numbers, Booleans, names of literals, and sequences of these (lists, tuples, arrays of numpy).

use acausal::ParameterValue;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};

/// Arrays in arrays: no model has a parameter of more dimensions.
const MOST_DIMENSIONS: usize = 32;

/// A value for a parameter.
pub fn parameter_value(name: &str, value: &Bound<'_, PyAny>) -> PyResult<ParameterValue> {
    // Arrays and scalars of numpy know how to become Python's own.
    let own = match value.hasattr("tolist")? {
        true => value.call_method0("tolist")?,
        false => value.clone(),
    };
    convert(name, &own, 0)
}

fn convert(name: &str, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<ParameterValue> {
    if let Ok(b) = value.cast::<PyBool>() {
        return Ok(ParameterValue::Boolean(b.is_true()));
    }
    if value.is_instance_of::<PyFloat>() || value.is_instance_of::<PyInt>() {
        return Ok(ParameterValue::Number(value.extract()?));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(ParameterValue::Literal(text.to_string()));
    }
    if depth < MOST_DIMENSIONS
        && let Ok(items) = value.try_iter()
    {
        let items = items.map(|item| convert(name, &item?, depth + 1));
        return Ok(ParameterValue::Array(items.collect::<PyResult<_>>()?));
    }
    // What behaves as a number is one.
    value.extract().map(ParameterValue::Number).map_err(|_| {
        let ty = value.get_type();
        PyTypeError::new_err(format!(
            "`{name}` takes a number, True or False, the name of a literal, or a sequence of these, not {ty}"
        ))
    })
}
