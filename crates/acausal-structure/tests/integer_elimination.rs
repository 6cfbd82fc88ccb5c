//! Exact elimination: the circuits of the literature, and random systems against dense Bareiss elimination.

use std::time::Instant;

use acausal_structure::VarId;
use acausal_structure::integer_elimination::dense::{bareiss, rank};
use acausal_structure::integer_elimination::{BigInt, Class, Decisions, IntegerSystem, decide};
use proptest::prelude::*;

struct Named {
    names: Vec<String>,
    system: IntegerSystem,
}

/// Rows like `"L1.p.v -L1.n.v -L1.v"`; variables are numbered as they occur.
fn named(rows: &[&str], class: impl Fn(&str) -> Class) -> Named {
    let mut names: Vec<String> = Vec::new();
    let mut system = IntegerSystem::default();
    for row in rows {
        let mut terms = Vec::new();
        for word in row.split_whitespace() {
            let (sign, name) = match word.strip_prefix('-') {
                Some(name) => (-1, name),
                None => (1, word.trim_start_matches('+')),
            };
            let v = names.iter().position(|n| n == name).unwrap_or_else(|| {
                names.push(name.to_string());
                system.classes.push(class(name));
                names.len() - 1
            });
            terms.push((v, sign));
        }
        system.rows.push(terms);
    }
    Named { names, system }
}

