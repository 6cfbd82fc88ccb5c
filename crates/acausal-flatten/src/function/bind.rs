//! Arguments to inputs (MLS 3.6 §12.4): by position, by name, by default; element by element for arrays.
//!
//! An argument with more dimensions than its input asks for the function to be applied to every element (MLS 3.6
//! §12.4.6). Because arrays are comprehensions this is one call: the arguments are taken at new iterators, which become
//! dimensions of the result.

use acausal_base::Span;
use acausal_expr::{IterId, Range};
use acausal_syntax::ast::CausalityPrefix;

use crate::lower::error;
use crate::lower::{
    Arguments, Context, Env, Locals, Record, Result, Subscript, Tensor, Type, Value,
};
use acausal_instance::instance::{InstId, InstanceKind, Scope};

/// The inputs of a call.
pub struct Bound {
    /// Values by input, in order of declaration.
    pub inputs: Vec<(InstId, Value)>,
    /// Iterators over the elements that the function is applied to.
    over: Vec<(IterId, usize)>,
}

impl Bound {
    /// The iterators over the elements, with their ranges.
    pub fn ranges(&self) -> Vec<(IterId, Range)> {
        self.over
            .iter()
            .map(|&(k, n)| (k, Range::upto(n)))
            .collect()
    }

    /// The result for all elements.
    pub fn vectorised(&self, value: Value) -> Value {
        if let Value::Tuple(values) = value {
            return Value::Tuple(values.into_iter().map(|v| self.vectorised(v)).collect());
        }
        self.over
            .iter()
            .rev()
            .fold(value, |v, &(k, n)| prepend(v, k, n))
    }
}

/// A new first dimension of size `n`, along which the value follows the iterator `k`.
fn prepend(value: Value, k: IterId, n: usize) -> Value {
    match value {
        Value::Tensor(mut t) => {
            t.dims.insert(0, n);
            t.iters.insert(0, k);
            Value::Tensor(t)
        }
        Value::Record(mut r) => {
            r.dims.insert(0, n);
            r.fields = r
                .fields
                .into_iter()
                .map(|(name, v)| (name, prepend(v, k, n)))
                .collect();
            Value::Record(r)
        }
        other => other,
    }
}

/// The inputs of a function, in order of declaration.
pub fn inputs(ctx: &mut Context, function: InstId) -> Vec<InstId> {
    with_causality(ctx, function, CausalityPrefix::Input)
}

/// The outputs of a function, in order of declaration.
pub fn outputs(ctx: &mut Context, function: InstId) -> Vec<InstId> {
    with_causality(ctx, function, CausalityPrefix::Output)
}

fn with_causality(ctx: &mut Context, function: InstId, causality: CausalityPrefix) -> Vec<InstId> {
    let mut list = ctx.instances.components(function);
    list.retain(|&c| ctx.instances.data(c).prefixes.causality == Some(causality));
    list
}

/// Gives every input its value.
pub fn bind(
    ctx: &mut Context,
    env: &Env<'_>,
    function: InstId,
    arguments: Arguments,
    span: Span,
) -> Result<Bound> {
    let inputs = inputs(ctx, function);
    let mut given: Vec<Option<(Value, Span)>> = vec![None; inputs.len()];
    let count = arguments.positional.len();
    for (k, (value, at)) in arguments.positional.into_iter().enumerate() {
        let Some(slot) = given.get_mut(k) else {
            let name = ctx.instances.class_name(function);
            let message = format!(
                "{name} has {} inputs, but {count} arguments are given",
                inputs.len()
            );
            return Err(error("argument-count", at, message));
        };
        *slot = Some((value, at));
    }
    for (name, value, at) in arguments.named {
        let Some(k) = inputs
            .iter()
            .position(|&i| ctx.instances.data(i).name == name)
        else {
            let f = ctx.instances.class_name(function);
            let known: Vec<&str> = inputs
                .iter()
                .map(|&i| ctx.instances.data(i).name.as_str())
                .collect();
            return Err(
                error("unknown-argument", at, format!("{f} has no input `{name}`"))
                    .note(format!("its inputs are {}", known.join(", "))),
            );
        };
        if given[k].is_some() {
            return Err(error(
                "argument-twice",
                at,
                format!("`{name}` is given twice"),
            ));
        }
        given[k] = Some((value, at));
    }
    let over = vectorise(ctx, function, &inputs, &mut given)?;
    let inputs = values(ctx, env, function, &inputs, given, span)?;
    Ok(Bound { inputs, over })
}

