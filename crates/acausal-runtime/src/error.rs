//! Why a simulation failed, in the user's own terms.

use acausal_base::{Diagnostic, Span};
use acausal_compiled::Compiled;
use acausal_expr::flat::OriginId;
use acausal_expr::{Printer, RelOp};
use acausal_solver::{EvalReason, PatternError, SolverError, StepLimit};

use crate::event::watch::Standstill;
pub(crate) use crate::initial::short;
pub use crate::initial::{InitialFailure, InitialKind};

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
        /// Its message.
        message: String,
        /// The variables of its condition, `x = 1`.
        values: Vec<String>,
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
        reason: String,
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
}

impl SimError {
    /// Adds why a function failed to an error that says that an evaluation did.
    pub(crate) fn because(self, reason: Option<String>) -> SimError {
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
            SimError::Parameter { name, value, span } if value.is_finite() => Diagnostic::error(
                "integer-overflow",
                *span,
                format!(
                    "the parameter `{name}` is {value}, which is outside of the range of Integers"
                ),
            )
            .note("Integers are exact up to 2^53"),
            SimError::Parameter { name, value, span } => Diagnostic::error(
                "not-a-number",
                *span,
                format!("the parameter `{name}` is {value}"),
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
            SimError::Object { name, reason, span } => Diagnostic::error(
                "function-error",
                *span,
                format!("`{name}` cannot be made: {reason}"),
            ),
            SimError::SampleTooOften {
                interval,
                count,
                stop,
                most,
                span,
            } => sample_too_often(*interval, *count, *stop, *most, *span),
            SimError::Initialisation(f) => f.diagnostic(model),
            SimError::Integrator(e) => integrator(e, model),
            SimError::Chattering { t, what, origin } => {
                let span = origin.map_or(Span::NONE, |o| model.symbols.origin(o).span);
                let keep = match &what[..] {
                    [] => "a discrete value keeps changing".to_string(),
                    [one] => format!("{one} keeps changing"),
                    several => format!("{} keep changing", several.join(", ")),
                };
                Diagnostic::error(
                    "event-iteration",
                    span,
                    format!("the events at time = {t} do not settle: {keep}"),
                )
                .hint("a condition switches itself off again; use pre() or a hysteresis")
            }
            SimError::TooManyEvents {
                t,
                why,
                what,
                origin,
            } => {
                let span = origin.map_or(Span::NONE, |o| model.symbols.origin(o).span);
                standstill(*t, why, what, span)
            }
            SimError::Impulse { t, jump, origin } => Diagnostic::error(
                "impulse",
                model.symbols.origin(*origin).span,
                format!(
                    "this equation jumps by {jump} at time = {t}, but its derivative is needed, which is an impulse there"
                ),
            )
            .hint("let the quantity change continuously, e.g. by a ramp or a filter, or give new values to the states it depends on with `reinit`"),
            SimError::InitialPoints { place, origin } => Diagnostic::error(
                "initial-points",
                model.symbols.origin(*origin).span,
                format!("the point {place} of the profile at the start is not between the one before it and 1"),
            )
            .hint("`initialPoints` must ascend from 0 to 1"),
            SimError::Delay {
                t,
                delay,
                longest,
                origin,
            } => {
                let span = model.symbols.origin(*origin).span;
                let (text, hint) = if *delay < 0.0 {
                    (
                        format!("the delay time is {delay} at time = {t}; it must not be negative"),
                        "nobody knows what the expression will be; bound the delay time from below, `max(0, ..)`",
                    )
                } else {
                    (
                        format!(
                            "the delay time is {delay} at time = {t}, longer than the longest one, {longest}"
                        ),
                        "give a longer one as third argument of `delay`: so much of the past is kept",
                    )
                };
                Diagnostic::error("delay-time", span, text).hint(hint)
            }
            SimError::Assertion {
                t,
                message,
                values,
                origin,
            } => {
                let place = model.symbols.origin(*origin);
                let mut d = Diagnostic::error(
                    "assertion",
                    place.span,
                    format!("assertion failed at time = {t}: {message}"),
                );
                if !place.component.is_empty() {
                    d = d.note(format!("in component {}", place.component));
                }
                match values.is_empty() {
                    true => d,
                    false => d.note(format!("with {}", values.join(", "))),
                }
            }
            SimError::NotFinite {
                t,
                name,
                value,
                origin,
            } => {
                let Some(origin) = origin else {
                    let message = format!("`{name}` is {value} at time = {t}");
                    return Diagnostic::error("not-a-number", Span::NONE, message);
                };
                let place = model.symbols.origin(*origin);
                let d = match value.is_finite() {
                    true => Diagnostic::error(
                        "integer-overflow",
                        place.span,
                        format!("`{name}` becomes {value:e} at time = {t}, because of this equation: no exact Integer"),
                    )
                    .note("Integers are exact up to 2^53"),
                    false => Diagnostic::error(
                    "not-a-number",
                    place.span,
                    match name.contains('$') {
                        true => format!("a value in this equation is {value} at time = {t}"),
                        false => {
                            format!("`{name}` is {value} at time = {t}, because of this equation")
                        }
                    },
                    ),
                };
                if place.component.is_empty() {
                    d
                } else {
                    d.note(format!("in component {}", place.component))
                }
            }
            SimError::Evaluation { seen, reason } => {
                let d = seen.diagnostic(model);
                match reason
                    .strip_prefix(FUNCTION_ASSERTION)
                    .and_then(|r| r.split_once(": "))
                {
                    Some((function, message)) => {
                        let when = seen.when();
                        Diagnostic::error(
                            "assertion",
                            d.labels.first().map_or(Span::NONE, |l| l.span),
                            format!("assertion failed{when}: {message}"),
                        )
                        .note(format!("in function {function}, called from here"))
                    }
                    None => d.note(reason.clone()),
                }
            }
            SimError::Subscript {
                t,
                array,
                index,
                size,
                origin,
            } => Diagnostic::error(
                "subscript-bounds",
                model.symbols.origin(*origin).span,
                format!("subscript {index} of {array} is outside of 1:{size} at time = {t}"),
            ),
            SimError::Output(m) => Diagnostic::error("output", Span::NONE, m.clone()),
            SimError::Settings(m) => Diagnostic::error("settings", Span::NONE, m.clone()),
        }
    }
}

