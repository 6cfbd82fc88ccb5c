//! Arrays that the analysis has cut in the wrong places are cut again, by what state selection solves for.
//!
//! Recurrences through several arrays, such as rotation matrices `T[i] = R[i]*T[i - 1]` along a chain of bodies, are solved
//! piece by piece only if every piece of an equation covers just what it is solved for. The first cuts come from a matching of
//! the highest derivatives ([`acausal_structure::segments`]), which is arbitrary inside a coupled system. Where constraints are left
//! over although their elements could be solved, the pieces come from state selection on a shortened model instead
//! ([`cut_by_selection`]). In: the equations. Out: the pieces, or nothing where no choice is uniform along the arrays.

use acausal_expr::Printer;
use acausal_expr::flat::{Equation, FlatModel};
use acausal_structure::segments::{Wishes, cut_by_selection};
use acausal_structure::{EqId, VarId as NodeId};
use rustc_hash::FxHashSet;

use crate::Options;
use crate::incidence::incidence;
use crate::nodes::{Nodes, cut_nodes, equation_node};
use crate::preferences::{class, is_connection};
use crate::solvable::access_pivots;
use crate::transform::Plan;

/// Whether constraints between arrays or unknowns are left over although each of their elements can be solved for an
/// element of an array.
pub(crate) fn is_entangled(plan: &Plan) -> bool {
    let d = &plan.pieces.differentiated;
    let left: FxHashSet<EqId> = plan.selection.constraints.iter().copied().collect();
    let torn: FxHashSet<NodeId> = plan.selection.torn.iter().copied().collect();
    if left.is_empty() && torn.is_empty() {
        return false;
    }
    (0..d.original_equations).map(EqId::new).any(|e| {
        d.graph.elen[e.index()] > 1
            && plan.solvable.is_solvable_by_element(e)
            && (left.contains(&e) || d.graph.row(e).iter().any(|v| torn.contains(v)))
    })
}

/// The pieces by what is solved for.
pub(crate) fn disentangled(
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
    let wishes = Wishes {
        pivot: &|e, access| pivots[e.index()][access],
        class: &|v, order| {
            let (var, given) = inc.quantity[v.index()];
            class(flat, options, var, u32::from(given) + order > 0)
        },
        variable_rank: &variable_rank,
        equation_rank: &equation_rank,
    };
    let cut = cut_by_selection(&inc.model, &wishes)?;
    cut_nodes(equations, &inc, &cut)
}
