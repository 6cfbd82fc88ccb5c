//! What the code generator cannot compile.

use acausal_expr::flat::{FlatModel, OriginId};
use acausal_expr::{Access, ExprId, Printer};
use acausal_index1::element::ElementError;
use acausal_syntax::Diagnostic;

/// Why a model cannot be turned into code.
#[derive(Clone, Debug)]
pub enum CodegenError {
    /// The elements of an access are not known.
    Element {
        /// Why.
        error: ElementError,
        /// The equation.
        origin: OriginId,
    },
    /// Nothing gives this element a value.
    Unassigned {
        /// The access.
        access: Access,
        /// The equation.
        origin: OriginId,
    },
    /// `reinit` of a variable that follows from others.
    NoState {
        /// The access.
        access: Access,
        /// The clause.
        origin: OriginId,
    },
    /// An expression that has no meaning at run time, such as a String.
    Expression {
        /// The expression.
        expr: ExprId,
        /// The equation.
        origin: OriginId,
    },
    /// Parameters that depend on each other in a cycle.
    ParameterCycle {
        /// Names on the cycle.
        names: Vec<String>,
        /// Declaration of the first.
        span: acausal_syntax::Span,
    },
}

impl CodegenError {
    /// The message for the user.
    pub fn diagnostic(&self, flat: &FlatModel) -> Diagnostic {
        let printer = Printer::new(flat);
        let at = |o: OriginId| flat.origin(o).span;
        match self {
            CodegenError::Element { error, origin } => error.diagnostic(flat, *origin),
            CodegenError::Unassigned { access, origin } => Diagnostic::error(
                "no-value",
                at(*origin),
                format!("nothing gives `{}` a value", printer.access(*access)),
            ),
            CodegenError::NoState { access, origin } => Diagnostic::error(
                "reinit-no-state",
                at(*origin),
                format!(
                    "`reinit` needs a state, but `{}` is computed from other variables",
                    printer.access(*access)
                ),
            )
            .hint("a constraint ties it to them: use `reinit` for fewer variables, or for those that it is computed from"),
            CodegenError::Expression { expr, origin } => Diagnostic::error(
                "not-numeric",
                at(*origin),
                format!(
                    "`{}` cannot be evaluated during the simulation",
                    printer.expr(*expr)
                ),
            ),
            CodegenError::ParameterCycle { names, span } => Diagnostic::error(
                "parameter-cycle",
                *span,
                format!(
                    "the values of these parameters depend on each other: {}",
                    names.join(", ")
                ),
            ),
        }
    }
}
