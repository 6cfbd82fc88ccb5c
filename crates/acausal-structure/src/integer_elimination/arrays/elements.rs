//! A (short) array system element by element, and what was decided about it as boxes.

use std::collections::BTreeMap;

use super::shrink::Shrunk;
use super::{ArraySystem, Class, Decisions, IntegerSystem};
use crate::integer_elimination::Constraint;
use crate::segments::frames::Coordinates;
use crate::segments::grid::Grid;
use crate::segments::lift::boxes;
use crate::segments::{Index, Span};

/// A scalar system, and where its rows and columns come from.
pub(super) struct Elements {
    pub(super) system: IntegerSystem,
    /// Array and element number of each row and column.
    rows: Vec<(u32, u32)>,
    columns: Vec<(u32, u32)>,
    row_spans: Vec<Vec<Span>>,
    column_spans: Vec<Vec<Span>>,
}

/// Where an element of a constraint stands in one dimension, in coordinates of frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// At a distance from the row's iterator with this number.
    Beside(usize, i64),
    /// Between two coordinates.
    Between(i64, i64),
}

/// The terms of a constraint: array, coefficient, places.
pub(super) type Form = Vec<(u32, i64, Vec<Place>)>;

/// Boxes of one array in coordinates of frames: first and last per dimension.
pub(super) type Region = Vec<(i64, i64)>;

/// What was decided at one size.
#[derive(Debug, Default)]
pub(super) struct Answer {
    pub(super) redundant: Vec<(u32, Region)>,
    pub(super) free: Vec<(u32, Region)>,
    pub(super) constraints: Vec<(u32, Region, Form)>,
    pub(super) parameter_constraints: Vec<(u32, Region, Form)>,
}

/// A row before the columns are numbered: whether it is late, its terms, and array and element that it comes from.
type Row = (bool, Vec<(usize, i64)>, (u32, u32));

/// More terms than this with one coefficient are a range.
const MANY: usize = 6;

impl ArraySystem {
    /// Number of scalar rows of array equations at a size.
    pub(super) fn shrunk_elements(&self, coordinates: &Coordinates, short: &Shrunk) -> usize {
        let rows = self.rows.iter().enumerate();
        let array = rows.filter(|(_, r)| !r.iterators.is_empty());
        array
            .map(|(e, r)| {
                let spans = r.iterators.iter().enumerate();
                let sizes =
                    spans.map(|(k, s)| short.span(coordinates.of_equation(e, k), *s).size());
                sizes.product::<u64>() as usize
            })
            .sum()
    }
}

impl Elements {
    pub(super) fn new(system: &ArraySystem, coordinates: &Coordinates, short: &Shrunk) -> Elements {
        let shrink = |v: usize, spans: &[Span]| -> Vec<Span> {
            let spans = spans.iter().enumerate();
            spans
                .map(|(k, s)| short.span(coordinates.of_variable(v, k), *s))
                .collect()
        };
        let mut first = 0;
        let mut grids: Vec<Grid> = Vec::with_capacity(system.variables.len());
        let mut column_spans = Vec::with_capacity(system.variables.len());
        let mut classes = Vec::new();
        for (v, variable) in system.variables.iter().enumerate() {
            let spans = shrink(v, &variable.shape);
            let grid = grid(first, &spans);
            first += grid.len();
            classes.resize(first, variable.class);
            for (used, class) in &variable.uses {
                let used = shrink(v, used);
                for_box(&used, |at| {
                    let c = &mut classes[number(&grid, &spans, at)];
                    if *c != Class::State {
                        *c = *class;
                    }
                });
            }
            grids.push(grid);
            column_spans.push(spans);
        }
        let mut rows: Vec<Row> = Vec::new();
        let mut row_spans = Vec::with_capacity(system.rows.len());
        let mut present = vec![false; first];
        let mut ranges: Vec<Span> = Vec::new();
        for (e, row) in system.rows.iter().enumerate() {
            let spans: Vec<Span> = row
                .iterators
                .iter()
                .enumerate()
                .map(|(k, s)| short.span(coordinates.of_equation(e, k), *s))
                .collect();
            // Fixed indices and ranges at this size.
            let fixed: Vec<Vec<Option<Span>>> = row
                .terms
                .iter()
                .map(|(v, index, _)| {
                    let dims = index.iter().enumerate();
                    dims.map(|(k, i)| {
                        let dim = coordinates.of_variable(v.index(), k);
                        match *i {
                            Index::Fixed(i) => Some(short.span(dim, Span::new(i, i))),
                            Index::All(s) => Some(short.span(dim, s)),
                            Index::Affine { .. } => None,
                        }
                    })
                    .collect()
                })
                .collect();
            let mut point = 0;
            for_box(&spans, |at| {
                let mut terms = Vec::with_capacity(row.terms.len());
                for ((v, index, coefficient), fixed) in row.terms.iter().zip(&fixed) {
                    ranges.clear();
                    ranges.extend(index.iter().zip(fixed).map(|(i, f)| match (*i, f) {
                        (
                            Index::Affine {
                                iterator,
                                coefficient,
                                offset,
                            },
                            _,
                        ) => {
                            let i = coefficient * at[iterator] + offset;
                            Span::new(i, i)
                        }
                        (_, f) => f.unwrap_or(Span::new(1, 0)),
                    }));
                    let v = v.index();
                    for_box(&ranges, |element| {
                        let c = number(&grids[v], &column_spans[v], element);
                        present[c] = true;
                        terms.push((c, *coefficient));
                    });
                }
                tidy(&mut terms);
                rows.push((row.late, terms, (e as u32, point)));
                point += 1;
            });
            row_spans.push(spans);
        }
        rows.sort_unstable();
        // Only elements that occur are columns.
        let mut place = vec![usize::MAX; first];
        let mut columns = Vec::new();
        let mut kept = Vec::new();
        for (v, grid) in grids.iter().enumerate() {
            for k in 0..grid.len() {
                if present[grid.offset + k] {
                    place[grid.offset + k] = columns.len();
                    columns.push((v as u32, k as u32));
                    kept.push(classes[grid.offset + k]);
                }
            }
        }
        let mut out = Elements {
            system: IntegerSystem {
                classes: kept,
                rows: Vec::with_capacity(rows.len()),
            },
            rows: Vec::with_capacity(rows.len()),
            columns,
            row_spans,
            column_spans,
        };
        for (_, mut terms, from) in rows {
            terms.iter_mut().for_each(|t| t.0 = place[t.0]);
            out.system.rows.push(terms);
            out.rows.push(from);
        }
        out
    }

