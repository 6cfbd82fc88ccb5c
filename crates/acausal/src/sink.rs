//! From a running simulation to result files and plots.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use acausal_compiled::{CompiledModel, Loc};
use acausal_expr::flat::VarType;
use acausal_results::{MemoryWriter, ResultSet, ResultWriter, RunInfo, Signal, SignalKind};
use acausal_runtime::{Machine, Settings, Sink, Summary, gather, simulate};

use acausal_base::visible::visible;

use crate::activity::Activity;
use crate::load::{Failure, Model};
use crate::observe::Observe;

/// Is told a line of text.
type Listener<'p> = Box<dyn FnMut(&str) + 'p>;
/// Is told an event: its time, and what changed.
type EventListener<'p> = Box<dyn FnMut(f64, &[String]) + 'p>;

/// Hands the observed signals of the model to a result writer, row by row, and keeps others, for plots, in memory. What
/// is not chosen costs nothing.
pub struct ResultSink<'p> {
    writer: Option<Box<dyn ResultWriter>>,
    /// Signals for the writer.
    observed: Observe,
    /// Signals for memory.
    kept: Observe,
    memory: MemoryWriter,
    places: Vec<Loc>,
    kept_places: Vec<Loc>,
    values: Vec<f64>,
    progress: Box<dyn FnMut(f64) + 'p>,
    trace: Listener<'p>,
    print: Option<Listener<'p>>,
    event: Option<EventListener<'p>>,
    interrupt: Option<Arc<AtomicBool>>,
}

impl<'p> ResultSink<'p> {
    /// A sink that writes the observed signals to `writer` and keeps others in memory.
    pub fn new(
        writer: Option<Box<dyn ResultWriter>>,
        observed: Observe,
        kept: Observe,
    ) -> ResultSink<'p> {
        ResultSink {
            writer,
            observed,
            kept,
            memory: MemoryWriter::new(),
            places: Vec::new(),
            kept_places: Vec::new(),
            values: Vec::new(),
            progress: Box::new(|_| {}),
            trace: Box::new(|_| {}),
            print: None,
            event: None,
            interrupt: None,
        }
    }

    /// Calls `f` with the time reached.
    pub fn on_progress(mut self, f: impl FnMut(f64) + 'p) -> Self {
        self.progress = Box::new(f);
        self
    }

    /// Calls `f` with each line of a trace.
    pub fn on_trace(mut self, f: impl FnMut(&str) + 'p) -> Self {
        self.trace = Box::new(f);
        self
    }

    /// Calls `f` with each text that the model prints; otherwise they are in the summary.
    pub fn on_print(mut self, f: impl FnMut(&str) + 'p) -> Self {
        self.print = Some(Box::new(f));
        self
    }

    /// Calls `f` with the time of each event and the relations that changed, in words.
    pub fn on_event(mut self, f: impl FnMut(f64, &[String]) + 'p) -> Self {
        self.event = Some(Box::new(f));
        self
    }

    /// Stops the simulation when the flag is set.
    pub fn interrupt_by(mut self, flag: Arc<AtomicBool>) -> Self {
        self.interrupt = Some(flag);
        self
    }

    /// The writer and the signals kept in memory.
    pub fn into_parts(self) -> (Option<Box<dyn ResultWriter>>, Result<ResultSet, String>) {
        (
            self.writer,
            self.memory.into_result().map_err(|e| e.to_string()),
        )
    }
}

