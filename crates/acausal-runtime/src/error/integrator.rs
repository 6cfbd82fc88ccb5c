//! Why the integrator stopped.

use acausal_base::{Diagnostic, Span};
use acausal_compiled::CompiledModel;
use acausal_solver::{EvalReason, SolverError, StepLimit};

use super::text::{row_text, unknown_text};

/// The message for the user.
pub(super) fn integrator(e: &SolverError, model: &CompiledModel) -> Diagnostic {
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
