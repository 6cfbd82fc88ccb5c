//! Event cells: values that change at events only although they depend on continuous variables.
//!
//! A relation such as `x > 2` is frozen between events: the equations read its cell in `Mem`, and an event indicator
//! watches for the change (MLS 3.6 §8.5). The same holds for `floor`, whose cell is the integer part. `sample`,
//! `delay` and `spatialDistribution` have cells that the simulator sets. An Integer or Boolean variable whose equation calls a function of continuous
//! variables or says `noEvent` could change at any instant without a relation that tells (MLS 3.6 §3.8 calls such equations
//! wrong, libraries have them nevertheless): there the value of the call has a cell, and that it differs from the cell is the
//! event. A relation in an array equation is one group of cells.

use acausal_expr::flat::{FlatModel, OriginId};
use acausal_expr::{Builtin, ExprId, IterId, List, Node, Range, RelOp, Ty, ValueKind};
use acausal_jit::kernel::Bank;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use crate::address::{Domain, domain_len, for_each_point};
use acausal_compiled::Locations;
use acausal_compiled::{Layout, Loc};

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CellKind {
    /// Truth of `a op b`.
    Relation(RelOp, ExprId, ExprId),
    /// `floor(x)`
    Floor(ExprId),
    /// `sample(start, interval)`: true at the instants.
    Sample(ExprId, ExprId),
    /// `delay(x, time, longest time)`
    Delay(ExprId, ExprId, ExprId, bool),
    /// An output of `spatialDistribution`, with the arguments of its call.
    Spatial(List),
    /// An Integer or Boolean value that changes without a relation.
    Value,
}

/// A cell before it has a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CellKey {
    /// The whole expression.
    pub expr: ExprId,
    /// Its meaning.
    pub kind: CellKind,
}

/// A group of cells: one expression over the iterators that it depends on.
#[derive(Clone, Debug)]
pub struct CellGroup {
    /// The expression.
    pub key: CellKey,
    /// The iterators that occur in it.
    pub domain: Vec<(IterId, Range)>,
    /// First cell in `Mem`.
    pub base: usize,
    /// Number of cells.
    pub len: usize,
    /// An equation that it occurs in.
    pub origin: OriginId,
}

/// An expression with the iterators that it depends on.
type GroupKey = (ExprId, Vec<(IterId, Range)>);

/// All groups.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    groups: IndexMap<GroupKey, CellGroup, FxBuildHasher>,
}

/// True when the value can change between events.
pub fn is_continuous(flat: &FlatModel, e: ExprId) -> bool {
    flat.exprs.any(e, |x, n| match x.node(n) {
        Node::Time | Node::Call(Builtin::Delay | Builtin::Spatial, _) => true,
        Node::Var(a) => a.kind != ValueKind::Pre && !flat.var(a.var).is_discrete(),
        _ => false,
    })
}

impl Cells {
    /// Number of groups.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// A group by number.
    pub fn get(&self, group: usize) -> &CellGroup {
        &self.groups[group]
    }

    /// Whether an expression is to be a cell. Inside of `noEvent` relations are evaluated as they are. With `watches` it
    /// stands in an equation of a discrete variable.
    pub fn key_of(
        &self,
        flat: &FlatModel,
        e: ExprId,
        no_event: bool,
        watches: bool,
    ) -> Option<CellKey> {
        let x = &flat.exprs;
        let kind = match x.node(e) {
            Node::Rel(op @ (RelOp::Lt | RelOp::Le | RelOp::Gt | RelOp::Ge), a, b)
                if !no_event && (is_continuous(flat, a) || is_continuous(flat, b)) =>
            {
                CellKind::Relation(op, a, b)
            }
            Node::Call(Builtin::Floor | Builtin::Integer, l)
                if !no_event && is_continuous(flat, x.list(l)[0]) =>
            {
                CellKind::Floor(x.list(l)[0])
            }
            Node::NoEvent(_)
            | Node::Apply { .. }
            | Node::Call(Builtin::Sign, _)
            | Node::Rel(RelOp::Eq | RelOp::Ne, ..)
                if watches
                    && !no_event
                    && matches!(x.ty(e), Ty::Bool | Ty::Int)
                    && is_continuous(flat, e) =>
            {
                CellKind::Value
            }
            Node::Call(Builtin::Sample, l) => CellKind::Sample(x.list(l)[0], x.list(l)[1]),
            Node::Call(Builtin::Delay, l) => CellKind::Delay(
                x.list(l)[0],
                x.list(l)[1],
                x.list(l)[2],
                x.list(l).len() > 3,
            ),
            Node::Call(Builtin::Spatial, l) => CellKind::Spatial(l),
            _ => return None,
        };
        Some(CellKey { expr: e, kind })
    }

    /// Whether a key in a domain has a group.
    pub fn contains(&self, flat: &FlatModel, key: CellKey, domain: &Domain) -> bool {
        self.groups.contains_key(&group_id(flat, key, domain))
    }

    /// The group of a key in a domain; new ones get a place.
    pub fn group(
        &mut self,
        flat: &FlatModel,
        layout: &mut Layout,
        key: CellKey,
        domain: &Domain,
        origin: OriginId,
    ) -> u32 {
        let id = group_id(flat, key, domain);
        if let Some(k) = self.groups.get_index_of(&id) {
            return k as u32;
        }
        let len = domain_len(&id.1);
        let base = layout.reserve(len);
        let group = CellGroup {
            key,
            domain: id.1.clone(),
            base,
            len,
            origin,
        };
        self.groups.insert_full(id, group).0 as u32
    }

    /// Where the cells of a group lie over a domain that contains the group's iterators.
    pub fn locate(&self, group: u32, domain: &Domain) -> Locations {
        let g = &self.groups[group as usize];
        let count = domain_len(domain);
        if g.domain.is_empty() {
            return Locations::Strided {
                bank: Bank::Mem,
                base: g.base,
                stride: 0,
            };
        }
        if g.domain == domain {
            return Locations::Strided {
                bank: Bank::Mem,
                base: g.base,
                stride: 1,
            };
        }
        let places: Vec<usize> = g
            .domain
            .iter()
            .filter_map(|(i, _)| domain.iter().position(|(j, _)| i == j))
            .collect();
        let mut list = Vec::with_capacity(count);
        for_each_point(domain, |v| {
            let mut k = 0;
            for ((_, r), &p) in g.domain.iter().zip(&places) {
                k = k * r.count as usize + ((v[p] - r.start) / r.step) as usize;
            }
            list.push(Loc::new(Bank::Mem, g.base + k));
        });
        Locations::List(list)
    }
}

/// An expression and the iterators that occur in it.
fn group_id(flat: &FlatModel, key: CellKey, domain: &Domain) -> (ExprId, Vec<(IterId, Range)>) {
    let used = domain
        .iter()
        .copied()
        .filter(|(i, _)| flat.exprs.depends_on_iter(key.expr, *i))
        .collect();
    (key.expr, used)
}
