//! Work that Python waits for: in a thread of its own, without Python's lock, while the caller looks for Ctrl-C.
//!
//! Signals reach Python code only when the main thread asks for them, so the caller asks every [`TICK`]. What is asked to stop gets [`GRACE`] to hand over what it has
//! so far; work that does not end within it (the compiler, or one long step) is left to itself and its result is dropped.

use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use acausal::command::STACK_BYTES;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often signals are looked for and progress is told.
const TICK: Duration = Duration::from_millis(25);
/// How long after Ctrl-C the work may take to end.
const GRACE: Duration = Duration::from_millis(150);

/// How work ended.
pub enum Done<T> {
    /// By itself.
    Finished(T),
    /// Somebody wanted it to stop; what there was by then, if it stopped in time.
    Stopped(PyErr, Option<T>),
}

/// Runs `work` and waits for it. `tick` is called now and then and may fail, which stops the work as Ctrl-C does: `stop` is called, then the work has a moment to end.
pub fn wait<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
    mut tick: impl FnMut() -> PyResult<()>,
    stop: impl FnOnce(),
) -> PyResult<Done<T>> {
    let (sender, receiver) = channel();
    // Python wants to know that what runs without its lock may move to another thread; only this one receives.
    let receiver = Mutex::new(receiver);
    let receive = |most: Duration| match receiver.lock() {
        Ok(receiver) => receiver.recv_timeout(most),
        Err(_) => Err(RecvTimeoutError::Disconnected),
    };
    std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        // Nobody receives what was left to itself.
        .spawn(move || drop(sender.send(work())))
        .map_err(|e| PyRuntimeError::new_err(format!("no thread could be started: {e}")))?;
    let defect = || {
        let text =
            "acausal stopped because of a defect of its own; please report it with the model";
        Err(PyRuntimeError::new_err(text))
    };
    let reason = loop {
        match py.detach(|| receive(TICK)) {
            Ok(result) => return Ok(Done::Finished(result)),
            Err(RecvTimeoutError::Disconnected) => return defect(),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(e) = py.check_signals().and_then(|()| tick()) {
                    break e;
                }
            }
        }
    };
    stop();
    let until = Instant::now() + GRACE;
    let left = || until.saturating_duration_since(Instant::now());
    Ok(Done::Stopped(reason, py.detach(|| receive(left())).ok()))
}
