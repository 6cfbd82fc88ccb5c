//! Elimination of a band from one of its ends to the rows in its middle.
//!
//! Row by row, with `A = D (I + L) (I + U)`: D the pivots, L and U of `B` numbers per row. Forward
//! `y[i] = b[i]/d[i] - sum L[i,j] y[i-j]`, backward `x[i] = y[i] - sum U[i,k] x[i+k]`: each new value waits for one
//! multiplication and one subtraction with the value before, and two halves that are worked on in turns do not wait for each other.
//!
//! The last B positions are rows of the middle. Of them only what lies left of the middle is eliminated; what that does
//! to the middle is added up in a small matrix.

use super::lanes::{Lane, Lanes, MOST_LANES};
use super::order::{BandOrder, WIDEST};
use super::substitute::Lower;
use crate::linear::{ZERO_PIVOT, power_of_two_reciprocal};
use crate::pattern::Pattern;
use std::ops::Range;

const NONE: u32 = u32::MAX;

/// Entries of the widest row.
const ROW: usize = 2 * WIDEST + 1;

/// One end of a band.
#[derive(Clone, Debug, Default)]
pub(super) struct Half {
    /// The positions whose rows and unknowns follow a rule ...
    pub lanes: Lanes,
    /// ... those before them, and those behind them, with those of the middle at the end.
    pub before: Singles,
    pub behind: Singles,
    /// Where the values of each row are, `2B + 1` for each, [`NONE`] for zeros.
    source: Vec<u32>,
    pub factors: Factors,
}

/// The numbers of the rows of a half.
#[derive(Clone, Debug, Default)]
pub(super) struct Factors {
    /// Per row L (in the rows of the middle `D L`) ...
    lower: Vec<f64>,
    /// ... U, after B rows of zeros, without those of the middle ...
    upper: Vec<f64>,
    /// ... and `1/d`, likewise.
    inverse: Vec<f64>,
}

impl Factors {
    /// L and `1/d` from a position on.
    pub fn lower<const B: usize>(&self, from: usize) -> Lower<'_, B> {
        let rows = from..self.inverse.len();
        (&self.lower.as_chunks().0[rows.clone()], &self.inverse[rows])
    }

    /// U from a position on.
    pub fn upper<const B: usize>(&self, from: usize) -> &[[f64; B]] {
        &self.upper.as_chunks().0[B + from..B + self.inverse.len()]
    }
}

/// Successive positions, one by one.
#[derive(Clone, Debug, Default)]
pub(super) struct Singles {
    /// Original rows and columns.
    pub row: Vec<u32>,
    pub col: Vec<u32>,
    /// Intermediate results, without the rows of the middle.
    pub y: Vec<f64>,
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
        let lanes = Lanes::find(&order.row, &order.col, own);
        let singles = |positions: Range<usize>, own: usize| Singles {
            row: order.row[positions.clone()].to_vec(),
            col: order.col[positions].to_vec(),
            y: vec![0.0; own],
        };
        Half {
            lanes,
            before: singles(0..lanes.start, lanes.start),
            behind: singles(lanes.end()..len, own - lanes.end()),
            source,
            factors: Factors {
                lower: vec![0.0; len * b],
                upper: vec![0.0; len * b],
                inverse: vec![0.0; own],
            },
        }
    }

    /// Rows without those of the middle.
    pub fn own(&self) -> usize {
        self.factors.inverse.len()
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
        let (upper, own_upper) = self.factors.upper.split_at_mut((i + B) * B);
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
        self.factors.inverse[i] = inverse;
        let lower = &mut self.factors.lower[i * B..(i + 1) * B];
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
                    row[B - j + k] -= l * self.factors.upper[(i + B - j) * B + k - 1];
                }
                self.factors.lower[i * B + j - 1] = l;
            }
            for c in 0..B {
                middle(t, c, row[B + c - t]);
            }
        }
        good
    }

    /// The original row of a position.
    pub fn row(&self, position: usize) -> usize {
        self.original(position, |singles| &singles.row, &self.lanes.row)
    }

    /// The original column of a position.
    pub fn col(&self, position: usize) -> usize {
        self.original(position, |singles| &singles.col, &self.lanes.col)
    }

    fn original(
        &self,
        position: usize,
        list: impl Fn(&Singles) -> &[u32],
        lanes: &[Lane; MOST_LANES],
    ) -> usize {
        let Lanes {
            start, lanes: q, ..
        } = self.lanes;
        match position {
            p if p < start => list(&self.before)[p] as usize,
            p if p >= self.lanes.end() => list(&self.behind)[p - self.lanes.end()] as usize,
            p => lanes[(p - start) % q].at((p - start) / q) as usize,
        }
    }

    /// What the solution of this half takes from the right-hand side of row t of the middle; `last` holds the values before the
    /// middle, the last one first.
    pub fn in_middle<const B: usize>(&self, t: usize, last: &[f64; B]) -> f64 {
        let i = self.own() + t;
        let numbers = t + 1..=B;
        numbers
            .map(|j| self.factors.lower[i * B + j - 1] * last[j - t - 1])
            .sum()
    }

    /// The part of the transposed system before the middle: `(I + U)' y = b`, with y after B zeros. Gives what it takes from the
    /// right-hand side of each column of the middle.
    pub fn forward_transposed<const B: usize>(&self, rhs: &[f64]) -> (Vec<f64>, [f64; B]) {
        let own = self.own();
        let mut y = vec![0.0; B + own];
        let take = |y: &[f64], i: usize, first: usize| -> f64 {
            let rows = first..=B.min(i);
            rows.map(|k| self.factors.upper[(i - k + B) * B + k - 1] * y[B + i - k])
                .sum()
        };
        for i in 0..own {
            y[B + i] = rhs[self.col(i)] - take(&y, i, 1);
        }
        let taken = std::array::from_fn(|t| take(&y, own + t, t + 1));
        (y, taken)
    }

    /// The part behind it: `(I + L)' w = y`, `x = w/d`, with the solution of the middle.
    pub fn backward_transposed<const B: usize>(
        &self,
        mut y: Vec<f64>,
        middle: [f64; B],
        rhs: &mut [f64],
    ) {
        let own = self.own();
        for i in (0..own).rev() {
            let mut w = y[B + i];
            for j in 1..=B {
                let below = i + j;
                let value = match below.checked_sub(own) {
                    Some(t) => middle[t],
                    None => y[B + below],
                };
                w -= self.factors.lower[below * B + j - 1] * value;
            }
            y[B + i] = w;
        }
        for i in 0..own {
            rhs[self.row(i)] = y[B + i] * self.factors.inverse[i];
        }
    }
}
