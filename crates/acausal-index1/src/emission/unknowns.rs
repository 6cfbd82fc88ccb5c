//! The unknowns of the form: what each of them is, and which elements of a variable it holds.

use acausal_expr::flat::FlatModel;
use acausal_expr::unknown::{RowKind, Unknown, UnknownPart, UnknownRole};
use acausal_expr::{ValueKind, VarId};
use acausal_structure::segments::Span;
use acausal_structure::{EqId, VarId as NodeId};

use crate::segments::incidence::kind_of;
use crate::segments::nodes::Nodes;

/// A constraint with its level.
pub(super) fn constraint(nodes: &Nodes, e: EqId) -> RowKind {
    let derivative = &nodes.differentiated.eq_derivative;
    let chain = std::iter::successors(derivative[e.index()], |e| derivative[e.index()]);
    RowKind::Constraint {
        level: u8::try_from(chain.count()).unwrap_or(u8::MAX),
    }
}

/// How often a variable is differentiated further.
fn level(nodes: &Nodes, v: NodeId) -> u8 {
    let derivative = &nodes.differentiated.var_derivative;
    let chain = std::iter::successors(derivative[v.index()], |v| derivative[v.index()]);
    u8::try_from(chain.count()).unwrap_or(u8::MAX)
}

/// A box of elements; `None` for the whole variable.
fn elements(flat: &FlatModel, var: VarId, spans: &[Span]) -> Option<UnknownPart> {
    let dims = &flat.var(var).dims;
    let whole = |(s, &d): (&Span, &usize)| s.lo == 1 && s.hi == d as i64;
    let all = spans.iter().zip(dims).all(whole);
    (!all).then(|| UnknownPart::new(dims, spans.iter().map(|s| (s.lo, s.hi))))
}

/// A state with its derivative; `derivative` overrides what the derivative is called.
pub(super) fn state(
    flat: &FlatModel,
    nodes: &Nodes,
    v: NodeId,
    derivative: Option<VarId>,
) -> Unknown {
    let n = &nodes.variables[v.index()];
    let elements = elements(flat, n.var, &n.spans);
    let derivative = derivative.map_or((n.var, kind_of(n.order + 1)), |d| (d, ValueKind::Value));
    Unknown {
        value: Some((n.var, kind_of(n.order))),
        derivative: Some(derivative),
        elements,
        len: n.spans.iter().map(|s| s.size() as usize).product(),
        role: UnknownRole::State,
        level: level(nodes, v),
    }
}

pub(super) fn algebraic_unknown(
    flat: &FlatModel,
    nodes: &Nodes,
    v: NodeId,
    lambda: bool,
) -> Unknown {
    let n = &nodes.variables[v.index()];
    let quantity = (n.var, kind_of(n.order));
    Unknown {
        value: (!lambda).then_some(quantity),
        derivative: lambda.then_some(quantity),
        elements: elements(flat, n.var, &n.spans),
        len: n.spans.iter().map(|s| s.size() as usize).product(),
        role: if lambda {
            UnknownRole::Lambda
        } else {
            UnknownRole::Algebraic
        },
        level: 0,
    }
}
