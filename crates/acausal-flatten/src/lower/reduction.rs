//! Reductions: `sum`, `product`, `min`, `max` of arrays and of iterations (MLS 3.6 §10.3.4).

use acausal_base::Name;
use acausal_expr::{Builtin, Range, ReduceOp};
use acausal_symbolic::Reduce;
use acausal_syntax::ast::{Call, Expr, ForIndex};

use super::comprehension::Under;
use super::{Context, Env, IterationRange, Result, Tensor, Type, Value, error};

impl Context {
    /// `sum(e for i in r)` and the other reductions (MLS 3.6 §10.3.4).
    pub(super) fn reduction(&mut self, env: &Env<'_>, name: Name, call: &Call) -> Result<Value> {
        let Some(body) = call.args.first() else {
            return Err(error(
                "reduction",
                call.span,
                "a reduction needs an expression",
            ));
        };
        let op = match name.as_str() {
            "sum" => ReduceOp::Sum,
            "product" => ReduceOp::Product,
            "min" => ReduceOp::Min,
            "max" => ReduceOp::Max,
            "array" => return self.array_comprehension(env, body, &call.indices),
            other => {
                return Err(error(
                    "reduction",
                    call.span,
                    format!("`{other}` is not a reduction"),
                ));
            }
        };
        let value = self.reduced(env, op, body, &call.indices)?;
        if let (ReduceOp::Sum, Value::Record(_)) = (op, &value) {
            let records = self.array_comprehension(env, body, &call.indices)?;
            if let Value::Record(records) = records {
                return self.sum_of_records(&records, body.span);
            }
        }
        let t = self.as_tensor(value, body.span)?;
        if !t.ty.is_numeric()
            && !matches!(
                (op, t.ty),
                (ReduceOp::Min | ReduceOp::Max, Type::Enum(_) | Type::Boolean)
            )
        {
            let found = self.describe(&Value::Tensor(t));
            return Err(error(
                "type-mismatch",
                body.span,
                format!("`{name}` takes numbers, not {found}"),
            ));
        }
        Ok(Value::Tensor(t))
    }

    /// The body reduced over all iterators, of which the last one is outermost. Records are left as they are.
    fn reduced(
        &mut self,
        env: &Env<'_>,
        op: ReduceOp,
        body: &Expr,
        indices: &[ForIndex],
    ) -> Result<Value> {
        let Some((index, inner)) = indices.split_last() else {
            return self.single(env, body);
        };
        let iteration = self.iteration(env, index, &[body])?;
        let symbol = match &iteration {
            IterationRange::Range(ty, range) => {
                let iter = self.iterator(Some(index.name.name), *range);
                let value = Value::scalar(*ty, self.exprs.iter(iter));
                let range = *range;
                Under { iter, range, value }
            }
            IterationRange::Vector(v) => {
                let range = Range::upto(v.dims[0]);
                let iter = self.iterator(None, range);
                let value = self.iteration_value(&iteration, iter);
                Under { iter, range, value }
            }
        };
        let under = self.under(env, index, &iteration, symbol, &mut |this, env| {
            this.reduced(env, op, body, inner)
        })?;
        if let Value::Record(_) = under.value {
            return Ok(under.value);
        }
        let t = self.as_tensor(under.value, body.span)?;
        let body = match op {
            ReduceOp::Sum if under.range.count == 0 => self.exprs.int(0),
            ReduceOp::Product if under.range.count == 0 => self.exprs.int(1),
            _ => self.exprs.reduce(op, under.iter, under.range, t.body),
        };
        Ok(Value::Tensor(Tensor { body, ..t }))
    }

    pub(super) fn extremum(&mut self, env: &Env<'_>, name: &str, call: &Call) -> Result<Value> {
        self.expect_count(call, 1, 2)?;
        let (op, f) = if name == "min" {
            (ReduceOp::Min, Builtin::Min)
        } else {
            (ReduceOp::Max, Builtin::Max)
        };
        if let [a, b] = call.args.as_slice() {
            let (x, y) = (self.tensor(env, a)?, self.tensor(env, b)?);
            let ordered = |t: Type| t != Type::String;
            return match x.ty.join(y.ty).filter(|&t| ordered(t)) {
                Some(Type::Boolean) if x.is_scalar() && y.is_scalar() => {
                    let body = if name == "min" {
                        self.exprs.and(x.body, y.body)
                    } else {
                        self.exprs.or(x.body, y.body)
                    };
                    Ok(Value::scalar(Type::Boolean, body))
                }
                Some(ty) if x.is_scalar() && y.is_scalar() => {
                    Ok(Value::scalar(ty, self.exprs.call(f, &[x.body, y.body])))
                }
                _ => {
                    let (p, q) = (
                        self.describe(&Value::Tensor(x)),
                        self.describe(&Value::Tensor(y)),
                    );
                    Err(error(
                        "type-mismatch",
                        call.span,
                        format!("`{name}` takes two scalars or one array, not {p} and {q}"),
                    ))
                }
            };
        }
        let t = self.one(env, call)?;
        if t.is_empty() || t.ty == Type::String || t.is_scalar() {
            return Err(self.shape_error(call, &t, "two scalars or an array with elements"));
        }
        Ok(Value::Tensor(t.reduce(&mut self.exprs, op)))
    }
}
