//! What a simulation asks of the processor besides arithmetic.
//!
//! | part | module | what it does |
//! |---|---|---|
//! | caches | [`limits`] | from which length on vectors do not stay in them |
//! | more cores | [`team`] | threads that work on parts of what the caller does |
//! | a vector of all | [`shared`] | elements that are not slices, for all threads |
//! | tiny numbers | [`subnormal`] | those below the normal range count as zero, on all threads |

pub mod limits;
pub mod shared;
pub mod subnormal;
pub mod team;

pub use limits::{LEAST_LARGE, LEAST_SHARED};
pub use shared::Shared;
pub use subnormal::FlushSubnormals;
pub use team::Team;
