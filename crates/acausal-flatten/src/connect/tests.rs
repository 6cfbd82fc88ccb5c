//! Connection sets on ranges against sets of elements.

use std::collections::{BTreeMap, BTreeSet};

use acausal_base::Span;
use acausal_expr::flat::{FlatModel, Origin, OriginId, OriginKind, VarType};
use acausal_expr::flat::{Variability, Variable};
use acausal_expr::{Affine, IterId, Node, Printer, Range, ScalarValue, VarId};
use acausal_symbolic::Substitute;
use proptest::prelude::*;

use super::*;

/// A variable with a shape.
pub(super) fn variable(name: &str, dims: &[usize], flow: bool) -> Variable {
    let (ty, variability) = (VarType::Real, Variability::Continuous);
    Variable {
        flow,
        ..Variable::new(name, dims.to_vec(), ty, variability)
    }
}

/// A model with one origin and the given arrays.
fn model(arrays: &[(&str, Vec<usize>)], kind: LeafKind) -> (FlatModel, Connections) {
    let mut model = FlatModel::default();
    let mut connections = Connections::default();
    model.origins.push(Origin {
        span: Span::NONE,
        component: "".into(),
        kind: OriginKind::Equation,
    });
    for (name, dims) in arrays {
        connections.leaf(VarId(model.vars.len() as u32), kind);
        model
            .vars
            .push(variable(name, dims, kind == LeafKind::Flow));
    }
    (model, connections)
}

fn sub(constant: i64, terms: &[(u32, i64)]) -> Affine {
    Affine {
        constant,
        terms: terms.iter().map(|&(i, c)| (IterId(i), c)).collect(),
    }
}

fn end(var: u32, face: Face, subs: Vec<Affine>) -> End {
    End {
        port: Port {
            var: VarId(var),
            face,
        },
        subs: subs.into(),
    }
}

fn link(domain: &[(u32, i64, i64)], a: End, b: End) -> Link {
    let domain = domain
        .iter()
        .map(|&(i, first, last)| (IterId(i), Range::from_to(first, 1, last)))
        .collect();
    Link {
        domain,
        ends: [a, b],
        origin: OriginId(0),
    }
}

/// The generated equations in text, sorted.
fn equations(arrays: &[(&str, Vec<usize>)], kind: LeafKind, links: Vec<Link>) -> Vec<String> {
    let (mut model, mut connections) = model(arrays, kind);
    for _ in 0..8 {
        model.exprs.new_iter("q"); // the iterators of the links
    }
    connections.links = links;
    let diagnostics = generate(&mut model, &connections);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let printer = Printer::new(&model);
    model
        .equations
        .iter()
        .map(|eq| {
            let mut text = format!("{} = {}", printer.expr(eq.lhs), printer.expr(eq.rhs));
            for (iter, r) in &eq.domain {
                let name = model.exprs.iter_name(*iter);
                text += &format!(" for {name} in {}:{}:{}", r.start, r.step, r.last());
            }
            text
        })
        .collect()
}

use Face::{Inside, Outside};

/// `connect(r[i].n, r[i+1].p)` for i in 1:N-1, `connect(src, r[1].p)`, `connect(r[N].n, gnd)`.
fn chain(n: i64) -> Vec<Link> {
    let i = |c: i64| vec![sub(c, &[(0, 1)])];
    vec![
        link(&[(0, 1, n - 1)], end(1, Inside, i(0)), end(0, Inside, i(1))),
        link(
            &[],
            end(2, Inside, vec![]),
            end(0, Inside, vec![sub(1, &[])]),
        ),
        link(
            &[],
            end(1, Inside, vec![sub(n, &[])]),
            end(3, Inside, vec![]),
        ),
    ]
}

