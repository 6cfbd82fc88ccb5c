//! Variable-order, variable-step BDF for implicit DAEs: the fixed-leading-coefficient method of DASSL and IDA.
//!
//! In: a [`Dae`], consistent start values `F(t0, y0, yp0) = 0`, tolerances. Out: one accepted step per call of
//! [`Bdf::step`], with dense output over it, located event crossings, and typed errors that name variable and row.
//!
//! Sources: Brenan, Campbell & Petzold, "Numerical Solution of Initial-Value Problems in Differential-Algebraic
//! Equations" (SIAM 1996), ch. 5; Hindmarsh et al., "SUNDIALS" (ACM TOMS 31, 2005) and the IDA user guide, ch. 2.
//! The parts: `coefficients` of the formulas, `kernels` (fused vector loops), `prediction`, `corrector` (modified Newton, with `rate`),
//! `advance` (error test, order and step size), `roots` (event location), `stability` (order hold).
//!
//! Invariants: after a successful step `y()`, `yp()` satisfy the residual to the corrector tolerance; nothing is
//! allocated after the first step; the integration runs forward in t.
//!
//! Example: `y' = -y`, `y(0) = 1`.
//! ```
//! use acausal_solver::{Bdf, BdfOptions, Dae, EvalError, Pattern, StepOutcome};
//! struct Decay(Pattern);
//! impl Dae for Decay {
//!     fn residual(&mut self, _t: f64, y: &[f64], yp: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
//!         r[0] = yp[0] + y[0];
//!         Ok(())
//!     }
//!     fn jacobian(&mut self, _t: f64, _y: &[f64], _yp: &[f64], cj: f64, v: &mut [f64]) -> Result<(), EvalError> {
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
mod kernels;
mod looks;
mod options;
mod outcome;
mod prediction;
mod quad;
mod rate;
mod roots;
mod rows;
mod stability;
mod tolerances;
mod trace;
mod vector;

pub use options::{BdfOptions, MAX_ORDER};
pub use outcome::{InvalidInput, RootCrossing, SolverError, Statistics, StepLimit, StepOutcome};
pub use trace::{Move, Profile};

use crate::dae::{Dae, indicators_len};
use crate::factors::StepFactors;
use crate::linear::{LinearSolver, Lu};
use crate::pattern::Pattern;
use acausal_cpu::LEAST_LARGE;
use coefficients::Coefficients;
pub(crate) use kernels::Part;
#[cfg(feature = "sundials")]
pub(crate) use options::{FIRST_STEP_FRACTION, SHORTEST_FIRST_STEP};
use rate::Rate;
pub(crate) use roots::{Inside, RootFinder};
use rows::Rows;
use stability::StabilityGuard;
use tolerances::Tolerances;
use vector::Vector;

/// Factors of the history for a value and a slope, and a correction that is not yet in it.
type Interpolation<'a> = (
    [f64; coefficients::LEN],
    [f64; coefficients::LEN],
    Option<kernels::Correction<'a>>,
);

/// The integrator: history of the solution, factorised matrix, counters.
pub struct Bdf {
    options: BdfOptions,
    n: usize,
    tolerances: Tolerances,

    /// Modified divided differences of the solution.
    phi: Rows,
    y: Vector,
    yp: Vector,
    /// Corrections of the step that are applied to y and y'.
    e: Vector,
    /// Residual, then Newton correction.
    d: Vector,
    /// There are such corrections.
    applied: bool,
    /// The last correction, `-held * d`, is not applied. If it is enough, the next step needs it in the history only, and y and y'
    /// are corrected when somebody asks ([`Bdf::settle`]).
    held: Option<f64>,
    /// y and y' are not those of the prediction, which was made for the residual only ([`LargeDae::predicted_residual`](crate::LargeDae::predicted_residual)).
    absent: bool,
    /// The accepted correction is not yet in the history; the next prediction takes it there in the same pass.
    pending: bool,
    /// Sums of squares of the correction that was found.
    sums: kernels::Sums,

    /// Position of the caller: at most `tn`.
    t: f64,
    /// End of the last accepted step, and its start.
    tn: f64,
    t_previous: f64,
    /// `y`, `yp` are the corrector's at `tn`, not interpolated.
    corrected: bool,
    h: f64,
    k: usize,
    h_used: f64,
    k_used: usize,
    /// Order is still raised and the step doubled every time.
    starting: bool,
    /// No step since the start or restart.
    fresh: bool,
    c: Coefficients,

