//! The integer equations of a model as systems for `acausal_structure::integer_elimination`.
//!
//! In: the flat equations. Out: [`System`]s whose columns and rows are in canonical order (by name, not by place in the
//! source), so that what is decided does not depend on the order of declarations and equations. Integer equations that
//! share unknowns, directly or through others, belong together. Where all of them run over the same box and touch every
//! unknown elementwise, N copies of one small system lie side by side: one row per *array* equation stands for all of
//! them. Otherwise rows are elements: numbers only, no expression is built. Cost: linear in the rows that are made.
//!
//! Example: with `Resistor r[N]` alone, `r.v = r.p.v - r.n.v` is one row. With `connect(r[i].n, r[i+1].p)` the elements
//! hang together, so there are N rows.

use acausal_expr::flat::{Equation, FlatModel};
use acausal_expr::{Access, ExprId, IterId, Kind, Node, Range, VarId};
use acausal_structure::integer_elimination::Class;
use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::canonical::canonical;
use super::linear_form::{Factor, Term, integer_terms};
use crate::element::{FlatIndex, domain_len, flat_affine, for_each_point};
use crate::incidence::is_unknown;

/// Array equations whose elements hang together are taken apart up to this many elements in total.
const MOST_ELEMENTS: usize = 200_000;

/// A column of a system.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Column {
    /// An unknown: one element (flattened, from 0), or all of them side by side.
    Unknown { var: VarId, element: Option<u32> },
    /// A known expression, at these values of the iterators of its equation.
    Known {
        value: ExprId,
        at: Vec<(IterId, i64)>,
    },
}

/// A row: an equation, or one point of its domain.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub equation: usize,
    /// The point, counted in order; `None` for the equation as a whole.
    pub point: Option<usize>,
    /// Columns and coefficients, by column, the first coefficient positive.
    pub terms: Vec<(usize, i64)>,
}

/// Integer equations that hang together (or all that are taken element by element).
#[derive(Debug, Default)]
pub(super) struct System {
    /// How many copies lie side by side: the box of the array equations. Empty for elements.
    pub shape: Vec<usize>,
    /// The iterators that known expressions of such a box refer to.
    pub iters: Vec<IterId>,
    pub columns: Vec<Column>,
    pub classes: Vec<Class>,
    pub rows: Vec<Row>,
}

/// The systems of a model.
#[derive(Debug, Default)]
pub(super) struct Systems {
    pub systems: Vec<System>,
    /// Number of elements that were too many to be looked at.
    pub skipped: usize,
}

/// How much of a variable an equation touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Cover {
    #[default]
    None,
    All,
    Part,
}

/// An integer equation with its terms.
type Linear = (usize, Vec<Term>);

/// Collects the integer equations.
pub(super) fn systems(flat: &mut FlatModel, equations: &[Equation]) -> Systems {
    let mut linear: Vec<Linear> = Vec::new();
    let mut others: Vec<usize> = Vec::new();
    for (k, eq) in equations.iter().enumerate() {
        match integer_terms(flat, eq).filter(|t| is_static(flat, eq, t)) {
            Some(terms) => linear.push((k, terms)),
            None => others.push(k),
        }
    }
    let mut out = Systems::default();
    let uses = uses(flat, equations, &others);
    let mut elements: Vec<Linear> = Vec::new();
    let mut count = 0;
    for part in components(linear) {
        if let Some(shape) = common_shape(flat, equations, &part, &uses) {
            let system = side_by_side(flat, equations, part, shape, &uses);
            out.systems.push(system);
            continue;
        }
        let arrays: usize = part
            .iter()
            .map(|(e, terms)| array_elements(&equations[*e], terms))
            .sum();
        if count + arrays > MOST_ELEMENTS {
            out.skipped += arrays;
            continue;
        }
        count += arrays;
        elements.extend(part);
    }
    if !elements.is_empty() {
        let system = by_elements(flat, equations, &elements, &others);
        out.systems.push(system);
    }
    out
}

/// Elements that an array equation, or a sum in an equation, adds to a system; none for a plain scalar equation.
fn array_elements(eq: &Equation, terms: &[Term]) -> usize {
    let inner = terms.iter().map(|t| domain_len(&t.inner)).max();
    let elements = eq.len().saturating_mul(inner.unwrap_or(1));
    let plain = eq.domain.is_empty() && terms.iter().all(|t| t.inner.is_empty());
    if plain { 0 } else { elements }
}

/// All subscripts are affine and stay inside of their arrays.
fn is_static(flat: &FlatModel, eq: &Equation, terms: &[Term]) -> bool {
    terms.iter().all(|t| match t.factor {
        Factor::Unknown(a) => flat_affine(flat, &nested(eq, t), a).is_some(),
        Factor::Known(_) => true,
    })
}

/// The iterators of an equation and those of a sum in it.
fn nested(eq: &Equation, term: &Term) -> Vec<(IterId, Range)> {
    eq.domain.iter().chain(&term.inner).copied().collect()
}

