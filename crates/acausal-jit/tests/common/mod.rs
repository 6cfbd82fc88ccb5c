//! What the tests share: banks with given content, and running one program on them.
#![allow(dead_code)]

use acausal_jit::*;

/// The content of all banks.
#[derive(Clone, Debug)]
pub struct Memory {
    pub y: Vec<f64>,
    pub yp: Vec<f64>,
    pub mem: Vec<f64>,
    pub out: Vec<f64>,
}

impl Memory {
    pub fn lengths(&self) -> BankLengths {
        BankLengths {
            y: self.y.len(),
            yp: self.yp.len(),
            mem: self.mem.len(),
            out: self.out.len(),
        }
    }

    /// The banks that a program can write, with all NaNs made equal.
    pub fn bits(&self) -> Vec<u64> {
        let canonical = |x: &f64| {
            if x.is_nan() {
                f64::NAN.to_bits()
            } else {
                x.to_bits()
            }
        };
        self.mem.iter().chain(&self.out).map(canonical).collect()
    }
}

/// Compiles, binds and runs `program` on a copy of `memory`.
pub fn run(
    backend: &dyn Backend,
    kernels: &[Kernel],
    program: &[Call],
    memory: &Memory,
    functions: &dyn CallFunctions,
) -> Result<Memory, Box<dyn std::error::Error>> {
    let mut memory = memory.clone();
    let bound = backend.compile(kernels)?.bind(program, memory.lengths())?;
    let Memory { y, yp, mem, out } = &mut memory;
    bound.run(
        Banks { y, yp, mem, out },
        functions,
        &mut Scratch::default(),
    )?;
    Ok(memory)
}

/// All backends, each with a name for messages.
pub fn backends() -> Vec<(&'static str, Box<dyn Backend>)> {
    #[allow(unused_mut)]
    let mut list: Vec<(&'static str, Box<dyn Backend>)> = vec![
        ("interpreter, 1 lane", Box::new(Interpreter::with_lanes(1))),
        ("interpreter, 3 lanes", Box::new(Interpreter::with_lanes(3))),
        ("interpreter", Box::new(Interpreter::default())),
        ("default", default_backend()),
    ];
    #[cfg(feature = "cranelift")]
    {
        let seldom = TierOptions {
            runs: 700.0,
            ..TierOptions::default()
        };
        list.push((
            "cranelift",
            Box::new(Cranelift::new().expect("a supported machine")),
        ));
        list.push((
            "tiered",
            Box::new(Tiered::new(seldom).expect("a supported machine")),
        ));
    }
    list
}

pub fn at(bank: Bank, base: usize, stride: isize) -> Address {
    Address::Affine { bank, base, stride }
}

pub fn table(bank: Bank, elements: &[u32]) -> Address {
    Address::Table {
        bank,
        table: elements.into(),
    }
}

pub fn kernel(slots: u32, nodes: Vec<Op>, outputs: Vec<NodeIx>) -> Kernel {
    Kernel {
        nodes,
        slots,
        outputs,
    }
}

/// A function with a value that depends on all that it is given.
pub struct Polynomial;

impl CallFunctions for Polynomial {
    fn apply(&self, function: u32, args: &[f64], output: u32, wrt: &[u32]) -> f64 {
        let mut value = f64::from(function) + 10.0 * f64::from(output);
        for (k, arg) in args.iter().enumerate() {
            value = value * 0.5 + arg * (k + 1) as f64;
        }
        wrt.iter()
            .fold(value, |value, &k| value - 3.0 * f64::from(k + 1))
    }
}

/// Counts the allocations of the thread that asks.
pub struct CountingAllocator;

thread_local! {
    static ALLOCATIONS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

impl CountingAllocator {
    pub fn count() -> usize {
        ALLOCATIONS.get()
    }
}

// SAFETY: everything is passed on to the system allocator.
unsafe impl std::alloc::GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: std::alloc::Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as above.
        unsafe { std::alloc::System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: std::alloc::Layout) {
        // SAFETY: as above.
        unsafe { std::alloc::System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;
