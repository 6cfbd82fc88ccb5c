//! Reads CSV as written here, by OpenModelica, by Dymola and by csv-compare; optionally gzip-compressed.
//!
//! The separator is a comma, or a semicolon where the header has no comma outside quotes. `true` and `false` are numbers, an empty
//! cell is NaN, cells beyond the header are ignored, and blanks around cells do not matter.

use std::fs;
use std::io::Read;
use std::path::Path;

use csv::{ReaderBuilder, StringRecord, Trim};
use flate2::read::MultiGzDecoder;

use crate::result_set::is_wanted;
use crate::{ResultError, ResultSet, RunInfo, Signal, SignalKind, normalise_name};

/// Reads the signals in `wanted`, or all.
pub(crate) fn read(path: &Path, wanted: Option<&[String]>) -> Result<ResultSet, ResultError> {
    let unreadable = |source| ResultError::Read {
        path: path.to_path_buf(),
        source,
    };
    let mut bytes = fs::read(path).map_err(unreadable)?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut plain = Vec::new();
        MultiGzDecoder::new(bytes.as_slice())
            .read_to_end(&mut plain)
            .map_err(unreadable)?;
        bytes = plain;
    }
    let text = std::str::from_utf8(&bytes)
        .map_err(|e| malformed(path, format!("byte {} is not UTF-8 text", e.valid_up_to())))?;
    parse(path, text.strip_prefix('\u{feff}').unwrap_or(text), wanted)
}

fn parse(path: &Path, text: &str, wanted: Option<&[String]>) -> Result<ResultSet, ResultError> {
    let mut reader = ReaderBuilder::new()
        .delimiter(separator(text.lines().next().unwrap_or("")))
        .flexible(true)
        .trim(Trim::Headers)
        .from_reader(text.as_bytes());
    let unreadable = |e: csv::Error| malformed(path, e.to_string());
    let names = reader.headers().map_err(unreadable)?.clone();
    let Some(time_column) = names.iter().position(|n| normalise_name(n) == "time") else {
        return Err(malformed(
            path,
            "the header has no column `time`".to_string(),
        ));
    };
    // Where the cell of each header position goes: 0 is nowhere, 1 is time, 2 + k is column k.
    let mut slots = vec![0; names.len()];
    let mut signals = Vec::new();
    for (i, name) in names.iter().enumerate() {
        if i == time_column {
            slots[i] = 1;
        } else if !name.is_empty() && is_wanted(wanted, name) {
            slots[i] = 2 + signals.len();
            signals.push(Signal::column(name, signals.len()));
        }
    }
    let mut stored = vec![Vec::new(); 1 + signals.len()];
    let mut boolean = vec![false; 1 + signals.len()];
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).map_err(unreadable)? {
        let line = record.position().map_or(0, |p| p.line());
        // A line of blanks is a record with one empty cell.
        if record.len() == 1 && record[0].trim().is_empty() && slots.len() > 1 {
            continue;
        }
        for (position, &slot) in slots.iter().enumerate() {
            let Some(cell) = record.get(position) else {
                let count = slots.len();
                let reason = format!("line {line} has {position} cells, the header {count}");
                return Err(malformed(path, reason));
            };
            if slot == 0 {
                continue;
            }
            let cell = cell.trim();
            let Some((value, truth)) = parse_cell(cell) else {
                let column = position + 1;
                let reason = format!("line {line}, column {column}: `{cell}` is not a number");
                return Err(malformed(path, reason));
            };
            stored[slot - 1].push(value);
            boolean[slot - 1] |= truth;
        }
    }
    for (signal, truth) in signals.iter_mut().zip(&boolean[1..]) {
        if *truth {
            signal.kind = SignalKind::Boolean;
        }
    }
    let columns = stored.split_off(1);
    let time = stored.pop().unwrap_or_default();
    ResultSet::new(RunInfo::default(), signals, time, columns)
}

/// A semicolon separates only where no comma could: outside quotes the header has semicolons and no comma.
fn separator(header: &str) -> u8 {
    let (mut quoted, mut commas, mut semicolons) = (false, 0, 0);
    for c in header.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => commas += 1,
            ';' if !quoted => semicolons += 1,
            _ => {}
        }
    }
    if semicolons > 0 && commas == 0 {
        b';'
    } else {
        b','
    }
}

/// The value of a cell, and whether it was a truth value.
fn parse_cell(cell: &str) -> Option<(f64, bool)> {
    match cell {
        "" => Some((f64::NAN, false)),
        "true" | "True" => Some((1.0, true)),
        "false" | "False" => Some((0.0, true)),
        _ => Some((cell.parse().ok()?, false)),
    }
}

fn malformed(path: &Path, reason: String) -> ResultError {
    ResultError::Malformed {
        path: path.to_path_buf(),
        format: "CSV",
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<ResultSet, ResultError> {
        parse(Path::new("x.csv"), text, None)
    }

    #[test]
    fn dialects() {
        for text in [
            "time,a[1,2]\n0,1\n1,2\n".replace("a[1,2]", "\"a[1,2]\""),
            "\"Time\";\"a[1, 2]\"\r\n0;1\r\n1;2\r\n".to_string(),
            "\"a[1,2]\" , time\n\n 1 , 0\n2,1,,\n".to_string(),
        ] {
            let r = parsed(&text).unwrap();
            assert_eq!(r.time(), [0.0, 1.0], "{text}");
            assert_eq!(r.values("a[1,2]").unwrap().as_ref(), [1.0, 2.0], "{text}");
        }
    }

    #[test]
    fn truth_values_and_gaps() {
        let r = parsed("time,b,x\n0,true,\n1,False,inf").unwrap();
        assert_eq!(r.values("b").unwrap().as_ref(), [1.0, 0.0]);
        assert_eq!(r.find("b").unwrap().kind, SignalKind::Boolean);
        assert!(r.values("x").unwrap()[0].is_nan());
        assert_eq!(r.values("x").unwrap()[1], f64::INFINITY);
    }

    #[test]
    fn bad_files_are_explained() {
        for (text, message) in [
            ("x,y\n0,1\n", "no column `time`"),
            ("time,y\n0,1\n1\n", "line 3 has 1 cells, the header 2"),
            (
                "time,y\n0,1\n1,oops\n",
                "line 3, column 2: `oops` is not a number",
            ),
            ("", "no column `time`"),
        ] {
            let error = parsed(text).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        assert_eq!(parsed("time,x\n").unwrap().time().len(), 0);
    }
}
