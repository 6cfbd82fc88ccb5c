//! What a flow carries when nothing flows.
//!
//! `H_flow = semiLinear(m_flow, port.h, h)` is `if m_flow >= 0 then m_flow*port.h else m_flow*h`. With `m_flow = 0` the
//! specific enthalpy at a port between two components occurs in no equation any more: it is not determined, and the equations
//! are singular (MLS 3.6 §3.7.2.5 lets a tool choose it). A very small exchange determines it then:
//!
//! ```text
//! H_flow = (if m_flow >= 0 then m_flow*port.h else m_flow*h) + 1e-10*(port.h - h)
//! ```
//!
//! Without a flow `port.h` lies between the enthalpies of the components that meet there; the same holds along a pipe
//! without volume. The error is that of a flow of 1e-10 in its unit, far below any tolerance; where something flows,
//! nothing else changes.
//!
//! In: the flat model and the values of `semiLinear` in it; an `if` that the user wrote is left alone. Out: the same model
//! with these terms in its equations; functions are not touched. Linear in the size of the equations.

use acausal_expr::flat::{FlatModel, VarType};
use acausal_expr::{ExprId, Exprs, Node, ValueKind};
use acausal_symbolic::Substitute;
use rustc_hash::FxHashMap;

/// The flow that remains.
const EXCHANGE: f64 = 1e-10;

/// Adds the terms. `semi_linear` has both slopes for each value of `semiLinear`.
pub(super) fn exchange_without_flow(
    model: &mut FlatModel,
    semi_linear: &FxHashMap<ExprId, (ExprId, ExprId)>,
) {
    if semi_linear.is_empty() {
        return;
    }
    for k in 0..model.equations.len() {
        let (lhs, rhs) = (model.equations[k].lhs, model.equations[k].rhs);
        let nodes = model.exprs.reachable(&[lhs, rhs]);
        if !nodes.iter().any(|n| semi_linear.contains_key(n)) {
            continue;
        }
        let mut exprs = std::mem::take(&mut model.exprs);
        let mut side = |e: ExprId| {
            exprs.rewrite(e, |x, n| {
                let &(a, b) = semi_linear.get(&n)?;
                if !unknown(model, x, a) && !unknown(model, x, b) {
                    return None;
                }
                let difference = x.sub(a, b);
                let exchange = x.real(EXCHANGE);
                let exchanged = x.mul(&[exchange, difference]);
                Some(x.add(&[n, exchanged]))
            })
        };
        let (lhs, rhs) = (side(lhs), side(rhs));
        model.exprs = exprs;
        (model.equations[k].lhs, model.equations[k].rhs) = (lhs, rhs);
    }
}

/// Whether `e` is a continuous unknown: only what a flow carries is left open without it.
fn unknown(model: &FlatModel, x: &Exprs, e: ExprId) -> bool {
    let Node::Var(access) = x.node(e) else {
        return false;
    };
    let v = model.var(access.var);
    let varies = !v.is_parameter() && !v.is_discrete();
    varies && v.ty == VarType::Real && access.kind == ValueKind::Value
}
