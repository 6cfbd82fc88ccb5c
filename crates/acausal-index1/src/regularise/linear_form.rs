//! Which equations are linear with integer coefficients, and their terms.
//!
//! In: a flat equation. Out: its terms `coefficient * (unknown or known expression)`, which sum up to zero, or `None`.
//! Only values of continuous unknowns count as unknowns; an expression of parameters and literals is *known* and stays
//! as it is. An equation with anything else, such as `time` or an input, is none of these. An array equation is looked at
//! once, whatever its length.
//!
//! Example: `v = 2*(p.v - n.v) + V0` has the terms `v - 2*p.v + 2*n.v - V0`; `v = R*i` and `v = sin(time)` have none.

use acausal_expr::flat::{Equation, FlatModel};
use acausal_expr::{Access, Builtin, ExprId, Kind, Node};

use crate::incidence::is_unknown;

/// What a coefficient belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Factor {
    /// The value of an unknown.
    Unknown(Access),
    /// An expression of parameters, not zero.
    Known(ExprId),
}

/// Coefficient and factor.
pub(super) type Term = (i64, Factor);

/// Coefficients beyond this are no counts of anything; such an equation is left to numerics.
const LARGEST: f64 = 1e9;

/// The terms of `lhs - rhs` if the equation is linear with integer coefficients and has an unknown at all.
pub(super) fn integer_terms(flat: &FlatModel, eq: &Equation) -> Option<Vec<Term>> {
    let x = &flat.exprs;
    let mut terms: Vec<Term> = Vec::new();
    let mut todo = vec![(eq.rhs, -1i64), (eq.lhs, 1)];
    while let Some((e, c)) = todo.pop() {
        match x.node(e) {
            Node::Add(l) => todo.extend(x.list(l).iter().rev().map(|&t| (t, c))),
            Node::Var(a) if is_unknown(flat, a.var) && a.kind == Kind::Value => {
                terms.push((c, Factor::Unknown(a)));
            }
            Node::Mul(l) => match x.list(l) {
                &[factor, rest] if integer(x.as_f64(factor)).is_some() => {
                    let scaled = integer(x.as_f64(factor)).and_then(|f| c.checked_mul(f))?;
                    integer(Some(scaled as f64))?;
                    todo.push((rest, scaled));
                }
                _ => terms.push((c, known(flat, e)?)),
            },
            Node::Real(_) | Node::Int(_) if x.is_zero(e) => {}
            _ => terms.push((c, known(flat, e)?)),
        }
    }
    let any = terms.iter().any(|(_, f)| matches!(f, Factor::Unknown(_)));
    any.then_some(terms)
}

fn integer(v: Option<f64>) -> Option<i64> {
    v.filter(|v| v.fract() == 0.0 && v.abs() <= LARGEST && *v != 0.0)
        .map(|v| v as i64)
}

fn known(flat: &FlatModel, e: ExprId) -> Option<Factor> {
    let varies = flat.exprs.any(e, |x, n| match x.node(n) {
        Node::Var(a) => !flat.var(a.var).is_parameter(),
        Node::Time => true,
        Node::Call(f, _) => matches!(
            f,
            Builtin::Initial | Builtin::Terminal | Builtin::Sample | Builtin::Delay
        ),
        _ => false,
    });
    (!varies).then_some(Factor::Known(e))
}
