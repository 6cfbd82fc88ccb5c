//! The syntax tree of an expression, case by case.

use acausal_base::Span;
use acausal_expr::ExprId;
use acausal_syntax::ast::{Expr, ExprKind};

use super::{Context, Env, Error, ErrorKind, Record, Result, Tensor, Type, Value, error};

impl Context {
    /// Lowers an expression.
    pub fn expr(&mut self, env: &Env<'_>, e: &Expr) -> Result<Value> {
        let scalar = |ty, body| Ok(Value::scalar(ty, body));
        match &e.kind {
            ExprKind::Real(v) => scalar(Type::Real, self.exprs.real(*v)),
            ExprKind::Integer(v) => scalar(Type::Integer, self.exprs.int(*v)),
            ExprKind::Str(s) => scalar(Type::String, self.exprs.str(s)),
            ExprKind::Bool(b) => scalar(Type::Boolean, self.exprs.bool(*b)),
            ExprKind::End => match env.ends.last() {
                Some(&n) => scalar(Type::Integer, n),
                None => Err(error(
                    "end-outside",
                    e.span,
                    "`end` has a meaning only inside of subscripts",
                )),
            },
            ExprKind::Colon => Err(error(
                "colon-outside",
                e.span,
                "`:` has a meaning only as a subscript",
            )),
            ExprKind::Ref(r) => self.reference(env, r),
            ExprKind::Chain(first, rest) => self.chain(env, first, rest, e.span),
            ExprKind::Binary(op, a, b) => self.binary_expr(env, *op, a, b, e.span),
            ExprKind::Unary(op, a) => self.unary_expr(env, *op, a, e.span),
            ExprKind::If {
                branches,
                otherwise,
            } => self.if_expr(env, branches, otherwise, e.span),
            ExprKind::Call(call) => self.call(env, call),
            ExprKind::PartialApplication(p) => self.partial_application(env, p),
            ExprKind::Array(members) => self.array_constructor(env, members, e.span),
            ExprKind::ArrayFor { body, indices } => self.array_comprehension(env, body, indices),
            ExprKind::Matrix(rows) => self.matrix(env, rows),
            ExprKind::Range { start, step, stop } => Ok(Value::Tensor(self.range_expr(
                env,
                start,
                step.as_deref(),
                stop,
            )?)),
            ExprKind::Tuple(members) => {
                let mut values = Vec::new();
                for m in members {
                    match m {
                        Some(m) => values.push(self.expr(env, m)?),
                        None => {
                            return Err(error(
                                "empty-tuple-place",
                                e.span,
                                "a value is missing between the commas",
                            ));
                        }
                    }
                }
                Ok(Value::Tuple(values))
            }
            ExprKind::Index(array, subscripts) => {
                let value = self.expr(env, array)?;
                let dims = value.dims().to_vec();
                let subs = self.subscripts(env, &dims, subscripts, e.span, "the expression")?;
                Ok(value.index(&mut self.exprs, &subs))
            }
            ExprKind::Field(record, name) => {
                let value = self.expr(env, record)?;
                value.field(name.name).cloned().ok_or_else(|| {
                    error(
                        "unknown-field",
                        name.span,
                        format!("{} has no field `{name}`", self.describe(&value)),
                    )
                })
            }
            ExprKind::Error => Err(error("syntax", e.span, "an expression is expected here")),
        }
    }

    /// Lowers an expression that stands for one value: of several outputs the first one counts (MLS 3.6 §12.4.3).
    pub(super) fn single(&mut self, env: &Env<'_>, e: &Expr) -> Result<Value> {
        Ok(match self.expr(env, e)? {
            Value::Tuple(mut outputs) if !outputs.is_empty() => {
                crate::function::used(self, outputs.swap_remove(0), e.span)?
            }
            value => value,
        })
    }

