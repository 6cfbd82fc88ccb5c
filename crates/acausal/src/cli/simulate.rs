//! `acausal simulate`: compile, simulate, show, store.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use acausal::{Model, ResultSink, Settings};
use acausal_results::ResultSet;
use acausal_results::plot::{Plot, TerminalOptions};
use clap::Args;

use super::pending::PendingFile;
use super::progress::Progress;
use super::summary::Finished;
use super::{Structure, Target, misuse, note, out, print_diagnostics, report, report_with, usage};
use crate::{Format, exit};

/// Signals drawn when the user names none.
const DEFAULT_CURVES: usize = 4;
/// Elements drawn of an array that is named as a whole.
const ELEMENT_CURVES: usize = 5;
/// Pixels of a PNG per pixel of the drawing, for sharp pictures on today's screens.
const PNG_SCALE: f64 = 2.0;
/// Columns and lines of a plot on a terminal, at least and at most.
const TERMINAL_COLUMNS: (usize, usize) = (60, 120);
/// See [`TERMINAL_COLUMNS`].
const TERMINAL_LINES: (usize, usize) = (16, 24);

/// The integrators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Solver {
    /// Our own variable-order BDF.
    Bdf,
    /// SUNDIALS IDA.
    Ida,
}

/// Options of `simulate`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    target: Target,
    #[command(flatten)]
    structure: Structure,
    /// Start time [default: experiment annotation, or 0]
    #[arg(
        long,
        value_name = "TIME",
        allow_negative_numbers = true,
        help_heading = "Simulation"
    )]
    start: Option<f64>,
    /// Stop time [default: experiment annotation, or start + 1]
    #[arg(
        long,
        value_name = "TIME",
        allow_negative_numbers = true,
        help_heading = "Simulation"
    )]
    stop: Option<f64>,
    /// Distance of output instants [default: experiment annotation, or a 500th of the time span]
    #[arg(
        long,
        value_name = "TIME",
        allow_negative_numbers = true,
        help_heading = "Simulation"
    )]
    interval: Option<f64>,
    /// Relative tolerance [default: experiment annotation, or 1e-6]
    #[arg(
        long,
        value_name = "NUMBER",
        allow_negative_numbers = true,
        help_heading = "Simulation"
    )]
    tolerance: Option<f64>,
    /// Highest order of the integrator, 1 to 5
    #[arg(long, value_name = "ORDER", value_parser = clap::value_parser!(u8).range(1..=5), help_heading = "Simulation")]
    max_order: Option<u8>,
    /// The integrator; `ida` needs a program built with the cargo feature `sundials`.
    #[arg(long, value_enum, default_value_t = Solver::Bdf)]
    solver: Solver,
    /// Start with all derivatives of states zero, as far as the equations allow it
    #[arg(long, help_heading = "Simulation")]
    steady_state: bool,
    /// Bound on the number of steps
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Simulation")]
    max_steps: Option<u64>,
    /// Result file, .csv, .mat or .parquet [default: MODEL.csv in the current directory]
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Write no result file
    #[arg(long, conflicts_with = "output", help_heading = "Output")]
    no_output: bool,
    /// Signals to plot, separated by commas, e.g. phi,body.v,T[3]; of a whole array some elements [default: the first states]
    #[arg(long, value_name = "NAMES", help_heading = "Output")]
    plot: Option<String>,
    /// Write the plot to a file, .svg, .png or .html
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    plot_file: Option<PathBuf>,
    /// For whom the output is
    #[arg(long, value_enum, default_value_t = Format::Human, hide_possible_values = true, value_name = "human|json", help_heading = "Output")]
    format: Format,
    /// Print errors only
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,
}

/// Runs the verb.
pub fn run(o: &Options) -> u8 {
    let clock = Instant::now();
    match simulate(o, clock) {
        Ok(code) | Err(code) => code,
    }
}

