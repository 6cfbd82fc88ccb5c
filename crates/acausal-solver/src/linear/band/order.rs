//! Finding the order in which a matrix is a narrow band.
//!
//! In: a [`Pattern`] and values. Out: [`BandOrder`], or nothing if there is no such order or a band would be mostly zeros. The
//! order of the unknowns is taken as it is if it serves (one array of cells), otherwise that of Cuthill & McKee (1969): breadth
//! first from an end of the graph of `A + A'`, rows matched to columns before. Two arrays of a line, `i[k]` and
//! `v[k]`, are one after the other in memory and become `i[1], v[1], i[2], v[2], ...`.
//!
//! The matching decides what is on the diagonal: only entries that could be pivots of their column, so that elimination without a
//! choice of pivots has a chance.
//!
//! Linear in the number of entries: a level of the search that is wider than any narrow band could have ends it at once.
//!
//! Worked example: the path 2-0-3-1 with all diagonal entries. From vertex 0 the levels are {0}, {2, 3}, {1}; from 1, in
//! the last level, they are {1}, {3}, {0}, {2}: an order of width one.

use crate::linear::btf::match_columns;
use crate::linear::ordering::{Adjacency, block_graph};
use crate::linear::row_scales;
use crate::linear::sparse::PIVOT_TOLERANCE;
use crate::pattern::Pattern;

/// Widest half band (entries on either side of the diagonal).
pub(crate) const WIDEST: usize = 4;

/// Numbers of the band, zeros among them, for each entry of the matrix: a sparse solver touches an index with each
/// number and pays for fill as well.
const MOST_PER_ENTRY: usize = 2;

const NONE: u32 = u32::MAX;

/// Permutations to a narrow band: entry `(row[p], col[q])` is zero if p and q are further apart than `width`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BandOrder {
    pub row: Vec<u32>,
    pub col: Vec<u32>,
    pub width: usize,
}

/// Whether no column has more entries than a narrow band could hold.
pub(crate) fn may_be_band(pattern: &Pattern) -> bool {
    let full = 2 * WIDEST + 1;
    (0..pattern.size()).all(|j| pattern.range(j).len() <= full)
}

/// The order, if the matrix is a narrow band in one with entries on its diagonal that are not small in their column.
pub(crate) fn band_order(pattern: &Pattern, values: &[f64]) -> Option<BandOrder> {
    let n = pattern.size();
    let mut scale = vec![1.0; n];
    row_scales(pattern, values, &mut scale);
    if serves_as_it_is(pattern, values, &scale) {
        return with_rows(pattern, (0..n as u32).collect());
    }
    let mut large = Vec::with_capacity(pattern.nnz());
    let mut ends = Vec::with_capacity(n + 1);
    ends.push(0);
    for j in 0..n {
        let size = |k: usize| values[k].abs() * scale[pattern.row_idx()[k] as usize];
        let largest = pattern.range(j).map(size).fold(0.0, f64::max);
        let kept = |k: &usize| size(*k) >= PIVOT_TOLERANCE * largest;
        large.extend(pattern.range(j).filter(kept).map(|k| pattern.row_idx()[k]));
        ends.push(large.len() as u32);
    }
    let large = Pattern::new(n, ends, large).ok()?;
    with_rows(pattern, match_columns(&large).ok()?)
}

/// Whether all entries on the diagonal could be pivots, as in most models of cells: then nothing has to be matched.
fn serves_as_it_is(pattern: &Pattern, values: &[f64], scale: &[f64]) -> bool {
    (0..pattern.size()).all(|j| {
        let (mut diagonal, mut largest) = (-1.0, 0.0f64);
        for k in pattern.range(j) {
            let row = pattern.row_idx()[k] as usize;
            let size = values[k].abs() * scale[row];
            largest = largest.max(size);
            if row == j {
                diagonal = size;
            }
        }
        diagonal > 0.0 && diagonal >= PIVOT_TOLERANCE * largest
    })
}

/// The order for the rows matched to each column.
fn with_rows(pattern: &Pattern, row_of: Vec<u32>) -> Option<BandOrder> {
    let n = pattern.size();
    let mut col_of = vec![0u32; n];
    for (j, &row) in row_of.iter().enumerate() {
        col_of[row as usize] = j as u32;
    }
    let col: Vec<u32> = (0..n as u32).collect();
    let mut order = BandOrder {
        width: width(pattern, &col_of, &col),
        row: row_of,
        col,
    };
    if order.width > WIDEST {
        let graph = block_graph(pattern, &order.col, &col_of, 0, n);
        order.col = cuthill_mckee(&graph)?;
        let mut position = vec![0u32; n];
        for (p, &j) in order.col.iter().enumerate() {
            position[j as usize] = p as u32;
        }
        order.width = width(pattern, &col_of, &position);
        order.row = order.col.iter().map(|&j| order.row[j as usize]).collect();
    }
    let numbers = (2 * order.width + 1) * n;
    (1..=WIDEST).contains(&order.width).then_some(())?;
    (numbers <= MOST_PER_ENTRY * pattern.nnz()).then_some(order)
}

