//! Elimination with pivoting, column by column (Gilbert & Peierls 1988).
//!
//! Column k of a block: a depth-first search from the rows of A(:, k) through the columns of L found so far gives the
//! pattern of the column before any number is computed (a sparse triangular solve touches only what is reachable).
//! Then the column is eliminated in ascending order of pivots, the pivot is chosen among the rows not yet used, and the
//! rest, divided by it, becomes the column of L.
//!
//! Worked example: `[2 1; 4 3]`, diagonal preferred at 0.1: column 0 has pivot 2 (>= 0.1 * 4), L = [2]; column 1 reaches
//! pivot 0: U = [1], 3 - 2 * 1 = 1 is the pivot.

use super::panel::{Panels, UpperRows};
use super::{MOST_GROWTH, PIVOT_TOLERANCE, Scatter, SparseColumns, SparseLu};
use crate::linear::{Singular, ZERO_PIVOT, row_scales};
use crate::pattern::Pattern;

const NONE: u32 = u32::MAX;

/// Scratch of one factorisation, indexed by start positions of rows.
struct Elimination {
    /// Pivot position of a row that has been used.
    pivot_of: Vec<u32>,
    /// Last column whose search reached the row.
    reached: Vec<u32>,
    /// Rows of the column that are not yet pivots.
    candidates: Vec<u32>,
    /// Pivot positions of the column's U part.
    upper: Vec<u32>,
    /// Entries of an L column that a search must follow, once it is pruned.
    followed: Vec<u32>,
    /// Search stack: pivot position and next entry of its L column.
    stack: Vec<(u32, u32)>,
}

impl SparseLu {
    pub(super) fn factor_with_pivoting(&mut self, values: &[f64]) -> Result<(), Singular> {
        let Some(pattern) = self.pattern.take() else {
            return Ok(());
        };
        self.factored = false;
        let mut result = self.eliminate(&pattern, values);
        // A pivot that seems to be zero may be what growth has buried.
        if (result.is_err() || self.growth > MOST_GROWTH) && !self.partial {
            self.partial = true;
            self.factorisations.grown += 1;
            result = self.eliminate(&pattern, values);
        }
        if result.is_ok() {
            self.prepare_refactor(&pattern);
            self.check_structure();
            self.factored = true;
        } else {
            // A failed elimination leaves numbers behind.
            self.x.fill(0.0);
        }
        self.pattern = Some(pattern);
        result
    }

