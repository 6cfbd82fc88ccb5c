//! Solving an equation for an access that occurs linearly.

use crate::{ExprId, Exprs, Node};

impl Exprs {
    /// Writes `e` as `coefficient*unknown + rest` with neither depending on `unknown`; `None` when `e` is not linear in
    /// it. The unknown is an access node; accesses to other elements of the same array are other nodes.
    pub fn linear_in(&mut self, e: ExprId, unknown: ExprId) -> Option<(ExprId, ExprId)> {
        let coefficient = self.partial(e, unknown);
        if self.contains(coefficient, unknown) || self.guarded(e, unknown) {
            return None;
        }
        let zero = self.real(0.0);
        let rest = self.rewrite(e, |_, n| (n == unknown).then_some(zero));
        Some((coefficient, rest))
    }

    /// Solves `lhs = rhs` for `unknown`: the solution and the coefficient it divides by.
    pub fn solve_for(
        &mut self,
        lhs: ExprId,
        rhs: ExprId,
        unknown: ExprId,
    ) -> Option<(ExprId, ExprId)> {
        if lhs == unknown && !self.contains(rhs, unknown) {
            let one = self.real(1.0);
            return Some((rhs, one));
        }
        if rhs == unknown && !self.contains(lhs, unknown) {
            let one = self.real(1.0);
            return Some((lhs, one));
        }
        let residual = self.sub(lhs, rhs);
        let (coefficient, rest) = self.linear_in(residual, unknown)?;
        if self.is_zero(coefficient) {
            return None;
        }
        let negated = self.neg(rest);
        Some((self.div(negated, coefficient), coefficient))
    }

    /// True when `part` is a subexpression of `e`.
    pub fn contains(&self, e: ExprId, part: ExprId) -> bool {
        part <= e && self.any(e, |_, n| n == part)
    }

    /// True when the unknown steers a branch, an index or a relation: then the expression is not linear in it even if
    /// its derivative is constant.
    fn guarded(&self, e: ExprId, unknown: ExprId) -> bool {
        self.any(e, |x, n| match x.node(n) {
            Node::If(c, ..) | Node::Select(c, _) => x.contains(c, unknown),
            Node::Rel(..) | Node::Call(..) | Node::Apply { .. } => x.contains(n, unknown),
            _ => false,
        })
    }
}
