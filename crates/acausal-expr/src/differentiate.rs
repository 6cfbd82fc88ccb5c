//! Symbolic differentiation.
//!
//! Forward over the shared graph: each subexpression is differentiated once, so the result is linear in the size of
//! the input. What a leaf's derivative is, the caller says; so one routine gives time derivatives (a leaf `x` has
//! `der(x)`), partial derivatives (the wanted leaf has 1, the others 0) and directional ones. Conditions of `if` are
//! piecewise constant and are kept. Run-time functions differentiate into [`Node::Apply`] with one more entry in
//! `wrt`, evaluated by forward-mode differentiation of their body.

use crate::visit::{Images, Seen, Stack};
use crate::{Builtin, ExprId, Exprs, Kind, Node, ReduceOp, RelOp, Ty};

impl Exprs {
    /// The derivative of `root`, given the derivative of each variable access and of `time` by `leaf`.
    pub fn differentiate(
        &mut self,
        root: ExprId,
        mut leaf: impl FnMut(&mut Exprs, ExprId) -> ExprId,
    ) -> ExprId {
        let mut d = Images::new(self.reachable_values(root));
        while let Some(e) = d.next() {
            let v = match self.node(e) {
                Node::Var(_) | Node::Time => leaf(self, e),
                _ => self.derive(e, &d),
            };
            d.push(v);
        }
        d[&root]
    }

    /// The time derivative: values become derivatives of one order more unless `constant` says the access does not
    /// change continuously (parameters, discrete variables, left limits).
    pub fn time_derivative(
        &mut self,
        root: ExprId,
        constant: impl Fn(crate::Access) -> bool,
    ) -> ExprId {
        self.differentiate(root, |x, e| match x.node(e) {
            Node::Time => x.real(1.0),
            Node::Var(a) if constant(a) => x.real(0.0),
            Node::Var(mut a) => match a.kind {
                Kind::Value => {
                    a.kind = Kind::Der(1);
                    x.access(a, Ty::Real)
                }
                Kind::Der(n) => {
                    a.kind = Kind::Der(n + 1);
                    x.access(a, Ty::Real)
                }
                Kind::Pre => x.real(0.0),
            },
            _ => x.real(0.0),
        })
    }

    /// The partial derivative with respect to one access (as an expression node).
    pub fn partial(&mut self, root: ExprId, wrt: ExprId) -> ExprId {
        self.differentiate(
            root,
            |x, e| if e == wrt { x.real(1.0) } else { x.real(0.0) },
        )
    }

    /// Reachable subexpressions that carry value, that is without subscripts, conditions and indices.
    fn reachable_values(&self, root: ExprId) -> Vec<ExprId> {
        let mut seen = Seen::default();
        let mut stack = Stack::default();
        stack.push(root);
        let mut order = Vec::with_capacity(8);
        while let Some(e) = stack.pop() {
            if !seen.insert(e) {
                continue;
            }
            order.push(e);
            match self.node(e) {
                Node::Var(_) | Node::Rel(..) | Node::Local { .. } => {}
                Node::If(_, a, b) => {
                    stack.push(a);
                    stack.push(b);
                }
                Node::Select(_, l) => self.list(l).iter().for_each(|&c| stack.push(c)),
                _ => self.for_each_child(e, |c| stack.push(c)),
            }
        }
        order.sort_unstable();
        order
    }

    fn derive(&mut self, e: ExprId, d: &Images) -> ExprId {
        let zero = self.real(0.0);
        match self.node(e) {
            Node::Add(l) => {
                let terms: Vec<ExprId> = self.list(l).iter().map(|c| d[c]).collect();
                self.add(&terms)
            }
            Node::Mul(l) => {
                let factors = self.list(l).to_vec();
                let mut terms = Vec::new();
                for (k, f) in factors.iter().enumerate() {
                    if !self.is_zero(d[f]) {
                        let mut product = factors.clone();
                        product[k] = d[f];
                        terms.push(self.mul(&product));
                    }
                }
                if terms.is_empty() {
                    zero
                } else {
                    self.add(&terms)
                }
            }
            Node::Div(a, b) => {
                // (a/b)' = a'/b - (a/b)*b'/b
                let first = self.div(d[&a], b);
                if self.is_zero(d[&b]) {
                    return first;
                }
                let p = self.mul(&[e, d[&b]]);
                let second = self.div(p, b);
                self.sub(first, second)
            }
            Node::Pow(a, b) => self.derive_pow(e, a, b, d[&a], d[&b]),
            Node::If(c, a, b) => self.if_(c, d[&a], d[&b]),
            Node::Reduce {
                op: ReduceOp::Sum,
                iter,
                range,
                body,
            } => self.reduce(ReduceOp::Sum, iter, range, d[&body]),
            Node::Reduce {
                op: ReduceOp::Product,
                iter,
                range,
                body,
            } => {
                // (prod f)' = prod f * sum f'/f; only reached for long products, short ones are written out.
                if self.is_zero(d[&body]) {
                    return zero;
                }
                let q = self.div(d[&body], body);
                let s = self.reduce(ReduceOp::Sum, iter, range, q);
                self.mul(&[e, s])
            }
            Node::Reduce {
                op,
                iter,
                range,
                body,
            } => {
                // The extremum moves with the member that attains it (the first one, where several do).
                if self.is_zero(d[&body]) {
                    return zero;
                }
                let hit = self.rel(RelOp::Eq, body, e);
                let hit = self.no_event(hit);
                let _ = op;
                let v = self.if_(hit, d[&body], zero);
                self.reduce(ReduceOp::Sum, iter, range, v)
            }
            Node::Select(i, l) => {
                let list: Vec<ExprId> = self.list(l).iter().map(|c| d[c]).collect();
                self.select(i, &list)
            }
            Node::NoEvent(a) => self.no_event(d[&a]),
            Node::Smooth(p, a) => {
                if p > 1 {
                    self.smooth(p - 1, d[&a])
                } else {
                    self.no_event(d[&a])
                }
            }
            Node::Call(f, l) => {
                let args = self.list(l).to_vec();
                let dargs: Vec<ExprId> = args.iter().map(|a| d[a]).collect();
                self.derive_call(e, f, &args, &dargs)
            }
            Node::Apply {
                func,
                args,
                output,
                wrt,
            } => {
                let args = self.list(args).to_vec();
                let before: Vec<u32> = self
                    .list(wrt)
                    .iter()
                    .filter_map(|&w| self.as_int(w))
                    .map(|w| w as u32)
                    .collect();
                let mut terms = Vec::new();
                for (k, a) in args.iter().enumerate() {
                    if !self.is_zero(d[a]) {
                        let mut wrt = before.clone();
                        wrt.push(k as u32);
                        let p = self.apply(func, &args, output, &wrt, Ty::Real);
                        terms.push(self.mul(&[p, d[a]]));
                    }
                }
                if terms.is_empty() {
                    zero
                } else {
                    self.add(&terms)
                }
            }
            _ => zero,
        }
    }

