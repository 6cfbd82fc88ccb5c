//! Sums, products, quotients and powers in normal form.
//!
//! Constants fold exactly as Modelica evaluates them (Integer arithmetic stays Integer and falls back to Real on
//! overflow), nested sums and products flatten, like terms and numeric factors are collected, neutral and absorbing elements
//! vanish. Sums keep the order of first appearance, so the result is deterministic.

use rustc_hash::FxHashMap;

use crate::{ExprId, Exprs, Node, Ty};

/// A numeric literal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Num {
    /// Of an Integer.
    Int(i64),
    /// Of a Real.
    Real(f64),
}

impl Num {
    /// The value.
    pub fn f(self) -> f64 {
        match self {
            Num::Int(i) => i as f64,
            Num::Real(r) => r,
        }
    }

    fn add(self, o: Num) -> Num {
        if let (Num::Int(a), Num::Int(b)) = (self, o)
            && let Some(c) = a.checked_add(b)
        {
            return Num::Int(c);
        }
        Num::Real(self.f() + o.f())
    }

    /// The product; beyond the range of Integers it is a Real.
    pub fn times(self, o: Num) -> Num {
        if let (Num::Int(a), Num::Int(b)) = (self, o)
            && let Some(c) = a.checked_mul(b)
        {
            return Num::Int(c);
        }
        Num::Real(self.f() * o.f())
    }

    /// True for zero.
    pub fn is_zero(self) -> bool {
        self.f() == 0.0
    }
}

/// Terms with their literal factors, in order of first appearance: a list, with a table beside it when it is long.
#[derive(Default)]
struct Terms {
    list: Vec<(ExprId, Num)>,
    place: FxHashMap<ExprId, usize>,
}

impl Terms {
    /// Up to this many terms are searched one by one.
    const FEW: usize = 16;

    fn add(&mut self, term: ExprId, n: Num) {
        let place = if self.list.len() < Terms::FEW {
            self.list.iter().position(|t| t.0 == term)
        } else {
            if self.place.is_empty() {
                self.place = self.list.iter().map(|t| t.0).zip(0..).collect();
            }
            self.place.get(&term).copied()
        };
        match place {
            Some(k) => self.list[k].1 = self.list[k].1.add(n),
            None => {
                if !self.place.is_empty() {
                    self.place.insert(term, self.list.len());
                }
                self.list.push((term, Num::Int(0).add(n)));
            }
        }
    }
}

impl Exprs {
    /// Integer if all operands are.
    pub(crate) fn join(&self, members: &[ExprId]) -> Ty {
        if members.iter().all(|&m| self.ty(m) == Ty::Int) {
            Ty::Int
        } else {
            Ty::Real
        }
    }

    /// Splits `c*rest` into the literal factor and the rest (`None`: the expression is the literal itself).
    fn coefficient(&mut self, e: ExprId) -> (Num, Option<ExprId>) {
        if let Some(n) = self.as_num(e) {
            return (n, None);
        }
        if let Node::Mul(l) = self.node(e) {
            let members = self.list(l);
            if let Some(n) = self.as_num(members[0]) {
                let rest = match members[1..] {
                    [one] => one,
                    _ => {
                        let rest = members[1..].to_vec();
                        self.product_node(&rest)
                    }
                };
                return (n, Some(rest));
            }
        }
        (Num::Int(1), Some(e))
    }

    fn product_node(&mut self, members: &[ExprId]) -> ExprId {
        let ty = self.join(members);
        let l = self.make_list(members);
        self.intern(Node::Mul(l), ty)
    }

    /// A literal times an expression that has no literal factor.
    pub fn scaled(&mut self, n: Num, e: ExprId) -> ExprId {
        if n == Num::Int(1) || n == Num::Real(1.0) && self.ty(e) == Ty::Real {
            return e;
        }
        let c = self.num(n);
        match self.node(e) {
            Node::Mul(l) => {
                let mut members = vec![c];
                members.extend_from_slice(self.list(l));
                self.product_node(&members)
            }
            _ => self.product_node(&[c, e]),
        }
    }

    /// The sum of the terms.
    pub fn add(&mut self, terms: &[ExprId]) -> ExprId {
        let all_int = self.join(terms) == Ty::Int;
        let mut collected = Terms::default();
        let mut constant = Num::Int(0);
        for &term in terms {
            self.collect(term, None, &mut collected, &mut constant);
        }
        let mut out = Vec::with_capacity(collected.list.len() + 1);
        for (rest, n) in collected.list {
            if !n.is_zero() {
                out.push(self.scaled(n, rest));
            }
        }
        if !constant.is_zero() || out.is_empty() {
            let constant = if all_int {
                constant
            } else if out.is_empty() {
                Num::Real(constant.f())
            } else {
                constant
            };
            out.push(self.num(constant));
        }
        self.sum_of_terms(&out)
    }

