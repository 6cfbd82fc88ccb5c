//! Sweeps: the façade's threads over one compiled model, results as one block of numbers; directories of results.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use acausal::sweep::design::{Axis, factorial, latin_hypercube};
use acausal::sweep::store::{Header, SweepStore, chunk_size};
use acausal::sweep::{Case, Grid, Outcome, Status, Sweep};
use acausal::{Failure, ParameterValue};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{Kind, Known, exception};
use crate::model::Core;
use crate::simulation::settings;
use crate::table::Numbers;
use crate::value::parameter_value;
use crate::work::{Done, wait};

/// How a case ended: `finished`, `terminated` or `failed`; code, text and time of a failure.
type Ended = (&'static str, Option<String>, Option<String>, Option<f64>);

/// What a sweep gave: numbers of all cases (case by case, in each signal by signal), and how each one ended; nothing where it did not run.
type Found = (Py<Numbers>, Vec<Option<Ended>>);

fn ended(status: Status) -> Ended {
    match status {
        Status::Finished => ("finished", None, None, None),
        Status::Terminated(message) => ("terminated", None, Some(message), None),
        Status::Failed { code, text, time } => ("failed", Some(code), Some(text), time),
    }
}

fn cases(names: &[String], given: &Bound<'_, PyAny>) -> PyResult<Vec<Case>> {
    let case = |row: Bound<'_, PyAny>| {
        let values = row.try_iter()?.zip(names);
        let values = values.map(|(value, name)| parameter_value(name, &value?));
        let case: Case = values.collect::<PyResult<_>>()?;
        match case.len() == names.len() {
            true => Ok(case),
            false => Err(PyValueError::new_err("a case has too few values")),
        }
    };
    given.try_iter()?.map(|row| case(row?)).collect()
}

fn failed(py: Python<'_>, failure: &Failure) -> PyErr {
    exception(py, Kind::Setting, failure, Known::default(), None)
}

/// Instants; name, unit and description of each signal; cases of a chunk that nobody gave a size.
type GridFacts = (Vec<f64>, Vec<(String, String, String)>, usize);

/// Instants and signals of a sweep.
#[pyfunction]
pub fn sweep_grid(core: &Bound<'_, Core>, given: &Bound<'_, PyDict>) -> PyResult<GridFacts> {
    let core = core.get();
    let (settings, observe) = settings(core, given)?;
    settings
        .check()
        .map_err(|e| failed(given.py(), &core.model.failed(&e)))?;
    let grid = Grid::new(&core.model.compiled, &settings, &observe);
    let chunk = chunk_size(grid.case_len());
    let signals = grid.signals.into_iter();
    let signals = signals.map(|s| (s.name, s.unit, s.description));
    Ok((grid.times, signals.collect(), chunk))
}

/// Names and values of all cases, before anything is simulated.
#[pyfunction]
pub fn sweep_check(
    core: &Bound<'_, Core>,
    given: &Bound<'_, PyDict>,
    names: Vec<String>,
    rows: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let py = given.py();
    let core = core.get();
    let rows = cases(&names, rows)?;
    let (settings, observe) = settings(core, given)?;
    let prepared = core.prepared_for_one_thread(py)?;
    let sweep = Sweep::with(&core.model, prepared, settings, &observe, names);
    let sweep = sweep.map_err(|f| failed(py, &f))?;
    rows.iter()
        .try_for_each(|row| sweep.check(row))
        .map_err(|f| failed(py, &f))
}

