//! The body of the loops: all nodes and stores of one repetition, or of two.

use super::lane::{Lane, relation};
use super::motion::{SlotMotion, base};
use crate::kernel::{BANKS, Binary, Kernel, NodeIx, Op, Store, Unary};
use crate::place::{CallShape, Motion};
use cranelift_codegen::ir::{InstBuilder, Value};

/// What has been computed for each node.
#[derive(Clone)]
pub struct Values {
    /// Numbers or pairs of numbers.
    pub numbers: Vec<Option<Value>>,
    /// For relations and logical operators, the mask; the number follows only if it is asked for.
    masks: Vec<Option<Value>>,
}

impl Values {
    /// Nothing yet.
    pub fn new(nodes: usize) -> Self {
        Self {
            numbers: vec![None; nodes],
            masks: vec![None; nodes],
        }
    }

    /// Whether a node has been computed.
    pub fn has(&self, ix: usize) -> bool {
        self.numbers[ix].is_some() || self.masks[ix].is_some()
    }

    fn number(&mut self, lane: &mut Lane<'_, '_>, node: NodeIx) -> Value {
        let ix = node as usize;
        match (self.numbers[ix], self.masks[ix]) {
            (Some(number), _) => number,
            (None, Some(mask)) => *self.numbers[ix].insert(lane.number(mask)),
            // Operands come before their users, so this does not happen; NaN would show it.
            (None, None) => lane.literal(f64::NAN),
        }
    }

    fn truth(&mut self, lane: &mut Lane<'_, '_>, node: NodeIx) -> Value {
        if let Some(mask) = self.masks[node as usize] {
            return mask;
        }
        let number = self.number(lane, node);
        lane.truth(number)
    }
}

/// What the body of a loop is made from.
pub struct Body<'a, 'b> {
    pub lane: Lane<'a, 'b>,
    pub kernel: &'a Kernel,
    pub shape: &'a CallShape,
    /// Of the run, for user functions.
    context: Value,
    /// Addresses of the records of the slots and of the outputs.
    records: [Value; 2],
    /// Addresses of the banks that the shape names.
    bases: [Option<Value>; BANKS],
    /// Slots, then outputs, if they were opened before a loop.
    places: Vec<SlotMotion>,
}

impl<'a, 'b> Body<'a, 'b> {
    /// `context` and `records` are addresses that the function was given.
    pub fn new(
        mut lane: Lane<'a, 'b>,
        kernel: &'a Kernel,
        shape: &'a CallShape,
        context: Value,
        records: [Value; 2],
    ) -> Self {
        let mut bases = [None; BANKS];
        for bank in &shape.banks {
            bases[*bank as usize].get_or_insert_with(|| base(&mut lane, context, *bank));
        }
        Self {
            lane,
            kernel,
            shape,
            context,
            records,
            bases,
            places: Vec::new(),
        }
    }

    /// Reads all records now, before a loop. Without it a record is read where it is used, which is better for straight
    /// code: addresses need not be kept.
    pub fn open_all(&mut self) {
        let slots = (0..self.shape.slots.len())
            .map(|ix| self.slot(ix))
            .collect::<Vec<_>>();
        let outputs = (0..self.shape.outputs.len())
            .map(|ix| self.output(ix))
            .collect::<Vec<_>>();
        self.places = [slots, outputs].concat();
    }

    fn slot(&mut self, ix: usize) -> SlotMotion {
        self.place(0, ix, self.shape.slots[ix], ix)
    }

    /// Where an output is stored.
    pub fn output(&mut self, ix: usize) -> SlotMotion {
        self.place(
            1,
            ix,
            self.shape.outputs[ix].motion,
            self.shape.slots.len() + ix,
        )
    }

    fn place(&mut self, list: usize, ix: usize, motion: Motion, position: usize) -> SlotMotion {
        if let Some(place) = self.places.get(position) {
            return *place;
        }
        match (motion, self.bases[self.shape.banks[position] as usize]) {
            (Motion::Unused, _) | (_, None) => SlotMotion::Nowhere,
            (_, Some(base)) => {
                SlotMotion::new(&mut self.lane, motion, self.records[list], ix, base)
            }
        }
    }

