//! Calls for their effect: `assert`, `terminate`, `reinit` (MLS 3.6 §8.3.6 to §8.3.8).

use acausal_base::Span;
use acausal_expr::flat::{Assert, AssertionLevel, OriginKind, Print};
use acausal_expr::{Access, ExprId, IterId, Node, Range};
use acausal_syntax::ast::{Call, Callee, Expr, ExprKind};

use super::equation::LoweredItem;
use super::{EquationContext, Flattener};
use crate::lower::{Result, Tensor, Type, error};
use acausal_instance::instance::InstId;

impl Flattener {
    pub(super) fn call_equation(
        &mut self,
        spot: &EquationContext<'_>,
        call: &Call,
        span: Span,
        out: &mut Vec<LoweredItem>,
    ) -> Result<()> {
        let name = match &call.function {
            Callee::Ref(r) => r.as_ident().map_or("", |i| i.as_str()),
            _ => "",
        };
        match name {
            "assert" => {
                let assert = self.assertion(spot, call, span)?;
                if self.ctx.exprs.as_bool(assert.condition) != Some(true) {
                    out.push(LoweredItem::Assert(assert));
                }
                Ok(())
            }
            "terminate" => {
                let message = self.terminate_message(spot, call)?;
                let origin = self.origin(span, spot.component, OriginKind::When);
                out.push(LoweredItem::Terminate { message, origin });
                Ok(())
            }
            "reinit" => self.reinit(spot, call, span, out),
            _ => {
                if let Callee::Ref(r) = &call.function
                    && r.parts.len() == 2
                    && r.parts[0].name.as_str() == "Connections"
                {
                    return self.graph_operator(spot, r, call, span);
                }
                // What it prints is taken by who asked for the equation.
                self.ctx.expr(
                    &spot.env,
                    &Expr::new(ExprKind::Call(Box::new(call.clone())), span),
                )?;
                Ok(())
            }
        }
    }

    /// `assert(condition, message, level)`.
    pub(super) fn assertion(
        &mut self,
        spot: &EquationContext<'_>,
        call: &Call,
        span: Span,
    ) -> Result<Assert> {
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
        // The message of an assertion that holds is never looked at (MLS 3.6 §8.3.7).
        let message = match self.ctx.exprs.as_bool(condition) {
            Some(true) => self.ctx.exprs.str(""),
            _ => self.ctx.scalar(&spot.env, message, Type::String)?,
        };
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
            level: if warning {
                AssertionLevel::Warning
            } else {
                AssertionLevel::Error
            },
            origin,
        })
    }

    pub(super) fn terminate_message(
        &mut self,
        spot: &EquationContext<'_>,
        call: &Call,
    ) -> Result<ExprId> {
        let Some(message) = argument(call, 0, "message") else {
            return Err(error(
                "argument-count",
                call.span,
                "`terminate` takes a message",
            ));
        };
        self.ctx.scalar(&spot.env, message, Type::String)
    }

    fn reinit(
        &mut self,
        spot: &EquationContext<'_>,
        call: &Call,
        span: Span,
        out: &mut Vec<LoweredItem>,
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
        out.push(LoweredItem::Reinit {
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
                if a.kind == acausal_expr::ValueKind::Value
                    && t.ty == Type::Real
                    && !self.model.var(a.var).is_parameter() =>
            {
                Some(a)
            }
            _ => None,
        }
    }

    /// Takes the texts that functions called since then print, to be printed always.
    pub(super) fn function_prints(
        &mut self,
        since: usize,
        domain: &[(IterId, Range)],
        initial: bool,
    ) {
        for p in self.ctx.function_state.prints.split_off(since) {
            self.model.prints.push(Print {
                domain: self.with_inner_iterators(domain, &[p.message]),
                message: p.message,
                initial,
            });
        }
    }

    /// A domain with the iterators of comprehensions inside of it that expressions depend on: what a call does there it does for every element.
    pub(super) fn with_inner_iterators(
        &self,
        domain: &[(IterId, Range)],
        roots: &[ExprId],
    ) -> Vec<(IterId, Range)> {
        let mut domain = domain.to_vec();
        for e in self.ctx.exprs.reachable(roots) {
            if let Node::Iter(i) = self.ctx.exprs.node(e)
                && !domain.iter().any(|d| d.0 == i)
                && let Some(&range) = self.ctx.ranges.get(&i)
            {
                domain.push((i, range));
            }
        }
        domain
    }

    /// Takes the assertions of functions called since the last time.
    pub(super) fn function_asserts(
        &mut self,
        domain: &[(IterId, Range)],
        component: InstId,
    ) -> Vec<Assert> {
        let pending = std::mem::take(&mut self.ctx.function_state.asserts);
        let mut out = Vec::new();
        for p in pending {
            let domain = self.with_inner_iterators(domain, &[p.condition, p.message]);
            let origin = self.origin(p.span, component, OriginKind::Assert);
            out.push(Assert {
                domain,
                // Functions trigger no events (MLS 3.6 §8.5).
                condition: self.ctx.exprs.no_event(p.condition),
                message: p.message,
                level: p.level,
                origin,
            });
        }
        out
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
