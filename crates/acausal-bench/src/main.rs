//! `acausal-bench`: see the library.

use std::process::ExitCode;

use acausal_bench::{
    compliance, growth, ivp, msl, random, ready, scale, scaling, speed, structure, threads,
    yardstick,
};
use clap::{Parser, Subcommand};

/// Measures acausal against named baselines in the same run.
#[derive(Parser)]
#[command(name = "acausal-bench", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    benchmark: Benchmark,
}

#[derive(Subcommand)]
enum Benchmark {
    /// Integration time of the heat equation against hand-written C on SUNDIALS IDA with KLU.
    Yardstick(yardstick::Options),
    /// Integration time of nine problems against hand-written C on SUNDIALS IDA with KLU.
    Speed(speed::Options),
    /// Digits, steps and time on the test set for initial value problems; fails where digits are missing.
    Ivp(ivp::Options),
    /// Compile time over the length of arrays.
    Scaling(scaling::Options),
    /// Time of the structural passes over the length of arrays.
    Structure(structure::Options),
    /// Time and memory of every phase over the size of families of models (benches/models).
    Scale(scale::Options),
    /// One comparison of `scale --check`, in this process.
    #[command(hide = true)]
    ScaleCheck {
        /// The family.
        family: String,
        /// The size.
        n: usize,
    },
    /// Time of one integration step and memory over the size of a rod, a line and a ladder.
    Growth(growth::Options),
    /// One case of `scale`, in this process.
    #[command(hide = true)]
    ScaleCase {
        /// The family.
        family: String,
        /// The size.
        n: usize,
        /// Stop time instead of that of the model.
        #[arg(long)]
        stop: Option<f64>,
        /// Threads of the integration.
        #[arg(long)]
        threads: Option<usize>,
    },
    /// Time of a residual on two threads, against one
    Threads {
        /// Classes of `benches/models`.
        #[arg(default_values_t = ["DiodeBridges.Network", "PowerSystem", "Friction"].map(String::from))]
        classes: Vec<String>,
        /// The size.
        #[arg(long, default_value_t = 100_000)]
        n: usize,
    },
    /// Time from the text to the first step for large arrays, against that for small ones.
    Ready(ready::Options),
    /// How much of a library compiles, simulates and matches its references.
    Msl(msl::Options),
    /// Which answers to the Modelica compliance suite are right.
    Compliance(compliance::Options),
    /// Random models with independent answers.
    Random(random::Options),
    /// One model of the list, in a process of its own.
    #[command(hide = true)]
    MslOne(msl::One),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().benchmark {
        Benchmark::Yardstick(options) => yardstick::run(&options),
        Benchmark::Speed(options) => speed::run(&options),
        Benchmark::Ivp(options) => ivp::run(&options),
        Benchmark::Scaling(options) => scaling::run(&options),
        Benchmark::Structure(options) => structure::run(&options),
        Benchmark::Scale(options) => scale::run(&options),
        Benchmark::ScaleCheck { family, n } => {
            scale::check::compare(&family, n).map(|text| println!("{text}"))
        }
        Benchmark::Growth(options) => growth::run(&options),
        Benchmark::Ready(options) => ready::run(&options),
        Benchmark::Threads { classes, n } => threads::run(&classes, n),
        Benchmark::ScaleCase {
            family,
            n,
            stop,
            threads,
        } => scale::case::run(&family, n, stop, threads).map(|m| println!("{}", m.line())),
        Benchmark::Msl(options) => msl::run(&options),
        Benchmark::Compliance(options) => compliance::run(&options),
        Benchmark::Random(options) => random::run(&options),
        Benchmark::MslOne(options) => {
            return if msl::one(&options).is_ok() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            };
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(m) => {
            eprintln!("error: {m}");
            ExitCode::FAILURE
        }
    }
}
