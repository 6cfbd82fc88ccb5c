//! Compiled models: from files, classes, texts and bytes; what they contain.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use acausal::command::Explanation;
use acausal::{Failure, Load, Model, Settings};
use acausal_base::Diagnostic;
use acausal_runtime::{Prepared, SimError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::error::{Kind, Known, exception};
use crate::simulation::{Run, simulate};
use crate::work::{Done, wait};

/// What is to be compiled.
#[derive(Clone)]
enum Source {
    /// A file or a class.
    Target(String),
    /// The name of a text and the text.
    Text(String, String),
}

/// A compiled model.
#[pyclass(frozen, module = "acausal._acausal")]
pub struct Core {
    pub model: Arc<Model>,
    prepared: Mutex<Option<Arc<Prepared>>>,
    /// The same for simulations with one thread each, where that makes a difference.
    single: Mutex<Option<Arc<Prepared>>>,
}

impl Core {
    fn new(model: Model) -> Core {
        Core {
            model: Arc::new(model),
            prepared: Mutex::new(None),
            single: Mutex::new(None),
        }
    }

    /// The model with its machine code, which is made when it is asked for the first time.
    pub fn prepared(&self, settings: &Settings) -> Result<Arc<Prepared>, SimError> {
        make_once(&self.prepared, || {
            acausal_runtime::prepare(self.model.compiled.clone(), settings)
        })
    }

    /// The same for simulations that run beside others.
    pub fn prepared_for_one_thread(&self, py: Python<'_>) -> PyResult<Arc<Prepared>> {
        let settings = Settings {
            threads: Some(1),
            ..Settings::default()
        };
        let make = || {
            let usual = self.prepared(&Settings::default())?;
            match usual.uses_threads() {
                false => Ok(usual),
                true => make_once(&self.single, || {
                    acausal_runtime::prepare(self.model.compiled.clone(), &settings)
                }),
            }
        };
        py.detach(make).map_err(|e| {
            let failure = self.model.failed(&e);
            exception(py, Kind::of(&e), &failure, Known::default(), None)
        })
    }
}

/// What is in the place; made now if there is nothing.
fn make_once(
    place: &Mutex<Option<Arc<Prepared>>>,
    make: impl FnOnce() -> Result<Arc<Prepared>, SimError>,
) -> Result<Arc<Prepared>, SimError> {
    let Ok(mut place) = place.lock() else {
        return make();
    };
    if let Some(prepared) = &*place {
        return Ok(prepared.clone());
    }
    let new = make()?;
    *place = Some(new.clone());
    Ok(new)
}

/// Whether all errors are about what was set: the text of a setting, or the name in it.
fn kind(failure: &Failure) -> Kind {
    let about_set = |d: &Diagnostic| match failure.sources.get(d.span().file) {
        Some(file) if file.name.starts_with("--set") => true,
        _ => matches!(d.code, "set-form" | "set-twice" | "wrong-setting"),
    };
    let mut errors = failure.diagnostics.iter().filter(|d| d.is_error());
    match errors.all(about_set) {
        true => Kind::Setting,
        false => Kind::Compile,
    }
}

/// Runs what the compiler does, without Python's lock.
fn compile<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> PyResult<T> {
    match wait(py, work, || Ok(()), || ())? {
        Done::Finished(Ok(value)) => Ok(value),
        Done::Finished(Err(failure)) => Err(exception(
            py,
            kind(&failure),
            &failure,
            Known::default(),
            None,
        )),
        Done::Stopped(reason, _) => Err(reason),
    }
}

/// Options of the compiler, as a dictionary of Python has them.
fn options(given: &Bound<'_, PyDict>) -> PyResult<Load> {
    let mut load = Load::default();
    let structure = &mut load.structure;
    for (key, value) in given {
        let key: String = key.extract()?;
        match key.as_str() {
            "class_name" => load.class = value.extract()?,
            "libraries" => load.libraries = value.extract::<Vec<PathBuf>>()?,
            "set" => load.set = value.extract()?,
            "scalarise" => structure.scalarise = value.extract()?,
            "no_state_selection" => structure.no_state_selection = value.extract()?,
            "no_tearing" => structure.no_tearing = value.extract()?,
            "prefer_states" => structure.prefer_states = value.extract()?,
            _ => {
                let message = format!("there is no option `{key}`");
                return Err(pyo3::exceptions::PyTypeError::new_err(message));
            }
        }
    }
    Ok(load)
}

fn source(target: String, text: Option<String>) -> Source {
    match text {
        Some(text) => Source::Text(target, text),
        None => Source::Target(target),
    }
}

#[pymethods]
impl Core {
    /// Compiles a file, a class or a text.
    #[staticmethod]
    fn load(
        py: Python<'_>,
        target: String,
        text: Option<String>,
        given: &Bound<'_, PyDict>,
    ) -> PyResult<Core> {
        let load = options(given)?;
        let source = source(target, text);
        let compiled = compile(py, move || match source {
            Source::Target(target) => {
                acausal::command::check_target(&target, &load.libraries)?;
                Model::load(&target, &load)
            }
            Source::Text(name, text) => Model::from_text(&name, &text, &load),
        });
        compiled.map(Core::new)
    }

    /// What the compiler makes of it, as JSON.
    #[staticmethod]
    fn explain(
        py: Python<'_>,
        target: String,
        text: Option<String>,
        given: &Bound<'_, PyDict>,
    ) -> PyResult<String> {
        let load = options(given)?;
        let source = source(target, text);
        let explained = move || {
            let flat = match source {
                Source::Target(target) => acausal::flatten_target(&target, &load)?,
                Source::Text(name, text) => acausal::flatten_text(&name, &text, &load)?,
            };
            Explanation::of(flat, &load.structure)
        };
        Ok(compile(py, explained)?.json().to_string())
    }

    /// A model from the bytes of `to_bytes`.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, name: String, bytes: &[u8]) -> PyResult<Core> {
        let bytes = bytes.to_vec();
        compile(py, move || Model::from_bytes(&name, &bytes)).map(Core::new)
    }

    /// The compiled model as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let model = self.model.clone();
        let bytes = compile(py, move || model.to_bytes())?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Makes the machine code.
    fn prepare(&self, py: Python<'_>) -> PyResult<()> {
        let settings = self.model.settings();
        let prepared = py.detach(|| self.prepared(&settings));
        prepared.map(|_| ()).map_err(|e| {
            let failure = self.model.failed(&e);
            exception(py, Kind::of(&e), &failure, Known::default(), None)
        })
    }

    /// Simulates; `progress` is called with the time reached and the fraction done.
    fn simulate(
        &self,
        py: Python<'_>,
        given: &Bound<'_, PyDict>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Run> {
        simulate(self, py, given, progress)
    }

    /// Name of the class.
    #[getter]
    fn name(&self) -> String {
        self.model.compiled.symbols.name.to_string()
    }

    /// Number of unknowns of the integrator.
    #[getter]
    fn unknowns(&self) -> usize {
        self.model.compiled.n
    }

    /// Start, stop, interval and tolerance of a simulation that is told nothing else.
    #[getter]
    fn experiment(&self) -> (f64, f64, f64, f64) {
        let s = self.model.settings();
        (s.start, s.stop, s.interval, s.tolerance)
    }

    /// Names of all signals.
    fn signals(&self) -> Vec<String> {
        self.model.signal_names().collect()
    }

    /// Warnings and notes of the compiler, as JSON.
    fn diagnostics(&self) -> (String, String) {
        let failure = Failure {
            diagnostics: self.model.warnings.clone(),
            sources: self.model.sources.clone(),
        };
        (
            failure.to_string(),
            crate::error::diagnostics_json(&failure),
        )
    }

    /// The parameters, as dictionaries.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for p in self.model.parameters() {
            let d = PyDict::new(py);
            let enumeration = match p.ty {
                acausal_expr::flat::VarType::Enum(e) => {
                    let literals = &self.model.compiled.symbols.enums[e as usize].literals;
                    Some(literals.iter().map(ToString::to_string).collect::<Vec<_>>())
                }
                _ => None,
            };
            d.set_item("name", &p.name)?;
            d.set_item("type", type_name(p.ty))?;
            d.set_item("dims", p.dims.to_vec())?;
            d.set_item("unit", p.unit)?;
            d.set_item("display_unit", p.display_unit)?;
            d.set_item("description", p.description)?;
            d.set_item("default", &p.default)?;
            d.set_item("min", p.min)?;
            d.set_item("max", p.max)?;
            d.set_item("literals", enumeration)?;
            d.set_item("structural", !p.can_be_set)?;
            list.append(d)?;
        }
        Ok(list)
    }
}

fn type_name(ty: acausal_expr::flat::VarType) -> &'static str {
    use acausal_expr::flat::VarType;
    match ty {
        VarType::Real => "Real",
        VarType::Integer => "Integer",
        VarType::Boolean => "Boolean",
        VarType::String => "String",
        VarType::Enum(_) => "enumeration",
    }
}
