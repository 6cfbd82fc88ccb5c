//! Substitution: rebuilding an expression with other leaves, simplifying on the way.
//!
//! One loop over the reachable subexpressions in ascending order; linear in their number.

use acausal_expr::visit::Images;
use acausal_expr::{Access, ExprId, Exprs, IterId, Node};

use crate::Reduce;

/// Rebuilding expressions with other parts.
pub trait Substitute {
    /// Rebuilds `root`, replacing every subexpression for which `replace` gives a value. Replacement is top-most only
    /// in effect: a replaced node's children do not matter any more.
    fn rewrite(
        &mut self,
        root: ExprId,
        replace: impl FnMut(&mut Exprs, ExprId) -> Option<ExprId>,
    ) -> ExprId;

    /// Rebuilds `root` from the leaves up; `replace` is asked about every node with its children already rewritten.
    fn rewrite_upwards(
        &mut self,
        root: ExprId,
        replace: impl FnMut(&mut Exprs, ExprId) -> Option<ExprId>,
    ) -> ExprId;

    /// Sets an iterator.
    fn substitute_iter(&mut self, root: ExprId, iter: IterId, value: ExprId) -> ExprId;

    /// Sets several iterators at once.
    fn substitute_iters(&mut self, root: ExprId, values: &[(IterId, ExprId)]) -> ExprId;
}

impl Substitute for Exprs {
    fn rewrite(
        &mut self,
        root: ExprId,
        mut replace: impl FnMut(&mut Exprs, ExprId) -> Option<ExprId>,
    ) -> ExprId {
        let mut done = Images::new(self.reachable(&[root]));
        while let Some(e) = done.next() {
            let new = match replace(self, e) {
                Some(r) => r,
                None => rebuild(self, e, &done),
            };
            done.push(new);
        }
        done[&root]
    }

    fn rewrite_upwards(
        &mut self,
        root: ExprId,
        mut replace: impl FnMut(&mut Exprs, ExprId) -> Option<ExprId>,
    ) -> ExprId {
        let mut done = Images::new(self.reachable(&[root]));
        while let Some(e) = done.next() {
            let new = rebuild(self, e, &done);
            let new = replace(self, new).unwrap_or(new);
            done.push(new);
        }
        done[&root]
    }

    fn substitute_iter(&mut self, root: ExprId, iter: IterId, value: ExprId) -> ExprId {
        self.substitute_iters(root, &[(iter, value)])
    }

    fn substitute_iters(&mut self, root: ExprId, values: &[(IterId, ExprId)]) -> ExprId {
        if values.is_empty() {
            return root;
        }
        let root = chosen(self, root, values);
        self.rewrite(root, |x, e| match x.node(e) {
            Node::Iter(i) => values.iter().find(|(j, _)| *j == i).map(|(_, v)| *v),
            _ => None,
        })
    }
}

/// The member or branch that the iterators choose at the top of an expression. A list of n elements is asked for each of them, and rebuilding all
/// members each time would cost n^2. Recursion is over lists inside of subscripts and conditions, whose nesting the parser bounds.
fn chosen(exprs: &mut Exprs, root: ExprId, values: &[(IterId, ExprId)]) -> ExprId {
    let mut e = root;
    loop {
        let next = match exprs.node(e) {
            Node::Select(index, members) => {
                let index = exprs.substitute_iters(index, values);
                let k = exprs
                    .as_int(index)
                    .and_then(|k| usize::try_from(k - 1).ok());
                k.and_then(|k| exprs.list(members).get(k).copied())
            }
            Node::If(condition, yes, no) => {
                let condition = exprs.substitute_iters(condition, values);
                (exprs.as_bool(condition)).map(|holds| if holds { yes } else { no })
            }
            _ => None,
        };
        match next {
            Some(next) => e = next,
            None => return e,
        }
    }
}

/// Builds the node again from already rewritten children.
fn rebuild(exprs: &mut Exprs, e: ExprId, done: &Images) -> ExprId {
    let m = |c: ExprId| done.get(c).unwrap_or(c);
    let mut changed = false;
    exprs.for_each_child(e, |c| changed |= m(c) != c);
    if !changed {
        return e;
    }
    let map = |x: &Exprs, l| -> Vec<ExprId> { x.list(l).iter().map(|&c| m(c)).collect() };
    match exprs.node(e) {
        Node::Real(_)
        | Node::Int(_)
        | Node::Bool(_)
        | Node::Str(_)
        | Node::Time
        | Node::Iter(_) => e,
        Node::Var(Access { var, kind, subs }) => {
            let subs = map(exprs, subs);
            let ty = exprs.ty(e);
            exprs.var(var, kind, &subs, ty)
        }
        Node::Add(l) => {
            let l = map(exprs, l);
            exprs.add(&l)
        }
        Node::Mul(l) => {
            let l = map(exprs, l);
            exprs.mul(&l)
        }
        Node::Div(a, b) => exprs.div(m(a), m(b)),
        Node::Pow(a, b) => exprs.pow(m(a), m(b)),
        Node::Rel(op, a, b) => exprs.rel(op, m(a), m(b)),
        Node::Not(a) => exprs.not(m(a)),
        Node::And(a, b) => exprs.and(m(a), m(b)),
        Node::Or(a, b) => exprs.or(m(a), m(b)),
        Node::If(c, a, b) => exprs.if_(m(c), m(a), m(b)),
        Node::Call(f, l) => {
            let l = map(exprs, l);
            exprs.call(f, &l)
        }
        Node::Reduce {
            op,
            iter,
            range,
            body,
        } => exprs.reduce(op, iter, range, m(body)),
        Node::Select(i, l) => {
            let l = map(exprs, l);
            exprs.select(m(i), &l)
        }
        Node::NoEvent(a) => exprs.no_event(m(a)),
        Node::Smooth(p, a) => exprs.smooth(p, m(a)),
        Node::Apply {
            func,
            args,
            output,
            wrt,
        } => {
            let args = map(exprs, args);
            let wrt: Vec<u32> = (exprs.list(wrt).iter())
                .filter_map(|&w| exprs.as_int(w))
                .map(|w| w as u32)
                .collect();
            let ty = exprs.ty(e);
            exprs.apply(func, &args, output, &wrt, ty)
        }
        Node::Local { base, len, offset } => {
            let ty = exprs.ty(e);
            exprs.local(base, len, m(offset), ty)
        }
    }
}
