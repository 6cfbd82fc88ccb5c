//! Programs whose long calls run in two halves, on two threads.
//!
//! In: a program. Out ([`Halves`]): phases; in each of them one thread runs the first half of every call that is cut, the other one the
//! second, and nothing that one of them writes is read or written by the other. Which repetitions are in which half
//! depends on the program only, every repetition does the same as before, and nothing is summed over both halves: the
//! results are those of one thread, bit for bit.
//!
//! A call is cut where it pays ([`pays`]): with sines, exponentials and powers, or where it is so long that it waits for memory, of which two
//! cores get more than one. Sums and products over arrays in a cache do not gain. And where its repetitions are independent: each sets places of its own and reads none that another one sets. A new phase begins
//! where a call touches what another call of the phase sets. Calls that are not cut have a phase of their own on one thread.
//!
//! Example: `v[i] := p[i] - p[i+1]; q[i] := G*v[i]; r[i] := q[i] - q[i-1]` has three phases, since `q` is read at a place
//! that the other half sets, and `v` is read where it is set, which the extents of the calls do not tell apart.

use acausal_cpu::{LEAST_SHARED, Pair};

use crate::dependence::{Extent, extent, may_meet};
use crate::error::{CodegenError, RunError};
use crate::kernel::{Address, BANKS, Binary, Call, Kernel, Op, Store, Unary};
use crate::normalise::normalise;
use crate::run::{BankLengths, Banks, BoundProgram, Code, Functions, NoFunctions, Scratch};

/// Nanoseconds of work in a call below which it is not cut: telling a second thread that sleeps takes ten to a hundred microseconds.
const LEAST_WORK: f64 = 300_000.0;

/// Nanoseconds of one repetition below which a long call is bound by the memory.
const LEAST_REPETITION: f64 = 10.0;

/// Whether a second thread is likely to gain more than it costs, for a call whose repetitions are independent.
pub fn pays(kernel: &Kernel, call: &Call) -> bool {
    let enough = |kernel: &Kernel| {
        let each: f64 = kernel.nodes.iter().map(nanoseconds).sum();
        let costly = each >= LEAST_REPETITION && each * call.count as f64 >= LEAST_WORK;
        costly || is_long(kernel, call)
    };
    // In the form that is executed most powers are products; few kernels get that far.
    enough(kernel) && enough(&normalise(kernel))
}

/// Whether a call is so long that it does not find its numbers in a cache: two cores get more from memory than one.
pub fn is_long(_: &Kernel, call: &Call) -> bool {
    call.count >= LEAST_SHARED
}

/// What an operation costs, about.
pub(crate) fn nanoseconds(op: &Op) -> f64 {
    use Unary::*;
    match op {
        Op::Unary(
            Sin | Cos | Tan | Asin | Acos | Atan | Sinh | Cosh | Tanh | Exp | Ln | Log10,
            _,
        )
        | Op::Binary(Binary::Pow | Binary::Atan2, ..) => 10.0,
        Op::Unary(Sqrt, _) | Op::Binary(Binary::Div | Binary::Mod, ..) => 1.5,
        _ => 0.3,
    }
}

/// A program in phases.
#[derive(Debug)]
pub struct Halves {
    phases: Vec<Phase>,
}

#[derive(Debug)]
struct Phase {
    first: BoundProgram,
    /// The other halves, if the calls were cut.
    second: Option<BoundProgram>,
}

impl Halves {
    /// Binds a program; nothing if none of its calls can be cut and is worth it, as `worth` tells.
    pub fn bind(
        code: &dyn Code,
        kernels: &[Kernel],
        program: &[Call],
        lengths: BankLengths,
        worth: fn(&Kernel, &Call) -> bool,
    ) -> Result<Option<Halves>, CodegenError> {
        let cut = |c: &Call| {
            let kernel = &kernels[c.kernel as usize];
            worth(kernel, c) && divisible(kernel, c)
        };
        let cuts: Vec<bool> = program.iter().map(cut).collect();
        if !cuts.contains(&true) {
            return Ok(None);
        }
        let mut phases = Vec::new();
        let mut open: Vec<&Call> = Vec::new();
        let mut cut = false;
        for (call, &halved) in program.iter().zip(&cuts) {
            if !open.is_empty() && (halved != cut || (halved && meets(&open, call))) {
                phases.push(phase(code, &open, cut, lengths)?);
                open.clear();
            }
            cut = halved;
            open.push(call);
        }
        if !open.is_empty() {
            phases.push(phase(code, &open, cut, lengths)?);
        }
        Ok(Some(Halves { phases }))
    }

