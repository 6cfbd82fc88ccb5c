//! Texts in messages: String parameters and constants are put in, so that what is left of a message depends on numbers only.
//!
//! Strings have no place in memory at run time. Their values are known when a model is flattened (MLS 3.6 has no String
//! variables that change continuously), so an access in the message of an `assert` or `terminate` becomes the binding of the
//! variable, and accesses in that binding in turn.

use acausal_expr::flat::{Action, FlatModel, VarType, Variable};
use acausal_expr::{ExprId, Exprs, IterId, Node, ValueKind};
use acausal_symbolic::Substitute;

/// Bindings in a row; cyclic ones are refused elsewhere, this only bounds the loop.
const DEEPEST: usize = 1000;

/// Puts texts into all messages of a model.
pub(super) fn put_in_texts(model: &mut FlatModel) {
    let (exprs, vars) = (&mut model.exprs, &model.vars);
    for a in &mut model.asserts {
        a.message = with_texts(exprs, vars, a.message);
    }
    for p in &mut model.prints {
        p.message = with_texts(exprs, vars, p.message);
    }
    let branches = model.whens.iter_mut().flat_map(|w| &mut w.branches);
    for action in branches.flat_map(|b| &mut b.actions) {
        match action {
            Action::Assert(a) => a.message = with_texts(exprs, vars, a.message),
            Action::Terminate { message, .. } | Action::Print { message, .. } => {
                *message = with_texts(exprs, vars, *message);
            }
            Action::Assign { .. } | Action::Reinit { .. } => {}
        }
    }
}

fn with_texts(exprs: &mut Exprs, vars: &[Variable], message: ExprId) -> ExprId {
    let mut now = message;
    for _ in 0..DEEPEST {
        let next = exprs.rewrite(now, |x, e| {
            let Node::Var(a) = x.node(e) else {
                return None;
            };
            let v = vars.get(a.var.index())?;
            if a.kind != ValueKind::Value || v.ty != VarType::String {
                return None;
            }
            let binding = v.binding.as_ref()?;
            let subs = x.list(a.subs).to_vec();
            let values: Vec<(IterId, ExprId)> = binding.iters.iter().copied().zip(subs).collect();
            Some(x.substitute_iters(binding.body, &values))
        });
        if next == now {
            break;
        }
        now = next;
    }
    now
}
