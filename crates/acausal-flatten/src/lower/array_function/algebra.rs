//! Sums and products over arrays (MLS 3.6 §10.3.4), algebra of matrices and vectors (§10.3.5), concatenation (§10.4.2).

use acausal_expr::{ExprId, ReduceOp, RelOp};
use acausal_syntax::ast::Call;

use crate::lower::tensor::zero;
use crate::lower::{Context, Env, Result, Tensor, Type, Value, error};

impl Context {
    /// `sum(A)`, also of operator records.
    pub(super) fn sum_of_array(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        if let [e] = call.args.as_slice()
            && let Value::Record(records) = self.single(env, e)?
        {
            return self.sum_of_records(&records, call.span);
        }
        self.sum_or_product(env, call, ReduceOp::Sum)
    }

    /// `product(A)`
    pub(super) fn product_of_array(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        self.sum_or_product(env, call, ReduceOp::Product)
    }

    fn sum_or_product(&mut self, env: &Env<'_>, call: &Call, op: ReduceOp) -> Result<Value> {
        let t = self.one(env, call)?;
        if !t.ty.is_numeric() {
            return Err(self.shape_error(call, &t, "an array of numbers"));
        }
        if t.is_empty() {
            let v = self.exprs.int(op.of_nothing() as i64);
            return Ok(Value::Tensor(Tensor::scalar(t.ty, v)));
        }
        Ok(Value::Tensor(t.reduce(&mut self.exprs, op)))
    }

    /// `transpose(A)` of the first two dimensions.
    pub(super) fn transpose(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        let t = self.one(env, call)?;
        if t.rank() < 2 {
            return Err(self.shape_error(call, &t, "an array with at least two dimensions"));
        }
        Ok(Value::Tensor(t.transpose()))
    }

    /// `symmetric(A)`: the upper triangle on both sides.
    pub(super) fn symmetric(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        let t = self.one(env, call)?;
        if t.rank() != 2 || t.dims[0] != t.dims[1] {
            return Err(self.shape_error(call, &t, "a square matrix"));
        }
        Ok(Value::Tensor(Tensor::build(
            &mut self.exprs,
            t.ty,
            &t.dims,
            |x, s| {
                let upper = x.rel(RelOp::Le, s[0], s[1]);
                let (a, b) = (t.at(x, &[s[0], s[1]]), t.at(x, &[s[1], s[0]]));
                x.if_(upper, a, b)
            },
        )))
    }

    /// `outerProduct(a, b)`
    pub(super) fn outer_product(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        let (a, b) = (self.vector(env, call, 0)?, self.vector(env, call, 1)?);
        let ty = a.ty.join(b.ty).unwrap_or(Type::Real);
        Ok(Value::Tensor(Tensor::build(
            &mut self.exprs,
            ty,
            &[a.dims[0], b.dims[0]],
            |x, s| {
                let (l, r) = (a.at(x, &s[..1]), b.at(x, &s[1..]));
                x.mul(&[l, r])
            },
        )))
    }

    /// `cross(a, b)`
    pub(super) fn cross(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        let (a, b) = (self.vector(env, call, 0)?, self.vector(env, call, 1)?);
        if a.dims != [3] || b.dims != [3] {
            return Err(self.shape_error(
                call,
                if a.dims != [3] { &a } else { &b },
                "vectors of length 3",
            ));
        }
        let (p, q) = (a.elements(&mut self.exprs), b.elements(&mut self.exprs));
        let e: Vec<ExprId> = (0..3)
            .map(|i| {
                let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                let (l, r) = (self.exprs.mul(&[p[j], q[k]]), self.exprs.mul(&[p[k], q[j]]));
                self.exprs.sub(l, r)
            })
            .collect();
        let ty = a.ty.join(b.ty).unwrap_or(Type::Real);
        Ok(Value::Tensor(Tensor::from_elements(
            &mut self.exprs,
            ty,
            &[3],
            &e,
        )))
    }

    /// `skew(a)`: the matrix with `skew(a)*b = cross(a, b)`.
    pub(super) fn skew(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        let a = self.vector(env, call, 0)?;
        if a.dims != [3] {
            return Err(self.shape_error(call, &a, "a vector of length 3"));
        }
        let p = a.elements(&mut self.exprs);
        let o = zero(&mut self.exprs, a.ty);
        let m: Vec<ExprId> = p.iter().map(|&e| self.exprs.neg(e)).collect();
        let rows = [o, m[2], p[1], p[2], o, m[0], m[1], p[0], o];
        Ok(Value::Tensor(Tensor::from_elements(
            &mut self.exprs,
            a.ty,
            &[3, 3],
            &rows,
        )))
    }

    /// `cat(d, A, B, ...)`
    pub(super) fn cat(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        let Some((first, rest)) = call.args.split_first().filter(|(_, r)| !r.is_empty()) else {
            return Err(error(
                "argument-count",
                call.span,
                "`cat` takes a dimension and arrays",
            ));
        };
        let d = self.scalar(env, first, Type::Integer)?;
        let d = self.constant_int(env, d, first.span, "the dimension of `cat`")?;
        let mut parts = Vec::new();
        for e in rest {
            let t = self.tensor(env, e)?;
            if d < 1 || d as usize > t.rank() {
                return Err(self.shape_error(
                    call,
                    &t,
                    &format!("arrays with at least {d} dimensions"),
                ));
            }
            parts.push((t, e.span));
        }
        Ok(Value::Tensor(self.concatenate(d as usize - 1, parts)?))
    }
}