    /// Runs the phases in order.
    pub fn run(
        &self,
        pair: &mut Pair,
        banks: Banks<'_>,
        functions: &dyn Functions,
        scratch: &mut [Scratch; 2],
    ) -> Result<(), RunError> {
        let lengths = banks.lengths();
        let whole = Whole([
            banks.y.as_ptr().cast_mut(),
            banks.yp.as_ptr().cast_mut(),
            banks.mem.as_mut_ptr(),
            banks.out.as_mut_ptr(),
        ]);
        let [mine, theirs] = scratch;
        for phase in &self.phases {
            let Some(second) = &phase.second else {
                // SAFETY: the banks are borrowed for the run, those that are written exclusively.
                unsafe { (phase.first).run_at(whole.0, lengths, functions, mine)? };
                continue;
            };
            let (whole, theirs) = (&whole, &mut *theirs);
            let (first, second) = pair.both(
                // SAFETY: the halves of a phase write places of their own and read none that the other one writes
                // (`divisible`, `meets`); both are done before the next phase and before the banks are given back.
                || unsafe { (phase.first).run_at(whole.0, lengths, functions, mine) },
                // SAFETY: as above. Calls of user functions are not cut.
                || unsafe { second.run_at(whole.0, lengths, &NoFunctions, theirs) },
            );
            first?;
            second?;
        }
        Ok(())
    }
}

/// The places of the banks.
pub(crate) struct Whole(pub [*mut f64; BANKS]);

// SAFETY: the places are used by both threads as the phases allow.
unsafe impl Sync for Whole {}

fn phase(
    code: &dyn Code,
    calls: &[&Call],
    cut: bool,
    lengths: BankLengths,
) -> Result<Phase, CodegenError> {
    if !cut {
        let calls: Vec<Call> = calls.iter().map(|c| (*c).clone()).collect();
        let first = code.bind(&calls, lengths)?;
        return Ok(Phase {
            first,
            second: None,
        });
    }
    let part = |second: bool| -> Vec<Call> {
        (calls.iter())
            .map(|c| {
                // Both halves begin at a multiple of any number of lanes.
                let middle = (c.count / 2).next_multiple_of(64).min(c.count);
                match second {
                    false => points(c, 0, middle),
                    true => points(c, middle, c.count),
                }
            })
            .collect()
    };
    Ok(Phase {
        first: code.bind(&part(false), lengths)?,
        second: Some(code.bind(&part(true), lengths)?),
    })
}

/// Repetitions `from..to` of a call. Its counters must count exactly ([`Address::counts_exactly`]).
pub fn points(call: &Call, from: usize, to: usize) -> Call {
    let part = |a: &Address| match a {
        Address::Affine { bank, base, stride } => Address::Affine {
            bank: *bank,
            base: base.wrapping_add_signed(stride * from as isize),
            stride: *stride,
        },
        Address::Table { bank, table } => Address::Table {
            bank: *bank,
            table: table[from..to].into(),
        },
        Address::Counter { start, step } => Address::Counter {
            start: start + step * from as f64,
            step: *step,
        },
    };
    Call {
        kernel: call.kernel,
        count: to - from,
        slots: call.slots.iter().map(part).collect(),
        outputs: call.outputs.iter().map(|(a, s)| (part(a), *s)).collect(),
    }
}

/// Whether the repetitions of a call are independent, by their addresses.
pub(crate) fn divisible(kernel: &Kernel, call: &Call) -> bool {
    let applies = |op: &Op| matches!(op, Op::Apply { .. });
    if kernel.nodes.iter().any(applies) || !call.slots.iter().all(Address::counts_exactly) {
        return false;
    }
    for (k, (output, store)) in call.outputs.iter().enumerate() {
        let &Address::Affine { bank, base, stride } = output else {
            return false;
        };
        if *store != Store::Set || stride == 0 {
            return false;
        }
        let extent = extent(output, call.count);
        // Another output either lies elsewhere or between the elements of this one.
        let apart = |(other, _): &(Address, Store)| match other {
            Address::Affine {
                bank: b,
                base: o,
                stride: s,
            } => {
                !may_meet(extent, crate::dependence::extent(other, call.count))
                    || (*b == bank && *s == stride && (o.abs_diff(base)) < stride.unsigned_abs())
            }
            _ => false,
        };
        if !call.outputs[..k].iter().all(apart) {
            return false;
        }
        // A slot reads elsewhere or what the repetition itself sets.
        let own = |slot: &Address| {
            slot == output || !may_meet(extent, crate::dependence::extent(slot, call.count))
        };
        if !call.slots.iter().all(own) {
            return false;
        }
    }
    true
}

