//! One case: a model of one size, from its text to the end of the simulation, in the process that calls.

use std::sync::Arc;
use std::time::Instant;

use acausal_base::{Diagnostic, Span};
use acausal_compiled::Loc;
use acausal_instance::class::Libraries;
use acausal_runtime::{Machine, Sink};
use acausal_syntax::parse_expression;

use super::family::{Input, by_name};
use crate::cpu;

/// Seconds by phase (CPU time, of the integration the time that passes), and sizes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Scalar equations of the flat model.
    pub equations: u64,
    /// Unknowns of the integrator.
    pub unknowns: u64,
    /// Text to syntax tree.
    pub parse: f64,
    /// To the flat model.
    pub flatten: f64,
    /// To the index-one DAE.
    pub structure: f64,
    /// To programs that can run.
    pub codegen: f64,
    /// To consistent start values.
    pub initialise: f64,
    /// From there to the stop time.
    pub integrate: f64,
    /// Steps of the integrator.
    pub steps: u64,
    /// Events.
    pub events: u64,
    /// Bytes of memory at the peak.
    pub peak: f64,
    /// Entries of the factors of the matrix.
    pub factor_entries: u64,
}

impl Measured {
    /// Seconds of one integration step.
    pub fn per_step(&self) -> f64 {
        self.integrate / self.steps.max(1) as f64
    }

    /// Seconds from the text to the end.
    pub fn total(&self) -> f64 {
        self.parse + self.flatten + self.structure + self.codegen + self.initialise + self.integrate
    }

    /// The faster of two runs, phase by phase.
    pub fn fastest(&self, other: &Measured) -> Measured {
        Measured {
            parse: self.parse.min(other.parse),
            flatten: self.flatten.min(other.flatten),
            structure: self.structure.min(other.structure),
            codegen: self.codegen.min(other.codegen),
            initialise: self.initialise.min(other.initialise),
            integrate: self.integrate.min(other.integrate),
            peak: self.peak.min(other.peak),
            ..self.clone()
        }
    }

    /// One line that [`Measured::read`] understands.
    pub fn line(&self) -> String {
        format!(
            "measured {} {} {} {} {} {} {} {} {} {} {} {}",
            self.equations,
            self.unknowns,
            self.parse,
            self.flatten,
            self.structure,
            self.codegen,
            self.initialise,
            self.integrate,
            self.steps,
            self.events,
            self.peak,
            self.factor_entries
        )
    }

    /// Reads what [`Measured::line`] wrote.
    pub fn read(text: &str) -> Result<Measured, String> {
        let bad = || format!("not a measurement: {text}");
        let line = text
            .lines()
            .find_map(|l| l.strip_prefix("measured "))
            .ok_or_else(bad)?;
        let numbers: Vec<f64> = line.split(' ').filter_map(|w| w.parse().ok()).collect();
        let [
            e,
            u,
            parse,
            flatten,
            structure,
            codegen,
            initialise,
            integrate,
            steps,
            events,
            peak,
            factor_entries,
        ] = numbers[..]
        else {
            return Err(bad());
        };
        Ok(Measured {
            equations: e as u64,
            unknowns: u as u64,
            parse,
            flatten,
            structure,
            codegen,
            initialise,
            integrate,
            steps: steps as u64,
            events: events as u64,
            peak,
            factor_entries: factor_entries as u64,
        })
    }
}

/// Runs a case of a family.
pub fn run(
    family: &str,
    n: usize,
    stop: Option<f64>,
    threads: Option<usize>,
) -> Result<Measured, String> {
    let family = by_name(family).ok_or_else(|| format!("there is no family `{family}`"))?;
    // The text of a written-out model is no part of the time.
    let source = family.model(n);
    let mut clock = Clock::start();
    let mut m = Measured::default();
    let mut libraries = Libraries::new();
    let classes = match &source {
        Input::File(path) => libraries.load_file(path),
        Input::Text(text) => libraries.load_text(&format!("{}.mo", family.name), text),
    }
    .map_err(|d| render(&mut libraries, d))?;
    let class = classes.last().ok_or("the file contains no class")?.clone();
    let sized = matches!(source, Input::File(_));
    // The libraries have the text now.
    drop(source);
    m.parse = clock.lap();

    let mut set = Vec::new();
    if sized {
        let file = libraries.sources_mut().add_file("--set", format!("N={n}"));
        set.push(("N".to_string(), parse_expression(file, &format!("  {n}")).0));
    }
    let (flat, _) = acausal_flatten::flatten_last(&mut libraries, &class, &set)
        .map_err(|d| render(&mut libraries, d))?;
    m.flatten = clock.lap();

    m.equations = flat.equations.iter().map(|e| e.len() as u64).sum();
    let (dae, _) = acausal_index1::transform_noted(flat, &acausal_index1::Options::default())
        .map_err(|d| render(&mut libraries, d))?;
    m.structure = clock.lap();

    let compiled = acausal_codegen::compile(dae).map_err(|d| render(&mut libraries, vec![*d]))?;
    m.codegen = clock.lap();

    simulate(compiled, stop, threads, &mut m).map_err(|(model, e)| {
        let d = e.diagnostic(&model);
        render(&mut libraries, vec![d])
    })?;
    m.peak = peak_memory()?;
    Ok(m)
}

