//! The equations with their derivatives, as index reduction asks for them.
//!
//! In: the pieces, each with how often it is differentiated. Out: one [`Written`] for every equation of the differentiated graph, and the
//! equations that must not jump. Linear in the size of what is written.

use acausal_base::Diagnostic;
use acausal_expr::flat::{FlatModel, OriginId};
use acausal_expr::{Access, ExprId, IterId, Range};
use acausal_structure::EqId;
use acausal_symbolic::Differentiate;

use super::jumps::{may_jump, visible_jump};
use crate::segments::nodes::Nodes;

/// An equation of the differentiated system.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub domain: Vec<(IterId, Range)>,
    pub lhs: ExprId,
    pub rhs: ExprId,
    pub origin: OriginId,
    /// Original node and how often it was differentiated.
    pub root: EqId,
    pub times: u8,
}

/// All equations with their derivatives, symbolically; and those that are differentiated, if any of them may jump. All of them, because a jump goes on from one
/// to the next: `u = if b then 1 else 0; w = u; f = der(w)`.
pub(crate) fn write_equations(
    flat: &mut FlatModel,
    nodes: &Nodes,
) -> Result<(Vec<Written>, Vec<EqId>), Vec<Diagnostic>> {
    let mut differentiated = Vec::new();
    let mut jumps = false;
    let d = &nodes.differentiated;
    let mut written: Vec<Option<Written>> = vec![None; d.graph.elen.len()];
    let mut errors = Vec::new();
    for (k, e) in nodes.equations.iter().enumerate() {
        let mut w = Written {
            domain: e.piece.domain.clone().into(),
            lhs: e.piece.lhs,
            rhs: e.piece.rhs,
            origin: e.piece.origin,
            root: EqId::new(k),
            times: 0,
        };
        let mut id = EqId::new(k);
        loop {
            let next = d.eq_derivative[id.index()];
            written[id.index()] = Some(w.clone());
            let Some(n) = next else { break };
            if may_jump(flat, w.lhs) || may_jump(flat, w.rhs) {
                jumps = true;
                errors.extend(visible_jump(flat, &w));
            }
            differentiated.push(id);
            match differentiate(flat, &w) {
                Ok((lhs, rhs)) => {
                    w = Written {
                        lhs,
                        rhs,
                        times: w.times + 1,
                        ..w
                    }
                }
                Err(message) => errors.push(message),
            }
            id = n;
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    if !jumps {
        differentiated.clear();
    }
    Ok((written.into_iter().flatten().collect(), differentiated))
}

fn differentiate(flat: &mut FlatModel, w: &Written) -> Result<(ExprId, ExprId), Diagnostic> {
    let vars = &flat.vars;
    let mut input = None;
    for side in [w.lhs, w.rhs] {
        for (_, a) in flat.exprs.accesses(side) {
            let v = &vars[a.var.index()];
            if v.causality == acausal_expr::flat::Causality::Input && !v.is_discrete() {
                input = Some(v.name.plain());
            }
        }
    }
    if let Some(name) = input {
        let span = flat.origin(w.origin).span;
        return Err(Diagnostic::error(
            "input-derivative",
            span,
            format!("this equation must be differentiated, but the derivative of the input `{name}` is not known"),
        )
        .hint("make the derivative an input as well, or pass the input through a filter"));
    }
    let mut exprs = std::mem::take(&mut flat.exprs);
    let constant = |a: Access| vars[a.var.index()].is_discrete();
    let lhs = exprs.time_derivative(w.lhs, constant);
    let rhs = exprs.time_derivative(w.rhs, constant);
    flat.exprs = exprs;
    Ok((lhs, rhs))
}
