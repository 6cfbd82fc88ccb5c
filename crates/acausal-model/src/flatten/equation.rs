//! Equations and `for` loops (MLS 3.6 §8.3.1, §8.3.2).
//!
//! Lowering an equation gives [`Item`]s and changes nothing else, so that the branches of an `if` can be merged, and a loop can
//! be tried symbolically first and unrolled only if its body needs the numbers.

use acausal_expr::flat::{Action, Assert, Equation, OriginId, OriginKind, When};
use acausal_expr::{Access, ExprId, IterId, Node, Range};
use acausal_syntax::Span;
use acausal_syntax::ast::{self, Call, Callee, EquationKind, Expr, ExprKind, ForIndex};

use super::{Flattener, Spot};
use crate::connect::{Connections, Link};
use crate::instance::InstId;
use crate::lower::{Iteration, Result, Tensor, Type, Value, error};

/// What an equation lowers to.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    /// An equation, not yet cut.
    Equation(Equation),
    /// `assert`
    Assert(Assert),
    /// `when`
    When(When),
    /// A connection of two primitive variables.
    Link(Link),
    /// `reinit`, only inside of `when`.
    Reinit {
        domain: Vec<(IterId, Range)>,
        target: Access,
        value: ExprId,
        span: Span,
    },
    /// `terminate`, only inside of `when`.
    Terminate { message: String, origin: OriginId },
}

/// Loops whose body needs the value of the iterator are unrolled up to this length.
const UNROLL: usize = 100_000;

impl Flattener {
    /// Lowers one equation, with the assertions of the functions that it calls.
    pub(super) fn equation(
        &mut self,
        spot: &Spot<'_>,
        e: &ast::Equation,
        out: &mut Vec<Item>,
    ) -> Result<()> {
        let result = self.equation_kind(spot, e, out);
        let asserts = self.function_asserts(&spot.domain, spot.component);
        out.extend(asserts.into_iter().map(Item::Assert));
        result
    }

    /// Takes the assertions of functions called since the last time.
    pub(super) fn function_asserts(&mut self, domain: &[(IterId, Range)], component: InstId) -> Vec<Assert> {
        let pending = std::mem::take(&mut self.ctx.function_state.asserts);
        let mut out = Vec::new();
        for p in pending {
            let mut domain = domain.to_vec();
            // A call inside of a comprehension asserts for every element of it.
            for e in self.ctx.exprs.reachable(&[p.condition, p.message]) {
                if let Node::Iter(i) = self.ctx.exprs.node(e)
                    && !domain.iter().any(|d| d.0 == i)
                    && let Some(&range) = self.ctx.ranges.get(&i)
                {
                    domain.push((i, range));
                }
            }
            let origin = self.origin(p.span, component, OriginKind::Assert);
            out.push(Assert { domain, condition: p.condition, message: p.message, warning: p.warning, origin });
        }
        out
    }

    fn equation_kind(
        &mut self,
        spot: &Spot<'_>,
        e: &ast::Equation,
        out: &mut Vec<Item>,
    ) -> Result<()> {
        match &e.kind {
            EquationKind::Equal(l, r) => self.equal(spot, l, r, e.span, out),
            EquationKind::If {
                branches,
                otherwise,
            } => self.if_equation(spot, branches, otherwise, e.span, out),
            EquationKind::For { indices, body } => self.for_equation(spot, indices, body, out),
            EquationKind::Connect(a, b) => {
                if spot.when {
                    return Err(error(
                        "misplaced-connect",
                        e.span,
                        "`connect` cannot be inside of `when`",
                    ));
                }
                if spot.initial {
                    return Err(error(
                        "misplaced-connect",
                        e.span,
                        "`connect` cannot be an initial equation",
                    ));
                }
                let origin = self.origin(e.span, spot.component, OriginKind::Potential);
                let mut found = Connections::default();
                crate::connect::connect(
                    &mut self.ctx,
                    &spot.env,
                    &spot.domain,
                    [a, b],
                    origin,
                    &mut found,
                )?;
                self.connections.leaves.extend(found.leaves);
                out.extend(found.links.into_iter().map(Item::Link));
                Ok(())
            }
            EquationKind::When { branches } => {
                if spot.when {
                    return Err(error(
                        "nested-when",
                        e.span,
                        "`when` cannot be inside of `when`",
                    ));
                }
                if spot.initial {
                    return Err(error(
                        "misplaced-when",
                        e.span,
                        "`when` cannot be an initial equation",
                    ));
                }
                self.when_equation(spot, branches, e.span, out)
            }
            EquationKind::Call(call) => self.call_equation(spot, call, e.span, out),
        }
    }

