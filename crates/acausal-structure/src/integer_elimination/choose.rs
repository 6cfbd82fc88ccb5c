//! Which of the equivalent equations and unknowns: a choice that depends on their order only.
//!
//! In: an integer system whose columns and rows stand in the order of preference, and the decisions of the elimination.
//! Out: decisions as good, in which the *last* possible row of each group is redundant and the *first* possible unknown is
//! free. The elimination takes pivots by sparsity, so that it may leave another balance or potential of a circuit after a
//! permutation or for another length of an array. Rows (local unknowns) that hang together can almost always be
//! chosen instead of each other; another elimination checks that, and if it does not hold the first choice stays. Cost:
//! that of two eliminations, for singular systems only.
//!
//! Worked example: `v1 = a - b`, `v2 = a - b` with local a and b: the elimination may leave `b` open; `a` is chosen.
//! ```
//! use acausal_structure::{VarId, integer_elimination::{Class, IntegerSystem, decide_in_order}};
//! let s = IntegerSystem {
//!     classes: vec![Class::Local, Class::Local, Class::Rest, Class::Rest],
//!     rows: vec![vec![(0, 1), (1, -1), (2, -1)], vec![(0, 1), (1, -1), (3, -1)]],
//! };
//! assert_eq!(decide_in_order(&s).free, [VarId(0)]);
//! ```

use super::{Class, Decisions, IntegerSystem, decide};
use crate::VarId;

/// [`decide`] with choices that follow the order of rows and columns.
pub fn decide_in_order(system: &IntegerSystem) -> Decisions {
    let mut d = decide(system);
    if !d.redundant.is_empty()
        && let Some(better) = last_rows(system, &d)
    {
        d = better;
    }
    if !d.free.is_empty() {
        d.free = first_unknowns(system, &d);
    }
    d
}

/// Decisions with the last row of each group redundant, if that is possible.
fn last_rows(system: &IntegerSystem, d: &Decisions) -> Option<Decisions> {
    let rows = system.rows.len();
    // Rows that share columns, directly or through others, form a group; its last row stands for it.
    let mut group: Vec<usize> = (0..rows).collect();
    let mut first_row: Vec<Option<usize>> = vec![None; system.classes.len()];
    for (k, row) in system.rows.iter().enumerate().rev() {
        for &(c, _) in row {
            match first_row[c] {
                None => first_row[c] = Some(k),
                Some(other) => {
                    let (a, b) = (root(&mut group, k), root(&mut group, other));
                    group[a.min(b)] = a.max(b);
                }
            }
        }
    }
    let mut chosen: Vec<usize> = d.redundant.iter().map(|&k| root(&mut group, k)).collect();
    chosen.sort_unstable();
    chosen.dedup();
    if chosen.len() < d.redundant.len() || chosen == d.redundant {
        return None; // several in one group, or nothing to change
    }
    let kept: Vec<usize> = (0..rows)
        .filter(|k| chosen.binary_search(k).is_err())
        .collect();
    let rest = IntegerSystem {
        classes: system.classes.clone(),
        rows: kept.iter().map(|&k| system.rows[k].clone()).collect(),
    };
    let mut new = decide(&rest);
    let same = new.redundant.is_empty()
        && (new.rank, new.state_rank) == (d.rank, d.state_rank)
        && new.parameter_constraints.len() == d.parameter_constraints.len();
    if !same {
        return None;
    }
    new.redundant = chosen;
    for c in new
        .constraints
        .iter_mut()
        .chain(&mut new.parameter_constraints)
    {
        c.replaces = kept[c.replaces];
    }
    for p in &mut new.pivots {
        p.0 = kept[p.0];
    }
    Some(new)
}

/// Free unknowns, the first of each group where that is possible.
fn first_unknowns(system: &IntegerSystem, d: &Decisions) -> Vec<VarId> {
    let mut group: Vec<usize> = (0..system.classes.len()).collect();
    for row in &system.rows {
        let mut first = None;
        for &(c, _) in row.iter().filter(|t| system.classes[t.0] == Class::Local) {
            let r = root(&mut group, c);
            match first {
                None => first = Some(r),
                Some(f) => {
                    let (low, high) = (r.min(f), r.max(f));
                    group[high] = low;
                    first = Some(low);
                }
            }
        }
    }
    let free = d.free.iter().map(|v| root(&mut group, v.index()));
    let mut chosen: Vec<VarId> = free.map(VarId::new).collect();
    chosen.sort_unstable();
    chosen.dedup();
    if chosen.len() < d.free.len() || chosen == d.free {
        return d.free.clone(); // several in one group, or nothing to change
    }
    let mut fixed = system.clone();
    fixed
        .rows
        .extend(chosen.iter().map(|v| vec![(v.index(), 1)]));
    let check = decide(&fixed);
    if check.free.is_empty() && check.redundant.len() == d.redundant.len() {
        chosen
    } else {
        d.free.clone()
    }
}

/// The member that stands for a group.
fn root(group: &mut [usize], mut c: usize) -> usize {
    while group[c] != c {
        group[c] = group[group[c]];
        c = group[c];
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    fn system(locals: usize, others: usize, rows: &[&[(usize, i64)]]) -> IntegerSystem {
        let mut classes = vec![Class::Local; locals];
        classes.resize(locals + others, Class::Rest);
        IntegerSystem {
            classes,
            rows: rows.iter().map(|r| r.to_vec()).collect(),
        }
    }

    #[test]
    fn the_first_unknown_is_taken_where_that_is_possible() {
        // a - b = v, with a and b local: either may be zero.
        let s = system(2, 1, &[&[(0, 1), (1, -1), (2, -1)]]);
        assert_eq!(decide_in_order(&s).free, [VarId(0)]);
        // a + b = 0, a - b = 0, c - b = 0 leave nothing open; d - e = 0 does.
        let s = system(
            5,
            0,
            &[
                &[(0, 1), (1, 1)],
                &[(0, 1), (1, -1)],
                &[(2, 1), (1, -1)],
                &[(3, 1), (4, -1)],
            ],
        );
        assert_eq!(decide_in_order(&s).free, [VarId(3)]);
    }

    #[test]
    fn the_last_row_is_redundant_where_that_is_possible() {
        // A ring of differences: any of the three may go. The fourth row is another group.
        let s = system(
            4,
            0,
            &[
                &[(0, 1), (1, -1)],
                &[(1, 1), (2, -1)],
                &[(2, 1), (0, -1)],
                &[(3, 1)],
            ],
        );
        assert_eq!(decide_in_order(&s).redundant, [2]);
        // Two rows say the same, the last of the group does not.
        let s = system(
            3,
            0,
            &[&[(0, 1), (1, -1)], &[(0, 2), (1, -2)], &[(1, 1), (2, 1)]],
        );
        assert_eq!(decide_in_order(&s).redundant.len(), 1);
        assert!(decide_in_order(&s).redundant[0] < 2);
    }
}
