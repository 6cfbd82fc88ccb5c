//! Elimination of a band from one of its ends to the rows in its middle.
//!
//! Row by row, with `A = D (I + L) (I + U)`: D the pivots, L and U of `B` numbers per row. Forward
//! `y[i] = b[i]/d[i] - sum L[i,j] y[i-j]`, backward `x[i] = y[i] - sum U[i,k] x[i+k]`: each new value waits for one
//! multiplication and one subtraction with the value before, and two halves that are worked on in turns do not wait for each other.
//!
//! The last B positions are rows of the middle. Of them only what lies left of the middle is eliminated; what that does
//! to the middle is added up in a small matrix.

use super::order::{BandOrder, WIDEST};
use crate::linear::{ZERO_PIVOT, power_of_two_reciprocal};
use crate::pattern::Pattern;

const NONE: u32 = u32::MAX;

/// Entries of the widest row.
const ROW: usize = 2 * WIDEST + 1;

/// One end of a band.
#[derive(Clone, Debug, Default)]
pub(super) struct Half {
    /// Original rows and columns by position, those of the middle at the end.
    pub row: Vec<u32>,
    pub col: Vec<u32>,
    /// Where the values of each row are, `2B + 1` for each, [`NONE`] for zeros.
    source: Vec<u32>,
    /// Per row L (in the rows of the middle `D L`) ...
    lower: Vec<f64>,
    /// ... U, after B rows of zeros, without those of the middle ...
    upper: Vec<f64>,
    /// ... and `1/d`, likewise.
    inverse: Vec<f64>,
    /// Intermediate results, after B zeros.
    y: Vec<f64>,
}

/// What the elimination remembers of the rows before: sizes of their pivots against their rows, the last one first.
pub(super) struct Pivots<const B: usize>([f64; B]);

impl<const B: usize> Default for Pivots<B> {
    fn default() -> Self {
        Pivots([f64::INFINITY; B])
    }
}

impl Half {
    /// The first `own` positions of a band and the `width` after them; `with_middle` if the entries of the middle among themselves
    /// are to be counted here.
    pub fn new(pattern: &Pattern, order: &BandOrder, own: usize, with_middle: bool) -> Half {
        let b = order.width;
        let len = own + b;
        let mut position = vec![NONE; pattern.size()];
        for (p, &row) in order.row[..len].iter().enumerate() {
            position[row as usize] = p as u32;
        }
        let mut source = vec![NONE; len * (2 * b + 1)];
        for (q, &col) in order.col[..len].iter().enumerate() {
            for k in pattern.range(col as usize) {
                let p = position[pattern.row_idx()[k] as usize];
                if p != NONE && (with_middle || (p as usize) < own || q < own) {
                    source[p as usize * (2 * b + 1) + b + q - p as usize] = k as u32;
                }
            }
        }
        Half {
            row: order.row[..len].to_vec(),
            col: order.col[..len].to_vec(),
            source,
            lower: vec![0.0; len * b],
            upper: vec![0.0; len * b],
            inverse: vec![0.0; own],
            y: vec![0.0; len + b],
        }
    }

    /// Rows without those of the middle.
    pub fn own(&self) -> usize {
        self.inverse.len()
    }

    #[inline(always)]
    fn load<const B: usize>(&self, i: usize, values: &[f64]) -> [f64; ROW] {
        let mut row = [0.0; ROW];
        let places = &self.source[i * (2 * B + 1)..(i + 1) * (2 * B + 1)];
        for (v, &place) in row.iter_mut().zip(places) {
            // Zeros have a place beyond all values.
            *v = values.get(place as usize).copied().unwrap_or(0.0);
        }
        row
    }

    /// Eliminates row i; false if one of its multipliers exceeds `most`, or its pivot is nothing but rounding error. Rows are
    /// compared by their scales, as if each had been divided by its largest entry.
    #[inline(always)]
    pub fn eliminate<const B: usize>(
        &mut self,
        i: usize,
        values: &[f64],
        most: f64,
        before: &mut Pivots<B>,
    ) -> bool {
        let mut row = self.load::<B>(i, values);
        let largest = row.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let scale = power_of_two_reciprocal(largest);
        let mut good = true;
        let (upper, own_upper) = self.upper.split_at_mut((i + B) * B);
        let upper = &upper[i * B..];
        for j in (1..=B).rev() {
            let l = row[B - j];
            good &= l.abs() * scale <= most * before.0[j - 1];
            for k in 1..=B {
                row[B - j + k] -= l * upper[(B - j) * B + k - 1];
            }
        }
        let pivot = row[B];
        let inverse = 1.0 / pivot;
        let size = pivot.abs() * scale;
        good &= size.is_finite() && size > ZERO_PIVOT;
        for j in (1..B).rev() {
            before.0[j] = before.0[j - 1];
        }
        before.0[0] = size;
        self.inverse[i] = inverse;
        let lower = &mut self.lower[i * B..(i + 1) * B];
        for j in 1..=B {
            lower[j - 1] = row[B - j] * inverse;
            own_upper[j - 1] = row[B + j] * inverse;
        }
        good
    }

    /// Eliminates the rows of the middle as far as they lie in this half, and adds what is left of them to `middle`, row by row.
    pub fn eliminate_middle<const B: usize>(
        &mut self,
        values: &[f64],
        most: f64,
        before: &Pivots<B>,
        mut middle: impl FnMut(usize, usize, f64),
    ) -> bool {
        let own = self.own();
        let mut good = true;
        for t in 0..B {
            let i = own + t;
            let mut row = self.load::<B>(i, values);
            let largest = row.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            let scale = power_of_two_reciprocal(largest);
            for j in (t + 1..=B).rev() {
                let l = row[B - j];
                good &= l.abs() * scale <= most * before.0[j - t - 1];
                for k in 1..=B {
                    row[B - j + k] -= l * self.upper[(i + B - j) * B + k - 1];
                }
                self.lower[i * B + j - 1] = l;
            }
            for c in 0..B {
                middle(t, c, row[B + c - t]);
            }
        }
        good
    }

