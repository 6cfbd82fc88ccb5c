//! Integers at run time are Reals: exact up to 2^53, and an error beyond, never a rounded number.

use crate::{ExprId, Exprs, Node, RelOp, Ty};

/// Up to here all Integers are different numbers of double precision.
pub const LARGEST_INTEGER: f64 = 9_007_199_254_740_992.0;

impl Exprs {
    /// Whether a node is Integer arithmetic that can leave the exact numbers although its operands are among them, by more than a
    /// constant: products and sums of several terms that are known at run time only.
    pub(crate) fn may_overflow(&self, e: ExprId) -> bool {
        let (Node::Add(l) | Node::Mul(l)) = self.node(e) else {
            return false;
        };
        let operands = self.list(l);
        let literals = operands.iter().filter_map(|&o| self.as_f64(o));
        let scaled = matches!(self.node(e), Node::Mul(_))
            && literals.clone().any(|c| c.abs() > LARGEST_FACTOR);
        self.ty(e) == Ty::Int && (operands.len() - literals.count() > 1 || scaled)
    }

    /// Makes Integer arithmetic that overflows inside of Integer arithmetic not a number, so that `mod(a*b, m)` is not computed from a rounded
    /// product. What a relation or a Real makes of a rounded Integer is right up to rounding and stays; what a variable becomes is
    /// looked at by the simulator.
    pub fn checked_integers(&mut self, root: ExprId) -> ExprId {
        let found = self.any(root, |x, e| x.is_integer_sink(e));
        if !found {
            return root;
        }
        self.rewrite_upwards(root, |x, e| {
            if !x.is_integer_sink(e) {
                return None;
            }
            let mut checked = Vec::new();
            x.for_each_child(e, |c| checked.push(c));
            checked.retain(|&c| x.is_checked(c));
            let guards: Vec<ExprId> = checked.iter().map(|&c| x.exact(c)).collect();
            let position = |c: ExprId| checked.iter().position(|&k| k == c);
            let list = |x: &Exprs, l| -> Vec<ExprId> {
                let map = |&c: &ExprId| position(c).map_or(c, |k| guards[k]);
                x.list(l).iter().map(map).collect()
            };
            Some(match x.node(e) {
                Node::Add(l) => {
                    let l = list(x, l);
                    x.add(&l)
                }
                Node::Mul(l) => {
                    let l = list(x, l);
                    x.mul(&l)
                }
                Node::Call(f, l) => {
                    let l = list(x, l);
                    x.call(f, &l)
                }
                _ => e,
            })
        })
    }

    /// Integer arithmetic with an operand that is to be checked.
    fn is_integer_sink(&self, e: ExprId) -> bool {
        let arithmetic = matches!(self.node(e), Node::Add(_) | Node::Mul(_) | Node::Call(..));
        let mut found = false;
        if arithmetic && self.ty(e) == Ty::Int {
            self.for_each_child(e, |c| found |= self.is_checked(c));
        }
        found
    }

    fn is_checked(&self, e: ExprId) -> bool {
        let varies = |x: &Exprs, n: ExprId| {
            matches!(x.node(n), Node::Var(_) | Node::Apply { .. } | Node::Time)
        };
        self.may_overflow(e) && self.any(e, varies)
    }

    /// The value where it is exact, else not a number.
    fn exact(&mut self, e: ExprId) -> ExprId {
        let [low, high, none] = [-LARGEST_INTEGER, LARGEST_INTEGER, f64::NAN].map(|v| self.real(v));
        let above = self.rel(RelOp::Ge, e, low);
        let below = self.rel(RelOp::Le, e, high);
        let inside = self.and(above, below);
        let inside = self.no_event(inside);
        self.if_(inside, e, none)
    }
}

/// Numbers below 2^43 times factors up to here stay exact: counters and sizes do not reach them.
const LARGEST_FACTOR: f64 = 1024.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Builtin, IterId, Kind, VarId};

    #[test]
    fn products_inside_of_integer_functions_are_checked() {
        let mut x = Exprs::default();
        let [a, b] = [0, 1].map(|k| x.scalar_var(VarId(k), Kind::Value, Ty::Int));
        let m = x.int(1000);
        let product = x.mul(&[a, b]);
        let rest = x.call(Builtin::Mod, &[product, m]);
        let checked = x.checked_integers(rest);
        assert_ne!(checked, rest);
        assert_eq!(x.checked_integers(checked), checked);
        // A relation, a count and a subscript are as they were.
        let relation = x.rel(RelOp::Gt, product, m);
        let i = x.iter(IterId(0));
        let (one, two) = (x.int(1), x.int(2));
        let twice = x.mul(&[two, i]);
        let affine = x.add(&[twice, one]);
        let next = x.add(&[a, one]);
        for e in [relation, affine, next, product] {
            assert_eq!(x.checked_integers(e), e);
        }
    }
}