    /// Lowers several equations; all their errors are kept, the last one is given back.
    pub(super) fn equations(
        &mut self,
        spot: &Spot<'_>,
        list: &[ast::Equation],
        out: &mut Vec<Item>,
    ) -> Result<()> {
        let mut first = Ok(());
        for e in list {
            match (self.equation(spot, e, out), &first) {
                (Err(message), Ok(())) => first = Err(message),
                (Err(message), Err(_)) => self.ctx.errors.push(*message),
                (Ok(()), _) => {}
            }
        }
        first
    }

    fn equal(
        &mut self,
        spot: &Spot<'_>,
        l: &Expr,
        r: &Expr,
        span: Span,
        out: &mut Vec<Item>,
    ) -> Result<()> {
        let origin = |this: &mut Self| this.origin(span, spot.component, OriginKind::Equation);
        if let ExprKind::Tuple(targets) = &l.kind {
            let value = self.ctx.expr(&spot.env, r)?;
            let Value::Tuple(values) = value else {
                return Err(error(
                    "tuple-mismatch",
                    r.span,
                    "a call with several outputs is expected here",
                ));
            };
            if targets.len() > values.len() {
                return Err(error(
                    "tuple-mismatch",
                    span,
                    format!(
                        "{} values are expected, but the call has {}",
                        targets.len(),
                        values.len()
                    ),
                ));
            }
            let origin = origin(self);
            for (target, value) in targets.iter().zip(values) {
                if let Some(t) = target {
                    let left = self.ctx.expr(&spot.env, t)?;
                    self.equate(spot, &left, &value, span, origin, out)?;
                }
            }
            return Ok(());
        }
        let a = self.ctx.expr(&spot.env, l)?;
        let b = self.ctx.expr(&spot.env, r)?;
        let first = |v: Value| match v {
            Value::Tuple(mut vs) if !vs.is_empty() => vs.swap_remove(0),
            v => v,
        };
        let (a, b) = (first(a), first(b));
        let origin = origin(self);
        self.equate(spot, &a, &b, span, origin, out)
    }

    /// `a = b` for values of equal type and size.
    pub(super) fn equate(
        &mut self,
        spot: &Spot<'_>,
        a: &Value,
        b: &Value,
        span: Span,
        origin: OriginId,
        out: &mut Vec<Item>,
    ) -> Result<()> {
        match (a, b) {
            (Value::Tensor(x), Value::Tensor(y))
                if x.dims == y.dims && x.ty.join(y.ty).is_some() =>
            {
                let mut domain = spot.domain.clone();
                domain.extend(
                    x.iters
                        .iter()
                        .zip(&x.dims)
                        .map(|(&i, &n)| (i, Range::upto(n))),
                );
                let rhs = y.over(&mut self.ctx.exprs, &x.iters);
                out.push(Item::Equation(Equation {
                    domain,
                    lhs: x.body,
                    rhs,
                    origin,
                }));
                Ok(())
            }
            (Value::Record(x), Value::Record(y))
                if x.dims == y.dims && x.fields.len() == y.fields.len() =>
            {
                for (name, v) in &x.fields {
                    let Some(w) = b.field(*name) else {
                        return Err(self.mismatch(a, b, span));
                    };
                    self.equate(spot, v, w, span, origin, out)?;
                }
                Ok(())
            }
            _ => Err(self.mismatch(a, b, span)),
        }
    }

    fn mismatch(&self, a: &Value, b: &Value, span: Span) -> Box<acausal_syntax::Diagnostic> {
        let (p, q) = (self.ctx.describe(a), self.ctx.describe(b));
        let same_type = match (a, b) {
            (Value::Tensor(x), Value::Tensor(y)) => x.ty.join(y.ty).is_some(),
            _ => false,
        };
        let code = if same_type {
            "size-mismatch"
        } else {
            "type-mismatch"
        };
        error(
            code,
            span,
            format!("the sides of this equation differ: {p} on the left, {q} on the right"),
        )
    }

