//! What the code generator cannot compile.

use acausal_base::Diagnostic;
use acausal_expr::flat::{FlatModel, OriginId};
use acausal_expr::limits::bytes_text;
use acausal_expr::{Access, ExprId, Printer};
use acausal_symbolic::elements::ElementError;

use acausal_compiled::Loc;

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
    /// An expression that has no meaning at run time, such as a String.
    Expression {
        /// The expression.
        expr: ExprId,
        /// The equation.
        origin: OriginId,
    },
    /// `reinit` of something that is no state.
    NotAState {
        /// The access.
        access: Access,
        /// The clause.
        origin: OriginId,
    },
    /// `reinit` of one state in two clauses, or twice in one branch.
    SetTwice {
        /// The access.
        access: Access,
        /// The later clause.
        origin: OriginId,
        /// The one before, which may be the same.
        other: OriginId,
    },
    /// Parameters that depend on each other in a cycle.
    ParameterCycle {
        /// Names on the cycle.
        names: Vec<String>,
        /// Declaration of the first.
        span: acausal_base::Span,
    },
    /// The model does not fit into memory.
    TooLarge {
        /// Bytes that it needs at least.
        bytes: u64,
        /// The largest variable.
        largest: acausal_expr::VarId,
    },
    /// An equation over arrays that needs a table of its points which does not fit into memory.
    TooDense {
        /// Number of points.
        points: u64,
        /// The equation.
        origin: OriginId,
    },
    /// A defect of the code generator.
    Internal {
        /// What cannot be.
        what: &'static str,
        /// The equation.
        origin: OriginId,
    },
    /// More scalars of one kind than there are addresses.
    TooMany {
        /// The largest variable.
        largest: acausal_expr::VarId,
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
            CodegenError::NotAState { access, origin } => Diagnostic::error(
                "reinit-not-a-state",
                at(*origin),
                format!(
                    "`reinit` sets `{}`, which is not a state: its value follows from other variables",
                    printer.access(*access)
                ),
            )
            .note("`reinit` needs a variable that is differentiated and can be chosen as a state (MLS 3.6 §8.3.6)")
            .hint("set the state that it depends on"),
            CodegenError::SetTwice {
                access,
                origin,
                other,
            } => {
                let name = printer.access(*access);
                let message = match origin == other {
                    true => format!("`reinit` sets `{name}` twice at one instant"),
                    false => format!("two `when` clauses set `{name}` with `reinit`"),
                };
                let d = Diagnostic::error("reinit-twice", at(*origin), message);
                let d = match origin == other {
                    true => d,
                    false => d.label(at(*other), "the other clause"),
                };
                d.note("if both happened at one instant, nothing would say which value counts (MLS 3.6 §8.3.6)")
                    .hint("make them branches of one clause: `when a then reinit(...); elsewhen b then reinit(...); end when`")
            }
            CodegenError::Expression { expr, origin } => Diagnostic::error(
                "not-numeric",
                at(*origin),
                format!(
                    "`{}` cannot be evaluated during the simulation",
                    printer.expr(*expr)
                ),
            ),
            CodegenError::TooLarge { bytes, largest } => {
                let v = flat.var(*largest);
                Diagnostic::error(
                    "too-large",
                    v.span,
                    format!(
                        "the simulation needs at least {} of memory, the limit is {}",
                        bytes_text(*bytes as f64),
                        bytes_text(flat.exprs.limits.memory as f64)
                    ),
                )
                .note(format!(
                    "the largest variable is `{}` with {} elements",
                    v.name.element(&[]),
                    v.len()
                ))
                .hint("make the arrays smaller, or raise `--memory-limit`")
            }
            CodegenError::TooDense { points, origin } => Diagnostic::error(
                "too-large",
                at(*origin),
                format!(
                    "this equation has {points} terms of its own, more than the memory limit of {} allows",
                    bytes_text(flat.exprs.limits.memory as f64)
                ),
            )
            .hint("a sum over all elements for each element is a full matrix; make it smaller, or raise `--memory-limit`"),
            CodegenError::Internal { what, origin } => Diagnostic::error(
                "internal",
                at(*origin),
                format!("no code can be made of this equation: {what}"),
            )
            .hint("this is a defect of acausal; please report it with the model"),
            CodegenError::TooMany { largest } => {
                let v = flat.var(*largest);
                Diagnostic::error(
                    "too-large",
                    v.span,
                    format!("the model has more than {} scalar variables", Loc::MOST),
                )
                .note(format!(
                    "the largest variable is `{}` with {} elements",
                    v.name.element(&[]),
                    v.len()
                ))
                .hint("make the arrays smaller")
            }
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
