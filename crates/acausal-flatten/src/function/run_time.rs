//! Function bodies to run-time statements.
//!
//! Every variable is a block of the frame, and its value in expressions is the array of
//! [`Node::Local`](acausal_expr::Node::Local) over that block; so expressions are lowered exactly as elsewhere. The target of an
//! assignment is lowered like an expression, too: what comes out are the places to write to. Arrays are assigned by
//! loops over frame iterators; if the right side reads the variable that is written, through a temporary block.

use acausal_base::Span;
use acausal_expr::ExprId;
use acausal_expr::flat::{AssertionLevel, Statement as Run, Unassigned};
use acausal_syntax::ast::{
    Call, Callee, Expr, ExprKind, ForIndex, SectionKind, Statement, StatementKind,
};
use rustc_hash::FxHashSet;

use super::assertion::assertion;
use super::bind;
use super::constant::{fold, is_constant, literal_text};
use super::declare::blank;
use super::execute::with_locals;
use super::procedure::callee;
use crate::algorithm::references;
use crate::lower::{
    Context, Env, IterationRange, Locals, Result, Type, Value, error, in_dependency_order,
};
use acausal_instance::instance::{InstId, Scope};

/// A function on its way to run-time statements.
pub struct FunctionLowering<'c, 'e> {
    /// Everything else.
    pub ctx: &'c mut Context,
    /// Variables: blocks of the frame, or constants.
    pub locals: Locals,
    /// Scalars in the frame so far.
    pub frame: u32,
    pub(super) base: Env<'e>,
    in_function: bool,
    pub(super) body: Vec<Run>,
    /// Blocks without a value at the beginning, in order.
    unassigned: Vec<Unassigned>,
    pub(super) name: String,
}

impl<'c, 'e> FunctionLowering<'c, 'e> {
    /// Begins a function.
    pub fn new(ctx: &'c mut Context, evaluate: bool, function: InstId) -> FunctionLowering<'c, 'e> {
        let name = ctx.instances.class_name(function);
        let mut base = Env::new(Scope::of(function));
        base.evaluate = evaluate;
        FunctionLowering {
            in_function: true,
            ..FunctionLowering::in_env(ctx, base, name)
        }
    }

    /// Begins a piece of an algorithm section.
    pub fn in_env(ctx: &'c mut Context, base: Env<'e>, name: String) -> FunctionLowering<'c, 'e> {
        FunctionLowering {
            ctx,
            locals: Locals::default(),
            frame: 0,
            base,
            in_function: false,
            body: Vec::new(),
            unassigned: Vec::new(),
            name,
        }
    }

    /// The statements, the size of the frame, and which parts of it begin without a value.
    pub fn finish(self) -> (Vec<Run>, u32, Vec<Unassigned>) {
        (self.body, self.frame, self.unassigned)
    }

    pub(super) fn value(&mut self, e: &Expr) -> Result<Value> {
        let mark = self.base.loops.len();
        let bound = match self.in_function {
            true => None,
            false => super::left_limit::bind(self.ctx, &mut self.base, e)?,
        };
        let e = bound.as_ref().unwrap_or(e);
        let accumulated = self.accumulate(e)?;
        let e = accumulated.as_ref().unwrap_or(e);
        let pending = self.ctx.function_state.asserts.len();
        let env = with_locals(&self.base, &self.locals);
        let value = self.ctx.expr(&env, e);
        self.base.loops.truncate(mark);
        self.keep_asserts(pending);
        value
    }

    /// A value that is stored; of several outputs the first one.
    fn used(&mut self, value: Value, span: Span) -> Result<Value> {
        let value = match value {
            Value::Tuple(mut outputs) if !outputs.is_empty() => outputs.swap_remove(0),
            other => other,
        };
        let pending = self.ctx.function_state.asserts.len();
        let value = super::used(self.ctx, value, span)?;
        self.keep_asserts(pending);
        Ok(value)
    }

