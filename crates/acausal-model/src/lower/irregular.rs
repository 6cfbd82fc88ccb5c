//! Comprehensions and reductions whose elements have no common form (MLS 3.6 §10.4.1).
//!
//! A body is lowered once, for all values of its iterators. Two things need the values themselves: a range or size that depends on an iterator (a
//! triangle, `{sum(x[j] for j in 1:i) for i in 1:n}`), and a subscript that only a condition without affine form keeps inside of its array (`if mod(i,
//! 2) == 1 then x[i+1] else 0`). The outermost iterator then takes its values one by one, and the rest is lowered as if it stood alone: so only
//! the iterators outside of what is irregular are written out.
//!
//! Cost: one lowering of the body per value, at most [`UNROLL`] of them.

use acausal_syntax::Diagnostic;
use acausal_syntax::ast::{Expr, ForIndex};

use super::{Context, Env, Iteration, Result, Value, error};

/// Iterations whose body needs the value of the iterator are unrolled up to this length.
pub const UNROLL: usize = 100_000;

/// Whether a message may go away once iterators have values.
pub fn is_irregular(message: &Diagnostic) -> bool {
    matches!(message.code, "not-constant" | "subscript-bounds")
}

impl Context {
    /// The value of an iterator in its round `p`, from 1.
    pub fn iteration_element(
        &mut self,
        env: &Env<'_>,
        index: &ForIndex,
        iteration: &Iteration,
        p: i64,
    ) -> Result<Value> {
        Ok(match iteration {
            Iteration::Range(ty, range) => Value::scalar(*ty, self.exprs.int(range.at(p - 1))),
            Iteration::Vector(v) => {
                let e = v.element(&mut self.exprs, &[p]);
                let span = index.range.as_ref().map_or(index.span, |r| r.span);
                let e = self.constant(env, e, span, "what an iterator runs over")?;
                Value::scalar(v.ty, e)
            }
        })
    }

    /// `{body for indices}` with the values of the outermost iterator; `message` says why it could not be lowered as a whole.
    pub(super) fn irregular_comprehension(
        &mut self,
        env: &Env<'_>,
        body: &Expr,
        indices: &[ForIndex],
        message: Box<Diagnostic>,
    ) -> Result<Value> {
        let Some((index, rest)) = indices.split_last() else {
            return Err(message);
        };
        let Ok(iteration) = self.iteration(env, index, &[body]) else {
            return Err(message);
        };
        if iteration.count() == 0 || iteration.count() > UNROLL {
            return Err(message);
        }
        let mut members = Vec::with_capacity(iteration.count());
        for p in 1..=iteration.count() as i64 {
            let value = self.iteration_element(env, index, &iteration, p)?;
            let inner = env.with_loop(index.name.name, value);
            let member = match rest {
                [] => self.single(&inner, body),
                _ => self.array_comprehension(&inner, body, rest),
            };
            match member {
                Ok(member) => members.push(member),
                // The subscript is out of bounds after all: the message about all values says more.
                Err(_) if message.code == "subscript-bounds" => return Err(message),
                Err(other) => return Err(other),
            }
        }
        Value::stack(&mut self.exprs, &members).ok_or_else(|| {
            error(
                "array-members",
                body.span,
                format!(
                    "the elements of an array must be alike, but this changes its size with `{}`",
                    index.name
                ),
            )
        })
    }
}
