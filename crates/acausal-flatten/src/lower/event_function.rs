//! Derivatives, event operators and other functions that depend on the simulation (MLS 3.6 §3.7.2, §3.7.4, §3.7.5).

use acausal_expr::{Builtin, ExprId, Exprs, Node, ValueKind};
use acausal_symbolic::Differentiate;
use acausal_syntax::ast::{Call, Expr, VariabilityPrefix};

use super::{Context, Env, Error, Result, Tensor, Type, Value, error};

impl Context {
    /// `der(e)`: of an expression it is written out by the rules of differentiation.
    pub(super) fn der_call(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        let [e] = call.args.as_slice() else {
            return Err(error(
                "argument-count",
                call.span,
                "`der` takes one argument",
            ));
        };
        let value = self.expr(env, e)?;
        self.derivative(env, &value, e)
    }

    fn derivative(&mut self, env: &Env<'_>, value: &Value, e: &Expr) -> Result<Value> {
        match value {
            Value::Tensor(t) => {
                if !t.ty.is_numeric() {
                    let found = self.describe(value);
                    return Err(error(
                        "type-mismatch",
                        e.span,
                        format!("`der` takes a Real expression, not {found}"),
                    ));
                }
                if t.ty == Type::Integer && !env.shape {
                    return Err(error(
                        "type-mismatch",
                        e.span,
                        "`der` takes a Real expression; an Integer has no derivative",
                    ));
                }
                if let Node::Var(a) = self.exprs.node(t.body)
                    && let Some(&inst) = self.var_insts.get(a.var.index())
                    && self.instances.data(inst).prefixes.variability
                        == Some(VariabilityPrefix::Discrete)
                {
                    let name = self.instances.display_name(inst);
                    return Err(error(
                        "der-of-discrete",
                        e.span,
                        format!("`{name}` is discrete and has no derivative"),
                    ));
                }
                let constant: rustc_hash::FxHashSet<u32> = self
                    .exprs
                    .accesses(t.body)
                    .into_iter()
                    .filter(|(_, a)| self.is_piecewise_constant(a.var))
                    .map(|(_, a)| a.var.0)
                    .collect();
                let body = self
                    .exprs
                    .time_derivative(t.body, |a| constant.contains(&a.var.0));
                Ok(Value::Tensor(Tensor {
                    ty: Type::Real,
                    dims: t.dims.clone(),
                    iters: t.iters.clone(),
                    body,
                }))
            }
            Value::Record(r) => {
                let mut fields = Vec::new();
                for (name, v) in &r.fields {
                    fields.push((*name, self.derivative(env, v, e)?));
                }
                Ok(Value::Record(super::Record {
                    class: r.class,
                    dims: r.dims.clone(),
                    fields,
                }))
            }
            other => {
                let found = self.describe(other);
                Err(error(
                    "type-mismatch",
                    e.span,
                    format!("`der` takes a Real expression, not {found}"),
                ))
            }
        }
    }

    /// The only argument, a reference to a connector or to a part of one.
    fn connector_argument(&mut self, env: &Env<'_>, call: &Call) -> Result<super::ComponentRange> {
        match call.args.as_slice() {
            [e] => match e.as_component_ref() {
                Some(r) => self.place(env, r),
                None => Err(error(
                    "not-a-component",
                    e.span,
                    "a component is expected here",
                )),
            },
            _ => Err(error(
                "argument-count",
                call.span,
                "this operator takes one component",
            )),
        }
    }

    /// Checks that an expression does not vary during simulation.
    pub(super) fn expect_parameter(&mut self, e: ExprId, at: &Expr, what: &str) -> Result<()> {
        for n in self.exprs.reachable(&[e]) {
            let name = match self.exprs.node(n) {
                Node::Time => Some("time".to_string()),
                Node::Var(a) => self.var_insts.get(a.var.index()).and_then(|&i| {
                    let v = self.instances.data(i).prefixes.variability;
                    v.is_none_or(|v| v > VariabilityPrefix::Parameter)
                        .then(|| self.instances.display_name(i))
                }),
                _ => None,
            };
            if let Some(name) = name {
                return Err(Error::not_constant(
                    at.span,
                    format!(
                        "{what} must be a parameter expression, but depends on `{name}`, which varies"
                    ),
                ));
            }
        }
        Ok(())
    }

    /// Parameters, constants, and variables that are declared discrete or are not Real.
    fn is_piecewise_constant(&mut self, var: acausal_expr::VarId) -> bool {
        let Some(&inst) = self.var_insts.get(var.index()) else {
            return false;
        };
        self.instances
            .data(inst)
            .prefixes
            .variability
            .is_some_and(|v| v <= VariabilityPrefix::Discrete)
            || self.primitive_type(inst).is_some_and(|t| t != Type::Real)
    }

