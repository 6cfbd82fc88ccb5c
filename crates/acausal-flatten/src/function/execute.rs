//! Symbolic execution of statements (MLS 3.6 §11.2).
//!
//! The variables hold values (expressions); a statement replaces them. Loops with known bounds run, `if` with an unknown
//! condition executes every branch on a copy of the variables and merges the results, `while` needs a known condition.
//! Anything else ends with [`Stop::Dynamic`]. Functions and algorithm sections share this; an algorithm section differs in
//! what its variables start from and in that its relations are events.
//!
//! Cost: bounded by [`FUEL`], or [`INLINE_FUEL`] where expressions grow; each call and statement costs one unit and each array
//! element written another. A call and all calls inside of it have [`FUEL`] together, since thirty functions that each call the one before twice are
//! a short text and 2³⁰ calls.

use acausal_base::{Name, Span};
use acausal_expr::{Access, ExprId, IterId, Range};
use acausal_syntax::ast::{
    ComponentRef, Expr, ExprKind, ForIndex, SectionKind, Statement, StatementKind,
};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

use super::assertion::plain_text;
use super::constant::{fold, fold_tensor, is_constant};
use super::declare::declare;
use super::no_event::NoEvent;
use super::{Stop, bind, left_limit};
use crate::lower::{Context, Env, ErrorKind, IterationRange, Locals, Type, Value, error};
use acausal_instance::instance::{InstId, Scope};

/// Work that a call with constant arguments may cause before it is left to the interpreter.
pub const FUEL: u64 = 100_000;
/// Work that a call with variable arguments may cause before it is left to run time: what is inlined must be compiled.
pub const INLINE_FUEL: u64 = 5_000;

/// Where execution goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    /// With the next statement.
    Next,
    /// Behind the innermost loop.
    Break,
    /// At the end of the function.
    Return,
}

/// A function or algorithm section being executed.
pub struct Executor<'c, 'e> {
    /// Everything else.
    pub ctx: &'c mut Context,
    /// Where expressions stand; its locals are not used.
    pub base: Env<'e>,
    /// The variables.
    pub locals: Locals,
    /// The variables in order of declaration.
    pub order: Vec<InstId>,
    /// A function, not an algorithm section.
    pub in_function: bool,
    /// In a function relations are no events.
    pub(super) no_event: Option<NoEvent>,
    /// All arguments are constants.
    pub(super) constant: bool,
    /// Name for messages.
    pub name: String,
    /// Unknown conditions under which the current statement is executed.
    pub path: Vec<ExprId>,
    /// Elements of arrays that were written to, by body of the array.
    pub elements: FxHashMap<ExprId, Vec<ExprId>>,
    /// What has been written, in order; kept for algorithm sections.
    pub writes: Vec<Write>,
    /// Fields on the way to the part that is being written.
    pub(super) field_path: Vec<Name>,
    /// Collects `reinit` and `terminate` inside of `when`.
    pub events: Option<Vec<Event>>,
    /// Work left.
    pub fuel: u64,
    /// What variables were before each change, while something may be undone.
    journal: Vec<(InstId, Option<Value>)>,
    /// How many may be.
    pub tries: usize,
}

/// Variables that were changed, with their values.
pub type Changes = BTreeMap<InstId, Value>;

/// One assignment to a primitive variable or field.
#[derive(Clone, Debug)]
pub struct Write {
    /// The variable.
    pub variable: InstId,
    /// The field of it, by names.
    pub path: Vec<Name>,
    /// Positions of the elements, row by row from 0; `None` for all or unknown ones.
    pub positions: Option<Vec<usize>>,
}

/// What a `when` statement does besides assigning.
#[derive(Clone, Debug)]
pub enum Event {
    /// `reinit(x, value)`
    Reinit {
        /// Iterators over the elements of the state.
        domain: Vec<(IterId, Range)>,
        /// The state.
        target: Access,
        /// Its new value.
        value: ExprId,
    },
    /// `terminate(message)`
    Terminate(ExprId, Span),
}

