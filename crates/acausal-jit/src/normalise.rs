//! Brings a kernel into the form that backends translate one to one.
//!
//! Unused nodes are dropped, equal nodes are computed once, operations on literals are folded, and powers with a common
//! literal exponent become multiplications or a square root. Because every backend starts from the same normal form,
//! a rewriting that changes the last bit (`pow(x, 3)` and `x*x*x` may differ) changes it for all of them alike.
//!
//! Invariants: the numbers of slots and outputs stay; operands stay before their users; no node of the result is
//! unused. Time and memory are linear in the number of nodes.
//!
//! Example: the outputs `[x^2 + 2*3, y*(x^2)]` with nodes
//! `x, 2, x^2, 3, 2*3, x^2 + 2*3, y, y*(x^2)` become `x, x*x, 6, x*x + 6, y, y*(x*x)`.

use crate::error::KernelFault;
use crate::kernel::{Binary, Kernel, NodeIx, Op, Unary};
use crate::math;
use std::collections::HashMap;

/// Largest integer exponent that is replaced by multiplications: with at most four of them the error stays below
/// 2.5 units in the last place.
const MAX_EXPONENT: f64 = 8.0;

/// Checks the rules that the data type of a kernel states but cannot enforce.
pub fn validate(kernel: &Kernel) -> Result<(), KernelFault> {
    for (ix, op) in kernel.nodes.iter().enumerate() {
        let node = ix as u32;
        let mut fault = None;
        for_each_operand(op, |operand| {
            if operand >= node && fault.is_none() {
                fault = Some(KernelFault::Order { node, operand });
            }
        });
        if let Some(fault) = fault {
            return Err(fault);
        }
        match op {
            Op::Slot(slot) if *slot >= kernel.slots => {
                return Err(KernelFault::Slot { node, slot: *slot });
            }
            Op::Apply { args, wrt, .. } => {
                let in_range = wrt.iter().all(|&position| (position as usize) < args.len());
                if !in_range || !wrt.is_sorted() {
                    return Err(KernelFault::Derivative { node });
                }
            }
            _ => {}
        }
    }
    match kernel
        .outputs
        .iter()
        .position(|&node| node as usize >= kernel.nodes.len())
    {
        Some(output) => Err(KernelFault::Output {
            output: output as u32,
        }),
        None => Ok(()),
    }
}

/// Calls `visit` for every operand of `op`, in order.
pub fn for_each_operand(op: &Op, mut visit: impl FnMut(NodeIx)) {
    match op {
        Op::Const(_) | Op::Slot(_) => {}
        Op::Unary(_, a) => visit(*a),
        Op::Binary(_, a, b) => {
            visit(*a);
            visit(*b);
        }
        Op::Select(c, a, b) => {
            visit(*c);
            visit(*a);
            visit(*b);
        }
        Op::Apply { args, .. } => args.iter().for_each(|&arg| visit(arg)),
    }
}

/// The normal form of a valid kernel.
pub fn normalise(kernel: &Kernel) -> Kernel {
    let first = rewrite(kernel, &used(kernel));
    // Folding and powers leave literals without users; the second round drops them.
    rewrite(&first, &used(&first))
}

/// Which nodes an output depends on.
fn used(kernel: &Kernel) -> Vec<bool> {
    let mut used = vec![false; kernel.nodes.len()];
    for &output in &kernel.outputs {
        used[output as usize] = true;
    }
    for ix in (0..kernel.nodes.len()).rev() {
        if used[ix] {
            for_each_operand(&kernel.nodes[ix], |operand| used[operand as usize] = true);
        }
    }
    used
}

fn rewrite(kernel: &Kernel, used: &[bool]) -> Kernel {
    let mut table = ValueTable::default();
    let mut new = vec![0; kernel.nodes.len()];
    for (ix, op) in kernel.nodes.iter().enumerate().filter(|(ix, _)| used[*ix]) {
        let at = |old: NodeIx| new[old as usize];
        new[ix] = match op {
            Op::Const(value) => table.constant(*value),
            Op::Slot(slot) => table.node(Key::Slot(*slot), Op::Slot(*slot)),
            Op::Unary(f, a) => table.unary(*f, at(*a)),
            Op::Binary(f, a, b) => table.binary(*f, at(*a), at(*b)),
            Op::Select(c, a, b) => table.select(at(*c), at(*a), at(*b)),
            Op::Apply {
                function,
                args,
                output,
                wrt,
            } => {
                let args: Vec<NodeIx> = args.iter().map(|&arg| at(arg)).collect();
                let key = Key::Apply(*function, args.clone(), *output, wrt.clone());
                table.node(
                    key,
                    Op::Apply {
                        function: *function,
                        args,
                        output: *output,
                        wrt: wrt.clone(),
                    },
                )
            }
        };
    }
    Kernel {
        nodes: table.nodes,
        slots: kernel.slots,
        outputs: kernel
            .outputs
            .iter()
            .map(|&output| new[output as usize])
            .collect(),
    }
}

/// What makes two nodes compute the same value.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Const(u64),
    Slot(u32),
    Unary(Unary, NodeIx),
    Binary(Binary, NodeIx, NodeIx),
    Select(NodeIx, NodeIx, NodeIx),
    Apply(u32, Vec<NodeIx>, u32, Vec<u32>),
}

/// Value numbering: the nodes so far, and where each computation already is.
#[derive(Default)]
struct ValueTable {
    nodes: Vec<Op>,
    known: HashMap<Key, NodeIx>,
}

impl ValueTable {
    fn node(&mut self, key: Key, op: Op) -> NodeIx {
        *self.known.entry(key).or_insert_with(|| {
            self.nodes.push(op);
            (self.nodes.len() - 1) as NodeIx
        })
    }