    /// Adds the terms of an expression, times a literal if there is one, to those collected so far.
    fn collect(&mut self, e: ExprId, sign: Option<Num>, terms: &mut Terms, constant: &mut Num) {
        let list = match self.node(e) {
            Node::Add(l) => Some(l),
            _ => None,
        };
        let count = list.map_or(1, |l| self.list(l).len());
        for k in 0..count {
            let m = list.map_or(e, |l| self.list(l)[k]);
            let (n, rest) = self.coefficient(m);
            let n = sign.map_or(n, |s| n.times(s));
            match rest {
                None => *constant = constant.add(n),
                Some(rest) => terms.add(rest, n),
            }
        }
    }

    /// The terms of a weighted sum with their literal factors, in order of first appearance, and the literal.
    pub fn collected(&mut self, sum: &[(ExprId, i64)]) -> (Vec<(ExprId, Num)>, Num) {
        let mut terms = Terms::default();
        let mut constant = Num::Int(0);
        for &(e, sign) in sum {
            let sign = (sign != 1).then_some(Num::Int(sign));
            self.collect(e, sign, &mut terms, &mut constant);
        }
        (terms.list, constant)
    }

    /// The sum of terms that are collected already: no sums, no two alike, at most one literal, which is the last.
    pub fn sum_of_terms(&mut self, terms: &[ExprId]) -> ExprId {
        match terms {
            [] => self.real(0.0),
            [one] => *one,
            _ => {
                let ty = self.join(terms);
                let l = self.make_list(terms);
                self.intern(Node::Add(l), ty)
            }
        }
    }

    /// `a - b`
    pub fn sub(&mut self, a: ExprId, b: ExprId) -> ExprId {
        let nb = self.neg(b);
        self.add(&[a, nb])
    }

    /// `-a`
    pub fn neg(&mut self, a: ExprId) -> ExprId {
        if let Some(Num::Real(r)) = self.as_num(a) {
            return self.real(-r);
        }
        if let Node::Add(l) = self.node(a) {
            let members = self.list(l).to_vec();
            let negated: Vec<ExprId> = members.into_iter().map(|m| self.neg(m)).collect();
            return self.add(&negated);
        }
        let m = self.int(-1);
        self.mul(&[m, a])
    }

    /// The product of the factors.
    pub fn mul(&mut self, factors: &[ExprId]) -> ExprId {
        let mut constant = Num::Int(1);
        let mut out: Vec<ExprId> = Vec::with_capacity(factors.len());
        let ty = self.join(factors);
        for &factor in factors {
            match self.node(factor) {
                Node::Mul(l) => {
                    for i in 0..self.list(l).len() {
                        let m = self.list(l)[i];
                        match self.as_num(m) {
                            Some(n) => constant = constant.times(n),
                            None => out.push(m),
                        }
                    }
                }
                _ => match self.as_num(factor) {
                    Some(n) => constant = constant.times(n),
                    None => out.push(factor),
                },
            }
        }
        if constant.is_zero() || out.is_empty() {
            let c = if ty == Ty::Real {
                Num::Real(constant.f())
            } else {
                constant
            };
            return self.num(c);
        }
        if out.len() == 1 {
            // A literal distributes over a sum, so that like terms of nested sums meet.
            if let Node::Add(l) = self.node(out[0])
                && constant == Num::Int(-1)
            {
                let members = self.list(l).to_vec();
                let negated: Vec<ExprId> = members
                    .into_iter()
                    .map(|m| self.scale_term(constant, m))
                    .collect();
                return self.add(&negated);
            }
            return self.scaled(constant, out[0]);
        }
        let product = self.product_node(&out);
        self.scaled(constant, product)
    }

    fn scale_term(&mut self, n: Num, e: ExprId) -> ExprId {
        match self.coefficient(e) {
            (c, None) => self.num(c.times(n)),
            (c, Some(rest)) => self.scaled(c.times(n), rest),
        }
    }

    /// `a / b`, of type Real.
    pub fn div(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.as_f64(a), self.as_f64(b)) {
            (Some(x), Some(y)) if y != 0.0 => return self.real(x / y),
            (Some(0.0), None) => return self.real(0.0),
            (_, Some(1.0)) if self.ty(a) == Ty::Real => return a,
            (_, Some(-1.0)) if self.ty(a) == Ty::Real => return self.neg(a),
            _ => {}
        }
        if a == b && self.as_num(a).is_none() {
            return self.real(1.0);
        }
        // Signs move to the front so that -a/b and -(a/b) are one expression.
        if let (Num::Int(-1), Some(rest)) = self.coefficient(a) {
            let q = self.div(rest, b);
            return self.neg(q);
        }
        self.intern(Node::Div(a, b), Ty::Real)
    }

    /// `a ^ b`
    pub fn pow(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.as_f64(a), self.as_f64(b)) {
            (_, Some(1.0)) => return a,
            (None, Some(0.0)) => return self.real(1.0),
            (Some(x), Some(y)) => return self.real(x.powf(y)),
            _ => {}
        }
        self.intern(Node::Pow(a, b), Ty::Real)
    }
}
