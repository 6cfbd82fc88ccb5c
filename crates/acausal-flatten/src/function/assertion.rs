//! The arguments of `assert(condition, message, level)` (MLS 3.6 §8.3.7).

use acausal_expr::ExprId;
use acausal_expr::flat::AssertionLevel;
use acausal_syntax::ast::{Call, ComponentRef, Expr, ExprKind};

use crate::lower::{Context, Env, ErrorKind, Result, Type, error};

/// A lowered assertion.
#[derive(Clone, Copy, Debug)]
pub struct Assertion {
    /// Must hold.
    pub condition: ExprId,
    /// A String expression.
    pub message: ExprId,
    /// What its failure means.
    pub level: AssertionLevel,
}

/// Lowers the arguments of an `assert`.
pub fn assertion(ctx: &mut Context, env: &Env<'_>, call: &Call) -> Result<Assertion> {
    let named = |name: &str| {
        call.named
            .iter()
            .find(|n| n.name.as_str() == name)
            .map(|n| &n.value)
    };
    let argument = |k: usize, name: &str| call.args.get(k).or_else(|| named(name));
    let (Some(condition), Some(message)) = (argument(0, "condition"), argument(1, "message"))
    else {
        let text = "`assert` takes a condition, a message and optionally a level";
        return Err(error("argument-count", call.span, text));
    };
    let condition = ctx.scalar(env, condition, Type::Boolean)?;
    let message = match ctx.scalar(env, message, Type::String) {
        Ok(text) => text,
        // The values in a message may be known at run time only; the assertion stands without them.
        Err(failed)
            if matches!(
                failed.kind(),
                ErrorKind::NotConstant | ErrorKind::Unsupported
            ) =>
        {
            let text = literals(message).join("...");
            ctx.exprs.str(&text)
        }
        Err(failed) => return Err(failed),
    };
    let warning = argument(2, "level").is_some_and(|level| match &level.kind {
        ExprKind::Ref(r) => r.parts.last().is_some_and(|p| p.name.as_str() == "warning"),
        _ => false,
    });
    Ok(Assertion {
        condition,
        message,
        level: if warning {
            AssertionLevel::Warning
        } else {
            AssertionLevel::Error
        },
    })
}

/// The literal pieces of a message, in order.
fn literals(message: &Expr) -> Vec<String> {
    match &message.kind {
        ExprKind::Str(s) => vec![s.to_string()],
        ExprKind::Chain(first, rest) => {
            let parts = std::iter::once(&**first).chain(rest.iter().map(|r| &r.1));
            parts.flat_map(literals).collect()
        }
        _ => Vec::new(),
    }
}

/// A reference as written, without its subscripts.
pub fn plain_text(r: &ComponentRef) -> String {
    let parts: Vec<&str> = r.parts.iter().map(|p| p.name.as_str()).collect();
    parts.join(".")
}
