//! Numbers of dimensions and sizes (MLS 3.6 §10.3.1), and arrays with other numbers of dimensions (§10.3.2).

use acausal_expr::ExprId;
use acausal_syntax::ast::{Call, Expr, ExprKind};

use crate::lower::{Context, Env, Error, Result, Tensor, Type, Value, error};

impl Context {
    /// `size(A)` and `size(A, d)`.
    pub(super) fn size_call(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        self.expect_count(call, 1, 2)?;
        let Some(e) = call.args.first() else {
            return Err(error("argument-count", call.span, "`size` takes an array"));
        };
        let dims = self.shape(env, e)?;
        let sizes: Vec<ExprId> = dims.iter().map(|&n| self.exprs.int(n as i64)).collect();
        let Some(which) = call.args.get(1) else {
            return Ok(Value::Tensor(Tensor::from_elements(
                &mut self.exprs,
                Type::Integer,
                &[dims.len()],
                &sizes,
            )));
        };
        let d = self.scalar(env, which, Type::Integer)?;
        if let Some(d) = self.exprs.as_int(d) {
            return match sizes.get((d - 1) as usize) {
                Some(&n) if d >= 1 => Ok(Value::scalar(Type::Integer, n)),
                _ => Err(Error::subscript_bounds(
                    which.span,
                    format!("there is no dimension {d}: the array has {}", dims.len()),
                )),
            };
        }
        Ok(Value::scalar(Type::Integer, self.exprs.select(d, &sizes)))
    }

    /// `ndims(A)`
    pub(super) fn ndims(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        let dims = self.one_shape(env, call)?;
        let n = self.exprs.int(dims.len() as i64);
        Ok(Value::scalar(Type::Integer, n))
    }

    /// `scalar(A)` of an array with one element.
    pub(super) fn scalar_of_array(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        let t = self.one(env, call)?;
        if t.len() != 1 {
            return Err(self.shape_error(call, &t, "an array with one element"));
        }
        Ok(Value::Tensor(t.squeeze(&mut self.exprs, |_| false)))
    }

    /// `vector(A)` of an array with at most one long dimension.
    pub(super) fn vector_of_array(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        let t = self.one(env, call)?;
        let long: Vec<usize> = (0..t.rank()).filter(|&d| t.dims[d] > 1).collect();
        if long.len() > 1 {
            return Err(self.shape_error(
                call,
                &t,
                "an array with at most one dimension longer than 1",
            ));
        }
        let keep = long
            .first()
            .copied()
            .or((0..t.rank()).find(|&d| t.dims[d] == 0))
            .unwrap_or(t.rank().saturating_sub(1));
        if t.is_scalar() {
            return Ok(Value::Tensor(t.fill(&mut self.exprs, &[1])));
        }
        Ok(Value::Tensor(t.squeeze(&mut self.exprs, |d| d == keep)))
    }

    /// `matrix(A)`: the first two dimensions.
    pub(super) fn matrix_of_array(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        let t = self.one(env, call)?;
        if t.dims.iter().skip(2).any(|&n| n != 1) {
            return Err(self.shape_error(
                call,
                &t,
                "an array whose third and further dimensions have size 1",
            ));
        }
        let t = t.promote(&mut self.exprs, 2);
        Ok(Value::Tensor(t.squeeze(&mut self.exprs, |d| d < 2)))
    }

    /// `promote(A, n)`: more dimensions of size 1.
    pub(super) fn promote(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        let Some(e) = call.args.first() else {
            return Err(error(
                "argument-count",
                call.span,
                "`promote` takes an array and a number of dimensions",
            ));
        };
        let t = self.tensor(env, e)?;
        let n = self.size_argument(env, call, 1)?;
        Ok(Value::Tensor(t.promote(&mut self.exprs, n)))
    }

    /// Sizes of an expression, without evaluating parameters in it.
    fn shape(&mut self, env: &Env<'_>, e: &Expr) -> Result<Vec<usize>> {
        if let ExprKind::Ref(r) = &e.kind {
            return self.reference_dims(env, r);
        }
        if env.evaluate {
            return Ok(self.shape_value(env, e)?.dims().to_vec());
        }
        // Not evaluated, so that nothing is asserted.
        let asserts = self.function_state.asserts.len();
        let value = self.expr(env, e);
        self.function_state.asserts.truncate(asserts);
        Ok(value?.dims().to_vec())
    }

    fn one_shape(&mut self, env: &Env<'_>, call: &Call) -> Result<Vec<usize>> {
        self.expect_count(call, 1, 1)?;
        match call.args.first() {
            Some(e) => self.shape(env, e),
            None => Err(error("argument-count", call.span, "an argument is missing")),
        }
    }
}
