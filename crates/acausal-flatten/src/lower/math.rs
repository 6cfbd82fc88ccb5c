//! Built-in functions by name, and those that are mathematical functions of scalars (MLS 3.6 §3.7.1, §3.7.3).
//!
//! Scalar functions take arrays of any size and work element by element (MLS 3.6 §12.4.6).

use acausal_base::Name;
use acausal_expr::{Builtin, RelOp};
use acausal_syntax::ast::Call;

use super::{Context, Env, Error, Result, Tensor, Type, Value, error};

impl Context {
    /// A call of a built-in function or operator.
    pub(super) fn builtin(&mut self, env: &Env<'_>, name: Name, call: &Call) -> Result<Value> {
        if !call.indices.is_empty() {
            return self.reduction(env, name, call);
        }
        let real = |f| (f, Type::Real);
        let (function, result) = match name.as_str() {
            "sin" => real(Builtin::Sin),
            "cos" => real(Builtin::Cos),
            "tan" => real(Builtin::Tan),
            "asin" => real(Builtin::Asin),
            "acos" => real(Builtin::Acos),
            "atan" => real(Builtin::Atan),
            "sinh" => real(Builtin::Sinh),
            "cosh" => real(Builtin::Cosh),
            "tanh" => real(Builtin::Tanh),
            "exp" => real(Builtin::Exp),
            "log" => real(Builtin::Log),
            "log10" => real(Builtin::Log10),
            "sqrt" => real(Builtin::Sqrt),
            "floor" => real(Builtin::Floor),
            "ceil" => real(Builtin::Ceil),
            "integer" => (Builtin::Integer, Type::Integer),
            "sign" => (Builtin::Sign, Type::Integer),
            "abs" => {
                let t = self.numeric(env, call, 0, 1)?;
                let ty = t.ty;
                return Ok(Value::Tensor(
                    t.map(&mut self.exprs, ty, |x, e| x.call(Builtin::Abs, &[e])),
                ));
            }
            "atan2" => return self.binary_math(env, call, Builtin::Atan2, true),
            "mod" => return self.binary_math(env, call, Builtin::Mod, false),
            "rem" => return self.binary_math(env, call, Builtin::Rem, false),
            "div" => return self.binary_math(env, call, Builtin::Div, false),
            "Integer" => return self.integer_of_enum(env, call),
            "semiLinear" => return self.semi_linear(env, call),
            other => {
                if let Some(v) = self.array_function(env, other, call)? {
                    return Ok(v);
                }
                if let Some(v) = self.event_function(env, other, call)? {
                    return Ok(v);
                }
                if other == "String" {
                    return self.string_call(env, call);
                }
                return Err(Error::unsupported(
                    call.span,
                    format!("`{other}` is not supported yet"),
                ));
            }
        };
        let t = self.numeric(env, call, 0, 1)?;
        if let Some(v) = self.exprs.as_f64(t.body)
            && acausal_expr::apply_builtin(function, &[v]).is_some_and(|r| !r.is_finite())
            && !env.shape
        {
            return Err(error(
                "argument-domain",
                call.span,
                format!(
                    "`{name}` is not defined for {}",
                    acausal_expr::print_real(v)
                ),
            ));
        }
        Ok(Value::Tensor(t.map(&mut self.exprs, result, |x, e| {
            x.call(function, &[e])
        })))
    }

    /// The number of arguments, all by position.
    pub(super) fn expect_count(&self, call: &Call, low: usize, high: usize) -> Result<()> {
        let n = call.args.len() + call.named.len();
        if (low..=high).contains(&n) {
            return Ok(());
        }
        let expected = if low == high {
            format!("{low}")
        } else {
            format!("{low} to {high}")
        };
        let plural = if expected == "1" { "" } else { "s" };
        Err(error(
            "argument-count",
            call.span,
            format!(
                "`{}` takes {expected} argument{plural}, found {n}",
                callee_name(call)
            ),
        ))
    }

    /// A numeric argument of a function with `count` arguments.
    fn numeric(
        &mut self,
        env: &Env<'_>,
        call: &Call,
        position: usize,
        count: usize,
    ) -> Result<Tensor> {
        self.expect_count(call, count, count)?;
        let Some(e) = call
            .args
            .get(position)
            .or_else(|| call.named.get(position - call.args.len()).map(|n| &n.value))
        else {
            return Err(error("argument-count", call.span, "an argument is missing"));
        };
        let t = self.tensor(env, e)?;
        if !t.ty.is_numeric() {
            let found = self.describe(&Value::Tensor(t));
            return Err(error(
                "type-mismatch",
                e.span,
                format!("`{}` takes a number, not {found}", callee_name(call)),
            ));
        }
        Ok(t)
    }

