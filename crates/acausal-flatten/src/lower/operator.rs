//! Arithmetic, relations and logic on scalars and arrays (MLS 3.6 §3.4, §3.5, §10.6).

use acausal_base::Span;
use acausal_expr::{ExprId, RelOp};
use acausal_syntax::ast::{BinOp, Expr, Precedence, UnOp};

use super::{Context, Env, Error, Result, Tensor, Type, Value, error};

impl Context {
    /// `a + b - c`, `a * b / c`, `a and b`: the sum is built at once, so that long ones cost linear time.
    pub(super) fn chain(
        &mut self,
        env: &Env<'_>,
        first: &Expr,
        rest: &[(BinOp, Expr)],
        span: Span,
    ) -> Result<Value> {
        let head = self.expr(env, first)?;
        let sum = rest
            .iter()
            .all(|(op, _)| op.level() == Precedence::Additive);
        if !sum || !matches!(&head, Value::Tensor(t) if t.ty.is_numeric()) {
            let mut acc = head;
            let mut acc_span = first.span;
            for (op, e) in rest {
                let value = self.expr(env, e)?;
                let value = self.operand(env, *op, value);
                acc = self.binary(*op, acc, value, acc_span, e.span)?;
                acc_span = acc_span.to(e.span);
            }
            return Ok(acc);
        }
        let mut shape = self.as_tensor(head, first.span)?;
        let mut terms = vec![shape.body];
        for (op, e) in rest {
            let value = self.expr(env, e)?;
            let t = match value {
                Value::Tensor(t) => t,
                record => {
                    // An operator record in the middle: its own `+` takes over from here on.
                    let body = self.exprs.add(&terms);
                    let mut acc = Value::Tensor(Tensor { body, ..shape });
                    let at = rest
                        .iter()
                        .position(|(_, x)| std::ptr::eq(x, e))
                        .expect("the operand that was just lowered");
                    acc = self.binary(*op, acc, record, first.span, e.span)?;
                    for (op, e) in &rest[at + 1..] {
                        let value = self.expr(env, e)?;
                        acc = self.binary(*op, acc, value, span, e.span)?;
                    }
                    return Ok(acc);
                }
            };
            let elementwise = matches!(op, BinOp::AddElem | BinOp::SubElem);
            let ty = self.arithmetic_type(*op, &shape, &t, first.span.to(e.span))?;
            self.same_shape(*op, &shape, &t, elementwise, first.span.to(e.span))?;
            if shape.is_scalar() && !t.is_scalar() {
                shape = t.clone();
            }
            let mut body = if t.is_scalar() {
                t.body
            } else {
                t.over(&mut self.exprs, &shape.iters)
            };
            if matches!(op, BinOp::Sub | BinOp::SubElem) {
                body = self.exprs.neg(body);
            }
            shape.ty = ty;
            terms.push(body);
        }
        let body = self.exprs.add(&terms);
        Ok(Value::Tensor(Tensor { body, ..shape }))
    }

    pub(super) fn binary_expr(
        &mut self,
        env: &Env<'_>,
        op: BinOp,
        a: &Expr,
        b: &Expr,
        _span: Span,
    ) -> Result<Value> {
        let mut x = self.expr(env, a)?;
        let mut y = self.expr(env, b)?;
        if matches!(op, BinOp::Mul | BinOp::MulElem) {
            x = self.factor_without_events(a, x);
            y = self.factor_without_events(b, y);
        }
        let y = self.operand(env, op, y);
        self.binary(op, x, y, a.span, b.span)
    }

    /// The right operand. Where only the shape matters nothing is divided, so that it may be zero.
    fn operand(&mut self, env: &Env<'_>, op: BinOp, value: Value) -> Value {
        if !env.shape || !matches!(op, BinOp::Div | BinOp::DivElem) {
            return value;
        }
        let one = self.exprs.int(1);
        value.map_leaves(&mut |t| Tensor {
            body: one,
            ..t.clone()
        })
    }

