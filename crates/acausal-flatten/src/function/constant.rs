//! Which values are constants, their literals and their numbers.
//!
//! An external object is constant if its constructor is called with constants, but it is no literal: the number of an object means
//! something to one simulation only ([`Objects`](acausal_expr::native::Objects)), and a compiled model is for any number of them. So the
//! call of the constructor stays an expression, and only what is read from the object is folded.

use acausal_expr::native::External;
use acausal_expr::{Builtin, ExprId, IterId, Node};

use crate::lower::{Context, Tensor, Value};

/// Constant arrays up to this length are written as lists of literals.
const SHORT: usize = 256;

/// True when no part of a value depends on variables.
pub fn is_constant(ctx: &Context, value: &Value) -> bool {
    let mut all = true;
    value.for_each_leaf(&mut Vec::new(), &mut |_, t| {
        all &= t.is_empty() || constant_body(ctx, t);
    });
    match value {
        Value::Function(f) => f.bound.iter().all(|(_, v)| is_constant(ctx, v)),
        _ => all,
    }
}

fn constant_body(ctx: &Context, t: &Tensor) -> bool {
    let mut bound: Vec<IterId> = t.iters.clone();
    let nodes = ctx.exprs.reachable(&[t.body]);
    for &n in &nodes {
        if let Node::Reduce { iter, .. } = ctx.exprs.node(n) {
            bound.push(iter);
        }
    }
    nodes.iter().all(|&n| match ctx.exprs.node(n) {
        Node::Var(_) | Node::Time | Node::Local { .. } => false,
        Node::Apply { .. } => constructor(ctx, n).is_some(),
        Node::Iter(i) => bound.contains(&i),
        Node::Call(f, _) => !matches!(
            f,
            Builtin::Initial
                | Builtin::Terminal
                | Builtin::Sample
                | Builtin::Delay
                | Builtin::Spatial
                | Builtin::Edge
                | Builtin::Change
                | Builtin::Start
                | Builtin::Unassigned
        ),
        _ => true,
    })
}

/// The function of a call that constructs an external object.
fn constructor(ctx: &Context, call: ExprId) -> Option<&External> {
    let Node::Apply { func, .. } = ctx.exprs.node(call) else {
        return None;
    };
    let external = ctx.functions.get(func.0 as usize)?.external.as_ref()?;
    external.native.is_constructor().then_some(external)
}

/// The number of a constant argument of a call that is evaluated now. That of an external object is its number among those of
/// the compiler and must not get into the model.
pub fn number(ctx: &mut Context, e: ExprId) -> Option<f64> {
    let e = fold(ctx, e);
    let literal = |e: ExprId| {
        let boolean = ctx.exprs.as_bool(e).map(|b| b as u8 as f64);
        ctx.exprs.as_f64(e).or(boolean)
    };
    match (ctx.exprs.node(e), constructor(ctx, e)) {
        (Node::Apply { args, .. }, Some(external)) => {
            let args = ctx.exprs.list(args).iter().map(|&a| literal(a));
            let args: Vec<f64> = args.collect::<Option<_>>()?;
            // One that cannot be made is reported by the simulation that constructs it.
            let made = external.evaluate(&args, &ctx.function_state.objects);
            made.ok()?.first().copied()
        }
        _ => literal(e),
    }
}

/// A literal in place of a constant scalar expression; other expressions stay.
pub fn fold(ctx: &mut Context, e: ExprId) -> ExprId {
    if matches!(
        ctx.exprs.node(e),
        Node::Int(_) | Node::Real(_) | Node::Bool(_) | Node::Str(_)
    ) {
        return e;
    }
    match ctx.exprs.evaluate(e, |_, _, _| None) {
        Ok(acausal_expr::ScalarValue::Real(v)) => ctx.exprs.real(v),
        Ok(acausal_expr::ScalarValue::Int(v)) => ctx.exprs.int(v),
        Ok(acausal_expr::ScalarValue::Bool(v)) => ctx.exprs.bool(v),
        _ => e,
    }
}

/// Literals in place of the elements of a constant array that would be computed again and again.
pub fn fold_tensor(ctx: &mut Context, t: Tensor) -> Tensor {
    if matches!(
        ctx.exprs.node(t.body),
        Node::Int(_) | Node::Real(_) | Node::Bool(_) | Node::Str(_) | Node::Iter(_) | Node::Var(_)
    ) {
        return t;
    }
    let computed = ctx.exprs.any(t.body, |x, n| {
        matches!(
            x.node(n),
            Node::Smooth(..)
                | Node::NoEvent(_)
                | Node::Reduce { .. }
                | Node::Call(..)
                | Node::If(..)
        )
    });
    if !computed || t.len() > SHORT || t.is_empty() || !constant_body(ctx, &t) {
        return t;
    }
    let elements: Vec<ExprId> = t
        .elements(&mut ctx.exprs)
        .into_iter()
        .map(|e| fold(ctx, e))
        .collect();
    Tensor::from_elements(&mut ctx.exprs, t.ty, &t.dims, &elements)
}

/// The text of a String literal, or a remark that it is not known yet.
pub fn literal_text(ctx: &Context, e: ExprId) -> String {
    match ctx.exprs.node(e) {
        Node::Str(s) => ctx.exprs.string(s).to_string(),
        _ => "(the message is known at run time only)".to_string(),
    }
}