    /// Fields of records may have values of their own; all else has none until it is assigned.
    fn begin(&mut self, target: &Value, first: &Value, span: Span) -> Result<()> {
        match (target, first) {
            (Value::Tensor(t), Value::Tensor(v)) => {
                let name = super::unassigned::name(&self.ctx.exprs, v.body).map(str::to_string);
                match (name, self.block(t)) {
                    (Some(name), Some((base, len))) => {
                        self.unassigned.push(Unassigned { name, base, len });
                        Ok(())
                    }
                    _ => self.store(target, first, span),
                }
            }
            (Value::Record(_), Value::Record(r)) => {
                for (name, v) in &r.fields {
                    if let Some(t) = target.field(*name) {
                        self.begin(t, v, span)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Assertions of calls that were inlined (from position `from` on) are about values of the frame as they are here.
    fn keep_asserts(&mut self, from: usize) {
        for assert in self.ctx.function_state.asserts.split_off(from) {
            let message = literal_text(self.ctx, assert.message);
            self.body.push(Run::Assert {
                condition: assert.condition,
                message,
                level: assert.level,
            });
        }
    }

    fn scalar(&mut self, e: &Expr, ty: Type) -> Result<ExprId> {
        let value = self.value(e)?;
        let t = self.ctx.as_tensor(value, e.span)?;
        let e = self.ctx.expect_scalar(&t, ty, e.span)?;
        Ok(fold(self.ctx, e))
    }

    /// Gives outputs and protected variables their blocks and first values; the outputs in order. A protected variable
    /// that is constant and never assigned stays a constant: sizes may depend on it.
    pub fn declare(&mut self, function: InstId, span: Span) -> Result<Vec<Value>> {
        let assigned = self.assigned(function);
        let outputs = bind::outputs(self.ctx, function);
        let mut pending = self.ctx.instances.components(function);
        pending.retain(|c| !self.locals.contains_key(c));
        pending.retain(|&c| {
            let variability = self.ctx.instances.data(c).prefixes.variability;
            variability != Some(acausal_syntax::ast::VariabilityPrefix::Constant)
        });
        in_dependency_order(pending, |&variable| {
            let frozen = !assigned.contains(&variable) && !outputs.contains(&variable);
            self.first_value(variable, frozen, span)
        })?;
        Ok(outputs
            .iter()
            .filter_map(|o| self.locals.get(o).cloned())
            .collect())
    }

    fn first_value(&mut self, variable: InstId, frozen: bool, span: Span) -> Result<()> {
        let Some(binding) = self.ctx.instances.binding(variable) else {
            let name = self.ctx.instances.data(variable).name;
            let first = blank(self.ctx, &self.locals, variable, &[name], &[], span)?;
            let target = self.blocks(&first, span)?;
            self.locals.insert(variable, target.clone());
            return self.begin(&target, &first, span);
        };
        let what = format!("`{}`", self.ctx.instances.data(variable).name);
        let env = Env::function(binding.scope, &self.locals, self.base.evaluate);
        let pending = self.ctx.function_state.asserts.len();
        let value = self.ctx.expr(&env, &binding.expr)?;
        self.keep_asserts(pending);
        let at = binding.expr.span;
        let value = self.used(value, at)?;
        let value = bind::fit(self.ctx, &self.locals, variable, value, at, &what)?;
        if frozen && is_constant(self.ctx, &value) {
            self.locals.insert(variable, value);
            return Ok(());
        }
        let target = self.blocks(&value, span)?;
        self.locals.insert(variable, target.clone());
        self.store(&target, &value, at)
    }

    /// Variables that statements assign.
    fn assigned(&mut self, function: InstId) -> FxHashSet<InstId> {
        let mut out = FxHashSet::default();
        for section in self.ctx.instances.sections(function) {
            if let SectionKind::Algorithm { statements, .. } = &section.section().kind {
                for name in targets(statements) {
                    out.extend(self.ctx.instances.member(function, name));
                }
            }
        }
        out
    }

    /// Lowers the algorithm of a function.
    pub fn sections(&mut self, function: InstId) -> Result<()> {
        for section in self.ctx.instances.sections(function) {
            if let SectionKind::Algorithm { statements, .. } = &section.section().kind {
                self.base.scope = section.scope;
                self.statements(statements)?;
            }
        }
        Ok(())
    }

    /// Lowers statements into a list of their own.
    fn block_of(&mut self, lower: impl FnOnce(&mut Self) -> Result<()>) -> Result<Vec<Run>> {
        let outer = std::mem::take(&mut self.body);
        let result = lower(self);
        let inner = std::mem::replace(&mut self.body, outer);
        result.map(|()| inner)
    }

    fn statements(&mut self, statements: &[Statement]) -> Result<()> {
        for s in statements {
            self.statement(s)?;
        }
        Ok(())
    }

    /// Lowers one statement.
    pub fn statement(&mut self, s: &Statement) -> Result<()> {
        match &s.kind {
            StatementKind::Assign { target, value } => {
                let value = self.value(value)?;
                let value = self.used(value, s.span)?;
                let target = self.place(target)?;
                self.store(&target, &value, s.span)?;
            }
            StatementKind::AssignCall { targets, call } => {
                let e = Expr::new(ExprKind::Call(Box::new(call.clone())), call.span);
                let values = match self.value(&e)? {
                    Value::Tuple(values) => values,
                    single => vec![single],
                };
                // All outputs are kept first: a target may be an argument of the call.
                let mut kept = Vec::new();
                for (target, value) in targets.iter().zip(values) {
                    let Some(target) = target else { continue };
                    let value = self.used(value, s.span)?;
                    let copy = self.blocks(&value, s.span)?;
                    self.store(&copy, &value, s.span)?;
                    kept.push((target, copy));
                }
                for (target, copy) in kept {
                    let target = self.place(target)?;
                    self.store(&target, &copy, s.span)?;
                }
            }
            StatementKind::Call(call) => self.procedure(call)?,
            StatementKind::If {
                branches,
                otherwise,
            } => self.branch(branches, otherwise)?,
            StatementKind::For { indices, body } => self.repeat(indices, body)?,
            StatementKind::While { condition, body } => {
                let before = self.body.len();
                let condition = self.scalar(condition, Type::Boolean)?;
                // What the condition asserts holds before each round.
                let asserts = self.body[before..].to_vec();
                let mut body = self.block_of(|l| l.statements(body))?;
                body.extend(asserts);
                self.body.push(Run::While { condition, body });
            }
            StatementKind::When { .. } => {
                let message = format!("`when` cannot be used in {}", self.name);
                return Err(error("when-place", s.span, message));
            }
            StatementKind::Break => self.body.push(Run::Break),
            StatementKind::Return => self.body.push(Run::Return),
        }
        Ok(())
    }

    fn procedure(&mut self, call: &Call) -> Result<()> {
        let env = with_locals(&self.base, &self.locals);
        let name = match &call.function {
            Callee::Ref(r) => r.as_ident().map_or("", |i| i.as_str()),
            _ => "",
        };
        if name == "assert" {
            let assert = assertion(self.ctx, &env, call)?;
            let message = literal_text(self.ctx, assert.message);
            self.body.push(Run::Assert {
                condition: assert.condition,
                message,
                level: assert.level,
            });
            return Ok(());
        }
        let Some(function) = callee(self.ctx, &env, call) else {
            let message = format!("this cannot be executed in {}", self.name);
            return Err(error("statement-place", call.span, message));
        };
        match super::external::c_name(self.ctx, function).as_deref() {
            Some("ModelicaError") => {
                let text = match call.args.first() {
                    Some(e) => self.ctx.scalar(&env, e, Type::String).ok(),
                    None => None,
                };
                let message = text.map_or("error".to_string(), |t| literal_text(self.ctx, t));
                let condition = self.ctx.exprs.bool(false);
                self.body.push(Run::Assert {
                    condition,
                    message,
                    level: AssertionLevel::Error,
                });
            }
            Some("ModelicaMessage" | "ModelicaInternal_print") => {}
            _ => {
                // A function without effects: whether it can be called matters, and what it asserts.
                let e = Expr::new(ExprKind::Call(Box::new(call.clone())), call.span);
                self.value(&e)?;
            }
        }
        Ok(())
    }

    fn branch(
        &mut self,
        branches: &[(Expr, Vec<Statement>)],
        otherwise: &[Statement],
    ) -> Result<()> {
        let mut open = Vec::new();
        let mut last = otherwise;
        for (condition, body) in branches {
            let c = self.scalar(condition, Type::Boolean)?;
            match self.ctx.exprs.as_bool(c) {
                Some(true) => {
                    last = body;
                    break;
                }
                Some(false) => {}
                None => {
                    let body = self.block_of(|l| l.statements(body))?;
                    open.push((c, body));
                }
            }
        }
        if open.is_empty() {
            return self.statements(last);
        }
        let otherwise = self.block_of(|l| l.statements(last))?;
        self.body.push(Run::If {
            branches: open,
            otherwise,
        });
        Ok(())
    }

    fn repeat(&mut self, indices: &[ForIndex], body: &[Statement]) -> Result<()> {
        let Some((index, inner)) = indices.split_first() else {
            return self.statements(body);
        };
        let iterator = self.slot();
        let position = self.local(iterator);
        let one = self.ctx.exprs.int(1);
        let (start, step, stop, value) = match index.range.as_ref().map(|r| &r.kind) {
            Some(ExprKind::Range { start, step, stop }) => {
                let start = self.bound(start)?;
                let step = match step {
                    Some(step) => self.bound(step)?,
                    None => (one, Type::Integer),
                };
                let stop = self.bound(stop)?;
                let integer = [start.1, step.1, stop.1]
                    .iter()
                    .all(|t| *t == Type::Integer);
                let ty = if integer { Type::Integer } else { Type::Real };
                let zero = self.ctx.exprs.int(0);
                let value = self.ctx.exprs.local(iterator, 1, zero, ty.ty());
                (start.0, step.0, stop.0, Value::scalar(ty, value))
            }
            _ => {
                let env = with_locals(&self.base, &self.locals);
                let used = match index.range {
                    Some(_) => Vec::new(),
                    None => crate::lower::statement_expressions(body),
                };
                let used: Vec<_> = used.iter().collect();
                match self.ctx.iteration(&env, index, &used)? {
                    IterationRange::Range(ty, r) => {
                        let x = &mut self.ctx.exprs;
                        let (start, step) = (x.int(r.start), x.int(r.step));
                        let stop = x.int(r.last());
                        (start, step, stop, Value::scalar(ty, position))
                    }
                    IterationRange::Vector(v) => {
                        let n = self.ctx.exprs.int(v.dims[0] as i64);
                        let e = v.at(&mut self.ctx.exprs, &[position]);
                        (one, one, n, Value::scalar(v.ty, e))
                    }
                }
            }
        };
        self.base.loops.push((index.name.name, value));
        let body = self.block_of(|l| l.repeat(inner, body));
        self.base.loops.pop();
        self.body.push(Run::For {
            iterator,
            start,
            step,
            stop,
            body: body?,
        });
        Ok(())
    }

    pub(super) fn bound(&mut self, e: &Expr) -> Result<(ExprId, Type)> {
        let env = with_locals(&self.base, &self.locals);
        let t = self.ctx.tensor(&env, e)?;
        let ty = if t.ty == Type::Integer {
            Type::Integer
        } else {
            Type::Real
        };
        Ok((self.ctx.expect_scalar(&t, ty, e.span)?, ty))
    }
}

/// First identifiers of everything that statements assign, in order.
pub fn targets(statements: &[Statement]) -> Vec<acausal_base::Name> {
    let assigned = statements.iter().flat_map(references);
    assigned.map(|r| r.parts[0].name.name).collect()
}
