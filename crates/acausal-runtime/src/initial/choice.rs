//! Among start values that are not fixed: those to keep, so that the others follow well.
//!
//! In: a structural choice ([`StartSystem`]) that left some of them out. Out: a choice of the same size by the numbers at the
//! guess. The pendulum `x^2 + y^2 = 1` hanging to the right has x = 1, y = 0: structurally either may be kept, but keeping
//! x leaves `2*y*der(y) = ...` with y = 0 and no way to find y.
//!
//! Gaussian elimination of the chosen rows with pivots among all columns; then each start value in the order of rank: its
//! unit row is reduced by the rows before it, and what is left says how far it is independent of them. First those that
//! stay well independent are taken, then, if too few, any that are independent at all. O(n^3) for n unknowns, so large
//! systems keep the structural choice ([`Scale::start_choice_to`](acausal_base::Scale::start_choice_to)).

use std::collections::BTreeMap;

use super::StartData;
use super::conditions::{StartCondition, StartSystem};
use super::elimination::{Elimination, INDEPENDENT, PIVOT, Row, scale_row};
use crate::machine::Machine;

/// A better choice than the structural one, if there is anything to choose and the numbers tell.
pub(crate) fn well_conditioned(
    machine: &mut Machine,
    data: &StartData,
    t: f64,
    kept: &StartSystem,
) -> Option<StartSystem> {
    let n = machine.model.n;
    if kept.held.is_empty() || kept.released.is_empty() {
        return None;
    }
    // All columns that are unknown without the optional conditions.
    let mut columns: Vec<usize> = kept.columns.iter().map(|&c| c as usize).collect();
    columns.extend(kept.held.iter().filter_map(|c| c.column(n)));
    columns.sort_unstable();
    if columns.len() > machine.scale.start_choice_to {
        return None;
    }
    let scale = |c: usize| -> f64 {
        match c {
            c if c < n => data.y[c].abs().max(data.nominal[c]),
            c if c < 2 * n => data.yp[c - n].abs().max(data.nominal[c - n]),
            c => machine.mem[data.free[c - 2 * n]].abs().max(1.0),
        }
    };
    let scales: Vec<f64> = columns.iter().map(|&c| scale(c)).collect();
    let model = machine.model.clone();
    let s = model.initial.jacobian.sparsity();
    let mut number = vec![usize::MAX; s.rows];
    for (k, &row) in kept.rows.iter().enumerate() {
        number[row as usize] = k;
    }
    let mut rows = vec![BTreeMap::new(); kept.rows.len()];
    let values = machine.initial_jacobian(t, &data.y, &data.yp);
    for (j, &c) in columns.iter().enumerate() {
        for k in s.entries(c) {
            let row = number[s.row_idx[k] as usize];
            if row != usize::MAX {
                rows[row].insert(j, values[k] * scales[j]);
            }
        }
    }
    let slopes: Vec<usize> = (0..columns.len())
        .filter(|&j| (n..2 * n).contains(&columns[j]))
        .collect();
    scale_slopes(&mut rows, &slopes);
    let mut elimination = Elimination::new(columns.len());
    for mut row in rows {
        if !scale_row(&mut row) || !elimination.take(row, PIVOT, |_| true) {
            return None;
        }
    }
    let mut candidates: Vec<StartCondition> =
        kept.held.iter().chain(&kept.released).copied().collect();
    candidates.sort_by_key(|c| rank_of(c, n, data));
    let mut held = Vec::new();
    for limit in INDEPENDENT {
        let mut rest = Vec::new();
        for condition in candidates {
            let place = condition
                .column(n)
                .and_then(|c| columns.binary_search(&c).ok());
            let unit = |j: usize| BTreeMap::from([(j, 1.0)]);
            if held.len() < kept.held.len()
                && place.is_some_and(|j| elimination.take(unit(j), limit, |_| true))
            {
                held.push(condition);
            } else {
                rest.push(condition);
            }
        }
        candidates = rest;
    }
    if held.len() < kept.held.len() {
        return None;
    }
    let known: Vec<usize> = held.iter().filter_map(|c| c.column(n)).collect();
    columns.retain(|c| !known.contains(c));
    Some(StartSystem {
        columns: columns.into_iter().map(|c| c as u32).collect(),
        rows: kept.rows.clone(),
        dropped: kept.dropped.clone(),
        held,
        released: candidates,
    })
}

/// Sizes of derivatives: nobody knows what is fast in a model, and a nominal value per second says nothing. With rows divided by what is no derivative in them, the largest entry of a derivative
/// becomes one, so that the choice is the same in seconds and in nanoseconds.
fn scale_slopes(rows: &mut [Row], slopes: &[usize]) {
    for row in rows.iter_mut() {
        let others = row.iter().filter(|(j, _)| slopes.binary_search(j).is_err());
        let size = others.fold(0.0f64, |m, (_, v)| m.max(v.abs()));
        if size > 0.0 && size.is_finite() {
            row.values_mut().for_each(|v| *v /= size);
        }
    }
    for j in slopes {
        let entries = rows.iter().filter_map(|row| row.get(j));
        let size = entries.fold(0.0f64, |m, v| m.max(v.abs()));
        if size > 0.0 && size.is_finite() {
            let entries = rows.iter_mut().filter_map(|row| row.get_mut(j));
            entries.for_each(|v| *v /= size);
        }
    }
}

/// The order of optional conditions, as for the structural choice.
fn rank_of(
    c: &StartCondition,
    n: usize,
    data: &StartData,
) -> (std::cmp::Reverse<(bool, u8)>, usize) {
    let column = c.column(n).unwrap_or(usize::MAX);
    let wish = match c {
        StartCondition::Start(c) => (data.given[*c as usize], data.preference[*c as usize] + 1),
        _ => (false, 0),
    };
    (std::cmp::Reverse(wish), column)
}
