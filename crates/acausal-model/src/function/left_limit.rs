//! `pre(v)`, `edge(v)` and `change(v)` in algorithm sections.
//!
//! While an algorithm is executed, `v` stands for the value assigned so far; these operators ask about the variable
//! itself. They are lowered in the model's own environment, and the result is bound to a name that no source text can
//! contain, which takes the place of the call.

use acausal_syntax::Name;
use acausal_syntax::ast::{Call, Callee, ComponentRef, Expr, ExprKind, Ident, NamedArg, RefPart};

use crate::lower::{Context, Env, Result};

/// Replaces the calls in an expression and binds their values as iterators of `env`; `None` if there are none. The
/// caller removes them from `env.loops` after use.
pub fn bind(ctx: &mut Context, env: &mut Env<'_>, e: &Expr) -> Result<Option<Expr>> {
    if !mentions(e) {
        return Ok(None);
    }
    rewrite(ctx, env, e).map(Some)
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

/// Recursion is over the nesting of the expression, which the parser bounds.
fn rewrite(ctx: &mut Context, env: &mut Env<'_>, e: &Expr) -> Result<Expr> {
    let mut list = |ctx: &mut Context, es: &[Expr]| -> Result<Vec<Expr>> {
        es.iter().map(|e| rewrite(ctx, env, e)).collect()
    };
    let kind = match &e.kind {
        ExprKind::Call(call) if is_left_limit(call) => {
            let value = ctx.expr(env, e)?;
            let name = Name::new(&format!("$left{}", env.loops.len()));
            env.loops.push((name, value));
            let part = RefPart {
                name: Ident::new(name, e.span),
                subscripts: acausal_syntax::Few::default(),
                span: e.span,
            };
            ExprKind::Ref(ComponentRef {
                global: false,
                parts: vec![part],
                span: e.span,
            })
        }
        // The iterators of a reduction are not known here.
        ExprKind::Call(call) if call.indices.is_empty() => {
            let args = list(ctx, &call.args)?;
            let mut named = Vec::with_capacity(call.named.len());
            for n in &call.named {
                let value = rewrite(ctx, env, &n.value)?;
                named.push(NamedArg {
                    name: n.name.clone(),
                    value,
                    span: n.span,
                });
            }
            ExprKind::Call(Box::new(Call {
                args,
                named,
                ..(**call).clone()
            }))
        }
        ExprKind::Chain(first, rest) => {
            let first = rewrite(ctx, env, first)?;
            let mut out = Vec::with_capacity(rest.len());
            for (op, e) in rest {
                out.push((*op, rewrite(ctx, env, e)?));
            }
            ExprKind::Chain(Box::new(first), out)
        }
        ExprKind::Binary(op, a, b) => {
            let a = rewrite(ctx, env, a)?;
            ExprKind::Binary(*op, Box::new(a), Box::new(rewrite(ctx, env, b)?))
        }
        ExprKind::Unary(op, a) => ExprKind::Unary(*op, Box::new(rewrite(ctx, env, a)?)),
        ExprKind::Field(a, name) => ExprKind::Field(Box::new(rewrite(ctx, env, a)?), name.clone()),
        ExprKind::If {
            branches,
            otherwise,
        } => {
            let mut out = Vec::with_capacity(branches.len());
            for (c, v) in branches {
                out.push((rewrite(ctx, env, c)?, rewrite(ctx, env, v)?));
            }
            let otherwise = Box::new(rewrite(ctx, env, otherwise)?);
            ExprKind::If {
                branches: out,
                otherwise,
            }
        }
        ExprKind::Array(members) => ExprKind::Array(list(ctx, members)?),
        ExprKind::Matrix(rows) => {
            let rows: Result<Vec<Vec<Expr>>> = rows.iter().map(|row| list(ctx, row)).collect();
            ExprKind::Matrix(rows?)
        }
        ExprKind::Index(a, subs) => {
            let subs = list(ctx, subs)?;
            ExprKind::Index(Box::new(rewrite(ctx, env, a)?), subs)
        }
        other => other.clone(),
    };
    Ok(Expr::new(kind, e.span))
}
