//! How fast kernels run and compile.
//!
//! `cargo run --release -p acausal-jit --example kernel_speed`
//!
//! 1. Nanoseconds per element of the heat residual `r = y' - c*(y[i-1] - 2*y[i] + y[i+1])`, for the interpreter, for
//!    machine code and for a Rust loop over the same slices, in turn within the same second; the ratio is to that loop.
//! 2. The same for kernels that gather through tables, call a function, and sum up.
//! 3. Nanoseconds per call of single scalar equations.
//! 4. Microseconds of processor time to compile distinct random kernels, and how that grows with their length.

use acausal_jit::*;
use std::hint::black_box;
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    println!("ns per element, ratio to the Rust loop");
    for n in [10_000, 1_000_000] {
        heat(n)?;
    }
    gather(10_000)?;
    pendulum(10_000)?;
    sum(10_000)?;
    scalars(1_000)?;
    compile(10_000, 20)?;
    for nodes in [100, 500, 1000, 2000, 4000, 8000] {
        compile(40_000 / nodes, nodes)?;
    }
    Ok(())
}

/// Best of several rounds, so that other programs on the machine do not count.
fn best(mut run: impl FnMut()) -> Duration {
    run();
    let mut best = Duration::MAX;
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(400) {
        let one = Instant::now();
        run();
        best = best.min(one.elapsed());
    }
    best
}

struct Memory {
    y: Vec<f64>,
    yp: Vec<f64>,
    mem: Vec<f64>,
    out: Vec<f64>,
}

impl Memory {
    fn new(n: usize) -> Self {
        let wave = |k: usize| (k as f64 * 0.37).sin() + 0.01;
        let bank = || (0..n).map(wave).collect();
        Self {
            y: bank(),
            yp: bank(),
            mem: bank(),
            out: vec![0.0; n],
        }
    }

    fn lengths(&self) -> BankLengths {
        BankLengths {
            y: self.y.len(),
            yp: self.yp.len(),
            mem: self.mem.len(),
            out: self.out.len(),
        }
    }
}

