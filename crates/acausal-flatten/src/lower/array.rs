//! Array constructors and ranges (MLS 3.6 §10.4).

use acausal_base::Span;
use acausal_expr::ExprId;
use acausal_syntax::ast::Expr;

use super::{Context, Env, Result, Tensor, Type, Value, error};

impl Context {
    /// `{a, b, c}`
    pub(super) fn array_constructor(
        &mut self,
        env: &Env<'_>,
        members: &[Expr],
        span: Span,
    ) -> Result<Value> {
        if members.is_empty() {
            return Err(error(
                "empty-array",
                span,
                "`{}` has no type: an array constructor needs at least one element",
            )
            .hint("write `fill(0.0, 0)` or `zeros(0)` for an empty array"));
        }
        let mut values = Vec::with_capacity(members.len());
        for m in members {
            values.push(self.single(env, m)?);
        }
        if let Some(v) = Value::stack(&mut self.exprs, &values) {
            return Ok(v);
        }
        let first = self.describe(&values[0]);
        let k = values
            .iter()
            .position(|v| Value::stack(&mut self.exprs, &[values[0].clone(), v.clone()]).is_none());
        let k = k.unwrap_or(0);
        let other = self.describe(&values[k]);
        Err(error(
            "array-members",
            members[k].span,
            format!(
                "the elements of an array must be alike: this is {other}, the first is {first}"
            ),
        )
        .label(members[0].span, format!("this is {first}")))
    }

    /// `[a, b; c, d]` (MLS 3.6 §10.4.2.1): everything is promoted to the highest rank, at least 2.
    pub(super) fn matrix(&mut self, env: &Env<'_>, rows: &[Vec<Expr>]) -> Result<Value> {
        let mut lowered: Vec<Vec<(Tensor, Span)>> = Vec::new();
        for row in rows {
            let mut cells = Vec::new();
            for e in row {
                cells.push((self.tensor(env, e)?, e.span));
            }
            lowered.push(cells);
        }
        let rank = lowered
            .iter()
            .flatten()
            .map(|(t, _)| t.rank())
            .max()
            .unwrap_or(0)
            .max(2);
        let mut bands = Vec::new();
        for cells in lowered {
            let mut promoted = Vec::new();
            let mut span: Option<Span> = None;
            for (t, s) in cells {
                span = Some(span.map_or(s, |o| o.to(s)));
                promoted.push((t.promote(&mut self.exprs, rank), s));
            }
            bands.push((self.concatenate(1, promoted)?, span.unwrap_or(Span::NONE)));
        }
        Ok(Value::Tensor(self.concatenate(0, bands)?))
    }

    /// Concatenation along a dimension (from 0) with size and type checks.
    pub(super) fn concatenate(&mut self, d: usize, parts: Vec<(Tensor, Span)>) -> Result<Tensor> {
        let (first, first_span) = (parts[0].0.clone(), parts[0].1);
        let mut ty = first.ty;
        for (t, span) in &parts {
            let fits = t.rank() == first.rank()
                && (0..t.rank()).all(|k| k == d || t.dims[k] == first.dims[k]);
            match ty.join(t.ty) {
                Some(joined) if fits => ty = joined,
                _ => {
                    let (a, b) = (
                        self.describe(&Value::Tensor(first)),
                        self.describe(&Value::Tensor(t.clone())),
                    );
                    return Err(error(
                        "array-members",
                        *span,
                        format!("{b} cannot be put beside {a}"),
                    )
                    .label(first_span, format!("this is {a}")));
                }
            }
        }
        let tensors: Vec<Tensor> = parts.into_iter().map(|p| p.0).collect();
        Ok(Tensor::cat(&mut self.exprs, ty, d, &tensors))
    }

    /// `start : step : stop` as a vector.
    pub(super) fn range_expr(
        &mut self,
        env: &Env<'_>,
        start: &Expr,
        step: Option<&Expr>,
        stop: &Expr,
    ) -> Result<Tensor> {
        let span = start.span.to(stop.span);
        let first = self.tensor(env, start)?;
        let last = self.tensor(env, stop)?;
        let ty = match first.ty.join(last.ty) {
            Some(ty) if first.is_scalar() && last.is_scalar() && ty != Type::String => ty,
            _ => {
                let (a, b) = (
                    self.describe(&Value::Tensor(first)),
                    self.describe(&Value::Tensor(last)),
                );
                return Err(error(
                    "type-mismatch",
                    span,
                    format!("a range cannot go from {a} to {b}"),
                ));
            }
        };
        let (mut increment, ty) = match step {
            None => (self.exprs.int(1), ty),
            Some(s) => {
                let t = self.tensor(env, s)?;
                let real = if t.ty == Type::Real { Type::Real } else { ty };
                (self.expect_scalar(&t, real, s.span)?, real)
            }
        };
        if ty == Type::Boolean {
            // Booleans run from false (1) to true (2); only `false:true` and the like occur.
            let index = |x: &mut acausal_expr::Exprs, e| {
                let (one, two) = (x.int(1), x.int(2));
                x.if_(e, two, one)
            };
            let (a, b) = (
                index(&mut self.exprs, first.body),
                index(&mut self.exprs, last.body),
            );
            let n = self.exprs.sub(b, a);
            let n = self.constant_int(env, n, span, "the length of a range")?;
            let start = self.constant_int(env, a, span, "the start of a range")?;
            let members: Vec<ExprId> = (0..=n).map(|k| self.exprs.bool(start + k == 2)).collect();
            return Ok(Tensor::from_elements(
                &mut self.exprs,
                ty,
                &[members.len()],
                &members,
            ));
        }
        increment = self.constant(env, increment, span, "the increment of a range")?;
        let difference = self.exprs.sub(last.body, first.body);
        let difference = self.constant(env, difference, span, "the length of a range")?;
        let (length, by) = match (self.exprs.as_f64(difference), self.exprs.as_f64(increment)) {
            (Some(length), Some(by)) if by != 0.0 => (length, by),
            _ => {
                return Err(error(
                    "range-step",
                    span,
                    "the increment of a range must not be zero",
                ));
            }
        };
        // MLS 3.6 §10.4.3: floor((stop - start)/step) + 1 values; the tolerance keeps 0:0.1:1 at eleven.
        let count = if ty == Type::Real {
            (length / by * (1.0 + 4.0 * f64::EPSILON)).floor()
        } else {
            (length / by).floor()
        };
        let n = (count + 1.0).max(0.0) as usize;
        Ok(Tensor::build(&mut self.exprs, ty, &[n], |x, s| {
            let one = x.int(1);
            let k = x.sub(s[0], one);
            let shift = x.mul(&[increment, k]);
            x.add(&[first.body, shift])
        }))
    }
}
