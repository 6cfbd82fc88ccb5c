//! The interpreter: a backend without machine code.
//!
//! Each operation of a kernel is applied to a batch of up to [`LANES`] repetitions before the next operation begins, so
//! the cost of decoding an operation is shared by the batch and the inner loops are plain loops over slices that the
//! Rust compiler vectorises (the vectorised execution of Boncz, Zukowski & Nes, *MonetDB/X100*, CIDR 2005). Calls whose
//! repetitions depend on each other, and single repetitions, take the direct path in `reference.rs`, which is also the
//! definition of what a program means.
//!
//! It needs nothing but `std`: it is the backend for targets without a code generator, for kernels that are run too
//! rarely to be worth compiling (`tiered`), and the judge of the other backends.

mod batch;
mod lanes;
mod reference;
mod tape;

use crate::error::KernelError;
use crate::kernel::{Call, Kernel};
use crate::normalise::{normalise, validate};
use crate::place::{CallShape, PlacedCall, place};
use crate::run::{Backend, BankLengths, BoundCall, BoundProgram, Code};
use batch::BatchedCall;
use reference::Reference;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tape::Tape;

/// Repetitions per batch: a register is then 1 KiB, so some thirty of them stay in the first-level cache.
pub const LANES: usize = 128;

/// Batches below this size cost more to set up than they save.
const MIN_BATCH: usize = 4;

/// The interpreter as a [`Backend`].
#[derive(Clone, Copy, Debug)]
pub struct Interpreter {
    lanes: usize,
}

impl Default for Interpreter {
    fn default() -> Self {
        Self { lanes: LANES }
    }
}

impl Interpreter {
    /// With batches of at most `lanes` repetitions; one lane runs every call repetition by repetition.
    pub fn with_lanes(lanes: usize) -> Self {
        Self {
            lanes: lanes.clamp(1, LANES),
        }
    }
}

impl Backend for Interpreter {
    fn compile(&self, kernels: &[Kernel]) -> Result<Box<dyn Code>, KernelError> {
        Ok(Box::new(Interpreted::new(take_over(kernels)?, self.lanes)))
    }
}

/// Validates and normalises kernels; the first step of every backend.
pub(crate) fn take_over(kernels: &[Kernel]) -> Result<Arc<[Kernel]>, KernelError> {
    for (ix, kernel) in kernels.iter().enumerate() {
        validate(kernel).map_err(|fault| KernelError::Kernel {
            kernel: ix as u32,
            fault,
        })?;
    }
    Ok(kernels.iter().map(normalise).collect())
}

/// Normalised kernels and the tapes made from them so far.
pub(crate) struct Interpreted {
    kernels: Arc<[Kernel]>,
    lanes: usize,
    tapes: Mutex<HashMap<CallShape, Arc<Tape>>>,
}

impl Interpreted {
    pub fn new(kernels: Arc<[Kernel]>, lanes: usize) -> Self {
        Self {
            kernels,
            lanes,
            tapes: Mutex::default(),
        }
    }

    /// Prepares one call.
    pub fn step(&self, placed: PlacedCall) -> Box<dyn BoundCall> {
        let width = self.lanes.min(placed.together).min(placed.count);
        if width == 1 || width < MIN_BATCH && self.lanes >= MIN_BATCH {
            return Box::new(Reference::new(self.kernels.clone(), placed));
        }
        // A poisoned lock guards a map that is valid between any two operations on it.
        let mut tapes = self.tapes.lock().unwrap_or_else(PoisonError::into_inner);
        let tape = tapes.entry(placed.shape.clone()).or_insert_with(|| {
            Arc::new(Tape::new(
                &self.kernels[placed.shape.kernel as usize],
                &placed.shape,
            ))
        });
        Box::new(BatchedCall::new(
            tape.clone(),
            self.kernels.clone(),
            placed,
            width,
        ))
    }
}

impl Code for Interpreted {
    fn bind(&self, program: &[Call], lengths: BankLengths) -> Result<BoundProgram, KernelError> {
        let placed = place(&self.kernels, program, lengths)?;
        Ok(BoundProgram::new(
            placed.into_iter().map(|call| self.step(call)).collect(),
            lengths,
        ))
    }
}
