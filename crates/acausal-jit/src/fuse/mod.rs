//! Long assignments that are cheap to repeat go into the calls that use them.
//!
//! In: a program whose results go to `Out` by way of `Mem`, such as local assignments followed by residuals. Out ([`Fused`]): a program with the
//! same results, bit for bit, that goes through memory fewer times. Connected components assign a voltage to a pin, that to another pin, a
//! current to a pin and its negative to the next; each is a pass over arrays, and a pass costs as much as some ten operations when the
//! arrays are longer than the caches.
//!
//! A call is a *producer* if nothing but it sets its places and it does not read them itself. A slot that reads a producer takes its
//! expression instead, with the producer's addresses at the same element. Calls that read several producers with one slot, or a producer
//! and something else, are cut where they change over; no more than six parts come of one call. An expression is taken if it is
//! cheap (about a nanosecond) or used once. At last calls are dropped that nobody reads.
//!
//! Invariant: every part sets the places of its repetitions to the values that the original call sets them to. Producers come before their
//! readers and no place is set twice, so that what a producer reads is the same when its readers read it.
//! Time: `O(c log c)` for c calls and slots, and the size of the kernels that are made.
//!
//! Example: `a[i] := y[i]; b[i] := -a[i]; out[i] := b[i] + b[i+1]` becomes `out[i] := -y[i] + -y[i+1]`.

use acausal_cpu::LEAST_LARGE;

use crate::dependence::{element, extent};
use crate::halves::{nanoseconds, points};
use crate::kernel::{Address, Bank, Call, Kernel, NodeIx, Op, Program, Store};
use crate::normalise::normalise;
use std::collections::BTreeMap;

/// Nanoseconds that an expression may cost to be repeated in all its readers; a pass over memory costs about as much.
const CHEAP: f64 = 1.0;

/// The same for calls that find nothing in any cache ([`LEAST_LARGE`]): without the pass residuals can be evaluated while unknowns are
/// predicted ([`crate::tiles`]), which saves two more.
const CHEAP_IF_LONG: f64 = 3.0;

/// Repetitions from which on a call is worth the trouble.
const LEAST_COUNT: usize = 64;

/// Repetitions of calls that must be saved in all: below, everything is in the cache.
const LEAST_SAVED: usize = 10_000;

/// Parts of one call.
const MOST_PARTS: usize = 6;

/// Nodes and slots of a kernel, for the registers of the processor.
const MOST_NODES: usize = 60;
const MOST_SLOTS: usize = 12;

/// A program and the kernels it needs besides those that were given.
#[derive(Clone, Debug, Default)]
pub struct Fused {
    /// Numbered after the given ones.
    pub kernels: Vec<Kernel>,
    /// The calls that are left.
    pub program: Program,
}

/// Fuses a program; nothing if that would not save much.
pub fn fuse(kernels: &[Kernel], program: &[Call]) -> Option<Fused> {
    fuse_saving(kernels, program, LEAST_SAVED)
}

/// [`fuse`] if it saves so many repetitions.
fn fuse_saving(kernels: &[Kernel], program: &[Call], least: usize) -> Option<Fused> {
    let before: usize = program.iter().map(|c| c.count).sum();
    let promising = |c: &Call| {
        let [(Address::Affine { bank, .. }, Store::Set)] = c.outputs[..] else {
            return false;
        };
        bank == Bank::Mem && c.count >= LEAST_COUNT
    };
    if before < least || !program.iter().any(promising) {
        return None;
    }
    let sets = Sets::new(program);
    let mut producers = Producers::default();
    let mut parts: Vec<Part> = Vec::new();
    for (index, call) in program.iter().enumerate() {
        let kernel = &kernels[call.kernel as usize];
        let first = parts.len();
        parts.extend(producers.rewrite(Part {
            kernel: kernel.clone(),
            call: call.clone(),
            changed: false,
        }));
        if call.count >= LEAST_COUNT && sets.is_producer(program, index, kernel) {
            for part in &parts[first..] {
                producers.add(part, sets.uses[index]);
            }
        }
    }
    let kept = kept(&parts);
    let left = (parts.iter().zip(&kept)).filter(|(_, kept)| **kept);
    let after: usize = left.map(|(p, _)| p.call.count).sum();
    if before < after + least {
        return None;
    }
    let mut fused = Fused::default();
    for (part, _) in parts.into_iter().zip(kept).filter(|(_, kept)| *kept) {
        let mut call = part.call;
        if part.changed {
            let same = fused.kernels.iter().position(|k| *k == part.kernel);
            let position = same.unwrap_or_else(|| {
                fused.kernels.push(part.kernel);
                fused.kernels.len() - 1
            });
            call.kernel = (kernels.len() + position) as u32;
        }
        fused.program.push(call);
    }
    Some(fused)
}

