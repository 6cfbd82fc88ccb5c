//! Failures as messages.

use acausal_base::{Diagnostic, Span};
use acausal_compiled::CompiledModel;
use acausal_expr::flat::OriginId;
use acausal_expr::{FunctionError, ScalarValue};
use acausal_solver::SolverError;

use super::SimError;
use super::integrator::integrator;
use crate::event::watch::Standstill;

impl SimError {
    /// The message for the user.
    pub fn diagnostic(&self, model: &CompiledModel) -> Diagnostic {
        match self {
            SimError::Code(e) => internal(format!("the generated code is not valid: {e}")),
            SimError::Pattern(e) => internal(format!("the Jacobian pattern is not valid: {e}")),
            SimError::Function(e) => Diagnostic::error("function", Span::NONE, e.to_string()),
            SimError::Output(m) => Diagnostic::error("output", Span::NONE, m.clone()),
            SimError::Settings(m) => Diagnostic::error("settings", Span::NONE, m.clone()),
            SimError::Setting(e) => e.diagnostic(),
            SimError::Assumption(b) => b.diagnostic(model),
            SimError::Initialisation(f) => f.diagnostic(model),
            SimError::Integrator(e) => integrator(e, model),
            SimError::Evaluation { seen, reason } => evaluation(seen, reason, model),
            SimError::StartNotFinite { .. }
            | SimError::Parameter { .. }
            | SimError::Object { .. }
            | SimError::Sample { .. }
            | SimError::SampleTooOften { .. } => self.before_the_start(),
            SimError::Chattering { .. }
            | SimError::TooManyEvents { .. }
            | SimError::Impulse { .. }
            | SimError::Assertion { .. } => self.at_an_event(model),
            SimError::NotFinite { .. }
            | SimError::Subscript { .. }
            | SimError::InitialPoints { .. }
            | SimError::Delay { .. } => self.of_a_value(model),
        }
    }

