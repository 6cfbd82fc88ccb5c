//! From selected states and sorted pieces to unknowns, local assignments and residuals.
//!
//! Every pair of an equation and the variable it is solved for is a candidate for a local assignment. It stays one if
//! the assignments remain free of cycles and substituting it does not add Jacobian entries (a Markowitz count on the
//! pieces; small models are always reduced as far as possible). Otherwise the variable is an algebraic unknown and the
//! equation a residual: for the integrator both are the same system.
//!
//! | what | module |
//! |---|---|
//! | what may become a local assignment | [`candidates`] |
//! | which assignments keep the Jacobian sparse | [`fill`] |
//! | small linear sets solved by the compiler | [`linear_sets`] |
//! | derivative relations and their multipliers | [`stabilise`] |
//! | starts that linear relations carry over | [`starts`] |
//! | the unknowns of the form | [`unknowns`] |

mod candidates;
mod fill;
mod linear_sets;
mod stabilise;
pub(crate) mod starts;
mod unknowns;

use acausal_base::{Diagnostic, Scale};
use acausal_expr::flat::{FlatModel, Variability};
use acausal_expr::unknown::{RowKind, Unknown};
use acausal_expr::{Access, ExprId, Node, Range, ValueKind, VarId};
use acausal_structure::{EqId, VarId as NodeId};
use acausal_symbolic::hoist_reductions;

use crate::index_reduction::derivatives::{Written, write_equations};
use crate::index_reduction::jumps::with_events;
use crate::segments::incidence::order_of;
use crate::segments::nodes::Nodes;
use crate::state_selection::Structure;
use crate::state_selection::solvable::Order;
use crate::{Continuity, DiscreteEquation, FormReport, IndexOneDae, Local, Residual};
use candidates::{Candidate, Unsolved, candidates};
use unknowns::{algebraic_unknown, constraint, state};

/// Writes the DAE, and counts what is left over to the integrator although it could be computed. `numbers` are those of the equations in the
/// source, if they have been put in another order: those that stay are residuals in the order of the source, as the unknowns are.
pub(crate) fn emit(
    mut flat: FlatModel,
    structure: &Structure,
    discrete: Vec<DiscreteEquation>,
    numbers: &[u32],
    scale: &Scale,
) -> Result<(IndexOneDae, FormReport), Vec<Diagnostic>> {
    let Structure {
        nodes,
        selection,
        form,
        ..
    } = structure;
    let (written, jumping) = write_equations(&mut flat, nodes)?;
    let mut unsolved = Unsolved::default();
    let ordered = candidates(&mut flat, structure, &written, &mut unsolved);
    let mut assigned = assignments(
        &mut flat,
        structure,
        &written,
        &ordered,
        &mut unsolved,
        scale,
    );
    let mut rows: Vec<(EqId, RowKind)> = Vec::new();
    rows.extend(form.r0d.iter().map(|e| (*e, RowKind::Dynamic)));
    rows.extend(form.r0a.iter().map(|e| (*e, RowKind::Algebraic)));
    let constraints = form.der0.iter().chain(&form.der1);
    rows.extend(constraints.map(|e| (*e, constraint(nodes, *e))));
    rows.extend_from_slice(&unsolved.rows);
    let place = |root: EqId| {
        let source = nodes.equations[root.index()].source;
        numbers.get(source).map_or(root, |&p| EqId(p))
    };
    rows.sort_by_cached_key(|(e, _)| {
        let w = &written[e.index()];
        (place(w.root), w.root, w.times)
    });
    let locals = &mut assigned.locals;
    let mut residuals: Vec<Residual> = (rows.iter())
        .map(|&(e, kind)| residual(&mut flat, &written[e.index()], kind, locals))
        .collect();
    let hidden = (selection.dropped.iter())
        .map(|e| residual(&mut flat, &written[e.index()], RowKind::Dynamic, locals))
        .collect();
    let continuous = continuity(&mut flat, nodes, &written, &jumping, locals);
    let (mut unknowns, stabilised) = stabilise::relations(
        &mut flat,
        structure,
        &written,
        &assigned.explicit,
        &mut residuals,
        locals,
    );
    let free = selection.states.iter().filter(|v| !stabilised.contains(v));
    unknowns.extend(free.map(|v| state(&flat, nodes, *v, None)));
    add_algebraic(&flat, structure, &unsolved, &mut unknowns);
    let (n, m): (usize, usize) = (
        unknowns.iter().map(|u| u.len).sum(),
        residuals.iter().map(Residual::len).sum(),
    );
    if n != m {
        return Err(crate::transform::internal(&format!(
            "the index-one form has {m} equations for {n} unknowns"
        )));
    }
    let dae = IndexOneDae {
        flat,
        unknowns,
        locals: assigned.locals,
        amplified: assigned.amplified,
        residuals,
        hidden,
        discrete,
        discrete_start: Vec::new(),
        free_parameters: Vec::new(),
        continuous,
        branching: false,
        assumptions: Default::default(),
    };
    Ok((dae, unsolved.counts))
}

/// The local assignments.
struct Assignments {
    locals: Vec<Local>,
    /// Numbers of those in loops in which errors grow.
    amplified: Vec<usize>,
    /// If there are constraints to be stabilised: all that is known explicitly. That includes what is an unknown only to keep the Jacobian sparse.
    explicit: Vec<Local>,
}

