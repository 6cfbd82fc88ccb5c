//! Running: banks, user functions, scratch memory, and a program that is bound to them.
//!
//! [`Backend`] turns kernels into [`Code`]; [`Code::bind`] turns a program into a [`BoundProgram`]; and
//! [`BoundProgram::run`] is what the integrator calls in its innermost loop. All checks are made once, in `bind`; a run
//! compares four lengths and allocates nothing once its [`Scratch`] has grown.
//!
//! # Order of effects
//! Calls run in order. In a call, repetition `j` loads all its slots, computes, and then stores its outputs one by one
//! in the order of [`crate::kernel::Kernel::outputs`]; it sees all stores of the repetitions before it. Backends may
//! work on many repetitions at once only where that cannot be seen (see `dependence.rs`).

use crate::error::{KernelError, RunError};
use crate::kernel::{BANKS, Bank, Call, Kernel, Op};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A way to make kernels executable.
pub trait Backend: Send + Sync {
    /// Checks and takes over the kernels. A [`Call`] names them by their position here.
    fn compile(&self, kernels: &[Kernel]) -> Result<Box<dyn Code>, KernelError>;
}

/// Kernels that a backend has taken over.
pub trait Code: Send + Sync {
    /// Checks that every address of every repetition is inside its bank and prepares the calls to be run. The result
    /// keeps the code it needs alive.
    fn bind(&self, program: &[Call], lengths: BankLengths) -> Result<BoundProgram, KernelError>;
}

/// Number of elements of each bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct BankLengths {
    /// Of [`Bank::Y`].
    pub y: usize,
    /// Of [`Bank::Yp`].
    pub yp: usize,
    /// Of [`Bank::Mem`].
    pub mem: usize,
    /// Of [`Bank::Out`].
    pub out: usize,
}

impl BankLengths {
    /// The length of one bank.
    pub fn get(&self, bank: Bank) -> usize {
        match bank {
            Bank::Y => self.y,
            Bank::Yp => self.yp,
            Bank::Mem => self.mem,
            Bank::Out => self.out,
        }
    }
}

/// The memory of one run.
#[derive(Debug)]
pub struct Banks<'a> {
    /// [`Bank::Y`]
    pub y: &'a [f64],
    /// [`Bank::Yp`]
    pub yp: &'a [f64],
    /// [`Bank::Mem`]
    pub mem: &'a mut [f64],
    /// [`Bank::Out`]
    pub out: &'a mut [f64],
}

impl Banks<'_> {
    /// The lengths of the slices.
    pub fn lengths(&self) -> BankLengths {
        BankLengths {
            y: self.y.len(),
            yp: self.yp.len(),
            mem: self.mem.len(),
            out: self.out.len(),
        }
    }
}

/// User functions, for [`Op::Apply`]. They must be pure: a backend may evaluate equal applications once.
pub trait CallFunctions {
    /// Output `output` of function `function`, differentiated by the arguments at the positions `wrt`.
    fn apply(&self, function: u32, args: &[f64], output: u32, wrt: &[u32]) -> f64;
}

/// For programs that apply no user function; every result is NaN.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFunctions;

impl CallFunctions for NoFunctions {
    fn apply(&self, _function: u32, _args: &[f64], _output: u32, _wrt: &[u32]) -> f64 {
        f64::NAN
    }
}

/// Memory for intermediate values. One per thread; it grows to what the programs that use it need.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(crate) values: Vec<f64>,
    pub(crate) pointers: Vec<*mut f64>,
}

// SAFETY: the pointers are written before they are read in each run, and never kept from one run to the next.
unsafe impl Send for Scratch {}
// SAFETY: a shared reference gives no access to the pointers.
unsafe impl Sync for Scratch {}

/// How much scratch memory a step needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScratchSize {
    pub values: usize,
    pub pointers: usize,
}

/// One call, ready to run.
pub(crate) trait BoundCall: Send + Sync {
    /// # Safety
    /// The bases in `context` must point to banks at least as long as those that the step was bound to, and the
    /// scratch memory must be at least as large as [`BoundCall::scratch`] says.
    unsafe fn run(&self, context: &mut RunContext<'_>, scratch: &mut Scratch);

    /// Scratch memory that [`BoundCall::run`] needs.
    fn scratch(&self) -> ScratchSize;

    /// Whether this is machine code.
    fn is_compiled(&self) -> bool {
        false
    }
}

/// A program whose addresses were checked against bank lengths, with all the code it needs.
pub struct BoundProgram {
    steps: Vec<Box<dyn BoundCall>>,
    lengths: BankLengths,
    scratch: ScratchSize,
}

impl std::fmt::Debug for BoundProgram {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BoundProgram")
            .field("steps", &self.steps.len())
            .field("lengths", &self.lengths)
            .finish()
    }
}

impl BoundProgram {
    pub(crate) fn new(steps: Vec<Box<dyn BoundCall>>, lengths: BankLengths) -> Self {
        let mut scratch = ScratchSize::default();
        for step in &steps {
            let size = step.scratch();
            scratch.values = scratch.values.max(size.values);
            scratch.pointers = scratch.pointers.max(size.pointers);
        }
        Self {
            steps,
            lengths,
            scratch,
        }
    }

