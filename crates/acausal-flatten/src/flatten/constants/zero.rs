//! Parameters that are zero and take an unknown out of an equation.
//!
//! `irb*m_baseResist = v_b - v_internal` determines `irb` unless the resistance is zero: then it says that two potentials are
//! equal, and something else has to determine the current. Which it is decides the structure of the model, its states
//! and its index, so such a parameter is evaluated by the compiler (MLS 3.6 §18.3 allows it for every parameter): the
//! factor becomes a literal zero. A parameter with another value stays run-time data.
//!
//! In: the flat model. Out: the same model without the terms that are zero; the parameters that were looked at for it are
//! marked as evaluated. Only scalar factors of parameters with a value of their own count; elements of arrays are not looked
//! at one by one. Linear in the size of the equations.

use acausal_expr::flat::FlatModel;
use acausal_expr::{ExprId, Node, ScalarValue, ValueKind, VarId};
use acausal_symbolic::Substitute;
use rustc_hash::{FxHashMap, FxHashSet};

/// Bindings of parameters are followed up to this depth.
const DEEPEST: usize = 60;

/// Puts in the zeros.
pub(super) fn take_out_zeros(model: &mut FlatModel) {
    let mut values = Values::default();
    if !any_zero(model, &mut values) {
        return;
    }
    let mut zeros: FxHashSet<ExprId> = FxHashSet::default();
    let mut looked: FxHashSet<ExprId> = FxHashSet::default();
    for k in 0..model.equations.len() {
        let eq = &model.equations[k];
        let mut found = false;
        for n in model.exprs.reachable(&[eq.lhs, eq.rhs]) {
            let Node::Mul(list) = model.exprs.node(n) else {
                continue;
            };
            let factors = model.exprs.list(list);
            let fixed: Vec<ExprId> = (factors.iter().copied())
                .filter(|&f| is_scalar_parameter(model, f))
                .collect();
            if fixed.is_empty() || !factors.iter().any(|&f| unknowns(model, f)) {
                continue;
            }
            for f in fixed {
                if looked.insert(f) && values.of(model, f, 0) == Some(0.0) {
                    zeros.insert(f);
                }
                found |= zeros.contains(&f);
            }
        }
        if found {
            let (lhs, rhs) = (model.equations[k].lhs, model.equations[k].rhs);
            let mut without =
                |side| (model.exprs).rewrite(side, |x, e| zeros.contains(&e).then(|| x.real(0.0)));
            let (lhs, rhs) = (without(lhs), without(rhs));
            // An equation without any unknown is left to be diagnosed as it was written.
            if unknowns(model, lhs) || unknowns(model, rhs) {
                (model.equations[k].lhs, model.equations[k].rhs) = (lhs, rhs);
            }
        }
    }
    let mut todo: Vec<ExprId> = zeros.into_iter().collect();
    todo.sort_unstable();
    let mut seen: FxHashSet<VarId> = FxHashSet::default();
    while let Some(e) = todo.pop() {
        for (_, a) in model.exprs.accesses(e) {
            if seen.insert(a.var) {
                let v = &mut model.vars[a.var.index()];
                v.structural = true;
                todo.extend(v.binding.as_ref().map(|b| b.body));
            }
        }
    }
}

/// Whether any product in the arena has a factor that is a parameter of value zero. Most models have none, and one look at the arena
/// is cheaper than one at every equation.
fn any_zero(model: &FlatModel, values: &mut Values) -> bool {
    let x = &model.exprs;
    x.ids().any(|n| match x.node(n) {
        Node::Mul(list) => x
            .list(list)
            .iter()
            .any(|&f| is_scalar_parameter(model, f) && is_zero(model, values, f)),
        _ => false,
    })
}

/// Whether the value of a scalar parameter is zero. Most are bound to literals, whose values need not be kept.
fn is_zero(model: &FlatModel, values: &mut Values, parameter: ExprId) -> bool {
    let x = &model.exprs;
    let binding = match x.node(parameter) {
        Node::Var(a) => model.var(a.var).binding.as_ref(),
        _ => None,
    };
    match binding.and_then(|b| x.as_f64(b.body)) {
        Some(literal) => literal == 0.0,
        None => values.of(model, parameter, 0) == Some(0.0),
    }
}

fn unknowns(model: &FlatModel, e: ExprId) -> bool {
    let accesses = model.exprs.accesses(e);
    accesses
        .iter()
        .any(|(_, a)| !model.var(a.var).is_parameter())
}

/// A scalar parameter, or its negative or a product of such.
fn is_scalar_parameter(model: &FlatModel, e: ExprId) -> bool {
    match model.exprs.node(e) {
        Node::Var(a) => {
            // The arena also holds accesses to no variable, of values whose shape alone was asked for.
            let Some(v) = model.vars.get(a.var.index()) else {
                return false;
            };
            let fixed = v.fixed.as_ref();
            v.is_parameter()
                && v.dims.is_empty()
                && a.kind == ValueKind::Value
                && fixed.is_none_or(|f| model.exprs.as_bool(f.body) == Some(true))
        }
        _ => false,
    }
}

/// Values of parameters, as far as they follow from literals.
#[derive(Default)]
struct Values {
    known: FxHashMap<VarId, Option<f64>>,
}

impl Values {
    fn of(&mut self, model: &FlatModel, e: ExprId, depth: usize) -> Option<f64> {
        if depth > DEEPEST {
            return None;
        }
        let leaf = |x: &acausal_expr::Exprs, e: ExprId, _: &[i64]| {
            let Node::Var(a) = x.node(e) else {
                return None;
            };
            let v = model.var(a.var);
            if !is_scalar_parameter(model, e) {
                return None;
            }
            if let Some(known) = self.known.get(&a.var) {
                return known.map(ScalarValue::Real);
            }
            let body = v.binding.as_ref()?.body;
            let value = self.of(model, body, depth + 1);
            self.known.insert(a.var, value);
            value.map(ScalarValue::Real)
        };
        let value = model.exprs.evaluate(e, leaf).ok()?;
        value.as_f64().filter(|v| v.is_finite())
    }
}
