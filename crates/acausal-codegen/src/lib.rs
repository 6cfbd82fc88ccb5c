//! From the index-one DAE to the compiled model ([`Compiled`](acausal_compiled::Compiled)): kernels, memory layout, sparsity.

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
mod shape;
mod start_alias;
mod steps;
mod timetable;

pub use compile::compile;
pub use error::CodegenError;
