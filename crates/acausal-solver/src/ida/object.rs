//! Owner of the SUNDIALS objects of one integrator: created together, freed together, every call in one place.
//!
//! Invariant: all pointers are valid from [`Object::new`] to drop; the vectors have n numbers each.

use super::callbacks::{self, Link, numbers, numbers_mut};
use crate::bdf::BdfOptions;
use std::os::raw::{c_int, c_long, c_void};
use std::ptr::null_mut;
use sundials_sys as c;

pub(super) struct Object {
    n: usize,
    context: c::SUNContext,
    memory: *mut c_void,
    matrix: c::SUNMatrix,
    solver: c::SUNLinearSolver,
    y: c::N_Vector,
    yp: c::N_Vector,
    /// Absolute tolerances at first, work space later.
    work: c::N_Vector,
    id: c::N_Vector,
}

// SAFETY: the objects are used by one thread at a time, through the owner; SUNDIALS keeps no thread-local state.
unsafe impl Send for Object {}

impl Object {
    /// Creates and configures IDA; none if the library refuses (no memory).
    pub fn new(
        options: &BdfOptions,
        t0: f64,
        y0: &[f64],
        yp0: &[f64],
        link: &mut Box<Link>,
    ) -> Option<Self> {
        let n = y0.len();
        let link: *mut Link = &mut **link;
        let mut object = Self {
            n,
            context: null_mut(),
            memory: null_mut(),
            matrix: null_mut(),
            solver: null_mut(),
            y: null_mut(),
            yp: null_mut(),
            work: null_mut(),
            id: null_mut(),
        };
        // SAFETY: plain calls of the C interface with objects created just before; null results end the construction,
        // and drop frees what exists by then.
        unsafe {
            if c::SUNContext_Create(c::SUN_COMM_NULL, &mut object.context) != 0 {
                return None;
            }
            // Errors come back as values; nothing is printed.
            c::SUNContext_ClearErrHandlers(object.context);
            for vector in [
                &mut object.y,
                &mut object.yp,
                &mut object.work,
                &mut object.id,
            ] {
                *vector = c::N_VNew_Serial(n as i64, object.context);
                if vector.is_null() {
                    return None;
                }
            }
            numbers_mut(object.y, n).copy_from_slice(y0);
            numbers_mut(object.yp, n).copy_from_slice(yp0);
            for (i, a) in numbers_mut(object.work, n).iter_mut().enumerate() {
                *a = options.atol[if options.atol.len() == 1 { 0 } else { i }];
            }
            for (i, id) in numbers_mut(object.id, n).iter_mut().enumerate() {
                *id = if options.error_test.get(i).copied().unwrap_or(true) {
                    1.0
                } else {
                    0.0
                };
            }
            object.memory = c::IDACreate(object.context);
            (object.matrix, object.solver) = callbacks::matrix_and_solver(object.context, link);
            if object.memory.is_null() || object.matrix.is_null() || object.solver.is_null() {
                return None;
            }
            let m = object.memory;
            let max_step = if options.max_step.is_finite() {
                options.max_step
            } else {
                0.0
            };
            let flags = [
                c::IDAInit(m, Some(callbacks::residual), t0, object.y, object.yp),
                c::IDASVtolerances(m, options.rtol, object.work),
                c::IDASetUserData(m, link.cast()),
                c::IDASetId(m, object.id),
                c::IDASetSuppressAlg(m, c_int::from(options.error_test.contains(&false))),
                c::IDASetMaxOrd(m, options.max_order as c_int),
                c::IDASetMaxStep(m, max_step),
                c::IDASetInitStep(m, options.initial_step.unwrap_or(0.0)),
                c::IDASetMaxNumSteps(m, -1),
                c::IDASetLinearSolver(m, object.solver, object.matrix),
                c::IDASetJacFn(m, Some(callbacks::jacobian)),
                c::IDASetNonlinConvCoef(m, options.newton_tolerance),
                c::IDASetMaxErrTestFails(m, options.max_error_test_failures as c_int),
                c::IDASetMaxConvFails(m, options.max_convergence_failures as c_int),
            ];
            flags
                .iter()
                .all(|&flag| flag == c::IDA_SUCCESS)
                .then_some(object)
        }
    }

    /// Size of the first step after a start; zero lets IDA choose.
    pub fn set_first_step(&self, h: f64) {
        // SAFETY: valid memory block (see the invariant).
        unsafe { c::IDASetInitStep(self.memory, h) };
    }

