//! Slots replaced by the expressions of the calls that set what they read.

use acausal_cpu::LEAST_LARGE;

use super::CallPart;
use crate::dependence::element;
use crate::kernel::{Address, Bank, Call, Kernel, NodeIx, Op};
use crate::normalise::normalise;
use crate::phases::{nanoseconds, points};
use std::collections::BTreeMap;

/// Nanoseconds that an expression may cost to be repeated in all its readers; a pass over memory costs about as much.
const CHEAP: f64 = 1.0;

/// The same for calls that find nothing in any cache ([`LEAST_LARGE`]): without the pass residuals can be evaluated while unknowns are
/// predicted ([`crate::tiles`]), which saves two more.
const CHEAP_IF_LONG: f64 = 3.0;

/// Parts of one call.
const MOST_PARTS: usize = 6;

/// Nodes and slots of a kernel, for the registers of the processor.
const MOST_NODES: usize = 60;
const MOST_SLOTS: usize = 12;

/// The parts that can be taken into others, by their places.
#[derive(Default)]
pub(super) struct Producers {
    list: Vec<Producer>,
    /// By the lowest place: the highest one, and the number in the list.
    by_place: BTreeMap<usize, (usize, usize)>,
}

struct Producer {
    kernel: Kernel,
    call: Call,
    base: usize,
    stride: isize,
}

impl Producers {
    pub fn add(&mut self, made: &CallPart, uses: f64) {
        let cost: f64 = normalise(&made.kernel).nodes.iter().map(nanoseconds).sum();
        let [(Address::Affine { base, stride, .. }, _)] = made.call.outputs[..] else {
            return;
        };
        let cheap = match made.call.count < LEAST_LARGE {
            true => CHEAP,
            false => CHEAP_IF_LONG,
        };
        if made.call.count == 0 || (cost > cheap && uses > 1.5) {
            return;
        }
        let last = base.wrapping_add_signed(stride * (made.call.count as isize - 1));
        let (low, high) = (base.min(last), base.max(last));
        self.by_place.insert(low, (high, self.list.len()));
        self.list.push(Producer {
            kernel: made.kernel.clone(),
            call: made.call.clone(),
            base,
            stride,
        });
    }

    /// The producer of a place and the repetition that sets it.
    fn of(&self, place: usize) -> Option<(&Producer, usize)> {
        let (_, &(high, number)) = self.by_place.range(..=place).next_back()?;
        let producer = &self.list[number];
        let apart = place as isize - producer.base as isize;
        (place <= high && apart % producer.stride == 0)
            .then(|| (producer, (apart / producer.stride) as usize))
    }

    /// A part with expressions in place of slots, cut where it must be.
    pub fn rewrite(&self, whole: CallPart) -> Vec<CallPart> {
        let mut open = vec![whole.clone()];
        let mut done: Vec<CallPart> = Vec::new();
        while let Some(part) = open.pop() {
            match self.one_slot(&part) {
                None => done.push(part),
                Some(parts) => open.extend(parts.into_iter().rev()),
            }
            if open.len() + done.len() > MOST_PARTS {
                return vec![whole];
            }
        }
        done
    }

    /// One slot replaced, or the part cut so that one can be; nothing if there is none left.
    fn one_slot(&self, part: &CallPart) -> Option<Vec<CallPart>> {
        let count = part.call.count;
        if count == 0 {
            return None;
        }
        for (slot, address) in part.call.slots.iter().enumerate() {
            let &Address::Affine {
                bank: Bank::Mem,
                stride,
                ..
            } = address
            else {
                continue;
            };
            if count > 1 && stride == 0 {
                continue;
            }
            // The first repetition that a producer could serve, and those after it.
            let serves = |j: usize| {
                let (producer, r) = self.of(element(address, j)?)?;
                if count == 1 {
                    return Some((producer, r, 1));
                }
                if producer.stride != stride {
                    return None;
                }
                Some((producer, r, (producer.call.count - r).min(count - j)))
            };
            let Some(from) = self.first_served(address, count) else {
                continue;
            };
            let Some((producer, r, length)) = serves(from) else {
                continue;
            };
            if from == 0 && length == count {
                match inlined(part, slot, producer, r) {
                    Some(made) => return Some(vec![made]),
                    None => continue,
                }
            }
            let too_large = part.kernel.nodes.len() + producer.kernel.nodes.len() > MOST_NODES;
            if too_large || !part.call.slots.iter().all(Address::counts_exactly) {
                continue;
            }
            let cuts = [0, from, from + length, count];
            let pieces = cuts.windows(2).filter(|w| w[0] < w[1]);
            let piece = |w: &[usize]| CallPart {
                kernel: part.kernel.clone(),
                call: points(&part.call, w[0], w[1]),
                changed: part.changed,
            };
            return Some(pieces.map(piece).collect());
        }
        None
    }

