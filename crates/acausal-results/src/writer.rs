//! Writing a result while it is being computed.
//!
//! The simulation calls [`create`] before it starts, so that an unwritable target is reported at once, then
//! [`begin`](ResultWriter::begin), [`row`](ResultWriter::row) for every output time, and one of the two ends.
//! Memory does not grow with the number of rows.

use std::path::{Path, PathBuf};

use crate::signal::{Signal, SignalSource, columns_needed};
use crate::{ResultError, RunInfo, csv, mat, parquet};

/// Receives a result row by row.
pub trait ResultWriter: Send {
    /// Announces the signals; called once, before the first row.
    fn begin(&mut self, signals: &[Signal], info: &RunInfo) -> Result<(), ResultError>;

    /// Appends the values at `time`. `values` holds at least the columns that the signals refer to; a longer row is
    /// fine, so that a simulation can pass its whole vector and store a selection. At an event the time is repeated.
    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), ResultError>;

    /// Completes the file and gives it its name, which is returned. After an error, [`ResultWriter::finish_incomplete`]
    /// keeps what can be kept.
    fn finish(&mut self) -> Result<PathBuf, ResultError>;

    /// Keeps what there is, as a valid file under a name that tells that the run did not end: `x.csv` becomes
    /// `x.partial.csv`. For interrupted and failed runs, also after a write error.
    fn finish_incomplete(self: Box<Self>) -> Result<PathBuf, ResultError>;
}

/// A result file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma separated values, one column per signal.
    Csv,
    /// MATLAB v4 in the layout of Dymola and OpenModelica.
    Mat,
    /// Apache Parquet, one column per signal.
    Parquet,
}

impl Format {
    /// Extensions of the formats that can be written.
    pub const EXTENSIONS: &'static [&'static str] = &[".csv", ".mat", ".parquet"];

    /// The format that belongs to the extension of `path` (upper or lower case).
    pub fn of_path(path: &Path) -> Result<Self, ResultError> {
        let extension = path
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or("")
            .to_ascii_lowercase();
        match extension.as_str() {
            "csv" => Ok(Self::Csv),
            "mat" => Ok(Self::Mat),
            "parquet" => Ok(Self::Parquet),
            _ => Err(ResultError::UnknownExtension {
                path: path.to_path_buf(),
                known: Self::EXTENSIONS,
            }),
        }
    }
}

/// Opens the target of a result in the format that its extension names.
pub fn create(path: &Path) -> Result<Box<dyn ResultWriter>, ResultError> {
    Ok(match Format::of_path(path)? {
        Format::Csv => Box::new(csv::CsvWriter::create(path)?),
        Format::Mat => Box::new(mat::MatWriter::create(path)?),
        Format::Parquet => Box::new(parquet::ParquetWriter::create(path)?),
    })
}

/// The columns of a row that some signal uses, without gaps, and each signal's place among them.
#[derive(Debug, Clone)]
pub(crate) struct RowColumns {
    /// Shortest admissible row.
    needed: usize,
    /// Position in the row of each stored column, ascending.
    pub(crate) used: Vec<usize>,
    /// Where each signal finds its values: as in the signal, but columns count among `used`.
    pub(crate) sources: Vec<SignalSource>,
}

impl RowColumns {
    pub(crate) fn new(signals: &[Signal]) -> Self {
        let needed = columns_needed(signals);
        let mut dense = vec![usize::MAX; needed];
        for signal in signals {
            if let SignalSource::Column { column, .. } = signal.source {
                dense[column] = 0;
            }
        }
        let mut used = Vec::new();
        for (column, slot) in dense.iter_mut().enumerate() {
            if *slot == 0 {
                *slot = used.len();
                used.push(column);
            }
        }
        let sources = signals
            .iter()
            .map(|s| match s.source {
                SignalSource::Column { column, negated } => SignalSource::Column {
                    column: dense[column],
                    negated,
                },
                constant => constant,
            })
            .collect();
        Self {
            needed,
            used,
            sources,
        }
    }

    /// Refuses rows that are too short.
    pub(crate) fn check(&self, values: &[f64]) -> Result<(), ResultError> {
        if values.len() < self.needed {
            return Err(ResultError::ShortRow {
                needed: self.needed,
                found: values.len(),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extension_selects_the_format() {
        assert_eq!(Format::of_path(Path::new("a/b.MAT")).unwrap(), Format::Mat);
        for bad in ["x.txt", "x", "csv", ".csv", "x.csv.gz"] {
            let error = Format::of_path(Path::new(bad)).unwrap_err().to_string();
            assert!(error.contains(".csv, .mat, .parquet"), "{error}");
        }
    }

    #[test]
    fn unused_columns_are_dropped() {
        let signals = [
            Signal::column("a", 5),
            Signal::alias("b", 2, true),
            Signal::constant("c", 1.0),
        ];
        let columns = RowColumns::new(&signals);
        assert_eq!(columns.used, [2, 5]);
        assert_eq!(
            columns.sources,
            [
                SignalSource::Column {
                    column: 1,
                    negated: false
                },
                SignalSource::Column {
                    column: 0,
                    negated: true
                },
                SignalSource::Constant(1.0)
            ]
        );
        assert!(columns.check(&[0.0; 5]).is_err());
        assert!(columns.check(&[0.0; 9]).is_ok());
    }
}
