//! Tearing: the examples of the literature, the chain of a million equations, and random systems against brute force.

mod common;

use std::time::Instant;

use acausal_structure::tearing::cellier::tear_greedily;
use acausal_structure::tearing::{Invalid, Torn, tear};
use acausal_structure::{EqId, Rows, VarId};
use common::rows_of;
use proptest::prelude::*;

fn equations(n: usize) -> Vec<EqId> {
    (0..n).map(EqId::new).collect()
}

fn variables(n: usize) -> Vec<VarId> {
    (0..n).map(VarId::new).collect()
}

/// Smallest number of tearing variables, trying all subsets and peeling.
fn minimum(g: &Rows<VarId>, n: usize, solvable: impl Fn(EqId, VarId) -> bool) -> usize {
    let peels = |torn: u32| {
        let mut known: Vec<bool> = (0..n).map(|v| torn >> v & 1 == 1).collect();
        let mut used = vec![false; g.len()];
        loop {
            let next = (0..g.len()).filter(|&e| !used[e]).find_map(|e| {
                let open: Vec<&VarId> = g.row(e).iter().filter(|v| !known[v.index()]).collect();
                (open.len() == 1 && solvable(EqId::new(e), *open[0])).then(|| (e, open[0].index()))
            });
            match next {
                Some((e, v)) => (used[e], known[v]) = (true, true),
                None => return known.iter().all(|&k| k),
            }
        }
    };
    (0u32..1 << n)
        .filter(|&s| peels(s))
        .map(u32::count_ones)
        .min()
        .unwrap() as usize
}

#[test]
fn ch_1_chain_of_a_million_in_both_orders() {
    let n = 1_000_000;
    let g: Rows<VarId> = (0..n)
        .map(|i| [VarId::new(i), VarId::new((i + n - 1) % n)])
        .collect();
    let unknowns = variables(n);
    let forward = equations(n);
    let backward: Vec<EqId> = forward.iter().rev().copied().collect();
    for (order, torn, residual, visits) in [(forward, n - 1, n - 1, n), (backward, 0, 0, 2 * n - 2)]
    {
        let start = Instant::now();
        let t = tear(&g, n, &unknowns, &order, |_, _| true);
        println!("n = {n}: {:?}", start.elapsed());
        assert_eq!(t.tearing, [VarId::new(torn)]);
        assert_eq!(t.residuals, [EqId::new(residual)]);
        assert_eq!(t.visits, visits);
        t.check(&g, &unknowns, &order).unwrap();
    }
}

#[test]
fn te_1_identity_cycle_test() {
    // e0: z0 = f(z1, z2), e1: z1 = f(z2); a test by equality of levels rejects e1.
    let g = Rows::of(&[&[0, 1, 2], &[1, 2]]);
    let t = tear(&g, 3, &variables(3), &equations(2), |_, _| true);
    assert_eq!(t.solved, [(EqId(1), VarId(1)), (EqId(0), VarId(0))]);
    assert!(t.residuals.is_empty());
}

#[test]
fn te_1_slide_example() {
    let g = Rows::of(&[&[0, 3], &[1, 0, 4], &[2, 1, 0], &[3, 2, 1]]);
    let left = |e: EqId, v: VarId| e.0 == v.0;
    let t = tear(&g, 5, &variables(5), &equations(4), left);
    assert_eq!(
        (t.residuals, t.tearing),
        (vec![EqId(3)], vec![VarId(3), VarId(4)])
    );
    let t = tear(&g, 5, &variables(4), &equations(4), left); // z4 known
    assert_eq!((t.residuals, t.tearing), (vec![EqId(3)], vec![VarId(3)]));
}

