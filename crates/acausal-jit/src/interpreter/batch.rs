//! Runs a tape over the repetitions of a call, batch by batch.

use super::reference::{element, load, most_args};
use super::tape::{Instruction, Ptr, Tape, TapeOp};
use super::{LANES, lanes};
use crate::kernel::{Kernel, Store};
use crate::math;
use crate::place::{Motion, PlacedCall};
use crate::run::{BoundCall, RunContext, Scratch, ScratchSize, apply};
use std::sync::Arc;

/// A call that is run in batches.
pub struct BatchedCall {
    tape: Arc<Tape>,
    kernels: Arc<[Kernel]>,
    placed: PlacedCall,
    /// Repetitions per batch.
    width: usize,
    most_args: usize,
}

impl BatchedCall {
    /// `width` repetitions must be free of dependences and at most [`LANES`].
    pub fn new(tape: Arc<Tape>, kernels: Arc<[Kernel]>, placed: PlacedCall, width: usize) -> Self {
        let most_args = most_args(&kernels[placed.shape.kernel as usize]);
        Self {
            tape,
            kernels,
            placed,
            width,
            most_args,
        }
    }

    /// # Safety
    /// `frame` must hold valid pointers for `frame.count` repetitions from `frame.start`.
    unsafe fn execute(
        &self,
        instruction: &Instruction,
        context: &mut RunContext<'_>,
        frame: &Frame<'_>,
    ) {
        let Frame {
            start,
            count,
            pointers,
            arguments,
        } = *frame;
        // SAFETY: registers hold LANES numbers and banks were checked; destinations are never operands (see `tape`).
        unsafe {
            let read = |at: Ptr| std::slice::from_raw_parts(pointers[at as usize], count);
            let to = std::slice::from_raw_parts_mut(pointers[instruction.to as usize], count);
            match &instruction.what {
                TapeOp::Const(value) => to.fill(*value),
                TapeOp::Broadcast(slot) => {
                    to.fill(load(
                        context,
                        &self.placed.slots[*slot as usize],
                        Motion::Uniform,
                        0,
                    ));
                }
                TapeOp::Load(slot) => {
                    let record = &self.placed.slots[*slot as usize];
                    let motion = self.placed.shape.slots[*slot as usize];
                    match motion {
                        Motion::Counter => lanes::count(record, start, to),
                        _ => lanes::gather(
                            context.bases[record.bank as usize],
                            record,
                            motion,
                            start,
                            to,
                        ),
                    }
                }
                TapeOp::Unary(f, a) => lanes::unary(*f, read(*a), to),
                TapeOp::Binary(f, a, b) => lanes::binary(*f, read(*a), read(*b), to),
                TapeOp::Select(c, a, b) => lanes::select(read(*c), read(*a), read(*b), to),
                TapeOp::Apply(node, args) => {
                    let op = &self.kernels[self.placed.shape.kernel as usize].nodes[*node as usize];
                    for (lane, to) in to.iter_mut().enumerate() {
                        for (k, arg) in args.iter().enumerate() {
                            *arguments.add(k) = *pointers[*arg as usize].add(lane);
                        }
                        *to = apply(context, op, arguments);
                    }
                }
            }
        }
    }

    /// # Safety
    /// As for [`Self::execute`].
    unsafe fn store(&self, context: &RunContext<'_>, frame: &Frame<'_>) {
        let shape = &self.placed.shape;
        let store_lane = |output: u32, from: Ptr, lane: usize| {
            let shape = shape.outputs[output as usize];
            let record = &self.placed.outputs[output as usize];
            // SAFETY: required of the caller.
            unsafe {
                let place = element(context, record, shape.motion, frame.start + lane);
                *place = math::combine(
                    shape.store,
                    *place,
                    *frame.pointers[from as usize].add(lane),
                );
            }
        };
        if shape.interleaved {
            for lane in 0..frame.count {
                for &(output, from) in &self.tape.stores {
                    store_lane(output, from, lane);
                }
            }
            return;
        }
        for &(output, from) in &self.tape.stores {
            let shape = shape.outputs[output as usize];
            if shape.motion == Motion::Unit && shape.store == Store::Set {
                let record = &self.placed.outputs[output as usize];
                // SAFETY: required of the caller; `copy` allows the overlap of a value that is read in place.
                unsafe {
                    let place = element(context, record, shape.motion, frame.start);
                    std::ptr::copy(frame.pointers[from as usize], place, frame.count);
                }
            } else if shape.motion == Motion::Uniform {
                let record = &self.placed.outputs[output as usize];
                // SAFETY: required of the caller; the values are in registers or in memory that no output meets.
                unsafe {
                    let place = element(context, record, shape.motion, frame.start);
                    let values =
                        std::slice::from_raw_parts(frame.pointers[from as usize], frame.count);
                    *place = lanes::accumulate(shape.store, *place, values);
                }
            } else {
                for lane in 0..frame.count {
                    store_lane(output, from, lane);
                }
            }
        }
    }
}

/// One batch.
struct Frame<'a> {
    start: usize,
    count: usize,
    pointers: &'a [*mut f64],
    arguments: *mut f64,
}

impl BoundCall for BatchedCall {
    unsafe fn run(&self, context: &mut RunContext<'_>, scratch: &mut Scratch) {
        let tape = &*self.tape;
        let values = scratch.values.as_mut_ptr();
        let (in_banks, registers) = (tape.pointers() - tape.registers, tape.registers);
        let pointers = &mut scratch.pointers[..tape.pointers()];
        // SAFETY: the scratch memory is as large as `scratch` says: LANES per register, then the arguments.
        let arguments = unsafe { values.add(registers * LANES) };
        for (register, pointer) in pointers[in_banks..].iter_mut().enumerate() {
            // SAFETY: as above.
            *pointer = unsafe { values.add(register * LANES) };
        }
        for instruction in &tape.once {
            // SAFETY: these use registers only.
            unsafe {
                self.execute(
                    instruction,
                    context,
                    &Frame {
                        start: 0,
                        count: self.width,
                        pointers,
                        arguments,
                    },
                )
            };
        }
        let mut start = 0;
        while start < self.placed.count {
            let count = self.width.min(self.placed.count - start);
            let slots = tape
                .in_place_slots
                .iter()
                .map(|slot| &self.placed.slots[*slot as usize]);
            let outputs = tape
                .in_place_outputs
                .iter()
                .map(|output| &self.placed.outputs[*output as usize]);
            for (pointer, record) in pointers.iter_mut().zip(slots.chain(outputs)) {
                // SAFETY: `start` is a repetition of the call.
                *pointer = unsafe { element(context, record, Motion::Unit, start) };
            }
            let frame = Frame {
                start,
                count,
                pointers,
                arguments,
            };
            for instruction in &tape.each {
                // SAFETY: all pointers have been set for this batch.
                unsafe { self.execute(instruction, context, &frame) };
            }
            // SAFETY: as above.
            unsafe { self.store(context, &frame) };
            start += count;
        }
    }

    fn scratch(&self) -> ScratchSize {
        ScratchSize {
            values: self.tape.registers * LANES + self.most_args,
            pointers: self.tape.pointers(),
        }
    }
}
