//! Compiled models in files.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use acausal_base::{Diagnostic, SourceMap, Span};
use acausal_compiled::file;

use acausal_runtime::ParameterValue;
use acausal_runtime::parameters::{NameIndex, NotAValue, resolve};

use crate::load::{Failure, Load, Model, PhaseSeconds, split_setting};

/// The extension of a file with a compiled model.
pub const EXTENSION: &str = "acm";

/// Whether a target names such a file.
pub fn is_stored(target: &str) -> bool {
    Path::new(target)
        .extension()
        .is_some_and(|e| e == EXTENSION)
}

impl Model {
    /// The model as bytes, to be simulated elsewhere ([`Model::from_bytes`]).
    pub fn to_bytes(&self) -> Result<Vec<u8>, Failure> {
        file::write(&self.compiled, &self.sources).map_err(|e| failed("not-stored", e.to_string()))
    }

    /// A compiled model from the bytes of [`Model::to_bytes`]; the name is for messages.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Model, Failure> {
        let clock = Instant::now();
        let (compiled, sources) =
            file::read(bytes).map_err(|e| failed("bad-model-file", format!("{name}: {e}")))?;
        Ok(Model {
            compiled: Arc::new(compiled),
            sources,
            warnings: Vec::new(),
            phases: PhaseSeconds {
                parse: clock.elapsed().as_secs_f64(),
                ..PhaseSeconds::default()
            },
            set: Vec::new(),
        })
    }

    /// A compiled model from a file. What would change its equations is refused: they are compiled. Parameters are set in each simulation.
    pub(crate) fn from_file(target: &str, load: &Load) -> Result<Model, Failure> {
        if load.changes_equations() {
            let message = format!("{target} is compiled: its equations cannot be changed any more");
            let hint = "give these options to `acausal compile`";
            return Err(Failure {
                diagnostics: vec![
                    Diagnostic::error("compiled-model", Span::NONE, message).hint(hint),
                ],
                sources: SourceMap::default(),
            });
        }
        let bytes = std::fs::read(target)
            .map_err(|e| failed("unreadable-file", format!("{target} cannot be read: {e}")))?;
        let mut model = Model::from_bytes(target, &bytes)?;
        model.set = match parse_settings(&load.set) {
            Ok(set) => set,
            Err(diagnostics) => {
                return Err(Failure {
                    diagnostics,
                    sources: model.sources,
                });
            }
        };
        // A mistake is told now, not when the first simulation begins.
        let index = NameIndex::new(&model.compiled);
        if let Err(e) = resolve(&model.compiled, &index, &model.set) {
            return Err(model.failed(&acausal_runtime::SimError::Setting(e)));
        }
        Ok(model)
    }
}

/// `name=value` settings whose values need no compiler.
fn parse_settings(set: &[String]) -> Result<Vec<(String, ParameterValue)>, Vec<Diagnostic>> {
    let mut out: Vec<(String, ParameterValue)> = Vec::new();
    let mut errors = Vec::new();
    for item in set {
        let Some((name, value)) = split_setting(item) else {
            let message = format!("`--set {item}` needs the form name=value");
            errors.push(Diagnostic::error("set-form", Span::NONE, message));
            continue;
        };
        match value.parse() {
            Ok(value) => out.push((name.trim().to_string(), value)),
            Err(NotAValue) => {
                let message = format!("`{}` is no value for `{}`", value.trim(), name.trim());
                let hint = "compiled models take numbers, true, false, literals of enumerations, and arrays of these in {}";
                errors.push(Diagnostic::error("wrong-setting", Span::NONE, message).hint(hint));
            }
        }
    }
    if errors.is_empty() {
        Ok(out)
    } else {
        Err(errors)
    }
}

fn failed(code: &'static str, message: String) -> Failure {
    Failure {
        diagnostics: vec![Diagnostic::error(code, Span::NONE, message)],
        sources: SourceMap::default(),
    }
}