/// Three structural examples of the Modia tests (numbers from one there, from zero here).
#[test]
fn te_1_structural_examples() {
    let one = |rows: &[&[usize]]| -> Rows<VarId> {
        rows.iter()
            .map(|r| r.iter().map(|&v| VarId::new(v - 1)))
            .collect()
    };
    let vars = |l: &[usize]| l.iter().map(|&v| VarId::new(v - 1)).collect::<Vec<_>>();
    let eqs = |l: &[usize]| l.iter().map(|&e| EqId::new(e - 1)).collect::<Vec<_>>();

    let g = one(&[
        &[1, 2, 3, 4, 5],
        &[1, 2, 3, 4, 8],
        &[4, 1, 2],
        &[3, 2, 1],
        &[2, 1, 7],
    ]);
    let t = tear(&g, 8, &vars(&[1, 3, 7, 8]), &eqs(&[2, 3, 5, 1]), |_, _| {
        true
    });
    let mut solved = t.solved.clone();
    solved.sort_unstable();
    assert_eq!(solved, [(EqId(1), VarId(0)), (EqId(4), VarId(6))]);
    assert_eq!((t.residuals, t.tearing), (eqs(&[3, 1]), vars(&[3, 8])));

    let g = one(&[
        &[1, 2],
        &[1, 2, 3, 7],
        &[6, 3, 4],
        &[1, 2, 3, 4, 7],
        &[1, 2, 5],
    ]);
    let t = tear(&g, 7, &vars(&[1, 2, 3, 4, 5]), &equations(5), |_, _| true);
    assert_eq!((t.residuals, t.tearing), (eqs(&[4]), vars(&[2])));

    let g = one(&[&[1, 2, 4, 7], &[6, 3, 4], &[2, 5], &[4, 5], &[1, 2, 3, 7]]);
    let t = tear(&g, 7, &vars(&[1, 2, 3, 4, 5]), &equations(5), |_, _| true);
    assert_eq!((t.residuals, t.tearing), (eqs(&[5]), vars(&[5])));
}

#[test]
fn te_1_loop_of_six_and_bridge() {
    // (7.9): natural order b c d f h j needs two, order b c f d h j one; the minimum is one.
    let names = ["u1", "i1", "u2", "i2", "u3", "i3"];
    let g = rows_of(
        &names,
        &["u1 i1", "u2 i2", "u3 i3", "u1 u3", "u2 u3", "i1 i2 i3"],
    );
    assert_eq!(
        tear(&g, 6, &variables(6), &equations(6), |_, _| true)
            .tearing
            .len(),
        2
    );
    let better: Vec<EqId> = [0, 1, 3, 2, 4, 5].map(EqId).to_vec();
    assert_eq!(
        tear(&g, 6, &variables(6), &better, |_, _| true).tearing,
        [VarId(1)]
    );
    assert_eq!(minimum(&g, 6, |_, _| true), 1);
    assert_eq!(
        tear_greedily(&g, 6, &variables(6), &equations(6), |_, _| true)
            .tearing
            .len(),
        1
    );

    // Wheatstone bridge (H7.5): the book says two; one is enough.
    let names = ["u1", "u2", "u3", "u4", "u5", "i1", "i2", "i3", "i4", "i5"];
    let g = rows_of(
        &names,
        &[
            "u1 i1", "u2 i2", "u3 i3", "u4 i4", "u5 i5", "u1 u4", "u2 u5", "u1 u3 u2", "i1 i3 i4",
            "i2 i3 i5",
        ],
    );
    assert_eq!(minimum(&g, 10, |_, _| true), 1);
    assert!(
        tear_greedily(&g, 10, &variables(10), &equations(10), |_, _| true)
            .tearing
            .len()
            <= 2
    );
    // Algorithm N depends on the order: element laws first needs three, this order one.
    assert_eq!(
        tear(&g, 10, &variables(10), &equations(10), |_, _| true)
            .tearing
            .len(),
        3
    );
    let along = [0, 5, 3, 8, 2, 7, 1, 6, 4, 9].map(EqId).to_vec();
    assert_eq!(
        tear(&g, 10, &variables(10), &along, |_, _| true)
            .tearing
            .len(),
        1
    );

    // phi pendulum (7.84): with pivots that keep the solution space (coefficients m and 1) two remain.
    let g = rows_of(
        &["dvx", "dvy", "F", "p"],
        &["dvx F", "dvy F", "dvx p", "dvy p"],
    );
    assert_eq!(minimum(&g, 4, |_, _| true), 1);
    let keeps = |e: EqId, v: VarId| matches!((e.0, v.0), (0, 0) | (1, 1) | (2, 0) | (3, 1));
    let t = tear(&g, 4, &variables(4), &equations(4), keeps);
    assert_eq!(t.tearing, [VarId(2), VarId(3)]);
}

