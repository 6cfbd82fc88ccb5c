//! Integer elimination on arrays against the elimination of all elements.
#![allow(clippy::unwrap_used)]

use acausal_structure::VarId;
use acausal_structure::integer_elimination::arrays::{
    ArrayDecisions, ArraySystem, ArrayTerm, decide_arrays,
};
use acausal_structure::integer_elimination::{Class, IntegerSystem, decide, decide_in_order};
use acausal_structure::segments::{Index, Span, size_of};
use proptest::prelude::*;

fn span(lo: i64, hi: i64) -> Span {
    Span::new(lo, hi)
}

fn at(offset: i64) -> Vec<Index> {
    vec![Index::shifted(0, offset)]
}

fn one(i: i64) -> Vec<Index> {
    vec![Index::Fixed(i)]
}

/// All points of a box.
fn points(spans: &[Span]) -> Vec<Vec<i64>> {
    let mut out = vec![Vec::new()];
    for s in spans {
        out = out
            .iter()
            .flat_map(|p: &Vec<i64>| {
                (s.lo..=s.hi).map(move |i| p.iter().copied().chain([i]).collect())
            })
            .collect();
    }
    out
}

/// Every element as a column; the columns of array `v` begin at `first[v]`.
struct Oracle {
    first: Vec<usize>,
    shapes: Vec<Vec<Span>>,
    system: IntegerSystem,
    /// First row of each array row.
    rows: Vec<usize>,
}

impl Oracle {
    fn new(s: &ArraySystem) -> Oracle {
        let mut o = Oracle {
            first: Vec::new(),
            shapes: s.variables.iter().map(|v| v.shape.clone()).collect(),
            system: IntegerSystem::default(),
            rows: Vec::new(),
        };
        for v in &s.variables {
            o.first.push(o.system.classes.len());
            for p in points(&v.shape) {
                let inside = |class: Class| {
                    let contains =
                        |b: &[Span]| p.iter().zip(b).all(|(i, s)| s.lo <= *i && *i <= s.hi);
                    v.uses.iter().any(|u| u.1 == class && contains(&u.0))
                };
                o.system.classes.push(if inside(Class::State) {
                    Class::State
                } else if inside(Class::Rest) {
                    Class::Rest
                } else {
                    v.class
                });
            }
        }
        for r in &s.rows {
            o.rows.push(o.system.rows.len());
            for p in points(&r.iterators) {
                let terms = o.terms(&r.terms, &p);
                o.system.rows.push(terms);
            }
        }
        o
    }

    fn column(&self, v: usize, p: &[i64]) -> usize {
        let digits = p.iter().zip(&self.shapes[v]);
        self.first[v] + digits.fold(0, |n, (i, s)| n * s.size() as usize + (i - s.lo) as usize)
    }

    fn terms(&self, terms: &[ArrayTerm], p: &[i64]) -> Vec<(usize, i64)> {
        let mut out = Vec::new();
        for (v, index, factor) in terms {
            let ranges: Vec<Span> = index
                .iter()
                .map(|i| match *i {
                    Index::Fixed(i) => span(i, i),
                    Index::All(s) => s,
                    Index::Affine {
                        iterator,
                        coefficient,
                        offset,
                    } => {
                        let i = coefficient * p[iterator] + offset;
                        span(i, i)
                    }
                })
                .collect();
            for q in points(&ranges) {
                out.push((self.column(v.index(), &q), *factor));
            }
        }
        out
    }

    fn row(&self, r: usize, spans: &[Span], p: &[i64]) -> usize {
        let digits = p.iter().zip(spans);
        self.rows[r] + digits.fold(0, |n, (i, s)| n * s.size() as usize + (i - s.lo) as usize)
    }

    /// Rank with respect to some classes.
    fn rank(&self, rows: &[Vec<(usize, i64)>], classes: &[Class]) -> usize {
        let part = IntegerSystem {
            classes: vec![Class::Rest; self.system.classes.len()],
            rows: rows
                .iter()
                .map(|r| {
                    let seen = |t: &&(usize, i64)| classes.contains(&self.system.classes[t.0]);
                    r.iter().filter(seen).copied().collect()
                })
                .collect(),
        };
        decide(&part).rank
    }
}

