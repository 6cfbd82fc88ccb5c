//! Simulations that go on step by step, with other inputs and parameters in between.
//!
//! Between two steps the simulation is a checkpoint, so a state can be kept and restored as often as wanted, and what was changed makes everything consistent in an event
//! when time goes on.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use acausal::sweep::Grid;
use acausal::{Checkpoint, Model, Observe, Settings};
use acausal_runtime::{
    InputSignal, Machine, Prepared, SimError, Sink, Summary, resume_prepared, simulate_prepared,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Kind, Known, exception};
use crate::model::Core;
use crate::simulation::settings;
use crate::value::parameter_value;
use crate::work::{Done, wait};

/// A simulation between two steps.
#[pyclass(frozen, module = "acausal._acausal")]
pub struct Stepper {
    model: Arc<Model>,
    prepared: Arc<Prepared>,
    names: Vec<String>,
    grid: Arc<Grid>,
    now: Mutex<Now>,
}

#[derive(Clone)]
struct Now {
    settings: Settings,
    state: Checkpoint,
    /// The observed signals.
    values: Vec<f64>,
    terminated: Option<String>,
}

/// The state of a simulation.
#[pyclass(frozen, module = "acausal._acausal")]
pub struct State {
    now: Now,
}

#[pymethods]
impl State {
    /// The time.
    #[getter]
    fn time(&self) -> f64 {
        self.now.state.t
    }
}

/// Keeps the last row.
struct LastRow {
    grid: Arc<Grid>,
    values: Vec<f64>,
    stop: Arc<AtomicBool>,
}

impl Sink for LastRow {
    fn begin(&mut self, _: &Machine, _: &[f64], _: &[f64]) -> Result<(), String> {
        Ok(())
    }
    fn row(&mut self, _: f64, machine: &Machine, y: &[f64], yp: &[f64]) -> Result<(), String> {
        self.grid.gather(machine, y, yp, &mut self.values);
        Ok(())
    }
    fn interrupted(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Goes to `settings.stop`, from the start or from a state.
fn go(
    prepared: &Arc<Prepared>,
    grid: &Arc<Grid>,
    from: Option<&Checkpoint>,
    settings: &Settings,
    stop: Arc<AtomicBool>,
) -> Result<Now, SimError> {
    let mut sink = LastRow {
        grid: grid.clone(),
        values: Vec::new(),
        stop,
    };
    let summary: Summary = match from {
        None => simulate_prepared(prepared, settings, &mut sink)?,
        Some(state) => resume_prepared(prepared, state, settings, &mut sink)?,
    };
    let state = summary
        .checkpoint
        .ok_or_else(|| SimError::Settings("the step has no end".into()))?;
    Ok(Now {
        settings: settings.clone(),
        state,
        values: sink.values,
        terminated: summary.terminated,
    })
}

fn failed(py: Python<'_>, model: &Model, e: &SimError) -> PyErr {
    let known = Known {
        time: e.time(),
        values: e.values(),
    };
    exception(py, Kind::of(e), &model.failed(e), known, None)
}

/// In a thread of its own; what Ctrl-C stopped has not happened.
fn wait_for(
    py: Python<'_>,
    model: &Arc<Model>,
    work: impl FnOnce(Arc<AtomicBool>) -> Result<Now, SimError> + Send + 'static,
) -> PyResult<Now> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = stop.clone();
    let done = wait(
        py,
        move || work(flag),
        || Ok(()),
        || stop.store(true, Ordering::Relaxed),
    )?;
    match done {
        Done::Finished(Ok(now)) => Ok(now),
        Done::Finished(Err(e)) => Err(failed(py, model, &e)),
        Done::Stopped(reason, _) => Err(reason),
    }
}

#[pymethods]
impl Stepper {
    /// The start.
    #[new]
    fn new(py: Python<'_>, core: &Bound<'_, Core>, given: &Bound<'_, PyDict>) -> PyResult<Stepper> {
        let core = core.get();
        let (mut settings, observe) = settings(core, given)?;
        settings.stop = settings.start;
        settings.interval = 1.0;
        settings.checkpoint = true;
        let prepared = core.prepared_for_one_thread(py)?;
        let grid = Arc::new(Grid::new(&core.model.compiled, &settings, &observe));
        let (p, g) = (prepared.clone(), grid.clone());
        let now = wait_for(py, &core.model, move |stop| {
            go(&p, &g, None, &settings, stop)
        })?;
        Ok(Stepper {
            model: core.model.clone(),
            names: prepared.input_names().map(str::to_string).collect(),
            prepared,
            grid,
            now: Mutex::new(now),
        })
    }

