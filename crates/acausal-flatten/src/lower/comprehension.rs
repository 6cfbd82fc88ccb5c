//! Values under iterators: `{e for i in r, j in s}` (MLS 3.6 §10.4.1.1) and what reductions reduce (§10.3.4).
//!
//! The body is lowered once with the iterator as a symbol. Where it needs the value of the iterator, for a size (`sum(x[1:i])`), a nested range or a
//! String, or to know that a subscript stays inside of its array, it is lowered once per value, and the results are a selection by the iterator, as if they had been written out. With
//! nothing to run over the body is not evaluated at all; its type is all that is left of it.
//!
//! Example: `{sum(x[1:i]) for i in 1:3}` becomes `{x[1], sum(x[k] for k in 1:2), sum(x[k] for k in 1:3)}[i] for i in 1:3`.

use acausal_expr::{IterId, Range};
use acausal_syntax::ast::{Expr, ForIndex};

use super::irregular::UNROLL;
use super::{Context, Env, IterationRange, Record, Result, Subscript, Tensor, Value, error};

/// A value that depends on an iterator with this range.
pub(super) struct Under {
    pub iter: IterId,
    pub range: Range,
    pub value: Value,
}

impl Context {
    /// `{e for i in r, j in s}`: the last iterator becomes the first dimension.
    pub(super) fn array_comprehension(
        &mut self,
        env: &Env<'_>,
        body: &Expr,
        indices: &[ForIndex],
    ) -> Result<Value> {
        let Some((index, inner)) = indices.split_last() else {
            return self.single(env, body);
        };
        let iteration = self.iteration(env, index, &[body])?;
        // Iterators of arrays count from 1.
        let iter = self.iterator(None, Range::upto(iteration.count()));
        let under = Under {
            iter,
            range: Range::upto(iteration.count()),
            value: self.iteration_value(&iteration, iter),
        };
        let under = self.under(env, index, &iteration, under, &mut |this, env| {
            this.array_comprehension(env, body, inner)
        })?;
        Ok(prepend(&under.value, under.iter, iteration.count()))
    }

    /// The value of `lower` with one more iterator: that of `symbol` with its value as a function of it, or one that counts from 1.
    pub(super) fn under(
        &mut self,
        env: &Env<'_>,
        index: &ForIndex,
        iteration: &IterationRange,
        symbol: Under,
        lower: &mut dyn FnMut(&mut Context, &Env<'_>) -> Result<Value>,
    ) -> Result<Under> {
        let name = index.name.name;
        let count = iteration.count();
        let Under { iter, range, value } = symbol;
        let inner = env.with_loop(name, value);
        let marks = (
            self.errors.len(),
            self.warnings.len(),
            self.function_state.asserts.len(),
        );
        if count == 0 {
            let value = self.without_evaluation(&inner, lower)?;
            return Ok(Under { iter, range, value });
        }
        let message = match lower(self, &inner) {
            Ok(value) => return Ok(Under { iter, range, value }),
            Err(error) if error.is_irregular() && count <= UNROLL => error,
            Err(message) => return Err(message),
        };
        self.errors.truncate(marks.0);
        self.warnings.truncate(marks.1);
        self.function_state.asserts.truncate(marks.2);
        let mut values = Vec::with_capacity(count);
        for position in 1..=count as i64 {
            let value = self.iteration_element(env, index, iteration, position)?;
            let inner = env.with_loop(name, value);
            // If that does not help, the iterator was not the reason.
            values.push(lower(self, &inner).map_err(|again| {
                if again.is_irregular() {
                    message.clone()
                } else {
                    again
                }
            })?);
        }
        let Some(stacked) = Value::stack(&mut self.exprs, &values) else {
            let first = self.describe(&values[0]);
            let message = format!("the shape of this depends on `{name}`; first it is {first}");
            return Err(error("array-members", index.span, message));
        };
        let range = Range::upto(count);
        let iter = self.iterator(None, range);
        let position = self.exprs.iter(iter);
        let value = stacked.index(&mut self.exprs, &[Subscript::Element(position)]);
        Ok(Under { iter, range, value })
    }

    /// What a body would give if there were anything to run over: of its type, and without meaning.
    fn without_evaluation(
        &mut self,
        env: &Env<'_>,
        lower: &mut dyn FnMut(&mut Context, &Env<'_>) -> Result<Value>,
    ) -> Result<Value> {
        let value = self.for_shape(env, lower)?;
        let exprs = &mut self.exprs;
        Ok(value.map_leaves(&mut |t| Tensor {
            body: super::tensor::zero(exprs, t.ty),
            ..t.clone()
        }))
    }
}

/// A value that depends on `k` in `1:n` with that dimension in front.
pub fn prepend(value: &Value, k: acausal_expr::IterId, n: usize) -> Value {
    match value {
        Value::Tensor(t) => {
            let mut t = t.clone();
            t.dims.insert(0, n);
            t.iters.insert(0, k);
            Value::Tensor(t)
        }
        Value::Record(r) => {
            let mut dims = r.dims.clone();
            dims.insert(0, n);
            let fields = r
                .fields
                .iter()
                .map(|(name, v)| (*name, prepend(v, k, n)))
                .collect();
            Value::Record(Record {
                class: r.class,
                dims,
                fields,
            })
        }
        Value::Tuple(vs) => Value::Tuple(vs.iter().map(|v| prepend(v, k, n)).collect()),
        Value::Function(f) => Value::Function(f.clone()),
    }
}
