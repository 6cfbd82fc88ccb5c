//! Guards around Integer arithmetic that would be computed from a rounded Integer.
//!
//! Example: `mod(a*b, m)` becomes `mod(if abs(a*b) <= 2^53 then a*b else NaN, m)`; what is not a number is refused at run time.

use acausal_expr::{ExprId, Exprs, LARGEST_INTEGER, Node, RelOp, Ty};

use crate::Substitute;

/// Makes Integer arithmetic that overflows inside of Integer arithmetic not a number, so that `mod(a*b, m)` is not computed from a rounded
/// product. What a relation or a Real makes of a rounded Integer is right up to rounding and stays; what a variable becomes is
/// looked at by the simulator.
pub fn checked_integers(exprs: &mut Exprs, root: ExprId) -> ExprId {
    let found = exprs.any(root, is_integer_sink);
    if !found {
        return root;
    }
    exprs.rewrite_upwards(root, |x, e| {
        if !is_integer_sink(x, e) {
            return None;
        }
        let mut checked = Vec::new();
        x.for_each_child(e, |c| checked.push(c));
        checked.retain(|&c| is_checked(x, c));
        let guards: Vec<ExprId> = checked.iter().map(|&c| exact(x, c)).collect();
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
fn is_integer_sink(exprs: &Exprs, e: ExprId) -> bool {
    let arithmetic = matches!(exprs.node(e), Node::Add(_) | Node::Mul(_) | Node::Call(..));
    let mut found = false;
    if arithmetic && exprs.ty(e) == Ty::Int {
        exprs.for_each_child(e, |c| found |= is_checked(exprs, c));
    }
    found
}

fn is_checked(exprs: &Exprs, e: ExprId) -> bool {
    let varies =
        |x: &Exprs, n: ExprId| matches!(x.node(n), Node::Var(_) | Node::Apply { .. } | Node::Time);
    exprs.may_overflow(e) && exprs.any(e, varies)
}

/// The value where it is exact, else not a number.
fn exact(exprs: &mut Exprs, e: ExprId) -> ExprId {
    let [low, high, none] = [-LARGEST_INTEGER, LARGEST_INTEGER, f64::NAN].map(|v| exprs.real(v));
    let above = exprs.rel(RelOp::Ge, e, low);
    let below = exprs.rel(RelOp::Le, e, high);
    let inside = exprs.and(above, below);
    let inside = exprs.no_event(inside);
    exprs.if_(inside, e, none)
}

#[cfg(test)]
mod tests {
    use super::*;
    use acausal_expr::{Builtin, IterId, ValueKind, VarId};

    #[test]
    fn products_inside_of_integer_functions_are_checked() {
        let mut x = Exprs::default();
        let [a, b] = [0, 1].map(|k| x.scalar_var(VarId(k), ValueKind::Value, Ty::Int));
        let m = x.int(1000);
        let product = x.mul(&[a, b]);
        let rest = x.call(Builtin::Mod, &[product, m]);
        let checked = checked_integers(&mut x, rest);
        assert_ne!(checked, rest);
        assert_eq!(checked_integers(&mut x, checked), checked);
        // A relation, a count and a subscript are as they were.
        let relation = x.rel(RelOp::Gt, product, m);
        let i = x.iter(IterId(0));
        let (one, two) = (x.int(1), x.int(2));
        let twice = x.mul(&[two, i]);
        let affine = x.add(&[twice, one]);
        let next = x.add(&[a, one]);
        for e in [relation, affine, next, product] {
            assert_eq!(checked_integers(&mut x, e), e);
        }
    }
}