    /// A binary operator on values.
    pub fn binary(
        &mut self,
        op: BinOp,
        a: Value,
        b: Value,
        a_span: Span,
        b_span: Span,
    ) -> Result<Value> {
        let span = a_span.to(b_span);
        if matches!(a, Value::Record(_)) || matches!(b, Value::Record(_)) {
            return self.record_operator(op.symbol(), vec![a, b], span);
        }
        let a = self.as_tensor(a, a_span)?;
        let b = self.as_tensor(b, b_span)?;
        let t = match op {
            BinOp::Or | BinOp::And => self.logic(op, &a, &b, span)?,
            BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::Eq | BinOp::Ne => {
                self.relation(op, &a, &b, span)?
            }
            BinOp::Add | BinOp::AddElem if a.ty == Type::String && b.ty == Type::String => {
                self.concat(&a, &b, span)?
            }
            BinOp::Add | BinOp::Sub | BinOp::AddElem | BinOp::SubElem => {
                let ty = self.arithmetic_type(op, &a, &b, span)?;
                let elementwise = matches!(op, BinOp::AddElem | BinOp::SubElem);
                self.same_shape(op, &a, &b, elementwise, span)?;
                let minus = matches!(op, BinOp::Sub | BinOp::SubElem);
                a.zip(&b, &mut self.exprs, ty, |x, l, r| {
                    if minus { x.sub(l, r) } else { x.add(&[l, r]) }
                })
            }
            BinOp::Mul => self.multiply(&a, &b, span)?,
            BinOp::MulElem => {
                let ty = self.arithmetic_type(op, &a, &b, span)?;
                self.same_shape(op, &a, &b, true, span)?;
                a.zip(&b, &mut self.exprs, ty, |x, l, r| x.mul(&[l, r]))
            }
            BinOp::Div | BinOp::DivElem => {
                self.arithmetic_type(op, &a, &b, span)?;
                if op == BinOp::Div && !b.is_scalar() {
                    return Err(self
                        .operator_mismatch(op, &a, &b, span)
                        .hint("use `./` to divide element by element"));
                }
                self.same_shape(op, &a, &b, true, span)?;
                if self.exprs.is_zero(b.body) {
                    return Err(error("division-by-zero", b_span, "division by zero"));
                }
                a.zip(&b, &mut self.exprs, Type::Real, |x, l, r| x.div(l, r))
            }
            BinOp::Pow => self.power(&a, &b, span)?,
            BinOp::PowElem => {
                self.arithmetic_type(op, &a, &b, span)?;
                self.same_shape(op, &a, &b, true, span)?;
                a.zip(&b, &mut self.exprs, Type::Real, |x, l, r| x.pow(l, r))
            }
        };
        Ok(Value::Tensor(t))
    }

    pub(super) fn unary_expr(
        &mut self,
        env: &Env<'_>,
        op: UnOp,
        a: &Expr,
        span: Span,
    ) -> Result<Value> {
        let value = self.expr(env, a)?;
        if matches!(value, Value::Record(_)) {
            return self.record_operator(op.symbol(), vec![value], span);
        }
        let t = self.as_tensor(value, a.span)?;
        let expected = if op == UnOp::Not {
            t.ty == Type::Boolean
        } else {
            t.ty.is_numeric()
        };
        if !expected {
            let found = self.describe(&Value::Tensor(t));
            return Err(error(
                "type-mismatch",
                span,
                format!("`{}` cannot be applied to {found}", op.symbol()),
            ));
        }
        let ty = t.ty;
        Ok(Value::Tensor(match op {
            UnOp::Plus | UnOp::PlusElem => t,
            UnOp::Minus | UnOp::MinusElem => t.map(&mut self.exprs, ty, |x, e| x.neg(e)),
            UnOp::Not => t.map(&mut self.exprs, ty, |x, e| x.not(e)),
        }))
    }

    fn logic(&mut self, op: BinOp, a: &Tensor, b: &Tensor, span: Span) -> Result<Tensor> {
        if a.ty != Type::Boolean || b.ty != Type::Boolean {
            return Err(self.operator_mismatch(op, a, b, span));
        }
        self.same_shape(op, a, b, false, span)?;
        let and = op == BinOp::And;
        Ok(a.zip(b, &mut self.exprs, Type::Boolean, |x, l, r| {
            if and { x.and(l, r) } else { x.or(l, r) }
        }))
    }

    fn relation(&mut self, op: BinOp, a: &Tensor, b: &Tensor, span: Span) -> Result<Tensor> {
        if a.ty.join(b.ty).is_none() || !a.is_scalar() || !b.is_scalar() {
            return Err(self.operator_mismatch(op, a, b, span));
        }
        let rel = match op {
            BinOp::Lt => RelOp::Lt,
            BinOp::Le => RelOp::Le,
            BinOp::Gt => RelOp::Gt,
            BinOp::Ge => RelOp::Ge,
            BinOp::Eq => RelOp::Eq,
            _ => RelOp::Ne,
        };
        if a.ty == Type::String {
            // Nothing computes with Strings during the simulation, so parameters among them decide the structure.
            let a = self.with_known_parameters(a.body)?;
            let b = self.with_known_parameters(b.body)?;
            return Ok(Tensor::scalar(Type::Boolean, self.exprs.rel(rel, a, b)));
        }
        Ok(Tensor::scalar(
            Type::Boolean,
            self.exprs.rel(rel, a.body, b.body),
        ))
    }

