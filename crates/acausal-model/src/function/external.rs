//! `external` functions (MLS 3.6 §12.9): the mathematical ones are known, others are reported by name.

use acausal_expr::{Builtin, ExprId};
use acausal_syntax::Span;

use super::bind;
use crate::instance::InstId;
use crate::lower::{Context, Env, Locals, Result, Tensor, Type, Value, error};

/// C functions of one Real argument.
const UNARY: [(&str, Builtin); 19] = [
    ("acos", Builtin::Acos),
    ("asin", Builtin::Asin),
    ("atan", Builtin::Atan),
    ("ceil", Builtin::Ceil),
    ("cos", Builtin::Cos),
    ("cosh", Builtin::Cosh),
    ("exp", Builtin::Exp),
    ("fabs", Builtin::Abs),
    ("abs", Builtin::Abs),
    ("floor", Builtin::Floor),
    ("log", Builtin::Log),
    ("log10", Builtin::Log10),
    ("sign", Builtin::Sign),
    ("sin", Builtin::Sin),
    ("sinh", Builtin::Sinh),
    ("sqrt", Builtin::Sqrt),
    ("tan", Builtin::Tan),
    ("tanh", Builtin::Tanh),
    ("integer", Builtin::Integer),
];

/// C functions of two Real arguments.
const BINARY: [(&str, Builtin); 4] = [
    ("atan2", Builtin::Atan2),
    ("fmod", Builtin::Rem),
    ("fmin", Builtin::Min),
    ("fmax", Builtin::Max),
];

/// The name of the C function behind an external function.
pub fn c_name(ctx: &mut Context, function: InstId) -> Option<String> {
    let external = ctx.instances.external(function)?;
    Some(match &external.external()?.call {
        Some(call) => call.function.as_str().to_string(),
        None => ctx.instances.data(function).name.as_str().to_string(),
    })
}

/// Calls an external function; `None` when the function is not external.
pub fn call(
    ctx: &mut Context,
    evaluate: bool,
    function: InstId,
    inputs: &[(InstId, Value)],
    span: Span,
) -> Result<Option<Vec<Value>>> {
    let Some(external) = ctx.instances.external(function) else {
        return Ok(None);
    };
    let Some(clause) = external.external() else {
        return Ok(None);
    };
    let name = match &clause.call {
        Some(call) => call.function.as_str().to_string(),
        None => ctx.instances.data(function).name.as_str().to_string(),
    };
    let mut args = Vec::new();
    match &clause.call {
        Some(call) => {
            let locals: Locals = inputs.iter().cloned().collect();
            let env = Env::function(external.scope, &locals, evaluate);
            for a in &call.args {
                // An argument that cannot be lowered (an output by reference) belongs to a function that is not known.
                match ctx.expr(&env, a) {
                    Ok(Value::Tensor(t)) => args.push(t),
                    _ => return Err(unknown(ctx, function, &name, span)),
                }
            }
        }
        None => {
            for (_, v) in inputs {
                match v {
                    Value::Tensor(t) => args.push(t.clone()),
                    _ => return Err(unknown(ctx, function, &name, span)),
                }
            }
        }
    }
    let outputs = bind::outputs(ctx, function);
    if matches!(name.as_str(), "ModelicaMessage" | "ModelicaInternal_print") && outputs.is_empty() {
        return Ok(Some(Vec::new()));
    }
    let scalars: Vec<ExprId> = args
        .iter()
        .filter(|t| t.is_scalar())
        .map(|t| t.body)
        .collect();
    if scalars.len() != args.len() || outputs.len() != 1 {
        return Err(unknown(ctx, function, &name, span));
    }
    let unary = UNARY.iter().find(|u| u.0 == name).map(|u| u.1);
    let binary = BINARY.iter().find(|b| b.0 == name).map(|b| b.1);
    let body = match (scalars.as_slice(), unary, binary) {
        ([x], Some(f), _) => ctx.exprs.call(f, &[*x]),
        ([x, y], _, Some(f)) => ctx.exprs.call(f, &[*x, *y]),
        ([x, y], ..) if name == "pow" => ctx.exprs.pow(*x, *y),
        _ => return Err(unknown(ctx, function, &name, span)),
    };
    let ty = ctx.primitive_type(outputs[0]).unwrap_or(Type::Real);
    Ok(Some(vec![Value::Tensor(Tensor::scalar(ty, body))]))
}

fn unknown(
    ctx: &Context,
    function: InstId,
    name: &str,
    span: Span,
) -> Box<acausal_syntax::Diagnostic> {
    let modelica = ctx.instances.class_name(function);
    let declared = ctx.instances.data(function).span;
    let message = format!("the external function `{name}` of {modelica} is not supported yet");
    error("unsupported", span, message)
        .label(declared, "declared here")
        .into()
}
