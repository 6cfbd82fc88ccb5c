//! Options of `simulate`, and the settings that follow from them.

use std::path::PathBuf;

use acausal::{Checkpoint, Model, Settings};
use clap::Args;

use crate::cli::limits::count;
use crate::cli::{Structure, Target};
use crate::command::MessageFormat;

/// The integrators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SolverChoice {
    /// Our own variable-order BDF.
    Bdf,
    /// SUNDIALS IDA.
    Ida,
}

/// What to report while it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Log {
    /// Size, order and error of each step, and why an attempt was refused.
    Steps,
    /// What changed at each event.
    Events,
    /// The iterations of each step.
    Nonlinear,
}

/// Options of `simulate`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    pub target: Target,
    #[command(flatten)]
    pub structure: Structure,
    /// Start time [default: experiment annotation, or 0]
    #[arg(
        long,
        value_name = "TIME",
        allow_negative_numbers = true,
        help_heading = "Simulation"
    )]
    pub start: Option<f64>,
    /// Stop time [default: experiment annotation, or start + 1]
    #[arg(
        long,
        visible_alias = "until",
        value_name = "TIME",
        allow_negative_numbers = true,
        help_heading = "Simulation"
    )]
    pub stop: Option<f64>,
    /// Distance of output instants [default: experiment annotation, or a 500th of the time span]
    #[arg(
        long,
        value_name = "TIME",
        allow_negative_numbers = true,
        help_heading = "Simulation"
    )]
    pub interval: Option<f64>,
    /// Relative tolerance [default: experiment annotation, or 1e-6]
    #[arg(
        long,
        value_name = "NUMBER",
        allow_negative_numbers = true,
        help_heading = "Simulation"
    )]
    pub tolerance: Option<f64>,
    /// Highest order of the integrator, 1 to 5
    #[arg(long, value_name = "ORDER", value_parser = clap::value_parser!(u8).range(1..=5), help_heading = "Simulation")]
    pub max_order: Option<u8>,
    /// The integrator; `ida` needs a program built with the cargo feature `sundials`.
    #[arg(long, value_enum, default_value_t = SolverChoice::Bdf)]
    pub solver: SolverChoice,
    /// Start with all derivatives of states zero, as far as the equations allow it
    #[arg(long, help_heading = "Simulation")]
    pub steady_state: bool,
    /// Threads for equations with costly functions over long arrays and for steps of large models; the results are the same [default: 2 if there are two cores]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u8).range(1..), help_heading = "Simulation")]
    pub threads: Option<u8>,
    /// Bound on the number of steps
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Simulation")]
    pub max_steps: Option<u64>,
    /// Bound on the number of events
    #[arg(long, value_name = "NUMBER", value_parser = count, help_heading = "Limits")]
    pub max_events: Option<u64>,
    /// Bound on the number of output instants
    #[arg(long, value_name = "NUMBER", value_parser = count, help_heading = "Limits")]
    pub max_rows: Option<u64>,
    /// Continue from a checkpoint of an earlier run of this model
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "start",
        help_heading = "Continuation"
    )]
    pub from: Option<PathBuf>,
    /// Store the state at the end, or where Ctrl-C stops the run, to continue from it with --from
    #[arg(long, value_name = "FILE", help_heading = "Continuation")]
    pub checkpoint: Option<PathBuf>,
    /// Store the state at this time and go on
    #[arg(
        long,
        value_name = "TIME",
        requires = "checkpoint",
        allow_negative_numbers = true,
        help_heading = "Continuation"
    )]
    pub checkpoint_at: Option<f64>,
    /// Show the work of the integrator: orders, what limits the step, time by phase, size of the matrix
    #[arg(long, help_heading = "Output")]
    pub stats: bool,
    /// Write what happens to standard error: steps, events, nonlinear (the iterations of each step)
    #[arg(
        long,
        value_name = "WHAT,...",
        value_enum,
        value_delimiter = ',',
        help_heading = "Output"
    )]
    pub log: Vec<Log>,
    /// Result file, .csv, .mat or .parquet [default: MODEL.csv in the current directory]
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Signals to store, separated by commas; * and ? stand for any text, a name without subscripts for all elements, e.g. T[1],*.v [default: all]
    #[arg(long, value_name = "PATTERNS", help_heading = "Output")]
    pub observe: Option<String>,
    /// Write no result file
    #[arg(long, conflicts_with = "output", help_heading = "Output")]
    pub no_output: bool,
    /// Signals to plot, separated by commas, e.g. phi,body.v,T[3]; of a whole array some elements [default: the first states]
    #[arg(long, value_name = "NAMES", help_heading = "Output")]
    pub plot: Option<String>,
    /// Write the plot to a file, .svg, .png or .html
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub plot_file: Option<PathBuf>,
    /// For whom the output is
    #[arg(long, value_enum, default_value_t = MessageFormat::Human, hide_possible_values = true, value_name = "human|json", help_heading = "Output")]
    pub format: MessageFormat,
    /// Print errors only
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
}

