//! Equations of discrete variables: which variable each one gives a value, and in which order.
//!
//! In: the equations of the flat model. Out: those of continuous variables, and [`DiscreteEquation`]s in evaluation order.
//!
//! `b = x > 1` gives `b` a value. `a = b` between two discrete variables may give it to either; which one follows from the
//! other equations: a variable that has as many equations as elements takes no more. A chain of connections is decided
//! from its ends, each equation once, so the work is linear in their number.
//!
//! Example: `b = x > 1; b = c; d = c`: b is given by the first equation, so the second gives c, and the third d.

use acausal_expr::flat::{Action, Equation, FlatModel, VarType};
use acausal_expr::{Access, ExprId, Kind, Node, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::DiscreteEquation;

/// Takes the equations of a model apart.
pub(crate) fn separate(flat: &mut FlatModel) -> (Vec<Equation>, Vec<DiscreteEquation>) {
    let assigned = assigned_in_whens(flat);
    let (mut continuous, mut open) = (Vec::new(), Vec::new());
    for eq in std::mem::take(&mut flat.equations) {
        let targets = targets(flat, &assigned, eq.lhs, eq.rhs);
        match targets.is_empty() {
            true if eq.is_empty() => {}
            true => continuous.push(eq),
            false => open.push((eq, targets)),
        }
    }
    let mut discrete = assign(flat, open);
    sort(flat, &mut discrete);
    (continuous, discrete)
}

/// The variables that `when` clauses give values.
fn assigned_in_whens(flat: &FlatModel) -> FxHashSet<VarId> {
    let branches = flat.whens.iter().flat_map(|w| &w.branches);
    let actions = branches.flat_map(|b| &b.actions);
    actions
        .filter_map(|a| match a {
            Action::Assign { target, .. } => Some(target.var),
            _ => None,
        })
        .collect()
}

/// The sides that are a discrete variable, each with the other side. A variable that a `when` gives a value is known here:
/// `der(x) = d` is an equation for `x`. So is `y = n` with a Real `y`.
fn targets(
    flat: &FlatModel,
    assigned: &FxHashSet<VarId>,
    lhs: ExprId,
    rhs: ExprId,
) -> Vec<(Access, ExprId)> {
    let continuous = |e: ExprId| match flat.exprs.node(e) {
        Node::Var(a) => a.kind != Kind::Pre && !flat.var(a.var).is_discrete(),
        _ => false,
    };
    let mut found = Vec::new();
    for (side, other) in [(lhs, rhs), (rhs, lhs)] {
        if let Node::Var(a) = flat.exprs.node(side) {
            let var = flat.var(a.var);
            let known = assigned.contains(&a.var) || var.is_parameter();
            let mixed = var.ty != VarType::Real && continuous(other);
            if a.kind == Kind::Value && var.is_discrete() && !known && !mixed {
                found.push((a, other));
            }
        }
    }
    found
}

/// Gives each equation one of its targets.
fn assign(flat: &FlatModel, open: Vec<(Equation, Vec<(Access, ExprId)>)>) -> Vec<DiscreteEquation> {
    // How many elements of each variable have an equation, and which undecided equations it occurs in.
    let mut given: FxHashMap<VarId, usize> = FxHashMap::default();
    let mut occurs: FxHashMap<VarId, Vec<usize>> = FxHashMap::default();
    let mut choice: Vec<Option<usize>> = vec![None; open.len()];
    let mut queue = std::collections::VecDeque::new();
    for (k, (_, targets)) in open.iter().enumerate() {
        if targets.len() == 1 {
            queue.push_back((k, 0));
        }
        for t in targets {
            occurs.entry(t.0.var).or_default().push(k);
        }
    }
    let mut next = 0;
    loop {
        while let Some((k, c)) = queue.pop_front() {
            if choice[k].is_some() {
                continue;
            }
            choice[k] = Some(c);
            let var = open[k].1[c].0.var;
            let count = given.entry(var).or_default();
            *count += open[k].0.len();
            if *count < flat.var(var).len() {
                continue;
            }
            for &other in occurs.get(&var).into_iter().flatten() {
                let free = (open[other].1.iter()).position(|t| t.0.var != var);
                if choice[other].is_none()
                    && let Some(c) = free
                {
                    queue.push_back((other, c));
                }
            }
        }
        // A ring of equalities: any start will do.
        match (next..open.len()).find(|&k| choice[k].is_none()) {
            Some(k) => {
                next = k;
                queue.push_back((k, 0));
            }
            None => break,
        }
    }
    (open.into_iter().zip(choice))
        .map(|((eq, targets), c)| {
            let (target, value) = targets[c.unwrap_or(0)];
            DiscreteEquation {
                domain: eq.domain,
                target,
                value,
                origin: eq.origin,
            }
        })
        .collect()
}

/// Equations of discrete variables in the order of their dependencies; those in a cycle keep their order (the event
/// iteration settles them).
fn sort(flat: &FlatModel, equations: &mut Vec<DiscreteEquation>) {
    let mut todo: Vec<DiscreteEquation> = std::mem::take(equations);
    while !todo.is_empty() {
        let pending: FxHashSet<VarId> = todo.iter().map(|e| e.target.var).collect();
        let (ready, rest): (Vec<_>, Vec<_>) = todo.into_iter().partition(|e| {
            !flat.exprs.accesses(e.value).iter().any(|(_, a)| {
                a.kind == Kind::Value && a.var != e.target.var && pending.contains(&a.var)
            })
        });
        if ready.is_empty() {
            equations.extend(rest);
            return;
        }
        equations.extend(ready);
        todo = rest;
    }
}