fn simulate(
    compiled: acausal_compiled::CompiledModel,
    stop: Option<f64>,
    threads: Option<usize>,
    m: &mut Measured,
) -> Result<
    (),
    (
        Arc<acausal_compiled::CompiledModel>,
        acausal_runtime::SimError,
    ),
> {
    let model = Arc::new(compiled);
    let mut settings = acausal::experiment_settings(&model.symbols.experiment);
    settings.stop = stop.unwrap_or(settings.stop);
    settings.threads = threads;
    let mut sink = Begin::default();
    let start = cpu::seconds();
    let summary =
        acausal_runtime::simulate(model.clone(), &settings, &mut sink).map_err(|e| (model, e))?;
    let (begin, clock) = sink.begin.unwrap_or((start, Instant::now()));
    m.integrate = clock.elapsed().as_secs_f64();
    let ready = begin - start;
    // The simulation tells wall-clock times of binding and initialisation; their CPU time is shared out accordingly.
    let seconds = summary.seconds;
    let bind = seconds.codegen / (seconds.codegen + seconds.initialise).max(1e-9);
    m.codegen += ready * bind;
    m.initialise = ready * (1.0 - bind);
    m.steps = summary.steps;
    m.events = summary.events;
    m.unknowns = summary.unknowns as u64;
    m.factor_entries = summary.profile.factor_entries.unwrap_or(0) as u64;
    Ok(())
}

/// Notes when the integration begins and takes rows without any signal, as a run does that observes a few of a million.
#[derive(Default)]
struct Begin {
    /// CPU time of this thread, and the clock: two threads integrate large models.
    begin: Option<(f64, Instant)>,
}

impl Sink for Begin {
    fn begin(&mut self, _: &Machine, _: &[f64], _: &[f64]) -> Result<(), String> {
        self.begin = Some((cpu::seconds(), Instant::now()));
        Ok(())
    }

    fn wanted(&self) -> Option<Vec<Loc>> {
        Some(Vec::new())
    }

    fn row(&mut self, _: f64, _: &Machine, _: &[f64], _: &[f64]) -> Result<(), String> {
        Ok(())
    }
}

/// A large text is parsed in a thread of its own, which counts.
struct Clock(f64);

impl Clock {
    fn start() -> Clock {
        Clock(cpu::all_seconds())
    }

    /// Seconds since the last call.
    fn lap(&mut self) -> f64 {
        let now = cpu::all_seconds();
        now - std::mem::replace(&mut self.0, now)
    }
}

fn render(libraries: &mut Libraries, diagnostics: Vec<Diagnostic>) -> String {
    let mut all = diagnostics;
    all.extend(libraries.take_diagnostics());
    if all.is_empty() {
        all.push(Diagnostic::error(
            "none",
            Span::NONE,
            "no message".to_string(),
        ));
    }
    let sources = libraries.sources_mut();
    all.iter().map(|d| d.render(sources, false)).collect()
}

/// `VmHWM` of this process, in bytes.
fn peak_memory() -> Result<f64, String> {
    let status = std::fs::read_to_string("/proc/self/status").map_err(|e| e.to_string())?;
    let line = status
        .lines()
        .find_map(|l| l.strip_prefix("VmHWM:"))
        .ok_or("no VmHWM in /proc/self/status")?;
    let kilobytes = line
        .split_whitespace()
        .next()
        .and_then(|w| w.parse::<f64>().ok())
        .ok_or("VmHWM is no number")?;
    Ok(1024.0 * kilobytes)
}
