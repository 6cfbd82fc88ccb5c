//! acausal-structure
pub mod blt;
pub mod dulmage_mendelsohn;
pub mod flow;
mod graph;
mod ids;
pub mod integer_elimination;
pub mod matching;
pub mod pantelides;
pub mod segments;
pub mod state_selection;
pub mod tearing;
pub use ids::{EqId, Rows, VarId};
