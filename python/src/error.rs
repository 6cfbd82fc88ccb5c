//! Failures as exceptions: the classes are Python's (`acausal._errors`), the text is that of the command.

use acausal::Failure;
use acausal_runtime::SimError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Which class of exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The model is wrong.
    Compile,
    /// A name or value that was asked for is.
    Setting,
    /// The simulation failed.
    Simulation,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Compile => "CompileError",
            Kind::Setting => "SettingError",
            Kind::Simulation => "SimulationError",
        }
    }

    /// Of a failed simulation.
    pub fn of(e: &SimError) -> Kind {
        match e {
            SimError::Setting(_) | SimError::Settings(_) | SimError::Assumption(_) => Kind::Setting,
            _ => Kind::Simulation,
        }
    }
}

/// What is known about a failed simulation besides its message.
#[derive(Default)]
pub struct Known {
    /// When.
    pub time: Option<f64>,
    /// Values that it names.
    pub values: Vec<(String, f64)>,
}

/// The exception for a failure.
pub fn exception(
    py: Python<'_>,
    kind: Kind,
    failure: &Failure,
    known: Known,
    result: Option<Py<PyAny>>,
) -> PyErr {
    let make = || -> PyResult<Bound<'_, PyAny>> {
        let values = PyDict::new(py);
        for (name, value) in &known.values {
            values.set_item(name, value)?;
        }
        let class = py.import("acausal._errors")?.getattr(kind.name())?;
        let text = failure.to_string();
        let diagnostics = diagnostics_json(failure);
        class.call_method1(
            "_of",
            (text.trim_end(), diagnostics, known.time, values, result),
        )
    };
    match make() {
        Ok(e) => PyErr::from_value(e),
        Err(e) => e,
    }
}

/// All messages as a JSON array.
pub fn diagnostics_json(failure: &Failure) -> String {
    let objects: Vec<String> = (failure.diagnostics.iter())
        .map(|d| acausal::diagnostic_json(d, &failure.sources).to_string())
        .collect();
    format!("[{}]", objects.join(","))
}

/// A name or value that makes no sense, said without a place.
pub fn setting(py: Python<'_>, code: &'static str, message: String) -> PyErr {
    let d = acausal_base::Diagnostic::error(code, acausal_base::Span::NONE, message);
    let failure = Failure {
        diagnostics: vec![d],
        sources: Default::default(),
    };
    exception(py, Kind::Setting, &failure, Known::default(), None)
}