type Named = (&'static str, Box<dyn Backend>);

fn backends() -> Result<Vec<Named>, Failure> {
    Ok(vec![
        ("interpreter", Box::new(Interpreter::default())),
        #[cfg(feature = "cranelift")]
        ("cranelift", Box::new(Cranelift::new()?)),
    ])
}

/// Times a program against a Rust loop and checks that both give the same bits.
fn race(
    title: &str,
    kernel: Kernel,
    call: Call,
    mut rust: impl FnMut(&mut Memory),
    size: usize,
) -> Result<(), Failure> {
    let count = call.count as f64;
    let mut expected = Memory::new(size);
    rust(&mut expected);
    let mut memory = Memory::new(size);
    let base = best(|| rust(black_box(&mut memory))).as_secs_f64() * 1e9 / count;
    println!("{title}\n  {:<12} {base:8.3}", "Rust loop");
    for (name, backend) in backends()? {
        let mut memory = Memory::new(size);
        let bound = backend
            .compile(std::slice::from_ref(&kernel))?
            .bind(std::slice::from_ref(&call), memory.lengths())?;
        let mut scratch = Scratch::default();
        let mut once = |memory: &mut Memory| {
            let Memory { y, yp, mem, out } = memory;
            bound.run(Banks { y, yp, mem, out }, &NoFunctions, &mut scratch)
        };
        once(&mut memory)?;
        let same = memory
            .out
            .iter()
            .zip(&expected.out)
            .all(|(a, b)| a.to_bits() == b.to_bits());
        let mut result = Ok(());
        let time = best(|| result = once(black_box(&mut memory))).as_secs_f64() * 1e9 / count;
        result?;
        println!(
            "  {name:<12} {time:8.3}   {:5.2}x{}",
            time / base,
            if same { "" } else { "   DIFFERENT RESULT" }
        );
    }
    Ok(())
}

fn at(bank: Bank, base: usize, stride: isize) -> Address {
    Address::Affine { bank, base, stride }
}

fn heat(n: usize) -> Result<(), Failure> {
    let (mul, add, sub) = (Binary::Mul, Binary::Add, Binary::Sub);
    let mut nodes: Vec<Op> = (0..5).map(Op::Slot).collect();
    nodes.extend([
        Op::Const(2.0),
        Op::Binary(mul, 5, 3),
        Op::Binary(sub, 2, 6),
        Op::Binary(add, 7, 4),
        Op::Binary(mul, 1, 8),
        Op::Binary(sub, 0, 9),
    ]);
    let slots = vec![
        at(Bank::Yp, 1, 1),
        at(Bank::Mem, 0, 0),
        at(Bank::Y, 0, 1),
        at(Bank::Y, 1, 1),
        at(Bank::Y, 2, 1),
    ];
    let call = Call {
        kernel: 0,
        count: n - 2,
        slots,
        outputs: vec![(at(Bank::Out, 1, 1), Store::Set)],
    };
    let rust = |m: &mut Memory| {
        let (c, n) = (m.mem[0], m.y.len());
        let (left, middle, right) = (&m.y[..n - 2], &m.y[1..n - 1], &m.y[2..]);
        let rows = m.out[1..n - 1].iter_mut().zip(&m.yp[1..n - 1]);
        for ((((out, yp), left), middle), right) in rows.zip(left).zip(middle).zip(right) {
            *out = yp - c * (left - 2.0 * middle + right);
        }
    };
    race(
        &format!("heat residual, {n} points"),
        Kernel {
            nodes,
            slots: 5,
            outputs: vec![10],
        },
        call,
        rust,
        n,
    )
}

fn gather(n: usize) -> Result<(), Failure> {
    // Resistors of a network: out[j] = (y[p[j]] - y[q[j]]) / mem[j].
    let nodes = vec![
        Op::Slot(0),
        Op::Slot(1),
        Op::Slot(2),
        Op::Binary(Binary::Sub, 0, 1),
        Op::Binary(Binary::Div, 3, 2),
    ];
    let plus: Vec<u32> = (0..n as u32).map(|j| j * 7919 % n as u32).collect();
    let minus: Vec<u32> = (0..n as u32).map(|j| j * 104_729 % n as u32).collect();
    let table = |table: &[u32]| Address::Table {
        bank: Bank::Y,
        table: table.into(),
    };
    let slots = vec![table(&plus), table(&minus), at(Bank::Mem, 0, 1)];
    let call = Call {
        kernel: 0,
        count: n,
        slots,
        outputs: vec![(at(Bank::Out, 0, 1), Store::Set)],
    };
    let rust = |m: &mut Memory| {
        for (((out, p), q), r) in m.out.iter_mut().zip(&plus).zip(&minus).zip(&m.mem) {
            *out = (m.y[*p as usize] - m.y[*q as usize]) / r;
        }
    };
    race(
        &format!("resistors through tables, {n}"),
        Kernel {
            nodes,
            slots: 3,
            outputs: vec![4],
        },
        call,
        rust,
        n,
    )
}

fn pendulum(n: usize) -> Result<(), Failure> {
    let nodes = vec![
        Op::Slot(0),
        Op::Slot(1),
        Op::Unary(Unary::Sin, 0),
        Op::Const(9.81),
        Op::Binary(Binary::Mul, 3, 2),
        Op::Binary(Binary::Add, 1, 4),
    ];
    let slots = vec![at(Bank::Y, 0, 1), at(Bank::Yp, 0, 1)];
    let call = Call {
        kernel: 0,
        count: n,
        slots,
        outputs: vec![(at(Bank::Out, 0, 1), Store::Set)],
    };
    let rust = |m: &mut Memory| {
        for ((out, y), yp) in m.out.iter_mut().zip(&m.y).zip(&m.yp) {
            *out = yp + 9.81 * y.sin();
        }
    };
    race(
        &format!("pendulums with sin, {n}"),
        Kernel {
            nodes,
            slots: 2,
            outputs: vec![5],
        },
        call,
        rust,
        n,
    )
}

fn sum(n: usize) -> Result<(), Failure> {
    let nodes = vec![Op::Slot(0), Op::Slot(1), Op::Binary(Binary::Mul, 0, 1)];
    let slots = vec![at(Bank::Y, 0, 1), at(Bank::Yp, 0, 1)];
    let call = Call {
        kernel: 0,
        count: n,
        slots,
        outputs: vec![(at(Bank::Out, 0, 0), Store::Add)],
    };
    let rust = |m: &mut Memory| {
        let mut sum = m.out[0];
        for (y, yp) in m.y.iter().zip(&m.yp) {
            sum += y * yp;
        }
        m.out[0] = sum;
    };
    race(
        &format!("sum of products in order, {n}"),
        Kernel {
            nodes,
            slots: 2,
            outputs: vec![2],
        },
        call,
        rust,
        n,
    )
}

/// Distinct straight-line kernels without calls, from a linear congruential sequence.
fn random_kernels(count: usize, nodes: usize) -> Vec<Kernel> {
    let mut state = 12345u64;
    let mut next = move |below: usize| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    };
    let slots = 6.min(nodes / 2);
    let kernel = |_| {
        let mut list: Vec<Op> = (0..slots as u32).map(Op::Slot).collect();
        list.push(Op::Const(next(1000) as f64));
        while list.len() < nodes {
            let operations = [
                Binary::Add,
                Binary::Sub,
                Binary::Mul,
                Binary::Mul,
                Binary::Div,
                Binary::Max,
            ];
            let f = operations[next(operations.len())];
            // The latest node is always used, so that nothing is dropped.
            let (a, b) = (list.len() - 1, list.len() - 1 - next(list.len().min(30)));
            list.push(Op::Binary(f, a as u32, b as u32));
        }
        Kernel {
            nodes: list,
            slots: slots as u32,
            outputs: vec![nodes as u32 - 1],
        }
    };
    (0..count).map(kernel).collect()
}