    /// The decisions as boxes. Elements of constraints that are at most `beside` away from the row are stated relative to it.
    pub(super) fn decisions(
        &self,
        coordinates: &Coordinates,
        d: &Decisions,
        beside: i64,
    ) -> Answer {
        let row_dim = |e: u32, k: usize| coordinates.of_equation(e as usize, k);
        let column_dim = |v: u32, k: usize| coordinates.of_variable(v as usize, k);
        let marked =
            |items: Vec<(u32, u32)>, spans: &[Vec<Span>], dim: &dyn Fn(u32, usize) -> _| {
                let mut by_array: BTreeMap<u32, Vec<(u32, ())>> = BTreeMap::new();
                for (array, element) in items {
                    by_array.entry(array).or_default().push((element, ()));
                }
                let mut out = Vec::new();
                for (array, elements) in by_array {
                    let found = joined(&spans[array as usize], elements, |k| dim(array, k));
                    out.extend(found.into_iter().map(|(range, ())| (array, range)));
                }
                out
            };
        let constraints = |list: &[Constraint]| {
            let mut by_array: BTreeMap<u32, Vec<(u32, Form)>> = BTreeMap::new();
            for c in list {
                let (array, element) = self.rows[c.replaces];
                if let Some(form) = self.form(coordinates, c, beside) {
                    by_array.entry(array).or_default().push((element, form));
                }
            }
            let mut out = Vec::new();
            for (array, elements) in by_array {
                let spans = &self.row_spans[array as usize];
                let found = joined(spans, elements, |k| row_dim(array, k));
                out.extend(found.into_iter().map(|(range, form)| (array, range, form)));
            }
            out
        };
        let rows = d.redundant.iter().map(|&r| self.rows[r]).collect();
        let columns = d.free.iter().map(|v| self.columns[v.index()]).collect();
        Answer {
            redundant: marked(rows, &self.row_spans, &row_dim),
            free: marked(columns, &self.column_spans, &column_dim),
            constraints: constraints(&d.constraints),
            parameter_constraints: constraints(&d.parameter_constraints),
        }
    }

