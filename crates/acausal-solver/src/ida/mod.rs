//! SUNDIALS IDA behind the same interface as [`Bdf`](crate::Bdf), with our own LU as its linear solver.
//!
//! Exists with the cargo feature `sundials`, which builds the C library (needs cmake and libclang). It is the yardstick
//! and the judge, not the default: no stability guard, the derivative at the end of a step comes from the interpolant.
//! Options are taken over as far as IDA knows them; variables outside the error test are its "algebraic" ones that are
//! suppressed there.
//!
//! Source: Hindmarsh et al., "SUNDIALS" (ACM TOMS 31, 2005); IDA user guide 7.1.

mod callbacks;
mod object;

use crate::bdf::{
    BdfOptions, InvalidInput, RootCrossing, SolverError, Statistics, StepLimit, StepOutcome,
};
use crate::dae::{Dae, EvalError, EvalReason};
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
    found: Vec<RootCrossing>,
    flags: Vec<c_int>,
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
            roots: 0,
            dae: None,
            values: Vec::new(),
            lu: Lu::new(),
            failure: None,
            singular: None,
            residuals: 0,
            root_evaluations: 0,
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
            found: Vec::new(),
            flags: Vec::new(),
            statistics: Statistics::default(),
            before_restart: Statistics::default(),
        })
    }

    fn prepare(&mut self, dae: &mut dyn Dae) -> Result<(), SolverError> {
        if dae.len() != self.link.n || dae.pattern().size() != self.link.n {
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
        self.link.roots = dae.roots_len();
        self.flags = vec![0; self.link.roots];
        self.object.set_roots(self.link.roots);
        self.fresh = false;
        Ok(())
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
        current.root_evaluations = self.link.root_evaluations;
    }

    fn error(&self, flag: c_int) -> SolverError {
        let (t, h) = (self.object.internal_time(), self.object.current_step());
        let reason = self
            .link
            .failure
            .map_or(EvalReason::NotFinite { row: 0 }, |e: EvalError| e.reason());
        match flag {
            c::IDA_TOO_MUCH_WORK => SolverError::TooManySteps {
                t,
                h,
                steps: self.statistics.steps,
            },
            c::IDA_TOO_MUCH_ACC => SolverError::TooMuchAccuracy { t, h, factor: 10.0 },
            c::IDA_ERR_FAIL => {
                let variable = self.object.limiting_variable(self.link.n);
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
                let variable = self.object.limiting_variable(self.link.n);
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

impl Integrator for Ida {
    fn step(&mut self, dae: &mut dyn Dae, t_stop: f64) -> Result<StepOutcome, SolverError> {
        if t_stop.is_nan() || t_stop < self.t {
            return Err(SolverError::InvalidInput {
                t: self.t,
                what: InvalidInput::StopTime,
            });
        }
        if self.fresh {
            self.prepare(dae)?;
        }
        if t_stop == self.t {
            return Ok(StepOutcome::StopReached);
        }
        if self.statistics.steps >= self.options.max_steps {
            let (t, h) = (self.t, self.object.current_step());
            return Err(SolverError::TooManySteps {
                t,
                h,
                steps: self.statistics.steps,
            });
        }
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
        if flag == c::IDA_SUCCESS && t == self.t {
            // IDA goes on with steps that no longer change t.
            let limit = match self.link.failure {
                Some(error) => StepLimit::Evaluation(error.reason()),
                None => StepLimit::ErrorTest {
                    variable: self.object.limiting_variable(self.link.n),
                },
            };
            let h = self.object.current_step();
            return Err(SolverError::StepTooSmall { t, h, limit });
        }
        self.t = t;
        self.object.state(&mut self.y, &mut self.yp);
        self.found.clear();
        if flag == c::IDA_ROOT_RETURN {
            self.object.root_flags(&mut self.flags);
            let crossings = self
                .flags
                .iter()
                .enumerate()
                .filter(|(_, flag)| **flag != 0);
            self.found
                .extend(crossings.map(|(index, flag)| RootCrossing {
                    index,
                    rising: *flag > 0,
                }));
            return Ok(StepOutcome::Roots);
        }
        let order = self.last_order().min(5);
        self.statistics.steps_by_order[order] += 1;
        Ok(if self.t == t_stop {
            StepOutcome::StopReached
        } else {
            StepOutcome::Step
        })
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
        self.t = t;
        self.y.copy_from_slice(y);
        self.yp.copy_from_slice(yp);
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

    fn y(&self) -> &[f64] {
        &self.y
    }

    fn yp(&self) -> &[f64] {
        &self.yp
    }

    fn step_start(&self) -> f64 {
        self.object.internal_time() - self.last_step()
    }

    fn last_order(&self) -> usize {
        self.object.last_order()
    }

    fn last_step(&self) -> f64 {
        self.object.last_step()
    }

    fn found_roots(&self) -> &[RootCrossing] {
        &self.found
    }

    fn statistics(&self) -> &Statistics {
        &self.statistics
    }
}
