//! All partial derivatives of an expression at once, by reverse accumulation.
//!
//! Going from the root down in descending order, every subexpression collects its adjoint (the derivative of the root
//! with respect to it) and passes it on to its children. Each subexpression is visited once: a flow sum over 10^5
//! connected components costs 10^5 steps, where one forward pass per variable would cost 10^10.

use rustc_hash::{FxHashMap, FxHashSet};

use acausal_expr::{Builtin, ExprId, Exprs, Node, RelOp, Ty};

use crate::differentiate::derive_call;
use crate::gradient_chain::{IsLeaf, chain_gradient};

/// Derivatives by reverse accumulation, all in one call.
pub trait Gradient {
    /// The partial derivatives of `root` with respect to every subexpression that `is_leaf` accepts (variable accesses,
    /// or whatever the caller treats as a variable); zero ones are left out. Ascending by leaf.
    fn gradient(
        &mut self,
        root: ExprId,
        is_leaf: impl Fn(&Exprs, ExprId) -> bool,
    ) -> Vec<(ExprId, ExprId)>;
}

impl Gradient for Exprs {
    fn gradient(
        &mut self,
        root: ExprId,
        is_leaf: impl Fn(&Exprs, ExprId) -> bool,
    ) -> Vec<(ExprId, ExprId)> {
        gradient_by(self, root, &is_leaf)
    }
}

pub(crate) fn gradient_by(
    exprs: &mut Exprs,
    root: ExprId,
    is_leaf: IsLeaf<'_>,
) -> Vec<(ExprId, ExprId)> {
    let mut order = value_nodes(exprs, root, is_leaf);
    // Adjoints of what depends on no leaf lead nowhere, and under nested conditions each costs as much as the conditions are deep: a thousand
    // `elseif` with literals are a thousand nodes that nobody asks for.
    let above = exprs.above(&order, is_leaf);
    order.reverse();
    let mut contributions: FxHashMap<ExprId, Vec<ExprId>> = FxHashMap::default();
    let one = exprs.real(1.0);
    contributions.insert(root, vec![one]);
    let mut gradient = Vec::new();
    let mut refused = FxHashSet::default();
    for e in order {
        let Some(parts) = contributions.remove(&e) else {
            continue;
        };
        if !above.contains(&e) {
            continue;
        }
        let adjoint = match parts.as_slice() {
            [one] => *one,
            _ => sum_of_masked(exprs, &parts),
        };
        if exprs.is_zero(adjoint) {
            continue;
        }
        if is_leaf(exprs, e) {
            gradient.push((e, adjoint));
            continue;
        }
        if let Some(parts) = chain_gradient(exprs, e, adjoint, is_leaf, &mut refused) {
            for (leaf, part) in parts {
                contributions.entry(leaf).or_default().push(part);
            }
            continue;
        }
        pass_down(exprs, e, adjoint, &mut |child, part| {
            if above.contains(&child) {
                contributions.entry(child).or_default().push(part)
            }
        });
    }
    gradient.reverse();
    gradient
}

/// Subexpressions that carry value down to the leaves: no subscripts, conditions or indices. Ascending.
pub(crate) fn value_nodes(exprs: &Exprs, root: ExprId, is_leaf: IsLeaf<'_>) -> Vec<ExprId> {
    let mut seen = FxHashSet::default();
    let mut stack = vec![root];
    let mut order = Vec::new();
    while let Some(e) = stack.pop() {
        if !seen.insert(e) {
            continue;
        }
        order.push(e);
        if is_leaf(exprs, e) {
            continue;
        }
        match exprs.node(e) {
            Node::Var(_)
            | Node::Rel(..)
            | Node::Local { .. }
            | Node::Not(_)
            | Node::And(..)
            | Node::Or(..) => {}
            Node::If(_, a, b) => stack.extend([a, b]),
            Node::Select(_, l) => stack.extend_from_slice(exprs.list(l)),
            _ => exprs.for_each_child(e, |c| stack.push(c)),
        }
    }
    order.sort_unstable();
    order
}

