//! Which equations are linear with integer coefficients, and their terms.
//!
//! In: a flat equation. Out: its terms `coefficient * (unknown or known expression)`, which sum up to zero, or `None`.
//! Only values of continuous unknowns count as unknowns; an expression of parameters and literals is *known* and stays
//! as it is. An equation with anything else, such as `time` or an input, is none of these. An array equation is looked at
//! once, whatever its length.
//!
//! Example: `v = 2*(p.v - n.v) + V0` has the terms `v - 2*p.v + 2*n.v - V0`; `v = R*i` and `v = sin(time)` have none.

use acausal_expr::flat::{Equation, FlatModel};
use acausal_expr::{Access, Builtin, ExprId, IterId, Kind, Node, Range, ReduceOp};

use crate::incidence::is_unknown;

/// What a coefficient belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Factor {
    /// The value of an unknown.
    Unknown(Access),
    /// An expression of parameters, not zero.
    Known(ExprId),
}

/// `coefficient * factor`, summed over the values of the inner iterators (those of `sum(x[k] for k in 1:N)`).
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub coefficient: i64,
    pub factor: Factor,
    pub inner: Vec<(IterId, Range)>,
}

/// Coefficients beyond this are no counts of anything; such an equation is left to numerics.
const LARGEST: f64 = 1e9;

/// The terms of `lhs - rhs` if the equation is linear with integer coefficients and has an unknown at all.
pub(super) fn integer_terms(flat: &FlatModel, eq: &Equation) -> Option<Vec<Term>> {
    let x = &flat.exprs;
    let mut terms: Vec<Term> = Vec::new();
    let mut todo = vec![(eq.rhs, -1i64, Vec::new()), (eq.lhs, 1, Vec::new())];
    while let Some((e, coefficient, inner)) = todo.pop() {
        let factor = match x.node(e) {
            Node::Add(l) => {
                let members = x.list(l).iter().rev();
                todo.extend(members.map(|&t| (t, coefficient, inner.clone())));
                continue;
            }
            Node::Var(a) if is_unknown(flat, a.var) && a.kind == Kind::Value => Factor::Unknown(a),
            Node::Mul(l) if x.list(l).len() == 2 && integer(x.as_f64(x.list(l)[0])).is_some() => {
                let factor = integer(x.as_f64(x.list(l)[0]))?;
                let scaled = coefficient.checked_mul(factor)?;
                integer(Some(scaled as f64))?;
                todo.push((x.list(l)[1], scaled, inner));
                continue;
            }
            Node::Reduce {
                op: ReduceOp::Sum,
                iter,
                range,
                body,
            } if known(flat, e).is_none() => {
                let mut inner = inner;
                inner.push((iter, range));
                todo.push((body, coefficient, inner));
                continue;
            }
            Node::Real(_) | Node::Int(_) if x.is_zero(e) => continue,
            // A known summand of a sum over unknowns would have to be summed up; such equations are rare.
            _ if inner.is_empty() => known(flat, e)?,
            _ => return None,
        };
        terms.push(Term {
            coefficient,
            factor,
            inner,
        });
    }
    let any = terms.iter().any(|t| matches!(t.factor, Factor::Unknown(_)));
    any.then_some(terms)
}

pub(super) fn integer(v: Option<f64>) -> Option<i64> {
    v.filter(|v| v.fract() == 0.0 && v.abs() <= LARGEST && *v != 0.0)
        .map(|v| v as i64)
}

pub(super) fn known(flat: &FlatModel, e: ExprId) -> Option<Factor> {
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
