//! Evaluation of kernels at run time: residuals, partial derivatives, event indicators and local assignments.
//!
//! In goes a list of [`Kernel`]s (small straight-line programs, one per *shape* of equation) and a [`Program`] of
//! [`Call`]s that say on which memory each kernel is repeated; out comes a [`BoundProgram`] that runs without any check
//! or allocation per element. Nothing here knows Modelica or symbolic expressions.
//!
//! | step | file | what it does |
//! |---|---|---|
//! | contract | [`kernel`] | the data types that code generators fill in |
//! | meaning | [`math`], [`run`] | every operation on `f64`, and the order of loads and stores |
//! | normal form | [`normalise`] | powers, literals, common subexpressions; the same for all backends |
//! | placement | `place`, `dependence` | all addresses checked once; which repetitions may run together |
//! | threads | [`phases`] | long calls in parts, with the bits of one thread |
//! | large models | [`tiles`] | residuals right after the unknowns that they read were predicted |
//! | fewer passes | [`mod@fuse`] | assignments go into the calls that use them |
//! | few values | [`mod@demand`] | the repetitions that some places depend on |
//! | failure | `error` | in a kernel, in an address, or at run time |
//! | execution | [`interpreter`] | batches of repetitions, no dependencies |
//! | | `cranelift` | machine code: one function per kernel and shape of call (cargo feature `cranelift`, on by default) |
//! | | `tiered` | machine code where it pays, the interpreter elsewhere (same feature) |
//!
//! Every backend gives the same bits for the same program (up to the payload of NaN), so results do not depend on which
//! one ran.
//!
//! # Example
//! The residual of the heat equation, `r[i] = y'[i] - c*(y[i-1] - 2*y[i] + y[i+1])`, for the inner points of a rod:
//! one kernel, one call, whatever the number of points.
//! ```
//! use acausal_jit::*;
//!
//! let heat = Kernel {
//!     nodes: vec![
//!         Op::Slot(0),                      // 0: y'[i]
//!         Op::Slot(1),                      // 1: c
//!         Op::Slot(2),                      // 2: y[i-1]
//!         Op::Slot(3),                      // 3: y[i]
//!         Op::Slot(4),                      // 4: y[i+1]
//!         Op::Const(2.0),                   // 5
//!         Op::Binary(Binary::Mul, 5, 3),    // 6: 2*y[i]
//!         Op::Binary(Binary::Sub, 2, 6),    // 7
//!         Op::Binary(Binary::Add, 7, 4),    // 8
//!         Op::Binary(Binary::Mul, 1, 8),    // 9
//!         Op::Binary(Binary::Sub, 0, 9),    // 10
//!     ],
//!     slots: 5,
//!     outputs: vec![10],
//! };
//! let at = |bank, base, stride| Address::Affine { bank, base, stride };
//! let program = vec![Call {
//!     kernel: 0,
//!     count: 3, // the inner points 1..=3 of a rod with 5 points
//!     slots: vec![
//!         at(Bank::Yp, 1, 1),
//!         at(Bank::Mem, 0, 0), // c is the same for all
//!         at(Bank::Y, 0, 1),
//!         at(Bank::Y, 1, 1),
//!         at(Bank::Y, 2, 1),
//!     ],
//!     outputs: vec![(at(Bank::Out, 1, 1), Store::Set)],
//! }];
//!
//! let (y, yp) = ([0.0, 1.0, 4.0, 9.0, 16.0], [0.0; 5]);
//! let (mut mem, mut out) = ([0.5], [0.0; 5]);
//! let lengths = BankLengths { y: 5, yp: 5, mem: 1, out: 5 };
//!
//! let code = default_backend().compile(&[heat])?;
//! let residual = code.bind(&program, lengths)?;
//! let mut scratch = Scratch::default();
//! residual.run(Banks { y: &y, yp: &yp, mem: &mut mem, out: &mut out }, &NoFunctions, &mut scratch)?;
//! assert_eq!(out, [0.0, -1.0, -1.0, -1.0, 0.0]); // the second difference of i^2 is 2
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "cranelift")]
pub mod cranelift;
pub mod demand;
mod dependence;
pub mod error;
pub mod fuse;
pub mod interpreter;
pub mod kernel;
pub mod math;
pub mod normalise;
pub mod phases;
mod place;
pub mod run;
#[cfg(feature = "cranelift")]
pub mod tiered;
pub mod tiles;

#[cfg(feature = "cranelift")]
pub use cranelift::Cranelift;
pub use demand::{Demand, demand};
pub use error::{CallFault, KernelError, KernelFault, RunError};
pub use fuse::{Fused, fuse, reads};
pub use interpreter::Interpreter;
pub use kernel::{
    Address, BANKS, Bank, Binary, Call, Kernel, KernelId, NodeIx, Op, Program, Store, Unary,
};
pub use phases::{PhasedProgram, is_long, pays, points};
pub use run::{
    Backend, BankLengths, Banks, BoundProgram, CallFunctions, Code, NoFunctions, Scratch,
};
#[cfg(feature = "cranelift")]
pub use tiered::{TierOptions, Tiered};

pub use tiles::{TileMemory, Tiles, Workspace};

/// The backend for a program that will run some thousand times: [`tiered::Tiered`] with machine code, or the
/// interpreter where there is no machine code. The results are the same.
#[cfg(feature = "cranelift")]
pub fn default_backend() -> Box<dyn Backend> {
    match Tiered::new(TierOptions::default()) {
        Ok(tiered) => Box::new(tiered),
        // Not an error for the user: this machine has no code generator, so everything is interpreted.
        Err(_) => Box::new(Interpreter::default()),
    }
}

/// The backend for a program that will run some thousand times: the interpreter, for lack of machine code.
#[cfg(not(feature = "cranelift"))]
pub fn default_backend() -> Box<dyn Backend> {
    Box::new(Interpreter::default())
}
