//! The command `acausal`: its verbs, and how it begins and ends. The program of that name and the one of the Python package call [`run`].

use std::ffi::OsString;

use acausal_base::{Diagnostic, SourceMap, Span};
use clap::{Parser, Subcommand, ValueEnum};

use crate::cli::answer;
pub use crate::cli::explain::Explanation;
use crate::cli::interrupt::Interruption;
use crate::{Failure, Model, Settings, Summary, cli, memory_limit};

/// Simulates physical systems described by equations in the Modelica language.
#[derive(Parser)]
#[command(name = "acausal", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Compile and simulate a model, show and store its trajectories.
    Simulate(Box<cli::simulate::Options>),
    /// Simulate a model with many values of its parameters, on all cores, into a directory.
    Sweep(Box<cli::sweep::Options>),
    /// Compile a model into a file that can be simulated anywhere, as often as needed.
    Compile(cli::compile::Options),
    /// Report every error of a model without simulating it.
    Check(cli::check::Options),
    /// Print the flat model: all variables and equations, arrays whole.
    Flatten(cli::flatten::Options),
    /// Say what the compiler makes of a model: what it removed, differentiated and chose, and the final DAE.
    Explain(cli::explain::Options),
    /// Check the syntax of files and whole directories.
    Parse(cli::parse::Options),
    /// Compare a result with a reference by a tube.
    Compare(cli::compare::Options),
}

/// For whom the output is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// For people.
    Human,
    /// For programs.
    Json,
}

/// Exit codes: fine, the model or its simulation is wrong, the command is used wrongly, Ctrl-C.
pub mod exit {
    /// Fine.
    pub const FINE: u8 = 0;
    /// The model is wrong or its simulation failed.
    pub const FAILED: u8 = 1;
    /// Wrong use.
    pub const USAGE: u8 = 2;
    /// Ended by Ctrl-C: 128 and the number of the signal, as shells have it.
    pub const INTERRUPTED: u8 = 130;
}

/// Mistakes that are plain before anything is parsed: no such file, a directory, no text.
pub fn check_target(target: &str, libraries: &[std::path::PathBuf]) -> Result<(), Failure> {
    cli::check_target(target, libraries).map_err(|d| Failure {
        diagnostics: vec![d],
        sources: SourceMap::default(),
    })
}

/// What `simulate --stats --format json` prints about a run that began then.
pub fn summary_json(
    model: &Model,
    settings: &Settings,
    summary: &Summary,
    began: std::time::Instant,
) -> serde_json::Value {
    let finished = cli::summary::Finished {
        model,
        settings,
        summary,
        result: None,
        plot: None,
        stats: true,
        clock: began,
    };
    finished.json()
}

/// Stack of the working thread. Passes recurse over nesting depth only, which the parser bounds; debug builds have
/// large frames.
pub const STACK_BYTES: usize = 256 << 20;

/// Runs the command with these arguments, the name of the program first, and gives its exit code. The process belongs to the command: it takes Ctrl-C, and a wrong use ends it at once.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(e) if e.use_stderr() && answer::json() => {
            let text = e.render().to_string();
            let message = text.trim().trim_start_matches("error: ").to_string();
            let d = Diagnostic::error("usage", Span::NONE, message);
            cli::out_json(&answer::failure_object(&d));
            return exit::USAGE;
        }
        Err(e) => e.exit(),
    };
    answer::keep_panics();
    memory_limit::set(arguments.verb.memory());
    let interruption = Interruption::install();
    let verb = move || match arguments.verb {
        Verb::Simulate(o) => cli::simulate::run(&o, &interruption),
        Verb::Sweep(o) => cli::sweep::run(&o, &interruption),
        Verb::Compile(o) => cli::compile::run(&o),
        Verb::Check(o) => cli::check::run(&o),
        Verb::Flatten(o) => cli::flatten::run(&o),
        Verb::Explain(o) => cli::explain::run(&o),
        Verb::Parse(o) => cli::parse::run(&o),
        Verb::Compare(o) => cli::compare::run(&o),
    };
    let worker = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(|| answer::guarded(verb));
    let message = match worker.map(|w| w.join()) {
        Ok(Ok((code, None))) => return code,
        Ok(Ok((_, Some(message)))) => message,
        Ok(Err(_)) => Diagnostic::error("internal", Span::NONE, "a thread of acausal stopped"),
        Err(e) => Diagnostic::error(
            "no-thread",
            Span::NONE,
            format!("no thread could be started: {e}"),
        ),
    };
    match answer::json() {
        true => cli::out_json(&answer::failure_object(&message)),
        false => cli::note_rendered(&message.render(&SourceMap::default(), false)),
    }
    exit::FAILED
}

impl Verb {
    /// Bytes that may be used.
    fn memory(&self) -> u64 {
        let target = match self {
            Verb::Simulate(o) => &o.target,
            Verb::Sweep(o) => &o.target,
            Verb::Compile(o) => &o.target,
            Verb::Check(o) => &o.target,
            Verb::Flatten(o) => &o.target,
            Verb::Explain(o) => &o.target,
            Verb::Parse(_) | Verb::Compare(_) => return acausal_expr::limits::available_memory(),
        };
        target.limits.limits().memory
    }
}
