//! The order of loads and stores, accumulation, counters, tables, user functions and refusals, for every backend.

mod common;

use acausal_jit::*;
use common::{Memory, Polynomial, at, backends, kernel, run, table};

fn memory(mem: &[f64], out: usize) -> Memory {
    let y = (0..8).map(f64::from).collect();
    Memory {
        y,
        yp: vec![0.5; 8],
        mem: mem.to_vec(),
        out: vec![0.0; out],
    }
}

/// Runs one call on all backends and compares the banks `mem` and `out`.
fn expect(kernel: Kernel, call: Call, start: &Memory, mem: &[f64], out: &[f64]) {
    for (name, backend) in backends() {
        let kernels = std::slice::from_ref(&kernel);
        let end = run(
            &*backend,
            kernels,
            std::slice::from_ref(&call),
            start,
            &Polynomial,
        )
        .expect(name);
        assert_eq!(end.mem, mem, "{name}");
        assert_eq!(end.out, out, "{name}");
    }
}

fn add_one() -> Kernel {
    kernel(
        1,
        vec![Op::Slot(0), Op::Const(1.0), Op::Binary(Binary::Add, 0, 1)],
        vec![2],
    )
}

fn copy(outputs: usize) -> Kernel {
    let slots = outputs as u32;
    kernel(
        slots,
        (0..slots).map(Op::Slot).collect(),
        (0..slots).collect(),
    )
}

fn call(count: usize, slots: Vec<Address>, outputs: Vec<(Address, Store)>) -> Call {
    Call {
        kernel: 0,
        count,
        slots,
        outputs,
    }
}

#[test]
fn a_repetition_sees_the_stores_of_those_before_it() {
    // mem[j+1] = mem[j] + 1
    let recurrence = call(
        9,
        vec![at(Bank::Mem, 0, 1)],
        vec![(at(Bank::Mem, 1, 1), Store::Set)],
    );
    let counted: Vec<f64> = (5..15).map(f64::from).collect();
    let mut start = vec![0.0; 10];
    start[0] = 5.0;
    expect(add_one(), recurrence, &memory(&start, 0), &counted, &[]);

    // mem[j+4] = mem[j] + 1: four repetitions may run together.
    let stepped = call(
        9,
        vec![at(Bank::Mem, 0, 1)],
        vec![(at(Bank::Mem, 4, 1), Store::Set)],
    );
    let expected = [0., 0., 0., 0., 1., 1., 1., 1., 2., 2., 2., 2., 3.];
    expect(add_one(), stepped, &memory(&[0.0; 13], 0), &expected, &[]);

    // The same through a table.
    let elements: Vec<u32> = (0..9).collect();
    let slots = vec![table(Bank::Mem, &elements)];
    expect(
        add_one(),
        call(9, slots, vec![(at(Bank::Mem, 4, 1), Store::Set)]),
        &memory(&[0.0; 13], 0),
        &expected,
        &[],
    );
}

#[test]
fn all_shifts_and_counts_agree_with_a_loop() {
    for count in 1..=19 {
        for shift in 0..=9 {
            for store in [Store::Set, Store::Add] {
                // mem[5+j] = mem[shift+j] + 1, from a recurrence over an update in place to a shift down.
                let start: Vec<f64> = (0..30).map(|k| f64::from(k * k)).collect();
                let mut end = start.clone();
                for j in 0..count {
                    let old = if store == Store::Add { end[5 + j] } else { 0.0 };
                    end[5 + j] = old + (end[shift + j] + 1.0);
                }
                let program = call(
                    count,
                    vec![at(Bank::Mem, shift, 1)],
                    vec![(at(Bank::Mem, 5, 1), store)],
                );
                expect(add_one(), program, &memory(&start, 0), &end, &[]);
            }
        }
    }
}

#[test]
fn two_outputs_meet_at_all_distances() {
    for count in [1, 2, 5, 8, 9, 12] {
        for apart in 0..=count + 1 {
            for stride in [1, 2] {
                // The first output reaches up to the elements that the second one starts from, or the other way round.
                for (first, second) in [(0, apart * stride), (apart * stride, 0)] {
                    let mut end = vec![0.0; 64];
                    for j in 0..count {
                        end[first + j * stride] = j as f64;
                        end[second + j * stride] = -1.0;
                    }
                    let slots = vec![
                        Address::Counter {
                            start: 0.0,
                            step: 1.0,
                        },
                        at(Bank::Mem, 0, 0),
                    ];
                    let out = |base| (at(Bank::Out, base, stride as isize), Store::Set);
                    let program = call(count, slots, vec![out(first), out(second)]);
                    expect(copy(2), program, &memory(&[-1.0], 64), &[-1.0], &end);
                }
            }
        }
    }
}

