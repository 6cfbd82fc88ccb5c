//! From the index-one DAE to the compiled model ([`Compiled`](acausal_compiled::CompiledModel)): kernels, memory layout, sparsity.
//!
//! | step | module |
//! |---|---|
//! | the whole compilation; what it cannot compile | `compile`, `error` |
//! | where every scalar lives | `layout`, `address` |
//! | parameters and start attributes | `parameters`, `start_alias` |
//! | items in order, those of one shape together | `items`, `plan`, `shape`, `needed` |
//! | expressions to kernels, kernels to calls | `lower`, `body`, `calls` |
//! | the sparse Jacobian | `jacobian` |
//! | the start | `initial`, `given` |
//! | events, their cells and their timetable | `events`, `cells`, `algebraic`, `steps`, `timetable`, `reinit` |

mod address;
mod algebraic;
mod body;
mod calls;
mod cells;
mod compile;
mod error;
mod events;
mod given;
mod initial;
mod items;
mod jacobian;
mod layout;
mod lower;
mod needed;
mod parameters;
mod plan;
mod reinit;
mod shape;
mod start_alias;
mod steps;
mod timetable;

pub use compile::compile;
use error::CodegenError;
