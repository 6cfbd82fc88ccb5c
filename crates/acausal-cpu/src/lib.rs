//! What a simulation asks of the processor besides arithmetic.
//!
//! | part | module | what it does |
//! |---|---|---|
//! | a second core | [`pair`] | a thread that works on half of what the first one does |
//! | a vector of both | [`shared`] | elements that are not two slices, for both threads |
//! | tiny numbers | [`subnormal`] | those below the normal range count as zero, on both threads |

pub mod pair;
pub mod shared;
pub mod subnormal;

pub use pair::Pair;
pub use shared::Shared;
pub use subnormal::FlushSubnormals;
