//! Run-time functions: a function made special for the sizes of its arguments (and for constant Integer, Boolean, String
//! and function arguments, on which sizes and branches may depend).
//!
//! The result is a [`flat::Function`] whose frame holds the inputs, row by row, then everything else. A call becomes one
//! [`Node::Apply`](acausal_expr::Node::Apply) per scalar output. If all arguments are constants the function is run at
//! once: this is how long loops are evaluated at compile time.

use acausal_base::Span;
use acausal_expr::flat;
use acausal_expr::{ExprId, FuncId, FunctionError, Functions};

use super::constant::{is_constant, number};
use super::run_time::FunctionLowering;
use super::unassigned::placeholder;
use super::{MOST_NESTED, apply, called_here};
use crate::lower::{Context, FunctionValue, Record, Result, Tensor, Type, Value, error};
use acausal_instance::instance::InstId;

/// A run-time function and what it is special for.
#[derive(Clone, Debug)]
pub struct Specialised {
    function: InstId,
    key: Vec<Key>,
    func: FuncId,
    /// Outputs as variables of the frame, once they are declared; tells types and sizes.
    outputs: Option<Vec<Value>>,
}

/// What one argument contributes.
#[derive(Clone, Debug, PartialEq)]
enum Key {
    /// Passed at run time.
    Shape(Type, Vec<usize>),
    /// Part of the function.
    Baked(Value),
}

/// Calls a function through its run-time form.
pub fn call(
    ctx: &mut Context,
    evaluate: bool,
    function: InstId,
    inputs: &[(InstId, Value)],
    span: Span,
) -> Result<Vec<Value>> {
    let mut key = Vec::new();
    let mut args: Vec<ExprId> = Vec::new();
    for (_, value) in inputs {
        arguments(ctx, value, &mut key, &mut args);
    }
    let (func, outputs) = specialised(ctx, evaluate, function, inputs, key, span)?;
    let numbers: Option<Vec<f64>> = args.iter().map(|&a| number(ctx, a)).collect();
    let known = match numbers {
        Some(values) if !gives_object(&outputs) => Some(run(ctx, function, func, &values, span)?),
        _ => None,
    };
    let mut position = 0;
    let mut results = Vec::with_capacity(outputs.len());
    for output in &outputs {
        let value = output.map_leaves(&mut |t| {
            let mut elements = Vec::with_capacity(t.len());
            for _ in 0..t.len() {
                elements.push(match &known {
                    Some(values) => match values.get(position) {
                        Some(Some(value)) => literal_of(ctx, t.ty, *value),
                        _ => lacking(ctx, func, position as u32, t.ty),
                    },
                    None => apply(ctx, func, &args, position as u32, t.ty.ty()),
                });
                position += 1;
            }
            Tensor::from_elements(&mut ctx.exprs, t.ty, &t.dims, &elements)
        });
        results.push(value);
    }
    Ok(results)
}

/// An output that the run has not assigned.
fn lacking(ctx: &mut Context, func: FuncId, output: u32, ty: Type) -> ExprId {
    let name = ctx.functions[func.0 as usize].unassigned_output(output);
    let name = name.unwrap_or("an output").to_string();
    placeholder(ctx, &name, ty)
}

/// The number of an object is no constant.
fn gives_object(outputs: &[Value]) -> bool {
    let mut found = false;
    for output in outputs {
        output.for_each_leaf(&mut Vec::new(), &mut |_, t| found |= t.ty == Type::Object);
    }
    found
}

pub(crate) fn literal_of(ctx: &mut Context, ty: Type, v: f64) -> ExprId {
    match ty {
        Type::Integer | Type::Enum(_) => ctx.exprs.int(v.round() as i64),
        Type::Boolean => ctx.exprs.bool(v != 0.0),
        _ => ctx.exprs.real(v),
    }
}

