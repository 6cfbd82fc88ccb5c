//! Programs whose long calls run in parts, on several threads.
//!
//! In: a program and a number of threads. Out ([`PhasedProgram`]): phases; in each of them every thread runs its part of every call that is cut,
//! and nothing that one of them writes is read or written by another. Every repetition does the same as before, and nothing is summed over
//! parts: the results are those of one thread, bit for bit, on any number of threads.
//!
//! A call is cut where it pays ([`pays`]): with sines, exponentials and powers, or where it is so long that it waits for memory, of which several
//! cores get more than one. Sums and products over arrays in a cache do not gain. And where its repetitions are independent: each sets places of its own and reads none that another one sets. A new phase begins
//! where a call touches what another call of the phase sets. Calls that are not cut have a phase of their own on one thread.
//!
//! Example: `v[i] := p[i] - p[i+1]; q[i] := G*v[i]; r[i] := q[i] - q[i-1]` has three phases, since `q` is read at a place
//! that another part sets, and `v` is read where it is set, which the extents of the calls do not tell apart.

use std::sync::{Mutex, MutexGuard, PoisonError};

use acausal_cpu::{LEAST_SHARED, Team, team};

use crate::dependence::{BankRange, extent, may_meet};
use crate::error::{KernelError, RunError};
use crate::kernel::{Address, BANKS, Binary, Call, Kernel, Op, Store, Unary};
use crate::normalise::normalise;
use crate::run::{BankLengths, Banks, BoundProgram, CallFunctions, Code, NoFunctions, Scratch};

/// Nanoseconds of work in a call below which it is not cut: telling a thread that sleeps takes ten to a hundred microseconds.
const LEAST_WORK: f64 = 300_000.0;

/// Nanoseconds of one repetition below which a long call is bound by the memory.
const LEAST_REPETITION: f64 = 10.0;

/// Whether more threads are likely to gain more than they cost, for a call whose repetitions are independent.
pub fn pays(kernel: &Kernel, call: &Call) -> bool {
    let enough = |kernel: &Kernel| {
        let each: f64 = kernel.nodes.iter().map(nanoseconds).sum();
        let costly = each >= LEAST_REPETITION && each * call.count as f64 >= LEAST_WORK;
        costly || is_long(kernel, call)
    };
    // In the form that is executed most powers are products; few kernels get that far.
    enough(kernel) && enough(&normalise(kernel))
}

/// Whether a call is so long that it does not find its numbers in a cache: several cores get more from memory than one.
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
pub struct PhasedProgram {
    phases: Vec<Phase>,
}

/// The parts of one phase, one for each thread; a single one if its calls are not cut.
#[derive(Debug)]
struct Phase {
    parts: Vec<BoundProgram>,
}

impl PhasedProgram {
    /// Binds a program for so many threads; nothing if none of its calls can be cut and is worth it, as `worth` tells.
    pub fn bind(
        code: &dyn Code,
        (kernels, program): (&[Kernel], &[Call]),
        lengths: BankLengths,
        threads: usize,
        worth: impl Fn(&Kernel, &Call) -> bool,
    ) -> Result<Option<PhasedProgram>, KernelError> {
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
        let parts = |cut: bool| if cut { threads } else { 1 };
        for (call, &divided) in program.iter().zip(&cuts) {
            if !open.is_empty() && (divided != cut || (divided && meets(&open, call))) {
                phases.push(phase(code, &open, parts(cut), lengths)?);
                open.clear();
            }
            cut = divided;
            open.push(call);
        }
        if !open.is_empty() {
            phases.push(phase(code, &open, parts(cut), lengths)?);
        }
        Ok(Some(PhasedProgram { phases }))
    }

