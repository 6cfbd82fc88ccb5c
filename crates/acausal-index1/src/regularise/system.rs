//! The integer equations of a model as array systems for `acausal_structure::integer_elimination`.
//!
//! In: the flat equations. Out: [`System`]s whose arrays are in the order of names (not of their places in the source), so
//! that what is decided does not depend on the order of declarations and equations. Integer equations that share
//! unknowns, directly or through others, belong together; those without arrays form one system. An array equation is one
//! row over its iterators, counted from 0; a known expression is an array over the iterators it depends on. Cost: linear
//! in the number of array equations and accesses, whatever the lengths.
//!
//! Example: with `Resistor r[N]` and `connect(r[i].n, r[i+1].p)` there are four rows: `r.v[i] - r.p.v[i] + r.n.v[i]`,
//! `r.p.i[i] + r.n.i[i]`, `r.n.v[i] - r.p.v[i+1]`, `r.n.i[i] + r.p.i[i+1]`.

use acausal_expr::flat::{Equation, FlatModel, OriginKind};
use acausal_expr::{Access, ExprId, IterId, Kind, Node, Printer, Range, VarId};
use acausal_structure::VarId as ColumnId;
use acausal_structure::integer_elimination::Class;
use acausal_structure::integer_elimination::arrays::{ArrayRow, ArraySystem, ArrayVariable};
use acausal_structure::segments::{Index, Span, size_of};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::linear_form::{Factor, Term, integer_terms};
use crate::element::{flat_affine, for_each_point};

/// Uses of an array that are no box are listed element by element up to this many.
const MOST_LISTED: usize = 200_000;

/// How many uses of an array are compared with a new one, so that equal ones are not kept twice.
const RECENT: usize = 4;

/// An array of a system.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Column {
    /// An unknown.
    Unknown(VarId),
    /// A known expression and the iterators it depends on: its dimensions, with their values as indices.
    Known(ExprId, Vec<IterId>),
}

/// Integer equations that hang together.
#[derive(Debug, Default)]
pub(super) struct System {
    pub(super) arrays: ArraySystem,
    /// What each array stands for.
    pub(super) columns: Vec<Column>,
    /// The equation of each row.
    pub(super) equations: Vec<usize>,
}

/// The systems of a model.
#[derive(Debug, Default)]
pub(super) struct Systems {
    pub(super) systems: Vec<System>,
    /// Number of elements of array equations whose uses could not be listed.
    pub(super) skipped: usize,
}

/// An integer equation with its terms.
type Linear = (usize, Vec<Term>);

/// Collects the integer equations.
pub(super) fn systems(flat: &FlatModel, equations: &[Equation]) -> Systems {
    let mut linear: Vec<Linear> = Vec::new();
    let mut others: Vec<usize> = Vec::new();
    for (k, eq) in equations.iter().enumerate() {
        match integer_terms(flat, eq).filter(|t| is_static(flat, eq, t)) {
            Some(terms) => linear.push((k, terms)),
            None => others.push(k),
        }
    }
    let mut builder = Builder {
        flat,
        equations,
        system_of: vec![u32::MAX; flat.vars.len()],
        drafts: Vec::new(),
    };
    for part in components(flat, equations, linear) {
        builder.add(part);
    }
    builder.mark(&others);
    let (mut systems, mut skipped) = (Vec::new(), 0);
    for draft in builder.drafts {
        if draft.incomplete {
            skipped += draft
                .rows
                .iter()
                .map(|r| equations[r.0].len())
                .sum::<usize>();
        } else {
            systems.push(draft.finish(flat, equations));
        }
    }
    Systems { systems, skipped }
}

/// All subscripts are affine in one iterator each, stay inside of their arrays, and a sum runs over a box.
fn is_static(flat: &FlatModel, eq: &Equation, terms: &[Term]) -> bool {
    terms.iter().all(|t| match t.factor {
        Factor::Unknown(a) => {
            let nested: Vec<(IterId, Range)> = eq.domain.iter().chain(&t.inner).copied().collect();
            flat_affine(flat, &nested, a).is_some() && indices(flat, eq, t, a).is_some()
        }
        Factor::Known(_) => true,
    })
}

