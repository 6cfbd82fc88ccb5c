//! Panels: neighbouring columns of L, or rows of U, with the same pattern.
//!
//! Where elimination has filled in, column j of L has row j + 1 and then just the rows of column j + 1, and so have the
//! rows of U if the pattern is symmetric. Up to four of them are worked on together: each entry of the vector is read (and
//! written) once instead of four times, and so are the indices. In L every entry still gets its terms one after the other in
//! the order of the columns, so factorisations are the same bit for bit as without panels; the sums over rows of U are
//! added up in a fixed order of their own. A supernodal factorisation would gain more from the same structure, but with a
//! storage of its own.
//!
//! In: sorted columns of L, or rows of U. Out: [`Panels`]. Linear in the number of entries.
//!
//! Worked example: L with the columns {1, 2, 5}, {2, 5}, {5}, {4}, {5}: columns 0 and 1 are a panel of two with the shared
//! rows {5} below it (three are possible, but widths are powers of two); the others stand alone.

use super::SparseColumns;

/// Columns in the widest panel.
const WIDEST: usize = 4;

/// Rows below a panel without which it is not worth it.
const LEAST_SHARED: usize = 4;

/// Share of the entries that must lie in panels for them to be used.
const WORTHWHILE: f64 = 0.3;

/// Widths of panels (4, 2 or 1) by their first and by their last column; empty if they are not worth it.
#[derive(Clone, Debug, Default)]
pub(super) struct Panels {
    from: Vec<u8>,
    to: Vec<u8>,
}

impl Panels {
    /// The panels of triangular columns (or rows) inside the blocks.
    pub fn new(columns: &SparseColumns, block: &[u32]) -> Panels {
        let follows = |j: usize| {
            let (own, next) = (columns.rows(j), columns.rows(j + 1));
            own.len() == next.len() + 1 && own[0] as usize == j + 1 && own[1..] == *next
        };
        let mut from = vec![1u8; columns.ptr.len() - 1];
        let mut to = from.clone();
        let mut together = 0;
        for bounds in block.windows(2) {
            let (mut j, end) = (bounds[0] as usize, bounds[1] as usize);
            while j < end {
                let mut width = 1;
                while width < WIDEST && j + width < end && follows(j + width - 1) {
                    width += 1;
                }
                width = if width == 3 { 2 } else { width };
                if columns.rows(j + width - 1).len() < LEAST_SHARED {
                    width = 1;
                }
                if width > 1 {
                    from[j] = width as u8;
                    to[j + width - 1] = width as u8;
                    together += (j..j + width).map(|c| columns.rows(c).len()).sum::<usize>();
                }
                j += width;
            }
        }
        if (together as f64) < WORTHWHILE * columns.idx.len() as f64 || together == 0 {
            return Panels::default();
        }
        Panels { from, to }
    }

    /// Whether panels are used.
    pub fn in_use(&self) -> bool {
        !self.from.is_empty()
    }

    /// Width of the panel that begins with column j; 1 for all where panels are not used.
    #[inline(always)]
    pub fn width(&self, j: usize) -> usize {
        self.from.get(j).map_or(1, |&w| usize::from(w))
    }

    /// Width of the panel that ends before column j.
    #[inline(always)]
    pub fn width_before(&self, j: usize) -> usize {
        self.to.get(j - 1).map_or(1, |&w| usize::from(w))
    }
}

/// The rows of U, as the backward substitution with panels reads them.
#[derive(Clone, Debug, Default)]
pub(super) struct UpperRows {
    /// Entries by rows; `idx` are columns.
    pub rows: SparseColumns,
    /// Place among the rows for each entry of the columns of U.
    pub place: Vec<u32>,
    pub panels: Panels,
}

impl UpperRows {
    /// The rows of U, if panels of them are worth it; otherwise nothing.
    pub fn new(u: &SparseColumns, block: &[u32]) -> UpperRows {
        let n = u.ptr.len() - 1;
        let mut ptr = vec![0u32; n + 1];
        for &row in &u.idx {
            ptr[row as usize + 1] += 1;
        }
        for k in 0..n {
            ptr[k + 1] += ptr[k];
        }
        let mut next = ptr.clone();
        let mut rows = SparseColumns {
            ptr,
            idx: vec![0; u.idx.len()],
            val: vec![0.0; u.idx.len()],
        };
        let mut place = vec![0; u.idx.len()];
        for column in 0..n {
            for at in u.ptr[column] as usize..u.ptr[column + 1] as usize {
                let to = &mut next[u.idx[at] as usize];
                rows.idx[*to as usize] = column as u32;
                rows.val[*to as usize] = u.val[at];
                place[at] = *to;
                *to += 1;
            }
        }
        let panels = Panels::new(&rows, block);
        if !panels.in_use() {
            return UpperRows::default();
        }
        UpperRows {
            rows,
            place,
            panels,
        }
    }
}