    /// An operator of MLS 3.6 §3.7.2 to §3.7.5, §15, §16; `None` if the name is not one.
    pub(super) fn event_function(
        &mut self,
        env: &Env<'_>,
        name: &str,
        call: &Call,
    ) -> Result<Option<Value>> {
        let value = match name {
            "sample" if self.is_clocked_sample(env, call)? => {
                self.clocked_operator(env, name, call)
            }
            "der" => self.der_call(env, call),
            "initial" => Ok(self.phase(Builtin::Initial)),
            "terminal" => Ok(self.phase(Builtin::Terminal)),
            "pre" | "edge" | "change" => self.left_limit_call(env, call, name),
            "noEvent" => self.no_event(env, call),
            "smooth" => self.smooth(env, call),
            "sample" => self.sample(env, call),
            "delay" => self.delay(env, call),
            "homotopy" => self.homotopy(env, call),
            "getInstanceName" => {
                let name = self.instances.instance_name(env.scope.inst);
                Ok(Value::scalar(Type::String, self.exprs.str(&name)))
            }
            "assert" | "terminate" | "reinit" => Err(error(
                "misplaced-call",
                call.span,
                format!("`{name}` is not an expression"),
            )),
            "cardinality" | "Connections.isRoot" | "Connections.rooted" | "rooted" => {
                self.graph_function(env, call, name)
            }
            "inStream" | "actualStream" => self.stream_call(env, name, call),
            "Clock" => self.clock_constructor(env, call),
            "previous" | "hold" | "subSample" | "superSample" | "shiftSample" | "backSample"
            | "noClock" | "interval" | "firstTick" => self.clocked_operator(env, name, call),
            "spatialDistribution" => self.spatial_distribution(env, call),
            "activeState" | "initialState" | "ticksInState" | "timeInState" | "transition" => Err(
                Error::unsupported(call.span, format!("`{name}` is not supported yet")),
            ),
            _ => return Ok(None),
        };
        value.map(Some)
    }

    /// Whether the simulation is in a phase.
    fn phase(&mut self, phase: Builtin) -> Value {
        Value::scalar(Type::Boolean, self.exprs.call(phase, &[]))
    }

    /// `pre(y)`, `edge(y)`, `change(y)`
    fn left_limit_call(&mut self, env: &Env<'_>, call: &Call, name: &str) -> Result<Value> {
        self.expect_count(call, 1, 1)?;
        let Some(e) = self.argument(call, 0, "y") else {
            return Err(error(
                "argument-count",
                call.span,
                format!("`{name}` takes a variable"),
            ));
        };
        let value = self.expr(env, e)?;
        self.left_limit(env, name, &value, e)
    }

    /// `noEvent(expr)`
    fn no_event(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        self.expect_count(call, 1, 1)?;
        let value = self.expr(env, &call.args[0])?;
        Ok(value.map_leaves(&mut |t| t.map(&mut self.exprs, t.ty, |x, e| x.no_event(e))))
    }

    /// `smooth(p, expr)`
    fn smooth(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        self.expect_count(call, 2, 2)?;
        let (Some(p), Some(e)) = (self.argument(call, 0, "p"), self.argument(call, 1, "expr"))
        else {
            return Err(error(
                "argument-count",
                call.span,
                "`smooth` takes an order and an expression",
            ));
        };
        let p = self.scalar(env, p, Type::Integer)?;
        let p = self.constant_int(env, p, call.span, "the order of `smooth`")?;
        let value = self.expr(env, e)?;
        let p = p.clamp(0, 255) as u8;
        Ok(value.map_leaves(&mut |t| t.map(&mut self.exprs, t.ty, |x, e| x.smooth(p, e))))
    }

    /// `sample(start, interval)`: true at events of time.
    fn sample(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        self.expect_count(call, 2, 2)?;
        let (Some(a), Some(b)) = (
            self.argument(call, 0, "start"),
            self.argument(call, 1, "interval"),
        ) else {
            return Err(error(
                "argument-count",
                call.span,
                "`sample` takes a start and an interval, or a signal and a clock",
            ));
        };
        let (start, interval) = (
            self.scalar(env, a, Type::Real)?,
            self.scalar(env, b, Type::Real)?,
        );
        self.expect_parameter(start, a, "the start of `sample`")?;
        self.expect_parameter(interval, b, "the interval of `sample`")?;
        Ok(Value::scalar(
            Type::Boolean,
            self.exprs.call(Builtin::Sample, &[start, interval]),
        ))
    }

