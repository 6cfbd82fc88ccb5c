//! Functions of the model that are interpreted at run time, and what went wrong in them.

use std::sync::{Arc, Mutex};

use acausal_expr::{FuncId, FunctionError};
use acausal_jit::CallFunctions;

/// Run-time functions, evaluated by the interpreter of function bodies.
pub(super) struct UserFunctions {
    pub functions: acausal_expr::Functions,
    /// The last failure. Solvers only see NaN and may recover from it; if they do not, this is the reason.
    pub failed: FunctionFailure,
}

impl CallFunctions for UserFunctions {
    fn apply(&self, function: u32, args: &[f64], output: u32, wrt: &[u32]) -> f64 {
        match self.functions.run(FuncId(function), args, wrt) {
            Ok(outputs) => outputs.get(output as usize).copied().unwrap_or(f64::NAN),
            Err(error) => {
                self.failed.set(error);
                f64::NAN
            }
        }
    }
}

/// Failures of functions.
#[derive(Clone, Default)]
pub(crate) struct FunctionFailure(Arc<Mutex<Failures>>);

/// The first and the last one.
type Failures = Option<(FunctionError, FunctionError)>;

impl FunctionFailure {
    fn set(&self, error: FunctionError) {
        if let Ok(mut failed) = self.0.lock() {
            *failed = Some(match failed.take() {
                Some((first, _)) => (first, error),
                None => (error.clone(), error),
            });
        }
    }

    /// What happened last, if anything did.
    pub fn reason(&self) -> Option<String> {
        let failed = self.0.lock().ok()?;
        failed.as_ref().map(|e| e.1.to_string())
    }

    /// What happened first: while parameters are computed in order, the cause of what followed.
    pub(super) fn cause(&self) -> Option<String> {
        let failed = self.0.lock().ok()?;
        failed.as_ref().map(|e| e.0.to_string())
    }
}
