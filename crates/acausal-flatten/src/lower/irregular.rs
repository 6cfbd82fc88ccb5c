//! What tells comprehensions, reductions and loops whose elements have no common form (MLS 3.6 §10.4.1).
//!
//! A body is lowered once, for all values of its iterators. Two things need the values themselves: a range or size that depends on an iterator (a
//! triangle, `{sum(x[j] for j in 1:i) for i in 1:n}`), and a subscript that only a condition without affine form keeps inside of its array (`if mod(i,
//! 2) == 1 then x[i+1] else 0`). The outermost iterator then takes its values one by one, and the rest is lowered as if it stood alone: so only
//! the iterators outside of what is irregular are written out.
//!
//! Cost: one lowering of the body per value, at most [`UNROLL`] of them.

use acausal_syntax::ast::ForIndex;

use super::{Context, Env, IterationRange, Result, Value};

/// Iterations whose body needs the value of the iterator are unrolled up to this length.
pub const UNROLL: usize = 100_000;

impl Context {
    /// The value of an iterator in its round `p`, from 1.
    pub fn iteration_element(
        &mut self,
        env: &Env<'_>,
        index: &ForIndex,
        iteration: &IterationRange,
        p: i64,
    ) -> Result<Value> {
        Ok(match iteration {
            IterationRange::Range(ty, range) => Value::scalar(*ty, self.exprs.int(range.at(p - 1))),
            IterationRange::Vector(v) => {
                let e = v.element(&mut self.exprs, &[p]);
                let span = index.range.as_ref().map_or(index.span, |r| r.span);
                let e = self.constant(env, e, span, "what an iterator runs over")?;
                Value::scalar(v.ty, e)
            }
        })
    }
}
