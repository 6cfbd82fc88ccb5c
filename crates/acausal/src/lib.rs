//! Acausal simulates physical systems that are described by equations in the Modelica language.
//!
//! This is the façade: load a model, compile it, simulate it.
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
//!
//! | what | module |
//! |---|---|
//! | from a file or class to a compiled model | `load`: [`Model`], [`Load`] |
//! | compiled models in files | `stored` |
//! | simulation with results in memory or in files | `sink`: [`ResultSink`], [`InMemory`] |
//! | which signals there are, and which are stored | `signals`, `observe`: [`Observe`] |
//! | what is going on, for a progress display | `activity`: [`Activity`] |

mod activity;
mod load;
mod observe;
mod signals;
mod sink;
mod stored;

pub use acausal_expr::Limits;
pub use acausal_runtime::{Checkpoint, Parameter, ParameterValue, Settings, Solver, Summary};
pub use activity::Activity;
pub use load::{Failure, Load, Model, Phases, experiment_settings, flatten_target};
pub use observe::Observe;
pub use sink::{InMemory, ResultSink};
pub use stored::{EXTENSION, is_stored};
