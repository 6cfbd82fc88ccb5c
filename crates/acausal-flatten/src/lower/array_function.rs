//! Functions on arrays and reductions (MLS 3.6 §10.3).

use acausal_expr::{ExprId, Range, ReduceOp, RelOp};
use acausal_syntax::ast::{Call, Expr, ExprKind};

use super::tensor::zero;
use super::{Context, Env, Error, Result, Tensor, Type, Value, error};

impl Context {
    /// A function of MLS 3.6 §10.3; `None` if the name is not one.
    pub(super) fn array_function(
        &mut self,
        env: &Env<'_>,
        name: &str,
        call: &Call,
    ) -> Result<Option<Value>> {
        let tensor = |t| Ok(Some(Value::Tensor(t)));
        match name {
            "size" => self.size_call(env, call).map(Some),
            "ndims" => {
                let dims = self.one_shape(env, call)?;
                let n = self.exprs.int(dims.len() as i64);
                Ok(Some(Value::scalar(Type::Integer, n)))
            }
            "scalar" => {
                let t = self.one(env, call)?;
                if t.len() != 1 {
                    return Err(self.shape_error(call, &t, "an array with one element"));
                }
                tensor(t.squeeze(&mut self.exprs, |_| false))
            }
            "vector" => {
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
                    return tensor(t.fill(&mut self.exprs, &[1]));
                }
                tensor(t.squeeze(&mut self.exprs, |d| d == keep))
            }
            "matrix" => {
                let t = self.one(env, call)?;
                if t.dims.iter().skip(2).any(|&n| n != 1) {
                    return Err(self.shape_error(
                        call,
                        &t,
                        "an array whose third and further dimensions have size 1",
                    ));
                }
                let t = t.promote(&mut self.exprs, 2);
                tensor(t.squeeze(&mut self.exprs, |d| d < 2))
            }
            "identity" => {
                let n = self.size_argument(env, call, 0)?;
                tensor(self.identity(n))
            }
            "diagonal" => {
                let v = self.vector(env, call, 0)?;
                let n = v.dims[0];
                tensor(Tensor::build(&mut self.exprs, v.ty, &[n, n], |x, s| {
                    let on = x.rel(RelOp::Eq, s[0], s[1]);
                    let value = v.at(x, &s[..1]);
                    let off = zero(x, v.ty);
                    x.if_(on, value, off)
                }))
            }
            "zeros" | "ones" => {
                let value = self.exprs.int(i64::from(name == "ones"));
                let dims = self.size_arguments(env, call, 0)?;
                tensor(Tensor::scalar(Type::Integer, value).fill(&mut self.exprs, &dims))
            }
            "fill" => {
                let Some(first) = call.args.first() else {
                    return Err(error(
                        "argument-count",
                        call.span,
                        "`fill` takes a value and sizes",
                    ));
                };
                let value = self.expr(env, first)?;
                let dims = self.size_arguments(env, call, 1)?;
                let mut value = value;
                for &n in dims.iter().rev() {
                    let k = self.iterator(None, Range::upto(n));
                    value = super::prepend(&value, k, n);
                }
                Ok(Some(value))
            }
            "linspace" => self.linspace(env, call).map(Some),
            "min" | "max" => self.extremum(env, name, call).map(Some),
            "sum" | "product" => {
                if let ("sum", [e]) = (name, call.args.as_slice())
                    && let Value::Record(records) = self.single(env, e)?
                {
                    return self.sum_of_records(&records, call.span).map(Some);
                }
                let t = self.one(env, call)?;
                if !t.ty.is_numeric() {
                    return Err(self.shape_error(call, &t, "an array of numbers"));
                }
                let op = if name == "sum" {
                    ReduceOp::Sum
                } else {
                    ReduceOp::Product
                };
                if t.is_empty() {
                    let v = self.exprs.int(i64::from(name == "product"));
                    return tensor(Tensor::scalar(t.ty, v));
                }
                tensor(t.reduce(&mut self.exprs, op))
            }
            "transpose" => {
                let t = self.one(env, call)?;
                if t.rank() < 2 {
                    return Err(self.shape_error(
                        call,
                        &t,
                        "an array with at least two dimensions",
                    ));
                }
                tensor(t.transpose())
            }
            "symmetric" => {
                let t = self.one(env, call)?;
                if t.rank() != 2 || t.dims[0] != t.dims[1] {
                    return Err(self.shape_error(call, &t, "a square matrix"));
                }
                tensor(Tensor::build(&mut self.exprs, t.ty, &t.dims, |x, s| {
                    let upper = x.rel(RelOp::Le, s[0], s[1]);
                    let (a, b) = (t.at(x, &[s[0], s[1]]), t.at(x, &[s[1], s[0]]));
                    x.if_(upper, a, b)
                }))
            }
            "outerProduct" => {
                let (a, b) = (self.vector(env, call, 0)?, self.vector(env, call, 1)?);
                let ty = a.ty.join(b.ty).unwrap_or(Type::Real);
                tensor(Tensor::build(
                    &mut self.exprs,
                    ty,
                    &[a.dims[0], b.dims[0]],
                    |x, s| {
                        let (l, r) = (a.at(x, &s[..1]), b.at(x, &s[1..]));
                        x.mul(&[l, r])
                    },
                ))
            }
            "cross" => {
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
                tensor(Tensor::from_elements(&mut self.exprs, ty, &[3], &e))
            }
            "skew" => {
                let a = self.vector(env, call, 0)?;
                if a.dims != [3] {
                    return Err(self.shape_error(call, &a, "a vector of length 3"));
                }
                let p = a.elements(&mut self.exprs);
                let o = zero(&mut self.exprs, a.ty);
                let m: Vec<ExprId> = p.iter().map(|&e| self.exprs.neg(e)).collect();
                let rows = [o, m[2], p[1], p[2], o, m[0], m[1], p[0], o];
                tensor(Tensor::from_elements(&mut self.exprs, a.ty, &[3, 3], &rows))
            }
            "cat" => {
                let Some((first, rest)) = call.args.split_first().filter(|(_, r)| !r.is_empty())
                else {
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
                tensor(self.concatenate(d as usize - 1, parts)?)
            }
            "array" => Ok(Some(self.array_constructor(env, &call.args, call.span)?)),
            "promote" => {
                let Some(e) = call.args.first() else {
                    return Err(error(
                        "argument-count",
                        call.span,
                        "`promote` takes an array and a number of dimensions",
                    ));
                };
                let t = self.tensor(env, e)?;
                let n = self.size_argument(env, call, 1)?;
                tensor(t.promote(&mut self.exprs, n))
            }
            _ => Ok(None),
        }
    }

