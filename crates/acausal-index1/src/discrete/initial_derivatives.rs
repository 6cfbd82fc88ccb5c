//! Derivatives that only initial equations ask for (MLS 3.6 §8.6), and that index reduction does not bring by itself.
//!
//! `initial equation der(y) = 0` may name a variable that is differentiated nowhere else: a current that the states
//! determine, a speed `w = der(phi)` of which the start wants the acceleration. Such a derivative gets a variable and an equation,
//! `s = der(y)`, and the initial equations read `s`. Index reduction then differentiates whatever determines `y`, as it does for
//! a derivative that the user wrote in an equation.
//!
//! Example: `der(x) = -x; y = 2*x; initial equation der(y) = -10` becomes `..; s = der(y); initial equation s = -10`, reduced to
//! `s = 2*der(x)`; so `x` starts at 5.
//!
//! `y` shall not become a state because of that: where the user says nothing it gets `StateSelect.avoid`.

use acausal_base::Name;
use acausal_expr::flat::{Equation, FlatModel, Origin, OriginId, OriginKind, StateSelect, VarName};
use acausal_expr::{Access, ExprId, Range, Ty, ValueKind, VarId};
use acausal_symbolic::{Substitute, auxiliary};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::index_reduction;
use crate::segments::incidence::is_unknown;

/// Adds variables and equations for the derivatives that are missing; false if there are none.
pub(crate) fn introduce(flat: &mut FlatModel, equations: &mut Vec<Equation>) -> bool {
    let mut missing = wanted(flat, equations);
    if missing.is_empty() {
        return false;
    }
    // A model that cannot be reduced is refused later, with its message.
    if let Ok(nodes) = index_reduction::reduce(flat, &mut equations.clone()) {
        let is_node = |var, order| {
            let mut all = nodes.variables.iter();
            all.any(|v| v.var == var && v.order >= order)
        };
        missing.retain(|&(var, order)| !is_node(var, order));
    }
    name_derivatives(flat, equations, &missing);
    !missing.is_empty()
}

/// The derivatives, by their highest order, that occur in initial equations and in no equation.
fn wanted(flat: &FlatModel, equations: &[Equation]) -> Vec<(VarId, u8)> {
    let mut wanted: IndexMap<VarId, u8, FxBuildHasher> = IndexMap::default();
    for eq in &flat.initial_equations {
        highest(flat, [eq.lhs, eq.rhs], &mut wanted);
    }
    wanted.retain(|&var, _| is_unknown(flat, var));
    if wanted.is_empty() {
        return Vec::new();
    }
    let known = differentiated(flat, equations);
    wanted.retain(|var, order| known.get(var).is_none_or(|k| k < order));
    wanted.into_iter().collect()
}

/// The variables that equations differentiate, with the highest order.
fn differentiated(flat: &FlatModel, equations: &[Equation]) -> IndexMap<VarId, u8, FxBuildHasher> {
    let mut known = IndexMap::default();
    for eq in equations {
        highest(flat, [eq.lhs, eq.rhs], &mut known);
    }
    known
}

/// Collects the highest order at which each variable is differentiated.
fn highest(flat: &FlatModel, sides: [ExprId; 2], orders: &mut IndexMap<VarId, u8, FxBuildHasher>) {
    for e in sides {
        for (_, a) in flat.exprs.accesses(e) {
            if let ValueKind::Der(n) = a.kind {
                let most = orders.entry(a.var).or_insert(0);
                *most = (*most).max(n);
            }
        }
    }
}

/// Adds variables and equations for these derivatives and lets the initial equations read them.
fn name_derivatives(flat: &mut FlatModel, equations: &mut Vec<Equation>, missing: &[(VarId, u8)]) {
    let known = differentiated(flat, equations);
    // names[v][k] is the variable of the (k+1)-th derivative of v.
    let mut names: FxHashMap<VarId, Vec<VarId>> = FxHashMap::default();
    for &(var, order) in missing {
        let select = &mut flat.vars[var.index()].state_select;
        if *select == StateSelect::Default && !known.contains_key(&var) {
            *select = StateSelect::Avoid;
        }
        let mut chain = Vec::new();
        let mut of = var;
        for _ in 0..order {
            of = named_derivative(flat, equations, of);
            chain.push(of);
        }
        names.insert(var, chain);
    }
    let mut initial = std::mem::take(&mut flat.initial_equations);
    for eq in &mut initial {
        for side in [&mut eq.lhs, &mut eq.rhs] {
            *side = flat.exprs.rewrite(*side, |x, e| {
                let acausal_expr::Node::Var(a) = x.node(e) else {
                    return None;
                };
                let ValueKind::Der(n) = a.kind else {
                    return None;
                };
                let var = *names.get(&a.var)?.get(n as usize - 1)?;
                let kind = ValueKind::Value;
                Some(x.access(Access { var, kind, ..a }, Ty::Real))
            });
        }
    }
    flat.initial_equations = initial;
}

/// A new variable `s` with the equation `s = der(of)`.
fn named_derivative(flat: &mut FlatModel, equations: &mut Vec<Equation>, of: VarId) -> VarId {
    let dims = flat.var(of).dims.clone();
    let iters: Vec<_> = dims.iter().map(|_| flat.exprs.fresh_iter()).collect();
    let ranges = dims.iter().map(|&n| Range::upto(n));
    let domain: Vec<_> = iters.iter().copied().zip(ranges).collect();
    let kind = acausal_expr::flat::Variability::Continuous;
    let access = auxiliary(flat, &domain, kind);
    let (name, span) = (flat.var(of).name.plain(), flat.var(of).span);
    let s = &mut flat.vars[access.var.index()];
    let part = (Name::new(&format!("der({name})")), dims.len() as u8);
    s.name = VarName::new(&[part]);
    s.span = span;
    s.state_select = StateSelect::Avoid;
    flat.origins.push(Origin {
        span,
        component: "".into(),
        kind: OriginKind::Auxiliary,
    });
    let origin = OriginId(flat.origins.len() as u32 - 1);
    let subs: Vec<ExprId> = iters.iter().map(|&i| flat.exprs.iter(i)).collect();
    let lhs = flat.exprs.access(access, Ty::Real);
    let rhs = flat.exprs.var(of, ValueKind::Der(1), &subs, Ty::Real);
    equations.push(Equation {
        domain: domain.into(),
        lhs,
        rhs,
        origin,
    });
    access.var
}
