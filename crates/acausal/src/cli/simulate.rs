//! `acausal simulate`: compile, simulate, show, store.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use acausal::{Model, ResultSink, Settings, Summary};
use acausal_results::ResultSet;
use acausal_results::plot::{Plot, TerminalOptions};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::{Target, json_diagnostics, print_diagnostics, report, usage};
use crate::{Format, exit};

/// Signals drawn when the user names none.
const DEFAULT_CURVES: usize = 4;
/// Work that takes longer than this shows its progress on a terminal.
const PROGRESS_AFTER_SECONDS: f64 = 1.0;

/// Options of `simulate`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    /// Start time.
    #[arg(long, allow_negative_numbers = true)]
    start: Option<f64>,
    /// Stop time.
    #[arg(long, allow_negative_numbers = true)]
    stop: Option<f64>,
    /// Distance of output instants.
    #[arg(long, allow_negative_numbers = true)]
    interval: Option<f64>,
    /// Relative tolerance.
    #[arg(long, allow_negative_numbers = true)]
    tolerance: Option<f64>,
    /// Highest order of the integrator (1 to 5).
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=5))]
    max_order: Option<u8>,
    /// Bound on the number of steps.
    #[arg(long)]
    max_steps: Option<u64>,
    /// Result file: .csv, .mat or .parquet. Without it MODEL.csv in the current directory.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Do not write a result file.
    #[arg(long, conflicts_with = "output")]
    no_output: bool,
    /// Signals to plot, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    plot: Vec<String>,
    /// Write the plot to a file: .svg, .png or .html.
    #[arg(long, value_name = "FILE")]
    plot_file: Option<PathBuf>,
    /// For whom the output is.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Only errors.
    #[arg(long, short)]
    quiet: bool,
}

/// Runs the verb.
pub fn run(o: &Options) -> u8 {
    let clock = Instant::now();
    if let Some(path) = &o.plot_file
        && let Err(m) = check_plot_file(path)
    {
        return usage(&m);
    }
    let model = match Model::load(&o.target.target, &o.target.load()) {
        Ok(m) => m,
        Err(f) => return report(&f, o.format),
    };
    if o.format == Format::Human && !o.quiet {
        print_diagnostics(&model.warnings, &model.sources);
    }
    let settings = settings(o, &model);
    let path = o.output.clone().unwrap_or_else(|| PathBuf::from(format!("{}.csv", file_stem(&model.compiled.flat.name))));
    // Opened before the simulation, so that nothing is computed for a file that cannot be written.
    let writer = if o.no_output {
        None
    } else {
        match acausal_results::create(&path) {
            Ok(w) => Some(w),
            Err(e) => return usage(&e.to_string()),
        }
    };
    let curves = plotted(o, &model);
    let unknown: Vec<&String> = curves.iter().filter(|c| !model.has_signal(c)).collect();
    if let Some(name) = unknown.first() {
        return usage(&format!("there is no signal `{name}` to plot{}", model.suggest_signal(name)));
    }
    let interrupt = Arc::new(AtomicBool::new(false));
    let flag = interrupt.clone();
    // A second handler cannot be installed; then Ctrl-C keeps its usual meaning.
    let _ = ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed));
    let bar = progress_bar(o, &settings);
    let mut sink = ResultSink::new(writer, |name| curves.iter().any(|c| c == name))
        .on_progress(|t| bar.advance(t))
        .interrupt_by(interrupt);
    let outcome = acausal_sim::simulate(model.compiled.clone(), &settings, &mut sink);
    let (writer, plotted_result) = sink.into_parts();
    bar.finish();
    let summary = match outcome {
        Ok(s) => s,
        Err(e) => {
            if let Some(w) = writer
                && let Ok(kept) = w.finish_incomplete()
            {
                eprintln!("the result up to the failure is in {}", kept.display());
            }
            return report(&model.failed(&e), o.format);
        }
    };
    let finished = match writer {
        None => None,
        Some(w) if summary.interrupted => Some(w.finish_incomplete()),
        Some(w) => Some(w.finish()),
    };
    let stored = match finished.transpose() {
        Ok(s) => s,
        Err(e) => {
            eprintln!("error[output]: {e}");
            return exit::FAILED;
        }
    };
    let plotted_result = match plotted_result {
        Ok(r) => r,
        Err(m) => {
            eprintln!("error[output]: {m}");
            return exit::FAILED;
        }
    };
    show(o, &model, &settings, &summary, stored.as_deref(), &plotted_result, &curves, clock)
}

