//! Variables of functions that have no value yet (MLS 3.6 §12.4.4): who uses one gets an error, now or at run time.
//!
//! While a function is executed symbolically, an output or protected variable without a binding holds [`Builtin::Unassigned`], which says what it is
//! called. Assignments replace it, element by element where they do that; branches keep it on the ways that do not assign. What is left of it in a value
//! when a call is done is asked one question: *when is it reached?* ([`Reach`]), with branches that are not taken left out. Never: that is all. Always: an
//! error. Otherwise an assertion of the call says that it is not reached, and a zero takes its place behind it.
//!
//! Example: `if x > 0 then y := x; end if` leaves `if x > 0 then x else unassigned`, which is reached if `not x > 0`; the assertion is `x > 0`.
//!
//! Run-time functions have a frame instead, whose numbers tell by themselves whether they were assigned
//! ([`flat::Unassigned`](acausal_expr::flat::Unassigned)).
//!
//! Cost: an expression that was found to be free of unassigned variables is not looked at again, so linear in all expressions. An output that all
//! ways assign costs nothing else.

use acausal_base::Span;
use acausal_expr::flat::AssertionLevel;
use acausal_expr::{Builtin, ExprId, Exprs, NOT_ASSIGNED, Node, Range, ReduceOp, RelOp};
use acausal_symbolic::{Reduce, Substitute};
use rustc_hash::{FxHashMap, FxHashSet};

use super::constant::fold;
use super::{PendingAssert, for_all};
use crate::lower::{Context, Result, Tensor, Type, Value, error};
use acausal_instance::instance::InstId;
use acausal_syntax::ast::CausalityPrefix;

/// Arrays up to this length are looked at element by element, so that a message can name the element.
const LISTED: usize = 4096;

/// What a variable is before it is assigned, by what it is called in messages.
pub(super) fn placeholder(ctx: &mut Context, name: &str, ty: Type) -> ExprId {
    let zero = crate::lower::tensor::zero(&mut ctx.exprs, ty);
    let name = ctx.exprs.str(name);
    ctx.exprs.call(Builtin::Unassigned, &[name, zero])
}

/// What a variable is called in messages: ``output `y` of `f` ``; `path` is its name with the fields of records.
pub(super) fn description(ctx: &mut Context, variable: InstId, path: &str) -> String {
    let mut top = variable;
    let mut owner = ctx.instances.parent(top);
    while let Some(outer) = owner
        && ctx.instances.kind(outer) != acausal_instance::instance::InstanceKind::Function
    {
        top = outer;
        owner = ctx.instances.parent(top);
    }
    let what = match ctx.instances.data(top).prefixes.causality {
        Some(CausalityPrefix::Output) => "output",
        _ => "variable",
    };
    match owner {
        Some(function) => {
            let function = ctx.instances.class_name(function);
            format!("{what} `{path}` of `{function}`")
        }
        None => format!("{what} `{path}`"),
    }
}

/// What the variable is called, if an expression is one that has no value yet.
pub(super) fn name(exprs: &Exprs, e: ExprId) -> Option<&str> {
    match exprs.node(e) {
        Node::Call(Builtin::Unassigned, args) => match exprs.node(*exprs.list(args).first()?) {
            Node::Str(text) => Some(exprs.string(text)),
            _ => None,
        },
        _ => None,
    }
}

/// A value that is used here: the rest of its unassigned variables must not be reached.
pub fn settle(ctx: &mut Context, value: Value, span: Span) -> Result<Value> {
    let mut tainted = false;
    value.for_each_leaf(&mut Vec::new(), &mut |_, t| {
        tainted |= !t.is_empty() && contains(ctx, t.body);
    });
    if !tainted {
        return Ok(value);
    }
    let mut failed = None;
    let settled = value.map_leaves(&mut |t| match settle_array(ctx, t, span) {
        Ok(t) => t,
        Err(message) => {
            failed.get_or_insert(message);
            t.clone()
        }
    });
    match failed {
        Some(message) => Err(message),
        None => Ok(settled),
    }
}