/// The element that an access means at a point.
fn element_at(index: &FlatIndex, point: &[i64]) -> usize {
    let sum: i64 = point
        .iter()
        .zip(&index.coefficients)
        .map(|(x, c)| x * c)
        .sum();
    (index.constant + sum) as usize
}

/// Accesses to values and derivatives of unknowns.
fn accesses(flat: &FlatModel, eq: &Equation) -> Vec<(Access, bool)> {
    let nodes = flat.exprs.reachable(&[eq.lhs, eq.rhs]);
    nodes
        .into_iter()
        .filter_map(|e| match flat.exprs.node(e) {
            Node::Var(a) if is_unknown(flat, a.var) && a.kind != Kind::Pre => {
                Some((a, a.kind != Kind::Value))
            }
            _ => None,
        })
        .collect()
}

/// How the other equations use each variable: its value and its derivatives.
fn uses(
    flat: &FlatModel,
    equations: &[Equation],
    others: &[usize],
) -> FxHashMap<VarId, [Cover; 2]> {
    let mut uses: FxHashMap<VarId, [Cover; 2]> = FxHashMap::default();
    for &k in others {
        for (a, derivative) in accesses(flat, &equations[k]) {
            let slot = &mut uses.entry(a.var).or_default()[derivative as usize];
            let cover = cover(flat, &equations[k], a);
            *slot = match (*slot, cover) {
                (Cover::All, _) | (_, Cover::All) => Cover::All,
                (_, c) => c,
            };
        }
    }
    uses
}

fn cover(flat: &FlatModel, eq: &Equation, a: Access) -> Cover {
    let dims = &flat.var(a.var).dims;
    let mut seen: Vec<IterId> = Vec::new();
    for (&s, &d) in flat.exprs.list(a.subs).iter().zip(dims) {
        // A subscript that is not known here may touch everything.
        let Some(affine) = flat.exprs.affine(s) else {
            continue;
        };
        match affine.terms.as_slice() {
            [] if d == 1 => {}
            [] => return Cover::Part,
            [(i, c)] => match eq.domain.iter().find(|(j, _)| i == j) {
                None => {}
                Some((_, r))
                    if !seen.contains(i) && (c * r.step).abs() == 1 && r.count == d as i64 =>
                {
                    seen.push(*i);
                }
                Some(_) => return Cover::Part,
            },
            _ => {}
        }
    }
    Cover::All
}

/// Groups of equations that share unknowns, in the order of their first equation.
fn components(linear: Vec<Linear>) -> Vec<Vec<Linear>> {
    let mut parent: Vec<usize> = (0..linear.len()).collect();
    let mut first: FxHashMap<VarId, usize> = FxHashMap::default();
    fn root(parent: &mut [usize], mut i: usize) -> usize {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    }
    for (k, (_, terms)) in linear.iter().enumerate() {
        for t in terms {
            if let Factor::Unknown(a) = t.factor {
                let other = *first.entry(a.var).or_insert(k);
                let (x, y) = (root(&mut parent, k), root(&mut parent, other));
                parent[x.max(y)] = x.min(y);
            }
        }
    }
    let mut groups: IndexMap<usize, Vec<Linear>> = IndexMap::new();
    for (k, item) in linear.into_iter().enumerate() {
        groups.entry(root(&mut parent, k)).or_default().push(item);
    }
    groups.into_values().collect()
}

/// The box over which all equations of a group run elementwise, if there is one.
fn common_shape(
    flat: &FlatModel,
    equations: &[Equation],
    part: &[Linear],
    uses: &FxHashMap<VarId, [Cover; 2]>,
) -> Option<Vec<usize>> {
    let domain = &equations[part[0].0].domain;
    let shape: Vec<usize> = domain.iter().map(|(_, r)| r.count as usize).collect();
    if shape.is_empty() {
        return None;
    }
    for (e, terms) in part {
        let domain = &equations[*e].domain;
        if domain.len() != shape.len()
            || !domain
                .iter()
                .zip(&shape)
                .all(|((_, r), &n)| r.count as usize == n)
        {
            return None;
        }
        if terms.iter().any(|t| !t.inner.is_empty()) {
            return None;
        }
        for t in terms {
            let Factor::Unknown(a) = t.factor else {
                continue;
            };
            let partly = uses.get(&a.var).is_some_and(|u| u.contains(&Cover::Part));
            let subs = flat.exprs.list(a.subs);
            if partly || flat.var(a.var).dims != shape || subs.len() != shape.len() {
                return None;
            }
            for (&s, (i, r)) in subs.iter().zip(domain) {
                let affine = flat.exprs.affine(s)?;
                let [(j, c)] = affine.terms[..] else {
                    return None;
                };
                if j != *i || c * r.step != 1 || affine.constant + c * r.start != 1 {
                    return None;
                }
            }
        }
    }
    Some(shape)
}

fn class(value: bool, derivative: bool) -> Class {
    match (derivative, value) {
        (true, _) => Class::State,
        (_, true) => Class::Rest,
        _ => Class::Local,
    }
}

