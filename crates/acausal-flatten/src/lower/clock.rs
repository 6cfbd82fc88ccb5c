//! Operators of clocks (MLS 3.6 §16), as calls of built-in functions.
//!
//! Lowering only checks types; which equations belong to which clock is decided on the whole flat model (`crate::clock`), where
//! these calls disappear. Factors and counters are numbers already here: they decide the structure.

use acausal_expr::Builtin;
use acausal_syntax::ast::{Call, Expr};

use super::{Context, Env, Result, Tensor, Type, Value, error};

impl Context {
    /// `Clock()`, `Clock(interval)`, `Clock(intervalCounter, resolution)`, `Clock(condition, startInterval)`, `Clock(c, solverMethod)`.
    pub(super) fn clock_constructor(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        let names = ["interval", "intervalCounter", "condition", "c"];
        let first = names.iter().find_map(|n| self.argument(call, 0, n));
        let Some(first) = first else {
            let clock = self.exprs.call(Builtin::Clock, &[]);
            return Ok(Value::scalar(Type::Clock, clock));
        };
        let t = self.tensor(env, first)?;
        if !t.is_scalar() {
            let found = self.describe(&Value::Tensor(t));
            let message = format!("`Clock` takes a scalar, not {found}");
            return Err(error("type-mismatch", first.span, message));
        }
        let clock = match t.ty {
            // A solver method concerns equations with derivatives, which are refused by the partitioning.
            Type::Clock => t.body,
            Type::Boolean => {
                let start = match self.argument(call, 1, "startInterval") {
                    Some(e) => self.scalar(env, e, Type::Real)?,
                    None => self.exprs.real(0.0),
                };
                self.exprs.call(Builtin::EventClock, &[t.body, start])
            }
            Type::Integer => {
                let interval = match self.argument(call, 1, "resolution") {
                    Some(e) => {
                        let resolution = self.scalar(env, e, Type::Integer)?;
                        self.exprs.div(t.body, resolution)
                    }
                    None => t.body,
                };
                self.expect_parameter(interval, first, "the interval of a clock")?;
                self.exprs.call(Builtin::Clock, &[interval])
            }
            Type::Real => {
                self.expect_parameter(t.body, first, "the interval of a clock")?;
                self.exprs.call(Builtin::Clock, &[t.body])
            }
            _ => {
                let found = self.describe(&Value::Tensor(t));
                let message = format!("`Clock` cannot be made from {found}");
                return Err(error("type-mismatch", first.span, message));
            }
        };
        Ok(Value::scalar(Type::Clock, clock))
    }

    /// `sample(u)` and `sample(u, clock)` are of clocks, `sample(start, interval)` is not.
    pub(super) fn is_clocked_sample(&mut self, env: &Env<'_>, call: &Call) -> Result<bool> {
        if call.args.len() + call.named.len() == 1 {
            return Ok(true);
        }
        match self.argument(call, 1, "clock") {
            Some(e) => Ok(matches!(self.expr(env, e)?, Value::Tensor(t) if t.ty == Type::Clock)),
            None => Ok(false),
        }
    }

    /// An operator that makes a signal of one clock from one of another, or of the same.
    pub(super) fn clocked_operator(
        &mut self,
        env: &Env<'_>,
        name: &str,
        call: &Call,
    ) -> Result<Value> {
        let (operator, most, result) = match name {
            "sample" => (Builtin::ClockedSample, 2, None),
            "hold" => (Builtin::Hold, 1, None),
            "previous" => (Builtin::Previous, 1, None),
            "subSample" => (Builtin::SubSample, 2, None),
            "superSample" => (Builtin::SuperSample, 2, None),
            "shiftSample" => (Builtin::ShiftSample, 3, None),
            "backSample" => (Builtin::BackSample, 3, None),
            "noClock" => (Builtin::NoClock, 1, None),
            "interval" => (Builtin::Interval, 1, Some(Type::Real)),
            _ => (Builtin::FirstTick, 1, Some(Type::Boolean)),
        };
        let least = usize::from(result.is_none());
        self.expect_count(call, least, most)?;
        let Some(u) = self.argument(call, 0, "u") else {
            let value = self.exprs.call(operator, &[]);
            return Ok(Value::scalar(result.unwrap_or(Type::Real), value));
        };
        let value = self.expr(env, u)?;
        if env.shape && result.is_none() {
            return Ok(value);
        }
        let mut further = Vec::new();
        match operator {
            Builtin::ClockedSample => {
                if let Some(c) = self.argument(call, 1, "clock") {
                    further.push(self.scalar(env, c, Type::Clock)?);
                }
            }
            Builtin::SubSample | Builtin::SuperSample => {
                let factor = self.argument(call, 1, "factor");
                further.push(self.counter(env, factor, 0, 0)?);
            }
            Builtin::ShiftSample | Builtin::BackSample => {
                let second = match operator {
                    Builtin::ShiftSample => "shiftCounter",
                    _ => "backCounter",
                };
                let count = self.argument(call, 1, second);
                let resolution = self.argument(call, 2, "resolution");
                further.push(self.counter(env, count, 0, 0)?);
                further.push(self.counter(env, resolution, 1, 1)?);
            }
            _ => {}
        }
        if let Some(ty) = result {
            // Only the clock of the argument matters; an array has one.
            let Value::Tensor(t) = value else {
                let found = self.describe(&value);
                let message = format!("`{name}` takes a variable, not {found}");
                return Err(error("type-mismatch", u.span, message));
            };
            let first = vec![1; t.rank()];
            let element = t.element(&mut self.exprs, &first);
            let body = self.exprs.call(operator, &[element]);
            return Ok(Value::Tensor(Tensor::scalar(ty, body)));
        }
        Ok(value.map_leaves(&mut |t| {
            let ty = t.ty;
            t.map(&mut self.exprs, ty, |x, e| {
                let mut args = vec![e];
                args.extend(&further);
                x.call(operator, &args)
            })
        }))
    }

    /// A factor or counter: a number that is known now and not below `least`.
    fn counter(
        &mut self,
        env: &Env<'_>,
        e: Option<&Expr>,
        otherwise: i64,
        least: i64,
    ) -> Result<acausal_expr::ExprId> {
        let Some(e) = e else {
            return Ok(self.exprs.int(otherwise));
        };
        let n = self.scalar(&env.evaluating(), e, Type::Integer)?;
        let n = self.constant_int(env, n, e.span, "a factor or counter of clocks")?;
        if n < least {
            let message = format!("this is {n}, but must not be below {least}");
            return Err(error("clock-factor", e.span, message));
        }
        Ok(self.exprs.int(n))
    }
}
