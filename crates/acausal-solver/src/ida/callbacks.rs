//! The C side of the conversation with IDA: residual, Jacobian and the linear solver as callbacks.
//!
//! IDA sees a matrix without content and a direct linear solver whose factorisation is ours: the Jacobian callback
//! fills the values in the order of the model's pattern, `setup` factorises them with [`Lu`], `solve` uses it. All
//! callbacks find their data in a [`Link`] behind IDA's `user_data` and the solver's `content` pointer.

use crate::dae::{Dae, DaeError, EvalReason, first_not_finite};
use crate::linear::{LinearSolver, Lu, Singular};
use std::os::raw::{c_int, c_void};
use sundials_sys::{
    N_VGetArrayPointer, N_Vector, SUNContext, SUNErrCode, SUNLinSolNewEmpty, SUNLinearSolver,
    SUNLinearSolver_ID, SUNLinearSolver_ID_SUNLINEARSOLVER_CUSTOM, SUNLinearSolver_Type,
    SUNLinearSolver_Type_SUNLINEARSOLVER_DIRECT, SUNMatNewEmpty, SUNMatrix, SUNMatrix_ID,
    SUNMatrix_ID_SUNMATRIX_CUSTOM,
};

/// Return values of callbacks: go on, try a smaller step, stop.
const OK: c_int = 0;
const RECOVERABLE: c_int = 1;
const FATAL: c_int = -1;

/// What the callbacks need.
pub(super) struct Link {
    pub n: usize,
    /// Set for the duration of one call of IDA.
    pub dae: Option<*mut dyn Dae>,
    pub values: Vec<f64>,
    pub lu: Lu,
    /// Why a callback failed last.
    pub failure: Option<DaeError>,
    pub singular: Option<Singular>,
    pub residuals: u64,
    /// Leading coefficients of the matrices made since the last step, where they are traced.
    pub matrices: Option<Vec<f64>>,
}

// SAFETY: the pointer to the model is there only during a call of `Ida::step`, on the caller's thread.
unsafe impl Send for Link {}

impl Link {
    /// Runs an evaluation of the model and turns its failure into IDA's return value.
    fn evaluate(
        &mut self,
        call: impl FnOnce(&mut dyn Dae, &mut Vec<f64>) -> Result<(), DaeError>,
    ) -> c_int {
        let Some(dae) = self.dae else {
            return FATAL;
        };
        // SAFETY: the pointer is set only while `Ida::step` holds the exclusive reference it was made from.
        let result = call(unsafe { &mut *dae }, &mut self.values);
        match result {
            Ok(()) => OK,
            Err(error) => {
                self.failure = Some(error);
                if matches!(error, DaeError::Fatal(_)) {
                    FATAL
                } else {
                    RECOVERABLE
                }
            }
        }
    }
}

/// The numbers of a serial vector.
///
/// # Safety
/// `v` is a serial vector of at least n numbers that lives as long as the result is used.
pub(super) unsafe fn numbers<'a>(v: N_Vector, n: usize) -> &'a [f64] {
    // SAFETY: by the contract.
    unsafe { std::slice::from_raw_parts(N_VGetArrayPointer(v), n) }
}

/// Like [`numbers`], for writing.
///
/// # Safety
/// As [`numbers`], and nothing else refers to the vector meanwhile.
pub(super) unsafe fn numbers_mut<'a>(v: N_Vector, n: usize) -> &'a mut [f64] {
    // SAFETY: by the contract.
    unsafe { std::slice::from_raw_parts_mut(N_VGetArrayPointer(v), n) }
}

fn check(values: &[f64]) -> Result<(), DaeError> {
    match first_not_finite(values) {
        Some(row) => Err(DaeError::Recoverable(EvalReason::NotFinite { row })),
        None => Ok(()),
    }
}

