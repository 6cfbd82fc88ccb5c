//! What can go wrong: in a kernel, in an address, or at run time.

use crate::kernel::{Bank, KernelId};
use std::fmt;

/// Why kernels could not be compiled or a program could not be bound. These are faults of the code generator that
/// wrote the kernels, not of a model; but they are reported, because an address out of range must never be run.
#[derive(Clone, Debug, PartialEq)]
pub enum KernelError {
    /// A kernel breaks a rule of its data type.
    Kernel {
        /// Which kernel.
        kernel: KernelId,
        /// Which rule.
        fault: KernelFault,
    },
    /// A call does not fit its kernel or the banks.
    Call {
        /// Position in the program.
        call: usize,
        /// Which rule.
        fault: CallFault,
    },
    /// A kernel is too long for machine code; the interpreter takes it.
    TooLong {
        /// Which kernel.
        kernel: KernelId,
        /// Its nodes, after normalisation.
        nodes: usize,
        /// How many are allowed.
        most: usize,
    },
    /// The machine-code generator refused; the text is its own message.
    Machine(String),
}

/// A rule that a kernel broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelFault {
    /// A node uses a node that is not before it.
    Order {
        /// The user.
        node: u32,
        /// The used.
        operand: u32,
    },
    /// A node loads a slot that the kernel does not have.
    Slot {
        /// The node.
        node: u32,
        /// The slot.
        slot: u32,
    },
    /// An output names a node that does not exist.
    Output {
        /// The output.
        output: u32,
    },
    /// A partial derivative names an argument that does not exist, or the list is not sorted.
    Derivative {
        /// The node.
        node: u32,
    },
}

/// A rule that a call broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallFault {
    /// There is no such kernel.
    UnknownKernel(KernelId),
    /// The number of slot addresses is not the number of slots.
    Slots {
        /// What the kernel has.
        expected: usize,
        /// What the call has.
        found: usize,
    },
    /// The number of output addresses is not the number of outputs.
    Outputs {
        /// What the kernel has.
        expected: usize,
        /// What the call has.
        found: usize,
    },
    /// A table does not have one element per repetition.
    TableLength {
        /// The count of the call.
        expected: usize,
        /// The length of the table.
        found: usize,
    },
    /// An address is outside its bank.
    Range {
        /// The bank.
        bank: Bank,
        /// The smallest or largest address that is reached, whichever is outside.
        address: i128,
        /// The length of the bank.
        length: usize,
    },
    /// An output is a counter or in a bank that is read only.
    NotWritable,
}

/// Why a run was refused or did not give a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// A bank is shorter than it was when the program was bound.
    BankTooShort {
        /// Which.
        bank: Bank,
        /// Length at binding.
        expected: usize,
        /// Length now.
        found: usize,
    },
    /// User function number `.0` panicked; its result was taken as NaN and the rest of the program was run.
    FunctionPanicked(u32),
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel { kernel, fault } => write!(f, "kernel {kernel}: {fault}"),
            Self::Call { call, fault } => write!(f, "call {call}: {fault}"),
            Self::TooLong {
                kernel,
                nodes,
                most,
            } => {
                write!(
                    f,
                    "kernel {kernel}: {nodes} nodes are too many for machine code, which takes {most}"
                )
            }
            Self::Machine(message) => write!(f, "machine code: {message}"),
        }
    }
}

impl fmt::Display for KernelFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order { node, operand } => {
                write!(f, "node {node} uses node {operand}, which is not before it")
            }
            Self::Slot { node, slot } => {
                write!(f, "node {node} loads slot {slot}, which does not exist")
            }
            Self::Output { output } => {
                write!(f, "output {output} names a node that does not exist")
            }
            Self::Derivative { node } => write!(
                f,
                "node {node} is differentiated by arguments it does not have"
            ),
        }
    }
}

impl fmt::Display for CallFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKernel(kernel) => write!(f, "there is no kernel {kernel}"),
            Self::Slots { expected, found } => {
                write!(f, "{expected} slot addresses expected, {found} found")
            }
            Self::Outputs { expected, found } => {
                write!(f, "{expected} output addresses expected, {found} found")
            }
            Self::TableLength { expected, found } => {
                write!(f, "table of length {expected} expected, {found} found")
            }
            Self::Range {
                bank,
                address,
                length,
            } => {
                write!(
                    f,
                    "address {address} is outside bank {bank:?} of length {length}"
                )
            }
            Self::NotWritable => write!(f, "an output must be an address in bank Mem or Out"),
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BankTooShort {
                bank,
                expected,
                found,
            } => {
                write!(
                    f,
                    "bank {bank:?} has {found} elements; the program was bound to {expected}"
                )
            }
            Self::FunctionPanicked(function) => write!(f, "user function {function} panicked"),
        }
    }
}

impl std::error::Error for KernelError {}
impl std::error::Error for RunError {}