/// Largest distance of an entry from the diagonal; `position` is that of a column and of the row matched to it.
fn width(pattern: &Pattern, col_of: &[u32], position: &[u32]) -> usize {
    let mut width = 0;
    for (j, &p) in position.iter().enumerate() {
        for &row in pattern.rows_of(j) {
            let q = position[col_of[row as usize] as usize];
            width = width.max(p.abs_diff(q));
        }
    }
    width as usize
}

/// Breadth first through each component from one of its ends; nothing if a level is too wide.
fn cuthill_mckee(graph: &Adjacency) -> Option<Vec<u32>> {
    let n = graph.start.len() - 1;
    let mut search = Search {
        graph,
        order: Vec::with_capacity(n),
        seen: vec![NONE; n],
        sweeps: 0,
        next: Vec::new(),
    };
    for v in 0..n as u32 {
        // A vertex of an earlier component was seen and is in the order.
        if search.seen[v as usize] != NONE {
            continue;
        }
        let begin = search.order.len();
        let mut height = 0;
        let mut start = v;
        loop {
            search.order.truncate(begin);
            let levels = search.levels(start)?;
            let last = search.order[levels.last..].iter().copied();
            let end = last.min_by_key(|&u| (graph.degree(u), u))?;
            if levels.height <= height {
                break;
            }
            height = levels.height;
            start = end;
        }
    }
    Some(search.order)
}

/// A search that puts the vertices it reaches at the end of an order.
struct Search<'a> {
    graph: &'a Adjacency,
    order: Vec<u32>,
    /// The sweep that reached each vertex last.
    seen: Vec<u32>,
    sweeps: u32,
    next: Vec<u32>,
}

struct Levels {
    height: usize,
    /// Where the last level begins in the order.
    last: usize,
}

impl Search<'_> {
    fn levels(&mut self, start: u32) -> Option<Levels> {
        let sweep = self.sweeps;
        self.sweeps += 1;
        self.seen[start as usize] = sweep;
        let mut levels = Levels {
            height: 0,
            last: self.order.len(),
        };
        self.order.push(start);
        loop {
            let end = self.order.len();
            for at in levels.last..end {
                let v = self.order[at];
                self.next.clear();
                for &u in self.graph.neighbours(v) {
                    if self.seen[u as usize] != sweep {
                        self.seen[u as usize] = sweep;
                        self.next.push(u);
                    }
                }
                self.next.sort_by_key(|&u| (self.graph.degree(u), u));
                self.order.append(&mut self.next);
            }
            // From an end of a band no level is wider than it, from its middle twice as much.
            if self.order.len() - end > 2 * WIDEST {
                return None;
            }
            if self.order.len() == end {
                return Some(levels);
            }
            levels.last = end;
            levels.height += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_two_arrays_is_a_band_of_width_one() {
        let n = 100;
        let (current, voltage) = (|k: usize| k, |k: usize| n + k);
        let mut entries = Vec::new();
        for k in 0..n {
            entries.extend([(k, current(k)), (k, voltage(k))]);
            entries.extend([(n + k, voltage(k)), (n + k, current(k))]);
            if k > 0 {
                entries.push((k, voltage(k - 1)));
                entries.push((n + k - 1, current(k)));
            }
        }
        let pattern = Pattern::from_entries(2 * n, entries).unwrap();
        let value = |i: usize, j: usize| if i == j { 9.0 } else { 1.0 };
        let column = |j: usize| pattern.rows_of(j).iter().map(move |&i| (i as usize, j));
        let values: Vec<f64> = (0..2 * n)
            .flat_map(column)
            .map(|(i, j)| value(i, j))
            .collect();
        assert_eq!(band_order(&pattern, &values).unwrap().width, 1);
    }

    #[test]
    fn plates_and_stars_are_no_bands() {
        let n = 12;
        let cell = |i: usize, j: usize| i * n + j;
        let mut plate = Vec::new();
        for (i, j) in (0..n * n).map(|k| (k / n, k % n)) {
            plate.push((cell(i, j), cell(i, j)));
            if i > 0 {
                plate.extend([(cell(i, j), cell(i - 1, j)), (cell(i - 1, j), cell(i, j))]);
            }
            if j > 0 {
                plate.extend([(cell(i, j), cell(i, j - 1)), (cell(i, j - 1), cell(i, j))]);
            }
        }
        let pattern = Pattern::from_entries(n * n, plate).unwrap();
        assert_eq!(band_order(&pattern, &vec![1.0; pattern.nnz()]), None);
        let star = (0..50).flat_map(|k| [(k, k), (0, k), (k, 0)]);
        let pattern = Pattern::from_entries(50, star).unwrap();
        assert!(!may_be_band(&pattern));
    }
}
