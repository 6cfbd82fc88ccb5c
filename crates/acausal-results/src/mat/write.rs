//! Writes MAT v4 trajectories row by row; see the [module](crate::mat) for the layout.

use std::path::{Path, PathBuf};

use super::{DOUBLE, INT32, TEXT, describe};
use crate::signal::{Signal, SignalSource};
use crate::target::ResultFile;
use crate::writer::{ResultWriter, RowColumns};
use crate::{ResultError, RunInfo};

/// Bytes before the number of columns in a matrix header: type and number of rows.
const COLUMNS_FIELD: u64 = 8;

/// Writes a MAT v4 result.
pub struct MatWriter {
    target: ResultFile,
    layout: Option<Layout>,
}

struct Layout {
    columns: RowColumns,
    /// Where the elements of `data_1` begin.
    constants_at: u64,
    /// Number of rows of `data_1`.
    constant_rows: u64,
    /// Where the header of `data_2` begins.
    header_at: u64,
    /// Where the elements of `data_2` begin.
    elements_at: u64,
}

impl Layout {
    fn row_bytes(&self) -> u64 {
        8 * (1 + self.columns.used.len() as u64)
    }
}

impl MatWriter {
    /// Opens the target; fails when it cannot be written.
    pub fn create(path: &Path) -> Result<Self, ResultError> {
        Ok(Self {
            target: ResultFile::create(path)?,
            layout: None,
        })
    }

    fn header(
        &mut self,
        kind: i32,
        rows: usize,
        columns: usize,
        name: &str,
    ) -> Result<(), ResultError> {
        let rows = self.size(rows)?;
        let columns = self.size(columns)?;
        for field in [kind, rows, columns, 0, name.len() as i32 + 1] {
            self.target.buffer.extend_from_slice(&field.to_le_bytes());
        }
        self.target.buffer.extend_from_slice(name.as_bytes());
        self.target.buffer.push(0);
        Ok(())
    }

    /// A matrix with one text per column, padded with blanks.
    fn texts<'a>(
        &mut self,
        name: &str,
        texts: impl Iterator<Item = &'a str> + Clone,
    ) -> Result<(), ResultError> {
        // A matrix without rows confuses readers, hence at least one.
        let width = texts.clone().map(str::len).max().unwrap_or(0).max(1);
        self.header(TEXT, width, texts.clone().count(), name)?;
        for text in texts {
            let buffer = &mut self.target.buffer;
            let end = buffer.len() + width;
            buffer.extend_from_slice(text.as_bytes());
            buffer.resize(end, b' ');
            self.target.end_record()?;
        }
        Ok(())
    }

    fn size(&self, n: usize) -> Result<i32, ResultError> {
        i32::try_from(n).map_err(|_| ResultError::TooLarge {
            path: self.target.path().to_path_buf(),
            format: "MAT v4",
            limit: format!("a matrix dimension of {n} exceeds 2147483647"),
        })
    }

    /// Fills in what is known only at the end: the number of rows, and the time range.
    fn close(&mut self) -> Result<(), ResultError> {
        let length = self.target.position();
        let Some(layout) = &self.layout else {
            return Err(ResultError::OutOfOrder { call: "finish" });
        };
        let row_bytes = layout.row_bytes();
        let count = length.saturating_sub(layout.elements_at) / row_bytes;
        let columns_field = layout.header_at + COLUMNS_FIELD;
        let starts_at = layout.constants_at;
        let stops_at = layout.constants_at + 8 * layout.constant_rows;
        let first_row = layout.elements_at;
        let rows = self.size(count as usize)?;
        self.target.flush()?;
        self.target.patch(columns_field, &rows.to_le_bytes())?;
        if count > 0 {
            let start = self.target.number_at(first_row)?;
            let stop = self.target.number_at(first_row + (count - 1) * row_bytes)?;
            self.target.patch(starts_at, &start.to_le_bytes())?;
            self.target.patch(stops_at, &stop.to_le_bytes())?;
        }
        Ok(())
    }
}

impl ResultWriter for MatWriter {
    fn begin(&mut self, signals: &[Signal], _info: &RunInfo) -> Result<(), ResultError> {
        if self.layout.is_some() {
            return Err(ResultError::OutOfOrder { call: "begin" });
        }
        let columns = RowColumns::new(signals);

        let class = ["Atrajectory", "1.1", "", "binTrans"];
        let width = class[0].len();
        self.header(TEXT, class.len(), width, "Aclass")?;
        for i in 0..width {
            let letters = class.map(|line| line.as_bytes().get(i).copied().unwrap_or(b' '));
            self.target.buffer.extend_from_slice(&letters);
        }

        self.texts(
            "name",
            std::iter::once("time").chain(signals.iter().map(|s| s.name.as_str())),
        )?;
        let descriptions: Vec<String> = signals
            .iter()
            .map(|s| describe(&s.description, &s.unit, s.kind))
            .collect();
        self.texts(
            "description",
            std::iter::once("Time [s]").chain(descriptions.iter().map(String::as_str)),
        )?;
        drop(descriptions);

        self.header(INT32, 4, 1 + signals.len(), "dataInfo")?;
        let mut constants = vec![0.0];
        let entry = |matrix: i32, row: i32, target: &mut ResultFile| {
            for field in [matrix, row, 0, -1] {
                target.buffer.extend_from_slice(&field.to_le_bytes());
            }
            target.end_record()
        };
        entry(0, 1, &mut self.target)?;
        for source in &columns.sources {
            match *source {
                SignalSource::Constant(value) => {
                    constants.push(value);
                    let row = self.size(constants.len())?;
                    entry(1, row, &mut self.target)?;
                }
                SignalSource::Column { column, negated } => {
                    let row = self.size(column + 2)?;
                    entry(2, if negated { -row } else { row }, &mut self.target)?;
                }
            }
        }

        self.header(DOUBLE, constants.len(), 2, "data_1")?;
        let constants_at = self.target.position();
        for value in constants.iter().chain(&constants) {
            self.target.buffer.extend_from_slice(&value.to_le_bytes());
        }
        let header_at = self.target.position();
        self.header(DOUBLE, 1 + columns.used.len(), 0, "data_2")?;
        self.layout = Some(Layout {
            columns,
            constants_at,
            constant_rows: constants.len() as u64,
            header_at,
            elements_at: self.target.position(),
        });
        self.target.flush()
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), ResultError> {
        let Some(layout) = &self.layout else {
            return Err(ResultError::OutOfOrder { call: "row" });
        };
        layout.columns.check(values)?;
        let buffer = &mut self.target.buffer;
        buffer.reserve(8 * (1 + layout.columns.used.len()));
        buffer.extend_from_slice(&time.to_le_bytes());
        for &from in &layout.columns.used {
            buffer.extend_from_slice(&values[from].to_le_bytes());
        }
        self.target.end_record()
    }

    fn finish(&mut self) -> Result<PathBuf, ResultError> {
        self.close()?;
        self.target.commit()
    }

    fn finish_incomplete(mut self: Box<Self>) -> Result<PathBuf, ResultError> {
        let length = self.target.salvage()?;
        if self.layout.as_ref().is_some_and(|l| length < l.elements_at) {
            // Not even the list of signals fitted.
            return Err(self.target.error(std::io::ErrorKind::StorageFull.into()));
        }
        self.close()?;
        self.target.commit_incomplete()
    }
}