/// The subscripts of an unknown: iterators of the equation count from 0, those of a sum become ranges.
fn indices(flat: &FlatModel, eq: &Equation, term: &Term, a: Access) -> Option<Vec<Index>> {
    let mut summed = 0;
    let mut out = Vec::new();
    for &s in flat.exprs.list(a.subs) {
        let affine = flat.exprs.affine(s)?;
        out.push(match affine.terms.as_slice() {
            [] => Index::Fixed(affine.constant),
            [(i, c)] => match eq.domain.iter().position(|(j, _)| i == j) {
                Some(k) => {
                    let r = eq.domain[k].1;
                    Index::Affine {
                        iterator: k,
                        coefficient: c * r.step,
                        offset: affine.constant + c * r.start,
                    }
                }
                None => {
                    let (_, r) = term.inner.iter().find(|(j, _)| i == j)?;
                    summed += 1;
                    Index::All(image(*r, *c, affine.constant)?)
                }
            },
            _ => return None,
        });
    }
    // Each iterator of a sum moves one subscript of its own; otherwise elements are added several times.
    (summed == term.inner.len()).then_some(out)
}

/// The values of `c*i + constant`, if they follow each other without gaps.
fn image(r: Range, c: i64, constant: i64) -> Option<Span> {
    let (a, b) = (c * r.start + constant, c * r.last() + constant);
    let dense = r.count <= 1 || (c * r.step).abs() == 1;
    dense.then(|| Span::new(a.min(b), a.max(b)))
}

/// Groups of equations that share unknowns, in the order of their first equation; all scalar ones are one group.
fn components(flat: &FlatModel, equations: &[Equation], linear: Vec<Linear>) -> Vec<Vec<Linear>> {
    fn root(parent: &mut [usize], mut i: usize) -> usize {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    }
    let mut parent: Vec<usize> = (0..linear.len()).collect();
    let mut first: Vec<u32> = vec![u32::MAX; flat.vars.len()];
    for (k, (_, terms)) in linear.iter().enumerate() {
        for t in terms {
            if let Factor::Unknown(a) = t.factor {
                let slot = &mut first[a.var.index()];
                if *slot == u32::MAX {
                    *slot = k as u32;
                }
                let other = *slot as usize;
                let (x, y) = (root(&mut parent, k), root(&mut parent, other));
                parent[x.max(y)] = x.min(y);
            }
        }
    }
    let array = |(e, terms): &Linear| {
        !equations[*e].domain.is_empty() || terms.iter().any(|t| !t.inner.is_empty())
    };
    let mut has_arrays = vec![false; linear.len()];
    for (k, item) in linear.iter().enumerate() {
        let r = root(&mut parent, k);
        has_arrays[r] |= array(item);
    }
    let mut groups: IndexMap<Option<usize>, Vec<Linear>, FxBuildHasher> = IndexMap::default();
    for (k, item) in linear.into_iter().enumerate() {
        let r = root(&mut parent, k);
        groups
            .entry(has_arrays[r].then_some(r))
            .or_default()
            .push(item);
    }
    groups.into_values().collect()
}

/// A system before its arrays are in order.
struct Draft {
    columns: IndexMap<Column, ArrayVariable, FxBuildHasher>,
    rows: Vec<(usize, ArrayRow)>,
    /// Some use could not be listed.
    incomplete: bool,
}

struct Builder<'a> {
    flat: &'a FlatModel,
    equations: &'a [Equation],
    /// The draft in which each variable occurs.
    system_of: Vec<u32>,
    drafts: Vec<Draft>,
}