/// `Err` is an exit code as well: that of a failure that has been reported.
fn simulate(o: &Options, clock: Instant) -> Result<u8, u8> {
    o.target.check().map_err(|d| misuse(d, o.format))?;
    check_numbers(o).map_err(|m| usage("settings", m, o.format))?;
    let names = o.plot.as_deref().map(signal_names);
    // Files are opened before the simulation, so that nothing is computed for a file that cannot be written.
    let plot_file = o
        .plot_file
        .as_deref()
        .map(promise_plot)
        .transpose()
        .map_err(|m| usage("output", m, o.format))?;
    let early = o
        .output
        .as_deref()
        .map(|p| open_result(p, o.format))
        .transpose()?;

    let progress = Progress::start(o.format == Format::Human && !o.quiet);
    let model = Model::load(&o.target.target, &o.target.load_with(&o.structure))
        .map_err(|f| report(&f, o.format))?;
    if o.format == Format::Human && !o.quiet {
        print_diagnostics(&model.warnings, &model.sources);
    }
    let curves = match names {
        Some(names) => names.iter().flat_map(|n| elements(&model, n)).collect(),
        None => model.default_signals(DEFAULT_CURVES),
    };
    if let Some(name) = curves.iter().find(|c| *c != "time" && !model.has_signal(c)) {
        let message = format!(
            "there is no signal `{name}` to plot{}",
            model.suggest_signal(name)
        );
        return Err(usage("unknown-signal", message, o.format));
    }
    let settings = settings(o, &model);
    let writer = match early {
        None if !o.no_output => {
            let stem = file_stem(&model.compiled.flat.name);
            Some(open_result(Path::new(&format!("{stem}.csv")), o.format)?)
        }
        early => early,
    };

    progress.simulating();
    let span = settings.stop - settings.start;
    let mut sink = ResultSink::new(writer, |name| curves.iter().any(|c| c == name))
        .on_progress(|t| progress.advance((t - settings.start) / span))
        .interrupt_by(interruption());
    let outcome = acausal_sim::simulate(model.compiled.clone(), &settings, &mut sink);
    let (writer, plotted) = sink.into_parts();
    drop(progress);
    let failed = |e: &acausal_sim::SimError| report(&model.failed(e), o.format);
    let summary = match outcome {
        Ok(s) => s,
        Err(e) => {
            // What was computed helps to find the cause; its name says that it is not complete.
            let kept = writer.and_then(|w| w.finish_incomplete().ok());
            let mut more = serde_json::Map::new();
            more.insert("model".into(), model.compiled.flat.name.to_string().into());
            more.insert(
                "partial_result".into(),
                kept.as_ref().map(|p| p.display().to_string()).into(),
            );
            let code = report_with(&model.failed(&e), o.format, more);
            if let (Some(path), Format::Human) = (kept, o.format) {
                note(&format!(
                    "the result up to this point: {}\n",
                    path.display()
                ));
            }
            return Err(code);
        }
    };
    let stored = match writer {
        None => None,
        Some(w) if summary.interrupted => Some(w.finish_incomplete()),
        Some(w) => Some(w.finish()),
    };
    let output_error = |m: String| failed(&acausal_sim::SimError::Output(m));
    let stored = stored
        .transpose()
        .map_err(|e| output_error(e.to_string()))?;
    let plotted = plotted.map_err(output_error)?;
    let plot = picture(&plotted, &curves).map_err(output_error)?;
    if let (Some(file), Some(path)) = (plot_file, &o.plot_file) {
        let content = render(path, &plot);
        file.write(&content)
            .map_err(|e| output_error(format!("{} cannot be written: {e}", path.display())))?;
    }
    let finished = Finished {
        model: &model,
        settings: &settings,
        summary: &summary,
        result: stored.as_deref(),
        plot: o.plot_file.as_deref(),
        clock,
    };
    match o.format {
        Format::Json => out(&format!("{}\n", finished.json())),
        Format::Human if o.quiet => {}
        Format::Human => {
            if !curves.is_empty() {
                out(&plot.to_terminal(&terminal_options()));
            }
            out(&finished.human());
        }
    }
    Ok(if summary.interrupted {
        exit::FAILED
    } else {
        exit::FINE
    })
}

