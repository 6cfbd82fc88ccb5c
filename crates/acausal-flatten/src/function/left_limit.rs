//! `pre(v)`, `edge(v)` and `change(v)` in algorithm sections.
//!
//! While an algorithm is executed, `v` stands for the value assigned so far; these operators ask about the variable
//! itself. They are lowered in the model's own environment, and the result is bound to a name that no source text can
//! contain, which takes the place of the call.

use acausal_base::Name;
use acausal_syntax::ast::{Call, Callee, Expr, ExprKind};

use super::rewrite::{named, rewrite};
use crate::lower::{Context, Env, Result};

/// Replaces the calls in an expression and binds their values as iterators of `env`; `None` if there are none. The
/// caller removes them from `env.loops` after use.
pub fn bind(ctx: &mut Context, env: &mut Env<'_>, e: &Expr) -> Result<Option<Expr>> {
    if !mentions(e) {
        return Ok(None);
    }
    rewrite(e, &mut |e| bound(ctx, env, e)).map(Some)
}

fn is_left_limit(call: &Call) -> bool {
    match &call.function {
        Callee::Ref(r) => r
            .as_ident()
            .is_some_and(|name| matches!(name.as_str(), "pre" | "edge" | "change")),
        _ => false,
    }
}

/// True when such a call occurs outside of comprehensions.
fn mentions(e: &Expr) -> bool {
    let mut stack = vec![e];
    while let Some(e) = stack.pop() {
        match &e.kind {
            ExprKind::Call(call) if is_left_limit(call) => return true,
            ExprKind::Call(call) => {
                stack.extend(&call.args);
                stack.extend(call.named.iter().map(|n| &n.value));
            }
            ExprKind::Chain(first, rest) => {
                stack.push(first);
                stack.extend(rest.iter().map(|r| &r.1));
            }
            ExprKind::Binary(_, a, b) => stack.extend([&**a, &**b]),
            ExprKind::Unary(_, a) | ExprKind::Field(a, _) => stack.push(a),
            ExprKind::If {
                branches,
                otherwise,
            } => {
                stack.push(otherwise);
                stack.extend(branches.iter().flat_map(|b| [&b.0, &b.1]));
            }
            ExprKind::Array(members) => stack.extend(members),
            ExprKind::Matrix(rows) => stack.extend(rows.iter().flatten()),
            ExprKind::Index(a, subs) => {
                stack.push(a);
                stack.extend(subs);
            }
            _ => {}
        }
    }
    false
}

/// Binds the value of a call to a name.
fn bound(ctx: &mut Context, env: &mut Env<'_>, e: &Expr) -> Result<Option<Expr>> {
    match &e.kind {
        ExprKind::Call(call) if is_left_limit(call) => {
            let value = ctx.expr(env, e)?;
            let name = Name::new(&format!("$left{}", env.loops.len()));
            env.loops.push((name, value));
            Ok(Some(named(name, e.span)))
        }
        _ => Ok(None),
    }
}
