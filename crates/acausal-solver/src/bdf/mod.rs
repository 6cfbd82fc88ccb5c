//! Variable-order, variable-step BDF for implicit DAEs: the fixed-leading-coefficient method of DASSL and IDA.
//!
//! In: a [`Dae`], consistent start values `F(t0, y0, yp0) = 0`, tolerances. Out: one accepted step per call of
//! [`Bdf::step`], with dense output over it, located event crossings, and typed errors that name variable and row.
//!
//! Sources: Brenan, Campbell & Petzold, "Numerical Solution of Initial-Value Problems in Differential-Algebraic
//! Equations" (SIAM 1996), ch. 5; Hindmarsh et al., "SUNDIALS" (ACM TOMS 31, 2005) and the IDA user guide, ch. 2.
//!
//! | module | what it does |
//! |---|---|
//! | `stepper` | where the integration stands; order and size of steps, with `stability` (order hold) |
//! | `history` | the differences of the solution, `coefficients` of the formulas, `rows` in memory |
//! | `corrector` | the point of a step and its correction, and which work on them is left for later |
//! | `matrix` | the iteration matrix, and when it is renewed, with `rate` (convergence of the iteration) |
//! | `advance` | one accepted step: attempts, error test |
//! | `prediction`, `iteration` | the two halves of an attempt: extrapolation, modified Newton |
//! | `dense_output` | the solution inside of a step |
//! | `roots`, `indicator_sampling` | location of events; how densely indicators are looked at |
//! | `kernels`, `norms`, `simd`, `vector` | fused vector loops, sums in a fixed order, groups of four numbers, vectors in memory |
//! | `options`, `tolerances`, `outcome`, `trace` | settings, error weights, results and errors, moves |
//!
//! Invariants: after a successful step `y()`, `yp()` satisfy the residual to the corrector tolerance; nothing is
//! allocated after the first step; the integration runs forward in t.
//!
//! Example: `y' = -y`, `y(0) = 1`.
//! ```
//! use acausal_solver::{Bdf, BdfOptions, Dae, DaeError, Pattern, StepOutcome};
//! struct Decay(Pattern);
//! impl Dae for Decay {
//!     fn residual(&mut self, _t: f64, y: &[f64], yp: &[f64], r: &mut [f64]) -> Result<(), DaeError> {
//!         r[0] = yp[0] + y[0];
//!         Ok(())
//!     }
//!     fn jacobian(&mut self, _t: f64, _y: &[f64], _yp: &[f64], cj: f64, v: &mut [f64]) -> Result<(), DaeError> {
//!         v[0] = cj + 1.0;
//!         Ok(())
//!     }
//!     fn pattern(&self) -> &Pattern { &self.0 }
//! }
//! let mut model = Decay(Pattern::dense(1));
//! let mut bdf = Bdf::new(BdfOptions::default(), 0.0, &[1.0], &[-1.0])?;
//! while bdf.step(&mut model, 1.0)? != StepOutcome::StopReached {}
//! assert!((bdf.y()[0] - (-1.0f64).exp()).abs() < 1e-5);
//! # Ok::<(), acausal_solver::SolverError>(())
//! ```

mod advance;
mod coefficients;
mod corrector;
mod dense_output;
mod difference_rows;
mod history;
mod indicator_sampling;
mod iteration;
mod kernels;
mod matrix;
mod norms;
mod options;
mod outcome;
mod prediction;
mod rate;
mod roots;
mod simd;
mod stability;
mod stepper;
mod tolerances;
mod trace;
mod vector;

pub use options::{BdfOptions, MAX_ORDER};
pub use outcome::{InvalidInput, RootCrossing, SolverError, Statistics, StepLimit, StepOutcome};
pub use trace::{IntegratorProfile, Move};

use crate::dae::{Dae, indicators_len};
use crate::factors::StepFactors;
use crate::linear::{LinearSolver, Lu};
use crate::pattern::Pattern;
use acausal_cpu::LEAST_LARGE;
use coefficients::Coefficients;
use corrector::{Corrector, Stage};
use difference_rows::DifferenceRows;
use history::History;
pub(crate) use kernels::PredictPart;
use matrix::{IterationMatrix, RenewalPolicy};
use norms::Norms;
#[cfg(feature = "sundials")]
pub(crate) use options::{FIRST_STEP_FRACTION, SHORTEST_FIRST_STEP};
pub(crate) use roots::{InteriorPoint, RootFinder};
use stepper::Stepper;
use tolerances::Tolerances;
use trace::Journal;

