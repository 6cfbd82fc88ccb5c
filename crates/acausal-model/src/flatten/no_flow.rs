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
//! In: the flat model. Out: the same model with these terms in its equations; functions are not touched. Linear in
//! the size of the equations.

use acausal_expr::flat::{FlatModel, VarType};
use acausal_expr::{ExprId, Exprs, Kind, Node, RelOp};

/// The flow that remains.
const EXCHANGE: f64 = 1e-10;

/// Adds the terms.
pub(super) fn exchange_without_flow(model: &mut FlatModel) {
    for k in 0..model.equations.len() {
        let (lhs, rhs) = (model.equations[k].lhs, model.equations[k].rhs);
        let nodes = model.exprs.reachable(&[lhs, rhs]);
        let found = |&n: &ExprId| carried(model, &model.exprs, n).is_some();
        if !nodes.iter().any(found) {
            continue;
        }
        let mut exprs = std::mem::take(&mut model.exprs);
        let mut side = |e: ExprId| {
            exprs.rewrite(e, |x, n| {
                let (a, b) = carried(model, x, n)?;
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

/// The two slopes of a semilinear expression, if one of them is an unknown.
fn carried(model: &FlatModel, x: &Exprs, e: ExprId) -> Option<(ExprId, ExprId)> {
    let Node::If(condition, a, b) = x.node(e) else {
        return None;
    };
    let Node::Rel(RelOp::Ge, flow, zero) = x.node(condition) else {
        return None;
    };
    if !x.is_zero(zero) || x.as_f64(flow).is_some() {
        return None;
    }
    let (a, b) = (other_factor(x, a, flow)?, other_factor(x, b, flow)?);
    let unknown = |e: ExprId| match x.node(e) {
        Node::Var(access) => {
            let v = model.var(access.var);
            let varies = !v.is_parameter() && !v.is_discrete();
            varies && v.ty == VarType::Real && access.kind == Kind::Value
        }
        _ => false,
    };
    (unknown(a) || unknown(b)).then_some((a, b))
}

/// `e` of the product `flow*e`.
fn other_factor(x: &Exprs, product: ExprId, flow: ExprId) -> Option<ExprId> {
    let Node::Mul(list) = x.node(product) else {
        return None;
    };
    match x.list(list) {
        [a, b] if *a == flow => Some(*b),
        [a, b] if *b == flow => Some(*a),
        _ => None,
    }
}
