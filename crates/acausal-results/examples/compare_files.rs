//! Compares two result files: `compare_files RESULT REFERENCE [--csvcompare] [--json]`.
//!
//! Prints one line per signal of the reference and exits with 1 unless all pass.

use std::path::Path;
use std::process::ExitCode;

use acausal_results::compare::{CompareOptions, compare};
use acausal_results::read;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool, Box<dyn std::error::Error>> {
    let (flags, files): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|a| a.starts_with("--"));
    let [result, reference] = files.as_slice() else {
        return Err("usage: compare_files RESULT REFERENCE [--csvcompare] [--json]".into());
    };
    let options = CompareOptions {
        csv_compare: flags.iter().any(|f| f == "--csvcompare"),
        ..CompareOptions::default()
    };
    let verdicts = compare(
        &read(Path::new(result))?,
        &read(Path::new(reference))?,
        None,
        &options,
    )?;
    for v in &verdicts {
        if flags.iter().any(|f| f == "--json") {
            let detail = match &v.detail {
                Err(reason) => format!("\"why\":\"{reason}\""),
                Ok(d) => format!(
                    "\"nbad\":{},\"n\":{},\"maxdev\":{:e},\"tmax\":{:e},\"first_bad\":{},\"range\":{:e},\"wide\":{}",
                    d.outside,
                    d.points,
                    d.max_relative,
                    d.max_time.unwrap_or(f64::NAN),
                    d.first_outside
                        .map_or("null".to_string(), |t| format!("{t:e}")),
                    d.range,
                    d.wide
                ),
            };
            println!(
                "{{\"signal\":{:?},\"ok\":{},\"strict\":{},{detail}}}",
                v.signal, v.pass, v.strict
            );
        } else {
            println!("{v}");
        }
    }
    Ok(!verdicts.is_empty() && verdicts.iter().all(|v| v.pass))
}
