//! Recurrences between arrays: what tearing accepts has no cycle between elements, and what it rejects has one.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use acausal_structure::blt::strong_components;
use acausal_structure::tearing::TearSet;
use acausal_structure::tearing::loops::{Dependence, Distance, LoopTear};
use acausal_structure::{EqId, Rows, VarId};
use proptest::prelude::*;

/// Equation e contains, for every i, the elements `variable[i + shift]` or all elements of a variable.
#[derive(Clone, Debug)]
struct System {
    variables: usize,
    /// Per equation: accesses as (variable, shift); `None` is the whole array.
    equations: Vec<Vec<(usize, Option<i64>)>>,
    /// Pairs to try: equation and number of the access to solve for.
    pairs: Vec<(usize, usize)>,
}

fn systems() -> impl Strategy<Value = System> {
    (2usize..5, any::<u64>()).prop_map(|(variables, seed)| {
        let mut state = seed | 1;
        let mut roll = move |n: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 20) % n
        };
        let mut equations = Vec::new();
        let mut pairs = Vec::new();
        for e in 0..variables {
            let mut accesses = vec![(e, Some(0))];
            for _ in 0..roll(3) {
                let whole = roll(12) == 0;
                let shift = roll(5) as i64 - 2;
                accesses.push((
                    roll(variables as u64) as usize,
                    (!whole).then_some(shift.signum() * (shift.abs().min(2))),
                ));
            }
            accesses.sort();
            accesses.dedup();
            for (k, a) in accesses.iter().enumerate() {
                if a.1.is_some() {
                    pairs.push((e, k));
                }
            }
            equations.push(accesses);
        }
        for k in (1..pairs.len()).rev() {
            pairs.swap(k, roll(k as u64 + 1) as usize);
        }
        System {
            variables,
            equations,
            pairs,
        }
    })
}

impl System {
    fn rows(&self) -> Rows<VarId> {
        let row = |e: &Vec<(usize, Option<i64>)>| {
            let mut v: Vec<usize> = e.iter().map(|a| a.0).collect();
            v.sort_unstable();
            v.dedup();
            v.into_iter().map(VarId::new).collect::<Vec<_>>()
        };
        self.equations.iter().map(row).collect()
    }

