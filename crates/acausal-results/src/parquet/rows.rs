//! Rows waiting to become columns: in memory up to a limit, then in a scratch file.
//!
//! [`RowGroupBuffer::column`] is the transposition. Column blocks are loaded as large as memory allows, so that
//! the scratch file of `m` rows is read in strips: with a limit of M bytes and rows of R bytes it takes `m R / M` passes of `m` reads each.

use std::io::{self, Read, Seek, SeekFrom, Write};

use crate::ResultError;
use crate::target::{ResultFile, TemporaryFile};

/// A table of `f64`, filled by rows and read by columns.
pub(super) struct RowGroupBuffer {
    width: usize,
    /// Values held in memory at most (rows before they are spilled, or a block of columns).
    limit: usize,
    memory: Vec<f64>,
    spilled_rows: usize,
    scratch: Option<TemporaryFile>,
    block: Block,
}

/// Some adjacent columns, column by column.
#[derive(Default)]
struct Block {
    first: usize,
    columns: usize,
    values: Vec<f64>,
}

impl RowGroupBuffer {
    pub(super) fn new(width: usize, limit: usize) -> Self {
        Self {
            width,
            limit,
            memory: Vec::new(),
            spilled_rows: 0,
            scratch: None,
            block: Block::default(),
        }
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.spilled_rows + self.memory.len() / self.width
    }

    pub(super) fn push(&mut self, row: impl Iterator<Item = f64>) {
        self.memory.extend(row);
    }

    /// Moves the rows to the scratch file once they exceed the limit.
    pub(super) fn relieve(&mut self, target: &ResultFile) -> Result<(), ResultError> {
        if self.memory.len() >= self.limit {
            self.spill(target)
        } else {
            Ok(())
        }
    }

    /// Column `c`, all rows. Cheapest when columns are asked for in ascending order.
    pub(super) fn column(&mut self, c: usize, target: &ResultFile) -> Result<&[f64], ResultError> {
        if c < self.block.first || c >= self.block.first + self.block.columns {
            self.load(c).map_err(|e| target.error(e))?;
        }
        let length = self.len();
        let start = (c - self.block.first) * length;
        Ok(&self.block.values[start..start + length])
    }

    /// Forgets all rows.
    pub(super) fn clear(&mut self) {
        self.memory.clear();
        self.spilled_rows = 0;
        self.block = Block::default();
    }

    fn spill(&mut self, target: &ResultFile) -> Result<(), ResultError> {
        if self.scratch.is_none() {
            self.scratch = Some(target.scratch()?);
        }
        if let Some(scratch) = &mut self.scratch {
            let bytes: Vec<u8> = self.memory.iter().flat_map(|v| v.to_le_bytes()).collect();
            let at = (self.spilled_rows * self.width * 8) as u64;
            let written = scratch
                .file
                .seek(SeekFrom::Start(at))
                .and_then(|_| scratch.file.write_all(&bytes));
            written.map_err(|e| target.error(e))?;
            self.spilled_rows += self.memory.len() / self.width;
            self.memory.clear();
        }
        Ok(())
    }

    /// Loads the block of columns that begins at `first`.
    fn load(&mut self, first: usize) -> io::Result<()> {
        let rows = self.len();
        let columns = (self.limit / rows.max(1)).clamp(1, self.width - first);
        let mut values = vec![0.0; rows * columns];
        let mut strip = vec![0; columns * 8];
        for r in 0..self.spilled_rows {
            if let Some(scratch) = &mut self.scratch {
                scratch
                    .file
                    .seek(SeekFrom::Start(((r * self.width + first) * 8) as u64))?;
                scratch.file.read_exact(&mut strip)?;
            }
            for (c, bytes) in strip.chunks_exact(8).enumerate() {
                values[c * rows + r] = f64::from_le_bytes(bytes.try_into().unwrap_or_default());
            }
        }
        for (r, row) in self.memory.chunks_exact(self.width).enumerate() {
            for (c, &value) in row[first..first + columns].iter().enumerate() {
                values[c * rows + self.spilled_rows + r] = value;
            }
        }
        self.block = Block {
            first,
            columns,
            values,
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposes_through_the_scratch_file() {
        let dir = std::env::temp_dir().join(format!("acausal-rows-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let target = ResultFile::create(&dir.join("x.parquet")).unwrap();
        let mut rows = RowGroupBuffer::new(3, 12); // four rows in memory, blocks of few columns
        for round in 0..2 {
            for r in 0..10 {
                rows.push((0..3).map(|c| f64::from(100 * round + 10 * r + c)));
                rows.relieve(&target).unwrap();
            }
            assert_eq!(rows.len(), 10);
            for c in [0, 2, 1] {
                let expected: Vec<f64> = (0..10)
                    .map(|r| f64::from(100 * round + 10 * r + c))
                    .collect();
                assert_eq!(rows.column(c as usize, &target).unwrap(), expected);
            }
            rows.clear();
        }
        drop((rows, target));
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0);
        std::fs::remove_dir_all(dir).unwrap();
    }
}