    /// The first repetition in which an affine address meets a producer with its stride.
    fn first_served(&self, address: &Address, count: usize) -> Option<usize> {
        let &Address::Affine { base, stride, .. } = address else {
            return None;
        };
        if count == 1 || self.of(base).is_some_and(|(p, _)| p.stride == stride) {
            return self.of(base).map(|_| 0);
        }
        // Of the producers that begin inside, the first one on the way.
        let last = base.wrapping_add_signed(stride * (count as isize - 1));
        let (low, high) = (base.min(last), base.max(last));
        let inside = self.by_place.range(low..=high);
        let first = inside.filter_map(|(_, &(_, number))| {
            let p = &self.list[number];
            let apart = p.base as isize - base as isize;
            let fits = p.stride == stride && apart % stride == 0 && apart / stride >= 0;
            fits.then(|| (apart / stride) as usize)
                .filter(|j| *j < count)
        });
        first.min()
    }
}

/// A part in which a slot is replaced by the expression of a producer, whose repetition `r` belongs to the first of the part; nothing
/// if the kernel would be too large.
fn inlined(part: &CallPart, slot: usize, producer: &Producer, r: usize) -> Option<CallPart> {
    let count = part.call.count;
    let source = points(&producer.call, r, r + count);
    let mut slots: Vec<Address> = part.call.slots.clone();
    slots.remove(slot);
    let mut place = |address: &Address| {
        let known = slots.iter().position(|a| a == address);
        known.unwrap_or_else(|| {
            slots.push(address.clone());
            slots.len() - 1
        }) as u32
    };
    let of_producer: Vec<u32> = source.slots.iter().map(&mut place).collect();
    let mut nodes: Vec<Op> = Vec::new();
    for op in &producer.kernel.nodes {
        nodes.push(match op {
            Op::Slot(s) => Op::Slot(of_producer[*s as usize]),
            other => other.clone(),
        });
    }
    let value = producer.kernel.outputs[0];
    // The nodes of the reader follow; its slot is the value.
    let mut at: Vec<NodeIx> = Vec::with_capacity(part.kernel.nodes.len());
    for op in &part.kernel.nodes {
        let node = match op {
            Op::Slot(s) if *s as usize == slot => {
                at.push(value);
                continue;
            }
            Op::Slot(s) => Op::Slot(s - u32::from(*s as usize > slot)),
            other => with_operands(other, |k| at[k as usize]),
        };
        at.push(nodes.len() as NodeIx);
        nodes.push(node);
    }
    if nodes.len() > MOST_NODES || slots.len() > MOST_SLOTS {
        return None;
    }
    let kernel = Kernel {
        nodes,
        slots: slots.len() as u32,
        outputs: part
            .kernel
            .outputs
            .iter()
            .map(|&k| at[k as usize])
            .collect(),
    };
    Some(CallPart {
        kernel,
        call: Call {
            slots,
            ..part.call.clone()
        },
        changed: true,
    })
}

fn with_operands(op: &Op, f: impl Fn(NodeIx) -> NodeIx) -> Op {
    match op {
        Op::Const(_) | Op::Slot(_) => op.clone(),
        Op::Unary(u, a) => Op::Unary(*u, f(*a)),
        Op::Binary(b, x, y) => Op::Binary(*b, f(*x), f(*y)),
        Op::Select(c, a, b) => Op::Select(f(*c), f(*a), f(*b)),
        Op::Apply {
            function,
            args,
            output,
            wrt,
        } => Op::Apply {
            function: *function,
            args: args.iter().map(|&a| f(a)).collect(),
            output: *output,
            wrt: wrt.clone(),
        },
    }
}