#[test]
fn chain_of_resistors_stays_a_range() {
    for n in [5usize, 1_000_000_000] {
        let arrays = [
            ("rp", vec![n]),
            ("rn", vec![n]),
            ("src", vec![]),
            ("gnd", vec![]),
        ];
        let last = n as i64;
        assert_eq!(
            equations(&arrays, LeafKind::Flow, chain(last)),
            [
                "rp[1] + src = 0.0".to_string(),
                format!("rp[i] + rn[i - 1] = 0.0 for i in 2:1:{last}"),
                format!("rn[{last}] + gnd = 0.0"),
            ]
        );
        assert_eq!(
            equations(&arrays, LeafKind::Potential, chain(last)),
            [
                "rp[1] = src".to_string(),
                format!("rp[i] = rn[i - 1] for i in 2:1:{last}"),
                format!("rn[{last}] = gnd"),
            ]
        );
    }
}

#[test]
fn neighbours_side_by_side_are_one_set_at_any_length() {
    // connect(c[i], c[i+1]), upwards or downwards, and connect(src, c[3])
    for n in [6usize, 1_000_000_000] {
        let arrays = [("c", vec![n]), ("src", vec![])];
        let last = n as i64;
        let i = |c: i64| vec![sub(c, &[(0, 1)])];
        let down = |c: i64| vec![sub(c, &[(0, -1)])];
        for (a, b) in [(i(0), i(1)), (i(1), i(0)), (down(last), down(last + 1))] {
            let links = vec![
                link(&[(0, 1, last - 1)], end(0, Inside, a), end(0, Inside, b)),
                link(
                    &[],
                    end(1, Inside, vec![]),
                    end(0, Inside, vec![sub(3, &[])]),
                ),
            ];
            let potentials = equations(&arrays, LeafKind::Potential, links.clone());
            assert!(potentials.len() <= 4, "{potentials:?}");
            let flows = equations(&arrays, LeafKind::Flow, links);
            assert_eq!(flows.len(), 1, "{flows:?}");
        }
    }
}

#[test]
fn all_to_one_is_a_reduction() {
    let arrays = [("p", vec![100]), ("bus", vec![])];
    let links = vec![link(
        &[(0, 1, 100)],
        end(0, Inside, vec![sub(0, &[(0, 1)])]),
        end(1, Outside, vec![]),
    )];
    assert_eq!(
        equations(&arrays, LeafKind::Flow, links.clone()),
        ["sum(p[k] for k in 1:100) - bus = 0.0", "bus = 0.0"]
    );
    assert_eq!(
        equations(&arrays, LeafKind::Potential, links),
        ["bus = p[k] for k in 1:1:100"]
    );
}

#[test]
fn a_line_connected_to_itself_is_one_set() {
    let i = |c: i64| vec![sub(c, &[(0, 1)])];
    let links = vec![link(
        &[(0, 1, 99)],
        end(0, Inside, i(0)),
        end(0, Inside, i(1)),
    )];
    let arrays = [("p", vec![100])];
    assert_eq!(
        equations(&arrays, LeafKind::Flow, links.clone()),
        ["sum(p[k] for k in 1:100) = 0.0"]
    );
    assert_eq!(
        equations(&arrays, LeafKind::Potential, links),
        ["p[1] = p[k] for k in 2:1:100"]
    );
}

#[test]
fn every_second_and_reversed_elements() {
    let arrays = [("a", vec![20]), ("b", vec![10])];
    let to_b = |a: Affine, b: Affine| {
        vec![link(
            &[(0, 1, 10)],
            end(0, Inside, vec![a]),
            end(1, Inside, vec![b]),
        )]
    };
    // connect(a[2*i], b[i]) is cut into elements and found again.
    assert_eq!(
        equations(
            &arrays,
            LeafKind::Flow,
            to_b(sub(0, &[(0, 2)]), sub(0, &[(0, 1)]))
        ),
        [
            "a[i] = 0.0 for i in 1:2:19",
            "a[2*i + 2] + b[i + 1] = 0.0 for i in 0:1:9"
        ]
    );
    // connect(a[i], b[11-i]) is a translation backwards.
    assert_eq!(
        equations(
            &arrays,
            LeafKind::Flow,
            to_b(sub(0, &[(0, 1)]), sub(11, &[(0, -1)]))
        ),
        [
            "a[i] + b[-i + 11] = 0.0 for i in 1:1:10",
            "a[i] = 0.0 for i in 11:1:20"
        ]
    );
}

