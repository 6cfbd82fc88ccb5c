//! From a file or a class name to a compiled model.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use acausal_base::{Diagnostic, SourceMap, Span};
use acausal_compiled::CompiledModel;
use acausal_expr::Limits;
use acausal_expr::flat::{Experiment, FlatModel};
use acausal_instance::class::Libraries;
use acausal_syntax::ast::Expr;
use acausal_syntax::parse_expression;

use acausal_runtime::{Parameter, ParameterValue, Settings};

use crate::activity::Activity;

/// What to load besides the model itself.
#[derive(Clone, Debug, Default)]
pub struct Load {
    /// The class to simulate; without it the last class of the file.
    pub class: Option<String>,
    /// Directories with libraries.
    pub libraries: Vec<PathBuf>,
    /// `name=value` modifications of parameters and start values.
    pub set: Vec<String>,
    /// How the equations are brought into the form that is integrated.
    pub structure: acausal_index1::Options,
    /// What the model may cost.
    pub limits: Limits,
}

impl Load {
    /// Whether something is said that decides about the equations.
    pub(crate) fn changes_equations(&self) -> bool {
        self.class.is_some() || self.structure != acausal_index1::Options::default()
    }
}

/// What went wrong, with the sources that the messages point into.
#[derive(Debug)]
pub struct Failure {
    /// All messages, errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// The sources.
    pub sources: SourceMap,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for d in &self.diagnostics {
            f.write_str(&d.render(&self.sources, false))?;
        }
        Ok(())
    }
}

impl std::error::Error for Failure {}

/// Wall-clock seconds of the compilation, by phase.
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs)]
pub struct PhaseSeconds {
    pub parse: f64,
    pub flatten: f64,
    pub structure: f64,
    pub codegen: f64,
}

/// A compiled model.
#[derive(Debug)]
pub struct Model {
    /// The compiled model.
    pub compiled: Arc<CompiledModel>,
    /// Sources, for messages.
    pub sources: SourceMap,
    /// Warnings of the compilation.
    pub warnings: Vec<Diagnostic>,
    /// Seconds by phase.
    pub phases: PhaseSeconds,
    /// Parameters and start attributes that every simulation sets, unless its own settings do: what [`Load::set`] says about a model that was compiled before.
    pub set: Vec<(String, ParameterValue)>,
}

impl Model {
    /// Loads `target`: a file ending in `.mo`, the name of a class in a library, or a compiled model in a file ending in `.acm`.
    pub fn load(target: &str, load: &Load) -> Result<Model, Failure> {
        if crate::stored::is_stored(target) {
            return Model::from_file(target, load);
        }
        let clock = Instant::now();
        let (mut libraries, class) = open(target, load)?;
        let parse = clock.elapsed().as_secs_f64();
        compile_class(&mut libraries, &class, load, parse)
    }

    /// Loads a model from a text.
    pub fn from_text(name: &str, text: &str, load: &Load) -> Result<Model, Failure> {
        let clock = Instant::now();
        let mut libraries = library_paths(load);
        let class = load_class(&mut libraries, name, text, load)?;
        let parse = clock.elapsed().as_secs_f64();
        compile_class(&mut libraries, &class, load, parse)
    }

    /// The settings of the model's `experiment` annotation, with defaults for what it leaves open.
    pub fn settings(&self) -> Settings {
        self.complete(&experiment_settings(&self.compiled.symbols.experiment))
    }

    /// Settings with the parameters of [`Model::set`] that they leave open.
    pub fn complete(&self, settings: &Settings) -> Settings {
        let mut settings = settings.clone();
        let is_set = |name: &str| settings.parameters.iter().any(|p| p.0 == name);
        let open = self.set.iter().filter(|p| !is_set(&p.0)).cloned();
        let open: Vec<_> = open.collect();
        settings.parameters.extend(open);
        settings
    }

