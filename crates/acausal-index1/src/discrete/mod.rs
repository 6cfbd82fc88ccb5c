//! Equations of discrete variables: which variable each one determines, and in which order they are evaluated.
//!
//! In: all equations of the flat model. Out: those of discrete variables as assignments, sorted by their dependencies; the
//! others stay. An equation `v = e` can only determine `v`. An equation between two discrete variables, as connections of
//! Boolean signals give them, can determine either: a variable that another equation or a `when` clause determines is
//! known, so the equation determines the other one, and so on along the connections (unit propagation; connections form
//! trees, so that nothing is left to choose unless the model is undetermined). Elements of arrays count by the ranges of
//! their subscripts, never one by one.
//!
//! Example: `a = b; a = x > 1; c = b`. The second equation can only be one for `a`, so the first determines `b` and the
//! third `c`; evaluated in the order `a := x > 1; b := a; c := b`. Time is linear in the number of equations, if few of
//! them are about one variable.

mod given_parameters;
pub(crate) mod initial_derivatives;
pub(crate) mod start;

use std::collections::VecDeque;

use acausal_base::Span;
use acausal_expr::flat::{
    Causality, Equation, FlatModel, Origin, OriginId, OriginKind, Variability, Variable,
};
use acausal_expr::{Access, ExprId, Node, Ty, ValueKind, VarId};
use acausal_symbolic::elements::overlap;
use acausal_symbolic::{Assigned, auxiliary};
use rustc_hash::FxHashMap;

use crate::DiscreteEquation;
use crate::segments::incidence::is_unknown;

/// Takes the equations of a model apart: those of continuous variables, and those of discrete ones.
pub(crate) fn separate(flat: &mut FlatModel) -> (Vec<Equation>, Vec<DiscreteEquation>) {
    let mut all = std::mem::take(&mut flat.equations);
    if !flat.vars.iter().any(can_be_determined) {
        all.retain(|eq| !eq.is_empty());
        return (all, Vec::new());
    }
    let assigned = Assigned::new(flat);
    let mut candidates = Vec::new();
    let mut others = Vec::new();
    for eq in all {
        let sides = sides(flat, &assigned, &eq);
        if !sides.is_empty() {
            candidates.push((eq, sides));
        } else if !eq.is_empty() {
            others.push(eq);
        }
    }
    let chosen = choose(flat, &candidates);
    let discrete = candidates
        .into_iter()
        .zip(chosen)
        .map(|((eq, sides), k)| DiscreteEquation {
            domain: eq.domain.into(),
            target: sides[k].0,
            value: sides[k].1,
            origin: eq.origin,
        })
        .collect();
    (others, sorted(flat, discrete))
}

/// A model without continuous unknowns gets one that never changes, so that there is something to integrate.
/// Says whether it did.
pub(crate) fn add_constant_state(flat: &mut FlatModel, equations: &mut Vec<Equation>) -> bool {
    if !equations.is_empty() || flat.var_ids().any(|(id, _)| is_unknown(flat, id)) {
        return false;
    }
    let access = auxiliary(flat, &[], Variability::Continuous);
    let lhs = flat
        .exprs
        .scalar_var(access.var, ValueKind::Der(1), Ty::Real);
    let rhs = flat.exprs.real(0.0);
    flat.origins.push(Origin {
        span: Span::NONE,
        component: "".into(),
        kind: OriginKind::Auxiliary,
    });
    let origin = OriginId(flat.origins.len() as u32 - 1);
    equations.push(Equation {
        domain: Vec::new().into(),
        lhs,
        rhs,
        origin,
    });
    true
}

/// Discrete variables that equations can determine; many large models have none.
fn can_be_determined(v: &Variable) -> bool {
    v.is_discrete() && !v.is_parameter() && v.causality != Causality::Input
}

/// The sides of an equation that it can determine, with the other side. An element that a `when` gives a value, a
/// parameter and an input are known; `y = n` with a continuous `y` is an equation for `y`.
fn sides(flat: &FlatModel, assigned: &Assigned, eq: &Equation) -> Vec<(Access, ExprId)> {
    let continuous = |e: ExprId| match flat.exprs.node(e) {
        Node::Var(a) => a.kind != ValueKind::Pre && !flat.var(a.var).is_discrete(),
        _ => false,
    };
    let mut sides = Vec::new();
    for (side, other) in [(eq.lhs, eq.rhs), (eq.rhs, eq.lhs)] {
        if let Node::Var(a) = flat.exprs.node(side) {
            let var = flat.var(a.var);
            let candidate = can_be_determined(var) && !assigned.meets(&flat.exprs, a, &eq.domain);
            if a.kind == ValueKind::Value && candidate && !continuous(other) {
                sides.push((a, other));
            }
        }
    }
    sides
}

