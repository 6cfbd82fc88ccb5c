//! The passes in order.

use acausal_expr::flat::{Causality, FlatModel, Variability};
use acausal_expr::{Access, Kind, Node, VarId};
use acausal_syntax::{Diagnostic, Severity};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::element::for_each_element;
use crate::{Dae, DiscreteEquation, Local, Residual, Role, Unknown, hoist_reductions};

/// Transforms a flat model into the index-one DAE.
pub fn transform(mut flat: FlatModel) -> Result<Dae, Vec<Diagnostic>> {
    let mut locals: Vec<Local> = Vec::new();
    let mut residuals = Vec::new();
    let mut discrete = Vec::new();
    for eq in std::mem::take(&mut flat.equations) {
        match discrete_target(&flat, eq.lhs, eq.rhs) {
            Some((target, value)) => {
                discrete.push(DiscreteEquation { domain: eq.domain, target, value, origin: eq.origin })
            }
            None => {
                let value = flat.exprs.sub(eq.lhs, eq.rhs);
                let value =
                    hoist_reductions(&mut flat, &eq.domain, value, eq.origin, Variability::Continuous, &mut locals);
                let constraint = !flat.exprs.accesses(value).iter().any(|(_, a)| matches!(a.kind, Kind::Der(_)));
                residuals.push(Residual { domain: eq.domain, value, origin: eq.origin, constraint });
            }
        }
    }
    sort_discrete(&flat, &mut discrete);
    let assigned: FxHashSet<VarId> = locals.iter().map(|l| l.target.var).collect();
    let mut unknowns = Vec::new();
    let differentiated = differentiated_elements(&flat, &residuals)?;
    for (id, var) in flat.var_ids() {
        if var.is_discrete() || var.causality == Causality::Input || assigned.contains(&id) || var.is_empty() {
            continue;
        }
        push_unknowns(id, var.len(), differentiated.get(&id), &mut unknowns);
    }
    let n: usize = unknowns.iter().map(|u| u.len).sum();
    let m: usize = residuals.iter().map(Residual::len).sum();
    if n != m {
        let span = flat.vars.first().map_or(acausal_syntax::Span::NONE, |v| v.span);
        return Err(vec![Diagnostic::new(
            Severity::Error,
            "unbalanced",
            span,
            format!("the model has {m} equations for {n} unknowns"),
        )]);
    }
    Ok(Dae { flat, unknowns, locals, residuals, discrete })
}

/// Per variable, which elements occur differentiated.
fn differentiated_elements(flat: &FlatModel, residuals: &[Residual]) -> Result<FxHashMap<VarId, Vec<bool>>, Vec<Diagnostic>> {
    let mut marks: FxHashMap<VarId, Vec<bool>> = FxHashMap::default();
    for r in residuals {
        for (_, a) in flat.exprs.accesses(r.value) {
            if a.kind == Kind::Der(1) {
                let len = flat.var(a.var).len();
                let mark = marks.entry(a.var).or_insert_with(|| vec![false; len]);
                for_each_element(flat, &r.domain, a, |e| mark[e] = true).map_err(|e| vec![e.diagnostic(flat, r.origin)])?;
            }
        }
    }
    Ok(marks)
}

/// The elements of a variable as unknowns: those that occur differentiated are states, the others algebraic.
fn push_unknowns(id: VarId, len: usize, differentiated: Option<&Vec<bool>>, unknowns: &mut Vec<Unknown>) {
    for state in [true, false] {
        let elements: Vec<u32> =
            (0..len as u32).filter(|&k| differentiated.is_some_and(|d| d[k as usize]) == state).collect();
        if elements.is_empty() {
            continue;
        }
        unknowns.push(Unknown {
            value: Some((id, Kind::Value)),
            derivative: state.then_some((id, Kind::Der(1))),
            len: elements.len(),
            elements: (elements.len() < len).then_some(elements),
            role: if state { Role::State } else { Role::Algebraic },
        });
    }
}

/// An equation of the form `v = e` (or `e = v`) for a discrete variable that is not a parameter.
fn discrete_target(flat: &FlatModel, lhs: acausal_expr::ExprId, rhs: acausal_expr::ExprId) -> Option<(Access, acausal_expr::ExprId)> {
    for (side, other) in [(lhs, rhs), (rhs, lhs)] {
        if let Node::Var(a) = flat.exprs.node(side) {
            let var = flat.var(a.var);
            if a.kind == Kind::Value && var.is_discrete() && !var.is_parameter() {
                return Some((a, other));
            }
        }
    }
    None
}

/// Equations of discrete variables in the order of their dependencies; those in a cycle keep their order (the event
/// iteration settles them).
fn sort_discrete(flat: &FlatModel, equations: &mut Vec<DiscreteEquation>) {
    let mut todo: Vec<DiscreteEquation> = std::mem::take(equations);
    while !todo.is_empty() {
        let pending: FxHashSet<VarId> = todo.iter().map(|e| e.target.var).collect();
        let (ready, rest): (Vec<_>, Vec<_>) = todo.into_iter().partition(|e| {
            !flat
                .exprs
                .accesses(e.value)
                .iter()
                .any(|(_, a)| a.kind == Kind::Value && a.var != e.target.var && pending.contains(&a.var))
        });
        if ready.is_empty() {
            equations.extend(rest);
            return;
        }
        equations.extend(ready);
        todo = rest;
    }
}
