//! Places calls in memory: checks all addresses once and reduces each call to a *shape* and *records*.
//!
//! The [`CallShape`] of a call says how each slot and output moves through memory (not at all, by one, by a stride, by a
//! table) and which repetitions may run together. Backends translate a kernel once per shape. A [`AddressRecord`] holds the
//! numbers: bank, offset, stride, table. So ten calls of one kernel on ten vectors share code.
//!
//! Invariant that makes unchecked access sound: a [`PlacedCall`] call reaches only addresses below the bank lengths that
//! [`place`] was given, in every repetition.
//!
//! Complexity: constant per affine slot and output. Tables are scanned once; pairs of a table slot and an output whose
//! ranges overlap cost `count log count` ([`crate::dependence`]).

use crate::dependence::{BankRange, distance, may_meet};
use crate::error::{CallFault, KernelError};
use crate::kernel::{Address, Bank, Call, Kernel, KernelId, Op, Store};
use crate::run::BankLengths;
use std::sync::Arc;

/// Fewer repetitions are not worth a loop of their own over pairs.
pub const WIDE_COUNT: usize = 8;

/// How a slot or output moves through memory from one repetition to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Motion {
    /// The normalised kernel never loads this slot.
    Unused,
    /// Always the same element, which no earlier repetition of this call writes: a slot may be loaded once.
    Uniform,
    /// The next element.
    Unit,
    /// The element at a fixed distance; also 0, for an element that the call itself writes.
    Strided,
    /// Wherever the table says.
    Table,
    /// A number that grows by a fixed step.
    Counter,
}

/// An output in a [`CallShape`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OutputShape {
    /// How it moves.
    pub motion: Motion,
    /// How it is stored.
    pub store: Store,
    /// No slot and no other output of the call touches this range of memory: it may be written or accumulated at any
    /// time.
    pub private: bool,
}

/// Everything about a call that decides which code it needs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallShape {
    /// Which kernel.
    pub kernel: KernelId,
    /// There is one repetition.
    pub single: bool,
    /// There are at least [`WIDE_COUNT`] repetitions, and two of them may be loaded before the first is stored.
    pub wide: bool,
    /// A slot and an output may meet in memory, so values must be loaded before anything is stored.
    pub overlapping: bool,
    /// Two outputs may meet in memory, so stores must be made repetition by repetition.
    pub interleaved: bool,
    /// One per slot.
    pub slots: Vec<Motion>,
    /// One per output.
    pub outputs: Vec<OutputShape>,
    /// Memory areas of the slots, then of the outputs; [`Bank::Y`] for what is not in memory.
    pub banks: Vec<Bank>,
}

#[cfg(feature = "cranelift")]
impl CallShape {
    /// Whether the last repetitions can be run a second time, in order, without a trace: they read nothing that the call
    /// writes, and the last store to an element stays the last.
    pub fn repeatable(&self) -> bool {
        let overwrites = self.outputs.iter().all(|output| output.store == Store::Set);
        overwrites && !self.overlapping
    }
}

/// The numbers of an address. Machine code reads it by offset.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AddressRecord {
    /// Index of the bank.
    pub bank: u64,
    /// Byte offset of repetition 0 in the bank; 0 for a table. For a counter, the bits of its start.
    pub offset: u64,
    /// Byte stride. For a counter, the bits of its step.
    pub stride: u64,
    /// For a table, its first element.
    pub table: *const u32,
}

/// A call whose addresses have been checked.
#[derive(Debug)]
pub struct PlacedCall {
    /// Which code.
    pub shape: CallShape,
    /// How many repetitions; at least one.
    pub count: usize,
    /// How many successive repetitions may be loaded before the first of them is stored; `usize::MAX` if all.
    pub together: usize,
    /// One per slot.
    pub slots: Vec<AddressRecord>,
    /// One per output.
    pub outputs: Vec<AddressRecord>,
    /// The tables that the records point to.
    _tables: Vec<Arc<[u32]>>,
}

// SAFETY: the pointers in the records go to tables that the value itself keeps alive and that nobody writes.
unsafe impl Send for PlacedCall {}
// SAFETY: as above.
unsafe impl Sync for PlacedCall {}

/// Checks and places all calls. Calls with no repetitions are checked and dropped.
pub fn place(
    kernels: &[Kernel],
    program: &[Call],
    lengths: BankLengths,
) -> Result<Vec<PlacedCall>, KernelError> {
    let mut placed = Vec::with_capacity(program.len());
    for (ix, call) in program.iter().enumerate() {
        let result =
            check(kernels, call, lengths).map_err(|fault| KernelError::Call { call: ix, fault })?;
        placed.extend(result);
    }
    Ok(placed)
}

