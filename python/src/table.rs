//! Columns of a result as buffers, which numpy takes without a copy.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use acausal_results::{ResultSet, Signal, SignalKind, SignalSource};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

/// One column of numbers, which nobody changes.
#[pyclass(frozen, module = "acausal._acausal")]
pub struct Column {
    set: Arc<ResultSet>,
    /// A signal, or the time.
    signal: Option<Signal>,
    /// Number of values and bytes of each, where a buffer can point to.
    shape: [isize; 1],
    strides: [isize; 1],
}

impl Column {
    /// The time of a result.
    pub fn time(set: Arc<ResultSet>) -> Column {
        Column {
            shape: [set.time().len() as isize],
            strides: [size_of::<f64>() as isize],
            signal: None,
            set,
        }
    }

    fn numbers(&self) -> Option<&[f64]> {
        match &self.signal {
            None => Some(self.set.time()),
            Some(signal) => match self.set.values_of(signal) {
                std::borrow::Cow::Borrowed(values) => Some(values),
                std::borrow::Cow::Owned(_) => None,
            },
        }
    }
}

#[pymethods]
impl Column {
    fn __len__(&self) -> usize {
        self.shape[0] as usize
    }

    /// # Safety
    /// Called by the interpreter with a view to fill in.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let column = slf.get();
        let Some(numbers) = column.numbers() else {
            return Err(PyBufferError::new_err("the signal is no column"));
        };
        let sizes = (column.shape.as_ptr(), column.strides.as_ptr());
        // SAFETY: what the view points to belongs to this object, which never changes and which the view keeps alive.
        unsafe { fill(slf.as_any(), numbers, sizes, view, flags) }
    }
}

/// Numbers of their own, which nobody changes.
#[pyclass(frozen, module = "acausal._acausal")]
pub struct Numbers {
    numbers: Vec<f64>,
    shape: [isize; 1],
    strides: [isize; 1],
}

impl Numbers {
    /// These.
    pub fn new(numbers: Vec<f64>) -> Numbers {
        Numbers {
            shape: [numbers.len() as isize],
            strides: [size_of::<f64>() as isize],
            numbers,
        }
    }
}

#[pymethods]
impl Numbers {
    fn __len__(&self) -> usize {
        self.numbers.len()
    }

    /// # Safety
    /// Called by the interpreter with a view to fill in.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let own = slf.get();
        let sizes = (own.shape.as_ptr(), own.strides.as_ptr());
        // SAFETY: as for columns.
        unsafe { fill(slf.as_any(), &own.numbers, sizes, view, flags) }
    }
}

/// Fills a view in.
///
/// # Safety
/// The view comes from the interpreter; `numbers`, shape and strides live as long as `owner` and never change.
unsafe fn fill(
    owner: &Bound<'_, PyAny>,
    numbers: &[f64],
    (shape, strides): (*const isize, *const isize),
    view: *mut ffi::Py_buffer,
    flags: c_int,
) -> PyResult<()> {
    if view.is_null() {
        return Err(PyBufferError::new_err("no view"));
    }
    if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
        return Err(PyBufferError::new_err("results cannot be changed"));
    }
    let wants = |what: c_int| flags & what == what;
    let unless = |wanted: bool, pointer: *const isize| match wanted {
        true => pointer.cast_mut(),
        false => std::ptr::null_mut(),
    };
    // SAFETY: the view is ours to fill in, and the rest is the caller's promise.
    unsafe {
        (*view).buf = numbers.as_ptr().cast_mut().cast::<c_void>();
        (*view).len = size_of_val(numbers) as isize;
        (*view).readonly = 1;
        (*view).itemsize = size_of::<f64>() as isize;
        (*view).format = match wants(ffi::PyBUF_FORMAT) {
            true => c"d".as_ptr().cast_mut(),
            false => std::ptr::null_mut(),
        };
        (*view).ndim = 1;
        (*view).shape = unless(wants(ffi::PyBUF_ND), shape);
        (*view).strides = unless(wants(ffi::PyBUF_STRIDES), strides);
        (*view).suboffsets = std::ptr::null_mut();
        (*view).internal = std::ptr::null_mut();
        (*view).obj = owner.clone().into_ptr();
    }
    Ok(())
}

/// The values of a signal: a number if it is constant, else a buffer.
pub fn values<'py>(
    py: Python<'py>,
    set: &Arc<ResultSet>,
    signal: &Signal,
) -> PyResult<Bound<'py, PyAny>> {
    match signal.source {
        SignalSource::Constant(value) => Ok(value.into_pyobject(py)?.into_any()),
        SignalSource::Column { negated: false, .. } => {
            let column = Column {
                signal: Some(signal.clone()),
                ..Column::time(set.clone())
            };
            Ok(Bound::new(py, column)?.into_any())
        }
        SignalSource::Column { negated: true, .. } => {
            let list = pyo3::types::PyList::new(py, set.values_of(signal).iter())?;
            Ok(list.into_any())
        }
    }
}

/// The Modelica type of a signal.
pub fn kind_name(kind: SignalKind) -> &'static str {
    match kind {
        SignalKind::Real => "Real",
        SignalKind::Integer => "Integer",
        SignalKind::Boolean => "Boolean",
        SignalKind::Enumeration => "enumeration",
    }
}
