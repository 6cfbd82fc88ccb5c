//! Who touches whom: the flat equations as a model of arrays for the structural analysis.
//!
//! Only continuous unknowns take part. An affine subscript of one iterator keeps the array whole; a subscript of several
//! iterators, of an iterator of a reduction, or one that is only known at run time touches the whole range.

use acausal_expr::flat::{Causality, Equation, FlatModel};
use acausal_expr::{Access, ExprId, Node, ValueKind, VarId};
use acausal_structure::Rows;
use acausal_structure::segments::{Access as ArrayAccess, Index, Model, Span};

use acausal_symbolic::elements::Domain;

/// The model of arrays, and how its numbers map to those of the flat model.
#[derive(Debug, Default)]
pub struct Incidence {
    /// The input of the analysis. Iterators count from 0 with step 1.
    pub model: Model,
    /// First variable (order 0) of the chain of each unknown.
    pub base: Vec<Option<u32>>,
    /// Flat variable and derivative order of each variable of the model.
    pub quantity: Vec<(VarId, u8)>,
    /// Per equation and access: the expression node it came from.
    pub access_nodes: Rows<ExprId>,
}

/// True for variables that the continuous equations determine.
pub fn is_unknown(flat: &FlatModel, id: VarId) -> bool {
    let v = flat.var(id);
    !v.is_discrete() && v.causality != Causality::Input && !v.is_empty() && !v.alias
}

/// The derivative order of an access to an unknown.
pub fn order_of(kind: ValueKind) -> Option<u8> {
    match kind {
        ValueKind::Value => Some(0),
        ValueKind::Der(k) => Some(k),
        ValueKind::Pre => None,
    }
}

/// The kind that belongs to a derivative order.
pub fn kind_of(order: u8) -> ValueKind {
    if order == 0 {
        ValueKind::Value
    } else {
        ValueKind::Der(order)
    }
}

/// Builds the model of arrays.
pub fn incidence(flat: &FlatModel, equations: &[Equation]) -> Incidence {
    let mut out = Incidence::default();
    let mut orders: Vec<u8> = vec![0; flat.vars.len()];
    out.base = vec![None; flat.vars.len()];
    let mut accesses: Rows<(ExprId, Access)> = Rows::new();
    for eq in equations {
        let reachable = flat.exprs.reachable(&[eq.lhs, eq.rhs]);
        let row = accesses.push(value_accesses(flat, &reachable));
        for (_, a) in accesses.row(row) {
            if let Some(k) = order_of(a.kind) {
                let o = &mut orders[a.var.index()];
                *o = (*o).max(k);
            }
        }
    }
    for (id, var) in flat.var_ids() {
        if !is_unknown(flat, id) {
            continue;
        }
        let order = orders[id.index()];
        let shape: Vec<Span> = var.dims.iter().map(|&d| Span::new(1, d as i64)).collect();
        out.base[id.index()] = Some(out.quantity.len() as u32);
        out.model.variable(&shape, order as usize);
        out.quantity.extend((0..=order).map(|k| (id, k)));
    }
    for (k, eq) in equations.iter().enumerate() {
        let list = accesses.row(k);
        let iterators: Vec<Span> = eq
            .domain
            .iter()
            .map(|(_, r)| Span::new(0, r.count - 1))
            .collect();
        let mut array_accesses = Vec::with_capacity(list.len());
        let unknown = |&(e, a): &(ExprId, Access)| {
            let (order, base) = (order_of(a.kind)?, out.base[a.var.index()]?);
            Some((e, a, base as usize + order as usize))
        };
        for (_, a, variable) in list.iter().filter_map(unknown) {
            let index = indices(flat, &eq.domain, a);
            array_accesses.push(ArrayAccess {
                variable: acausal_structure::VarId::new(variable),
                index,
            });
        }
        out.model
            .equations
            .push(acausal_structure::segments::Equation {
                iterators,
                accesses: array_accesses,
            });
        out.access_nodes
            .push(list.iter().filter_map(unknown).map(|u| u.0));
    }
    out
}

/// Accesses whose value matters; those in subscripts are no incidences (they are parameters or discrete).
fn value_accesses(
    flat: &FlatModel,
    reachable: &[ExprId],
) -> impl Iterator<Item = (ExprId, Access)> {
    reachable.iter().filter_map(|&e| match flat.exprs.node(e) {
        Node::Var(a) => Some((e, a)),
        _ => None,
    })
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
