//! Segments against the scalarised model: orders, matching and blocks must agree, at a cost that does not grow with N.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use acausal_structure::blt::strong_components;
use acausal_structure::matching::maximum_matching;
use acausal_structure::pantelides::{Dae, pantelides};
use acausal_structure::segments::{
    Analysis, Direction, Error, Index, Kind, Model, Span, analyse, size_of,
};
use acausal_structure::{EqId, Rows, VarId};
use proptest::prelude::*;

type Element = (usize, Vec<i64>);

fn points(spans: &[Span]) -> Vec<Vec<i64>> {
    let mut out = vec![Vec::new()];
    for s in spans {
        out = out
            .iter()
            .flat_map(|p: &Vec<i64>| (s.lo..=s.hi).map(move |i| [p.clone(), vec![i]].concat()))
            .collect();
    }
    out
}

/// The model with every element a scalar.
struct Scalarised {
    dae: Dae,
    equations: Vec<Element>,
    /// Graph variable of each existing variable element.
    variables: BTreeMap<Element, usize>,
    /// Undifferentiated variable and order of each graph variable.
    root: Vec<(Element, usize)>,
}

fn scalarise(m: &Model) -> Scalarised {
    let mut base: Vec<(usize, usize)> = (0..m.variables.len()).map(|v| (v, 0)).collect();
    for v in 0..m.variables.len() {
        if let Some(d) = m.variables[v].derivative {
            base[d.index()] = (base[v].0, base[v].1 + 1); // chains are numbered upwards
        }
    }
    let mut rows: Vec<Vec<Element>> = Vec::new();
    let mut equations = Vec::new();
    let mut highest: BTreeMap<Element, usize> = BTreeMap::new();
    for (e, eq) in m.equations.iter().enumerate() {
        for p in points(&eq.iterators) {
            let mut row = Vec::new();
            for a in &eq.accesses {
                let spans: Vec<Span> = a
                    .index
                    .iter()
                    .map(|i| match *i {
                        Index::Fixed(k) => Span::new(k, k),
                        Index::All(s) => s,
                        Index::Affine {
                            iterator,
                            coefficient,
                            offset,
                        } => {
                            let k = coefficient * p[iterator] + offset;
                            Span::new(k, k)
                        }
                    })
                    .collect();
                for q in points(&spans) {
                    let v = a.variable.index();
                    let h = highest.entry((base[v].0, q.clone())).or_insert(0);
                    *h = (*h).max(base[v].1);
                    row.push((v, q));
                }
            }
            rows.push(row);
            equations.push((e, p));
        }
    }
    let mut s = Scalarised {
        dae: Dae::default(),
        equations,
        variables: BTreeMap::new(),
        root: Vec::new(),
    };
    for v in 0..m.variables.len() {
        for q in points(&m.variables[v].shape) {
            let exists = base[v].1 == 0
                || highest
                    .get(&(base[v].0, q.clone()))
                    .is_some_and(|&h| h >= base[v].1);
            if exists {
                s.variables.insert((v, q.clone()), s.root.len());
                s.root.push(((base[v].0, q), base[v].1));
                s.dae.graph.add_variable(1);
                s.dae.derivative.push(None);
            }
        }
    }
    for ((v, q), &id) in &s.variables {
        if let Some(d) = m.variables[*v].derivative {
            s.dae.derivative[id] = s
                .variables
                .get(&(d.index(), q.clone()))
                .map(|&x| VarId::new(x));
        }
    }
    for row in rows {
        let ids: BTreeSet<usize> = row.iter().map(|x| s.variables[x]).collect();
        s.dae.graph.add_equation(1, ids.into_iter().map(VarId::new));
    }
    s
}

