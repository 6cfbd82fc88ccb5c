//! A writer that keeps the result in memory.

use std::path::PathBuf;

use crate::writer::{ResultWriter, RowColumns};
use crate::{ResultError, ResultSet, RunInfo, Signal};

/// Collects a run as a [`ResultSet`].
#[derive(Debug, Default)]
pub struct MemoryWriter {
    begun: Option<(Vec<Signal>, RunInfo, RowColumns)>,
    time: Vec<f64>,
    columns: Vec<Vec<f64>>,
}

impl MemoryWriter {
    /// An empty result.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was collected, complete or not.
    pub fn into_result(self) -> Result<ResultSet, ResultError> {
        let (mut signals, info, columns) = self
            .begun
            .ok_or(ResultError::OutOfOrder { call: "finish" })?;
        for (signal, source) in signals.iter_mut().zip(&columns.sources) {
            signal.source = *source;
        }
        ResultSet::new(info, signals, self.time, self.columns)
    }
}

impl ResultWriter for MemoryWriter {
    fn begin(&mut self, signals: &[Signal], info: &RunInfo) -> Result<(), ResultError> {
        if self.begun.is_some() {
            return Err(ResultError::OutOfOrder { call: "begin" });
        }
        let columns = RowColumns::new(signals);
        self.columns = vec![Vec::new(); columns.used.len()];
        self.begun = Some((signals.to_vec(), info.clone(), columns));
        Ok(())
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), ResultError> {
        let Some((_, _, columns)) = &self.begun else {
            return Err(ResultError::OutOfOrder { call: "row" });
        };
        columns.check(values)?;
        self.time.push(time);
        for (stored, &from) in self.columns.iter_mut().zip(&columns.used) {
            stored.push(values[from]);
        }
        Ok(())
    }

    /// Nothing is written; the path is empty. Use [`MemoryWriter::into_result`] for the content.
    fn finish(&mut self) -> Result<PathBuf, ResultError> {
        Ok(PathBuf::new())
    }

    fn finish_incomplete(self: Box<Self>) -> Result<PathBuf, ResultError> {
        Ok(PathBuf::new())
    }
}
