//! `when` statements (MLS 3.6 §11.2.7).
//!
//! Every branch is executed on a copy of the variables. What it writes becomes actions. A variable that several `when`
//! statements of the section assign gets a clause of its own whose branches come in reverse order: where two of them are
//! activated at once the later statement wins, as in the sequential execution.

use acausal_base::{Name, Span};
use acausal_expr::flat::{Action, FlatModel, OriginKind, When, WhenBranch};
use acausal_expr::{Access, ExprId, IterId, Node, Range, VarId};
use acausal_syntax::ast::{Expr, Statement};
use std::collections::{BTreeMap, BTreeSet};

use super::target::{left_limit, references, root};
use super::{Run, Section, flat_assert, origin, subscripts};
use crate::function::execute::{Completion, Event, Write, with_locals};
use crate::function::{PendingAssert, PendingPrint};
use crate::lower::{Result, Tensor, Type, Value, error};
use acausal_instance::instance::InstId;

/// A `when` statement after execution.
pub(super) struct Lowered {
    branches: Vec<Branch>,
    span: Span,
}

struct Branch {
    conditions: Vec<ExprId>,
    assigns: Vec<Assign>,
    events: Vec<Event>,
    asserts: Vec<PendingAssert>,
    prints: Vec<PendingPrint>,
}

/// `target := value` over inner iterators.
struct Assign {
    /// Several `when` statements assign the variable.
    shared: bool,
    domain: Vec<(IterId, Range)>,
    target: Access,
    value: ExprId,
}

impl Run<'_, '_> {
    /// Executes a `when` statement.
    pub(super) fn when(&mut self, branches: &[(Expr, Vec<Statement>)], span: Span) -> Result<()> {
        // Where several `when` assign a variable, each starts from its left limit.
        for (&variable, target) in &self.targets {
            if target.whens > 1 {
                let ctx = &mut *self.executor.ctx;
                let pre = target.variable.map_leaves(&mut |t| Tensor {
                    body: left_limit(ctx, t.body),
                    ..t.clone()
                });
                self.executor.locals.insert(variable, pre);
            }
        }
        let mut lowered = Vec::with_capacity(branches.len());
        let mut assigned: BTreeSet<InstId> = BTreeSet::new();
        for (condition, body) in branches {
            let conditions = self.conditions(condition)?;
            let writes = self.executor.writes.len();
            let asserts = self.executor.ctx.function_state.asserts.len();
            let prints = self.executor.ctx.function_state.prints.len();
            let mark = self.executor.begin();
            self.executor.events = Some(Vec::new());
            self.executor.base.when = true;
            for s in body {
                if self.execute(s)? != Completion::Next {
                    let message = "`break` and `return` cannot leave a `when` statement";
                    return Err(error("when-place", s.span, message));
                }
            }
            self.executor.base.when = false;
            let events = self.executor.events.take().unwrap_or_default();
            let asserts = self.executor.ctx.function_state.asserts.split_off(asserts);
            let prints = self.executor.ctx.function_state.prints.split_off(prints);
            let writes = self.executor.writes.split_off(writes);
            assigned.extend(writes.iter().map(|w| w.variable));
            let assigns = self.assigns(&writes);
            lowered.push(Branch {
                conditions,
                assigns,
                events,
                asserts,
                prints,
            });
            self.executor.undo(mark);
        }
        // A variable whose assignments are never executed keeps its left limit, and the clause is what determines it all the same.
        let idle = self.never_written(branches, &assigned)?;
        if let Some(first) = lowered.first_mut() {
            first.assigns.extend(self.assigns(&idle));
        }
        assigned.extend(idle.iter().map(|w| w.variable));
        // Behind the clause a variable has its new value, whatever it is.
        for variable in assigned {
            if let Some(target) = self.targets.get(&variable) {
                self.executor
                    .locals
                    .insert(variable, target.variable.clone());
            }
        }
        self.whens.push(Lowered {
            branches: lowered,
            span,
        });
        Ok(())
    }

    /// Variables of this clause alone that it assigns as a whole, but in statements that were not executed.
    fn never_written(
        &mut self,
        branches: &[(Expr, Vec<Statement>)],
        assigned: &BTreeSet<InstId>,
    ) -> Result<Vec<Write>> {
        let mut out: Vec<Write> = Vec::new();
        for r in branches.iter().flat_map(|b| &b.1).flat_map(references) {
            let (variable, _) = root(self.executor.ctx, &self.section.env, r, false)?;
            let Some(target) = self.targets.get(&variable) else {
                continue;
            };
            let known = assigned.contains(&variable) || out.iter().any(|w| w.variable == variable);
            if known || !target.whole || target.whens > 1 {
                continue;
            }
            let leaves = &mut |path: &[Name], _: &Tensor| {
                out.push(Write {
                    variable,
                    path: path.to_vec(),
                    positions: None,
                });
            };
            target.variable.for_each_leaf(&mut Vec::new(), leaves);
        }
        Ok(out)
    }

