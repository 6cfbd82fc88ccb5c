//! Programs that measure acausal. A benchmark here prints a ratio against a named baseline of the same run, because
//! seconds alone say more about the machine than about the program.
//!
//! | what | module |
//! |---|---|
//! | integration time against hand-written C programs on SUNDIALS IDA with KLU | [`yardstick`] |
//! | digits, steps and time on the public test set for initial value problems | [`ivp`] |
//! | time of one integration step and memory over the size of three families | [`growth`] |
//! | time from the text to the first step, for large arrays against small ones | [`ready`] |
//! | time and memory by phase over the size of families of models | [`scale`] |
//! | the same as `yardstick` over nine problems, with C programs of our own where the baseline has none | [`speed`] |
//! | evaluation of long array equations on two threads against one | [`threads`] |
//! | time of the structural passes over the length of arrays, pass by pass | [`structure`] |
//! | compile time over the length of arrays, which it must not depend on | [`scaling`] |
//! | which answers to the Modelica compliance suite are right | [`compliance`] |
//! | random models against independent answers | [`random`] |
//! | how much of a library compiles, simulates and matches its reference trajectories | [`msl`] |
//! | where the C programs of the baseline are | `programs` |
//! | the clock of a thread | `cpu` |

pub mod compliance;
mod cpu;
pub mod growth;
pub mod ivp;
pub mod msl;
mod programs;
pub mod random;
pub mod ready;
pub mod scale;
pub mod scaling;
pub mod speed;
pub mod structure;
pub mod threads;
pub mod yardstick;

use std::path::PathBuf;

/// The root of the workspace.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}