/// Checks a call, and finds how it moves through memory.
fn check(
    kernels: &[Kernel],
    call: &Call,
    lengths: BankLengths,
) -> Result<Option<PlacedCall>, CallFault> {
    let kernel = kernels
        .get(call.kernel as usize)
        .ok_or(CallFault::UnknownKernel(call.kernel))?;
    check_counts(kernel, call)?;
    let addresses = || call.slots.iter().chain(call.outputs.iter().map(|o| &o.0));
    let extents = addresses().map(|address| extent(address, call.count, lengths));
    let extents = extents.collect::<Result<Vec<_>, _>>()?;
    check_outputs(call)?;
    if call.count == 0 {
        return Ok(None);
    }
    let mut loaded = vec![false; call.slots.len()];
    for op in &kernel.nodes {
        if let Op::Slot(slot) = op {
            loaded[*slot as usize] = true;
        }
    }
    let known = CheckedCall {
        call,
        slots: &extents[..call.slots.len()],
        outputs: &extents[call.slots.len()..],
        loaded: &loaded,
    };
    let slots = known.slots();
    let (outputs, interleaved) = known.outputs();
    let mut tables = Vec::new();
    let mut record = |address: &Address| record(address, call.count, &mut tables);
    let slot_records = call.slots.iter().map(&mut record).collect();
    let output_records = call.outputs.iter().map(|o| record(&o.0)).collect();
    Ok(Some(PlacedCall {
        shape: CallShape {
            kernel: call.kernel,
            single: call.count == 1,
            wide: slots.together >= 2 && call.count >= WIDE_COUNT,
            overlapping: slots.overlapping,
            interleaved,
            slots: slots.motions,
            outputs,
            banks: known.banks(),
        },
        count: call.count,
        together: slots.together,
        slots: slot_records,
        outputs: output_records,
        _tables: tables,
    }))
}

/// A call has as many addresses as its kernel needs.
fn check_counts(kernel: &Kernel, call: &Call) -> Result<(), CallFault> {
    if call.slots.len() != kernel.slots as usize {
        return Err(CallFault::Slots {
            expected: kernel.slots as usize,
            found: call.slots.len(),
        });
    }
    if call.outputs.len() != kernel.outputs.len() {
        return Err(CallFault::Outputs {
            expected: kernel.outputs.len(),
            found: call.outputs.len(),
        });
    }
    Ok(())
}

/// Outputs go where something may be written.
fn check_outputs(call: &Call) -> Result<(), CallFault> {
    let writable =
        |(address, _): &(Address, Store)| matches!(address.bank(), Some(Bank::Mem | Bank::Out));
    match call.outputs.iter().all(writable) {
        true => Ok(()),
        false => Err(CallFault::NotWritable),
    }
}

/// A call whose addresses are inside of their banks.
struct CheckedCall<'a> {
    call: &'a Call,
    /// What its slots and outputs reach.
    slots: &'a [Option<BankRange>],
    outputs: &'a [Option<BankRange>],
    /// Slots that the kernel loads.
    loaded: &'a [bool],
}

/// How the slots of a call move.
struct SlotMotions {
    motions: Vec<Motion>,
    /// Repetitions that may be loaded before the first of them is stored.
    together: usize,
    /// Some slot may read what the call sets.
    overlapping: bool,
}

impl CheckedCall<'_> {
    fn slots(&self) -> SlotMotions {
        let call = self.call;
        let mut slots = SlotMotions {
            motions: Vec::with_capacity(call.slots.len()),
            together: usize::MAX,
            overlapping: false,
        };
        for (ix, address) in call.slots.iter().enumerate() {
            if !self.loaded[ix] {
                slots.motions.push(Motion::Unused);
                continue;
            }
            let mut nearest = usize::MAX;
            for ((output, _), extent) in call.outputs.iter().zip(self.outputs) {
                if may_meet(self.slots[ix], *extent) {
                    slots.overlapping = true;
                    nearest = nearest.min(distance(address, output, call.count));
                }
            }
            slots.together = slots.together.min(nearest);
            let constant = nearest == usize::MAX;
            slots.motions.push(motion(address, call.count, constant));
        }
        slots
    }

    /// How the outputs move, and whether some of them reach common elements.
    fn outputs(&self) -> (Vec<OutputShape>, bool) {
        let call = self.call;
        let mut interleaved = false;
        let mut shapes = Vec::with_capacity(call.outputs.len());
        for (ix, (address, store)) in call.outputs.iter().enumerate() {
            let mine = self.outputs[ix];
            let mut private = true;
            for (other, theirs) in self.outputs.iter().enumerate() {
                if other != ix && may_meet(mine, *theirs) {
                    private = false;
                    interleaved |= outputs_meet(address, &call.outputs[other].0, call.count);
                }
            }
            let mut slots = self.slots.iter().zip(self.loaded);
            private &= !slots.any(|(extent, loaded)| *loaded && may_meet(mine, *extent));
            let motion = motion(address, call.count, true);
            // Only these two combinations profit; elsewhere the flag would only multiply the shapes.
            private &= match motion {
                Motion::Unit => *store == Store::Set,
                Motion::Uniform => *store != Store::Set,
                _ => false,
            };
            shapes.push(OutputShape {
                motion,
                store: *store,
                private,
            });
        }
        (shapes, interleaved)
    }

    /// The banks of slots and outputs; those that are not loaded count as [`Bank::Y`].
    fn banks(&self) -> Vec<Bank> {
        let bank = |extent: &Option<BankRange>| extent.map_or(Bank::Y, |extent| extent.bank);
        let slots = self.slots.iter().zip(self.loaded);
        let slots = slots.map(|(extent, loaded)| if *loaded { bank(extent) } else { Bank::Y });
        slots.chain(self.outputs.iter().map(bank)).collect()
    }
}

