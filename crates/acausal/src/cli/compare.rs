//! `acausal compare`: a result against a reference, by a tube.

use std::path::PathBuf;

use acausal_results::compare::{CompareOptions, NotComparable, SignalVerdict, compare};
use acausal_results::{ResultSet, read, read_signals};
use clap::Args;

use super::{out, out_json, usage};
use crate::command::{MessageFormat, exit};

/// Options of `compare`.
#[derive(Args, Debug)]
pub struct Options {
    /// The result (.csv, .csv.gz, .mat, .parquet)
    result: PathBuf,
    /// The reference, in any of these formats
    reference: PathBuf,
    /// Signals to compare, separated by commas [default: all of the reference]
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    signals: Option<Vec<String>>,
    /// Half height of the tube as a fraction of the signal's range
    #[arg(long, value_name = "FRACTION", default_value_t = 2e-3)]
    tol: f64,
    /// Half width of the tube as a fraction of the time span
    #[arg(long, value_name = "FRACTION", default_value_t = 2e-3)]
    xtol: f64,
    /// Absolute addition to the half height
    #[arg(long, value_name = "NUMBER", default_value_t = 1e-12)]
    atol: f64,
    /// Fraction of points that may lie outside
    #[arg(long, value_name = "FRACTION", default_value_t = 1e-3)]
    outliers: f64,
    /// Let the exit code follow the strict tube, which is narrower in time
    #[arg(long)]
    strict: bool,
    /// Tube height as the csv-compare tool has it
    #[arg(long)]
    csvcompare: bool,
    /// For whom the output is
    #[arg(long, value_enum, default_value_t = MessageFormat::Human, hide_possible_values = true, value_name = "human|json")]
    format: MessageFormat,
}

/// Runs the verb.
pub fn run(o: &Options) -> u8 {
    for (name, value) in [
        ("tol", o.tol),
        ("xtol", o.xtol),
        ("atol", o.atol),
        ("outliers", o.outliers),
    ] {
        let most = if name == "outliers" { 1.0 } else { f64::MAX };
        if !(0.0..=most).contains(&value) {
            return usage(
                "settings",
                match name {
                    "outliers" => format!("--{name} needs a number from 0 to 1, not {value}"),
                    _ => format!("--{name} needs a number that is not negative, not {value}"),
                },
                o.format,
            );
        }
    }
    let load = |path: &PathBuf| -> Result<ResultSet, u8> {
        let loaded = match &o.signals {
            Some(names) => read_signals(path, names),
            None => read(path),
        };
        loaded.map_err(|e| usage("unreadable-file", e.to_string(), o.format))
    };
    let (result, reference) = match (load(&o.result), load(&o.reference)) {
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
        Err(e) => {
            return usage(
                "bad-reference",
                format!("{}: {e}", o.reference.display()),
                o.format,
            );
        }
    };
    let unknown =
        (verdicts.iter()).find(|v| matches!(v.detail, Err(NotComparable::NotInReference)));
    if let Some(v) = unknown {
        let message = format!(
            "there is no signal `{}` in {}",
            v.signal,
            o.reference.display()
        );
        return usage("unknown-signal", message, o.format);
    }
    let good = verdicts
        .iter()
        .filter(|v| if o.strict { v.strict } else { v.pass })
        .count();
    let passed = good == verdicts.len() && !verdicts.is_empty();
    match o.format {
        MessageFormat::Human => {
            let mut text: String = verdicts.iter().map(|v| format!("  {v}\n")).collect();
            text.push_str(&format!(
                "{} {good}/{} signals\n",
                if passed { "PASS" } else { "FAIL" },
                verdicts.len()
            ));
            out(&text);
        }
        MessageFormat::Json => {
            let signals: Vec<serde_json::Value> = verdicts.iter().map(json).collect();
            let object = serde_json::json!({ "ok": passed, "passed": good, "compared": verdicts.len(), "signals": signals });
            out_json(&object);
        }
    }
    if passed { exit::FINE } else { exit::FAILED }
}

fn json(v: &SignalVerdict) -> serde_json::Value {
    let mut object = serde_json::json!({ "signal": v.signal, "pass": v.pass, "strict": v.strict });
    match &v.detail {
        Ok(d) => {
            object["max_relative"] = d.max_relative.into();
            object["max_time"] = d.max_time.into();
            object["range"] = d.range.into();
            object["outside"] = d.outside.into();
            object["points"] = d.points.into();
            object["first_outside"] = d.first_outside.into();
        }
        Err(reason) => object["reason"] = reason.to_string().into(),
    }
    object
}
