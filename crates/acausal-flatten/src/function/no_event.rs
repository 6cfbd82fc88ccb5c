//! Relations inside of functions are no events (MLS 3.6 §8.5): each is put into `noEvent`. Those that came in with the
//! arguments belong to the model and stay.

use acausal_expr::{Builtin, ExprId, Exprs, Node};
use acausal_symbolic::Substitute;
use rustc_hash::FxHashSet;

use crate::lower::{Context, Value};

/// Nodes that are left alone: they came with the arguments, or are inside of `noEvent` already.
#[derive(Clone, Debug, Default)]
pub struct NoEvent {
    known: FxHashSet<ExprId>,
}

/// True for what triggers an event outside of `noEvent`.
fn is_event(exprs: &Exprs, e: ExprId) -> bool {
    match exprs.node(e) {
        Node::Rel(..) => true,
        Node::Call(f, _) => matches!(
            f,
            Builtin::Floor
                | Builtin::Ceil
                | Builtin::Integer
                | Builtin::Div
                | Builtin::Mod
                | Builtin::Rem
        ),
        _ => false,
    }
}

impl NoEvent {
    /// Everything that the inputs of a call contain.
    pub fn from_inputs<'v>(ctx: &Context, inputs: impl Iterator<Item = &'v Value>) -> NoEvent {
        let mut no_event = NoEvent::default();
        for value in inputs {
            value.for_each_leaf(&mut Vec::new(), &mut |_, t| {
                let nodes = ctx.exprs.reachable(&[t.body]);
                no_event
                    .known
                    .extend(nodes.into_iter().filter(|&n| is_event(&ctx.exprs, n)));
            });
        }
        no_event
    }

    /// The expression with its new relations put into `noEvent`.
    pub fn expr(&mut self, exprs: &mut Exprs, e: ExprId) -> ExprId {
        let mut fresh: Vec<ExprId> = Vec::new();
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        let mut stack = vec![e];
        while let Some(n) = stack.pop() {
            if !seen.insert(n) || matches!(exprs.node(n), Node::NoEvent(_)) {
                continue;
            }
            if is_event(exprs, n) && !self.known.contains(&n) {
                fresh.push(n); // what is inside of it is covered with it
                continue;
            }
            exprs.for_each_child(n, |c| stack.push(c));
        }
        if fresh.is_empty() {
            return e;
        }
        let out = exprs.rewrite(e, |x, n| fresh.contains(&n).then(|| x.no_event(n)));
        self.known.extend(fresh);
        out
    }

    /// A value with its new relations put into `noEvent`.
    pub fn value(&mut self, ctx: &mut Context, value: Value) -> Value {
        value.map_leaves(&mut |t| t.map(&mut ctx.exprs, t.ty, |x, body| self.expr(x, body)))
    }
}