/// Takes arguments with more dimensions than their inputs element by element.
fn vectorise(
    ctx: &mut Context,
    function: InstId,
    inputs: &[InstId],
    given: &mut [Option<(Value, Span)>],
) -> Result<Vec<(IterId, usize)>> {
    let mut over: Vec<(IterId, usize)> = Vec::new();
    for (&input, slot) in inputs.iter().zip(given) {
        let Some((value, at)) = slot else { continue };
        let rank = ctx.instances.data(input).rank as usize;
        let dims = value.dims();
        if matches!(value, Value::Function(_) | Value::Tuple(_)) || dims.len() <= rank {
            continue;
        }
        let extra: Vec<usize> = dims[..dims.len() - rank].to_vec();
        if over.is_empty() {
            over = extra
                .iter()
                .map(|&n| (ctx.iterator(None, Range::upto(n)), n))
                .collect();
        } else if over.iter().map(|o| o.1).ne(extra.iter().copied()) {
            let name = ctx.instances.class_name(function);
            let first: Vec<usize> = over.iter().map(|o| o.1).collect();
            let message = format!(
                "{name} is applied element by element, but this argument has {extra:?} elements and another {first:?}"
            );
            return Err(error("size-mismatch", *at, message));
        }
        let subs: Vec<Subscript> = over
            .iter()
            .map(|o| Subscript::Element(ctx.exprs.iter(o.0)))
            .collect();
        *value = value.index(&mut ctx.exprs, &subs);
    }
    Ok(over)
}

/// Checks given values, and computes defaults from what is there already.
fn values(
    ctx: &mut Context,
    env: &Env<'_>,
    function: InstId,
    inputs: &[InstId],
    given: Vec<Option<(Value, Span)>>,
    span: Span,
) -> Result<Vec<(InstId, Value)>> {
    let mut locals = Locals::default();
    // Sizes of one input may refer to any other, so all given values are there before sizes are checked.
    for (&input, slot) in inputs.iter().zip(&given) {
        if let Some((value, _)) = slot {
            locals.insert(input, value.clone());
        }
    }
    let mut out = Vec::with_capacity(inputs.len());
    for (&input, slot) in inputs.iter().zip(given) {
        let name = ctx.instances.data(input).name;
        let (value, at) = match slot {
            Some(given) => given,
            None => {
                let Some(binding) = ctx.instances.binding(input) else {
                    let f = ctx.instances.class_name(function);
                    let declared = ctx.instances.data(input).span;
                    let message =
                        format!("the input `{name}` of {f} is not given and has no default");
                    return Err(
                        error("missing-argument", span, message).label(declared, "declared here")
                    );
                };
                let inner = Env::function(binding.scope, &locals, env.evaluate);
                (ctx.expr(&inner, &binding.expr)?, span)
            }
        };
        let what = format!(
            "the input `{name}` of {}",
            ctx.instances.class_name(function)
        );
        let value = fit(ctx, &locals, input, value, at, &what)?;
        let value = structural(ctx, value);
        locals.insert(input, value.clone());
        out.push((input, value));
    }
    Ok(out)
}

/// An Integer argument made of parameters is replaced by its value: sizes and loops of the function depend on it.
fn structural(ctx: &mut Context, value: Value) -> Value {
    match &value {
        Value::Tensor(t) if t.ty == Type::Integer && t.is_scalar() => {
            if ctx.exprs.as_int(t.body).is_some() || ctx.exprs.accesses(t.body).is_empty() {
                return value;
            }
            // A parameter without a value stays a variable; whoever needs its value reports it.
            match ctx.with_known_parameters(t.body) {
                Ok(body) if ctx.exprs.as_int(body).is_some() => Value::scalar(t.ty, body),
                _ => value,
            }
        }
        _ => value,
    }
}

