//! Writes Parquet; see the [module](crate::parquet) for the layout.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::layout::{encode_chunk, encoding, physical_type};
use super::rows::RowGroupBuffer;
use super::thrift::{Writer, kind};
use super::{MAGIC, MODEL_KEY, SIGNALS_KEY};
use crate::signal::{Signal, SignalKind, SignalSource, signed};
use crate::target::ResultFile;
use crate::writer::{ResultWriter, RowColumns};
use crate::{ResultError, RunInfo};

/// Values held in memory: 64 MB.
const MEMORY_VALUES: usize = 8 << 20;
/// A row group has at least this many rows, because each costs some 70 bytes of footer per column.
const GROUP_ROWS: usize = 1024;

/// On a full disk all rows are kept but at most one of so many parts of those that were collected last.
const SALVAGE_PARTS: usize = 256;

/// Writes a Parquet result.
pub struct ParquetWriter {
    target: ResultFile,
    layout: Option<Layout>,
    memory_values: usize,
    group_rows: usize,
}

struct Layout {
    signals: Vec<Signal>,
    info: RunInfo,
    columns: RowColumns,
    /// Signals in the order of the stored columns they use, constants first.
    by_column: Vec<usize>,
    rows: RowGroupBuffer,
    groups: Vec<Group>,
}

struct Group {
    rows: usize,
    /// Length of the file up to the end of this group.
    end: u64,
    /// Time first, then the signals in their order.
    chunks: Vec<PlacedChunk>,
}

#[derive(Clone, Copy, Default)]
struct PlacedChunk {
    at: u64,
    after_dictionary: Option<u64>,
    length: usize,
}

impl ParquetWriter {
    /// Opens the target; fails when it cannot be written.
    pub fn create(path: &Path) -> Result<Self, ResultError> {
        Ok(Self {
            target: ResultFile::create(path)?,
            layout: None,
            memory_values: MEMORY_VALUES,
            group_rows: GROUP_ROWS,
        })
    }

    /// Sets how many values are held in memory and how many rows a row group has at least.
    #[must_use]
    pub fn with_limits(mut self, memory_values: usize, group_rows: usize) -> Self {
        self.memory_values = memory_values.max(1);
        self.group_rows = group_rows.max(1);
        self
    }

    /// Writes the collected rows as a row group.
    fn end_group(&mut self) -> Result<(), ResultError> {
        self.write_group(usize::MAX)?;
        if let Some(layout) = &mut self.layout {
            layout.rows.clear();
        }
        Ok(())
    }

    /// Writes the first collected rows as a row group.
    fn write_group(&mut self, most: usize) -> Result<(), ResultError> {
        let Some(layout) = &mut self.layout else {
            return Ok(());
        };
        let rows = layout.rows.len().min(most);
        if rows == 0 {
            return Ok(());
        }
        let mut chunks = vec![PlacedChunk::default(); 1 + layout.signals.len()];
        let mut values = Vec::with_capacity(rows);
        let time = std::iter::once((
            0,
            SignalKind::Real,
            SignalSource::Column {
                column: 0,
                negated: false,
            },
        ));
        let others = layout.by_column.iter().map(|&i| {
            let source = match layout.columns.sources[i] {
                // Column 0 of the collected rows is time.
                SignalSource::Column { column, negated } => SignalSource::Column {
                    column: column + 1,
                    negated,
                },
                constant => constant,
            };
            (i + 1, layout.signals[i].kind, source)
        });
        for (place, kind, source) in time.chain(others) {
            values.clear();
            match source {
                SignalSource::Constant(value) => values.resize(rows, value),
                SignalSource::Column { column, negated } => {
                    let stored = layout.rows.column(column, &self.target)?;
                    values.extend(stored[..rows].iter().map(|&v| signed(v, negated)));
                }
            }
            let at = self.target.position();
            let chunk = encode_chunk(&mut self.target.buffer, kind, &values);
            chunks[place] = PlacedChunk {
                at,
                after_dictionary: chunk.after_dictionary.map(|offset| at + offset as u64),
                length: chunk.length,
            };
            self.target.end_record()?;
        }
        self.target.flush()?;
        let end = self.target.position();
        layout.groups.push(Group { rows, end, chunks });
        Ok(())
    }