    /// What is wrong with parameters and attributes.
    fn before_the_start(&self) -> Diagnostic {
        match self {
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
            SimError::Object { name, reason, span } => Diagnostic::error(
                "function-error",
                *span,
                format!("`{name}` cannot be made: {reason}"),
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
            SimError::SampleTooOften {
                interval,
                count,
                stop,
                most,
                span,
            } => sample_too_often(*interval, *count, *stop, *most, *span),
            other => internal(format!("{other:?} is no failure before the start")),
        }
    }

    /// What happened at an instant.
    fn at_an_event(&self, model: &CompiledModel) -> Diagnostic {
        let place = |o: Option<OriginId>| o.map_or(Span::NONE, |o| model.symbols.origin(o).span);
        match self {
            SimError::Chattering { t, what, origin } => {
                let keep = match &what[..] {
                    [] => "a discrete value keeps changing".to_string(),
                    [one] => format!("{one} keeps changing"),
                    several => format!("{} keep changing", several.join(", ")),
                };
                Diagnostic::error(
                    "event-iteration",
                    place(*origin),
                    format!("the events at time = {t} do not settle: {keep}"),
                )
                .hint("a condition switches itself off again; use pre() or a hysteresis")
            }
            SimError::TooManyEvents {
                t,
                why,
                what,
                origin,
            } => standstill(*t, why, what, place(*origin)),
            SimError::Impulse { t, jump, origin } => Diagnostic::error(
                "impulse",
                place(Some(*origin)),
                format!(
                    "this equation jumps by {jump} at time = {t}, but its derivative is needed, which is an impulse there"
                ),
            )
            .hint("let the quantity change continuously, e.g. by a ramp or a filter, or give new values to the states it depends on with `reinit`"),
            SimError::Assertion {
                t,
                unassigned: lacking,
                message,
                values,
                origin,
            } => {
                let span = place(Some(*origin));
                let d = match lacking {
                    true => unassigned(span, &format!(" at time = {t}"), message),
                    false => Diagnostic::error(
                        "assertion",
                        span,
                        format!("assertion failed at time = {t}: {message}"),
                    ),
                };
                let d = in_component(d, *origin, model);
                match values.is_empty() {
                    true => d,
                    false => {
                        let shown: Vec<String> = values.iter().map(value_text).collect();
                        d.note(format!("with {}", shown.join(", ")))
                    }
                }
            }
            other => internal(format!("{other:?} is no failure at an event")),
        }
    }

    /// Values that make no sense.
    fn of_a_value(&self, model: &CompiledModel) -> Diagnostic {
        let place = |o: OriginId| model.symbols.origin(o).span;
        match self {
            SimError::NotFinite {
                t,
                name,
                value,
                origin,
            } => not_finite(*t, name, *value, *origin, model),
            SimError::Subscript {
                t,
                array,
                index,
                size,
                origin,
            } => Diagnostic::error(
                "subscript-bounds",
                place(*origin),
                format!("subscript {index} of {array} is outside of 1:{size} at time = {t}"),
            ),
            SimError::InitialPoints { place: point, origin } => Diagnostic::error(
                "initial-points",
                place(*origin),
                format!("the point {point} of the profile at the start is not between the one before it and 1"),
            )
            .hint("`initialPoints` must ascend from 0 to 1"),
            SimError::Delay {
                t,
                delay,
                longest,
                origin,
            } => {
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
                Diagnostic::error("delay-time", place(*origin), text).hint(hint)
            }
            other => internal(format!("{other:?} is no failure of a value")),
        }
    }
}

/// `x = 1`.
fn value_text((name, value): &(String, ScalarValue)) -> String {
    match value {
        ScalarValue::Real(v) => format!("{name} = {v}"),
        ScalarValue::Int(v) => format!("{name} = {v}"),
        ScalarValue::Bool(v) => format!("{name} = {v}"),
        other => format!("{name} = {other:?}"),
    }
}

fn not_finite(
    t: f64,
    name: &str,
    value: f64,
    origin: Option<OriginId>,
    model: &CompiledModel,
) -> Diagnostic {
    let Some(origin) = origin else {
        let message = format!("`{name}` is {value} at time = {t}");
        return Diagnostic::error("not-a-number", Span::NONE, message);
    };
    let span = model.symbols.origin(origin).span;
    let d = if value.is_finite() {
        Diagnostic::error(
            "integer-overflow",
            span,
            format!("`{name}` becomes {value:e} at time = {t}, because of this equation: no exact Integer"),
        )
        .note("Integers are exact up to 2^53")
    } else {
        let message = match name.contains('$') {
            true => format!("a value in this equation is {value} at time = {t}"),
            false => format!("`{name}` is {value} at time = {t}, because of this equation"),
        };
        Diagnostic::error("not-a-number", span, message)
    };
    in_component(d, origin, model)
}

/// Says to which component an equation belongs.
fn in_component(d: Diagnostic, origin: OriginId, model: &CompiledModel) -> Diagnostic {
    let component = &model.symbols.origin(origin).component;
    match component.is_empty() {
        true => d,
        false => d.note(format!("in component {component}")),
    }
}

/// A failed evaluation with what the function said.
fn evaluation(seen: &SimError, reason: &FunctionError, model: &CompiledModel) -> Diagnostic {
    let d = seen.diagnostic(model);
    let span = d.labels.first().map_or(Span::NONE, |l| l.span);
    match reason {
        FunctionError::Assertion { function, message } => Diagnostic::error(
            "assertion",
            span,
            format!("assertion failed{}: {message}", seen.when()),
        )
        .note(format!("in function {function}, called from here")),
        FunctionError::Unassigned { message } => unassigned(span, &seen.when(), message),
        FunctionError::Endless { .. } => {
            Diagnostic::error("evaluation-steps", span, format!("{reason}{}", seen.when()))
                .hint("if the loop does end, raise `--max-evaluation-steps`")
        }
        FunctionError::TooDeep { .. } => Diagnostic::error(
            "endless-recursion",
            span,
            format!("{reason}{}", seen.when()),
        )
        .hint("a recursion needs a case in which the function does not call itself"),
        _ => d.note(reason.to_string()),
    }
}

/// A function that has not assigned what is used of it.
fn unassigned(span: Span, when: &str, message: &str) -> Diagnostic {
    Diagnostic::error("unassigned-output", span, format!("{message}{when}")).hint(
        "assign it on every way through the function, or give it a value where it is declared",
    )
}

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