fn run(
    ctx: &mut Context,
    function: InstId,
    func: FuncId,
    args: &[f64],
    span: Span,
) -> Result<Vec<Option<f64>>> {
    let compiled = Functions::compile(&ctx.exprs, &ctx.functions);
    let objects = ctx.function_state.objects.clone();
    compiled
        .and_then(|f| {
            let f = f.with_objects(objects);
            let values = f.run(func, args, &[])?.into_iter().enumerate();
            let assigned = |k: usize, v: f64| f.expect_assigned(func, k as u32, v).is_ok();
            Ok(values.map(|(k, v)| assigned(k, v).then_some(v)).collect())
        })
        .map_err(|failure| {
            let declared = ctx.instances.data(function).span;
            let message = error(failure_code(&failure), span, failure.to_string())
                .label(declared, "declared here");
            match hint(&failure) {
                Some(hint) => message.hint(hint),
                None => message,
            }
        })
}

fn failure_code(failure: &FunctionError) -> &'static str {
    match failure {
        FunctionError::Endless { .. } => "evaluation-steps",
        FunctionError::TooDeep { .. } => "endless-recursion",
        FunctionError::TooLarge { .. } => "too-large",
        FunctionError::Unassigned { .. } => "unassigned-output",
        _ => "function-error",
    }
}

fn hint(failure: &FunctionError) -> Option<&'static str> {
    match failure {
        FunctionError::Endless { .. } => {
            Some("if the loop does end, raise `--max-evaluation-steps`")
        }
        FunctionError::TooDeep { .. } => {
            Some("a recursion needs a case in which the function does not call itself")
        }
        FunctionError::TooLarge { .. } => Some("raise `--memory-limit`"),
        _ => None,
    }
}

/// True for values that become part of the function. An object would be constructed again at each call.
fn baked(ctx: &Context, t: &Tensor) -> bool {
    let passed = matches!(t.ty, Type::Real | Type::Object);
    t.ty == Type::String || !passed && is_constant(ctx, &Value::Tensor(t.clone()))
}

/// Splits an argument into what is passed and what is baked in.
fn arguments(ctx: &mut Context, value: &Value, key: &mut Vec<Key>, args: &mut Vec<ExprId>) {
    match value {
        Value::Tensor(t) if baked(ctx, t) => key.push(Key::Baked(value.clone())),
        Value::Tensor(t) => {
            key.push(Key::Shape(t.ty, t.dims.clone()));
            args.extend(t.elements(&mut ctx.exprs));
        }
        Value::Record(r) => r
            .fields
            .iter()
            .for_each(|(_, v)| arguments(ctx, v, key, args)),
        Value::Tuple(values) => values.iter().for_each(|v| arguments(ctx, v, key, args)),
        // The function itself is part of the program; what is bound to its inputs is passed like other arguments.
        Value::Function(f) => {
            let names = f.bound.iter().map(|(n, _)| (*n, Value::Tuple(Vec::new())));
            key.push(Key::Baked(Value::Function(FunctionValue {
                function: f.function,
                bound: names.collect(),
            })));
            for (_, v) in &f.bound {
                arguments(ctx, v, key, args);
            }
        }
    }
}

/// The inputs as the body sees them: variables of the frame, or the constants that are baked in.
fn parameters(lowering: &mut FunctionLowering<'_, '_>, value: &Value) -> Value {
    match value {
        Value::Tensor(t) if baked(lowering.ctx, t) => value.clone(),
        Value::Tensor(t) => Value::Tensor(lowering.variable(t.ty, &t.dims)),
        Value::Record(r) => {
            let fields = r
                .fields
                .iter()
                .map(|(n, v)| (*n, parameters(lowering, v)))
                .collect();
            Value::Record(Record {
                class: r.class,
                dims: r.dims.clone(),
                fields,
            })
        }
        Value::Function(f) => {
            let bound = f.bound.iter();
            Value::Function(FunctionValue {
                function: f.function,
                bound: bound.map(|(n, v)| (*n, parameters(lowering, v))).collect(),
            })
        }
        other => other.clone(),
    }
}