/// Eliminates with columns `j..j + W` of L: returns their multipliers (which stay in `x`) and subtracts their multiples
/// from the rows below.
///
/// # Safety
/// The columns are a panel of `l`, and `l` satisfies [`super::SparseLu::check_structure`] for `n = x.len()`.
#[inline(always)]
pub(super) unsafe fn eliminate<const W: usize>(
    l: &SparseColumns,
    j: usize,
    x: &mut [f64],
) -> [f64; W] {
    let mut multiplier = [0.0; W];
    // SAFETY: by the contract; column j + t of a panel has the rows j + t + 1 .. j + W and then the shared ones.
    unsafe {
        // Where the shared rows begin in each column.
        let mut shared = [0usize; W];
        for t in 0..W {
            let first = *l.ptr.get_unchecked(j + t) as usize;
            let m = *x.get_unchecked(j + t);
            multiplier[t] = m;
            for s in t + 1..W {
                *x.get_unchecked_mut(j + s) -= *l.val.get_unchecked(first + s - t - 1) * m;
            }
            shared[t] = first + W - 1 - t;
        }
        let count = *l.ptr.get_unchecked(j + W) as usize - shared[W - 1];
        for r in 0..count {
            let i = *l.idx.get_unchecked(shared[W - 1] + r) as usize;
            let mut v = *x.get_unchecked(i);
            for t in 0..W {
                v -= *l.val.get_unchecked(shared[t] + r) * multiplier[t];
            }
            *x.get_unchecked_mut(i) = v;
        }
    }
    multiplier
}

/// Solves rows `j..j + W` of U for their unknowns, with all later ones known: the results replace `x[j..j + W]`.
///
/// # Safety
/// The rows are a panel of `u`, and `u` satisfies [`super::SparseLu::check_structure`] for `n = x.len() = inverse.len()`.
#[inline(always)]
pub(super) unsafe fn substitute<const W: usize>(
    u: &SparseColumns,
    inverse: &[f64],
    j: usize,
    x: &mut [f64],
) {
    // SAFETY: by the contract; row j + t of a panel has the columns j + t + 1 .. j + W and then the shared ones.
    unsafe {
        let mut own = [0usize; W];
        let mut shared = [0usize; W];
        let mut sum = [0.0; W];
        for t in 0..W {
            own[t] = *u.ptr.get_unchecked(j + t) as usize;
            shared[t] = own[t] + W - 1 - t;
            sum[t] = *x.get_unchecked(j + t);
        }
        let count = *u.ptr.get_unchecked(j + W) as usize - shared[W - 1];
        // A subtraction waits for the one before it, so narrow panels have several sums under way.
        let mut sums = [[0.0; W]; WIDEST];
        let chains = WIDEST / W;
        for r in (0..count).rev() {
            let value = *x.get_unchecked(*u.idx.get_unchecked(shared[W - 1] + r) as usize);
            let sums = &mut sums[r % chains];
            for t in 0..W {
                sums[t] += *u.val.get_unchecked(shared[t] + r) * value;
            }
        }
        for sums in &sums[..chains] {
            for t in 0..W {
                sum[t] -= sums[t];
            }
        }
        for t in (0..W).rev() {
            let value = sum[t] * *inverse.get_unchecked(j + t);
            *x.get_unchecked_mut(j + t) = value;
            for s in 0..t {
                sum[s] -= *u.val.get_unchecked(own[s] + t - s - 1) * value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::{LinearSolver, SparseLu};
    use crate::pattern::Pattern;

    /// A plate of m x m cells: with panels as without, factorisations with kept pivots bit for bit, solutions but for rounding.
    #[test]
    fn panels_change_nothing() {
        let m = 20;
        let cell = |i: usize, j: usize| i * m + j;
        let mut entries = Vec::new();
        for i in 0..m {
            for j in 0..m {
                entries.push((cell(i, j), cell(i, j)));
                if i > 0 {
                    entries.push((cell(i, j), cell(i - 1, j)));
                    entries.push((cell(i - 1, j), cell(i, j)));
                }
                if j > 0 {
                    entries.push((cell(i, j), cell(i, j - 1)));
                    entries.push((cell(i, j - 1), cell(i, j)));
                }
            }
        }
        let n = m * m;
        let pattern = Pattern::from_entries(n, entries).unwrap();
        let values = |shift: f64| -> Vec<f64> {
            let entry = |j: usize, i: u32| match i as usize == j {
                true => 4.0 + shift,
                false => -1.0 + 0.1 * ((i as usize * 7 + j * 3) % 5) as f64,
            };
            let column = |j: usize| pattern.rows_of(j).iter().map(move |&i| entry(j, i));
            (0..n).flat_map(column).collect()
        };
        let solution = |panels: bool| {
            let mut lu = SparseLu::default();
            lu.analyse(&pattern).unwrap();
            lu.factor(&values(0.0)).unwrap();
            assert!(lu.l_panels.in_use() && lu.u_rows.panels.in_use());
            if !panels {
                lu.l_panels = Panels::default();
                lu.u_rows = UpperRows::default();
            }
            let mut all = Vec::new();
            let mut factors = Vec::new();
            for shift in [0.0, 0.5] {
                if shift > 0.0 {
                    lu.factor(&values(shift)).unwrap();
                }
                let mut x: Vec<f64> = (0..n).map(|k| (k as f64).sin()).collect();
                lu.solve(&mut x);
                all.extend(x);
                factors.extend([lu.l.val.clone(), lu.u.val.clone()]);
            }
            assert_eq!(lu.counts().kept, 1);
            (all, factors)
        };
        let ((with, factors), (without, same)) = (solution(true), solution(false));
        assert_eq!(factors, same);
        let size = with.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-14 * size;
        assert!(with.iter().zip(&without).all(near));
    }
}