impl Builder<'_> {
    fn add(&mut self, part: Vec<Linear>) {
        let number = self.drafts.len() as u32;
        let mut draft = Draft {
            columns: IndexMap::default(),
            rows: Vec::with_capacity(part.len()),
            incomplete: false,
        };
        for (equation, terms) in part {
            let eq = &self.equations[equation];
            let mut row = Vec::with_capacity(terms.len());
            for t in &terms {
                let (column, index, class) = match t.factor {
                    Factor::Unknown(a) => {
                        self.system_of[a.var.index()] = number;
                        let index = indices(self.flat, eq, t, a).unwrap_or_default();
                        (Column::Unknown(a.var), index, Class::Local)
                    }
                    Factor::Known(e) => {
                        let (column, index) = known(self.flat, eq, e);
                        (column, index, Class::Parameter)
                    }
                };
                let shape = match &column {
                    Column::Unknown(v) => {
                        let dims = self.flat.var(*v).dims.iter();
                        dims.map(|&d| Span::new(1, d as i64)).collect()
                    }
                    Column::Known(_, iters) => values(eq, iters),
                };
                let entry = draft.columns.entry(column);
                let id = entry.index();
                let variable = entry.or_insert_with(|| ArrayVariable {
                    shape: shape.clone(),
                    class,
                    uses: Vec::new(),
                });
                // Equations that were one before they were split share their iterators.
                for (s, new) in variable.shape.iter_mut().zip(&shape) {
                    *s = Span::new(s.lo.min(new.lo), s.hi.max(new.hi));
                }
                row.push((ColumnId::new(id), index, t.coefficient));
            }
            let kind = self.flat.origin(eq.origin).kind;
            let late = matches!(
                kind,
                OriginKind::Potential | OriginKind::Flow | OriginKind::Unconnected
            );
            let counts = eq.domain.iter().map(|(_, r)| Span::new(0, r.count - 1));
            let row = ArrayRow {
                iterators: counts.collect(),
                terms: row,
                late,
            };
            draft.rows.push((equation, row));
        }
        self.drafts.push(draft);
    }

    /// Notes which elements the other equations use, and of which they use derivatives.
    fn mark(&mut self, others: &[usize]) {
        for &k in others {
            let eq = &self.equations[k];
            for e in self.flat.exprs.reachable(&[eq.lhs, eq.rhs]) {
                let Node::Var(a) = self.flat.exprs.node(e) else {
                    continue;
                };
                let number = self.system_of[a.var.index()];
                if number == u32::MAX || a.kind == Kind::Pre {
                    continue;
                }
                let class = match a.kind {
                    Kind::Value => Class::Rest,
                    _ => Class::State,
                };
                let draft = &mut self.drafts[number as usize];
                if let Some(variable) = draft.columns.get_mut(&Column::Unknown(a.var)) {
                    draft.incomplete |= !used(self.flat, eq, a, class, variable);
                }
            }
        }
    }
}

/// A known expression as an array over the iterators that it depends on.
fn known(flat: &FlatModel, eq: &Equation, e: ExprId) -> (Column, Vec<Index>) {
    let (mut iters, mut index) = (Vec::new(), Vec::new());
    for (k, (i, r)) in eq.domain.iter().enumerate() {
        if flat.exprs.depends_on_iter(e, *i) {
            iters.push(*i);
            index.push(Index::Affine {
                iterator: k,
                coefficient: r.step,
                offset: r.start,
            });
        }
    }
    (Column::Known(e, iters), index)
}

/// The values of some iterators of an equation.
fn values(eq: &Equation, iters: &[IterId]) -> Vec<Span> {
    let ranges = eq.domain.iter().filter(|(i, _)| iters.contains(i));
    ranges
        .map(|(_, r)| Span::new(r.start.min(r.last()), r.start.max(r.last())))
        .collect()
}