const INNER: [Class; 2] = [Class::Local, Class::Rest];
const VISIBLE: [Class; 3] = [Class::Local, Class::Rest, Class::State];
const ALL: [Class; 4] = [Class::Local, Class::Rest, Class::State, Class::Parameter];

fn count<T>(items: &[T], spans: impl Fn(&T) -> &Vec<Span>) -> usize {
    items.iter().map(|i| size_of(spans(i)) as usize).sum()
}

/// The decisions are right for the elements: the counts, the row space, and that free unknowns cure the rest.
fn check(s: &ArraySystem, d: &ArrayDecisions) -> Result<(), TestCaseError> {
    let o = Oracle::new(s);
    let exact = decide(&o.system);
    // Columns that no row touches are none of the elimination's business.
    let mut touched = vec![false; o.system.classes.len()];
    o.system
        .rows
        .iter()
        .flatten()
        .for_each(|t| touched[t.0] = true);
    let free = exact.free.iter().filter(|v| touched[v.index()]).count();
    prop_assert_eq!(count(&d.redundant, |r| &r.1), exact.redundant.len());
    prop_assert_eq!(count(&d.free, |r| &r.1), free);
    prop_assert_eq!(count(&d.constraints, |c| &c.at), exact.constraints.len());
    prop_assert_eq!(
        count(&d.parameter_constraints, |c| &c.at),
        exact.parameter_constraints.len()
    );
    let mut rows = o.system.rows.clone();
    let mut gone = vec![false; rows.len()];
    for (r, at) in &d.redundant {
        for p in points(at) {
            let k = o.row(*r, &s.rows[*r].iterators, &p);
            prop_assert!(!gone[k], "removed twice");
            gone[k] = true;
        }
    }
    for c in d.constraints.iter().chain(&d.parameter_constraints) {
        for p in points(&c.at) {
            let k = o.row(c.replaces, &s.rows[c.replaces].iterators, &p);
            prop_assert!(!gone[k], "replaced twice or removed");
            rows[k] = o.terms(&c.terms, &p);
            let inner = rows[k]
                .iter()
                .any(|t| INNER.contains(&o.system.classes[t.0]));
            prop_assert!(!inner, "a constraint holds an unknown");
        }
    }
    let kept: Vec<Vec<(usize, i64)>> = (0..rows.len())
        .filter(|&k| !gone[k])
        .map(|k| rows[k].clone())
        .collect();
    for classes in [&[Class::Local][..], &INNER, &VISIBLE, &ALL] {
        prop_assert_eq!(o.rank(&kept, classes), o.rank(&o.system.rows, classes));
    }
    prop_assert_eq!(o.rank(&kept, &ALL), kept.len(), "still redundant");
    let mut both = kept.clone();
    both.extend(o.system.rows.iter().cloned());
    prop_assert_eq!(o.rank(&both, &ALL), kept.len(), "another row space");
    // v = 0 for the free ones leaves nothing open.
    let mut fixed = kept;
    for (v, at) in &d.free {
        fixed.extend(points(at).iter().map(|p| vec![(o.column(v.index(), p), 1)]));
    }
    let local = (0..touched.len())
        .filter(|&c| touched[c] && o.system.classes[c] == Class::Local)
        .count();
    prop_assert_eq!(o.rank(&fixed, &[Class::Local]), local);
    Ok(())
}

#[test]
fn chain_of_aliases() {
    let n = 1_000_000;
    let mut s = ArraySystem::default();
    let x = s.variable(&[span(1, n)], Class::State);
    s.row(&[span(1, n - 1)], &[(x, at(0), 1), (x, at(1), -1)]);
    let d = decide_arrays(&s, &decide, 1000).unwrap();
    assert_eq!(d.constraints.len(), 1);
    assert_eq!(d.constraints[0].at, [span(1, n - 1)]);
    assert!(d.elements < 100);
}

