//! Which variables become states, and what each equation is solved for (Otter & Elmqvist 2017, §4.6).
//!
//! In: the pieces with the differentiated graph. Out: [`Structure`], all that is decided before equations are written.
//!
//! | what | module |
//! |---|---|
//! | how far apart the elements are that an equation relates | [`distances`] |
//! | preferences of the user, and ties | [`preferences`] |
//! | pieces cut again, by what is solved for | `recut` |
//! | which equation can be solved for which variable | [`solvable`] |

pub(crate) mod distances;
pub(crate) mod preferences;
mod recut;
pub(crate) mod solvable;

use acausal_base::Diagnostic;
use acausal_expr::assumption::Assumptions;
use acausal_expr::flat::{Equation, FlatModel};
use acausal_structure::blt::{Blocks, highest_blocks};
use acausal_structure::pantelides::Differentiated;
use acausal_structure::state_selection::{
    Form, Knowledge, Selection, Sorted, select_knowing, sort,
};

use crate::passes::Stopwatch;
use crate::segments::nodes::Nodes;
use crate::transform::internal;
use crate::{Options, index_reduction};
use distances::Distances;
use preferences::preferences;
use recut::{
    blocks_by_element, cut_by_solutions, ignored_preferences, leaves_solvable_constraints,
};
use solvable::{PairScope, Solvable};

/// What is taken for granted about the values of parameters.
pub(crate) fn assumptions(flat: &mut FlatModel, structure: &Structure) -> Assumptions {
    let s = structure;
    solvable::assumptions(flat, &s.nodes, &s.solvable, &s.selection)
}

/// What is decided about the equations: the blocks of the highest derivatives, what can be solved for what, the states, the order of
/// evaluation, and how large the form is.
pub(crate) struct Structure {
    pub nodes: Nodes,
    pub solvable: Solvable,
    pub blocks: Blocks,
    pub selection: Selection,
    pub sorted: Sorted,
    pub form: Form,
}

impl Structure {
    pub(crate) fn new(
        flat: &mut FlatModel,
        nodes: Nodes,
        options: &Options,
        watch: &mut Stopwatch,
    ) -> Result<Structure, Vec<Diagnostic>> {
        watch.lap("index reduction");
        let scope = if options.no_state_selection {
            PairScope::Given {
                names: options.derivative_names,
            }
        } else {
            PairScope::All
        };
        let d = &nodes.differentiated;
        let blocks = highest_blocks(d).map_err(|e| internal(&format!("sorting failed: {e:?}")))?;
        watch.lap("blocks");
        let in_loop = equations_of_loops(d, &blocks);
        let solvable = Solvable::new(flat, &nodes, scope, |e| in_loop[e.index()]);
        watch.lap("pivots");
        let preferences = preferences(flat, &nodes, &blocks, options);
        let pivot = |e, v| solvable.pivot(e, v);
        let linear = |e| solvable.is_constant_linear(e);
        let terms = |e| solvable.terms(&nodes, e);
        let mut knowledge = Knowledge {
            terms: Some(&terms),
            tearing: !options.no_tearing,
            ..Knowledge::default()
        };
        let selection = if nodes.directions.is_empty() {
            select_knowing(d, &blocks, &preferences, pivot, linear, knowledge)
        } else {
            let distances = Distances::new(&nodes, &solvable);
            let dependences = |e, v, w| distances.dependences(e, v, w);
            let hints = solvable.hints(&nodes);
            knowledge.dependences = Some(&dependences);
            knowledge.hints = &hints;
            select_knowing(d, &blocks, &preferences, pivot, linear, knowledge)
        };
        watch.lap("state selection");
        let sorted =
            sort(d, &selection).map_err(|e| internal(&format!("sorting failed: {e:?}")))?;
        let form = selection.form(d, &sorted);
        watch.lap("sorting");
        Ok(Structure {
            nodes,
            solvable,
            blocks,
            selection,
            sorted,
            form,
        })
    }
}

/// Per original equation: whether it, or a derivative of it, is solved together with others.
fn equations_of_loops(d: &Differentiated, blocks: &Blocks) -> Vec<bool> {
    let integral = d.eq_integral();
    let mut out = vec![false; d.original_equations];
    for (equations, _) in blocks.iter().filter(|b| b.0.len() > 1) {
        for &e in equations {
            let root = std::iter::successors(Some(e), |e| integral[e.index()]).last();
            out[root.unwrap_or(e).index()] = true;
        }
    }
    out
}

/// The structure, or that of equations which are cut in other places if fewer unknowns are left then: where state selection
/// solves for what the pieces do not cover, and where single elements are solvable.
pub(crate) fn refined(
    mut structure: Structure,
    flat: &mut FlatModel,
    equations: &[Equation],
    options: &Options,
    watch: &mut Stopwatch,
) -> Result<Structure, Vec<Diagnostic>> {
    let ignored = ignored_preferences(&structure, flat, options);
    if (ignored > 0 || leaves_solvable_constraints(&structure))
        && let Some(finer) = cut_by_solutions(flat, equations, options)
    {
        let other = Structure::new(flat, finer, options, watch)?;
        let unknowns = other.form.unknowns();
        let kept = unknowns == structure.form.unknowns();
        if unknowns < structure.form.unknowns()
            || kept && ignored_preferences(&other, flat, options) < ignored
        {
            structure = other;
        }
    }
    if let Some(mut apart) =
        blocks_by_element(&structure, flat, equations, options.scale.taken_apart_to)
    {
        let elements = index_reduction::reduce(flat, &mut apart)?;
        let other = Structure::new(flat, elements, options, watch)?;
        if other.form.unknowns() < structure.form.unknowns() {
            structure = other;
        }
    }
    Ok(structure)
}
