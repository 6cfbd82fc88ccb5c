//! `cargo xtask`: one command for each thing a contributor does that takes more than one.
//!
//! | command | does |
//! |---|---|
//! | `ci` | everything that must hold before a change is taken (`.ci/run`) |
//! | `bless` | runs the tests and writes expected messages and snapshots anew; read the difference before you commit it |
//! | `bench` | the benchmarks that a change of the numerics or the structure is measured with, or the one that is named |
//! | `msl` | how much of the Modelica Standard Library runs; `--library DIR` says where it is |
//!
//! What follows the name is handed on: `cargo xtask bless -p acausal-flatten`, `cargo xtask bench scale --help`.

use std::path::Path;
use std::process::{Command, ExitCode};

/// Benchmarks that print a ratio against a baseline of the same run and take minutes each.
const BENCHMARKS: [&str; 4] = ["speed", "scale", "ready", "ivp"];

const USAGE: &str = "usage: cargo xtask ci | bless [options of cargo test] | bench [name] [options] | msl --library DIR [options]";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next();
    let rest: Vec<String> = arguments.collect();
    let ran = match name.as_deref() {
        Some("ci") => run(Command::new(".ci/run").args(&rest)),
        Some("bless") => bless(&rest),
        Some("bench") if rest.is_empty() => BENCHMARKS.iter().try_for_each(|b| bench(&[b])),
        Some("bench") => bench(&rest),
        Some("msl") => bench(&[&["msl".to_string()], rest.as_slice()].concat()),
        _ => Err(USAGE.to_string()),
    };
    match ran {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// Expected messages stand as comments in models (`BLESS`), other texts in snapshots of `insta`.
fn bless(rest: &[String]) -> Result<(), String> {
    let scope: &[&str] = if rest.is_empty() {
        &["--workspace"]
    } else {
        &[]
    };
    run(Command::new("cargo")
        .arg("test")
        .args(scope)
        .args(rest)
        .env("BLESS", "1")
        .env("INSTA_UPDATE", "always"))
}

fn bench(arguments: &[impl AsRef<std::ffi::OsStr>]) -> Result<(), String> {
    run(Command::new("cargo")
        .args(["run", "--release", "--package", "acausal-bench", "--"])
        .args(arguments))
}

/// Runs a command in the root of the repository and says what failed.
fn run(command: &mut Command) -> Result<(), String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap_or(Path::new("."));
    let shown = format!("{command:?}");
    match command.current_dir(root).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{shown} ended with {status}")),
        Err(e) => Err(format!("{shown} cannot be started: {e}")),
    }
}
