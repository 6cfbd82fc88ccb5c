//! The values of known expressions, as far as they are fixed before the simulation.
//!
//! In: an expression of parameters. Out: its value from their bindings, or `None` when it depends on a parameter without
//! value or on a function that runs later.

use acausal_expr::flat::FlatModel;
use acausal_expr::{ExprId, IterId, Node, ScalarValue, ValueKind};

/// Parameters that depend on parameters: longer chains are not followed.
const DEEPEST: usize = 100;

/// The value of `e` with the iterators at the given values.
pub(crate) fn value(flat: &FlatModel, e: ExprId, at: &[(IterId, i64)]) -> Option<f64> {
    inner(flat, e, at, 0)?.as_f64()
}

/// Whether an expression holds a parameter that a simulation may set.
pub(crate) fn may_change(flat: &FlatModel, e: ExprId) -> bool {
    flat.exprs.any(e, |x, n| match x.node(n) {
        Node::Var(a) => {
            let v = flat.var(a.var);
            a.kind == ValueKind::Value && v.is_parameter() && !v.structural
        }
        _ => false,
    })
}

fn inner(flat: &FlatModel, e: ExprId, at: &[(IterId, i64)], depth: usize) -> Option<ScalarValue> {
    if depth > DEEPEST {
        return None;
    }
    flat.exprs
        .evaluate(e, |x, leaf, subs| match x.node(leaf) {
            Node::Iter(i) => at.iter().find(|a| a.0 == i).map(|a| ScalarValue::Int(a.1)),
            Node::Var(a) if a.kind == ValueKind::Value => {
                let var = flat.var(a.var);
                let fixed = var.fixed.as_ref().map(|f| x.as_bool(f.body));
                let free = fixed.is_some_and(|f| f != Some(true));
                if !var.is_parameter() || free {
                    return None;
                }
                let binding = var.binding.as_ref().or(var.start.as_ref())?;
                let at: Vec<(IterId, i64)> = binding
                    .iters
                    .iter()
                    .copied()
                    .zip(subs.iter().copied())
                    .collect();
                inner(flat, binding.body, &at, depth + 1)
            }
            _ => None,
        })
        .ok()
}
