//! Bound programs as values: they outlive what made them, are shared by threads, and long kernels are no special case.

mod common;

use acausal_jit::*;
use common::{CountingAllocator, Memory, at, backends, kernel, run};

/// `out[j] = y[j]^2 + mem[0]`
fn square() -> (Kernel, Call) {
    let nodes = vec![
        Op::Slot(0),
        Op::Const(2.0),
        Op::Binary(Binary::Pow, 0, 1),
        Op::Slot(1),
        Op::Binary(Binary::Add, 2, 3),
    ];
    let call = Call {
        kernel: 0,
        count: 100,
        slots: vec![at(Bank::Y, 0, 1), at(Bank::Mem, 0, 0)],
        outputs: vec![(at(Bank::Out, 0, 1), Store::Set)],
    };
    (kernel(2, nodes, vec![4]), call)
}

#[test]
fn one_program_runs_on_many_threads_after_its_code_is_gone() {
    let (kernel, call) = square();
    for (name, backend) in backends() {
        let code = backend.compile(std::slice::from_ref(&kernel)).expect(name);
        let lengths = BankLengths {
            y: 100,
            yp: 0,
            mem: 1,
            out: 100,
        };
        let bound = code.bind(std::slice::from_ref(&call), lengths).expect(name);
        drop((code, backend));
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let bound = &bound;
                scope.spawn(move || {
                    let y: Vec<f64> = (0..100).map(f64::from).collect();
                    let (mut mem, mut out) = ([f64::from(thread)], vec![0.0; 100]);
                    let mut scratch = Scratch::default();
                    for _ in 0..50 {
                        let banks = Banks {
                            y: &y,
                            yp: &[],
                            mem: &mut mem,
                            out: &mut out,
                        };
                        bound.run(banks, &NoFunctions, &mut scratch).expect(name);
                    }
                    for (y, out) in y.iter().zip(&out) {
                        assert_eq!(*out, y * y + f64::from(thread), "{name}");
                    }
                });
            }
        });
    }
}

#[test]
fn long_kernels() {
    // The sum of 3000 squares, as one straight line of 9000 nodes with 3000 slots, and repeated 10 times.
    let slots = 3000u32;
    let mut nodes = vec![Op::Const(0.0)];
    for slot in 0..slots {
        let sum = nodes.len() as u32 - 1;
        nodes.push(Op::Slot(slot));
        nodes.push(Op::Binary(Binary::Mul, sum + 1, sum + 1));
        nodes.push(Op::Binary(Binary::Add, sum, sum + 2));
    }
    let last = nodes.len() as u32 - 1;
    let kernels = [kernel(slots, nodes, vec![last])];
    let y: Vec<f64> = (0..slots + 10).map(f64::from).collect();
    let start = Memory {
        y,
        yp: vec![],
        mem: vec![],
        out: vec![0.0; 11],
    };
    let call = |count, base| Call {
        kernel: 0,
        count,
        slots: (0..slots as usize).map(|k| at(Bank::Y, k, 1)).collect(),
        outputs: vec![(at(Bank::Out, base, 1), Store::Set)],
    };
    let last = f64::from(slots) - 1.0;
    let sum = |n: f64| n * (n + 1.0) * (2.0 * n + 1.0) / 6.0;
    for (name, backend) in backends() {
        let end = run(
            &*backend,
            &kernels,
            &[call(1, 10), call(10, 0)],
            &start,
            &NoFunctions,
        )
        .expect(name);
        assert_eq!(end.out[10], sum(last), "{name}");
        for j in 0..10 {
            assert_eq!(
                end.out[j],
                sum(last + j as f64) - sum(j as f64 - 1.0),
                "{name}"
            );
        }
    }
}

#[cfg(feature = "cranelift")]
#[test]
fn kernels_that_are_too_long_for_machine_code_are_interpreted() {
    let nodes = 30_000;
    let mut list = vec![Op::Slot(0)];
    list.extend((1..nodes).map(|k| Op::Binary(Binary::Add, k - 1, 0)));
    let kernels = [kernel(1, list, vec![nodes - 1])];
    let call = Call {
        kernel: 0,
        count: 100,
        slots: vec![at(Bank::Y, 0, 1)],
        outputs: vec![(at(Bank::Out, 0, 1), Store::Set)],
    };
    let start = Memory {
        y: vec![1.0; 100],
        yp: vec![],
        mem: vec![],
        out: vec![0.0; 100],
    };
    let end = run(
        &*default_backend(),
        &kernels,
        std::slice::from_ref(&call),
        &start,
        &NoFunctions,
    );
    assert_eq!(end.expect("valid").out, [f64::from(nodes); 100]);
    let machine = Cranelift::new()
        .expect("a supported machine")
        .compile(&kernels)
        .expect("valid");
    let refused = machine.bind(&[call], start.lengths()).err();
    assert_eq!(
        refused,
        Some(KernelError::TooLong {
            kernel: 0,
            nodes: 30_000,
            most: 20_000
        })
    );
}

#[test]
fn a_run_does_not_allocate() {
    let (kernel, call) = square();
    let single = Call {
        count: 1,
        ..call.clone()
    };
    for (name, backend) in backends() {
        let lengths = BankLengths {
            y: 100,
            yp: 0,
            mem: 1,
            out: 100,
        };
        let code = backend.compile(std::slice::from_ref(&kernel)).expect(name);
        let bound = code
            .bind(&[call.clone(), single.clone()], lengths)
            .expect(name);
        let (y, mut mem, mut out) = (vec![2.0; 100], [1.0], vec![0.0; 100]);
        let mut scratch = Scratch::default();
        let mut once = || {
            let banks = Banks {
                y: &y,
                yp: &[],
                mem: &mut mem,
                out: &mut out,
            };
            bound.run(banks, &NoFunctions, &mut scratch).expect(name);
        };
        // The first run lets the scratch memory grow.
        once();
        let before = CountingAllocator::count();
        once();
        assert_eq!(CountingAllocator::count(), before, "{name}");
    }
}

#[cfg(feature = "cranelift")]
#[test]
fn only_what_pays_is_compiled() {
    let (kernel, call) = square();
    let single = Call {
        count: 1,
        ..call.clone()
    };
    let lengths = BankLengths {
        y: 100,
        yp: 0,
        mem: 1,
        out: 100,
    };
    for (runs, compiled) in [(1.0, 0), (1500.0, 1), (1e6, 2)] {
        let backend = Tiered::new(TierOptions {
            runs,
            ..TierOptions::default()
        })
        .expect("a supported machine");
        let code = backend
            .compile(std::slice::from_ref(&kernel))
            .expect("valid");
        let bound = code
            .bind(&[call.clone(), single.clone()], lengths)
            .expect("valid");
        assert_eq!(
            (bound.calls(), bound.compiled_calls()),
            (2, compiled),
            "{runs} runs"
        );
    }
}
