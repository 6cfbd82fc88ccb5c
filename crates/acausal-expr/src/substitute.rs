//! Substitution: rebuilding an expression with other leaves, simplifying on the way.
//!
//! One loop over the reachable subexpressions in ascending order; linear in their number.

use crate::visit::Images;
use crate::{Access, ExprId, Exprs, IterId, Node};

impl Exprs {
    /// Rebuilds `root`, replacing every subexpression for which `replace` gives a value. Replacement is top-most only
    /// in effect: a replaced node's children do not matter any more.
    pub fn rewrite(
        &mut self,
        root: ExprId,
        mut replace: impl FnMut(&mut Exprs, ExprId) -> Option<ExprId>,
    ) -> ExprId {
        let mut done = Images::new(self.reachable(&[root]));
        while let Some(e) = done.next() {
            let new = match replace(self, e) {
                Some(r) => r,
                None => self.rebuild(e, &done),
            };
            done.push(new);
        }
        done[&root]
    }

    /// Rebuilds `root` from the leaves up; `replace` is asked about every node with its children already rewritten.
    pub fn rewrite_upwards(
        &mut self,
        root: ExprId,
        mut replace: impl FnMut(&mut Exprs, ExprId) -> Option<ExprId>,
    ) -> ExprId {
        let mut done = Images::new(self.reachable(&[root]));
        while let Some(e) = done.next() {
            let new = self.rebuild(e, &done);
            let new = replace(self, new).unwrap_or(new);
            done.push(new);
        }
        done[&root]
    }

    /// Builds the node again from already rewritten children.
    pub(crate) fn rebuild(&mut self, e: ExprId, done: &Images) -> ExprId {
        let m = |c: ExprId| done.get(c).unwrap_or(c);
        let mut changed = false;
        self.for_each_child(e, |c| changed |= m(c) != c);
        if !changed {
            return e;
        }
        let map = |x: &Exprs, l| -> Vec<ExprId> { x.list(l).iter().map(|&c| m(c)).collect() };
        match self.node(e) {
            Node::Real(_)
            | Node::Int(_)
            | Node::Bool(_)
            | Node::Str(_)
            | Node::Time
            | Node::Iter(_) => e,
            Node::Var(Access { var, kind, subs }) => {
                let subs = map(self, subs);
                let ty = self.ty(e);
                self.var(var, kind, &subs, ty)
            }
            Node::Add(l) => {
                let l = map(self, l);
                self.add(&l)
            }
            Node::Mul(l) => {
                let l = map(self, l);
                self.mul(&l)
            }
            Node::Div(a, b) => self.div(m(a), m(b)),
            Node::Pow(a, b) => self.pow(m(a), m(b)),
            Node::Rel(op, a, b) => self.rel(op, m(a), m(b)),
            Node::Not(a) => self.not(m(a)),
            Node::And(a, b) => self.and(m(a), m(b)),
            Node::Or(a, b) => self.or(m(a), m(b)),
            Node::If(c, a, b) => self.if_(m(c), m(a), m(b)),
            Node::Call(f, l) => {
                let l = map(self, l);
                self.call(f, &l)
            }
            Node::Reduce {
                op,
                iter,
                range,
                body,
            } => self.reduce(op, iter, range, m(body)),
            Node::Select(i, l) => {
                let l = map(self, l);
                self.select(m(i), &l)
            }
            Node::NoEvent(a) => self.no_event(m(a)),
            Node::Smooth(p, a) => self.smooth(p, m(a)),
            Node::Apply {
                func,
                args,
                output,
                wrt,
            } => {
                let args = map(self, args);
                let args = self.make_list(&args);
                let ty = self.ty(e);
                self.intern(
                    Node::Apply {
                        func,
                        args,
                        output,
                        wrt,
                    },
                    ty,
                )
            }
            Node::Local { base, len, offset } => {
                let ty = self.ty(e);
                self.local(base, len, m(offset), ty)
            }
        }
    }

    /// Sets an iterator.
    pub fn substitute_iter(&mut self, root: ExprId, iter: IterId, value: ExprId) -> ExprId {
        self.rewrite(root, |x, e| {
            (x.node(e) == Node::Iter(iter)).then_some(value)
        })
    }

    /// Sets several iterators at once.
    pub fn substitute_iters(&mut self, root: ExprId, values: &[(IterId, ExprId)]) -> ExprId {
        if values.is_empty() {
            return root;
        }
        self.rewrite(root, |x, e| match x.node(e) {
            Node::Iter(i) => values.iter().find(|(j, _)| *j == i).map(|(_, v)| *v),
            _ => None,
        })
    }

    /// True when the iterator occurs.
    pub fn depends_on_iter(&self, root: ExprId, iter: IterId) -> bool {
        self.any(root, |x, e| x.node(e) == Node::Iter(iter))
    }
}
