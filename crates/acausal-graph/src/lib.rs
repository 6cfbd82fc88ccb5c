//! Bipartite graphs of scalar equations and unknowns.
//!
//! What the structural passes of the compiler and the solution of the start at run time have in common. Nothing here recurses,
//! and nothing depends on the order of a hash table.
//!
//! | question | module |
//! |---|---|
//! | which unknowns must be iterated, by a greedy choice? | [`cellier`] |
//! | which nodes depend on each other in circles? | `components`: [`strong_components`] |
//! | along which assignments would errors grow? | [`growth`] |
//! | numbers of equations and variables, rows of an incidence | `ids`: [`EqId`], [`VarId`], [`Rows`] |
//! | which equation determines which unknown? | [`matching`] |
//! | what is solved, in which order, and what remains | `torn`: [`Torn`] |

pub mod cellier;
mod components;
pub mod growth;
mod ids;
pub mod matching;
mod torn;

pub use components::strong_components;
pub use ids::{EqId, Rows, VarId};
pub use torn::{Invalid, Torn};
