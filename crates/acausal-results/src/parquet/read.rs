//! Reads the Parquet files that this crate writes: flat, uncompressed, PLAIN or one-entry dictionaries.
//!
//! Anything else (compression, nesting, optional columns) is refused by name; general Parquet belongs to a data frame library.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::layout::{encoding, page, physical};
use super::thrift::{ThriftValue, decode};
use super::{MAGIC, MODEL_KEY, SIGNALS_KEY};
use crate::result_set::is_wanted;
use crate::{ResultError, ResultSet, RunInfo, Signal, SignalKind, normalise_name};

/// Reads the signals in `wanted`, or all.
pub(crate) fn read(path: &Path, wanted: Option<&[String]>) -> Result<ResultSet, ResultError> {
    let unreadable = |source| ResultError::Read {
        path: path.to_path_buf(),
        source,
    };
    let bad = |reason: &str| ResultError::Malformed {
        path: path.to_path_buf(),
        format: "Parquet",
        reason: reason.to_string(),
    };
    let mut file = File::open(path).map_err(unreadable)?;
    let length = file.metadata().map_err(unreadable)?.len();
    if length < 12 {
        return Err(bad("it is too short"));
    }
    let mut part = |at: u64, bytes: u64| -> Result<Vec<u8>, ResultError> {
        if at.saturating_add(bytes) > length {
            return Err(bad("a chunk lies beyond the end of the file"));
        }
        let mut buffer = vec![0; bytes as usize];
        file.seek(SeekFrom::Start(at))
            .and_then(|_| file.read_exact(&mut buffer))
            .map_err(unreadable)?;
        Ok(buffer)
    };
    let tail = part(length - 8, 8)?;
    if &tail[4..] != MAGIC {
        return Err(bad("it does not end with PAR1"));
    }
    let footer_length = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
    if footer_length + 12 > length {
        return Err(bad("the footer is longer than the file"));
    }
    let footer_bytes = part(length - 8 - footer_length, footer_length)?;
    let (footer, _) = decode(&footer_bytes).ok_or_else(|| bad("the footer cannot be decoded"))?;

    let fields = footer.list(2).get(1..).unwrap_or(&[]);
    let mut names = Vec::with_capacity(fields.len());
    let mut kinds = Vec::with_capacity(fields.len());
    for field in fields {
        let name = field.text(4).ok_or_else(|| bad("a column has no name"))?;
        let kind = match (field.int(1), field.int(3)) {
            (Some(t), Some(0)) if t == i64::from(physical::DOUBLE) => SignalKind::Real,
            (Some(t), Some(0)) if t == i64::from(physical::INT64) => SignalKind::Integer,
            (Some(t), Some(0)) if t == i64::from(physical::BOOLEAN) => SignalKind::Boolean,
            _ => {
                return Err(bad(&format!(
                    "column {name} is not a required number column"
                )));
            }
        };
        names.push(name);
        kinds.push(kind);
    }
    let mut stored: Vec<Option<Vec<f64>>> = names
        .iter()
        .map(|n| (normalise_name(n) == "time" || is_wanted(wanted, n)).then(Vec::new))
        .collect();
    for group in footer.list(4) {
        let rows = group
            .int(3)
            .and_then(|n| usize::try_from(n).ok())
            .unwrap_or(0);
        for ((chunk, values), kind) in group.list(1).iter().zip(&mut stored).zip(&kinds) {
            let (Some(values), Some(meta)) = (values, chunk.get(3)) else {
                continue;
            };
            if meta.int(4) != Some(0) {
                return Err(bad("compressed columns are not supported"));
            }
            let at = meta
                .int(11)
                .or(meta.int(9))
                .and_then(|v| u64::try_from(v).ok());
            let bytes = meta.int(7).and_then(|v| u64::try_from(v).ok());
            let (Some(at), Some(bytes)) = (at, bytes) else {
                return Err(bad("a column chunk has no place"));
            };
            let pages = part(at, bytes)?;
            decode_pages(&pages, *kind, rows, values)
                .ok_or_else(|| bad("a page cannot be decoded"))?;
        }
    }
    assemble(&footer, names, kinds, stored).ok_or_else(|| bad("there is no column `time`"))?
}