/// The side that each equation determines.
fn choose(flat: &FlatModel, candidates: &[(Equation, Vec<(Access, ExprId)>)]) -> Vec<usize> {
    let mut chosen: Vec<Option<usize>> = vec![None; candidates.len()];
    let mut undecided: FxHashMap<VarId, Vec<usize>> = FxHashMap::default();
    // Equations whose target has just become known.
    let mut queue: VecDeque<usize> = VecDeque::new();
    for (k, (_, sides)) in candidates.iter().enumerate() {
        if sides.len() == 1 {
            chosen[k] = Some(0);
            queue.push_back(k);
        } else {
            for (access, _) in sides {
                undecided.entry(access.var).or_default().push(k);
            }
        }
    }
    let mut next = 0;
    loop {
        while let Some(from) = queue.pop_front() {
            let (known, sides) = &candidates[from];
            let side = chosen[from].expect("what is in the queue has been decided");
            let target = sides[side].0;
            let Some(waiting) = undecided.get_mut(&target.var) else {
                continue;
            };
            waiting.retain(|&k| {
                if chosen[k].is_some() {
                    return false;
                }
                let (eq, sides) = &candidates[k];
                let is_known = |side: usize| {
                    let access = sides[side].0;
                    access.var == target.var
                        && overlap(flat, (target, &known.domain), (access, &eq.domain))
                };
                let side = match (is_known(0), is_known(1)) {
                    (true, _) => 1,
                    (false, true) => 0,
                    (false, false) => return true,
                };
                chosen[k] = Some(side);
                queue.push_back(k);
                false
            });
        }
        // What is left is not determined by anything: the first equation is one for its left side.
        while next < chosen.len() && chosen[next].is_some() {
            next += 1;
        }
        if next == chosen.len() {
            return chosen.into_iter().flatten().collect();
        }
        chosen[next] = Some(0);
        queue.push_back(next);
    }
}

/// Equations in the order of their dependencies; those in a cycle come last in their order (the event iteration settles
/// them). An equation is ready when all variables that it reads are complete.
fn sorted(flat: &FlatModel, equations: Vec<DiscreteEquation>) -> Vec<DiscreteEquation> {
    let mut pending: FxHashMap<VarId, usize> = FxHashMap::default();
    for e in &equations {
        *pending.entry(e.target.var).or_default() += 1;
    }
    let mut readers: FxHashMap<VarId, Vec<usize>> = FxHashMap::default();
    let mut waits = vec![0usize; equations.len()];
    for (k, e) in equations.iter().enumerate() {
        let mut reads: Vec<VarId> = flat
            .exprs
            .accesses(e.value)
            .iter()
            .filter(|(_, a)| a.kind == ValueKind::Value && a.var != e.target.var)
            .map(|(_, a)| a.var)
            .filter(|v| pending.contains_key(v))
            .collect();
        reads.sort_unstable();
        reads.dedup();
        waits[k] = reads.len();
        for v in reads {
            readers.entry(v).or_default().push(k);
        }
    }
    let mut ready: VecDeque<usize> = (0..equations.len()).filter(|&k| waits[k] == 0).collect();
    let mut order = Vec::with_capacity(equations.len());
    let mut done = vec![false; equations.len()];
    while let Some(k) = ready.pop_front() {
        order.push(k);
        done[k] = true;
        let var = equations[k].target.var;
        let left = pending.entry(var).or_default();
        *left -= 1;
        if *left == 0 {
            for &r in readers.get(&var).into_iter().flatten() {
                waits[r] -= 1;
                if waits[r] == 0 {
                    ready.push_back(r);
                }
            }
        }
    }
    order.extend((0..equations.len()).filter(|&k| !done[k]));
    let mut equations: Vec<Option<DiscreteEquation>> = equations.into_iter().map(Some).collect();
    order
        .into_iter()
        .filter_map(|k| equations[k].take())
        .collect()
}