/// The same for what a call asserts and prints, from these positions on.
pub(super) fn settle_effects(
    ctx: &mut Context,
    (asserts, prints): (usize, usize),
    span: Span,
) -> Result<()> {
    for k in asserts..ctx.function_state.asserts.len() {
        let found = ctx.function_state.asserts[k].clone();
        if contains(ctx, found.condition) {
            let condition = settle_scalar(ctx, found.condition, span)?;
            ctx.function_state.asserts[k].condition = condition;
        }
        if contains(ctx, found.message) {
            ctx.function_state.asserts[k].message = without(&mut ctx.exprs, found.message);
        }
    }
    for k in prints..ctx.function_state.prints.len() {
        let message = ctx.function_state.prints[k].message;
        if contains(ctx, message) {
            ctx.function_state.prints[k].message = settle_scalar(ctx, message, span)?;
        }
    }
    Ok(())
}

fn settle_scalar(ctx: &mut Context, e: ExprId, span: Span) -> Result<ExprId> {
    Ok(settle_array(ctx, &Tensor::scalar(Type::Real, e), span)?.body)
}

fn settle_array(ctx: &mut Context, t: &Tensor, span: Span) -> Result<Tensor> {
    if t.is_empty() || !contains(ctx, t.body) {
        return Ok(t.clone());
    }
    let found = first_in(&ctx.exprs, t.body);
    let mut reach = Reach::default();
    let reached = reach.of(&mut ctx.exprs, t.body);
    let whole = Tensor {
        body: reached,
        ty: Type::Boolean,
        ..t.clone()
    };
    let elements = match t.is_scalar() || t.len() > LISTED {
        true => vec![fold(ctx, reached)],
        false => {
            let elements = whole.elements(&mut ctx.exprs);
            elements.into_iter().map(|e| fold(ctx, e)).collect()
        }
    };
    let known = |e: &ExprId| ctx.exprs.as_bool(*e);
    let surely = elements.iter().position(|e| known(e) == Some(true));
    if surely.is_some() || elements.iter().any(|e| known(e).is_none()) {
        let element = surely.filter(|_| elements.len() > 1);
        let what = match element {
            Some(k) => format!("element {} of {found}", k + 1),
            None => found,
        };
        if surely.is_some() && ctx.function_state.conditional == 0 {
            let text = format!("{what} is used, and nothing has assigned it");
            return Err(error("unassigned-output", span, text).hint(
                "assign it on every way through the function, or give it a value where it is declared",
            ));
        }
        let pending = ctx.function_state.asserts.len();
        let condition = ctx.exprs.not(reached);
        let message = ctx.exprs.str(&format!("{what} {NOT_ASSIGNED}"));
        ctx.function_state.asserts.push(PendingAssert {
            condition,
            message,
            level: AssertionLevel::Unassigned,
            span,
        });
        let over: Vec<_> = (t.iters.iter().zip(&t.dims))
            .map(|(&i, &n)| (i, Range::upto(n)))
            .collect();
        for_all(ctx, pending, &over);
    }
    Ok(Tensor {
        body: without(&mut ctx.exprs, t.body),
        ..t.clone()
    })
}

/// The expression with zeros in place of what is not assigned.
fn without(exprs: &mut Exprs, e: ExprId) -> ExprId {
    exprs.rewrite(e, |x, n| zero_of(x, n))
}

fn zero_of(exprs: &Exprs, e: ExprId) -> Option<ExprId> {
    match exprs.node(e) {
        Node::Call(Builtin::Unassigned, args) => exprs.list(args).get(1).copied(),
        _ => None,
    }
}

/// What the first unassigned variable in an expression is called.
fn first_in(exprs: &Exprs, root: ExprId) -> String {
    let nodes = exprs.reachable(&[root]);
    let names = nodes.into_iter().filter_map(|n| name(exprs, n));
    names.min().unwrap_or("a variable").to_string()
}