#[test]
fn check_finds_what_is_wrong() {
    let g = Rows::of(&[&[0, 1], &[1, 0]]);
    let (v, e) = (variables(2), equations(2));
    let mut t = tear(&g, 2, &v, &e, |_, _| true);
    assert_eq!(t.check(&g, &v, &e), Ok(()));
    t.solved = vec![(EqId(0), VarId(0)), (EqId(1), VarId(1))];
    t.tearing.clear();
    t.residuals.clear();
    assert_eq!(
        t.check(&g, &v, &e),
        Err(Invalid::UsedBeforeSolved(EqId(0), VarId(1)))
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_systems_give_acyclic_results(rows in prop::collection::vec(prop::collection::vec(0usize..8, 1..4), 8), seed in 0u64..1000) {
        let n = rows.len();
        let g: Rows<VarId> = rows.iter().enumerate().map(|(e, r)| {
            let mut r: Vec<VarId> = r.iter().map(|&v| VarId::new(v)).chain([VarId::new(e)]).collect();
            r.sort_unstable();
            r.dedup();
            r
        }).collect();
        let admissible = |e: EqId, v: VarId| !(e.0 as u64 * 31 + v.0 as u64 * 17 + seed).is_multiple_of(5);
        let (v, e) = (variables(n), equations(n));
        let t = tear(&g, n, &v, &e, admissible);
        prop_assert_eq!(t.check(&g, &v, &e), Ok(()));
        prop_assert!(t.solved.iter().all(|&(e, v)| admissible(e, v)));
        let c = tear_greedily(&g, n, &v, &e, admissible);
        prop_assert_eq!(c.check(&g, &v, &e), Ok(()));
        let least = minimum(&g, n, admissible);
        prop_assert!(t.tearing.len() >= least && c.tearing.len() >= least);
        prop_assert_eq!(t.residuals.len(), t.tearing.len());
        // maximality: no residual can still be solved for a tearing variable without a cycle
        for &r in &t.residuals {
            let mut again: Vec<EqId> = t.solved.iter().map(|p| p.0).collect();
            again.push(r);
            let pairs = t.solved.clone();
            let repeat = tear(&g, n, &v, &again, |e, v| pairs.contains(&(e, v)) || (e == r && admissible(e, v)));
            prop_assert_eq!(repeat.residuals, vec![r]);
        }
    }
}

/// Linear equations `sum(coefficient * unknown) = rhs`.
type Linear = (&'static [(u32, f64)], f64);

/// Relaxation (Cellier & Kofman 2006, §7.6): the torn loop, one variable, each solved equation as `value + slope * torn`.
/// Returns these, and value and slope of the residual.
fn relaxed(equations: &[Linear], unknowns: usize, torn: &Torn) -> (Vec<[f64; 2]>, [f64; 2]) {
    let mut known: Vec<Option<[f64; 2]>> = vec![None; unknowns];
    known[torn.tearing[0].index()] = Some([0.0, 1.0]);
    let rest = |e: EqId, but: Option<VarId>, known: &[Option<[f64; 2]>]| {
        let (terms, rhs) = equations[e.index()];
        let others = terms.iter().filter(|t| Some(VarId(t.0)) != but);
        others.fold([-rhs, 0.0], |sum, &(v, c)| {
            let [value, slope] = known[v as usize].expect("solved before");
            [sum[0] + c * value, sum[1] + c * slope]
        })
    };
    for &(e, v) in &torn.solved {
        let terms = equations[e.index()].0;
        let pivot = terms.iter().find(|t| VarId(t.0) == v).unwrap().1;
        known[v.index()] = Some(rest(e, Some(v), &known).map(|x| -x / pivot));
    }
    let residual = rest(torn.residuals[0], None, &known);
    (known.into_iter().map(|k| k.unwrap()).collect(), residual)
}

fn torn_at(equations: &[Linear], unknowns: u32, order: &[(u32, u32)]) -> Torn {
    let rows: Vec<Vec<usize>> = equations
        .iter()
        .map(|e| e.0.iter().map(|t| t.0 as usize).collect())
        .collect();
    let rows: Vec<&[usize]> = rows.iter().map(Vec::as_slice).collect();
    let g = Rows::of(&rows);
    let all: Vec<VarId> = (0..unknowns).map(VarId).collect();
    let tried: Vec<EqId> = order.iter().map(|o| EqId(o.0)).collect();
    let torn = tear(&g, unknowns as usize, &all, &tried, |e, v| {
        order.contains(&(e.0, v.0))
    });
    torn.check(&g, &all, &tried).unwrap();
    torn
}

#[test]
fn te_1_relaxation_of_three_resistors() {
    // (7.47) with R = 1, 2, 3 and u0 = 10; unknowns u1 u2 u3 i1 i2 i3.
    let equations: [Linear; 6] = [
        (&[(0, 1.0), (3, -1.0)], 0.0),
        (&[(1, 1.0), (4, -2.0)], 0.0),
        (&[(2, 1.0), (5, -3.0)], 0.0),
        (&[(0, 1.0), (2, 1.0)], 10.0),
        (&[(2, 1.0), (1, -1.0)], 0.0),
        (&[(3, 1.0), (4, -1.0), (5, -1.0)], 0.0),
    ];
    let torn = torn_at(
        &equations,
        6,
        &[(2, 2), (4, 1), (3, 0), (1, 4), (0, 3), (5, 9)],
    );
    assert_eq!(torn.tearing, [VarId(5)]);
    let (known, residual) = relaxed(&equations, 6, &torn);
    // u1 = u0 - c1*i3, u2 = -c2*i3 with c1 = 3, c2 = -3; the last pivot is c8 = 5.5.
    assert_eq!(known[0], [10.0, -3.0]);
    assert_eq!(known[1], [0.0, 3.0]);
    assert_eq!(residual, [10.0, -5.5]);
}

#[test]
fn te_1_relaxation_of_the_bridge() {
    // H7.6: torn at i1, the residual is the node c; R = 1, 2, 3, 4, 5, u0 = 10. Unknowns u1..u5, i1..i5.
    let equations: [Linear; 10] = [
        (&[(0, 1.0), (5, -1.0)], 0.0),
        (&[(1, 1.0), (6, -2.0)], 0.0),
        (&[(2, 1.0), (7, -3.0)], 0.0),
        (&[(3, 1.0), (8, -4.0)], 0.0),
        (&[(4, 1.0), (9, -5.0)], 0.0),
        (&[(0, 1.0), (3, 1.0)], 10.0),
        (&[(1, 1.0), (4, 1.0)], 10.0),
        (&[(0, 1.0), (2, 1.0), (1, -1.0)], 0.0),
        (&[(5, 1.0), (7, -1.0), (8, -1.0)], 0.0),
        (&[(6, 1.0), (7, 1.0), (9, -1.0)], 0.0),
    ];
    let order = [
        (0, 0),
        (5, 3),
        (3, 8),
        (8, 7),
        (2, 2),
        (7, 1),
        (1, 6),
        (6, 4),
        (4, 9),
        (9, 99),
    ];
    let torn = torn_at(&equations, 10, &order);
    assert_eq!(torn.tearing, [VarId(5)]);
    let solved: Vec<(u32, u32)> = torn.solved.iter().map(|(e, v)| (e.0, v.0)).collect();
    assert_eq!(solved, order[..9]);
    // Above the diagonal the column of i1 has two entries, Ohm's law of R1 and the node b, and the residual has none.
    let uses = |e: u32| equations[e as usize].0.iter().any(|t| t.0 == 5);
    let above: Vec<u32> = solved.iter().map(|s| s.0).filter(|&e| uses(e)).collect();
    assert_eq!(above, [0, 8]);
    assert!(!uses(torn.residuals[0].0));
    let (known, residual) = relaxed(&equations, 10, &torn);
    let i1 = -residual[0] / residual[1];
    assert!((i1 - 130.0 / 61.0).abs() < 1e-12);
    for (v, sixty_firsts) in [(6, 80.0), (7, 10.0), (8, 120.0), (9, 90.0)] {
        let value = known[v][0] + known[v][1] * i1;
        assert!((value - sixty_firsts / 61.0).abs() < 1e-12);
    }
}