fn calls(kernels: &[Kernel], count: usize, stride: isize) -> Program {
    let call = |(ix, kernel): (usize, &Kernel)| Call {
        kernel: ix as u32,
        count,
        slots: (0..kernel.slots as usize)
            .map(|k| at(Bank::Y, (ix + k * 17) % 900, stride))
            .collect(),
        outputs: vec![(at(Bank::Out, ix % 900, stride), Store::Set)],
    };
    kernels.iter().enumerate().map(call).collect()
}

fn scalars(kernels: usize) -> Result<(), Failure> {
    let list = random_kernels(kernels, 20);
    let mut memory = Memory::new(1000);
    println!("{kernels} scalar equations of 20 nodes, each its own kernel: ns per equation");
    for (name, backend) in backends()? {
        let bound = backend
            .compile(&list)?
            .bind(&calls(&list, 1, 0), memory.lengths())?;
        let mut scratch = Scratch::default();
        let mut result = Ok(());
        let time = best(|| {
            let Memory { y, yp, mem, out } = black_box(&mut memory);
            result = bound.run(Banks { y, yp, mem, out }, &NoFunctions, &mut scratch);
        });
        result?;
        println!(
            "  {name:<12} {:8.1}",
            time.as_secs_f64() * 1e9 / kernels as f64
        );
    }
    Ok(())
}

fn compile(kernels: usize, nodes: usize) -> Result<(), Failure> {
    let list = random_kernels(kernels, nodes);
    let lengths = Memory::new(1000).lengths();
    println!(
        "compile {kernels} kernels of {nodes} nodes: µs of processor time per kernel, per node"
    );
    for (kind, count, stride) in [("single", 1, 0), ("loop", 64, 1)] {
        for (name, backend) in backends()? {
            let start = processor_time();
            let bound = backend
                .compile(&list)?
                .bind(&calls(&list, count, stride), lengths)?;
            let per_kernel = (processor_time() - start) * 1e6 / kernels as f64;
            black_box(bound);
            println!(
                "  {kind:<7} {name:<12} {per_kernel:9.1} {:8.2}",
                per_kernel / nodes as f64
            );
        }
    }
    Ok(())
}

/// Seconds that all threads of this process have computed (Linux), or seconds of the clock elsewhere. Compiling takes
/// too long to find a moment without other programs, so the clock would count those.
fn processor_time() -> f64 {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let ticks = || -> Option<f64> {
        let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
        let mut fields = stat.rsplit(')').next()?.split_whitespace().skip(11);
        let (user, system) = (
            fields.next()?.parse::<f64>().ok()?,
            fields.next()?.parse::<f64>().ok()?,
        );
        Some((user + system) / 100.0)
    };
    ticks().unwrap_or_else(|| START.elapsed().as_secs_f64())
}
