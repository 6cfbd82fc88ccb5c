//! The oracle: every element a scalar, compared element by element with the analysis of the arrays.

use std::collections::{BTreeMap, BTreeSet};

use acausal_structure::blt::strong_components;
use acausal_structure::matching::maximum_matching;
use acausal_structure::pantelides::{NodeDae, pantelides};
use acausal_structure::segments::{Analysis, Direction, Error, Index, Kind, Model, Span, size_of};
use acausal_structure::{EqId, Rows, VarId};

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
    dae: NodeDae,
    equations: Vec<Element>,
    /// Graph variable of each existing variable element.
    variables: BTreeMap<Element, usize>,
    /// Undifferentiated variable and order of each graph variable.
    root: Vec<(Element, usize)>,
}

fn scalarise(m: &Model) -> Scalarised {
    let mut base: Vec<(usize, usize)> = (0..m.variables.len()).map(|v| (v, 0)).collect();
    for (v, variable) in m.variables.iter().enumerate() {
        if let Some(d) = variable.derivative {
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
        dae: NodeDae::default(),
        equations,
        variables: BTreeMap::new(),
        root: Vec::new(),
    };
    for (v, variable) in m.variables.iter().enumerate() {
        for q in points(&variable.shape) {
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
pub fn agree(m: &Model, a: &Result<Analysis, Error>) {
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