    fn literal(&self, ix: NodeIx) -> Option<f64> {
        match self.nodes[ix as usize] {
            Op::Const(value) => Some(value),
            _ => None,
        }
    }

    fn constant(&mut self, value: f64) -> NodeIx {
        self.node(Key::Const(value.to_bits()), Op::Const(value))
    }

    fn unary(&mut self, f: Unary, a: NodeIx) -> NodeIx {
        match self.literal(a) {
            Some(x) => self.constant(math::unary(f, x)),
            None => self.node(Key::Unary(f, a), Op::Unary(f, a)),
        }
    }

    fn binary(&mut self, f: Binary, a: NodeIx, b: NodeIx) -> NodeIx {
        match (self.literal(a), self.literal(b)) {
            (None, Some(exponent)) if f == Binary::Pow => self.power(a, b, exponent),
            (Some(x), Some(y)) if f != Binary::Pow => self.constant(math::binary(f, x, y)),
            (Some(_), Some(exponent)) => self.power(a, b, exponent),
            _ => self.node(Key::Binary(f, a, b), Op::Binary(f, a, b)),
        }
    }

    fn select(&mut self, c: NodeIx, a: NodeIx, b: NodeIx) -> NodeIx {
        match self.literal(c) {
            Some(condition) if condition != 0.0 => a,
            Some(_) => b,
            None if a == b => a,
            None => self.node(Key::Select(c, a, b), Op::Select(c, a, b)),
        }
    }

    fn power(&mut self, a: NodeIx, b: NodeIx, exponent: f64) -> NodeIx {
        let magnitude = exponent.abs();
        let value = if magnitude == 0.5 {
            self.unary(Unary::Sqrt, a)
        } else if magnitude <= MAX_EXPONENT && magnitude.fract() == 0.0 {
            self.integer_power(a, magnitude as u32)
        } else if let Some(x) = self.literal(a) {
            return self.constant(math::pow(x, exponent));
        } else {
            return self.node(
                Key::Binary(Binary::Pow, a, b),
                Op::Binary(Binary::Pow, a, b),
            );
        };
        if exponent < 0.0 {
            let one = self.constant(1.0);
            self.binary(Binary::Div, one, value)
        } else {
            value
        }
    }

    /// Repeated squaring, highest power first: `x^7 = (x^4*x^2)*x`.
    fn integer_power(&mut self, a: NodeIx, exponent: u32) -> NodeIx {
        let mut squares = vec![a];
        while exponent >> squares.len() != 0 {
            let last = squares[squares.len() - 1];
            squares.push(self.binary(Binary::Mul, last, last));
        }
        let mut product = None;
        for (bit, &square) in squares.iter().enumerate().rev() {
            if exponent >> bit & 1 == 1 {
                product = Some(product.map_or(square, |p| self.binary(Binary::Mul, p, square)));
            }
        }
        product.unwrap_or_else(|| self.constant(1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_example() {
        let mul = |a, b| Op::Binary(Binary::Mul, a, b);
        let add = |a, b| Op::Binary(Binary::Add, a, b);
        let kernel = Kernel {
            nodes: vec![
                Op::Slot(0),
                Op::Const(2.0),
                Op::Binary(Binary::Pow, 0, 1),
                Op::Const(3.0),
                mul(1, 3),
                add(2, 4),
                Op::Slot(1),
                mul(6, 2),
            ],
            slots: 2,
            outputs: vec![5, 7],
        };
        let normal = normalise(&kernel);
        let expected = vec![
            Op::Slot(0),
            mul(0, 0),
            Op::Const(6.0),
            add(1, 2),
            Op::Slot(1),
            mul(4, 1),
        ];
        assert_eq!(normal.nodes, expected);
        assert_eq!(normal.outputs, [3, 5]);
    }

    #[test]
    fn powers_without_pow() {
        for (exponent, expected) in [
            (0.0, 1.0),
            (1.0, 3.0),
            (3.0, 27.0),
            (7.0, 2187.0),
            (-2.0, 1.0 / 9.0),
        ] {
            let nodes = vec![
                Op::Slot(0),
                Op::Const(exponent),
                Op::Binary(Binary::Pow, 0, 1),
            ];
            let normal = normalise(&Kernel {
                nodes,
                slots: 1,
                outputs: vec![2],
            });
            assert!(
                normal
                    .nodes
                    .iter()
                    .all(|op| !matches!(op, Op::Binary(Binary::Pow, ..)))
            );
            let mut values: Vec<f64> = Vec::new();
            for op in &normal.nodes {
                values.push(match op {
                    Op::Const(value) => *value,
                    Op::Binary(f, a, b) => {
                        math::binary(*f, values[*a as usize], values[*b as usize])
                    }
                    _ => 3.0,
                });
            }
            assert_eq!(values[normal.outputs[0] as usize], expected, "3^{exponent}");
        }
    }

    #[test]
    fn faults_are_named() {
        let forward = Kernel {
            nodes: vec![Op::Unary(Unary::Neg, 0)],
            slots: 0,
            outputs: vec![0],
        };
        assert_eq!(
            validate(&forward),
            Err(KernelFault::Order {
                node: 0,
                operand: 0
            })
        );
        let slot = Kernel {
            nodes: vec![Op::Slot(2)],
            slots: 2,
            outputs: vec![0],
        };
        assert_eq!(validate(&slot), Err(KernelFault::Slot { node: 0, slot: 2 }));
        let output = Kernel {
            nodes: vec![],
            slots: 0,
            outputs: vec![0],
        };
        assert_eq!(validate(&output), Err(KernelFault::Output { output: 0 }));
    }
}
