//! Algorithm sections: symbolic execution into equations and `when` clauses (MLS 3.6 §11).
//!
//! In: the statements of one section with their environment. Out: equations, `when` clauses and assertions, appended
//! to the flat model.
//!
//! The assigned variables are the variables of an execution like that of a function
//! ([`execute`](crate::function::execute)): a continuous one starts from its start value, a discrete one from `pre(v)` (MLS 3.6
//! §11.1.2). What a variable holds at the end is its equation. A `when` statement is executed on a copy; what it changes
//! becomes the actions of a [`When`](acausal_expr::flat::When), and from there on the variable stands for itself.
//!
//! ```text
//! algorithm                         equations            when clauses
//!   y := 2*u;
//!   if y > 1 then y := 1; end if;   y = if 2*u > 1 then 1 else 2*u
//!   when y > 0.5 then                                    when (if ..) > 0.5 then
//!     n := n + 1;                                          n := pre(n) + 1
//!   end when;
//!   z := n*y;                       z = n*(if ...)
//! ```
//!
//! A statement that cannot be executed symbolically (`while` with a condition that varies) becomes a run-time function of
//! the values so far ([`package`](mod@package)).
//!
//! # Entry point
//! [`lower`] once per algorithm section; it returns the variables that are assigned in `when`, which are discrete.

pub mod package;
mod target;
mod when;

pub(crate) use target::references;

#[cfg(test)]
mod tests;

use acausal_base::{Name, Span};
use acausal_expr::flat::{Assert, Equation, FlatModel, Origin, OriginId, OriginKind};
use acausal_expr::{Builtin, ExprId, Exprs, IterId, Range, VarId};
use acausal_symbolic::split_equation;
use acausal_syntax::ast::{Statement, StatementKind};
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::collections::BTreeSet;

use crate::function::execute::{Completion, Executor, INLINE_FUEL, Write};
use crate::function::{PendingAssert, Stop};
use crate::lower::{Context, Env, Result, Tensor, Value, error};
use acausal_instance::instance::InstId;
use target::{Target, first_value, targets};

/// One algorithm section of a component.
pub struct Section<'s> {
    /// Where its names are looked up.
    pub env: Env<'s>,
    /// Iterators of enclosing arrays of components.
    pub domain: Vec<(IterId, Range)>,
    /// Path of the component, empty for the model itself.
    pub component: std::sync::Arc<str>,
    /// `initial algorithm`.
    pub initial: bool,
    /// The statements.
    pub statements: &'s [Statement],
    /// The section.
    pub span: Span,
}

/// Lowers a section; gives the variables that its `when` statements assign.
pub fn lower(
    ctx: &mut Context,
    model: &mut FlatModel,
    section: &Section<'_>,
) -> Result<Vec<VarId>> {
    let targets = targets(ctx, section)?;
    let pending = ctx.function_state.asserts.len();
    let mut executor = Executor::new(ctx, section.env.clone(), "the algorithm".to_string());
    executor.in_function = false;
    executor.order = targets.keys().copied().collect();
    for (&variable, target) in &targets {
        let value = first_value(executor.ctx, target);
        executor.locals.insert(variable, value);
    }
    let mut run = Run {
        executor,
        targets,
        section,
        whens: Vec::new(),
    };
    let result = run.statements();
    let Run {
        executor,
        targets,
        whens,
        ..
    } = run;
    let Executor {
        ctx,
        locals,
        writes,
        ..
    } = executor;
    let asserts = ctx.function_state.asserts.split_off(pending);
    result?;
    let mut written: FxHashMap<InstId, Vec<Write>> = FxHashMap::default();
    for write in writes {
        written.entry(write.variable).or_default().push(write);
    }
    for (variable, target) in &targets {
        if let Some(value) = locals.get(variable) {
            let writes = written.get(variable).map_or(&[][..], Vec::as_slice);
            equations(ctx, model, section, target, value, writes);
        }
    }
    for mut assert in asserts {
        if section.initial {
            assert.condition = at_start_only(&mut ctx.exprs, assert.condition);
        }
        let assert = flat_assert(model, section, assert, section.domain.clone());
        model.asserts.push(assert);
    }
    Ok(when::emit(model, section, whens))
}

struct Run<'c, 's> {
    executor: Executor<'c, 's>,
    targets: IndexMap<InstId, Target, FxBuildHasher>,
    section: &'s Section<'s>,
    whens: Vec<when::Lowered>,
}

impl Run<'_, '_> {
    fn statements(&mut self) -> Result<()> {
        for s in self.section.statements {
            if let StatementKind::When { branches } = &s.kind {
                if self.section.initial {
                    let message = "`when` cannot be used in an initial algorithm";
                    return Err(error("when-place", s.span, message));
                }
                self.when(branches, s.span)?;
            } else if self.execute(s)? == Completion::Return {
                return Err(error(
                    "return-place",
                    s.span,
                    "`return` can only be used in a function",
                ));
            }
        }
        Ok(())
    }

