//! A trace of what happens, one line per step, event or iteration, in the names of the model.
//!
//! ```text
//! step from 0.1 h 2.5e-3 order 2
//!   iteration 1: correction 3.1e-2 of the tolerance, largest in x
//! to 0.1025: error 0.21 of the tolerance, largest in x
//! event at 0.31: `h <= 0` is now true; 2 rounds
//! ```

use acausal_compiled::CompiledModel;
use acausal_solver::{EvalReason, Integrator, Move};

use crate::Sink;
use crate::error::{condition_text, row_text, unknown_text};
use crate::event::{EventOutcome, numbered, relation};
use crate::machine::Machine;

/// What to report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// Steps: size, order, error, and why an attempt failed.
    pub steps: bool,
    /// Iterations of the corrector and new matrices.
    pub nonlinear: bool,
    /// Events and what changed at them.
    pub events: bool,
}

pub(crate) struct Tracer {
    wanted: Trace,
}

impl Tracer {
    pub fn new(wanted: Trace) -> Tracer {
        Tracer { wanted }
    }

    /// Reports the moves of a step.
    pub fn step(&self, bdf: &mut dyn Integrator, model: &CompiledModel, sink: &mut dyn Sink) {
        if !self.wanted.steps && !self.wanted.nonlinear {
            return;
        }
        for m in bdf.take_trace() {
            if let Some(line) = self.line(m, model) {
                sink.trace(&line);
            }
        }
    }

    /// Reports what is left when the integrator stops.
    pub fn finish(&self, bdf: &mut dyn Integrator, model: &CompiledModel, sink: &mut dyn Sink) {
        self.step(bdf, model, sink);
    }

    fn line(&self, m: Move, model: &CompiledModel) -> Option<String> {
        let name = |k: usize| unknown_text(model, k);
        let equation = |row: usize| row_text(model, row).1;
        Some(match m {
            Move::Iteration {
                number,
                norm,
                variable,
            } if self.wanted.nonlinear => format!(
                "  iteration {number}: correction {norm:.2e} of the tolerance, largest in {}",
                name(variable)
            ),
            Move::Matrix { cj } if self.wanted.nonlinear => {
                format!("  new Jacobian, leading coefficient {cj:.3e}")
            }
            Move::Iteration { .. } | Move::Matrix { .. } => return None,
            Move::Attempt { t, h, order } => format!("step from {t} h {h:.3e} order {order}"),
            Move::Accepted { t, norm, variable } => format!(
                "to {t}: error {norm:.2e} of the tolerance, largest in {}",
                name(variable)
            ),
            Move::ErrorTest { norm, variable } => format!(
                "  refused: error {norm:.2e} of the tolerance, largest in {}",
                name(variable)
            ),
            Move::Convergence { variable, row } => format!(
                "  refused: no convergence for {}, worst equation {}",
                name(variable),
                equation(row)
            ),
            Move::Evaluation(EvalReason::NotFinite { row }) => {
                format!("  refused: {} is not a finite number", equation(row))
            }
            Move::Evaluation(EvalReason::Caller { .. }) => "  refused: a function failed".into(),
            Move::Singular { row, col } => {
                format!("  refused: singular for {} in {}", name(col), equation(row))
            }
        })
    }

    /// Reports an event.
    pub fn event(&self, t: f64, machine: &Machine, outcome: &EventOutcome, sink: &mut dyn Sink) {
        let listens = sink.wants_events();
        if !self.wanted.events && !listens {
            return;
        }
        let mut changes = changes(machine, outcome);
        if listens {
            sink.event(t, &changes);
        }
        if !self.wanted.events {
            return;
        }
        if changes.is_empty() {
            changes.push("no relation changed".into());
        }
        let rounds = outcome.rounds;
        let plural = if rounds == 1 { "" } else { "s" };
        sink.trace(&format!(
            "event at {t}: {}; {rounds} round{plural}",
            changes.join(", ")
        ));
    }
}

/// The relations that an event changed, in words.
fn changes(machine: &Machine, outcome: &EventOutcome) -> Vec<String> {
    let model = &machine.model;
    let known = &model.events.timetable.relations;
    let passed = outcome.passed.iter().map(|&k| (k, numbered(known, k)));
    let changed = outcome.changed.iter().map(|&k| (k, relation(model, k)));
    let text = |(number, r): (usize, Option<&acausal_compiled::RelationCode>)| {
        let r = r?;
        let value = machine.mem[r.base + number - r.first];
        let text = condition_text(model, r.expr);
        Some(match r.op {
            Some(_) => format!("`{text}` is now {}", value != 0.0),
            None => format!("`{text}` is now {value}"),
        })
    };
    passed.chain(changed).filter_map(text).collect()
}