/// Compares the analysis with the scalarised model, element by element.
fn agree(m: &Model, a: &Result<Analysis, Error>) {
    let s = scalarise(m);
    let (a, d) = match (a, pantelides(&s.dae)) {
        (Ok(a), Ok(d)) => (a, d),
        (Err(Error::Singular { .. }), Err(_)) => return,
        (Ok(_), Err(_)) => panic!("regular as arrays, singular as scalars: {m:?}"),
        (Err(e), Ok(_)) => panic!("regular as scalars, but {e:?}: {m:?}"),
        (Err(e), Err(_)) => panic!("wrong error {e:?}"),
    };
    let at: BTreeMap<&Element, usize> = s
        .equations
        .iter()
        .enumerate()
        .map(|(k, e)| (e, k))
        .collect();
    let mut segment_of = vec![usize::MAX; s.equations.len()];
    for (k, seg) in a.segments.iter().enumerate() {
        for p in points(&seg.spans) {
            let e = at[&(seg.equation.index(), p)];
            assert_eq!(segment_of[e], usize::MAX, "segments are disjoint");
            segment_of[e] = k;
            assert_eq!(
                seg.differentiations as usize,
                d.differentiations(EqId::new(e)),
                "order of {:?} in {m:?}",
                s.equations[e]
            );
        }
    }
    assert!(
        !segment_of.contains(&usize::MAX),
        "segments cover all equations"
    );
    // highest derivatives of the variables
    let above: Vec<usize> = (0..s.root.len())
        .map(|v| {
            std::iter::successors(d.var_derivative[v], |x| d.var_derivative[x.index()]).count()
        })
        .collect();
    let mut seen = 0;
    for seg in &a.variables {
        for p in points(&seg.spans) {
            let v = s.variables[&(seg.variable.index(), p)];
            assert_eq!(seg.order as usize, above[v]);
            seen += 1;
        }
    }
    assert_eq!(seen, s.root.iter().filter(|r| r.1 == 0).count());
    // what segments determine covers every variable exactly once, through accesses that are highest derivatives
    let mut determined: BTreeMap<Element, u64> = BTreeMap::new();
    let mut counted = 0;
    for seg in &a.segments {
        let total: u64 = seg.determines.iter().map(|x| x.elements).sum();
        assert_eq!(total, size_of(&seg.spans));
        for x in &seg.determines {
            counted += x.elements;
            if x.elements == size_of(&x.spans) {
                for p in points(&x.spans) {
                    assert_eq!(
                        determined.insert((x.variable.index(), p.clone()), 1),
                        None,
                        "{:?} twice: {m:?}",
                        (x.variable, p)
                    );
                }
            }
        }
    }
    assert_eq!(counted as usize, seen);
    // blocks
    let top: Vec<Vec<VarId>> = (0..s.equations.len())
        .map(|e| {
            let order = d.differentiations(EqId::new(e));
            let row = s.dae.graph.incidence.row(e).iter();
            row.filter(|v| above[v.index()] == order)
                .map(|v| VarId::new(s.variables[&s.root[v.index()].0]))
                .collect()
        })
        .collect();
    let rows: Rows<VarId> = top.iter().cloned().collect();
    let matching = maximum_matching(&rows, s.root.len(), |_| true);
    assert!(matching.is_complete());
    let owner = |v: &VarId| matching.eq_of_var[v.index()].unwrap().index();
    let scc = strong_components(s.equations.len(), |e| rows.row(e).iter().map(owner));
    let mut scc_of = vec![0; s.equations.len()];
    for (k, part) in scc.iter().enumerate() {
        for &e in part {
            scc_of[e] = k;
        }
    }
    let block_of = |e: usize| a.segments[segment_of[e]].block;
    for e in 0..s.equations.len() {
        for v in rows.row(e) {
            assert!(
                block_of(owner(v)) <= block_of(e),
                "blocks are in solving order: {m:?}"
            );
        }
    }
    for part in scc.iter() {
        let blocks: BTreeSet<usize> = part.iter().map(|&e| block_of(e)).collect();
        assert_eq!(blocks.len(), 1, "a scalar block lies in one block");
        let block = &a.blocks[block_of(part[0])];
        if block.kind != Kind::Coupled {
            // at most one element of every segment, all of one group
            let segments: BTreeSet<usize> = part.iter().map(|&e| segment_of[e]).collect();
            assert_eq!(
                segments.len(),
                part.len(),
                "{:?} is not coupled: {m:?}",
                block
            );
            assert!(
                block
                    .groups
                    .iter()
                    .any(|g| segments.iter().all(|x| g.contains(x)))
            );
        }
    }
    for block in &a.blocks {
        match &block.kind {
            Kind::Elementwise => {
                // no dependence between different copies
                let members: BTreeSet<usize> = (0..s.equations.len())
                    .filter(|&e| block.segments.contains(&segment_of[e]))
                    .collect();
                for &e in &members {
                    for v in rows.row(e) {
                        let o = owner(v);
                        assert!(
                            !members.contains(&o) || scc_of[o] == scc_of[e],
                            "{block:?} is elementwise: {m:?}"
                        );
                    }
                }
            }
            Kind::Recurrence(directions) if directions.len() == 1 && block.segments.len() == 1 => {
                let members: Vec<usize> = (0..s.equations.len())
                    .filter(|&e| segment_of[e] == block.segments[0])
                    .collect();
                for &e in &members {
                    for v in rows.row(e) {
                        let o = owner(v);
                        if o != e && members.contains(&o) {
                            let (mine, other) = (&s.equations[e].1, &s.equations[o].1);
                            match directions[0] {
                                Direction::Ascending => assert!(other < mine, "{m:?}"),
                                Direction::Descending => assert!(other > mine, "{m:?}"),
                                Direction::Independent => panic!("a recurrence has a direction"),
                            }
                        }
                    }
                }
            }
            Kind::Recurrence(_) => {}
            Kind::Coupled => {
                let size: u64 = block
                    .segments
                    .iter()
                    .map(|&k| size_of(&a.segments[k].spans))
                    .sum();
                assert!(size > 1);
            }
        }
    }
}

