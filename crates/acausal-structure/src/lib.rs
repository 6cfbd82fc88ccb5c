//! acausal-structure
pub mod blt;
pub mod dulmage_mendelsohn;
pub mod flow;
mod ids;
pub mod matching;
pub mod pantelides;
pub use ids::{EqId, Rows, VarId};