    fn for_equation(
        &mut self,
        spot: &Spot<'_>,
        indices: &[ForIndex],
        body: &[ast::Equation],
        out: &mut Vec<Item>,
    ) -> Result<()> {
        let Some((index, rest)) = indices.split_first() else {
            return self.equations(spot, body, out);
        };
        let exprs = expressions(body);
        let iteration = self.ctx.iteration(&spot.env, index, &exprs)?;
        if iteration.count() == 0 {
            return Ok(());
        }
        let name = index.name.name;
        let symbolic = match &iteration {
            Iteration::Range(ty, range) => {
                let k = self.ctx.iterator(Some(name), *range);
                Some((k, *range, Value::scalar(*ty, self.ctx.exprs.iter(k))))
            }
            Iteration::Vector(v)
                if v.ty == Type::Real
                    && !matches!(self.ctx.exprs.node(v.body), Node::Select(..)) =>
            {
                let range = Range::upto(v.dims[0]);
                let k = self.ctx.iterator(None, range);
                let value = self.ctx.iteration_value(&iteration, k);
                Some((k, range, value))
            }
            Iteration::Vector(_) => None,
        };
        if let Some((k, range, value)) = symbolic {
            let mut inner = Spot {
                env: spot.env.with_loop(name, value),
                ..spot.clone()
            };
            inner.domain.push((k, range));
            let (errors, mut items) = (self.ctx.errors.len(), Vec::new());
            match self.for_equation(&inner, rest, body, &mut items) {
                Ok(()) => {
                    out.append(&mut items);
                    return Ok(());
                }
                // A size or range that depends on the iterator (a triangle) has a value only element by element.
                Err(message) if message.code == "not-constant" && iteration.count() <= UNROLL => {
                    self.ctx.errors.truncate(errors)
                }
                Err(message) => return Err(message),
            }
        }
        if iteration.count() > UNROLL {
            return Err(error(
                "loop-too-long",
                index.span,
                format!(
                    "this loop has to be unrolled, but has {} steps",
                    iteration.count()
                ),
            ));
        }
        for p in 1..=iteration.count() as i64 {
            let value = match &iteration {
                Iteration::Range(ty, range) => {
                    Value::scalar(*ty, self.ctx.exprs.int(range.at(p - 1)))
                }
                Iteration::Vector(v) => Value::scalar(v.ty, v.element(&mut self.ctx.exprs, &[p])),
            };
            let inner = Spot {
                env: spot.env.with_loop(name, value),
                ..spot.clone()
            };
            self.for_equation(&inner, rest, body, out)?;
        }
        Ok(())
    }

    fn call_equation(
        &mut self,
        spot: &Spot<'_>,
        call: &Call,
        span: Span,
        out: &mut Vec<Item>,
    ) -> Result<()> {
        let name = match &call.function {
            Callee::Ref(r) => r.as_ident().map_or("", |i| i.as_str()),
            _ => "",
        };
        match name {
            "assert" => {
                let assert = self.assertion(spot, call, span)?;
                if self.ctx.exprs.as_bool(assert.condition) != Some(true) {
                    out.push(Item::Assert(assert));
                }
                Ok(())
            }
            "terminate" => {
                let message = self.terminate_message(spot, call)?;
                let origin = self.origin(span, spot.component, OriginKind::When);
                out.push(Item::Terminate { message, origin });
                Ok(())
            }
            "reinit" => self.reinit(spot, call, span, out),
            "Connections.root" | "Connections.branch" => Ok(()),
            _ => {
                if let Callee::Ref(r) = &call.function
                    && r.parts.len() == 2
                    && r.parts[0].name.as_str() == "Connections"
                {
                    return Ok(()); // over-determined connectors: no loops are broken yet (MLS 3.6 §9.4)
                }
                self.ctx.expr(
                    &spot.env,
                    &Expr::new(ExprKind::Call(Box::new(call.clone())), span),
                )?;
                Ok(())
            }
        }
    }

    /// `assert(condition, message, level)`.
    pub(super) fn assertion(&mut self, spot: &Spot<'_>, call: &Call, span: Span) -> Result<Assert> {
        let (Some(condition), Some(message)) =
            (argument(call, 0, "condition"), argument(call, 1, "message"))
        else {
            return Err(error(
                "argument-count",
                call.span,
                "`assert` takes a condition and a message",
            ));
        };
        let condition = self.ctx.scalar(&spot.env, condition, Type::Boolean)?;
        let message = self.ctx.scalar(&spot.env, message, Type::String)?;
        let warning = match argument(call, 2, "level") {
            None => false,
            Some(level) => {
                let t = self.ctx.tensor(&spot.env, level)?;
                let level_value = self.ctx.constant_int(
                    &spot.env,
                    t.body,
                    level.span,
                    "the level of an assertion",
                )?;
                level_value == 1
            }
        };
        let origin = self.origin(span, spot.component, OriginKind::Assert);
        Ok(Assert {
            domain: spot.domain.clone(),
            condition,
            message,
            warning,
            origin,
        })
    }