fn i(offset: i64) -> Index {
    Index::shifted(0, offset)
}

/// Kinds of the blocks with the total number of elements, as text.
fn kinds(a: &Analysis) -> Vec<String> {
    let mut out: Vec<String> = a
        .blocks
        .iter()
        .map(|b| {
            let n: u64 = b
                .segments
                .iter()
                .map(|&s| size_of(&a.segments[s].spans))
                .sum();
            match &b.kind {
                Kind::Elementwise => format!("elementwise {n}/{}", b.segments.len()),
                Kind::Recurrence(d) => format!("{:?} {n}", d[0]),
                Kind::Coupled => format!("coupled {n}"),
            }
        })
        .collect();
    out.sort();
    out
}

fn orders(a: &Analysis) -> Vec<u32> {
    let mut out: BTreeMap<EqId, u32> = BTreeMap::new();
    for s in &a.segments {
        let o = out.entry(s.equation).or_insert(s.differentiations);
        assert_eq!(*o, s.differentiations, "the same for all elements");
    }
    out.into_values().collect()
}

/// Sliding mass with vectors of length n, elementwise.
fn sliding_mass(n: i64) -> Model {
    let mut m = Model::default();
    let all = Span::new(1, n);
    let s = m.variable(&[], 1);
    let r = m.variable(&[all], 1);
    let v = m.variable(&[all], 1);
    let (f, u) = (m.variable(&[all], 0), m.variable(&[all], 0));
    let (ds, dr, dv) = (VarId(s.0 + 1), VarId(r.0 + 1), VarId(v.0 + 1));
    m.equation(&[all], &[(r, &[i(0)]), (s, &[])]);
    m.equation(&[all], &[(v, &[i(0)]), (dr, &[i(0)])]);
    m.equation(&[all], &[(dv, &[i(0)]), (f, &[i(0)]), (u, &[i(0)])]);
    m.equation(&[], &[(f, &[Index::All(all)])]);
    m.equation(&[all], &[(u, &[i(0)]), (s, &[]), (ds, &[])]);
    m
}

/// Heat conduction, direct form with two boundary temperatures.
fn heat(n: i64) -> Model {
    let mut m = Model::default();
    let t = m.variable(&[Span::new(1, n)], 1);
    let dt = VarId(t.0 + 1);
    m.equation(&[], &[(t, &[Index::Fixed(1)])]);
    m.equation(
        &[Span::new(2, n - 1)],
        &[(dt, &[i(0)]), (t, &[i(-1)]), (t, &[i(0)]), (t, &[i(1)])],
    );
    m.equation(&[], &[(t, &[Index::Fixed(n)])]);
    m
}

/// Heat conduction with fluxes: q[i] between T[i-1] and T[i].
fn heat_flux(n: i64) -> Model {
    let mut m = Model::default();
    let t = m.variable(&[Span::new(1, n)], 1);
    let q = m.variable(&[Span::new(1, n + 1)], 0);
    let dt = VarId(t.0 + 1);
    m.equation(
        &[Span::new(1, n)],
        &[(dt, &[i(0)]), (q, &[i(0)]), (q, &[i(1)])],
    );
    m.equation(
        &[Span::new(2, n)],
        &[(q, &[i(0)]), (t, &[i(-1)]), (t, &[i(0)])],
    );
    m.equation(&[], &[(q, &[Index::Fixed(1)]), (t, &[Index::Fixed(1)])]);
    m.equation(&[], &[(q, &[Index::Fixed(n + 1)])]);
    m
}

