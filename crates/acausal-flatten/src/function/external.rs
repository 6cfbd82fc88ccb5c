//! `external` functions (MLS 3.6 §12.9): the mathematical ones become operators, those on strings are evaluated at compile
//! time, tables and random numbers are [native functions](acausal_expr::native) at run time. Others are reported by name.

use acausal_base::{Diagnostic, Span};
use acausal_expr::native::{External, Native};
use acausal_expr::{Builtin, ExprId, FuncId, Node, flat};
use acausal_syntax::ast::{ComponentRef, ExprKind};

use super::constant::{fold, number};
use super::specialise::literal_of;
use super::{PendingPrint, apply, bind, external_text};
use crate::lower::{Context, Env, Error, Locals, Result, Tensor, Type, Value, error};
use acausal_instance::instance::InstId;

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

/// Functions without a result that need not be called: files are read as a whole. The state that the last one sets is that of a generator which gives
/// another number at each call; it has no place in equations that are evaluated any number of times, and is not supported.
const WITHOUT_RESULT: [&str; 4] = [
    "ModelicaMessage",
    "ModelicaInternal_print",
    "ModelicaStreams_closeFile",
    "ModelicaRandom_setInternalState_xorshift1024star",
];

/// Notes a text that is printed on the terminal; files are not written.
fn print(ctx: &mut Context, name: &str, args: &[Tensor], span: Span) {
    let (message, to_file) = match (name, args) {
        ("ModelicaMessage", [message]) => (message.body, false),
        ("ModelicaInternal_print", [message, file]) => {
            let empty = ctx.exprs.str("");
            (message.body, file.body != empty)
        }
        _ => return,
    };
    if to_file {
        let message = "printing to files is not supported yet, nothing is written here";
        ctx.warnings
            .push(Diagnostic::warning("unsupported", span, message));
        return;
    }
    let printed = PendingPrint { message, span };
    ctx.function_state.prints.push(printed);
}

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
    let outputs = bind::outputs(ctx, function);
    let locals: Locals = inputs.iter().cloned().collect();
    let mut args = Vec::new();
    // Outputs in the order in which the C function gives them: its value, then what it writes through pointers.
    let mut written = Vec::new();
    let declared = Native::from_name(&name).is_some_and(Native::takes_declared_inputs);
    match &clause.call {
        Some(call) if !declared => {
            let env = Env::function(external.scope, &locals, evaluate);
            if let Some(r) = &call.output {
                written.extend(one_of(ctx, r, &outputs));
            }
            for a in &call.args {
                if let ExprKind::Ref(r) = &a.kind
                    && let Some(output) = one_of(ctx, r, &outputs)
                {
                    written.push(output);
                    continue;
                }
                match ctx.expr(&env, a) {
                    Ok(Value::Tensor(t)) => args.push(t),
                    _ => return Err(unknown(ctx, function, &name, span)),
                }
            }
        }
        _ => {
            written.clone_from(&outputs);
            for (_, v) in inputs {
                match v {
                    Value::Tensor(t) => args.push(t.clone()),
                    _ => return Err(unknown(ctx, function, &name, span)),
                }
            }
        }
    }
    if outputs.is_empty() && WITHOUT_RESULT.contains(&name.as_str()) {
        print(ctx, &name, &args, span);
        return Ok(Some(Vec::new()));
    }
    if let Some(body) = mathematical(ctx, &name, &args)
        && let [output] = outputs.as_slice()
    {
        let ty = ctx.primitive_type(*output).unwrap_or(Type::Real);
        return Ok(Some(vec![Value::Tensor(Tensor::scalar(ty, body))]));
    }
    if external_text::is_known(&name) {
        let values = external_text::call(ctx, &written, &name, &args, span)?;
        return Ok(Some(declared_order(&outputs, &written, values)));
    }
    let Some(native) = Native::from_name(&name) else {
        return Err(unknown(ctx, function, &name, span));
    };
    let mut external = External {
        native,
        texts: Vec::new(),
        shapes: Vec::new(),
    };
    let mut scalars = Vec::new();
    for t in &args {
        if t.ty == Type::String {
            external.texts.push(text(ctx, t, &name, span)?);
        } else {
            external.shapes.push(t.dims.clone());
            scalars.extend(t.elements(&mut ctx.exprs));
        }
    }
    let mut shapes = Vec::with_capacity(written.len());
    for &output in &written {
        let ty = ctx.primitive_type(output).unwrap_or(Type::Real);
        let sizes = bind::sizes(ctx, &locals, output)?;
        let sizes: Option<Vec<usize>> = sizes.into_iter().collect();
        let sizes = sizes.ok_or_else(|| {
            let output = ctx.instances.data(output).name;
            let message = format!("the size of the output `{output}` of the external function `{name}` is not known before the call");
            error("unknown-size", span, message).hint("declare it by the sizes of the inputs, such as `y[size(u, 1)]`")
        })?;
        shapes.push((ty, sizes));
    }
    let values = elements(ctx, function, external, &scalars, &shapes, span)?;
    Ok(Some(declared_order(&outputs, &written, values)))
}