    solver: Box<dyn LinearSolver + Send>,
    pattern: Option<Pattern>,
    values: Vec<f64>,
    /// `cj` of the factorised matrix; `None` forces a new one.
    cj_factored: Option<f64>,
    rate: Rate,
    /// The next step begins with a new matrix.
    renew_next: bool,
    /// Steps in a row in which an old matrix failed, and how many steps will begin with a new one because of it.
    old_failures: u32,
    renewals_ahead: u32,
    /// Iterations of the last step with a new matrix.
    iterations_fresh: u32,
    /// Iterations that the present matrix has cost more than a new one would have.
    iterations_lost: f64,
    /// Failures of the corrector in the present step.
    corrector_failures: u32,
    /// Steps of late in which it failed, and how many in a row since then in which it did not.
    failing_steps: u32,
    clean_steps: u32,

    roots: RootFinder,
    stability: StabilityGuard,
    statistics: Statistics,
    limited: Vec<u64>,
    /// Per variable: convergence failures in which its correction was the largest.
    diverged: Vec<u64>,
    /// A bound for the first step after a start that the caller knows and slopes do not show.
    first_step_limit: Option<f64>,
    trace: Vec<Move>,
    /// Seconds in factorisations and in solves.
    linear_seconds: (f64, f64),
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
        check_options(&options, n, yp0.len())
            .map_err(|what| SolverError::InvalidInput { t: t0, what })?;
        let tolerances = Tolerances::new(&options, n);
        // From here on they are in the tolerances.
        let options = BdfOptions {
            atol: Vec::new(),
            error_test: Vec::new(),
            ..options
        };
        let large = n >= LEAST_LARGE && options.rtol >= rows::LEAST_TOLERANCE;
        let narrow = options.narrow_history.unwrap_or(large);
        let stability = StabilityGuard::new(options.stability_detection);
        let mut bdf = Self {
            n,
            tolerances,
            y: Vector::zeros(n, 0),
            yp: Vector::zeros(n, 1),
            e: Vector::zeros(n, 2),
            d: Vector::zeros(n, 3),
            phi: Rows::zeros(n, options.max_order + 1, 4, narrow),
            applied: false,
            held: None,
            absent: false,
            pending: false,
            sums: kernels::Sums::default(),
            t: t0,
            tn: t0,
            t_previous: t0,
            corrected: false,
            h: 0.0,
            k: 1,
            h_used: 0.0,
            k_used: 0,
            starting: true,
            fresh: true,
            c: Coefficients::default(),
            solver,
            pattern: None,
            values: Vec::new(),
            cj_factored: None,
            rate: Rate::default(),
            renew_next: false,
            old_failures: 0,
            renewals_ahead: 0,
            iterations_fresh: 2,
            iterations_lost: 0.0,
            corrector_failures: 0,
            failing_steps: 0,
            clean_steps: 0,
            roots: RootFinder::default(),
            stability,
            statistics: Statistics::default(),
            limited: vec![0; n],
            diverged: vec![0; n],
            first_step_limit: None,
            trace: Vec::new(),
            linear_seconds: (0.0, 0.0),
            options,
        };
        bdf.load(t0, y0, yp0);
        Ok(bdf)
    }

    /// Starts again at `t` with new values, after an event: order one, new step size. Memory, the pattern (if it is
    /// still the same) and the symbolic factorisation are kept.
    pub fn restart(&mut self, t: f64, y: &[f64], yp: &[f64]) -> Result<(), SolverError> {
        if y.len() != self.n || yp.len() != self.n {
            return Err(SolverError::InvalidInput {
                t,
                what: InvalidInput::Length,
            });
        }
        self.load(t, y, yp);
        self.statistics.restarts += 1;
        Ok(())
    }

    fn load(&mut self, t: f64, y: &[f64], yp: &[f64]) {
        self.t = t;
        self.tn = t;
        self.t_previous = t;
        self.corrected = false;
        self.forget_correction();
        self.pending = false;
        self.absent = false;
        self.y.copy_from_slice(y);
        self.yp.copy_from_slice(yp);
        self.phi[0].copy_from_slice(y);
        self.phi[1].copy_from_slice(yp);
        self.k = 1;
        self.k_used = 0;
        self.h_used = 0.0;
        self.starting = true;
        self.fresh = true;
        self.cj_factored = None;
        self.renew_next = false;
        self.old_failures = 0;
        self.renewals_ahead = 0;
        self.iterations_fresh = 2;
        self.iterations_lost = 0.0;
        self.rate = Rate::default();
        self.first_step_limit = None;
        self.c = Coefficients::default();
        self.roots.reset();
        self.stability.reset();
    }

    /// Advances by one internal step, at most to `t_stop`. After [`StepOutcome::Roots`] without a restart the next call
    /// continues from the crossing and first looks through the rest of the step.
    pub fn step<D: Dae + ?Sized>(
        &mut self,
        dae: &mut D,
        t_stop: f64,
    ) -> Result<StepOutcome, SolverError> {
        if t_stop.is_nan() || t_stop < self.t {
            return Err(SolverError::InvalidInput {
                t: self.t,
                what: InvalidInput::StopTime,
            });
        }
        if self.fresh {
            self.prepare(dae)?;
        }
        if self.t < self.tn {
            return self.leave_step(dae, t_stop);
        }
        if t_stop == self.t {
            return Ok(StepOutcome::StopReached);
        }
        if let Err(error) = self.advance(dae, t_stop) {
            // The caller may look at the last accepted state when it explains the error.
            self.evaluate_interpolant(self.tn);
            return Err(error);
        }
        if indicators_len(dae) == 0 {
            self.t = self.tn;
            return Ok(if self.tn == t_stop {
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
        let end = self.tn.min(t_stop);
        self.settle();
        if indicators_len(dae) > 0
            && let Some(t_root) = self.find_roots(dae, end)?
        {
            self.evaluate_interpolant(t_root);
            self.t = t_root;
            return Ok(StepOutcome::Roots);
        }
        if end < self.tn || !self.corrected {
            self.evaluate_interpolant(end);
        }
        self.t = end;
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
        let (c, phi, tn, k) = (&self.c, &self.phi, self.tn, self.k_used);
        let interpolant = |t: f64, y: &mut [f64], yp: &mut [f64]| {
            let (value, slope) = c.interpolation(t - tn, k);
            kernels::interpolate(phi, k, (&value, &slope), None, y, yp);
        };
        let solver: &mut (dyn LinearSolver + Send) = &mut *self.solver;
        let mut step = Inside {
            dae,
            interpolant: &interpolant,
            factors: self.cj_factored.map(|cj| (solver, cj)),
            end: self.tn,
            h: self.h_used,
            evaluations: &mut self.statistics.root_evaluations,
        };
        self.roots.find(&mut step, end)
    }

    /// Takes the correction of the last step into y, y' and the history, where that was left to whoever asks.
    fn settle(&mut self) {
        self.apply_held(None);
        if std::mem::take(&mut self.pending) {
            let update = kernels::Update {
                k: self.k_used,
                earlier: None,
                scale: 1.0,
                keep: self.k_used < self.options.max_order,
            };
            kernels::update(&mut self.phi, &mut self.e, update);
        }
    }

    /// Solution and derivative at `t` inside the last step (between `t() - last_step()` and its end).
    pub fn interpolate(&self, t: f64, y: &mut [f64], yp: &mut [f64]) {
        if self.fresh {
            y.copy_from_slice(&self.y);
            yp.copy_from_slice(&self.yp);
            return;
        }
        let (value, slope, correction) = self.interpolation(t);
        let factors = (&value[..], &slope[..]);
        kernels::interpolate(&self.phi, self.k_used, factors, correction, y, yp);
    }

    /// The same for some variables only.
    pub fn interpolate_some(&self, t: f64, which: &[usize], y: &mut [f64], yp: &mut [f64]) {
        let k = self.k_used;
        let (value, slope, correction) = self.interpolation(t);
        for &i in which {
            (y[i], yp[i]) = match self.fresh {
                true => (self.y[i], self.yp[i]),
                false => {
                    let e = correction.map_or(0.0, |c| c.at(i));
                    let row = |j: usize| self.phi.row(j).at(i) + if j == k { e } else { 0.0 };
                    let sum = |factors: &[f64]| {
                        let first = factors[0] * row(0);
                        (1..=k).fold(first, |sum, j| sum + factors[j] * row(j))
                    };
                    (sum(&value), sum(&slope))
                }
            };
        }
    }

    /// The factors of the last step's matrix, for points inside of it (see [`StepFactors`]).
    pub fn factors(&mut self) -> Option<StepFactors<'_>> {
        let cj = self.cj_factored.filter(|_| !self.fresh)?;
        Some(StepFactors::new(&mut *self.solver, cj, false))
    }

    /// The factors of the rows of the history at `t`, and the correction that counts like the last of them.
    fn interpolation(&self, t: f64) -> Interpolation<'_> {
        let k = self.k_used;
        let (mut value, mut slope) = self.c.interpolation(t - self.tn, k);
        let correction = self.pending.then(|| {
            // The history is that before the update `phi[j] += phi[j+1] + .. + e`: row i counts for all rows up to i, e for all.
            for c in [&mut value, &mut slope] {
                for i in 1..=k {
                    c[i] += c[i - 1];
                }
            }
            self.correction()
        });
        (value, slope, correction)
    }

    fn evaluate_interpolant(&mut self, t: f64) {
        self.settle();
        self.corrected = false;
        if self.fresh {
            self.y.copy_from_slice(&self.phi[0]);
            self.yp.copy_from_slice(&self.phi[1]);
            return;
        }
        let (value, slope) = self.c.interpolation(t - self.tn, self.k_used);
        let (y, yp) = (&mut self.y, &mut self.yp);
        kernels::interpolate(&self.phi, self.k_used, (&value, &slope), None, y, yp);
    }

    /// Current time: end of the last step, or the located crossing.
    pub fn t(&self) -> f64 {
        self.t
    }

    /// Solution at [`Bdf::t`].
    pub fn y(&mut self) -> &[f64] {
        self.solution().0
    }

    /// Derivative at [`Bdf::t`].
    pub fn yp(&mut self) -> &[f64] {
        self.solution().1
    }

    /// Solution and derivative at [`Bdf::t`]. A step leaves the last work on them to whoever asks.
    pub fn solution(&mut self) -> (&[f64], &[f64]) {
        self.settle();
        (&self.y, &self.yp)
    }

    /// Start of the last internal step; [`Bdf::interpolate`] is valid from here.
    pub fn step_start(&self) -> f64 {
        self.t_previous
    }

    /// Order of the last step (0 before the first).
    pub fn last_order(&self) -> usize {
        self.k_used
    }

    /// Size of the last step.
    pub fn last_step(&self) -> f64 {
        self.h_used
    }

    /// Size that the next step will try.
    pub fn next_step(&self) -> f64 {
        self.h
    }

    /// Crossings found by the last call that returned [`StepOutcome::Roots`], by index.
    pub fn found_roots(&self) -> &[RootCrossing] {
        self.roots.found()
    }

    /// Indicators that are negative at the current time, whether or not a crossing was found.
    pub fn negative_roots(&self) -> Vec<usize> {
        self.roots.negative().collect()
    }

    /// The indicators are others from now on, with the same signs.
    pub fn forget_roots(&mut self) {
        self.roots.forget();
    }

    /// Counters since creation.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// How often each variable contributed most to a failed error test.
    pub fn limiting_variables(&self) -> &[u64] {
        &self.limited
    }

    /// Bounds the first step after a start or restart, where an event indicator may soon change its sign twice.
    pub fn limit_first_step(&mut self, h: Option<f64>) {
        self.first_step_limit = h;
    }

    /// The moves since the last call, with [`BdfOptions::trace`].
    pub fn take_trace(&mut self) -> Vec<Move> {
        std::mem::take(&mut self.trace)
    }

    /// Who limits the steps, and what the matrix costs.
    pub fn profile(&self) -> Profile {
        Profile {
            limiting: self.limited.clone(),
            diverging: self.diverged.clone(),
            matrix_entries: self.pattern.as_ref().map_or(0, Pattern::nnz),
            factor_entries: self.solver.factor_entries(),
            factor_seconds: self.linear_seconds.0,
            solve_seconds: self.linear_seconds.1,
        }
    }

    fn record(&mut self, m: Move) {
        if self.options.trace {
            self.trace.push(m);
        }
    }

    /// The error weight of a variable at the last accepted solution.
    fn weight(&self, i: usize) -> f64 {
        self.tolerances.weight(i, self.phi[0][i])
    }

    /// The weight of a variable in the error test.
    fn tested_weight(&self, i: usize) -> f64 {
        self.tolerances.tested_weight(i, self.phi[0][i])
    }
}

fn check_options(options: &BdfOptions, n: usize, n_yp: usize) -> Result<(), InvalidInput> {
    if n != n_yp {
        return Err(InvalidInput::Length);
    }
    if !(options.rtol >= 0.0 && options.rtol.is_finite()) {
        return Err(InvalidInput::RelativeTolerance);
    }
    let count = options.atol.len();
    let valid = |a: &f64| a.is_finite() && (*a > 0.0 || (*a == 0.0 && options.rtol > 0.0));
    if (count != 1 && count != n) || !options.atol.iter().all(valid) {
        return Err(InvalidInput::AbsoluteTolerance);
    }
    let mask = &options.error_test;
    if !mask.is_empty() && (mask.len() != n || !mask.contains(&true)) {
        return Err(InvalidInput::ErrorTestMask);
    }
    if !(1..=MAX_ORDER).contains(&options.max_order) {
        return Err(InvalidInput::Order);
    }
    let steps_valid = options.max_step > 0.0
        && options.min_step >= 0.0
        && options
            .initial_step
            .is_none_or(|h| h > 0.0 && h.is_finite());
    if !steps_valid {
        return Err(InvalidInput::StepSize);
    }
    Ok(())
}