/// How the failure of an assertion inside of a function begins ([`acausal_expr::FunctionError`]).
const FUNCTION_ASSERTION: &str = "assertion in function ";

impl SimError {
    /// ` at time = 1`, where the time is known.
    fn when(&self) -> String {
        match self {
            SimError::Initialisation(f) if f.start => " at the start".to_string(),
            SimError::Initialisation(f) => format!(" at time = {}", f.t),
            SimError::NotFinite { t, .. } => format!(" at time = {t}"),
            SimError::Integrator(
                SolverError::StepTooSmall { t, .. }
                | SolverError::RepeatedFailure { t, .. }
                | SolverError::Evaluation { t, .. },
            ) => format!(" after time = {t}"),
            _ => String::new(),
        }
    }
}

fn standstill(t: f64, why: &Standstill, what: &str, span: Span) -> Diagnostic {
    match why {
        Standstill::Chattering { count, window } => Diagnostic::error(
            "chattering",
            span,
            format!("`{what}` changed {count} times to and fro within {window:.2e} before time = {t}"),
        )
        .hint("on both sides of its threshold the motion leads back to it; use a hysteresis, or model the sliding motion itself"),
        Standstill::Accumulation { count, ratio, limit } => Diagnostic::error(
            "accumulating-events",
            span,
            format!(
                "the events of `{what}` accumulate at time = {limit}: {count} changes so far, each distance {ratio:.3} of the one before (Zeno behaviour)"
            ),
        )
        .hint("let the model come to rest, for example below a smallest speed"),
        Standstill::Bound { count } => Diagnostic::error(
            "too-many-events",
            span,
            format!("{count} events happened until time = {t}; the last one was `{what}`"),
        )
        .hint("if that is meant to be so, raise `--max-events`"),
    }
}

fn sample_too_often(
    interval: f64,
    count: Option<f64>,
    stop: f64,
    most: u64,
    span: Span,
) -> Diagnostic {
    match count {
        Some(count) => Diagnostic::error(
            "too-many-events",
            span,
            format!(
                "an interval of {interval:e} gives {count:.3e} events until time = {stop}, more than {most}"
            ),
        )
        .hint("make the interval longer, or raise `--max-events`"),
        None => Diagnostic::error(
            "too-many-events",
            span,
            format!("an interval of {interval:e} is too short: times up to {stop} are not that exact"),
        )
        .hint("make the interval longer"),
    }
}

fn internal(message: String) -> Diagnostic {
    Diagnostic::error("internal", Span::NONE, message)
        .hint("this is a defect of acausal; please report it with the model")
}

/// The source place and the text of a residual row.
pub fn row_text(model: &Compiled, row: usize) -> (Span, String) {
    let Some((group, k)) = model.row_group(row) else {
        return (Span::NONE, format!("equation {}", row + 1));
    };
    let origin = model.symbols.origin(group.origin);
    let mut text = equation_text(model, row);
    if !group.domain.is_empty() {
        text.push_str(&format!(" for {}", point_text(model, group, k)));
    }
    if !origin.component.is_empty() {
        text.push_str(&format!(" of component {}", origin.component));
    }
    (origin.span, text)
}

