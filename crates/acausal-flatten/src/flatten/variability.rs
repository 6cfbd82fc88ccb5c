//! What may vary when (MLS 3.6 §3.8), as far as it is known only once all equations are.
//!
//! `pre(x)` of a Real outside of `when` needs a discrete `x`: a continuous one has no left limit that differs from it (§3.7.5).
//!
//! A variable declared `discrete` changes at events only, so its equation must be a discrete-time expression: variables of
//! lower variability, relations, steps, and whatever stands under `edge`. `discrete Real d = sin(time)` is refused. Booleans and
//! Integers need no check: what could change in their equations without a relation is watched by the simulator.
//!
//! Linear in the sizes of the equations of discrete Reals.

use acausal_base::Diagnostic;
use acausal_expr::flat::{Equation, FlatModel, VarType, Variability};
use acausal_expr::{Access, Builtin, ExprId, Node, RelOp, Ty, ValueKind, VarId};
use acausal_symbolic::Assigned;
use rustc_hash::FxHashSet;

use super::Flattener;

impl Flattener {
    /// Left limits of continuous variables outside of `when`.
    pub(super) fn check_left_limits(&mut self) {
        for (var, span) in std::mem::take(&mut self.ctx.left_limits) {
            let v = self.model.var(var);
            if v.variability == Variability::Continuous && v.ty == VarType::Real {
                let name = v.name.plain();
                let message = Diagnostic::error(
                    "pre-of-continuous",
                    span,
                    format!("`{name}` is continuous: it has no left limit outside of `when`"),
                )
                .note("`pre`, `edge` and `change` take discrete variables (MLS 3.6 §3.7.5)")
                .hint("use `delay`, or sample it in a `when`");
                self.ctx.errors.push(message);
            }
        }
    }
}

/// One message per equation of a discrete Real with a continuous expression.
pub(super) fn check(model: &FlatModel) -> Vec<Diagnostic> {
    let is_discrete = |var: VarId| {
        let v = model.var(var);
        v.ty == VarType::Real && v.variability == Variability::Discrete
    };
    if !(model.var_ids()).any(|(id, _)| is_discrete(id)) {
        return Vec::new();
    }
    let assigned = Assigned::new(model);
    let mut messages = Vec::new();
    for eq in &model.equations {
        let Some((target, value)) = target(model, eq) else {
            continue;
        };
        let var = target.var;
        if !is_discrete(var)
            || assigned.meets(&model.exprs, target, &eq.domain)
            || is_discrete_time(model, value)
        {
            continue;
        }
        let name = model.var(var).name.plain();
        let message = format!(
            "`{name}` is discrete, but its equation changes between events (variability of the expression: continuous)"
        );
        messages.push(
            Diagnostic::error("variability", model.origin(eq.origin).span, message)
                .hint("assign it in a `when` clause, or declare it without `discrete`"),
        );
    }
    messages
}

/// The variable that an equation `v = e` can only be one for.
fn target(model: &FlatModel, eq: &Equation) -> Option<(Access, ExprId)> {
    let variable = |e: ExprId| match model.exprs.node(e) {
        Node::Var(a) if a.kind == ValueKind::Value => Some(a),
        _ => None,
    };
    match (variable(eq.lhs), variable(eq.rhs)) {
        (Some(v), None) => Some((v, eq.rhs)),
        (None, Some(v)) => Some((v, eq.lhs)),
        _ => None,
    }
}

/// Whether an expression keeps its value between events.
fn is_discrete_time(model: &FlatModel, root: ExprId) -> bool {
    let x = &model.exprs;
    let mut seen: FxHashSet<ExprId> = FxHashSet::default();
    let mut stack = vec![root];
    while let Some(e) = stack.pop() {
        if !seen.insert(e) {
            continue;
        }
        match x.node(e) {
            Node::Time | Node::Call(Builtin::Delay | Builtin::Spatial, _) => return false,
            Node::Var(a) => {
                if a.kind != ValueKind::Pre && !model.var(a.var).is_discrete() {
                    return false;
                }
            }
            // Cells: relations, steps, and Integers and Booleans that are watched.
            Node::Rel(RelOp::Lt | RelOp::Le | RelOp::Gt | RelOp::Ge, ..) => {}
            Node::Call(
                Builtin::Floor
                | Builtin::Ceil
                | Builtin::Integer
                | Builtin::Div
                | Builtin::Sign
                | Builtin::Sample,
                _,
            ) => {}
            Node::NoEvent(_) | Node::Apply { .. } | Node::Rel(..)
                if matches!(x.ty(e), Ty::Bool | Ty::Int) => {}
            Node::If(c, _, otherwise)
                if matches!(
                    x.node(c),
                    Node::Call(Builtin::Edge | Builtin::Change | Builtin::Sample, _)
                ) =>
            {
                stack.extend([c, otherwise]);
            }
            _ => x.for_each_child(e, |c| stack.push(c)),
        }
    }
    true
}
