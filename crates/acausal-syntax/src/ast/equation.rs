//! Equations and statements (MLS 3.6 A.2.6).

use std::sync::Arc;

use super::{Call, ComponentRef, Description, Expr, ForIndex};
use acausal_base::span::Span;

node! {
    /// One equation with its description.
    Equation {
        /// What it is.
        kind: EquationKind,
        /// `"text" annotation(...)`, if there is any.
        description: Option<Arc<Description>>,
    }
}

/// The forms of an equation (MLS 3.6 §8.3).
#[derive(Debug, Clone, PartialEq)]
pub enum EquationKind {
    /// `left = right`.
    Equal(Expr, Expr),
    /// `if ... then ... elseif ... else ... end if`.
    If {
        /// Conditions with their equations; at least one.
        branches: Vec<(Expr, Vec<Equation>)>,
        /// Equations of `else`; empty if absent.
        otherwise: Vec<Equation>,
    },
    /// `for i in r, j in s loop ... end for`.
    For {
        /// The iterators, at least one.
        indices: Vec<ForIndex>,
        /// The equations.
        body: Vec<Equation>,
    },
    /// `connect(a, b)`.
    Connect(ComponentRef, ComponentRef),
    /// `when ... then ... elsewhen ... end when`.
    When {
        /// Conditions with their equations; at least one.
        branches: Vec<(Expr, Vec<Equation>)>,
    },
    /// `assert(...)`, `reinit(...)` and other calls for their effect.
    Call(Box<Call>),
}

node! {
    /// One statement with its description.
    Statement {
        /// What it is.
        kind: StatementKind,
        /// `"text" annotation(...)`, if there is any.
        description: Option<Arc<Description>>,
    }
}

/// The forms of a statement (MLS 3.6 §11.2).
#[derive(Debug, Clone, PartialEq)]
pub enum StatementKind {
    /// `target := value`.
    Assign {
        /// What is assigned.
        target: ComponentRef,
        /// The new value.
        value: Expr,
    },
    /// `(a, , b) := f(...)`.
    AssignCall {
        /// What the outputs go to; `None` where one is dropped.
        targets: Vec<Option<ComponentRef>>,
        /// The call.
        call: Call,
    },
    /// A call for its effect.
    Call(Call),
    /// `if ... then ... elseif ... else ... end if`.
    If {
        /// Conditions with their statements; at least one.
        branches: Vec<(Expr, Vec<Statement>)>,
        /// Statements of `else`; empty if absent.
        otherwise: Vec<Statement>,
    },
    /// `for i in r loop ... end for`.
    For {
        /// The iterators, at least one.
        indices: Vec<ForIndex>,
        /// The statements.
        body: Vec<Statement>,
    },
    /// `while c loop ... end while`.
    While {
        /// Runs as long as this holds.
        condition: Expr,
        /// The statements.
        body: Vec<Statement>,
    },
    /// `when ... then ... elsewhen ... end when`.
    When {
        /// Conditions with their statements; at least one.
        branches: Vec<(Expr, Vec<Statement>)>,
    },
    /// `break`.
    Break,
    /// `return`.
    Return,
}
