//! Subscripts: what they select, and whether they stay inside of the array (MLS 3.6 §10.5).
//!
//! A subscript that is affine in iterators keeps arrays whole. Parameters in subscripts decide the structure, so they are
//! replaced by their values; what varies stays an expression that is evaluated at run time.

use acausal_base::Span;
use acausal_expr::ExprId;
use acausal_syntax::ast::{Expr, ExprKind};

use super::{Context, Env, Error, Result, Subscript, Tensor, Type, Value, error};
use acausal_instance::instance::InstId;

impl Context {
    /// Lowers subscripts of an array with the given sizes. `what` names the array in messages.
    pub fn subscripts(
        &mut self,
        env: &Env<'_>,
        dims: &[usize],
        subs: &[Expr],
        span: Span,
        what: &str,
    ) -> Result<Vec<Subscript>> {
        self.subscripts_of(env, None, dims, subs, span, what)
    }

    /// The same for a component, whose dimensions may be subscripted by an enumeration or Boolean.
    pub(super) fn subscripts_of(
        &mut self,
        env: &Env<'_>,
        inst: Option<InstId>,
        dims: &[usize],
        subs: &[Expr],
        span: Span,
        what: &str,
    ) -> Result<Vec<Subscript>> {
        if subs.len() > dims.len() {
            let rank = match dims.len() {
                0 => "is a scalar".to_string(),
                1 => "has one dimension".to_string(),
                n => format!("has {n} dimensions"),
            };
            return Err(error(
                "too-many-subscripts",
                span,
                match subs.len() {
                    1 => format!("{what} {rank}, but a subscript is given"),
                    n => format!("{what} {rank}, but {n} subscripts are given"),
                },
            ));
        }
        let mut out = Vec::with_capacity(subs.len());
        for (d, (e, &n)) in subs.iter().zip(dims).enumerate() {
            if matches!(e.kind, ExprKind::Colon) {
                out.push(Subscript::All);
                continue;
            }
            let mut inner = env.clone();
            let end = self.exprs.int(n as i64);
            inner.ends.push(end);
            let t = self.tensor(&inner, e)?;
            if let Some(inst) = inst {
                let expected = self.index_type(inst, d);
                if t.ty != expected && matches!(t.ty, Type::Integer | Type::Boolean | Type::Enum(_))
                {
                    let (expected, found) = (self.type_name(expected), self.type_name(t.ty));
                    return Err(error(
                        "subscript-type",
                        e.span,
                        format!(
                            "this dimension of {what} is subscripted by {expected}, not by {found}"
                        ),
                    ));
                }
            }
            out.push(self.subscript(&inner, t, n, e.span, what)?);
        }
        Ok(out)
    }

    fn subscript(
        &mut self,
        env: &Env<'_>,
        t: Tensor,
        n: usize,
        span: Span,
        what: &str,
    ) -> Result<Subscript> {
        let t = match t.ty {
            Type::Integer | Type::Enum(_) => t,
            Type::Boolean => t.map(&mut self.exprs, Type::Integer, |x, e| {
                let (one, two) = (x.int(1), x.int(2));
                x.if_(e, two, one)
            }),
            _ => {
                let found = self.describe(&Value::Tensor(t));
                return Err(error(
                    "subscript-type",
                    span,
                    format!("a subscript must be an Integer, not {found}"),
                ));
            }
        };
        match t.rank() {
            0 => {
                let body = self.regular_index(env, t.body);
                if let Some((low, high)) = self.bounds(body) {
                    self.check_bounds(low, high, n, span, what)?;
                }
                Ok(Subscript::Element(body))
            }
            1 => {
                let body = self.regular_index(env, t.body);
                let t = Tensor { body, ..t };
                if t.dims[0] > 0 {
                    for k in [1, t.dims[0] as i64] {
                        let e = t.element(&mut self.exprs, &[k]);
                        if let Some((low, high)) = self.bounds(e) {
                            self.check_bounds(low, high, n, span, what)?;
                        }
                    }
                }
                Ok(Subscript::Vector(t))
            }
            _ => {
                let found = self.describe(&Value::Tensor(t));
                Err(error(
                    "subscript-type",
                    span,
                    format!("a subscript is a scalar or a vector, not {found}"),
                ))
            }
        }
    }

    /// Parameters in subscripts decide the structure, so they are replaced by their values.
    fn regular_index(&mut self, env: &Env<'_>, e: ExprId) -> ExprId {
        if self.exprs.affine(e).is_some() || env.evaluate {
            return e;
        }
        match self.with_known_parameters(e) {
            Ok(known) => known,
            Err(_) => e,
        }
    }

    /// Smallest and largest value of an affine expression of iterators with known ranges.
    pub fn bounds(&self, e: ExprId) -> Option<(i64, i64)> {
        let affine = self.exprs.affine(e)?;
        let (mut low, mut high) = (affine.constant, affine.constant);
        for &(iter, c) in &affine.terms {
            let r = self.ranges.get(&iter)?;
            if r.count <= 0 {
                return None;
            }
            let (a, b) = (c * r.start, c * r.last());
            low += a.min(b);
            high += a.max(b);
        }
        Some((low, high))
    }

    fn check_bounds(
        &mut self,
        low: i64,
        high: i64,
        n: usize,
        span: Span,
        what: &str,
    ) -> Result<()> {
        if low >= 1 && high <= n as i64 {
            return Ok(());
        }
        let value = if low < 1 { low } else { high };
        let label = if low == high {
            format!("this is {value}")
        } else {
            format!("this reaches {value}")
        };
        Err(Error::subscript_bounds(
            span,
            format!("subscript {value} is outside of 1:{n}, the size of this dimension of {what}"),
        )
        .label(span, label))
    }
}
