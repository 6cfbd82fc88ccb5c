//! Loads and stores of machine code: from the records of a call to the element of a repetition.

use super::lane::Lane;
use crate::kernel::Bank;
use crate::place::{AddressRecord, Motion};
use crate::run::RunContext;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use std::mem::offset_of;

/// A slot or output whose record has been read.
#[derive(Clone, Copy, Debug)]
pub enum SlotMotion {
    /// Never loaded.
    Nowhere,
    /// Always the same element.
    Uniform { base: Value },
    /// `base + 8*i`
    Unit { base: Value },
    /// `base + stride*i`
    Strided { base: Value, stride: Value },
    /// `base + 8*table[i]`
    Table { base: Value, table: Value },
    /// `start + step*i`, no memory.
    Counter { start: Value, step: Value },
}

/// Records and tables never change, and they are always there.
fn constant() -> MemFlagsData {
    MemFlagsData::new()
        .with_notrap()
        .with_aligned()
        .with_readonly()
}

/// Banks were checked, but pairs in them are aligned to single numbers only.
fn bank() -> MemFlagsData {
    MemFlagsData::new().with_notrap()
}

/// The address of a bank; `context` is that of the run.
pub fn base(lane: &mut Lane<'_, '_>, context: Value, bank: Bank) -> Value {
    let offset = offset_of!(RunContext<'_>, bases) + bank as usize * size_of::<*mut f64>();
    let pointer = lane.pointer();
    lane.builder
        .ins()
        .load(pointer, constant(), context, offset as i32)
}

impl SlotMotion {
    /// Reads record number `ix` of the list at `records`; `base` is the address of the bank.
    pub fn new(
        lane: &mut Lane<'_, '_>,
        motion: Motion,
        records: Value,
        ix: usize,
        base: Value,
    ) -> Self {
        let pointer = lane.pointer();
        let at = |field: usize| (ix * size_of::<AddressRecord>() + field) as i32;
        let ins = &mut lane.builder;
        match motion {
            Motion::Unused => return Self::Nowhere,
            Motion::Counter => {
                let start = ins.ins().load(
                    types::F64,
                    constant(),
                    records,
                    at(offset_of!(AddressRecord, offset)),
                );
                let step = ins.ins().load(
                    types::F64,
                    constant(),
                    records,
                    at(offset_of!(AddressRecord, stride)),
                );
                return Self::Counter { start, step };
            }
            _ => {}
        }
        if motion == Motion::Table {
            let table = ins.ins().load(
                pointer,
                constant(),
                records,
                at(offset_of!(AddressRecord, table)),
            );
            return Self::Table { base, table };
        }
        let offset = ins.ins().load(
            pointer,
            constant(),
            records,
            at(offset_of!(AddressRecord, offset)),
        );
        let base = ins.ins().iadd(base, offset);
        match motion {
            Motion::Uniform => Self::Uniform { base },
            Motion::Unit => Self::Unit { base },
            _ => {
                let stride = ins.ins().load(
                    pointer,
                    constant(),
                    records,
                    at(offset_of!(AddressRecord, stride)),
                );
                Self::Strided { base, stride }
            }
        }
    }

    /// Address and constant offset of the element of repetition `i + k`.
    fn element(self, lane: &mut Lane<'_, '_>, i: Value, k: usize) -> (Value, i32) {
        let ins = &mut lane.builder;
        match self {
            Self::Uniform { base } => (base, 0),
            Self::Unit { base } => {
                let distance = ins.ins().ishl_imm_u(i, 3);
                (ins.ins().iadd(base, distance), 8 * k as i32)
            }
            Self::Strided { base, stride } => {
                let i = ins.ins().iadd_imm_s(i, k as i64);
                let distance = ins.ins().imul(i, stride);
                (ins.ins().iadd(base, distance), 0)
            }
            Self::Table { base, table } => {
                let distance = ins.ins().ishl_imm_u(i, 2);
                let entry = ins.ins().iadd(table, distance);
                let element = ins.ins().uload32(constant(), entry, 4 * k as i32);
                let distance = ins.ins().ishl_imm_u(element, 3);
                (ins.ins().iadd(base, distance), 0)
            }
            // Placing refuses outputs that are counters, and counters and unused slots are never addressed.
            Self::Nowhere | Self::Counter { .. } => unreachable!("not in memory"),
        }
    }

    /// The number of repetition `i + k`.
    pub fn load(self, lane: &mut Lane<'_, '_>, i: Value, k: usize) -> Value {
        if let Self::Counter { start, step } = self {
            let ins = &mut lane.builder;
            let i = ins.ins().iadd_imm_s(i, k as i64);
            // Counts fit in 63 bits, and the signed conversion is the shorter one.
            let j = ins.ins().fcvt_from_sint(types::F64, i);
            let distance = ins.ins().fmul(step, j);
            return ins.ins().fadd(start, distance);
        }
        let (address, offset) = self.element(lane, i, k);
        lane.builder.ins().load(types::F64, bank(), address, offset)
    }

    /// The numbers of repetitions `i` and `i + 1`.
    pub fn load_pair(self, lane: &mut Lane<'_, '_>, i: Value) -> Value {
        if let Self::Unit { .. } = self {
            let (address, offset) = self.element(lane, i, 0);
            return lane
                .builder
                .ins()
                .load(types::F64X2, bank(), address, offset);
        }
        let first = self.load(lane, i, 0);
        let second = self.load(lane, i, 1);
        let pair = lane.builder.ins().scalar_to_vector(types::F64X2, first);
        lane.builder.ins().insertlane(pair, second, 1)
    }

    /// Stores the number of repetition `i + k`, or the pair of repetitions `i` and `i + 1` of a unit motion.
    pub fn store(self, lane: &mut Lane<'_, '_>, i: Value, k: usize, value: Value) {
        let (address, offset) = self.element(lane, i, k);
        lane.builder.ins().store(bank(), value, address, offset);
    }
}
