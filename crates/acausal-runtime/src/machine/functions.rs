//! Functions of the model that are interpreted at run time, and what went wrong in them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use acausal_expr::{FuncId, FunctionError};
use acausal_jit::CallFunctions;

/// Run-time functions, evaluated by the interpreter of function bodies.
pub(super) struct UserFunctions {
    pub functions: acausal_expr::Functions,
    /// The last failure. Solvers only see NaN and may recover from it; if they do not, this is the reason.
    pub failed: FunctionFailure,
    /// Per function: calls in a row that did not end within the limit.
    pub endless: Vec<AtomicU32>,
}

/// Calls in a row of one function that may take all steps they are allowed. A solver that tried a point too far away finds a better one after that; to a
/// function that has no end it would go on forever, since each call takes seconds.
const MOST_ENDLESS: u32 = 2;

impl CallFunctions for UserFunctions {
    fn apply(&self, function: u32, args: &[f64], output: u32, wrt: &[u32]) -> f64 {
        let func = FuncId(function);
        let endless = self.endless.get(function as usize);
        if endless.is_some_and(|n| n.load(Ordering::Relaxed) >= MOST_ENDLESS) {
            return f64::NAN;
        }
        match self.functions.run(func, args, wrt) {
            Ok(outputs) => {
                if let Some(n) = endless.filter(|n| n.load(Ordering::Relaxed) > 0) {
                    n.store(0, Ordering::Relaxed);
                }
                let value = outputs.get(output as usize).copied().unwrap_or(f64::NAN);
                match self.functions.expect_assigned(func, output, value) {
                    Ok(()) => value,
                    Err(error) => self.failed.set(error),
                }
            }
            Err(error) => {
                if let (FunctionError::Endless { .. }, Some(n)) = (&error, endless) {
                    n.fetch_add(1, Ordering::Relaxed);
                }
                self.failed.set(error)
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
    /// Keeps a failure; what solvers see instead of a value.
    fn set(&self, error: FunctionError) -> f64 {
        if let Ok(mut failed) = self.0.lock() {
            *failed = Some(match failed.take() {
                Some((first, _)) => (first, error),
                None => (error.clone(), error),
            });
        }
        f64::NAN
    }

    /// What happened last, if anything did.
    pub fn reason(&self) -> Option<FunctionError> {
        let failed = self.0.lock().ok()?;
        failed.as_ref().map(|e| e.1.clone())
    }

    /// What happened first: while parameters are computed in order, the cause of what followed.
    pub(super) fn cause(&self) -> Option<String> {
        let failed = self.0.lock().ok()?;
        failed.as_ref().map(|e| e.0.to_string())
    }
}
