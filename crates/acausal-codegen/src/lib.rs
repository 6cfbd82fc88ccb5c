//! From the index-one DAE to the compiled model ([`Compiled`](acausal_compiled::Compiled)): kernels, memory layout, sparsity.

//!
//! | what | module |
//! |---|---|
//! | the whole compilation | `compile`: [`compile()`] |
//! | what cannot be compiled | `error` |
//! | where every scalar lives | `layout` |
//! | where an access lies at every point of a domain | `address` |
//! | values of parameters and attributes | `parameters`; those that initial equations give: `given_parameters` |
//! | which local assignments residuals need | `needed` |
//! | order of items, items of one shape | `plan`, `items`, `shape` |
//! | from expressions to kernels | `lower`, `body`, `steps` |
//! | from kernels to calls | `calls` |
//! | partial derivatives | `jacobian` |
//! | the start | `initial`; conditions that only give values: `given`, `start_alias` |
//! | events | `events`; relations and steps: `cells`, `algebraic`; instants known before the start: `timetable` |

mod address;
mod algebraic;
mod body;
mod calls;
mod cells;
mod compile;
mod error;
mod events;
mod given;
mod given_parameters;
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
use error::CodegenError;