/// N rotating masses tied by phi[i] = phi[i+1], torques between them.
fn tied_masses(n: i64) -> Model {
    let mut m = Model::default();
    let all = Span::new(1, n);
    let phi = m.variable(&[all], 1);
    let w = m.variable(&[all], 1);
    let tau = m.variable(&[Span::new(1, n - 1)], 0);
    let (dphi, dw) = (VarId(phi.0 + 1), VarId(w.0 + 1));
    m.equation(&[all], &[(dphi, &[i(0)]), (w, &[i(0)])]);
    m.equation(
        &[Span::new(2, n - 1)],
        &[(dw, &[i(0)]), (tau, &[i(-1)]), (tau, &[i(0)])],
    );
    m.equation(&[], &[(dw, &[Index::Fixed(1)]), (tau, &[Index::Fixed(1)])]);
    m.equation(
        &[],
        &[(dw, &[Index::Fixed(n)]), (tau, &[Index::Fixed(n - 1)])],
    );
    m.equation(&[Span::new(1, n - 1)], &[(phi, &[i(0)]), (phi, &[i(1)])]);
    m
}

/// N independent pendulums.
fn pendulums(n: i64) -> Model {
    let mut m = Model::default();
    let all = [Span::new(1, n)];
    let [x, y, w, z] = [0; 4].map(|_| m.variable(&all, 1));
    let force = m.variable(&all, 0);
    let d = |v: VarId| VarId(v.0 + 1);
    m.equation(&all, &[(d(x), &[i(0)]), (w, &[i(0)])]);
    m.equation(&all, &[(d(y), &[i(0)]), (z, &[i(0)])]);
    m.equation(&all, &[(d(w), &[i(0)]), (force, &[i(0)]), (x, &[i(0)])]);
    m.equation(&all, &[(d(z), &[i(0)]), (force, &[i(0)]), (y, &[i(0)])]);
    m.equation(&all, &[(x, &[i(0)]), (y, &[i(0)])]);
    m
}

/// x[1] = 1; x[1:N-1] = x[2:N] as a slice equation.
fn slices(n: i64) -> Model {
    let mut m = Model::default();
    let x = m.variable(&[Span::new(1, n)], 0);
    m.equation(&[Span::new(1, n - 1)], &[(x, &[i(0)]), (x, &[i(1)])]);
    m.equation(&[], &[(x, &[Index::Fixed(1)])]);
    m
}

/// The families at a size where everything can be compared, and at a million at the same cost.
#[test]
fn families_do_not_grow_with_n() {
    type Family = (
        &'static str,
        fn(i64) -> Model,
        &'static [u32],
        fn(u64) -> Vec<String>,
    );
    let families: [Family; 6] = [
        ("sliding mass", sliding_mass, &[2, 1, 0, 0, 0], |n| {
            vec![
                format!("coupled {}", 3 * n + 1),
                format!("elementwise {n}/1"),
            ]
        }),
        ("heat", heat, &[0, 0, 0], |n| {
            vec![
                "elementwise 1/1".into(),
                "elementwise 1/1".into(),
                format!("elementwise {}/1", n - 2),
            ]
        }),
        ("heat flux", heat_flux, &[0, 0, 0, 0], |n| {
            vec![
                "elementwise 1/1".into(),
                "elementwise 1/1".into(),
                "elementwise 1/1".into(),
                format!("elementwise {}/1", n - 1),
                format!("elementwise {}/1", n - 1),
            ]
        }),
        ("tied masses", tied_masses, &[1, 0, 0, 0, 2], |n| {
            vec![format!("coupled {}", 3 * n - 1)]
        }),
        ("pendulums", pendulums, &[1, 1, 0, 0, 2], |n| {
            vec![format!("elementwise {}/5", 5 * n)]
        }),
        ("slices", slices, &[0, 0], |n| {
            vec![format!("Ascending {}", n - 1), "elementwise 1/1".into()]
        }),
    ];
    for (name, family, expected, expected_kinds) in families {
        let small = family(60);
        let a = analyse(&small);
        agree(&small, &a);
        let a = a.unwrap();
        assert_eq!(orders(&a), expected, "{name}");
        let big = analyse(&family(1_000_000)).unwrap();
        assert_eq!(orders(&big), expected, "{name}");
        assert_eq!(
            (big.cells, &big.enumerated),
            (a.cells, &a.enumerated),
            "{name}: the graph does not grow"
        );
        assert!(
            a.enumerated.equations.is_empty() && a.cells < 200,
            "{name}: {}",
            a.cells
        );
        assert_eq!(big.blocks.len(), a.blocks.len());
        assert_eq!(
            kinds(&big),
            {
                let mut k = expected_kinds(1_000_000);
                k.sort();
                k
            },
            "{name}"
        );
    }
}

