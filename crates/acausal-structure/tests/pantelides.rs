//! Array Pantelides: capacity form against the tuple form, and the structural entries of the worked examples.

mod common;

use acausal_structure::blt::{constraint_sets, highest_blocks};
use acausal_structure::dulmage_mendelsohn::{decompose, finite_index};
use acausal_structure::flow::{Flow, Graph};
use acausal_structure::matching::maximum_matching;
use acausal_structure::pantelides::{NodeDae, pantelides};
use acausal_structure::{EqId, Rows, VarId};
use common::{blocks_by_origin, model, pantelides_tuples};
use proptest::prelude::*;

/// Pantelides' own pendulum with the association vectors in the order of his paper.
#[test]
fn pendulum_association_vectors() {
    let g = Graph::new(
        &[1; 5],
        &[1; 9],
        &[&[2, 4], &[3, 5], &[0, 6, 8], &[1, 7, 8], &[0, 1]],
    );
    let a = (0..9).map(|v| (v < 4).then(|| VarId::new(v + 4))).collect();
    let d = pantelides(&NodeDae {
        graph: g,
        derivative: a,
    })
    .unwrap();
    let one_based = |x: Option<usize>| x.map_or(0, |k| k + 1);
    let a: Vec<usize> = d
        .var_derivative
        .iter()
        .map(|v| one_based(v.map(VarId::index)))
        .collect();
    let b: Vec<usize> = d
        .eq_derivative
        .iter()
        .map(|e| one_based(e.map(EqId::index)))
        .collect();
    assert_eq!(a, [5, 6, 7, 8, 10, 11, 0, 0, 0, 0, 0]);
    assert_eq!(b, [7, 8, 0, 0, 6, 9, 0, 0, 0]);
}

#[test]
fn sm_1_sliding_mass() {
    let m = model(
        "s r[3] v[3] f[3] u[3]",
        "8a[3]: r s\n8b[3]: v r'\n8c[3]: v' f u\n8d: f\n8e[3]: u s s'",
    );
    let check = finite_index(&m.dae.graph, &m.dae.derivative);
    assert_eq!(
        (check.matched, check.equations, check.variables),
        (20, 20, 20)
    );
    let d = pantelides(&m.dae).unwrap();
    assert_eq!(m.counts(&d), "8a2 8b1");
    assert_eq!(
        (d.graph.elen.len(), d.graph.elen.iter().sum::<u64>()),
        (8, 22)
    );
    let n = m.names(&d);
    let blocks = highest_blocks(&d).unwrap();
    assert_eq!(
        n.blocks(&blocks),
        ["8a'' 8b' 8c 8d | f r'' s'' v'", "8e | u"]
    );
    assert_eq!(blocks.equations(0), [m.eq("8e")]);
    let sets = constraint_sets(&d, &blocks);
    let levels: Vec<String> = sets[1]
        .iter()
        .map(|l| format!("{} | {}", n.eqs(&l.equations), n.vars(&l.unknowns)))
        .collect();
    assert_eq!(
        levels,
        [
            "8a | r s",
            "8a' 8b | r' s' v",
            "8a'' 8b' 8c 8d | f r'' s'' v'"
        ]
    );
}

#[test]
fn ms_1_extended_mattsson_soderlind() {
    let m = model(
        "x1 x2 x3 x4 x5 x6 x7 x8",
        "a: x1 x2\nb: x1 x2 x3 x6'\nc: x1 x3' x4\nd: x1'' x2'' x3'' x4' x6'''\ne: x1'' x2'' x5 x8\nf: x6 x7\ng: x6 x7\nh: x8",
    );
    let d = pantelides(&m.dae).unwrap();
    assert_eq!(m.counts(&d), "a2 b2 c1 f3 g3");
    assert_eq!(d.graph.elen.len(), 19);
    let n = m.names(&d);
    let blocks = highest_blocks(&d).unwrap();
    assert_eq!(
        n.blocks(&blocks),
        [
            "a'' b'' c' d | x1'' x2'' x3'' x4'",
            "e | x5",
            "f''' g''' | x6''' x7'''",
            "h | x8"
        ]
    );
    let levels: Vec<usize> = constraint_sets(&d, &blocks).iter().map(Vec::len).collect();
    let mut sorted = levels;
    sorted.sort_unstable();
    assert_eq!(sorted, [1, 1, 3, 4]);
}

