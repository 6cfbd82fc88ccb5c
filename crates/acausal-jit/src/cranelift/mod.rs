//! Machine code by Cranelift: one function per kernel and shape of call, compiled when a program is bound.
//!
//! A function gets the records of its slots and outputs, resolves them to pointers, computes what is the same in all
//! repetitions, and then loops. How each slot moves is known from the shape of the call, so the loop has no branch but
//! its own. Where all operations exist for pairs of numbers, the loop takes two repetitions at a time.
//!
//! Machine code calls nothing but the wrappers in [`crate::math`] and the application of user functions, by address;
//! so the code needs no relocation and no linker, and is ready once it is in executable memory (`memory.rs`).
//!
//! Cost: about 80 µs for a scalar kernel of 20 nodes and 200 µs for a loop over it, linear in the nodes (measured up to
//! 8000 by `examples/kernel_speed.rs`).
//! Functions are compiled on all cores. They are cached, so that binding a second program with the same shapes is free.

mod body;
mod emit;
mod lane;
mod memory;
mod motion;

use crate::error::KernelError;
use crate::interpreter::take_over;
use crate::kernel::{Call, Kernel};
use crate::place::{AddressRecord, CallShape, PlacedCall, place};
use crate::run::{
    Backend, BankLengths, BoundCall, BoundProgram, Code, RunContext, Scratch, ScratchSize,
};
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use memory::Region;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Functions per thread below which compiling in parallel does not pay.
const MIN_PER_THREAD: usize = 16;

/// Kernels of more nodes are compiled quickly even if they are repeated.
const LONG: usize = 2000;

/// Kernels of more nodes are refused: their frame might not fit the stack of a thread, and their code fits no cache.
pub const MOST_NODES: usize = 20_000;

/// The machine-code backend.
#[derive(Clone)]
pub struct Cranelift {
    /// Optimises, for loops.
    thorough: OwnedTargetIsa,
    /// For code that runs once per call.
    quick: OwnedTargetIsa,
    threads: usize,
}

impl std::fmt::Debug for Cranelift {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cranelift")
            .field("target", &self.quick.triple().to_string())
            .finish()
    }
}

impl Cranelift {
    /// For the machine this runs on; an error if Cranelift has no code generator for it.
    pub fn new() -> Result<Self, KernelError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            thorough: target(true)?,
            quick: target(false)?,
            threads,
        })
    }

    /// Straight code that runs once per call gains a quarter from careful compilation, which costs twice the time; very
    /// long code would cost more than that, because the careful allocation of registers is not quite linear.
    fn target(&self, shape: &CallShape, nodes: usize) -> &dyn TargetIsa {
        if shape.single || nodes > LONG {
            &*self.quick
        } else {
            &*self.thorough
        }
    }
}

/// Cranelift for this machine.
fn target(thorough: bool) -> Result<OwnedTargetIsa, KernelError> {
    let machine = |message: String| KernelError::Machine(message);
    let mut flags = settings::builder();
    let debug = if cfg!(debug_assertions) {
        "true"
    } else {
        "false"
    };
    for (name, value) in [
        ("opt_level", if thorough { "speed" } else { "none" }),
        (
            "regalloc_algorithm",
            if thorough {
                "backtracking"
            } else {
                "single_pass"
            },
        ),
        ("enable_verifier", debug),
        ("unwind_info", "false"),
        // Long kernels have large frames; a stack overflow must hit the guard page.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
    ] {
        flags.set(name, value).map_err(|e| machine(e.to_string()))?;
    }
    let builder = cranelift_native::builder().map_err(|e| machine(e.to_string()))?;
    builder
        .finish(settings::Flags::new(flags))
        .map_err(|e| machine(e.to_string()))
}

impl Backend for Cranelift {
    fn compile(&self, kernels: &[Kernel]) -> Result<Box<dyn Code>, KernelError> {
        Ok(Box::new(CompiledKernels::new(
            self.clone(),
            take_over(kernels)?,
        )))
    }
}

