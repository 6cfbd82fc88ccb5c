//! Bounds of partial derivatives: forward differentiation of intervals (Moore 1966), without building expressions.
//!
//! In: an expression, one access in it, and the values of parameters at a point. Out: an interval that holds the derivative
//! whatever the variables are, infinite where nothing bounds it. `if locked then s else 1` has a slope in [0, 1] in s, `sin(2*x)`
//! one in [-2, 2], `x^2` none. Jumps between branches do not count: they are events. Cost: linear in the expression.

use rustc_hash::FxHashMap;

use crate::{Builtin, ExprId, Exprs, Node};

/// An interval.
pub type Interval = (f64, f64);

const ALL: Interval = (f64::NEG_INFINITY, f64::INFINITY);
const ZERO: Interval = (0.0, 0.0);

/// The derivative of `e` with respect to the access `wrt`; `known_value` gives the value of an access, if it is a parameter whose value is known.
pub fn derivative_bound(
    x: &Exprs,
    e: ExprId,
    wrt: ExprId,
    mut known_value: impl FnMut(ExprId) -> Option<f64>,
) -> Interval {
    // Value and derivative, children first.
    let mut known: FxHashMap<ExprId, (Interval, Interval)> = FxHashMap::default();
    for n in x.reachable(&[e]) {
        let of = |c: ExprId| known.get(&c).copied().unwrap_or((ALL, ALL));
        let pair = match x.node(n) {
            _ if n == wrt => (ALL, (1.0, 1.0)),
            Node::Real(_) | Node::Int(_) => {
                let v = x.as_f64(n).unwrap_or(f64::NAN);
                ((v, v), ZERO)
            }
            Node::Var(_) => (known_value(n).map_or(ALL, |v| (v, v)), ZERO),
            Node::Add(l) => x.list(l).iter().fold((ZERO, ZERO), |s, &c| {
                let (v, d) = of(c);
                (add(s.0, v), add(s.1, d))
            }),
            Node::Mul(l) => x.list(l).iter().fold(((1.0, 1.0), ZERO), |p, &c| {
                let (v, d) = of(c);
                (mul(p.0, v), add(mul(p.1, v), mul(p.0, d)))
            }),
            Node::Div(a, b) => {
                let ((va, da), (vb, db)) = (of(a), of(b));
                let inverse = inverse(vb);
                let second = mul(mul(va, mul(inverse, inverse)), db);
                (mul(va, inverse), add(mul(da, inverse), neg(second)))
            }
            Node::Pow(a, b) => {
                let ((va, da), (vb, db)) = (of(a), of(b));
                let square = vb == (2.0, 2.0);
                match (da == ZERO && db == ZERO, square) {
                    (true, _) => (ALL, ZERO),
                    (false, true) => (mul(va, va), mul((2.0, 2.0), mul(va, da))),
                    _ => (ALL, ALL),
                }
            }
            Node::If(_, a, b) => join(of(a), of(b)),
            Node::Select(_, l) => {
                let members = x.list(l).iter().map(|&c| of(c));
                members.reduce(join).unwrap_or((ALL, ALL))
            }
            Node::NoEvent(a) | Node::Smooth(_, a) => of(a),
            Node::Call(f, l) => call(f, x.list(l).iter().map(|&c| of(c))),
            _ => {
                let mut moves = false;
                x.for_each_child(n, |c| moves |= of(c).1 != ZERO);
                (ALL, if moves { ALL } else { ZERO })
            }
        };
        known.insert(n, pair);
    }
    known.get(&e).map_or(ALL, |p| p.1)
}

/// Smallest and largest absolute value of what lies in an interval; none if nothing is known.
pub fn magnitude((lo, hi): Interval) -> Option<(f64, f64)> {
    let least = if lo > 0.0 || hi < 0.0 {
        lo.abs().min(hi.abs())
    } else {
        0.0
    };
    let most = lo.abs().max(hi.abs());
    (!most.is_nan()).then_some((least, most))
}

/// Value and derivative of a built-in function.
fn call(
    f: Builtin,
    mut arguments: impl Iterator<Item = (Interval, Interval)> + Clone,
) -> (Interval, Interval) {
    if arguments.clone().all(|a| a.1 == ZERO) && !matches!(f, Builtin::Min | Builtin::Max) {
        let range = match f {
            Builtin::Sin | Builtin::Cos | Builtin::Tanh | Builtin::Sign => (-1.0, 1.0),
            _ => ALL,
        };
        return (range, ZERO);
    }
    let unit = (-1.0, 1.0);
    match f {
        Builtin::Min | Builtin::Max | Builtin::Homotopy => {
            arguments.reduce(join).unwrap_or((ALL, ALL))
        }
        Builtin::Sin | Builtin::Cos => arguments
            .next()
            .map_or((ALL, ALL), |a| (unit, mul(unit, a.1))),
        Builtin::Tanh => arguments
            .next()
            .map_or((ALL, ALL), |a| (unit, mul((0.0, 1.0), a.1))),
        Builtin::Atan => arguments
            .next()
            .map_or((ALL, ALL), |a| (ALL, mul((0.0, 1.0), a.1))),
        Builtin::Abs => arguments
            .next()
            .map_or((ALL, ALL), |a| (ALL, mul(unit, a.1))),
        Builtin::Sign | Builtin::Floor | Builtin::Ceil | Builtin::Integer | Builtin::Div => {
            (ALL, ZERO)
        }
        _ => (ALL, ALL),
    }
}

fn add(a: Interval, b: Interval) -> Interval {
    (a.0 + b.0, a.1 + b.1)
}

fn neg(a: Interval) -> Interval {
    (-a.1, -a.0)
}

fn mul(a: Interval, b: Interval) -> Interval {
    // Zero times something unbounded is zero: every value of it is finite.
    let product = |x: f64, y: f64| if x == 0.0 || y == 0.0 { 0.0 } else { x * y };
    let all = [
        product(a.0, b.0),
        product(a.0, b.1),
        product(a.1, b.0),
        product(a.1, b.1),
    ];
    all.iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |m, &v| {
            (m.0.min(v), m.1.max(v))
        })
}

fn inverse(a: Interval) -> Interval {
    if a.0 > 0.0 || a.1 < 0.0 {
        (1.0 / a.1, 1.0 / a.0)
    } else {
        ALL
    }
}

fn join(a: (Interval, Interval), b: (Interval, Interval)) -> (Interval, Interval) {
    let hull = |x: Interval, y: Interval| (x.0.min(y.0), x.1.max(y.1));
    (hull(a.0, b.0), hull(a.1, b.1))
}