    /// A constraint relative to the row it replaces. `None` for coefficients that do not fit.
    fn form(&self, coordinates: &Coordinates, c: &Constraint, beside: i64) -> Option<Form> {
        let (e, point) = self.rows[c.replaces];
        let spans = &self.row_spans[e as usize];
        let here: Vec<(usize, i64)> = position(spans, point)
            .iter()
            .enumerate()
            .map(|(k, &i)| {
                let dim = coordinates.of_equation(e as usize, k);
                (dim.frame, dim.coordinate(i))
            })
            .collect();
        let terms = c.as_i64()?;
        let mut count: BTreeMap<(u32, i64), usize> = BTreeMap::new();
        for (v, factor) in &terms {
            *count
                .entry((self.columns[v.index()].0, *factor))
                .or_default() += 1;
        }
        let mut form: Form = Vec::new();
        for (v, factor) in terms {
            let (array, element) = self.columns[v.index()];
            let many = count[&(array, factor)] > MANY;
            let spans = &self.column_spans[array as usize];
            let places: Vec<Place> = position(spans, element)
                .iter()
                .enumerate()
                .map(|(k, &i)| {
                    let dim = coordinates.of_variable(array as usize, k);
                    let at = dim.coordinate(i);
                    let near = |h: &(usize, i64)| h.0 == dim.frame && (at - h.1).abs() <= beside;
                    match here.iter().position(near).filter(|_| !many) {
                        Some(j) => Place::Beside(j, at - here[j].1),
                        None => Place::Between(at, at),
                    }
                })
                .collect();
            // Neighbours with one coefficient are a range.
            if let Some((a, f, last)) = form.last_mut()
                && (*a, *f) == (array, factor)
                && many
                && let ([Place::Between(lo, hi)], [Place::Between(at, _)]) =
                    (last.as_mut_slice(), places.as_slice())
            {
                if *at == *hi + 1 {
                    *hi = *at;
                    continue;
                }
                if *at == *lo - 1 {
                    *lo = *at;
                    continue;
                }
            }
            form.push((array, factor, places));
        }
        Some(form)
    }
}

/// Adds up entries of one column, drops zeros, makes the first coefficient positive.
fn tidy(terms: &mut Vec<(usize, i64)>) {
    terms.sort_unstable();
    terms.dedup_by(|b, a| {
        let same = a.0 == b.0;
        if same {
            a.1 += b.1;
        }
        same
    });
    terms.retain(|t| t.1 != 0);
    if terms.first().is_some_and(|t| t.1 < 0) {
        terms.iter_mut().for_each(|t| t.1 = -t.1);
    }
}

fn grid(offset: usize, spans: &[Span]) -> Grid {
    Grid {
        offset,
        counts: spans.iter().map(|s| s.size() as usize).collect(),
    }
}

fn number(grid: &Grid, spans: &[Span], at: &[i64]) -> usize {
    let digits = spans.iter().zip(&grid.counts).zip(at);
    grid.offset + digits.fold(0, |n, ((s, c), i)| n * c + (i - s.lo) as usize)
}

/// The indices of element number `n` of a box.
fn position(spans: &[Span], n: u32) -> Vec<i64> {
    let at = grid(0, spans).position(n as usize);
    at.iter()
        .zip(spans)
        .map(|(&k, s)| s.lo + k as i64)
        .collect()
}

/// Visits all points of a box, the last index fastest.
fn for_box(spans: &[Span], mut visit: impl FnMut(&[i64])) {
    if spans.iter().any(|s| s.size() == 0) {
        return;
    }
    let mut at: Vec<i64> = spans.iter().map(|s| s.lo).collect();
    loop {
        visit(&at);
        let Some(k) = (0..at.len()).rev().find(|&k| at[k] < spans[k].hi) else {
            return;
        };
        at[k] += 1;
        for j in k + 1..at.len() {
            at[j] = spans[j].lo;
        }
    }
}

/// Elements of one array with equal labels as boxes in coordinates of frames.
fn joined<L: Ord + Clone>(
    spans: &[Span],
    elements: Vec<(u32, L)>,
    dim: impl Fn(usize) -> crate::segments::frames::Dim,
) -> Vec<(Region, L)> {
    let grid = grid(0, spans);
    let mut labels: Vec<&L> = elements.iter().map(|e| &e.1).collect();
    labels.sort();
    labels.dedup();
    let mut marks = vec![u32::MAX; grid.len()];
    for (element, label) in &elements {
        let k = labels.partition_point(|l| *l < label);
        marks[*element as usize] = k as u32;
    }
    let mut out = Vec::new();
    for range in boxes(&grid, &marks, |_, _| false) {
        let corner = grid.number(&range.iter().map(|r| r.0).collect::<Vec<_>>());
        if marks[corner] == u32::MAX {
            continue;
        }
        let place = range.iter().enumerate().map(|(k, &(from, to))| {
            let (a, b) = (
                dim(k).coordinate(spans[k].lo + from as i64),
                dim(k).coordinate(spans[k].lo + to as i64 - 1),
            );
            (a.min(b), a.max(b))
        });
        out.push((place.collect(), labels[marks[corner] as usize].clone()));
    }
    out
}
