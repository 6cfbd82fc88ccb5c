//! Reads MAT v4 trajectories of Dymola (`binTrans` and `binNormal`, single or double), OpenModelica and this crate.
//!
//! The list of matrices is scanned by their headers only; of the data matrices only the rows that some wanted signal
//! refers to are kept in memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use super::undescribe;
use crate::result_set::is_wanted;
use crate::{ResultError, ResultSet, RunInfo, Signal, Source, normalise_name};

/// Longest matrix name accepted; the format's own names have at most 11 letters.
const LONGEST_NAME: i32 = 256;

/// A matrix in the file.
#[derive(Debug, Clone, Copy)]
struct Matrix {
    /// Second digit from the right of `MOPT`: element type.
    precision: i32,
    rows: usize,
    columns: usize,
    at: u64,
}

struct Source4<'p> {
    path: &'p Path,
    file: BufReader<File>,
    matrices: BTreeMap<String, Matrix>,
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
            Source::Column { column, negated }
        } else if let Some(&value) = values.first() {
            Source::Constant(crate::signal::signed(value, negated))
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
    /// Opens the file and finds its matrices.
    fn open(path: &'p Path) -> Result<Self, ResultError> {
        let unreadable = |source| ResultError::Read {
            path: path.to_path_buf(),
            source,
        };
        let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
        let length = file.get_ref().metadata().map_err(unreadable)?.len();
        let mut matrices = BTreeMap::new();
        let mut at = 0;
        while at < length {
            let mut fields = [0; 5];
            for field in &mut fields {
                let mut bytes = [0; 4];
                file.read_exact(&mut bytes).map_err(|e| cut_off(path, e))?;
                *field = i32::from_le_bytes(bytes);
            }
            let [kind, rows, columns, imaginary, name_length] = fields;
            let sane = (0..=99).contains(&kind)
                && rows >= 0
                && columns >= 0
                && imaginary == 0
                && (1..=LONGEST_NAME).contains(&name_length);
            if !sane {
                return Err(malformed(
                    path,
                    format!("no little-endian level 4 matrix begins at byte {at}"),
                ));
            }
            let mut name = vec![0; name_length as usize];
            file.read_exact(&mut name).map_err(|e| cut_off(path, e))?;
            name.pop();
            let matrix = Matrix {
                precision: kind / 10,
                rows: rows as usize,
                columns: columns as usize,
                at: at + 20 + name_length as u64,
            };
            let Some(width) = matrix.width() else {
                return Err(malformed(path, format!("matrix type {kind} is unknown")));
            };
            // A damaged header may claim more than any file holds.
            let elements = (rows as u64).saturating_mul(columns as u64);
            at = matrix
                .at
                .saturating_add(elements.saturating_mul(width as u64));
            if at > length {
                let name = String::from_utf8_lossy(&name).into_owned();
                return Err(malformed(
                    path,
                    format!("the file ends inside the matrix `{name}`"),
                ));
            }
            matrices.insert(String::from_utf8_lossy(&name).into_owned(), matrix);
            file.seek(SeekFrom::Start(at)).map_err(unreadable)?;
        }
        Ok(Self {
            path,
            file,
            matrices,
        })
    }

    fn matrix(&self, name: &str) -> Result<Matrix, ResultError> {
        self.matrices
            .get(name)
            .copied()
            .ok_or_else(|| malformed(self.path, format!("the matrix `{name}` is missing")))
    }

    fn bytes(&mut self, at: u64, length: usize) -> Result<Vec<u8>, ResultError> {
        let mut bytes = vec![0; length];
        self.file
            .seek(SeekFrom::Start(at))
            .and_then(|_| self.file.read_exact(&mut bytes))
            .map_err(|e| cut_off(self.path, e))?;
        Ok(bytes)
    }

    /// All elements in storage order.
    fn numbers(&mut self, name: &str) -> Result<Vec<f64>, ResultError> {
        let matrix = self.matrix(name)?;
        let width = matrix.width().unwrap_or(8);
        let bytes = self.bytes(matrix.at, matrix.rows * matrix.columns * width)?;
        Ok(bytes
            .chunks_exact(width)
            .map(|b| matrix.number(b))
            .collect())
    }

    /// A matrix of texts, one per column (or per row), without padding.
    fn texts(&mut self, name: &str, per_column: bool) -> Result<Vec<String>, ResultError> {
        let matrix = self.matrix(name)?;
        let width = matrix.width().unwrap_or(1);
        let raw = self.bytes(matrix.at, matrix.rows * matrix.columns * width)?;
        let letters: Vec<u8> = if width == 1 {
            raw
        } else {
            raw.chunks_exact(width)
                .map(|b| matrix.number(b) as u8)
                .collect()
        };
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
        let width = matrix.width().unwrap_or(8);
        let count = if rows { matrix.rows } else { matrix.columns };
        let wanted: Vec<usize> = wanted.iter().copied().filter(|&s| s < count).collect();
        if !rows {
            let length = matrix.rows * width;
            let mut all = Vec::with_capacity(wanted.len());
            for s in wanted {
                let bytes = self.bytes(matrix.at + (s * length) as u64, length)?;
                all.push(
                    bytes
                        .chunks_exact(width)
                        .map(|b| matrix.number(b))
                        .collect(),
                );
            }
            return Ok(all);
        }
        let mut all = vec![Vec::with_capacity(matrix.columns); wanted.len()];
        let mut column = vec![0; matrix.rows * width];
        self.file
            .seek(SeekFrom::Start(matrix.at))
            .map_err(|e| cut_off(self.path, e))?;
        for _ in 0..matrix.columns {
            self.file
                .read_exact(&mut column)
                .map_err(|e| cut_off(self.path, e))?;
            for (values, &s) in all.iter_mut().zip(&wanted) {
                values.push(matrix.number(&column[s * width..(s + 1) * width]));
            }
        }
        Ok(all)
    }
}

impl Matrix {
    /// Bytes per element.
    fn width(&self) -> Option<usize> {
        match self.precision {
            0 => Some(8),
            1 | 2 => Some(4),
            3 | 4 => Some(2),
            5 => Some(1),
            _ => None,
        }
    }

    /// One element; `bytes` is as long as [`width`](Self::width) says.
    fn number(&self, bytes: &[u8]) -> f64 {
        match (self.precision, bytes) {
            (0, &[a, b, c, d, e, f, g, h]) => f64::from_le_bytes([a, b, c, d, e, f, g, h]),
            (1, &[a, b, c, d]) => f64::from(f32::from_le_bytes([a, b, c, d])),
            (2, &[a, b, c, d]) => f64::from(i32::from_le_bytes([a, b, c, d])),
            (3, &[a, b]) => f64::from(i16::from_le_bytes([a, b])),
            (4, &[a, b]) => f64::from(u16::from_le_bytes([a, b])),
            (_, bytes) => bytes.first().map_or(f64::NAN, |&b| f64::from(b)),
        }
    }
}

fn cut_off(path: &Path, source: io::Error) -> ResultError {
    match source.kind() {
        io::ErrorKind::UnexpectedEof => malformed(path, "the file ends too early".to_string()),
        _ => ResultError::Read {
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
