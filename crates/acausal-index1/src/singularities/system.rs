//! The integer equations of a model as array systems for `acausal_structure::integer_elimination`.
//!
//! In: the flat equations. Out: [`System`]s whose arrays are in the order of names (not of their places in the source), so
//! that what is decided does not depend on the order of declarations and equations. Integer equations that share
//! unknowns, directly or through others, belong together; those without arrays form one system. An array equation is one
//! row over its iterators, counted from 0; a known expression is an array over the iterators it depends on. Of the other
//! equations the integer sums take part (`split.rs`): `sum - a = 0`, where `a` stands for the sum, is a row with a column of
//! its own. A sum all of whose unknowns are also used outside of sums can free nothing and is left out. Cost: linear in the
//! number of array equations and accesses, whatever the lengths.
//!
//! Example: with `Resistor r[N]` and `connect(r[i].n, r[i+1].p)` there are four rows: `r.v[i] - r.p.v[i] + r.n.v[i]`,
//! `r.p.i[i] + r.n.i[i]`, `r.n.v[i] - r.p.v[i+1]`, `r.n.i[i] + r.p.i[i+1]`.

use acausal_expr::flat::{Equation, FlatModel, OriginKind};
use acausal_expr::{Access, ExprId, IterId, Printer, Range, VarId};
use acausal_structure::VarId as ColumnId;
use acausal_structure::integer_elimination::Class;
use acausal_structure::integer_elimination::arrays::{ArrayRow, ArraySystem, ArrayVariable};
use acausal_structure::segments::{Index, Span, size_of};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

use super::linear_form::{Factor, Term, integer_terms};
use super::split::Split;
use super::uses::{Uses, image, uses, variable_shape};
use crate::segments::incidence::is_unknown;
use acausal_symbolic::elements::flat_affine;

/// An array of a system.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Column {
    /// An unknown.
    Unknown(VarId),
    /// A known expression and the iterators it depends on: its dimensions, with their values as indices.
    Known(ExprId, Vec<IterId>),
    /// What a sum inside of an equation stands for, by number: it exists in the analysis only.
    Sum(usize),
}

/// A number beyond those of all columns.
const LAST: usize = u32::MAX as usize;

/// Integer equations that hang together.
#[derive(Debug, Default)]
pub(super) struct System {
    pub(super) arrays: ArraySystem,
    /// What each array stands for.
    pub(super) columns: Vec<Column>,
    /// The equation of each row; a sum belongs to the equation that it stands in.
    pub(super) equations: Vec<usize>,
}

/// The systems of a model.
#[derive(Debug, Default)]
pub(super) struct Systems {
    pub(super) systems: Vec<System>,
    /// Number of elements of array equations whose uses could not be listed.
    pub(super) skipped: usize,
}

/// An integer equation, or an integer sum of another equation, with its terms.
struct Linear {
    equation: usize,
    /// The iterators it is for.
    domain: Vec<(IterId, Range)>,
    terms: Vec<Term>,
    /// The number of the sum, if it is one.
    sum: Option<usize>,
}

/// Collects the integer equations.
pub(super) fn systems(flat: &FlatModel, equations: &[Equation]) -> Systems {
    let mut linear: Vec<Linear> = Vec::new();
    let mut sums: Vec<Linear> = Vec::new();
    let mut used: Vec<(usize, Access)> = Vec::new();
    let mut split = Split::default();
    for (equation, eq) in equations.iter().enumerate() {
        let domain = eq.domain.to_vec();
        if let Some(terms) = integer_terms(flat, eq).filter(|t| is_static(flat, &domain, t)) {
            linear.push(Linear {
                equation,
                domain,
                terms,
                sum: None,
            });
            continue;
        }
        split.of(flat, eq, |a| is_unknown(flat, a.var));
        used.extend(split.used.iter().map(|&a| (equation, a)));
        for sum in split.sums.drain(..) {
            let domain: Vec<(IterId, Range)> = domain.iter().copied().chain(sum.around).collect();
            if is_static(flat, &domain, &sum.terms) {
                sums.push(Linear {
                    equation,
                    domain,
                    terms: sum.terms,
                    sum: Some(sums.len()),
                });
            } else {
                used.extend(sum.terms.iter().filter_map(|t| match t.factor {
                    Factor::Unknown(a) => Some((equation, a)),
                    Factor::Known(_) => None,
                }));
            }
        }
    }
    let mut takes_part = vec![false; flat.vars.len()];
    for t in linear.iter().chain(&sums).flat_map(|item| &item.terms) {
        if let Factor::Unknown(a) = t.factor {
            takes_part[a.var.index()] = true;
        }
    }
    used.retain(|(_, a)| takes_part[a.var.index()]);
    let uses = uses(flat, equations, &used);
    sums.retain(|sum| {
        let terms = sum.terms.iter();
        terms
            .filter_map(|t| accessed(flat, sum, t))
            .any(|(v, at)| !uses[v.index()].cover(&at))
    });
    linear.append(&mut sums);
    let mut builder = Builder {
        flat,
        equations,
        uses,
        drafts: Vec::new(),
    };
    for part in components(flat, linear) {
        builder.add(part);
    }
    let (mut systems, mut skipped) = (Vec::new(), 0);
    for draft in builder.drafts {
        if draft.incomplete {
            let own = draft.rows.iter().filter(|r| r.sum.is_none());
            skipped += own.map(|r| equations[r.equation].len()).sum::<usize>();
        } else {
            systems.push(draft.finish(flat));
        }
    }
    Systems { systems, skipped }
}

