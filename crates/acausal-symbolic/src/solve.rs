//! Solving an equation for an access that occurs linearly.

use acausal_expr::{ExprId, Exprs, Node, Num};

use crate::{Differentiate, Substitute};

/// Linear forms and solutions.
pub trait Solve {
    /// Writes `e` as `coefficient*unknown + rest` with neither depending on `unknown`; `None` when `e` is not linear in
    /// it. The unknown is an access node; accesses to other elements of the same array are other nodes.
    fn linear_in(&mut self, e: ExprId, unknown: ExprId) -> Option<(ExprId, ExprId)>;

    /// Solves `lhs = rhs` for `unknown`: the solution and the coefficient it divides by.
    fn solve_for(&mut self, lhs: ExprId, rhs: ExprId, unknown: ExprId) -> Option<(ExprId, ExprId)>;
}

impl Solve for Exprs {
    fn linear_in(&mut self, e: ExprId, unknown: ExprId) -> Option<(ExprId, ExprId)> {
        if let Some(parts) = term_of_sum(self, e, unknown) {
            return Some(parts);
        }
        let coefficient = self.partial(e, unknown);
        if self.contains(coefficient, unknown) || guarded(self, e, unknown) {
            return None;
        }
        let zero = self.real(0.0);
        let rest = self.rewrite(e, |_, n| (n == unknown).then_some(zero));
        Some((coefficient, rest))
    }

    fn solve_for(&mut self, lhs: ExprId, rhs: ExprId, unknown: ExprId) -> Option<(ExprId, ExprId)> {
        if lhs == unknown && !self.contains(rhs, unknown) {
            let one = self.real(1.0);
            return Some((rhs, one));
        }
        if rhs == unknown && !self.contains(lhs, unknown) {
            let one = self.real(1.0);
            return Some((lhs, one));
        }
        if let Some(solved) = solve_sum(self, lhs, rhs, unknown) {
            return Some(solved);
        }
        let residual = self.sub(lhs, rhs);
        let (coefficient, rest) = self.linear_in(residual, unknown)?;
        if self.is_zero(coefficient) {
            return None;
        }
        let negated = self.neg(rest);
        Some((self.div(negated, coefficient), coefficient))
    }
}

/// The same for a sum with the unknown in one term, as it is or as a factor: what is left of the sum needs no algebra.
fn term_of_sum(exprs: &mut Exprs, e: ExprId, unknown: ExprId) -> Option<(ExprId, ExprId)> {
    let Node::Add(l) = exprs.node(e) else {
        return None;
    };
    let members = exprs.list(l);
    let mut at = None;
    for (k, &m) in members.iter().enumerate() {
        // An Integer term would become a Real one in the general case.
        if exprs.as_int(m).is_some() || at.is_some() && exprs.contains(m, unknown) {
            return None;
        }
        if at.is_none() && exprs.contains(m, unknown) {
            at = Some(k);
        }
    }
    let at = at?;
    let mut rest: Vec<ExprId> = members.to_vec();
    let term = rest.remove(at);
    let coefficient = match exprs.node(term) {
        _ if term == unknown => exprs.real(1.0),
        Node::Mul(l) => {
            let mut factors = exprs.list(l).to_vec();
            let k = factors.iter().position(|&f| f == unknown)?;
            factors.swap_remove(k);
            if factors.iter().any(|&f| exprs.contains(f, unknown)) {
                return None;
            }
            let mut factors = exprs.list(l).to_vec();
            factors[k] = exprs.real(1.0);
            exprs.mul(&factors)
        }
        _ => return None,
    };
    Some((coefficient, exprs.sum_of_terms(&rest)))
}

