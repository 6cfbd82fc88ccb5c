//! Model families with known answers, at sizes where elements can be compared and at sizes where they cannot.

use std::collections::BTreeMap;

use acausal_structure::segments::{
    Analysis, Direction, Error, Index, Kind, Model, Span, analyse, size_of,
};
use acausal_structure::{EqId, VarId};

use crate::scalarised::agree;

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

/// A surplus array equation is found at a million elements, with the elements named.
#[test]
fn large_singular_model() {
    let n = 100_000;
    let mut m = Model::default();
    let all = Span::new(1, n);
    let (x, y) = (m.variable(&[all], 0), m.variable(&[all], 0));
    m.equation(&[all], &[(x, &[i(0)])]);
    m.equation(&[all], &[(x, &[i(0)]), (x, &[i(0)])]);
    let Err(Error::Singular { over, under }) = analyse(&m) else {
        panic!("two equations for x, none for y")
    };
    assert_eq!(
        over.len(),
        1,
        "a defect that repeats along an array is one defect"
    );
    assert_eq!(
        over[0].equations,
        [(EqId(0), vec![all]), (EqId(1), vec![all])]
    );
    assert_eq!(over[0].variables, [(x, vec![all])]);
    assert_eq!(under.len(), 1);
    assert_eq!(under[0].variables, [(y, vec![all])]);
}

/// Arrays shifted against each other in a long cycle still run in step.
#[test]
fn staggered_arrays_are_not_enumerated() {
    let n = 1000;
    let mut m = Model::default();
    let arrays: Vec<VarId> = (0..40).map(|_| m.variable(&[Span::new(1, n)], 0)).collect();
    for k in 0..40 {
        let next = arrays[(k + 1) % 40];
        m.equation(
            &[Span::new(1, n - 1)],
            &[(arrays[k], &[i(0)]), (next, &[i(1)])],
        );
        m.equation(&[], &[(arrays[k], &[Index::Fixed(n)])]);
    }
    // an equation that uses all of them at the same index
    let z = m.variable(&[Span::new(1, n)], 0);
    let mut row: Vec<(VarId, &[Index])> = vec![(
        z,
        &[Index::Affine {
            iterator: 0,
            coefficient: 1,
            offset: 0,
        }],
    )];
    let here = [i(0)];
    row.extend(arrays.iter().map(|&v| (v, &here[..])));
    m.equation(&[Span::new(1, n)], &row);
    let a = analyse(&m).unwrap();
    assert!(a.enumerated.variables.is_empty());
    assert!(kinds(&a).contains(&format!("Descending {}", 40 * (n - 1))));
}

/// What only the matching has cut apart inside a coupled block is put together again.
#[test]
fn coarsened_blocks_have_one_segment_per_equation() {
    let m = sliding_mass(60);
    let a = analyse(&m).unwrap();
    assert_eq!(
        a.segments.len(),
        8,
        "one element of 8a, 8b, 8c determines something else"
    );
    let c = a.coarsened();
    agree(&m, &Ok(c.clone()));
    assert_eq!(c.segments.len(), 5);
    let elements: u64 = c.segments[0].determines.iter().map(|d| d.elements).sum();
    assert_eq!((c.segments[0].spans[0], elements), (Span::new(1, 60), 60));
    assert_eq!(
        analyse(&tied_masses(1000))
            .unwrap()
            .coarsened()
            .segments
            .len(),
        5
    );
    // nothing to do elsewhere
    let a = analyse(&heat_flux(1000)).unwrap();
    assert_eq!(a.coarsened(), a);
}
