//! Which loops have independent rounds, by their text alone.
//!
//! Every assigned array must occur at the same subscripts everywhere in the body, each iterator being exactly one of
//! them; nothing but assignments to such elements and `if` may occur. Then no round reads what another one writes.
//! A scalar may be summed up, `s := s + e`, if the body does not use it otherwise.

use acausal_base::Name;
use acausal_syntax::ast::{BinOp, ComponentRef, Expr, ExprKind, Statement, StatementKind};

/// The arrays that a body assigns, with their subscripts, if its rounds do not depend on each other. A scalar that is
/// summed up has no subscripts.
pub(super) fn independent(
    iterators: &[Name],
    body: &[Statement],
) -> Option<Vec<(Name, Vec<Expr>)>> {
    let mut targets: Vec<(Name, Vec<Expr>)> = Vec::new();
    let mut expressions: Vec<&Expr> = Vec::new();
    let mut stack: Vec<&Statement> = body.iter().rev().collect();
    while let Some(s) = stack.pop() {
        match &s.kind {
            StatementKind::Assign { target, value } => {
                let [part] = target.parts.as_slice() else {
                    return None;
                };
                let once =
                    |n: &Name| part.subscripts.iter().filter(|e| is_name(e, *n)).count() == 1;
                let sum = part.subscripts.is_empty();
                if target.global || !sum && !iterators.iter().all(once) {
                    return None;
                }
                match targets.iter().find(|t| t.0 == part.name.name) {
                    Some(t) if *t.1 == *part.subscripts => {}
                    Some(_) => return None,
                    None => targets.push((part.name.name, part.subscripts.to_vec())),
                }
                match &value.kind {
                    _ if !sum => expressions.push(value),
                    ExprKind::Chain(first, rest)
                        if is_name(first, part.name.name)
                            && rest.iter().all(|r| matches!(r.0, BinOp::Add | BinOp::Sub)) =>
                    {
                        expressions.extend(rest.iter().map(|r| &r.1));
                    }
                    _ => return None,
                }
            }
            StatementKind::If {
                branches,
                otherwise,
            } => {
                for (c, b) in branches {
                    expressions.push(c);
                    stack.extend(b);
                }
                stack.extend(otherwise);
            }
            _ => return None,
        }
    }
    // Fixed subscripts must not change from round to round.
    for (_, subscripts) in &targets {
        for s in subscripts
            .iter()
            .filter(|s| !iterators.iter().any(|n| is_name(s, *n)))
        {
            if !matches!(s.kind, ExprKind::Integer(_)) {
                return None;
            }
        }
    }
    while let Some(e) = expressions.pop() {
        if let ExprKind::Ref(r) = &e.kind {
            let first = &r.parts[0];
            if let Some(t) = targets.iter().find(|t| t.0 == first.name.name) {
                if r.parts.len() != 1 || *first.subscripts != *t.1 || t.1.is_empty() {
                    return None;
                }
                continue;
            }
        }
        if !children(e, &mut expressions) {
            return None;
        }
    }
    Some(targets)
}

/// The direct parts of an expression; false for forms that bind names of their own.
fn children<'e>(e: &'e Expr, out: &mut Vec<&'e Expr>) -> bool {
    match &e.kind {
        ExprKind::Ref(r) => out.extend(r.parts.iter().flat_map(|p| &p.subscripts)),
        ExprKind::Chain(first, rest) => {
            out.push(first);
            out.extend(rest.iter().map(|r| &r.1));
        }
        ExprKind::Binary(_, a, b) => out.extend([&**a, &**b]),
        ExprKind::Unary(_, a) | ExprKind::Field(a, _) => out.push(a),
        ExprKind::If {
            branches,
            otherwise,
        } => {
            out.push(otherwise);
            out.extend(branches.iter().flat_map(|b| [&b.0, &b.1]));
        }
        ExprKind::Call(call) => {
            if !call.indices.is_empty() {
                return false;
            }
            out.extend(&call.args);
            out.extend(call.named.iter().map(|n| &n.value));
        }
        ExprKind::Array(members) => out.extend(members),
        ExprKind::Matrix(rows) => out.extend(rows.iter().flatten()),
        ExprKind::Range { start, step, stop } => {
            out.extend([&**start, &**stop]);
            out.extend(step.as_deref());
        }
        ExprKind::Index(a, subs) => {
            out.push(a);
            out.extend(subs);
        }
        ExprKind::Tuple(members) => out.extend(members.iter().flatten()),
        ExprKind::PartialApplication(_) | ExprKind::ArrayFor { .. } => return false,
        ExprKind::Real(_) | ExprKind::Integer(_) | ExprKind::Str(_) | ExprKind::Bool(_) => {}
        ExprKind::End | ExprKind::Colon | ExprKind::Error => {}
    }
    true
}

/// True when an expression is this name and nothing else.
pub(super) fn is_name(e: &Expr, name: Name) -> bool {
    e.as_component_ref()
        .and_then(ComponentRef::as_ident)
        .is_some_and(|i| i.name == name)
}
