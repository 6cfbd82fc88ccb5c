//! Compiled models in files.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use acausal_base::{Diagnostic, SourceMap, Span};
use acausal_compiled::file;

use crate::load::{Failure, Load, Model, Phases};

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
            phases: Phases {
                parse: clock.elapsed().as_secs_f64(),
                ..Phases::default()
            },
        })
    }

    /// A compiled model from a file. What would change its equations is refused: they are compiled.
    pub(crate) fn from_file(target: &str, load: &Load) -> Result<Model, Failure> {
        if load.changes_equations() {
            let message = format!(
                "{target} is compiled: its equations and parameters cannot be changed any more"
            );
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
        Model::from_bytes(target, &bytes)
    }
}

fn failed(code: &'static str, message: String) -> Failure {
    Failure {
        diagnostics: vec![Diagnostic::error(code, Span::NONE, message)],
        sources: SourceMap::default(),
    }
}
