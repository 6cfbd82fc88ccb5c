//! Long products in parts.
//!
//! The partial derivatives of a product of n factors are n products of n - 1 factors, and nothing shares them: products are flat in the normal form.
//! So a product of more than [`LONGEST`] factors becomes one of variables of their own, `p1 = x1*...*x32`, `p2 = x33*...*x64`, ..., and
//! `y = p1*p2*...`; the chain rule goes through them as through all that is assigned before. Cost: about `32*n + n^2/1024` for the parts instead of
//! `n^2`, and in turn the same for the product of the parts.
//!
//! Example: `y = x[1]*x[2]*...*x[4000]` has 128,000 factors in its derivatives instead of 16 million.

use acausal_expr::flat::{Equation, FlatModel, Variability};
use acausal_expr::{ExprId, Exprs, Node, Ty};
use acausal_symbolic::{Substitute, auxiliary};
use rustc_hash::FxHashMap;

/// Factors of a product that is left as it is. Products that people write have fewer; the power of two nearest to half the square root of 4,000.
const LONGEST: usize = 32;

/// Cuts the long products of equations.
pub(crate) fn cut(flat: &mut FlatModel, equations: &mut Vec<Equation>) {
    if !flat.exprs.ids().any(|e| is_long(&flat.exprs, e)) {
        return;
    }
    let mut k = 0;
    // What is added may contain further long products.
    while k < equations.len() {
        for side in 0..2 {
            let e = [equations[k].lhs, equations[k].rhs][side];
            let shorter = shortened(flat, equations, k, e);
            if side == 0 {
                equations[k].lhs = shorter;
            } else {
                equations[k].rhs = shorter;
            }
        }
        k += 1;
    }
}

fn is_long(x: &Exprs, e: ExprId) -> bool {
    x.ty(e) == Ty::Real && matches!(x.node(e), Node::Mul(l) if x.list(l).len() > LONGEST)
}

/// A side of equation `k` with short products only; the equations of the parts are appended.
fn shortened(
    flat: &mut FlatModel,
    equations: &mut Vec<Equation>,
    k: usize,
    root: ExprId,
) -> ExprId {
    let (domain, origin) = (equations[k].domain.clone(), equations[k].origin);
    let nodes = flat.exprs.reachable(&[root]);
    // A product inside of a reduction depends on an iterator that has no value outside.
    let inner: Vec<_> = (nodes.iter())
        .filter_map(|&e| match flat.exprs.node(e) {
            Node::Reduce { iter, .. } => Some(iter),
            _ => None,
        })
        .collect();
    let long: Vec<ExprId> = (nodes.into_iter())
        .filter(|&e| is_long(&flat.exprs, e))
        .filter(|&e| !inner.iter().any(|&i| flat.exprs.depends_on_iter(e, i)))
        .collect();
    let mut short: FxHashMap<ExprId, ExprId> = FxHashMap::default();
    for product in long {
        let Node::Mul(l) = flat.exprs.node(product) else {
            continue;
        };
        let mut factors = flat.exprs.list(l).to_vec();
        while factors.len() > LONGEST {
            let mut parts = Vec::with_capacity(factors.len() / LONGEST + 1);
            for part in factors.chunks(LONGEST) {
                let rhs = flat.exprs.mul(part);
                let access = auxiliary(flat, &domain, Variability::Continuous);
                let lhs = flat.exprs.access(access, Ty::Real);
                equations.push(Equation {
                    domain: domain.clone(),
                    lhs,
                    rhs,
                    origin,
                });
                parts.push(lhs);
            }
            factors = parts;
        }
        let value = flat.exprs.mul(&factors);
        short.insert(product, value);
    }
    match short.is_empty() {
        true => root,
        false => flat.exprs.rewrite(root, |_, e| short.get(&e).copied()),
    }
}
