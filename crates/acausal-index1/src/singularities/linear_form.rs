//! Which equations are linear with integer coefficients, and their terms.
//!
//! In: a flat equation. Out: its terms `coefficient * (unknown or known expression)`, which sum up to zero, or `None`.
//! Only values of continuous unknowns count as unknowns; an expression of parameters and literals is *known* and stays
//! as it is. An equation with anything else, such as `time` or an input, is none of these. An array equation is looked at
//! once, whatever its length.
//!
//! Coefficients that are literals with rational ratios are integers after scaling ([`scale`]): `1.5*i = 1.5*j + 0.5*k`
//! has the terms `3*i - 3*j - k`.
//!
//! Example: `v = 2*(p.v - n.v) + V0` has the terms `v - 2*p.v + 2*n.v - V0`; `v = R*i` and `v = sin(time)` have none.

use acausal_expr::flat::{Equation, FlatModel};
use acausal_expr::{Access, Builtin, ExprId, Exprs, IterId, Node, Range, ReduceOp, ValueKind};

use crate::segments::incidence::is_unknown;

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

/// A term whose coefficient is not an integer yet.
type Draft = (f64, Factor, Vec<(IterId, Range)>);

/// Coefficients beyond this are no counts of anything; such an equation is left to numerics.
const LARGEST: f64 = 1e9;

/// Common denominators up to this are looked for. Ratios that people write (1.5, 0.25, 1/3, 0.1) are below it; a larger
/// bound would take measured coefficients for ratios and let the integers of the elimination, which multiply along its
/// pivots, grow for nothing.
const LARGEST_DENOMINATOR: u32 = 12;

/// Literals are rounded once and their ratio once more: it is a ratio of small integers up to this share.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// The terms of `lhs - rhs` if the equation is linear with integer coefficients and has an unknown at all.
pub(super) fn integer_terms(flat: &FlatModel, eq: &Equation) -> Option<Vec<Term>> {
    let x = &flat.exprs;
    let mut terms: Vec<Draft> = Vec::new();
    let mut todo = vec![(eq.rhs, -1.0, Vec::new()), (eq.lhs, 1.0, Vec::new())];
    while let Some((e, coefficient, inner)) = todo.pop() {
        let factor = match x.node(e) {
            Node::Add(l) => {
                let members = x.list(l).iter().rev();
                todo.extend(members.map(|&t| (t, coefficient, inner.clone())));
                continue;
            }
            Node::Var(a) if is_unknown(flat, a.var) && a.kind == ValueKind::Value => {
                Factor::Unknown(a)
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
            _ => match scaled(x, e) {
                // Known numbers keep their factor, unless it is a count.
                Some((f, part)) if f.fract() == 0.0 || known(flat, part).is_none() => {
                    todo.push((part, coefficient * f, inner));
                    continue;
                }
                // A known summand of a sum over unknowns would have to be summed up; such equations are rare.
                _ if inner.is_empty() => known(flat, e)?,
                _ => return None,
            },
        };
        terms.push((coefficient, factor, inner));
    }
    if !(terms.iter()).any(|t| matches!(t.1, Factor::Unknown(_))) {
        return None;
    }
    let by = scale(terms.iter().map(|t| t.0))?;
    let terms = terms.into_iter().map(|(coefficient, factor, inner)| Term {
        coefficient: (coefficient * by).round() as i64,
        factor,
        inner,
    });
    Some(terms.collect())
}

/// An expression as `literal * rest`, the literal finite and not zero.
pub(super) fn scaled(x: &Exprs, e: ExprId) -> Option<(f64, ExprId)> {
    let literal = |e: ExprId| x.as_f64(e).filter(|f| f.is_finite() && *f != 0.0);
    match x.node(e) {
        Node::Mul(l) if x.list(l).len() == 2 => literal(x.list(l)[0]).map(|f| (f, x.list(l)[1])),
        Node::Div(a, b) => literal(b).map(|f| (1.0 / f, a)),
        _ => None,
    }
}

/// By what coefficients are to be multiplied to become integers: 1 if they are integers, else with the common
/// denominator of their ratios to the smallest. `None` if they have none, or become too large.
pub(super) fn scale(coefficients: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let integers = |by: f64| coefficients.clone().all(|c| is_integer(c * by));
    if coefficients.clone().all(|c| c.fract() == 0.0) && integers(1.0) {
        return Some(1.0);
    }
    let smallest = coefficients.clone().map(f64::abs).fold(f64::MAX, f64::min);
    let denominators = 1..=LARGEST_DENOMINATOR;
    denominators
        .map(|d| f64::from(d) / smallest)
        .find(|by| by.is_finite() && integers(*by))
}

/// Whether a scaled coefficient is an integer up to rounding, and neither zero nor too large.
pub(super) fn is_integer(c: f64) -> bool {
    c.abs() <= LARGEST && c != 0.0 && (c - c.round()).abs() <= ROUNDING * c.abs()
}

pub(super) fn known(flat: &FlatModel, e: ExprId) -> Option<Factor> {
    let varies = flat.exprs.any(e, |x, n| match x.node(n) {
        Node::Var(a) => !flat.var(a.var).is_parameter(),
        Node::Time => true,
        Node::Call(f, _) => matches!(
            f,
            Builtin::Initial
                | Builtin::Terminal
                | Builtin::Sample
                | Builtin::Delay
                | Builtin::Spatial
        ),
        _ => false,
    });
    (!varies).then_some(Factor::Known(e))
}

#[cfg(test)]
mod tests {
    use super::scale;

    #[test]
    fn ratios_of_small_integers_are_integers_after_scaling() {
        let integers = |c: &[f64]| {
            let by = scale(c.iter().copied())?;
            Some(
                c.iter()
                    .map(|c| (c * by).round() as i64)
                    .collect::<Vec<_>>(),
            )
        };
        for (coefficients, expected) in [
            (&[1.0, -2.0][..], Some(vec![1, -2])),
            (&[1.5, -1.5, -1.5], Some(vec![1, -1, -1])),
            (&[0.3, 0.1], Some(vec![3, 1])),
            (&[0.1, 0.2, 0.7], Some(vec![1, 2, 7])),
            (&[1.5, 2.5, 3.5], Some(vec![3, 5, 7])),
            (&[1.0 / 3.0, 1.0], Some(vec![1, 3])),
            (&[0.5, 1.0 / 3.0], Some(vec![3, 2])),
            (&[0.37, 1.0], None),
            (&[1e-12, 1.5], None),
            (&[2e9, 1.0], None),
            (&[2e9, -2e9], Some(vec![1, -1])),
        ] {
            assert_eq!(integers(coefficients), expected, "{coefficients:?}");
        }
    }
}
