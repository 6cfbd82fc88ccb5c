//! One simulation: a thread computes, Python waits, looks for Ctrl-C and tells the progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use acausal::{Observe, ResultSink, Settings};
use acausal_results::ResultSet;
use acausal_results::plot::Plot;
use acausal_runtime::{InputSignal, SimError, Summary, simulate_prepared};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Kind, Known, exception, setting};
use crate::model::Core;
use crate::table::Column;
use crate::value::parameter_value;
use crate::work::{Done, wait};

/// What a simulation gave, complete or not.
#[pyclass(frozen, module = "acausal._acausal")]
pub struct Run {
    pub set: Arc<ResultSet>,
    /// Times of events and what changed.
    events: Vec<(f64, Vec<String>)>,
    /// What `--stats --format json` prints; nothing after a failure.
    stats: Option<String>,
}

/// Everything that the thread hands over.
struct Outcome {
    summary: Result<Summary, SimError>,
    set: Option<ResultSet>,
    events: Vec<(f64, Vec<String>)>,
}

/// Settings of one simulation, as a dictionary of Python has them.
pub fn settings(core: &Core, given: &Bound<'_, PyDict>) -> PyResult<(Settings, Observe)> {
    let number = |key: &str| -> PyResult<Option<f64>> {
        given.get_item(key)?.map_or(Ok(None), |v| v.extract())
    };
    let mut experiment = core.model.compiled.symbols.experiment;
    let (start, stop) = (number("start")?, number("stop")?);
    if start.is_some() || stop.is_some() {
        experiment.start = start.or(experiment.start);
        experiment.stop = stop.or(experiment.stop);
    }
    let mut s = acausal::experiment_settings(&experiment);
    s.interval = number("interval")?.unwrap_or(s.interval);
    s.tolerance = number("tolerance")?.unwrap_or(s.tolerance);
    if let Some(steady) = given.get_item("steady_state")? {
        s.steady_state = steady.extract()?;
    }
    for (key, most) in [
        ("max_steps", &mut s.max_steps),
        ("max_rows", &mut s.max_rows),
        ("max_events", &mut s.max_events),
    ] {
        if let Some(given) = given.get_item(key)?.filter(|m| !m.is_none()) {
            *most = given.extract()?;
        }
    }
    if let Some(set) = given.get_item("set")? {
        for (name, value) in set.cast_into::<PyDict>()? {
            let name: String = name.extract()?;
            let value = parameter_value(&name, &value)?;
            s.parameters.push((name, value));
        }
    }
    if let Some(inputs) = given.get_item("inputs")? {
        let inputs: Vec<(String, Vec<f64>, Vec<f64>, bool)> = inputs.extract()?;
        s.inputs = (inputs.into_iter())
            .map(|(name, times, values, hold)| InputSignal {
                name,
                times: times.into(),
                values: values.into(),
                hold,
            })
            .collect();
    }
    let observe = match given.get_item("observe")?.filter(|o| !o.is_none()) {
        None => Observe::everything(),
        Some(patterns) => {
            let observe = Observe::patterns(patterns.extract::<Vec<String>>()?);
            if let Some(pattern) = observe.unmatched(&core.model.compiled) {
                let message = format!(
                    "there is no signal `{pattern}` to store{}",
                    core.model.suggest_signal(pattern)
                );
                return Err(setting(given.py(), "unknown-signal", message));
            }
            observe
        }
    };
    Ok((core.model.complete(&s), observe))
}