/// Checks that a value fits a variable of a function, converting Integer to Real.
pub fn fit(
    ctx: &mut Context,
    locals: &Locals,
    variable: InstId,
    value: Value,
    span: Span,
    what: &str,
) -> Result<Value> {
    let value = match value {
        Value::Tuple(values) => match values.into_iter().next() {
            Some(first) => first,
            None => return Err(error("no-value", span, format!("{what} gets no value"))),
        },
        other => other,
    };
    if let Some(ty) = ctx.primitive_type(variable) {
        let t = ctx.as_tensor(value, span)?;
        let declared = sizes(ctx, locals, variable)?;
        let dims: Vec<usize> = declared
            .into_iter()
            .enumerate()
            .map(|(d, n)| n.or(t.dims.get(d).copied()).unwrap_or(0))
            .collect();
        return Ok(Value::Tensor(convert(ctx, t, ty, &dims, span, what)?));
    }
    match (&value, ctx.instances.kind(variable)) {
        (Value::Record(r), InstanceKind::Record { .. } | InstanceKind::Connector { .. }) => {
            let rank = ctx.instances.data(variable).rank as usize;
            let fields = ctx.instances.components(variable);
            if r.dims.len() == rank {
                return by_field(ctx, &fields, &value, span, what);
            }
        }
        (Value::Function(_), InstanceKind::Function) => return Ok(value),
        _ => {}
    }
    let found = ctx.describe(&value);
    let class = ctx.instances.class_name(variable);
    Err(error(
        "type-mismatch",
        span,
        format!("{what} is a {class}, but this is {found}"),
    ))
}

/// The fields that a record type declares, taken from a value by name.
fn by_field(
    ctx: &mut Context,
    fields: &[InstId],
    value: &Value,
    span: Span,
    what: &str,
) -> Result<Value> {
    let Value::Record(r) = value else {
        return Ok(value.clone());
    };
    let mut out = Vec::with_capacity(fields.len());
    for &field in fields {
        let name = ctx.instances.data(field).name;
        let Some(v) = value.field(name) else {
            let found = ctx.describe(value);
            let message = format!("{what} needs the field `{name}`, but this is {found}");
            return Err(error("type-mismatch", span, message));
        };
        let v = match (v, ctx.primitive_type(field)) {
            (Value::Tensor(t), Some(ty)) => {
                let dims = t.dims.clone();
                let what = format!("the field `{name}` of {what}");
                Value::Tensor(convert(ctx, t.clone(), ty, &dims, span, &what)?)
            }
            (v @ Value::Record(_), None) => {
                let inner = ctx.instances.components(field);
                by_field(ctx, &inner, v, span, what)?
            }
            (v, _) => v.clone(),
        };
        out.push((name, v));
    }
    Ok(Value::Record(Record {
        class: r.class,
        dims: r.dims.clone(),
        fields: out,
    }))
}

/// Checks type and size; Integer literals become Real ones, so that the arena sees the right type.
pub fn convert(
    ctx: &mut Context,
    t: Tensor,
    ty: Type,
    dims: &[usize],
    span: Span,
    what: &str,
) -> Result<Tensor> {
    let t = ctx.expect(t, ty, dims, span, what)?;
    match (ty, ctx.exprs.as_int(t.body)) {
        (Type::Real, Some(i)) => {
            let body = ctx.exprs.real(i as f64);
            Ok(Tensor { body, ..t })
        }
        _ => Ok(t),
    }
}

/// Sizes of a variable of a function; `None` for `:`.
pub fn sizes(ctx: &mut Context, locals: &Locals, variable: InstId) -> Result<Vec<Option<usize>>> {
    let parent = ctx.instances.parent(variable).unwrap_or(InstId::GLOBAL);
    let env = Env::function(Scope::of(parent), locals, true);
    ctx.function_dims(&env, variable)
}
