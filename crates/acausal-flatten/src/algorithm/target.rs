//! What an algorithm section assigns, and what these variables hold before it begins (MLS 3.6 §11.1.2).

use std::collections::BTreeSet;

use acausal_expr::{Builtin, ExprId, Node, ValueKind};
use acausal_syntax::ast::{
    ComponentRef, Expr, ExprKind, Statement, StatementKind, VariabilityPrefix,
};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::Section;
use crate::lower::{Context, Env, Error, Result, Tensor, Type, Value, error};
use acausal_instance::instance::{InstId, InstanceKind};

/// A variable that the section assigns.
pub(super) struct Target {
    /// The variable itself, as a value.
    pub variable: Value,
    /// Assigned inside of `when`, by how many of them.
    pub whens: usize,
    /// Assigned outside of `when`.
    pub plain: bool,
    /// Assigned as a whole somewhere. It then is a variable of the section, even where no such statement is ever executed.
    pub whole: bool,
}

/// The variables that the section assigns, in order of their first assignment.
pub(super) fn targets(
    ctx: &mut Context,
    section: &Section<'_>,
) -> Result<IndexMap<InstId, Target, FxBuildHasher>> {
    let mut out: IndexMap<InstId, Target, FxBuildHasher> = IndexMap::default();
    for s in section.statements {
        let in_when = matches!(s.kind, StatementKind::When { .. });
        let mut here: BTreeSet<InstId> = BTreeSet::new();
        for r in references(s) {
            let (variable, reference) = root(ctx, &section.env, r, section.initial)?;
            let whole = r.parts.len() == reference.parts.len()
                && r.parts.last().is_some_and(|p| p.subscripts.is_empty());
            if !out.contains_key(&variable) {
                let e = Expr::new(ExprKind::Ref(reference), r.span);
                let value = ctx.expr(&section.env, &e)?;
                out.insert(
                    variable,
                    Target {
                        variable: value,
                        whens: 0,
                        plain: false,
                        whole: false,
                    },
                );
            }
            here.insert(variable);
            if let Some(target) = out.get_mut(&variable) {
                target.plain |= !in_when;
                target.whole |= whole;
                if target.plain && (in_when || target.whens > 0) {
                    let name = ctx.instances.display_name(variable);
                    let message = format!(
                        "`{name}` is assigned both inside and outside of `when` in one algorithm, which is not supported yet"
                    );
                    return Err(Error::unsupported(r.span, message)
                        .hint("use two variables, or an `if` with `edge(...)`"));
                }
            }
        }
        if in_when {
            for variable in here {
                if let Some(target) = out.get_mut(&variable) {
                    target.whens += 1;
                }
            }
        }
    }
    Ok(out)
}

/// The variable that holds an assigned part: the outermost record, or the primitive component; and a reference to it.
/// An initial algorithm may compute parameters (those with `fixed = false`).
pub(super) fn root(
    ctx: &mut Context,
    env: &Env<'_>,
    r: &ComponentRef,
    initial: bool,
) -> Result<(InstId, ComponentRef)> {
    let chain = ctx.component_chain(env, r)?;
    let skipped = r.parts.len() - chain.len();
    for (k, &inst) in chain.iter().enumerate() {
        let part = &r.parts[skipped + k];
        let leaf = k + 1 == chain.len();
        if !leaf && !matches!(ctx.instances.kind(inst), InstanceKind::Record { .. }) {
            if ctx.instances.data(inst).rank > 0 {
                let message =
                    "assignments to members of an array of components are not supported yet";
                return Err(Error::unsupported(part.span, message));
            }
            continue;
        }
        let variability = ctx.instances.data(inst).prefixes.variability;
        let computed = initial && variability == Some(VariabilityPrefix::Parameter);
        if matches!(
            variability,
            Some(VariabilityPrefix::Constant | VariabilityPrefix::Parameter)
        ) && !computed
        {
            let name = ctx.instances.display_name(inst);
            let declared = ctx.instances.data(inst).span;
            let message = format!("`{name}` is a parameter or constant and cannot be assigned");
            return Err(error("assign-parameter", r.span, message).label(declared, "declared here"));
        }
        let mut parts = r.parts[..=skipped + k].to_vec();
        if let Some(last) = parts.last_mut() {
            last.subscripts = acausal_base::ThinVec::default();
        }
        return Ok((
            inst,
            ComponentRef {
                global: r.global,
                parts,
                span: r.span,
            },
        ));
    }
    Err(error(
        "assign-target",
        r.span,
        "a variable is expected here",
    ))
}

/// References that a statement assigns, those of inner statements included.
pub(crate) fn references(s: &Statement) -> Vec<&ComponentRef> {
    let mut out = Vec::new();
    let mut stack = vec![s];
    while let Some(s) = stack.pop() {
        match &s.kind {
            StatementKind::Assign { target, .. } => out.push(target),
            StatementKind::AssignCall { targets, .. } => out.extend(targets.iter().flatten()),
            StatementKind::If {
                branches,
                otherwise,
            } => {
                stack.extend(otherwise.iter().rev());
                stack.extend(branches.iter().rev().flat_map(|b| b.1.iter().rev()));
            }
            StatementKind::When { branches } => {
                stack.extend(branches.iter().rev().flat_map(|b| b.1.iter().rev()));
            }
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => {
                stack.extend(body.iter().rev());
            }
            StatementKind::Call(_) | StatementKind::Break | StatementKind::Return => {}
        }
    }
    out
}

/// What a variable holds before the first statement (MLS 3.6 §11.1.2).
pub(super) fn first_value(ctx: &mut Context, target: &Target) -> Value {
    let in_when = target.whens > 0;
    target.variable.map_leaves(&mut |t| before(ctx, t, in_when))
}

/// `pre(v)` for discrete variables, the start value for others.
fn before(ctx: &mut Context, t: &Tensor, in_when: bool) -> Tensor {
    let Node::Var(access) = ctx.exprs.node(t.body) else {
        return t.clone();
    };
    let declared = ctx.var_insts.get(access.var.index()).is_some_and(|&inst| {
        ctx.instances.data(inst).prefixes.variability == Some(VariabilityPrefix::Discrete)
    });
    let body = if in_when || declared || t.ty != Type::Real {
        left_limit(ctx, t.body)
    } else {
        ctx.exprs.call(Builtin::Start, &[t.body])
    };
    Tensor { body, ..t.clone() }
}

/// `pre(v)` of a variable access.
pub(super) fn left_limit(ctx: &mut Context, e: ExprId) -> ExprId {
    match ctx.exprs.node(e) {
        Node::Var(mut access) => {
            access.kind = ValueKind::Pre;
            let ty = ctx.exprs.ty(e);
            ctx.exprs.access(access, ty)
        }
        _ => e,
    }
}