/// The integrator.
pub struct Bdf {
    options: BdfOptions,
    tolerances: Tolerances,
    /// Where the integration stands, order and step size.
    stepper: Stepper,
    /// The solution before, as differences.
    history: History,
    /// The point of the step and its correction.
    corrector: Corrector,
    norms: Norms,
    matrix: IterationMatrix,
    /// When the matrix is renewed.
    renewal: RenewalPolicy,
    roots: RootFinder,
    record: Journal,
}

impl Bdf {
    /// An integrator at `t0` with start values that satisfy the residual.
    pub fn new(options: BdfOptions, t0: f64, y0: &[f64], yp0: &[f64]) -> Result<Self, SolverError> {
        Self::with_solver(options, t0, y0, yp0, Box::new(Lu::new()))
    }

    /// Like [`Bdf::new`] with another linear solver.
    pub fn with_solver(
        options: BdfOptions,
        t0: f64,
        y0: &[f64],
        yp0: &[f64],
        solver: Box<dyn LinearSolver + Send>,
    ) -> Result<Self, SolverError> {
        let n = y0.len();
        (options.check(n, yp0.len())).map_err(|what| SolverError::InvalidInput { t: t0, what })?;
        let tolerances = Tolerances::new(&options, n);
        // From here on they are in the tolerances.
        let options = BdfOptions {
            atol: Vec::new(),
            error_test: Vec::new(),
            ..options
        };
        let large = n >= LEAST_LARGE && options.rtol >= difference_rows::LEAST_TOLERANCE;
        let narrow = options.narrow_history.unwrap_or(large);
        let corrector = Corrector::new(n);
        let norms = Norms::new(&tolerances, n);
        let mut bdf = Self {
            tolerances,
            stepper: Stepper::new(&options),
            history: History::new(DifferenceRows::zeros(n, options.max_order + 1, 4, narrow)),
            corrector,
            norms,
            matrix: IterationMatrix::new(solver, options.profile),
            renewal: RenewalPolicy::default(),
            roots: RootFinder::default(),
            record: Journal::new(n, options.trace),
            options,
        };
        bdf.load(t0, y0, yp0);
        Ok(bdf)
    }

    /// Starts again at `t` with new values, after an event: order one, new step size. Memory, the pattern (if it is
    /// still the same) and the symbolic factorisation are kept.
    pub fn restart(&mut self, t: f64, y: &[f64], yp: &[f64]) -> Result<(), SolverError> {
        if y.len() != self.len() || yp.len() != self.len() {
            return Err(SolverError::InvalidInput {
                t,
                what: InvalidInput::Length,
            });
        }
        self.load(t, y, yp);
        self.record.statistics.restarts += 1;
        Ok(())
    }

    fn load(&mut self, t: f64, y: &[f64], yp: &[f64]) {
        self.stepper.restart(t);
        self.history.restart(y, yp);
        self.corrector.restart(y, yp);
        self.matrix.cj = None;
        self.renewal.restart();
        self.roots.reset();
    }

    /// Number of unknowns.
    fn len(&self) -> usize {
        self.corrector.y.len()
    }