/// Options that make no sense for any model.
pub fn check_numbers(o: &Options) -> Result<(), String> {
    for (name, value) in [
        ("start", o.start),
        ("stop", o.stop),
        ("checkpoint-at", o.checkpoint_at),
    ] {
        if let Some(v) = value
            && !v.is_finite()
        {
            return Err(format!("--{name} needs a finite number, not {v}"));
        }
    }
    if let (Some(start), Some(stop)) = (o.start, o.stop)
        && stop < start
    {
        return Err(format!(
            "the stop time {stop} lies before the start time {start}"
        ));
    }
    if let Some(i) = o.interval
        && !(i > 0.0 && i.is_finite())
    {
        return Err(format!("--interval needs a positive number, not {i}"));
    }
    if let Some(t) = o.tolerance
        && !(t > 0.0 && t < 1.0)
    {
        return Err(format!(
            "--tolerance needs a number between 0 and 1, not {t}"
        ));
    }
    Ok(())
}

/// What to simulate: options, then the checkpoint, then the annotation of the model.
pub fn settings(o: &Options, model: &Model, from: Option<&Checkpoint>) -> Settings {
    let mut experiment = model.compiled.symbols.experiment;
    if o.start.is_some() || o.stop.is_some() {
        experiment.start = o.start.or(experiment.start);
        experiment.stop = o.stop.or(experiment.stop);
    }
    if let Some(c) = from {
        experiment.start = Some(c.t);
        // The same grid of output instants goes on.
        experiment.interval = Some(c.interval());
    }
    let mut s = model.complete(&acausal::experiment_settings(&experiment));
    s.interval = o.interval.unwrap_or(s.interval);
    s.tolerance = o.tolerance.unwrap_or(s.tolerance);
    s.max_order = o.max_order.map_or(s.max_order, usize::from);
    s.solver = match o.solver {
        SolverChoice::Bdf => acausal::Solver::Bdf,
        SolverChoice::Ida => acausal::Solver::Ida,
    };
    s.max_steps = o.max_steps.unwrap_or(s.max_steps);
    s.max_events = o.max_events.unwrap_or(s.max_events);
    s.max_rows = o.max_rows.unwrap_or(s.max_rows);
    s.threads = o.threads.map(usize::from);
    s.scale = o.structure.scale_policy.unwrap_or_default();
    s.steady_state = o.steady_state;
    s.checkpoint = o.checkpoint.is_some();
    s.checkpoint_at = o.checkpoint_at;
    s.profile = o.stats;
    for what in &o.log {
        match what {
            Log::Steps => s.trace.steps = true,
            Log::Events => s.trace.events = true,
            Log::Nonlinear => (s.trace.steps, s.trace.nonlinear) = (true, true),
        }
    }
    s
}