/// Executes a function with its inputs; the values of its outputs.
pub fn function(
    ctx: &mut Context,
    evaluate: bool,
    function: InstId,
    inputs: &[(InstId, Value)],
    span: Span,
) -> std::result::Result<Vec<Value>, Stop> {
    let name = ctx.instances.class_name(function);
    let mut base = Env::new(Scope::of(function));
    base.evaluate = evaluate;
    let mut executor = Executor::new(ctx, base, name);
    executor.spend(1, span)?;
    let locals = inputs.iter().cloned().collect();
    executor.constant = inputs.iter().all(|i| is_constant(executor.ctx, &i.1));
    if executor.constant {
        executor.fuel = FUEL;
    }
    executor.no_event = Some(NoEvent::from_inputs(
        executor.ctx,
        inputs.iter().map(|i| &i.1),
    ));
    executor.locals = declare(executor.ctx, evaluate, function, locals, span)?;
    executor.declarations_without_events();
    executor.order = executor.ctx.instances.components(function);
    let sections = executor.ctx.instances.sections(function);
    for section in &sections {
        if let SectionKind::Algorithm { statements, .. } = &section.section().kind {
            executor.base.scope = section.scope;
            if executor.run(statements)? == Completion::Return {
                break;
            }
        }
    }
    let outputs = bind::outputs(executor.ctx, function);
    Ok(outputs
        .iter()
        .filter_map(|o| executor.locals.get(o).cloned())
        .collect())
}

/// The environment with the variables as they are now.
pub fn with_locals<'x>(base: &Env<'x>, locals: &'x Locals) -> Env<'x> {
    let mut env = base.clone();
    env.locals = Some(locals);
    env
}

/// A result, or why execution ended.
pub type Executed<T> = std::result::Result<T, Stop>;

impl<'c, 'e> Executor<'c, 'e> {
    /// Nothing declared yet; set up for a function.
    pub fn new(ctx: &'c mut Context, base: Env<'e>, name: String) -> Executor<'c, 'e> {
        Executor {
            ctx,
            base,
            locals: Locals::default(),
            order: Vec::new(),
            in_function: true,
            no_event: None,
            constant: false,
            name,
            path: Vec::new(),
            elements: FxHashMap::default(),
            writes: Vec::new(),
            field_path: Vec::new(),
            events: None,
            fuel: INLINE_FUEL,
            journal: Vec::new(),
            tries: 0,
        }
    }

    /// Bindings of declarations are part of the function, too.
    fn declarations_without_events(&mut self) {
        let Some(mut no_event) = self.no_event.take() else {
            return;
        };
        for variable in self.ctx.instances.components(self.base.scope.inst) {
            if let Some(value) = self.locals.get(&variable).cloned() {
                let value = no_event.value(self.ctx, value);
                self.locals.insert(variable, value);
            }
        }
        self.no_event = Some(no_event);
    }

