//! Signals at instants that all cases of a sweep share.
//!
//! Cases have events at different times, so their rows differ in number. What they have in common are the output instants, `start + k*interval` and the stop time: of two rows at one
//! of them the last counts, the values after the event.

use std::sync::atomic::{AtomicBool, Ordering};

use acausal_base::visible::visible;
use acausal_compiled::{CompiledModel, Loc};
use acausal_expr::flat::Causality;
use acausal_runtime::{Machine, Settings, Sink, gather};

use crate::Observe;

/// Instants closer than this fraction of the interval are one.
const SAME: f64 = 1e-9;

/// A signal of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridSignal {
    /// Its name.
    pub name: String,
    /// Unit in Modelica notation.
    pub unit: String,
    /// Description of the declaration.
    pub description: String,
}

/// Instants and signals of a sweep.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The instants, ascending.
    pub times: Vec<f64>,
    /// The signals.
    pub signals: Vec<GridSignal>,
    places: Vec<Loc>,
    tolerance: f64,
}

impl Grid {
    /// The observed signals at the output instants. Parameters are there only if a pattern names them: cases have a table of their own.
    pub fn new(model: &CompiledModel, settings: &Settings, observe: &Observe) -> Grid {
        let tolerance = SAME * settings.interval;
        let mut times = vec![settings.start];
        for k in 1u64.. {
            let t = settings.start + k as f64 * settings.interval;
            if t >= settings.stop - tolerance {
                break;
            }
            times.push(t);
        }
        if settings.stop > settings.start {
            times.push(settings.stop);
        }
        let (mut signals, mut places) = (Vec::new(), Vec::new());
        let everything = *observe == Observe::everything();
        let values = model
            .outputs
            .iter()
            .map(|o| (o, observe.elements(model, o.var)));
        let slopes = (model.derivatives.iter()).map(|o| (o, observe.derivatives(model, o)));
        for (output, elements) in values.chain(slopes) {
            let var = model.symbols.var(output.var);
            if everything && var.is_parameter() {
                continue;
            }
            for k in elements {
                let name = model.element_name(output.var, output.kind, k);
                places.push(output.place.at(k));
                signals.push(GridSignal {
                    name: visible(&name).into_owned(),
                    unit: visible(&var.unit).into_owned(),
                    description: visible(&var.description).into_owned(),
                });
            }
        }
        Grid {
            times,
            signals,
            places,
            tolerance,
        }
    }

    /// Names and places of the signals.
    pub fn places(&self) -> impl Iterator<Item = (String, Loc)> {
        let names = self.signals.iter().map(|s| s.name.clone());
        names.zip(self.places.iter().copied())
    }

    /// The values of all signals at one instant.
    pub fn gather(&self, machine: &Machine, y: &[f64], yp: &[f64], values: &mut Vec<f64>) {
        gather(machine, y, yp, &self.places, values);
    }

    /// Names and places of the outputs that the model declares.
    pub fn outputs(model: &CompiledModel) -> Vec<(String, Loc)> {
        let mut found = Vec::new();
        for output in &model.outputs {
            let var = model.symbols.var(output.var);
            if var.causality == Causality::Output && !var.is_parameter() {
                let element = |k| {
                    (
                        model.element_name(output.var, output.kind, k),
                        output.place.at(k),
                    )
                };
                found.extend((0..var.len()).map(element));
            }
        }
        found
    }

    /// Numbers of one case.
    pub fn case_len(&self) -> usize {
        self.times.len() * self.signals.len()
    }
}

/// Takes the rows of one case.
pub struct GridSink<'g> {
    grid: &'g Grid,
    stop: &'g AtomicBool,
    /// The instant that rows have come to.
    at: usize,
    values: Vec<f64>,
}

impl<'g> GridSink<'g> {
    /// For one case, which ends when `stop` is set.
    pub fn new(grid: &'g Grid, stop: &'g AtomicBool) -> GridSink<'g> {
        GridSink {
            grid,
            stop,
            at: 0,
            values: vec![f64::NAN; grid.case_len()],
        }
    }

    /// Signal by signal.
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }
}

impl Sink for GridSink<'_> {
    fn begin(&mut self, _: &Machine, _: &[f64], _: &[f64]) -> Result<(), String> {
        Ok(())
    }

    fn wanted(&self) -> Option<Vec<Loc>> {
        Some(self.grid.places.clone())
    }

    fn row(&mut self, t: f64, machine: &Machine, y: &[f64], yp: &[f64]) -> Result<(), String> {
        let (grid, len) = (self.grid, self.grid.times.len());
        while self.at + 1 < len && grid.times[self.at + 1] <= t + grid.tolerance {
            self.at += 1;
        }
        if (t - grid.times[self.at]).abs() <= grid.tolerance {
            for (k, &place) in grid.places.iter().enumerate() {
                self.values[k * len + self.at] = machine.value(place, y, yp);
            }
        }
        Ok(())
    }

    fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