#[test]
fn a_grid_of_a_million_nodes_has_nine_kinds_of_nodes() {
    // Horizontal resistors hp/hn and vertical ones vp/vn at the nodes of an N by N grid.
    let n = 1000;
    let dims = vec![n as usize; 2];
    let arrays = [
        ("hp", dims.clone()),
        ("hn", dims.clone()),
        ("vp", dims.clone()),
        ("vn", dims.clone()),
    ];
    let ij = |a: i64, b: i64| vec![sub(a, &[(0, 1)]), sub(b, &[(1, 1)])];
    let links = vec![
        link(
            &[(0, 1, n), (1, 1, n - 1)],
            end(1, Inside, ij(0, 0)),
            end(0, Inside, ij(0, 1)),
        ),
        link(
            &[(0, 1, n - 1), (1, 1, n)],
            end(3, Inside, ij(0, 0)),
            end(2, Inside, ij(1, 0)),
        ),
        link(
            &[(0, 1, n), (1, 1, n)],
            end(0, Inside, ij(0, 0)),
            end(2, Inside, ij(0, 0)),
        ),
    ];
    let text = equations(&arrays, LeafKind::Flow, links);
    assert!(
        text.contains(
            &"hp[i,j] + hn[i,j - 1] + vp[i,j] + vn[i - 1,j] = 0.0 for i in 2:1:1000 for j in 2:1:1000"
                .to_string()
        ),
        "{text:#?}"
    );
    assert_eq!(text.len(), 6, "{text:#?}");
}

#[test]
fn two_outputs_on_one_signal_are_reported() {
    let (mut model, mut connections) = model(&[("y", vec![2]), ("u", vec![])], LeafKind::Output);
    connections.leaf(VarId(1), LeafKind::Input);
    for k in [1, 2] {
        connections.link(link(
            &[],
            end(0, Inside, vec![sub(k, &[])]),
            end(1, Inside, vec![]),
        ));
    }
    let codes: Vec<_> = generate(&mut model, &connections)
        .iter()
        .map(|d| d.code)
        .collect();
    assert_eq!(codes, ["connect-two-sources"]);
}

#[test]
fn flow_and_potential_do_not_mix() {
    let (mut model, mut connections) = model(&[("v", vec![]), ("i", vec![])], LeafKind::Flow);
    connections.leaf(VarId(0), LeafKind::Potential);
    connections.link(link(&[], end(0, Inside, vec![]), end(1, Inside, vec![])));
    let codes: Vec<_> = generate(&mut model, &connections)
        .iter()
        .map(|d| d.code)
        .collect();
    assert_eq!(codes, ["connect-kind"]);
}

/// Variable, whether it is seen from outside, and constant and coefficients of each subscript.
type RandomEnd = (u32, bool, Vec<(i64, Vec<i64>)>);

/// One random connection of up to three iterators.
#[derive(Clone, Debug)]
struct RandomLink {
    ranges: Vec<(i64, i64)>,
    ends: [RandomEnd; 2],
}

const SHAPES: [&[usize]; 5] = [&[], &[4], &[12], &[3, 4], &[5, 5]];

fn random_link() -> impl Strategy<Value = RandomLink> {
    let coefficient = prop_oneof![4 => Just(0i64), 4 => Just(1), 1 => Just(-1), 1 => Just(2)];
    let subscript = (-2i64..8, prop::collection::vec(coefficient, 2));
    let end = (
        0u32..5,
        prop::bool::weighted(0.3),
        prop::collection::vec(subscript, 2),
    );
    let ranges = prop::collection::vec((1i64..3, 0i64..11), 0..3);
    (ranges, [end.clone(), end]).prop_map(|(ranges, ends)| RandomLink {
        ranges: ranges.into_iter().map(|(a, n)| (a, a + n)).collect(),
        ends,
    })
}

