//! Symbolic execution of statements (MLS 3.6 §11.2).
//!
//! The variables hold values (expressions); a statement replaces them. Loops with known bounds run, `if` with an unknown
//! condition executes every branch on a copy of the variables and merges the results, `while` needs a known condition.
//! Anything else ends with [`Stop::Dynamic`]. Functions and algorithm sections share this; an algorithm section differs in
//! what its variables start from and in that its relations are events.
//!
//! Cost: bounded by [`FUEL`]; each statement costs one unit and each array element written another.

use acausal_expr::{Access, Builtin, ExprId, IterId, Node, Range};
use acausal_syntax::ast::{
    Call, Callee, ComponentRef, Expr, ExprKind, ForIndex, SectionKind, Statement, StatementKind,
};
use acausal_syntax::{Name, Span};
use rustc_hash::FxHashMap;

use super::assertion::{assertion, plain_text};
use super::left_limit;
use super::{PendingAssert, Stop, bind};
use crate::instance::{Found, InstId, Kind, Scope};
use crate::lower::{Context, Env, Iteration, Locals, Record, Result, Tensor, Type, Value, error};

/// Work that one call may cause before it is left to run time.
pub const FUEL: u64 = 100_000;

/// Where execution goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
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
    /// Relations are no events.
    pub in_function: bool,
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
}

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
    Terminate(String, Span),
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
    let locals = inputs.iter().cloned().collect();
    executor.locals = declare(executor.ctx, evaluate, function, locals, span)?;
    executor.order = executor.ctx.instances.components(function);
    let sections = executor.ctx.instances.sections(function);
    for section in &sections {
        if let SectionKind::Algorithm { statements, .. } = &section.section().kind {
            executor.base.scope = section.scope;
            if executor.run(statements)? == Flow::Return {
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

/// Gives outputs and protected variables their first values. Declarations may refer to later ones, so those that fail
/// are tried again when others are known.
pub fn declare(
    ctx: &mut Context,
    evaluate: bool,
    function: InstId,
    mut locals: Locals,
    span: Span,
) -> Result<Locals> {
    let mut pending = ctx.instances.components(function);
    pending.retain(|c| !locals.contains_key(c) && !is_constant_declaration(ctx, *c));
    while !pending.is_empty() {
        let mut failed = Vec::new();
        let mut first_error = None;
        let before = pending.len();
        for variable in pending {
            match first_value(ctx, evaluate, &locals, variable, span) {
                Ok(value) => {
                    locals.insert(variable, value);
                }
                Err(message) => {
                    failed.push(variable);
                    first_error.get_or_insert(message);
                }
            }
        }
        if failed.len() == before
            && let Some(message) = first_error
        {
            return Err(message);
        }
        pending = failed;
    }
    Ok(locals)
}

/// Constants of a function are found by lookup.
fn is_constant_declaration(ctx: &Context, inst: InstId) -> bool {
    use acausal_syntax::ast::Variability;
    ctx.instances.data(inst).prefixes.variability == Some(Variability::Constant)
}

fn first_value(
    ctx: &mut Context,
    evaluate: bool,
    locals: &Locals,
    variable: InstId,
    span: Span,
) -> Result<Value> {
    let what = format!("`{}`", ctx.instances.data(variable).name);
    if let Some(binding) = ctx.instances.binding(variable) {
        let env = Env::function(binding.scope, locals, evaluate);
        let value = ctx.expr(&env, &binding.expr)?;
        return bind::fit(ctx, locals, variable, value, binding.expr.span, &what);
    }
    blank(ctx, locals, variable, &[], span)
}

/// A value of the right type and size to be written into: zeros. `lead` are dimensions of enclosing records.
pub fn blank(
    ctx: &mut Context,
    locals: &Locals,
    variable: InstId,
    lead: &[usize],
    span: Span,
) -> Result<Value> {
    let mut dims = lead.to_vec();
    dims.extend(
        bind::sizes(ctx, locals, variable)?
            .into_iter()
            .map(|n| n.unwrap_or(0)),
    );
    if let Some(ty) = ctx.primitive_type(variable) {
        let zero = crate::lower::tensor::zero(&mut ctx.exprs, ty);
        return Ok(Value::Tensor(
            Tensor::scalar(ty, zero).fill(&mut ctx.exprs, &dims),
        ));
    }
    match ctx.instances.kind(variable) {
        Kind::Record { .. } | Kind::Connector { .. } => {
            let mut fields = Vec::new();
            for field in ctx.instances.components(variable) {
                let name = ctx.instances.data(field).name;
                fields.push((name, blank(ctx, locals, field, &dims, span)?));
            }
            let class = ctx.instances.data(variable).class;
            Ok(Value::Record(Record {
                class,
                dims,
                fields,
            }))
        }
        _ => {
            let name = ctx.instances.data(variable).name;
            let class = ctx.instances.class_name(variable);
            let message =
                format!("a variable of class {class} (`{name}`) cannot be used in a function");
            Err(error("unsupported", span, message))
        }
    }
}

/// True when no part of a value depends on variables.
pub fn is_constant(ctx: &Context, value: &Value) -> bool {
    let mut all = true;
    value.for_each_leaf(&mut Vec::new(), &mut |_, t| {
        all &= t.is_empty() || constant_body(ctx, t);
    });
    match value {
        Value::Function(f) => f.bound.iter().all(|(_, v)| is_constant(ctx, v)),
        _ => all,
    }
}

fn constant_body(ctx: &Context, t: &Tensor) -> bool {
    let mut bound: Vec<acausal_expr::IterId> = t.iters.clone();
    let nodes = ctx.exprs.reachable(&[t.body]);
    for &n in &nodes {
        if let Node::Reduce { iter, .. } = ctx.exprs.node(n) {
            bound.push(iter);
        }
    }
    nodes.iter().all(|&n| match ctx.exprs.node(n) {
        Node::Var(_) | Node::Time | Node::Local { .. } | Node::Apply { .. } => false,
        Node::Iter(i) => bound.contains(&i),
        Node::Call(f, _) => !matches!(
            f,
            Builtin::Initial
                | Builtin::Terminal
                | Builtin::Sample
                | Builtin::Delay
                | Builtin::Edge
                | Builtin::Change
                | Builtin::Start
        ),
        _ => true,
    })
}

/// A literal in place of a constant scalar expression; other expressions stay.
pub fn fold(ctx: &mut Context, e: ExprId) -> ExprId {
    if matches!(
        ctx.exprs.node(e),
        Node::Int(_) | Node::Real(_) | Node::Bool(_) | Node::Str(_)
    ) {
        return e;
    }
    match ctx.exprs.evaluate(e, |_, _, _| None) {
        Ok(acausal_expr::Value::Real(v)) => ctx.exprs.real(v),
        Ok(acausal_expr::Value::Int(v)) => ctx.exprs.int(v),
        Ok(acausal_expr::Value::Bool(v)) => ctx.exprs.bool(v),
        _ => e,
    }
}

/// The environment with the variables as they are now.
pub fn with_locals<'x>(base: &Env<'x>, locals: &'x Locals) -> Env<'x> {
    let mut env = base.clone();
    env.locals = Some(locals);
    env
}

type Step<T> = std::result::Result<T, Stop>;

impl<'c, 'e> Executor<'c, 'e> {
    /// Nothing declared yet; set up for a function.
    pub fn new(ctx: &'c mut Context, base: Env<'e>, name: String) -> Executor<'c, 'e> {
        Executor {
            ctx,
            base,
            locals: Locals::default(),
            order: Vec::new(),
            in_function: true,
            name,
            path: Vec::new(),
            elements: FxHashMap::default(),
            writes: Vec::new(),
            field_path: Vec::new(),
            events: None,
            fuel: FUEL,
        }
    }

    /// Executes statements in order.
    pub fn run(&mut self, statements: &[Statement]) -> Step<Flow> {
        for s in statements {
            self.spend(1, s.span)?;
            match self.statement(s)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    pub(super) fn spend(&mut self, amount: u64, span: Span) -> Step<()> {
        if self.fuel < amount {
            let why = format!("{} takes more than {FUEL} steps", self.name);
            return Err(Stop::dynamic(span, why));
        }
        self.fuel -= amount;
        Ok(())
    }

    fn statement(&mut self, s: &Statement) -> Step<Flow> {
        match &s.kind {
            StatementKind::Assign { target, value } => {
                let value = self.value(value)?;
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
                        self.assign(target, value, s.span)?;
                    }
                }
            }
            StatementKind::Call(call) => self.procedure(call)?,
            StatementKind::If {
                branches,
                otherwise,
            } => return self.branch(branches, otherwise),
            StatementKind::For { indices, body } => return self.repeat(indices, body, s.span),
            StatementKind::While { condition, body } => return self.repeat_while(condition, body),
            StatementKind::When { .. } => {
                let message = format!("`when` cannot be used here, in {}", self.name);
                let message = error("when-place", s.span, message)
                    .hint("`when` stands at the top level of an algorithm or equation section");
                return Err(Stop::Error(message.into()));
            }
            StatementKind::Break => return Ok(Flow::Break),
            StatementKind::Return => return Ok(Flow::Return),
        }
        Ok(Flow::Next)
    }

    /// The value of an expression now.
    pub fn value(&mut self, e: &Expr) -> Step<Value> {
        let mark = self.base.loops.len();
        let bound = self.bind_left_limits(e)?;
        let e = bound.as_ref().unwrap_or(e);
        let env = with_locals(&self.base, &self.locals);
        let value = self.ctx.expr(&env, e);
        self.base.loops.truncate(mark);
        let value = value?;
        if self.in_function && has_relation(e) {
            let exprs = &mut self.ctx.exprs;
            return Ok(value.map_leaves(&mut |t| t.map(exprs, t.ty, |x, body| x.no_event(body))));
        }
        Ok(value)
    }

    /// In an algorithm section `pre`, `edge` and `change` ask about the variable and not about its value so far.
    pub(super) fn bind_left_limits(&mut self, e: &Expr) -> Step<Option<Expr>> {
        if self.in_function {
            return Ok(None);
        }
        Ok(left_limit::bind(self.ctx, &mut self.base, e)?)
    }

    /// A condition now: a literal if it can be decided.
    pub fn condition(&mut self, e: &Expr) -> Step<ExprId> {
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
        Ok(if self.in_function {
            self.ctx.exprs.no_event(c)
        } else {
            c
        })
    }

    fn assign(&mut self, target: &ComponentRef, value: Value, span: Span) -> Step<()> {
        let env = with_locals(&self.base, &self.locals);
        let chain = self.ctx.component_chain(&env, target)?;
        let Some(k) = chain.iter().position(|c| self.locals.contains_key(c)) else {
            let name = plain_text(target);
            let message = format!("`{name}` cannot be assigned in {}", self.name);
            return Err(error("assign-target", target.span, message).into());
        };
        let parts = &target.parts[target.parts.len() - (chain.len() - k)..];
        let new = self.replaced(chain[k], parts, value, span)?;
        self.locals.insert(chain[k], new);
        Ok(())
    }

    /// `assert`, `print` and the like.
    fn procedure(&mut self, call: &Call) -> Step<()> {
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

    /// `ModelicaError` behind a function without outputs, such as `Modelica.Utilities.Streams.error`.
    fn stops(&mut self, call: &Call) -> Step<bool> {
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
        if self.path.is_empty() {
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
    fn reinit(&mut self, call: &Call) -> Step<()> {
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
        let mut value = value.over(&mut self.ctx.exprs, &target.iters);
        for &c in self.path.iter().rev() {
            value = self.ctx.exprs.if_(c, value, target.body);
        }
        let domain = target
            .iters
            .iter()
            .zip(&dims)
            .map(|(&i, &n)| (i, Range::upto(n)))
            .collect();
        let event = Event::Reinit {
            domain,
            target: access,
            value,
        };
        self.events.get_or_insert_default().push(event);
        Ok(())
    }

    fn terminate(&mut self, call: &Call) -> Step<()> {
        if !self.path.is_empty() {
            let message = "`terminate` under a condition inside of `when` is not supported yet";
            return Err(error("unsupported", call.span, message).into());
        }
        let text = match call.args.first() {
            Some(e) => {
                let message = self.ctx.scalar(&self.base, e, Type::String)?;
                literal_text(self.ctx, message)
            }
            None => String::new(),
        };
        self.events
            .get_or_insert_default()
            .push(Event::Terminate(text, call.span));
        Ok(())
    }

    fn assert(&mut self, call: &Call) -> Step<()> {
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
            Some(false) if assert.warning => {}
            Some(false) => {
                let text = literal_text(self.ctx, assert.message);
                let message = format!("assertion in {} failed: {text}", self.name);
                return Err(error("assertion", call.span, message).into());
            }
            None => {
                if self.in_function {
                    guarded = self.ctx.exprs.no_event(guarded);
                }
                self.ctx.function_state.asserts.push(PendingAssert {
                    condition: guarded,
                    message: assert.message,
                    warning: assert.warning,
                    span: call.span,
                });
            }
        }
        Ok(())
    }

    fn branch(
        &mut self,
        branches: &[(Expr, Vec<Statement>)],
        otherwise: &[Statement],
    ) -> Step<Flow> {
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
        let start = self.locals.clone();
        let depth = self.path.len();
        let mut results: Vec<(ExprId, Locals)> = Vec::new();
        for &(c, body) in &open {
            self.path.push(c);
            self.run_open(body)?;
            let after = std::mem::replace(&mut self.locals, start.clone());
            results.push((c, after));
            // The following branches are executed when this condition does not hold.
            self.path.pop();
            let not = self.ctx.exprs.not(c);
            self.path.push(not);
        }
        self.run_open(last)?;
        self.path.truncate(depth);
        for (c, after) in results.into_iter().rev() {
            for k in 0..self.order.len() {
                let variable = self.order[k];
                let (Some(a), Some(b)) = (after.get(&variable), self.locals.get(&variable)) else {
                    continue;
                };
                if a != b {
                    let span = self.ctx.instances.data(variable).span;
                    let merged = self.ctx.merge_if(c, a, b, span)?;
                    self.locals.insert(variable, merged);
                }
            }
        }
        Ok(Flow::Next)
    }

    /// Executes statements that are reached under an unknown condition.
    fn run_open(&mut self, body: &[Statement]) -> Step<()> {
        match self.run(body)? {
            Flow::Next => Ok(()),
            flow => {
                let what = if flow == Flow::Break {
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

    fn repeat(&mut self, indices: &[ForIndex], body: &[Statement], span: Span) -> Step<Flow> {
        let Some((index, inner)) = indices.split_first() else {
            return self.run(body);
        };
        let env = with_locals(&self.base, &self.locals);
        // Without a range it follows from subscripts in the body; those of statements are not searched.
        let iteration = match self.ctx.iteration(&env, index, &[]) {
            Ok(iteration) => iteration,
            Err(message) if message.code == "not-constant" => return Err(Stop::Dynamic(message)),
            Err(message) => return Err(message.into()),
        };
        for k in 0..iteration.count() {
            self.spend(1, span)?;
            let value = match &iteration {
                Iteration::Range(ty, r) => Value::scalar(*ty, self.ctx.exprs.int(r.at(k as i64))),
                Iteration::Vector(v) => {
                    let e = v.element(&mut self.ctx.exprs, &[k as i64 + 1]);
                    Value::scalar(v.ty, fold(self.ctx, e))
                }
            };
            self.base.loops.push((index.name.name, value));
            let flow = self.repeat(inner, body, span);
            self.base.loops.pop();
            match flow? {
                Flow::Next => {}
                Flow::Break if inner.is_empty() => break,
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn repeat_while(&mut self, condition: &Expr, body: &[Statement]) -> Step<Flow> {
        loop {
            self.spend(1, condition.span)?;
            let c = self.condition(condition)?;
            match self.ctx.exprs.as_bool(c) {
                Some(false) => return Ok(Flow::Next),
                Some(true) => {}
                None => {
                    let why = "the condition of `while` is not constant";
                    return Err(Stop::dynamic(condition.span, why));
                }
            }
            match self.run(body)? {
                Flow::Next => {}
                Flow::Break => return Ok(Flow::Next),
                Flow::Return => return Ok(Flow::Return),
            }
        }
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
        Found::Class(inst) if ctx.instances.kind(inst) == Kind::Function => Some(inst),
        _ => None,
    }
}

/// The text of a String literal, or a remark that it is not known yet.
pub fn literal_text(ctx: &Context, e: ExprId) -> String {
    match ctx.exprs.node(e) {
        Node::Str(s) => ctx.exprs.string(s).to_string(),
        _ => "(the message is known at run time only)".to_string(),
    }
}

/// True when an expression has relations or functions that would be events outside of a function.
fn has_relation(e: &Expr) -> bool {
    use acausal_syntax::ast::BinOp;
    let mut stack = vec![e];
    while let Some(e) = stack.pop() {
        match &e.kind {
            ExprKind::Binary(op, a, b) => {
                if matches!(
                    op,
                    BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::Eq | BinOp::Ne
                ) {
                    return true;
                }
                stack.extend([&**a, &**b]);
            }
            ExprKind::If { .. } => return true,
            ExprKind::Chain(first, rest) => {
                stack.push(first);
                stack.extend(rest.iter().map(|r| &r.1));
            }
            ExprKind::Unary(_, a) => stack.push(a),
            ExprKind::Call(call) => {
                if let Callee::Ref(r) = &call.function
                    && let Some(name) = r.as_ident()
                    && [
                        "div", "mod", "rem", "ceil", "floor", "integer", "sign", "abs",
                    ]
                    .contains(&name.as_str())
                {
                    return true;
                }
                stack.extend(&call.args);
            }
            ExprKind::Array(members) => stack.extend(members),
            ExprKind::Matrix(rows) => stack.extend(rows.iter().flatten()),
            _ => {}
        }
    }
    false
}
