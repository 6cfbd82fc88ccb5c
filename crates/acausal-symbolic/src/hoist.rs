//! Long reductions become variables of their own.
//!
//! A kernel is straight-line code, so `sum(x[i] for i in 1:N)` inside of an expression is moved into a local assignment
//! that accumulates; the expression then reads the result. Reductions inside of reductions are moved first.

use acausal_expr::flat::{FlatModel, OriginId, VarType, Variability, Variable};
use acausal_expr::{Access, ExprId, IterId, Node, Range, ThinVec, Ty, ValueKind, VarId};

use crate::Substitute;

/// `target := value` for all values of the domain, one after the other.
#[derive(Clone, Debug)]
pub struct Local {
    /// Iterators.
    pub domain: ThinVec<(IterId, Range)>,
    /// The element that is assigned.
    pub target: Access,
    /// Its value.
    pub value: ExprId,
    /// The equation it came from.
    pub origin: OriginId,
}

/// Replaces every reduction in `value` by an access to an auxiliary variable. The assignments that compute the
/// auxiliary variables are appended to `locals`, in evaluation order.
pub fn hoist_reductions(
    flat: &mut FlatModel,
    domain: &[(IterId, Range)],
    value: ExprId,
    origin: OriginId,
    variability: Variability,
    locals: &mut Vec<Local>,
) -> ExprId {
    let mut value = value;
    if !flat.exprs.has_reductions()
        || !flat
            .exprs
            .any(value, |x, e| matches!(x.node(e), Node::Reduce { .. }))
    {
        return value;
    }
    loop {
        // The smallest reduction contains no other one.
        let order = flat.exprs.reachable(&[value]);
        let Some(&reduction) = order
            .iter()
            .find(|&&e| matches!(flat.exprs.node(e), Node::Reduce { .. }))
        else {
            return value;
        };
        // A reduction may stand under iterators of enclosing reductions as well.
        let mut inner: Vec<(IterId, Range)> = domain.to_vec();
        for &e in &order {
            if let Node::Reduce { iter, range, .. } = flat.exprs.node(e)
                && e != reduction
            {
                inner.push((iter, range));
            }
        }
        inner.retain(|(i, _)| flat.exprs.depends_on_iter(reduction, *i));
        let access = auxiliary(flat, &inner, variability);
        let replacement = flat.exprs.access(access, Ty::Real);
        value = flat
            .exprs
            .rewrite(value, |_, e| (e == reduction).then_some(replacement));
        locals.push(Local {
            domain: inner.into(),
            target: access,
            value: reduction,
            origin,
        });
    }
}

/// A new array variable over a domain, and its element at the iterators.
pub fn auxiliary(
    flat: &mut FlatModel,
    domain: &[(IterId, Range)],
    variability: Variability,
) -> Access {
    let id = VarId(flat.vars.len() as u32);
    let dims: Vec<usize> = domain
        .iter()
        .map(|(_, r)| r.count.max(0) as usize)
        .collect();
    let name = format!("$aux{}", id.0);
    flat.vars.push(Variable {
        protected: true,
        auxiliary: true,
        ..Variable::new(&name, dims, VarType::Real, variability)
    });
    let x = &mut flat.exprs;
    let subs: Vec<ExprId> = domain
        .iter()
        .map(|(i, r)| {
            // Element numbers from 1: (i - start)/step + 1, affine because the step divides.
            let i = x.iter(*i);
            let start = x.int(-r.start);
            let shifted = x.add(&[i, start]);
            let scaled = match r.step {
                1 => shifted,
                -1 => x.neg(shifted),
                step => {
                    let d = x.int(step);
                    x.call(acausal_expr::Builtin::Div, &[shifted, d])
                }
            };
            let one = x.int(1);
            x.add(&[scaled, one])
        })
        .collect();
    let subs = x.make_list(&subs);
    Access {
        var: id,
        kind: ValueKind::Value,
        subs,
    }
}