/// Whether a program may read what another one sets in `Mem`.
pub fn reads(reader: &[Call], writer: &[Call]) -> bool {
    let written = Ranges::new(writer.iter());
    let mut slots = reader
        .iter()
        .flat_map(|c| c.slots.iter().map(|s| (s, c.count)));
    slots.any(|(s, count)| written.setters(s, count).next().is_some())
}

/// A part of a call with its own kernel.
#[derive(Clone, Debug)]
struct Part {
    kernel: Kernel,
    call: Call,
    /// The kernel is not the given one.
    changed: bool,
}

/// Ranges of places of `Mem` that are set, and by whom.
struct Ranges {
    /// Lowest and highest place and a number, ascending.
    list: Vec<(usize, usize, usize)>,
    /// Highest place of all ranges up to each.
    reach: Vec<usize>,
}

impl Ranges {
    fn new<'a>(calls: impl Iterator<Item = &'a Call>) -> Ranges {
        let mut list = Vec::new();
        for (number, call) in calls.enumerate() {
            for (output, _) in &call.outputs {
                if let Some(e) = extent(output, call.count).filter(|e| e.bank == Bank::Mem) {
                    list.push((e.low, e.high, number));
                }
            }
        }
        list.sort_unstable();
        let highest = |reach: &mut usize, r: &(usize, usize, usize)| {
            *reach = r.1.max(*reach);
            Some(*reach)
        };
        let reach = list.iter().scan(0, highest).collect();
        Ranges { list, reach }
    }

    /// Who sets places that an address means.
    fn setters(&self, address: &Address, count: usize) -> impl Iterator<Item = usize> + use<'_> {
        let read = extent(address, count).filter(|e| e.bank == Bank::Mem);
        read.into_iter().flat_map(|e| {
            let first = self.reach.partition_point(|&r| r < e.low);
            let inside = self.list[first..].iter().take_while(move |r| r.0 <= e.high);
            inside.filter(move |r| r.1 >= e.low).map(|r| r.2)
        })
    }
}

/// Who sets and who reads the places of `Mem`.
struct Sets {
    written: Ranges,
    /// Per call: repetitions that read its places, for each of its own.
    uses: Vec<f64>,
}

impl Sets {
    fn new(program: &[Call]) -> Sets {
        let written = Ranges::new(program.iter());
        let mut uses = vec![0.0; program.len()];
        for call in program {
            for slot in &call.slots {
                for index in written.setters(slot, call.count) {
                    uses[index] += call.count as f64 / program[index].count.max(1) as f64;
                }
            }
        }
        Sets { written, uses }
    }

    /// Whether the readers of a call may compute its values themselves.
    fn is_producer(&self, program: &[Call], index: usize, kernel: &Kernel) -> bool {
        let call = &program[index];
        let simple = |a: &Address| !matches!(a, Address::Table { .. }) && a.counts_exactly();
        let output = |(a, store): &(Address, Store)| {
            matches!(a, Address::Affine { bank: Bank::Mem, stride, .. } if *stride != 0)
                && *store == Store::Set
        };
        // What it reads is set before, by others, and what it sets by nobody else.
        let (written, count) = (&self.written, call.count);
        let earlier = |slot: &Address| written.setters(slot, count).all(|k| k < index);
        let alone = |(a, _): &(Address, Store)| written.setters(a, count).all(|k| k == index);
        let applies = |op: &Op| matches!(op, Op::Apply { .. });
        !kernel.nodes.iter().any(applies)
            && call.outputs.len() == 1
            && call.outputs.iter().all(output)
            && call.outputs.iter().all(alone)
            && call.slots.iter().all(simple)
            && call.slots.iter().all(earlier)
    }
}

