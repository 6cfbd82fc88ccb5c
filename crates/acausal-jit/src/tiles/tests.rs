//! Programs in tiles against the same as a whole.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use acausal_cpu::{Pair, Shared};

use super::{Places, Tiles, Workspace};
use crate::kernel::{Address, Bank, Binary, Call, Kernel, Op, Program, Store};
use crate::run::{BankLengths, Banks, NoFunctions, Scratch};

fn affine(bank: Bank, base: usize, stride: isize) -> Address {
    Address::Affine { bank, base, stride }
}

fn call(count: usize, slots: [Address; 3], out: Address) -> Call {
    Call {
        kernel: 0,
        count,
        slots: slots.to_vec(),
        outputs: vec![(out, Store::Set)],
    }
}

/// `a*b - c`
fn kernel() -> Kernel {
    Kernel {
        nodes: vec![
            Op::Slot(0),
            Op::Slot(1),
            Op::Slot(2),
            Op::Binary(Binary::Mul, 0, 1),
            Op::Binary(Binary::Sub, 3, 2),
        ],
        slots: 3,
        outputs: vec![4],
    }
}

/// Runs a program in tiles and as a whole: the same bits, and each unknown is predicted once and before it is read.
fn check(program: Program, n: usize) -> Option<Tiles> {
    let lengths = BankLengths {
        y: n,
        yp: n,
        mem: 4,
        out: n,
    };
    let kernels = [kernel()];
    let code = crate::default_backend().compile(&kernels).unwrap();
    let tiles = Tiles::bind(&*code, &kernels, &program, lengths).unwrap()?;
    let value = |i: usize| ((i * 7919) % 1000) as f64 * 1e-3 - 0.3;
    let (y, yp): (Vec<f64>, Vec<f64>) = (0..n).map(|i| (value(i), value(i + 13))).unzip();
    let start = [2.0, 3.0, 0.0, 0.0];
    let (mut mem, mut out) = (start, vec![0.0; n]);
    let whole = code.bind(&program, lengths).unwrap();
    let banks = Banks {
        y: &y,
        yp: &yp,
        mem: &mut mem,
        out: &mut out,
    };
    let mut scratch = Scratch::default();
    whole.run(banks, &NoFunctions, &mut scratch).unwrap();
    for mut pair in [None, Pair::new()] {
        // What is read too early is not a number; what is written too early is overwritten.
        let mut vectors = [vec![f64::NAN; n], vec![f64::NAN; n], vec![f64::NAN; n]];
        let mut tiled_mem = start;
        let counts: Vec<AtomicU32> = (0..n).map(|_| AtomicU32::new(0)).collect();
        let [a, b, r] = &mut vectors;
        let (a, b, r) = (Shared::new(a), Shared::new(b), Shared::new(r));
        let predict = |range: Range<usize>, [a, b]: [&mut [f64]; 2]| {
            a.copy_from_slice(&y[range.clone()]);
            b.copy_from_slice(&yp[range.clone()]);
            for i in range {
                counts[i].fetch_add(1, Relaxed);
                // SAFETY: each element belongs to one range.
                unsafe { r.set(i, f64::NAN) };
            }
        };
        let places = Places {
            y: a,
            yp: b,
            mem: &mut tiled_mem,
            out: r,
        };
        let mut own = <[Workspace; 2]>::default();
        // SAFETY: nobody else uses the vectors.
        let done = unsafe { tiles.run(pair.as_mut(), places, &NoFunctions, &mut own, &predict) };
        done.unwrap();
        assert!(counts.iter().all(|c| c.load(Relaxed) == 1));
        let bits = |v: &[f64]| -> Vec<u64> { v.iter().map(|v| v.to_bits()).collect() };
        assert!(bits(&vectors[2]) == bits(&out));
        assert_eq!(tiled_mem, mem);
    }
    Some(tiles)
}

/// Two arrays that read each other's neighbours, as on a line, with the rows at the ends in calls of their own.
fn line(n: usize) -> Program {
    use Bank::*;
    let gain = affine(Mem, 0, 0);
    let one = |a, b, c, out| {
        call(
            1,
            [affine(Y, a, 0), affine(Mem, b, 0), affine(Yp, c, 0)],
            affine(Out, out, 1),
        )
    };
    vec![
        call(
            n - 1,
            [affine(Y, n, 1), gain.clone(), affine(Yp, 1, 1)],
            affine(Out, 1, 1),
        ),
        call(
            n - 1,
            [affine(Y, 1, 1), gain, affine(Yp, n, 1)],
            affine(Out, n, 1),
        ),
        one(n, 1, 0, 0),
        one(0, 1, 2 * n - 1, 2 * n - 1),
    ]
}

#[test]
fn a_line_is_evaluated_in_tiles() {
    let n = 50_000;
    let tiles = check(line(n), 2 * n).unwrap();
    assert_eq!(tiles.lists.each_ref().map(Vec::len), [6, 6]);
    assert_eq!(tiles.rest.calls(), 4, "two ends and one tile of two calls");
}

/// Rows from the other end, an unknown that all read, an assignment that needs no unknown and one that does.
#[test]
fn other_orders_are_evaluated_in_tiles() {
    use Bank::*;
    let n = 80_001;
    let half = n / 2;
    let program = vec![
        call(
            1,
            [affine(Mem, 0, 0), affine(Mem, 1, 0), affine(Mem, 1, 0)],
            affine(Mem, 2, 1),
        ),
        call(
            half,
            [affine(Y, n - 1, -1), affine(Mem, 2, 0), affine(Y, 5, 0)],
            affine(Out, n - 1, -1),
        ),
        call(
            half,
            [affine(Y, 1, 1), affine(Yp, 3, 0), affine(Yp, 1, 1)],
            affine(Out, 1, 1),
        ),
        call(
            1,
            [affine(Y, 0, 0), affine(Y, n - 1, 0), affine(Yp, 7, 0)],
            affine(Mem, 3, 1),
        ),
        call(
            1,
            [affine(Y, 0, 0), affine(Mem, 3, 0), affine(Yp, 7, 0)],
            affine(Out, 0, 1),
        ),
    ];
    let tiles = check(program, n).unwrap();
    assert_eq!(tiles.head.calls(), 1);
    assert_eq!(tiles.first, [3..4, 5..6]);
}

/// Arrays that wait for an assignment, and short ones, are not.
#[test]
fn what_cannot_be_cut_is_left_alone() {
    use Bank::*;
    let n = 30_000;
    let waits = vec![
        call(
            1,
            [affine(Y, 0, 0), affine(Y, 1, 0), affine(Yp, 7, 0)],
            affine(Mem, 3, 1),
        ),
        call(
            n,
            [affine(Y, 0, 1), affine(Mem, 3, 0), affine(Yp, 0, 1)],
            affine(Out, 0, 1),
        ),
    ];
    assert!(check(waits, n).is_none());
    assert!(check(line(1000), 2000).is_none());
}
