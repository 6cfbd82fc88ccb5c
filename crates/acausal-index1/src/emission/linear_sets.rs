//! Small linear sets with literal coefficients, solved symbolically.
//!
//! Such a set (two equations for two constrained variables, say) has one solution whatever the values; solving it while
//! compiling leaves no residual and needs no division at run time. Variables that are explicitly given by unknowns of
//! the set are substituted first.

use acausal_expr::flat::FlatModel;
use acausal_expr::{Access, ExprId, Ty};
use acausal_structure::state_selection::LinearSet;
use acausal_symbolic::{Solve, Substitute};
use rustc_hash::{FxHashMap, FxHashSet};

use super::candidates::Candidate;
use crate::index_reduction::derivatives::Written;
use crate::segments::incidence::kind_of;
use crate::segments::nodes::Nodes;
use crate::state_selection::solvable::Order;

/// Largest set that is solved (Cellier & Kofman: at most three unknowns inline).
const LARGEST: usize = 3;
/// Bound on the number of substitutions.
const MAX_SUBSTITUTIONS: usize = 200;
/// Bound on the explicitly given variables that are followed in search of an unknown of the set.
const MAX_FOLLOWED: usize = 1000;

/// The solutions of a set as candidates, or `None` if it is too large, not scalar, or singular.
pub(crate) fn solve_set(
    flat: &mut FlatModel,
    nodes: &Nodes,
    written: &[Written],
    candidates: &[Candidate],
    given: &Given,
    set: &LinearSet,
) -> Option<Vec<Candidate>> {
    let n = set.unknowns.len();
    if n > LARGEST || n != set.equations.len() {
        return None;
    }
    let mut targets = Vec::new();
    for v in &set.unknowns {
        targets.push(scalar_access(flat, nodes, *v)?);
    }
    let mut rows: Vec<(Vec<f64>, ExprId)> = Vec::new();
    for e in &set.equations {
        let w = &written[e.index()];
        if !w.domain.is_empty() {
            return None;
        }
        let residual = flat.exprs.sub(w.lhs, w.rhs);
        let residual = substitute(flat, candidates, given, residual, &targets)?;
        let mut rest = residual;
        let mut coefficients = Vec::new();
        for &t in &targets {
            let (c, r) = flat.exprs.linear_in(rest, t)?;
            coefficients.push(flat.exprs.as_f64(c)?);
            rest = r;
        }
        rows.push((coefficients, rest));
    }
    let solution = eliminate(flat, rows)?;
    Some(
        set.equations
            .iter()
            .zip(&set.unknowns)
            .zip(targets.iter().zip(solution))
            .map(|((e, v), (t, value))| Candidate {
                equation: *e,
                node: *v,
                target: *t,
                value,
                order: Order::Ascending,
                reads: Vec::new(),
            })
            .collect(),
    )
}

/// The access of a node with one element.
fn scalar_access(
    flat: &mut FlatModel,
    nodes: &Nodes,
    v: acausal_structure::VarId,
) -> Option<ExprId> {
    let n = &nodes.variables[v.index()];
    if n.spans.iter().any(|s| s.size() != 1) {
        return None;
    }
    let subs: Vec<ExprId> = n.spans.iter().map(|s| flat.exprs.int(s.lo)).collect();
    let subs = flat.exprs.make_list(&subs);
    Some(flat.exprs.access(
        Access {
            var: n.var,
            kind: kind_of(n.order),
            subs,
        },
        Ty::Real,
    ))
}

/// Candidates by what they give.
pub(crate) type Given = FxHashMap<ExprId, usize>;

/// Replaces explicitly given scalars whose value contains an unknown of the set.
fn substitute(
    flat: &mut FlatModel,
    candidates: &[Candidate],
    given: &Given,
    mut e: ExprId,
    targets: &[ExprId],
) -> Option<ExprId> {
    for _ in 0..MAX_SUBSTITUTIONS {
        let accesses = flat.exprs.accesses(e);
        let mut hits: Vec<usize> = accesses
            .iter()
            .filter_map(|(node, _)| given.get(node).copied())
            .collect();
        hits.sort_unstable();
        let hit = hits
            .into_iter()
            .find(|&k| depends(flat, candidates, given, candidates[k].value, targets));
        let Some(k) = hit else { return Some(e) };
        let (target, value) = (candidates[k].target, candidates[k].value);
        e = flat.exprs.rewrite(e, |_, n| (n == target).then_some(value));
    }
    None
}

/// Whether an expression contains an unknown of the set, directly or through explicitly given variables.
fn depends(
    flat: &FlatModel,
    candidates: &[Candidate],
    given: &Given,
    e: ExprId,
    targets: &[ExprId],
) -> bool {
    let mut todo = vec![e];
    let mut seen: FxHashSet<usize> = FxHashSet::default();
    while let Some(e) = todo.pop() {
        for (node, _) in flat.exprs.accesses(e) {
            if targets.contains(&node) {
                return true;
            }
            if let Some(&k) = given.get(&node)
                && seen.insert(k)
            {
                todo.push(candidates[k].value);
            }
        }
        if seen.len() > MAX_FOLLOWED {
            return false;
        }
    }
    false
}

/// Gaussian elimination with the largest pivot; the right-hand sides are expressions.
fn eliminate(flat: &mut FlatModel, mut rows: Vec<(Vec<f64>, ExprId)>) -> Option<Vec<ExprId>> {
    let n = rows.len();
    for k in 0..n {
        let p = (k..n).max_by(|&a, &b| rows[a].0[k].abs().total_cmp(&rows[b].0[k].abs()))?;
        rows.swap(k, p);
        let pivot = rows[k].0[k];
        if pivot == 0.0 {
            return None;
        }
        for i in 0..n {
            if i == k || rows[i].0[k] == 0.0 {
                continue;
            }
            let f = rows[i].0[k] / pivot;
            for j in k..n {
                let v = rows[k].0[j];
                rows[i].0[j] -= f * v;
            }
            let scale = flat.exprs.real(-f);
            let scaled = flat.exprs.mul(&[scale, rows[k].1]);
            rows[i].1 = flat.exprs.add(&[rows[i].1, scaled]);
        }
    }
    Some(
        rows.iter()
            .enumerate()
            .map(|(k, (c, rest))| {
                let factor = flat.exprs.real(-1.0 / c[k]);
                flat.exprs.mul(&[factor, *rest])
            })
            .collect(),
    )
}
