//! The runtime: initialisation, integration and events of compiled models.
//!
//! A model comes from the compiler or from a file ([`file::read`]); this crate knows nothing of how it was made. Without the feature `cranelift` its kernels are
//! interpreted, with the same bits. [`simulate`] runs a [`CompiledModel`] model and gives each output row to a [`Sink`]. A compiled
//! model is shared data; a simulation is a value of its own, so several can run at once.
//!
//! | what | module |
//! |---|---|
//! | from the start to the end | `simulate`; what stops it: `error`, `limits` |
//! | a compiled model with its memory, the programs it runs | `machine`: [`Machine`]; what simulations share: [`Prepared`] |
//! | parameters, and other values for them | [`mod@parameters`] |
//! | inputs over time | `inputs`: [`InputSignal`] |
//! | the conditions of the start and their solution | `initial` |
//! | consistent values at the start and after events | `consistent`; unknowns that are open: `bordered` |
//! | events | `event`, `at_event`; jumps of what was differentiated: `impulse`; of solutions: `jump` |
//! | what the integrator sees | `consistent_indicators`, `integrator` |
//! | rows | `output`; points inside of a step: `interior`; chosen signals of large models: `selected` |
//! | what was | `history`; `delay`, `distribution` |
//! | the linear model at an instant | `linearise`: [`Linearisation`] |
//! | to go on later | `checkpoint`: [`Checkpoint`] |
//! | what was done | `statistics`, `trace`: [`Profile`], [`Trace`] |

mod at_event;
mod bordered;
mod checkpoint;
mod consistent;
mod consistent_indicators;
mod delay;
mod distribution;
mod error;
mod event;
mod history;
mod impulse;
mod initial;
mod inputs;
mod integrator;
mod interior;
mod jump;
mod limits;
mod linearise;
mod machine;
mod output;
pub mod parameters;
mod selected;
mod simulate;
mod statistics;
mod trace;

pub use acausal_compiled::{CompiledModel, file};
pub use checkpoint::Checkpoint;
pub use event::watch::Standstill;
pub use statistics::Profile;
pub use trace::Trace;

pub use error::{InitialFailure, InitialKind, SimError, condition_text, row_text};
pub use inputs::InputSignal;
pub use linearise::{Linearisation, linearise};
pub use machine::{Machine, Prepared};
pub use output::gather;
pub use parameters::{Parameter, ParameterValue, SettingError, parameters};
pub use simulate::{prepare, resume, resume_prepared, simulate, simulate_prepared};

use acausal_base::Scale;
use acausal_compiled::Loc;

/// Settings of a simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Start time.
    pub start: f64,
    /// Stop time.
    pub stop: f64,
    /// Distance of output instants.
    pub interval: f64,
    /// Relative tolerance.
    pub tolerance: f64,
    /// Bound on the number of steps.
    pub max_steps: u64,
    /// Bound on the number of events.
    pub max_events: u64,
    /// Bound on the number of output instants.
    pub max_rows: u64,
    /// Highest order of the integrator.
    pub max_order: usize,
    /// Which integrator.
    pub solver: Solver,
    /// Start with all derivatives of states zero, as far as the equations allow it.
    pub steady_state: bool,
    /// Keep the state at the end in [`Summary::checkpoint`].
    pub checkpoint: bool,
    /// Take the checkpoint at this time and go on from there.
    pub checkpoint_at: Option<f64>,
    /// What to report while it happens.
    pub trace: Trace,
    /// Measure where the time goes.
    pub profile: bool,
    /// Threads that evaluate the equations and serve the integrator; two if nothing is said and there are two cores. Only equations over
    /// long arrays with costly functions and vectors that do not stay in a cache are shared, and the results do not depend on it.
    pub threads: Option<usize>,
    /// Parameters and start attributes (`x.start`) with the values that they have in this simulation; see [`mod@parameters`].
    pub parameters: Vec<(String, ParameterValue)>,
    /// What top-level inputs are over time; those that are not named are zero.
    pub inputs: Vec<InputSignal>,
    /// From which size on the same is done otherwise.
    pub scale: Scale,
}

/// The integrators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Solver {
    /// Our own variable-order BDF.
    #[default]
    Bdf,
    /// SUNDIALS IDA, with the cargo feature `sundials`.
    Ida,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            start: 0.0,
            stop: 1.0,
            interval: 0.002,
            tolerance: 1e-6,
            max_steps: 100_000_000,
            max_events: 10_000_000,
            max_rows: 100_000_000,
            max_order: 5,
            solver: Solver::Bdf,
            steady_state: false,
            checkpoint: false,
            checkpoint_at: None,
            trace: Trace::default(),
            profile: false,
            threads: None,
            parameters: Vec::new(),
            inputs: Vec::new(),
            scale: Scale::default(),
        }
    }
}

