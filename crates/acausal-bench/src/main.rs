//! `acausal-bench`: see the library.

use std::path::PathBuf;
use std::process::ExitCode;

use acausal_bench::{
    compliance, growth, ivp, msl, random, ready, root, scale, scaling, speed, structure, threads,
    yardstick,
};
use clap::{Parser, Subcommand};

/// Measures acausal against named baselines in the same run.
#[derive(Parser)]
#[command(name = "acausal-bench", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Integration time of the heat equation against hand-written C on SUNDIALS IDA with KLU.
    Yardstick {
        /// Directory with build.sh of the C programs.
        #[arg(long, value_name = "DIR", env = "ACAUSAL_YARDSTICK", default_value_os_t = default_baseline())]
        baseline: PathBuf,
        /// Where to build them.
        #[arg(long, value_name = "DIR", default_value_os_t = default_build())]
        build: PathBuf,
        /// Number of cells.
        #[arg(long, default_value_t = 10_000)]
        cells: usize,
        /// Runs of each side; the fastest counts.
        #[arg(long, default_value_t = 7)]
        repeats: usize,
        /// Fail when a ratio exceeds this.
        #[arg(long, default_value_t = 1.5)]
        limit: f64,
    },
    /// Integration time of nine problems against hand-written C on SUNDIALS IDA with KLU.
    Speed {
        /// Parts of the names of cases; all without any.
        only: Vec<String>,
        /// Directory of the baseline.
        #[arg(long, value_name = "DIR", env = "ACAUSAL_YARDSTICK", default_value_os_t = default_baseline())]
        baseline: PathBuf,
        /// Where to build the C programs.
        #[arg(long, value_name = "DIR", default_value_os_t = default_build())]
        build: PathBuf,
        /// Runs of each side; the fastest counts.
        #[arg(long, default_value_t = 5)]
        repeats: usize,
        /// Fail when a ratio exceeds this.
        #[arg(long, default_value_t = 1.0)]
        limit: f64,
    },
    /// Digits, steps and time on the test set for initial value problems; fails where digits are missing.
    Ivp {
        /// Names of problems; all without any.
        only: Vec<String>,
        /// Relative tolerances.
        #[arg(long, value_delimiter = ',', default_values_t = [1e-4, 1e-6, 1e-8, 1e-10])]
        tolerances: Vec<f64>,
        /// Run SUNDIALS IDA on the same compiled functions as well.
        #[arg(long)]
        ida: bool,
        /// Steps after which a run is given up.
        #[arg(long, default_value_t = 2_000_000)]
        max_steps: u64,
        /// Print every compared value.
        #[arg(long)]
        verbose: bool,
    },
    /// Compile time over the length of arrays.
    Scaling {
        /// The model.
        #[arg(default_value_os_t = examples().join("HeatedRodFlux.mo"))]
        file: PathBuf,
        /// The parameter that sets the length.
        #[arg(long, default_value = "N")]
        parameter: String,
        /// Lengths.
        #[arg(long, value_delimiter = ',', default_values_t = [100usize, 1000, 10_000, 100_000])]
        lengths: Vec<usize>,
        /// Runs of each length; the fastest counts.
        #[arg(long, default_value_t = 3)]
        repeats: usize,
    },
    /// Time of the structural passes over the length of arrays.
    Structure {
        /// Lengths.
        #[arg(long, value_delimiter = ',', default_values_t = [10usize, 1000, 1_000_000])]
        lengths: Vec<usize>,
        /// Numbers of components of written-out networks.
        #[arg(long, value_delimiter = ',', default_values_t = [1000usize, 10_000, 100_000])]
        components: Vec<usize>,
        /// Runs of each length; the fastest of each pass counts.
        #[arg(long, default_value_t = 200)]
        repeats: usize,
        /// Fail when a ratio exceeds this.
        #[arg(long, default_value_t = f64::INFINITY)]
        limit: f64,
    },
    /// Time and memory of every phase over the size of families of models (benches/models).
    Scale {
        /// Families, by a part of their name [default: all]
        families: Vec<String>,
        /// Sizes instead of those of each family.
        #[arg(long, value_delimiter = ',')]
        sizes: Vec<usize>,
        /// Largest size.
        #[arg(long, default_value_t = 1_000_000)]
        largest: usize,
        /// Seconds after which a case is ended.
        #[arg(long, default_value_t = 120.0)]
        limit: f64,
        /// Stop time instead of that of each model.
        #[arg(long)]
        stop: Option<f64>,
        /// Runs of each case; the fastest counts.
        #[arg(long, default_value_t = 1)]
        repeats: usize,
        /// Compare arrays with single elements instead of measuring: structure at N = 8, trajectories at about N = 1000.
        #[arg(long)]
        check: bool,
    },
    /// One comparison of `scale --check`, in this process.
    #[command(hide = true)]
    ScaleCheck {
        /// The family.
        family: String,
        /// The size.
        n: usize,
    },
    /// Time of one integration step and memory over the size of a rod, a line and a ladder.
    Growth {
        /// Numbers of cells.
        #[arg(long, value_delimiter = ',', default_values_t = [100usize, 1000, 10_000, 100_000, 1_000_000])]
        sizes: Vec<usize>,
        /// Rounds over all sizes; the median counts. A round takes a quarter of a minute.
        #[arg(long, default_value_t = 23)]
        repeats: usize,
        /// Fail when a factor per decade exceeds this.
        #[arg(long, default_value_t = 12.0)]
        limit: f64,
        /// Seconds after which a size is ended.
        #[arg(long, default_value_t = 600.0)]
        time: f64,
        /// Threads of the integration; one for each core if not given, at most two.
        #[arg(long)]
        threads: Option<usize>,
        /// Show the growth of the rod as a C program too.
        #[arg(long)]
        yardstick: bool,
        /// Directory of the baseline.
        #[arg(long, value_name = "DIR", env = "ACAUSAL_YARDSTICK", default_value_os_t = default_baseline())]
        baseline: PathBuf,
        /// Where to build the C programs.
        #[arg(long, value_name = "DIR", default_value_os_t = default_build())]
        build: PathBuf,
    },
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
    Ready {
        /// Families, by a part of their name [default: all of arrays in one direction]
        families: Vec<String>,
        /// The large size.
        #[arg(long, default_value_t = 1_000_000)]
        n: usize,
        /// Runs of each size; the fastest of each phase counts.
        #[arg(long, default_value_t = 3)]
        repeats: usize,
        /// Fail when it takes so many seconds more than 1.5 times the time of the small size.
        #[arg(long, default_value_t = 2.0)]
        limit: f64,
    },
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
    let done = match Arguments::parse().what {
        What::Yardstick {
            baseline,
            build,
            cells,
            repeats,
            limit,
        } => {
            let options = yardstick::Options {
                baseline,
                build,
                examples: examples(),
                cells,
                repeats,
            };
            yardstick::run(&options).and_then(|all| {
                match all.iter().map(|c| c.ratio()).fold(0.0, f64::max) {
                    worst if worst <= limit => Ok(()),
                    worst => Err(format!("the ratio {worst:.2} exceeds {limit}")),
                }
            })
        }
        What::Speed {
            only,
            baseline,
            build,
            repeats,
            limit,
        } => speed::run(&speed::Options {
            baseline,
            build,
            repeats,
            only,
            limit,
        }),
        What::Ivp {
            only,
            tolerances,
            ida,
            max_steps,
            verbose,
        } => ivp::run(&ivp::Options {
            problems: examples().join("ivp"),
            only,
            tolerances,
            ida,
            max_steps,
            verbose,
        }),
        What::Scaling {
            file,
            parameter,
            lengths,
            repeats,
        } => scaling::run(&file, &parameter, &lengths, repeats),
        What::Structure {
            lengths,
            components,
            repeats,
            limit,
        } => structure::run(&structure::Options {
            lengths,
            components,
            repeats,
            limit,
        }),
        What::Scale {
            families,
            sizes,
            largest,
            limit,
            stop,
            repeats,
            check,
        } => {
            let options = scale::Options {
                families,
                sizes,
                largest,
                limit,
                stop,
                threads: None,
                repeats,
            };
            match check {
                true => scale::check::run(&options),
                false => scale::run(&options),
            }
        }
        What::ScaleCheck { family, n } => {
            scale::check::compare(&family, n).map(|text| println!("{text}"))
        }
        What::Growth {
            sizes,
            repeats,
            limit,
            time,
            threads,
            yardstick,
            baseline,
            build,
        } => growth::run(&growth::Options {
            sizes,
            repeats,
            limit,
            time,
            threads,
            yardstick: yardstick.then_some((baseline, build)),
        }),
        What::Ready {
            families,
            n,
            repeats,
            limit,
        } => ready::run(&ready::Options {
            families,
            n,
            repeats,
            limit,
        }),
        What::Threads { classes, n } => threads::run(&classes, n),
        What::ScaleCase {
            family,
            n,
            stop,
            threads,
        } => scale::case::run(&family, n, stop, threads).map(|m| println!("{}", m.line())),
        What::Msl(options) => msl::run(&options),
        What::Compliance(options) => compliance::run(&options),
        What::Random(options) => random::run(&options),
        What::MslOne(options) => {
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

fn examples() -> PathBuf {
    root().join("examples")
}

fn default_baseline() -> PathBuf {
    yardstick::Options::default().baseline
}

fn default_build() -> PathBuf {
    yardstick::Options::default().build
}
