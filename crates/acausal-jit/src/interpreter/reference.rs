//! The definition: one repetition after the other, one operation after the other.

use crate::kernel::{Kernel, Op};
use crate::math;
use crate::place::{AddressRecord, Motion, PlacedCall};
use crate::run::{BoundCall, RunContext, Scratch, ScratchSize, apply};
use std::sync::Arc;

/// A call that is run repetition by repetition.
pub struct Reference {
    kernels: Arc<[Kernel]>,
    placed: PlacedCall,
    most_args: usize,
}

impl Reference {
    pub fn new(kernels: Arc<[Kernel]>, placed: PlacedCall) -> Self {
        let most_args = most_args(&kernels[placed.shape.kernel as usize]);
        Self {
            kernels,
            placed,
            most_args,
        }
    }

    fn kernel(&self) -> &Kernel {
        &self.kernels[self.placed.shape.kernel as usize]
    }
}

/// The largest number of arguments of a user function in the kernel.
pub fn most_args(kernel: &Kernel) -> usize {
    let args = |op: &Op| {
        if let Op::Apply { args, .. } = op {
            args.len()
        } else {
            0
        }
    };
    kernel.nodes.iter().map(args).max().unwrap_or(0)
}

impl BoundCall for Reference {
    unsafe fn run(&self, context: &mut RunContext<'_>, scratch: &mut Scratch) {
        let kernel = self.kernel();
        let (values, arguments) = scratch.values.split_at_mut(kernel.nodes.len());
        let PlacedCall {
            shape,
            slots,
            outputs,
            ..
        } = &self.placed;
        for j in 0..self.placed.count {
            for (ix, op) in kernel.nodes.iter().enumerate() {
                let value = match op {
                    Op::Const(value) => *value,
                    Op::Slot(slot) => {
                        let slot = *slot as usize;
                        // SAFETY: the address was checked for every repetition when the call was placed.
                        unsafe { load(context, &slots[slot], shape.slots[slot], j) }
                    }
                    Op::Unary(f, a) => math::unary(*f, values[*a as usize]),
                    Op::Binary(f, a, b) => {
                        math::binary(*f, values[*a as usize], values[*b as usize])
                    }
                    Op::Select(c, a, b) => math::select(
                        values[*c as usize],
                        values[*a as usize],
                        values[*b as usize],
                    ),
                    Op::Apply { args, .. } => {
                        for (place, arg) in arguments.iter_mut().zip(args) {
                            *place = values[*arg as usize];
                        }
                        // SAFETY: `op` is an application and its arguments have just been written.
                        unsafe { apply(context, op, arguments.as_ptr()) }
                    }
                };
                values[ix] = value;
            }
            for (ix, node) in kernel.outputs.iter().enumerate() {
                let output = shape.outputs[ix];
                // SAFETY: as for the slots.
                unsafe {
                    let place = element(context, &outputs[ix], output.motion, j);
                    *place = math::combine(output.store, *place, values[*node as usize]);
                }
            }
        }
    }

    fn scratch(&self) -> ScratchSize {
        ScratchSize {
            values: self.kernel().nodes.len() + self.most_args,
            pointers: 0,
        }
    }
}

/// The value of a slot in repetition `j`.
///
/// # Safety
/// The record must have been placed for more than `j` repetitions and the context must hold the banks it was placed in.
#[inline]
pub unsafe fn load(
    context: &RunContext<'_>,
    record: &AddressRecord,
    motion: Motion,
    j: usize,
) -> f64 {
    if motion == Motion::Counter {
        return math::counter(
            f64::from_bits(record.offset),
            f64::from_bits(record.stride),
            j,
        );
    }
    // SAFETY: required of the caller.
    unsafe { *element(context, record, motion, j) }
}

/// The address of repetition `j`.
///
/// # Safety
/// As for [`load`]; the record must not be a counter.
#[inline]
pub unsafe fn element(
    context: &RunContext<'_>,
    record: &AddressRecord,
    motion: Motion,
    j: usize,
) -> *mut f64 {
    let base = context.bases[record.bank as usize];
    // SAFETY: required of the caller.
    unsafe {
        match motion {
            Motion::Table => base.add(*record.table.add(j) as usize),
            _ => base.byte_offset(
                (record.offset as isize)
                    .wrapping_add((record.stride as isize).wrapping_mul(j as isize)),
            ),
        }
    }
}