    /// Executes a statement, at run time if it must be.
    fn execute(&mut self, s: &Statement) -> Result<Completion> {
        // Each statement may cost as much as a call: a long section is not left to run time for its length.
        self.executor.fuel = INLINE_FUEL;
        let tries = self.executor.tries;
        let before = self.executor.begin();
        let marks = (
            self.executor.writes.len(),
            self.executor.ctx.function_state.asserts.len(),
            self.executor.ctx.function_state.prints.len(),
        );
        match self.executor.run(std::slice::from_ref(s)) {
            Ok(flow) => {
                self.executor.keep();
                Ok(flow)
            }
            Err(Stop::Error(message)) => Err(message),
            Err(Stop::Dynamic(_)) => {
                // What was begun inside of the statement ends with it.
                self.executor.tries = tries + 1;
                self.executor.undo(before);
                self.executor.writes.truncate(marks.0);
                self.executor.ctx.function_state.asserts.truncate(marks.1);
                self.executor.ctx.function_state.prints.truncate(marks.2);
                self.executor.path.clear();
                package::package(&mut self.executor, s)?;
                Ok(Completion::Next)
            }
        }
    }
}

/// The equations `v = value` of a variable, for those parts that were written outside of `when`. Where no statement that assigns it is ever executed (a
/// branch that is never taken, a loop over nothing) it keeps what it held before the section.
fn equations(
    ctx: &mut Context,
    model: &mut FlatModel,
    section: &Section<'_>,
    target: &Target,
    value: &Value,
    writes: &[Write],
) {
    if !target.plain {
        return;
    }
    let mut leaves: Vec<(Vec<Name>, Tensor)> = Vec::new();
    target
        .variable
        .for_each_leaf(&mut Vec::new(), &mut |path, t| {
            leaves.push((path.to_vec(), t.clone()))
        });
    let never = target.whole && !section.initial && writes.is_empty();
    for (path, left) in leaves {
        let written: Vec<&Write> = writes.iter().filter(|w| w.path == path).collect();
        let field = path.iter().try_fold(value, |v, name| v.field(*name));
        let Some(right) = field.and_then(Value::as_tensor) else {
            continue;
        };
        if (written.is_empty() && !never) || left.is_empty() {
            continue;
        }
        let whole = never || written.iter().any(|w| w.positions.is_none());
        let positions: BTreeSet<usize> = written
            .iter()
            .flat_map(|w| w.positions.iter().flatten().copied())
            .collect();
        let mut sides = Vec::new();
        if whole || positions.len() == left.len() {
            let rhs = right.over(&mut ctx.exprs, &left.iters);
            sides.push((iterators(section, &left), left.body, rhs));
        } else {
            for position in positions {
                let subs = subscripts(&left.dims, position);
                let lhs = left.element(&mut ctx.exprs, &subs);
                let rhs = right.element(&mut ctx.exprs, &subs);
                sides.push((section.domain.clone(), lhs, rhs));
            }
        }
        let origin = origin(model, section, section.span, OriginKind::Algorithm);
        for (domain, lhs, rhs) in sides {
            let pieces = split_equation(
                &mut ctx.exprs,
                Equation {
                    domain: domain.into(),
                    lhs,
                    rhs,
                    origin,
                },
            );
            let list = if section.initial {
                &mut model.initial_equations
            } else {
                &mut model.equations
            };
            list.extend(pieces);
        }
    }
}

/// The iterators around the section, then those of an array.
fn iterators(section: &Section<'_>, t: &Tensor) -> Vec<(IterId, Range)> {
    let own = t
        .iters
        .iter()
        .zip(&t.dims)
        .map(|(&i, &n)| (i, Range::upto(n)));
    section.domain.iter().copied().chain(own).collect()
}

/// Subscripts (from 1) of an element by its position row by row.
fn subscripts(dims: &[usize], mut position: usize) -> Vec<i64> {
    let mut subs = vec![1; dims.len()];
    for (s, &n) in subs.iter_mut().zip(dims).rev() {
        *s = (position % n) as i64 + 1;
        position /= n;
    }
    subs
}

fn origin(model: &mut FlatModel, section: &Section<'_>, span: Span, kind: OriginKind) -> OriginId {
    model.origins.push(Origin {
        span,
        component: section.component.clone(),
        kind,
    });
    OriginId(model.origins.len() as u32 - 1)
}

/// The condition of an assertion among initial equations: it holds at the start and says nothing about the time after.
pub(crate) fn at_start_only(exprs: &mut Exprs, condition: ExprId) -> ExprId {
    let initial = exprs.call(Builtin::Initial, &[]);
    let later = exprs.not(initial);
    let no_event = exprs.no_event(condition);
    exprs.or(later, no_event)
}

fn flat_assert(
    model: &mut FlatModel,
    section: &Section<'_>,
    assert: PendingAssert,
    domain: Vec<(IterId, Range)>,
) -> Assert {
    let origin = origin(model, section, assert.span, OriginKind::Assert);
    Assert {
        domain,
        condition: assert.condition,
        message: assert.message,
        level: assert.level,
        origin,
    }
}
