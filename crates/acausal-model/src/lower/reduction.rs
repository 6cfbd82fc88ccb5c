//! Reductions: `sum`, `product`, `min`, `max` of arrays and of iterations (MLS 3.6 §10.3.4).

use acausal_expr::{Builtin, Range, ReduceOp};
use acausal_syntax::ast::{Call, Expr, ExprKind, ForIndex};
use acausal_syntax::{Diagnostic, Name, Span};

use super::irregular::is_irregular;
use super::{Context, Env, Iteration, Result, Tensor, Type, Value, error};

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
        let pending = self.function_state.asserts.len();
        match self.regular_reduction(env, name, op, body, &call.indices) {
            Err(message) if is_irregular(&message) => {
                self.function_state.asserts.truncate(pending);
                self.irregular_reduction(env, name, op, call, message)
            }
            other => other,
        }
    }

    /// A reduction along its outermost iterator: the results of the rest for each of its values, put together. They need not have the same
    /// number of terms.
    fn irregular_reduction(
        &mut self,
        env: &Env<'_>,
        name: Name,
        op: ReduceOp,
        call: &Call,
        message: Box<Diagnostic>,
    ) -> Result<Value> {
        let mut outer = call.clone();
        let Some(index) = outer.indices.pop() else {
            return Err(message);
        };
        let terms = match outer.indices.is_empty() {
            true => call.args[0].clone(),
            false => Expr::new(ExprKind::Call(Box::new(outer)), call.span),
        };
        let terms = self.irregular_comprehension(env, &terms, &[index], message)?;
        if let (ReduceOp::Sum, Value::Record(records)) = (op, &terms) {
            return self.sum_of_records(records, call.span);
        }
        let t = self.as_tensor(terms, call.span)?;
        self.expect_reducible(name, op, &t, call.span)?;
        Ok(Value::Tensor(t.reduce(&mut self.exprs, op)))
    }

    fn expect_reducible(&mut self, name: Name, op: ReduceOp, t: &Tensor, span: Span) -> Result<()> {
        let ordered = matches!(
            (op, t.ty),
            (ReduceOp::Min | ReduceOp::Max, Type::Enum(_) | Type::Boolean)
        );
        if t.ty.is_numeric() || ordered {
            return Ok(());
        }
        let found = self.describe(&Value::Tensor(t.clone()));
        Err(error(
            "type-mismatch",
            span,
            format!("`{name}` takes numbers, not {found}"),
        ))
    }

    fn regular_reduction(
        &mut self,
        env: &Env<'_>,
        name: Name,
        op: ReduceOp,
        body: &Expr,
        indices: &[ForIndex],
    ) -> Result<Value> {
        let mut inner = env.clone();
        let mut loops = Vec::new();
        let mut empty = false;
        for index in indices.iter().rev() {
            let iteration = self.iteration(&inner, index, &[body])?;
            empty |= iteration.count() == 0;
            let (k, range, value) = match &iteration {
                Iteration::Range(ty, r) => {
                    let k = self.iterator(Some(index.name.name), *r);
                    (k, *r, Value::scalar(*ty, self.exprs.iter(k)))
                }
                Iteration::Vector(v) => {
                    let range = Range::upto(v.dims[0]);
                    let k = self.iterator(None, range);
                    (k, range, self.iteration_value(&iteration, k))
                }
            };
            inner.loops.push((index.name.name, value));
            loops.push((k, range));
        }
        let value = self.single(&inner, body)?;
        if let (ReduceOp::Sum, Value::Record(_)) = (op, &value) {
            let records = self.array_comprehension(env, body, indices)?;
            if let Value::Record(records) = records {
                return self.sum_of_records(&records, body.span);
            }
        }
        let t = self.as_tensor(value, body.span)?;
        self.expect_reducible(name, op, &t, body.span)?;
        if empty && matches!(op, ReduceOp::Sum | ReduceOp::Product) {
            let v = self.exprs.int(i64::from(op == ReduceOp::Product));
            return Ok(Value::Tensor(Tensor { body: v, ..t }));
        }
        let mut value = t.body;
        for &(k, range) in loops.iter().rev() {
            value = self.exprs.reduce(op, k, range, value);
        }
        Ok(Value::Tensor(Tensor { body: value, ..t }))
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
