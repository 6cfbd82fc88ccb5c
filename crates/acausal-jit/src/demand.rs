//! The part of a program that a few values need.
//!
//! In: a program, places of `Mem` that are wanted, and a bound on the work. Out ([`Demand`]): the repetitions of its calls that these
//! places depend on, in the order of the program, and the elements of `Y` and `Yp` that they read. Of a model with a million cells of which ten
//! are observed, ten repetitions are left.
//!
//! Invariant: in memory in which everything else is up to date, the part sets the wanted places to what the whole program would set them to.
//! Backward through the program: a repetition that sets a needed place is needed, and with it what it reads; repetitions of one call
//! may need each other. Time: `O((p + r) log)` for `p` needed places and `r` repetitions, and the length of the tables that calls
//! have as addresses.
//!
//! Example: of `v[i] := y[i] - y[i+1]; q[i] := G*v[i]` with a thousand elements each and `q[7]` wanted, two calls with one repetition
//! are left, which read `y[7]` and `y[8]`.

use crate::dependence::element;
use crate::kernel::{Address, Bank, Call, Program};
use crate::phases::points;
use std::collections::BTreeSet;

/// What is left of a program, and what it reads of the unknowns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Demand {
    /// The needed repetitions.
    pub program: Program,
    /// Needed elements of `Y`, ascending.
    pub y: Vec<usize>,
    /// Needed elements of `Yp`, ascending.
    pub yp: Vec<usize>,
}

/// The part of a program that the wanted places of `Mem` need; nothing if it is more than `most` repetitions, or if a part of a call would
/// not compute the same bit for bit.
pub fn demand(program: &[Call], wanted: &[usize], most: usize) -> Option<Demand> {
    let mut needed: BTreeSet<usize> = wanted.iter().copied().collect();
    let (mut y, mut yp) = (BTreeSet::new(), BTreeSet::new());
    let mut parts: Vec<Vec<Call>> = Vec::new();
    let mut total = 0;
    for call in program.iter().rev() {
        let mut repetitions: BTreeSet<usize> = BTreeSet::new();
        let mut open = setters(call, &needed);
        while !open.is_empty() {
            let mut read = BTreeSet::new();
            for j in open {
                if !repetitions.insert(j) {
                    continue;
                }
                total += 1;
                if total > most {
                    return None;
                }
                for slot in &call.slots {
                    match (slot.bank(), element(slot, j)) {
                        (Some(Bank::Mem), Some(place)) if needed.insert(place) => {
                            read.insert(place);
                        }
                        (Some(Bank::Y), Some(place)) => {
                            y.insert(place);
                        }
                        (Some(Bank::Yp), Some(place)) => {
                            yp.insert(place);
                        }
                        (Some(Bank::Out), _) => return None,
                        (None, _) if !slot.counts_exactly() => return None,
                        _ => {}
                    }
                }
            }
            // What this call itself sets for others of its repetitions.
            open = setters(call, &read);
        }
        parts.push(runs(call, &repetitions));
    }
    Some(Demand {
        program: parts.into_iter().rev().flatten().collect(),
        y: y.into_iter().collect(),
        yp: yp.into_iter().collect(),
    })
}

/// The repetitions that store to one of the places.
fn setters(call: &Call, places: &BTreeSet<usize>) -> Vec<usize> {
    let mut found = Vec::new();
    for (output, _) in &call.outputs {
        match output {
            Address::Affine {
                bank: Bank::Mem,
                base,
                stride: 0,
            } if places.contains(base) => found.extend(0..call.count),
            &Address::Affine {
                bank: Bank::Mem,
                base,
                stride,
            } if call.count > 0 && stride != 0 => {
                let end = base.wrapping_add_signed(stride * (call.count as isize - 1));
                for &place in places.range(base.min(end)..=base.max(end)) {
                    let apart = place as isize - base as isize;
                    if apart % stride == 0 {
                        found.push((apart / stride) as usize);
                    }
                }
            }
            Address::Table {
                bank: Bank::Mem,
                table,
            } => {
                let set =
                    |(j, place): (usize, &u32)| places.contains(&(*place as usize)).then_some(j);
                found.extend(table.iter().take(call.count).enumerate().filter_map(set));
            }
            _ => {}
        }
    }
    found
}