#[test]
fn a_scalar_that_the_call_writes_is_loaded_again() {
    // Repetition 2 writes mem[2], which is the slot of all repetitions.
    let program = call(
        5,
        vec![at(Bank::Mem, 2, 0)],
        vec![(at(Bank::Mem, 0, 1), Store::Set)],
    );
    expect(
        add_one(),
        program,
        &memory(&[0.0, 0.0, 7.0, 0.0, 0.0], 0),
        &[8.0, 8.0, 8.0, 9.0, 9.0],
        &[],
    );
    // A counter in memory: mem[0] = mem[0] + 1.
    let program = call(
        6,
        vec![at(Bank::Mem, 0, 0)],
        vec![(at(Bank::Mem, 0, 0), Store::Set)],
    );
    expect(add_one(), program, &memory(&[1.0], 0), &[7.0], &[]);
}

#[test]
fn what_later_repetitions_overwrite_is_read_before() {
    let program = call(
        6,
        vec![at(Bank::Mem, 1, 1)],
        vec![(at(Bank::Mem, 0, 1), Store::Set)],
    );
    let expected = [2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 6.0];
    expect(
        add_one(),
        program,
        &memory(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 0),
        &expected,
        &[],
    );
    // The other way round it is a recurrence.
    let program = call(
        6,
        vec![at(Bank::Mem, 5, -1)],
        vec![(at(Bank::Mem, 6, -1), Store::Set)],
    );
    let expected = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    expect(
        add_one(),
        program,
        &memory(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 9.0], 0),
        &expected,
        &[],
    );
}

#[test]
fn all_loads_of_a_repetition_come_before_its_stores() {
    // Swaps two halves.
    let (left, right) = (at(Bank::Mem, 0, 1), at(Bank::Mem, 5, 1));
    let outputs = vec![(right.clone(), Store::Set), (left.clone(), Store::Set)];
    let start: Vec<f64> = (0..10).map(f64::from).collect();
    let expected = [5., 6., 7., 8., 9., 0., 1., 2., 3., 4.];
    expect(
        copy(2),
        call(5, vec![left, right], outputs),
        &memory(&start, 0),
        &expected,
        &[],
    );
}

