//! Writes CSV row by row; see the [module](crate::csv) for the format.

use std::path::{Path, PathBuf};

use crate::signal::{Signal, SignalKind, SignalSource, signed};
use crate::target::ResultFile;
use crate::writer::{ResultWriter, RowColumns};
use crate::{ResultError, RunInfo};

/// Integers up to this size are exact in `f64` and are written without a decimal point.
const EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Writes a CSV result.
pub struct CsvWriter {
    target: ResultFile,
    layout: Option<Layout>,
}

struct Layout {
    columns: RowColumns,
    cells: Vec<Cell>,
    /// The text of all constants, each with its leading comma, one after the other.
    constants: Vec<u8>,
}

enum Cell {
    /// A run of constants that stand side by side: a range of `Layout::constants`.
    Constants(std::ops::Range<usize>),
    Varying {
        from: usize,
        negated: bool,
        kind: SignalKind,
    },
}

impl CsvWriter {
    /// Opens the target; fails when it cannot be written.
    pub fn create(path: &Path) -> Result<Self, ResultError> {
        Ok(Self {
            target: ResultFile::create(path)?,
            layout: None,
        })
    }
}

impl ResultWriter for CsvWriter {
    fn begin(&mut self, signals: &[Signal], _info: &RunInfo) -> Result<(), ResultError> {
        if self.layout.is_some() {
            return Err(ResultError::OutOfOrder { call: "begin" });
        }
        let columns = RowColumns::new(signals);
        let mut cells = Vec::new();
        let mut constants = Vec::new();
        let buffer = &mut self.target.buffer;
        buffer.extend_from_slice(b"time");
        for signal in signals {
            buffer.push(b',');
            push_name(buffer, &signal.name);
            match signal.source {
                SignalSource::Column { column, negated } => cells.push(Cell::Varying {
                    from: column,
                    negated,
                    kind: signal.kind,
                }),
                SignalSource::Constant(value) => {
                    let start = constants.len();
                    constants.push(b',');
                    push_number(&mut constants, value, signal.kind);
                    match cells.last_mut() {
                        Some(Cell::Constants(range)) => range.end = constants.len(),
                        _ => cells.push(Cell::Constants(start..constants.len())),
                    }
                }
            }
        }
        buffer.push(b'\n');
        self.layout = Some(Layout {
            columns,
            cells,
            constants,
        });
        self.target.flush()
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), ResultError> {
        let Some(layout) = &self.layout else {
            return Err(ResultError::OutOfOrder { call: "row" });
        };
        layout.columns.check(values)?;
        let buffer = &mut self.target.buffer;
        push_number(buffer, time, SignalKind::Real);
        for cell in &layout.cells {
            match cell {
                Cell::Constants(range) => {
                    buffer.extend_from_slice(&layout.constants[range.clone()])
                }
                Cell::Varying {
                    from,
                    negated,
                    kind,
                } => {
                    buffer.push(b',');
                    push_number(buffer, signed(values[*from], *negated), *kind);
                }
            }
        }
        buffer.push(b'\n');
        self.target.end_record()
    }

    fn finish(&mut self) -> Result<PathBuf, ResultError> {
        if self.layout.is_none() {
            return Err(ResultError::OutOfOrder { call: "finish" });
        }
        self.target.commit()
    }

    fn finish_incomplete(mut self: Box<Self>) -> Result<PathBuf, ResultError> {
        if self.layout.is_none() {
            return Err(ResultError::OutOfOrder {
                call: "finish_incomplete",
            });
        }
        if self.target.salvage()? == 0 {
            // Not even the header fitted.
            return Err(self.target.error(std::io::ErrorKind::StorageFull.into()));
        }
        self.target.commit_incomplete()
    }
}

fn push_name(out: &mut Vec<u8>, name: &str) {
    if name.contains([',', '"', ';', ' ', '\n', '\r']) {
        out.push(b'"');
        out.extend(name.replace('"', "\"\"").bytes());
        out.push(b'"');
    } else {
        out.extend(name.bytes());
    }
}

#[inline]
fn push_number(out: &mut Vec<u8>, value: f64, kind: SignalKind) {
    // The conversion saturates, and gives zero for what is no number: only an integer comes back as it was.
    let integer = value as i64;
    if kind != SignalKind::Real && integer as f64 == value && (0..=9).contains(&integer) {
        out.push(b'0' + integer as u8);
    } else {
        push_long_number(out, value, kind);
    }
}

/// What has more than one digit. (Apart, so that the digits of thousands of Booleans need no call.)
#[inline(never)]
fn push_long_number(out: &mut Vec<u8>, value: f64, kind: SignalKind) {
    let integer = value as i64;
    if kind != SignalKind::Real && integer as f64 == value && value.abs() <= EXACT_INTEGER {
        out.extend(integer.to_string().bytes());
    } else {
        // Spells the non-finite ones NaN, inf and -inf.
        out.extend_from_slice(ryu::Buffer::new().format(value).as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: f64, kind: SignalKind) -> String {
        let mut out = Vec::new();
        push_number(&mut out, value, kind);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers() {
        for (value, kind, text) in [
            (1.0, SignalKind::Real, "1.0"),
            (0.1 + 0.2, SignalKind::Real, "0.30000000000000004"),
            (5e-324, SignalKind::Real, "5e-324"),
            (-1.5e300, SignalKind::Real, "-1.5e300"),
            (f64::NAN, SignalKind::Real, "NaN"),
            (f64::NEG_INFINITY, SignalKind::Real, "-inf"),
            (-12.0, SignalKind::Integer, "-12"),
            (1.0, SignalKind::Boolean, "1"),
            (f64::NAN, SignalKind::Integer, "NaN"),
            (0.5, SignalKind::Enumeration, "0.5"),
        ] {
            assert_eq!(number(value, kind), text);
        }
    }

    #[test]
    fn names_are_quoted_when_needed() {
        for (name, text) in [
            ("r[3].v", "r[3].v"),
            ("a[1,2]", "\"a[1,2]\""),
            ("'a \"b'", "\"'a \"\"b'\""),
        ] {
            let mut out = Vec::new();
            push_name(&mut out, name);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }
}
