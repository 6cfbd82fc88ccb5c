//! Long vectors in two halves, one of them on a second thread.
//!
//! Where vectors do not stay in the second cache of a core a loop over them waits for the third one, which other programs use too, or for memory, and two
//! cores get more from these than one. That is decided for each loop by the bytes it moves ([`LEAST_BYTES`]).

use crate::dae::{Dae, pair_of};
use acausal_cpu::{LEAST_SHARED, Pair};
use std::ops::Range;

/// Bytes from which on a loop is shared: several times what the second cache of a core holds.
const LEAST_BYTES: usize = 2_000_000;

/// The second thread, for linear systems.
pub(crate) fn second<D: Dae + ?Sized>(dae: &mut D, n: usize) -> Option<&mut Pair> {
    pair_of(dae).filter(|_| n >= LEAST_SHARED)
}

/// Calls `f` with the range of n elements, or with each half of it if the loop moves much: `moved` vectors, read or written. With one
/// thread too, so the number of threads does not show in what is made of the two results.
pub(crate) fn in_halves<R: Send>(
    pair: Option<&mut Pair>,
    (n, moved): (usize, usize),
    f: impl Fn(Range<usize>) -> R + Sync,
) -> (R, Option<R>) {
    if n < LEAST_SHARED || n * moved * size_of::<f64>() < LEAST_BYTES {
        return (f(0..n), None);
    }
    // At the end of a cache line.
    let middle = (n / 2).next_multiple_of(8);
    let Some(pair) = pair else {
        return (f(0..middle), Some(f(middle..n)));
    };
    let (first, second) = pair.both(|| f(0..middle), || f(middle..n));
    (first, Some(second))
}