/// The range of elements an address reaches; an error if it leaves its bank.
fn extent(
    address: &Address,
    count: usize,
    lengths: BankLengths,
) -> Result<Option<BankRange>, CallFault> {
    let (bank, low, high) = match address {
        Address::Counter { .. } => return Ok(None),
        Address::Affine { bank, base, stride } => {
            if count == 0 {
                return Ok(None);
            }
            let first = *base as i128;
            let last = first + *stride as i128 * (count as i128 - 1);
            (*bank, first.min(last), first.max(last))
        }
        Address::Table { bank, table } => {
            if table.len() != count {
                return Err(CallFault::TableLength {
                    expected: count,
                    found: table.len(),
                });
            }
            let Some(low) = table.iter().min() else {
                return Ok(None);
            };
            let high = table.iter().max().unwrap_or(low);
            (*bank, i128::from(*low), i128::from(*high))
        }
    };
    let length = lengths.get(bank);
    if low < 0 {
        return Err(CallFault::Range {
            bank,
            address: low,
            length,
        });
    }
    if high >= length as i128 {
        return Err(CallFault::Range {
            bank,
            address: high,
            length,
        });
    }
    // Both fit: they are between 0 and a length.
    Ok(Some(BankRange {
        bank,
        low: low as usize,
        high: high as usize,
    }))
}

fn motion(address: &Address, count: usize, constant: bool) -> Motion {
    match address {
        Address::Counter { .. } => Motion::Counter,
        // In a single repetition nothing moves, so that all such calls of a kernel share one shape.
        _ if count == 1 => Motion::Uniform,
        Address::Affine { stride: 0, .. } if constant => Motion::Uniform,
        Address::Affine { stride: 1, .. } => Motion::Unit,
        Address::Affine { .. } => Motion::Strided,
        Address::Table { .. } => Motion::Table,
    }
}

/// Whether two outputs reach a common element. For tables the answer may be yes without need.
fn outputs_meet(a: &Address, b: &Address, count: usize) -> bool {
    match (a, b) {
        (
            Address::Affine {
                stride: s, base: p, ..
            },
            Address::Affine {
                stride: t, base: q, ..
            },
        ) if s == t && *s != 0 => {
            let (apart, stride) = (p.abs_diff(*q), s.unsigned_abs());
            apart % stride == 0 && apart / stride < count
        }
        _ => true,
    }
}

fn record(address: &Address, count: usize, tables: &mut Vec<Arc<[u32]>>) -> AddressRecord {
    const BYTES: usize = size_of::<f64>();
    let none = std::ptr::null();
    match address {
        Address::Counter { start, step } => AddressRecord {
            bank: 0,
            offset: start.to_bits(),
            stride: step.to_bits(),
            table: none,
        },
        Address::Affine { bank, base, stride } => AddressRecord {
            bank: *bank as u64,
            offset: (*base * BYTES) as u64,
            stride: stride.wrapping_mul(BYTES as isize) as u64,
            table: none,
        },
        Address::Table { bank, table } if count == 1 => AddressRecord {
            bank: *bank as u64,
            offset: (table[0] as usize * BYTES) as u64,
            stride: 0,
            table: none,
        },
        Address::Table { bank, table } => {
            tables.push(table.clone());
            AddressRecord {
                bank: *bank as u64,
                offset: 0,
                stride: 0,
                table: table.as_ptr(),
            }
        }
    }
}