    /// The parameters of the model, with what can be set in a simulation ([`Settings::parameters`]).
    ///
    /// ```
    /// use acausal::{Load, Model, Settings};
    /// let text = "model M parameter Real k(unit = \"1/s\") = 2; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;";
    /// let model = Model::from_text("M.mo", text, &Load::default()).map_err(|f| f.to_string())?;
    /// let k = model.parameters().next().ok_or("k")?;
    /// assert_eq!((&*k.name, k.unit, k.default, k.can_be_set), ("k", "1/s", Some(vec![2.0]), true));
    ///
    /// // Compiled once, simulated with several values.
    /// for k in [1.0, 3.0] {
    ///     let parameters = vec![("k".to_string(), k.into())];
    ///     let run = model.simulate_in_memory(&Settings { parameters, ..Settings::default() }).map_err(|f| f.to_string())?;
    ///     let x = run.result.values("x").and_then(|x| x.last().copied()).ok_or("x")?;
    ///     assert!((x - (-k).exp()).abs() < 1e-5);
    /// }
    /// # Ok::<(), String>(())
    /// ```
    pub fn parameters(&self) -> impl Iterator<Item = Parameter<'_>> {
        acausal_runtime::parameters(&self.compiled)
    }
}

/// Settings from an `experiment` annotation. Without an interval there are 500 output intervals.
pub fn experiment_settings(e: &Experiment) -> Settings {
    let start = e.start.unwrap_or(0.0);
    let stop = e.stop.unwrap_or(start + 1.0);
    let interval = e
        .interval
        .filter(|i| *i > 0.0)
        .unwrap_or_else(|| default_interval(start, stop));
    Settings {
        start,
        stop,
        interval,
        tolerance: e.tolerance.unwrap_or(1e-6),
        ..Settings::default()
    }
}

/// 500 intervals, as Modelica tools usually have it.
pub(crate) fn default_interval(start: f64, stop: f64) -> f64 {
    let span = stop - start;
    if span > 0.0 { span / 500.0 } else { 1.0 }
}

fn library_paths(load: &Load) -> Libraries {
    Activity::Reading.begin();
    let mut libraries = Libraries::new();
    libraries.limits = load.limits;
    for dir in &load.libraries {
        libraries.add_search_path(dir);
    }
    if let Some(path) = std::env::var_os("MODELICAPATH") {
        libraries.add_modelica_path(&path);
    }
    libraries
}

/// Opens the target and says which class is meant.
pub(crate) fn open(target: &str, load: &Load) -> Result<(Libraries, String), Failure> {
    let mut libraries = library_paths(load);
    if !target.ends_with(".mo") {
        return Ok((
            libraries,
            load.class.clone().unwrap_or_else(|| target.to_string()),
        ));
    }
    match libraries.load_file(Path::new(target)) {
        Ok(classes) => {
            let class = choose(&mut libraries, classes, load, target)?;
            Ok((libraries, class))
        }
        Err(diagnostics) => Err(failure(&mut libraries, diagnostics)),
    }
}

fn choose(
    libraries: &mut Libraries,
    classes: Vec<String>,
    load: &Load,
    file: &str,
) -> Result<String, Failure> {
    match load.class.clone().or_else(|| classes.last().cloned()) {
        Some(c) => Ok(c),
        None => {
            let d = Diagnostic::error("no-class", Span::NONE, format!("{file} contains no class"));
            Err(failure(libraries, vec![d]))
        }
    }
}

fn failure(libraries: &mut Libraries, mut diagnostics: Vec<Diagnostic>) -> Failure {
    diagnostics.extend(libraries.take_diagnostics());
    Failure {
        diagnostics,
        sources: std::mem::take(libraries.sources_mut()),
    }
}

/// `name=value` at the first equals sign that is not part of a quoted name.
pub(crate) fn split_setting(item: &str) -> Option<(&str, &str)> {
    let (mut quoted, mut escaped) = (false, false);
    let at = item.char_indices().find_map(|(k, c)| {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '\'' => quoted = !quoted,
            '=' if !quoted => return Some(k),
            _ => {}
        }
        None
    })?;
    Some((&item[..at], &item[at + 1..]))
}

