//! Singularities of connection equations, found and cured exactly before the structural analysis (Otter & Elmqvist
//! 2017, §5).
//!
//! In: the flat equations. Out: equations with the same solutions, in which no integer equation is redundant, constraints
//! between states stand in equations of their own (so that index reduction sees those that cancellation hides), and potentials that
//! nothing determines are zero. Constraints between known quantities that do not hold are errors. A model without such
//! singularities is not touched; a model with more or fewer equations than unknowns is left to the structural analysis,
//! whose messages fit better. The choice of names does not depend on the order of the source.
//!
//! Worked example, a source and a resistor without ground: `V.p.i + R.p.i = 0` and `V.n.i + R.n.i = 0` say the same,
//! and the potentials may all be shifted. One balance is removed, one potential gets the equation `v = 0`, and a warning
//! names it. Cost: that of the elimination, near-linear for networks; long arrays are looked at as short ones.

mod apply;
mod cancelled;
pub(crate) mod evaluate;
mod generic;
mod hidden;
mod linear_form;
mod regular;
mod split;
mod system;
mod uses;
pub(crate) mod zero_coefficients;
mod zero_products;

use acausal_base::{Diagnostic, Span};
use acausal_expr::assumption::RedundantAssumption;
use acausal_expr::flat::{Equation, FlatModel};
use acausal_structure::integer_elimination::arrays::decide_arrays;
use acausal_structure::integer_elimination::{Class, Decisions, IntegerSystem, decide_in_order};

use crate::index_reduction;
use crate::segments::incidence::is_unknown;
use crate::segments::nodes::Nodes;
use apply::Plan;
pub(crate) use cancelled::expose;

/// Array equations that cannot be shortened are taken apart up to this many elements in total.
const MOST_ELEMENTS: usize = 200_000;

/// What was done, in Modelica notation.
#[derive(Clone, Debug, Default)]
pub struct Regularised {
    /// Equations that say nothing new.
    pub removed: Vec<String>,
    /// Equations and what took their places: constraints that structure does not show.
    pub replaced: Vec<(String, String)>,
    /// Variables that were set to zero.
    pub freed: Vec<String>,
    /// Warnings and remarks for the user.
    pub notes: Vec<Diagnostic>,
    /// What holds for the present values of parameters only.
    pub assumed: Vec<RedundantAssumption>,
}

impl Regularised {
    /// Adds what was done later.
    pub(crate) fn extend(&mut self, more: Regularised) {
        self.removed.extend(more.removed);
        self.replaced.extend(more.replaced);
        self.freed.extend(more.freed);
        let new = more.notes.into_iter();
        let new: Vec<Diagnostic> = new.filter(|n| !self.notes.contains(n)).collect();
        self.notes.extend(new);
        self.assumed.extend(more.assumed);
    }
}

/// Removes the singularities.
pub(crate) fn regularise(
    flat: &mut FlatModel,
    equations: &mut Vec<Equation>,
) -> Result<Regularised, Vec<Diagnostic>> {
    let is_unknown: Vec<bool> = flat.var_ids().map(|(id, _)| is_unknown(flat, id)).collect();
    let unknowns: usize = (flat.vars.iter().zip(&is_unknown))
        .filter(|(_, unknown)| **unknown)
        .map(|(v, _)| v.len())
        .sum();
    let balanced = equations.iter().map(Equation::len).sum::<usize>() == unknowns;
    if !balanced || regular::is_regular(flat, equations, &is_unknown) {
        return Ok(Regularised::default());
    }
    let found = system::systems(flat, equations);
    let mut plan = Plan::default();
    let mut skipped = found.skipped;
    for system in &found.systems {
        match decide_arrays(&system.arrays, &decide, MOST_ELEMENTS) {
            Some(decisions) => plan.add(flat, equations, system, decisions),
            None => {
                let rows = system.equations.iter();
                skipped += rows.map(|&e| equations[e].len()).sum::<usize>();
            }
        }
    }
    if skipped > 0 {
        plan.report.notes.push(Diagnostic::remark(
            "singularities-unchecked",
            Span::NONE,
            format!(
                "{skipped} connected array elements are too many to be searched for redundant equations"
            ),
        ));
    }
    plan.carry_out(flat, equations)
}

/// Index reduction of equations whose structure is singular, without products that vanish; `None` if that is no help.
pub(crate) fn reduce_without_zero_products(
    flat: &mut FlatModel,
    equations: &mut Vec<Equation>,
    done: &mut Regularised,
) -> Option<Nodes> {
    if !zero_products::remove_vanishing(flat, equations, done) {
        return None;
    }
    let more = regularise(flat, equations).ok()?;
    let nodes = index_reduction::reduce(flat, equations).ok()?;
    done.extend(more);
    Some(nodes)
}

/// The decisions of the elimination, without constraints that are visible as they stand.
fn decide(system: &IntegerSystem) -> Decisions {
    let mut decisions = decide_in_order(system);
    let hidden = hidden::hidden(system, &decisions);
    let class = |c: usize| system.classes[c];
    decisions.constraints.retain(|c| {
        // A relation between states alone is simpler than the equations it follows from. One that also holds known
        // quantities is left where it is, unless it is hidden.
        let states = c
            .terms
            .iter()
            .all(|(v, _)| class(v.index()) == Class::State);
        let visible = |t: &(usize, i64)| matches!(class(t.0), Class::State | Class::Parameter);
        (hidden[c.replaces] || states) && !system.rows[c.replaces].iter().all(visible)
    });
    decisions
}
