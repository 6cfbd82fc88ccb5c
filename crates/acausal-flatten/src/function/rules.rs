//! What a function may and must assign (MLS 3.6 §12.2, §12.4.4).
//!
//! Inputs are read only. An output without a binding has no value until it is assigned; one that no statement assigns never has any, whatever the
//! arguments are, and whoever uses it gets an error. (An output that is assigned on some ways through the function only is not found here.)
//!
//! Linear in the statements of the function; the answer is kept per function.

use acausal_base::{Name, Span};
use acausal_syntax::ast::{Callee, ComponentRef, ExprKind, SectionKind, Statement, StatementKind};

use super::bind;
use crate::lower::{Context, Result, Value, error};
use acausal_instance::instance::{InstId, InstanceKind};

/// What stands for an output that is never assigned.
pub const NEVER_ASSIGNED: Value = Value::Tuple(Vec::new());

/// The outputs of a function that nothing assigns, or a message about an input that something assigns.
pub(super) fn never_assigned(ctx: &mut Context, function: InstId) -> Result<Vec<InstId>> {
    if let Some(known) = ctx.function_state.never_assigned.get(&function) {
        return Ok(known.clone());
    }
    let sections = ctx.instances.sections(function);
    let mut assigned: Vec<Name> = Vec::new();
    let mut algorithm = false;
    for section in &sections {
        let SectionKind::Algorithm { statements, .. } = &section.section().kind else {
            continue;
        };
        algorithm |= !statements.iter().any(always_fails);
        for target in targets(statements) {
            let name = target.parts[0].name.name;
            expect_no_input(ctx, function, name, target.span)?;
            assigned.push(name);
        }
    }
    let mut never = Vec::new();
    if algorithm {
        for output in bind::outputs(ctx, function) {
            let name = ctx.instances.data(output).name;
            if !assigned.contains(&name) && !has_value(ctx, output) {
                never.push(output);
            }
        }
    }
    ctx.function_state
        .never_assigned
        .insert(function, never.clone());
    Ok(never)
}

/// Outputs with those marked that are never assigned. Arrays without elements need no assignment.
pub(super) fn without_unassigned(
    ctx: &mut Context,
    function: InstId,
    never: &[InstId],
    outputs: Vec<Value>,
) -> Vec<Value> {
    if never.is_empty() {
        return outputs;
    }
    let declared = bind::outputs(ctx, function);
    outputs
        .into_iter()
        .zip(declared)
        .map(|(value, output)| {
            let empty = value.dims().contains(&0);
            if never.contains(&output) && !empty {
                NEVER_ASSIGNED
            } else {
                value
            }
        })
        .collect()
}

/// A message about a call whose only output is never assigned.
pub(super) fn expect_assigned(
    ctx: &mut Context,
    function: InstId,
    outputs: &[Value],
    span: Span,
) -> Result<()> {
    if outputs != [NEVER_ASSIGNED] {
        return Ok(());
    }
    let class = ctx.instances.class_name(function);
    let output = bind::outputs(ctx, function)[0];
    let data = ctx.instances.data(output);
    let (name, at) = (data.name, data.span);
    Err(error(
        "output-not-assigned",
        span,
        format!("`{class}` never assigns its output `{name}`"),
    )
    .label(at, "declared here")
    .hint(format!(
        "assign it in the algorithm of the function: `{name} := ...`"
    )))
}

fn expect_no_input(ctx: &mut Context, function: InstId, name: Name, span: Span) -> Result<()> {
    let inputs = bind::inputs(ctx, function);
    let Some(&input) = inputs.iter().find(|&&i| ctx.instances.data(i).name == name) else {
        return Ok(());
    };
    let data = ctx.instances.data(input);
    let at = data.span;
    let class = ctx.instances.class_name(function);
    Err(error(
        "assign-target",
        span,
        format!("`{name}` is an input of {class} and cannot be assigned"),
    )
    .label(at, "declared here")
    .hint("copy it into a protected variable and change that"))
}

/// A binding of its own, or of a field; or nothing to assign.
fn has_value(ctx: &mut Context, variable: InstId) -> bool {
    let mut todo = vec![variable];
    while let Some(variable) = todo.pop() {
        if ctx.instances.binding(variable).is_some() {
            return true;
        }
        if matches!(ctx.instances.kind(variable), InstanceKind::Record { .. }) {
            let fields = ctx.instances.components(variable);
            if fields.is_empty() {
                return true;
            }
            todo.extend(fields);
        }
    }
    false
}

/// `assert(false, "not implemented")`: such a function has no outputs to speak of.
fn always_fails(s: &Statement) -> bool {
    let StatementKind::Call(call) = &s.kind else {
        return false;
    };
    let Callee::Ref(r) = &call.function else {
        return false;
    };
    let literal = call.args.first().map(|e| &e.kind);
    r.as_ident().is_some_and(|name| name.as_str() == "assert")
        && literal == Some(&ExprKind::Bool(false))
}

/// What statements assign, at any depth.
fn targets(statements: &[Statement]) -> Vec<&ComponentRef> {
    let mut out = Vec::new();
    let mut todo: Vec<&Statement> = statements.iter().collect();
    while let Some(s) = todo.pop() {
        match &s.kind {
            StatementKind::Assign { target, .. } => out.push(target),
            StatementKind::AssignCall { targets, .. } => out.extend(targets.iter().flatten()),
            StatementKind::If {
                branches,
                otherwise,
            } => todo.extend(branches.iter().flat_map(|b| &b.1).chain(otherwise)),
            StatementKind::For { body, .. } | StatementKind::While { body, .. } => {
                todo.extend(body)
            }
            StatementKind::When { branches } => todo.extend(branches.iter().flat_map(|b| &b.1)),
            StatementKind::Call(_) | StatementKind::Break | StatementKind::Return => {}
        }
    }
    out
}
