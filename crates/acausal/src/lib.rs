//! Acausal simulates physical systems that are described by equations in the Modelica language.
//!
//! This is the façade: load a model, compile it, simulate it.
//!
//! | step | module |
//! |---|---|
//! | from a file or a class name to a compiled model | `load` |
//! | compiled models in files | `stored` |
//! | which signals there are, which are stored | `signals`, `observe` |
//! | from a running simulation to files and plots | `sink` |
//! | messages for programs | `json` |
//! | what the process is doing, for messages | `activity` |
//! | many simulations of one model | [`sweep`] |
//! | the command | [`command`]; its verbs: `cli`; an allocator with a limit: `memory_limit` |
//!
//! ```
//! use acausal::{Load, Model};
//! use acausal_runtime::Settings;
//!
//! let text = "model Decay Real x(start = 1, fixed = true); equation der(x) = -x; end Decay;";
//! let model = Model::from_text("Decay.mo", text, &Load::default()).map_err(|f| f.to_string())?;
//! let run = model.simulate_in_memory(&Settings::default()).map_err(|f| f.to_string())?;
//! let x = run.result.values("x").ok_or("x")?;
//! assert!((x.last().ok_or("no rows")? - (-1.0f64).exp()).abs() < 1e-5);
//! # Ok::<(), String>(())
//! ```

// The verbs call the library by the name that other programs know.
extern crate self as acausal;

mod activity;
mod cli;
pub mod command;
mod json;
mod load;
mod memory_limit;
mod observe;
mod signals;
mod sink;
mod stored;
pub mod sweep;

pub use acausal_expr::Limits;
pub use acausal_runtime::{Checkpoint, Parameter, ParameterValue, Settings, Solver, Summary};
pub use activity::Activity;
pub use json::diagnostic_json;
pub use load::{
    Failure, Load, Model, PhaseSeconds, experiment_settings, flatten_target, flatten_text,
};
pub use memory_limit::Limited;
pub use observe::Observe;
pub use sink::{InMemory, ResultSink};
pub use stored::{EXTENSION, is_stored};
