//! Calls of user functions (MLS 3.6 §12).
//!
//! In: a function and the values of its arguments. Out: the values of its outputs.
//!
//! A call is *executed symbolically* ([`execute`]): the variables of the function hold expressions, assignments replace
//! them, loops with known bounds are unrolled, `if` with an unknown condition merges both branches. With constant
//! arguments this is constant evaluation; otherwise the result is the inlined function. What cannot be executed this way
//! (loops whose end depends on variables, `return` under such a condition, too much work) becomes a *run-time function*
//! ([`specialise`]), one per combination of argument sizes, and the result is [`Node::Apply`](acausal_expr::Node::Apply).
//!
//! Example: `y := 1; for i in 1:3 loop y := y*x; end for` with the argument `x = p.v` gives `p.v*p.v*p.v`; with
//! `while y < x loop y := 2*y; end while` it gives `apply(f, p.v)`.
//!
//! | step | module |
//! |---|---|
//! | arguments to inputs, defaults, vectorisation | [`bind`] |
//! | first values of outputs and protected variables | [`declare`] |
//! | inputs are read only | `rules` |
//! | statements on symbolic values (shared with algorithm sections) | [`execute`] |
//! | loops whose rounds are independent, kept as arrays | `independent`, `parallel` |
//! | relations that are no events | `no_event` |
//! | functions that are partial derivatives | `partial` |
//! | what is used before it is assigned | `unassigned` |
//! | calls for their effect | `procedure`, [`assertion`] |
//! | assignment to a part of an array or record | [`assign`] |
//! | run-time functions | [`specialise`], [`run_time`], `store`, `accumulate` |
//! | `external` functions | [`external`], `external_text` |
//!
//! # Entry points
//! - [`call`]: a call with lowered arguments, from expressions.
//! - [`State`]: what lasts between calls; a field `function_state` of [`Context`]. After
//!   lowering an equation its [`State::asserts`] hold the assertions of the calls inlined in it.

mod accumulate;
pub mod assertion;
pub mod assign;
pub mod bind;
pub mod constant;
pub mod declare;
pub mod execute;
pub mod external;
mod external_text;
mod independent;
pub mod left_limit;
mod no_event;
mod parallel;
mod partial;
mod procedure;
mod rewrite;
mod rules;
pub mod run_time;
pub mod specialise;
mod store;
mod unassigned;

#[cfg(test)]
mod equivalence_tests;
#[cfg(test)]
mod tests;

use acausal_base::Span;
use acausal_expr::flat::AssertionLevel;
use acausal_expr::{ExprId, FuncId, IterId, Range, ReduceOp, RelOp};
use acausal_symbolic::Reduce;
use rustc_hash::FxHashSet;

use crate::lower::{Arguments, Context, Env, Error, ErrorKind, Result, Value, error};
use acausal_instance::instance::InstId;

/// Nesting of calls that are executed symbolically. Deeper recursion is left to run-time functions.
const MAX_DEPTH: usize = 40;
/// Nesting of calls altogether: as deep as run-time functions may call each other.
const MOST_NESTED: usize = MAX_DEPTH + 200;

/// What lasts between calls.
#[derive(Debug, Default)]
pub struct State {
    /// Functions being executed, outermost first.
    active: Vec<InstId>,
    /// Run-time functions so far.
    specialised: Vec<specialise::Specialised>,
    /// Native functions so far.
    externals: Vec<(acausal_expr::native::External, FuncId)>,
    /// Steps of symbolic execution that are left to the outermost call and all calls inside of it.
    steps_left: u64,
    /// Functions for which they did not suffice with variable arguments: calls of these are not tried again.
    too_many_steps: FxHashSet<InstId>,
    /// The external objects that constants are read from; they go with the compilation.
    objects: acausal_expr::native::Objects,
    /// Functions that assign no input.
    read_only: FxHashSet<InstId>,
    /// Expressions without unassigned variables.
    assigned: FxHashSet<ExprId>,
    /// Conditions around what is being lowered that are not known: a failing assertion is no error yet.
    pub conditional: usize,
    /// Assertions of inlined calls that could not be decided. Whoever lowers an equation moves them to the model.
    pub asserts: Vec<PendingAssert>,
    /// Texts that calls print. Whoever lowers a clause, an equation or a section takes those that it added.
    pub prints: Vec<PendingPrint>,
}

/// A call of `Modelica.Utilities.Streams.print`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PendingPrint {
    /// A String expression; the empty text where the call is not reached.
    pub message: ExprId,
    /// The call.
    pub span: Span,
}

/// `assert` in a function that was inlined.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingAssert {
    /// Must hold whenever the call is evaluated.
    pub condition: ExprId,
    /// A String expression.
    pub message: ExprId,
    /// What its failure means.
    pub level: AssertionLevel,
    /// The assertion in the function.
    pub span: Span,
}

/// Why symbolic execution ended early.
#[derive(Clone, Debug)]
pub enum Stop {
    /// The function (or algorithm) is wrong.
    Error(Error),
    /// It is fine, but can only be executed at run time; the error says why.
    Dynamic(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Error(error)
    }
}

impl Stop {
    /// Execution must wait for run time.
    pub(crate) fn dynamic(span: Span, why: impl Into<String>) -> Stop {
        Stop::Dynamic(error("not-inlinable", span, why))
    }
}

