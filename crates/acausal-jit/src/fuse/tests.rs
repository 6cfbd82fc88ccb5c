//! Fused programs against the same as they were.

use super::*;
use crate::kernel::{Address, Bank, Binary, Call, Kernel, Op, Store, Unary};
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
    (counts, 0usize..4, prop::bool::weighted(0.3)).prop_flat_map(move |(count, kernel, result)| {
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
    })
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