    /// Lowers an expression that is not a record or function. Of several outputs the first one counts.
    pub fn tensor(&mut self, env: &Env<'_>, e: &Expr) -> Result<Tensor> {
        let value = self.expr(env, e)?;
        self.as_tensor(value, e.span)
    }

    /// The array in a value, or a message that names what it is instead.
    pub fn as_tensor(&mut self, value: Value, span: Span) -> Result<Tensor> {
        match value {
            Value::Tensor(t) => Ok(t),
            Value::Tuple(mut vs) if !vs.is_empty() => {
                let first = crate::function::used(self, vs.swap_remove(0), span)?;
                self.as_tensor(first, span)
            }
            other => {
                let what = self.describe(&other);
                Err(error(
                    "type-mismatch",
                    span,
                    format!("a number, Boolean or String is expected here, not {what}"),
                ))
            }
        }
    }

    /// Lowers an expression that must be a scalar of (a type convertible to) `ty`.
    pub fn scalar(&mut self, env: &Env<'_>, e: &Expr, ty: Type) -> Result<ExprId> {
        let t = self.tensor(env, e)?;
        self.expect_scalar(&t, ty, e.span)
    }

    /// Checks for a scalar of (a type convertible to) `ty`.
    pub fn expect_scalar(&mut self, t: &Tensor, ty: Type, span: Span) -> Result<ExprId> {
        if t.is_scalar() && (t.ty == ty || ty == Type::Real && t.ty == Type::Integer) {
            return Ok(t.body);
        }
        let found = self.describe(&Value::Tensor(t.clone()));
        let expected = self.type_name(ty);
        Err(error(
            "type-mismatch",
            span,
            format!("expected a scalar {expected}, found {found}"),
        )
        .label(span, format!("this is {found}")))
    }

    fn if_expr(
        &mut self,
        env: &Env<'_>,
        branches: &[(Expr, Expr)],
        otherwise: &Expr,
        span: Span,
    ) -> Result<Value> {
        // Branches that remain possible, in order; a known condition ends the list.
        let mut open: Vec<(ExprId, &Expr)> = Vec::new();
        let mut last = otherwise;
        for (condition, value) in branches {
            let c = self.scalar(env, condition, Type::Boolean)?;
            match self.decided(env, c) {
                Some(true) => {
                    last = value;
                    break;
                }
                Some(false) => {}
                None => {
                    let c = self.with_bounds_of_iterators(c, false);
                    open.push((c, value))
                }
            }
        }
        if open.is_empty() {
            return self.single(env, last);
        }
        let pending = self.function_state.asserts.len();
        let mut lowered = self.if_branches(env, &open, last, span);
        if matches!(&lowered, Err(e) if e.kind() == ErrorKind::SubscriptBounds) {
            // Parameters that nothing else needs may still say which elements a branch is for.
            let known: Vec<(ExprId, &Expr)> = open
                .iter()
                .map(|&(c, e)| (self.with_bounds_of_iterators(c, true), e))
                .collect();
            if known.iter().zip(&open).any(|(k, o)| k.0 != o.0) {
                self.function_state.asserts.truncate(pending);
                lowered = self.if_branches(env, &known, last, span);
            }
        }
        match lowered {
            Err(message) if !env.evaluate => {
                // Branches of different size are fine if the structure decides (MLS 3.6 §3.6.5).
                let env = env.evaluating();
                let mut choice = otherwise;
                for (condition, value) in branches {
                    match self
                        .scalar(&env, condition, Type::Boolean)
                        .ok()
                        .and_then(|c| self.exprs.as_bool(c))
                    {
                        Some(true) => {
                            choice = value;
                            break;
                        }
                        Some(false) => {}
                        None => return Err(message),
                    }
                }
                self.single(
                    &Env {
                        evaluate: false,
                        ..env
                    },
                    choice,
                )
            }
            other => other,
        }
    }

