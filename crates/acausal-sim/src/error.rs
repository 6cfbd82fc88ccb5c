//! Why a simulation failed, in the user's own terms.

use acausal_codegen::Compiled;
use acausal_expr::flat::OriginId;
use acausal_expr::{Printer, RelOp};
use acausal_solver::{EvalReason, PatternError, SolverError, StepLimit};
use acausal_syntax::{Diagnostic, Span};

/// A failed simulation.
#[derive(Clone, Debug)]
pub enum SimError {
    /// The kernels could not be compiled: a defect of the code generator.
    Code(acausal_jit::CodegenError),
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
    /// No consistent start values were found.
    Initialisation(InitialFailure),
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
        /// How many events so far.
        events: u64,
        /// The last condition that changed.
        what: String,
        /// Where it stands.
        origin: Option<OriginId>,
    },
    /// An assertion failed.
    Assertion {
        /// The instant.
        t: f64,
        /// Its message.
        message: String,
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
        /// The equation.
        origin: OriginId,
    },
    /// Writing results failed.
    Output(String),
    /// The settings make no sense.
    Settings(String),
}

/// Details of a failed initialisation.
#[derive(Clone, Debug)]
pub struct InitialFailure {
    /// What went wrong.
    pub kind: InitialKind,
    /// Time of the attempt: the start, or an event.
    pub t: f64,
    /// Rows with the largest residuals, largest first.
    pub rows: Vec<(usize, f64)>,
    /// Unknowns that are involved, by name, with their values.
    pub unknowns: Vec<(String, f64)>,
}

/// Kinds of failed initialisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialKind {
    /// More conditions than unknowns.
    Overdetermined,
    /// Unknowns that no equation determines.
    Underdetermined,
    /// The equations have no inverse at the guess.
    Singular,
    /// The iteration did not converge.
    NoConvergence,
}

impl SimError {
    /// The message for the user.
    pub fn diagnostic(&self, model: &Compiled) -> Diagnostic {
        match self {
            SimError::Code(e) => internal(format!("the generated code is not valid: {e}")),
            SimError::Pattern(e) => internal(format!("the Jacobian pattern is not valid: {e}")),
            SimError::Function(e) => Diagnostic::error("function", Span::NONE, e.to_string()),
            SimError::StartNotFinite { name, span } => Diagnostic::error(
                "start-not-finite",
                *span,
                format!("the start value of `{name}` is not a finite number"),
            ),
            SimError::Sample {
                start,
                interval,
                span,
            } => Diagnostic::error(
                "sample-arguments",
                *span,
                format!("sample({start}, {interval}) needs a finite start and a positive interval"),
            ),
            SimError::Initialisation(f) => initial(f, model),
            SimError::Integrator(e) => integrator(e, model),
            SimError::Chattering { t, what, origin } => {
                let span = origin.map_or(Span::NONE, |o| model.flat.origin(o).span);
                Diagnostic::error(
                    "event-iteration",
                    span,
                    format!(
                        "the events at time = {t} do not settle: {} keep changing",
                        what.join(", ")
                    ),
                )
                .hint("a condition switches itself off again; use pre() or a hysteresis")
            }
            SimError::TooManyEvents {
                t,
                events,
                what,
                origin,
            } => {
                let span = origin.map_or(Span::NONE, |o| model.flat.origin(o).span);
                Diagnostic::error(
                    "too-many-events",
                    span,
                    format!("{events} events happened and time stands at {t}; the last one was `{what}`"),
                )
                .hint("events accumulate (Zeno behaviour); let the model come to rest, for example by a smallest speed")
            }
            SimError::Assertion { t, message, origin } => Diagnostic::error(
                "assertion",
                model.flat.origin(*origin).span,
                format!("assertion failed at time = {t}: {message}"),
            ),
            SimError::NotFinite {
                t,
                name,
                value,
                origin,
            } => {
                let place = model.flat.origin(*origin);
                let d = Diagnostic::error(
                    "not-a-number",
                    place.span,
                    format!("`{name}` is {value} at time = {t}, because of this equation"),
                );
                if place.component.is_empty() {
                    d
                } else {
                    d.note(format!("in component {}", place.component))
                }
            }
            SimError::Output(m) => Diagnostic::error("output", Span::NONE, m.clone()),
            SimError::Settings(m) => Diagnostic::error("settings", Span::NONE, m.clone()),
        }
    }
}

fn internal(message: String) -> Diagnostic {
    Diagnostic::error("internal", Span::NONE, message)
        .hint("this is a defect of acausal; please report it with the model")
}

/// The source place and the text of a residual row.
pub fn row_text(model: &Compiled, row: usize) -> (Span, String) {
    let Some((group, k)) = model.row_group(row) else {
        return (Span::NONE, format!("number {}", row + 1));
    };
    let origin = model.flat.origin(group.origin);
    let mut text = format!("`0 = {}`", Printer::new(&model.flat).expr(group.value));
    if !group.domain.is_empty() {
        let mut rest = k as i64;
        let mut values = Vec::new();
        for (iter, range) in group.domain.iter().rev() {
            values.push(format!(
                "{} = {}",
                model.flat.exprs.iter_name(*iter),
                range.at(rest % range.count)
            ));
            rest /= range.count;
        }
        values.reverse();
        text.push_str(&format!(" for {}", values.join(", ")));
    }
    if !origin.component.is_empty() {
        text.push_str(&format!(" of component {}", origin.component));
    }
    (origin.span, text)
}