    /// Runs all calls in order.
    pub fn run(
        &self,
        banks: Banks<'_>,
        functions: &dyn CallFunctions,
        scratch: &mut Scratch,
    ) -> Result<(), RunError> {
        let found = banks.lengths();
        // The first two are never written through: binding refuses outputs there.
        let bases = [
            banks.y.as_ptr().cast_mut(),
            banks.yp.as_ptr().cast_mut(),
            banks.mem.as_mut_ptr(),
            banks.out.as_mut_ptr(),
        ];
        // SAFETY: the banks are borrowed for the run, those that are written exclusively.
        unsafe { self.run_at(bases, found, functions, scratch) }
    }

    /// Runs one call alone. Calls without repetitions have no number.
    pub fn run_call(
        &self,
        call: usize,
        banks: Banks<'_>,
        functions: &dyn CallFunctions,
        scratch: &mut Scratch,
    ) -> Result<(), RunError> {
        let found = banks.lengths();
        let bases = [
            banks.y.as_ptr().cast_mut(),
            banks.yp.as_ptr().cast_mut(),
            banks.mem.as_mut_ptr(),
            banks.out.as_mut_ptr(),
        ];
        // SAFETY: the banks are borrowed for the run, those that are written exclusively.
        unsafe { self.run_calls(call..call + 1, bases, found, functions, scratch) }
    }

    /// The same with banks of the given lengths at the given places.
    ///
    /// # Safety
    /// The places hold that many numbers; while this runs nobody writes what the program reads or writes, or reads what it
    /// writes.
    pub(crate) unsafe fn run_at(
        &self,
        bases: [*mut f64; BANKS],
        found: BankLengths,
        functions: &dyn CallFunctions,
        scratch: &mut Scratch,
    ) -> Result<(), RunError> {
        // SAFETY: as the caller promises.
        unsafe { self.run_calls(0..self.steps.len(), bases, found, functions, scratch) }
    }

    /// Some of the calls.
    ///
    /// # Safety
    /// That of [`BoundProgram::run_at`].
    unsafe fn run_calls(
        &self,
        calls: std::ops::Range<usize>,
        bases: [*mut f64; BANKS],
        found: BankLengths,
        functions: &dyn CallFunctions,
        scratch: &mut Scratch,
    ) -> Result<(), RunError> {
        for bank in [Bank::Y, Bank::Yp, Bank::Mem, Bank::Out] {
            if found.get(bank) < self.lengths.get(bank) {
                return Err(RunError::BankTooShort {
                    bank,
                    expected: self.lengths.get(bank),
                    found: found.get(bank),
                });
            }
        }
        if scratch.values.len() < self.scratch.values {
            scratch.values.resize(self.scratch.values, 0.0);
        }
        if scratch.pointers.len() < self.scratch.pointers {
            scratch
                .pointers
                .resize(self.scratch.pointers, std::ptr::null_mut());
        }
        let mut context = RunContext {
            bases,
            functions,
            panicked: None,
        };
        for step in &self.steps[calls] {
            // SAFETY: the lengths were compared and the scratch memory was grown above.
            unsafe { step.run(&mut context, scratch) };
        }
        match context.panicked {
            None => Ok(()),
            Some(function) => Err(RunError::FunctionPanicked(function)),
        }
    }

    /// Number of calls with at least one repetition.
    pub fn calls(&self) -> usize {
        self.steps.len()
    }

    /// How many of them run as machine code.
    pub fn compiled_calls(&self) -> usize {
        self.steps.iter().filter(|step| step.is_compiled()).count()
    }

    /// The bank lengths the program was bound to.
    pub fn lengths(&self) -> BankLengths {
        self.lengths
    }
}

/// What the code of a step can reach at run time. Machine code reads `bases` at offset 0.
#[repr(C)]
pub(crate) struct RunContext<'a> {
    pub bases: [*mut f64; BANKS],
    pub functions: &'a dyn CallFunctions,
    /// The first user function that panicked.
    pub panicked: Option<u32>,
}

/// Calls a user function for the interpreter and for machine code. A panic must not unwind through machine code, so it
/// becomes NaN here and an error at the end of the run.
///
/// # Safety
/// `op` must be an [`Op::Apply`] and `args` must point to as many numbers as it has arguments.
pub(crate) unsafe extern "C" fn apply(
    context: *mut RunContext<'_>,
    op: *const Op,
    args: *const f64,
) -> f64 {
    // SAFETY: both come from a step that is being run.
    let (context, op) = unsafe { (&mut *context, &*op) };
    let Op::Apply {
        function,
        args: operands,
        output,
        wrt,
    } = op
    else {
        return f64::NAN;
    };
    // SAFETY: required of the caller.
    let args = unsafe { std::slice::from_raw_parts(args, operands.len()) };
    let functions = context.functions;
    let result = catch_unwind(AssertUnwindSafe(|| {
        functions.apply(*function, args, *output, wrt)
    }));
    result.unwrap_or_else(|_| {
        context.panicked.get_or_insert(*function);
        f64::NAN
    })
}
