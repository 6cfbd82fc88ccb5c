//! Equations and `for` loops (MLS 3.6 §8.3.1, §8.3.2).
//!
//! Lowering an equation gives [`LoweredItem`]s and changes nothing else, so that the branches of an `if` can be merged, and a loop can
//! be tried symbolically first and unrolled only if its body needs the numbers.

use acausal_base::{Diagnostic, Span};
use acausal_expr::flat::{Action, Assert, Equation, OriginId, OriginKind, Print, When};
use acausal_expr::{Access, ExprId, IterId, Node, Range, Ty, ValueKind};
use acausal_syntax::ast::{self, EquationKind, Expr, ExprKind};

use super::{EquationContext, Flattener};
use crate::algorithm::at_start_only;
use crate::connect::Link;
use crate::lower::{Error, Result, Tensor, Type, Value, error};

/// What an equation lowers to.
#[derive(Clone, Debug)]
pub(crate) enum LoweredItem {
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
    Terminate { message: ExprId, origin: OriginId },
    /// `Modelica.Utilities.Streams.print(message)`.
    Print {
        domain: Vec<(IterId, Range)>,
        message: ExprId,
        origin: OriginId,
    },
}

impl Flattener {
    /// Lowers one equation, with the assertions of the functions that it calls and what they print.
    pub(super) fn equation(
        &mut self,
        spot: &EquationContext<'_>,
        e: &ast::Equation,
        out: &mut Vec<LoweredItem>,
    ) -> Result<()> {
        let printed = self.ctx.function_state.prints.len();
        let result = self.equation_kind(spot, e, out);
        for print in self.ctx.function_state.prints.split_off(printed) {
            let origin = self.origin(print.span, spot.component, OriginKind::When);
            out.push(LoweredItem::Print {
                domain: self.with_inner_iterators(&spot.domain, &[print.message]),
                message: print.message,
                origin,
            });
        }
        let asserts = self.function_asserts(&spot.domain, spot.component);
        out.extend(asserts.into_iter().map(LoweredItem::Assert));
        result
    }

    fn equation_kind(
        &mut self,
        spot: &EquationContext<'_>,
        e: &ast::Equation,
        out: &mut Vec<LoweredItem>,
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
                let known = self.connections.links.len();
                let result = crate::connect::connect(
                    &mut self.ctx,
                    &spot.env,
                    &spot.domain,
                    [a, b],
                    origin,
                    &mut self.connections,
                );
                // Not the model's yet: an `if` around it can still choose.
                let links = self.connections.links.split_off(known);
                result?;
                self.break_loops(spot, [a, b], links, e.span, origin, out)
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
        spot: &EquationContext<'_>,
        list: &[ast::Equation],
        out: &mut Vec<LoweredItem>,
    ) -> Result<()> {
        let mut first = Ok(());
        for e in list {
            match (self.equation(spot, e, out), &first) {
                (Err(message), Ok(())) => first = Err(message),
                (Err(message), Err(_)) => self.ctx.errors.push(message.into()),
                (Ok(()), _) => {}
            }
        }
        first
    }

