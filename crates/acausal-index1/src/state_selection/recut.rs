//! Arrays that the analysis has cut in the wrong places are cut again, by what state selection solves for.
//!
//! Recurrences through several arrays, such as rotation matrices `T[i] = R[i]*T[i - 1]` along a chain of bodies, are solved
//! piece by piece only if every piece of an equation covers just what it is solved for. The first cuts come from a matching of
//! the highest derivatives ([`acausal_structure::segments`]), which is arbitrary inside a coupled system. Where constraints are left
//! over although their elements could be solved, or variables are computed that were wanted as states, the pieces come from state
//! selection on a shortened model instead ([`cut_by_selection`]). In: the equations. Out: the pieces, or nothing where no choice is uniform along the arrays.

use acausal_expr::Printer;
use acausal_expr::flat::{Equation, FlatModel};
use acausal_structure::segments::{StatePreferences, cut_by_selection};
use acausal_structure::state_selection::Pivot;
use acausal_structure::{EqId, VarId as NodeId};
use rustc_hash::FxHashSet;

use super::Structure;
use super::preferences::{class, is_connection};
use super::solvable::access_pivots;
use crate::Options;
use crate::segments::incidence::incidence;
use crate::segments::nodes::{Nodes, Touched, cut_nodes, equation_node};

/// Constraints and unknowns that are left over.
type LeftSets = (FxHashSet<EqId>, FxHashSet<NodeId>);

fn left_sets(structure: &Structure) -> LeftSets {
    let selection = &structure.selection;
    (
        selection.constraints.iter().copied().collect(),
        selection.torn.iter().copied().collect(),
    )
}

/// Whether some pieces of a block are left over although each of their elements can be solved for an element of an array, and not
/// because errors would grow along them: single elements would be no better.
fn is_left_over(structure: &Structure, sets: &LeftSets, equations: &[EqId]) -> bool {
    let graph = &structure.nodes.differentiated.graph;
    equations.iter().any(|e| {
        graph.elen[e.index()] > 1
            && !structure
                .selection
                .given_up
                .iter()
                .any(|g| g.equation == *e)
            && structure.solvable.is_solvable_by_element(*e)
            && (sets.0.contains(e) || graph.row(*e).iter().any(|v| sets.1.contains(v)))
    })
}

/// Whether constraints are left over, in a block with arrays, although each of their elements can be solved for an element of an
/// array.
pub(crate) fn leaves_solvable_constraints(structure: &Structure) -> bool {
    let d = &structure.nodes.differentiated;
    if structure.selection.constraints.is_empty() || structure.nodes.directions.is_empty() {
        return false;
    }
    let (left, _) = left_sets(structure);
    let integral = d.eq_integral();
    let root = |e: &EqId| std::iter::successors(Some(*e), |e| integral[e.index()]).last();
    let mut blocks = structure.blocks.iter().map(|b| b.0);
    blocks.any(|block| {
        let is_left = |e: EqId| left.contains(&e) && structure.solvable.is_solvable_by_element(e);
        block.iter().any(|e| d.graph.elen[e.index()] > 1)
            && block.iter().filter_map(root).any(is_left)
    })
}

/// How many elements became dummy states although another variable of their equation, less wanted as a state, could have been computed
/// instead: the first cuts decide what has the length of an equation, and they know no preferences.
pub(crate) fn ignored_preferences(
    structure: &Structure,
    flat: &mut FlatModel,
    options: &Options,
) -> u64 {
    let pieces = &structure.nodes;
    if pieces.directions.is_empty() {
        return 0;
    }
    let mut ignored = 0;
    for (e, v) in &structure.selection.dummies {
        let (Some(eq), variable) = (
            pieces.equations.get(e.index()),
            &pieces.variables[v.index()],
        ) else {
            continue;
        };
        let wanted = class(flat, options, variable.var, variable.order > 0);
        let less = |t: &Touched| wanted < class(flat, options, t.var, t.order > 0);
        let less: Vec<bool> = eq.touched.iter().map(less).collect();
        if !less.contains(&true) {
            continue;
        }
        let pivots = access_pivots(flat, eq);
        if (less.iter().zip(pivots)).any(|(less, pivot)| *less && pivot != Pivot::No) {
            ignored += pieces.differentiated.graph.elen[e.index()];
        }
    }
    ignored
}

/// The equations with the arrays of such blocks taken apart, if these are few: what the pieces do not solve, single
/// elements may. Cycles through several pieces are recurrences for state selection, but they are still evaluated as a system
/// of equations, so a short one is better computed element by element.
pub(crate) fn blocks_by_element(
    structure: &Structure,
    flat: &mut FlatModel,
    equations: &[Equation],
    most: usize,
) -> Option<Vec<Equation>> {
    let d = &structure.nodes.differentiated;
    let integral = d.eq_integral();
    let root = |e: EqId| std::iter::successors(Some(e), |e| integral[e.index()]).last();
    let sets = left_sets(structure);
    let mut apart = vec![false; equations.len()];
    let mut elements = 0;
    for (block, _) in structure.blocks.iter() {
        let roots: Vec<EqId> = block.iter().filter_map(|e| root(*e)).collect();
        if !is_left_over(structure, &sets, &roots) {
            continue;
        }
        for e in roots {
            elements += d.graph.elen[e.index()] as usize;
            apart[structure.nodes.equations[e.index()].source] = true;
        }
    }
    if elements == 0 || elements > most {
        return None;
    }
    let mut out = Vec::new();
    for (eq, apart) in equations.iter().zip(apart) {
        if apart {
            out.extend(crate::segments::scalarise::scalarise(
                flat,
                vec![eq.clone()],
            ));
        } else {
            out.push(eq.clone());
        }
    }
    Some(out)
}

/// The pieces by what is solved for.
pub(crate) fn cut_by_solutions(
    flat: &mut FlatModel,
    equations: &[Equation],
    options: &Options,
) -> Option<Nodes> {
    let inc = incidence(flat, equations);
    let pivots: Vec<_> = (0..equations.len())
        .map(|e| {
            let whole = equation_node(equations, &inc, e, &inc.model.equations[e].iterators);
            access_pivots(flat, &whole)
        })
        .collect();
    let flat = &*flat;
    let mut names: Vec<(String, usize)> = (inc.quantity.iter().enumerate())
        .map(|(k, (var, _))| (flat.var(*var).name.plain(), k))
        .collect();
    names.sort_unstable();
    let printer = Printer::nameless(flat);
    let mut texts: Vec<(bool, String, usize)> = (equations.iter().enumerate())
        .map(|(k, e)| (is_connection(flat, e), printer.equation(e), k))
        .collect();
    texts.sort_unstable();
    let (mut variable_rank, mut equation_rank) = (vec![0; names.len()], vec![0; texts.len()]);
    for (rank, (_, k)) in names.iter().enumerate() {
        variable_rank[*k] = rank;
    }
    for (rank, (_, _, k)) in texts.iter().enumerate() {
        equation_rank[*k] = rank;
    }
    let preferences = StatePreferences {
        pivot: &|e, access| pivots[e.index()][access],
        class: &|v, order| {
            let (var, given) = inc.quantity[v.index()];
            class(flat, options, var, u32::from(given) + order > 0)
        },
        variable_rank: &variable_rank,
        equation_rank: &equation_rank,
    };
    let cut = cut_by_selection(&inc.model, &preferences)?;
    cut_nodes(equations, &inc, &cut)
}