    fn conditions(&mut self, condition: &Expr) -> Result<Vec<ExprId>> {
        let mark = self.executor.base.loops.len();
        let ctx = &mut *self.executor.ctx;
        let bound = crate::function::left_limit::bind(ctx, &mut self.executor.base, condition)?;
        let env = with_locals(&self.executor.base, &self.executor.locals);
        let t = ctx.tensor(&env, bound.as_ref().unwrap_or(condition));
        self.executor.base.loops.truncate(mark);
        let t = t?;
        if t.ty != Type::Boolean || t.rank() > 1 {
            let found = self.executor.ctx.describe(&Value::Tensor(t));
            let message = format!(
                "the condition of `when` must be Boolean or a vector of Booleans, not {found}"
            );
            return Err(error("type-mismatch", condition.span, message));
        }
        Ok(t.elements(&mut self.executor.ctx.exprs))
    }

    /// The parts that were written, with their values now.
    fn assigns(&mut self, writes: &[Write]) -> Vec<Assign> {
        let mut out = Vec::new();
        // In the order of the targets.
        let mut of: BTreeMap<usize, Vec<&Write>> = BTreeMap::new();
        for write in writes {
            if let Some(k) = self.targets.get_index_of(&write.variable) {
                of.entry(k).or_default().push(write);
            }
        }
        for (k, writes) in of {
            let Some((&variable, target)) = self.targets.get_index(k) else {
                continue;
            };
            let Some(value) = self.executor.locals.get(&variable) else {
                continue;
            };
            let mut leaves = Vec::new();
            target
                .variable
                .for_each_leaf(&mut Vec::new(), &mut |path, t| {
                    leaves.push((path.to_vec(), t.clone()));
                });
            for (path, left) in leaves {
                let field = path.iter().try_fold(value, |v, name| v.field(*name));
                let Some(right) = field.and_then(Value::as_tensor) else {
                    continue;
                };
                let written = writes.iter().filter(|w| w.path == path);
                let mut positions = BTreeSet::new();
                let mut whole = false;
                for w in written {
                    match &w.positions {
                        Some(list) => positions.extend(list.iter().copied()),
                        None => whole = true,
                    }
                }
                let shared = target.whens > 1;
                let exprs = &mut self.executor.ctx.exprs;
                let mut push = |domain, lhs, value, exprs: &acausal_expr::Exprs| {
                    if let Node::Var(target) = exprs.node(lhs) {
                        out.push(Assign {
                            shared,
                            domain,
                            target,
                            value,
                        });
                    }
                };
                if whole && !left.is_empty() {
                    let value = right.over(exprs, &left.iters);
                    let own = left
                        .iters
                        .iter()
                        .zip(&left.dims)
                        .map(|(&i, &n)| (i, Range::upto(n)));
                    push(own.collect(), left.body, value, exprs);
                } else {
                    for position in positions {
                        let subs = subscripts(&left.dims, position);
                        let lhs = left.element(exprs, &subs);
                        let value = right.element(exprs, &subs);
                        push(Vec::new(), lhs, value, exprs);
                    }
                }
            }
        }
        out
    }
}

/// Appends the clauses to the model; gives the assigned variables.
pub(super) fn emit(
    model: &mut FlatModel,
    section: &Section<'_>,
    whens: Vec<Lowered>,
) -> Vec<VarId> {
    let mut discrete = BTreeSet::new();
    // Variables that several clauses assign, with the branches that do, in order of execution.
    let mut shared: Vec<(Access, Vec<(WhenBranch, Span)>)> = Vec::new();
    for when in whens {
        let mut branches = Vec::new();
        for branch in when.branches {
            let mut actions = Vec::new();
            for assign in branch.assigns {
                discrete.insert(assign.target.var);
                let Assign {
                    domain,
                    target,
                    value,
                    ..
                } = assign;
                let action = Action::Assign {
                    domain,
                    target,
                    value,
                };
                if !assign.shared {
                    actions.push(action);
                    continue;
                }
                let own = WhenBranch {
                    conditions: branch.conditions.clone(),
                    actions: vec![action],
                };
                match shared
                    .iter_mut()
                    .find(|s| s.0.var == target.var && s.0.subs == target.subs)
                {
                    Some((_, list)) => list.push((own, when.span)),
                    None => shared.push((target, vec![(own, when.span)])),
                }
            }
            for event in branch.events {
                actions.push(event_action(model, section, event));
            }
            for assert in branch.asserts {
                let assert = flat_assert(model, section, assert, Vec::new());
                actions.push(Action::Assert(assert));
            }
            for print in branch.prints {
                let origin = origin(model, section, print.span, OriginKind::When);
                actions.push(Action::Print {
                    message: print.message,
                    origin,
                });
            }
            branches.push(WhenBranch {
                conditions: branch.conditions,
                actions,
            });
        }
        if branches.iter().any(|b| !b.actions.is_empty()) {
            let origin = origin(model, section, when.span, OriginKind::When);
            model.whens.push(When {
                domain: section.domain.clone(),
                branches,
                origin,
            });
        }
    }
    for (_, branches) in shared {
        let span = branches.first().map_or(section.span, |b| b.1);
        let origin = origin(model, section, span, OriginKind::When);
        let branches = branches.into_iter().rev().map(|b| b.0).collect();
        model.whens.push(When {
            domain: section.domain.clone(),
            branches,
            origin,
        });
    }
    discrete.into_iter().collect()
}

fn event_action(model: &mut FlatModel, section: &Section<'_>, event: Event) -> Action {
    match event {
        Event::Reinit {
            domain,
            target,
            value,
        } => Action::Reinit {
            domain,
            target,
            value,
        },
        Event::Terminate(message, span) => {
            let origin = origin(model, section, span, OriginKind::When);
            Action::Terminate { message, origin }
        }
    }
}
