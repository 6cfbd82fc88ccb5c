//! From which length on vectors do not stay in a cache, measured on two processors with 0.5 and 2 MB of second cache per core.

/// Numbers in a vector from which on a loop over several of them does not find all in the second cache of a core: two cores get more from what is behind it
/// than one.
pub const LEAST_SHARED: usize = 50_000;

/// Numbers in a vector from which on several of them are in no cache at all, so that less memory is worth more work.
pub const LEAST_LARGE: usize = 250_000;
