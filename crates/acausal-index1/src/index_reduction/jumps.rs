//! Equations that are differentiated although they may jump.
//!
//! `Real w = if time < 0.5 then 0 else 1; 2*der(w) = tau` needs `der(w)`, and symbolically that is 0: conditions, discrete variables and steps are constant
//! between events. At t = 0.5 w jumps all the same, and tau would have to be an impulse. As long as there are none, such a model has no solution behind the jump, and 0 would be a wrong answer without a word.
//!
//! In: an equation that index reduction differentiates. Out: nothing if it has no part that may jump; an error where the branches of a condition
//! differ by a number ([`visible_jump`]); else the equation itself, whose sides are compared at every event with the conditions before and
//! after it ([`crate::Continuity`]). `if x > 0 then x^2 else 0` is continuous where its condition changes, and goes on working.
//!
//! Without an event nothing would be compared. So the sides that are compared have events where the equation has none, in
//! `noEvent`, in functions and in `sign` ([`with_events`]); the equation itself stays as it is.
//!
//! Inside of `smooth(p, ..)` the user has promised continuity. Linear in the size of the expressions.

use acausal_base::Diagnostic;
use acausal_expr::flat::FlatModel;
use acausal_expr::{Builtin, ExprId, Exprs, Node, Printer, RelOp, ValueKind};
use acausal_symbolic::Substitute;
use rustc_hash::FxHashSet;

use super::derivatives::Written;

/// Whether the value of an expression may jump at an event.
pub(crate) fn may_jump(flat: &FlatModel, e: ExprId) -> bool {
    values(&flat.exprs, e)
        .into_iter()
        .any(|n| match flat.exprs.node(n) {
            Node::If(c, ..) | Node::Select(c, _) => changes(flat, c),
            Node::Rel(..) => changes(flat, n),
            Node::Var(a) => {
                a.kind == ValueKind::Pre
                    || jumps(flat, a.var)
                    || flat.exprs.list(a.subs).iter().any(|&s| changes(flat, s))
            }
            // What has jumped comes out of it later.
            Node::Call(Builtin::Spatial | Builtin::Delay, _) => true,
            Node::Call(f, _) => {
                matches!(
                    f,
                    Builtin::Sign
                        | Builtin::Floor
                        | Builtin::Ceil
                        | Builtin::Integer
                        | Builtin::Div
                        | Builtin::Mod
                        | Builtin::Rem
                ) && changes(flat, n)
            }
            _ => false,
        })
}

/// An expression with the same value whose conditions are all events: `noEvent(e)` is `e`, and `sign(e)` has the two relations it stands for (MLS 3.6 §3.7.1.1).
pub(crate) fn with_events(flat: &mut FlatModel, e: ExprId) -> ExprId {
    flat.exprs.rewrite_upwards(e, |x, n| match x.node(n) {
        Node::NoEvent(inner) => Some(inner),
        Node::Call(Builtin::Sign, l) => {
            let of = x.list(l)[0];
            let [zero, one, minus] = [0, 1, -1].map(|v| x.int(v));
            let (above, below) = (x.rel(RelOp::Gt, of, zero), x.rel(RelOp::Lt, of, zero));
            let otherwise = x.if_(below, minus, zero);
            Some(x.if_(above, one, otherwise))
        }
        _ => None,
    })
}

/// The error for an equation whose sides visibly jump against each other: all that depends on one condition differs by a number, and nothing else may jump.
pub(crate) fn visible_jump(flat: &mut FlatModel, w: &Written) -> Option<Diagnostic> {
    let residual = flat.exprs.sub(w.rhs, w.lhs);
    if (flat.exprs).any(residual, |x, n| {
        matches!(x.node(n), Node::Call(Builtin::Spatial, _))
    }) {
        let span = flat.origin(w.origin).span;
        let message = "this equation must be differentiated, but `spatialDistribution` has no derivative here";
        return Some(Diagnostic::error("impulse", span, message));
    }
    let mut conditions: Vec<ExprId> = values(&flat.exprs, residual)
        .into_iter()
        .filter_map(|n| match flat.exprs.node(n) {
            Node::If(c, ..) if changes(flat, c) => Some(c),
            _ => None,
        })
        .collect();
    conditions.sort_unstable();
    conditions.dedup();
    let [condition] = conditions[..] else {
        return None;
    };
    let [with, without] = [true, false].map(|holds| {
        flat.exprs.rewrite(residual, |x, n| match x.node(n) {
            Node::If(c, a, b) if c == condition => Some(if holds { a } else { b }),
            _ => None,
        })
    });
    if may_jump(flat, with) || may_jump(flat, without) {
        return None;
    }
    let difference = flat.exprs.sub(without, with);
    let by = flat.exprs.as_f64(difference).filter(|d| *d != 0.0)?;
    let text = Printer::new(flat).expr(condition);
    let span = flat.origin(w.origin).span;
    Some(
        Diagnostic::error(
            "impulse",
            span,
            format!(
                "this equation must be differentiated, but its sides differ by {} where `{text}` changes: the derivative would be an impulse",
                by.abs()
            ),
        )
        .hint("let the quantity change continuously, e.g. by a ramp or a filter"),
    )
}

/// The subexpressions that carry the value, without conditions, subscripts and what is said to be smooth.
fn values(x: &Exprs, root: ExprId) -> Vec<ExprId> {
    let mut seen: FxHashSet<ExprId> = FxHashSet::default();
    let mut stack = vec![root];
    let mut found = Vec::new();
    while let Some(e) = stack.pop() {
        if !seen.insert(e) {
            continue;
        }
        found.push(e);
        match x.node(e) {
            Node::Var(_) | Node::Smooth(..) | Node::Rel(..) => {}
            Node::If(_, a, b) => stack.extend([a, b]),
            Node::Select(_, l) => stack.extend(x.list(l)),
            _ => x.for_each_child(e, |c| stack.push(c)),
        }
    }
    found
}

/// Whether something that is not a parameter occurs.
fn changes(flat: &FlatModel, e: ExprId) -> bool {
    flat.exprs.any(e, |x, n| match x.node(n) {
        Node::Time => true,
        Node::Var(a) => !flat.var(a.var).is_parameter(),
        _ => false,
    })
}

fn jumps(flat: &FlatModel, var: acausal_expr::VarId) -> bool {
    let v = flat.var(var);
    v.is_discrete() && !v.is_parameter()
}
