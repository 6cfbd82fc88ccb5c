//! Parameters that are no Reals and get their value from an initial equation: `parameter Integer seed(fixed = false); initial
//! equation seed = f(fixedSeed);` (MLS 3.6 §8.6).
//!
//! In: the flat model. Out: the same with a binding in the place of the initial equation, where the value depends on nothing
//! but parameters whose values are known before the start. Then everything that such a parameter decides, other parameters, start
//! values and the instants of `sample`, is evaluated in the order of the parameters, once. What depends on variables or on free
//! Real parameters stays an equation of the start.
//!
//! Linear in the size of the values of all parameters; nothing is done where there is no such initial equation.

use acausal_expr::flat::{Comprehension, FlatModel, VarType, Variability};
use acausal_expr::{Builtin, ExprId, Node, ValueKind, VarId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::start::discrete_target;

/// Parameters without a value that the initial equations may determine.
pub(super) fn free_parameters(flat: &FlatModel) -> Vec<VarId> {
    flat.var_ids()
        .filter(|(_, v)| {
            let fixed = v.fixed.as_ref().map(|f| flat.exprs.as_bool(f.body));
            v.variability == Variability::Parameter
                && v.ty == VarType::Real
                && v.binding.is_none()
                && !v.auxiliary
                && !v.is_empty()
                && fixed.is_some_and(|f| f != Some(true))
        })
        .map(|(id, _)| id)
        .collect()
}

/// Makes bindings of initial equations that give parameters a value before the start.
pub(super) fn bind_given(flat: &mut FlatModel, free: &[VarId]) {
    let mut values: FxHashMap<VarId, ExprId> = FxHashMap::default();
    let mut late: FxHashSet<VarId> = FxHashSet::default();
    let mut worklist = free.to_vec();
    for eq in &flat.initial_equations {
        let Some((target, value)) = discrete_target(flat, eq) else {
            continue;
        };
        let var = flat.var(target.var);
        if !var.is_parameter() {
            continue;
        }
        let whole = eq.domain.is_empty() && var.dims.is_empty() && target.kind == ValueKind::Value;
        // A second equation for the same parameter must agree with the first; that is for the start to find out.
        let once = values.insert(target.var, value).is_none();
        if !whole || !once || !of_parameters(flat, value) {
            worklist.push(target.var);
        }
    }
    if values.is_empty() {
        return;
    }
    let mut readers: FxHashMap<VarId, Vec<VarId>> = FxHashMap::default();
    for (id, var) in flat.var_ids().filter(|(_, v)| v.is_parameter()) {
        let bound = var.binding.as_ref().or(var.start.as_ref()).map(|b| b.body);
        if let Some(value) = values.get(&id).copied().or(bound) {
            for (_, a) in flat.exprs.accesses(value) {
                readers.entry(a.var).or_default().push(id);
            }
        }
    }
    while let Some(var) = worklist.pop() {
        if late.insert(var) {
            worklist.extend(readers.get(&var).into_iter().flatten());
        }
    }
    let mut rest = std::mem::take(&mut flat.initial_equations);
    rest.retain(|eq| {
        let Some((target, value)) = discrete_target(flat, eq) else {
            return true;
        };
        if !values.contains_key(&target.var) || late.contains(&target.var) {
            return true;
        }
        flat.vars[target.var.index()].binding = Some(Comprehension::scalar(value));
        false
    });
    flat.initial_equations = rest;
}

/// Whether an expression reads nothing but values of parameters.
fn of_parameters(flat: &FlatModel, value: ExprId) -> bool {
    !flat.exprs.any(value, |x, e| match x.node(e) {
        Node::Time | Node::Call(Builtin::Initial, _) => true,
        Node::Var(a) => a.kind != ValueKind::Value || !flat.var(a.var).is_parameter(),
        _ => false,
    })
}
