//! What a simulation asks of the processor besides arithmetic.
//!
//! | part | module | what it does |
//! |---|---|---|
//! | caches | [`limits`] | from which length on vectors do not stay in them |
//! | a second core | [`pair`] | a thread that works on half of what the first one does |
//! | a vector of both | [`shared`] | elements that are not two slices, for both threads |
//! | tiny numbers | [`subnormal`] | those below the normal range count as zero, on both threads |

pub mod limits;
pub mod pair;
pub mod shared;
pub mod subnormal;

pub use limits::{LEAST_LARGE, LEAST_SHARED};
pub use pair::Pair;
pub use shared::Shared;
pub use subnormal::FlushSubnormals;