    fn multiply(&mut self, a: &Tensor, b: &Tensor, span: Span) -> Result<Tensor> {
        let ty = self.arithmetic_type(BinOp::Mul, a, b, span)?;
        if a.is_scalar() || b.is_scalar() {
            return Ok(a.zip(b, &mut self.exprs, ty, |x, l, r| x.mul(&[l, r])));
        }
        if a.rank() > 2 || b.rank() > 2 || a.dims.last() != b.dims.first() {
            let (last, first) = (a.dims[a.rank() - 1], b.dims[0]);
            let mut message = self.operator_mismatch(BinOp::Mul, a, b, span);
            if a.rank() <= 2 && b.rank() <= 2 {
                message = message
                    .note(format!("the last dimension on the left ({last}) must equal the first on the right ({first})"));
            }
            if a.dims == b.dims {
                message = message.hint("use `.*` to multiply element by element");
            }
            return Err(message);
        }
        Ok(a.matmul(b, &mut self.exprs, ty))
    }

    /// `x^y`, or a square matrix to a constant natural power (MLS 3.6 §10.6.7).
    fn power(&mut self, a: &Tensor, b: &Tensor, span: Span) -> Result<Tensor> {
        self.arithmetic_type(BinOp::Pow, a, b, span)?;
        if a.is_scalar() && b.is_scalar() {
            return Ok(Tensor::scalar(Type::Real, self.exprs.pow(a.body, b.body)));
        }
        let exponent = if b.is_scalar() {
            self.exprs.as_int(b.body)
        } else {
            None
        };
        let square = a.rank() == 2 && a.dims[0] == a.dims[1];
        let Some(mut n) = exponent.filter(|n| *n >= 0 && square) else {
            return Err(self
                .operator_mismatch(BinOp::Pow, a, b, span)
                .hint("`^` takes scalars, or a square matrix and a natural number; use `.^` element by element"));
        };
        // Repeated squaring: log2(n) products.
        let mut result = self.identity(a.dims[0]);
        let mut base = a.clone();
        while n > 0 {
            if n & 1 == 1 {
                result = result.matmul(&base, &mut self.exprs, a.ty);
            }
            n >>= 1;
            if n > 0 {
                base = base.matmul(&base, &mut self.exprs, a.ty);
            }
        }
        Ok(Tensor {
            ty: Type::Real,
            ..result
        })
    }

    fn arithmetic_type(&mut self, op: BinOp, a: &Tensor, b: &Tensor, span: Span) -> Result<Type> {
        if a.ty.is_numeric() && b.ty.is_numeric() {
            return Ok(if a.ty == Type::Real || b.ty == Type::Real {
                Type::Real
            } else {
                Type::Integer
            });
        }
        Err(self.operator_mismatch(op, a, b, span))
    }

    /// Equal sizes; for elementwise operators a scalar fits anything.
    fn same_shape(
        &mut self,
        op: BinOp,
        a: &Tensor,
        b: &Tensor,
        elementwise: bool,
        span: Span,
    ) -> Result<()> {
        if a.dims == b.dims
            || elementwise && (a.is_scalar() || b.is_scalar())
            || op == BinOp::Div && b.is_scalar()
        {
            return Ok(());
        }
        let mut message = self.operator_mismatch(op, a, b, span);
        if a.is_scalar() != b.is_scalar() && matches!(op, BinOp::Add | BinOp::Sub) {
            message = message.hint(format!(
                "use `.{}` to apply a scalar to every element",
                op.symbol()
            ));
        }
        Err(message)
    }

    fn operator_mismatch(&self, op: BinOp, a: &Tensor, b: &Tensor, span: Span) -> Error {
        let (x, y) = (
            self.describe(&Value::Tensor(a.clone())),
            self.describe(&Value::Tensor(b.clone())),
        );
        error(
            "operator-mismatch",
            span,
            format!("`{}` cannot be applied to {x} and {y}", op.symbol()),
        )
    }

    /// `identity(n)`.
    pub(super) fn identity(&mut self, n: usize) -> Tensor {
        Tensor::build(&mut self.exprs, Type::Integer, &[n, n], |x, s| {
            let diagonal = x.rel(RelOp::Eq, s[0], s[1]);
            let (one, zero): (ExprId, ExprId) = (x.int(1), x.int(0));
            x.if_(diagonal, one, zero)
        })
    }
}