/// The same for sums in which the unknown is a term by itself, with the sign plus or minus: the other terms change
/// sides. Balances of networks are of this form; nothing but the solution is built.
fn solve_sum(
    exprs: &mut Exprs,
    lhs: ExprId,
    rhs: ExprId,
    unknown: ExprId,
) -> Option<(ExprId, ExprId)> {
    let (terms, constant) = exprs.collected(&[(lhs, 1), (rhs, -1)]);
    let at = terms.iter().position(|t| t.0 == unknown)?;
    let sign = match terms[at].1.f() {
        1.0 => -1,
        -1.0 => 1,
        _ => return None,
    };
    let others = || terms.iter().filter(|t| t.0 != unknown && !t.1.is_zero());
    // An Integer literal would become a Real one in the general case.
    let literal = match constant {
        Num::Int(0) => None,
        Num::Int(_) => return None,
        Num::Real(r) => (r != 0.0).then_some(constant),
    };
    if others().next().is_none() || others().any(|t| exprs.contains(t.0, unknown)) {
        return None;
    }
    let mut out = Vec::with_capacity(terms.len());
    for (term, n) in terms.iter().filter(|t| t.0 != unknown && !t.1.is_zero()) {
        out.push(exprs.scaled(n.times(Num::Int(sign)), *term));
    }
    if let Some(n) = literal {
        out.push(exprs.num(n.times(Num::Int(sign))));
    }
    let solution = exprs.sum_of_terms(&out);
    Some((solution, exprs.real(-f64::from(sign as i32))))
}

/// True when the unknown steers a branch, an index or a relation: then the expression is not linear in it even if
/// its derivative is constant.
fn guarded(exprs: &Exprs, e: ExprId, unknown: ExprId) -> bool {
    exprs.any(e, |x, n| match x.node(n) {
        Node::If(c, ..) | Node::Select(c, _) => x.contains(c, unknown),
        Node::Rel(..) | Node::Call(..) | Node::Apply { .. } => x.contains(n, unknown),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use crate::{Differentiate, Solve, Substitute};
    use acausal_expr::{ExprId, Exprs, Ty, ValueKind, VarId};

    /// What the general way gives: the residual, its coefficient and its rest.
    fn generally(x: &mut Exprs, lhs: ExprId, rhs: ExprId, unknown: ExprId) -> Option<ExprId> {
        let residual = x.sub(lhs, rhs);
        let coefficient = x.partial(residual, unknown);
        let zero = x.real(0.0);
        let rest = x.rewrite(residual, |_, n| (n == unknown).then_some(zero));
        if x.contains(coefficient, unknown) || x.is_zero(coefficient) {
            return None;
        }
        let negated = x.neg(rest);
        Some(x.div(negated, coefficient))
    }

    /// Sums of up to four terms on both sides, with literal factors, products and constants.
    #[test]
    fn short_cuts_give_what_the_general_way_gives() {
        let mut x = Exprs::default();
        let v: Vec<ExprId> = (0..4)
            .map(|k| x.scalar_var(VarId(k), ValueKind::Value, Ty::Real))
            .collect();
        let p = x.mul(&[v[1], v[2]]);
        let (two, minus, half) = (x.int(2), x.int(-1), x.real(0.5));
        let mut pool = vec![v[0], v[1], v[2], p, half, two];
        for f in [two, minus, half] {
            for &e in &[v[0], v[1], p] {
                let scaled = x.mul(&[f, e]);
                pool.push(scaled);
            }
        }
        let mut solved = 0;
        for a in 0..pool.len() {
            for b in 0..pool.len() {
                for c in 0..pool.len() {
                    let lhs = x.add(&[pool[a], pool[b]]);
                    for rhs in [pool[c], x.real(0.0)] {
                        for unknown in [v[0], v[1]] {
                            let fast = x.solve_for(lhs, rhs, unknown).map(|s| s.0);
                            // What stands alone on one side is not computed at all.
                            if lhs == unknown || rhs == unknown {
                                continue;
                            }
                            let slow = generally(&mut x, lhs, rhs, unknown);
                            assert_eq!(fast, slow, "{a} {b} {c}");
                            solved += usize::from(fast.is_some());
                        }
                    }
                }
            }
        }
        assert!(solved > 1000, "{solved}");
    }
}