/// Whether an expression contains something unassigned. What does not is remembered.
fn contains(ctx: &mut Context, root: ExprId) -> bool {
    let clean = &mut ctx.function_state.assigned;
    let mut seen: Vec<ExprId> = Vec::new();
    let mut stack = vec![root];
    let mut visited: FxHashSet<ExprId> = FxHashSet::default();
    while let Some(e) = stack.pop() {
        if clean.contains(&e) || !visited.insert(e) {
            continue;
        }
        if matches!(ctx.exprs.node(e), Node::Call(Builtin::Unassigned, _)) {
            return true;
        }
        seen.push(e);
        ctx.exprs.for_each_child(e, |c| stack.push(c));
    }
    clean.extend(seen);
    false
}

/// Under which condition the evaluation of an expression reaches something unassigned.
#[derive(Default)]
struct Reach {
    /// By node; nothing where it is never reached.
    known: FxHashMap<ExprId, ExprId>,
}

impl Reach {
    fn of(&mut self, x: &mut Exprs, root: ExprId) -> ExprId {
        // Children have smaller numbers than their parents.
        let mut nodes = x.reachable(&[root]);
        nodes.sort_unstable();
        for e in nodes {
            if let Some(condition) = self.node(x, e)
                && x.as_bool(condition) != Some(false)
            {
                self.known.insert(e, condition);
            }
        }
        self.get(x, root)
    }

    fn get(&self, x: &mut Exprs, e: ExprId) -> ExprId {
        self.known.get(&e).copied().unwrap_or_else(|| x.bool(false))
    }

    /// `condition and reached(e)`, as a branch: what a way reaches may call functions that fail where the way is not taken.
    fn under(&self, x: &mut Exprs, condition: ExprId, e: ExprId) -> ExprId {
        let (reached, never) = (self.get(x, e), x.bool(false));
        x.if_(condition, reached, never)
    }

    fn node(&self, x: &mut Exprs, e: ExprId) -> Option<ExprId> {
        match x.node(e) {
            Node::Call(Builtin::Unassigned, _) => Some(x.bool(true)),
            Node::If(c, a, b) => {
                let holds = without(x, c);
                let (first, second) = (self.get(x, a), self.get(x, b));
                let branches = x.if_(holds, first, second);
                let condition = self.get(x, c);
                Some(x.or(condition, branches))
            }
            Node::And(a, b) => {
                let holds = without(x, a);
                let (first, second) = (self.get(x, a), self.under(x, holds, b));
                Some(x.or(first, second))
            }
            Node::Or(a, b) => {
                let holds = without(x, a);
                let fails = x.not(holds);
                let (first, second) = (self.get(x, a), self.under(x, fails, b));
                Some(x.or(first, second))
            }
            Node::Select(index, members) => {
                let mut all = self.get(x, index);
                let at = without(x, index);
                for (k, member) in x.list(members).to_vec().into_iter().enumerate() {
                    if self.known.contains_key(&member) {
                        let position = x.int(k as i64 + 1);
                        let chosen = x.rel(RelOp::Eq, at, position);
                        let chosen = x.no_event(chosen);
                        let reached = self.under(x, chosen, member);
                        all = x.or(all, reached);
                    }
                }
                Some(all)
            }
            Node::Reduce {
                iter, range, body, ..
            } => {
                let reached = self.known.get(&body).copied()?;
                if range.count == 0 {
                    return None;
                }
                if !x.depends_on_iter(reached, iter) {
                    return Some(reached);
                }
                let (one, zero) = (x.int(1), x.int(0));
                let counted = x.if_(reached, one, zero);
                let most = x.reduce(ReduceOp::Max, iter, range, counted);
                let some = x.rel(RelOp::Gt, most, zero);
                Some(x.no_event(some))
            }
            _ => {
                let mut reached = Vec::new();
                x.for_each_child(e, |c| reached.extend(self.known.get(&c).copied()));
                reached.sort_unstable();
                reached.dedup();
                reached.into_iter().reduce(|a, b| x.or(a, b))
            }
        }
    }
}
