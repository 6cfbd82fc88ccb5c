//! What the code generator cannot compile.

use acausal_expr::flat::{FlatModel, OriginId};
use acausal_expr::{Access, ExprId, Printer};
use acausal_syntax::Diagnostic;

/// Why a model cannot be turned into code.
#[derive(Clone, Debug)]
pub enum CodegenError {
    /// A subscript outside of its array.
    IndexRange {
        /// The access.
        access: Access,
        /// The equation.
        origin: OriginId,
        /// The subscript.
        index: i64,
        /// Size of the dimension.
        size: usize,
    },
    /// A subscript that changes during the simulation where that is not possible.
    DynamicIndex {
        /// The access.
        access: Access,
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
            CodegenError::IndexRange { access, origin, index, size } => Diagnostic::error(
                "index-range",
                at(*origin),
                format!("the subscript {index} of `{}` is outside of its dimension 1:{size}", printer.access(*access)),
            ),
            CodegenError::DynamicIndex { access, origin } => Diagnostic::error(
                "dynamic-index",
                at(*origin),
                format!("the subscript of `{}` changes during the simulation", printer.access(*access)),
            )
            .hint("only arrays of at most 64 elements can be indexed by a variable; use an if-expression instead"),
            CodegenError::Unassigned { access, origin } => Diagnostic::error(
                "no-value",
                at(*origin),
                format!("nothing gives `{}` a value", printer.access(*access)),
            ),
            CodegenError::Expression { expr, origin } => Diagnostic::error(
                "not-numeric",
                at(*origin),
                format!("`{}` cannot be evaluated during the simulation", printer.expr(*expr)),
            ),
            CodegenError::ParameterCycle { names, span } => Diagnostic::error(
                "parameter-cycle",
                *span,
                format!("the values of these parameters depend on each other: {}", names.join(", ")),
            ),
        }
    }
}
