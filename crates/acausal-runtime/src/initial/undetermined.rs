//! Conditions of the start that look sufficient but are not: the numbers leave something open.
//!
//! In: a solved system of the start whose Jacobian is singular at the solution. Out: another choice of conditions. In as
//! many directions as are open a start value that is not fixed is held, and as many initial equations (or, for a steady
//! state, slopes of zero) are left out, to be looked at again when the rest is solved: they hold then, or contradict.
//! This is what [`super::conditions`] does where the structure alone tells.
//!
//! Example: a node between two transistors that do not conduct; `der(q) = 0` holds for every charge of the node, up to
//! leakage below rounding errors, so its charge keeps the start value.
//!
//! Which start values: with x a basis of the open directions, those that a Gaussian elimination of x finds as pivots; a
//! written start value and a higher `stateSelect` go first. Which conditions: pivots of the combinations of equations that
//! say nothing. Equations of the model are never left out. O(d^2 n) for d directions of n unknowns.

use super::conditions::StartCondition;
use super::{StartData, roles};
use crate::consistent::{ConsistentSystem, NullSpace, Point};
use acausal_expr::unknown::UnknownRole;

/// Start values within this fraction of the best pivot are chosen by preference.
const AS_GOOD: f64 = 0.05;
/// What is below this fraction of the largest entry does not take part in a direction.
const SUPPORT: f64 = 1e-6;
/// Fraction of the largest entry from which on an unknown is named.
const NAMED: f64 = 0.05;

/// Conditions to hold and to leave out.
pub(super) struct Exchange {
    pub held: Vec<StartCondition>,
    pub dropped: Vec<StartCondition>,
    /// Unknowns that were open, by column.
    pub open: Vec<u32>,
}

/// A way to determine what the conditions leave open, if start values and conditions are there to be exchanged.
pub(super) fn exchange(
    system: &ConsistentSystem,
    at: &mut Point,
    data: &StartData,
    steady: bool,
) -> Option<Exchange> {
    let space = system.null_space(at)?;
    let (open, mut held) = hold(system, at, data, &space)?;
    let mut dropped = leave_out(system, at, &space, steady)?;
    let n = at.machine.model.n;
    let place = |c: &StartCondition| match c {
        StartCondition::Row(row) => *row as usize,
        other => other.column(n).unwrap_or(usize::MAX),
    };
    held.sort_by_key(place);
    dropped.sort_by_key(place);
    Some(Exchange {
        held,
        dropped,
        open,
    })
}

fn hold(
    system: &ConsistentSystem,
    at: &Point,
    data: &StartData,
    space: &NullSpace,
) -> Option<(Vec<u32>, Vec<StartCondition>)> {
    let n = at.machine.model.n;
    let role = roles(&at.machine.model);
    let size = |c: u32| match c as usize {
        k if k < n => at.column(c).abs().max(at.nominal[k]),
        k if k < 2 * n => at.column(c).abs().max(at.nominal[k - n]),
        _ => at.column(c).abs().max(1.0),
    };
    let columns = system.columns();
    let scaled =
        |v: &Vec<f64>| -> Vec<f64> { (v.iter().zip(columns)).map(|(v, &c)| v / size(c)).collect() };
    let vectors: Vec<Vec<f64>> = space.right.iter().map(scaled).collect();
    let mut open: Vec<u32> = Vec::new();
    for v in &vectors {
        let largest = v.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let named = (v.iter().zip(columns)).filter(|(v, _)| v.abs() >= NAMED * largest);
        open.extend(named.map(|(_, &c)| c));
    }
    open.sort_unstable();
    open.dedup();
    let condition = |j: usize| {
        let c = columns[j];
        match c as usize {
            k if k < n && role[k] == UnknownRole::State => Some(StartCondition::Start(c)),
            k if k >= 2 * n => Some(StartCondition::Guess(c - 2 * n as u32)),
            _ => None,
        }
    };
    let wish = |j: usize| match columns[j] as usize {
        k if k < n => (data.given[k], data.preference[k]),
        _ => (false, 0),
    };
    let candidates: Vec<usize> = (0..columns.len())
        .filter(|&j| condition(j).is_some())
        .collect();
    let chosen = pivots(vectors, &candidates, |a, b| wish(a).cmp(&wish(b)))?;
    Some((open, chosen.into_iter().filter_map(condition).collect()))
}

