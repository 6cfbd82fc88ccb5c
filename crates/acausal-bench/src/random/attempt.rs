//! One simulation through the façade: bounded in time, in a thread of its own, so that a panic or a run without end is an
//! outcome and not the end of the search.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use acausal::{Failure, InMemory, Load, Model, Observe, ResultSink, Settings};
use acausal_base::Severity;
use acausal_results::ResultSet;
use acausal_runtime::SimError;

use super::case::RandomCase;
use crate::cpu;

/// Options of the compiler that must not change what comes out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum CompilerForm {
    /// As a user gets it
    #[default]
    Default,
    /// `--scalarise`
    Scalarise,
    /// `--no-state-selection`
    NoStateSelection,
    /// `--no-tearing`
    NoTearing,
}

impl CompilerForm {
    /// The options.
    pub fn structure(self) -> acausal_index1::Options {
        acausal_index1::Options {
            scalarise: self == CompilerForm::Scalarise,
            no_state_selection: self == CompilerForm::NoStateSelection,
            no_tearing: self == CompilerForm::NoTearing,
            ..acausal_index1::Options::default()
        }
    }
}

/// What is asked of every model.
#[derive(Clone, Copy, Debug)]
pub struct TrialLimits {
    /// Relative tolerance of the integration.
    pub tolerance: f64,
    /// Options of the compiler.
    pub form: CompilerForm,
    /// Seconds of processor time.
    pub slow: f64,
}

impl Default for TrialLimits {
    fn default() -> TrialLimits {
        TrialLimits {
            tolerance: 1e-6,
            form: CompilerForm::Default,
            slow: 2.0,
        }
    }
}

/// A simulation to be done.
#[derive(Clone, Debug)]
pub struct Job {
    /// The text; its last class is simulated.
    pub text: String,
    /// Settings, with the tolerance.
    pub settings: Settings,
    /// Options of the compiler.
    pub form: CompilerForm,
    /// Stop here with a checkpoint and continue from it with a newly compiled model; the rows of both parts follow
    /// one another.
    pub restart: Option<f64>,
}

impl Job {
    /// The simulation of a case.
    pub fn of(case: &(impl RandomCase + ?Sized), limits: &TrialLimits) -> Job {
        Job {
            text: case.text(),
            settings: Settings {
                tolerance: limits.tolerance,
                threads: Some(1),
                ..case.settings()
            },
            form: limits.form,
            restart: None,
        }
    }
}

/// What became of it.
#[derive(Debug)]
pub enum Attempt {
    /// Rows.
    Done(Box<InMemory>),
    /// An error message: the code of the first and the text.
    Refused {
        /// Stable identifier.
        code: &'static str,
        /// The whole message.
        text: String,
        /// Rows that were written before, if there was a simulation.
        rows: Option<Box<ResultSet>>,
    },
    /// Took longer than allowed.
    Slow(f64),
    /// The message of a panic.
    Crashed(String),
}

/// How often the clock is looked at, in seconds.
const LOOK: f64 = 0.05;
/// Waiting may be this much longer than the processor time that is allowed, because others use the machine too.
const PATIENCE: f64 = 50.0;

/// Simulates. A run that does not end is told to stop, and left alone if it does not even hear that.
pub fn attempt(job: &Job, slow: f64) -> Attempt {
    let (give, take) = mpsc::channel();
    let flag = Arc::new(AtomicBool::new(false));
    let (job, heard) = (job.clone(), flag.clone());
    let worker = std::thread::Builder::new()
        .name("model".to_string())
        .stack_size(8 << 20)
        .spawn(move || {
            let begin = cpu::seconds();
            let done = simulate(&job, &heard);
            // Nobody waits for it any more if this fails.
            let _ = give.send((done, cpu::seconds() - begin));
        });
    let worker = match worker {
        Ok(w) => w,
        Err(e) => return Attempt::Crashed(format!("no thread: {e}")),
    };
    let (clock, begin) = (std::time::Instant::now(), cpu::all_seconds());
    loop {
        match take.recv_timeout(Duration::from_secs_f64(LOOK)) {
            Ok((_, seconds)) if seconds > slow => return Attempt::Slow(seconds),
            Ok((Ok(done), _)) => return Attempt::Done(Box::new(done)),
            Ok((Err((failure, rows)), _)) => return refused(&failure, rows),
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Attempt::Crashed(match worker.join() {
                    Ok(()) => "ended without an answer".to_string(),
                    Err(payload) => said(&*payload),
                });
            }
            Err(mpsc::RecvTimeoutError::Timeout) => {
                // Nothing else is computed meanwhile, so the time of the process is that of the worker.
                let used = cpu::all_seconds() - begin;
                if used > slow {
                    flag.store(true, Ordering::Relaxed);
                }
                if used > 2.0 * slow || clock.elapsed().as_secs_f64() > PATIENCE * slow {
                    return Attempt::Slow(f64::INFINITY);
                }
            }
        }
    }
}

fn refused(failure: &Failure, rows: Option<Box<ResultSet>>) -> Attempt {
    let first = failure
        .diagnostics
        .iter()
        .find(|d| d.severity == Severity::Error)
        .or(failure.diagnostics.first());
    Attempt::Refused {
        code: first.map_or("no message", |d| d.code),
        text: failure.to_string(),
        rows,
    }
}

fn said(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or(payload.downcast_ref::<&str>().copied());
    text.unwrap_or("a panic without a text").to_string()
}

/// A failure, with the rows before it.
type Ended = (Failure, Option<Box<ResultSet>>);

fn simulate(job: &Job, flag: &Arc<AtomicBool>) -> Result<InMemory, Ended> {
    let load = Load {
        structure: job.form.structure(),
        ..Load::default()
    };
    let compile = || Model::from_text("Random.mo", &job.text, &load).map_err(|f| (f, None));
    let model = compile()?;
    let sink = || {
        ResultSink::new(None, Observe::nothing(), Observe::everything()).interrupt_by(flag.clone())
    };
    let Some(at) = job.restart else {
        let mut sink = sink();
        let done = acausal_runtime::simulate(model.compiled.clone(), &job.settings, &mut sink);
        let rows = kept(sink);
        let summary = match done {
            Ok(summary) => summary,
            Err(e) => return Err((model.failed(&e), rows.ok().map(Box::new))),
        };
        let result = rows.map_err(|e| (model.failed(&e), None))?;
        return Ok(InMemory { result, summary });
    };
    let first = Settings {
        stop: at,
        checkpoint: true,
        ..job.settings.clone()
    };
    let mut before = sink();
    let summary = acausal_runtime::simulate(model.compiled.clone(), &first, &mut before)
        .map_err(|e| (model.failed(&e), None))?;
    let before = kept(before).map_err(|e| (model.failed(&e), None))?;
    let Some(checkpoint) = summary.checkpoint else {
        return Ok(InMemory {
            result: before,
            summary,
        });
    };
    let model = compile()?;
    let mut after = sink();
    let summary = acausal_runtime::resume(
        model.compiled.clone(),
        &checkpoint,
        &job.settings,
        &mut after,
    )
    .map_err(|e| (model.failed(&e), None))?;
    let result = kept(after).map_err(|e| (model.failed(&e), None))?;
    Ok(InMemory { result, summary })
}

fn kept(sink: ResultSink<'_>) -> Result<ResultSet, SimError> {
    sink.into_parts().1.map_err(SimError::Output)
}
