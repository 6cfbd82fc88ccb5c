//! The code of a function: instructions with jumps over registers.

use crate::flat::{AssertionLevel, Unassigned};
use crate::native::External;
use crate::{Builtin, FuncId, ReduceOp, RelOp};

/// A register.
pub(super) type Reg = u32;

/// One instruction; the first register is where the result goes.
#[derive(Clone, Debug)]
pub(super) enum Instr {
    Const(Reg, f64),
    Copy(Reg, Reg),
    /// The frame's scalar `base + offset`.
    Load {
        to: Reg,
        base: u32,
        len: u32,
        offset: Reg,
    },
    /// The same for a variable that may have no value yet: then the run fails.
    LoadAssigned {
        to: Reg,
        base: u32,
        len: u32,
        offset: Reg,
    },
    Store {
        base: u32,
        len: u32,
        offset: Reg,
        from: Reg,
    },
    Add(Reg, Box<[Reg]>),
    Mul(Reg, Box<[Reg]>),
    Div(Reg, Reg, Reg),
    Pow(Reg, Reg, Reg),
    Rel(Reg, RelOp, Reg, Reg),
    Not(Reg, Reg),
    Builtin(Reg, Builtin, Box<[Reg]>),
    /// One of the registers, by an index from 1.
    Pick(Reg, Reg, Box<[Reg]>),
    /// All outputs of a function to consecutive registers.
    Call {
        to: Reg,
        func: FuncId,
        args: Box<[Reg]>,
        wrt: Box<[u32]>,
    },
    Jump(usize),
    JumpUnless(Reg, usize),
    /// Jumps out of a loop when the iterator is beyond the last value.
    Within {
        value: Reg,
        step: Reg,
        stop: Reg,
        exit: usize,
    },
    /// `acc := op(acc, value)`
    Reduce(Reg, ReduceOp, Reg),
    Return,
    /// Fails unless the register holds an Integer that is exact.
    Whole(Reg),
    Assert(Reg, Box<str>, AssertionLevel),
    /// Fails if the register holds an output that the function has not assigned.
    Expect(Reg, FuncId, u32),
}

/// The code of a function.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub(super) name: String,
    pub(super) inputs: usize,
    pub(super) outputs: Vec<u32>,
    pub(super) frame: usize,
    /// What begins without a value, by place.
    pub(super) unassigned: Vec<Unassigned>,
    pub(super) registers: usize,
    pub(super) code: Vec<Instr>,
    /// A native function instead of code.
    pub(super) external: Option<External>,
}
