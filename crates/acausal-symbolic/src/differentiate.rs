//! Symbolic differentiation.
//!
//! Forward over the shared graph: each subexpression is differentiated once, so the result is linear in the size of
//! the input. What a leaf's derivative is, the caller says; so one routine gives time derivatives (a leaf `x` has
//! `der(x)`), partial derivatives (the wanted leaf has 1, the others 0) and directional ones. Conditions of `if` are
//! piecewise constant and are kept. Run-time functions differentiate into [`Node::Apply`] with one more entry in
//! `wrt`, evaluated by forward-mode differentiation of their body.

use acausal_expr::visit::{ExprSet, Images, Stack};
use acausal_expr::{
    Access, Builtin, ExprId, Exprs, IterId, Node, Range, ReduceOp, RelOp, Ty, ValueKind,
};

use crate::Reduce;

/// Derivatives by forward accumulation, one for each call.
pub trait Differentiate {
    /// The derivative of `root`, given the derivative of each variable access and of `time` by `leaf`.
    fn differentiate(
        &mut self,
        root: ExprId,
        leaf: impl FnMut(&mut Exprs, ExprId) -> ExprId,
    ) -> ExprId;

    /// The time derivative: values become derivatives of one order more unless `constant` says the access does not
    /// change continuously (parameters, discrete variables, left limits).
    fn time_derivative(&mut self, root: ExprId, constant: impl Fn(Access) -> bool) -> ExprId;

    /// The partial derivative with respect to one access (as an expression node).
    fn partial(&mut self, root: ExprId, wrt: ExprId) -> ExprId;
}

impl Differentiate for Exprs {
    fn differentiate(
        &mut self,
        root: ExprId,
        mut leaf: impl FnMut(&mut Exprs, ExprId) -> ExprId,
    ) -> ExprId {
        let mut d = Images::new(reachable_values(self, root));
        while let Some(e) = d.next() {
            let v = match self.node(e) {
                Node::Var(_) | Node::Time => leaf(self, e),
                _ => derive(self, e, &d),
            };
            d.push(v);
        }
        d[&root]
    }

    fn time_derivative(&mut self, root: ExprId, constant: impl Fn(Access) -> bool) -> ExprId {
        self.differentiate(root, |x, e| match x.node(e) {
            Node::Time => x.real(1.0),
            Node::Var(a) if constant(a) => x.real(0.0),
            Node::Var(mut a) => match a.kind {
                ValueKind::Value => {
                    a.kind = ValueKind::Der(1);
                    x.access(a, Ty::Real)
                }
                ValueKind::Der(n) => {
                    a.kind = ValueKind::Der(n + 1);
                    x.access(a, Ty::Real)
                }
                ValueKind::Pre => x.real(0.0),
            },
            _ => x.real(0.0),
        })
    }

    fn partial(&mut self, root: ExprId, wrt: ExprId) -> ExprId {
        self.differentiate(
            root,
            |x, e| if e == wrt { x.real(1.0) } else { x.real(0.0) },
        )
    }
}

/// Reachable subexpressions that carry value, that is without subscripts, conditions and indices.
fn reachable_values(exprs: &Exprs, root: ExprId) -> Vec<ExprId> {
    let mut seen = ExprSet::default();
    let mut stack = Stack::default();
    stack.push(root);
    let mut order = Vec::with_capacity(8);
    while let Some(e) = stack.pop() {
        if !seen.insert(e) {
            continue;
        }
        order.push(e);
        match exprs.node(e) {
            Node::Var(_) | Node::Rel(..) | Node::Local { .. } => {}
            Node::If(_, a, b) => {
                stack.push(a);
                stack.push(b);
            }
            Node::Select(_, l) => exprs.list(l).iter().for_each(|&c| stack.push(c)),
            _ => exprs.for_each_child(e, |c| stack.push(c)),
        }
    }
    order.sort_unstable();
    order
}