    /// One internal step, or less if the stop time comes first. Returns IDA's flag and the time.
    pub fn solve(&self, t_stop: f64) -> (c_int, f64) {
        let mut t = 0.0;
        // SAFETY: valid objects (see the invariant).
        let flag = unsafe {
            if t_stop.is_finite() {
                c::IDASetStopTime(self.memory, t_stop);
            }
            let target = if t_stop.is_finite() { t_stop } else { f64::MAX };
            c::IDASolve(
                self.memory,
                target,
                &mut t,
                self.y,
                self.yp,
                c::IDA_ONE_STEP,
            )
        };
        (flag, t)
    }

    pub fn state(&self, y: &mut [f64], yp: &mut [f64]) {
        // SAFETY: valid vectors of n numbers (see the invariant).
        unsafe {
            y.copy_from_slice(numbers(self.y, self.n));
            yp.copy_from_slice(numbers(self.yp, self.n));
        }
    }

    pub fn restart(&self, t: f64, y: &[f64], yp: &[f64]) {
        // SAFETY: valid objects (see the invariant).
        unsafe {
            numbers_mut(self.y, self.n).copy_from_slice(y);
            numbers_mut(self.yp, self.n).copy_from_slice(yp);
            c::IDAReInit(self.memory, t, self.y, self.yp);
        }
    }

    pub fn interpolate(&self, t: f64, y: &mut [f64], yp: &mut [f64]) {
        // SAFETY: valid objects (see the invariant); `work` is free between the calls.
        unsafe {
            for (order, out) in [(0, y), (1, yp)] {
                if c::IDAGetDky(self.memory, t, order, self.work) == c::IDA_SUCCESS {
                    out.copy_from_slice(numbers(self.work, self.n));
                }
            }
        }
    }

    pub fn counter(&self, get: unsafe extern "C" fn(*mut c_void, *mut c_long) -> c_int) -> u64 {
        let mut value: c_long = 0;
        // SAFETY: a getter of the C interface with a valid memory block.
        unsafe { get(self.memory, &mut value) };
        u64::try_from(value).unwrap_or(0)
    }

    fn real(&self, get: unsafe extern "C" fn(*mut c_void, *mut f64) -> c_int) -> f64 {
        let mut value = 0.0;
        // SAFETY: a getter of the C interface with a valid memory block.
        unsafe { get(self.memory, &mut value) };
        value
    }

    pub fn internal_time(&self) -> f64 {
        self.real(c::IDAGetCurrentTime)
    }

    pub fn current_step(&self) -> f64 {
        self.real(c::IDAGetCurrentStep)
    }

    pub fn last_step(&self) -> f64 {
        self.real(c::IDAGetLastStep)
    }

    pub fn last_order(&self) -> usize {
        let mut order: c_int = 0;
        // SAFETY: a getter of the C interface with a valid memory block.
        unsafe { c::IDAGetLastOrder(self.memory, &mut order) };
        usize::try_from(order).unwrap_or(0)
    }

    /// Variable with the largest weighted local error, and this error.
    pub fn limiting_variable(&self, n: usize) -> (usize, f64) {
        // SAFETY: valid vectors (see the invariant); `id` was copied by IDA and is free for the weights.
        unsafe {
            c::IDAGetEstLocalErrors(self.memory, self.work);
            c::IDAGetErrWeights(self.memory, self.id);
            let (errors, weights) = (numbers(self.work, n), numbers(self.id, n));
            let size = |i: &usize| (errors[*i] * weights[*i]).abs();
            let largest = (0..n)
                .max_by(|a, b| size(a).total_cmp(&size(b)))
                .unwrap_or(0);
            (largest, if n > 0 { size(&largest) } else { 0.0 })
        }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: each object is freed once, users before what they use; the C functions accept null where it can be.
        unsafe {
            if !self.memory.is_null() {
                c::IDAFree(&mut self.memory);
            }
            if !self.solver.is_null() {
                c::SUNLinSolFreeEmpty(self.solver);
            }
            if !self.matrix.is_null() {
                c::SUNMatFreeEmpty(self.matrix);
            }
            for vector in [self.y, self.yp, self.work, self.id] {
                if !vector.is_null() {
                    c::N_VDestroy(vector);
                }
            }
            if !self.context.is_null() {
                c::SUNContext_Free(&mut self.context);
            }
        }
    }
}
