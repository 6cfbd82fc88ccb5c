//! Integers at run time are Reals: exact up to 2^53, and an error beyond, never a rounded number.

use crate::{ExprId, Exprs, Node, Ty};

/// Up to here all Integers are different numbers of double precision.
pub const LARGEST_INTEGER: f64 = 9_007_199_254_740_992.0;

impl Exprs {
    /// Whether a node is Integer arithmetic that can leave the exact numbers although its operands are among them, by more than a
    /// constant: products and sums of several terms that are known at run time only.
    pub fn may_overflow(&self, e: ExprId) -> bool {
        let (Node::Add(l) | Node::Mul(l)) = self.node(e) else {
            return false;
        };
        let operands = self.list(l);
        let literals = operands.iter().filter_map(|&o| self.as_f64(o));
        let scaled = matches!(self.node(e), Node::Mul(_))
            && literals.clone().any(|c| c.abs() > LARGEST_FACTOR);
        self.ty(e) == Ty::Int && (operands.len() - literals.count() > 1 || scaled)
    }
}

/// Numbers below 2^43 times factors up to here stay exact: counters and sizes do not reach them.
const LARGEST_FACTOR: f64 = 1024.0;