/// Whether a call reads or sets what others set, or sets what others read.
pub(crate) fn meets(others: &[&Call], call: &Call) -> bool {
    let outputs = |c: &Call| -> Vec<Option<Extent>> {
        c.outputs.iter().map(|o| extent(&o.0, c.count)).collect()
    };
    let slots =
        |c: &Call| -> Vec<Option<Extent>> { c.slots.iter().map(|a| extent(a, c.count)).collect() };
    let cross = |a: &[Option<Extent>], b: &[Option<Extent>]| {
        a.iter().any(|a| b.iter().any(|b| may_meet(*a, *b)))
    };
    let (set, read) = (outputs(call), slots(call));
    others.iter().any(|o| {
        let theirs = outputs(o);
        cross(&theirs, &set) || cross(&theirs, &read) || cross(&slots(o), &set)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Bank;

    fn affine(bank: Bank, base: usize, stride: isize) -> Address {
        Address::Affine { bank, base, stride }
    }

    /// `a + b*b`
    fn kernel() -> Kernel {
        Kernel {
            nodes: vec![
                Op::Slot(0),
                Op::Slot(1),
                Op::Binary(Binary::Mul, 1, 1),
                Op::Binary(Binary::Add, 0, 2),
            ],
            slots: 2,
            outputs: vec![3],
        }
    }

    fn call(count: usize, a: Address, b: Address, out: Address, store: Store) -> Call {
        Call {
            kernel: 0,
            count,
            slots: vec![a, b],
            outputs: vec![(out, store)],
        }
    }

    /// Chains of calls that read each other's results forwards and backwards, a recurrence, a sum: two threads give the bits of one.
    #[test]
    fn two_threads_give_the_bits_of_one() {
        use Bank::*;
        let n = 1000;
        let counter = Address::Counter {
            start: 1.0,
            step: 1.0,
        };
        let program = vec![
            call(n, affine(Y, 0, 1), counter, affine(Mem, 0, 1), Store::Set),
            call(
                n - 1,
                affine(Mem, 1, 1),
                affine(Y, 0, 1),
                affine(Mem, n, 1),
                Store::Set,
            ),
            call(
                n,
                affine(Mem, n - 1, -1),
                affine(Yp, 0, 1),
                affine(Out, 0, 1),
                Store::Set,
            ),
            call(
                n - 1,
                affine(Mem, 0, 1),
                affine(Y, 0, 0),
                affine(Mem, 1, 1),
                Store::Set,
            ),
            call(
                n,
                affine(Mem, 0, 1),
                affine(Mem, n, 0),
                affine(Out, n, 0),
                Store::Add,
            ),
            call(
                n,
                affine(Mem, 0, 1),
                affine(Mem, 0, 1),
                affine(Mem, 0, 1),
                Store::Set,
            ),
            call(
                n,
                affine(Mem, 0, 1),
                affine(Y, n - 1, -1),
                affine(Out, 2 * n + n - 1, -1),
                Store::Set,
            ),
        ];
        let lengths = BankLengths {
            y: n,
            yp: n,
            mem: 2 * n,
            out: 3 * n,
        };
        let kernels = [kernel()];
        let y: Vec<f64> = (0..n).map(|k| (k as f64 * 0.7).sin()).collect();
        let yp: Vec<f64> = (0..n).map(|k| (k as f64 * 0.3).cos()).collect();
        let code = crate::default_backend().compile(&kernels).expect("code");
        let one = code.bind(&program, lengths).expect("bound");
        let two = Halves::bind(&*code, &kernels, &program, lengths, |_, c| c.count > 100)
            .expect("bound")
            .expect("long calls");
        assert!(two.phases.iter().filter(|p| p.second.is_some()).count() >= 4);
        assert!(two.phases.iter().any(|p| p.second.is_none()));
        let mut pair = Pair::new().expect("a thread");
        let memory = || (vec![0.25; 2 * n], vec![0.5; 3 * n]);
        let ((mut mem, mut out), (mut mem2, mut out2)) = (memory(), memory());
        for _ in 0..50 {
            let banks = Banks {
                y: &y,
                yp: &yp,
                mem: &mut mem,
                out: &mut out,
            };
            one.run(banks, &NoFunctions, &mut Scratch::default())
                .expect("run");
            let banks = Banks {
                y: &y,
                yp: &yp,
                mem: &mut mem2,
                out: &mut out2,
            };
            two.run(&mut pair, banks, &NoFunctions, &mut Default::default())
                .expect("run");
            assert!(
                mem.iter()
                    .zip(&mem2)
                    .all(|(a, b)| a.to_bits() == b.to_bits())
            );
            assert!(
                out.iter()
                    .zip(&out2)
                    .all(|(a, b)| a.to_bits() == b.to_bits())
            );
        }
    }

    /// Calls whose repetitions depend on each other are not cut.
    #[test]
    fn dependent_repetitions_stay_together() {
        use Bank::*;
        let cases = [
            (affine(Mem, 0, 1), affine(Mem, 1, 1), Store::Set, false),
            (affine(Mem, 1, 1), affine(Mem, 0, 1), Store::Set, false),
            (affine(Mem, 0, 1), affine(Mem, 0, 1), Store::Set, true),
            (affine(Mem, 200, 1), affine(Mem, 0, 1), Store::Set, true),
            (affine(Y, 0, 1), affine(Out, 0, 0), Store::Set, false),
            (affine(Y, 0, 1), affine(Out, 0, 1), Store::Add, false),
        ];
        for (slot, output, store, expected) in cases {
            let c = call(100, slot, affine(Y, 0, 0), output, store);
            assert_eq!(divisible(&kernel(), &c), expected, "{c:?}");
        }
    }
}
