//! Which constraints between states the structural analysis cannot see.
//!
//! In: the integer system and the decisions of the elimination. Out: for each row whether it belongs to a group with
//! hidden constraints. Rows that share unknowns other than states form a group. In a group whose structural rank (the
//! size of a maximum matching) equals the rank that the elimination found, the numbers hold no secret: index reduction
//! finds the constraint from the incidence, and the equations stay as they were written. A larger structural rank means
//! that coefficients cancel; only then the constraint must stand alone. The comparison is made for the local unknowns and
//! for all unknowns but states. Cost: two matchings, for models with constraints only.
//!
//! Example: `0 = a + 2*x + y`, `0 = b + 3*x + 4*y` with the state x restricts x visibly: two equations, one unknown y.
//! `s = y + z`, `t = 2*y + 2*z` with the states s and t does not: two equations, two unknowns, and yet `t = 2*s`.

use acausal_structure::integer_elimination::{Class, Decisions, IntegerSystem};
use acausal_structure::matching::maximum_matching;
use acausal_structure::{Rows, VarId};

/// For each row, whether a constraint in its place is needed.
pub(super) fn hidden(system: &IntegerSystem, decisions: &Decisions) -> Vec<bool> {
    if decisions.constraints.is_empty() {
        return vec![false; system.rows.len()];
    }
    let mut group: Vec<usize> = (0..system.classes.len()).collect();
    let inner = |c: usize| matches!(system.classes[c], Class::Local | Class::Rest);
    let first = |row: &[(usize, i64)]| row.iter().map(|t| t.0).find(|&c| inner(c));
    for row in &system.rows {
        let Some(f) = first(row) else { continue };
        for &(c, _) in row.iter().filter(|t| inner(t.0)) {
            let (a, b) = (root(&mut group, f), root(&mut group, c));
            group[a.max(b)] = a.min(b);
        }
    }
    let group_of_row: Vec<Option<usize>> = system
        .rows
        .iter()
        .map(|r| first(r).map(|c| root(&mut group, c)))
        .collect();
    let rows: Rows<VarId> = system
        .rows
        .iter()
        .map(|r| r.iter().map(|t| VarId::new(t.0)))
        .collect();
    let mut differs = vec![false; system.classes.len()];
    for classes in [&[Class::Local][..], &[Class::Local, Class::Rest]] {
        let counts = |v: VarId| classes.contains(&system.classes[v.index()]);
        let matching = maximum_matching(&rows, system.classes.len(), counts);
        // Structural minus numeric rank, per group.
        let mut surplus = vec![0i64; system.classes.len()];
        for (k, v) in matching.var_of_eq.iter().enumerate() {
            if let (Some(_), Some(g)) = (v, group_of_row[k]) {
                surplus[g] += 1;
            }
        }
        for (k, v) in &decisions.pivots {
            if let (true, Some(g)) = (counts(*v), group_of_row[*k]) {
                surplus[g] -= 1;
            }
        }
        for (d, s) in differs.iter_mut().zip(surplus) {
            *d |= s != 0;
        }
    }
    group_of_row
        .iter()
        .map(|g| g.is_some_and(|g| differs[g]))
        .collect()
}

/// The smallest column of a group stands for it.
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
    use acausal_structure::integer_elimination::decide;

    #[test]
    fn only_cancelling_coefficients_hide_a_constraint() {
        // Columns: two states, two local unknowns.
        let classes = vec![Class::State, Class::State, Class::Local, Class::Local];
        let visible = vec![vec![(0, 2), (2, 1)], vec![(0, 3), (2, 4)]];
        let secret = vec![
            vec![(0, 1), (2, -1), (3, -1)],
            vec![(1, 1), (2, -2), (3, -2)],
        ];
        for (rows, expected) in [(visible, false), (secret, true)] {
            let system = IntegerSystem {
                classes: classes.clone(),
                rows,
            };
            let decisions = decide(&system);
            assert_eq!(decisions.state_rank, 1);
            assert_eq!(hidden(&system, &decisions), [expected; 2]);
        }
    }
}
