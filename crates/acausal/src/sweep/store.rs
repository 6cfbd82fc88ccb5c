//! A sweep in a directory: results in Parquet files of some hundred cases each, and a manifest from which an interrupted sweep goes on.
//!
//! ```text
//! sweep/cases.csv               case, and the values of its parameters
//! sweep/chunk-000000.parquet    time, case, signals: the cases 0 to 99 one after the other
//! sweep/manifest.jsonl          a line about the sweep, then one for each chunk that is complete
//! ```
//!
//! A line of the manifest is written when the file of its chunk has got its name, so what is in the manifest is there. A line that was cut off counts as not
//! written. The first line has a checksum of model, settings and cases: a directory with another sweep is refused.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io::Write;
use std::path::{Path, PathBuf};

use acausal_base::Fnv;
use acausal_results::{RunInfo, Signal, SignalKind};
use acausal_runtime::{ParameterValue, Settings};
use serde_json::{Value, json};

use super::{Case, Outcome, Status};
use crate::Model;

const MANIFEST: &str = "manifest.jsonl";
/// Numbers in a chunk that nobody gave a size: 32 MB.
const CHUNK_NUMBERS: usize = 4_000_000;
/// Cases in it, at most: what is lost when a sweep is interrupted.
const CHUNK_CASES: usize = 1000;

/// Cases of a chunk, when one case has so many numbers.
pub fn chunk_size(case_len: usize) -> usize {
    (CHUNK_NUMBERS / case_len.max(1)).clamp(1, CHUNK_CASES)
}

/// A directory with a sweep. Failures are sentences for the user.
#[derive(Debug)]
pub struct SweepStore {
    directory: PathBuf,
    manifest: File,
    done: BTreeSet<usize>,
    failed: usize,
    info: RunInfo,
    signals: Vec<Signal>,
    times: Vec<f64>,
}

/// What the first line of a manifest is made of.
pub struct Header<'a> {
    /// The model.
    pub model: &'a Model,
    /// What holds for all cases.
    pub settings: &'a Settings,
    /// The parameters that cases set.
    pub names: &'a [String],
    /// Their values.
    pub cases: &'a [Case],
    /// Cases in a chunk.
    pub chunk: usize,
    /// Names and units of the signals.
    pub signals: Vec<(String, String)>,
    /// The instants of each case.
    pub times: &'a [f64],
}

impl Header<'_> {
    fn json(&self) -> Result<Value, String> {
        let mut hash = Fnv::default();
        let s = self.settings;
        self.model
            .to_bytes()
            .map_err(|f| f.to_string())?
            .hash(&mut hash);
        for number in [s.start, s.stop, s.interval, s.tolerance] {
            number.to_bits().hash(&mut hash);
        }
        for (name, value) in &s.parameters {
            (name, value.to_string()).hash(&mut hash);
        }
        (self.names, s.steady_state, s.max_order).hash(&mut hash);
        for value in self.cases.iter().flatten() {
            value.to_string().hash(&mut hash);
        }
        Ok(json!({
            "acausal_sweep": 1,
            "model": self.model.compiled.symbols.name,
            "parameters": self.names,
            "cases": self.cases.len(),
            "chunk": self.chunk,
            "instants": self.times.len(),
            "signals": self.signals.iter().map(|s| &s.0).collect::<Vec<_>>(),
            "checksum": format!("{:016x}", hash.finish()),
        }))
    }
}