    fn size_call(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
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

    pub(super) fn one(&mut self, env: &Env<'_>, call: &Call) -> Result<Tensor> {
        self.expect_count(call, 1, 1)?;
        match call
            .args
            .first()
            .or_else(|| call.named.first().map(|n| &n.value))
        {
            Some(e) => self.tensor(env, e),
            None => Err(error("argument-count", call.span, "an argument is missing")),
        }
    }

    fn vector(&mut self, env: &Env<'_>, call: &Call, position: usize) -> Result<Tensor> {
        let Some(e) = call.args.get(position) else {
            return Err(error("argument-count", call.span, "an argument is missing"));
        };
        let t = self.tensor(env, e)?;
        if t.rank() != 1 || !t.ty.is_numeric() {
            return Err(self.shape_error(call, &t, "a vector of numbers"));
        }
        Ok(t)
    }

    fn size_argument(&mut self, env: &Env<'_>, call: &Call, position: usize) -> Result<usize> {
        let Some(e) = call.args.get(position) else {
            return Err(error("argument-count", call.span, "a size is missing"));
        };
        let n = self.scalar(env, e, Type::Integer)?;
        let n = self.constant_int(env, n, e.span, "a size")?;
        usize::try_from(n).map_err(|_| {
            error(
                "negative-size",
                e.span,
                format!("a size cannot be negative, but this is {n}"),
            )
        })
    }

    fn size_arguments(&mut self, env: &Env<'_>, call: &Call, from: usize) -> Result<Vec<usize>> {
        if call.args.len() <= from {
            return Err(error("argument-count", call.span, "sizes are missing"));
        }
        (from..call.args.len())
            .map(|k| self.size_argument(env, call, k))
            .collect()
    }

    fn linspace(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
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

    pub(super) fn shape_error(&self, call: &Call, t: &Tensor, expected: &str) -> Error {
        let found = self.describe(&Value::Tensor(t.clone()));
        error(
            "argument-shape",
            call.span,
            format!(
                "`{}` takes {expected}, not {found}",
                super::math::callee_name(call)
            ),
        )
    }
}
