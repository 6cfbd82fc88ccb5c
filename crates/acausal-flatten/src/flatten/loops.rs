//! `for` equations (MLS 3.6 §8.3.2): an iterator in the domain, or unrolled where the body needs its value.

use acausal_expr::{Node, Range};
use acausal_syntax::ast::{self, EquationKind, Expr, ForIndex};

use super::equation::LoweredItem;
use super::{EquationContext, Flattener};
use crate::lower::{ErrorKind, IterationRange, Result, Type, UNROLL, Value, error};

impl Flattener {
    pub(super) fn for_equation(
        &mut self,
        spot: &EquationContext<'_>,
        indices: &[ForIndex],
        body: &[ast::Equation],
        out: &mut Vec<LoweredItem>,
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
            IterationRange::Range(ty, range) => {
                // Equations have no order: a loop that counts down is the one that counts up, and stays whole.
                let range = ascending(*range);
                let k = self.ctx.iterator(Some(name), range);
                Some((k, range, Value::scalar(*ty, self.ctx.exprs.iter(k))))
            }
            IterationRange::Vector(v)
                if v.ty == Type::Real
                    && !matches!(self.ctx.exprs.node(v.body), Node::Select(..)) =>
            {
                let range = Range::upto(v.dims[0]);
                let k = self.ctx.iterator(None, range);
                let value = self.ctx.iteration_value(&iteration, k);
                Some((k, range, value))
            }
            IterationRange::Vector(_) => None,
        };
        let errors = self.ctx.errors.len();
        let mut whole = None;
        if let Some((k, range, value)) = symbolic {
            let mut inner = EquationContext {
                env: spot.env.with_loop(name, value),
                ..spot.clone()
            };
            inner.domain.push((k, range));
            let mut items = Vec::new();
            match self.for_equation(&inner, rest, body, &mut items) {
                Ok(()) => {
                    out.append(&mut items);
                    return Ok(());
                }
                // A size or range that depends on the iterator (a triangle) has a value only element by element, and so has an irregular
                // condition.
                Err(message) if message.is_irregular() && iteration.count() <= UNROLL => {
                    whole = Some((message, self.ctx.errors.split_off(errors)));
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
            let value = self
                .ctx
                .iteration_element(&spot.env, index, &iteration, p)?;
            let inner = EquationContext {
                env: spot.env.with_loop(name, value),
                ..spot.clone()
            };
            let Err(message) = self.for_equation(&inner, rest, body, out) else {
                continue;
            };
            // The subscript is out of bounds after all: the message about all values says more.
            return Err(match whole {
                Some((first, others)) if first.kind() == ErrorKind::SubscriptBounds => {
                    self.ctx.errors.truncate(errors);
                    self.ctx.errors.extend(others);
                    first
                }
                _ => message,
            });
        }
        Ok(())
    }
}

/// The same values in ascending order.
fn ascending(range: Range) -> Range {
    if range.step > 0 {
        return range;
    }
    Range {
        start: range.last(),
        step: -range.step,
        count: range.count,
    }
}

/// All expressions directly in equations, for iterators whose range follows from their use.
pub(super) fn expressions(body: &[ast::Equation]) -> Vec<&Expr> {
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
