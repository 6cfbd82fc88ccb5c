//! Calls for their effect: `assert`, `reinit`, `terminate`, printing and raising errors (MLS 3.6 §11.2.8).

use acausal_expr::flat::AssertionLevel;
use acausal_expr::{Access, ExprId, IterId, Node, Range};
use acausal_syntax::ast::{Call, Callee, Expr, ExprKind};

use super::assertion::assertion;
use super::constant::{fold, literal_text};
use super::execute::{Event, Executed, Executor, with_locals};
use super::{PendingAssert, Stop, bind};
use crate::flatten::reinit::{Reinit, merged};
use crate::lower::{Context, Env, Error, Type, error};
use acausal_instance::instance::{Found, InstId, InstanceKind};

impl Executor<'_, '_> {
    /// `assert`, `print` and the like.
    pub(super) fn procedure(&mut self, call: &Call) -> Executed<()> {
        if let Callee::Ref(r) = &call.function
            && let Some(name) = r.as_ident()
        {
            match name.as_str() {
                "assert" => return self.assert(call),
                "reinit" if self.events.is_some() => return self.reinit(call),
                "terminate" if self.events.is_some() => return self.terminate(call),
                "terminate" | "reinit" => {
                    let message = format!("`{name}` cannot be used in {}", self.name);
                    return Err(error("statement-place", call.span, message).into());
                }
                _ => {}
            }
        }
        if self.stops(call)? {
            return Ok(());
        }
        let e = Expr::new(ExprKind::Call(Box::new(call.clone())), call.span);
        self.value(&e)?;
        Ok(())
    }

    /// Assertions of functions that were called from here (from position `from` on) must hold only where this is reached.
    pub(super) fn guard(&mut self, from: usize) {
        for k in from..self.ctx.function_state.asserts.len() {
            let mut condition = self.ctx.function_state.asserts[k].condition;
            for &c in self.path.iter().rev() {
                let not = self.ctx.exprs.not(c);
                condition = self.ctx.exprs.or(not, condition);
            }
            self.ctx.function_state.asserts[k].condition = condition;
        }
    }

    /// The same for what is printed.
    pub(super) fn guard_prints(&mut self, from: usize) {
        let nothing = self.ctx.exprs.str("");
        for k in from..self.ctx.function_state.prints.len() {
            let mut message = self.ctx.function_state.prints[k].message;
            for &c in self.path.iter().rev() {
                message = self.ctx.exprs.if_(c, message, nothing);
            }
            self.ctx.function_state.prints[k].message = message;
        }
    }

    /// `ModelicaError` behind a function without outputs, such as `Modelica.Utilities.Streams.error`.
    fn stops(&mut self, call: &Call) -> Executed<bool> {
        let env = with_locals(&self.base, &self.locals);
        let Some(function) = callee(self.ctx, &env, call) else {
            return Ok(false);
        };
        if super::external::c_name(self.ctx, function).as_deref() != Some("ModelicaError") {
            return Ok(false);
        }
        let text = match call.args.first() {
            Some(e) => {
                let message = self.ctx.scalar(&env, e, Type::String)?;
                literal_text(self.ctx, message)
            }
            None => String::new(),
        };
        if self.path.is_empty() && self.ctx.function_state.conditional == 0 {
            return Err(error(
                "function-error",
                call.span,
                format!("{}: {text}", self.name),
            )
            .into());
        }
        Err(Stop::dynamic(
            call.span,
            "an error is raised under an unknown condition",
        ))
    }