/// Gives each child its part of the adjoint.
///
/// A branch that is not taken may be undefined, as `sqrt(h)` in `if h > 0 then sqrt(h) else 0`. So the condition
/// stays outermost, `if h > 0 then 1/(2*sqrt(h)) else 0`, and is never a factor: zero times NaN is NaN.
/// Likewise `homotopy(actual, simplified)`: at the simplified end the actual expression may be undefined, or have no
/// finite derivative.
fn pass_down(exprs: &mut Exprs, e: ExprId, adjoint: ExprId, give: &mut dyn FnMut(ExprId, ExprId)) {
    if let Some(sides) = mixed(exprs, adjoint) {
        let zero = exprs.real(0.0);
        for (k, inner) in sides.into_iter().enumerate() {
            if exprs.is_zero(inner) {
                continue;
            }
            let mut parts = Vec::new();
            pass_down(exprs, e, inner, &mut |child, part| {
                parts.push((child, part))
            });
            for (child, part) in parts {
                let mut sides = [zero; 2];
                sides[k] = part;
                let part = exprs.call(Builtin::Homotopy, &sides);
                give(child, part);
            }
        }
        return;
    }
    if let Some((condition, inner, then)) = masked(exprs, adjoint) {
        let mut parts = Vec::new();
        pass_down(exprs, e, inner, &mut |child, part| {
            parts.push((child, part))
        });
        for (child, part) in parts {
            let part = mask(exprs, condition, part, then);
            give(child, part);
        }
        return;
    }
    if let Node::Add(l) = exprs.node(adjoint) {
        let terms = exprs.list(l).to_vec();
        if (terms.iter()).any(|&t| mixed(exprs, t).is_some() || masked(exprs, t).is_some()) {
            terms.iter().for_each(|&t| pass_down(exprs, e, t, give));
            return;
        }
    }
    pass_to_children(exprs, e, adjoint, give);
}

/// The same for an adjoint without conditions.
fn pass_to_children(
    exprs: &mut Exprs,
    e: ExprId,
    adjoint: ExprId,
    give: &mut dyn FnMut(ExprId, ExprId),
) {
    match exprs.node(e) {
        Node::Add(l) => exprs.list(l).iter().for_each(|&c| give(c, adjoint)),
        Node::Mul(l) => {
            let factors = exprs.list(l).to_vec();
            for k in 0..factors.len() {
                let mut rest = factors.clone();
                rest[k] = adjoint;
                let part = exprs.mul(&rest);
                give(factors[k], part);
            }
        }
        Node::Div(a, b) => {
            let part = exprs.div(adjoint, b);
            give(a, part);
            let p = exprs.mul(&[adjoint, e]);
            let q = exprs.div(p, b);
            let part = exprs.neg(q);
            give(b, part);
        }
        Node::Pow(a, b) => {
            let one = exprs.int(1);
            let b1 = exprs.sub(b, one);
            let p = exprs.pow(a, b1);
            let part = exprs.mul(&[adjoint, b, p]);
            give(a, part);
            if exprs.as_f64(b).is_none() {
                let ln = exprs.call(Builtin::Log, &[a]);
                let part = exprs.mul(&[adjoint, e, ln]);
                give(b, part);
            }
        }
        Node::If(c, a, b) => {
            let part = mask(exprs, c, adjoint, true);
            give(a, part);
            let part = mask(exprs, c, adjoint, false);
            give(b, part);
        }
        Node::Select(i, l) => {
            let zero = exprs.real(0.0);
            for (k, c) in exprs.list(l).to_vec().into_iter().enumerate() {
                let number = exprs.int(k as i64 + 1);
                let hit = exprs.rel(RelOp::Eq, i, number);
                let hit = exprs.no_event(hit);
                let part = exprs.if_(hit, adjoint, zero);
                give(c, part);
            }
        }
        Node::NoEvent(a) | Node::Smooth(_, a) => give(a, adjoint),
        // What comes out of a delay does not depend on the values of this instant.
        Node::Call(Builtin::Delay | Builtin::Spatial, _) => {}
        Node::Call(f, l) => {
            let args = exprs.list(l).to_vec();
            let zero = exprs.real(0.0);
            for k in 0..args.len() {
                let mut d = vec![zero; args.len()];
                d[k] = adjoint;
                let part = derive_call(exprs, e, f, &args, &d);
                give(args[k], part);
            }
        }
        Node::Apply {
            func,
            args,
            output,
            wrt,
        } => {
            let args = exprs.list(args).to_vec();
            let before: Vec<u32> = exprs
                .list(wrt)
                .iter()
                .filter_map(|&w| exprs.as_int(w))
                .map(|w| w as u32)
                .collect();
            for k in 0..args.len() {
                let mut wrt = before.clone();
                wrt.push(k as u32);
                let p = exprs.apply(func, &args, output, &wrt, Ty::Real);
                let part = exprs.mul(&[p, adjoint]);
                give(args[k], part);
            }
        }
        _ => {}
    }
}