    /// Runs the phases in order, with scratch memory for each part. (Each has its lock for itself.)
    pub fn run(
        &self,
        mut team: Option<&mut Team>,
        banks: Banks<'_>,
        functions: &dyn CallFunctions,
        scratch: &[Mutex<Scratch>],
    ) -> Result<(), RunError> {
        let lengths = banks.lengths();
        let whole = &BankBases([
            banks.y.as_ptr().cast_mut(),
            banks.yp.as_ptr().cast_mut(),
            banks.mem.as_mut_ptr(),
            banks.out.as_mut_ptr(),
        ]);
        for Phase { parts } in &self.phases {
            if let [only] = &parts[..] {
                let mut own = lock(&scratch[0]);
                // SAFETY: the banks are borrowed for the run, those that are written exclusively.
                unsafe { only.run_at(whole.0, lengths, functions, &mut own)? };
                continue;
            }
            let failed = Mutex::new(None);
            team::each(team.as_deref_mut(), parts.len(), |k| {
                let mut own = lock(&scratch[k]);
                // SAFETY: the parts of a phase write places of their own and read none that another one writes
                // (`divisible`, `meets`); all are done before the next phase and before the banks are given back. Calls of user functions
                // are not cut.
                let ran = unsafe { parts[k].run_at(whole.0, lengths, &NoFunctions, &mut own) };
                if let Err(error) = ran {
                    lock(&failed).get_or_insert(error);
                }
            });
            if let Some(error) = lock(&failed).take() {
                return Err(error);
            }
        }
        Ok(())
    }
}

/// What a lock holds; a panic with it leaves nothing that the next run could see.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The places of the banks.
pub(crate) struct BankBases(pub [*mut f64; BANKS]);

// SAFETY: the places are used by all threads as the phases allow.
unsafe impl Sync for BankBases {}

/// Some calls, each cut into so many parts.
fn phase(
    code: &dyn Code,
    calls: &[&Call],
    parts: usize,
    lengths: BankLengths,
) -> Result<Phase, KernelError> {
    let part = |k: usize| {
        let cut = |c: &&Call| match parts {
            1 => (*c).clone(),
            _ => {
                let range = team::part(c.count, parts, MOST_LANES, k);
                points(c, range.start, range.end)
            }
        };
        code.bind(&calls.iter().map(cut).collect::<Vec<Call>>(), lengths)
    };
    let parts = (0..parts).map(part).collect::<Result<_, _>>()?;
    Ok(Phase { parts })
}

/// Parts begin at a multiple of any number of lanes.
const MOST_LANES: usize = 64;

/// Repetitions `from..to` of a call, with the same bits if its counters count exactly ([`Address::counts_exactly`]).
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
    let outputs = |c: &Call| -> Vec<Option<BankRange>> {
        c.outputs.iter().map(|o| extent(&o.0, c.count)).collect()
    };
    let slots = |c: &Call| -> Vec<Option<BankRange>> {
        c.slots.iter().map(|a| extent(a, c.count)).collect()
    };
    let cross = |a: &[Option<BankRange>], b: &[Option<BankRange>]| {
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

    /// Chains of calls that read each other's results forwards and backwards, a recurrence, a sum: any number of threads gives the bits of one.
    #[test]
    fn threads_give_the_bits_of_one() {
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
        let bits = |v: &[f64]| -> Vec<u64> { v.iter().map(|v| v.to_bits()).collect() };
        for threads in 1..=4 {
            let mut team = Team::new(threads);
            let long = |_: &Kernel, c: &Call| c.count > 100;
            let parts = PhasedProgram::bind(&*code, (&kernels, &program), lengths, threads, long);
            let parts = parts.expect("bound").expect("long calls");
            let cut = |p: &&Phase| p.parts.len() == threads;
            assert!(parts.phases.iter().filter(cut).count() >= 4);
            assert!(parts.phases.iter().any(|p| p.parts.len() == 1));
            let scratch: Vec<Mutex<Scratch>> = (0..threads).map(|_| Mutex::default()).collect();
            let (mut mem, mut out) = (vec![0.25; 2 * n], vec![0.5; 3 * n]);
            let (mut cut_mem, mut cut_out) = (mem.clone(), out.clone());
            for _ in 0..20 {
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
                    mem: &mut cut_mem,
                    out: &mut cut_out,
                };
                (parts.run(team.as_mut(), banks, &NoFunctions, &scratch)).expect("run");
                assert!(bits(&mem) == bits(&cut_mem) && bits(&out) == bits(&cut_out));
            }
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
