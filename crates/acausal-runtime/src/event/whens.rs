//! `when` clauses.
//!
//! A branch of a clause is active in the one evaluation in which its condition is true and was false before
//! (`edge(c)`, MLS 3.6 §8.3.5); of several branches the first such one counts (`elsewhen`). Assignments are equations:
//! `v = if active then e else pre(v)`, evaluated as often as the iteration needs. `reinit`, `assert` and `terminate`
//! are acts: they happen once, when the iteration has settled.

use acausal_compiled::ActionCode;
use acausal_jit::kernel::Bank;

use super::asserts::{message_text, report};
use super::{EventContext, EventOutcome, EventState};
use crate::SimError;
use crate::consistent::Point;
use crate::initial::after_reinit;
use crate::machine::ProgramId;

impl EventState {
    /// Evaluates the conditions of all clauses into `self.now`.
    fn evaluate_conditions(&mut self, ctx: &mut EventContext<'_>) {
        ctx.machine.run(ProgramId::Conditions, ctx.y, ctx.yp);
        let len = ctx.machine.model.events.conditions_len;
        self.now.clear();
        self.now
            .extend(ctx.machine.out[..len].iter().map(|v| *v != 0.0));
    }

    /// The active branches: clause, branch and point. At the start only branches with `initial()` count.
    fn active(&self, ctx: &EventContext<'_>, initial: bool) -> Vec<(usize, usize, usize)> {
        let mut active = Vec::new();
        for (w, when) in ctx.machine.model.events.whens.iter().enumerate() {
            for p in 0..when.points {
                let branch = when.branches.iter().position(|b| {
                    let edge = b
                        .conditions
                        .iter()
                        .any(|&c| self.now[c + p] && !self.conditions[c + p]);
                    edge && (!initial || b.at_start)
                });
                if let Some(b) = branch {
                    active.push((w, b, p));
                }
            }
        }
        active
    }

    /// Assigns what active branches assign; everything else that clauses assign keeps its left limit.
    pub(super) fn assign(&mut self, ctx: &mut EventContext<'_>, initial: bool) {
        let model = ctx.machine.model.clone();
        if model.events.whens.is_empty() {
            return;
        }
        self.evaluate_conditions(ctx);
        // Values are computed before any is stored: equations have no order.
        let mut stores = Vec::new();
        for (w, b, p) in self.active(ctx, initial) {
            for (a, action) in model.events.whens[w].branches[b].actions.iter().enumerate() {
                if let ActionCode::Set {
                    targets,
                    inner,
                    reinit: false,
                    ..
                } = action
                {
                    ctx.machine.run(ProgramId::Action(w, b, a), ctx.y, ctx.yp);
                    let part = p * inner..(p + 1) * inner;
                    for (k, target) in part.clone().zip(&targets[part]) {
                        if target.bank() == Bank::Mem {
                            stores.push((target.index(), ctx.machine.out[k]));
                        }
                    }
                }
            }
        }
        // At the start there is no left limit to keep: initial equations may have set the value.
        if !initial {
            for &(value, pre) in &self.assigned {
                ctx.machine.mem[value] = ctx.machine.mem[pre];
            }
        }
        for (place, value) in stores {
            ctx.machine.mem[place] = value;
        }
    }

    /// Carries out `reinit`, `assert` and `terminate` of the active branches, and takes the conditions as those before
    /// the next evaluation. True if a state was set.
    pub(super) fn act(
        &mut self,
        ctx: &mut EventContext<'_>,
        initial: bool,
        outcome: &mut EventOutcome,
    ) -> Result<bool, SimError> {
        let model = ctx.machine.model.clone();
        if model.events.whens.is_empty() {
            return Ok(false);
        }
        self.evaluate_conditions(ctx);
        let mut states = Vec::new();
        for (w, b, p) in self.active(ctx, initial) {
            for (a, action) in model.events.whens[w].branches[b].actions.iter().enumerate() {
                match action {
                    ActionCode::Set {
                        targets,
                        inner,
                        reinit: true,
                        ..
                    } => {
                        ctx.machine.run(ProgramId::Action(w, b, a), ctx.y, ctx.yp);
                        let part = p * inner..(p + 1) * inner;
                        for (k, target) in part.clone().zip(&targets[part]) {
                            states.push((*target, ctx.machine.out[k]));
                        }
                    }
                    ActionCode::Set { .. } => {}
                    ActionCode::Assert(code) => {
                        ctx.machine.run(ProgramId::Action(w, b, a), ctx.y, ctx.yp);
                        let inner = code.len / model.events.whens[w].points.max(1);
                        let part = p * inner..(p + 1) * inner;
                        let failed = part.clone().find(|&k| ctx.machine.out[k] == 0.0);
                        if let Some(point) = failed {
                            report(ctx.machine, code, point, (ctx.t, ctx.y, ctx.yp), outcome)?;
                        }
                    }
                    ActionCode::Print { message, domain } => {
                        ctx.machine.update_all(ctx.t, ctx.y, ctx.yp);
                        let now = (ctx.t, &ctx.y[..], &ctx.yp[..]);
                        let text = message_text(ctx.machine, *message, domain, p, now);
                        outcome.printed.extend(Some(text).filter(|t| !t.is_empty()));
                    }
                    ActionCode::Terminate {
                        message, domain, ..
                    } => {
                        ctx.machine.update_all(ctx.t, ctx.y, ctx.yp);
                        let now = (ctx.t, &ctx.y[..], &ctx.yp[..]);
                        let text = message_text(ctx.machine, *message, domain, p, now);
                        outcome.terminate.get_or_insert(text);
                    }
                }
            }
        }
        std::mem::swap(&mut self.conditions, &mut self.now);
        let reinit = !states.is_empty();
        let mut given = Vec::new();
        for (target, value) in states {
            match target.bank() {
                Bank::Y => {
                    ctx.y[target.index()] = value;
                    given.push(target.index());
                }
                Bank::Mem => ctx.machine.mem[target.index()] = value,
                _ => {}
            }
        }
        if reinit {
            ctx.machine.update(ctx.t, ctx.y, ctx.yp);
            let mut at = Point {
                machine: ctx.machine,
                t: ctx.t,
                y: ctx.y,
                yp: ctx.yp,
                nominal: ctx.nominal,
            };
            after_reinit(ctx.system, &mut at, &given)?;
        }
        Ok(reinit)
    }

    /// Takes the present conditions as those before the next event, without acting on them.
    pub(super) fn remember_conditions(&mut self, ctx: &mut EventContext<'_>) {
        self.evaluate_conditions(ctx);
        std::mem::swap(&mut self.conditions, &mut self.now);
    }
}