/// Parses `name=value` settings.
fn parse_set(
    libraries: &mut Libraries,
    set: &[String],
) -> Result<Vec<(String, Expr)>, Vec<Diagnostic>> {
    let mut out: Vec<(String, Expr)> = Vec::new();
    let mut errors = Vec::new();
    for item in set {
        let Some((name, value)) = split_setting(item) else {
            let message = format!("`--set {item}` needs the form name=value");
            errors.push(Diagnostic::error("set-form", Span::NONE, message));
            continue;
        };
        // Messages show the whole option, so the value is parsed at its place in it.
        let file = libraries.sources_mut().add_file("--set", item.clone());
        let place = " ".repeat(name.len() + 1);
        let (expr, diagnostics) = parse_expression(file, &format!("{place}{value}"));
        errors.extend(diagnostics);
        let name = name.trim().to_string();
        if out.iter().any(|o| o.0 == name) {
            let message = format!("`{name}` is set twice");
            errors.push(Diagnostic::error("set-twice", expr.span, message));
        }
        out.push((name, expr));
    }
    if errors.is_empty() {
        Ok(out)
    } else {
        Err(errors)
    }
}

/// Flattens a class. Of the libraries the sources are left, for messages.
pub(crate) fn flatten_class(
    libraries: &mut Libraries,
    class: &str,
    load: &Load,
) -> Result<(FlatModel, Vec<Diagnostic>), Failure> {
    let set = match parse_set(libraries, &load.set) {
        Ok(set) => set,
        Err(diagnostics) => return Err(failure(libraries, diagnostics)),
    };
    Activity::Flattening.begin();
    acausal_flatten::flatten_last(libraries, class, &set).map_err(|d| failure(libraries, d))
}

fn compile_class(
    libraries: &mut Libraries,
    class: &str,
    load: &Load,
    parse: f64,
) -> Result<Model, Failure> {
    let mut phases = PhaseSeconds {
        parse,
        ..PhaseSeconds::default()
    };
    let clock = Instant::now();
    let (flat, mut warnings) = flatten_class(libraries, class, load)?;
    phases.flatten = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    // A warning, such as that of a missing `inner`, often tells the cause of an error.
    let told = |mut messages: Vec<Diagnostic>, warnings: &[Diagnostic]| {
        messages.extend_from_slice(warnings);
        messages
    };
    Activity::Structure.begin();
    let (dae, notes) = acausal_index1::transform_noted(flat, &load.structure)
        .map_err(|d| failure(libraries, told(d, &warnings)))?;
    warnings.extend(notes);
    phases.structure = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    Activity::Code.begin();
    let compiled =
        acausal_codegen::compile(dae).map_err(|d| failure(libraries, told(vec![*d], &warnings)))?;
    phases.codegen = clock.elapsed().as_secs_f64();
    let sources = std::mem::take(libraries.sources_mut());
    Ok(Model {
        compiled: Arc::new(compiled),
        sources,
        warnings,
        phases,
        set: Vec::new(),
    })
}

/// Loads and flattens `target`: the flat model, warnings and sources.
pub fn flatten_target(
    target: &str,
    load: &Load,
) -> Result<(FlatModel, Vec<Diagnostic>, SourceMap), Failure> {
    let (mut libraries, class) = open(target, load)?;
    let (flat, warnings) = flatten_class(&mut libraries, &class, load)?;
    Ok((flat, warnings, std::mem::take(libraries.sources_mut())))
}

/// The same for a text.
pub fn flatten_text(
    name: &str,
    text: &str,
    load: &Load,
) -> Result<(FlatModel, Vec<Diagnostic>, SourceMap), Failure> {
    let mut libraries = library_paths(load);
    let class = load_class(&mut libraries, name, text, load)?;
    let (flat, warnings) = flatten_class(&mut libraries, &class, load)?;
    Ok((flat, warnings, std::mem::take(libraries.sources_mut())))
}

/// Reads a text and says which class is meant.
fn load_class(
    libraries: &mut Libraries,
    name: &str,
    text: &str,
    load: &Load,
) -> Result<String, Failure> {
    match libraries.load_text(name, text) {
        Ok(classes) => choose(libraries, classes, load, name),
        Err(diagnostics) => Err(failure(libraries, diagnostics)),
    }
}