/// Makes assignments of the candidates that keep the Jacobian sparse.
fn assignments(
    flat: &mut FlatModel,
    structure: &Structure,
    written: &[Written],
    ordered: &[Candidate],
    unsolved: &mut Unsolved,
    scale: &Scale,
) -> Assignments {
    let Structure {
        nodes,
        selection,
        sorted,
        form,
        ..
    } = structure;
    let keep = fill::limit_fill(flat, nodes, ordered, scale);
    let mut out = Assignments {
        locals: Vec::with_capacity(ordered.len()),
        amplified: Vec::new(),
        explicit: Vec::new(),
    };
    let stabilises = !form.der1.is_empty();
    let mut is_amplified = vec![false; nodes.variables.len()];
    for v in &selection.amplified {
        is_amplified[v.index()] = true;
    }
    for (c, keep) in ordered.iter().zip(keep) {
        let w = &written[c.equation.index()];
        let Node::Var(target) = flat.exprs.node(c.target) else {
            continue;
        };
        let first = out.locals.len();
        let value = if !keep || matches!(flat.exprs.node(c.value), Node::Reduce { .. }) {
            c.value
        } else {
            hoist(flat, w, c.value, &mut out.locals)
        };
        let mut domain = w.domain.clone();
        if c.order == Order::Descending {
            for (_, r) in &mut domain {
                *r = Range {
                    start: r.last(),
                    step: -r.step,
                    count: r.count,
                };
            }
        }
        let local = Local {
            domain: domain.into(),
            target,
            value,
            origin: w.origin,
        };
        if keep {
            if is_amplified[c.node.index()] {
                out.amplified.push(out.locals.len());
            }
            out.locals.push(local);
            if stabilises {
                out.explicit.extend_from_slice(&out.locals[first..]);
            }
        } else {
            unsolved.add(nodes, sorted, c.equation, c.node);
            if stabilises {
                out.explicit.push(local);
            }
        }
    }
    out
}

fn residual(flat: &mut FlatModel, w: &Written, kind: RowKind, locals: &mut Vec<Local>) -> Residual {
    let value = flat.exprs.sub(w.lhs, w.rhs);
    Residual {
        domain: w.domain.clone(),
        value: hoist(flat, w, value, locals),
        origin: w.origin,
        kind,
    }
}

/// The sides of differentiated equations that must not jump, and what is differentiated in the model itself: that must not
/// jump either, even if it is assigned and moves with its equation.
fn continuity(
    flat: &mut FlatModel,
    nodes: &Nodes,
    written: &[Written],
    jumping: &[EqId],
    locals: &mut Vec<Local>,
) -> Vec<Continuity> {
    let mut continuous = Vec::with_capacity(jumping.len());
    for e in jumping {
        let w = &written[e.index()];
        let scale = plain(flat, w.lhs).or(plain(flat, w.rhs));
        let sides = [w.lhs, w.rhs].map(|side| {
            let side = with_events(flat, side);
            hoist(flat, w, side, locals)
        });
        continuous.push(Continuity {
            domain: w.domain.clone(),
            sides,
            scale,
            origin: w.origin,
        });
        let zero = flat.exprs.real(0.0);
        for value in differentiated_accesses(flat, nodes, w) {
            continuous.push(Continuity {
                domain: w.domain.clone(),
                sides: [zero, value],
                scale: plain(flat, value),
                origin: w.origin,
            });
        }
    }
    continuous
}

/// The variable that an expression is.
fn plain(flat: &FlatModel, e: ExprId) -> Option<VarId> {
    match flat.exprs.node(e) {
        Node::Var(a) if a.kind == ValueKind::Value => Some(a.var),
        _ => None,
    }
}

/// Adds the unknowns that are no states, and sorts all.
fn add_algebraic(
    flat: &FlatModel,
    structure: &Structure,
    unsolved: &Unsolved,
    unknowns: &mut Vec<Unknown>,
) {
    let mut algebraic: Vec<NodeId> = structure.selection.torn.clone();
    algebraic.extend_from_slice(&unsolved.unknowns);
    algebraic.sort_unstable();
    for v in algebraic {
        // Where a constraint restricts the states, a force that enters with derivatives is of index two as an
        // algebraic unknown; its integral is not.
        let lambda = structure.sorted.dynamic[v.index()] && !structure.form.der0.is_empty();
        unknowns.push(algebraic_unknown(flat, &structure.nodes, v, lambda));
    }
    unknowns.sort_by_key(|u| {
        (
            u.role as u8,
            u.value.or(u.derivative),
            u.elements.as_ref().map_or(0, |e| e.at(0)),
        )
    });
}

/// The accesses of an equation to quantities whose derivative occurs in the model as it was written.
fn differentiated_accesses(flat: &FlatModel, nodes: &Nodes, w: &Written) -> Vec<ExprId> {
    let original = nodes.differentiated.original_variables;
    let is_differentiated = |a: &Access| {
        let higher = order_of(a.kind).map(|order| nodes.by_quantity.get(a.var, order + 1));
        higher.is_some_and(|pieces| pieces.iter().any(|v| v.index() < original))
    };
    let mut found: Vec<ExprId> = [w.lhs, w.rhs]
        .iter()
        .flat_map(|side| flat.exprs.accesses(*side))
        .filter(|(_, a)| is_differentiated(a))
        .map(|(node, _)| node)
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn hoist(flat: &mut FlatModel, w: &Written, value: ExprId, locals: &mut Vec<Local>) -> ExprId {
    hoist_reductions(
        flat,
        &w.domain,
        value,
        w.origin,
        Variability::Continuous,
        locals,
    )
}