/// A recurrence is not a loop; with both neighbours it is.
#[test]
fn recurrence_or_loop() {
    let n = 100_000;
    let (first, last) = (Index::Fixed(1), Index::Fixed(n));
    // z[i] = f(z[i-1]), z[1] given
    let mut m = Model::default();
    let z = m.variable(&[Span::new(1, n)], 0);
    m.equation(&[], &[(z, &[first])]);
    m.equation(&[Span::new(2, n)], &[(z, &[i(0)]), (z, &[i(-1)])]);
    assert_eq!(
        kinds(&analyse(&m).unwrap()),
        [format!("Ascending {}", n - 1), "elementwise 1/1".into()]
    );
    // z[i] = f(z[i+1]), z[n] given
    let mut m = Model::default();
    let z = m.variable(&[Span::new(1, n)], 0);
    m.equation(&[], &[(z, &[last])]);
    m.equation(&[Span::new(1, n - 1)], &[(z, &[i(0)]), (z, &[i(1)])]);
    assert_eq!(
        kinds(&analyse(&m).unwrap()),
        [format!("Descending {}", n - 1), "elementwise 1/1".into()]
    );
    // z[i] = f(z[i-1], z[i+1]): one system
    let mut m = Model::default();
    let z = m.variable(&[Span::new(1, n)], 0);
    m.equation(&[], &[(z, &[first])]);
    m.equation(
        &[Span::new(2, n - 1)],
        &[(z, &[i(0)]), (z, &[i(-1)]), (z, &[i(1)])],
    );
    m.equation(&[], &[(z, &[last])]);
    let k = kinds(&analyse(&m).unwrap());
    assert_eq!(
        k,
        [
            format!("coupled {}", n - 2),
            "elementwise 1/1".into(),
            "elementwise 1/1".into()
        ]
    );
    // the ring z[1] = f(z[n]) is one system as well
    let mut m = Model::default();
    let z = m.variable(&[Span::new(1, n)], 0);
    m.equation(&[], &[(z, &[first]), (z, &[last])]);
    m.equation(&[Span::new(2, n)], &[(z, &[i(0)]), (z, &[i(-1)])]);
    assert_eq!(kinds(&analyse(&m).unwrap()), [format!("coupled {n}")]);
    // two arrays that step over each other: x[i] from y[i-1], y[i] from x[i]
    let mut m = Model::default();
    let (x, y) = (
        m.variable(&[Span::new(1, n)], 0),
        m.variable(&[Span::new(1, n)], 0),
    );
    m.equation(&[], &[(x, &[first])]);
    m.equation(&[Span::new(2, n)], &[(x, &[i(0)]), (y, &[i(-1)])]);
    m.equation(&[Span::new(1, n)], &[(y, &[i(0)]), (x, &[i(0)])]);
    let a = analyse(&m).unwrap();
    let block = a.blocks.iter().find(|b| b.segments.len() == 2).unwrap();
    assert_eq!(block.kind, Kind::Recurrence(vec![Direction::Ascending]));
    assert_eq!(block.groups.len(), 2, "x, then y, at every step");
}

/// Two dimensions: a five-point grid, and a recurrence in both directions.
#[test]
fn grids() {
    let laplace = |n: i64| {
        let mut m = Model::default();
        let (all, inner) = (Span::new(1, n), Span::new(2, n - 1));
        let u = m.variable(&[all, all], 1);
        let du = VarId(u.0 + 1);
        let at = |a: i64, b: i64| [Index::shifted(0, a), Index::shifted(1, b)];
        m.equation(
            &[inner, inner],
            &[
                (du, &at(0, 0)),
                (u, &at(0, 0)),
                (u, &at(-1, 0)),
                (u, &at(1, 0)),
                (u, &at(0, -1)),
                (u, &at(0, 1)),
            ],
        );
        for k in [1, n] {
            m.equation(&[all], &[(u, &[Index::Fixed(k), Index::shifted(0, 0)])]);
            m.equation(&[inner], &[(u, &[Index::shifted(0, 0), Index::Fixed(k)])]);
        }
        m
    };
    let m = laplace(24);
    let a = analyse(&m);
    agree(&m, &a);
    let (a, big) = (a.unwrap(), analyse(&laplace(100_000)).unwrap());
    assert_eq!(big.cells, a.cells);
    assert!(big.enumerated.equations.is_empty());
    assert_eq!(
        big.blocks
            .iter()
            .filter(|b| b.kind == Kind::Elementwise)
            .count(),
        big.blocks.len()
    );

    let n = 30;
    let mut m = Model::default();
    let u = m.variable(&[Span::new(1, n), Span::new(1, n)], 0);
    let at = |a: i64, b: i64| [Index::shifted(0, a), Index::shifted(1, b)];
    m.equation(
        &[Span::new(2, n), Span::new(1, n - 1)],
        &[(u, &at(0, 0)), (u, &at(-1, 0)), (u, &at(0, 1))],
    );
    m.equation(
        &[Span::new(1, n)],
        &[(u, &[Index::Fixed(1), Index::shifted(0, 0)])],
    );
    m.equation(
        &[Span::new(2, n)],
        &[(u, &[Index::shifted(0, 0), Index::Fixed(n)])],
    );
    let a = analyse(&m);
    agree(&m, &a);
    let a = a.unwrap();
    let block = a
        .blocks
        .iter()
        .find(|b| b.kind != Kind::Elementwise)
        .unwrap();
    assert_eq!(
        block.kind,
        Kind::Recurrence(vec![Direction::Ascending, Direction::Descending])
    );
}

