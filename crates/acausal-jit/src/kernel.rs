//! Kernels: the straight-line programs that all run-time evaluation consists of.
//!
//! A *kernel* is a small program in static single assignment form over `f64`. It loads its inputs through *slots*,
//! computes, and stores its outputs. A [`Call`] runs one kernel `count` times: in repetition `j` slot `s` reads the
//! address that [`Address`] gives for `j`. An array equation is one kernel and one call; ten thousand resistors that
//! were written out one by one are one kernel and one call whose addresses are tables. So the code is as small as the
//! number of *different shapes* of equations in the model, whatever the array lengths (DESIGN, section 7).
//!
//! What each operation gives, NaN and signed zeros included, is defined in [`crate::math`]; the order of loads and stores,
//! and what repetitions see of each other, in [`crate::run`].
//!
//! Integers and enumerations are exact in an `f64` up to 2^53; Booleans are 0.0 and 1.0.

use std::sync::Arc;

/// The memory areas that a kernel can address. The caller passes one base pointer per bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Bank {
    /// The unknowns `x` of the integrator. Read only.
    Y = 0,
    /// Their derivatives `x'`. Read only.
    Yp = 1,
    /// Time, parameters, discrete variables, relation states and local assignments.
    Mem = 2,
    /// What the integrator asked for: residuals, partial derivatives or event indicators.
    Out = 3,
}

/// Number of banks.
pub const BANKS: usize = 4;

/// Where a slot reads, or an output writes, as a function of the repetition number `j`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Address {
    /// `bank[base + stride*j]`
    Affine {
        /// Memory area.
        bank: Bank,
        /// Element of repetition 0.
        base: usize,
        /// Distance between repetitions; 0 for a scalar that all repetitions share.
        stride: isize,
    },
    /// `bank[table[j]]`
    Table {
        /// Memory area.
        bank: Bank,
        /// One element per repetition.
        table: Arc<[u32]>,
    },
    /// Not memory: the slot's value is the number `start + step*j` (a loop iterator used as a number).
    Counter {
        /// Value of repetition 0.
        start: f64,
        /// Increment.
        step: f64,
    },
}

impl Address {
    /// The memory area; none for a counter.
    pub fn bank(&self) -> Option<Bank> {
        match self {
            Address::Affine { bank, .. } | Address::Table { bank, .. } => Some(*bank),
            Address::Counter { .. } => None,
        }
    }

    /// The element of its bank in repetition `j`; none for a counter.
    pub fn element(&self, j: usize) -> Option<usize> {
        match self {
            Address::Affine { base, stride, .. } => {
                Some(base.wrapping_add_signed(stride * j as isize))
            }
            Address::Table { table, .. } => table.get(j).map(|k| *k as usize),
            Address::Counter { .. } => None,
        }
    }

    /// Whether a call may be cut: the value of a counter in the middle is the one that it has when it counts from there.
    pub fn counts_exactly(&self) -> bool {
        match self {
            Address::Counter { start, step } => start.fract() == 0.0 && step.fract() == 0.0,
            _ => true,
        }
    }
}

/// Index of a node in [`Kernel::nodes`]; always smaller than the index of the node that uses it.
pub type NodeIx = u32;

/// One operation.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Op {
    /// A literal.
    Const(f64),
    /// Load through slot number `.0`.
    Slot(u32),
    /// One argument.
    Unary(Unary, NodeIx),
    /// Two arguments.
    Binary(Binary, NodeIx, NodeIx),
    /// `if c <> 0 then a else b`. Both sides are already evaluated: kernels have no side effects and no traps.
    Select(NodeIx, NodeIx, NodeIx),
    /// Output number `output` of user function `function` for the given arguments, differentiated with respect to the
    /// arguments listed in `wrt` (empty: the value itself).
    Apply {
        /// Index into the function table that is supplied at run time.
        function: u32,
        /// Flattened scalar arguments.
        args: Vec<NodeIx>,
        /// Flattened scalar output.
        output: u32,
        /// Positions in `args`, sorted.
        wrt: Vec<u32>,
    },
}

/// Functions of one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Unary {
    Neg,
    Not,
    Abs,
    /// -1, 0 or 1.
    Sign,
    Sqrt,
    Floor,
    Ceil,
    /// Round towards zero.
    Trunc,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Ln,
    Log10,
}

/// Functions of two arguments. Relations and logical operators give 0.0 or 1.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    /// `a^b` as C's `pow`.
    Pow,
    Min,
    Max,
    Atan2,
    /// Modelica `mod`: `a - floor(a/b)*b`.
    Mod,
    /// Modelica `rem`: `a - trunc(a/b)*b`.
    Rem,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
}

/// A straight-line program. Two kernels with equal nodes and outputs are the same code.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Kernel {
    /// Operations in evaluation order.
    pub nodes: Vec<Op>,
    /// Number of slots; every `Op::Slot(s)` has `s < slots`.
    pub slots: u32,
    /// The nodes that are stored, one per output.
    pub outputs: Vec<NodeIx>,
}

/// How an output is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Store {
    /// `bank[a] = value`
    Set,
    /// `bank[a] += value`, in the order of repetitions: reductions over long arrays.
    Add,
    /// `bank[a] *= value`
    Mul,
    /// `bank[a] = min(bank[a], value)`
    Min,
    /// `bank[a] = max(bank[a], value)`
    Max,
}

/// Index of a kernel in the list that was given to the backend.
pub type KernelId = u32;

/// `count` repetitions of one kernel.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Call {
    /// Which kernel.
    pub kernel: KernelId,
    /// How many repetitions.
    pub count: usize,
    /// One address per slot.
    pub slots: Vec<Address>,
    /// One address per output of the kernel.
    pub outputs: Vec<(Address, Store)>,
}

/// A sequence of calls, run in order.
pub type Program = Vec<Call>;