impl SweepStore {
    /// Opens a directory, a new one or one with a part of the same sweep.
    pub fn open(directory: &Path, header: &Header<'_>) -> Result<SweepStore, String> {
        let cannot = |e: std::io::Error| format!("{}: {e}", directory.display());
        std::fs::create_dir_all(directory).map_err(cannot)?;
        let path = directory.join(MANIFEST);
        let wanted = header.json()?;
        let (mut done, mut failed) = (BTreeSet::new(), 0);
        let mut whole = 0;
        match std::fs::read_to_string(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            Err(e) => return Err(cannot(e)),
            Ok(text) => {
                for line in text.split_inclusive('\n').filter(|l| l.ends_with('\n')) {
                    let Ok(entry) = serde_json::from_str::<Value>(line) else {
                        break;
                    };
                    if whole == 0 && entry != wanted {
                        return Err(format!(
                            "{} holds another sweep: of another model, with other settings or other cases",
                            directory.display()
                        ));
                    }
                    if let Some(chunk) = entry["chunk"].as_u64().filter(|_| whole > 0) {
                        done.insert(chunk as usize);
                        failed += entry["failed"].as_array().map_or(0, Vec::len);
                    }
                    whole += line.len();
                }
            }
        }
        let mut manifest = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(cannot)?;
        // What was cut off goes.
        manifest.set_len(whole as u64).map_err(cannot)?;
        std::io::Seek::seek(&mut manifest, std::io::SeekFrom::End(0)).map_err(cannot)?;
        if whole == 0 {
            write_cases(&directory.join("cases.csv"), header).map_err(cannot)?;
            writeln!(manifest, "{wanted}").map_err(cannot)?;
        }
        let case = Signal::column("case", 0).with_kind(SignalKind::Integer);
        let signals = header.signals.iter().enumerate();
        let signals =
            signals.map(|(k, (name, unit))| Signal::column(name.clone(), k + 1).with_unit(unit));
        Ok(SweepStore {
            directory: directory.to_path_buf(),
            manifest,
            done,
            failed,
            info: RunInfo::new(header.model.compiled.symbols.name.to_string()),
            signals: std::iter::once(case).chain(signals).collect(),
            times: header.times.to_vec(),
        })
    }

    /// Whether a chunk is there.
    pub fn has(&self, chunk: usize) -> bool {
        self.done.contains(&chunk)
    }

    /// Failed cases in all chunks.
    pub fn failed(&self) -> usize {
        self.failed
    }

    /// Stores the cases of a chunk, in order.
    pub fn write(&mut self, chunk: usize, outcomes: &[Outcome]) -> Result<(), String> {
        let name = format!("chunk-{chunk:06}.parquet");
        let path = self.directory.join(&name);
        let said = |e: acausal_results::ResultError| format!("{}: {e}", path.display());
        let mut writer = acausal_results::create(&path).map_err(said)?;
        writer.begin(&self.signals, &self.info).map_err(said)?;
        let (instants, signals) = (self.times.len(), self.signals.len() - 1);
        let mut row = vec![0.0; signals + 1];
        for outcome in outcomes {
            row[0] = outcome.case as f64;
            for (k, &t) in self.times.iter().enumerate() {
                for s in 0..signals {
                    row[s + 1] = outcome.values[s * instants + k];
                }
                writer.row(t, &row).map_err(said)?;
            }
        }
        writer.finish().map_err(said)?;
        let failed: Vec<Value> = outcomes.iter().filter_map(failure).collect();
        let entry = json!({
            "chunk": chunk,
            "file": name,
            "cases": outcomes.len(),
            "first": outcomes.first().map(|o| o.case),
            "failed": failed,
        });
        let written = writeln!(self.manifest, "{entry}").and_then(|()| self.manifest.sync_data());
        written.map_err(|e| format!("{}: {e}", self.directory.join(MANIFEST).display()))?;
        self.failed += failed.len();
        self.done.insert(chunk);
        Ok(())
    }
}

/// What the manifest says about a case that failed.
fn failure(outcome: &Outcome) -> Option<Value> {
    match &outcome.status {
        Status::Failed { code, text, time } => {
            Some(json!({"case": outcome.case, "code": code, "message": text, "time": time}))
        }
        _ => None,
    }
}

/// The table of cases. Literals and arrays are quoted.
fn write_cases(path: &Path, header: &Header<'_>) -> std::io::Result<()> {
    let mut file = std::io::BufWriter::new(File::create(path)?);
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    write!(file, "case")?;
    for name in header.names {
        write!(file, ",{}", quoted(name))?;
    }
    writeln!(file)?;
    for (k, case) in header.cases.iter().enumerate() {
        write!(file, "{k}")?;
        for value in case {
            match value {
                ParameterValue::Number(v) => write!(file, ",{v}")?,
                ParameterValue::Boolean(b) => write!(file, ",{b}")?,
                other => write!(file, ",{}", quoted(&other.to_string()))?,
            }
        }
        writeln!(file)?;
    }
    file.flush()
}
