//! Start values that linear relations carry over to unknowns.
//!
//! `Real m; Real level(start = 0.5); equation m = 1000*level; der(m) = 0.1` says where the tank begins, although the compiler has chosen m as
//! its state and computes `level := m/1000`. What the user wrote about a variable counts more than the default 0 of another one (MLS 3.6 §8.6 leaves the
//! choice of guesses to tools), so where a local assignment is linear in one variable that has no start of its own, `v := a*u + b` with a and b that depend on parameters
//! only, u gets `(start(v) - b)/a`.
//!
//! In: the DAE. Out: start attributes of variables that had none. Local assignments are walked backwards, so that a start is carried along chains: all that is computed from
//! a variable comes after it. Of several candidates the one with the highest `stateSelect` is taken, then the first name in the alphabet. Only assignments of whole arrays, element by
//! element; no element is enumerated. Linear in the size of the assignments of variables with starts.

use acausal_expr::flat::{Comprehension, FlatModel, VarType};
use acausal_expr::{ExprId, Exprs, Node, RelOp, ValueKind, VarId};
use acausal_symbolic::{Solve, Substitute};
use std::collections::BTreeMap;

use crate::{IndexOneDae, Local};

/// A start for a variable, and how much it counts.
struct Candidate {
    rank: (u8, std::cmp::Reverse<String>),
    start: Comprehension,
}

/// Gives variables without a start those that follow from others.
pub(crate) fn carry_starts(dae: &mut IndexOneDae) {
    let mut found: BTreeMap<VarId, Candidate> = BTreeMap::new();
    let flat = &mut dae.flat;
    for local in dae.locals.iter().rev() {
        let v = local.target.var;
        if local.target.kind != ValueKind::Value {
            continue;
        }
        // Whatever is computed from v has been seen.
        if let Some(c) = found.remove(&v) {
            flat.vars[v.index()].attributes_mut().start = Some(c.start);
        }
        let Some((u, start)) = carried(flat, local) else {
            continue;
        };
        let var = flat.var(v);
        let name = std::cmp::Reverse(var.name.plain().to_string());
        let rank = (var.state_select as u8, name);
        flat.inlined_starts.push(v);
        if found.get(&u).is_none_or(|c| c.rank < rank) {
            found.insert(u, Candidate { rank, start });
        }
    }
    for (u, c) in found {
        flat.vars[u.index()].attributes_mut().start = Some(c.start);
    }
}

/// The variable that an assignment carries a start over to, and that start.
fn carried(flat: &mut FlatModel, local: &Local) -> Option<(VarId, Comprehension)> {
    let v = flat.var(local.target.var);
    if v.auxiliary || v.ty != VarType::Real || v.is_discrete() {
        return None;
    }
    let written = v.start.clone()?;
    // The whole array, element by element.
    let subs = flat.exprs.list(local.target.subs).to_vec();
    let whole = subs.len() == v.dims.len()
        && local.domain.len() == v.dims.len()
        && (subs.iter().zip(&local.domain).zip(&v.dims)).all(|((&s, (i, range)), &size)| {
            let all = range.start == 1 && range.step == 1 && range.count == size as i64;
            flat.exprs.node(s) == Node::Iter(*i) && all
        });
    if !whole || !by_parameters(flat, written.body) {
        return None;
    }
    let accesses = flat.exprs.accesses(local.value);
    let mut variable = accesses
        .iter()
        .filter(|(_, a)| !flat.var(a.var).is_parameter());
    let (unknown, a) = *variable.next()?;
    let u = flat.var(a.var);
    let same_shape = u.dims == v.dims && flat.exprs.list(a.subs) == subs;
    let open = u.start.is_none() && u.ty == VarType::Real && !u.is_discrete() && !u.auxiliary;
    if variable.next().is_some() || a.kind != ValueKind::Value || !same_shape || !open {
        return None;
    }
    let (coefficient, rest) = flat.exprs.linear_in(local.value, unknown)?;
    if !by_parameters(flat, coefficient) || !by_parameters(flat, rest) {
        return None;
    }
    let x = &mut flat.exprs;
    if x.is_zero(coefficient) {
        return None;
    }
    let elements: Vec<_> = written.iters.iter().copied().zip(subs).collect();
    let start = x.substitute_iters(written.body, &elements);
    let difference = x.sub(start, rest);
    let value = x.div(difference, coefficient);
    let body = match x.as_f64(coefficient) {
        Some(_) => value,
        None => unless_zero(x, coefficient, value),
    };
    let iters = local.domain.iter().map(|(i, _)| *i).collect();
    Some((a.var, Comprehension { iters, body }))
}

/// A parameter that happens to be zero says nothing about the unknown; 0 is its default.
fn unless_zero(x: &mut Exprs, coefficient: ExprId, value: ExprId) -> ExprId {
    let zero = x.real(0.0);
    let vanishes = x.rel(RelOp::Eq, coefficient, zero);
    let vanishes = x.no_event(vanishes);
    x.if_(vanishes, zero, value)
}

/// Whether an expression depends on nothing but parameters.
fn by_parameters(flat: &FlatModel, e: ExprId) -> bool {
    !flat.exprs.any(e, |x, n| match x.node(n) {
        Node::Time => true,
        Node::Var(a) => !flat.var(a.var).is_parameter(),
        _ => false,
    })
}