/// What the functions look like from outside.
pub(crate) type EntryPoint =
    unsafe extern "C" fn(*mut RunContext<'_>, usize, *const AddressRecord, *const AddressRecord);

/// Normalised kernels and the functions compiled from them so far.
pub(crate) struct CompiledKernels {
    backend: Cranelift,
    kernels: Arc<[Kernel]>,
    functions: Mutex<HashMap<CallShape, Function>>,
}

/// A function and what keeps it alive.
#[derive(Clone)]
struct Function {
    region: Arc<Region>,
    offset: usize,
}

impl CompiledKernels {
    pub fn new(backend: Cranelift, kernels: Arc<[Kernel]>) -> Self {
        Self {
            backend,
            kernels,
            functions: Mutex::default(),
        }
    }

    /// Compiles the shapes that are not compiled yet.
    pub fn prepare<'a>(
        &self,
        shapes: impl Iterator<Item = &'a CallShape>,
    ) -> Result<(), KernelError> {
        // A poisoned lock guards a map that is valid between any two operations on it.
        let mut functions = self
            .functions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let mut seen = HashSet::new();
        let missing: Vec<&CallShape> = shapes
            .filter(|shape| !functions.contains_key(shape) && seen.insert(*shape))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        for shape in &missing {
            let nodes = self.kernels[shape.kernel as usize].nodes.len();
            if nodes > MOST_NODES {
                return Err(KernelError::TooLong {
                    kernel: shape.kernel,
                    nodes,
                    most: MOST_NODES,
                });
            }
        }
        let threads = self
            .backend
            .threads
            .min(missing.len() / MIN_PER_THREAD)
            .max(1);
        let compile = |shapes: &[&CallShape]| {
            emit::functions(
                |shape, nodes| self.backend.target(shape, nodes),
                &self.kernels,
                shapes,
            )
        };
        let code = if threads == 1 {
            compile(&missing)?
        } else {
            let results: Vec<_> = std::thread::scope(|scope| {
                let chunks = missing.chunks(missing.len().div_ceil(threads));
                let running: Vec<_> = chunks
                    .map(|chunk| scope.spawn(move || compile(chunk)))
                    .collect();
                running.into_iter().map(|thread| thread.join()).collect()
            });
            let mut code = Vec::with_capacity(missing.len());
            for result in results {
                let chunk = result
                    .map_err(|_| KernelError::Machine("a compiling thread panicked".into()))?;
                code.extend(chunk?);
            }
            code
        };
        let (region, offsets) = Region::new(&code)?;
        let region = Arc::new(region);
        for (shape, offset) in missing.into_iter().zip(offsets) {
            functions.insert(
                shape.clone(),
                Function {
                    region: region.clone(),
                    offset,
                },
            );
        }
        Ok(())
    }

    /// Prepares one call whose shape has been compiled.
    pub fn step(&self, placed: PlacedCall) -> Result<Box<dyn BoundCall>, KernelError> {
        let functions = self
            .functions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let Some(function) = functions.get(&placed.shape) else {
            return Err(KernelError::Machine(
                "a call was bound before its shape was compiled".into(),
            ));
        };
        // SAFETY: the region holds a function of this signature at this offset and lives as long as the step.
        let entry = unsafe {
            std::mem::transmute::<*const u8, EntryPoint>(function.region.at(function.offset))
        };
        Ok(Box::new(MachineStep {
            entry,
            placed,
            _region: function.region.clone(),
            _kernels: self.kernels.clone(),
        }))
    }
}

impl Code for CompiledKernels {
    fn bind(&self, program: &[Call], lengths: BankLengths) -> Result<BoundProgram, KernelError> {
        let placed = place(&self.kernels, program, lengths)?;
        self.prepare(placed.iter().map(|call| &call.shape))?;
        let steps = placed
            .into_iter()
            .map(|call| self.step(call))
            .collect::<Result<_, _>>()?;
        Ok(BoundProgram::new(steps, lengths))
    }
}

/// A call of machine code.
struct MachineStep {
    entry: EntryPoint,
    placed: PlacedCall,
    _region: Arc<Region>,
    /// Machine code holds the addresses of applications of user functions in the kernels.
    _kernels: Arc<[Kernel]>,
}

impl BoundCall for MachineStep {
    unsafe fn run(&self, context: &mut RunContext<'_>, _scratch: &mut Scratch) {
        let PlacedCall {
            count,
            slots,
            outputs,
            ..
        } = &self.placed;
        // SAFETY: the code was made for the shape of this call, whose addresses were checked for all repetitions.
        unsafe { (self.entry)(context, *count, slots.as_ptr(), outputs.as_ptr()) }
    }

    fn scratch(&self) -> ScratchSize {
        ScratchSize::default()
    }

    fn is_compiled(&self) -> bool {
        true
    }
}
