//! What a function must not assign (MLS 3.6 §12.2): its inputs are read only.
//!
//! Linear in the statements of the function; the answer is kept per function.

use acausal_base::{Name, Span};
use acausal_syntax::ast::{ComponentRef, SectionKind, Statement, StatementKind};

use super::bind;
use crate::lower::{Context, Result, error};
use acausal_instance::instance::{InstId, InstanceKind};

/// A message about an input that something assigns.
pub(super) fn expect_read_only(ctx: &mut Context, function: InstId) -> Result<()> {
    if ctx.function_state.read_only.contains(&function) {
        return Ok(());
    }
    for section in &ctx.instances.sections(function) {
        if let SectionKind::Algorithm { statements, .. } = &section.section().kind {
            for target in targets(statements) {
                expect_no_input(ctx, function, target.parts[0].name.name, target.span)?;
            }
        }
    }
    ctx.function_state.read_only.insert(function);
    Ok(())
}

/// Whether some statement of the function that a variable, or a field in it, belongs to assigns it: by itself, a part of it, or a record around it.
pub(super) fn assigns(ctx: &mut Context, variable: InstId, path: &[Name]) -> bool {
    let mut function = variable;
    while ctx.instances.kind(function) != InstanceKind::Function {
        match ctx.instances.parent(function) {
            Some(outer) => function = outer,
            None => return false,
        }
    }
    let sections = ctx.instances.sections(function);
    sections
        .iter()
        .any(|section| match &section.section().kind {
            SectionKind::Algorithm { statements, .. } => targets(statements).iter().any(|t| {
                t.parts
                    .iter()
                    .zip(path)
                    .all(|(p, name)| p.name.name == *name)
            }),
            _ => false,
        })
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
