//! Which of the equivalent unknowns is set to zero: the first by name, whatever the elimination happened to leave.
//!
//! In: the system and the decisions of the elimination. Out: as many free unknowns. Connections are written down in the
//! order of the source, so that the elimination may leave another potential of the same circuit open after a
//! permutation. Potentials that hang together by equations can (almost) always be chosen instead of each other; a second
//! elimination with `v = 0` appended checks that. Cost: that of one elimination, for singular models only.
//!
//! Example: `v1 = a - b`, `v2 = a - b` with local a and b: the elimination may leave `b`; `a` is chosen.

use acausal_structure::VarId;
use acausal_structure::integer_elimination::{Class, Decisions, IntegerSystem, decide};

/// Free unknowns, the first of each group by column (columns are in the order of names).
pub(super) fn by_name(mut system: IntegerSystem, decisions: &Decisions) -> Vec<VarId> {
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
    let mut chosen: Vec<VarId> = decisions
        .free
        .iter()
        .map(|v| VarId::new(root(&mut group, v.index())))
        .collect();
    chosen.sort_unstable();
    chosen.dedup();
    if chosen.len() < decisions.free.len() {
        return decisions.free.clone(); // several free unknowns hang together
    }
    let zero = chosen.iter().map(|v| vec![(v.index(), 1)]);
    system.rows.extend(zero);
    let check = decide(&system);
    if check.free.is_empty() && check.redundant.len() == decisions.redundant.len() {
        chosen
    } else {
        decisions.free.clone()
    }
}

/// The smallest column of a group stands for it.
pub(super) fn root(group: &mut [usize], mut c: usize) -> usize {
    while group[c] != c {
        group[c] = group[group[c]];
        c = group[c];
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_name_is_taken_where_that_is_possible() {
        // a - b = v, with a and b local: either may be zero. c + 0*d: only d is open.
        let system = IntegerSystem {
            classes: vec![Class::Local, Class::Local, Class::Rest],
            rows: vec![vec![(0, 1), (1, -1), (2, -1)]],
        };
        let mut decisions = decide(&system);
        for left in [0, 1] {
            decisions.free = vec![VarId(left)];
            assert_eq!(by_name(system.clone(), &decisions), [VarId(0)]);
        }
        // a + b = 0, a - b = 0, c - b = 0 leave nothing open but d, which hangs at e: d - e = v.
        let system = IntegerSystem {
            classes: vec![Class::Local; 5],
            rows: vec![
                vec![(0, 1), (1, 1)],
                vec![(0, 1), (1, -1)],
                vec![(2, 1), (1, -1)],
                vec![(3, 1), (4, -1)],
            ],
        };
        assert_eq!(by_name(system.clone(), &decide(&system)), [VarId(3)]);
    }
}