/// The run-time function for these arguments, made on first use; with its outputs.
fn specialised(
    ctx: &mut Context,
    evaluate: bool,
    function: InstId,
    inputs: &[(InstId, Value)],
    key: Vec<Key>,
    span: Span,
) -> Result<(FuncId, Vec<Value>)> {
    let name = ctx.instances.class_name(function);
    let known = ctx
        .function_state
        .specialised
        .iter()
        .find(|s| s.function == function && s.key == key);
    if let Some(s) = known {
        let Some(outputs) = &s.outputs else {
            let message = format!("{name} calls itself to compute a size or a default value");
            return Err(error("recursive-declaration", span, message));
        };
        return Ok((s.func, outputs.clone()));
    }
    let func = FuncId(ctx.functions.len() as u32);
    let declared = ctx.instances.data(function).span;
    // Integer arguments are part of the function, so a recursion that counts makes a new one each time.
    if ctx.function_state.active.len() >= MOST_NESTED {
        let message = format!(
            "{name} calls itself without end: more than {MOST_NESTED} calls inside of each other"
        );
        return Err(error("endless-recursion", span, message)
            .label(declared, "declared here")
            .hint("a recursion needs a case in which the function does not call itself"));
    }
    // The place is taken before the body is lowered, so that the body can call it.
    ctx.functions.push(flat::Function {
        name,
        inputs: 0,
        outputs: Vec::new(),
        frame: 0,
        unassigned: Vec::new(),
        body: Vec::new(),
        external: None,
        span: declared,
    });
    let entry = ctx.function_state.specialised.len();
    ctx.function_state.specialised.push(Specialised {
        function,
        key,
        func,
        outputs: None,
    });
    ctx.function_state.active.push(function);
    let pending = ctx.function_state.asserts.len();
    let printed = ctx.function_state.prints.len();
    // What fails in the body fails when it is called.
    ctx.function_state.conditional += 1;
    let result = build(ctx, evaluate, function, inputs, entry, span);
    ctx.function_state.conditional -= 1;
    // Assertions of calls that were inlined into the body are statements of it; what a failed attempt left cannot leave it.
    ctx.function_state.asserts.truncate(pending);
    ctx.function_state.prints.truncate(printed);
    ctx.function_state.active.pop();
    match result {
        Ok(built) => {
            ctx.functions[func.0 as usize] = built;
            let outputs = ctx.function_state.specialised[entry]
                .outputs
                .clone()
                .expect("a function that was built has outputs");
            Ok((func, outputs))
        }
        Err(message) => {
            // Not to be found again; the entry stays because later ones are counted.
            ctx.function_state.specialised[entry].key = vec![Key::Baked(Value::Tuple(Vec::new()))];
            Err(called_here(ctx, message, function, span))
        }
    }
}

fn build(
    ctx: &mut Context,
    evaluate: bool,
    function: InstId,
    inputs: &[(InstId, Value)],
    entry: usize,
    span: Span,
) -> Result<flat::Function> {
    let mut lowering = FunctionLowering::new(ctx, evaluate, function);
    for (input, value) in inputs {
        let value = parameters(&mut lowering, value);
        lowering.locals.insert(*input, value);
    }
    let scalars = lowering.frame;
    let outputs = lowering.declare(function, span)?;
    lowering.ctx.function_state.specialised[entry].outputs = Some(outputs.clone());
    lowering.sections(function)?;
    let mut slots = Vec::new();
    for output in &outputs {
        output.for_each_leaf(&mut Vec::new(), &mut |_, t| {
            if let Some((base, len)) = lowering.block(t) {
                slots.extend(base..base + len);
            }
        });
    }
    let (body, frame, unassigned) = lowering.finish();
    let name = ctx.instances.class_name(function);
    let declared = ctx.instances.data(function).span;
    Ok(flat::Function {
        name,
        inputs: scalars,
        outputs: slots,
        frame,
        unassigned,
        body,
        external: None,
        span: declared,
    })
}
