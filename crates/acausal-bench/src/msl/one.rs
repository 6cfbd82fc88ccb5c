//! One model in a process of its own: compile, simulate, compare, and say on standard output how far it came.
//!
//! ```text
//! compiled 0.12
//! initialised
//! simulated 0.57
//! error outside-tube: resistor.i leaves the tube at t = 0.3 (41 of 5002 points)
//! ```

use std::path::PathBuf;

use acausal::{Failure, Load, Model, Observe, ResultSink};
use acausal_results::compare::{CompareOptions, SignalVerdict, compare};
use acausal_results::{normalise_name, read, read_signals};
use acausal_runtime::{Machine, Sink};

use super::Stage;
use crate::cpu;

/// Stack of the working thread, as in the command.
const STACK_BYTES: usize = 256 << 20;

/// Options of the hidden verb `msl-one`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct One {
    /// The class.
    pub model: String,
    /// Directory of the library.
    #[arg(long)]
    pub library: PathBuf,
    /// Reference trajectory.
    #[arg(long)]
    pub reference: Option<PathBuf>,
    /// Signals to compare, separated by `|`.
    #[arg(long)]
    pub signals: Option<String>,
    /// Start time.
    #[arg(long, allow_negative_numbers = true)]
    pub start: Option<f64>,
    /// Stop time.
    #[arg(long, allow_negative_numbers = true)]
    pub stop: Option<f64>,
    /// Relative tolerance.
    #[arg(long)]
    pub tolerance: Option<f64>,
    /// Output interval.
    #[arg(long)]
    pub interval: Option<f64>,
}

/// Runs the verb: `Err` is the first error in one line, already printed.
pub fn one(o: &One) -> Result<(), String> {
    let o = o.clone();
    let worker = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || {
            let outcome = attempt(&o);
            if let Err(message) = &outcome {
                println!("error {}", message.replace(['\n', '\r'], " "));
            }
            outcome
        })
        .map_err(|e| e.to_string())?;
    worker.join().map_err(|_| "panic".to_string())?
}

fn reached(stage: Stage) {
    println!("{} {:.3}", stage.word(), cpu::seconds());
}

fn attempt(o: &One) -> Result<(), String> {
    let load = Load {
        libraries: vec![o.library.clone()],
        ..Load::default()
    };
    let model = Model::load(&o.model, &load).map_err(|f| first_error(&f))?;
    reached(Stage::Compiled);

    let mut settings = model.settings();
    settings.start = o.start.unwrap_or(settings.start);
    settings.stop = o.stop.unwrap_or(settings.stop);
    settings.tolerance = o.tolerance.unwrap_or(settings.tolerance);
    settings.interval = o.interval.unwrap_or(settings.interval);
    let names: Option<Vec<String>> = o
        .signals
        .as_ref()
        .map(|list| list.split('|').map(normalise_name).collect());
    let reference = match (&o.reference, &names) {
        (None, _) => None,
        (Some(file), Some(names)) => Some(read_signals(file, names)),
        (Some(file), None) => Some(read(file)),
    };
    let reference = reference
        .transpose()
        .map_err(|e| format!("reference: {e}"))?;
    let wanted: Vec<String> = match (&reference, names) {
        (None, _) => Vec::new(),
        (_, Some(names)) => names,
        (Some(r), None) => r
            .signals()
            .iter()
            .map(|s| normalise_name(&s.name))
            .collect(),
    };

    let sink = ResultSink::new(None, Observe::nothing(), Observe::patterns(&wanted));
    let mut sink = Announced(sink);
    acausal_runtime::simulate(model.compiled.clone(), &settings, &mut sink)
        .map_err(|e| first_error(&model.failed(&e)))?;
    reached(Stage::Simulated);

    let Some(reference) = reference else {
        return Ok(());
    };
    let result = sink.0.into_parts().1.map_err(|e| format!("output: {e}"))?;
    let options = CompareOptions::default();
    let verdicts = compare(&result, &reference, Some(&wanted), &options)
        .map_err(|e| format!("reference: {e}"))?;
    match verdicts.iter().find(|v| !v.pass) {
        None if verdicts.is_empty() => Err("reference: there is no signal to compare".into()),
        None => {
            reached(Stage::Verified);
            Ok(())
        }
        Some(v) => {
            let good = verdicts.iter().filter(|v| v.pass).count();
            let count = format!("{good} of {} signals in the tube", verdicts.len());
            Err(format!("{}; {count}", deviation(v)))
        }
    }
}

fn deviation(v: &SignalVerdict) -> String {
    match &v.detail {
        Err(reason) => format!("not-comparable: {} is {reason}", v.signal),
        Ok(d) => format!(
            "outside-tube: {} at t = {} ({} of {} points, {:.1e} of its range)",
            v.signal,
            d.first_outside.unwrap_or(f64::NAN),
            d.outside,
            d.points,
            d.max_relative
        ),
    }
}

/// `code: message (File.mo:12)`.
fn first_error(f: &Failure) -> String {
    let Some(d) = f.diagnostics.iter().find(|d| d.is_error()) else {
        return "internal: no message".to_string();
    };
    let mut text = format!("{}: {}", d.code, d.message);
    if let Some((file, line)) = place(f, d) {
        text.push_str(&format!(" ({file}:{line})"));
    }
    text
}

fn place(f: &Failure, d: &acausal_base::Diagnostic) -> Option<(String, u32)> {
    let span = d.span();
    if span.is_none() {
        return None;
    }
    let file = f.sources.get(span.file)?;
    let mut parts = file.name.rsplit('/');
    let name = parts.next()?;
    // A package's own file says little without its directory.
    let name = match parts.next() {
        Some(directory) if name == "package.mo" => format!("{directory}/{name}"),
        _ => name.to_string(),
    };
    Some((name, file.line_column(span.start).line))
}

/// Says when the consistent start is found.
struct Announced<'p>(ResultSink<'p>);

impl Sink for Announced<'_> {
    fn begin(&mut self, machine: &Machine, y: &[f64], yp: &[f64]) -> Result<(), String> {
        reached(Stage::Initialised);
        self.0.begin(machine, y, yp)
    }

    fn row(&mut self, t: f64, machine: &Machine, y: &[f64], yp: &[f64]) -> Result<(), String> {
        self.0.row(t, machine, y, yp)
    }
}
