//! Reads MAT v4 trajectories of Dymola (`binTrans` and `binNormal`, single or double), OpenModelica and this crate.
//!
//! The list of matrices is scanned by their headers only; of the data matrices only the rows that some wanted signal
//! refers to are kept in memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use acausal_mat::{Level4, Matrix};

use super::undescribe;
use crate::result_set::is_wanted;
use crate::{ResultError, ResultSet, RunInfo, Signal, SignalSource, normalise_name};

struct Source4<'p> {
    path: &'p Path,
    file: Level4<BufReader<File>>,
}

/// Reads the signals in `wanted`, or all.
pub(crate) fn read(path: &Path, wanted: Option<&[String]>) -> Result<ResultSet, ResultError> {
    let mut file = Source4::open(path)?;
    let class = file.texts("Aclass", false)?;
    let transposed = match class.get(3).map(String::as_str) {
        Some("binTrans") => true,
        Some("binNormal") => false,
        other => {
            let reason = format!("`Aclass` asks for the layout `{}`", other.unwrap_or(""));
            return Err(malformed(path, reason));
        }
    };
    let names = file.texts("name", transposed)?;
    let descriptions = file.texts("description", transposed)?;
    let data_info = file.numbers("dataInfo")?;
    let info_matrix = file.matrix("dataInfo")?;
    let info = |signal: usize, field: usize| -> Option<i64> {
        let at = if transposed {
            signal * info_matrix.rows + field
        } else {
            field * info_matrix.rows + signal
        };
        // The table may be stored as numbers of any kind; what is no whole number is no place.
        let whole = |v: &&f64| v.fract() == 0.0 && v.abs() <= f64::from(i32::MAX);
        data_info.get(at).filter(whole).map(|&v| v as i64)
    };

    // What to load: per data matrix, the series that are needed, and which signal wants which.
    let mut needed: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    let mut kept = Vec::new();
    for (i, name) in names.iter().enumerate() {
        let (Some(matrix), Some(row)) = (info(i, 0), info(i, 1)) else {
            return Err(malformed(
                path,
                format!("`dataInfo` does not say where {name} is"),
            ));
        };
        // Dymola gives time the matrix 0; whatever points at the first row of the trajectories is time as well.
        if matrix == 0 || row.abs() <= 1 || normalise_name(name) == "time" {
            continue;
        }
        if is_wanted(wanted, name) {
            let series = row.unsigned_abs() as usize - 1;
            needed.entry(matrix).or_default().push(series);
            kept.push((i, matrix, series, row < 0));
        }
    }
    needed.entry(2).or_default();
    let mut loaded: BTreeMap<i64, (Vec<usize>, Vec<Vec<f64>>)> = BTreeMap::new();
    for (matrix, mut series) in needed {
        series.push(0); // time
        series.sort_unstable();
        series.dedup();
        let values = file.series(&format!("data_{matrix}"), &series, transposed)?;
        loaded.insert(matrix, (series, values));
    }

    let trajectory = |matrix: i64, series: usize| -> Option<&Vec<f64>> {
        let (order, values) = loaded.get(&matrix)?;
        values.get(order.binary_search(&series).ok()?)
    };
    let time = trajectory(2, 0).cloned().unwrap_or_default();
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut column_of: BTreeMap<(i64, usize), usize> = BTreeMap::new();
    let mut signals = Vec::with_capacity(kept.len());
    for (i, matrix, series, negated) in kept {
        let Some(values) = trajectory(matrix, series) else {
            let reason = format!(
                "{} refers to row {} of `data_{matrix}`, which does not exist",
                names[i],
                series + 1
            );
            return Err(malformed(path, reason));
        };
        // A matrix with its own, different time axis is a constant when it has only start and end.
        let source = if matrix == 2 {
            let column = *column_of.entry((matrix, series)).or_insert_with(|| {
                columns.push(values.clone());
                columns.len() - 1
            });
            SignalSource::Column { column, negated }
        } else if let Some(&value) = values.first() {
            SignalSource::Constant(crate::signal::signed(value, negated))
        } else {
            return Err(malformed(path, format!("`data_{matrix}` is empty")));
        };
        let (description, unit, kind) = undescribe(descriptions.get(i).map_or("", String::as_str));
        signals.push(Signal {
            name: names[i].clone(),
            description,
            unit,
            kind,
            source,
        });
    }
    ResultSet::new(RunInfo::default(), signals, time, columns)
}