#[test]
fn capacitors_side_by_side() {
    // v[i] = p[i] - q[i], p[i] = p[i+1], q[i] = q[i+1]: v is a state, all are equal.
    let build = |n: i64| {
        let mut s = ArraySystem::default();
        let all = [span(1, n)];
        let (p, q) = (
            s.variable(&all, Class::Local),
            s.variable(&all, Class::Local),
        );
        let v = s.variable(&all, Class::State);
        s.row(&all, &[(v, at(0), 1), (p, at(0), -1), (q, at(0), 1)]);
        for x in [p, q] {
            let k = s.row(&[span(1, n - 1)], &[(x, at(0), 1), (x, at(1), -1)]);
            s.rows[k].late = true;
        }
        s
    };
    for n in [5, 20, 40] {
        let s = build(n);
        let d = decide_arrays(&s, &decide, 10_000).unwrap();
        check(&s, &d).unwrap();
        assert_eq!(count(&d.constraints, |c| &c.at), n as usize - 1);
    }
    let d = decide_arrays(&build(1_000_000), &decide, 10_000).unwrap();
    assert_eq!(count(&d.constraints, |c| &c.at), 999_999);
    assert!(d.constraints.len() < 10, "{:?}", d.constraints);
}

#[test]
fn period_two_is_seen() {
    // x[i+1] = -x[i], x[1] = x[N]: the last is redundant for odd N only.
    for n in [9, 10, 39, 40, 999, 1000] {
        let mut s = ArraySystem::default();
        let x = s.variable(&[span(1, n)], Class::Local);
        s.row(&[span(1, n - 1)], &[(x, at(0), 1), (x, at(1), 1)]);
        s.row(&[], &[(x, one(1), 1), (x, one(n), -1)]);
        let d = decide_arrays(&s, &decide, 10_000).unwrap();
        check(&s, &d).unwrap();
        assert_eq!(d.redundant.len(), n as usize % 2, "n = {n}");
    }
}

#[test]
fn period_four_is_seen() {
    // y[i] = z[i-1], z[i] = -y[i-1]: y repeats after four elements, and four in a row add up to zero. The last row is
    // redundant for every fourth N only.
    for n in [12, 13, 14, 15, 16, 36, 37, 1000, 1001] {
        let mut s = ArraySystem::default();
        let y = s.variable(&[span(0, n)], Class::Local);
        let z = s.variable(&[span(0, n)], Class::Rest);
        s.row(&[span(1, n - 1)], &[(y, at(-1), -1), (z, at(0), -1)]);
        s.row(&[span(1, n)], &[(z, at(-1), 1), (y, at(0), -1)]);
        let sum = s.row(&[], &[(y, vec![Index::All(span(1, n))], 1)]);
        s.rows[sum].late = true;
        let d = decide_arrays(&s, &decide, 10_000).unwrap();
        if n < 100 {
            check(&s, &d).unwrap();
        }
        assert_eq!(d.redundant.len(), (n % 4 == 0) as usize, "n = {n}");
    }
}

#[test]
fn grid_of_resistors_without_ground() {
    // Potentials v[i,j], currents along both directions, one balance per node.
    let build = |n: i64, m: i64| {
        let mut s = ArraySystem::default();
        let ij = |a: i64, b: i64| vec![Index::shifted(0, a), Index::shifted(1, b)];
        let v = s.variable(&[span(1, n), span(1, m)], Class::Local);
        let (ex, ey) = ([span(1, n - 1), span(1, m)], [span(1, n), span(1, m - 1)]);
        let (ux, uy) = (s.variable(&ex, Class::Rest), s.variable(&ey, Class::Rest));
        s.row(
            &ex,
            &[(ux, ij(0, 0), 1), (v, ij(0, 0), -1), (v, ij(1, 0), 1)],
        );
        s.row(
            &ey,
            &[(uy, ij(0, 0), 1), (v, ij(0, 0), -1), (v, ij(0, 1), 1)],
        );
        // Currents at the border are zero: arrays with a margin.
        let (jx, jy) = (
            s.variable(&[span(0, n), span(1, m)], Class::Rest),
            s.variable(&[span(1, n), span(0, m)], Class::Rest),
        );
        let k = s.row(
            &[span(1, n), span(1, m)],
            &[
                (jx, ij(0, 0), 1),
                (jx, ij(-1, 0), -1),
                (jy, ij(0, 0), 1),
                (jy, ij(0, -1), -1),
            ],
        );
        s.rows[k].late = true;
        let j = |i: Index, j: Index| vec![i, j];
        let (a, b) = (Index::shifted(0, 0), [0, n].map(Index::Fixed));
        s.row(&[span(1, m)], &[(jx, j(b[0], a), 1)]);
        s.row(&[span(1, m)], &[(jx, j(b[1], a), 1)]);
        s.row(&[span(1, n)], &[(jy, j(a, Index::Fixed(0)), 1)]);
        s.row(&[span(1, n)], &[(jy, j(a, Index::Fixed(m)), 1)]);
        s
    };
    let small = build(9, 12);
    let d = decide_arrays(&small, &decide_in_order, 100_000).unwrap();
    check(&small, &d).unwrap();
    let d = decide_arrays(&build(1000, 3000), &decide_in_order, 100_000).unwrap();
    assert_eq!((d.redundant.len(), d.free.len()), (1, 1));
}

