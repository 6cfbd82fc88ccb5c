//! `acausal compare`: a result against a reference, by a tube.

use std::path::PathBuf;

use acausal_results::compare::{CompareOptions, compare};
use clap::Args;

use crate::{Format, exit};

/// Options of `compare`.
#[derive(Args, Debug)]
pub struct Options {
    /// The result (.csv, .csv.gz, .mat).
    result: PathBuf,
    /// The reference.
    reference: PathBuf,
    /// Signals to compare, separated by commas; without it all of the reference.
    #[arg(long, value_delimiter = ',')]
    signals: Option<Vec<String>>,
    /// Half height of the tube as a fraction of the signal's range.
    #[arg(long, default_value_t = 2e-3)]
    tol: f64,
    /// Half width of the tube as a fraction of the time span.
    #[arg(long, default_value_t = 2e-3)]
    xtol: f64,
    /// Absolute addition to the half height.
    #[arg(long, default_value_t = 1e-12)]
    atol: f64,
    /// Fraction of points that may lie outside.
    #[arg(long, default_value_t = 1e-3)]
    outliers: f64,
    /// The exit code follows the strict tube.
    #[arg(long)]
    strict: bool,
    /// Tube height as the csv-compare tool has it.
    #[arg(long)]
    csvcompare: bool,
    /// For whom the output is.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// Runs the verb.
pub fn run(o: &Options) -> u8 {
    let read = |path: &PathBuf| acausal_results::read(path).map_err(|e| super::usage(&e.to_string()));
    let (result, reference) = match (read(&o.result), read(&o.reference)) {
        (Ok(a), Ok(b)) => (a, b),
        (Err(code), _) | (_, Err(code)) => return code,
    };
    let options = CompareOptions {
        tol: o.tol,
        xtol: o.xtol,
        atol: o.atol,
        outliers: o.outliers,
        csv_compare: o.csvcompare,
        ..CompareOptions::default()
    };
    let verdicts = match compare(&result, &reference, o.signals.as_deref(), &options) {
        Ok(v) => v,
        Err(e) => return super::usage(&format!("{}: {e}", o.reference.display())),
    };
    let good = verdicts.iter().filter(|v| if o.strict { v.strict } else { v.pass }).count();
    let passed = good == verdicts.len() && !verdicts.is_empty();
    match o.format {
        Format::Human => {
            for v in &verdicts {
                println!("  {v}");
            }
            println!("{} {good}/{} signals", if passed { "PASS" } else { "FAIL" }, verdicts.len());
        }
        Format::Json => {
            let rows: Vec<serde_json::Value> = verdicts
                .iter()
                .map(|v| serde_json::json!({ "signal": v.signal, "pass": v.pass, "strict": v.strict, "text": v.to_string() }))
                .collect();
            println!("{}", serde_json::json!({ "passed": passed, "signals": rows }));
        }
    }
    if passed { exit::FINE } else { exit::FAILED }
}
