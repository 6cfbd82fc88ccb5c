//! The gradient of `if c1 then a1 elseif c2 then a2 ... else an`, branch by branch.
//!
//! Reverse accumulation gives branch `k` an adjoint under `k` nested conditions, so a chain of `n` branches costs `n²`, and a recursion as deep as the
//! chain is long. Where the branches have little in common and no conditions of their own, each is differentiated alone and the derivatives are put
//! into a chain of the same form: `der = if c1 then a1' elseif c2 then a2' ... else an'`, one for each leaf. Linear in the size of the chain times the
//! number of leaves.
//!
//! Branches that share much, as those of inlined functions do, are left to the general way: taken alone they would be gone through again for each
//! branch, and exponentially often where chains are nested.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use acausal_expr::{Builtin, ExprId, Exprs, Node};

use crate::gradient::{gradient_by, value_nodes};

/// Whether an expression counts as a variable.
pub(crate) type IsLeaf<'a> = &'a dyn Fn(&Exprs, ExprId) -> bool;

/// Parts of the adjoints of leaves that come through the chain which begins at `e`; `None` if it is no such chain.
pub(crate) fn chain_gradient(
    exprs: &mut Exprs,
    e: ExprId,
    adjoint: ExprId,
    is_leaf: IsLeaf<'_>,
    refused: &mut FxHashSet<ExprId>,
) -> Option<Vec<(ExprId, ExprId)>> {
    let (mut branches, mut links, mut last) = (Vec::new(), Vec::new(), e);
    while let Node::If(c, a, b) = exprs.node(last)
        && !is_leaf(exprs, last)
    {
        branches.push((c, a));
        links.push(last);
        last = b;
    }
    if branches.len() < 2 || refused.contains(&e) {
        return None;
    }
    // Conditions and mixtures in the adjoint must stay outermost (`pass_down`).
    let plain = exprs.as_f64(adjoint).is_some()
        || !exprs.any(adjoint, |x, n| {
            matches!(x.node(n), Node::If(..) | Node::Call(Builtin::Homotopy, _))
        });
    let values = branches.iter().map(|b| b.1).chain([last]);
    if !plain || !apart(exprs, values, is_leaf) {
        // The rest of the chain is no better.
        refused.extend(links);
        return None;
    }
    let mut parts: BTreeMap<ExprId, ExprId> = BTreeMap::new();
    for (leaf, partial) in gradient_by(exprs, last, is_leaf) {
        parts.insert(leaf, exprs.mul(&[adjoint, partial]));
    }
    let zero = exprs.real(0.0);
    for (c, value) in branches.into_iter().rev() {
        let own: BTreeMap<ExprId, ExprId> =
            gradient_by(exprs, value, is_leaf).into_iter().collect();
        let leaves: Vec<ExprId> = own.keys().chain(parts.keys()).copied().collect();
        let mut merged = BTreeMap::new();
        for leaf in leaves {
            if merged.contains_key(&leaf) {
                continue;
            }
            let here = match own.get(&leaf) {
                Some(&partial) => exprs.mul(&[adjoint, partial]),
                None => zero,
            };
            let rest = parts.get(&leaf).copied().unwrap_or(zero);
            merged.insert(leaf, exprs.if_(c, here, rest));
        }
        parts = merged;
    }
    Some(parts.into_iter().collect())
}

/// Whether expressions have no conditions and (almost) nothing but leaves and literals in common.
fn apart(exprs: &Exprs, values: impl Iterator<Item = ExprId>, is_leaf: IsLeaf<'_>) -> bool {
    let (mut all, mut total) = (FxHashSet::default(), 0);
    for value in values {
        for n in value_nodes(exprs, value, is_leaf) {
            if is_leaf(exprs, n) {
                continue;
            }
            match exprs.node(n) {
                Node::If(..) | Node::Select(..) => return false,
                Node::Real(_) | Node::Int(_) | Node::Bool(_) | Node::Time => {}
                _ => {
                    total += 1;
                    all.insert(n);
                }
            }
        }
    }
    total <= 2 * all.len()
}

#[cfg(test)]
mod tests {
    use crate::Gradient;
    use acausal_expr::{ExprId, Exprs, Node, RelOp, Ty, ValueKind, VarId};

    /// `if t < 1 then 1*x elseif t < 2 then 2*x ... else y` has the derivative `if t < 1 then 1 elseif t < 2 then 2 ... else 0` by `x`.
    #[test]
    fn a_chain_has_a_chain_as_derivative() {
        let mut exprs = Exprs::default();
        let var = |exprs: &mut Exprs, k| exprs.scalar_var(VarId(k), ValueKind::Value, Ty::Real);
        let (x, y) = (var(&mut exprs, 0), var(&mut exprs, 1));
        let n = 20_000;
        let (mut value, mut by_x, mut by_y) = (y, exprs.real(0.0), exprs.real(1.0));
        for k in (1..=n).rev() {
            let (time, limit) = (exprs.time(), exprs.real(f64::from(k)));
            let condition = exprs.rel(RelOp::Lt, time, limit);
            let factor = exprs.real(f64::from(k) + 0.5);
            let zero = exprs.real(0.0);
            let here = exprs.mul(&[factor, x]);
            value = exprs.if_(condition, here, value);
            by_x = exprs.if_(condition, factor, by_x);
            by_y = exprs.if_(condition, zero, by_y);
        }
        let leaf = |x: &Exprs, e: ExprId| matches!(x.node(e), Node::Var(_));
        assert_eq!(exprs.gradient(value, leaf), [(x, by_x), (y, by_y)]);
    }
}
