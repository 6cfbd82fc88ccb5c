//! Clocked equations as discrete ones (MLS 3.6 §16).
//!
//! In: a flat model with calls of clock operators. Out: the same without them, or messages. A model without clocks is left as it
//! is.
//!
//! | step | file | example |
//! |---|---|---|
//! | what operators remember gets a variable | `hoist` | `hold(sample(u, c))`: `s = sample(u, c)`, `hold(s)` |
//! | variables that stand in one equation share a clock, unless an operator separates them | `partition` | `y = 2*sample(u, c)`, `z = subSample(y, 3)`: `{y}`, `{z}` |
//! | clocks are related by factors and shifts; each is so many steps of the grid of a base clock | `infer` | `c = Clock(0.1)`: `y` every step, `z` every third |
//! | each equation determines one variable at the ticks of its clock | `write` | `y = if edge(tick) then 2*pre(u) else pre(y)` |
//!
//! A base clock with an interval is a `sample` on the finest grid that the clocks derived from it need, one with a condition is that
//! condition. Each step of the grid is counted, and a derived clock ticks at the counts `offset + k*period`: factors are whole numbers,
//! so that clocks with common ticks have them at exactly the same instants.
//!
//! At a tick, `sample(u)` is the left limit of `u`, `previous(x)` that of `x`; `subSample`, `superSample`, `shiftSample`, `backSample` and
//! `hold` are the value that their argument has now, which was given to it at the last tick of its own clock. Where the clock has a
//! condition, `hold(x)` is `pre(x)`, which is the same once the events of the instant have settled: a clock that ticks when an angle has
//! moved on since the last tick would be a loop otherwise. Equations of one tick are put in order like all discrete equations. Not supported, and said so: derivatives in clocked equations (solver
//! methods), and intervals that vary.

mod hoist;
mod infer;
mod partition;
mod write;

use acausal_base::Diagnostic;
use acausal_expr::ExprId;
use acausal_expr::flat::{FlatModel, OriginId};
use acausal_expr::{Node, VarId};
use rustc_hash::FxHashSet;

/// What the flat model itself does not tell.
#[derive(Clone, Debug, Default)]
pub struct Clocks {
    /// Variables of type `Clock`.
    pub variables: FxHashSet<VarId>,
    /// `when Clock(..) then`: the equations inside have one clock.
    pub clauses: Vec<Clause>,
}

/// A clocked `when`.
#[derive(Clone, Debug)]
pub struct Clause {
    /// The clock.
    pub clock: ExprId,
    /// Left and right sides of the equations.
    pub sides: Vec<ExprId>,
    /// Where it stands.
    pub origin: OriginId,
}

/// Takes the clocks out of a model. Gives errors.
pub fn unclock(model: &mut FlatModel, clocks: &Clocks) -> Vec<Diagnostic> {
    let x = &model.exprs;
    let is_clocked = |e: ExprId| {
        x.any(
            e,
            |x, n| matches!(x.node(n), Node::Call(f, _) if f.is_clocked()),
        )
    };
    let any = !clocks.variables.is_empty()
        || !clocks.clauses.is_empty()
        || (model.equations.iter()).any(|eq| is_clocked(eq.lhs) || is_clocked(eq.rhs));
    if !any {
        return Vec::new();
    }
    let mut clocks = clocks.clone();
    let messages = hoist::hoist(model, &mut clocks);
    if !messages.is_empty() {
        return messages;
    }
    let clocks = &clocks;
    let partitions = match partition::partition(model, clocks) {
        Ok(p) => p,
        Err(messages) => return messages,
    };
    let grids = match infer::infer(model, &partitions) {
        Ok(g) => g,
        Err(messages) => return messages,
    };
    write::write(model, clocks, &partitions, &grids)
}
