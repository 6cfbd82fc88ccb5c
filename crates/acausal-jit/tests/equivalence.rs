//! All backends give the same bits on random kernels, addresses and numbers, NaN, infinities and signed zeros included.
//!
//! Kernels and calls are decoded from random bytes, so that a failure shrinks to few and simple nodes. Addresses lie
//! close together in `Mem`, so that slots and outputs often meet.

mod common;

use acausal_jit::*;
use common::{Memory, Polynomial, at, backends, kernel, run, table};
use proptest::prelude::*;

const LENGTH: usize = 800;
const UNARY: [Unary; 20] = [
    Unary::Neg,
    Unary::Not,
    Unary::Abs,
    Unary::Sign,
    Unary::Sqrt,
    Unary::Floor,
    Unary::Ceil,
    Unary::Trunc,
    Unary::Sin,
    Unary::Cos,
    Unary::Tan,
    Unary::Asin,
    Unary::Acos,
    Unary::Atan,
    Unary::Sinh,
    Unary::Cosh,
    Unary::Tanh,
    Unary::Exp,
    Unary::Ln,
    Unary::Log10,
];
const BINARY: [Binary; 18] = [
    Binary::Add,
    Binary::Sub,
    Binary::Mul,
    Binary::Div,
    Binary::Min,
    Binary::Max,
    Binary::Lt,
    Binary::Le,
    Binary::Gt,
    Binary::Ge,
    Binary::Eq,
    Binary::Ne,
    Binary::And,
    Binary::Or,
    Binary::Mod,
    Binary::Rem,
    Binary::Atan2,
    Binary::Pow,
];
const NUMBERS: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    3.0,
    0.5,
    -2.0,
    0.1,
    -7.25,
    1e300,
    5e-324,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    12345.678,
];
/// `Set` most often, because only programs without accumulation take all the short cuts.
const STORES: [Store; 9] = [
    Store::Set,
    Store::Set,
    Store::Set,
    Store::Set,
    Store::Set,
    Store::Add,
    Store::Mul,
    Store::Min,
    Store::Max,
];

/// One node; `calls` allows operations that machine code does by calling a function.
fn node(bytes: [u8; 5], before: usize, slots: u32, calls: bool) -> Op {
    let [kind, f, a, b, c] = bytes;
    // Mostly the last nodes, so that expressions become deep.
    let operand = |byte: u8| (before - 1 - byte as usize % before.min(12)) as u32;
    if before == 0 || kind < 50 {
        return match slots {
            0 => Op::Const(NUMBERS[f as usize % 16]),
            _ if f % 4 == 0 => Op::Const(NUMBERS[a as usize % 16]),
            _ => Op::Slot(u32::from(a) % slots),
        };
    }
    let (unary, binary) = if calls { (20, 18) } else { (8, 16) };
    match kind {
        0..110 => Op::Unary(UNARY[f as usize % unary], operand(a)),
        110..220 => Op::Binary(BINARY[f as usize % binary], operand(a), operand(b)),
        220..230 if calls => Op::Apply {
            function: u32::from(f),
            args: [a, b, c]
                .iter()
                .take(f as usize % 4)
                .map(|byte| operand(*byte))
                .collect(),
            output: u32::from(c % 3),
            wrt: if f % 4 > 1 {
                vec![u32::from(c % 2)]
            } else {
                vec![]
            },
        },
        _ => Op::Select(operand(a), operand(b), operand(c)),
    }
}

fn address(bytes: [u8; 4], count: usize, banks: &[Bank], counters: bool) -> Address {
    let [kind, bank, base, step] = bytes;
    let bank = banks[bank as usize % banks.len()];
    match kind % 8 {
        0..3 => at(bank, LENGTH / 2 + base as usize % 8, 1),
        3 => at(bank, LENGTH / 2 + base as usize % 8, 0),
        4 => {
            let stride: isize = [-1, 2, -2, 3][step as usize % 4];
            let count = count as isize;
            let base = base as usize % 8 + if stride < 0 { LENGTH - 8 } else { 0 };
            // Shorten the stride where the bank would be left.
            let stride = if stride.abs() * count >= LENGTH as isize - 8 {
                stride.signum()
            } else {
                stride
            };
            at(bank, base, stride)
        }
        5 if counters => Address::Counter {
            start: NUMBERS[base as usize % 16],
            step: NUMBERS[step as usize % 16],
        },
        _ => {
            let spread = if step % 2 == 0 { 7 } else { LENGTH as u32 };
            let elements: Vec<u32> = (0..count as u32)
                .map(|j| (u32::from(base) + j * (u32::from(step) + 1)) % spread)
                .collect();
            table(bank, &elements)
        }
    }
}

fn memory(seed: u64) -> Memory {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        match state % 10 {
            0 => NUMBERS[(state >> 20) as usize % 16],
            _ => ((state >> 11) as f64 / (1u64 << 53) as f64 - 0.5) * 8.0,
        }
    };
    let mut bank = || (0..LENGTH).map(|_| next()).collect();
    Memory {
        y: bank(),
        yp: bank(),
        mem: bank(),
        out: bank(),
    }
}