impl RandomLink {
    /// As a link, if all its indices are in bounds.
    fn link(&self) -> Option<Link> {
        let domain: Vec<(u32, i64, i64)> = self
            .ranges
            .iter()
            .enumerate()
            .map(|(k, r)| (k as u32, r.0, r.1))
            .collect();
        let ends = self.ends.clone().map(|(var, outside, subs)| {
            let shape = SHAPES[var as usize];
            let subs = subs
                .iter()
                .take(shape.len())
                .map(|(constant, coefficients)| {
                    let terms = coefficients.iter().enumerate().take(domain.len());
                    let terms: Vec<(u32, i64)> = terms
                        .map(|(k, &c)| (k as u32, c))
                        .filter(|t| t.1 != 0)
                        .collect();
                    sub(*constant, &terms)
                });
            end(var, if outside { Outside } else { Inside }, subs.collect())
        });
        let [a, b] = ends;
        let link = link(&domain, a, b);
        let fine = elements(&link).iter().all(|pair| {
            pair.iter().all(|(port, index)| {
                let shape = SHAPES[port.var.index()];
                index
                    .iter()
                    .zip(shape)
                    .all(|(&i, &n)| i >= 1 && i <= n as i64)
            })
        });
        fine.then_some(link)
    }
}

type Element = (Port, Vec<i64>);

/// The pairs of elements that a link connects.
fn elements(link: &Link) -> Vec<[Element; 2]> {
    let mut points: Vec<Vec<(IterId, i64)>> = vec![vec![]];
    for (iter, range) in &link.domain {
        points = points
            .into_iter()
            .flat_map(|p| {
                range
                    .values()
                    .map(move |v| [p.clone(), vec![(*iter, v)]].concat())
            })
            .collect();
    }
    let at = |end: &End, p: &[(IterId, i64)]| {
        let value =
            |s: &Affine| s.constant + p.iter().map(|(i, v)| s.coefficient(*i) * v).sum::<i64>();
        (end.port, end.subs.iter().map(value).collect())
    };
    points
        .iter()
        .map(|p| [at(&link.ends[0], p), at(&link.ends[1], p)])
        .collect()
}

fn all_elements() -> Vec<(VarId, Vec<i64>)> {
    let mut out = Vec::new();
    for (v, shape) in SHAPES.iter().enumerate() {
        let mut indices: Vec<Vec<i64>> = vec![vec![]];
        for &n in *shape {
            indices = indices
                .into_iter()
                .flat_map(|p| (1..=n as i64).map(move |i| [p.clone(), vec![i]].concat()))
                .collect();
        }
        out.extend(indices.into_iter().map(|i| (VarId(v as u32), i)));
    }
    out
}

/// Sets by joining element after element; singles are the inside elements.
fn scalar_sets(links: &[Link]) -> Vec<BTreeSet<Element>> {
    let mut set_of: BTreeMap<Element, usize> = BTreeMap::new();
    let mut sets: Vec<BTreeSet<Element>> = Vec::new();
    let mut place = |e: &Element, sets: &mut Vec<BTreeSet<Element>>| {
        *set_of.entry(e.clone()).or_insert_with(|| {
            sets.push(BTreeSet::from([e.clone()]));
            sets.len() - 1
        })
    };
    for (var, index) in all_elements() {
        place(&(Port { var, face: Inside }, index), &mut sets);
    }
    let pairs: Vec<[Element; 2]> = links.iter().flat_map(elements).collect();
    for pair in &pairs {
        pair.iter().for_each(|e| {
            place(e, &mut sets);
        });
    }
    for [a, b] in pairs {
        let find = |e: &Element| sets.iter().position(|s| s.contains(e)).unwrap_or(0);
        let (i, j) = (find(&a), find(&b));
        if i != j {
            let moved = std::mem::take(&mut sets[j]);
            sets[i].extend(moved);
        }
    }
    sets.retain(|s| !s.is_empty());
    sets
}

