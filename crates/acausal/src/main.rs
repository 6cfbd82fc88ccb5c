//! The command `acausal`.

mod cli;

use std::process::ExitCode;

use clap::{Parser, Subcommand, ValueEnum};

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
pub enum Format {
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

/// Stack of the working thread. Passes recurse over nesting depth only, which the parser bounds; debug builds have
/// large frames.
const STACK_BYTES: usize = 256 << 20;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let run = move || match arguments.verb {
        Verb::Simulate(o) => cli::simulate::run(&o),
        Verb::Check(o) => cli::check::run(&o),
        Verb::Flatten(o) => cli::flatten::run(&o),
        Verb::Explain(o) => cli::explain::run(&o),
        Verb::Parse(o) => cli::parse::run(&o),
        Verb::Compare(o) => cli::compare::run(&o),
    };
    let worker = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(run);
    match worker.map(|w| w.join()) {
        Ok(Ok(code)) => ExitCode::from(code),
        Ok(Err(_)) => {
            eprintln!(
                "error[internal]: acausal stopped because of a defect of its own; please report it with the model"
            );
            ExitCode::from(exit::FAILED)
        }
        Err(e) => {
            eprintln!("error: no thread could be started: {e}");
            ExitCode::from(exit::FAILED)
        }
    }
}
