//! One file per verb; what they share is here.

pub mod check;
pub mod compare;
pub mod flatten;
pub mod parse;
pub mod simulate;

use std::io::IsTerminal;
use std::path::PathBuf;

use acausal::{Failure, Load};
use acausal_syntax::{Diagnostic, Severity, SourceMap};
use clap::Args;

use crate::Format;

/// What to load.
#[derive(Args, Debug)]
pub struct Target {
    /// A file (`Circuit.mo`) or the name of a class in a library (`Modelica.Blocks.Examples.PID_Controller`).
    pub target: String,
    /// The class to take; without it the last one of the file.
    #[arg(long, value_name = "CLASS")]
    pub model: Option<String>,
    /// A directory with libraries; may be repeated. MODELICAPATH is searched after these.
    #[arg(long, value_name = "DIR")]
    pub library: Vec<PathBuf>,
    /// Set a parameter or start value, for example `--set R=10` or `--set body.v.start=2`; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
}

impl Target {
    /// As the library wants it.
    pub fn load(&self) -> Load {
        Load { class: self.model.clone(), libraries: self.library.clone(), set: self.set.clone() }
    }
}

/// Prints messages for people on standard error.
pub fn print_diagnostics(diagnostics: &[Diagnostic], sources: &SourceMap) {
    let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    for d in diagnostics {
        eprint!("{}", d.render(sources, colour));
    }
}

/// Messages as JSON values.
pub fn json_diagnostics(diagnostics: &[Diagnostic], sources: &SourceMap) -> serde_json::Value {
    let parse = |d: &Diagnostic| {
        let text = d.to_json(sources);
        serde_json::from_str(&text).unwrap_or(serde_json::Value::String(text))
    };
    serde_json::Value::Array(diagnostics.iter().map(parse).collect())
}

/// Reports a failure in the wanted format; gives the exit code.
pub fn report(failure: &Failure, format: Format) -> u8 {
    match format {
        Format::Human => {
            print_diagnostics(&failure.diagnostics, &failure.sources);
            let errors = failure.diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
            if errors > 1 {
                eprintln!("{errors} errors");
            }
        }
        Format::Json => {
            let value = serde_json::json!({
                "ok": false,
                "diagnostics": json_diagnostics(&failure.diagnostics, &failure.sources),
            });
            println!("{value}");
        }
    }
    crate::exit::FAILED
}

/// A message about wrong use.
pub fn usage(message: &str) -> u8 {
    eprintln!("error: {message}");
    crate::exit::USAGE
}