/// The array level hides a singularity, and differentiates too much; the element level does neither.
#[test]
fn ar_1_elementwise_incidence_is_exact() {
    // r known, r = ex*s1 + ey*s2 + ey*s3: row 1 has s1, row 2 has s2 and s3, row 3 none.
    let mut m = Model::default();
    let r = m.variable(&[Span::new(1, 3)], 0);
    let [s1, s2, s3] = [0; 3].map(|_| m.variable(&[], 0));
    m.equation(&[Span::new(1, 3)], &[(r, &[i(0)])]);
    m.equation(&[], &[(r, &[Index::Fixed(1)]), (s1, &[])]);
    m.equation(&[], &[(r, &[Index::Fixed(2)]), (s2, &[]), (s3, &[])]);
    m.equation(&[], &[(r, &[Index::Fixed(3)])]);
    let a = analyse(&m);
    agree(&m, &a);
    let Err(Error::Singular { over, under }) = a else {
        panic!("singular")
    };
    assert_eq!(
        over[0].equations,
        [(EqId(0), vec![Span::new(3, 3)]), (EqId(3), vec![])]
    );
    assert_eq!(over[0].variables, [(r, vec![Span::new(3, 3)])]);
    assert_eq!(under[0].variables, [(s2, vec![]), (s3, vec![])]);
    // with full incidence the test passes
    let mut full = Model::default();
    let r = full.variable(&[Span::new(1, 3)], 0);
    let s: Vec<VarId> = (0..3).map(|_| full.variable(&[], 0)).collect();
    full.equation(&[Span::new(1, 3)], &[(r, &[Index::All(Span::new(1, 3))])]);
    full.equation(
        &[Span::new(1, 3)],
        &[
            (r, &[Index::All(Span::new(1, 3))]),
            (s[0], &[]),
            (s[1], &[]),
            (s[2], &[]),
        ],
    );
    assert!(analyse(&full).is_ok());

    // x = {sin(t), z}; der(x[2]) = -x[2]: nothing to differentiate
    let mut m = Model::default();
    let x = m.variable(&[Span::new(1, 2)], 1);
    let z = m.variable(&[], 0);
    m.equation(&[], &[(x, &[Index::Fixed(1)])]);
    m.equation(&[], &[(x, &[Index::Fixed(2)]), (z, &[])]);
    m.equation(
        &[],
        &[
            (VarId(x.0 + 1), &[Index::Fixed(2)]),
            (x, &[Index::Fixed(2)]),
        ],
    );
    let a = analyse(&m);
    agree(&m, &a);
    assert_eq!(orders(&a.unwrap()), [0, 0, 0]);
    // with full incidence the vector equation is differentiated once
    let mut full = Model::default();
    let x = full.variable(&[Span::new(1, 2)], 1);
    let z = full.variable(&[], 0);
    let whole = Index::All(Span::new(1, 2));
    full.equation(&[Span::new(1, 2)], &[(x, &[whole]), (z, &[])]);
    full.equation(&[], &[(VarId(x.0 + 1), &[whole]), (x, &[whole])]);
    assert_eq!(orders(&analyse(&full).unwrap()), [1, 0]);
}