impl Named {
    fn show(&self, terms: &[(VarId, BigInt)]) -> String {
        terms
            .iter()
            .map(|(v, c)| format!("{c}*{}", self.names[v.index()]))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

fn fig1_class(name: &str) -> Class {
    match name {
        "L1.p.i" | "L2.p.i" => Class::State,
        "L1.v" | "L2.v" | "R1.v" | "R1.p.i" | "R2.v" | "R2.p.i" | "V.v" => Class::Rest,
        _ => Class::Local,
    }
}

const FIG1: [&str; 20] = [
    "L1.p.v -L1.n.v -L1.v",
    "L1.p.i L1.n.i",
    "L2.p.v -L2.n.v -L2.v",
    "L2.p.i L2.n.i",
    "R1.p.v -R1.n.v -R1.v",
    "R1.p.i R1.n.i",
    "R2.p.v -R2.n.v -R2.v",
    "R2.p.i R2.n.i",
    "V.p.v -V.n.v -V.v",
    "V.p.i V.n.i",
    "V.p.v -L1.p.v",
    "V.p.i L1.p.i",
    "L1.n.v -R1.p.v",
    "L1.n.v -R2.p.v",
    "L1.n.i R1.p.i R2.p.i",
    "R1.n.v -L2.p.v",
    "R2.n.v -L2.p.v",
    "R1.n.i R2.n.i L2.p.i",
    "L2.n.v -V.n.v",
    "L2.n.i V.n.i",
];

/// The treated system spans the same space: removed rows are combinations of the others, replacements equivalent.
fn same_row_space(s: &IntegerSystem, d: &Decisions) {
    let dense = |rows: &[Vec<(usize, i64)>]| -> Vec<Vec<i64>> {
        rows.iter()
            .map(|r| {
                let mut row = vec![0; s.classes.len()];
                for &(v, c) in r {
                    row[v] += c;
                }
                row
            })
            .collect()
    };
    let mut treated: Vec<Vec<(usize, i64)>> = Vec::new();
    for (i, row) in s.rows.iter().enumerate() {
        if d.redundant.contains(&i) {
            continue;
        }
        match d
            .constraints
            .iter()
            .chain(&d.parameter_constraints)
            .find(|c| c.replaces == i)
        {
            Some(c) => treated.push(
                c.as_i64()
                    .unwrap()
                    .iter()
                    .map(|&(v, c)| (v.index(), c))
                    .collect(),
            ),
            None => treated.push(row.clone()),
        }
    }
    let (before, after) = (dense(&s.rows), dense(&treated));
    let both: Vec<Vec<i64>> = before.iter().chain(&after).cloned().collect();
    assert_eq!(
        rank(&after),
        after.len(),
        "the treated rows are independent"
    );
    assert_eq!(
        (rank(&before), rank(&both)),
        (after.len(), after.len()),
        "and span the same space"
    );
}

/// Counts that do not depend on the order of elimination, from dense elimination.
fn invariants(s: &IntegerSystem) -> (usize, usize, usize, usize) {
    let of = |class: &[Class]| -> Vec<usize> {
        class
            .iter()
            .flat_map(|c| (0..s.classes.len()).filter(move |&v| s.classes[v] == *c))
            .collect()
    };
    let matrix = |columns: &[usize]| -> Vec<Vec<i64>> {
        s.rows
            .iter()
            .map(|r| {
                columns
                    .iter()
                    .map(|c| r.iter().filter(|t| t.0 == *c).map(|t| t.1).sum())
                    .collect()
            })
            .collect()
    };
    let rk = rank(&matrix(&of(&[Class::Local, Class::Rest])));
    let with_states = rank(&matrix(&of(&[Class::Local, Class::Rest, Class::State])));
    let all = rank(&matrix(&(0..s.classes.len()).collect::<Vec<_>>()));
    let local = of(&[Class::Local]);
    (
        rk,
        with_states - rk,
        s.rows.len() - all,
        local.len() - rank(&matrix(&local)),
    )
}

#[test]
fn f1_1_circuit_without_ground() {
    let n = named(&FIG1, fig1_class);
    let d = decide(&n.system);
    assert_eq!(
        (d.rank, d.state_rank, d.redundant.len(), d.free.len()),
        (18, 1, 1, 1)
    );
    assert_eq!(n.show(&d.constraints[0].terms), "1*L1.p.i -1*L2.p.i");
    assert!(
        n.names[d.free[0].index()].ends_with(".v"),
        "a potential is free: {}",
        n.names[d.free[0].index()]
    );
    assert!(d.parameter_constraints.is_empty());
    same_row_space(&n.system, &d);
    // the 14 equations after elimination of alias potentials
    let rows = [
        "L1.p.v -L1.n.v -L1.v",
        "L2.p.v -L2.n.v -L2.v",
        "L1.n.v -L2.p.v -R1.v",
        "L1.n.v -L2.p.v -R2.v",
        "L1.p.v -L2.n.v -V.v",
        "L1.p.i L1.n.i",
        "L2.p.i L2.n.i",
        "R1.p.i R1.n.i",
        "R2.p.i R2.n.i",
        "V.p.i V.n.i",
        "-V.p.i -L1.p.i",
        "-L2.p.i -R1.n.i -R2.n.i",
        "-R1.p.i -R2.p.i -L1.n.i",
        "-L2.n.i -V.n.i",
    ];
    let n = named(&rows, fig1_class);
    let d = decide(&n.system);
    assert_eq!(
        (d.rank, d.state_rank, d.redundant.len(), d.free.len()),
        (12, 1, 1, 1)
    );
    assert_eq!(n.show(&d.constraints[0].terms), "1*L1.p.i -1*L2.p.i");
    same_row_space(&n.system, &d);
}

#[test]
fn f1_1_further_circuits() {
    // two grounded capacitors in parallel
    let n = named(
        &[
            "C1.p.v -C1.n.v -C1.v",
            "C1.p.i C1.n.i",
            "C1.p.v -C1.n.v -C2.v",
            "-C1.p.i -C1.n.i ground.i",
            "C1.p.v",
        ],
        |v| match v {
            "C1.v" | "C2.v" => Class::State,
            "C1.p.v" | "C1.n.v" => Class::Local,
            _ => Class::Rest,
        },
    );
    let d = decide(&n.system);
    assert_eq!(
        (d.rank, d.state_rank, d.redundant.len(), d.free.len()),
        (4, 1, 0, 0)
    );
    assert_eq!(n.show(&d.constraints[0].terms), "1*C1.v -1*C2.v");
    same_row_space(&n.system, &d);

    // four-bar loop of relative rotations
    let n = named(&["-R1 R41", "R1 -R2 R12", "R2 -R3 R23", "R3 R34"], |v| {
        if v.len() == 3 {
            Class::State
        } else {
            Class::Rest
        }
    });
    let d = decide(&n.system);
    assert_eq!((d.rank, d.state_rank, d.redundant.len()), (3, 1, 0));
    assert_eq!(n.show(&d.constraints[0].terms), "1*R41 1*R12 1*R23 1*R34");
    same_row_space(&n.system, &d);

    // two constant voltage sources in parallel: a constraint between parameters
    let n = named(&["p.v -n.v -V1.v", "p.v -n.v -V2.v"], |v| {
        if v.starts_with('V') {
            Class::Parameter
        } else {
            Class::Local
        }
    });
    let d = decide(&n.system);
    assert_eq!(
        (d.rank, d.state_rank, d.redundant.len(), d.free.len()),
        (1, 0, 0, 1)
    );
    assert_eq!(n.show(&d.parameter_constraints[0].terms), "1*V1.v -1*V2.v");

    // a single equation between three unknowns is not redundant (the published criterion says so)
    let n = named(&["R.v -R.p.v R.n.v"], |_| Class::Rest);
    let d = decide(&n.system);
    assert_eq!((d.rank, d.state_rank, d.redundant.len()), (1, 0, 0));

    // V and R without ground
    let rows = [
        "V.p.v -V.n.v -V.v",
        "V.p.i V.n.i",
        "R.p.v -R.n.v -R.v",
        "R.p.i R.n.i",
        "V.p.v -R.p.v",
        "V.n.v -R.n.v",
        "V.p.i R.p.i",
        "V.n.i R.n.i",
    ];
    let n = named(&rows, |v| {
        if matches!(v, "V.v" | "R.v" | "R.p.i") {
            Class::Rest
        } else {
            Class::Local
        }
    });
    let d = decide(&n.system);
    assert_eq!((d.redundant.len(), d.free.len()), (1, 1));
    same_row_space(&n.system, &d);

    // V and C without ground: V.v = C.v becomes visible
    let n = named(
        &rows
            .map(|r| r.replace('R', "C"))
            .each_ref()
            .map(String::as_str),
        |v| match v {
            "C.v" => Class::State,
            "V.v" => Class::Parameter,
            "C.p.i" => Class::Rest,
            _ => Class::Local,
        },
    );
    let d = decide(&n.system);
    assert_eq!((d.redundant.len(), d.free.len(), d.state_rank), (1, 1, 1));
    let shown = n.show(&d.constraints[0].terms);
    assert!(
        ["1*V.v -1*C.v", "1*C.v -1*V.v"].contains(&shown.as_str()),
        "{shown}"
    );
    same_row_space(&n.system, &d);
}

#[test]
fn ff_1_bareiss_updates_every_row() {
    let a = vec![vec![2, 0, 0], vec![0, 1, 1], vec![0, 1, 2]];
    assert_eq!(rank(&a), 3);
    let t = bareiss(&a, &[vec![1], vec![0], vec![0]]);
    assert_eq!(
        t.a[2][2],
        BigInt::from(2),
        "the last pivot is the determinant"
    );
    assert_eq!(t.b[2][0], BigInt::ZERO);
}

#[test]
fn ff_1_wide_numbers() {
    // p[i] x[i] + q[i] x[i+1] = 0: eliminating the inner variables multiplies six primes of 32 bits on either side.
    let p: [i64; 6] = [
        4294967291, 4294967279, 4294967231, 4294967197, 4294967189, 4294967161,
    ];
    let q: [i64; 6] = [
        2147483647, 2147483629, 2147483587, 2147483579, 2147483563, 2147483549,
    ];
    let rows = (0..6).map(|i| vec![(i, p[i]), (i + 1, q[i])]).collect();
    let mut classes = vec![Class::Rest; 7];
    (classes[0], classes[6]) = (Class::State, Class::State);
    let d = decide(&IntegerSystem { classes, rows });
    assert_eq!((d.rank, d.state_rank, d.redundant.len()), (5, 1, 0));
    let product = |l: &[i64]| l.iter().fold(BigInt::from(1), |a, &b| a * b);
    // x0 p0/(-q0) = x1 and so on: an even number of signs
    assert_eq!(
        d.constraints[0].terms,
        [(VarId(0), product(&p)), (VarId(6), -product(&q))]
    );
    assert_eq!(d.constraints[0].as_i64(), None);
}

/// A ladder of n meshes without ground: one redundant balance, one free potential, near-linear.
#[test]
fn ladder_network() {
    for sections in [10usize, 2_000] {
        let s = ladder(sections);
        let start = Instant::now();
        let d = decide(&s);
        println!("{} equations: {:?}", s.rows.len(), start.elapsed());
        assert_eq!((d.redundant.len(), d.free.len(), d.state_rank), (1, 1, 0));
    }
}

/// Resistors a_k (along), b_k (across) between nodes (k,0),(k,1); each component has potentials and currents.
fn ladder(sections: usize) -> IntegerSystem {
    let mut s = IntegerSystem::default();
    let mut node: Vec<Vec<(usize, usize)>> = vec![Vec::new(); 2 * sections + 2];
    let mut component = |s: &mut IntegerSystem, from: usize, to: usize| {
        let at = s.classes.len();
        s.classes.extend([
            Class::Rest,
            Class::Local,
            Class::Local,
            Class::Rest,
            Class::Local,
        ]); // v pv nv pi ni
        s.rows.push(vec![(at, 1), (at + 1, -1), (at + 2, 1)]);
        s.rows.push(vec![(at + 3, 1), (at + 4, 1)]);
        node[from].push((at + 1, at + 3));
        node[to].push((at + 2, at + 4));
    };
    for k in 0..=sections {
        component(&mut s, 2 * k, 2 * k + 1);
        if k < sections {
            component(&mut s, 2 * k, 2 * k + 2);
            component(&mut s, 2 * k + 1, 2 * k + 3);
        }
    }
    for pins in node {
        s.rows.push(pins.iter().map(|p| (p.1, 1)).collect());
        for pair in pins.windows(2) {
            s.rows.push(vec![(pair[0].0, 1), (pair[1].0, -1)]);
        }
    }
    s
}

fn integer_systems() -> impl Strategy<Value = IntegerSystem> {
    let class = prop_oneof![
        Just(Class::Local),
        Just(Class::Rest),
        Just(Class::State),
        Just(Class::Parameter)
    ];
    let coefficient = prop_oneof![
        Just(1i64),
        Just(-1),
        Just(2),
        Just(-3),
        Just(1),
        Just(-1),
        Just(4)
    ];
    (
        prop::collection::vec(class, 7),
        prop::collection::vec(prop::collection::vec((0usize..7, coefficient), 0..5), 1..8),
    )
        .prop_map(|(classes, rows)| IntegerSystem { classes, rows })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn ff_1_sparse_equals_dense(s in integer_systems()) {
        let d = decide(&s);
        let (rk, rkx, redundant, free) = invariants(&s);
        prop_assert_eq!((d.rank, d.state_rank, d.redundant.len(), d.free.len()), (rk, rkx, redundant, free));
        for c in &d.constraints {
            prop_assert!(c.terms.iter().all(|(v, _)| matches!(s.classes[v.index()], Class::State | Class::Parameter)));
        }
        for c in &d.parameter_constraints {
            prop_assert!(c.terms.iter().all(|(v, _)| s.classes[v.index()] == Class::Parameter));
        }
        same_row_space(&s, &d);
    }

    #[test]
    fn ff_1_incidence_matrices_need_only_units(edges in prop::collection::vec((0usize..6, 0usize..6), 1..12)) {
        let rows = (0..6).map(|n| edges.iter().enumerate()
            .filter(|(_, e)| e.0 != e.1 && (e.0 == n || e.1 == n))
            .map(|(k, e)| (k, if e.0 == n { 1 } else { -1 })).collect()).collect();
        let s = IntegerSystem { classes: vec![Class::Rest; edges.len()], rows };
        let (rk, _, redundant, _) = invariants(&s);
        let d = decide(&s);
        prop_assert_eq!((d.rank, d.redundant.len()), (rk, redundant));
    }
}
