//! Relations whose gap is less exact than the states.
//!
//! States are continuous over a step, and their error changes slowly. Algebraic unknowns are solved for anew in every step,
//! each time with an error up to what the corrector allows, so a gap that depends on them is a little wrong at every
//! point in another way: such relations need a wider hysteresis ([`acausal_compiled::RelationCode::algebraic`]). Worse are the
//! derivatives: those of the integrator's polynomial are wrong by the step size times the curvature, and jump from step to step. A
//! relation of the acceleration that keeps a brake locked can only be watched at values that satisfy the equations for
//! the given states ([`acausal_compiled::RelationCode::slopes`]).
//!
//! In: the unknowns, the local assignments in their order, and the pattern of the residuals with separate columns for `x`
//! and `x'`. Out: the marks. A derivative in one row only follows from this row when everything else is known (`C*der(v)
//! = i`); such rows are set aside, again and again. What is left of the rows with derivatives couples them with
//! algebraic unknowns. Variables count as a whole. Linear in the pattern and the local assignments.
//!
//! Example: with `der(v) = a; a*m = f; s := a + v` the relation `s > 0` is algebraic, `v > 0` is not.

use acausal_expr::flat::FlatModel;
use acausal_expr::unknown::{Unknown, UnknownRole};
use acausal_expr::{ExprId, ValueKind, VarId};
use acausal_index1::Local;
use rustc_hash::FxHashSet;

use acausal_compiled::{EventCode, Jacobian, Sparsity};

/// Marks the relations. The first `n` rows of the Jacobian are the residuals; its columns are `x`, `x'` and others.
pub(crate) fn mark_relations(
    flat: &FlatModel,
    unknowns: &[Unknown],
    locals: &[Local],
    jacobian: &Jacobian,
    events: &mut EventCode,
) {
    if events.relations.iter().all(|r| r.by_time) {
        return;
    }
    let coupled = coupled(unknowns, jacobian.sparsity());
    let mut algebraic: FxHashSet<(VarId, ValueKind)> = FxHashSet::default();
    let mut slopes: FxHashSet<(VarId, ValueKind)> = FxHashSet::default();
    let mut first = 0;
    for u in unknowns {
        algebraic.extend(u.derivative);
        slopes.extend(u.derivative);
        if u.role != UnknownRole::State {
            algebraic.extend(u.value);
            if coupled[first..first + u.len].contains(&true) {
                slopes.extend(u.value);
            }
        }
        first += u.len;
    }
    for set in [&mut algebraic, &mut slopes] {
        for l in locals {
            if reads(flat, set, l.value) {
                set.insert((l.target.var, l.target.kind));
            }
        }
    }
    for r in &mut events.relations {
        let watched = !r.by_time;
        r.algebraic = watched && reads(flat, &algebraic, r.expr);
        r.slopes = watched && reads(flat, &slopes, r.expr);
    }
}

fn reads(flat: &FlatModel, set: &FxHashSet<(VarId, ValueKind)>, e: ExprId) -> bool {
    let accesses = flat.exprs.accesses(e);
    accesses.iter().any(|(_, a)| set.contains(&(a.var, a.kind)))
}

/// Per component of `x`: an algebraic unknown that is solved for together with derivatives.
fn coupled(unknowns: &[Unknown], pattern: &Sparsity) -> Vec<bool> {
    let n: usize = unknowns.iter().map(|u| u.len).sum();
    let column = |c: usize| {
        let rows = pattern.row_idx[pattern.entries(c)]
            .iter()
            .map(|&r| r as usize);
        rows.filter(move |&r| r < n)
    };
    let mut by_row: Vec<Vec<u32>> = vec![Vec::new(); n];
    for c in 0..2 * n {
        for r in column(c) {
            by_row[r].push(c as u32);
        }
    }
    let mut left: Vec<usize> = (n..2 * n).map(|c| column(c).count()).collect();
    let mut aside = vec![false; n];
    let mut single: Vec<usize> = (n..2 * n).filter(|&c| left[c - n] == 1).collect();
    while let Some(c) = single.pop() {
        let Some(row) = column(c).find(|&r| !aside[r]) else {
            continue;
        };
        aside[row] = true;
        for &other in by_row[row].iter().filter(|&&o| o as usize >= n) {
            let count = &mut left[other as usize - n];
            *count -= 1;
            if *count == 1 {
                single.push(other as usize);
            }
        }
    }
    // From rows that still hold derivatives along the other rows that are left.
    let mut marked = vec![false; n];
    let mut seen = aside;
    let has_slope = |r: usize| by_row[r].iter().any(|&c| c as usize >= n);
    let mut work: Vec<usize> = (0..n).filter(|&r| !seen[r] && has_slope(r)).collect();
    work.iter().for_each(|&r| seen[r] = true);
    let role: Vec<UnknownRole> = (unknowns.iter())
        .flat_map(|u| std::iter::repeat_n(u.role, u.len))
        .collect();
    while let Some(r) = work.pop() {
        for &c in by_row[r].iter().filter(|&&c| (c as usize) < n) {
            let c = c as usize;
            if role[c] == UnknownRole::State || std::mem::replace(&mut marked[c], true) {
                continue;
            }
            for row in column(c) {
                if !std::mem::replace(&mut seen[row], true) {
                    work.push(row);
                }
            }
        }
    }
    marked
}
