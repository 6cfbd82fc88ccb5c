//! Modifications and redeclarations (MLS 3.6 A.2.5, §7.2, §7.3).

use std::sync::Arc;

use super::{ComponentRef, Element, Expr, Ident, Path, Text};
use acausal_base::span::Span;

node! {
    /// `(a = 1, b(c = 2)) = value`, both parts optional.
    Modification {
        /// The arguments in parentheses; empty for `()` and for no parentheses.
        arguments: Vec<Argument>,
        /// The value.
        binding: Option<Binding>,
    }
}

node! {
    /// `= value` or, as older libraries write for start values of algorithms, `:= value`.
    Binding {
        /// True for `:=`.
        assign: bool,
        /// The value.
        value: BindingValue,
    }
}

/// What stands behind `=` in a modification.
#[derive(Debug, Clone, PartialEq)]
pub enum BindingValue {
    /// An expression. Shared, so that a class holds on to it without a copy.
    Expr(Arc<Expr>),
    /// `break`: removes the binding that would be inherited (MLS 3.6 §7.2.7).
    Break,
}

node! {
    /// One argument of a class modification.
    Argument {
        /// `each`: the same value for all elements of an array.
        each: bool,
        /// `final`: no further modification.
        is_final: bool,
        /// What is modified and how.
        kind: ArgumentKind,
    }
}

/// The forms of an argument.
#[derive(Debug, Clone, PartialEq)]
pub enum ArgumentKind {
    /// `name(...) = value "text"`.
    Modify {
        /// The element, possibly nested: `a.b.start`.
        name: Path,
        /// What to change; absent for a bare name.
        modification: Option<Modification>,
        /// A description string.
        description: Option<Text>,
    },
    /// `redeclare ...` or `replaceable ...`.
    ///
    /// The element is a class (short form) or a component clause with one component; its prefixes
    /// say `redeclare` and `replaceable`. `each` and `final` are those of the [`Argument`].
    Redeclare(Box<Element>),
    /// `break name` in an `extends` clause: deselect an inherited component (MLS 3.6 §7.4).
    BreakComponent(Ident),
    /// `break connect(a, b)` in an `extends` clause: deselect a connection.
    BreakConnect(ComponentRef, ComponentRef),
}
