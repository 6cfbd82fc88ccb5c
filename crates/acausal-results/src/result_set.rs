//! A whole result in memory, and reading one from a file.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use strsim::levenshtein;

use crate::interpolate::interpolate;
use crate::signal::signed;
use crate::writer::ResultWriter;
use crate::{Format, ResultError, RunInfo, Signal, SignalSource, csv, mat, parquet};

/// How many look-alikes an error about an unknown name lists.
const SIMILAR_NAMES: usize = 5;

/// Trajectories of many signals over a common time vector.
#[derive(Debug, Clone)]
pub struct ResultSet {
    info: RunInfo,
    signals: Vec<Signal>,
    time: Vec<f64>,
    columns: Vec<Vec<f64>>,
    /// Normalised name -> position in `signals`; of equal names the last counts.
    index: HashMap<String, usize>,
}

/// Reads a result: `.csv`, `.csv.gz`, `.mat`, or a `.parquet` file written by this crate.
pub fn read(path: &Path) -> Result<ResultSet, ResultError> {
    read_some(path, None)
}

/// Reads only the named signals, which saves time and memory on large files. Names that the file does not have are
/// left out; [`ResultSet::find`] tells which.
pub fn read_signals(path: &Path, names: &[impl AsRef<str>]) -> Result<ResultSet, ResultError> {
    let mut wanted: Vec<String> = names.iter().map(|n| normalise_name(n.as_ref())).collect();
    wanted.sort_unstable();
    read_some(path, Some(&wanted))
}

fn read_some(path: &Path, wanted: Option<&[String]>) -> Result<ResultSet, ResultError> {
    let compressed = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("gz"));
    let stem = path.with_extension("");
    let format = match Format::of_path(if compressed { &stem } else { path }) {
        Ok(Format::Csv) => Format::Csv,
        Ok(format) if !compressed => format,
        _ => {
            return Err(ResultError::UnknownExtension {
                path: path.to_path_buf(),
                known: &[".csv", ".csv.gz", ".mat", ".parquet"],
            });
        }
    };
    match format {
        Format::Csv => csv::read(path, wanted),
        Format::Mat => mat::read(path, wanted),
        Format::Parquet => parquet::read(path, wanted),
    }
}

/// Whether a reader should load the signal; `wanted` is sorted and normalised.
pub(crate) fn is_wanted(wanted: Option<&[String]>, name: &str) -> bool {
    wanted.is_none_or(|w| w.binary_search(&normalise_name(name)).is_ok())
}

/// The form in which names are compared: no blanks, no enclosing double quotes, and `Time` is `time`.
pub fn normalise_name(name: &str) -> String {
    let name: String = name
        .trim()
        .trim_matches('"')
        .chars()
        .filter(|c| *c != ' ')
        .collect();
    if name == "Time" {
        "time".to_string()
    } else {
        name
    }
}

impl ResultSet {
    /// Puts a result together. Signals refer to `columns` by position; every column is as long as `time`.
    pub fn new(
        info: RunInfo,
        signals: Vec<Signal>,
        time: Vec<f64>,
        columns: Vec<Vec<f64>>,
    ) -> Result<Self, ResultError> {
        if let Some((column, values)) = columns
            .iter()
            .enumerate()
            .find(|(_, c)| c.len() != time.len())
        {
            return Err(ResultError::UnequalColumns {
                column,
                rows: time.len(),
                found: values.len(),
            });
        }
        let needed = crate::signal::columns_needed(&signals);
        if needed > columns.len() {
            return Err(ResultError::ShortRow {
                needed,
                found: columns.len(),
            });
        }
        let index = signals
            .iter()
            .enumerate()
            .map(|(i, s)| (normalise_name(&s.name), i))
            .collect();
        Ok(Self {
            info,
            signals,
            time,
            columns,
            index,
        })
    }

    /// Which run this is.
    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    /// The time vector; a repeated time is an event.
    pub fn time(&self) -> &[f64] {
        &self.time
    }

    /// All signals in file order, without time.
    pub fn signals(&self) -> &[Signal] {
        &self.signals
    }

    /// The signal of this name (blanks and quotes do not matter).
    pub fn find(&self, name: &str) -> Option<&Signal> {
        self.index
            .get(&normalise_name(name))
            .map(|&i| &self.signals[i])
    }