/// What cannot be lifted is enumerated, only there, and said so.
#[test]
fn enumeration_is_reported_and_local() {
    let n = 40;
    let mut m = Model::default();
    let all = Span::new(1, n);
    // x[i+1] = der(x[i]) with x[1] given: the differentiation order grows along the chain
    let x = m.variable(&[Span::new(1, n)], 1);
    let dx = VarId(x.0 + 1);
    m.equation(&[], &[(x, &[Index::Fixed(1)])]);
    m.equation(&[Span::new(1, n - 1)], &[(x, &[i(1)]), (dx, &[i(0)])]);
    // and something harmless
    let y = m.variable(&[Span::new(1, 1000)], 0);
    let harmless = m.equation(
        &[Span::new(1, 1000)],
        &[(y, &[i(0)]), (x, &[Index::Fixed(1)])],
    );
    let a = analyse(&m);
    agree(&m, &a);
    let a = a.unwrap();
    assert!(a.enumerated.variables.contains(&x) && !a.enumerated.variables.contains(&y));
    assert!(!a.enumerated.equations.contains(&harmless));
    assert!(a.cells < 150, "{}", a.cells);
    assert_eq!(a.segments[0].differentiations as i64, n - 1);

    // strided access: y[i] = x[2 i]
    let mut m = Model::default();
    let (x, y) = (m.variable(&[Span::new(1, 2 * n)], 0), m.variable(&[all], 0));
    m.equation(&[Span::new(1, 2 * n)], &[(x, &[i(0)])]);
    m.equation(
        &[all],
        &[
            (y, &[i(0)]),
            (
                x,
                &[Index::Affine {
                    iterator: 0,
                    coefficient: 2,
                    offset: 0,
                }],
            ),
        ],
    );
    agree(&m, &analyse(&m));

    // reversed array: y[i] = x[n+1-i] is no reason to enumerate
    let reversed = |n: i64| {
        let mut m = Model::default();
        let all = Span::new(1, n);
        let (x, y) = (m.variable(&[all], 0), m.variable(&[all], 0));
        m.equation(&[Span::new(2, n)], &[(x, &[i(0)]), (x, &[i(-1)])]);
        m.equation(&[], &[(x, &[Index::Fixed(1)])]);
        m.equation(
            &[all],
            &[
                (y, &[i(0)]),
                (
                    x,
                    &[Index::Affine {
                        iterator: 0,
                        coefficient: -1,
                        offset: n + 1,
                    }],
                ),
            ],
        );
        m
    };
    let m = reversed(60);
    let a = analyse(&m);
    agree(&m, &a);
    assert_eq!(
        analyse(&reversed(1_000_000)).unwrap().cells,
        a.unwrap().cells
    );
}

/// A*x = b with a full matrix, and vectors that only occur as a whole.
#[test]
fn full_incidence() {
    let n = 1_000_000;
    let all = Span::new(1, n);
    let mut m = Model::default();
    let x = m.variable(&[all], 1);
    let b = m.variable(&[all], 0);
    m.equation(&[all], &[(x, &[Index::All(all)]), (b, &[i(0)])]);
    m.equation(&[all], &[(VarId(x.0 + 1), &[i(0)]), (x, &[i(0)])]);
    let a = analyse(&m).unwrap();
    assert!(a.enumerated.equations.is_empty());
    assert_eq!(
        kinds(&a),
        [format!("elementwise {n}/1"), format!("elementwise {n}/1")]
    );

    let mut m = Model::default();
    let x = m.variable(&[all], 0);
    m.equation(&[all], &[(x, &[Index::All(all)])]);
    let a = analyse(&m).unwrap();
    assert_eq!(kinds(&a), [format!("coupled {n}")]);

    // lengths that do not match one to one: 2 equations of n/2 for one vector
    let half = Span::new(1, n / 2);
    let mut m = Model::default();
    let x = m.variable(&[all], 0);
    m.equation(&[half], &[(x, &[Index::All(all)])]);
    m.equation(&[half], &[(x, &[Index::All(all)])]);
    let a = analyse(&m).unwrap();
    assert_eq!(kinds(&a), [format!("coupled {n}")]);
    assert!(a.cells < 10);
}

/// A small generator of pseudo-random numbers, so that a failing model is found again by its seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % n
    }
}