    /// `reinit(x, value)`: under an unknown condition the state keeps its value otherwise.
    fn reinit(&mut self, call: &Call) -> Executed<()> {
        let [state, value] = call.args.as_slice() else {
            let message = "`reinit` takes a state and its new value";
            return Err(error("argument-count", call.span, message).into());
        };
        let target = self.ctx.tensor(&self.base, state)?;
        let Node::Var(access) = self.ctx.exprs.node(target.body) else {
            let message = "the first argument of `reinit` must be a variable";
            return Err(error("not-a-variable", state.span, message).into());
        };
        let value = self.value(value)?;
        let value = self.ctx.as_tensor(value, call.span)?;
        let dims = target.dims.clone();
        let value = bind::convert(self.ctx, value, target.ty, &dims, call.span, "the state")?;
        let value = value.over(&mut self.ctx.exprs, &target.iters);
        let domain: Vec<_> = target
            .iters
            .iter()
            .zip(&dims)
            .map(|(&i, &n)| (i, Range::upto(n)))
            .collect();
        if self.reinit_in_other_branch(&domain, access, value) {
            return Ok(());
        }
        let mut value = value;
        for &c in self.path.iter().rev() {
            value = self.ctx.exprs.if_(c, value, target.body);
        }
        let event = Event::Reinit {
            domain,
            target: access,
            value,
        };
        self.events.get_or_insert_default().push(event);
        Ok(())
    }

    /// Under a condition a state that was set before gets this value where the condition holds, and keeps the one before elsewhere.
    fn reinit_in_other_branch(
        &mut self,
        domain: &[(IterId, Range)],
        target: Access,
        value: ExprId,
    ) -> bool {
        let Some((&first, rest)) = self.path.split_first() else {
            return false;
        };
        let x = &mut self.ctx.exprs;
        let taken = rest.iter().fold(first, |all, &c| x.and(all, c));
        let new = Reinit {
            domain,
            target,
            value,
        };
        for event in self.events.iter_mut().flatten() {
            let Event::Reinit {
                domain,
                target,
                value,
            } = event
            else {
                continue;
            };
            let old = Reinit {
                domain,
                target: *target,
                value: *value,
            };
            if let Some(merged) = merged(x, taken, &new, &old) {
                *event = Event::Reinit {
                    domain: new.domain.to_vec(),
                    target: new.target,
                    value: merged,
                };
                return true;
            }
        }
        false
    }

    fn terminate(&mut self, call: &Call) -> Executed<()> {
        if !self.path.is_empty() {
            let message = "`terminate` under a condition inside of `when` is not supported yet";
            return Err(Error::unsupported(call.span, message).into());
        }
        let text = match call.args.first() {
            Some(e) => {
                let env = with_locals(&self.base, &self.locals);
                self.ctx.scalar(&env, e, Type::String)?
            }
            None => self.ctx.exprs.str(""),
        };
        self.events
            .get_or_insert_default()
            .push(Event::Terminate(text, call.span));
        Ok(())
    }

    fn assert(&mut self, call: &Call) -> Executed<()> {
        let env = with_locals(&self.base, &self.locals);
        let assert = assertion(self.ctx, &env, call)?;
        let condition = fold(self.ctx, assert.condition);
        let mut guarded = condition;
        for &c in self.path.iter().rev() {
            let not = self.ctx.exprs.not(c);
            guarded = self.ctx.exprs.or(not, guarded);
        }
        match self.ctx.exprs.as_bool(guarded) {
            Some(true) => {}
            Some(false) if assert.level == AssertionLevel::Warning => {}
            Some(false) if self.ctx.function_state.conditional == 0 => {
                let text = literal_text(self.ctx, assert.message);
                let message = format!("assertion in {} failed: {text}", self.name);
                return Err(error("assertion", call.span, message).into());
            }
            Some(false) | None => {
                if let Some(no_event) = &mut self.no_event {
                    guarded = no_event.expr(&mut self.ctx.exprs, guarded);
                }
                self.ctx.function_state.asserts.push(PendingAssert {
                    condition: guarded,
                    message: assert.message,
                    level: assert.level,
                    span: call.span,
                });
            }
        }
        Ok(())
    }
}

/// The function that a call names, if it is one.
pub fn callee(ctx: &mut Context, env: &Env<'_>, call: &Call) -> Option<InstId> {
    let Callee::Ref(r) = &call.function else {
        return None;
    };
    let path = acausal_syntax::ast::Path {
        global: r.global,
        parts: r.parts.iter().map(|p| p.name.clone()).collect(),
        span: r.span,
    };
    match ctx.instances.find_path(env.scope, &path) {
        Found::Class(inst) if ctx.instances.kind(inst) == InstanceKind::Function => Some(inst),
        _ => None,
    }
}
