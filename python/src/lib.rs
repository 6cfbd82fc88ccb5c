//! The part of the Python package `acausal` that is written in Rust: the module `acausal._acausal`.
//!
//! It is thin. Python classes (`python/acausal`) are what users see; the work is done by the façade crate. Here are the ways between: threads without Python's lock,
//! arrays without copies, failures with everything that they know.
//!
//! | what | module |
//! |---|---|
//! | compiled models | `model` |
//! | one simulation | `simulation` |
//! | step by step, the linear model | `stepping` |
//! | many simulations | `sweep` |
//! | trajectories as arrays | `table`; for other programs: `arrow` |
//! | work that Python waits for | `work` |
//! | failures | `error` |
//! | values of parameters | `value` |

mod arrow;
mod error;
mod model;
mod simulation;
mod stepping;
mod sweep;
mod table;
mod value;
mod work;

use std::ffi::OsString;

use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: acausal::Limited = acausal::Limited;

/// Runs the command `acausal`; the first argument is the name of the program.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| acausal::command::run(arguments))
}

/// The module.
#[pymodule]
fn _acausal(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add_function(wrap_pyfunction!(command, m)?)?;
    m.add_class::<model::Core>()?;
    m.add_class::<simulation::Run>()?;
    m.add_class::<table::Column>()?;
    m.add_class::<table::Numbers>()?;
    m.add_class::<sweep::Directory>()?;
    m.add_class::<stepping::Stepper>()?;
    m.add_class::<stepping::State>()?;
    m.add_function(wrap_pyfunction!(stepping::linearize, m)?)?;
    m.add_function(wrap_pyfunction!(sweep::sweep, m)?)?;
    m.add_function(wrap_pyfunction!(sweep::sweep_check, m)?)?;
    m.add_function(wrap_pyfunction!(sweep::sweep_grid, m)?)?;
    m.add_function(wrap_pyfunction!(sweep::design, m)?)
}