    pub(super) fn terminate_message(&mut self, spot: &Spot<'_>, call: &Call) -> Result<String> {
        let Some(message) = argument(call, 0, "message") else {
            return Err(error(
                "argument-count",
                call.span,
                "`terminate` takes a message",
            ));
        };
        let m = self.ctx.scalar(&spot.env, message, Type::String)?;
        let exprs = &self.ctx.exprs;
        Ok(exprs
            .text(m, &mut |_, _, _| None)
            .unwrap_or_else(|_| "terminate".to_string()))
    }

    fn reinit(
        &mut self,
        spot: &Spot<'_>,
        call: &Call,
        span: Span,
        out: &mut Vec<Item>,
    ) -> Result<()> {
        if !spot.when {
            return Err(error(
                "misplaced-call",
                span,
                "`reinit` can only be used inside of `when`",
            ));
        }
        let [target, value] = call.args.as_slice() else {
            return Err(error(
                "argument-count",
                call.span,
                "`reinit` takes a state and its new value",
            ));
        };
        let t = self.ctx.tensor(&spot.env, target)?;
        let v = self.ctx.tensor(&spot.env, value)?;
        let v = self.ctx.expect(v, t.ty, &t.dims, value.span, "the state")?;
        let Some(access) = self.real_variable(&t) else {
            return Err(error(
                "not-a-variable",
                target.span,
                "`reinit` takes a Real variable",
            ));
        };
        let mut domain = spot.domain.clone();
        domain.extend(
            t.iters
                .iter()
                .zip(&t.dims)
                .map(|(&i, &n)| (i, Range::upto(n))),
        );
        let value = v.over(&mut self.ctx.exprs, &t.iters);
        out.push(Item::Reinit {
            domain,
            target: access,
            value,
            span,
        });
        Ok(())
    }

    fn real_variable(&self, t: &Tensor) -> Option<Access> {
        match self.ctx.exprs.node(t.body) {
            Node::Var(a)
                if a.kind == acausal_expr::Kind::Value
                    && t.ty == Type::Real
                    && !self.model.var(a.var).is_parameter() =>
            {
                Some(a)
            }
            _ => None,
        }
    }

    /// Puts lowered equations into the model.
    pub(super) fn emit(&mut self, spot: &Spot<'_>, items: Vec<Item>) {
        for item in items {
            match item {
                Item::Equation(e) => self.push(spot.initial, e),
                Item::Assert(a) => self.model.asserts.push(a),
                Item::When(w) => {
                    for branch in &w.branches {
                        for action in &branch.actions {
                            if let Action::Assign { target, .. } = action {
                                self.discrete.insert(target.var);
                            }
                        }
                    }
                    self.model.whens.push(w);
                }
                Item::Link(l) => self.connections.link(l),
                Item::Reinit { span, .. } => {
                    self.ctx.errors.push(*error(
                        "misplaced-call",
                        span,
                        "`reinit` can only be used inside of `when`",
                    ));
                }
                Item::Terminate { origin, .. } => {
                    let span = self.model.origin(origin).span;
                    self.ctx.errors.push(*error(
                        "misplaced-call",
                        span,
                        "`terminate` can only be used inside of `when`",
                    ));
                }
            }
        }
    }
}

/// The argument at a position or with a name.
fn argument<'c>(call: &'c Call, position: usize, name: &str) -> Option<&'c Expr> {
    call.args.get(position).or_else(|| {
        call.named
            .iter()
            .find(|n| n.name.as_str() == name)
            .map(|n| &n.value)
    })
}

/// All expressions directly in equations, for iterators whose range follows from their use.
fn expressions(body: &[ast::Equation]) -> Vec<&Expr> {
    let mut out = Vec::new();
    let mut todo: Vec<&ast::Equation> = body.iter().collect();
    while let Some(e) = todo.pop() {
        match &e.kind {
            EquationKind::Equal(l, r) => out.extend([l, r]),
            EquationKind::If {
                branches,
                otherwise,
            } => {
                for (c, list) in branches {
                    out.push(c);
                    todo.extend(list);
                }
                todo.extend(otherwise);
            }
            EquationKind::When { branches } => {
                for (c, list) in branches {
                    out.push(c);
                    todo.extend(list);
                }
            }
            EquationKind::For { body, .. } => todo.extend(body),
            EquationKind::Call(call) => out.extend(&call.args),
            EquationKind::Connect(..) => {}
        }
    }
    out
}
