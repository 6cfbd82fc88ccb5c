//! From cells back to arrays: check that windows are uniform, and join cells that behave alike into segments.
//!
//! Why a uniform window proves the whole stretch: that every variable element is determined exactly once, and that the
//! differentiation orders fit, are local conditions (they involve equations at most `reach` coordinates away). If they
//! hold in a window wider than that in which everything is the same, they hold for any number of repetitions of it.

use std::collections::{BTreeMap, BTreeSet};

use super::frames::{Dim, Frames};
use super::grid::Grid;
use super::instance::{Assignment, Entry, Instance, Orders};
use super::model::{Index, Model, Span};

/// What makes cells alike, as a number per cell; equal numbers of one array are alike.
pub(super) struct Labels {
    pub(super) equations: Vec<u32>,
    /// Of undifferentiated variables: the order of the highest derivative.
    pub(super) variables: Vec<u32>,
}

/// Which access an equation cell is assigned to, how many elements, and for ranges to which relative element.
type Choice = Vec<(u32, u64, Vec<i64>)>;

impl Labels {
    pub(super) fn new(
        model: &Model,
        instance: &Instance,
        orders: &Orders,
        assignment: &Assignment,
    ) -> Labels {
        let mut known: BTreeMap<(u32, Choice), u32> = BTreeMap::new();
        let mut equations = vec![0; instance.entries.len()];
        for (e, grid) in instance.eq_grids.iter().enumerate() {
            grid.for_cells(|cell, at| {
                let choice = assignment.by_equation[cell]
                    .iter()
                    .map(|&(entry, amount)| {
                        (
                            entry.access,
                            amount,
                            relative(model, instance, e, at, entry),
                        )
                    })
                    .collect();
                let next = known.len() as u32;
                equations[cell] = *known
                    .entry((orders.equations[cell], choice))
                    .or_insert(next);
            });
        }
        Labels {
            equations,
            variables: orders.variables.clone(),
        }
    }

    /// The frames in which some window is not uniform.
    pub(super) fn irregular_frames(&self, instance: &Instance, roots: &[bool]) -> BTreeSet<usize> {
        let mut bad = BTreeSet::new();
        for (e, grid) in instance.eq_grids.iter().enumerate() {
            check_windows(
                grid,
                instance.frames.of_equation(e),
                &instance.frames,
                &self.equations,
                &mut bad,
            );
        }
        for (v, grid) in instance.var_grids.iter().enumerate() {
            if roots[v] {
                check_windows(
                    grid,
                    instance.frames.of_variable(v),
                    &instance.frames,
                    &self.variables,
                    &mut bad,
                );
            }
        }
        bad
    }
}

/// For dimensions that are touched as a range: where the assigned cell stands, relative to an iterator of the same frame
/// if there is one.
fn relative(model: &Model, instance: &Instance, e: usize, at: &[usize], entry: Entry) -> Vec<i64> {
    let access = &model.equations[e].accesses[entry.access as usize];
    if !access.index.iter().any(|i| matches!(i, Index::All(_))) {
        return Vec::new();
    }
    let grid = &instance.var_grids[access.variable.index()];
    let position = grid.position(entry.slot as usize);
    let dims = instance.frames.of_variable(access.variable.index());
    let iterators = instance.frames.of_equation(e);
    let mut out = Vec::new();
    for (k, index) in access.index.iter().enumerate() {
        if matches!(index, Index::All(_)) {
            let cell = (dims[k].first + position[k]) as i64;
            match iterators.iter().position(|it| it.frame == dims[k].frame) {
                Some(j) => out.push(cell - (iterators[j].first + at[j]) as i64),
                None => out.push(cell),
            }
        }
    }
    out
}

/// Adds the frames whose windows contain cells with different labels.
fn check_windows(
    grid: &Grid,
    dims: &[Dim],
    frames: &Frames,
    labels: &[u32],
    bad: &mut BTreeSet<usize>,
) {
    for (k, dim) in dims.iter().enumerate() {
        let windows: Vec<(usize, usize)> = frames.frames[dim.frame]
            .windows
            .iter()
            .filter(|w| w.0 >= dim.first && w.0 + w.1 <= dim.first + dim.count)
            .map(|w| (w.0 - dim.first, w.1))
            .collect();
        if windows.is_empty() || bad.contains(&dim.frame) {
            continue;
        }
        let stride: usize = grid.counts[k + 1..].iter().product();
        let mut uniform = true;
        grid.for_cells(|cell, at| {
            if windows
                .iter()
                .any(|&(first, count)| at[k] > first && at[k] < first + count)
            {
                uniform &= labels[cell] == labels[cell - stride];
            }
        });
        if !uniform {
            bad.insert(dim.frame);
        }
    }
}

/// Where single elements or ranges of a variable (or its derivatives) are touched: per undifferentiated variable and
/// dimension the frame coordinates at which such a piece begins or the one after it. Segments end there, so that a piece
/// that others refer to as such is a segment of its own.
pub(super) struct Pieces(Vec<Vec<BTreeSet<i64>>>);