#[test]
fn mb_1_multibody_and_pendulums() {
    let m = model(
        "q[3] v[3] lam[2]",
        "11a[3]: q' v\n11b[3]: q v v' lam\n11c[2]: q",
    );
    let d = pantelides(&m.dae).unwrap();
    assert_eq!(m.counts(&d), "11a1 11c2");
    assert_eq!(
        m.names(&d).blocks(&highest_blocks(&d).unwrap()),
        ["11a' 11b 11c'' | lam q'' v'"]
    );

    let m = model(
        "x y vx vy F",
        "a: vx' F x\nb: vy' F y\nc: x' vx\nd: y' vy\ne: x y",
    );
    let d = pantelides(&m.dae).unwrap();
    assert_eq!((m.counts(&d).as_str(), d.graph.elen.len()), ("c1 d1 e2", 9));
    assert_eq!(highest_blocks(&d).unwrap().len(), 1);

    let m = model(
        "x y vx vy F phi",
        "a: vx' F x\nb: vy' F y\nc: x' vx\nd: y' vy\ne: x phi\nf: y phi",
    );
    let d = pantelides(&m.dae).unwrap();
    assert_eq!(
        (m.counts(&d).as_str(), d.graph.elen.len()),
        ("c1 d1 e2 f2", 12)
    );
}

#[test]
fn bl_1_circuits_of_chapter_seven() {
    let ten = "a: u0\nb: u1 i1\nc: u2 i2\nd: uL iL'\ne: iC uC'\nf: u0 u1 uL\ng: uC u1 u2\nh: uL u2\ni: i0 i1 iC\nj: i1 i2 iL";
    let m = model("u0 i0 u1 i1 u2 i2 uL iL uC iC", ten); // (7.52)
    let d = pantelides(&m.dae).unwrap();
    assert_eq!(
        (m.counts(&d).as_str(), d.graph.elen.len()),
        ("a1 b1 c1 f1 g1 h1 j1", 17)
    );
    let blocks = highest_blocks(&d).unwrap();
    let mut sizes: Vec<usize> = blocks.iter().map(|(e, _)| e.len()).collect();
    assert_eq!(
        blocks.equations(0),
        [m.eq("d")],
        "the first block is d, though it uses what a lower level computes"
    );
    sizes.sort_unstable();
    assert_eq!(sizes, [1, 1, 1, 1, 1, 5]);

    let m = model(
        "u0 v0 v1 v2 i0 u1 i1 u2 i2 uL iL uC iC",
        "a: u0\nb: u0 v1 v0\nc: u1 i1\nd: u1 v1 v2\ne: u2 i2\nf: u2 v2 v0\ng: uL iL'\nh: uL v2 v0\ni: iC uC'\nj: uC v1 v0\nk: v0\nl: i0 i1 iC\nm: i1 i2 iL",
    ); // (7.53)
    let d = pantelides(&m.dae).unwrap();
    assert_eq!(
        (m.counts(&d).as_str(), d.graph.elen.len()),
        ("a1 b1 j1 k1", 17)
    );
    let blocks = m.names(&d).blocks(&highest_blocks(&d).unwrap());
    assert_eq!(blocks.len(), 9);
    assert!(blocks.contains(&"c d e f m | i1 i2 u1 u2 v2".to_string()));

    // (7.71): the book's loop of eleven equations has blocks of five, one and five.
    let names = [
        "uL", "u1", "duL", "du1", "u2", "i2", "du2", "di2", "i1", "di1", "diL",
    ];
    let g = common::scalar_graph(
        &names,
        &[
            "uL u1",
            "duL du1",
            "u2 i2",
            "du2 di2",
            "i1 i2",
            "di1 di2 diL",
            "uL u2",
            "duL du2",
            "u1 i1",
            "du1 di1",
            "uL diL",
        ],
    );
    let b = acausal_structure::blt::blocks(&g, &Flow::maximum(&g, |_| true), |_| true).unwrap();
    assert_eq!(
        b.iter().map(|(e, _)| e.len()).collect::<Vec<_>>(),
        [5, 1, 5]
    );
}