    fn binary_math(&mut self, env: &Env<'_>, call: &Call, f: Builtin, real: bool) -> Result<Value> {
        let a = self.numeric(env, call, 0, 2)?;
        let b = self.numeric(env, call, 1, 2)?;
        if a.dims != b.dims && !a.is_scalar() && !b.is_scalar() {
            let (x, y) = (
                self.describe(&Value::Tensor(a)),
                self.describe(&Value::Tensor(b)),
            );
            return Err(error(
                "size-mismatch",
                call.span,
                format!(
                    "the arguments of `{}` differ in size: {x} and {y}",
                    callee_name(call)
                ),
            ));
        }
        let ty = if real || a.ty == Type::Real || b.ty == Type::Real {
            Type::Real
        } else {
            Type::Integer
        };
        if matches!(f, Builtin::Mod | Builtin::Rem | Builtin::Div)
            && b.is_scalar()
            && self.exprs.is_zero(b.body)
        {
            return Err(error("division-by-zero", call.span, "division by zero"));
        }
        Ok(Value::Tensor(a.zip(&b, &mut self.exprs, ty, |x, l, r| {
            if f == Builtin::Mod && ty == Type::Real {
                // Jumps where the integer part does, which is an event (MLS 3.6 §3.7.2).
                let quotient = x.div(l, r);
                let whole = x.call(Builtin::Floor, &[quotient]);
                let full = x.mul(&[whole, r]);
                x.sub(l, full)
            } else {
                x.call(f, &[l, r])
            }
        })))
    }

    fn integer_of_enum(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        self.expect_count(call, 1, 1)?;
        let e = call
            .args
            .first()
            .or_else(|| call.named.first().map(|n| &n.value));
        let Some(e) = e else {
            return Err(error("argument-count", call.span, "an argument is missing"));
        };
        let t = self.tensor(env, e)?;
        match t.ty {
            Type::Enum(_) | Type::Integer => Ok(Value::Tensor(Tensor {
                ty: Type::Integer,
                ..t
            })),
            _ => {
                let found = self.describe(&Value::Tensor(t));
                Err(error(
                    "type-mismatch",
                    e.span,
                    format!("`Integer` takes an enumeration value, not {found}"),
                )
                .hint("use `integer(x)` for the largest Integer not above x"))
            }
        }
    }

    /// `semiLinear(x, p, n)`: slope p for positive, n for negative x (MLS 3.6 §3.7.2.5).
    fn semi_linear(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        self.expect_count(call, 3, 3)?;
        let mut args = Vec::new();
        for k in 0..3 {
            let names = ["x", "positiveSlope", "negativeSlope"];
            match self.argument(call, k, names[k]) {
                Some(e) => args.push(self.tensor(env, e)?),
                None => {
                    return Err(error(
                        "argument-count",
                        call.span,
                        format!("`{}` is missing", names[k]),
                    ));
                }
            }
        }
        // Sizes agree, or scalars go with arrays; the longest decides the shape.
        let shape = args.iter().max_by_key(|t| t.rank()).map(|t| t.dims.clone());
        if let Some(t) = args
            .iter()
            .find(|t| !t.ty.is_numeric() || !t.is_scalar() && Some(&t.dims) != shape.as_ref())
        {
            let found = self.describe(&Value::Tensor(t.clone()));
            return Err(error(
                "argument-shape",
                call.span,
                format!("`semiLinear` takes numbers of equal size, not {found}"),
            ));
        }
        let positive = args[0].map(&mut self.exprs, Type::Boolean, |x, e| {
            let zero = x.int(0);
            x.rel(RelOp::Ge, e, zero)
        });
        let p = args[1].zip(&args[0], &mut self.exprs, Type::Real, |x, l, r| {
            x.mul(&[l, r])
        });
        let n = args[2].zip(&args[0], &mut self.exprs, Type::Real, |x, l, r| {
            x.mul(&[l, r])
        });
        let zero = self.exprs.real(0.0);
        let upper = positive.zip(&p, &mut self.exprs, Type::Real, |x, c, v| x.if_(c, v, zero));
        let lower = positive.zip(&n, &mut self.exprs, Type::Real, |x, c, v| x.if_(c, zero, v));
        if upper.is_scalar() && lower.is_scalar() {
            let body = self.exprs.if_(positive.body, p.body, n.body);
            if self.exprs.as_f64(args[0].body).is_none() {
                let slopes = (args[1].body, args[2].body);
                self.semi_linear.insert(body, slopes);
            }
            return Ok(Value::scalar(Type::Real, body));
        }
        Ok(Value::Tensor(upper.zip(
            &lower,
            &mut self.exprs,
            Type::Real,
            |x, l, r| x.add(&[l, r]),
        )))
    }
}

/// The name of what is called, for messages.
pub(super) fn callee_name(call: &Call) -> String {
    match &call.function {
        acausal_syntax::ast::Callee::Ref(r) => super::reference::text(r),
        acausal_syntax::ast::Callee::Der => "der".into(),
        acausal_syntax::ast::Callee::Initial => "initial".into(),
        acausal_syntax::ast::Callee::Pure => "pure".into(),
    }
}