/// The condition as written, for messages.
pub fn condition_text(model: &Compiled, expr: acausal_expr::ExprId) -> String {
    Printer::new(&model.flat).expr(expr)
}

/// Whether a relation is true when its left side exceeds its right side.
pub fn true_above(op: RelOp) -> bool {
    matches!(op, RelOp::Gt | RelOp::Ge)
}

fn initial(f: &InitialFailure, model: &Compiled) -> Diagnostic {
    let (span, text) = f
        .rows
        .first()
        .map_or((Span::NONE, String::new()), |(row, _)| {
            row_text(model, *row)
        });
    let names: Vec<String> = f
        .unknowns
        .iter()
        .take(8)
        .map(|(n, v)| format!("{n} = {v}"))
        .collect();
    let at = if f.t == 0.0 {
        String::new()
    } else {
        format!(" at time = {}", f.t)
    };
    let mut d = match f.kind {
        InitialKind::Overdetermined => Diagnostic::error(
            "initial-overdetermined",
            span,
            format!(
                "too many conditions for the start: {text} cannot hold together with the others"
            ),
        )
        .hint("remove an initial equation or a fixed start value"),
        InitialKind::Underdetermined => Diagnostic::error(
            "initial-underdetermined",
            span,
            format!("no equation determines {} at the start", names.join(", ")),
        ),
        InitialKind::Singular => Diagnostic::error(
            "initial-singular",
            span,
            format!(
                "the equations{at} are singular at the start values: {text} does not determine another unknown"
            ),
        ),
        InitialKind::NoConvergence => Diagnostic::error(
            "initial-no-convergence",
            span,
            format!("no solution of the equations{at} was found; the largest error is in {text}"),
        )
        .hint("give start values that are closer to the solution"),
    };
    for (row, r) in f.rows.iter().take(3) {
        let (_, text) = row_text(model, *row);
        d = d.note(format!("residual {r:.3e} in {text}"));
    }
    if !names.is_empty() {
        d = d.note(format!("unknowns: {}", names.join(", ")));
    }
    d
}

fn integrator(e: &SolverError, model: &Compiled) -> Diagnostic {
    let limit_text = |limit: &StepLimit| -> (Span, String) {
        match limit {
            StepLimit::ErrorTest { variable } => (
                Span::NONE,
                format!(
                    "the error of `{}` limits the step",
                    model.unknown_name(*variable)
                ),
            ),
            StepLimit::Convergence { variable, row } => {
                let (span, text) = row_text(model, *row);
                (
                    span,
                    format!(
                        "the iteration for `{}` does not converge; the largest error is in {text}",
                        model.unknown_name(*variable)
                    ),
                )
            }
            StepLimit::Evaluation(EvalReason::NotFinite { row }) => {
                let (span, text) = row_text(model, *row);
                (span, format!("{text} is not a finite number"))
            }
            StepLimit::Evaluation(EvalReason::Caller { .. }) => {
                (Span::NONE, "a function failed".to_string())
            }
            StepLimit::Singular { row, col } => {
                let (span, text) = row_text(model, *row);
                (
                    span,
                    format!(
                        "the equations are singular for `{}` in {text}",
                        model.unknown_name(*col)
                    ),
                )
            }
        }
    };
    match e {
        SolverError::StepTooSmall { t, limit, .. } => {
            let (span, text) = limit_text(limit);
            Diagnostic::error(
                "step-too-small",
                span,
                format!("the step size became too small at time = {t}: {text}"),
            )
        }
        SolverError::RepeatedFailure { t, limit, .. } => {
            let (span, text) = limit_text(limit);
            Diagnostic::error(
                "no-progress",
                span,
                format!("no step from time = {t} succeeds: {text}"),
            )
        }
        SolverError::SingularMatrix { t, row, col, .. } => {
            let (span, text) = row_text(model, *row);
            Diagnostic::error(
                "singular",
                span,
                format!(
                    "the equations are singular at time = {t}: `{}` is not determined by {text}",
                    model.unknown_name(*col)
                ),
            )
        }
        SolverError::Evaluation { t, reason, .. } => {
            let (span, text) = limit_text(&StepLimit::Evaluation(*reason));
            Diagnostic::error(
                "not-a-number",
                span,
                format!("evaluation failed after time = {t}: {text}"),
            )
        }
        SolverError::TooManySteps { t, steps, .. } => Diagnostic::error(
            "too-many-steps",
            Span::NONE,
            format!("{steps} steps were made and time is only {t}"),
        ),
        SolverError::TooMuchAccuracy { t, factor, .. } => Diagnostic::error(
            "tolerance",
            Span::NONE,
            format!("the tolerance is too small for double precision at time = {t}"),
        )
        .hint(format!("make it at least {factor:.1} times larger")),
        SolverError::InvalidInput { what, .. } => Diagnostic::error(
            "settings",
            Span::NONE,
            format!("the settings of the integrator are not valid: {what:?}"),
        ),
    }
}
