//! The history of the solution as rows of numbers, the higher ones of half the size in large models.
//!
//! Row j is the difference of order j ([`super::coefficients`]). A step reads and writes all of them, and where they are not in the cache
//! the step waits for them; so in large models those from [`FIRST_NARROW`] on are kept as `f32`.
//!
//! What that does to the solution: rounding moves row j by up to `6e-8 |phi[j]|`, which acts like a local error of that size and is
//! forgotten after k steps, since differences are those of computed values. With differences that shrink by a factor r from row to
//! row, steps at order five have `r^6 / 6` near the tolerance, and row three is `r^3` of the solution: at a relative tolerance of
//! `1e-6` r is 0.13 and rounding is 1e-4 of the tolerance, at [`LEAST_TOLERANCE`] 5e-4. Below that all rows are `f64`: choices of the next
//! step begin to differ there, and errors of single runs with them. (With row two narrow as well, errors of the rod at `1e-6` were a tenth larger.)

use super::simd::F64x4;
use super::vector::Vector;
use crate::parallel::in_parts;
use acausal_cpu::{Shared, Team};
use std::ops::{Index, IndexMut, Range};

/// The first row that may be narrow.
pub(crate) const FIRST_NARROW: usize = 3;

/// Least relative tolerance for which rows may be narrow.
pub const LEAST_TOLERANCE: f64 = 1e-7;

/// All rows. An index gives one that is never narrow.
#[derive(Debug)]
pub(crate) struct DifferenceRows {
    wide: Vec<Vector>,
    narrow: Vec<Vector<f32>>,
}

/// One row.
#[derive(Clone, Copy)]
pub(crate) enum DifferenceRow<'a> {
    Wide(&'a [f64]),
    Narrow(&'a [f32]),
}

impl<'a> DifferenceRow<'a> {
    /// Some of its numbers.
    pub fn part(self, range: Range<usize>) -> DifferenceRow<'a> {
        match self {
            DifferenceRow::Wide(row) => DifferenceRow::Wide(&row[range]),
            DifferenceRow::Narrow(row) => DifferenceRow::Narrow(&row[range]),
        }
    }

    pub fn len(self) -> usize {
        match self {
            DifferenceRow::Wide(row) => row.len(),
            DifferenceRow::Narrow(row) => row.len(),
        }
    }

    /// # Safety
    /// The row has at least `i + 4` numbers.
    #[inline(always)]
    pub unsafe fn load<Q: F64x4>(self, i: usize) -> Q {
        // SAFETY: by the contract.
        unsafe {
            match self {
                DifferenceRow::Wide(row) => Q::load(row, i),
                DifferenceRow::Narrow(row) => Q::load_narrow(row, i),
            }
        }
    }

    pub fn at(self, i: usize) -> f64 {
        match self {
            DifferenceRow::Wide(row) => row[i],
            DifferenceRow::Narrow(row) => f64::from(row[i]),
        }
    }
}

impl DifferenceRows {
    /// Zeros in so many rows; `slot` is that of the first one (see [`Vector`]).
    pub fn zeros(n: usize, count: usize, slot: usize, narrow: bool) -> DifferenceRows {
        let wide = if narrow {
            count.min(FIRST_NARROW)
        } else {
            count
        };
        DifferenceRows {
            wide: (0..wide).map(|j| Vector::zeros(n, slot + j)).collect(),
            narrow: (wide..count).map(|j| Vector::zeros(n, slot + j)).collect(),
        }
    }

    pub fn are_narrow(&self) -> bool {
        !self.narrow.is_empty()
    }

