//! Who touches whom: the flat equations as a model of arrays for the structural analysis.
//!
//! Only continuous unknowns take part. An affine subscript of one iterator keeps the array whole; a subscript of several
//! iterators, of an iterator of a reduction, or one that is only known at run time touches the whole range.

use acausal_expr::flat::{Causality, Equation, FlatModel};
use acausal_expr::{Access, ExprId, Kind, Node, VarId};
use acausal_structure::segments::{Access as ArrayAccess, Index, Model, Span};
use rustc_hash::FxHashMap;

use crate::element::Domain;

/// The model of arrays, and how its numbers map to those of the flat model.
#[derive(Debug, Default)]
pub struct Incidence {
    /// The input of the analysis. Iterators count from 0 with step 1.
    pub model: Model,
    /// First variable (order 0) of the chain of each unknown.
    pub base: FxHashMap<VarId, usize>,
    /// Flat variable and derivative order of each variable of the model.
    pub quantity: Vec<(VarId, u8)>,
    /// Per equation and access: the expression node it came from.
    pub access_nodes: Vec<Vec<ExprId>>,
}

/// True for variables that the continuous equations determine.
pub fn is_unknown(flat: &FlatModel, id: VarId) -> bool {
    let v = flat.var(id);
    !v.is_discrete() && v.causality != Causality::Input && !v.is_empty() && !v.alias
}

/// The derivative order of an access to an unknown.
pub fn order_of(kind: Kind) -> Option<u8> {
    match kind {
        Kind::Value => Some(0),
        Kind::Der(k) => Some(k),
        Kind::Pre => None,
    }
}

/// The kind that belongs to a derivative order.
pub fn kind_of(order: u8) -> Kind {
    if order == 0 {
        Kind::Value
    } else {
        Kind::Der(order)
    }
}

/// Builds the model of arrays.
pub fn incidence(flat: &FlatModel, equations: &[Equation]) -> Incidence {
    let mut out = Incidence::default();
    let mut orders: FxHashMap<VarId, u8> = FxHashMap::default();
    let mut accesses: Vec<Vec<(ExprId, Access)>> = Vec::with_capacity(equations.len());
    for eq in equations {
        let list: Vec<(ExprId, Access)> = value_accesses(flat, &[eq.lhs, eq.rhs]);
        for (_, a) in &list {
            if let Some(k) = order_of(a.kind) {
                let o = orders.entry(a.var).or_default();
                *o = (*o).max(k);
            }
        }
        accesses.push(list);
    }
    for (id, var) in flat.var_ids() {
        if !is_unknown(flat, id) {
            continue;
        }
        let order = orders.get(&id).copied().unwrap_or(0);
        let shape: Vec<Span> = var.dims.iter().map(|&d| Span::new(1, d as i64)).collect();
        out.base.insert(id, out.quantity.len());
        out.model.variable(&shape, order as usize);
        out.quantity.extend((0..=order).map(|k| (id, k)));
    }
    for (eq, list) in equations.iter().zip(accesses) {
        let iterators: Vec<Span> = eq
            .domain
            .iter()
            .map(|(_, r)| Span::new(0, r.count - 1))
            .collect();
        let mut array_accesses = Vec::with_capacity(list.len());
        let mut nodes = Vec::with_capacity(list.len());
        for (e, a) in list {
            let (Some(order), Some(&base)) = (order_of(a.kind), out.base.get(&a.var)) else {
                continue;
            };
            let index = indices(flat, &eq.domain, a);
            array_accesses.push(ArrayAccess {
                variable: acausal_structure::VarId::new(base + order as usize),
                index,
            });
            nodes.push(e);
        }
        out.model
            .equations
            .push(acausal_structure::segments::Equation {
                iterators,
                accesses: array_accesses,
            });
        out.access_nodes.push(nodes);
    }
    out
}

/// Accesses whose value matters; those in subscripts are no incidences (they are parameters or discrete).
fn value_accesses(flat: &FlatModel, roots: &[ExprId]) -> Vec<(ExprId, Access)> {
    flat.exprs
        .reachable(roots)
        .into_iter()
        .filter_map(|e| match flat.exprs.node(e) {
            Node::Var(a) => Some((e, a)),
            _ => None,
        })
        .collect()
}

/// Index expressions of an access, per dimension.
fn indices(flat: &FlatModel, domain: &Domain, access: Access) -> Vec<Index> {
    let dims = &flat.var(access.var).dims;
    let subs = flat.exprs.list(access.subs);
    subs.iter()
        .zip(dims)
        .map(|(&s, &d)| {
            let whole = Index::All(Span::new(1, d as i64));
            let Some(a) = flat.exprs.affine(s) else {
                return whole;
            };
            match a.terms.as_slice() {
                [] => Index::Fixed(a.constant),
                [(iter, c)] => match domain.iter().position(|(i, _)| i == iter) {
                    Some(k) => {
                        let r = domain[k].1;
                        Index::Affine {
                            iterator: k,
                            coefficient: c * r.step,
                            offset: a.constant + c * r.start,
                        }
                    }
                    None => whole,
                },
                _ => whole,
            }
        })
        .collect()
}
