//! A result as a stream of the Arrow C data interface: one batch whose columns are `time` and the signals, without a copy of what varies.
//!
//! The layout of the three structures is that of <https://arrow.apache.org/docs/format/CDataInterface.html> and of the C stream interface beside it. Who takes a
//! structure calls its `release` once; what it points to lives in `private_data` until then. Columns keep the result alive.
//!
//! Example: a result with `x` over two rows is a structure of two columns `time` and `x`, each with two buffers: no validity (nothing is missing), and the numbers.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::Arc;

use acausal_results::ResultSet;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

#[repr(C)]
struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

#[repr(C)]
struct ArrowArrayStream {
    get_schema: unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int,
    get_next: unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int,
    get_last_error: unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char,
    release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    private_data: *mut c_void,
}

// SAFETY: what it points to may be read and dropped in any thread.
unsafe impl Send for ArrowArrayStream {}

/// In a capsule that nobody took from.
impl Drop for ArrowArrayStream {
    fn drop(&mut self) {
        if let Some(release) = self.release {
            // SAFETY: it has not been released yet.
            unsafe { release(self) }
        }
    }
}

/// What a stream has yet to hand over.
struct StreamState {
    set: Arc<ResultSet>,
    done: bool,
}

/// The stream in a capsule, as `__arrow_c_stream__` is to return it.
pub fn stream(py: Python<'_>, set: Arc<ResultSet>) -> PyResult<Bound<'_, PyCapsule>> {
    let state = Box::new(StreamState { set, done: false });
    let stream = ArrowArrayStream {
        get_schema,
        get_next,
        get_last_error,
        release: Some(release_stream),
        private_data: Box::into_raw(state).cast(),
    };
    PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
}

unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the caller hands over a stream of ours that was not released, and a place to write to.
    unsafe {
        let state = &*(*stream).private_data.cast::<StreamState>();
        let mut columns = vec![schema("g", "time", &[("unit", "s")], Vec::new())];
        for s in state.set.signals() {
            let facts = [("unit", &*s.unit), ("description", &*s.description)];
            columns.push(schema("g", &s.name, &facts, Vec::new()));
        }
        out.write(schema("+s", "", &[], columns));
    }
    0
}

unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as for the schema.
    unsafe {
        let state = &mut *(*stream).private_data.cast::<StreamState>();
        out.write(match std::mem::replace(&mut state.done, true) {
            // A released array is the end.
            true => ended(),
            false => table(&state.set),
        });
    }
    0
}

unsafe extern "C" fn get_last_error(_: *mut ArrowArrayStream) -> *const c_char {
    ptr::null()
}

unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: called once, for a stream of ours.
    unsafe {
        (*stream).release = None;
        drop(Box::from_raw((*stream).private_data.cast::<StreamState>()));
    }
}

/// What a schema points to.
struct SchemaData {
    format: CString,
    name: CString,
    metadata: Vec<u8>,
    children: Vec<*mut ArrowSchema>,
}

fn schema(
    format: &str,
    name: &str,
    facts: &[(&str, &str)],
    columns: Vec<ArrowSchema>,
) -> ArrowSchema {
    // Names of variables contain no NUL, which the parser refuses.
    let text = |t: &str| CString::new(t).unwrap_or_default();
    let mut data = Box::new(SchemaData {
        format: text(format),
        name: text(name),
        metadata: metadata(facts),
        children: (columns.into_iter())
            .map(|c| Box::into_raw(Box::new(c)))
            .collect(),
    });
    ArrowSchema {
        format: data.format.as_ptr(),
        name: data.name.as_ptr(),
        metadata: match data.metadata.is_empty() {
            true => ptr::null(),
            false => data.metadata.as_ptr().cast(),
        },
        flags: 0,
        n_children: data.children.len() as i64,
        children: data.children.as_mut_ptr(),
        dictionary: ptr::null_mut(),
        release: Some(release_schema),
        private_data: Box::into_raw(data).cast(),
    }
}

/// Number of pairs, then for each the lengths and bytes of key and value, in the byte order of the machine.
fn metadata(facts: &[(&str, &str)]) -> Vec<u8> {
    let told: Vec<_> = facts.iter().filter(|f| !f.1.is_empty()).collect();
    if told.is_empty() {
        return Vec::new();
    }
    let mut bytes = (told.len() as i32).to_ne_bytes().to_vec();
    for (key, value) in told {
        for part in [key, value] {
            bytes.extend((part.len() as i32).to_ne_bytes());
            bytes.extend(part.as_bytes());
        }
    }
    bytes
}

unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: called once, for a schema of ours. Children whose `release` is gone were moved out by the consumer.
    unsafe {
        let data = Box::from_raw((*schema).private_data.cast::<SchemaData>());
        for &child in &data.children {
            let mut child = Box::from_raw(child);
            if let Some(release) = child.release {
                release(&mut *child);
            }
        }
        (*schema).release = None;
    }
}

/// What an array points to.
struct ArrayData {
    /// Keeps the numbers alive.
    _set: Arc<ResultSet>,
    /// Numbers that are no column of the result: constants, repeated.
    _own: Vec<f64>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
}

fn ended() -> ArrowArray {
    ArrowArray {
        length: 0,
        null_count: 0,
        offset: 0,
        n_buffers: 0,
        n_children: 0,
        buffers: ptr::null_mut(),
        children: ptr::null_mut(),
        dictionary: ptr::null_mut(),
        release: None,
        private_data: ptr::null_mut(),
    }
}

fn array(rows: usize, data: ArrayData) -> ArrowArray {
    let mut data = Box::new(data);
    ArrowArray {
        length: rows as i64,
        n_buffers: data.buffers.len() as i64,
        n_children: data.children.len() as i64,
        buffers: data.buffers.as_mut_ptr(),
        children: data.children.as_mut_ptr(),
        release: Some(release_array),
        private_data: Box::into_raw(data).cast(),
        ..ended()
    }
}

/// The whole result: a structure of columns.
fn table(set: &Arc<ResultSet>) -> ArrowArray {
    let rows = set.time().len();
    let column = |numbers: *const f64, own: Vec<f64>| {
        let data = ArrayData {
            _set: set.clone(),
            _own: own,
            buffers: vec![ptr::null(), numbers.cast()],
            children: Vec::new(),
        };
        Box::into_raw(Box::new(array(rows, data)))
    };
    let mut children = vec![column(set.time().as_ptr(), Vec::new())];
    for s in set.signals() {
        children.push(match set.values_of(s) {
            std::borrow::Cow::Borrowed(values) => column(values.as_ptr(), Vec::new()),
            std::borrow::Cow::Owned(values) => column(values.as_ptr(), values),
        });
    }
    let data = ArrayData {
        _set: set.clone(),
        _own: Vec::new(),
        buffers: vec![ptr::null()],
        children,
    };
    array(rows, data)
}

unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: called once, for an array of ours. Children whose `release` is gone were moved out by the consumer.
    unsafe {
        let data = Box::from_raw((*array).private_data.cast::<ArrayData>());
        for &child in &data.children {
            let mut child = Box::from_raw(child);
            if let Some(release) = child.release {
                release(&mut *child);
            }
        }
        (*array).release = None;
    }
}