fn settings(o: &Options, model: &Model) -> Settings {
    let mut experiment = model.compiled.flat.experiment;
    if o.start.is_some() || o.stop.is_some() {
        experiment.start = o.start.or(experiment.start);
        // An interval made for another span of time would give too many or too few rows.
        if o.stop.is_some() && experiment.stop.is_some() && o.interval.is_none() {
            experiment.interval = None;
        }
        experiment.stop = o.stop.or(experiment.stop);
    }
    let mut s = acausal::experiment_settings(&experiment);
    s.interval = o.interval.unwrap_or(s.interval);
    s.tolerance = o.tolerance.unwrap_or(s.tolerance);
    s.max_order = o.max_order.map_or(s.max_order, usize::from);
    s.max_steps = o.max_steps.unwrap_or(s.max_steps);
    s
}

/// The last part of a class name is the stem of its default files.
fn file_stem(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class).trim_matches('\'')
}

fn plotted(o: &Options, model: &Model) -> Vec<String> {
    if o.plot.is_empty() {
        return model.default_signals(DEFAULT_CURVES);
    }
    o.plot.iter().map(|p| p.trim().to_string()).collect()
}

fn check_plot_file(path: &Path) -> Result<(), String> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("svg" | "png" | "html") => {}
        _ => return Err(format!("a plot file ends in .svg, .png or .html, not {}", path.display())),
    }
    // Creating it now shows whether it can be written.
    std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map(|_| ())
        .map_err(|e| format!("{} cannot be written: {e}", path.display()))
}

fn write_plot(path: &Path, plot: &Plot<'_>) -> std::io::Result<()> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("png") => std::fs::write(path, plot.to_png(2.0)),
        Some("html") => std::fs::write(path, plot.to_html()),
        _ => std::fs::write(path, plot.to_svg()),
    }
}

#[allow(clippy::too_many_arguments)]
fn show(
    o: &Options,
    model: &Model,
    settings: &Settings,
    s: &Summary,
    stored: Option<&Path>,
    result: &ResultSet,
    curves: &[String],
    clock: Instant,
) -> u8 {
    let plot = match Plot::of_signals(result, curves) {
        Ok(p) => p,
        Err(e) => {
            eprintln!("error[plot]: {e}");
            return exit::FAILED;
        }
    };
    if let Some(path) = &o.plot_file
        && let Err(e) = write_plot(path, &plot)
    {
        eprintln!("error[output]: {} cannot be written: {e}", path.display());
        return exit::FAILED;
    }
    if o.format == Format::Json {
        println!("{}", json(model, settings, s, stored, clock));
    } else if !o.quiet {
        if !curves.is_empty() {
            let terminal = std::io::stdout().is_terminal();
            let colour = terminal && std::env::var_os("NO_COLOR").is_none();
            print!("{}", plot.to_terminal(&TerminalOptions { colour, ..TerminalOptions::default() }));
        }
        for n in &s.notes {
            println!("note: {}", n.text);
        }
        for w in &s.warnings {
            println!("warning: {w}");
        }
        print_summary(model, s, stored, o.plot_file.as_deref(), clock);
    }
    if s.interrupted { exit::FAILED } else { exit::FINE }
}