/// Notes a use of an array. False if it is no box and has too many elements to be listed.
fn used(
    flat: &FlatModel,
    eq: &Equation,
    a: Access,
    class: Class,
    variable: &mut ArrayVariable,
) -> bool {
    let mut spans = variable.shape.clone();
    let mut seen: Vec<IterId> = Vec::new();
    let mut is_box = true;
    for (&s, span) in flat.exprs.list(a.subs).iter().zip(&mut spans) {
        // A subscript that is not known here, or the iterator of a sum, may touch everything.
        let Some(affine) = flat.exprs.affine(s) else {
            continue;
        };
        match affine.terms.as_slice() {
            [] => *span = Span::new(affine.constant, affine.constant),
            [(i, c)] => {
                let Some((_, r)) = eq.domain.iter().find(|(j, _)| i == j) else {
                    continue;
                };
                let dense = image(*r, *c, affine.constant).filter(|_| !seen.contains(i));
                seen.push(*i);
                match dense {
                    Some(d) => *span = d,
                    None => is_box = false,
                }
            }
            _ => is_box = false,
        }
    }
    let mut add = |spans: Vec<Span>| {
        let known = |u: &(Vec<Span>, Class)| u.0 == spans && (u.1 == class || u.1 == Class::State);
        let inside = spans
            .iter()
            .zip(&variable.shape)
            .all(|(s, d)| d.contains(*s));
        let recent = &variable.uses[variable.uses.len().saturating_sub(RECENT)..];
        if inside && !recent.iter().any(known) {
            variable.uses.push((spans, class));
        }
    };
    if is_box {
        add(spans);
        return true;
    }
    let Some(index) = flat_affine(flat, &eq.domain, a) else {
        add(variable_shape(flat, a.var));
        return true;
    };
    if eq.len() > MOST_LISTED {
        return false;
    }
    let dims = &flat.var(a.var).dims;
    for_each_point(&eq.domain, |p| {
        let sum: i64 = p.iter().zip(&index.coefficients).map(|(x, c)| x * c).sum();
        let mut k = index.constant + sum;
        let mut at: Vec<Span> = Vec::with_capacity(dims.len());
        for &d in dims.iter().rev() {
            at.push(Span::new(k % d as i64 + 1, k % d as i64 + 1));
            k /= d as i64;
        }
        at.reverse();
        add(at);
    });
    true
}

fn variable_shape(flat: &FlatModel, v: VarId) -> Vec<Span> {
    let dims = flat.var(v).dims.iter();
    dims.map(|&d| Span::new(1, d as i64)).collect()
}

impl Draft {
    /// Puts arrays in the order of names, unknowns first, and rows in the order of arrays.
    fn finish(self, flat: &FlatModel, equations: &[Equation]) -> System {
        let printer = Printer::new(flat);
        let mut names: Vec<(bool, String, usize)> = self
            .columns
            .keys()
            .enumerate()
            .map(|(k, c)| match c {
                Column::Unknown(v) => (false, flat.var(*v).name.plain(), k),
                Column::Known(e, _) => (true, printer.expr(*e), k),
            })
            .collect();
        names.sort_unstable();
        let mut place = vec![0; names.len()];
        for (new, (_, _, old)) in names.iter().enumerate() {
            place[*old] = new;
        }
        let mut rows = self.rows;
        for (_, row) in &mut rows {
            row.terms
                .iter_mut()
                .for_each(|t| t.0 = ColumnId::new(place[t.0.index()]));
            row.terms.sort_unstable();
        }
        rows.sort_by(|a, b| {
            let key = |r: &ArrayRow| (r.late, size_of(&r.iterators));
            (a.1.late, &a.1.terms)
                .cmp(&(b.1.late, &b.1.terms))
                .then_with(|| key(&a.1).cmp(&key(&b.1)))
        });
        debug_assert!(rows.iter().all(|r| r.0 < equations.len()));
        let mut system = System::default();
        let mut columns: Vec<Option<(Column, ArrayVariable)>> =
            self.columns.into_iter().map(Some).collect();
        for (_, _, old) in names {
            if let Some((column, variable)) = columns[old].take() {
                system.columns.push(column);
                system.arrays.variables.push(variable);
            }
        }
        for (equation, row) in rows {
            system.equations.push(equation);
            system.arrays.rows.push(row);
        }
        system
    }
}
