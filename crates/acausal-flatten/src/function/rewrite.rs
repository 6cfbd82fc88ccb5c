//! Expressions of the syntax tree with some of their parts replaced by names.

use acausal_base::{Name, Span};
use acausal_syntax::ast::{Call, ComponentRef, Expr, ExprKind, Ident, NamedArg, RefPart};

use crate::lower::Result;

/// Rebuilds an expression, from the outside, with everything replaced for which `replace` gives something. What stands under iterators of its own or in
/// subscripts of a name is left alone. Recursion is over the nesting of the expression, which the parser bounds.
pub(super) fn rewrite(
    e: &Expr,
    replace: &mut dyn FnMut(&Expr) -> Result<Option<Expr>>,
) -> Result<Expr> {
    if let Some(other) = replace(e)? {
        return Ok(other);
    }
    let mut list =
        |es: &[Expr]| -> Result<Vec<Expr>> { es.iter().map(|e| rewrite(e, replace)).collect() };
    let kind = match &e.kind {
        ExprKind::Call(call) if call.indices.is_empty() => {
            let args = list(&call.args)?;
            let mut named = Vec::with_capacity(call.named.len());
            for n in &call.named {
                let value = rewrite(&n.value, replace)?;
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
            let first = rewrite(first, replace)?;
            let mut out = Vec::with_capacity(rest.len());
            for (op, e) in rest {
                out.push((*op, rewrite(e, replace)?));
            }
            ExprKind::Chain(Box::new(first), out)
        }
        ExprKind::Binary(op, a, b) => {
            let a = rewrite(a, replace)?;
            ExprKind::Binary(*op, Box::new(a), Box::new(rewrite(b, replace)?))
        }
        ExprKind::Unary(op, a) => ExprKind::Unary(*op, Box::new(rewrite(a, replace)?)),
        ExprKind::Field(a, name) => ExprKind::Field(Box::new(rewrite(a, replace)?), name.clone()),
        ExprKind::If {
            branches,
            otherwise,
        } => {
            let mut out = Vec::with_capacity(branches.len());
            for (c, v) in branches {
                out.push((rewrite(c, replace)?, rewrite(v, replace)?));
            }
            let otherwise = Box::new(rewrite(otherwise, replace)?);
            ExprKind::If {
                branches: out,
                otherwise,
            }
        }
        ExprKind::Array(members) => ExprKind::Array(list(members)?),
        ExprKind::Matrix(rows) => {
            let rows: Result<Vec<Vec<Expr>>> = rows.iter().map(|row| list(row)).collect();
            ExprKind::Matrix(rows?)
        }
        ExprKind::Index(a, subs) => {
            let subs = list(subs)?;
            ExprKind::Index(Box::new(rewrite(a, replace)?), subs)
        }
        other => other.clone(),
    };
    Ok(Expr::new(kind, e.span))
}

/// A reference to a name, which may be one that no source text can contain.
pub(super) fn named(name: Name, span: Span) -> Expr {
    Expr::new(ExprKind::Ref(reference(name, span)), span)
}

/// The same as the target of an assignment.
pub(super) fn reference(name: Name, span: Span) -> ComponentRef {
    let part = RefPart {
        name: Ident::new(name, span),
        subscripts: acausal_base::ThinVec::default(),
        span,
    };
    ComponentRef {
        global: false,
        parts: vec![part],
        span,
    }
}