fn derive(exprs: &mut Exprs, e: ExprId, d: &Images) -> ExprId {
    let zero = exprs.real(0.0);
    match exprs.node(e) {
        Node::Add(l) => {
            let terms: Vec<ExprId> = exprs.list(l).iter().map(|c| d[c]).collect();
            exprs.add(&terms)
        }
        Node::Mul(l) => {
            let factors = exprs.list(l).to_vec();
            let mut terms = Vec::new();
            for (k, f) in factors.iter().enumerate() {
                if !exprs.is_zero(d[f]) {
                    let mut product = factors.clone();
                    product[k] = d[f];
                    terms.push(exprs.mul(&product));
                }
            }
            if terms.is_empty() {
                zero
            } else {
                exprs.add(&terms)
            }
        }
        Node::Div(a, b) => {
            // (a/b)' = a'/b - (a/b)*b'/b
            let first = exprs.div(d[&a], b);
            if exprs.is_zero(d[&b]) {
                return first;
            }
            let p = exprs.mul(&[e, d[&b]]);
            let second = exprs.div(p, b);
            exprs.sub(first, second)
        }
        Node::Pow(a, b) => derive_pow(exprs, e, a, b, d[&a], d[&b]),
        Node::If(c, a, b) => exprs.if_(c, d[&a], d[&b]),
        Node::Reduce {
            op,
            iter,
            range,
            body,
        } => derive_reduction(exprs, e, op, (iter, range, body), d[&body]),
        Node::Select(i, l) => {
            let list: Vec<ExprId> = exprs.list(l).iter().map(|c| d[c]).collect();
            exprs.select(i, &list)
        }
        Node::NoEvent(a) => exprs.no_event(d[&a]),
        Node::Smooth(p, a) => {
            if p > 1 {
                exprs.smooth(p - 1, d[&a])
            } else {
                exprs.no_event(d[&a])
            }
        }
        Node::Call(f, l) => {
            let args = exprs.list(l).to_vec();
            let dargs: Vec<ExprId> = args.iter().map(|a| d[a]).collect();
            derive_call(exprs, e, f, &args, &dargs)
        }
        Node::Apply {
            func,
            args,
            output,
            wrt,
        } => {
            let args = exprs.list(args).to_vec();
            let mut wrt: Vec<u32> = (exprs.list(wrt).iter())
                .filter_map(|&w| exprs.as_int(w))
                .map(|w| w as u32)
                .collect();
            let mut terms = Vec::new();
            for (k, a) in args.iter().enumerate() {
                if !exprs.is_zero(d[a]) {
                    wrt.push(k as u32);
                    let p = exprs.apply(func, &args, output, &wrt, Ty::Real);
                    wrt.pop();
                    terms.push(exprs.mul(&[p, d[a]]));
                }
            }
            if terms.is_empty() {
                zero
            } else {
                exprs.add(&terms)
            }
        }
        _ => zero,
    }
}

/// The derivative of a reduction `e` whose body has the derivative `d`.
fn derive_reduction(
    exprs: &mut Exprs,
    e: ExprId,
    op: ReduceOp,
    (iter, range, body): (IterId, Range, ExprId),
    d: ExprId,
) -> ExprId {
    if op == ReduceOp::Sum {
        return exprs.reduce(op, iter, range, d);
    }
    let zero = exprs.real(0.0);
    if exprs.is_zero(d) {
        return zero;
    }
    if op == ReduceOp::Product {
        // (prod f)' = prod f * sum f'/f; only reached for long products, short ones are written out.
        let q = exprs.div(d, body);
        let s = exprs.reduce(ReduceOp::Sum, iter, range, q);
        return exprs.mul(&[e, s]);
    }
    // The extremum moves with the member that attains it (the first one, where several do).
    let hit = exprs.rel(RelOp::Eq, body, e);
    let hit = exprs.no_event(hit);
    let v = exprs.if_(hit, d, zero);
    exprs.reduce(ReduceOp::Sum, iter, range, v)
}

fn derive_pow(
    exprs: &mut Exprs,
    e: ExprId,
    a: ExprId,
    b: ExprId,
    da: ExprId,
    db: ExprId,
) -> ExprId {
    let mut terms = Vec::new();
    if !exprs.is_zero(da) {
        let one = exprs.int(1);
        let b1 = exprs.sub(b, one);
        let p = exprs.pow(a, b1);
        terms.push(exprs.mul(&[b, p, da]));
    }
    if !exprs.is_zero(db) {
        let ln = exprs.call(Builtin::Log, &[a]);
        terms.push(exprs.mul(&[e, ln, db]));
    }
    if terms.is_empty() {
        exprs.real(0.0)
    } else {
        exprs.add(&terms)
    }
}

