//! Constructors that simplify on the way; sums, products and powers are in `arithmetic`.
//!
//! Rules (each preserves the value wherever the operands are finite): constants fold exactly as Modelica evaluates
//! them, branches with a known condition are taken, double negations and nested protections vanish. A constructor looks at
//! its operands and no deeper; the one whose normal form needs more, that of reductions, is in `acausal-symbolic`.

use crate::arithmetic::Num;
use crate::{
    Access, Builtin, ExprId, Exprs, FuncId, IterId, List, Node, Range, ReduceOp, RelOp, Ty,
    ValueKind, VarId,
};

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
    pub fn var(&mut self, var: VarId, kind: ValueKind, subs: &[ExprId], ty: Ty) -> ExprId {
        let subs = self.make_list(subs);
        self.intern(Node::Var(Access { var, kind, subs }), ty)
    }

    /// A scalar variable.
    pub fn scalar_var(&mut self, var: VarId, kind: ValueKind, ty: Ty) -> ExprId {
        self.var(var, kind, &[], ty)
    }

    /// The same element with another kind (value, derivative, left limit).
    pub fn access(&mut self, access: Access, ty: Ty) -> ExprId {
        self.intern(Node::Var(access), ty)
    }

    /// A numeric literal.
    pub fn num(&mut self, n: Num) -> ExprId {
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
            Builtin::Unassigned => self.ty(args[1]),
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

    /// A reduction as it is. Its normal form needs substitution, see `Reduce` of `acausal-symbolic`.
    pub fn reduction(&mut self, op: ReduceOp, iter: IterId, range: Range, body: ExprId) -> ExprId {
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
