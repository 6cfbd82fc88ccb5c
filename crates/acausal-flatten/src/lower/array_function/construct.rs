//! Arrays with a special construction (MLS 3.6 §10.3.3).

use acausal_expr::{Range, RelOp};
use acausal_syntax::ast::Call;

use crate::lower::tensor::zero;
use crate::lower::{Context, Env, Result, Tensor, Type, Value, error, prepend};

impl Context {
    /// `identity(n)`
    pub(super) fn identity_matrix(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        let n = self.size_argument(env, call, 0)?;
        Ok(Value::Tensor(self.identity(n)))
    }

    /// `diagonal(v)`
    pub(super) fn diagonal_matrix(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        let v = self.vector(env, call, 0)?;
        let n = v.dims[0];
        Ok(Value::Tensor(Tensor::build(
            &mut self.exprs,
            v.ty,
            &[n, n],
            |x, s| {
                let on = x.rel(RelOp::Eq, s[0], s[1]);
                let value = v.at(x, &s[..1]);
                let off = zero(x, v.ty);
                x.if_(on, value, off)
            },
        )))
    }

    /// `zeros(n, ...)` and `ones(n, ...)`
    pub(super) fn filled_with(&mut self, env: &Env<'_>, call: &Call, value: i64) -> Result<Value> {
        let value = self.exprs.int(value);
        let dims = self.size_arguments(env, call, 0)?;
        Ok(Value::Tensor(
            Tensor::scalar(Type::Integer, value).fill(&mut self.exprs, &dims),
        ))
    }

    /// `fill(value, n, ...)`, also of records.
    pub(super) fn fill(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        let Some(first) = call.args.first() else {
            return Err(error(
                "argument-count",
                call.span,
                "`fill` takes a value and sizes",
            ));
        };
        let mut value = self.expr(env, first)?;
        let dims = self.size_arguments(env, call, 1)?;
        for &n in dims.iter().rev() {
            let k = self.iterator(None, Range::upto(n));
            value = prepend(&value, k, n);
        }
        Ok(value)
    }

    /// `linspace(x1, x2, n)`
    pub(super) fn linspace(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        self.expect_count(call, 3, 3)?;
        let (Some(a), Some(b)) = (call.args.first(), call.args.get(1)) else {
            return Err(error(
                "argument-count",
                call.span,
                "`linspace` takes two bounds and a number",
            ));
        };
        let (x1, x2) = (
            self.scalar(env, a, Type::Real)?,
            self.scalar(env, b, Type::Real)?,
        );
        let n = self.size_argument(env, call, 2)?;
        if n < 2 {
            return Err(error(
                "linspace-size",
                call.span,
                format!("`linspace` needs at least 2 points, but this is {n}"),
            ));
        }
        Ok(Value::Tensor(Tensor::build(
            &mut self.exprs,
            Type::Real,
            &[n],
            |x, s| {
                // x1 + (x2 - x1)*(k - 1)/(n - 1)
                let (one, last) = (x.int(1), x.real((n - 1) as f64));
                let k = x.sub(s[0], one);
                let d = x.sub(x2, x1);
                let p = x.mul(&[d, k]);
                let q = x.div(p, last);
                x.add(&[x1, q])
            },
        )))
    }
}