    /// Gives inputs and parameters other values, from now on.
    fn set(&self, py: Python<'_>, values: &Bound<'_, PyDict>) -> PyResult<()> {
        let mut now = self.now()?;
        let mut settings = now.settings.clone();
        for (name, value) in values {
            let name: String = name.extract()?;
            if self.names.contains(&name) {
                let value: f64 = value.extract()?;
                settings.inputs.retain(|i| i.name != name);
                settings.inputs.push(InputSignal {
                    name,
                    times: Arc::new([now.state.t]),
                    values: Arc::new([value]),
                    hold: true,
                });
            } else {
                let value = parameter_value(&name, &value)?;
                settings.parameters.retain(|p| p.0 != name);
                settings.parameters.push((name, value));
            }
        }
        self.prepared
            .resolve(&settings.parameters)
            .map_err(|e| failed(py, &self.model, &e))?;
        now.settings = settings;
        Ok(())
    }

    /// Goes on for some time.
    fn step(&self, py: Python<'_>, duration: f64) -> PyResult<f64> {
        let from = self.now()?.clone();
        if let Some(message) = &from.terminated {
            let text = format!("the model ended the simulation: {message}");
            return Err(failed(py, &self.model, &SimError::Settings(text)));
        }
        if !(duration > 0.0 && duration.is_finite()) {
            let text = format!("a step takes a positive time, not {duration}");
            return Err(failed(py, &self.model, &SimError::Settings(text)));
        }
        let mut settings = from.settings.clone();
        settings.stop = from.state.t + duration;
        settings.interval = duration;
        let (p, g) = (self.prepared.clone(), self.grid.clone());
        let work = move |stop| go(&p, &g, Some(&from.state), &settings, stop);
        let reached = wait_for(py, &self.model, work)?;
        let mut now = self.now()?;
        *now = reached;
        Ok(now.state.t)
    }

    /// The time.
    #[getter]
    fn time(&self) -> PyResult<f64> {
        Ok(self.now()?.state.t)
    }

    /// The message of a model that has ended the simulation.
    #[getter]
    fn terminated(&self) -> PyResult<Option<String>> {
        Ok(self.now()?.terminated.clone())
    }

    /// Names of the observed signals.
    fn signals(&self) -> Vec<String> {
        self.grid.signals.iter().map(|s| s.name.clone()).collect()
    }

    /// Their values now.
    fn values(&self) -> PyResult<Vec<f64>> {
        Ok(self.now()?.values.clone())
    }

    /// Names of the inputs.
    fn inputs(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Everything that decides the future.
    fn state(&self) -> PyResult<State> {
        Ok(State {
            now: self.now()?.clone(),
        })
    }

    /// Goes back to a state, or to that of another simulation of the same model.
    fn restore(&self, state: &Bound<'_, State>) -> PyResult<()> {
        *self.now()? = state.get().now.clone();
        Ok(())
    }
}

impl Stepper {
    fn now(&self) -> PyResult<std::sync::MutexGuard<'_, Now>> {
        let poisoned = |_| pyo3::exceptions::PyRuntimeError::new_err("the simulation is broken");
        self.now.lock().map_err(poisoned)
    }
}

/// The linear model at the stop time, as a dictionary.
#[pyfunction]
pub fn linearize<'py>(
    py: Python<'py>,
    core: &Bound<'py, Core>,
    given: &Bound<'py, PyDict>,
    inputs: Option<Vec<String>>,
    outputs: Option<Vec<String>>,
) -> PyResult<Bound<'py, PyDict>> {
    let core = core.get();
    let (settings, _) = settings(core, given)?;
    let prepared = core.prepared_for_one_thread(py)?;
    let inputs = inputs.unwrap_or_else(|| prepared.input_names().map(str::to_string).collect());
    let model = &core.model.compiled;
    let places: Vec<_> = match outputs {
        None => Grid::outputs(model),
        Some(names) => {
            let observe = Observe::patterns(&names);
            if let Some(pattern) = observe.unmatched(model) {
                let message = format!(
                    "there is no signal `{pattern}`{}",
                    core.model.suggest_signal(pattern)
                );
                return Err(crate::error::setting(py, "unknown-signal", message));
            }
            Grid::new(model, &settings, &observe).places().collect()
        }
    };
    let work = move || acausal_runtime::linearise(&prepared, &settings, &inputs, &places);
    let found = match wait(py, work, || Ok(()), || ())? {
        Done::Finished(found) => found.map_err(|e| failed(py, &core.model, &e))?,
        Done::Stopped(reason, _) => return Err(reason),
    };
    let d = PyDict::new(py);
    d.set_item("t", found.t)?;
    for (key, names) in [
        ("states", found.states),
        ("inputs", found.inputs),
        ("outputs", found.outputs),
    ] {
        d.set_item(key, names)?;
    }
    for (key, numbers) in [
        ("x", found.x),
        ("u", found.u),
        ("y", found.y),
        ("A", found.a),
        ("B", found.b),
        ("C", found.c),
        ("D", found.d),
    ] {
        d.set_item(key, numbers)?;
    }
    Ok(d)
}