/// Simulates; `progress` is called with the time reached and the fraction done.
pub fn simulate(
    core: &Core,
    py: Python<'_>,
    given: &Bound<'_, PyDict>,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<Run> {
    let began = Instant::now();
    let (settings, observe) = settings(core, given)?;
    let failed = |e: &SimError, result: Option<Py<PyAny>>| {
        let known = Known {
            time: e.time(),
            values: e.values(),
        };
        exception(py, Kind::of(e), &core.model.failed(e), known, result)
    };
    let prepared = py.detach(|| core.prepared(&settings));
    let prepared = prepared.map_err(|e| failed(&e, None))?;
    let stop = Arc::new(AtomicBool::new(false));
    let reached = Arc::new(AtomicU64::new(settings.start.to_bits()));
    let (flag, clock, asked) = (stop.clone(), reached.clone(), settings.clone());
    let work = move || {
        let mut events = Vec::new();
        let mut sink = ResultSink::new(None, Observe::nothing(), observe)
            .on_progress(|t| clock.store(t.to_bits(), Ordering::Relaxed))
            .on_event(|t, changes| events.push((t, changes.to_vec())))
            .interrupt_by(flag);
        let summary = simulate_prepared(&prepared, &asked, &mut sink);
        let set = sink.into_parts().1.ok();
        Outcome {
            summary,
            set,
            events,
        }
    };
    let span = settings.stop - settings.start;
    let tell = || match &progress {
        Some(p) => {
            let t = f64::from_bits(reached.load(Ordering::Relaxed));
            p.call1((t, (t - settings.start) / span)).map(|_| ())
        }
        None => Ok(()),
    };
    let done = wait(py, work, tell, || stop.store(true, Ordering::Relaxed))?;
    let as_run = |outcome: Outcome| {
        let json = |s: &Summary| {
            acausal::command::summary_json(&core.model, &settings, s, began).to_string()
        };
        outcome.set.map(|set| Run {
            set: Arc::new(set),
            events: outcome.events,
            stats: outcome.summary.as_ref().ok().map(json),
        })
    };
    match done {
        Done::Finished(mut outcome) => {
            let error = match &outcome.summary {
                Err(e) => Some(e.clone()),
                Ok(_) => None,
            };
            if outcome.set.is_none() && error.is_none() {
                outcome.summary = Err(SimError::Output("no rows were written".into()));
            }
            let run = as_run(outcome);
            match (error, run) {
                (None, Some(run)) => {
                    if let Some(p) = progress {
                        p.call1((settings.stop, 1.0))?;
                    }
                    Ok(run)
                }
                (error, run) => {
                    let e =
                        error.unwrap_or_else(|| SimError::Output("no rows were written".into()));
                    Err(failed(&e, partial(py, run)?))
                }
            }
        }
        Done::Stopped(reason, outcome) => {
            let result = partial(py, outcome.and_then(as_run))?;
            Err(interrupted(py, reason, result))
        }
    }
}

/// What was computed before a failure, for the exception.
fn partial(py: Python<'_>, run: Option<Run>) -> PyResult<Option<Py<PyAny>>> {
    run.map(|r| Ok(Bound::new(py, r)?.into_any().unbind()))
        .transpose()
}

/// Ctrl-C becomes an exception that has the result so far; what else was raised meanwhile stays as it is.
fn interrupted(py: Python<'_>, reason: PyErr, result: Option<Py<PyAny>>) -> PyErr {
    if !reason.is_instance_of::<pyo3::exceptions::PyKeyboardInterrupt>(py) {
        return reason;
    }
    let make = || -> PyResult<Bound<'_, PyAny>> {
        let class = py.import("acausal._errors")?.getattr("Interrupted")?;
        class.call_method1("_of", (result,))
    };
    match make() {
        Ok(e) => PyErr::from_value(e),
        Err(e) => e,
    }
}

#[pymethods]
impl Run {
    /// The model.
    #[getter]
    fn model(&self) -> &str {
        &self.set.info().model
    }

    /// The instants of the rows, as a buffer.
    #[getter]
    fn time(&self) -> Column {
        Column::time(self.set.clone())
    }

    /// Names, units, descriptions and types of all signals.
    fn signals(&self) -> Vec<(&str, &str, &str, &'static str)> {
        let signals = self.set.signals().iter();
        signals
            .map(|s| {
                (
                    &*s.name,
                    &*s.unit,
                    &*s.description,
                    crate::table::kind_name(s.kind),
                )
            })
            .collect()
    }

    /// The values of a signal: a buffer, a number if it is constant, or nothing if there is none of this name.
    fn values<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(signal) = self.set.find(name) else {
            return Ok(None);
        };
        crate::table::values(py, &self.set, signal).map(Some)
    }

    /// Events: time and changes.
    fn events(&self) -> Vec<(f64, Vec<String>)> {
        self.events.clone()
    }

    /// What was done, as JSON.
    fn stats(&self) -> Option<&str> {
        self.stats.as_deref()
    }

    /// A drawing of some signals in SVG.
    fn svg(&self, names: Vec<String>) -> PyResult<String> {
        let plot = Plot::of_signals(&self.set, &names)
            .map_err(|e| pyo3::exceptions::PyKeyError::new_err(e.to_string()))?;
        Ok(plot.to_svg())
    }

    /// Writes a result file; its extension chooses the format.
    fn write(&self, py: Python<'_>, path: std::path::PathBuf) -> PyResult<()> {
        let written = py.detach(|| {
            let mut writer = acausal_results::create(&path)?;
            self.set.write_to(&mut *writer)?;
            writer.finish()
        });
        written
            .map(|_| ())
            .map_err(|e| pyo3::exceptions::PyOSError::new_err(e.to_string()))
    }

    /// A stream of the Arrow C data interface with the time and all signals.
    fn arrow_stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyCapsule>> {
        crate::arrow::stream(py, self.set.clone())
    }
}