    fn close(&mut self) -> Result<(), ResultError> {
        self.close_with(usize::MAX)
    }

    /// Writes the first collected rows and the footer.
    fn close_with(&mut self, most: usize) -> Result<(), ResultError> {
        let before = self.layout.as_ref().map_or(0, |l| l.groups.len());
        let result = self.write_group(most).and_then(|()| self.write_end());
        if let (Err(_), Some(layout)) = (&result, &mut self.layout) {
            // The rows are still there and may be written again.
            layout.groups.truncate(before);
        }
        result
    }

    fn write_end(&mut self) -> Result<(), ResultError> {
        let Some(layout) = &self.layout else {
            return Err(ResultError::OutOfOrder { call: "finish" });
        };
        let mut footer = Vec::new();
        write_footer(&mut footer, layout);
        let length = i32::try_from(footer.len()).map_err(|_| ResultError::TooLarge {
            path: self.target.path().to_path_buf(),
            format: "Parquet",
            limit: "the list of columns exceeds 2 GB".to_string(),
        })?;
        self.target.buffer.append(&mut footer);
        self.target.buffer.extend_from_slice(&length.to_le_bytes());
        self.target.buffer.extend_from_slice(MAGIC);
        self.target.flush()
    }
}

impl ResultWriter for ParquetWriter {
    fn begin(&mut self, signals: &[Signal], info: &RunInfo) -> Result<(), ResultError> {
        if self.layout.is_some() {
            return Err(ResultError::OutOfOrder { call: "begin" });
        }
        let columns = RowColumns::new(signals);
        let mut by_column: Vec<usize> = (0..signals.len()).collect();
        by_column.sort_by_key(|&i| match columns.sources[i] {
            SignalSource::Constant(_) => 0,
            SignalSource::Column { column, .. } => column + 1,
        });
        self.layout = Some(Layout {
            signals: signals.to_vec(),
            info: info.clone(),
            by_column,
            rows: RowGroupBuffer::new(1 + columns.used.len(), self.memory_values),
            columns,
            groups: Vec::new(),
        });
        self.target.buffer.extend_from_slice(MAGIC);
        self.target.flush()
    }

    fn row(&mut self, time: f64, values: &[f64]) -> Result<(), ResultError> {
        let Some(layout) = &mut self.layout else {
            return Err(ResultError::OutOfOrder { call: "row" });
        };
        layout.columns.check(values)?;
        let stored = layout.columns.used.iter().map(|&from| values[from]);
        layout.rows.push(std::iter::once(time).chain(stored));
        let rows = layout.rows.len();
        if rows >= self.group_rows && rows * (1 + layout.columns.used.len()) >= self.memory_values {
            self.end_group()
        } else {
            layout.rows.relieve(&self.target)
        }
    }

    fn finish(&mut self) -> Result<PathBuf, ResultError> {
        self.close()?;
        let path = self.target.commit()?;
        // The rows and their scratch file are not needed any more.
        self.layout = None;
        Ok(path)
    }

    fn finish_incomplete(mut self: Box<Self>) -> Result<PathBuf, ResultError> {
        let end = self.groups_end();
        self.target.cut(end)?;
        if let Err(error) = self.close() {
            self.keep_what_fits(error)?;
        }
        self.target.commit_incomplete()
    }
}

impl ParquetWriter {
    /// Length of the file up to the end of the last row group.
    fn groups_end(&self) -> u64 {
        let last = self.layout.as_ref().and_then(|l| l.groups.last());
        last.map_or(MAGIC.len() as u64, |g| g.end)
    }