    /// The rows of this half without those of the middle.
    pub fn rows<const B: usize>(&mut self) -> Rows<'_, B> {
        let own = self.own();
        Rows {
            lower: &self.lower.as_chunks().0[..own],
            inverse: &self.inverse,
            upper: &self.upper.as_chunks().0[B..B + own],
            row: &self.row[..own],
            col: &self.col[..own],
            y: &mut self.y[B..B + own],
        }
    }

    /// What the solution of this half takes from the right-hand side of row t of the middle; `last` holds the values before the
    /// middle, the last one first.
    pub fn in_middle<const B: usize>(&self, t: usize, last: &[f64; B]) -> f64 {
        let i = self.own() + t;
        let numbers = t + 1..=B;
        numbers
            .map(|j| self.lower[i * B + j - 1] * last[j - t - 1])
            .sum()
    }

    /// The part of the transposed system before the middle: `(I + U)' y = b`. Gives what it takes from the right-hand
    /// side of each column of the middle.
    pub fn forward_transposed<const B: usize>(&mut self, rhs: &[f64]) -> [f64; B] {
        let own = self.own();
        let take = |y: &[f64], upper: &[f64], i: usize, first: usize| -> f64 {
            let rows = first..=B.min(i);
            rows.map(|k| upper[(i - k + B) * B + k - 1] * y[B + i - k])
                .sum()
        };
        for i in 0..own {
            let known = take(&self.y, &self.upper, i, 1);
            self.y[B + i] = rhs[self.col[i] as usize] - known;
        }
        std::array::from_fn(|t| take(&self.y, &self.upper, own + t, t + 1))
    }

    /// The part behind it: `(I + L)' w = y`, `x = w/d`, with the solution of the middle.
    pub fn backward_transposed<const B: usize>(&mut self, middle: [f64; B], rhs: &mut [f64]) {
        let own = self.own();
        for i in (0..own).rev() {
            let mut w = self.y[B + i];
            for j in 1..=B {
                let below = i + j;
                let value = match below.checked_sub(own) {
                    Some(t) => middle[t],
                    None => self.y[B + below],
                };
                w -= self.lower[below * B + j - 1] * value;
            }
            self.y[B + i] = w;
        }
        for i in 0..own {
            rhs[self.row[i] as usize] = self.y[B + i] * self.inverse[i];
        }
    }
}

/// The rows of a half, and where their unknowns are.
pub(super) struct Rows<'a, const B: usize> {
    lower: &'a [[f64; B]],
    inverse: &'a [f64],
    upper: &'a [[f64; B]],
    row: &'a [u32],
    col: &'a [u32],
    y: &'a mut [f64],
}

impl<'a, const B: usize> Rows<'a, B> {
    /// The first rows and the others. Loops over slices of one length need no test of their indices.
    pub fn split_at(self, k: usize) -> (Rows<'a, B>, Rows<'a, B>) {
        let (lower, lower_end) = self.lower.split_at(k);
        let (inverse, inverse_end) = self.inverse.split_at(k);
        let (upper, upper_end) = self.upper.split_at(k);
        let (row, row_end) = self.row.split_at(k);
        let (col, col_end) = self.col.split_at(k);
        let (y, y_end) = self.y.split_at_mut(k);
        let first = Rows {
            lower,
            inverse,
            upper,
            row,
            col,
            y,
        };
        let others = Rows {
            lower: lower_end,
            inverse: inverse_end,
            upper: upper_end,
            row: row_end,
            col: col_end,
            y: y_end,
        };
        (first, others)
    }

    pub fn len(&self) -> usize {
        self.inverse.len()
    }

    /// Forward substitution of row i with right-hand side `b`; `last` holds the values before it, the last one first.
    #[inline(always)]
    pub fn forward(&self, i: usize, b: f64, last: &mut [f64; B]) -> f64 {
        let mut y = b * self.inverse[i];
        for j in (0..B).rev() {
            y -= self.lower[i][j] * last[j];
        }
        push(last, y);
        y
    }

    /// Backward substitution of row i from `y`; `last` holds the values behind it, the nearest first.
    #[inline(always)]
    pub fn backward(&self, i: usize, y: f64, last: &mut [f64; B]) -> f64 {
        let mut x = y;
        for k in (0..B).rev() {
            x -= self.upper[i][k] * last[k];
        }
        push(last, x);
        x
    }

    /// [`Rows::forward`] from the right-hand side of the whole system.
    #[inline(always)]
    pub fn forward_from(&mut self, i: usize, rhs: &[f64], last: &mut [f64; B]) {
        self.y[i] = self.forward(i, rhs[self.row[i] as usize], last);
    }

    /// [`Rows::backward`] to the solution of the whole system.
    #[inline(always)]
    pub fn backward_to(&self, i: usize, rhs: &mut [f64], last: &mut [f64; B]) {
        rhs[self.col[i] as usize] = self.backward(i, self.y[i], last);
    }
}

#[inline(always)]
fn push<const B: usize>(last: &mut [f64; B], value: f64) {
    for j in (1..B).rev() {
        last[j] = last[j - 1];
    }
    last[0] = value;
}