pub(super) unsafe extern "C" fn residual(
    t: f64,
    y: N_Vector,
    yp: N_Vector,
    r: N_Vector,
    data: *mut c_void,
) -> c_int {
    // SAFETY: `data` is the Link given to IDASetUserData; IDA's vectors have n numbers and do not overlap.
    unsafe {
        let link = &mut *data.cast::<Link>();
        let n = link.n;
        link.residuals += 1;
        link.evaluate(|dae, _| {
            let r = numbers_mut(r, n);
            dae.residual(t, numbers(y, n), numbers(yp, n), r)?;
            check(r)
        })
    }
}

#[allow(clippy::too_many_arguments)]
pub(super) unsafe extern "C" fn jacobian(
    t: f64,
    cj: f64,
    y: N_Vector,
    yp: N_Vector,
    _r: N_Vector,
    _matrix: SUNMatrix,
    data: *mut c_void,
    _tmp1: N_Vector,
    _tmp2: N_Vector,
    _tmp3: N_Vector,
) -> c_int {
    // SAFETY: as in `residual`.
    unsafe {
        let link = &mut *data.cast::<Link>();
        let n = link.n;
        if let Some(list) = &mut link.matrices {
            list.push(cj);
        }
        link.evaluate(|dae, values| dae.jacobian(t, numbers(y, n), numbers(yp, n), cj, values))
    }
}

unsafe extern "C" fn matrix_id(_matrix: SUNMatrix) -> SUNMatrix_ID {
    SUNMatrix_ID_SUNMATRIX_CUSTOM
}

unsafe extern "C" fn matrix_zero(_matrix: SUNMatrix) -> SUNErrCode {
    0
}

unsafe extern "C" fn solver_type(_solver: SUNLinearSolver) -> SUNLinearSolver_Type {
    SUNLinearSolver_Type_SUNLINEARSOLVER_DIRECT
}

unsafe extern "C" fn solver_id(_solver: SUNLinearSolver) -> SUNLinearSolver_ID {
    SUNLinearSolver_ID_SUNLINEARSOLVER_CUSTOM
}

unsafe extern "C" fn solver_setup(solver: SUNLinearSolver, _matrix: SUNMatrix) -> c_int {
    // SAFETY: `content` is the Link.
    let link = unsafe { &mut *(*solver).content.cast::<Link>() };
    match link.lu.factor(&link.values) {
        Ok(()) => OK,
        Err(singular) => {
            link.singular = Some(singular);
            RECOVERABLE
        }
    }
}

unsafe extern "C" fn solver_solve(
    solver: SUNLinearSolver,
    _matrix: SUNMatrix,
    x: N_Vector,
    b: N_Vector,
    _tolerance: f64,
) -> c_int {
    // SAFETY: `content` is the Link; x and b are IDA's vectors of n numbers, possibly the same one.
    unsafe {
        let link = &mut *(*solver).content.cast::<Link>();
        let n = link.n;
        std::ptr::copy(N_VGetArrayPointer(b), N_VGetArrayPointer(x), n);
        link.lu.solve(numbers_mut(x, n));
    }
    OK
}

/// An empty matrix and the solver, as SUNDIALS objects; null if there is no memory.
///
/// # Safety
/// `context` is a valid SUNDIALS context; `link` outlives the solver.
pub(super) unsafe fn matrix_and_solver(
    context: SUNContext,
    link: *mut Link,
) -> (SUNMatrix, SUNLinearSolver) {
    // SAFETY: the constructors return null or an object with a table of operations that we may fill.
    unsafe {
        let matrix = SUNMatNewEmpty(context);
        if !matrix.is_null() {
            (*(*matrix).ops).getid = Some(matrix_id);
            (*(*matrix).ops).zero = Some(matrix_zero);
        }
        let solver = SUNLinSolNewEmpty(context);
        if !solver.is_null() {
            (*solver).content = link.cast();
            let operations = &mut *(*solver).ops;
            operations.gettype = Some(solver_type);
            operations.getid = Some(solver_id);
            operations.setup = Some(solver_setup);
            operations.solve = Some(solver_solve);
        }
        (matrix, solver)
    }
}
