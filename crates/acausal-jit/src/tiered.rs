//! Machine code where it pays, the interpreter elsewhere.
//!
//! Compiling a function costs as much as interpreting it some hundred times. So a model with thousands of different
//! equations that is run for a few steps should not wait for a compiler, while an equation over a long array should
//! always be compiled. This backend estimates both for each shape of call in a program and takes the cheaper way. The
//! choice depends on the program only, never on a clock, and both ways give the same bits.
//!
//! Example: a scalar equation of 20 nodes costs about 80 µs to compile and saves about 0.12 µs per run, so it is
//! compiled if more than 650 runs are expected. The same equation over 10,000 elements saves 25 µs per run and is
//! compiled for more than a few.

use crate::cranelift::{CompiledKernels, Cranelift, MOST_NODES};
use crate::error::KernelError;
use crate::interpreter::{Interpreted, LANES, take_over};
use crate::kernel::{Call, Kernel};
use crate::place::{CallShape, PlacedCall, place};
use crate::run::{Backend, BankLengths, BoundProgram, Code};
use std::collections::HashMap;
use std::sync::Arc;

/// What the choice is based on. The times are from `examples/kernel_speed.rs`, rounded; only their ratios matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TierOptions {
    /// How often a bound program is expected to run. A short simulation evaluates its residual some thousand times.
    pub runs: f64,
    /// Nanoseconds to compile any function without a loop; with a loop it takes twice as long.
    pub compile: f64,
    /// Nanoseconds to compile a node of it.
    pub compile_node: f64,
    /// Nanoseconds that machine code saves per node, for each single repetition or batch.
    pub save_dispatch: f64,
    /// Nanoseconds that machine code saves per node and repetition.
    pub save_element: f64,
}

impl Default for TierOptions {
    fn default() -> Self {
        Self {
            runs: 5_000.0,
            compile: 30_000.0,
            compile_node: 2_500.0,
            save_dispatch: 6.0,
            save_element: 0.08,
        }
    }
}

/// The backend that chooses between [`Cranelift`] and the interpreter.
#[derive(Clone, Debug)]
pub struct Tiered {
    cranelift: Cranelift,
    options: TierOptions,
}

impl Tiered {
    /// An error if there is no machine code for this machine.
    pub fn new(options: TierOptions) -> Result<Self, KernelError> {
        Ok(Self {
            cranelift: Cranelift::new()?,
            options,
        })
    }
}

impl Backend for Tiered {
    fn compile(&self, kernels: &[Kernel]) -> Result<Box<dyn Code>, KernelError> {
        let kernels = take_over(kernels)?;
        Ok(Box::new(TieredCode {
            interpreted: Interpreted::new(kernels.clone(), LANES),
            compiled: CompiledKernels::new(self.cranelift.clone(), kernels.clone()),
            kernels,
            options: self.options,
        }))
    }
}

struct TieredCode {
    kernels: Arc<[Kernel]>,
    interpreted: Interpreted,
    compiled: CompiledKernels,
    options: TierOptions,
}

impl TieredCode {
    /// Nanoseconds saved per run by all calls of each shape.
    fn savings(&self, placed: &[PlacedCall]) -> HashMap<CallShape, f64> {
        let mut savings: HashMap<CallShape, f64> = HashMap::new();
        for call in placed {
            let batches = call.count.div_ceil(LANES.min(call.together));
            let per_node = self.options.save_dispatch * batches as f64
                + self.options.save_element * call.count as f64;
            let nodes = self.kernels[call.shape.kernel as usize].nodes.len();
            let saved = per_node * nodes as f64;
            match savings.get_mut(&call.shape) {
                Some(sum) => *sum += saved,
                None => {
                    savings.insert(call.shape.clone(), saved);
                }
            }
        }
        savings
    }

    fn pays(&self, shape: &CallShape, saved: f64) -> bool {
        let nodes = self.kernels[shape.kernel as usize].nodes.len();
        let straight = self.options.compile + self.options.compile_node * nodes as f64;
        let cost = if shape.single {
            straight
        } else {
            2.0 * straight
        };
        nodes <= MOST_NODES && saved * self.options.runs > cost
    }
}

impl Code for TieredCode {
    fn bind(&self, program: &[Call], lengths: BankLengths) -> Result<BoundProgram, KernelError> {
        let placed = place(&self.kernels, program, lengths)?;
        let savings = self.savings(&placed);
        let hot: Vec<bool> = placed
            .iter()
            .map(|call| self.pays(&call.shape, savings[&call.shape]))
            .collect();
        let shapes = placed
            .iter()
            .zip(&hot)
            .filter(|(_, hot)| **hot)
            .map(|(call, _)| &call.shape);
        self.compiled.prepare(shapes)?;
        let mut steps = Vec::with_capacity(placed.len());
        for (call, hot) in placed.into_iter().zip(hot) {
            steps.push(if hot {
                self.compiled.step(call)?
            } else {
                self.interpreted.step(call)
            });
        }
        Ok(BoundProgram::new(steps, lengths))
    }
}