#[test]
fn stores_of_one_repetition_keep_their_order() {
    // Output 0 writes out[j+1], output 1 writes out[j]: the value of output 0 survives except in the last element.
    let slots = vec![at(Bank::Y, 0, 1), at(Bank::Mem, 0, 0)];
    let outputs = vec![
        (at(Bank::Out, 1, 1), Store::Set),
        (at(Bank::Out, 0, 1), Store::Set),
    ];
    expect(
        copy(2),
        call(5, slots, outputs),
        &memory(&[-1.0], 6),
        &[-1.0],
        &[-1., -1., -1., -1., -1., 4.],
    );
    // Rounding shows the order of additions: ((2^53 + 1) - 2^53) + 1 is 1, but (2^53 - 2^53) + 1 + 1 is 2.
    let big = 9007199254740992.0;
    let slots = vec![at(Bank::Mem, 0, 2), at(Bank::Mem, 1, 2)];
    let sum = (at(Bank::Out, 0, 0), Store::Add);
    let values = [big, 1.0, -big, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    expect(
        copy(2),
        call(5, slots, vec![sum.clone(), sum]),
        &memory(&values, 1),
        &values,
        &[1.0],
    );
}

#[test]
fn accumulation() {
    let y = || vec![at(Bank::Y, 1, 1)];
    for (store, start, end) in [
        (Store::Set, 3.0, 7.0),
        (Store::Add, 0.5, 28.5),
        (Store::Mul, 1.0, 5040.0),
        (Store::Min, 3.0, 1.0),
        (Store::Max, 3.0, 7.0),
    ] {
        let program = call(7, y(), vec![(at(Bank::Mem, 0, 0), store)]);
        expect(copy(1), program, &memory(&[start], 0), &[end], &[]);
    }
    // Scattered: elements 0 and 2 get three summands each.
    let program = call(
        7,
        y(),
        vec![(table(Bank::Out, &[0, 2, 0, 1, 2, 0, 2]), Store::Add)],
    );
    expect(copy(1), program, &memory(&[], 3), &[], &[10.0, 4.0, 14.0]);
    // Along a vector.
    let program = call(3, y(), vec![(at(Bank::Mem, 0, 1), Store::Mul)]);
    expect(
        copy(1),
        program,
        &memory(&[1.0, 10.0, 100.0], 0),
        &[1.0, 20.0, 300.0],
        &[],
    );
}

#[test]
fn counters_tables_and_strides() {
    let product = kernel(
        2,
        vec![Op::Slot(0), Op::Slot(1), Op::Binary(Binary::Mul, 0, 1)],
        vec![2],
    );
    let slots = vec![
        Address::Counter {
            start: 2.0,
            step: -0.5,
        },
        table(Bank::Y, &[7, 0, 3, 3, 1]),
    ];
    let program = call(5, slots, vec![(at(Bank::Out, 8, -2), Store::Set)]);
    expect(
        product,
        program,
        &memory(&[], 9),
        &[],
        &[0., 0., 1.5, 0., 3., 0., 0., 0., 14.],
    );
}

#[test]
fn user_functions() {
    let apply = Op::Apply {
        function: 3,
        args: vec![0, 1],
        output: 1,
        wrt: vec![1],
    };
    let nodes = vec![Op::Slot(0), Op::Const(2.0), apply];
    // ((3 + 10)/2 + y)/2 + 2*2 - 6
    let expected: Vec<f64> = (0..8).map(|y| (6.5 + f64::from(y)) / 2.0 - 2.0).collect();
    let program = |count| {
        call(
            count,
            vec![at(Bank::Y, 0, 1)],
            vec![(at(Bank::Out, 0, 1), Store::Set)],
        )
    };
    expect(
        kernel(1, nodes.clone(), vec![2]),
        program(8),
        &memory(&[], 8),
        &[],
        &expected,
    );
    expect(
        kernel(1, nodes, vec![2]),
        program(1),
        &memory(&[], 1),
        &[],
        &expected[..1],
    );
}

#[test]
fn a_panic_in_a_user_function_is_an_error() {
    struct Panics;
    impl CallFunctions for Panics {
        fn apply(&self, _: u32, args: &[f64], _: u32, _: &[u32]) -> f64 {
            assert!(args[0] < 3.0);
            args[0]
        }
    }
    let kernels = [kernel(
        1,
        vec![
            Op::Slot(0),
            Op::Apply {
                function: 9,
                args: vec![0],
                output: 0,
                wrt: vec![],
            },
        ],
        vec![1],
    )];
    let program = [call(
        5,
        vec![at(Bank::Y, 0, 1)],
        vec![(at(Bank::Out, 0, 1), Store::Set)],
    )];
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    for (name, backend) in backends() {
        let mut start = memory(&[], 5);
        let bound = backend
            .compile(&kernels)
            .and_then(|code| code.bind(&program, start.lengths()))
            .expect(name);
        let Memory { y, yp, mem, out } = &mut start;
        let result = bound.run(Banks { y, yp, mem, out }, &Panics, &mut Scratch::default());
        assert_eq!(result, Err(RunError::FunctionPanicked(9)), "{name}");
        assert_eq!(out[..3], [0.0, 1.0, 2.0], "{name}");
        assert!(out[3].is_nan() && out[4].is_nan(), "{name}");
    }
    std::panic::set_hook(hook);
}

#[test]
fn wrong_programs_are_refused() {
    let y = || vec![at(Bank::Y, 0, 1)];
    let out = || vec![(at(Bank::Out, 0, 1), Store::Set)];
    let range = |bank, address, length| CallFault::Range {
        bank,
        address,
        length,
    };
    let cases = [
        (call(9, y(), out()), range(Bank::Y, 8, 8)),
        (
            call(2, vec![at(Bank::Y, 0, -1)], out()),
            range(Bank::Y, -1, 8),
        ),
        (
            call(2, vec![at(Bank::Y, 0, isize::MAX)], out()),
            range(Bank::Y, isize::MAX as i128, 8),
        ),
        (
            call(2, vec![table(Bank::Yp, &[0, 8])], out()),
            range(Bank::Yp, 8, 8),
        ),
        (
            call(3, vec![table(Bank::Yp, &[0, 1])], out()),
            CallFault::TableLength {
                expected: 3,
                found: 2,
            },
        ),
        (
            call(2, y(), vec![(at(Bank::Out, 2, 1), Store::Add)]),
            range(Bank::Out, 3, 3),
        ),
        (
            call(2, y(), vec![(at(Bank::Y, 0, 1), Store::Set)]),
            CallFault::NotWritable,
        ),
        (
            call(
                2,
                y(),
                vec![(
                    Address::Counter {
                        start: 0.0,
                        step: 1.0,
                    },
                    Store::Set,
                )],
            ),
            CallFault::NotWritable,
        ),
        (
            call(2, vec![], out()),
            CallFault::Slots {
                expected: 1,
                found: 0,
            },
        ),
        (
            call(2, y(), vec![]),
            CallFault::Outputs {
                expected: 1,
                found: 0,
            },
        ),
        (
            Call {
                kernel: 1,
                ..call(2, y(), out())
            },
            CallFault::UnknownKernel(1),
        ),
    ];
    for (name, backend) in backends() {
        let code = backend.compile(&[add_one()]).expect(name);
        for (program, fault) in &cases {
            let result = code.bind(
                &[call(0, y(), out()), program.clone()],
                memory(&[], 3).lengths(),
            );
            assert_eq!(
                result.err(),
                Some(KernelError::Call {
                    call: 1,
                    fault: fault.clone()
                }),
                "{name}"
            );
        }
        let bound = code
            .bind(&[call(3, y(), out())], memory(&[], 3).lengths())
            .expect(name);
        let Memory { y, yp, mem, out } = &mut memory(&[], 2);
        let result = bound.run(
            Banks { y, yp, mem, out },
            &NoFunctions,
            &mut Scratch::default(),
        );
        assert_eq!(
            result,
            Err(RunError::BankTooShort {
                bank: Bank::Out,
                expected: 3,
                found: 2
            }),
            "{name}"
        );
        assert!(
            backend
                .compile(&[kernel(0, vec![Op::Slot(0)], vec![])])
                .is_err(),
            "{name}"
        );
    }
}