/// Start offset, end offset, terms (array, shift, coefficient), fixed extra term.
type RowRecipe = (i64, i64, Vec<(usize, i64, i64)>, Option<(usize, u8, i64)>);

#[derive(Clone, Debug)]
struct Recipe {
    n: i64,
    /// Class of each array and whether its ends are used otherwise.
    arrays: Vec<(u8, u8)>,
    rows: Vec<RowRecipe>,
    /// Scalar rows: terms at (array, place, coefficient).
    ends: Vec<Vec<(usize, u8, i64)>>,
}

fn has_two(rows: &[RowRecipe]) -> bool {
    rows.iter().any(|r| r.2.iter().any(|t| t.2 == 2))
}

fn recipes() -> impl Strategy<Value = Recipe> {
    let coefficient = prop_oneof![5 => Just(1i64), 5 => Just(-1), 1 => Just(2)];
    let term = (0usize..3, -1i64..=1, coefficient.clone());
    let place = (0usize..3, 0u8..4, coefficient);
    let row = (
        0i64..2,
        0i64..2,
        prop::collection::vec(term, 1..4),
        prop::option::weighted(0.2, place.clone()),
    );
    (
        9i64..34,
        prop::collection::vec((0u8..4, 0u8..4), 3),
        prop::collection::vec(row, 1..4),
        prop::collection::vec(prop::collection::vec(place, 1..3), 0..3),
    )
        .prop_map(|(n, arrays, rows, ends)| Recipe {
            // A chain of equations with a factor of two has coefficients like 4^n: shorter, so that none is left out
            // because it does not fit 64 bits.
            n: if has_two(&rows) { n.min(20) } else { n },
            arrays,
            rows,
            ends,
        })
}

fn built(r: &Recipe) -> ArraySystem {
    let n = r.n;
    let mut s = ArraySystem::default();
    let classes = [Class::Local, Class::Rest, Class::State, Class::Parameter];
    for &(class, used) in &r.arrays {
        let class = classes[class as usize];
        let v = s.variable(&[span(0, n + 1)], class);
        let uses = &mut s.variables[v.index()].uses;
        if class == Class::Local {
            match used {
                1 => uses.push((vec![span(1, 1)], Class::Rest)),
                2 => uses.push((vec![span(2, n)], Class::State)),
                3 => uses.push((vec![span(0, n - 1)], Class::Rest)),
                _ => {}
            }
        }
    }
    let index = |place: u8| match place {
        0 => Index::Fixed(1),
        1 => Index::Fixed(n),
        2 => Index::Fixed(0),
        _ => Index::All(span(1, n)),
    };
    for (from, to, terms, extra) in &r.rows {
        let mut list: Vec<ArrayTerm> = terms
            .iter()
            .map(|&(v, k, c)| (VarId::new(v), at(k), c))
            .collect();
        list.extend(extra.map(|(v, place, c)| (VarId::new(v), vec![index(place)], c)));
        s.row(&[span(1 + from, n - to)], &list);
    }
    for terms in &r.ends {
        let list: Vec<ArrayTerm> = terms
            .iter()
            .map(|&(v, place, c)| (VarId::new(v), vec![index(place)], c))
            .collect();
        let k = s.row(&[], &list);
        s.rows[k].late = true;
    }
    s
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arrays_equal_elements(recipe in recipes()) {
        let s = built(&recipe);
        for method in [decide, decide_in_order] {
            let d = decide_arrays(&s, &method, usize::MAX).unwrap();
            check(&s, &d)?;
        }
    }
}