fn side_by_side(
    flat: &mut FlatModel,
    equations: &[Equation],
    part: Vec<Linear>,
    shape: Vec<usize>,
    uses: &FxHashMap<VarId, [Cover; 2]>,
) -> System {
    let iters: Vec<IterId> = shape.iter().map(|_| flat.exprs.fresh_iter()).collect();
    let mut table: IndexMap<Column, Class> = IndexMap::new();
    let mut rows = Vec::new();
    for (equation, terms) in part {
        let mut row = Vec::new();
        for Term {
            coefficient: c,
            factor,
            ..
        } in terms
        {
            let (column, class) = match factor {
                Factor::Unknown(a) => {
                    let used = uses.get(&a.var).copied().unwrap_or_default();
                    let class = class(used[0] != Cover::None, used[1] != Cover::None);
                    (
                        Column::Unknown {
                            var: a.var,
                            element: None,
                        },
                        class,
                    )
                }
                Factor::Known(e) => {
                    let value = at_common(flat, &equations[equation], &iters, e);
                    (
                        Column::Known {
                            value,
                            at: Vec::new(),
                        },
                        Class::Parameter,
                    )
                }
            };
            let entry = table.insert_full(column, class);
            row.push((entry.0, c));
        }
        rows.push(Row {
            equation,
            point: None,
            terms: row,
        });
    }
    canonical(
        flat,
        equations,
        System {
            shape,
            iters,
            rows,
            ..System::default()
        },
        table,
    )
}

/// A known expression with the iterators of its equation replaced by the common ones, which count from 1.
fn at_common(flat: &mut FlatModel, eq: &Equation, iters: &[IterId], e: ExprId) -> ExprId {
    let x = &mut flat.exprs;
    let mut values = Vec::new();
    for ((i, r), &common) in eq.domain.iter().zip(iters) {
        let (iter, step, before) = (x.iter(common), x.int(r.step), x.int(r.start - r.step));
        let scaled = x.mul(&[step, iter]);
        values.push((*i, x.add(&[scaled, before])));
    }
    x.substitute_iters(e, &values)
}

fn by_elements(
    flat: &FlatModel,
    equations: &[Equation],
    part: &[Linear],
    others: &[usize],
) -> System {
    let mut marks: FxHashMap<VarId, Vec<[bool; 2]>> = FxHashMap::default();
    for (_, terms) in part {
        for t in terms {
            if let Factor::Unknown(a) = t.factor {
                marks
                    .entry(a.var)
                    .or_insert_with(|| vec![[false; 2]; flat.var(a.var).len()]);
            }
        }
    }
    for &k in others {
        for (a, derivative) in accesses(flat, &equations[k]) {
            let Some(elements) = marks.get_mut(&a.var) else {
                continue;
            };
            match flat_affine(flat, &equations[k].domain, a) {
                Some(index) => for_each_point(&equations[k].domain, |p| {
                    elements[element_at(&index, p)][derivative as usize] = true;
                }),
                None => elements
                    .iter_mut()
                    .for_each(|m| m[derivative as usize] = true),
            }
        }
    }
    let mut table: IndexMap<Column, Class> = IndexMap::new();
    let mut rows = Vec::new();
    for (equation, terms) in part {
        let domain = &equations[*equation].domain;
        let eq = &equations[*equation];
        // Per term: how its subscripts depend on the iterators, or which iterators its value depends on.
        let prepared: Vec<_> = terms
            .iter()
            .map(|t| match t.factor {
                Factor::Unknown(a) => (t, flat_affine(flat, &nested(eq, t), a), Vec::new()),
                Factor::Known(e) => {
                    let used = domain.iter().enumerate();
                    let used = used.filter(|(_, (i, _))| flat.exprs.depends_on_iter(e, *i));
                    (t, None, used.map(|(k, (i, _))| (k, *i)).collect())
                }
            })
            .collect();
        let mut point = 0;
        for_each_point(domain, |p| {
            let mut row = Vec::new();
            for (t, index, iters) in &prepared {
                match (t.factor, index) {
                    (Factor::Unknown(a), Some(index)) => {
                        let mut place = p.to_vec();
                        for_each_point(&t.inner, |q| {
                            place.truncate(p.len());
                            place.extend_from_slice(q);
                            let element = element_at(index, &place);
                            let [value, derivative] = marks[&a.var][element];
                            let column = Column::Unknown {
                                var: a.var,
                                element: Some(element as u32),
                            };
                            let entry = table.insert_full(column, class(value, derivative));
                            row.push((entry.0, t.coefficient));
                        });
                    }
                    (Factor::Known(value), _) => {
                        let at = iters.iter().map(|(k, i)| (*i, p[*k])).collect();
                        let entry =
                            table.insert_full(Column::Known { value, at }, Class::Parameter);
                        row.push((entry.0, t.coefficient));
                    }
                    (Factor::Unknown(_), None) => {} // `is_static` excludes it
                }
            }
            rows.push(Row {
                equation: *equation,
                point: Some(point),
                terms: row,
            });
            point += 1;
        });
    }
    canonical(
        flat,
        equations,
        System {
            rows,
            ..System::default()
        },
        table,
    )
}