    /// `delay(expr, delayTime, delayMax)`
    fn delay(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        self.expect_count(call, 2, 3)?;
        let (Some(a), Some(b)) = (
            self.argument(call, 0, "expr"),
            self.argument(call, 1, "delayTime"),
        ) else {
            return Err(error(
                "argument-count",
                call.span,
                "`delay` takes an expression and a time",
            ));
        };
        let limit = self.argument(call, 2, "delayMax").unwrap_or(b);
        let t = self.tensor(env, a)?;
        let (time, longest) = (
            self.scalar(env, b, Type::Real)?,
            self.scalar(env, limit, Type::Real)?,
        );
        self.expect_parameter(longest, limit, "the largest delay")?;
        if let (Some(time), Some(longest)) = (self.exprs.as_f64(time), self.exprs.as_f64(longest))
            && !(0.0..=longest).contains(&time)
        {
            return Err(error(
                "delay-time",
                b.span,
                format!("the delay {time} is not between 0 and the largest delay {longest}"),
            ));
        }
        Ok(Value::Tensor(t.map(&mut self.exprs, Type::Real, |x, e| {
            x.call(Builtin::Delay, &[e, time, longest])
        })))
    }

    /// `homotopy(actual, simplified)`
    fn homotopy(&mut self, env: &Env<'_>, call: &Call) -> Result<Value> {
        self.expect_count(call, 2, 2)?;
        let (Some(a), Some(b)) = (
            self.argument(call, 0, "actual"),
            self.argument(call, 1, "simplified"),
        ) else {
            return Err(error(
                "argument-count",
                call.span,
                "`homotopy` takes `actual` and `simplified`",
            ));
        };
        let (x, y) = (self.tensor(env, a)?, self.tensor(env, b)?);
        if x.dims != y.dims {
            let (p, q) = (
                self.describe(&Value::Tensor(x)),
                self.describe(&Value::Tensor(y)),
            );
            return Err(error(
                "size-mismatch",
                call.span,
                format!("`actual` is {p}, but `simplified` is {q}"),
            ));
        }
        Ok(Value::Tensor(x.zip(
            &y,
            &mut self.exprs,
            Type::Real,
            |x, l, r| x.call(Builtin::Homotopy, &[l, r]),
        )))
    }

    /// What is asked of the graph of connections (MLS 3.6 §3.7.2.3, §9.4.1).
    fn graph_function(&mut self, env: &Env<'_>, call: &Call, name: &str) -> Result<Value> {
        let place = self.connector_argument(env, call)?;
        if name == "cardinality" {
            let n =
                self.literal_per_element(&place, call.span, |x, g, n| x.int(g.cardinality(n)))?;
            return Ok(Value::scalar(Type::Integer, n));
        }
        let holds = match name {
            "Connections.isRoot" => self.per_element(&place, call.span, |g, n| g.is_root(n))?,
            _ => self.per_element(&place, call.span, |g, n| g.is_rooted(n))?,
        };
        Ok(Value::scalar(Type::Boolean, holds))
    }

    /// `pre(v)`, `edge(v)` and `change(v)` of a variable.
    fn left_limit(&mut self, env: &Env<'_>, name: &str, value: &Value, e: &Expr) -> Result<Value> {
        let Value::Tensor(t) = value else {
            let found = self.describe(value);
            return Err(error(
                "type-mismatch",
                e.span,
                format!("`{name}` takes a variable, not {found}"),
            ));
        };
        if name == "edge" && t.ty != Type::Boolean {
            let found = self.describe(value);
            return Err(error(
                "type-mismatch",
                e.span,
                format!("`edge` takes a Boolean variable, not {found}"),
            ));
        }
        let literal = |x: &Exprs, e: ExprId| {
            matches!(
                x.node(e),
                Node::Int(_) | Node::Real(_) | Node::Bool(_) | Node::Str(_)
            )
        };
        if let Node::Var(a) = self.exprs.node(t.body)
            && t.ty == Type::Real
            && !env.when
        {
            self.left_limits.push((a.var, e.span));
        }
        let body = match self.exprs.node(t.body) {
            Node::Var(mut a) if a.kind == ValueKind::Value => match name {
                "pre" => {
                    let parameter = self.var_insts.get(a.var.index()).is_some_and(|&i| {
                        self.instances
                            .data(i)
                            .prefixes
                            .variability
                            .is_some_and(|v| v <= VariabilityPrefix::Parameter)
                    });
                    if parameter {
                        t.body
                    } else {
                        a.kind = ValueKind::Pre;
                        let ty = self.exprs.ty(t.body);
                        self.exprs.access(a, ty)
                    }
                }
                "edge" => self.exprs.call(Builtin::Edge, &[t.body]),
                _ => self.exprs.call(Builtin::Change, &[t.body]),
            },
            _ if literal(&self.exprs, t.body) => match name {
                "pre" => t.body,
                _ => self.exprs.bool(false),
            },
            _ => {
                return Err(error(
                    "not-a-variable",
                    e.span,
                    format!("`{name}` takes a variable, not an expression"),
                )
                .hint("declare a variable for the expression"));
            }
        };
        let ty = if name == "pre" { t.ty } else { Type::Boolean };
        Ok(Value::Tensor(Tensor {
            ty,
            dims: t.dims.clone(),
            iters: t.iters.clone(),
            body,
        }))
    }
}
