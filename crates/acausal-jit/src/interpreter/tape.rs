//! A kernel as a list of instructions on registers, each of which holds one number per repetition of a batch.
//!
//! What does not change from one repetition to the next is computed once per call; a register is given to another
//! value after its last use; slots that move by one element are read in place; an output that nothing else touches is
//! computed in place. Instruction operands are indices into a table of pointers, which is filled at run time: first
//! the pointers into banks, then the registers.
//!
//! Invariant that lets the inner loops assume that their slices do not overlap: the destination of an instruction is
//! never one of its operands, and pointers into banks that are written (private outputs) meet no pointer that is read.
//!
//! Example: `r = yp - c*y` with uniform `c` and unit `y`, `yp`, `r` has pointers `0: yp, 1: y, 2: r, 3: c, 4: temporary`;
//! `once: load 3`, `each: 4 = 3*1; 2 = 0 - 4`, and no stores. Time is linear in the kernel.

use crate::kernel::{Binary, Kernel, NodeIx, Op, Store, Unary};
use crate::normalise::for_each_operand;
use crate::place::{CallShape, Motion};

/// Index into the table of pointers.
pub type Ptr = u32;

/// What an instruction computes.
#[derive(Clone, Debug)]
pub enum TapeOp {
    /// The same literal in every lane.
    Const(f64),
    /// The same element in every lane.
    Broadcast(u32),
    /// A slot that is loaded lane by lane.
    Load(u32),
    /// A function of one argument.
    Unary(Unary, Ptr),
    /// A function of two arguments.
    Binary(Binary, Ptr, Ptr),
    /// A choice.
    Select(Ptr, Ptr, Ptr),
    /// The user function at this node of the kernel.
    Apply(NodeIx, Box<[Ptr]>),
}

/// One instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// What is computed.
    pub what: TapeOp,
    /// Where to.
    pub to: Ptr,
}

/// A kernel, translated for one shape.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    /// Slots that are read in place; entry `k` is pointer `k`.
    pub in_place_slots: Vec<u32>,
    /// Outputs that are computed in place; their pointers follow.
    pub in_place_outputs: Vec<u32>,
    /// Number of registers; their pointers come last.
    pub registers: usize,
    /// Instructions before the first batch.
    pub once: Vec<Instruction>,
    /// Instructions of each batch.
    pub each: Vec<Instruction>,
    /// Outputs that are stored after each batch.
    pub stores: Vec<(u32, Ptr)>,
}

impl Tape {
    /// Translates a normalised kernel.
    pub fn new(kernel: &Kernel, shape: &CallShape) -> Self {
        Translation::new(kernel, shape).run()
    }

    /// Number of pointers.
    pub fn pointers(&self) -> usize {
        self.in_place_slots.len() + self.in_place_outputs.len() + self.registers
    }
}

struct Translation<'a> {
    kernel: &'a Kernel,
    shape: &'a CallShape,
    tape: Tape,
    /// Node that is computed in place of an output: the index of that output among those.
    in_place: Vec<Option<u32>>,
    /// Where each node is.
    at: Vec<Ptr>,
    /// Whether each node has the same value in all repetitions.
    uniform: Vec<bool>,
    /// The last node that uses each node; outputs are used at the end.
    last_use: Vec<u32>,
    free: Vec<Ptr>,
}

impl<'a> Translation<'a> {
    fn new(kernel: &'a Kernel, shape: &'a CallShape) -> Self {
        let nodes = kernel.nodes.len();
        let mut last_use = vec![0; nodes];
        let mut uniform = vec![false; nodes];
        for (ix, op) in kernel.nodes.iter().enumerate() {
            let mut all = true;
            for_each_operand(op, |operand| {
                last_use[operand as usize] = ix as u32;
                all &= uniform[operand as usize];
            });
            uniform[ix] = match op {
                Op::Slot(slot) => shape.slots[*slot as usize] == Motion::Uniform,
                _ => all,
            };
        }
        for &output in &kernel.outputs {
            last_use[output as usize] = u32::MAX;
        }
        let (tape, at, in_place) = (Tape::default(), vec![0; nodes], vec![None; nodes]);
        Self {
            kernel,
            shape,
            tape,
            in_place,
            at,
            uniform,
            last_use,
            free: Vec::new(),
        }
    }