fn print_summary(model: &Model, s: &Summary, stored: Option<&Path>, plot: Option<&Path>, clock: Instant) {
    let p = &model.phases;
    println!(
        "{}: {} unknowns, {} states; {} steps, {} residual and {} Jacobian evaluations, {} events",
        model.compiled.flat.name, s.unknowns, s.states, s.steps, s.residual_evaluations, s.jacobian_evaluations, s.events
    );
    println!(
        "seconds: parse {:.3}, flatten {:.3}, structure {:.3}, codegen {:.3}, initialise {:.3}, integrate {:.3}, total {:.3}",
        p.parse,
        p.flatten,
        p.structure,
        p.codegen + s.seconds.codegen,
        s.seconds.initialise,
        s.seconds.integrate,
        clock.elapsed().as_secs_f64()
    );
    if let Some(m) = &s.terminated {
        println!("the model ended the simulation at time = {}: {m}", s.reached);
    }
    if s.interrupted {
        println!("interrupted at time = {}", s.reached);
    }
    if let Some(path) = stored {
        println!("result: {}", path.display());
    }
    if let Some(path) = plot {
        println!("plot: {}", path.display());
    }
}

fn json(model: &Model, settings: &Settings, s: &Summary, stored: Option<&Path>, clock: Instant) -> serde_json::Value {
    let p = &model.phases;
    serde_json::json!({
        "ok": !s.interrupted,
        "model": model.compiled.flat.name,
        "unknowns": s.unknowns,
        "states": s.states,
        "start": settings.start,
        "stop": settings.stop,
        "tolerance": settings.tolerance,
        "reached": s.reached,
        "steps": s.steps,
        "residual_evaluations": s.residual_evaluations,
        "jacobian_evaluations": s.jacobian_evaluations,
        "factorisations": s.factorisations,
        "error_test_failures": s.error_test_failures,
        "convergence_failures": s.convergence_failures,
        "events": s.events,
        "seconds": {
            "parse": p.parse,
            "flatten": p.flatten,
            "structure": p.structure,
            "codegen": p.codegen + s.seconds.codegen,
            "initialise": s.seconds.initialise,
            "integrate": s.seconds.integrate,
            "total": clock.elapsed().as_secs_f64(),
        },
        "peak_memory_bytes": peak_memory_bytes(),
        "terminated": s.terminated,
        "notes": s.notes.iter().map(|n| n.text.clone()).collect::<Vec<_>>(),
        "warnings": s.warnings,
        "diagnostics": json_diagnostics(&model.warnings, &model.sources),
        "result": stored.map(|p| p.display().to_string()),
    })
}

/// The largest resident set so far; `None` where the system does not tell.
fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}

/// A progress bar that appears when the work takes long, on a terminal only.
struct Progress {
    bar: Option<ProgressBar>,
    shown: std::cell::Cell<bool>,
    begin: Instant,
    start: f64,
    span: f64,
}

/// Resolution of the bar.
const BAR_STEPS: u64 = 1000;

fn progress_bar(o: &Options, settings: &Settings) -> Progress {
    let wanted = !o.quiet && o.format == Format::Human && std::io::stderr().is_terminal();
    let style = ProgressStyle::with_template("simulating {wide_bar} {percent}% (time {msg})");
    let bar = wanted.then(ProgressBar::hidden);
    if let (Some(bar), Ok(style)) = (&bar, style) {
        bar.set_length(BAR_STEPS);
        bar.set_style(style);
    }
    let span = (settings.stop - settings.start).max(f64::MIN_POSITIVE);
    Progress { bar, shown: std::cell::Cell::new(false), begin: Instant::now(), start: settings.start, span }
}

impl Progress {
    fn advance(&self, t: f64) {
        let Some(bar) = &self.bar else { return };
        if !self.shown.get() {
            if self.begin.elapsed().as_secs_f64() < PROGRESS_AFTER_SECONDS {
                return;
            }
            bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
            self.shown.set(true);
        }
        bar.set_position(((t - self.start) / self.span * BAR_STEPS as f64) as u64);
        bar.set_message(format!("{t:.4}"));
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