    /// The last rows do not fit any more: as many of them as do, found by halving.
    fn keep_what_fits(&mut self, error: ResultError) -> Result<(), ResultError> {
        let end = self.groups_end();
        let (rows, groups) =
            (self.layout.as_ref()).map_or((0, 0), |l| (l.rows.len(), l.groups.len()));
        let (mut fits, mut too_many) = (0, rows.max(1));
        let mut last = None;
        while too_many - fits > 1 + rows / SALVAGE_PARTS || last != Some(fits) {
            let most = if too_many - fits > 1 + rows / SALVAGE_PARTS {
                fits + (too_many - fits) / 2
            } else {
                fits
            };
            self.target.cut(end)?;
            if let Some(layout) = &mut self.layout {
                layout.groups.truncate(groups);
            }
            match self.close_with(most) {
                Ok(()) => fits = most,
                // Not even the description of the columns fits.
                Err(_) if most == 0 => return Err(error),
                Err(_) => too_many = most,
            }
            last = Some(most);
        }
        Ok(())
    }
}

/// `FileMetaData` of `parquet.thrift`.
fn write_footer(out: &mut Vec<u8>, layout: &Layout) {
    let columns = 1 + layout.signals.len();
    let column = |i: usize| match i {
        0 => ("time", SignalKind::Real),
        _ => (
            layout.signals[i - 1].name.as_str(),
            layout.signals[i - 1].kind,
        ),
    };
    let mut w = Writer::new(out);
    w.i32(1, 1); // version

    w.list(2, kind::STRUCT, 1 + columns);
    w.open_element(); // the root of the schema
    w.string(4, "schema");
    w.i32(5, columns as i32);
    w.close();
    for i in 0..columns {
        let (name, kind) = column(i);
        w.open_element();
        w.i32(1, physical_type(kind));
        w.i32(3, 0); // required
        w.string(4, name);
        w.close();
    }

    w.i64(3, layout.groups.iter().map(|g| g.rows as i64).sum());

    w.list(4, kind::STRUCT, layout.groups.len());
    for group in &layout.groups {
        w.open_element();
        w.list(1, kind::STRUCT, columns);
        for (i, chunk) in group.chunks.iter().enumerate() {
            let (name, kind) = column(i);
            w.open_element();
            w.i64(2, chunk.at as i64);
            w.open(3);
            w.i32(1, physical_type(kind));
            let encodings: &[i32] = match chunk.after_dictionary {
                Some(_) => &[encoding::PLAIN, encoding::RLE_DICTIONARY],
                None => &[encoding::PLAIN],
            };
            w.list(2, self::kind::I32, encodings.len());
            encodings.iter().for_each(|&e| w.element_i32(e));
            w.list(3, self::kind::BINARY, 1);
            w.element_string(name);
            w.i32(4, 0); // uncompressed
            w.i64(5, group.rows as i64);
            w.i64(6, chunk.length as i64);
            w.i64(7, chunk.length as i64);
            w.i64(9, chunk.after_dictionary.unwrap_or(chunk.at) as i64);
            if chunk.after_dictionary.is_some() {
                w.i64(11, chunk.at as i64);
            }
            w.close();
            w.close();
        }
        w.i64(2, group.chunks.iter().map(|c| c.length as i64).sum());
        w.i64(3, group.rows as i64);
        w.close();
    }

    let metadata = [
        (MODEL_KEY, layout.info.model.clone()),
        (SIGNALS_KEY, signals_json(&layout.signals)),
    ];
    w.list(5, kind::STRUCT, metadata.len());
    for (key, value) in &metadata {
        w.open_element();
        w.string(1, key);
        w.string(2, value);
        w.close();
    }
    w.string(6, &layout.info.generator);
    w.close();
}

/// `{"name": {"unit": "m", "description": "..", "type": "Enumeration"}, ..}` for the signals that have any of these.
fn signals_json(signals: &[Signal]) -> String {
    let mut all = Map::new();
    for signal in signals {
        let enumeration = match signal.kind {
            SignalKind::Enumeration => "Enumeration",
            _ => "",
        };
        let parts = [
            ("unit", signal.unit.as_str()),
            ("description", &signal.description),
            ("type", enumeration),
        ];
        let known = parts.iter().filter(|(_, text)| !text.is_empty());
        let known: Map<String, Value> = known.map(|(k, t)| (k.to_string(), json!(t))).collect();
        if !known.is_empty() {
            all.insert(signal.name.clone(), known.into());
        }
    }
    Value::Object(all).to_string()
}