    /// Computes the chosen nodes for repetition `i` (and the next).
    pub fn nodes(&mut self, values: &mut Values, i: Value, chosen: impl Fn(usize) -> bool) {
        let kernel = self.kernel;
        for (ix, op) in kernel
            .nodes
            .iter()
            .enumerate()
            .filter(|(ix, _)| chosen(*ix))
        {
            let place = match op {
                Op::Slot(slot) => self.slot(*slot as usize),
                _ => SlotMotion::Nowhere,
            };
            let lane = &mut self.lane;
            let number = match op {
                Op::Const(value) => lane.literal(*value),
                Op::Slot(_) => {
                    if lane.wide {
                        place.load_pair(lane, i)
                    } else {
                        place.load(lane, i, 0)
                    }
                }
                Op::Unary(Unary::Not, a) => {
                    let mask = values.truth(lane, *a);
                    values.masks[ix] = Some(lane.not(mask));
                    continue;
                }
                Op::Unary(f, a) => {
                    let a = values.number(lane, *a);
                    lane.unary(*f, a)
                }
                Op::Binary(f @ (Binary::And | Binary::Or), a, b) => {
                    let (a, b) = (values.truth(lane, *a), values.truth(lane, *b));
                    values.masks[ix] = Some(lane.logic(*f, a, b));
                    continue;
                }
                Op::Binary(f, a, b) => {
                    let (a, b) = (values.number(lane, *a), values.number(lane, *b));
                    match relation(*f) {
                        Some(relation) => {
                            values.masks[ix] = Some(lane.compare(relation, a, b));
                            continue;
                        }
                        None => lane.binary(*f, a, b),
                    }
                }
                Op::Select(c, a, b) => {
                    let (a, b) = (values.number(lane, *a), values.number(lane, *b));
                    let mask = values.truth(lane, *c);
                    lane.select(mask, a, b)
                }
                Op::Apply { args, .. } => {
                    let args: Vec<Value> =
                        args.iter().map(|arg| values.number(lane, *arg)).collect();
                    lane.apply(self.context, op, &args)
                }
            };
            values.numbers[ix] = Some(number);
        }
    }

    /// Stores all outputs of repetition `i` (and the next), or adds them to their accumulators.
    pub fn stores(&mut self, values: &mut Values, i: Value, accumulators: &mut [Option<Value>]) {
        let results: Vec<Value> = self
            .kernel
            .outputs
            .iter()
            .map(|node| values.number(&mut self.lane, *node))
            .collect();
        let repetitions = if self.lane.wide { 2 } else { 1 };
        if self.shape.interleaved {
            for k in 0..repetitions {
                for (ix, result) in results.iter().enumerate() {
                    self.store(ix, i, k, *result, &mut accumulators[ix]);
                }
            }
            return;
        }
        for (ix, result) in results.iter().enumerate() {
            if self.lane.wide && self.shape.outputs[ix].motion == Motion::Unit {
                self.store_pair(ix, i, *result);
            } else {
                for k in 0..repetitions {
                    self.store(ix, i, k, *result, &mut accumulators[ix]);
                }
            }
        }
    }

    fn store_pair(&mut self, ix: usize, i: Value, result: Value) {
        let (place, store) = (self.output(ix), self.shape.outputs[ix].store);
        let new = if store == Store::Set {
            result
        } else {
            let old = place.load_pair(&mut self.lane, i);
            self.lane.combine(store, old, result)
        };
        place.store(&mut self.lane, i, 0, new);
    }

    fn store(
        &mut self,
        ix: usize,
        i: Value,
        k: usize,
        result: Value,
        accumulator: &mut Option<Value>,
    ) {
        let (place, store) = (self.output(ix), self.shape.outputs[ix].store);
        let wide = self.lane.wide;
        let value = if wide {
            self.lane.builder.ins().extractlane(result, k as u8)
        } else {
            result
        };
        // One element at a time, whatever the width of the loop.
        self.lane.wide = false;
        if let Some(sum) = accumulator {
            *sum = self.lane.combine(store, *sum, value);
        } else if store == Store::Set {
            place.store(&mut self.lane, i, k, value);
        } else {
            let old = place.load(&mut self.lane, i, k);
            let new = self.lane.combine(store, old, value);
            place.store(&mut self.lane, i, k, new);
        }
        self.lane.wide = wide;
    }
}
