//! Solving an equation for an access that occurs linearly.

use crate::{ExprId, Exprs, Node};

impl Exprs {
    /// Writes `e` as `coefficient*unknown + rest` with neither depending on `unknown`; `None` when `e` is not linear in
    /// it. The unknown is an access node; accesses to other elements of the same array are other nodes.
    pub fn linear_in(&mut self, e: ExprId, unknown: ExprId) -> Option<(ExprId, ExprId)> {
        if let Some(parts) = self.term_of_sum(e, unknown) {
            return Some(parts);
        }
        let coefficient = self.partial(e, unknown);
        if self.contains(coefficient, unknown) || self.guarded(e, unknown) {
            return None;
        }
        let zero = self.real(0.0);
        let rest = self.rewrite(e, |_, n| (n == unknown).then_some(zero));
        Some((coefficient, rest))
    }

    /// The same for a sum with the unknown in one term, as it is or as a factor: what is left of the sum needs no algebra.
    fn term_of_sum(&mut self, e: ExprId, unknown: ExprId) -> Option<(ExprId, ExprId)> {
        let Node::Add(l) = self.node(e) else {
            return None;
        };
        let members = self.list(l);
        let mut at = None;
        for (k, &m) in members.iter().enumerate() {
            // An Integer term would become a Real one in the general case.
            if self.as_int(m).is_some() || at.is_some() && self.contains(m, unknown) {
                return None;
            }
            if at.is_none() && self.contains(m, unknown) {
                at = Some(k);
            }
        }
        let at = at?;
        let mut rest: Vec<ExprId> = members.to_vec();
        let term = rest.remove(at);
        let coefficient = match self.node(term) {
            _ if term == unknown => self.real(1.0),
            Node::Mul(l) => {
                let mut factors = self.list(l).to_vec();
                let k = factors.iter().position(|&f| f == unknown)?;
                factors.swap_remove(k);
                if factors.iter().any(|&f| self.contains(f, unknown)) {
                    return None;
                }
                let mut factors = self.list(l).to_vec();
                factors[k] = self.real(1.0);
                self.mul(&factors)
            }
            _ => return None,
        };
        Some((coefficient, self.sum_of_terms(&rest)))
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