/// A model in which every element has an equation of its own most of the time, plus random accesses.
fn random_model(seed: u64, n: i64) -> Model {
    let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    for _ in 0..5 {
        dice.roll(2);
    }
    let mut m = Model::default();
    let all = Span::new(1, n);
    let arrays: Vec<(VarId, usize)> = (0..2 + dice.roll(2))
        .map(|_| {
            let order = [0, 0, 1, 1, 2][dice.roll(5)];
            (m.variable(&[all], order), order)
        })
        .collect();
    let scalars: Vec<(VarId, usize)> = (0..dice.roll(3))
        .map(|_| {
            let order = dice.roll(2);
            (m.variable(&[], order), order)
        })
        .collect();
    let some_order = |dice: &mut Dice, v: (VarId, usize)| VarId(v.0.0 + dice.roll(v.1 + 1) as u32);
    let extra = |dice: &mut Dice, span: Option<Span>| -> Option<(VarId, Vec<Index>)> {
        if !scalars.is_empty() && dice.roll(4) == 0 {
            let s = scalars[dice.roll(scalars.len())];
            return Some((some_order(dice, s), vec![]));
        }
        let v = arrays[dice.roll(arrays.len())];
        let index = match (dice.roll(10), span) {
            (0, _) => Index::Fixed(1),
            (1, _) => Index::Fixed(n),
            (2, _) if dice.roll(3) == 0 => Index::All(all),
            (3, _) if dice.roll(3) == 0 => Index::All(Span::new(2, n - 1)),
            (4 | 5, Some(s)) if s.lo > 1 => i(-1),
            (6 | 7, Some(s)) if s.hi < n => i(1),
            (_, Some(_)) => i(0),
            _ => return None,
        };
        Some((some_order(dice, v), vec![index]))
    };
    let rotation = dice.roll(arrays.len());
    for k in 0..arrays.len() {
        let own = arrays[(k + rotation) % arrays.len()];
        // (span of the equation, index of its own element), so that the own elements cover the array
        let parts: Vec<(Option<Span>, Index)> = match dice.roll(6) {
            0 | 1 => vec![(Some(all), i(0))],
            2 => vec![(None, Index::Fixed(1)), (Some(Span::new(2, n)), i(0))],
            3 => vec![(Some(Span::new(1, n - 1)), i(0)), (None, Index::Fixed(n))],
            4 => vec![(Some(Span::new(1, n - 1)), i(1)), (None, Index::Fixed(1))],
            _ => vec![
                (None, Index::Fixed(1)),
                (Some(Span::new(2, n - 1)), i(0)),
                (None, Index::Fixed(n)),
            ],
        };
        for (span, index) in parts {
            let order = if dice.roll(3) == 0 {
                own.0
            } else {
                VarId(own.0.0 + own.1 as u32)
            };
            let mut accesses: Vec<(VarId, Vec<Index>)> = Vec::new();
            if dice.roll(12) > 0 {
                accesses.push((order, vec![index]));
            }
            for _ in 0..dice.roll(3) {
                accesses.extend(extra(&mut dice, span));
            }
            if dice.roll(2) == 0 {
                accesses.reverse();
            }
            let list: Vec<(VarId, &[Index])> =
                accesses.iter().map(|(v, i)| (*v, i.as_slice())).collect();
            m.equation(span.as_slice(), &list);
        }
    }
    for &s in &scalars {
        let mut accesses = vec![(VarId(s.0.0 + s.1 as u32), vec![])];
        accesses.extend(extra(&mut dice, None));
        let list: Vec<(VarId, &[Index])> =
            accesses.iter().map(|(v, i)| (*v, i.as_slice())).collect();
        m.equation(&[], &list);
    }
    m
}

/// `PROPTEST_CASES` may ask for more.
fn cases(default: u32) -> u32 {
    std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(default)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(300), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn segments_equal_scalars(seed in any::<u64>(), n in prop_oneof![4i64..12, 40i64..70]) {
        let m = random_model(seed, n);
        agree(&m, &analyse(&m));
    }
}

/// Most random models are lifted, not enumerated, and then cost the same at any size.
#[test]
fn random_models_do_not_grow() {
    let (mut regular, mut lifted) = (0, 0);
    for seed in 0..400 {
        if let Ok(a) = analyse(&random_model(seed, 50)) {
            regular += 1;
            if a.enumerated.variables.is_empty() {
                lifted += 1;
                let big = analyse(&random_model(seed, 1_000_000)).unwrap();
                assert_eq!(
                    (big.cells, big.blocks.len(), big.segments.len()),
                    (a.cells, a.blocks.len(), a.segments.len()),
                    "seed {seed}"
                );
            }
        }
    }
    println!("{lifted} of {regular} regular models lifted");
    assert!(
        regular > 100 && lifted * 10 > regular * 9,
        "{lifted} of {regular}"
    );
}
