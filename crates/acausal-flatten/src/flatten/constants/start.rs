//! `start(v)` in equations that were algorithm sections.

use acausal_expr::flat::{FlatModel, VarType};
use acausal_expr::{Builtin, ExprId, Exprs, Node};
use acausal_symbolic::Substitute;

/// `start(v)`, what an algorithm section starts from, becomes the start value of `v`.
pub(super) fn resolve_starts(model: &mut FlatModel) {
    let is_start = |x: &Exprs, e| matches!(x.node(e), Node::Call(Builtin::Start, _));
    // Most models have none; one look at the arena is cheaper than one at every equation.
    if !(model.exprs.ids()).any(|e| is_start(&model.exprs, e)) {
        return;
    }
    for k in 0..model.equations.len() {
        let e = &model.equations[k];
        let (lhs, rhs) = (e.lhs, e.rhs);
        if !model.exprs.any(lhs, is_start) && !model.exprs.any(rhs, is_start) {
            continue;
        }
        let (exprs, vars) = (&mut model.exprs, &model.vars);
        let inlined = &mut model.inlined_starts;
        let mut value = |x: &mut Exprs, e: ExprId| {
            let Node::Call(Builtin::Start, args) = x.node(e) else {
                return None;
            };
            let Node::Var(a) = x.node(x.list(args)[0]) else {
                return None;
            };
            let v = &vars[a.var.index()];
            inlined.push(a.var);
            let Some(start) = &v.start else {
                return Some(match v.ty {
                    VarType::Real => x.real(0.0),
                    VarType::Integer => x.int(0),
                    VarType::Enum(_) => x.int(1),
                    VarType::Boolean => x.bool(false),
                    VarType::String => x.str(""),
                });
            };
            let subs = x.list(a.subs).to_vec();
            let values: Vec<_> = start.iters.iter().copied().zip(subs).collect();
            Some(x.substitute_iters(start.body, &values))
        };
        let lhs = exprs.rewrite(lhs, &mut value);
        let rhs = exprs.rewrite(rhs, &mut value);
        (model.equations[k].lhs, model.equations[k].rhs) = (lhs, rhs);
    }
}
