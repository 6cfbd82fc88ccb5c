//! `when` equations (MLS 3.6 §8.3.5).
//!
//! `when c then v = e; reinit(x, a); end when` becomes a [`When`] whose actions assign to discrete variables. The iterators around the
//! clause (arrays of components, `for`) are its domain; those of arrays and loops inside belong to the action.

use acausal_base::Span;
use acausal_expr::flat::{Action, Equation, OriginKind, When, WhenBranch};
use acausal_expr::{ExprId, Node, ValueKind};
use acausal_symbolic::split_equation;
use acausal_syntax::ast::{self, Expr};

use super::equation::LoweredItem;
use super::{EquationContext, Flattener};
use crate::clock::Clause;
use crate::lower::{Result, Type, Value, error};

impl Flattener {
    pub(super) fn when_equation(
        &mut self,
        spot: &EquationContext<'_>,
        branches: &[(Expr, Vec<ast::Equation>)],
        span: Span,
        out: &mut Vec<LoweredItem>,
    ) -> Result<()> {
        let mut inside = EquationContext {
            when: true,
            ..spot.clone()
        };
        inside.env.when = true;
        let mut lowered = Vec::new();
        for (condition, body) in branches {
            let t = self.ctx.tensor(&spot.env, condition)?;
            if t.ty == Type::Clock && t.is_scalar() {
                if branches.len() > 1 {
                    let message = "a `when` of a clock cannot have `elsewhen`";
                    return Err(error("clocked-when", condition.span, message));
                }
                return self.clocked_when(spot, t.body, body, out);
            }
            if t.ty != Type::Boolean || t.rank() > 1 {
                let found = self.ctx.describe(&Value::Tensor(t));
                return Err(error(
                    "type-mismatch",
                    condition.span,
                    format!(
                        "the condition of `when` must be Boolean or a vector of Booleans, not {found}"
                    ),
                ));
            }
            let conditions = t.elements(&mut self.ctx.exprs);
            let mut items = Vec::new();
            self.equations(&inside, body, &mut items)?;
            let mut actions = Vec::new();
            for item in items {
                self.action(spot, item, &mut actions)?;
            }
            lowered.push(WhenBranch {
                conditions,
                actions,
            });
        }
        let origin = self.origin(span, spot.component, OriginKind::When);
        out.push(LoweredItem::When(When {
            domain: spot.domain.clone(),
            branches: lowered,
            origin,
        }));
        Ok(())
    }

    /// `when Clock(c) then`: the equations inside are ordinary ones of that clock (MLS 3.6 §16.6).
    fn clocked_when(
        &mut self,
        spot: &EquationContext<'_>,
        clock: ExprId,
        body: &[ast::Equation],
        out: &mut Vec<LoweredItem>,
    ) -> Result<()> {
        let mut items = Vec::new();
        self.equations(spot, body, &mut items)?;
        let mut sides = Vec::new();
        let mut first = None;
        for item in items {
            let LoweredItem::Equation(eq) = item else {
                let message = "a `when` of a clock may contain equations only";
                let span = body.first().map_or(Span::NONE, |e| e.span);
                return Err(error("clocked-when", span, message));
            };
            sides.extend([eq.lhs, eq.rhs]);
            first.get_or_insert(eq.origin);
            out.push(LoweredItem::Equation(eq));
        }
        if let Some(origin) = first {
            self.clocks.clauses.push(Clause {
                clock,
                sides,
                origin,
            });
        }
        Ok(())
    }

    fn action(
        &mut self,
        spot: &EquationContext<'_>,
        item: LoweredItem,
        out: &mut Vec<Action>,
    ) -> Result<()> {
        let outer = spot.domain.len();
        match item {
            LoweredItem::Equation(e) => {
                let span = self.model.origin(e.origin).span;
                let (lhs, rhs) = if self.is_target(e.lhs) {
                    (e.lhs, e.rhs)
                } else {
                    (e.rhs, e.lhs)
                };
                if !self.is_target(lhs) {
                    return Err(error("when-equation", span, "an equation inside of `when` must be `variable = expression`")
                        .note("a `when` equation assigns a discrete variable at an event (MLS 3.6 §8.3.5)"));
                }
                let inner = Equation {
                    domain: e.domain[outer..].to_vec().into(),
                    lhs,
                    rhs,
                    origin: e.origin,
                };
                for piece in split_equation(&mut self.ctx.exprs, inner) {
                    if let Node::Var(target) = self.ctx.exprs.node(piece.lhs) {
                        out.push(Action::Assign {
                            domain: piece.domain.into(),
                            target,
                            value: piece.rhs,
                        });
                    }
                }
                Ok(())
            }
            LoweredItem::Reinit {
                domain,
                target,
                value,
                span: _,
            } => {
                out.push(Action::Reinit {
                    domain: domain[outer..].to_vec(),
                    target,
                    value,
                });
                Ok(())
            }
            LoweredItem::Assert(mut a) => {
                a.domain.drain(..outer.min(a.domain.len()));
                out.push(Action::Assert(a));
                Ok(())
            }
            LoweredItem::Terminate { message, origin } => {
                out.push(Action::Terminate { message, origin });
                Ok(())
            }
            LoweredItem::Print {
                message, origin, ..
            } => {
                out.push(Action::Print { message, origin });
                Ok(())
            }
            LoweredItem::When(w) => Err(error(
                "nested-when",
                self.model.origin(w.origin).span,
                "`when` cannot be inside of `when`",
            )),
            LoweredItem::Link(l) => Err(error(
                "misplaced-connect",
                self.model.origin(l.origin).span,
                "`connect` cannot be inside of `when`",
            )),
        }
    }

    fn is_target(&self, e: acausal_expr::ExprId) -> bool {
        match self.ctx.exprs.node(e) {
            Node::Var(a) => a.kind == ValueKind::Value && !self.model.var(a.var).is_parameter(),
            // An array of variables written out: `{a, b} = ...`.
            Node::Select(_, l) => self.ctx.exprs.list(l).iter().all(|&m| self.is_target(m)),
            _ => false,
        }
    }
}
