//! Ranges of iterators under a condition: in `if i == 1 then a else x[i-1]` the subscript is never 0.
//!
//! Conditions that compare one iterator with a number narrow its range while the branch is lowered; all others leave it.
//!
//! Example: with `i` in 1:5, `i == 1` narrows to 1:1 where it holds and to 2:5 where it does not.

use acausal_expr::{ExprId, IterId, Node, Range, RelOp};

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
        // iterator + constant, compared with zero.
        let difference = self.exprs.sub(a, b);
        let affine = self.exprs.affine(difference)?;
        let &[(iter, sign @ (1 | -1))] = affine.terms.as_slice() else {
            return None;
        };
        let range = *self.ranges.get(&iter)?;
        if range.step != 1 || range.count <= 0 {
            return None;
        }
        let bound = -sign * affine.constant;
        let op = match (op, sign) {
            (RelOp::Lt, -1) => RelOp::Gt,
            (RelOp::Le, -1) => RelOp::Ge,
            (RelOp::Gt, -1) => RelOp::Lt,
            (RelOp::Ge, -1) => RelOp::Le,
            (op, _) => op,
        };
        let op = match (op, holds) {
            (op, true) => op,
            (RelOp::Lt, _) => RelOp::Ge,
            (RelOp::Le, _) => RelOp::Gt,
            (RelOp::Gt, _) => RelOp::Le,
            (RelOp::Ge, _) => RelOp::Lt,
            (RelOp::Eq, _) => RelOp::Ne,
            (RelOp::Ne, _) => RelOp::Eq,
        };
        let (mut first, mut last) = (range.start, range.last());
        match op {
            RelOp::Lt => last = last.min(bound - 1),
            RelOp::Le => last = last.min(bound),
            RelOp::Gt => first = first.max(bound + 1),
            RelOp::Ge => first = first.max(bound),
            RelOp::Eq => (first, last) = (first.max(bound), last.min(bound)),
            // A hole in the middle is no range; what remains is then the whole.
            RelOp::Ne if first == bound => first += 1,
            RelOp::Ne if last == bound => last -= 1,
            RelOp::Ne => {}
        }
        let narrow = Range {
            start: first,
            step: 1,
            count: (last - first + 1).max(0),
        };
        self.ranges.insert(iter, narrow);
        Some((iter, range))
    }
}