    fn equal(
        &mut self,
        spot: &EquationContext<'_>,
        l: &Expr,
        r: &Expr,
        span: Span,
        out: &mut Vec<LoweredItem>,
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
                    let value = crate::function::used(&mut self.ctx, value, r.span)?;
                    self.equate(spot, &left, &value, span, origin, out)?;
                }
            }
            return Ok(());
        }
        let a = self.ctx.expr(&spot.env, l)?;
        let b = self.ctx.expr(&spot.env, r)?;
        let mut first = |v: Value, span| match v {
            Value::Tuple(mut vs) if !vs.is_empty() => {
                crate::function::used(&mut self.ctx, vs.swap_remove(0), span)
            }
            v => Ok(v),
        };
        let (a, b) = (first(a, l.span)?, first(b, r.span)?);
        let origin = origin(self);
        self.equate(spot, &a, &b, span, origin, out)
    }

    /// `a = b` for values of equal type and size.
    pub(super) fn equate(
        &mut self,
        spot: &EquationContext<'_>,
        a: &Value,
        b: &Value,
        span: Span,
        origin: OriginId,
        out: &mut Vec<LoweredItem>,
    ) -> Result<()> {
        match (a, b) {
            (Value::Tensor(x), Value::Tensor(y))
                if x.dims == y.dims && x.ty.join(y.ty).is_some() =>
            {
                for (integer, real) in [(x, y), (y, x)] {
                    self.expect_integer(spot, integer, real, span)?;
                }
                let mut domain = spot.domain.clone();
                domain.extend(
                    x.iters
                        .iter()
                        .zip(&x.dims)
                        .map(|(&i, &n)| (i, Range::upto(n))),
                );
                let rhs = y.over(&mut self.ctx.exprs, &x.iters);
                out.push(LoweredItem::Equation(Equation {
                    domain: domain.into(),
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

    /// An Integer variable cannot get its value from a Real expression (MLS 3.6 §6.6). An equation between both is fine where it is one for an
    /// unknown on the Real side.
    fn expect_integer(
        &mut self,
        spot: &EquationContext<'_>,
        integer: &Tensor,
        real: &Tensor,
        span: Span,
    ) -> Result<()> {
        let (Type::Integer, Type::Real) = (integer.ty, real.ty) else {
            return Ok(());
        };
        let Node::Var(target) = self.ctx.exprs.node(integer.body) else {
            return Ok(());
        };
        let unknown = |this: &Self, e: ExprId| match this.ctx.exprs.node(e) {
            Node::Var(a) => {
                a.kind != ValueKind::Pre
                    && this.ctx.exprs.ty(e) == Ty::Real
                    && !this.model.var(a.var).is_parameter()
            }
            _ => false,
        };
        let given = self.model.var(target.var).is_parameter();
        let other = self.ctx.exprs.any(real.body, |_, e| unknown(self, e));
        let is_target = !spot.when || !unknown(self, real.body);
        if given || other && !(spot.when && is_target) {
            return Ok(());
        }
        let name = self.model.var(target.var).name.plain();
        Err(error(
            "type-mismatch",
            span,
            format!("`{name}` is Integer, but the other side of its equation is Real"),
        )
        .hint("`integer(x)` is the largest Integer that is not above x"))
    }

    fn mismatch(&self, a: &Value, b: &Value, span: Span) -> Error {
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

    /// Puts lowered equations into the model.
    pub(super) fn emit(&mut self, spot: &EquationContext<'_>, items: Vec<LoweredItem>) {
        for item in items {
            match item {
                LoweredItem::Equation(e) => self.push(spot.initial, e),
                LoweredItem::Assert(mut a) => {
                    if spot.initial {
                        a.condition = at_start_only(&mut self.ctx.exprs, a.condition);
                    }
                    self.model.asserts.push(a);
                }
                LoweredItem::When(w) => {
                    for branch in &w.branches {
                        for action in &branch.actions {
                            if let Action::Assign { target, .. } = action {
                                self.discrete.insert(target.var);
                            }
                        }
                    }
                    self.model.whens.push(w);
                }
                LoweredItem::Link(l) => self.connections.link(l),
                LoweredItem::Print {
                    domain, message, ..
                } => self.model.prints.push(Print {
                    domain,
                    message,
                    initial: spot.initial,
                }),
                LoweredItem::Reinit { span, .. } => {
                    self.ctx.errors.push(Diagnostic::error(
                        "misplaced-call",
                        span,
                        "`reinit` can only be used inside of `when`",
                    ));
                }
                LoweredItem::Terminate { origin, .. } => {
                    let span = self.model.origin(origin).span;
                    self.ctx.errors.push(Diagnostic::error(
                        "misplaced-call",
                        span,
                        "`terminate` can only be used inside of `when`",
                    ));
                }
            }
        }
    }
}