/// Options that make no sense for any model.
fn check_numbers(o: &Options) -> Result<(), String> {
    for (name, value) in [("start", o.start), ("stop", o.stop)] {
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

fn open_result(path: &Path, format: Format) -> Result<Box<dyn acausal_results::ResultWriter>, u8> {
    acausal_results::create(path).map_err(|e| usage("output", e.to_string(), format))
}

/// Set by Ctrl-C, so that what has been computed can be stored; a second Ctrl-C ends the program at once.
fn interruption() -> Arc<AtomicBool> {
    let interrupt = Arc::new(AtomicBool::new(false));
    let flag = interrupt.clone();
    // Where no handler can be installed, Ctrl-C keeps its usual meaning.
    let _ = ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(exit::FAILED.into());
        }
    });
    interrupt
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
    s.solver = match o.solver {
        Solver::Bdf => acausal::Solver::Bdf,
        Solver::Ida => acausal::Solver::Ida,
    };
    s.max_steps = o.max_steps.unwrap_or(s.max_steps);
    s.steady_state = o.steady_state;
    s
}

/// The last part of a class name is the stem of its default files.
fn file_stem(class: &str) -> String {
    let last = class.rsplit('.').next().unwrap_or(class).trim_matches('\'');
    last.chars()
        .map(|c| if c == '/' || c.is_control() { '_' } else { c })
        .collect()
}

/// Splits at commas, but not inside of brackets: `a,b[1,2]` are two names.
fn signal_names(list: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut name = String::new();
    let mut depth = 0usize;
    for c in list.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                names.push(std::mem::take(&mut name));
                continue;
            }
            _ => {}
        }
        name.push(c);
    }
    names.push(name);
    // Names of elements are written without blanks.
    names
        .iter()
        .map(|n| n.split_whitespace().collect::<String>())
        .filter(|n| !n.is_empty())
        .collect()
}

/// The name of an array stands for some of its elements, evenly spread.
fn elements(model: &Model, name: &str) -> Vec<String> {
    if name == "time" || model.has_signal(name) {
        return vec![name.to_string()];
    }
    let is_element = |n: &String| {
        n.strip_prefix(name).is_some_and(|rest| {
            rest.starts_with('[') && rest.find(']').is_some_and(|k| k + 1 == rest.len())
        })
    };
    let all: Vec<String> = model.signal_names().filter(is_element).collect();
    match all.len() {
        0 => vec![name.to_string()],
        n if n <= ELEMENT_CURVES => all,
        n => (0..ELEMENT_CURVES)
            .map(|k| all[k * (n - 1) / (ELEMENT_CURVES - 1)].clone())
            .collect(),
    }
}

fn promise_plot(path: &Path) -> Result<PendingFile, String> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("svg" | "png" | "html") => {}
        _ => {
            return Err(format!(
                "a plot file ends in .svg, .png or .html, not {}",
                path.display()
            ));
        }
    }
    PendingFile::create(path)
        .map_err(|e| format!("the plot {} cannot be written: {e}", path.display()))
}

fn picture<'d>(result: &'d ResultSet, curves: &[String]) -> Result<Plot<'d>, String> {
    Plot::of_signals(result, curves).map_err(|e| e.to_string())
}

fn render(path: &Path, plot: &Plot<'_>) -> Vec<u8> {
    match path.extension().and_then(|e| e.to_str()) {
        Some("png") => plot.to_png(PNG_SCALE),
        Some("html") => plot.to_html().into_bytes(),
        _ => plot.to_svg().into_bytes(),
    }
}

/// As wide as the terminal within reason; colours only where they show.
fn terminal_options() -> TerminalOptions {
    let mut options = TerminalOptions::default();
    let stdout = console::Term::stdout();
    if std::io::stdout().is_terminal() {
        options.colour = std::env::var_os("NO_COLOR").is_none();
        if let Some((lines, columns)) = stdout.size_checked() {
            options.width = usize::from(columns).clamp(TERMINAL_COLUMNS.0, TERMINAL_COLUMNS.1);
            options.height = usize::from(lines)
                .saturating_sub(6)
                .clamp(TERMINAL_LINES.0, TERMINAL_LINES.1);
        }
    }
    options.ascii = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|v| std::env::var(v).ok().filter(|s| !s.is_empty()))
        .is_some_and(|locale| locale == "C" || locale == "POSIX");
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_matrix_elements_keep_their_comma() {
        assert_eq!(
            signal_names("a, b[1, 2],c.d[3],"),
            ["a", "b[1,2]", "c.d[3]"]
        );
        assert!(signal_names(" ,").is_empty());
    }

    #[test]
    fn file_stem_is_a_file_name() {
        assert_eq!(file_stem("Modelica.Blocks.PID"), "PID");
        assert_eq!(file_stem("'a/b'"), "a_b");
    }
}