    /// The values of a signal at every time, constants repeated. The name `time` gives the time vector.
    pub fn values(&self, name: &str) -> Option<Cow<'_, [f64]>> {
        match self.find(name) {
            Some(signal) => Some(self.values_of(signal)),
            None if normalise_name(name) == "time" => Some(Cow::Borrowed(&self.time)),
            None => None,
        }
    }

    /// The values of one of [`signals`](Self::signals).
    pub fn values_of(&self, signal: &Signal) -> Cow<'_, [f64]> {
        match signal.source {
            SignalSource::Constant(value) => Cow::Owned(vec![value; self.time.len()]),
            SignalSource::Column {
                column,
                negated: false,
            } => Cow::Borrowed(&self.columns[column]),
            SignalSource::Column {
                column,
                negated: true,
            } => Cow::Owned(
                self.columns[column]
                    .iter()
                    .map(|&v| signed(v, true))
                    .collect(),
            ),
        }
    }

    /// The value of a signal at a time, linear between samples and the right limit at an event; the first or last value
    /// outside of the run. `None` for an unknown name or an empty result.
    pub fn value_at(&self, name: &str, time: f64) -> Option<f64> {
        let values = self.values(name)?;
        (!values.is_empty()).then(|| interpolate(&self.time, &values, time))
    }

    /// Like [`values`](Self::values), with an error that names similar signals.
    pub fn require(&self, name: &str) -> Result<Cow<'_, [f64]>, ResultError> {
        self.values(name).ok_or_else(|| ResultError::NoSuchSignal {
            name: name.to_string(),
            similar: self.similar_names(name),
        })
    }

    /// Writes everything to another format.
    pub fn write_to(&self, writer: &mut dyn ResultWriter) -> Result<(), ResultError> {
        writer.begin(&self.signals, &self.info)?;
        let mut row = vec![0.0; self.columns.len()];
        for (i, &time) in self.time.iter().enumerate() {
            for (value, column) in row.iter_mut().zip(&self.columns) {
                *value = column[i];
            }
            writer.row(time, &row)?;
        }
        Ok(())
    }

    fn similar_names(&self, name: &str) -> Vec<String> {
        let wanted = normalise_name(name).to_lowercase();
        let limit = wanted.chars().count() / 3 + 1;
        let mut scored: Vec<(usize, &str)> = self
            .signals
            .iter()
            .filter_map(|s| {
                let candidate = normalise_name(&s.name).to_lowercase();
                let contained = candidate.ends_with(&wanted) || candidate.starts_with(&wanted);
                let distance = match contained {
                    true => 0,
                    false => levenshtein(&wanted, &candidate),
                };
                (distance <= limit).then_some((distance, s.name.as_str()))
            })
            .collect();
        scored.sort();
        scored
            .into_iter()
            .take(SIMILAR_NAMES)
            .map(|(_, n)| n.to_string())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> ResultSet {
        let signals = vec![
            Signal::column("body.x", 0),
            Signal::alias("spring.x_rel", 0, true),
            Signal::constant("m", 2.0),
        ];
        ResultSet::new(
            RunInfo::new("M"),
            signals,
            vec![0.0, 1.0],
            vec![vec![0.0, 3.0]],
        )
        .unwrap()
    }

    #[test]
    fn names_are_found_in_any_spelling() {
        let r = sample();
        assert_eq!(r.values("\"body.x\"").unwrap().as_ref(), [0.0, 3.0]);
        assert_eq!(r.values(" spring. x_rel").unwrap().as_ref(), [0.0, -3.0]);
        assert!(r.values("spring.x_rel").unwrap()[0].is_sign_positive());
        assert_eq!(r.values("Time").unwrap().as_ref(), [0.0, 1.0]);
        assert_eq!(r.value_at("body.x", 0.5), Some(1.5));
        assert_eq!(r.value_at("nobody", 0.5), None);
    }

    #[test]
    fn unknown_name_lists_similar_ones() {
        let message = sample().require("body.y").unwrap_err().to_string();
        assert_eq!(message, "the result has no signal body.y; similar: body.x");
        let message = sample().require("x").unwrap_err().to_string();
        assert!(message.contains("body.x"), "{message}");
    }

    #[test]
    fn lengths_are_checked() {
        assert!(ResultSet::new(RunInfo::default(), vec![], vec![0.0], vec![vec![]]).is_err());
        assert!(
            ResultSet::new(
                RunInfo::default(),
                vec![Signal::column("x", 1)],
                vec![],
                vec![vec![]]
            )
            .is_err()
        );
    }
}