impl Settings {
    /// Says what makes no sense about them, before anything is simulated.
    pub fn check(&self) -> Result<(), SimError> {
        let complain = |m: String| Err(SimError::Settings(m));
        if !self.start.is_finite() || !self.stop.is_finite() {
            return complain("start and stop time must be finite numbers".into());
        }
        if self.stop < self.start {
            return complain(format!(
                "the stop time {} lies before the start time {}",
                self.stop, self.start
            ));
        }
        limits::check_span(self)?;
        if self.interval <= 0.0 || !self.interval.is_finite() {
            return complain(format!(
                "the output interval must be positive, not {}",
                self.interval
            ));
        }
        limits::check_rows(self)?;
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return complain(format!(
                "the tolerance must lie between 0 and 1, not {}",
                self.tolerance
            ));
        }
        if let Some(t) = self.checkpoint_at
            && !(self.start <= t && t <= self.stop)
        {
            return complain(format!(
                "the checkpoint at {t} lies outside of the time from {} to {}",
                self.start, self.stop
            ));
        }
        Ok(())
    }
}

/// Something the user should know although nothing is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// One sentence.
    pub text: String,
}

/// What a simulation did.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Number of unknowns of the integrator.
    pub unknowns: usize,
    /// Number of states.
    pub states: usize,
    /// Steps.
    pub steps: u64,
    /// Steps by order; index 0 is unused.
    pub steps_by_order: [u64; 6],
    /// Residual evaluations.
    pub residual_evaluations: u64,
    /// Jacobian evaluations.
    pub jacobian_evaluations: u64,
    /// Factorisations.
    pub factorisations: u64,
    /// Failed error tests.
    pub error_test_failures: u64,
    /// Failed corrector iterations.
    pub convergence_failures: u64,
    /// Events.
    pub events: u64,
    /// Time reached.
    pub reached: f64,
    /// Seconds per phase.
    pub seconds: Seconds,
    /// Notes.
    pub notes: Vec<Note>,
    /// Warnings of assertions.
    pub warnings: Vec<String>,
    /// Texts that the model printed and the sink did not take.
    pub printed: Vec<String>,
    /// The message of `terminate`, if it ended the simulation.
    pub terminated: Option<String>,
    /// The simulation was interrupted from outside.
    pub interrupted: bool,
    /// More about the work of the integrator.
    pub profile: Profile,
    /// The state at the end, or where it was asked for.
    pub checkpoint: Option<Checkpoint>,
}

/// Wall-clock seconds per phase of a simulation.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct Seconds {
    pub codegen: f64,
    pub initialise: f64,
    pub integrate: f64,
    /// Parts of `integrate`; those of evaluations and the matrix are measured with [`Settings::profile`] only.
    pub residual: f64,
    /// Residuals that are evaluated while unknowns are predicted, with that prediction (large models).
    pub predicted: f64,
    pub jacobian: f64,
    pub factor: f64,
    pub solve: f64,
    pub indicators: f64,
    pub events: f64,
    pub output: f64,
}

/// Takes the results.
pub trait Sink {
    /// Called once after initialisation, before the first row.
    fn begin(&mut self, machine: &Machine, y: &[f64], yp: &[f64]) -> Result<(), String>;
    /// One output row; at an event there are two with the same time.
    fn row(&mut self, t: f64, machine: &Machine, y: &[f64], yp: &[f64]) -> Result<(), String>;
    /// The places that rows are read from, if they are few; the others need not be up to date then, but for the last row. Asked
    /// after [`Sink::begin`].
    fn wanted(&self) -> Option<Vec<Loc>> {
        None
    }
    /// Called after each step.
    fn progress(&mut self, _t: f64) {}
    /// One line of a trace (see [`Settings::trace`]).
    fn trace(&mut self, _line: &str) {}
    /// Whether [`Sink::event`] shall be called.
    fn wants_events(&self) -> bool {
        false
    }
    /// An event that was handled, with the relations that changed, in words.
    fn event(&mut self, _t: f64, _changes: &[String]) {}
    /// One text that the model prints; false leaves it to [`Summary::printed`].
    fn print(&mut self, _text: &str) -> bool {
        false
    }
    /// True when the simulation shall stop at the next opportunity.
    fn interrupted(&self) -> bool {
        false
    }
}
