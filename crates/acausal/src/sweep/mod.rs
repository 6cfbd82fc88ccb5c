//! Many simulations of one compiled model, each with other values of parameters.
//!
//! In: a model, settings, and for each case the values of some parameters ([`design`] makes them). Out: for each case how it ended and its signals at the instants of a grid that
//! all cases share ([`Grid`]), handed over in the order in which cases end. Threads of this process take one case after the other; they share the machine code
//! ([`Prepared`]) and nothing else, so a case gives the same bits in every sweep and alone. A case that fails says why and disturbs no other.
//! [`store`] keeps the cases of a large sweep in files.
//!
//! ```
//! use std::ops::ControlFlow;
//! use acausal::{Load, Model, Observe, sweep::Sweep};
//! let text = "model M parameter Real k = 2; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;";
//! let model = Model::from_text("M.mo", text, &Load::default()).map_err(|f| f.to_string())?;
//! let sweep = Sweep::new(&model, &model.settings(), &Observe::patterns(["x"]), vec!["k".into()]).map_err(|f| f.to_string())?;
//! let mut last = [0.0; 2];
//! sweep.run(&[vec![1.0.into()], vec![3.0.into()]], 0..2, 2, &Default::default(), |outcome| {
//!     last[outcome.case] = outcome.values.last().copied().unwrap_or(f64::NAN);
//!     ControlFlow::Continue(())
//! }).map_err(|e| e.to_string())?;
//! assert!((last[0] - (-1.0f64).exp()).abs() < 1e-5 && (last[1] - (-3.0f64).exp()).abs() < 1e-5);
//! # Ok::<(), String>(())
//! ```

pub mod design;
mod grid;
pub mod store;

use std::ops::{ControlFlow, Range};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;

use acausal_runtime::{ParameterValue, Prepared, Settings, SimError, simulate_prepared};

use crate::command::STACK_BYTES;
use crate::{Failure, Model, Observe};
use grid::GridSink;
pub use grid::{Grid, GridSignal};

/// What all cases of a sweep have in common.
pub struct Sweep<'m> {
    model: &'m Model,
    prepared: Arc<Prepared>,
    settings: Settings,
    /// The parameters that cases give values.
    names: Vec<String>,
    /// Instants and signals.
    pub grid: Grid,
}

/// How a case ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// At the stop time.
    Finished,
    /// The model ended it, with this message.
    Terminated(String),
    /// It failed.
    Failed {
        /// Stable name of the error.
        code: String,
        /// What a person would read.
        text: String,
        /// When, if time had begun to run.
        time: Option<f64>,
    },
}

/// A case that has ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Which one.
    pub case: usize,
    /// How it ended.
    pub status: Status,
    /// The signals of the grid one after the other, each at all instants; NaN where the case did not get to.
    pub values: Vec<f64>,
}

/// The values of parameters in one case, in the order of the names.
pub type Case = Vec<ParameterValue>;

impl<'m> Sweep<'m> {
    /// Prepares a sweep over parameters and start values of these names. Of the settings everything but the values of `names` holds for all cases.
    pub fn new(
        model: &'m Model,
        settings: &Settings,
        observe: &Observe,
        names: Vec<String>,
    ) -> Result<Sweep<'m>, Failure> {
        let mut settings = model.complete(settings);
        // Each case has one thread.
        settings.threads = Some(1);
        let prepared = acausal_runtime::prepare(model.compiled.clone(), &settings);
        let prepared = prepared.map_err(|e| model.failed(&e))?;
        Sweep::with(model, prepared, settings, observe, names)
    }

    /// The same with machine code that was made before.
    pub fn with(
        model: &'m Model,
        prepared: Arc<Prepared>,
        settings: Settings,
        observe: &Observe,
        names: Vec<String>,
    ) -> Result<Sweep<'m>, Failure> {
        settings.check().map_err(|e: SimError| model.failed(&e))?;
        let grid = Grid::new(&model.compiled, &settings, observe);
        Ok(Sweep {
            model,
            prepared,
            settings,
            names,
            grid,
        })
    }

    /// A mistake in the names or values of a case, before anything is simulated.
    pub fn check(&self, case: &Case) -> Result<(), Failure> {
        let parameters = self.parameters(case);
        let resolved = self.prepared.resolve(&parameters);
        resolved.map(|_| ()).map_err(|e| self.model.failed(&e))
    }

    /// Simulates the cases with these numbers in so many threads. Each one is handed over when it has ended; a break, or `stop`, ends the sweep as soon as
    /// the cases under way have ended or noticed. What `stop` cut short is not handed over. Fails if no thread can be had.
    pub fn run(
        &self,
        cases: &[Case],
        which: Range<usize>,
        threads: usize,
        stop: &AtomicBool,
        mut handle: impl FnMut(Outcome) -> ControlFlow<()>,
    ) -> std::io::Result<()> {
        let next = AtomicUsize::new(which.start);
        // Set by a break; `stop` belongs to the caller.
        let over = AtomicBool::new(false);
        let threads = threads.clamp(1, which.len().max(1));
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel(2 * threads);
            for number in 0..threads {
                let sender = sender.clone();
                let work = || {
                    let sender = sender;
                    loop {
                        let case = next.fetch_add(1, Ordering::Relaxed);
                        let ended = || stop.load(Ordering::Relaxed) || over.load(Ordering::Relaxed);
                        if case >= which.end || ended() {
                            return;
                        }
                        let outcome = self.case(case, &cases[case], stop);
                        // The receiver is gone after a break.
                        if ended() || sender.send(outcome).is_err() {
                            return;
                        }
                    }
                };
                let spawned = std::thread::Builder::new()
                    .stack_size(STACK_BYTES)
                    .spawn_scoped(scope, work);
                match spawned {
                    Err(e) if number == 0 => return Err(e),
                    // The others do the work.
                    Err(_) => break,
                    Ok(_) => {}
                }
            }
            drop(sender);
            for outcome in receiver {
                if handle(outcome).is_break() {
                    over.store(true, Ordering::Relaxed);
                    break;
                }
            }
            Ok(())
        })
    }

    fn parameters(&self, case: &Case) -> Vec<(String, ParameterValue)> {
        let common = self.settings.parameters.iter();
        let common = common.filter(|p| !self.names.contains(&p.0)).cloned();
        let own = self.names.iter().cloned().zip(case.iter().cloned());
        common.chain(own).collect()
    }

    fn case(&self, number: usize, case: &Case, stop: &AtomicBool) -> Outcome {
        let settings = Settings {
            parameters: self.parameters(case),
            ..self.settings.clone()
        };
        let mut sink = GridSink::new(&self.grid, stop);
        let run = || simulate_prepared(&self.prepared, &settings, &mut sink);
        let status = match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(summary)) => match summary.terminated {
                Some(message) => Status::Terminated(message),
                None => Status::Finished,
            },
            Ok(Err(e)) => {
                let d = e.diagnostic(&self.model.compiled);
                Status::Failed {
                    code: d.code.to_string(),
                    text: d.render(&self.model.sources, false).trim_end().to_string(),
                    time: e.time(),
                }
            }
            Err(_) => Status::Failed {
                code: "internal".to_string(),
                text: "acausal stopped because of a defect of its own".to_string(),
                time: None,
            },
        };
        Outcome {
            case: number,
            status,
            values: sink.into_values(),
        }
    }
}