/// The parts that can be taken into others, by their places.
#[derive(Default)]
struct Producers {
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
    fn add(&mut self, made: &Part, uses: f64) {
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
    fn rewrite(&self, whole: Part) -> Vec<Part> {
        let mut open = vec![whole.clone()];
        let mut done: Vec<Part> = Vec::new();
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
    fn one_slot(&self, part: &Part) -> Option<Vec<Part>> {
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
            let piece = |w: &[usize]| Part {
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
fn inlined(part: &Part, slot: usize, producer: &Producer, r: usize) -> Option<Part> {
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
    Some(Part {
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

/// Which parts lead to other banks than `Mem`. What a part reads is set by parts before it.
fn kept(parts: &[Part]) -> Vec<bool> {
    let written = Ranges::new(parts.iter().map(|p| &p.call));
    let mut kept = vec![false; parts.len()];
    for (index, Part { call, .. }) in parts.iter().enumerate().rev() {
        let result = |(a, _): &(Address, Store)| a.bank() != Some(Bank::Mem);
        kept[index] |= call.outputs.iter().any(result);
        if kept[index] {
            let setters = call
                .slots
                .iter()
                .flat_map(|s| written.setters(s, call.count));
            setters.filter(|k| *k < index).for_each(|k| kept[k] = true);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Binary, Unary};
    use crate::run::{Backend, BankLengths, Banks, NoFunctions, Scratch};
    use proptest::prelude::*;

    /// A copy, a negative, a difference, a quotient.
    fn kernels() -> Vec<Kernel> {
        let two = |f| Kernel {
            nodes: vec![Op::Slot(0), Op::Slot(1), Op::Binary(f, 0, 1)],
            slots: 2,
            outputs: vec![2],
        };
        let copy = Kernel {
            nodes: vec![Op::Slot(0)],
            slots: 1,
            outputs: vec![0],
        };
        let negative = Kernel {
            nodes: vec![Op::Slot(0), Op::Const(-1.0), Op::Unary(Unary::Neg, 0)],
            slots: 1,
            outputs: vec![2],
        };
        vec![copy, negative, two(Binary::Sub), two(Binary::Div)]
    }

    const Y: usize = 100;
    /// Every call of a random program has a block of `Mem` of its own.
    const BLOCK: usize = 100;
    const CALLS: usize = 8;
    const MEM: usize = BLOCK * CALLS;

    fn run(kernels: &[Kernel], program: &[Call], y: &[f64]) -> Vec<u64> {
        let code = crate::Interpreter::default().compile(kernels).unwrap();
        let lengths = BankLengths {
            y: Y,
            yp: 0,
            mem: MEM,
            out: Y,
        };
        let bound = code.bind(program, lengths).unwrap();
        let (mut mem, mut out) = (vec![0.25; MEM], vec![0.0; Y]);
        let banks = Banks {
            y,
            yp: &[],
            mem: &mut mem,
            out: &mut out,
        };
        bound
            .run(banks, &NoFunctions, &mut Scratch::default())
            .unwrap();
        out.iter().map(|v| v.to_bits()).collect()
    }

    fn affine(bank: Bank, base: usize, stride: isize) -> Address {
        Address::Affine { bank, base, stride }
    }

    /// A slot of call `k`: of the unknowns, of what earlier calls set (also across two of them), or a counter.
    fn slot(k: usize, count: usize) -> BoxedStrategy<Address> {
        let fits = |length: usize, bank: Bank, count: usize| {
            (0..length, -1isize..=2).prop_filter_map("inside", move |(base, stride)| {
                let last = base as isize + stride * (count as isize - 1);
                let inside = (0..length as isize).contains(&last);
                inside.then_some(affine(bank, base, stride))
            })
        };
        let y = fits(Y, Bank::Y, count);
        let counter = (0..5i32, prop::bool::ANY).prop_map(|(s, exact)| Address::Counter {
            start: f64::from(s),
            step: if exact { 1.0 } else { 0.1 },
        });
        if k == 0 {
            prop_oneof![4 => y, 1 => counter].boxed()
        } else {
            prop_oneof![2 => y, 4 => fits(BLOCK * k, Bank::Mem, count), 1 => counter].boxed()
        }
    }

    fn call(k: usize) -> impl Strategy<Value = Call> {
        let counts = prop_oneof![3 => 64usize..=BLOCK, 1 => 1usize..4];
        (counts, 0usize..4, prop::bool::weighted(0.3)).prop_flat_map(
            move |(count, kernel, result)| {
                let slots = prop::collection::vec(slot(k, count), if kernel < 2 { 1 } else { 2 });
                (slots, 0..=BLOCK - count).prop_map(move |(slots, shift)| {
                    let output = match result {
                        true => affine(Bank::Out, shift, 1),
                        false => affine(Bank::Mem, BLOCK * k + shift, 1),
                    };
                    Call {
                        kernel: kernel as u32,
                        count,
                        slots,
                        outputs: vec![(output, Store::Set)],
                    }
                })
            },
        )
    }

    fn program() -> impl Strategy<Value = Vec<Call>> {
        let calls: Vec<_> = (0..CALLS).map(|k| call(k).boxed()).collect();
        calls
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]

        /// Random programs give the same results, bit for bit.
        #[test]
        fn fused_programs_compute_the_same(mut program in program()) {
            // The last call always gives results.
            let count = program[CALLS - 1].count;
            program[CALLS - 1].outputs = vec![(affine(Bank::Out, 0, 1), Store::Set)];
            prop_assert!(count <= Y);
            let y: Vec<f64> = (0..Y).map(|k| 1.0 + 0.37 * k as f64).collect();
            let kernels = kernels();
            if let Some(fused) = fuse_saving(&kernels, &program, 0) {
                let all = [&kernels[..], &fused.kernels[..]].concat();
                prop_assert_eq!(run(&kernels, &program, &y), run(&all, &fused.program, &y));
            }
        }
    }

    fn set(kernel: u32, slots: Vec<Address>, output: Address, count: usize) -> Call {
        Call {
            kernel,
            count,
            slots,
            outputs: vec![(output, Store::Set)],
        }
    }

    /// The example of the module: one pass is left.
    #[test]
    fn a_chain_of_cheap_assignments_is_one_call() {
        let n = 99;
        let mem = |base| affine(Bank::Mem, base, 1);
        let program = [
            set(0, vec![affine(Bank::Y, 0, 1)], mem(0), n),
            set(1, vec![mem(0)], mem(100), n),
            set(2, vec![mem(100), mem(101)], affine(Bank::Out, 0, 1), n - 1),
        ];
        let fused = fuse_saving(&kernels(), &program, 0).unwrap();
        assert_eq!(fused.program.len(), 1, "{fused:#?}");
        let slots = &fused.program[0].slots;
        assert_eq!(slots[..], [affine(Bank::Y, 0, 1), affine(Bank::Y, 1, 1)]);
        assert!(fuse(&kernels(), &program).is_none(), "too little to save");
    }

    /// A quotient that is used twice is computed once.
    #[test]
    fn costly_expressions_are_not_repeated() {
        let n = 99;
        let (y, mem) = (affine(Bank::Y, 0, 1), |base| affine(Bank::Mem, base, 1));
        let program = [
            set(3, vec![y.clone(), y], mem(0), n),
            set(1, vec![mem(0)], mem(100), n),
            set(2, vec![mem(0), mem(100)], affine(Bank::Out, 0, 1), n),
        ];
        let fused = fuse_saving(&kernels(), &program, 0).unwrap();
        assert_eq!(fused.program.len(), 2);
        assert_eq!(fused.program[0], program[0]);
        assert_eq!(fused.program[1].slots, [mem(0)]);
    }
}
