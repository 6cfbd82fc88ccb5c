//! Which conditions are independent, by numbers: rows in echelon form that are taken one by one.
//!
//! In: rows by column, scaled so that their entries compare. Each is reduced by those before it; what is left says how far it is independent of them. Out: whether
//! it was taken. Cost: that of sparse elimination without reordering, entries of the rows times those they meet.
//!
//! Example: `(2, 2)`, then the unit rows `(1, 0)` and `(0, 1)`: of the second `(0, -1)` is left, of the third nothing.

use std::collections::{BTreeMap, BTreeSet};

/// What is left of a unit row that is well independent, and of one that is independent at all.
pub(super) const INDEPENDENT: [f64; 2] = [0.05, 1e-7];
/// Pivots of the equations below this do not count.
pub(super) const PIVOT: f64 = 1e-10;

/// Entries by column.
pub(super) type Row = BTreeMap<usize, f64>;

/// Divides a row by its largest entry; false if that is zero or not finite.
pub(super) fn scale_row(row: &mut Row) -> bool {
    let size = row.values().fold(0.0f64, |m, v| m.max(v.abs()));
    // The largest entry hides what is not a number.
    if size == 0.0 || row.values().any(|v| !v.is_finite()) {
        return false;
    }
    row.values_mut().for_each(|v| *v /= size);
    true
}

/// Rows in echelon form, with the column of the pivot of each.
pub(super) struct Elimination {
    rows: Vec<(usize, Row)>,
    /// Per column: the row whose pivot it is.
    row_of: Vec<Option<usize>>,
}

impl Elimination {
    pub fn new(columns: usize) -> Elimination {
        Elimination {
            rows: Vec::new(),
            row_of: vec![None; columns],
        }
    }

    /// Takes a row if what is left of it after reduction, in the columns where its pivot may be, is at least `limit`.
    pub fn take(&mut self, mut row: Row, limit: f64, may_be: impl Fn(usize) -> bool) -> bool {
        let pivots = row.keys().filter_map(|&c| self.row_of[c]);
        let mut todo: BTreeSet<usize> = pivots.collect();
        // A row holds no pivot of an earlier one, so those that a reduction brings in come later.
        while let Some(k) = todo.pop_first() {
            let (pivot, known) = &self.rows[k];
            let Some(value) = row.remove(pivot) else {
                continue;
            };
            let factor = value / known[pivot];
            for (&c, v) in known.iter().filter(|(c, _)| *c != pivot) {
                *row.entry(c).or_insert(0.0) -= factor * v;
                todo.extend(self.row_of[c]);
            }
        }
        let best = (row.iter())
            .filter(|(c, _)| may_be(**c))
            .max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
        match best {
            Some((&pivot, v)) if v.abs() >= limit => {
                self.row_of[pivot] = Some(self.rows.len());
                self.rows.push((pivot, row));
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_rows_beside_an_equation() {
        let mut e = Elimination::new(2);
        assert!(e.take(Row::from([(0, 2.0), (1, 2.0)]), PIVOT, |_| true));
        assert!(e.take(Row::from([(0, 1.0)]), 0.05, |_| true));
        assert!(!e.take(Row::from([(1, 1.0)]), 1e-7, |_| true));
    }
}