/// Which of the equations of a group row `k` is: the values of the iterators, or of an equation between whole arrays,
/// whose iterators are the compiler's own, the element.
pub(crate) fn point_text(model: &Compiled, group: &acausal_compiled::RowGroup, k: usize) -> String {
    let mut rest = k as i64;
    let mut values = Vec::new();
    for (iter, range) in group.domain.iter().rev() {
        values.push((*iter, range.at(rest % range.count)));
        rest /= range.count;
    }
    values.reverse();
    let own = |iter| model.symbols.exprs.is_fresh_iter(iter);
    let (fresh, named): (Vec<_>, Vec<_>) = values.into_iter().partition(|v| own(v.0));
    let mut parts: Vec<String> = (named.iter())
        .map(|(iter, v)| format!("{} = {v}", model.symbols.exprs.iter_name(*iter)))
        .collect();
    if !fresh.is_empty() {
        let subscripts: Vec<String> = fresh.iter().map(|(_, v)| v.to_string()).collect();
        parts.push(format!("element [{}]", subscripts.join(",")));
    }
    parts.join(", ")
}

/// The equation of a row; of a fixed start value `v = start`. What the compiler introduced is said in words.
pub(crate) fn equation_text(model: &Compiled, row: usize) -> String {
    let Some((group, _)) = model.row_group(row) else {
        return format!("equation {}", row + 1);
    };
    if let Some(text) = model.start_row_text(row, None) {
        return text;
    }
    let text = residual_text(model, group.value);
    // A long one (inlined functions) is better read where it stands, which the message shows.
    if text.contains('$') || text.len() > LONGEST {
        return "this equation".to_string();
    }
    format!("`{text}`")
}

/// Characters of an equation in a sentence.
const LONGEST: usize = 160;

/// A residual as an equation: what is added on the left, what is subtracted on the right.
fn residual_text(model: &Compiled, residual: acausal_expr::ExprId) -> String {
    use acausal_expr::Node;
    let printer = Printer::new(&model.symbols);
    let terms = match model.symbols.exprs.node(residual) {
        Node::Add(list) => model.symbols.exprs.list(list).to_vec(),
        _ => vec![residual],
    };
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for &term in &terms {
        let text = printer.expr(term);
        match text.strip_prefix('-') {
            Some(rest) => right.push(rest.to_string()),
            None if text.starts_with("if ") && terms.len() > 1 => left.push(format!("({text})")),
            None => left.push(text),
        }
    }
    if left.is_empty() {
        std::mem::swap(&mut left, &mut right);
    }
    let side = |terms: Vec<String>| match terms.is_empty() {
        true => "0".to_string(),
        false => terms.join(" + "),
    };
    format!("{} = {}", side(left), side(right))
}

/// A component of `x` in the user's words.
pub(crate) fn unknown_text(model: &Compiled, c: usize) -> String {
    in_words(model.unknown_name(c))
}

/// The derivative of a component of `x` in the user's words.
pub(crate) fn derivative_text(model: &Compiled, c: usize) -> String {
    in_words(model.derivative_name(c))
}

/// Names that the compiler made up say where they come from.
fn in_words(name: String) -> String {
    if let Some((_, of)) = name.split_once("$slope.") {
        return format!("der({})", of.trim_end_matches(')'));
    }
    if name.contains('$') {
        return "a multiplier of the constraints".to_string();
    }
    name
}

/// The condition as written, for messages.
pub fn condition_text(model: &Compiled, expr: acausal_expr::ExprId) -> String {
    let text = Printer::new(&model.symbols).expr(expr);
    // A sum or another reduction in it has a name of the compiler's own.
    match text.contains('$') {
        true => "this condition".to_string(),
        false => text,
    }
}

/// Whether a relation is true when its left side exceeds its right side.
pub fn true_above(op: RelOp) -> bool {
    matches!(op, RelOp::Gt | RelOp::Ge)
}

fn integrator(e: &SolverError, model: &Compiled) -> Diagnostic {
    let limit_text = |limit: &StepLimit| -> (Span, String) {
        match limit {
            StepLimit::ErrorTest { variable } => (
                Span::NONE,
                format!(
                    "the error of `{}` limits the step",
                    unknown_text(model, *variable)
                ),
            ),
            StepLimit::Convergence { variable, row } => {
                let (span, text) = row_text(model, *row);
                (
                    span,
                    format!(
                        "the iteration for `{}` does not converge; the largest error is in {text}",
                        unknown_text(model, *variable)
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
                        unknown_text(model, *col)
                    ),
                )
            }
        }
    };
    // What the last attempts met, if it is more than an error that is too large.
    let code = |limit: &StepLimit, otherwise: &'static str| match limit {
        StepLimit::Evaluation(EvalReason::NotFinite { .. }) => "not-a-number",
        StepLimit::Singular { .. } => "singular",
        _ => otherwise,
    };
    match e {
        SolverError::StepTooSmall { t, limit, .. } => {
            let (span, text) = limit_text(limit);
            Diagnostic::error(
                code(limit, "step-too-small"),
                span,
                format!("the step size became too small at time = {t}: {text}"),
            )
        }
        SolverError::RepeatedFailure { t, limit, .. } => {
            let (span, text) = limit_text(limit);
            Diagnostic::error(
                code(limit, "no-progress"),
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
                    unknown_text(model, *col)
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