fn compare(kernels: &[Kernel], program: &[Call], seed: u64) -> Result<(), TestCaseError> {
    let start = memory(seed);
    let mut expected = None;
    for (name, backend) in backends() {
        let end = run(&*backend, kernels, program, &start, &Polynomial)
            .map_err(|e| TestCaseError::fail(format!("{name}: {e}")))?;
        let (mem, out) = (&end.mem, &end.out);
        let bits = end.bits();
        let expected = expected.get_or_insert_with(|| bits.clone());
        if let Some(at) = (0..bits.len()).find(|&k| bits[k] != expected[k]) {
            let found = mem.iter().chain(out).nth(at).copied().unwrap_or(f64::NAN);
            return Err(TestCaseError::fail(format!(
                "{name}: element {at} is {found:e} instead of {:e}",
                f64::from_bits(expected[at])
            )));
        }
    }
    Ok(())
}

type CallBytes = (usize, Vec<[u8; 4]>, Vec<([u8; 4], u8)>);

fn call(kernel_ix: u32, bytes: &CallBytes, kernel: &Kernel) -> Call {
    let (count, slots, outputs) = bytes;
    let all = [Bank::Mem, Bank::Y, Bank::Mem, Bank::Yp, Bank::Out];
    let pick = |list: &[[u8; 4]], k: usize| list.get(k).copied().unwrap_or([k as u8; 4]);
    Call {
        kernel: kernel_ix,
        count: *count,
        slots: (0..kernel.slots as usize)
            .map(|k| address(pick(slots, k), *count, &all, true))
            .collect(),
        outputs: (0..kernel.outputs.len())
            .map(|k| {
                let (bytes, store) = outputs.get(k).copied().unwrap_or_default();
                (
                    address(bytes, *count, &[Bank::Mem, Bank::Out], false),
                    STORES[store as usize % 9],
                )
            })
            .collect(),
    }
}

fn calls() -> impl Strategy<Value = Vec<CallBytes>> {
    let count = prop_oneof![Just(1usize), 2..9usize, 100..300usize];
    let one = (
        count,
        prop::collection::vec(any::<[u8; 4]>(), 6),
        prop::collection::vec(any::<([u8; 4], u8)>(), 3),
    );
    prop::collection::vec(one, 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn backends_agree(
        nodes in prop::collection::vec(any::<[u8; 5]>(), 1..40),
        slots in 0..6u32,
        outputs in prop::collection::vec(any::<u8>(), 1..4),
        calls in calls(),
        with_calls in any::<bool>(),
        seed in any::<u64>(),
    ) {
        let nodes: Vec<Op> = nodes.iter().enumerate().map(|(k, bytes)| node(*bytes, k, slots, with_calls)).collect();
        let outputs = outputs.iter().map(|byte| (nodes.len() - 1 - *byte as usize % nodes.len().min(6)) as u32).collect();
        let kernels = [kernel(slots, nodes, outputs)];
        let program: Vec<Call> = calls.iter().map(|bytes| call(0, bytes, &kernels[0])).collect();
        compare(&kernels, &program, seed)?;
    }
}

#[test]
fn every_operation_on_special_numbers() {
    // All pairs of special numbers for every operation, 16*16 repetitions through two tables.
    let (first, second): (Vec<u32>, Vec<u32>) = (0..256).map(|k| (k / 16, k % 16)).unzip();
    let mut kernels = Vec::new();
    for f in UNARY {
        kernels.push(kernel(2, vec![Op::Slot(0), Op::Unary(f, 0)], vec![1]));
    }
    for f in BINARY {
        kernels.push(kernel(
            2,
            vec![Op::Slot(0), Op::Slot(1), Op::Binary(f, 0, 1)],
            vec![2],
        ));
    }
    for exponent in [
        -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 7.0, 8.0, 9.0, 1.5,
    ] {
        let power = Op::Binary(Binary::Pow, 0, 1);
        kernels.push(kernel(
            2,
            vec![Op::Slot(0), Op::Const(exponent), power],
            vec![2],
        ));
    }
    let mut memory = memory(7);
    memory.y[..16].copy_from_slice(&NUMBERS);
    for (k, kernel) in kernels.iter().enumerate() {
        let call = Call {
            kernel: 0,
            count: 256,
            slots: vec![table(Bank::Y, &first), table(Bank::Y, &second)],
            outputs: vec![(at(Bank::Out, 0, 1), Store::Set)],
        };
        let kernels = std::slice::from_ref(kernel);
        let program = std::slice::from_ref(&call);
        let expected = run(
            &Interpreter::with_lanes(1),
            kernels,
            program,
            &memory,
            &NoFunctions,
        )
        .expect("reference");
        for (name, backend) in backends() {
            let found = run(&*backend, kernels, program, &memory, &NoFunctions).expect(name);
            assert_eq!(
                found.bits(),
                expected.bits(),
                "{name}, kernel {k}: {kernel:?}"
            );
        }
    }
}