    /// Advances by one internal step, at most to `t_stop`. After [`StepOutcome::Roots`] without a restart the next call
    /// continues from the crossing and first looks through the rest of the step.
    pub fn step<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        t_stop: f64,
    ) -> Result<StepOutcome, SolverError> {
        let t = self.stepper.t;
        if t_stop.is_nan() || t_stop < t {
            return Err(SolverError::InvalidInput {
                t,
                what: InvalidInput::StopTime,
            });
        }
        if self.stepper.is_first() {
            self.prepare(dae)?;
        }
        if t < self.stepper.tn {
            return self.leave_step(dae, t_stop);
        }
        if t_stop == t {
            return Ok(StepOutcome::StopReached);
        }
        if let Err(error) = self.advance(dae, t_stop) {
            // The caller may look at the last accepted state when it explains the error.
            self.evaluate_interpolant(self.stepper.tn);
            return Err(error);
        }
        if indicators_len(dae) == 0 {
            self.stepper.t = self.stepper.tn;
            return Ok(if self.stepper.tn == t_stop {
                StepOutcome::StopReached
            } else {
                StepOutcome::Step
            });
        }
        self.leave_step(dae, t_stop)
    }

    /// Moves the caller's position from `t` towards the end of the last step: to the next crossing, to the stop time or
    /// to the end.
    fn leave_step<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        t_stop: f64,
    ) -> Result<StepOutcome, SolverError> {
        let end = self.stepper.tn.min(t_stop);
        self.settle();
        if indicators_len(dae) > 0
            && let Some(t_root) = self.find_roots(dae, end)?
        {
            self.evaluate_interpolant(t_root);
            self.stepper.t = t_root;
            return Ok(StepOutcome::Roots);
        }
        if end < self.stepper.tn || self.corrector.stage == Stage::Interpolated {
            self.evaluate_interpolant(end);
        }
        self.stepper.t = end;
        Ok(if end == t_stop {
            StepOutcome::StopReached
        } else {
            StepOutcome::Step
        })
    }

    fn find_roots<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        end: f64,
    ) -> Result<Option<f64>, SolverError> {
        let (history, tn, k) = (&self.history, self.stepper.tn, self.stepper.k_used);
        let interpolant = |t: f64, y: &mut [f64], yp: &mut [f64]| {
            let factors = history.factors(t - tn, k, false);
            history.interpolate(k, &factors, None, y, yp);
        };
        let solver: &mut (dyn LinearSolver + Send) = &mut *self.matrix.solver;
        let mut step = InteriorPoint {
            dae,
            interpolant: &interpolant,
            factors: self.matrix.cj.map(|cj| (solver, cj)),
            end: tn,
            h: self.stepper.h_used,
            evaluations: &mut self.record.statistics.root_evaluations,
        };
        self.roots.find(&mut step, end)
    }

    /// The factors of the last step's matrix, for points inside of it (see [`StepFactors`]).
    pub fn factors(&mut self) -> Option<StepFactors<'_>> {
        let cj = self.matrix.cj.filter(|_| !self.stepper.is_first())?;
        Some(StepFactors::new(&mut *self.matrix.solver, cj, false))
    }

    /// Current time: end of the last step, or the located crossing.
    pub fn t(&self) -> f64 {
        self.stepper.t
    }

    /// Solution at [`Bdf::t`].
    pub fn y(&mut self) -> &[f64] {
        self.solution().0
    }

    /// Derivative at [`Bdf::t`].
    pub fn yp(&mut self) -> &[f64] {
        self.solution().1
    }

    /// Start of the last internal step; [`Bdf::interpolate`] is valid from here.
    pub fn step_start(&self) -> f64 {
        self.stepper.t_previous
    }

    /// Order of the last step (0 before the first).
    pub fn last_order(&self) -> usize {
        self.stepper.k_used
    }

    /// Size of the last step.
    pub fn last_step(&self) -> f64 {
        self.stepper.h_used
    }

    /// Size that the next step will try.
    pub fn next_step(&self) -> f64 {
        self.stepper.h
    }

    /// Crossings found by the last call that returned [`StepOutcome::Roots`], by index.
    pub fn found_roots(&self) -> &[RootCrossing] {
        self.roots.found()
    }

    /// Indicators that are negative at the current time, whether or not a crossing was found.
    pub fn negative_roots(&self) -> Vec<usize> {
        self.roots.negative().collect()
    }

    /// Per event indicator: its largest value since the start or restart.
    pub fn largest_indicators(&self) -> &[f64] {
        self.roots.largest()
    }

    /// The distance in time on which the event indicators are smooth, found while they were looked at; infinite where it is not known.
    pub fn smooth_distance(&self) -> f64 {
        self.roots.smooth_distance()
    }

    /// The error of a located crossing in the last step.
    pub fn crossing_error(&self) -> f64 {
        let (tn, h) = (self.stepper.tn, self.stepper.h_used);
        self.roots.crossing_error(tn, h)
    }

    /// The indicators are others from now on, with the same signs.
    pub fn forget_roots(&mut self) {
        self.roots.forget();
    }

    /// Counters since creation.
    pub fn statistics(&self) -> &Statistics {
        &self.record.statistics
    }

    /// How often each variable contributed most to a failed error test.
    pub fn limiting_variables(&self) -> &[u64] {
        &self.record.limiting
    }

    /// Bounds the first step after a start or restart, where an event indicator may soon change its sign twice.
    pub fn limit_first_step(&mut self, h: Option<f64>) {
        self.stepper.first_step_limit = h;
    }

    /// The moves since the last call, with [`BdfOptions::trace`].
    pub fn take_trace(&mut self) -> Vec<Move> {
        std::mem::take(&mut self.record.moves)
    }

    /// Who limits the steps, and what the matrix costs.
    pub fn profile(&self) -> IntegratorProfile {
        IntegratorProfile {
            limiting: self.record.limiting.clone(),
            diverging: self.record.diverging.clone(),
            matrix_entries: self.matrix.pattern.as_ref().map_or(0, Pattern::nnz),
            factor_entries: self.matrix.solver.factor_entries(),
            factor_seconds: self.matrix.seconds.0,
            solve_seconds: self.matrix.seconds.1,
        }
    }

    /// The error weight of a variable at the last accepted solution.
    fn weight(&self, i: usize) -> f64 {
        self.tolerances.weight(i, self.history.phi[0][i])
    }

    /// The weight of a variable in the error test.
    fn tested_weight(&self, i: usize) -> f64 {
        self.tolerances.tested_weight(i, self.history.phi[0][i])
    }
}