/// The circuit without ground of figure 1: structural methods do not notice that it is singular; treated (one balance
/// removed, one replaced by the constraint between the states, one potential fixed) it has one state.
#[test]
fn f1_1_untreated_and_treated_circuit() {
    let parts = "i1: L1pv L1nv L1v\ni2: L1pi L1ni\ni3: L2pv L2nv L2v\ni4: L2pi L2ni\ni5: R1pv R1nv R1v\n\
         i6: R1pi R1ni\ni7: R2pv R2nv R2v\ni8: R2pi R2ni\ni9: Vpv Vnv Vv\ni10: Vpi Vni\ni11: Vpv L1pv\n\
         i12: Vpi L1pi\ni13: L1nv R1pv\ni14: L1nv R2pv\ni16: R1nv L2pv\ni17: R2nv L2pv\ni18: R1ni R2ni L2pi\n\
         i19: L2nv Vnv\nL1: L1pi' L1v\nL2: L2pi' L2v\nR1: R1v R1pi\nR2: R2v R2pi\nV: Vv\n";
    let vars = "L1v L1pv L1pi L1nv L1ni L2v L2pv L2pi L2nv L2ni R1v R1pv R1pi R1nv R1ni \
        R2v R2pv R2pi R2nv R2ni Vv Vpv Vpi Vnv Vni";
    let untreated = model(vars, &format!("{parts}i15: L1ni R1pi R2pi\ni20: L2ni Vni"));
    let check = finite_index(&untreated.dae.graph, &untreated.dae.derivative);
    assert!(check.is_complete());
    assert_eq!((check.matched, check.equations), (27, 27));
    let d = pantelides(&untreated.dae).unwrap();
    assert_eq!(
        (untreated.counts(&d).as_str(), d.graph.elen.len()),
        ("i41 i101 i121 i201", 29)
    );

    let treated = model(vars, &format!("{parts}con: L1pi L2pi\nfree: Vnv"));
    let d = pantelides(&treated.dae).unwrap();
    assert_eq!(
        (treated.counts(&d).as_str(), d.graph.elen.len()),
        ("con1", 26)
    );
    let mut sizes: Vec<usize> = highest_blocks(&d)
        .unwrap()
        .iter()
        .map(|b| b.0.len())
        .collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [1, 1, 1, 1, 1, 1, 1, 1, 1, 16]);
}

/// Inverse reactor (H7.8), rigid coupling (Mattsson 3.2), parallel capacitors (7.54).
#[test]
fn further_index_reductions() {
    let table = [
        (
            "C T R TC",
            "a: C' C R\nb: T' T R TC\nc: R T C\nd: C",
            "a1 c1 d2",
            4,
        ),
        (
            "w1 w2 Qr1 Ql2",
            "a: w1' Qr1\nb: w2' Ql2\nc: Qr1 Ql2\ne: w1 w2",
            "e1",
            1,
        ),
        (
            "u0 uR i0 i1 u1 i2 u2",
            "a: u0\nb: uR i0\nc: i1 u1'\nd: i2 u2'\ne: u0 uR u1\nf: u2 u1\ng: i0 i1 i2",
            "f1",
            4,
        ),
    ];
    for (vars, equations, counts, blocks) in table {
        let m = model(vars, equations);
        let d = pantelides(&m.dae).unwrap();
        assert_eq!(m.counts(&d), counts);
        assert_eq!(highest_blocks(&d).unwrap().len(), blocks, "{equations}");
    }
}

/// Too many and too few equations are found before anything is differentiated, with the culprits.
#[test]
fn singular_systems_are_named() {
    // pendulum with a second, independent constraint
    let m = model(
        "x y vx vy F",
        "a: vx' F x\nb: vy' F y\nc: x' vx\nd: y' vy\ne: x y\nf: x y",
    );
    let e = pantelides(&m.dae).unwrap_err();
    assert_eq!((e.0.equations, e.0.variables, e.0.matched), (10, 9, 9));
    assert_eq!(e.0.over.len(), 1);
    assert!(
        e.0.over[0].2.equations.contains(&m.eq("e"))
            && e.0.over[0].2.equations.contains(&m.eq("f"))
    );
    // pendulum without constraint
    let m = model("x y vx vy F", "a: vx' F x\nb: vy' F y\nc: x' vx\nd: y' vy");
    let e = pantelides(&m.dae).unwrap_err();
    assert_eq!((e.0.equations, e.0.variables, e.0.matched), (8, 9, 8));
    assert!(e.0.under[0].2.variables.contains(&m.var("F")));
}