    fn eliminate(&mut self, pattern: &Pattern, values: &[f64]) -> Result<(), Singular> {
        let n = self.n;
        let mut scale = vec![1.0; n];
        row_scales(pattern, values, &mut scale);
        let mut position_of_row = vec![0u32; n];
        for (k, &row) in self.row_start.iter().enumerate() {
            position_of_row[row as usize] = k as u32;
        }
        for columns in [&mut self.l, &mut self.u, &mut self.above] {
            columns.clear();
        }
        let mut work = Elimination {
            pivot_of: vec![NONE; n],
            reached: vec![NONE; n],
            candidates: Vec::new(),
            upper: Vec::new(),
            followed: vec![NONE; n],
            stack: Vec::new(),
        };
        self.norm = 0.0;
        self.growth = 0.0;
        // L keeps start positions of rows during a block and gets pivot positions at its end.
        for b in 0..self.block.len() - 1 {
            let (start, end) = (self.block[b] as usize, self.block[b + 1] as usize);
            for k in start..end {
                self.eliminate_column(
                    pattern,
                    values,
                    &scale,
                    &position_of_row,
                    start,
                    k,
                    &mut work,
                )?;
            }
            let first = self.l.ptr[start] as usize;
            for row in &mut self.l.idx[first..] {
                *row = work.pivot_of[*row as usize];
            }
        }
        self.l.finish();
        self.u.finish();
        self.above.finish();
        // Entries above the blocks: pivot positions are known now.
        for row in &mut self.above.idx {
            *row = work.pivot_of[*row as usize];
        }
        self.row = vec![0; n];
        for (at, &row) in self.row_start.iter().enumerate() {
            let pivot = work.pivot_of[at] as usize;
            self.row[pivot] = row;
            self.scale[pivot] = scale[row as usize];
        }
        self.l.sort();
        self.u.sort();
        self.l_panels = Panels::new(&self.l, &self.block);
        self.u_rows = UpperRows::new(&self.u, &self.block);
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn eliminate_column(
        &mut self,
        pattern: &Pattern,
        values: &[f64],
        scale: &[f64],
        position_of_row: &[u32],
        start: usize,
        k: usize,
        work: &mut Elimination,
    ) -> Result<(), Singular> {
        work.candidates.clear();
        work.upper.clear();
        self.l.begin();
        self.u.begin();
        self.above.begin();
        let mut column_max = 0.0f64;
        let mut column_sum = 0.0;
        let column = self.col[k] as usize;
        for entry in pattern.range(column) {
            let row = pattern.row_idx()[entry] as usize;
            let at = position_of_row[row];
            let value = values[entry] * scale[row];
            column_sum += value.abs();
            if (at as usize) < start {
                self.above.idx.push(at);
                self.above.val.push(value);
                continue;
            }
            column_max = column_max.max(value.abs());
            self.reach(at, k as u32, work);
            self.x[at as usize] = value;
        }
        self.norm = self.norm.max(column_sum);
        work.upper.sort_unstable();
        let mut column_grown = 0.0f64;
        for &j in &work.upper {
            let j = j as usize;
            let at = self.row_at_pivot(j);
            let multiplier = std::mem::take(&mut self.x[at]);
            column_grown = column_grown.max(multiplier.abs());
            self.u.idx.push(j as u32);
            self.u.val.push(multiplier);
            let (rows, factors) = self.l.column_so_far(j);
            for (&i, &l) in rows.iter().zip(factors) {
                self.x[i as usize] -= l * multiplier;
            }
        }
        let mut best = (NONE, -1.0);
        for &i in &work.candidates {
            let size = self.x[i as usize].abs();
            if size > best.1 || size.is_nan() {
                best = (i, size);
            }
        }
        let (mut pivot_row, largest) = best;
        if work.reached[k] == k as u32
            && work.pivot_of[k] == NONE
            && self.x[k].abs() >= if self.partial { 1.0 } else { PIVOT_TOLERANCE } * largest
        {
            pivot_row = k as u32;
        }
        let usable = pivot_row != NONE && {
            let size = self.x[pivot_row as usize].abs();
            size.is_finite() && size > ZERO_PIVOT * column_max
        };
        if !usable {
            let at = if pivot_row == NONE {
                k as u32
            } else {
                pivot_row
            };
            return Err(Singular {
                row: self.row_start[at as usize] as usize,
                col: column,
                structural: false,
            });
        }
        column_grown = column_grown.max(self.x[pivot_row as usize].abs());
        self.growth = self.growth.max(column_grown / column_max);
        let inverse = 1.0 / self.x[pivot_row as usize];
        self.inverse[k] = inverse;
        self.x[pivot_row as usize] = 0.0;
        work.pivot_of[pivot_row as usize] = k as u32;
        self.row.resize(self.n, 0);
        self.row[k] = pivot_row;
        for &i in &work.candidates {
            if i != pivot_row {
                self.l.idx.push(i);
                self.l
                    .val
                    .push(std::mem::take(&mut self.x[i as usize]) * inverse);
            }
        }
        self.prune(pivot_row, work);
        Ok(())
    }

    /// Symmetric pruning (Eisenstat & Liu 1992): when column j of L contains the new pivot row and the new column has j
    /// in its U part, everything below that row is reachable through the new column too. Searches then need to follow
    /// only the rows of column j that are pivots by now; these are moved to its front.
    fn prune(&mut self, pivot_row: u32, work: &mut Elimination) {
        for &j in &work.upper {
            let j = j as usize;
            if work.followed[j] != NONE {
                continue;
            }
            let range = self.l.ptr[j] as usize..self.l.ptr[j + 1] as usize;
            if !self.l.idx[range.clone()].contains(&pivot_row) {
                continue;
            }
            let mut front = range.start;
            for at in range.clone() {
                if work.pivot_of[self.l.idx[at] as usize] != NONE {
                    self.l.idx.swap(at, front);
                    self.l.val.swap(at, front);
                    front += 1;
                }
            }
            work.followed[j] = (front - range.start) as u32;
        }
    }

    /// During elimination `row` holds the start position of the row that became pivot j.
    fn row_at_pivot(&self, j: usize) -> usize {
        self.row[j] as usize
    }

    /// Depth-first search from a row: collects the pivots it depends on and the rows it reaches.
    fn reach(&self, from: u32, k: u32, work: &mut Elimination) {
        if work.reached[from as usize] == k {
            return;
        }
        work.reached[from as usize] = k;
        let pivot = work.pivot_of[from as usize];
        if pivot == NONE {
            work.candidates.push(from);
            return;
        }
        work.upper.push(pivot);
        work.stack.push((pivot, 0));
        while let Some((pivot, next)) = work.stack.last_mut() {
            let (rows, _) = self.l.column_so_far(*pivot as usize);
            let limit = work.followed[*pivot as usize].min(rows.len() as u32);
            if *next >= limit {
                work.stack.pop();
                continue;
            }
            let row = rows[*next as usize];
            *next += 1;
            if work.reached[row as usize] == k {
                continue;
            }
            work.reached[row as usize] = k;
            match work.pivot_of[row as usize] {
                NONE => work.candidates.push(row),
                deeper => {
                    work.upper.push(deeper);
                    work.stack.push((deeper, 0));
                }
            }
        }
    }

    /// Where each entry of A goes when the pivots are kept.
    fn prepare_refactor(&mut self, pattern: &Pattern) {
        let n = self.n;
        let mut position_of_row = vec![0u32; n];
        for (k, &row) in self.row.iter().enumerate() {
            position_of_row[row as usize] = k as u32;
        }
        let mut inside = Scatter {
            ptr: vec![0],
            ..Scatter::default()
        };
        self.outside_source.clear();
        for b in 0..self.block.len() - 1 {
            let start = self.block[b];
            for k in start..self.block[b + 1] {
                for entry in pattern.range(self.col[k as usize] as usize) {
                    let at = position_of_row[pattern.row_idx()[entry] as usize];
                    if at < start {
                        // Same order as in the elimination, so parallel to `above`.
                        self.outside_source.push(entry as u32);
                    } else {
                        inside.source.push(entry as u32);
                        inside.target.push(at);
                    }
                }
                inside.ptr.push(inside.source.len() as u32);
            }
        }
        self.inside = inside;
        let length = |c: &SparseColumns, j: usize| (c.ptr[j + 1] - c.ptr[j]) as usize;
        let products: usize = self
            .u
            .idx
            .iter()
            .map(|&j| length(&self.l, j as usize))
            .sum();
        // An entry of A is read for the scale and for the column; one of the factors is cleared, computed and stored.
        let factor = 2 * self.nnz + 3 * self.factor_nnz() + products;
        let solve = self.factor_nnz() + 2 * n;
        self.work_ratio = factor as f64 / solve.max(1) as f64;
    }
}

impl SparseColumns {
    fn clear(&mut self) {
        self.ptr.clear();
        self.idx.clear();
        self.val.clear();
    }

    fn begin(&mut self) {
        self.ptr.push(self.idx.len() as u32);
    }

    fn finish(&mut self) {
        self.ptr.push(self.idx.len() as u32);
    }

    /// Column j while later columns are still being added.
    fn column_so_far(&self, j: usize) -> (&[u32], &[f64]) {
        let start = self.ptr[j] as usize;
        let end = self.ptr.get(j + 1).map_or(self.idx.len(), |&p| p as usize);
        (&self.idx[start..end], &self.val[start..end])
    }

    /// Sorts the rows inside each column.
    fn sort(&mut self) {
        let mut column: Vec<(u32, f64)> = Vec::new();
        for j in 0..self.ptr.len() - 1 {
            let range = self.ptr[j] as usize..self.ptr[j + 1] as usize;
            if self.idx[range.clone()].is_sorted() {
                continue;
            }
            column.clear();
            column.extend(
                self.idx[range.clone()]
                    .iter()
                    .copied()
                    .zip(self.val[range.clone()].iter().copied()),
            );
            column.sort_unstable_by_key(|&(row, _)| row);
            for (at, &(row, value)) in range.zip(&column) {
                self.idx[at] = row;
                self.val[at] = value;
            }
        }
    }
}