fn assemble(
    footer: &ThriftValue<'_>,
    names: Vec<&str>,
    kinds: Vec<SignalKind>,
    stored: Vec<Option<Vec<f64>>>,
) -> Option<Result<ResultSet, ResultError>> {
    let mut time = None;
    let mut signals: Vec<Signal> = Vec::new();
    let mut columns = Vec::new();
    for ((name, kind), values) in names.into_iter().zip(kinds).zip(stored) {
        let Some(values) = values else { continue };
        if time.is_none() && normalise_name(name) == "time" {
            time = Some(values);
        } else {
            signals.push(Signal::column(name, columns.len()).with_kind(kind));
            columns.push(values);
        }
    }
    let mut info = RunInfo {
        generator: footer.text(6).unwrap_or("").to_string(),
        ..RunInfo::default()
    };
    for pair in footer.list(5) {
        match (pair.text(1), pair.text(2)) {
            (Some(MODEL_KEY), Some(model)) => info.model = model.to_string(),
            (Some(SIGNALS_KEY), Some(json)) => annotate(&mut signals, json),
            _ => {}
        }
    }
    time.map(|time| ResultSet::new(info, signals, time, columns))
}

/// Puts units and descriptions back. What is no object of objects of strings was not written here, and is passed over.
fn annotate(signals: &mut [Signal], json: &str) {
    let Ok(serde_json::Value::Object(known)) = serde_json::from_str(json) else {
        return;
    };
    for signal in signals {
        let text = |key| known.get(&signal.name)?.get(key)?.as_str();
        signal.unit = text("unit").unwrap_or(&signal.unit).to_string();
        signal.description = (text("description").unwrap_or(&signal.description)).to_string();
        if text("type") == Some("Enumeration") {
            signal.kind = SignalKind::Enumeration;
        }
    }
}

/// Appends the values of a chunk, at most `rows` per page, so that a damaged count cannot exhaust memory.
fn decode_pages(mut bytes: &[u8], kind: SignalKind, rows: usize, out: &mut Vec<f64>) -> Option<()> {
    let mut dictionary = Vec::new();
    while !bytes.is_empty() {
        let (header, used) = decode(bytes)?;
        let size = usize::try_from(header.int(3)?).ok()?;
        let body = bytes.get(used..used.checked_add(size)?)?;
        bytes = &bytes[used + size..];
        if header.int(1) == Some(i64::from(page::DICTIONARY)) {
            let count = usize::try_from(header.get(7)?.int(1)?).ok()?;
            decode_plain(body, kind, count, &mut dictionary)?;
            continue;
        }
        let data = header.get(5)?;
        let count = usize::try_from(data.int(1)?).ok()?;
        let encoded = data.int(2)?;
        if count > rows {
            return None;
        }
        if encoded == i64::from(encoding::PLAIN) {
            decode_plain(body, kind, count, out)?;
        } else if encoded == i64::from(encoding::RLE_DICTIONARY) && dictionary.len() == 1 {
            // With a single entry every index is 0, whatever the runs are.
            out.try_reserve(count).ok()?;
            out.resize(out.len() + count, dictionary[0]);
        } else {
            return None;
        }
    }
    Some(())
}

fn decode_plain(body: &[u8], kind: SignalKind, count: usize, out: &mut Vec<f64>) -> Option<()> {
    if kind == SignalKind::Boolean {
        let bytes = body.get(..count.div_ceil(8))?;
        out.extend((0..count).map(|i| f64::from(bytes[i / 8] >> (i % 8) & 1)));
        return Some(());
    }
    let (numbers, _) = body.get(..count.checked_mul(8)?)?.as_chunks::<8>();
    out.extend(numbers.iter().map(|b| match kind {
        SignalKind::Real => f64::from_le_bytes(*b),
        _ => i64::from_le_bytes(*b) as f64,
    }));
    Some(())
}
