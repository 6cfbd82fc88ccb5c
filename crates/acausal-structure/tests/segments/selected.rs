//! Arrays cut by state selection: a partition of all elements, with the orders of the analysis, and with pieces that cover
//! what they are solved for.

use acausal_structure::segments::{
    Analysis, Cut, Index, Model, Span, StatePreferences, analyse, cut_by_selection, size_of,
};
use acausal_structure::state_selection::Pivot;
use proptest::prelude::*;

use crate::random::random_model;

/// The first accesses of every equation may be solved for, as far as they are single elements; derivatives are rather states
/// than what they are derivatives of.
fn cut(m: &Model, first: usize) -> Option<Cut> {
    let ranks: Vec<usize> = (0..m.variables.len().max(m.equations.len())).collect();
    let pivot = |e: acausal_structure::EqId, a: usize| {
        let index = &m.equations[e.index()].accesses[a].index;
        let moving = m.equations[e.index()].iterators.len();
        let elementwise = (0..moving).all(|k| {
            let moves = |i: &Index| matches!(i, Index::Affine { iterator, .. } if *iterator == k);
            index.iter().any(moves)
        });
        Pivot::from(elementwise && a < first)
    };
    let wanted = StatePreferences {
        pivot: &pivot,
        class: &|_, order| -(order as i32),
        variable_rank: &ranks,
        equation_rank: &ranks,
    };
    cut_by_selection(m, &wanted)
}

/// The boxes are disjoint and cover the arrays, and are differentiated as often as the analysis says.
fn check(m: &Model, a: &Analysis, cut: &Cut) {
    let meet = |x: &[Span], y: &[Span]| x.iter().zip(y).all(|(a, b)| a.lo <= b.hi && b.lo <= a.hi);
    for (e, equation) in m.equations.iter().enumerate() {
        let own: Vec<_> = cut.equations.iter().filter(|x| x.0.index() == e).collect();
        let elements: u64 = own.iter().map(|x| size_of(&x.1)).sum();
        assert_eq!(
            elements,
            size_of(&equation.iterators),
            "equation {e}: {own:?}"
        );
        for (k, x) in own.iter().enumerate() {
            assert!(own[..k].iter().all(|y| !meet(&x.1, &y.1)), "{own:?}");
            for s in a.segments.iter().filter(|s| s.equation.index() == e) {
                assert!(
                    !meet(&x.1, &s.spans) || x.2 == s.differentiations,
                    "{x:?} {s:?}"
                );
            }
        }
    }
    let derivatives: Vec<_> = m.variables.iter().filter_map(|v| v.derivative).collect();
    for (v, variable) in m.variables.iter().enumerate() {
        let own: Vec<_> = cut.variables.iter().filter(|x| x.0.index() == v).collect();
        if derivatives.iter().any(|d| d.index() == v) {
            assert!(own.is_empty());
            continue;
        }
        let elements: u64 = own.iter().map(|x| size_of(&x.1)).sum();
        assert_eq!(elements, size_of(&variable.shape), "variable {v}: {own:?}");
        for (k, x) in own.iter().enumerate() {
            assert!(own[..k].iter().all(|y| !meet(&x.1, &y.1)), "{own:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cuts_are_partitions_with_the_orders_of_the_analysis(seed in any::<u64>(), n in prop_oneof![4i64..12, 40i64..70]) {
        let m = random_model(seed, n);
        if let (Ok(a), Some(cut)) = (analyse(&m), cut(&m, usize::MAX)) {
            check(&m, &a, &cut);
        }
    }
}

/// Cuts exist for most regular models and do not depend on the size.
#[test]
fn cuts_do_not_grow() {
    let (mut regular, mut found) = (0, 0);
    for seed in 0..300 {
        let m = random_model(seed, 50);
        if analyse(&m).is_ok() {
            regular += 1;
            if let Some(small) = cut(&m, usize::MAX) {
                found += 1;
                let big = cut(&random_model(seed, 1_000_000), usize::MAX).unwrap();
                assert_eq!(
                    (small.equations.len(), small.variables.len()),
                    (big.equations.len(), big.variables.len()),
                    "seed {seed}"
                );
            }
        }
    }
    assert!(
        regular > 80 && found * 4 > regular * 3,
        "{found} of {regular}"
    );
}

/// A chain of bodies, solved for left-hand sides: position of each from the angle before it, balances of forces backwards. The positions are cut
/// where their equations are, not where a matching of accelerations to forces happens to change.
#[test]
fn the_kinematics_of_a_chain_stay_whole() {
    let n = 1_000_000;
    let all = Span::new(1, n);
    let i = |offset| Index::shifted(0, offset);
    let mut m = Model::default();
    let phi = m.variable(&[all], 2);
    let (a, b) = (m.variable(&[all], 2), m.variable(&[all], 0));
    let (f, g) = (m.variable(&[all], 0), m.variable(&[all], 0));
    let der2 = |v: acausal_structure::VarId| acausal_structure::VarId(v.0 + 2);
    m.equation(&[], &[(a, &[Index::Fixed(1)])]);
    m.equation(&[Span::new(2, n)], &[(a, &[i(0)]), (b, &[i(-1)])]);
    m.equation(&[all], &[(b, &[i(0)]), (a, &[i(0)]), (phi, &[i(0)])]);
    m.equation(&[all], &[(f, &[i(0)]), (g, &[i(0)]), (der2(a), &[i(0)])]);
    m.equation(&[Span::new(1, n - 1)], &[(g, &[i(0)]), (f, &[i(1)])]);
    m.equation(&[], &[(g, &[Index::Fixed(n)])]);
    m.equation(
        &[all],
        &[(f, &[i(0)]), (phi, &[i(0)]), (der2(phi), &[i(0)])],
    );
    let a_cut = cut(&m, 1).expect("uniform");
    check(&m, &analyse(&m).unwrap(), &a_cut);
    let of = |v: acausal_structure::VarId| -> Vec<Span> {
        let own = a_cut.variables.iter().filter(|x| x.0 == v);
        own.map(|x| x.1[0]).collect()
    };
    assert_eq!(of(a), [Span::new(1, 1), Span::new(2, n)]);
    assert!(
        of(b).len() <= 2 && of(phi).len() <= 2,
        "{:?} {:?}",
        of(b),
        of(phi)
    );
}
