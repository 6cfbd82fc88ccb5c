//! First values of the outputs and protected variables of a function (MLS 3.6 §12.4.4).
//!
//! In: the inputs. Out: a value for every variable: its binding, or zeros of its size to be written into. The fields of a
//! record take their own bindings: `output Complex c(re = a, im = b)`.

use acausal_base::{Name, Span};
use acausal_syntax::ast::VariabilityPrefix;

use super::unassigned::{description, placeholder};
use super::{bind, rules};
use crate::lower::tensor::zero;
use crate::lower::{
    Context, Env, Error, Locals, Record, Result, Tensor, Value, in_dependency_order,
};
use acausal_instance::instance::{InstId, InstanceKind};

/// Gives outputs and protected variables their first values. Declarations may refer to later ones, so those that fail
/// are tried again when others are known.
pub fn declare(
    ctx: &mut Context,
    evaluate: bool,
    function: InstId,
    mut locals: Locals,
    span: Span,
) -> Result<Locals> {
    let mut pending = ctx.instances.components(function);
    pending.retain(|c| !locals.contains_key(c) && !is_constant_declaration(ctx, *c));
    in_dependency_order(pending, |&variable| {
        let value = first_value(ctx, evaluate, &locals, variable, span)?;
        locals.insert(variable, value);
        Ok(())
    })?;
    Ok(locals)
}

/// Constants of a function are found by lookup.
fn is_constant_declaration(ctx: &Context, inst: InstId) -> bool {
    ctx.instances.data(inst).prefixes.variability == Some(VariabilityPrefix::Constant)
}

fn first_value(
    ctx: &mut Context,
    evaluate: bool,
    locals: &Locals,
    variable: InstId,
    span: Span,
) -> Result<Value> {
    let what = format!("`{}`", ctx.instances.data(variable).name);
    if let Some(binding) = ctx.instances.binding(variable) {
        let env = Env::function(binding.scope, locals, evaluate);
        let value = ctx.expr(&env, &binding.expr)?;
        return bind::fit(ctx, locals, variable, value, binding.expr.span, &what);
    }
    let name = ctx.instances.data(variable).name;
    blank(ctx, locals, variable, &[name], &[], span)
}

/// A value of the right type and size to be written into: nothing is assigned but fields of records with bindings of their own. `path` is the name of
/// the variable behind those of the records around it, `lead` are dimensions of enclosing records.
///
/// A field that some statement of the function assigns is zero before: functions of media give records of which each region sets other fields, and hand them to functions that read
/// what the region has. Handing on is no use, but it evaluates all fields.
pub fn blank(
    ctx: &mut Context,
    locals: &Locals,
    variable: InstId,
    path: &[Name],
    lead: &[usize],
    span: Span,
) -> Result<Value> {
    let mut dims = lead.to_vec();
    dims.extend(
        bind::sizes(ctx, locals, variable)?
            .into_iter()
            .map(|n| n.unwrap_or(0)),
    );
    if let Some(ty) = ctx.primitive_type(variable) {
        let nothing = match path.len() > 1 && rules::assigns(ctx, variable, path) {
            true => zero(&mut ctx.exprs, ty),
            false => {
                let path: Vec<String> = path.iter().map(Name::to_string).collect();
                let name = description(ctx, variable, &path.join("."));
                placeholder(ctx, &name, ty)
            }
        };
        return Ok(Value::Tensor(
            Tensor::scalar(ty, nothing).fill(&mut ctx.exprs, &dims),
        ));
    }
    match ctx.instances.kind(variable) {
        InstanceKind::Record { .. } | InstanceKind::Connector { .. } => {
            let mut fields = Vec::new();
            // Bindings of fields may refer to any other field.
            let mut seen = locals.clone();
            let components = ctx.instances.components(variable);
            in_dependency_order(components.clone(), |&field| {
                let name = ctx.instances.data(field).name;
                let value = match ctx.instances.binding(field) {
                    Some(binding) => {
                        let env = Env::function(binding.scope, &seen, false);
                        let value = ctx.expr(&env, &binding.expr)?;
                        let what = format!("the field `{name}`");
                        let value = bind::fit(ctx, &seen, field, value, binding.span, &what)?;
                        let exprs = &mut ctx.exprs;
                        value.map_leaves(&mut |t| t.fill(exprs, &dims))
                    }
                    None => blank(ctx, &seen, field, &[path, &[name]].concat(), &dims, span)?,
                };
                seen.insert(field, value);
                Ok(())
            })?;
            for field in components {
                let name = ctx.instances.data(field).name;
                fields.extend(seen.get(&field).map(|value| (name, value.clone())));
            }
            let class = ctx.instances.data(variable).class;
            Ok(Value::Record(Record {
                class,
                dims,
                fields,
            }))
        }
        _ => {
            let name = ctx.instances.data(variable).name;
            let class = ctx.instances.class_name(variable);
            let message =
                format!("a variable of class {class} (`{name}`) cannot be used in a function");
            Err(Error::unsupported(span, message))
        }
    }
}