/// Calls a function: one value for one output, a tuple for several.
pub fn call(
    ctx: &mut Context,
    env: &Env<'_>,
    function: InstId,
    arguments: Arguments,
    span: Span,
) -> Result<Value> {
    let pending = ctx.function_state.asserts.len();
    let printed = ctx.function_state.prints.len();
    let mut bound = bind::bind(ctx, env, function, arguments, span)?;
    let partial = partial::Partial::new(ctx, function, &mut bound.inputs, span)?;
    let outputs = invoke(ctx, env.evaluate, function, &bound.inputs, span)?;
    let outputs = partial.of_outputs(ctx, pending, outputs);
    unassigned::settle_effects(ctx, (pending, printed), span)?;
    let mut outputs = outputs;
    let value = match outputs.len() {
        1 => unassigned::settle(ctx, outputs.swap_remove(0), span)?,
        // Which of several are used is not known here.
        _ => Value::Tuple(outputs),
    };
    for_all(ctx, pending, &bound.ranges());
    Ok(bound.vectorised(value))
}

/// Assertions from position `from` on hold for all values of these iterators, which are not known outside.
fn for_all(ctx: &mut Context, from: usize, ranges: &[(IterId, Range)]) {
    for k in from..ctx.function_state.asserts.len() {
        let mut condition = ctx.function_state.asserts[k].condition;
        for &(iter, range) in ranges {
            if ctx.exprs.depends_on_iter(condition, iter) {
                let (one, zero) = (ctx.exprs.int(1), ctx.exprs.int(0));
                let holds = ctx.exprs.if_(condition, one, zero);
                let least = ctx.exprs.reduce(ReduceOp::Min, iter, range, holds);
                let least = ctx.exprs.rel(RelOp::Gt, least, zero);
                condition = ctx.exprs.no_event(least);
            }
        }
        ctx.function_state.asserts[k].condition = condition;
    }
}

/// Calls a function with exactly the inputs that it declares.
fn invoke(
    ctx: &mut Context,
    evaluate: bool,
    function: InstId,
    inputs: &[(InstId, Value)],
    span: Span,
) -> Result<Vec<Value>> {
    if ctx.instances.is_partial(function) {
        return Err(partial_call(ctx, function, span));
    }
    if let Some(outputs) = external::call(ctx, evaluate, function, inputs, span)? {
        return Ok(outputs);
    }
    rules::expect_read_only(ctx, function)
        .map_err(|error| called_here(ctx, error, function, span))?;
    carry_out(ctx, evaluate, function, inputs, span)
}

/// Executes a function, now or at run time.
fn carry_out(
    ctx: &mut Context,
    evaluate: bool,
    function: InstId,
    inputs: &[(InstId, Value)],
    span: Span,
) -> Result<Vec<Value>> {
    let recursive = ctx.function_state.active.contains(&function);
    let constant = inputs.iter().all(|(_, v)| constant::is_constant(ctx, v));
    // A recursion over variables never ends symbolically; one over constants ends by itself.
    let tried = !constant && ctx.function_state.too_many_steps.contains(&function);
    if recursive && !constant || tried || ctx.function_state.active.len() >= MAX_DEPTH {
        return specialise::call(ctx, evaluate, function, inputs, span);
    }
    let outermost = ctx.function_state.active.is_empty();
    if outermost {
        ctx.function_state.steps_left = execute::FUEL;
    }
    ctx.function_state.active.push(function);
    let pending = ctx.function_state.asserts.len();
    let printed = ctx.function_state.prints.len();
    let result = execute::function(ctx, evaluate, function, inputs, span);
    ctx.function_state.active.pop();
    if outermost && !constant && ctx.function_state.steps_left == 0 {
        ctx.function_state.too_many_steps.insert(function);
    }
    match result {
        Ok(outputs) => Ok(outputs),
        Err(Stop::Error(error)) => Err(called_here(ctx, error, function, span)),
        Err(Stop::Dynamic(reason)) => {
            ctx.function_state.asserts.truncate(pending);
            ctx.function_state.prints.truncate(printed);
            specialise::call(ctx, evaluate, function, inputs, span).map_err(|error| {
                match error.kind() {
                    // Neither way works: say why the first one did not.
                    ErrorKind::Unsupported => error.note_cause(&reason),
                    _ => error,
                }
            })
        }
    }
}

/// A partial function says what arguments it takes but not what it gives (MLS 3.6 §12.2).
fn partial_call(ctx: &Context, function: InstId, span: Span) -> Error {
    let name = ctx.instances.class_name(function);
    let message = format!("`{name}` is a partial function and cannot be called");
    error("partial-function", span, message)
        .label(ctx.instances.data(function).span, "declared partial here")
        .hint(
            "redeclare the function, or the package that it is in, with one that has an algorithm",
        )
}

/// An output of a call with several that is used.
pub(crate) fn used(ctx: &mut Context, output: Value, span: Span) -> Result<Value> {
    unassigned::settle(ctx, output, span)
}

/// Adds where a function was called from to an error in its body.
fn called_here(ctx: &Context, error: Error, function: InstId, span: Span) -> Error {
    // A recursion comes through the same calls again and again.
    if error.points_at(span) {
        return error;
    }
    let name = ctx.instances.class_name(function);
    error.label(span, format!("in this call of {name}"))
}

/// The scalar outputs of a run-time function.
pub(crate) fn apply(
    ctx: &mut Context,
    func: FuncId,
    args: &[ExprId],
    output: u32,
    ty: acausal_expr::Ty,
) -> ExprId {
    ctx.exprs.apply(func, args, output, &[], ty)
}