impl<'p> Source4<'p> {
    fn open(path: &'p Path) -> Result<Self, ResultError> {
        let file = File::open(path).map_err(|e| failed(path, e.into()))?;
        let file = Level4::open(BufReader::new(file)).map_err(|e| failed(path, e))?;
        Ok(Self { path, file })
    }

    fn matrix(&self, name: &str) -> Result<Matrix, ResultError> {
        let found = self.file.find(name);
        found.ok_or_else(|| malformed(self.path, format!("the matrix `{name}` is missing")))
    }

    /// All elements in storage order.
    fn numbers(&mut self, name: &str) -> Result<Vec<f64>, ResultError> {
        let matrix = self.matrix(name)?;
        self.file.numbers(matrix).map_err(|e| failed(self.path, e))
    }

    /// A matrix of texts, one per column (or per row), without padding.
    fn texts(&mut self, name: &str, per_column: bool) -> Result<Vec<String>, ResultError> {
        let matrix = self.matrix(name)?;
        let numbers = self
            .file
            .numbers(matrix)
            .map_err(|e| failed(self.path, e))?;
        let letters: Vec<u8> = numbers.iter().map(|&n| n as u8).collect();
        let text = |bytes: &[u8]| {
            let end = bytes.iter().position(|&b| b == 0).unwrap_or(bytes.len());
            String::from_utf8_lossy(&bytes[..end])
                .trim_end()
                .to_string()
        };
        Ok(if per_column {
            letters.chunks_exact(matrix.rows.max(1)).map(text).collect()
        } else {
            let line = |r: usize| -> Vec<u8> {
                letters[r..].iter().step_by(matrix.rows).copied().collect()
            };
            (0..matrix.rows).map(|r| text(&line(r))).collect()
        })
    }

    /// The wanted series (ascending) of a data matrix, whose series are its rows (or its columns).
    fn series(
        &mut self,
        name: &str,
        wanted: &[usize],
        rows: bool,
    ) -> Result<Vec<Vec<f64>>, ResultError> {
        let matrix = self.matrix(name)?;
        let (path, width) = (self.path, matrix.width);
        let count = if rows { matrix.rows } else { matrix.columns };
        let wanted: Vec<usize> = wanted.iter().copied().filter(|&s| s < count).collect();
        let mut all = vec![Vec::new(); wanted.len()];
        if rows {
            let column = |bytes: &[u8]| {
                for (values, &s) in all.iter_mut().zip(&wanted) {
                    values.push(matrix.number(&bytes[s * width..(s + 1) * width]));
                }
            };
            (self.file.for_each_column(matrix, column)).map_err(|e| failed(path, e))?;
        } else {
            for (values, s) in all.iter_mut().zip(wanted) {
                let bytes = self.file.bytes(matrix, s * matrix.rows, matrix.rows);
                let bytes = bytes.map_err(|e| failed(path, e))?;
                values.extend(bytes.chunks_exact(width).map(|b| matrix.number(b)));
            }
        }
        Ok(all)
    }
}

fn failed(path: &Path, error: acausal_mat::Error) -> ResultError {
    match error {
        acausal_mat::Error::Malformed(reason) => malformed(path, reason),
        acausal_mat::Error::Io(source) => ResultError::Read {
            path: path.to_path_buf(),
            source,
        },
    }
}

fn malformed(path: &Path, reason: String) -> ResultError {
    ResultError::Malformed {
        path: path.to_path_buf(),
        format: "MAT v4",
        reason,
    }
}
