//! SUNDIALS IDA behind the same interface as [`Bdf`](crate::Bdf), with our own LU as its linear solver.
//!
//! Exists with the cargo feature `sundials`, which builds the C library (needs cmake and libclang). It is the yardstick
//! and the judge, not the default: no stability guard, the derivative at the end of a step comes from the interpolant.
//! Options are taken over as far as IDA knows them; variables outside the error test are its "algebraic" ones that are
//! suppressed there. Event indicators are looked at by our own search on IDA's interpolant, because IDA's own sees only
//! the ends of its steps. The trace tells of accepted steps and of matrices; IDA keeps its failed attempts to itself.
//!
//! Source: Hindmarsh et al., "SUNDIALS" (ACM TOMS 31, 2005); IDA user guide 7.1.

mod callbacks;
mod object;

use crate::bdf::{
    BdfOptions, InteriorPoint, InvalidInput, Move, RootCrossing, RootFinder, SolverError,
    Statistics, StepLimit, StepOutcome,
};
use crate::bdf::{FIRST_STEP_FRACTION, SHORTEST_FIRST_STEP};
use crate::dae::{Dae, DaeError, EvalReason, indicators_len};
use crate::integrator::Integrator;
use crate::linear::{LinearSolver, Lu};
use crate::pattern::Pattern;
use callbacks::Link;
use object::Object;
use std::os::raw::{c_int, c_long};
use sundials_sys as c;

/// IDA with our linear solver.
pub struct Ida {
    object: Object,
    link: Box<Link>,
    options: BdfOptions,
    pattern: Option<Pattern>,
    /// No step since the start or restart.
    fresh: bool,
    t: f64,
    y: Vec<f64>,
    yp: Vec<f64>,
    roots: RootFinder,
    /// End of IDA's last step; `t` may lie before it.
    tn: f64,
    trace: Vec<Move>,
    first_step_limit: Option<f64>,
    statistics: Statistics,
    /// IDA's counters start again at each restart.
    before_restart: Statistics,
}

impl Ida {
    /// An integrator at `t0`; the arguments are those of [`Bdf::new`](crate::Bdf::new).
    pub fn new(options: BdfOptions, t0: f64, y0: &[f64], yp0: &[f64]) -> Result<Self, SolverError> {
        // The same checks as for our own integrator.
        crate::Bdf::new(options.clone(), t0, y0, yp0)?;
        let n = y0.len();
        let mut link = Box::new(Link {
            n,
            dae: None,
            values: Vec::new(),
            lu: Lu::new(),
            failure: None,
            singular: None,
            residuals: 0,
            matrices: options.trace.then(Vec::new),
        });
        let object =
            Object::new(&options, t0, y0, yp0, &mut link).ok_or(SolverError::InvalidInput {
                t: t0,
                what: InvalidInput::Length,
            })?;
        Ok(Self {
            object,
            link,
            options,
            pattern: None,
            fresh: true,
            t: t0,
            y: y0.to_vec(),
            yp: yp0.to_vec(),
            roots: RootFinder::default(),
            tn: t0,
            trace: Vec::new(),
            first_step_limit: None,
            statistics: Statistics::default(),
            before_restart: Statistics::default(),
        })
    }

    fn prepare(&mut self, dae: &mut dyn Dae, t_stop: f64) -> Result<(), SolverError> {
        if dae.pattern().size() != self.link.n {
            return Err(SolverError::InvalidInput {
                t: self.t,
                what: InvalidInput::Length,
            });
        }
        if self.pattern.as_ref() != Some(dae.pattern()) {
            self.link.values = vec![0.0; dae.pattern().nnz()];
            self.pattern = Some(dae.pattern().clone());
            self.link
                .lu
                .analyse(dae.pattern())
                .map_err(|s| SolverError::SingularMatrix {
                    t: self.t,
                    h: 0.0,
                    row: s.row,
                    col: s.col,
                    structural: s.structural,
                })?;
        }
        let evaluations = &mut self.statistics.root_evaluations;
        self.roots
            .start(dae, self.t, &self.y, &self.yp, evaluations)?;
        self.fresh = false;
        self.object.set_first_step(self.first_step_size(t_stop));
        Ok(())
    }