    /// Executes statements in order.
    pub fn run(&mut self, statements: &[Statement]) -> Executed<Completion> {
        for s in statements {
            self.spend(1, s.span)?;
            match self.statement(s)? {
                Completion::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Completion::Next)
    }

    pub(super) fn spend(&mut self, amount: u64, span: Span) -> Executed<()> {
        let left = &mut self.ctx.function_state.steps_left;
        if self.in_function {
            *left = left.saturating_sub(amount);
        }
        if self.fuel < amount || self.in_function && *left == 0 {
            let why = format!("{} takes too many steps to be inlined", self.name);
            return Err(Stop::dynamic(span, why));
        }
        self.fuel -= amount;
        Ok(())
    }

    fn statement(&mut self, s: &Statement) -> Executed<Completion> {
        match &s.kind {
            StatementKind::Assign { target, value } => {
                let value = self.value(value)?;
                let value = self.used(value, s.span)?;
                self.assign(target, value, s.span)?;
            }
            StatementKind::AssignCall { targets, call } => {
                let e = Expr::new(ExprKind::Call(Box::new(call.clone())), call.span);
                let values = match self.value(&e)? {
                    Value::Tuple(values) => values,
                    single => vec![single],
                };
                if targets.len() > values.len() {
                    let message = format!(
                        "{} values are assigned, but the call gives {}",
                        targets.len(),
                        values.len()
                    );
                    return Err(error("output-count", s.span, message).into());
                }
                for (target, value) in targets.iter().zip(values) {
                    if let Some(target) = target {
                        let value = self.used(value, s.span)?;
                        self.assign(target, value, s.span)?;
                    }
                }
            }
            StatementKind::Call(call) => self.procedure(call)?,
            StatementKind::If {
                branches,
                otherwise,
            } => return self.branch(branches, otherwise),
            StatementKind::For { indices, body } => {
                if self.parallel(indices, body, s.span)? {
                    return Ok(Completion::Next);
                }
                return self.repeat(indices, body, s.span);
            }
            StatementKind::While { condition, body } => return self.repeat_while(condition, body),
            StatementKind::When { .. } => {
                let message = format!("`when` cannot be used here, in {}", self.name);
                let message = error("when-place", s.span, message)
                    .hint("`when` stands at the top level of an algorithm or equation section");
                return Err(message.into());
            }
            StatementKind::Break => return Ok(Completion::Break),
            StatementKind::Return => return Ok(Completion::Return),
        }
        Ok(Completion::Next)
    }

    /// The value of an expression now.
    pub fn value(&mut self, e: &Expr) -> Executed<Value> {
        let mark = self.base.loops.len();
        let bound = self.bind_left_limits(e)?;
        let e = bound.as_ref().unwrap_or(e);
        let env = with_locals(&self.base, &self.locals);
        let pending = self.ctx.function_state.asserts.len();
        let printed = self.ctx.function_state.prints.len();
        self.ctx.function_state.conditional += self.path.len();
        let value = self.ctx.expr(&env, e);
        self.ctx.function_state.conditional -= self.path.len();
        self.base.loops.truncate(mark);
        if !self.path.is_empty() {
            self.guard(pending);
            self.guard_prints(printed);
        }
        let value = match value {
            // A reduction up to what is known at run time only can be a loop there.
            Err(error)
                if self.in_function
                    && error.kind() == ErrorKind::NotConstant
                    && super::accumulate::mentions(e) =>
            {
                return Err(Stop::Dynamic(error));
            }
            other => other?,
        };
        let ctx = &mut *self.ctx;
        let value = value.map_leaves(&mut |t| fold_tensor(ctx, t.clone()));
        Ok(match &mut self.no_event {
            Some(no_event) => no_event.value(ctx, value),
            None => value,
        })
    }

    /// In an algorithm section `pre`, `edge` and `change` ask about the variable and not about its value so far.
    pub(super) fn bind_left_limits(&mut self, e: &Expr) -> Executed<Option<Expr>> {
        if self.in_function {
            return Ok(None);
        }
        Ok(left_limit::bind(self.ctx, &mut self.base, e)?)
    }

    /// A value that is assigned. Inside of a function it may have parts without a value as the variable had; in an algorithm section that is an error.
    fn used(&mut self, value: Value, span: Span) -> Executed<Value> {
        if self.in_function {
            return Ok(value);
        }
        let value = match value {
            Value::Tuple(mut outputs) if !outputs.is_empty() => outputs.swap_remove(0),
            other => other,
        };
        let pending = self.ctx.function_state.asserts.len();
        self.ctx.function_state.conditional += self.path.len();
        let value = super::used(self.ctx, value, span);
        self.ctx.function_state.conditional -= self.path.len();
        self.guard(pending);
        Ok(value?)
    }

    /// A condition now: a literal if it can be decided.
    pub fn condition(&mut self, e: &Expr) -> Executed<ExprId> {
        let mark = self.base.loops.len();
        let bound = self.bind_left_limits(e)?;
        let e = bound.as_ref().unwrap_or(e);
        let env = with_locals(&self.base, &self.locals);
        let c = self.ctx.scalar(&env, e, Type::Boolean);
        self.base.loops.truncate(mark);
        let c = c?;
        let env = with_locals(&self.base, &self.locals);
        if let Some(known) = self.ctx.decided(&env, c) {
            return Ok(self.ctx.exprs.bool(known));
        }
        let c = fold(self.ctx, c);
        Ok(match &mut self.no_event {
            Some(no_event) => no_event.expr(&mut self.ctx.exprs, c),
            None => c,
        })
    }

    fn assign(&mut self, target: &ComponentRef, value: Value, span: Span) -> Executed<()> {
        let env = with_locals(&self.base, &self.locals);
        let chain = self.ctx.component_chain(&env, target)?;
        let Some(k) = chain.iter().position(|c| self.locals.contains_key(c)) else {
            let name = plain_text(target);
            let message = format!("`{name}` cannot be assigned in {}", self.name);
            return Err(error("assign-target", target.span, message).into());
        };
        let parts = &target.parts[target.parts.len() - (chain.len() - k)..];
        let new = self.replaced(chain[k], parts, value, span)?;
        self.set(chain[k], new);
        Ok(())
    }

    fn branch(
        &mut self,
        branches: &[(Expr, Vec<Statement>)],
        otherwise: &[Statement],
    ) -> Executed<Completion> {
        // Branches that remain possible; a known condition ends the list.
        let mut open: Vec<(ExprId, &[Statement])> = Vec::new();
        let mut last = otherwise;
        for (condition, body) in branches {
            let c = self.condition(condition)?;
            match self.ctx.exprs.as_bool(c) {
                Some(true) => {
                    last = body;
                    break;
                }
                Some(false) => {}
                None => open.push((c, body)),
            }
        }
        if open.is_empty() {
            return self.run(last);
        }
        let depth = self.path.len();
        let mut results: Vec<(Option<ExprId>, Changes)> = Vec::new();
        for &(c, body) in &open {
            self.path.push(c);
            let mark = self.begin();
            self.run_open(body)?;
            results.push((Some(c), self.undo(mark)));
            // The following branches are executed when this condition does not hold.
            self.path.pop();
            let not = self.ctx.exprs.not(c);
            self.path.push(not);
        }
        let mark = self.begin();
        self.run_open(last)?;
        results.push((None, self.undo(mark)));
        self.path.truncate(depth);
        let changed: BTreeSet<InstId> = results.iter().flat_map(|r| r.1.keys().copied()).collect();
        for variable in changed {
            let Some(before) = self.locals.get(&variable).cloned() else {
                continue;
            };
            let span = self.ctx.instances.data(variable).span;
            let mut merged = before.clone();
            for (c, after) in results.iter().rev() {
                let value = after.get(&variable).unwrap_or(&before);
                merged = match c {
                    Some(c) if *value != merged => self.ctx.merge_if(*c, value, &merged, span)?,
                    Some(_) => merged,
                    None => value.clone(),
                };
            }
            self.set(variable, merged);
        }
        Ok(Completion::Next)
    }

    /// Gives a variable a value.
    pub fn set(&mut self, variable: InstId, value: Value) {
        let before = self.locals.insert(variable, value);
        if self.tries > 0 {
            self.journal.push((variable, before));
        }
    }

    /// From here on changes may be undone.
    pub fn begin(&mut self) -> usize {
        self.tries += 1;
        self.journal.len()
    }

    /// Undoes all changes since `mark`, also if what was begun in between has not been ended; what the variables were then. The cost is that of the
    /// changes, not of all variables.
    pub fn undo(&mut self, mark: usize) -> Changes {
        self.tries -= 1;
        let mut changes = Changes::new();
        for (variable, before) in self.journal.split_off(mark).into_iter().rev() {
            let after = match before {
                Some(value) => self.locals.insert(variable, value),
                None => self.locals.remove(&variable),
            };
            if let Some(after) = after {
                // The last change comes first.
                changes.entry(variable).or_insert(after);
            }
        }
        changes
    }

    /// All changes since `mark` stay.
    pub fn keep(&mut self) {
        self.tries -= 1;
        if self.tries == 0 {
            self.journal.clear();
        }
    }

    /// Executes statements that are reached under an unknown condition.
    fn run_open(&mut self, body: &[Statement]) -> Executed<()> {
        match self.run(body)? {
            Completion::Next => Ok(()),
            flow => {
                let what = if flow == Completion::Break {
                    "break"
                } else {
                    "return"
                };
                let span = body.first().map_or(Span::NONE, |s| s.span);
                Err(Stop::dynamic(
                    span,
                    format!("`{what}` depends on a condition that is not constant"),
                ))
            }
        }
    }

    fn repeat(
        &mut self,
        indices: &[ForIndex],
        body: &[Statement],
        span: Span,
    ) -> Executed<Completion> {
        let Some((index, inner)) = indices.split_first() else {
            return self.run(body);
        };
        let env = with_locals(&self.base, &self.locals);
        // Without a range it follows from subscripts in the body.
        let used = match index.range {
            Some(_) => Vec::new(),
            None => crate::lower::statement_expressions(body),
        };
        let used: Vec<&Expr> = used.iter().collect();
        let iteration = match self.ctx.iteration(&env, index, &used) {
            Ok(iteration) => iteration,
            Err(e) if e.kind() == ErrorKind::NotConstant => return Err(Stop::Dynamic(e)),
            Err(e) => return Err(e.into()),
        };
        for k in 0..iteration.count() {
            self.spend(1, span)?;
            let value = match &iteration {
                IterationRange::Range(ty, r) => {
                    Value::scalar(*ty, self.ctx.exprs.int(r.at(k as i64)))
                }
                IterationRange::Vector(v) => {
                    let e = v.element(&mut self.ctx.exprs, &[k as i64 + 1]);
                    Value::scalar(v.ty, fold(self.ctx, e))
                }
            };
            self.base.loops.push((index.name.name, value));
            let flow = self.repeat(inner, body, span);
            self.base.loops.pop();
            match flow? {
                Completion::Next => {}
                Completion::Break if inner.is_empty() => break,
                other => return Ok(other),
            }
        }
        Ok(Completion::Next)
    }

    fn repeat_while(&mut self, condition: &Expr, body: &[Statement]) -> Executed<Completion> {
        loop {
            self.spend(1, condition.span)?;
            let c = self.condition(condition)?;
            match self.ctx.exprs.as_bool(c) {
                Some(false) => return Ok(Completion::Next),
                Some(true) => {}
                None => {
                    let why = "the condition of `while` is not constant";
                    return Err(Stop::dynamic(condition.span, why));
                }
            }
            match self.run(body)? {
                Completion::Next => {}
                Completion::Break => return Ok(Completion::Next),
                Completion::Return => return Ok(Completion::Return),
            }
        }
    }
}