    fn run(mut self) -> Tape {
        self.choose_in_place();
        for ix in 0..self.kernel.nodes.len() {
            self.node(ix);
        }
        for (output, node) in self.kernel.outputs.iter().enumerate() {
            let at = self.at[*node as usize];
            let computed_in_place = self.in_place[*node as usize]
                .is_some_and(|k| self.tape.in_place_outputs[k as usize] == output as u32);
            if !computed_in_place {
                self.tape.stores.push((output as u32, at));
            }
        }
        self.tape
    }

    /// Decides which slots and outputs are used where they are; registers are numbered after them.
    fn choose_in_place(&mut self) {
        if !self.shape.overlapping {
            let units = self
                .shape
                .slots
                .iter()
                .enumerate()
                .filter(|(_, motion)| **motion == Motion::Unit);
            self.tape.in_place_slots = units.map(|(slot, _)| slot as u32).collect();
        }
        for (output, &node) in self.kernel.outputs.iter().enumerate() {
            let shape = self.shape.outputs[output];
            let node = node as usize;
            let computed = !self.uniform[node] && !matches!(self.kernel.nodes[node], Op::Slot(_));
            let movable =
                shape.private && shape.motion == Motion::Unit && shape.store == Store::Set;
            if computed && movable && self.in_place[node].is_none() {
                self.in_place[node] = Some(self.tape.in_place_outputs.len() as u32);
                self.tape.in_place_outputs.push(output as u32);
            }
        }
    }

    fn node(&mut self, ix: usize) {
        let op = &self.kernel.nodes[ix];
        let at = |node: NodeIx| self.at[node as usize];
        let what = match op {
            Op::Const(value) => TapeOp::Const(*value),
            Op::Slot(slot) if self.uniform[ix] => TapeOp::Broadcast(*slot),
            Op::Slot(slot) => match self.tape.in_place_slots.iter().position(|s| s == slot) {
                Some(pointer) => {
                    self.at[ix] = pointer as Ptr;
                    return;
                }
                None => TapeOp::Load(*slot),
            },
            Op::Unary(f, a) => TapeOp::Unary(*f, at(*a)),
            Op::Binary(f, a, b) => TapeOp::Binary(*f, at(*a), at(*b)),
            Op::Select(c, a, b) => TapeOp::Select(at(*c), at(*a), at(*b)),
            Op::Apply { args, .. } => {
                TapeOp::Apply(ix as NodeIx, args.iter().map(|&arg| at(arg)).collect())
            }
        };
        // The destination is chosen while the operands are still held, so it is none of them.
        let to = match self.in_place[ix] {
            Some(k) => self.tape.in_place_slots.len() as Ptr + k,
            None => self.register(ix),
        };
        self.at[ix] = to;
        let list = if self.uniform[ix] {
            &mut self.tape.once
        } else {
            &mut self.tape.each
        };
        list.push(Instruction { what, to });
        if !self.uniform[ix] {
            self.release_operands(ix);
        }
    }

    fn register(&mut self, ix: usize) -> Ptr {
        // A uniform value is written before the first batch: its register must not have been used by a batch.
        if !self.uniform[ix]
            && let Some(register) = self.free.pop()
        {
            return register;
        }
        self.tape.registers += 1;
        (self.tape.pointers() - 1) as Ptr
    }

    fn release_operands(&mut self, ix: usize) {
        let first_register =
            (self.tape.in_place_slots.len() + self.tape.in_place_outputs.len()) as Ptr;
        let mut free = std::mem::take(&mut self.free);
        for_each_operand(&self.kernel.nodes[ix], |operand| {
            let (node, register) = (operand as usize, self.at[operand as usize]);
            let dead = self.last_use[node] == ix as u32
                && !self.uniform[node]
                && register >= first_register;
            if dead && !free.contains(&register) {
                free.push(register);
            }
        });
        self.free = free;
    }
}