impl Pieces {
    pub(super) fn new(model: &Model, instance: &Instance) -> Pieces {
        let shapes = model
            .variables
            .iter()
            .map(|v| vec![BTreeSet::new(); v.shape.len()]);
        let mut pieces: Vec<Vec<BTreeSet<i64>>> = shapes.collect();
        for access in model.equations.iter().flat_map(|e| &e.accesses) {
            let v = access.variable.index();
            if instance.var_grids[v].len() == 0 {
                continue;
            }
            let root = instance.variable_of(instance.root[instance.var_grids[v].offset] as usize);
            for (k, index) in access.index.iter().enumerate() {
                let span = match *index {
                    Index::Fixed(i) => Span::new(i, i),
                    Index::All(s) if s.size() > 0 => s,
                    _ => continue,
                };
                let dim = instance.frames.of_variable(root)[k];
                let (a, b) = (dim.coordinate(span.lo), dim.coordinate(span.hi));
                pieces[root][k].extend([a.min(b), a.max(b) + 1]);
            }
        }
        Pieces(pieces)
    }

    /// Whether a piece of variable `v` begins with the box in dimension `k`.
    pub(super) fn begins(&self, instance: &Instance, v: usize, k: usize, range: &CellBox) -> bool {
        let dim = instance.frames.of_variable(v)[k];
        let start = instance.frames.frames[dim.frame].cells[dim.first + range[k].0].start;
        self.0[v][k].contains(&start)
    }

    /// Whether what the box of equation `e` determines begins a piece along iterator `k`.
    pub(super) fn begins_in_image(
        &self,
        model: &Model,
        instance: &Instance,
        assignment: &Assignment,
        e: usize,
        k: usize,
        range: &CellBox,
    ) -> bool {
        let first = instance.eq_grids[e].number(&range.iter().map(|r| r.0).collect::<Vec<_>>());
        assignment.by_equation[first].iter().any(|(entry, _)| {
            let access = &model.equations[e].accesses[entry.access as usize];
            let slot = instance.root[entry.slot as usize] as usize;
            let v = instance.variable_of(slot);
            let position = instance.var_grids[v].position(slot);
            access.index.iter().enumerate().any(|(j, index)| {
                let Index::Affine {
                    iterator,
                    coefficient,
                    offset,
                } = *index
                else {
                    return false;
                };
                if iterator != k {
                    return false;
                }
                let dim = instance.frames.of_variable(v)[j];
                let start = instance.frames.frames[dim.frame].cells[dim.first + position[j]].start;
                let it = instance.frames.of_equation(e)[k];
                let in_step = instance
                    .frames
                    .cell_shift(it, coefficient, offset, dim)
                    .is_some();
                // Against the direction (or with strides), the piece may as well end at the other side.
                self.0[v][j].contains(&start) || (!in_step && self.0[v][j].contains(&(start + 1)))
            })
        })
    }
}

/// A box of cells of one array that are alike: per dimension the range of cells.
pub(crate) type CellBox = Vec<(usize, usize)>;

/// Joins neighbouring cells with equal labels into boxes, but not where `separate(dimension, box)` forbids to join the box
/// with the one before it in this dimension. The boxes come in lexicographic order.
pub(crate) fn boxes(
    grid: &Grid,
    labels: &[u32],
    separate: impl Fn(usize, &CellBox) -> bool,
) -> Vec<CellBox> {
    let mut all: Vec<(CellBox, u32)> = Vec::with_capacity(grid.len());
    grid.for_cells(|cell, at| all.push((at.iter().map(|&a| (a, a + 1)).collect(), labels[cell])));
    for k in (0..grid.counts.len()).rev() {
        // Same place in the other dimensions and same label, then by position: candidates follow each other.
        all.sort_by(|a, b| {
            key(&a.0, k)
                .cmp(key(&b.0, k))
                .then(a.1.cmp(&b.1))
                .then(a.0[k].cmp(&b.0[k]))
        });
        let mut joined: Vec<(CellBox, u32)> = Vec::new();
        for (range, label) in all {
            if let Some((last, last_label)) = joined.last_mut()
                && *last_label == label
                && last[k].1 == range[k].0
                && key(last, k).eq(key(&range, k))
                && !separate(k, &range)
            {
                last[k].1 = range[k].1;
                continue;
            }
            joined.push((range, label));
        }
        all = joined;
    }
    all.sort();
    all.into_iter().map(|(range, _)| range).collect()
}

/// The ranges of all dimensions but `k`.
fn key(range: &CellBox, k: usize) -> impl Iterator<Item = &(usize, usize)> {
    range
        .iter()
        .enumerate()
        .filter(move |(d, _)| *d != k)
        .map(|(_, r)| r)
}

/// The index ranges of a box of cells.
pub(super) fn spans(range: &CellBox, dims: &[Dim], frames: &Frames) -> Vec<Span> {
    range
        .iter()
        .zip(dims)
        .map(|(&(from, to), dim)| {
            let cells = &frames.frames[dim.frame].cells;
            let (first, last) = (cells[dim.first + from], cells[dim.first + to - 1]);
            dim.indices(first.start, last.start + last.len - first.start)
        })
        .collect()
}