fn leave_out(
    system: &ConsistentSystem,
    at: &mut Point,
    space: &NullSpace,
    steady: bool,
) -> Option<Vec<StartCondition>> {
    let model = at.machine.model.clone();
    let n = model.n;
    let s = model.initial.jacobian.sparsity();
    let sizes = system.row_sizes(at.machine, at.t, at.y, at.yp, at.nominal);
    let rows = system.rows();
    let mut conditions: Vec<StartCondition> = Vec::new();
    let mut vectors: Vec<Vec<f64>> = vec![Vec::new(); space.left.len()];
    for (i, &row) in rows.iter().enumerate() {
        if (row as usize) < n + model.initial.hidden_len || !model.is_initial_equation(row as usize)
        {
            continue;
        }
        conditions.push(StartCondition::Row(row));
        for (v, left) in vectors.iter_mut().zip(&space.left) {
            v.push(left[i] * sizes[row as usize]);
        }
    }
    if steady {
        let role = roles(&model);
        let mut number = vec![u32::MAX; s.rows];
        for (i, &row) in rows.iter().enumerate() {
            number[row as usize] = i as u32;
        }
        let values = at.machine.initial_jacobian(at.t, at.y, at.yp);
        let mut unknown = vec![false; s.cols];
        system
            .columns()
            .iter()
            .for_each(|&c| unknown[c as usize] = true);
        for c in (0..n).filter(|&c| role[c] == UnknownRole::State && !unknown[n + c]) {
            conditions.push(StartCondition::Slope(c as u32));
            for (v, left) in vectors.iter_mut().zip(&space.left) {
                let entries = s.entries(n + c);
                let product = entries
                    .filter(|&k| number[s.row_idx[k] as usize] != u32::MAX)
                    .map(|k| left[number[s.row_idx[k] as usize] as usize] * values[k]);
                v.push(product.sum::<f64>() * at.nominal[c]);
            }
        }
    }
    let candidates: Vec<usize> = (0..conditions.len()).collect();
    let chosen = pivots(vectors, &candidates, |_, _| std::cmp::Ordering::Equal)?;
    Some(chosen.into_iter().map(|k| conditions[k]).collect())
}

/// One position per vector, such that the vectors are independent there; larger by `wish` first where several are as good.
fn pivots(
    mut vectors: Vec<Vec<f64>>,
    candidates: &[usize],
    wish: impl Fn(usize, usize) -> std::cmp::Ordering,
) -> Option<Vec<usize>> {
    let mut chosen = Vec::new();
    let mut done = 0;
    while done < vectors.len() {
        let largest = vectors[done].iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let best = (candidates.iter())
            .map(|&j| vectors[done][j].abs())
            .fold(0.0, f64::max);
        if best.is_nan() || best <= SUPPORT * largest {
            return None;
        }
        let pivot = *(candidates.iter())
            .filter(|&&j| vectors[done][j].abs() >= AS_GOOD * best)
            .max_by(|&&a, &&b| {
                let size = |j: usize| vectors[done][j].abs();
                (wish(a, b).then(size(a).total_cmp(&size(b)))).then(b.cmp(&a))
            })?;
        let (first, rest) = vectors.split_at_mut(done + 1);
        for v in rest {
            let factor = v[pivot] / first[done][pivot];
            v.iter_mut()
                .zip(&first[done])
                .for_each(|(v, f)| *v -= factor * f);
        }
        chosen.push(pivot);
        done += 1;
    }
    Some(chosen)
}