/// The call, cut to runs of successive repetitions.
fn runs(call: &Call, repetitions: &BTreeSet<usize>) -> Vec<Call> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &j in repetitions {
        match runs.last_mut() {
            Some(run) if run.1 == j => run.1 = j + 1,
            _ => runs.push((j, j + 1)),
        }
    }
    runs.into_iter().map(|(a, b)| points(call, a, b)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Binary, Kernel, Op, Store};
    use crate::run::{Backend, BankLengths, Banks, NoFunctions, Scratch};
    use proptest::prelude::*;

    /// `a + 0.5*b`.
    fn kernel() -> Kernel {
        Kernel {
            nodes: vec![
                Op::Slot(0),
                Op::Slot(1),
                Op::Const(0.5),
                Op::Binary(Binary::Mul, 1, 2),
                Op::Binary(Binary::Add, 0, 3),
            ],
            slots: 2,
            outputs: vec![4],
        }
    }

    const Y: usize = 40;
    const MEM: usize = 60;

    fn address(bank: Bank, length: usize, count: usize) -> BoxedStrategy<Address> {
        let affine = (0..length, -2isize..=2).prop_filter_map("inside", move |(base, stride)| {
            let last = base as isize + stride * (count as isize - 1);
            (0..length as isize)
                .contains(&last)
                .then_some(Address::Affine { bank, base, stride })
        });
        let table =
            prop::collection::vec(0..length as u32, count).prop_map(move |t| Address::Table {
                bank,
                table: t.into(),
            });
        prop_oneof![3 => affine, 1 => table].boxed()
    }

    fn call() -> impl Strategy<Value = Call> {
        (1usize..12).prop_flat_map(|count| {
            let slot = || {
                prop_oneof![
                    address(Bank::Y, Y, count),
                    address(Bank::Mem, MEM, count),
                    (0..5i32).prop_map(|s| Address::Counter {
                        start: f64::from(s),
                        step: 1.0
                    }),
                ]
            };
            let store = prop_oneof![3 => Just(Store::Set), 1 => Just(Store::Add)];
            (slot(), slot(), address(Bank::Mem, MEM, count), store).prop_map(
                move |(a, b, out, store)| Call {
                    kernel: 0,
                    count,
                    slots: vec![a, b],
                    outputs: vec![(out, store)],
                },
            )
        })
    }

    fn run(program: &[Call], y: &[f64], mem: &[f64]) -> Vec<f64> {
        let code = crate::Interpreter::default().compile(&[kernel()]).unwrap();
        let lengths = BankLengths {
            y: Y,
            yp: 0,
            mem: MEM,
            out: 0,
        };
        let bound = code.bind(program, lengths).unwrap();
        let mut mem = mem.to_vec();
        let banks = Banks {
            y,
            yp: &[],
            mem: &mut mem,
            out: &mut [],
        };
        bound
            .run(banks, &NoFunctions, &mut Scratch::default())
            .unwrap();
        mem
    }

    proptest! {
        /// Random programs: the part gives the wanted values of the whole, and reads nothing else of the unknowns.
        #[test]
        fn the_part_computes_what_the_whole_computes(
            program in prop::collection::vec(call(), 1..6),
            wanted in prop::collection::vec(0..MEM, 1..4),
        ) {
            let y: Vec<f64> = (0..Y).map(|k| 1.0 + 0.37 * k as f64).collect();
            let mem: Vec<f64> = (0..MEM).map(|k| 0.1 * k as f64).collect();
            let whole = run(&program, &y, &mem);
            let part = demand(&program, &wanted, usize::MAX).unwrap();
            let mut few = vec![f64::NAN; Y];
            for &k in &part.y {
                few[k] = y[k];
            }
            let some = run(&part.program, &few, &mem);
            for &place in &wanted {
                prop_assert_eq!(whole[place].to_bits(), some[place].to_bits());
            }
        }
    }

    #[test]
    fn one_element_needs_one_repetition_of_each_call() {
        let affine = |bank, base| Address::Affine {
            bank,
            base,
            stride: 1,
        };
        let call = |slots: [Address; 2], base| Call {
            kernel: 0,
            count: 10,
            slots: slots.into(),
            outputs: vec![(affine(Bank::Mem, base), Store::Set)],
        };
        let v = call([affine(Bank::Y, 0), affine(Bank::Y, 1)], 0);
        let q = call([affine(Bank::Mem, 0), affine(Bank::Mem, 0)], 20);
        let program = [v.clone(), q.clone()];
        let found = demand(&program, &[27], 2).unwrap();
        assert_eq!(found.program, [points(&v, 7, 8), points(&q, 7, 8)]);
        assert_eq!((found.y, found.yp), (vec![7, 8], vec![]));
        assert_eq!(demand(&program, &[27], 1), None);
    }
}