/// The chosen scalar signals of a model with their locations; parameters are constants.
fn signals(
    model: &CompiledModel,
    machine: &Machine,
    chosen: &Observe,
    y: &[f64],
    yp: &[f64],
) -> (Vec<Signal>, Vec<Loc>) {
    let mut signals = Vec::new();
    let mut places = Vec::new();
    for output in &model.outputs {
        let var = model.symbols.var(output.var);
        let kind = match var.ty {
            VarType::Real | VarType::String => SignalKind::Real,
            VarType::Integer => SignalKind::Integer,
            VarType::Boolean => SignalKind::Boolean,
            VarType::Enum(_) => SignalKind::Enumeration,
        };
        for k in chosen.elements(model, output.var) {
            // Results are shown and stored as text, so what a name could tell a terminal is shown instead.
            let name = model.element_name(output.var, acausal_expr::ValueKind::Value, k);
            let name = match visible(&name) {
                Cow::Borrowed(_) => name,
                Cow::Owned(shown) => shown,
            };
            let loc = output.place.at(k);
            let signal = if var.is_parameter() {
                Signal::constant(name, machine.value(loc, y, yp))
            } else {
                places.push(loc);
                Signal::column(name, places.len() - 1)
            };
            signals.push(
                signal
                    .with_unit(visible(&var.unit))
                    .with_description(visible(&var.description))
                    .with_kind(kind),
            );
        }
    }
    for output in &model.derivatives {
        for k in chosen.derivatives(model, output) {
            let name = model.element_name(output.var, output.kind, k);
            places.push(output.place.at(k));
            let of = model.element_name(output.var, acausal_expr::ValueKind::Value, k);
            let signal = Signal::column(name, places.len() - 1);
            signals.push(signal.with_description(format!("Derivative of {of}")));
        }
    }
    (signals, places)
}

impl Sink for ResultSink<'_> {
    fn begin(&mut self, machine: &Machine, y: &[f64], yp: &[f64]) -> Result<(), String> {
        let model = machine.model();
        Activity::Simulating.begin();
        let info = RunInfo::new(visible(&model.symbols.name).into_owned());
        let (kept, places) = signals(model, machine, &self.kept, y, yp);
        self.kept_places = places;
        self.memory.begin(&kept, &info).map_err(|e| e.to_string())?;
        if let Some(w) = &mut self.writer {
            let (observed, places) = signals(model, machine, &self.observed, y, yp);
            self.places = places;
            w.begin(&observed, &info).map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    fn wanted(&self) -> Option<Vec<Loc>> {
        Some([&self.places[..], &self.kept_places[..]].concat())
    }

    fn row(&mut self, t: f64, machine: &Machine, y: &[f64], yp: &[f64]) -> Result<(), String> {
        if let Some(w) = &mut self.writer {
            gather(machine, y, yp, &self.places, &mut self.values);
            w.row(t, &self.values).map_err(|e| e.to_string())?;
        }
        gather(machine, y, yp, &self.kept_places, &mut self.values);
        self.memory.row(t, &self.values).map_err(|e| e.to_string())
    }

    fn progress(&mut self, t: f64) {
        (self.progress)(t);
    }

    fn trace(&mut self, line: &str) {
        (self.trace)(line);
    }

    fn print(&mut self, text: &str) -> bool {
        match &mut self.print {
            Some(print) => {
                print(text);
                true
            }
            None => false,
        }
    }

    fn wants_events(&self) -> bool {
        self.event.is_some()
    }

    fn event(&mut self, t: f64, changes: &[String]) {
        if let Some(event) = &mut self.event {
            event(t, changes);
        }
    }

    fn interrupted(&self) -> bool {
        self.interrupt
            .as_ref()
            .is_some_and(|f| f.load(Ordering::Relaxed))
    }
}

/// A finished simulation with all its signals in memory.
#[derive(Debug)]
pub struct InMemory {
    /// The trajectories.
    pub result: ResultSet,
    /// What was done.
    pub summary: Summary,
}

impl Model {
    /// Simulates and keeps all signals in memory.
    pub fn simulate_in_memory(&self, settings: &Settings) -> Result<InMemory, Failure> {
        self.simulate_observing(settings, Observe::everything())
    }

    /// Simulates and keeps the chosen signals in memory.
    pub fn simulate_observing(
        &self,
        settings: &Settings,
        observe: Observe,
    ) -> Result<InMemory, Failure> {
        let mut sink = ResultSink::new(None, Observe::nothing(), observe);
        let settings = self.complete(settings);
        let summary =
            simulate(self.compiled.clone(), &settings, &mut sink).map_err(|e| self.failed(&e))?;
        let result = sink
            .into_parts()
            .1
            .map_err(|m| self.failed(&acausal_runtime::SimError::Output(m)))?;
        Ok(InMemory { result, summary })
    }

    /// A failed simulation as messages in the sources of this model.
    pub fn failed(&self, e: &acausal_runtime::SimError) -> Failure {
        Failure {
            diagnostics: vec![e.diagnostic(&self.compiled)],
            sources: self.sources.clone(),
        }
    }
}
