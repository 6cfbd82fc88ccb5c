//! Constructors that simplify on the way.
//!
//! Rules (each preserves the value wherever the operands are finite): constants fold exactly as Modelica evaluates
//! them (Integer arithmetic stays Integer and falls back to Real on overflow), nested sums and products flatten, like
//! terms and numeric factors are collected, neutral and absorbing elements vanish, branches with a known condition are
//! taken. Sums keep the order of first appearance, so the result is deterministic.

use rustc_hash::FxHashMap;

use crate::{
    Access, Builtin, ExprId, Exprs, FuncId, IterId, Kind, List, Node, Range, ReduceOp, RelOp, Ty,
    VarId,
};

/// A numeric literal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Num {
    Int(i64),
    Real(f64),
}

impl Num {
    pub(crate) fn f(self) -> f64 {
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

    pub(crate) fn mul(self, o: Num) -> Num {
        if let (Num::Int(a), Num::Int(b)) = (self, o)
            && let Some(c) = a.checked_mul(b)
        {
            return Num::Int(c);
        }
        Num::Real(self.f() * o.f())
    }

    pub(crate) fn is_zero(self) -> bool {
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

/// Built-in functions of Integers, exactly; `None` where they overflow or are no functions of Integers.
fn integer_builtin(f: Builtin, args: &[i64]) -> Option<i64> {
    match (f, args) {
        (Builtin::Abs, &[a]) => a.checked_abs(),
        (Builtin::Min, &[a, b]) => Some(a.min(b)),
        (Builtin::Max, &[a, b]) => Some(a.max(b)),
        (Builtin::Div, &[a, b]) => a.checked_div(b),
        (Builtin::Rem, &[a, b]) => a.checked_rem(b),
        (Builtin::Mod, &[a, b]) => {
            let rest = a.checked_rem(b)?;
            // The result has the sign of the divisor (MLS 3.6 §3.7.2).
            match rest != 0 && (rest < 0) != (b < 0) {
                true => Some(rest + b),
                false => Some(rest),
            }
        }
        _ => None,
    }
}

impl Exprs {
    /// A Real literal.
    pub fn real(&mut self, v: f64) -> ExprId {
        self.intern(Node::Real(v.to_bits()), Ty::Real)
    }

    /// An Integer literal.
    pub fn int(&mut self, v: i64) -> ExprId {
        self.intern(Node::Int(v), Ty::Int)
    }

    /// A Boolean literal.
    pub fn bool(&mut self, v: bool) -> ExprId {
        self.intern(Node::Bool(v), Ty::Bool)
    }

    /// A String literal.
    pub fn str(&mut self, text: &str) -> ExprId {
        let s = self.make_str(text);
        self.intern(Node::Str(s), Ty::Str)
    }

    /// `time`
    pub fn time(&mut self) -> ExprId {
        self.intern(Node::Time, Ty::Real)
    }

    /// The value of an iterator.
    pub fn iter(&mut self, i: IterId) -> ExprId {
        self.intern(Node::Iter(i), Ty::Int)
    }

    /// An element of a variable.
    pub fn var(&mut self, var: VarId, kind: Kind, subs: &[ExprId], ty: Ty) -> ExprId {
        let subs = self.make_list(subs);
        self.intern(Node::Var(Access { var, kind, subs }), ty)
    }

    /// A scalar variable.
    pub fn scalar_var(&mut self, var: VarId, kind: Kind, ty: Ty) -> ExprId {
        self.var(var, kind, &[], ty)
    }

    /// The same element with another kind (value, derivative, left limit).
    pub fn access(&mut self, access: Access, ty: Ty) -> ExprId {
        self.intern(Node::Var(access), ty)
    }

    pub(crate) fn num(&mut self, n: Num) -> ExprId {
        match n {
            Num::Int(i) => self.int(i),
            Num::Real(r) => self.real(r),
        }
    }

    pub(crate) fn as_num(&self, e: ExprId) -> Option<Num> {
        match self.node(e) {
            Node::Int(i) => Some(Num::Int(i)),
            Node::Real(r) => Some(Num::Real(f64::from_bits(r))),
            _ => None,
        }
    }

    /// The value of a numeric literal.
    pub fn as_f64(&self, e: ExprId) -> Option<f64> {
        self.as_num(e).map(Num::f)
    }

    /// The value of an Integer literal.
    pub fn as_int(&self, e: ExprId) -> Option<i64> {
        match self.node(e) {
            Node::Int(i) => Some(i),
            _ => None,
        }
    }

    /// The value of a Boolean literal.
    pub fn as_bool(&self, e: ExprId) -> Option<bool> {
        match self.node(e) {
            Node::Bool(b) => Some(b),
            _ => None,
        }
    }

    /// True for the literal zero.
    pub fn is_zero(&self, e: ExprId) -> bool {
        self.as_f64(e) == Some(0.0)
    }

    /// True for the literal one.
    pub fn is_one(&self, e: ExprId) -> bool {
        self.as_f64(e) == Some(1.0)
    }

    fn join(&self, members: &[ExprId]) -> Ty {
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

    pub(crate) fn scaled(&mut self, n: Num, e: ExprId) -> ExprId {
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
            let n = sign.map_or(n, |s| n.mul(s));
            match rest {
                None => *constant = constant.add(n),
                Some(rest) => terms.add(rest, n),
            }
        }
    }

    /// The terms of a weighted sum with their literal factors, in order of first appearance, and the literal.
    pub(crate) fn collected(&mut self, sum: &[(ExprId, i64)]) -> (Vec<(ExprId, Num)>, Num) {
        let mut terms = Terms::default();
        let mut constant = Num::Int(0);
        for &(e, sign) in sum {
            let sign = (sign != 1).then_some(Num::Int(sign));
            self.collect(e, sign, &mut terms, &mut constant);
        }
        (terms.list, constant)
    }

    /// The sum of terms that are collected already: no sums, no two alike, at most one literal, which is the last.
    pub(crate) fn sum_of_terms(&mut self, terms: &[ExprId]) -> ExprId {
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
                            Some(n) => constant = constant.mul(n),
                            None => out.push(m),
                        }
                    }
                }
                _ => match self.as_num(factor) {
                    Some(n) => constant = constant.mul(n),
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
            (c, None) => self.num(c.mul(n)),
            (c, Some(rest)) => self.scaled(c.mul(n), rest),
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

    /// A relation.
    pub fn rel(&mut self, op: RelOp, a: ExprId, b: ExprId) -> ExprId {
        if let (Some(x), Some(y)) = (self.as_f64(a), self.as_f64(b)) {
            let v = crate::evaluate::compare(op, x, y);
            return self.bool(v);
        }
        if let (Some(x), Some(y)) = (self.as_bool(a), self.as_bool(b)) {
            let v = crate::evaluate::compare(op, x as u8 as f64, y as u8 as f64);
            return self.bool(v);
        }
        if let (Node::Str(x), Node::Str(y)) = (self.node(a), self.node(b)) {
            let ord = self.string(x).cmp(self.string(y)) as i8 as f64;
            let v = crate::evaluate::compare(op, ord, 0.0);
            return self.bool(v);
        }
        self.intern(Node::Rel(op, a, b), Ty::Bool)
    }

    /// `not a`
    pub fn not(&mut self, a: ExprId) -> ExprId {
        match self.node(a) {
            Node::Bool(b) => self.bool(!b),
            Node::Not(inner) => inner,
            _ => self.intern(Node::Not(a), Ty::Bool),
        }
    }

    /// `a and b`
    pub fn and(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.as_bool(a), self.as_bool(b)) {
            (Some(true), _) => b,
            (_, Some(true)) => a,
            (Some(false), _) | (_, Some(false)) => self.bool(false),
            _ if a == b => a,
            _ => self.intern(Node::And(a, b), Ty::Bool),
        }
    }

    /// `a or b`
    pub fn or(&mut self, a: ExprId, b: ExprId) -> ExprId {
        match (self.as_bool(a), self.as_bool(b)) {
            (Some(false), _) => b,
            (_, Some(false)) => a,
            (Some(true), _) | (_, Some(true)) => self.bool(true),
            _ if a == b => a,
            _ => self.intern(Node::Or(a, b), Ty::Bool),
        }
    }

    /// `if c then a else b`
    pub fn if_(&mut self, c: ExprId, a: ExprId, b: ExprId) -> ExprId {
        match self.as_bool(c) {
            Some(true) => return a,
            Some(false) => return b,
            None if a == b => return a,
            None => {}
        }
        let ty = match (self.ty(a), self.ty(b)) {
            (x, y) if x == y => x,
            _ => Ty::Real,
        };
        self.intern(Node::If(c, a, b), ty)
    }

    /// A built-in function.
    pub fn call(&mut self, f: Builtin, args: &[ExprId]) -> ExprId {
        if let Some(folded) = self.fold_call(f, args) {
            return folded;
        }
        let ty = match f {
            Builtin::Integer => Ty::Int,
            Builtin::Initial
            | Builtin::Terminal
            | Builtin::Sample
            | Builtin::Edge
            | Builtin::Clock
            | Builtin::EventClock
            | Builtin::FirstTick
            | Builtin::Change => Ty::Bool,
            Builtin::Abs
            | Builtin::Min
            | Builtin::Max
            | Builtin::Div
            | Builtin::Mod
            | Builtin::Rem => self.join(args),
            Builtin::Sign => Ty::Int,
            Builtin::Concat | Builtin::Text => Ty::Str,
            Builtin::Start
            | Builtin::Homotopy
            | Builtin::ClockedSample
            | Builtin::Hold
            | Builtin::Previous
            | Builtin::SubSample
            | Builtin::SuperSample
            | Builtin::ShiftSample
            | Builtin::BackSample
            | Builtin::NoClock => self.ty(args[0]),
            _ => Ty::Real,
        };
        let l = self.make_list(args);
        self.intern(Node::Call(f, l), ty)
    }

    fn fold_call(&mut self, f: Builtin, args: &[ExprId]) -> Option<ExprId> {
        if matches!(
            f,
            Builtin::Initial
                | Builtin::Terminal
                | Builtin::Sample
                | Builtin::Delay
                | Builtin::Spatial
                | Builtin::Edge
                | Builtin::Change
                | Builtin::Homotopy
                | Builtin::Start
        ) || f.is_clocked()
        {
            return None;
        }
        let whole: Option<Vec<i64>> = args.iter().map(|&a| self.as_int(a)).collect();
        if let Some(v) = whole.and_then(|v| integer_builtin(f, &v)) {
            return Some(self.int(v));
        }
        let values: Option<Vec<f64>> = args.iter().map(|&a| self.as_f64(a)).collect();
        let v = crate::apply_builtin(f, &values?)?;
        let int = match f {
            Builtin::Integer | Builtin::Sign => true,
            Builtin::Abs
            | Builtin::Min
            | Builtin::Max
            | Builtin::Div
            | Builtin::Mod
            | Builtin::Rem => self.join(args) == Ty::Int,
            _ => false,
        };
        if !v.is_finite() {
            return None; // keep sqrt(-1) as it stands: the error is reported where it is evaluated
        }
        // Beyond the range of Integers the value stays a Real, as that of a sum does.
        Some(if int && v.abs() < i64::MAX as f64 {
            self.int(v as i64)
        } else {
            self.real(v)
        })
    }

    /// A reduction; short ones are written out, so that small vector products need no loop.
    pub fn reduce(&mut self, op: ReduceOp, iter: IterId, range: Range, body: ExprId) -> ExprId {
        const WRITE_OUT: i64 = 8;
        let irregular = self.any(body, |e, n| match e.node(n) {
            Node::Select(index, _) => e.any(index, |e, m| e.node(m) == Node::Iter(iter)),
            _ => false,
        });
        if range.count <= WRITE_OUT || irregular {
            let terms: Vec<ExprId> = range
                .values()
                .map(|v| {
                    let v = self.int(v);
                    self.substitute_iter(body, iter, v)
                })
                .collect();
            return self.combine(op, &terms);
        }
        if let Some(parts) = self.reduction_parts(iter, range, body) {
            let terms: Vec<ExprId> = parts
                .into_iter()
                .map(|(range, body)| self.reduce(op, iter, range, body))
                .collect();
            return self.combine(op, &terms);
        }
        if op == ReduceOp::Sum && !self.depends_on_iter(body, iter) {
            let n = self.int(range.count);
            return self.mul(&[n, body]);
        }
        let ty = self.ty(body);
        self.intern(
            Node::Reduce {
                op,
                iter,
                range,
                body,
            },
            ty,
        )
    }

    /// The reduction of expressions that are written out.
    fn combine(&mut self, op: ReduceOp, terms: &[ExprId]) -> ExprId {
        match op {
            ReduceOp::Sum => self.add(terms),
            ReduceOp::Product => self.mul(terms),
            ReduceOp::Min => self.fold(Builtin::Min, terms, f64::MAX),
            ReduceOp::Max => self.fold(Builtin::Max, terms, f64::MIN),
        }
    }

    fn fold(&mut self, f: Builtin, terms: &[ExprId], empty: f64) -> ExprId {
        match terms.split_first() {
            None => self.real(empty),
            Some((&first, rest)) => rest.iter().fold(first, |acc, &t| self.call(f, &[acc, t])),
        }
    }

    /// `{list}[index]`
    pub fn select(&mut self, index: ExprId, list: &[ExprId]) -> ExprId {
        if let Some(i) = self.as_int(index)
            && i >= 1
            && i as usize <= list.len()
        {
            return list[i as usize - 1];
        }
        if let Some((&first, rest)) = list.split_first()
            && rest.iter().all(|&m| m == first)
        {
            return first;
        }
        let ty = match list.split_first() {
            Some((&first, rest)) if rest.iter().all(|&m| self.ty(m) == self.ty(first)) => {
                self.ty(first)
            }
            _ => Ty::Real,
        };
        let l = self.make_list(list);
        self.intern(Node::Select(index, l), ty)
    }

    /// `noEvent(e)`; constants need no protection.
    pub fn no_event(&mut self, e: ExprId) -> ExprId {
        if matches!(self.node(e), Node::NoEvent(_)) {
            return e;
        }
        if self.any(e, |x, n| {
            matches!(x.node(n), Node::Rel(..) | Node::Call(..))
        }) {
            self.intern(Node::NoEvent(e), self.ty(e))
        } else {
            e
        }
    }

    /// `smooth(p, e)`
    pub fn smooth(&mut self, p: u8, e: ExprId) -> ExprId {
        if matches!(self.node(e), Node::Real(_) | Node::Int(_)) {
            return e;
        }
        self.intern(Node::Smooth(p, e), self.ty(e))
    }

    /// A scalar output of a run-time function.
    pub fn apply(
        &mut self,
        func: FuncId,
        args: &[ExprId],
        output: u32,
        wrt: &[u32],
        ty: Ty,
    ) -> ExprId {
        let mut positions: Vec<u32> = wrt.to_vec();
        positions.sort_unstable();
        let positions: Vec<ExprId> = positions.into_iter().map(|p| self.int(p as i64)).collect();
        let wrt: List = self.make_list(&positions);
        let args = self.make_list(args);
        self.intern(
            Node::Apply {
                func,
                args,
                output,
                wrt,
            },
            ty,
        )
    }

    /// A scalar of a function's frame.
    pub fn local(&mut self, base: u32, len: u32, offset: ExprId, ty: Ty) -> ExprId {
        self.intern(Node::Local { base, len, offset }, ty)
    }
}