    /// As our own integrator does it. IDA's own choice may be less than a unit in the last place of the time.
    fn first_step_size(&self, t_stop: f64) -> f64 {
        let distance = t_stop - self.t;
        let reach = if distance.is_finite() {
            distance
        } else {
            self.t.abs().max(1.0)
        };
        let o = &self.options;
        let weighted = |i: usize| {
            let atol = o.atol[if o.atol.len() == 1 { 0 } else { i }];
            self.yp[i] / (o.rtol * self.y[i].abs() + atol)
        };
        let tested: Vec<usize> = (0..self.y.len())
            .filter(|&i| o.error_test.get(i).copied().unwrap_or(true))
            .collect();
        let sum: f64 = tested.iter().map(|&i| weighted(i).powi(2)).sum();
        let slope = (sum / tested.len().max(1) as f64).sqrt();
        let long = FIRST_STEP_FRACTION * reach;
        let mut h = match o.initial_step {
            Some(h) => h,
            None if slope > 0.5 / long => 0.5 / slope,
            None => long,
        };
        h = h.min(o.max_step).max(o.min_step);
        h = h.min(self.first_step_limit.unwrap_or(f64::INFINITY));
        h.max(SHORTEST_FIRST_STEP * f64::EPSILON * self.t.abs())
            .min(distance)
    }

    fn count(&mut self) {
        let before = &self.before_restart;
        let current = &mut self.statistics;
        let long = |f: unsafe extern "C" fn(*mut std::os::raw::c_void, *mut c_long) -> c_int| {
            self.object.counter(f)
        };
        current.steps = before.steps + long(c::IDAGetNumSteps);
        current.jacobian_evaluations = before.jacobian_evaluations + long(c::IDAGetNumJacEvals);
        current.factorisations = before.factorisations + long(c::IDAGetNumLinSolvSetups);
        current.newton_iterations = before.newton_iterations + long(c::IDAGetNumNonlinSolvIters);
        current.error_test_failures = before.error_test_failures + long(c::IDAGetNumErrTestFails);
        current.convergence_failures =
            before.convergence_failures + long(c::IDAGetNumNonlinSolvConvFails);
        current.residual_evaluations = self.link.residuals;
    }

    fn error(&self, flag: c_int) -> SolverError {
        let (t, h) = (self.object.internal_time(), self.object.current_step());
        let reason = self
            .link
            .failure
            .map_or(EvalReason::NotFinite { row: 0 }, |e: DaeError| e.reason());
        match flag {
            c::IDA_TOO_MUCH_WORK => SolverError::TooManySteps {
                t,
                h,
                steps: self.statistics.steps,
            },
            c::IDA_TOO_MUCH_ACC => SolverError::TooMuchAccuracy { t, h, factor: 10.0 },
            c::IDA_ERR_FAIL => {
                let variable = self.object.limiting_variable(self.link.n).0;
                SolverError::RepeatedFailure {
                    t,
                    h,
                    limit: StepLimit::ErrorTest { variable },
                }
            }
            c::IDA_LSETUP_FAIL | c::IDA_LSOLVE_FAIL | c::IDA_CONV_FAIL
                if self.link.singular.is_some() =>
            {
                let s = self.link.singular.unwrap_or(crate::linear::Singular {
                    row: 0,
                    col: 0,
                    structural: false,
                });
                SolverError::SingularMatrix {
                    t,
                    h,
                    row: s.row,
                    col: s.col,
                    structural: s.structural,
                }
            }
            c::IDA_RES_FAIL | c::IDA_REP_RES_ERR | c::IDA_RTFUNC_FAIL | c::IDA_FIRST_RES_FAIL => {
                SolverError::Evaluation { t, h, reason }
            }
            _ if self.link.failure.is_some() => SolverError::Evaluation { t, h, reason },
            _ => {
                let variable = self.object.limiting_variable(self.link.n).0;
                SolverError::RepeatedFailure {
                    t,
                    h,
                    limit: StepLimit::Convergence {
                        variable,
                        row: variable,
                    },
                }
            }
        }
    }
}