    fn derive_pow(&mut self, e: ExprId, a: ExprId, b: ExprId, da: ExprId, db: ExprId) -> ExprId {
        let mut terms = Vec::new();
        if !self.is_zero(da) {
            let one = self.int(1);
            let b1 = self.sub(b, one);
            let p = self.pow(a, b1);
            terms.push(self.mul(&[b, p, da]));
        }
        if !self.is_zero(db) {
            let ln = self.call(Builtin::Log, &[a]);
            terms.push(self.mul(&[e, ln, db]));
        }
        if terms.is_empty() {
            self.real(0.0)
        } else {
            self.add(&terms)
        }
    }

    pub(crate) fn derive_call(
        &mut self,
        e: ExprId,
        f: Builtin,
        args: &[ExprId],
        d: &[ExprId],
    ) -> ExprId {
        let zero = self.real(0.0);
        if d.iter().all(|&x| self.is_zero(x)) {
            return zero;
        }
        let one = self.real(1.0);
        let two = self.real(2.0);
        let a = args[0];
        let outer = match f {
            Builtin::Abs => {
                let z = self.real(0.0);
                let c = self.rel(RelOp::Ge, a, z);
                let c = self.no_event(c);
                let m = self.real(-1.0);
                self.if_(c, one, m)
            }
            Builtin::Sqrt => {
                let den = self.mul(&[two, e]);
                self.div(one, den)
            }
            Builtin::Sin => self.call(Builtin::Cos, &[a]),
            Builtin::Cos => {
                let s = self.call(Builtin::Sin, &[a]);
                self.neg(s)
            }
            Builtin::Tan | Builtin::Tanh => {
                let s = self.pow(e, two);
                if f == Builtin::Tan {
                    self.add(&[one, s])
                } else {
                    self.sub(one, s)
                }
            }
            Builtin::Asin | Builtin::Acos => {
                let s = self.pow(a, two);
                let r = self.sub(one, s);
                let r = self.call(Builtin::Sqrt, &[r]);
                let q = self.div(one, r);
                if f == Builtin::Asin { q } else { self.neg(q) }
            }
            Builtin::Atan => {
                let s = self.pow(a, two);
                let den = self.add(&[one, s]);
                self.div(one, den)
            }
            Builtin::Sinh => self.call(Builtin::Cosh, &[a]),
            Builtin::Cosh => self.call(Builtin::Sinh, &[a]),
            Builtin::Exp => e,
            Builtin::Log => self.div(one, a),
            Builtin::Log10 => {
                let ln10 = self.real(std::f64::consts::LN_10);
                let den = self.mul(&[a, ln10]);
                self.div(one, den)
            }
            Builtin::Atan2 => {
                // d atan2(y, x) = (x*dy - y*dx)/(x^2 + y^2)
                let (y, x) = (args[0], args[1]);
                let p = self.mul(&[x, d[0]]);
                let q = self.mul(&[y, d[1]]);
                let num = self.sub(p, q);
                let (xx, yy) = (self.pow(x, two), self.pow(y, two));
                let den = self.add(&[xx, yy]);
                return self.div(num, den);
            }
            Builtin::Min | Builtin::Max => {
                let op = if f == Builtin::Min {
                    RelOp::Le
                } else {
                    RelOp::Ge
                };
                let c = self.rel(op, args[0], args[1]);
                let c = self.no_event(c);
                return self.if_(c, d[0], d[1]);
            }
            // mod(x,y) = x - floor(x/y)*y and rem likewise: the quotient is piecewise constant.
            Builtin::Mod | Builtin::Rem => {
                let q = self.sub(args[0], e);
                let q = self.div(q, args[1]);
                let p = self.mul(&[q, d[1]]);
                return self.sub(d[0], p);
            }
            Builtin::Homotopy => return self.call(Builtin::Homotopy, d),
            Builtin::Delay => {
                // With a delay time T that changes, x(t - T) changes by x'(t - T)*(1 - T').
                let past = self.call(Builtin::Delay, &[d[0], args[1], args[2]]);
                let one = self.int(1);
                let rate = self.sub(one, d[1]);
                return self.mul(&[past, rate]);
            }
            _ => return zero,
        };
        self.mul(&[outer, d[0]])
    }
}