/// The sum of adjoints, with those under one condition put together: `(if c then a else 0) + (if c then b else 0)` is
/// `if c then a + b else 0`. Without that the terms would be as many as there are ways from the root, which grow
/// exponentially with the depth where branches are shared. Recursion is over the nesting of conditions.
fn sum_of_masked(exprs: &mut Exprs, parts: &[ExprId]) -> ExprId {
    let mut plain = Vec::new();
    let mut groups: Vec<(ExprId, [Vec<ExprId>; 2])> = Vec::new();
    let mut mixtures = [Vec::new(), Vec::new()];
    let mut todo: Vec<ExprId> = parts.iter().rev().copied().collect();
    while let Some(e) = todo.pop() {
        if let Node::Add(l) = exprs.node(e) {
            todo.extend(exprs.list(l).iter().rev());
            continue;
        }
        if let Some(sides) = mixed(exprs, e) {
            for (list, side) in mixtures.iter_mut().zip(sides) {
                list.extend((!exprs.is_zero(side)).then_some(side));
            }
            continue;
        }
        let (condition, sides) = match (masked(exprs, e), exprs.node(e)) {
            (Some((c, inner, true)), _) => (c, [Some(inner), None]),
            (Some((c, inner, false)), _) => (c, [None, Some(inner)]),
            (None, Node::If(c, a, b)) => (c, [Some(a), Some(b)]),
            _ => {
                plain.push(e);
                continue;
            }
        };
        let at = match groups.iter().position(|g| g.0 == condition) {
            Some(at) => at,
            None => {
                groups.push((condition, [Vec::new(), Vec::new()]));
                groups.len() - 1
            }
        };
        for (list, side) in groups[at].1.iter_mut().zip(sides) {
            list.extend(side);
        }
    }
    for (condition, sides) in groups {
        let [a, b] = sides.map(|side| match side.as_slice() {
            [] => exprs.real(0.0),
            [one] => *one,
            _ => sum_of_masked(exprs, &side),
        });
        plain.push(exprs.if_(condition, a, b));
    }
    if mixtures.iter().any(|side| !side.is_empty()) {
        let sides = mixtures.map(|side| match side.as_slice() {
            [] => exprs.real(0.0),
            [one] => *one,
            _ => sum_of_masked(exprs, &side),
        });
        plain.push(exprs.call(Builtin::Homotopy, &sides));
    }
    exprs.add(&plain)
}

/// The two sides of a mixture of actual and simplified.
fn mixed(exprs: &Exprs, adjoint: ExprId) -> Option<[ExprId; 2]> {
    match exprs.node(adjoint) {
        Node::Call(Builtin::Homotopy, l) => match exprs.list(l) {
            [actual, simplified] => Some([*actual, *simplified]),
            _ => None,
        },
        _ => None,
    }
}

/// `inner` where the condition holds (or, without `then`, where it does not), else zero. Nested masks stand in one order and
/// each condition once, so that sums under the same conditions meet. Recursion is over the nesting of conditions.
fn mask(exprs: &mut Exprs, condition: ExprId, inner: ExprId, then: bool) -> ExprId {
    let zero = exprs.real(0.0);
    let outer = match exprs.node(inner) {
        Node::If(c, a, b) if exprs.is_zero(b) => Some((c, a, true)),
        Node::If(c, a, b) if exprs.is_zero(a) => Some((c, b, false)),
        _ => None,
    };
    let (condition, inner, then) = match outer {
        Some((c, _, side)) if c == condition => {
            return if side == then { inner } else { zero };
        }
        Some((c, deeper, side)) if c < condition => (c, mask(exprs, condition, deeper, then), side),
        _ => (condition, inner, then),
    };
    if then {
        exprs.if_(condition, inner, zero)
    } else {
        exprs.if_(condition, zero, inner)
    }
}