/// The generated equations of one kind, one by one, as coefficients of elements (left minus right side).
fn scalar_equations(links: &[Link], kind: LeafKind) -> Vec<BTreeMap<(VarId, Vec<i64>), i64>> {
    let arrays: Vec<(&str, Vec<usize>)> = SHAPES.iter().map(|s| ("v", s.to_vec())).collect();
    let (mut model, mut connections) = model(&arrays, kind);
    for _ in 0..3 {
        model.exprs.new_iter("q");
    }
    connections.links = links.to_vec();
    assert_eq!(generate(&mut model, &connections), []);
    let mut out = Vec::new();
    for eq in model.equations.clone() {
        let mut points: Vec<Vec<(IterId, i64)>> = vec![vec![]];
        for (iter, range) in &eq.domain {
            points = points
                .into_iter()
                .flat_map(|p| {
                    range
                        .values()
                        .map(move |v| [p.clone(), vec![(*iter, v)]].concat())
                })
                .collect();
        }
        for point in points {
            let values: Vec<_> = point
                .iter()
                .map(|&(i, v)| (i, model.exprs.int(v)))
                .collect();
            let lhs = model.exprs.substitute_iters(eq.lhs, &values);
            let rhs = model.exprs.substitute_iters(eq.rhs, &values);
            let mut coefficients = BTreeMap::new();
            // The equation is linear: the coefficient of an element is the value at the unit vector.
            for element in all_elements() {
                let value = |e| {
                    let leaf = |x: &acausal_expr::Exprs, e, subs: &[i64]| match x.node(e) {
                        Node::Var(a) => {
                            let hit = a.var == element.0 && subs == element.1;
                            Some(ScalarValue::Real(if hit { 1.0 } else { 0.0 }))
                        }
                        _ => None,
                    };
                    model
                        .exprs
                        .evaluate(e, leaf)
                        .ok()
                        .and_then(ScalarValue::as_f64)
                        .expect("linear") as i64
                };
                let c = value(lhs) - value(rhs);
                if c != 0 {
                    coefficients.insert(element, c);
                }
            }
            out.push(coefficients);
        }
    }
    out
}

fn check_against_scalars(links: &[Link]) {
    let sets = scalar_sets(links);
    // Flows: one sum per set.
    let mut expected: Vec<BTreeMap<(VarId, Vec<i64>), i64>> = Vec::new();
    for set in &sets {
        let mut sum = BTreeMap::new();
        for (port, index) in set {
            let sign = if port.face == Inside { 1 } else { -1 };
            *sum.entry((port.var, index.clone())).or_insert(0) += sign;
        }
        sum.retain(|_, c| *c != 0);
        expected.push(sum);
    }
    expected.sort();
    let mut found = scalar_equations(links, LeafKind::Flow);
    found.sort();
    assert_eq!(found, expected);
    // Potentials: each equation joins two elements of one set, and there is one less than elements.
    let faces = |s: &BTreeSet<Element>| -> BTreeSet<(VarId, Vec<i64>)> {
        s.iter().map(|(p, i)| (p.var, i.clone())).collect()
    };
    let found = scalar_equations(links, LeafKind::Potential);
    assert_eq!(found.len(), sets.iter().map(|s| s.len() - 1).sum::<usize>());
    for equation in &found {
        let members: BTreeSet<_> = equation.keys().cloned().collect();
        assert!(
            sets.iter().any(|s| faces(s).is_superset(&members)),
            "{equation:?}"
        );
    }
    // Inside a set the equations connect everything (elements seen from both sides are joined anyway).
    for set in &sets {
        let wanted = faces(set);
        let mut reached: BTreeSet<_> = wanted.iter().take(1).cloned().collect();
        loop {
            let before = reached.len();
            for equation in &found {
                if equation.keys().any(|k| reached.contains(k)) {
                    reached.extend(equation.keys().cloned());
                }
            }
            if reached.len() == before {
                break;
            }
        }
        assert!(reached.is_superset(&wanted));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn ranges_give_the_same_sets_as_elements(random in prop::collection::vec(random_link(), 1..7)) {
        let links: Vec<Link> = random.iter().filter_map(RandomLink::link).collect();
        check_against_scalars(&links);
    }
}
