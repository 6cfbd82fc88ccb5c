//! Sums and products of arrays of operator records (MLS 3.6 §14.5): `sum(z)`, `A*z` with complex numbers.
//!
//! A sum of records is made of their `'+'`. Where that adds field by field, as for complex numbers and all other vector spaces, the sum is one reduction
//! per field and the array stays whole: `'+'` is asked once, for two elements at different iterators, and its result compared with the sums of the
//! fields. Any other `'+'` is applied element after element.

use acausal_base::{Name, Span};
use acausal_expr::{ExprId, Range, ReduceOp};
use acausal_symbolic::Reduce;

use super::irregular::UNROLL;
use super::{Arguments, Context, Env, Record, Result, Subscript, Value, error, prepend};
use acausal_instance::instance::Scope;

impl Context {
    /// The sum of all elements of an array of records.
    pub(super) fn sum_of_records(&mut self, records: &Record, span: Span) -> Result<Value> {
        let whole = Value::Record(records.clone());
        if records.dims.contains(&0) {
            return self.zero_record(records, span);
        }
        let at = |this: &mut Context| -> (Value, Vec<(acausal_expr::IterId, usize)>) {
            let iters: Vec<_> = records
                .dims
                .iter()
                .map(|&n| (this.iterator(None, Range::upto(n)), n))
                .collect();
            let subs: Vec<Subscript> = iters
                .iter()
                .map(|&(i, _)| Subscript::Element(this.exprs.iter(i)))
                .collect();
            (whole.index(&mut this.exprs, &subs), iters)
        };
        let ((a, iters), (b, _)) = (at(self), at(self));
        if records.dims.iter().all(|&n| n == 1) {
            let one = self.exprs.int(1);
            let subs: Vec<Subscript> = iters.iter().map(|_| Subscript::Element(one)).collect();
            return Ok(whole.index(&mut self.exprs, &subs));
        }
        let sum = self.record_operator("+", vec![a.clone(), b.clone()], span)?;
        if self.adds_by_field(&a, &b, &sum) {
            let exprs = &mut self.exprs;
            return Ok(a.map_leaves(&mut |t| {
                let body = iters.iter().rev().fold(t.body, |body, &(i, n)| {
                    exprs.reduce(ReduceOp::Sum, i, Range::upto(n), body)
                });
                super::Tensor { body, ..t.clone() }
            }));
        }
        let count: usize = records.dims.iter().product();
        if count > UNROLL {
            let message =
                format!("a sum of {count} records whose `'+'` is not that of their fields");
            return Err(error("loop-too-long", span, message));
        }
        let mut total: Option<Value> = None;
        for k in 0..count {
            let mut rest = k;
            let mut subs: Vec<Subscript> = Vec::new();
            for &n in records.dims.iter().rev() {
                let position = self.exprs.int((rest % n) as i64 + 1);
                subs.insert(0, Subscript::Element(position));
                rest /= n;
            }
            let term = whole.index(&mut self.exprs, &subs);
            total = Some(match total {
                None => term,
                Some(sum) => self.record_operator("+", vec![sum, term], span)?,
            });
        }
        total.ok_or_else(|| error("argument-shape", span, "an empty sum"))
    }

    /// The neutral element of the sum, `'0'`.
    fn zero_record(&mut self, records: &Record, span: Span) -> Result<Value> {
        let zero = self.instances.member(records.class, Name::new("'0'"));
        let value = match zero {
            Some(zero) => {
                let env = Env::new(Scope::of(records.class));
                self.overloaded(&env, zero, Arguments::default(), span)?
            }
            None => None,
        };
        value.ok_or_else(|| {
            let class = self.instances.class_name(records.class);
            let message = format!("an empty sum of `{class}`, which has no operator `'0'`");
            error("operator-mismatch", span, message)
        })
    }

    fn adds_by_field(&mut self, a: &Value, b: &Value, sum: &Value) -> bool {
        let bodies = |v: &Value| {
            let mut out: Vec<(Vec<Name>, ExprId)> = Vec::new();
            v.for_each_leaf(&mut Vec::new(), &mut |path, t| {
                if t.is_scalar() {
                    out.push((path.to_vec(), t.body));
                }
            });
            out
        };
        let mut leaves = 0;
        a.for_each_leaf(&mut Vec::new(), &mut |_, _| leaves += 1);
        let (a, b, sum) = (bodies(a), bodies(b), bodies(sum));
        a.len() == leaves
            && b.len() == leaves
            && sum.len() == leaves
            && a.iter().zip(&b).zip(&sum).all(|((a, b), s)| {
                let added = self.exprs.add(&[a.1, b.1]);
                a.0 == b.0 && a.0 == s.0 && added == s.1
            })
    }

    /// `a*b` of vectors and matrices of which at least one has records: the last dimension of `a` against the first of `b`. `None` if the sizes do not fit.
    pub(super) fn record_matrix_product(
        &mut self,
        a: &Value,
        b: &Value,
        span: Span,
    ) -> Result<Option<Value>> {
        let (p, q) = (a.dims().to_vec(), b.dims().to_vec());
        if !(1..=2).contains(&p.len()) || !(1..=2).contains(&q.len()) || p.last() != q.first() {
            return Ok(None);
        }
        let n = q[0];
        let k = self.iterator(None, Range::upto(n));
        let inner = Subscript::Element(self.exprs.iter(k));
        let mut outer = Vec::new();
        let mut element = |this: &mut Context, size: Option<&usize>| {
            size.map(|&n| {
                let i = this.iterator(None, Range::upto(n));
                outer.push((i, n));
                Subscript::Element(this.exprs.iter(i))
            })
        };
        let mut left: Vec<Subscript> = Vec::new();
        left.extend(element(self, p[..p.len() - 1].first()));
        left.push(inner.clone());
        let mut right = vec![inner];
        right.extend(element(self, q.get(1)));
        let operands = vec![
            a.index(&mut self.exprs, &left),
            b.index(&mut self.exprs, &right),
        ];
        let term = self.record_operator("*", operands, span)?;
        let Value::Record(terms) = prepend(&term, k, n) else {
            return Ok(None);
        };
        let mut value = self.sum_of_records(&terms, span)?;
        for &(i, n) in outer.iter().rev() {
            value = prepend(&value, i, n);
        }
        Ok(Some(value))
    }
}
