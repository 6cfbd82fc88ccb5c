//! Ranges of iterators under a condition: in `if i == 1 then a else x[i-1]` the subscript is never 0.
//!
//! Conditions that compare one iterator with a number, or with a parameter that decides the structure, narrow its range while the branch is
//! lowered; all others leave it. What cannot be seen this way is left to single values of the iterator (`irregular`).
//!
//! Example: with `i` in 1:5, `i == 1` narrows to 1:1 where it holds and to 2:5 where it does not.

use acausal_expr::{ExprId, IterId, Node, Range, RelOp};
use acausal_symbolic::{AffineRelation, Substitute};
use acausal_syntax::ast::VariabilityPrefix;
use rustc_hash::FxHashMap;

use super::Context;

impl Context {
    /// Narrows ranges by a condition that holds (or does not). Returns the ranges as they were, for [`Context::widen`].
    pub(super) fn narrow(&mut self, condition: ExprId, holds: bool) -> Vec<(IterId, Range)> {
        let mut before = Vec::new();
        let mut todo = vec![(condition, holds)];
        while let Some((c, holds)) = todo.pop() {
            match self.exprs.node(c) {
                Node::Not(inner) => todo.push((inner, !holds)),
                Node::NoEvent(inner) => todo.push((inner, holds)),
                Node::And(a, b) if holds => todo.extend([(a, true), (b, true)]),
                Node::Or(a, b) if !holds => todo.extend([(a, false), (b, false)]),
                Node::Rel(op, a, b) => before.extend(self.narrow_by(op, a, b, holds)),
                _ => {}
            }
        }
        before
    }

    /// Undoes [`Context::narrow`].
    pub(super) fn widen(&mut self, before: Vec<(IterId, Range)>) {
        for (iter, range) in before.into_iter().rev() {
            self.ranges.insert(iter, range);
        }
    }

    fn narrow_by(
        &mut self,
        op: RelOp,
        a: ExprId,
        b: ExprId,
        holds: bool,
    ) -> Option<(IterId, Range)> {
        let difference = self.exprs.sub(a, b);
        let affine = self.exprs.affine(difference)?;
        let &[(iter, slope)] = affine.terms.as_slice() else {
            return None;
        };
        let range = *self.ranges.get(&iter)?;
        let op = match (op, holds) {
            (op, true) => op,
            (RelOp::Lt, _) => RelOp::Ge,
            (RelOp::Le, _) => RelOp::Gt,
            (RelOp::Gt, _) => RelOp::Le,
            (RelOp::Ge, _) => RelOp::Lt,
            (RelOp::Eq, _) => RelOp::Ne,
            (RelOp::Ne, _) => RelOp::Eq,
        };
        let relation = AffineRelation {
            op,
            constant: affine.constant,
            slope,
            range,
        };
        self.ranges.insert(iter, relation.narrowed());
        Some((iter, range))
    }

    /// The condition with the values of the parameters that iterators are compared with: `i < N` decides which elements of an array exist, as
    /// a subscript does. Unless `all` is given only of parameters whose value decides the structure already.
    pub(super) fn with_bounds_of_iterators(&mut self, condition: ExprId, all: bool) -> ExprId {
        let mut relations = self.exprs.reachable(&[condition]);
        relations.retain(|&e| self.compares_iterator(e, all));
        let mut known = FxHashMap::default();
        for relation in relations {
            // A parameter without a value stays a variable; whoever needs its value reports it.
            if let Ok(value) = self.with_known_parameters(relation)
                && value != relation
            {
                known.insert(relation, value);
            }
        }
        if known.is_empty() {
            return condition;
        }
        self.exprs.rewrite(condition, |_, e| known.get(&e).copied())
    }

    /// A relation of iterators and parameters, not counting what only subscripts.
    fn compares_iterator(&mut self, e: ExprId, all: bool) -> bool {
        let Node::Rel(_, a, b) = self.exprs.node(e) else {
            return false;
        };
        let (mut todo, mut iterates) = (vec![a, b], false);
        while let Some(e) = todo.pop() {
            match self.exprs.node(e) {
                Node::Iter(_) => iterates = true,
                Node::Var(access) => {
                    let Some(&inst) = self.var_insts.get(access.var.index()) else {
                        return false;
                    };
                    let variability = self.instances.data(inst).prefixes.variability;
                    let fits = variability.is_some_and(|v| v <= VariabilityPrefix::Parameter)
                        && self.instances.attribute(inst, "fixed").is_none()
                        && (all || self.structural.contains(&inst));
                    if !fits {
                        return false;
                    }
                }
                Node::Time | Node::Apply { .. } => return false,
                _ => self.exprs.for_each_child(e, |c| todo.push(c)),
            }
        }
        iterates
    }
}