/// The output of the function that a reference in an external call names.
fn one_of(ctx: &Context, r: &ComponentRef, outputs: &[InstId]) -> Option<InstId> {
    let name = r.as_ident()?.name;
    let mut outputs = outputs.iter().copied();
    outputs.find(|&o| ctx.instances.data(o).name == name)
}

/// Values in the order of the declarations of their outputs.
fn declared_order(outputs: &[InstId], written: &[InstId], values: Vec<Value>) -> Vec<Value> {
    let mut pairs: Vec<(InstId, Value)> = written.iter().copied().zip(values).collect();
    pairs.sort_by_key(|p| outputs.iter().position(|o| *o == p.0));
    pairs.into_iter().map(|p| p.1).collect()
}

/// The outputs of a native function: literals if its arguments are constants, calls at run time otherwise. A constructor with constant
/// arguments is evaluated too, so that what is wrong with a table is said now, but called again by each simulation.
fn elements(
    ctx: &mut Context,
    function: InstId,
    external: External,
    args: &[ExprId],
    shapes: &[(Type, Vec<usize>)],
    span: Span,
) -> Result<Vec<Value>> {
    let args: Vec<ExprId> = args.iter().map(|&a| fold(ctx, a)).collect();
    let numbers: Option<Vec<f64>> = args.iter().map(|&a| number(ctx, a)).collect();
    let count = shapes.iter().map(|s| s.1.iter().product::<usize>()).sum();
    let mut scalars: Vec<Option<f64>> = vec![None; count];
    if let Some(numbers) = numbers {
        let objects = &ctx.function_state.objects;
        let values = external.evaluate(&numbers, objects).map_err(|message| {
            let name = ctx.instances.class_name(function);
            error("function-error", span, format!("{name}: {message}"))
        })?;
        if !external.native.is_constructor() {
            scalars = (0..count).map(|k| values.get(k).copied()).collect();
        }
    }
    let func = match scalars.iter().all(|s| s.is_some()) {
        true => None,
        false => Some(register(ctx, function, external, args.len(), count)),
    };
    let mut position = 0;
    let mut values = Vec::with_capacity(shapes.len());
    for (ty, dims) in shapes {
        let mut list = Vec::new();
        for _ in 0..dims.iter().product::<usize>() {
            list.push(match (scalars[position], func) {
                (Some(v), _) => literal_of(ctx, *ty, v),
                (None, Some(func)) => apply(ctx, func, &args, position as u32, ty.ty()),
                (None, None) => ctx.exprs.real(f64::NAN),
            });
            position += 1;
        }
        values.push(Value::Tensor(Tensor::from_elements(
            &mut ctx.exprs,
            *ty,
            dims,
            &list,
        )));
    }
    Ok(values)
}

/// The run-time function for a native one.
fn register(
    ctx: &mut Context,
    function: InstId,
    external: External,
    inputs: usize,
    outputs: usize,
) -> FuncId {
    let known = ctx.function_state.externals.iter();
    if let Some((_, func)) = known.clone().find(|(e, _)| *e == external) {
        return *func;
    }
    let func = FuncId(ctx.functions.len() as u32);
    ctx.functions.push(flat::Function {
        name: ctx.instances.class_name(function),
        inputs: inputs as u32,
        outputs: (0..outputs as u32).collect(),
        frame: inputs.max(outputs) as u32,
        unassigned: Vec::new(),
        body: Vec::new(),
        external: Some(external.clone()),
        span: ctx.instances.data(function).span,
    });
    ctx.function_state.externals.push((external, func));
    func
}

/// The value of a String argument.
pub(super) fn text(ctx: &mut Context, t: &Tensor, name: &str, span: Span) -> Result<String> {
    if t.is_scalar()
        && let Node::Str(s) = ctx.exprs.node(t.body)
    {
        return Ok(ctx.exprs.string(s).to_string());
    }
    let message =
        format!("the external function `{name}` needs its String arguments before the simulation");
    Err(Error::not_constant(span, message))
}

/// Functions that are operators of the expression language.
fn mathematical(ctx: &mut Context, name: &str, args: &[Tensor]) -> Option<ExprId> {
    let unary = UNARY.iter().find(|u| u.0 == name).map(|u| u.1);
    let binary = BINARY.iter().find(|b| b.0 == name).map(|b| b.1);
    if args.iter().any(|t| !t.is_scalar()) {
        return None;
    }
    match (args, unary, binary) {
        ([x], Some(f), _) => Some(ctx.exprs.call(f, &[x.body])),
        ([x, y], _, Some(f)) => Some(ctx.exprs.call(f, &[x.body, y.body])),
        ([x, y], ..) if name == "pow" => Some(ctx.exprs.pow(x.body, y.body)),
        _ => None,
    }
}

fn unknown(ctx: &Context, function: InstId, name: &str, span: Span) -> Error {
    let modelica = ctx.instances.class_name(function);
    let declared = ctx.instances.data(function).span;
    let message = format!("the external function `{name}` of {modelica} is not supported yet");
    Error::unsupported(span, message).label(declared, "declared here")
}