fn systems(lengths: std::ops::RangeInclusive<u64>) -> impl Strategy<Value = NodeDae> {
    (2usize..6).prop_flat_map(move |n| {
        let lens = prop::collection::vec(lengths.clone(), n);
        let orders = prop::collection::vec(0usize..3, n);
        let rows = prop::collection::vec(prop::collection::vec((0..n, 0usize..3), 1..4), n);
        (lens, orders, rows).prop_map(move |(lens, orders, rows)| {
            let mut dae = NodeDae::default();
            let mut first = Vec::new();
            for v in 0..n {
                first.push(dae.graph.vlen.len());
                for o in 0..=orders[v] {
                    let id = dae.graph.add_variable(lens[v]);
                    dae.derivative.push(None);
                    if o > 0 {
                        dae.derivative[id.index() - 1] = Some(id);
                    }
                }
            }
            for (e, row) in rows.iter().enumerate() {
                // the own variable keeps most systems regular
                let mut vars: Vec<VarId> = row
                    .iter()
                    .map(|&(v, o)| VarId::new(first[v] + o.min(orders[v])))
                    .collect();
                vars.push(VarId::new(first[e] + row[0].1.min(orders[e])));
                vars.sort_unstable();
                vars.dedup();
                dae.graph.add_equation(lens[e], vars);
            }
            dae
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn capacity_form_equals_tuple_form(dae in systems(1..=4)) {
        if let Ok(d) = pantelides(&dae) {
            let counts: Vec<usize> = (0..dae.graph.elen.len()).map(|e| d.differentiations(EqId::new(e))).collect();
            let (tuple_counts, tuple_blocks) = pantelides_tuples(&dae);
            prop_assert_eq!(counts, tuple_counts);
            prop_assert_eq!(blocks_by_origin(&d, &highest_blocks(&d).unwrap()), tuple_blocks);
            let differentiated: usize = d.steps.iter().map(|s| s.equations.len()).sum();
            prop_assert_eq!(differentiated, d.graph.elen.len() - d.original_equations);
            for s in &d.steps {
                let e: u64 = s.equations.iter().map(|e| d.graph.elen[e.index()]).sum();
                let v: u64 = s.variables.iter().map(|v| d.graph.vlen[v.index()]).sum();
                prop_assert!(e > v, "a coloured set is over-determined");
            }
        }
    }

    #[test]
    fn order_of_equations_does_not_matter(dae in systems(1..=3)) {
        let n = dae.graph.elen.len();
        let reversed = NodeDae {
            graph: Graph {
                elen: dae.graph.elen.iter().rev().copied().collect(),
                vlen: dae.graph.vlen.clone(),
                incidence: (0..n).rev().map(|e| dae.graph.incidence.row(e).to_vec()).collect(),
            },
            derivative: dae.derivative.clone(),
        };
        match (pantelides(&dae), pantelides(&reversed)) {
            (Ok(a), Ok(b)) => for e in 0..n {
                prop_assert_eq!(a.differentiations(EqId::new(e)), b.differentiations(EqId::new(n - 1 - e)));
            },
            (Err(_), Err(_)) => {}
            _ => prop_assert!(false, "only one order is regular"),
        }
    }

    /// Flow with unit lengths, Hopcroft-Karp, and the expanded element graph agree; the coarse split is what it claims.
    #[test]
    fn matchings_agree(rows in prop::collection::vec(prop::collection::vec(0usize..7, 0..4), 1..8),
                       elen in prop::collection::vec(1u64..4, 8), vlen in prop::collection::vec(1u64..4, 7)) {
        let incidence: Rows<VarId> = rows.iter().map(|r| {
            let mut r: Vec<VarId> = r.iter().map(|&v| VarId::new(v)).collect();
            r.sort_unstable();
            r.dedup();
            r
        }).collect();
        let scalar = Graph::scalar(incidence.clone(), 7);
        prop_assert_eq!(Flow::maximum(&scalar, |_| true).total() as usize, maximum_matching(&incidence, 7, |_| true).size());
        let g = Graph { elen: elen[..rows.len()].to_vec(), vlen: vlen.clone(), incidence };
        let offset: Vec<usize> = (0..7).map(|v| vlen[..v].iter().sum::<u64>() as usize).collect();
        let expanded: Rows<VarId> = (0..rows.len())
            .flat_map(|e| std::iter::repeat_n(e, elen[e] as usize))
            .map(|e| g.incidence.row(e).iter()
                .flat_map(|v| (0..vlen[v.index()] as usize).map(|k| VarId::new(offset[v.index()] + k)))
                .collect::<Vec<_>>())
            .collect();
        let m = maximum_matching(&expanded, vlen.iter().sum::<u64>() as usize, |_| true);
        let dm = decompose(&g, |_| true);
        prop_assert_eq!(dm.flow.total() as usize, m.size());
        let count = |e: &[EqId], v: &[VarId]| (e.iter().map(|e| g.elen[e.index()]).sum::<u64>(), v.iter().map(|v| g.vlen[v.index()]).sum::<u64>());
        let (e, v) = count(&dm.over.equations, &dm.over.variables);
        prop_assert_eq!(e - v, dm.surplus.iter().map(|s| s.1).sum::<u64>());
        let (e, v) = count(&dm.under.equations, &dm.under.variables);
        prop_assert_eq!(v - e, dm.undetermined.iter().map(|s| s.1).sum::<u64>());
        let (e, v) = count(&dm.well.equations, &dm.well.variables);
        prop_assert_eq!(e, v);
    }
}