/// All subscripts are affine in one iterator each, stay inside of their arrays, and a sum runs over a box.
fn is_static(flat: &FlatModel, domain: &[(IterId, Range)], terms: &[Term]) -> bool {
    terms.iter().all(|t| match t.factor {
        Factor::Unknown(a) => {
            let nested: Vec<(IterId, Range)> = domain.iter().chain(&t.inner).copied().collect();
            flat_affine(flat, &nested, a).is_some() && indices(flat, domain, t, a).is_some()
        }
        Factor::Known(_) => true,
    })
}

/// The subscripts of an unknown: iterators of the equation count from 0, those of a sum become ranges.
fn indices(
    flat: &FlatModel,
    domain: &[(IterId, Range)],
    term: &Term,
    a: Access,
) -> Option<Vec<Index>> {
    let mut summed = 0;
    let mut out = Vec::new();
    for &s in flat.exprs.list(a.subs) {
        let affine = flat.exprs.affine(s)?;
        out.push(match affine.terms.as_slice() {
            [] => Index::Fixed(affine.constant),
            [(i, c)] => match domain.iter().position(|(j, _)| i == j) {
                Some(k) => {
                    let r = domain[k].1;
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

/// An unknown of a row and a box around the elements that the row takes.
fn accessed(flat: &FlatModel, row: &Linear, term: &Term) -> Option<(VarId, Vec<Span>)> {
    let Factor::Unknown(a) = term.factor else {
        return None;
    };
    let index = indices(flat, &row.domain, term, a)?;
    let spans = index.iter().map(|i| match *i {
        Index::Fixed(i) => Span::new(i, i),
        Index::All(s) => s,
        Index::Affine {
            iterator,
            coefficient,
            offset,
        } => {
            let last = offset + coefficient * (row.domain[iterator].1.count - 1);
            Span::new(offset.min(last), offset.max(last))
        }
    });
    Some((a.var, spans.collect()))
}

/// Groups of integer equations that share unknowns; all groups without arrays are one group.
fn components(flat: &FlatModel, linear: Vec<Linear>) -> Vec<Vec<Linear>> {
    fn root(parent: &mut [usize], mut i: usize) -> usize {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    }
    let mut parent: Vec<usize> = (0..linear.len()).collect();
    let mut first: Vec<u32> = vec![u32::MAX; flat.vars.len()];
    for (k, item) in linear.iter().enumerate() {
        for t in &item.terms {
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
    let array =
        |item: &Linear| !item.domain.is_empty() || item.terms.iter().any(|t| !t.inner.is_empty());
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
    rows: Vec<DraftRow>,
    /// Some use could not be listed.
    incomplete: bool,
}

struct DraftRow {
    equation: usize,
    /// The number of the sum, if it is one.
    sum: Option<usize>,
    row: ArrayRow,
}

struct Builder<'a> {
    flat: &'a FlatModel,
    equations: &'a [Equation],
    /// Which elements of each variable occur outside of the rows.
    uses: Vec<Uses>,
    drafts: Vec<Draft>,
}

impl Builder<'_> {
    fn add(&mut self, part: Vec<Linear>) {
        let mut draft = Draft {
            columns: IndexMap::default(),
            rows: Vec::with_capacity(part.len()),
            incomplete: false,
        };
        for item in part {
            let domain = &item.domain;
            let mut row = Vec::with_capacity(item.terms.len() + 1);
            for t in &item.terms {
                let (column, index, shape, class) = match t.factor {
                    Factor::Unknown(a) => {
                        let index = indices(self.flat, domain, t, a).unwrap_or_default();
                        let shape = variable_shape(self.flat, a.var);
                        (Column::Unknown(a.var), index, shape, Class::Local)
                    }
                    Factor::Known(e) => {
                        let (column, index, shape) = known(self.flat, domain, e);
                        (column, index, shape, Class::Parameter)
                    }
                };
                let id = self.column(&mut draft, column, shape, class);
                row.push((id, index, t.coefficient));
            }
            let iterators: Vec<Span> = domain.iter().map(|d| Span::new(0, d.1.count - 1)).collect();
            if let Some(number) = item.sum {
                let column = Column::Sum(number);
                let id = self.column(&mut draft, column, iterators.clone(), Class::Rest);
                let index = (0..iterators.len()).map(|k| Index::shifted(k, 0));
                row.push((id, index.collect(), -1));
            }
            let kind = self.flat.origin(self.equations[item.equation].origin).kind;
            let connects = matches!(
                kind,
                OriginKind::Potential | OriginKind::Flow | OriginKind::Unconnected
            );
            draft.rows.push(DraftRow {
                equation: item.equation,
                sum: item.sum,
                row: ArrayRow {
                    iterators,
                    terms: row,
                    late: connects && item.sum.is_none(),
                },
            });
        }
        self.drafts.push(draft);
    }

    /// The column of a system, a new one if need be.
    fn column(
        &mut self,
        draft: &mut Draft,
        column: Column,
        shape: Vec<Span>,
        class: Class,
    ) -> ColumnId {
        let uses = match &column {
            Column::Unknown(v) => Some(&mut self.uses[v.index()]),
            _ => None,
        };
        let incomplete = &mut draft.incomplete;
        let entry = draft.columns.entry(column);
        let id = entry.index();
        let variable = entry.or_insert_with(|| ArrayVariable {
            shape: shape.clone(),
            class,
            uses: uses.map_or_else(Vec::new, |u| {
                *incomplete |= u.incomplete;
                std::mem::take(&mut u.boxes)
            }),
        });
        // Equations that were one before they were split share their iterators.
        for (s, new) in variable.shape.iter_mut().zip(&shape) {
            *s = Span::new(s.lo.min(new.lo), s.hi.max(new.hi));
        }
        ColumnId::new(id)
    }
}

/// A known expression as an array over the iterators that it depends on, which count with their values.
fn known(
    flat: &FlatModel,
    domain: &[(IterId, Range)],
    e: ExprId,
) -> (Column, Vec<Index>, Vec<Span>) {
    let (mut iters, mut index, mut shape) = (Vec::new(), Vec::new(), Vec::new());
    for (k, (i, r)) in domain.iter().enumerate() {
        if flat.exprs.depends_on_iter(e, *i) {
            iters.push(*i);
            index.push(Index::Affine {
                iterator: k,
                coefficient: r.step,
                offset: r.start,
            });
            shape.push(Span::new(r.start.min(r.last()), r.start.max(r.last())));
        }
    }
    (Column::Known(e, iters), index, shape)
}

impl Draft {
    /// Puts arrays in the order of names, unknowns first, and rows in the order of arrays.
    fn finish(self, flat: &FlatModel) -> System {
        let printer = Printer::new(flat);
        let mut names: Vec<(bool, String, usize)> = Vec::new();
        for (k, c) in self.columns.keys().enumerate() {
            match c {
                Column::Unknown(v) => names.push((false, flat.var(*v).name.plain(), k)),
                Column::Known(e, _) => names.push((true, printer.expr(*e), k)),
                Column::Sum(_) => {}
            }
        }
        names.sort_unstable();
        let mut order: Vec<usize> = names.into_iter().map(|n| n.2).collect();
        let mut place = vec![usize::MAX; self.columns.len()];
        for (new, old) in order.iter().enumerate() {
            place[*old] = new;
        }
        let mut rows = self.rows;
        for r in &mut rows {
            // The column of a sum has no place yet: it comes last.
            for t in &mut r.row.terms {
                t.0 = ColumnId::new(place[t.0.index()].min(LAST));
            }
            r.row.terms.sort_unstable();
        }
        // Sums first: they stay, and among rows that can stand for each other the last is taken out.
        rows.sort_by(|a, b| {
            let key = |r: &DraftRow| (r.sum.is_none(), r.row.late);
            let size = |r: &DraftRow| size_of(&r.row.iterators);
            (key(a), &a.row.terms)
                .cmp(&(key(b), &b.row.terms))
                .then_with(|| size(a).cmp(&size(b)))
        });
        for r in &mut rows {
            if let Some(number) = r.sum
                && let Some(old) = self.columns.get_index_of(&Column::Sum(number))
                && let Some(t) = r.row.terms.last_mut()
            {
                t.0 = ColumnId::new(order.len());
                order.push(old);
            }
        }
        let mut system = System::default();
        let mut columns: Vec<Option<(Column, ArrayVariable)>> =
            self.columns.into_iter().map(Some).collect();
        for old in order {
            if let Some((column, variable)) = columns[old].take() {
                system.columns.push(column);
                system.arrays.variables.push(variable);
            }
        }
        for r in rows {
            system.equations.push(r.equation);
            system.arrays.rows.push(r.row);
        }
        system
    }
}