    /// The branches of an `if`, each lowered under its condition, merged.
    fn if_branches(
        &mut self,
        env: &Env<'_>,
        open: &[(ExprId, &Expr)],
        last: &Expr,
        span: Span,
    ) -> Result<Value> {
        // Assertions of functions called in a branch must hold only where the branch is taken.
        let mut before = self.exprs.bool(true);
        let mut values = Vec::with_capacity(open.len());
        let mut excluded = Vec::new();
        for (c, e) in open {
            let pending = self.function_state.asserts.len();
            let narrowed = self.narrow(*c, true);
            let value = self.expr_under_condition(env, e);
            self.widen(narrowed);
            match value {
                Ok(value) => values.push(value),
                Err(message) => {
                    self.widen(excluded);
                    return Err(message);
                }
            }
            let taken = self.exprs.and(before, *c);
            self.guard_assertions(pending, taken);
            let not = self.exprs.not(*c);
            before = self.exprs.and(before, not);
            excluded.extend(self.narrow(*c, false));
        }
        let pending = self.function_state.asserts.len();
        let result = self.expr_under_condition(env, last);
        self.widen(excluded);
        let mut result = result?;
        self.guard_assertions(pending, before);
        for ((c, _), value) in open.iter().zip(&values).rev() {
            result = self.merge_if(*c, value, &result, span)?;
        }
        Ok(result)
    }

    /// Makes assertions that were added since `from` hold only under a condition.
    fn guard_assertions(&mut self, from: usize, condition: ExprId) {
        for k in from..self.function_state.asserts.len() {
            let not = self.exprs.not(condition);
            let inner = self.function_state.asserts[k].condition;
            self.function_state.asserts[k].condition = self.exprs.or(not, inner);
        }
    }

    /// The value of an expression that is needed under a condition only: what fails in it may never happen.
    fn expr_under_condition(&mut self, env: &Env<'_>, e: &Expr) -> Result<Value> {
        self.function_state.conditional += 1;
        let value = self.single(env, e);
        self.function_state.conditional -= 1;
        value
    }

    /// `if c then a else b` for values of equal shape.
    pub fn merge_if(&mut self, c: ExprId, a: &Value, b: &Value, span: Span) -> Result<Value> {
        match (a, b) {
            (Value::Tensor(x), Value::Tensor(y))
                if x.dims == y.dims && x.ty.join(y.ty).is_some() =>
            {
                let ty = x.ty.join(y.ty).unwrap_or(x.ty);
                let other = y.over(&mut self.exprs, &x.iters);
                let body = self.exprs.if_(c, x.body, other);
                Ok(Value::Tensor(Tensor {
                    ty,
                    dims: x.dims.clone(),
                    iters: x.iters.clone(),
                    body,
                }))
            }
            (Value::Record(x), Value::Record(y))
                if x.dims == y.dims && x.fields.len() == y.fields.len() =>
            {
                let mut fields = Vec::new();
                for (name, v) in &x.fields {
                    let Some(w) = b.field(*name) else {
                        return Err(self.branch_mismatch(a, b, span));
                    };
                    fields.push((*name, self.merge_if(c, v, w, span)?));
                }
                Ok(Value::Record(Record {
                    class: x.class,
                    dims: x.dims.clone(),
                    fields,
                }))
            }
            (Value::Tuple(x), Value::Tuple(y)) if x.len() == y.len() => {
                let merged: Result<Vec<Value>> = x
                    .iter()
                    .zip(y)
                    .map(|(v, w)| self.merge_if(c, v, w, span))
                    .collect();
                Ok(Value::Tuple(merged?))
            }
            _ => Err(self.branch_mismatch(a, b, span)),
        }
    }

    fn branch_mismatch(&self, a: &Value, b: &Value, span: Span) -> Error {
        let (a, b) = (self.describe(a), self.describe(b));
        error(
            "branch-mismatch",
            span,
            format!("the branches of this `if` differ: one is {a}, another {b}"),
        )
    }
}