    /// Whether the elements of arrays of length `n`, solved by these pairs, depend on each other in a circle.
    fn has_cycle(&self, solved: &BTreeMap<usize, (usize, usize)>, n: i64) -> bool {
        let index = |v: usize, i: i64| v * n as usize + i as usize;
        let mut arcs: Vec<Vec<usize>> = vec![Vec::new(); self.variables * n as usize];
        for (&v, &(e, k)) in solved {
            let own = self.equations[e][k].1.unwrap();
            for i in 0..n {
                for (j, &(w, shift)) in self.equations[e].iter().enumerate() {
                    if j == k {
                        continue;
                    }
                    let at = match shift {
                        Some(s) => i - own + s..i - own + s + 1,
                        None => 0..n,
                    };
                    let inside = at.filter(|a| (0..n).contains(a) && solved.contains_key(&w));
                    arcs[index(v, i)].extend(inside.map(|a| index(w, a)));
                }
            }
        }
        let parts = strong_components(arcs.len(), |x| arcs[x].iter().copied());
        parts
            .iter()
            .any(|p| p.len() > 1 || arcs[p[0]].contains(&p[0]))
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn accepted_pairs_are_those_without_a_cycle_between_elements(system in systems()) {
        const LENGTH: i64 = 120;
        let rows = system.rows();
        // The access that each equation is solved for at the moment.
        let chosen = std::cell::RefCell::new(BTreeMap::<usize, usize>::new());
        let dependences = |e: EqId, _: VarId, w: VarId| -> Vec<Dependence> {
            let k = chosen.borrow()[&e.index()];
            let accesses = &system.equations[e.index()];
            let own = accesses[k].1.unwrap();
            let others = accesses.iter().enumerate().filter(|(j, a)| *j != k && a.0 == w.index());
            others
                .map(|(_, a)| {
                    let (lo, hi) = a.1.map_or((-LENGTH, LENGTH), |s| (s - own, s - own));
                    Dependence { distances: vec![Distance { direction: 0, lo, hi }], level: true }
                })
                .collect()
        };
        let mut tear = LoopTear::new(&rows, system.variables, &dependences);
        let unknowns: Vec<VarId> = (0..system.variables).map(VarId::new).collect();
        tear.begin(&unknowns);
        let mut solved: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        for &(e, k) in &system.pairs {
            let v = system.equations[e][k].0;
            if solved.contains_key(&v) || solved.values().any(|s| s.0 == e) {
                continue;
            }
            // A pair with other accesses to its own array is the caller's to judge.
            if system.equations[e].iter().filter(|a| a.0 == v).count() > 1 {
                continue;
            }
            let before = chosen.borrow().clone();
            chosen.borrow_mut().insert(e, k);
            let mut with = solved.clone();
            with.insert(v, (e, k));
            let accepted = tear.try_solve(EqId::new(e), VarId::new(v));
            prop_assert_eq!(accepted, !system.has_cycle(&with, LENGTH), "pair {:?} of {:?}", (e, k), &system);
            if accepted {
                solved = with;
            } else {
                *chosen.borrow_mut() = before;
            }
        }
        let order: Vec<EqId> = (0..system.equations.len()).map(EqId::new).collect();
        let torn = tear.finish(&order);
        prop_assert_eq!(torn.solved.len(), solved.len());
        prop_assert_eq!(torn.tearing.len() + solved.len(), system.variables);
    }
}

#[test]
fn directions_may_differ_from_cycle_to_cycle_but_not_inside_one() {
    // a[i] uses b[i - 1], b[i] uses a[i] and c[i + 1], c[i] uses b[i]: b needs both neighbours through c and a.
    let rows = Rows::of(&[&[0, 1], &[0, 1, 2], &[1, 2]]);
    let dependences = |_: EqId, v: VarId, w: VarId| -> Vec<Dependence> {
        let ahead = match (v.0, w.0) {
            (0, 1) => -1,
            (1, 2) => 1,
            _ => 0,
        };
        let distances = vec![Distance {
            direction: 0,
            lo: ahead,
            hi: ahead,
        }];
        let dependence = Dependence {
            distances,
            level: true,
        };
        if v == w { Vec::new() } else { vec![dependence] }
    };
    let mut tear = LoopTear::new(&rows, 3, &dependences);
    tear.begin(&[VarId(0), VarId(1), VarId(2)]);
    assert!(tear.try_solve(EqId(0), VarId(0)));
    assert!(tear.try_solve(EqId(1), VarId(1)), "a and b ascend");
    assert!(
        !tear.try_solve(EqId(2), VarId(2)),
        "c would have to descend"
    );
}

#[test]
fn an_element_without_a_direction_may_be_put_anywhere() {
    // x (long) uses s at its third element only, s uses x two elements before; s has no direction of its own.
    let rows = Rows::of(&[&[0, 1], &[0, 1]]);
    let dependences = |_: EqId, v: VarId, w: VarId| -> Vec<Dependence> {
        if v == w {
            return Vec::new();
        }
        let (lo, hi) = if v.0 == 0 { (-3, -3) } else { (1, 1) };
        let distances = vec![Distance {
            direction: 4,
            lo,
            hi,
        }];
        vec![Dependence {
            distances,
            level: true,
        }]
    };
    let mut tear = LoopTear::new(&rows, 2, &dependences);
    tear.begin(&[VarId(0), VarId(1)]);
    assert!(tear.try_solve(EqId(0), VarId(0)) && tear.try_solve(EqId(1), VarId(1)));
}