/// Takes apart an adjoint that is zero unless a condition holds (`true`) or unless it does not (`false`).
fn masked(exprs: &mut Exprs, adjoint: ExprId) -> Option<(ExprId, ExprId, bool)> {
    match exprs.node(adjoint) {
        Node::If(c, a, b) if exprs.is_zero(b) => Some((c, a, true)),
        Node::If(c, a, b) if exprs.is_zero(a) => Some((c, b, false)),
        Node::Mul(l) => {
            let mut factors = exprs.list(l).to_vec();
            let (k, (c, inner, then)) =
                (0..factors.len()).find_map(|k| match exprs.node(factors[k]) {
                    Node::If(c, a, b) if exprs.is_zero(b) => Some((k, (c, a, true))),
                    Node::If(c, a, b) if exprs.is_zero(a) => Some((k, (c, b, false))),
                    _ => None,
                })?;
            factors[k] = inner;
            Some((c, exprs.mul(&factors), then))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Differentiate;
    use acausal_expr::{ScalarValue, ValueKind, VarId};

    /// A branch that is not taken does not spoil the derivative, however the conditions are nested.
    #[test]
    fn undefined_branches_do_not_matter() {
        let mut e = Exprs::default();
        let x = e.scalar_var(VarId(0), ValueKind::Value, Ty::Real);
        let zero = e.real(0.0);
        let positive = e.rel(RelOp::Gt, x, zero);
        let root = e.call(Builtin::Sqrt, &[x]);
        let log = e.call(Builtin::Log, &[x]);
        let product = e.mul(&[root, log]);
        let two = e.int(2);
        let squared = e.pow(log, two);
        let first = e.if_(positive, product, zero);
        let second = e.if_(positive, squared, x);
        let all = e.add(&[first, second]);
        let gradient = e.gradient(all, |x, n| matches!(x.node(n), Node::Var(_)));
        let at = |value: f64| {
            e.evaluate(gradient[0].1, |x, n, _| match x.node(n) {
                Node::Var(_) => Some(ScalarValue::Real(value)),
                _ => None,
            })
            .unwrap()
            .as_f64()
            .unwrap()
        };
        assert_eq!(at(-4.0), 1.0);
        let expected = 4f64.ln() / 4.0 + 0.5 + 2.0 * 4f64.ln() / 4.0;
        assert!((at(4.0) - expected).abs() < 1e-14);
    }

    /// Branches that share their parts do not multiply: forty levels, each of which uses the level below twice.
    #[test]
    fn shared_branches_stay_shared() {
        let mut e = Exprs::default();
        let x = e.scalar_var(VarId(0), ValueKind::Value, Ty::Real);
        let zero = e.real(0.0);
        let (positive, small) = (e.rel(RelOp::Gt, x, zero), {
            let one = e.real(1.0);
            e.rel(RelOp::Lt, x, one)
        });
        let mut level = x;
        for k in 0..40 {
            let half = e.real(0.5);
            let root = e.call(Builtin::Sqrt, &[level]);
            let scaled = e.mul(&[half, level]);
            let first = e.if_(positive, root, zero);
            let second = e.if_(small, scaled, level);
            let sum = e.add(&[first, second]);
            level = if k % 2 == 0 {
                e.call(Builtin::Sin, &[sum])
            } else {
                sum
            };
        }
        let before = e.len();
        let gradient = e.gradient(level, |x, n| matches!(x.node(n), Node::Var(_)));
        assert_eq!(gradient.len(), 1);
        assert!(e.len() - before < 5000, "{} new nodes", e.len() - before);
    }

    /// The gradient agrees with one forward derivative per variable.
    #[test]
    fn gradient_equals_forward_partials() {
        let mut e = Exprs::default();
        let v: Vec<ExprId> = (0..3)
            .map(|k| e.scalar_var(VarId(k), ValueKind::Value, Ty::Real))
            .collect();
        let s = e.call(Builtin::Sin, &[v[0]]);
        let p = e.mul(&[s, v[1], v[2]]);
        let q = e.div(p, v[1]);
        let two = e.int(2);
        let w = e.pow(v[2], two);
        let root = e.add(&[q, w, v[0]]);
        let gradient = e.gradient(root, |x, n| matches!(x.node(n), Node::Var(_)));
        let at = |x: &Exprs, root| {
            x.evaluate(root, |x, n, _| match x.node(n) {
                Node::Var(a) => Some(ScalarValue::Real(0.3 + a.var.0 as f64)),
                _ => None,
            })
            .unwrap()
            .as_f64()
            .unwrap()
        };
        for &leaf in &v {
            let forward = e.partial(root, leaf);
            let reverse = gradient
                .iter()
                .find(|g| g.0 == leaf)
                .map_or(0.0, |g| at(&e, g.1));
            assert!((at(&e, forward) - reverse).abs() < 1e-14);
        }
    }
}
