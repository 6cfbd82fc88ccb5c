//! Programs in tiles against the same as a whole.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use acausal_cpu::{Shared, Team};
use proptest::prelude::*;

use super::{TileMemory, Tiles, Workspace};
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

/// Runs a program in tiles for one to four threads, with and without them, and as a whole: the same bits, and each unknown is predicted once and
/// before it is read. Gives the tiles for two.
fn check(program: Program, n: usize) -> Option<Tiles> {
    let lengths = BankLengths {
        y: n,
        yp: n,
        mem: 4,
        out: n,
    };
    let kernels = [kernel()];
    let code = crate::default_backend().compile(&kernels).unwrap();
    let bind = |threads| Tiles::bind(&*code, &kernels, &program, lengths, threads).unwrap();
    bind(2)?;
    let value = |i: usize| ((i * 7919) % 1000) as f64 * 1e-3 - 0.3;
    let (y, yp): (Vec<f64>, Vec<f64>) = (0..n).map(|i| (value(i), value(i + 13))).unzip();
    let start = [2.0, 3.0, 0.0, 0.0];
    // What no call writes stays no number.
    let (mut mem, mut out) = (start, vec![f64::NAN; n]);
    let whole = code.bind(&program, lengths).unwrap();
    let banks = Banks {
        y: &y,
        yp: &yp,
        mem: &mut mem,
        out: &mut out,
    };
    let mut scratch = Scratch::default();
    whole.run(banks, &NoFunctions, &mut scratch).unwrap();
    for (threads, mut team) in (1..=4).flat_map(|k| [(k, None), (k, Team::new(k))]) {
        let tiles = bind(threads)?;
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
        let places = TileMemory {
            y: a,
            yp: b,
            mem: &mut tiled_mem,
            out: r,
        };
        let own: Vec<Mutex<Workspace>> = (0..threads).map(|_| Mutex::default()).collect();
        // SAFETY: nobody else uses the vectors.
        let done = unsafe { tiles.run(team.as_mut(), places, &NoFunctions, &own, &predict) };
        done.unwrap();
        assert!(counts.iter().all(|c| c.load(Relaxed) == 1));
        let bits = |v: &[f64]| -> Vec<u64> { v.iter().map(|v| v.to_bits()).collect() };
        assert!(bits(&vectors[2]) == bits(&out));
        assert_eq!(tiled_mem, mem);
    }
    bind(2)
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
    assert_eq!(tiles.lists.iter().map(Vec::len).collect::<Vec<_>>(), [6, 6]);
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

/// Unknowns of random programs, and the rows that each of their calls has for itself.
const UNKNOWNS: usize = 40_000;
const ROWS: usize = 13_000;

/// An address of an unknown, a derivative or a parameter.
fn slot(count: usize) -> impl Strategy<Value = Address> {
    let unknown = (any::<bool>(), 0..UNKNOWNS, -1isize..=2).prop_filter_map("inside", {
        move |(derivative, base, stride)| {
            let last = base as isize + stride * (count as isize - 1);
            let bank = if derivative { Bank::Yp } else { Bank::Y };
            let inside = (0..UNKNOWNS as isize).contains(&last);
            inside.then_some(affine(bank, base, stride))
        }
    });
    prop_oneof![4 => unknown, 1 => (0usize..4).prop_map(|base| affine(Bank::Mem, base, 0))]
}

/// The k-th call, of rows from either end of its own.
fn random_call(k: usize) -> impl Strategy<Value = Call> {
    (8192..ROWS, any::<bool>()).prop_flat_map(move |(count, backwards)| {
        let rows = match backwards {
            false => affine(Bank::Out, ROWS * k, 1),
            true => affine(Bank::Out, ROWS * (k + 1) - 1, -1),
        };
        [slot(count), slot(count), slot(count)]
            .prop_map(move |slots| call(count, slots, rows.clone()))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Random programs give the same bits in tiles for any number of threads, and predict each unknown once, before it is read.
    #[test]
    fn random_programs_are_evaluated_in_tiles(
        program in [random_call(0), random_call(1), random_call(2)],
    ) {
        check(program.to_vec(), UNKNOWNS);
    }
}