/// Changed by events only, or at once where a value passes a threshold.
fn is_piecewise_constant(f: Builtin) -> bool {
    use Builtin::*;
    matches!(
        f,
        Sign | Floor | Ceil | Integer | Div | Initial | Terminal | Sample
    ) || matches!(f, Spatial | Edge | Change | Start | Concat | Text)
        || f.is_clocked()
}

pub(crate) fn derive_call(
    exprs: &mut Exprs,
    e: ExprId,
    f: Builtin,
    args: &[ExprId],
    d: &[ExprId],
) -> ExprId {
    let zero = exprs.real(0.0);
    if d.iter().all(|&x| exprs.is_zero(x)) {
        return zero;
    }
    let one = exprs.real(1.0);
    let two = exprs.real(2.0);
    let a = args[0];
    let outer = match f {
        Builtin::Abs => {
            let z = exprs.real(0.0);
            let c = exprs.rel(RelOp::Ge, a, z);
            let c = exprs.no_event(c);
            let m = exprs.real(-1.0);
            exprs.if_(c, one, m)
        }
        Builtin::Sqrt => {
            let den = exprs.mul(&[two, e]);
            exprs.div(one, den)
        }
        Builtin::Sin => exprs.call(Builtin::Cos, &[a]),
        Builtin::Cos => {
            let s = exprs.call(Builtin::Sin, &[a]);
            exprs.neg(s)
        }
        Builtin::Tan | Builtin::Tanh => {
            let s = exprs.pow(e, two);
            if f == Builtin::Tan {
                exprs.add(&[one, s])
            } else {
                exprs.sub(one, s)
            }
        }
        Builtin::Asin | Builtin::Acos => {
            let s = exprs.pow(a, two);
            let r = exprs.sub(one, s);
            let r = exprs.call(Builtin::Sqrt, &[r]);
            let q = exprs.div(one, r);
            if f == Builtin::Asin { q } else { exprs.neg(q) }
        }
        Builtin::Atan => {
            let s = exprs.pow(a, two);
            let den = exprs.add(&[one, s]);
            exprs.div(one, den)
        }
        Builtin::Sinh => exprs.call(Builtin::Cosh, &[a]),
        Builtin::Cosh => exprs.call(Builtin::Sinh, &[a]),
        Builtin::Exp => e,
        Builtin::Log => exprs.div(one, a),
        Builtin::Log10 => {
            let ln10 = exprs.real(std::f64::consts::LN_10);
            let den = exprs.mul(&[a, ln10]);
            exprs.div(one, den)
        }
        Builtin::Atan2 => {
            // d atan2(y, x) = (x*dy - y*dx)/(x^2 + y^2)
            let (y, x) = (args[0], args[1]);
            let p = exprs.mul(&[x, d[0]]);
            let q = exprs.mul(&[y, d[1]]);
            let num = exprs.sub(p, q);
            let (xx, yy) = (exprs.pow(x, two), exprs.pow(y, two));
            let den = exprs.add(&[xx, yy]);
            return exprs.div(num, den);
        }
        Builtin::Min | Builtin::Max => {
            let op = if f == Builtin::Min {
                RelOp::Le
            } else {
                RelOp::Ge
            };
            let c = exprs.rel(op, args[0], args[1]);
            let c = exprs.no_event(c);
            return exprs.if_(c, d[0], d[1]);
        }
        // mod(x,y) = x - floor(x/y)*y and rem likewise: the quotient is piecewise constant.
        Builtin::Mod | Builtin::Rem => {
            let q = exprs.sub(args[0], e);
            let q = exprs.div(q, args[1]);
            let p = exprs.mul(&[q, d[1]]);
            return exprs.sub(d[0], p);
        }
        Builtin::Homotopy => return exprs.call(Builtin::Homotopy, d),
        Builtin::Delay => {
            // With a delay time T that changes, x(t - T) changes by x'(t - T)*(1 - T').
            // Before the start x is constant, so the fourth argument says that its derivative is zero there.
            let one = exprs.int(1);
            let past = exprs.call(Builtin::Delay, &[d[0], args[1], args[2], one]);
            let rate = exprs.sub(one, d[1]);
            return exprs.mul(&[past, rate]);
        }
        _ if is_piecewise_constant(f) => return zero,
        _ => unreachable!("{f:?} has no rule for its derivative"),
    };
    exprs.mul(&[outer, d[0]])
}
