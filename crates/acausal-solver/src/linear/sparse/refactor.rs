//! Factorisation with the pivots and the pattern of the last one: no search, no allocation.
//!
//! The same left-looking column elimination as in `factor.rs`; the columns of U, sorted, say in which order the earlier
//! columns of L are subtracted. If a kept pivot has become small against its column, or the factors grow, the caller pivots anew.

use super::panel::eliminate;
use super::{KEPT_PIVOT_TOLERANCE, MOST_GROWTH, SparseLu};
use crate::linear::{ZERO_PIVOT, power_of_two_reciprocal};

impl SparseLu {
    /// Recomputes the numbers; false if a pivot is no longer good enough (the factors are then of no use).
    pub(super) fn refactor(&mut self, values: &[f64]) -> bool {
        self.rescale(values);
        let x = &mut self.x[..self.n];
        let mut norm = 0.0f64;
        // What pivoting could not avoid is not a reason to pivot anew, as long as it does not get worse.
        let most_growth = MOST_GROWTH.max(2.0 * self.growth);
        for k in 0..self.n {
            let mut column_sum = 0.0;
            for at in self.above.ptr[k] as usize..self.above.ptr[k + 1] as usize {
                let value = values[self.outside_source[at] as usize]
                    * self.scale[self.above.idx[at] as usize];
                self.above.val[at] = value;
                column_sum += value.abs();
            }
            let mut column_max = 0.0f64;
            for at in self.inside.ptr[k] as usize..self.inside.ptr[k + 1] as usize {
                let row = self.inside.target[at] as usize;
                let value = values[self.inside.source[at] as usize] * self.scale[row];
                x[row] = value;
                column_sum += value.abs();
                column_max = column_max.max(value.abs());
            }
            norm = norm.max(column_sum);
            let column = self.u.ptr[k] as usize..self.u.ptr[k + 1] as usize;
            let (rows, values) = (&self.u.idx[column.clone()], &mut self.u.val[column.clone()]);
            let mut at = 0;
            while at < rows.len() {
                let j = rows[at] as usize;
                let width = self.l_panels.width(j);
                // The last panel may reach beyond the column.
                let whole =
                    at + width <= rows.len() && rows[at + width - 1] as usize == j + width - 1;
                let width = if whole { width } else { 1 };
                // SAFETY: rows are below n = x.len(), see `check_structure`.
                unsafe {
                    match width {
                        4 => values[at..at + 4].copy_from_slice(&eliminate::<4>(&self.l, j, x)),
                        2 => values[at..at + 2].copy_from_slice(&eliminate::<2>(&self.l, j, x)),
                        _ => values[at..at + 1].copy_from_slice(&eliminate::<1>(&self.l, j, x)),
                    }
                }
                x[j..j + width].fill(0.0);
                at += width;
            }
            if self.u_rows.panels.in_use() {
                for (&place, &value) in self.u_rows.place[column.clone()].iter().zip(values.iter())
                {
                    self.u_rows.rows.val[place as usize] = value;
                }
            }
            let pivot = std::mem::take(&mut x[k]);
            let inverse = 1.0 / pivot;
            let mut largest = 0.0f64;
            let range = self.l.ptr[k] as usize..self.l.ptr[k + 1] as usize;
            for (&i, l) in self.l.idx[range.clone()].iter().zip(&mut self.l.val[range]) {
                let value = std::mem::take(&mut x[i as usize]);
                largest = largest.max(value.abs());
                *l = value * inverse;
            }
            let size = pivot.abs();
            let grown = (self.u.val[column.clone()].iter()).fold(size, |m, v| m.max(v.abs()));
            let good = size.is_finite()
                && grown <= most_growth * column_max
                && size > ZERO_PIVOT * column_max
                && size >= KEPT_PIVOT_TOLERANCE * largest;
            if !good {
                x.fill(0.0);
                return false;
            }
            self.inverse[k] = inverse;
        }
        self.norm = norm;
        true
    }

    /// Row scales by position.
    fn rescale(&mut self, values: &[f64]) {
        self.scale.fill(0.0);
        for (&source, &row) in self.inside.source.iter().zip(&self.inside.target) {
            let s = &mut self.scale[row as usize];
            *s = s.max(values[source as usize].abs());
        }
        for (&source, &row) in self.outside_source.iter().zip(&self.above.idx) {
            let s = &mut self.scale[row as usize];
            *s = s.max(values[source as usize].abs());
        }
        for s in &mut self.scale {
            *s = power_of_two_reciprocal(*s);
        }
    }
}
