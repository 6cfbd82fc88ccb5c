//! Why a simulation failed, in the user's own terms.
//!
//! | what | module |
//! |---|---|
//! | failures as messages | [`diagnostic`] |
//! | why the integrator stopped | [`integrator`] |
//! | equations and unknowns in words | [`text`] |

mod diagnostic;
mod integrator;
mod text;

use acausal_base::Span;
use acausal_expr::ScalarValue;
use acausal_expr::flat::OriginId;
use acausal_solver::{PatternError, SolverError, StepLimit};

use crate::event::watch::Standstill;
pub(crate) use crate::initial::short;
pub use crate::initial::{InitialFailure, InitialKind};
use crate::parameters::{BrokenAssumption, SettingError};
pub use text::{condition_text, row_text};
pub(crate) use text::{derivative_text, equation_text, point_text, true_above, unknown_text};

/// A failed simulation.
#[derive(Clone, Debug)]
pub enum SimError {
    /// The kernels could not be compiled: a defect of the code generator.
    Code(acausal_jit::KernelError),
    /// The Jacobian pattern is malformed: a defect of the code generator.
    Pattern(PatternError),
    /// A function of the model cannot be executed.
    Function(acausal_expr::FunctionError),
    /// A value at the start is not finite.
    StartNotFinite {
        /// Name of the variable.
        name: String,
        /// Its declaration.
        span: Span,
    },
    /// The value of a parameter is not finite, or beyond the range of Integers.
    Parameter {
        /// Name of the parameter.
        name: String,
        /// Its value.
        value: f64,
        /// Its declaration.
        span: Span,
    },
    /// No consistent start values were found.
    Initialisation(Box<InitialFailure>),
    /// The integrator stopped.
    Integrator(SolverError),
    /// `sample` with arguments that make no sense.
    Sample {
        /// First instant.
        start: f64,
        /// Interval.
        interval: f64,
        /// Where it stands.
        span: Span,
    },
    /// An external object that could not be made.
    Object {
        /// The variable.
        name: String,
        /// What its constructor says.
        reason: String,
        /// The declaration.
        span: Span,
    },
    /// `sample` with more instants than may be.
    SampleTooOften {
        /// Interval.
        interval: f64,
        /// Number of instants until the end; `None` when times cannot tell them apart.
        count: Option<f64>,
        /// The end.
        stop: f64,
        /// As many may be.
        most: u64,
        /// Where it stands.
        span: Span,
    },
    /// Events did not settle at one instant.
    Chattering {
        /// The instant.
        t: f64,
        /// What changed in the last iteration.
        what: Vec<String>,
        /// An equation that the changing value occurs in.
        origin: Option<OriginId>,
    },
    /// Too many events without progress of time.
    TooManyEvents {
        /// The instant.
        t: f64,
        /// In which way.
        why: Standstill,
        /// The condition that changed last.
        what: String,
        /// Where it stands.
        origin: Option<OriginId>,
    },
    /// An assertion failed.
    Assertion {
        /// The instant.
        t: f64,
        /// Nobody wrote it: a function has not assigned what is used of it.
        unassigned: bool,
        /// Its message.
        message: String,
        /// The variables of its condition with their values.
        values: Vec<(String, ScalarValue)>,
        /// Where it stands.
        origin: OriginId,
    },
    /// A variable that is given by an equation is not a finite number.
    NotFinite {
        /// The instant.
        t: f64,
        /// The variable.
        name: String,
        /// Its value.
        value: f64,
        /// The equation, if it has one.
        origin: Option<OriginId>,
    },
    /// An evaluation failed because a function did.
    Evaluation {
        /// What the solver saw.
        seen: Box<SimError>,
        /// The failure of the function.
        reason: acausal_expr::FunctionError,
    },
    /// A subscript that is known at run time only is out of range.
    Subscript {
        /// The instant.
        t: f64,
        /// What is subscripted.
        array: String,
        /// The subscript.
        index: f64,
        /// The largest one allowed.
        size: usize,
        /// Where it stands.
        origin: OriginId,
    },
    /// A point of the profile that `spatialDistribution` starts with lies outside of the pipe or before another one.
    InitialPoints {
        /// The point.
        place: f64,
        /// An equation with the operator.
        origin: OriginId,
    },
    /// A delay time that makes no sense.
    Delay {
        /// The instant.
        t: f64,
        /// The delay time.
        delay: f64,
        /// The longest one that was announced.
        longest: f64,
        /// Where it stands.
        origin: OriginId,
    },
    /// An equation that was differentiated jumps.
    Impulse {
        /// The instant.
        t: f64,
        /// By how much its right side moves against its left side.
        jump: f64,
        /// The equation.
        origin: OriginId,
    },
    /// Writing results failed.
    Output(String),
    /// The settings make no sense.
    Settings(String),
    /// A parameter cannot be set as it was asked for.
    Setting(SettingError),
    /// What the compiler took for granted does not hold for the values that parameters are set to.
    Assumption(BrokenAssumption),
}

impl SimError {
    /// When it happened, or what was reached before it did; nothing if time has not begun to run.
    pub fn time(&self) -> Option<f64> {
        match self {
            SimError::Initialisation(f) => Some(f.t),
            SimError::Integrator(e) => Some(e.t()),
            SimError::Chattering { t, .. }
            | SimError::TooManyEvents { t, .. }
            | SimError::Assertion { t, .. }
            | SimError::NotFinite { t, .. }
            | SimError::Subscript { t, .. }
            | SimError::Delay { t, .. }
            | SimError::Impulse { t, .. } => Some(*t),
            SimError::Evaluation { seen, .. } => seen.time(),
            _ => None,
        }
    }

    /// Variables that it is about, with their values.
    pub fn values(&self) -> Vec<(String, f64)> {
        match self {
            SimError::Initialisation(f) => f.unknowns.clone(),
            SimError::Assertion { values, .. } => (values.iter())
                .filter_map(|(name, v)| Some((name.clone(), v.as_f64()?)))
                .collect(),
            SimError::NotFinite { name, value, .. } | SimError::Parameter { name, value, .. } => {
                vec![(name.clone(), *value)]
            }
            SimError::Evaluation { seen, .. } => seen.values(),
            _ => Vec::new(),
        }
    }

    /// Adds why a function failed to an error that says that an evaluation did.
    pub(crate) fn because(self, reason: Option<acausal_expr::FunctionError>) -> SimError {
        let evaluation = |limit: &StepLimit| matches!(limit, StepLimit::Evaluation(_));
        let fits = match &self {
            SimError::NotFinite { .. } | SimError::Parameter { .. } => true,
            SimError::Initialisation(f) => {
                matches!(
                    f.kind,
                    InitialKind::NotFinite | InitialKind::NoSlope | InitialKind::NoConvergence
                )
            }
            SimError::Integrator(
                SolverError::StepTooSmall { limit, .. }
                | SolverError::RepeatedFailure { limit, .. },
            ) => evaluation(limit),
            SimError::Integrator(SolverError::Evaluation { .. }) => true,
            _ => false,
        };
        match reason {
            Some(reason) if fits => SimError::Evaluation {
                seen: Box::new(self),
                reason,
            },
            _ => self,
        }
    }
}