    pub fn row(&self, j: usize) -> DifferenceRow<'_> {
        match self.wide.get(j) {
            Some(row) => DifferenceRow::Wide(row),
            None => DifferenceRow::Narrow(&self.narrow[j - self.wide.len()]),
        }
    }

    /// Multiplies a row by a factor.
    pub fn scale(&mut self, team: Option<&mut Team>, j: usize, factor: f64) {
        let first_narrow = self.wide.len();
        match self.wide.get_mut(j) {
            Some(row) => {
                let row = Shared::new(row);
                in_parts(team, (row.len(), 2), |range| {
                    // SAFETY: ranges are apart.
                    let row = unsafe { row.part(range) };
                    row.iter_mut().for_each(|v| *v *= factor);
                })
            }
            None => {
                let row = Shared::new(&mut self.narrow[j - first_narrow]);
                in_parts(team, (row.len(), 2), |range| {
                    let scaled = |v: f32| (f64::from(v) * factor) as f32;
                    // SAFETY: ranges are apart.
                    let row = unsafe { row.part(range) };
                    row.iter_mut().for_each(|v| *v = scaled(*v));
                })
            }
        };
    }

    /// Exchanges a row for another vector; false if it is narrow.
    pub fn exchange(&mut self, j: usize, other: &mut Vector) -> bool {
        let row = self.wide.get_mut(j);
        row.map(|row| std::mem::swap(row, other)).is_some()
    }

    /// The first K rows, and the one behind them.
    pub fn first<const K: usize>(&mut self) -> (SharedSet<'_, K>, RowBehind<'_>) {
        let first_narrow = self.wide.len();
        let mut wide = self.wide.iter_mut();
        let mut narrow = self.narrow.iter_mut();
        let set = SharedSet {
            wide: std::array::from_fn(|_| shared(wide.next())),
            narrow: std::array::from_fn(|j| match j < first_narrow {
                true => Shared::new(&mut []),
                false => shared(narrow.next()),
            }),
        };
        let behind = match (wide.next(), narrow.next()) {
            (Some(row), _) => RowBehind::Wide(row),
            (None, Some(row)) => RowBehind::Narrow(row),
            (None, None) => RowBehind::Nothing,
        };
        (set, behind)
    }
}

/// A row, or nothing of one that does not exist.
fn shared<T: Copy>(row: Option<&mut Vector<T>>) -> Shared<'_, T> {
    row.map_or(Shared::new(&mut []), |row| Shared::new(row))
}

/// The first K rows, of which several threads write parts.
pub(crate) struct SharedSet<'a, const K: usize> {
    wide: [Shared<'a>; K],
    narrow: [Shared<'a, f32>; K],
}

impl<'a, const K: usize> SharedSet<'a, K> {
    /// A part of each row.
    ///
    /// # Safety
    /// Nobody else uses it meanwhile.
    pub unsafe fn part(&self, range: Range<usize>) -> DifferenceRowsMut<'a, K> {
        // SAFETY: by the contract.
        unsafe {
            DifferenceRowsMut {
                wide: self.wide.map(|row| row.part(range.clone())),
                narrow: self.narrow.map(|row| row.part(range.clone())),
            }
        }
    }
}

/// The row behind the first ones, to be written.
pub(crate) enum RowBehind<'a> {
    Nothing,
    Wide(&'a mut [f64]),
    Narrow(&'a mut [f32]),
}

/// The first K rows, to be written. In its functions W is the number of rows that are not narrow, or more.
pub(crate) struct DifferenceRowsMut<'a, const K: usize> {
    wide: [&'a mut [f64]; K],
    narrow: [&'a mut [f32]; K],
}

impl<'a, const K: usize> DifferenceRowsMut<'a, K> {
    /// Whether all rows have n numbers.
    pub fn is_complete<const W: usize>(&self, n: usize) -> bool {
        (0..K).all(|j| match j < W {
            true => self.wide[j].len() == n,
            false => self.narrow[j].len() == n,
        })
    }

    /// # Safety
    /// The rows have at least `i + 4` numbers.
    #[inline(always)]
    pub unsafe fn load<Q: F64x4, const W: usize>(&self, i: usize) -> [Q; K] {
        // SAFETY: by the contract.
        std::array::from_fn(|j| unsafe {
            match j < W {
                true => Q::load(self.wide[j], i),
                false => Q::load_narrow(self.narrow[j], i),
            }
        })
    }

    /// # Safety
    /// As for [`DifferenceRowsMut::load`].
    #[inline(always)]
    pub unsafe fn store<Q: F64x4, const W: usize>(&mut self, j: usize, i: usize, row: Q) {
        // SAFETY: by the contract.
        unsafe {
            match j < W {
                true => row.store(self.wide[j], i),
                false => row.store_narrow(self.narrow[j], i),
            }
        }
    }

    /// One number.
    pub fn at<const W: usize>(&self, j: usize, i: usize) -> f64 {
        match j < W {
            true => self.wide[j][i],
            false => f64::from(self.narrow[j][i]),
        }
    }

    /// Sets one number; gives what it is then.
    pub fn set<const W: usize>(&mut self, j: usize, i: usize, value: f64) -> f64 {
        match j < W {
            true => self.wide[j][i] = value,
            false => self.narrow[j][i] = value as f32,
        }
        self.at::<W>(j, i)
    }
}

impl Index<usize> for DifferenceRows {
    type Output = Vector;

    fn index(&self, j: usize) -> &Vector {
        &self.wide[j]
    }
}

impl IndexMut<usize> for DifferenceRows {
    fn index_mut(&mut self, j: usize) -> &mut Vector {
        &mut self.wide[j]
    }
}