impl Ida {
    /// One step of IDA, to `t_stop` at most.
    fn advance(&mut self, dae: &mut dyn Dae, t_stop: f64) -> Result<(), SolverError> {
        self.link.failure = None;
        self.link.singular = None;
        // SAFETY: only the lifetime is forgotten; the pointer is removed before this function returns.
        let dae = unsafe { std::mem::transmute::<&mut dyn Dae, &'static mut dyn Dae>(dae) };
        self.link.dae = Some(dae);
        let (flag, t) = self.object.solve(t_stop);
        self.link.dae = None;
        self.count();
        if flag < 0 {
            return Err(self.error(flag));
        }
        if flag == c::IDA_SUCCESS && t == self.tn {
            // IDA goes on with steps that no longer change t.
            let limit = match self.link.failure {
                Some(error) => StepLimit::Evaluation(error.reason()),
                None => StepLimit::ErrorTest {
                    variable: self.object.limiting_variable(self.link.n).0,
                },
            };
            let h = self.object.current_step();
            return Err(SolverError::StepTooSmall { t, h, limit });
        }
        self.tn = t;
        self.object.state(&mut self.y, &mut self.yp);
        let order = self.last_order().min(5);
        self.statistics.steps_by_order[order] += 1;
        if let Some(matrices) = &mut self.link.matrices {
            let h = self.object.last_step();
            let (variable, norm) = self.object.limiting_variable(self.link.n);
            self.trace.push(Move::Attempt { t: t - h, h, order });
            self.trace
                .extend(matrices.drain(..).map(|cj| Move::Matrix { cj }));
            self.trace.push(Move::Accepted { t, norm, variable });
        }
        Ok(())
    }

    /// Moves from `t` to the next crossing, the stop time or the end of IDA's last step.
    fn leave_step(&mut self, dae: &mut dyn Dae, t_stop: f64) -> Result<StepOutcome, SolverError> {
        let end = self.tn.min(t_stop);
        if indicators_len(dae) > 0 {
            let object = &self.object;
            let interpolant = |t: f64, y: &mut [f64], yp: &mut [f64]| object.interpolate(t, y, yp);
            let mut step = InteriorPoint {
                dae,
                interpolant: &interpolant,
                factors: None,
                end: self.tn,
                h: object.last_step(),
                evaluations: &mut self.statistics.root_evaluations,
            };
            if let Some(t) = self.roots.find(&mut step, end)? {
                self.object.interpolate(t, &mut self.y, &mut self.yp);
                self.t = t;
                return Ok(StepOutcome::Roots);
            }
        }
        if end < self.tn {
            self.object.interpolate(end, &mut self.y, &mut self.yp);
        } else {
            self.object.state(&mut self.y, &mut self.yp);
        }
        self.t = end;
        Ok(if end == t_stop {
            StepOutcome::StopReached
        } else {
            StepOutcome::Step
        })
    }
}

impl Integrator for Ida {
    fn step(&mut self, dae: &mut dyn Dae, t_stop: f64) -> Result<StepOutcome, SolverError> {
        if t_stop.is_nan() || t_stop < self.t {
            return Err(SolverError::InvalidInput {
                t: self.t,
                what: InvalidInput::StopTime,
            });
        }
        if t_stop == self.t {
            return Ok(StepOutcome::StopReached);
        }
        if self.fresh {
            self.prepare(dae, t_stop)?;
        }
        if self.statistics.steps >= self.options.max_steps {
            let (t, h) = (self.t, self.object.current_step());
            return Err(SolverError::TooManySteps {
                t,
                h,
                steps: self.statistics.steps,
            });
        }
        if self.t < self.tn {
            // A crossing was reported inside of the last step; the rest of it comes first.
            return self.leave_step(dae, t_stop);
        }
        self.advance(dae, t_stop)?;
        self.leave_step(dae, t_stop)
    }

    fn restart(&mut self, t: f64, y: &[f64], yp: &[f64]) -> Result<(), SolverError> {
        if y.len() != self.link.n || yp.len() != self.link.n {
            return Err(SolverError::InvalidInput {
                t,
                what: InvalidInput::Length,
            });
        }
        self.statistics.restarts += 1;
        self.before_restart = self.statistics.clone();
        self.object.restart(t, y, yp);
        (self.t, self.tn) = (t, t);
        self.y.copy_from_slice(y);
        self.yp.copy_from_slice(yp);
        self.roots.reset();
        self.fresh = true;
        Ok(())
    }

    fn interpolate(&self, t: f64, y: &mut [f64], yp: &mut [f64]) {
        if self.fresh || self.last_order() == 0 {
            y.copy_from_slice(&self.y);
            yp.copy_from_slice(&self.yp);
            return;
        }
        self.object.interpolate(t, y, yp);
    }

    fn t(&self) -> f64 {
        self.t
    }

    fn solution(&mut self) -> (&[f64], &[f64]) {
        (&self.y, &self.yp)
    }

    fn step_start(&self) -> f64 {
        self.tn - self.last_step()
    }

    fn last_order(&self) -> usize {
        self.object.last_order()
    }

    fn last_step(&self) -> f64 {
        self.object.last_step()
    }

    fn found_roots(&self) -> &[RootCrossing] {
        self.roots.found()
    }

    fn negative_roots(&self) -> Vec<usize> {
        self.roots.negative().collect()
    }

    fn largest_indicators(&self) -> &[f64] {
        self.roots.largest()
    }

    fn smooth_distance(&self) -> f64 {
        self.roots.smooth_distance()
    }

    fn crossing_error(&self) -> f64 {
        self.roots.crossing_error(self.tn, self.last_step())
    }

    fn forget_roots(&mut self) {
        self.roots.forget();
    }

    fn limit_first_step(&mut self, h: Option<f64>) {
        self.first_step_limit = h;
    }

    fn take_trace(&mut self) -> Vec<Move> {
        std::mem::take(&mut self.trace)
    }

    fn statistics(&self) -> &Statistics {
        &self.statistics
    }
}