/// Simulates cases in so many threads; `progress` is called with the number of cases that have ended and of those that failed. After Ctrl-C, what has ended is given.
#[pyfunction]
pub fn sweep(
    py: Python<'_>,
    core: &Bound<'_, Core>,
    given: &Bound<'_, PyDict>,
    names: Vec<String>,
    rows: &Bound<'_, PyAny>,
    threads: usize,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<(Found, Option<PyErr>)> {
    let core = core.get();
    let rows = cases(&names, rows)?;
    let (settings, observe) = settings(core, given)?;
    let prepared = core.prepared_for_one_thread(py)?;
    let model = core.model.clone();
    let stop = Arc::new(AtomicBool::new(false));
    let counts: Arc<[AtomicUsize; 2]> = Arc::default();
    let (flag, counted) = (stop.clone(), counts.clone());
    // What has ended stays even if the sweep does not end in time after Ctrl-C.
    let work = move || -> Result<(Vec<f64>, Vec<Option<Ended>>), Failure> {
        let sweep = Sweep::with(&model, prepared, settings, &observe, names)?;
        let len = sweep.grid.case_len();
        let mut numbers = vec![f64::NAN; len * rows.len()];
        let mut endings: Vec<Option<Ended>> = vec![None; rows.len()];
        let ran = sweep.run(&rows, 0..rows.len(), threads, &flag, |outcome| {
            let at = outcome.case * len;
            numbers[at..at + len].copy_from_slice(&outcome.values);
            let failed = matches!(outcome.status, Status::Failed { .. });
            counted[0].fetch_add(1, Ordering::Relaxed);
            counted[1].fetch_add(usize::from(failed), Ordering::Relaxed);
            endings[outcome.case] = Some(ended(outcome.status));
            ControlFlow::Continue(())
        });
        let no_thread = |e: std::io::Error| {
            let text = format!("no thread could be started: {e}");
            model.failed(&acausal_runtime::SimError::Settings(text))
        };
        ran.map(|()| (numbers, endings)).map_err(no_thread)
    };
    let tell = || match &progress {
        Some(p) => {
            let [done, failed] = &*counts;
            let counts = (done.load(Ordering::Relaxed), failed.load(Ordering::Relaxed));
            p.call1(counts).map(|_| ())
        }
        None => Ok(()),
    };
    let found = |r: Result<(Vec<f64>, Vec<Option<Ended>>), Failure>| -> PyResult<Found> {
        let (numbers, endings) = r.map_err(|f| failed(py, &f))?;
        Ok((Py::new(py, Numbers::new(numbers))?, endings))
    };
    match wait(py, work, tell, || stop.store(true, Ordering::Relaxed))? {
        Done::Finished(result) => Ok((found(result)?, None)),
        Done::Stopped(reason, Some(result)) => Ok((found(result)?, Some(reason))),
        Done::Stopped(reason, None) => Err(reason),
    }
}

/// The cases of a design: all combinations (`factorial`), a latin hypercube (`lhs`), or what `points` of the unit cube stand for. An axis is `("values", [..])`,
/// `("normal", [mean, deviation])` or `("uniform", [low, high])`.
#[pyfunction]
pub fn design(
    axes: Vec<(String, Vec<f64>)>,
    kind: &str,
    n: usize,
    seed: u64,
    points: Option<Vec<Vec<f64>>>,
) -> PyResult<Vec<Vec<f64>>> {
    let axes: Vec<Axis> = axes.iter().map(axis).collect::<PyResult<_>>()?;
    let cases = match (kind, points) {
        ("factorial", _) => factorial(&axes)
            .ok_or_else(|| PyValueError::new_err("distributions have no combinations"))?,
        ("lhs", _) => latin_hypercube(&axes, n, seed),
        (_, Some(points)) => {
            let inside = |u: f64| u.clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON / 2.0);
            let case = |point: &Vec<f64>| {
                let coordinates = axes.iter().zip(point);
                coordinates
                    .map(|(axis, &u)| axis.quantile(inside(u)))
                    .collect()
            };
            points.iter().map(case).collect()
        }
        _ => return Err(PyValueError::new_err(format!("there is no design {kind}"))),
    };
    Ok(cases
        .iter()
        .map(|c| c.iter().map(number).collect())
        .collect())
}

/// An axis of numbers.
fn axis((kind, numbers): &(String, Vec<f64>)) -> PyResult<Axis> {
    let axis = match (kind.as_str(), &numbers[..]) {
        ("values", values) => Axis::Values(values.iter().map(|&v| v.into()).collect()),
        ("normal", &[mean, deviation]) => Axis::Normal { mean, deviation },
        ("uniform", &[low, high]) => Axis::Uniform { low, high },
        _ => {
            return Err(PyValueError::new_err(format!(
                "there is no distribution {kind}"
            )));
        }
    };
    axis.check().map_err(PyValueError::new_err)?;
    Ok(axis)
}

fn number(value: &ParameterValue) -> f64 {
    match value {
        ParameterValue::Number(v) => *v,
        _ => f64::NAN,
    }
}

/// A directory with a sweep.
#[pyclass(frozen, module = "acausal._acausal")]
pub struct Directory {
    store: Mutex<SweepStore>,
    case_len: usize,
}

#[pymethods]
impl Directory {
    /// Opens a directory, a new one or one with a part of the same sweep.
    #[new]
    fn new(
        core: &Bound<'_, Core>,
        path: PathBuf,
        given: &Bound<'_, PyDict>,
        names: Vec<String>,
        rows: &Bound<'_, PyAny>,
        chunk: usize,
    ) -> PyResult<Directory> {
        let core = core.get();
        let rows = cases(&names, rows)?;
        let (settings, observe) = settings(core, given)?;
        let grid = Grid::new(&core.model.compiled, &settings, &observe);
        let signals = grid.signals.iter();
        let header = Header {
            model: &core.model,
            settings: &settings,
            names: &names,
            cases: &rows,
            chunk,
            signals: signals.map(|s| (s.name.clone(), s.unit.clone())).collect(),
            times: &grid.times,
        };
        Ok(Directory {
            store: Mutex::new(SweepStore::open(&path, &header).map_err(PyOSError::new_err)?),
            case_len: grid.case_len(),
        })
    }

    /// Whether a chunk is there.
    fn has(&self, chunk: usize) -> bool {
        self.store.lock().is_ok_and(|s| s.has(chunk))
    }

    /// Failed cases in all chunks.
    fn failed(&self) -> usize {
        self.store.lock().map_or(0, |s| s.failed())
    }

    /// Stores a chunk whose first case has this number.
    fn write(
        &self,
        py: Python<'_>,
        chunk: usize,
        first: usize,
        numbers: PyBuffer<f64>,
        failures: Vec<Option<(String, String, Option<f64>)>>,
    ) -> PyResult<()> {
        let numbers = numbers.to_vec(py)?;
        if numbers.len() != self.case_len * failures.len() {
            return Err(PyValueError::new_err(
                "the chunk has another number of values",
            ));
        }
        let outcomes: Vec<Outcome> = (failures.into_iter().enumerate())
            .map(|(k, failure)| Outcome {
                case: first + k,
                status: match failure {
                    None => Status::Finished,
                    Some((code, text, time)) => Status::Failed { code, text, time },
                },
                values: numbers[k * self.case_len..(k + 1) * self.case_len].to_vec(),
            })
            .collect();
        let written = py.detach(|| match self.store.lock() {
            Ok(mut store) => store.write(chunk, &outcomes),
            Err(_) => Err("the directory is in an unknown state".to_string()),
        });
        written.map_err(PyOSError::new_err)
    }
}
