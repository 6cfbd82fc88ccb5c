//! The sparsity pattern of a square matrix in compressed sparse column (CSC) form.
//!
//! Goes in: column pointers and row indices, or a list of entries. Comes out: a checked pattern whose row indices are
//! sorted inside each column and unique. Everything that produces matrix values (the model's Jacobian) writes them in
//! the order of this pattern, and everything that consumes them (the LU factorisations) relies on the invariant:
//! `col_ptr` has `n + 1` non-decreasing entries from 0 to `row_idx.len()`, and the rows of a column increase strictly.
//!
//! Example: the matrix `[2 0; 1 3]` has `col_ptr = [0, 2, 3]` and `row_idx = [0, 1, 1]`; its values in pattern order are
//! `[2, 1, 3]`.

use std::fmt;
use std::sync::Arc;

/// Sparsity of a square matrix, compressed by columns. Clones share it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    size: usize,
    col_ptr: Arc<Vec<u32>>,
    row_idx: Arc<Vec<u32>>,
}

/// Why a pattern was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternError {
    /// `col_ptr` must hold `size + 1` non-decreasing values that start at 0 and end at `row_idx.len()`.
    ColumnPointers {
        /// First column whose pointer is wrong.
        column: usize,
    },
    /// A row index is not below the size, or the rows of a column do not increase strictly.
    RowIndex {
        /// Column of the entry.
        column: usize,
        /// The offending row index.
        row: usize,
    },
    /// The size or the number of entries does not fit into 32 bits.
    TooLarge,
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ColumnPointers { column } => {
                write!(f, "column pointers are not monotone at column {column}")
            }
            Self::RowIndex { column, row } => {
                write!(
                    f,
                    "row index {row} in column {column} is out of range or out of order"
                )
            }
            Self::TooLarge => write!(f, "the matrix needs more than 32-bit indices"),
        }
    }
}

impl std::error::Error for PatternError {}

impl Default for Pattern {
    /// The pattern of a matrix without rows.
    fn default() -> Self {
        Self {
            size: 0,
            col_ptr: Arc::new(vec![0]),
            row_idx: Arc::default(),
        }
    }
}

impl Pattern {
    /// Checks and takes a pattern in CSC form.
    pub fn new(size: usize, col_ptr: Vec<u32>, row_idx: Vec<u32>) -> Result<Self, PatternError> {
        if size >= u32::MAX as usize || row_idx.len() >= u32::MAX as usize {
            return Err(PatternError::TooLarge);
        }
        if col_ptr.len() != size + 1 || col_ptr[0] != 0 {
            return Err(PatternError::ColumnPointers { column: 0 });
        }
        for column in 0..size {
            let (start, end) = (col_ptr[column] as usize, col_ptr[column + 1] as usize);
            if end < start || end > row_idx.len() {
                return Err(PatternError::ColumnPointers { column });
            }
            let rows = &row_idx[start..end];
            for (k, &row) in rows.iter().enumerate() {
                if row as usize >= size || (k > 0 && rows[k - 1] >= row) {
                    return Err(PatternError::RowIndex {
                        column,
                        row: row as usize,
                    });
                }
            }
        }
        if col_ptr[size] as usize != row_idx.len() {
            return Err(PatternError::ColumnPointers { column: size });
        }
        Ok(Self {
            size,
            col_ptr: Arc::new(col_ptr),
            row_idx: Arc::new(row_idx),
        })
    }

    /// Builds the pattern from `(row, column)` entries in any order; duplicates are merged.
    pub fn from_entries(
        size: usize,
        entries: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<Self, PatternError> {
        if size >= u32::MAX as usize {
            return Err(PatternError::TooLarge);
        }
        let mut sorted: Vec<(u32, u32)> = Vec::new();
        for (row, column) in entries {
            if row >= size || column >= size {
                return Err(PatternError::RowIndex { column, row });
            }
            sorted.push((column as u32, row as u32));
        }
        sorted.sort_unstable();
        sorted.dedup();
        let mut col_ptr = vec![0u32; size + 1];
        for &(column, _) in &sorted {
            col_ptr[column as usize + 1] += 1;
        }
        for j in 0..size {
            col_ptr[j + 1] += col_ptr[j];
        }
        Self::new(
            size,
            col_ptr,
            sorted.into_iter().map(|(_, row)| row).collect(),
        )
    }

    /// The full pattern, for small dense systems. Values are then in column-major order.
    pub fn dense(size: usize) -> Self {
        let n = size as u32;
        Self {
            size,
            col_ptr: Arc::new((0..=n).map(|j| j * n).collect()),
            row_idx: Arc::new((0..n).flat_map(|_| 0..n).collect()),
        }
    }

    /// Number of rows and columns.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Number of stored entries.
    pub fn nnz(&self) -> usize {
        self.row_idx.len()
    }

    /// Column pointers, `size() + 1` of them.
    pub fn col_ptr(&self) -> &[u32] {
        &self.col_ptr
    }

    /// Row indices, column after column.
    pub fn row_idx(&self) -> &[u32] {
        &self.row_idx
    }

    /// Row indices of one column.
    pub fn rows_of(&self, column: usize) -> &[u32] {
        &self.row_idx[self.range(column)]
    }

    /// Positions of one column's entries in the value array.
    pub fn range(&self, column: usize) -> std::ops::Range<usize> {
        self.col_ptr[column] as usize..self.col_ptr[column + 1] as usize
    }

    /// Position of entry `(row, column)` in the value array.
    pub fn position(&self, row: usize, column: usize) -> Option<usize> {
        let range = self.range(column);
        self.row_idx[range.clone()]
            .binary_search(&(row as u32))
            .ok()
            .map(|k| range.start + k)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_sorted_and_merged() {
        let p = Pattern::from_entries(2, [(1, 1), (0, 0), (1, 0), (1, 1)]).unwrap();
        assert_eq!(p.col_ptr(), &[0, 2, 3]);
        assert_eq!(p.row_idx(), &[0, 1, 1]);
        assert_eq!(p.position(1, 1), Some(2));
        assert_eq!(p.position(0, 1), None);
    }

    #[test]
    fn wrong_patterns_are_refused() {
        assert_eq!(
            Pattern::new(2, vec![0, 2, 3], vec![1, 0, 1]),
            Err(PatternError::RowIndex { column: 0, row: 0 })
        );
        assert_eq!(
            Pattern::new(1, vec![0, 2], vec![0]),
            Err(PatternError::ColumnPointers { column: 0 })
        );
        assert_eq!(
            Pattern::from_entries(1, [(0, 3)]),
            Err(PatternError::RowIndex { column: 3, row: 0 })
        );
    }
}
