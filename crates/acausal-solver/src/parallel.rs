//! Loops over long vectors, in parts on several threads.
//!
//! Where vectors do not stay in the second cache of a core a loop over them waits for the third one, which other programs use too, or for memory, and several
//! cores get more from these than one. That is decided for each loop by the bytes it moves ([`LEAST_BYTES`]). Elements are computed apart from each other, and
//! sums are added up by blocks in an order of their own ([`crate::bdf`]), so that the number of threads does not show in results.

use crate::dae::{Dae, team_of};
use acausal_cpu::{LEAST_SHARED, Team, team};
use std::ops::Range;

/// Bytes from which on a loop is shared: several times what the second cache of a core holds.
const LEAST_BYTES: usize = 2_000_000;

/// Numbers in a line of a cache, where parts begin.
const LINE: usize = 8;

/// The threads of a model, for linear systems.
pub(crate) fn team_for<D: Dae + ?Sized>(dae: &mut D, n: usize) -> Option<&mut Team> {
    team_of(dae).filter(|_| n >= LEAST_SHARED)
}

/// Calls `f` with the range of n elements, or with one part of it for each thread if the loop moves much: `moved` vectors, read or written.
pub(crate) fn in_parts(
    team: Option<&mut Team>,
    (n, moved): (usize, usize),
    f: impl Fn(Range<usize>) + Sync,
) {
    team::split(
        team.filter(|_| is_long(n, moved)),
        n,
        (LINE, LEAST_SHARED / 2),
        f,
    );
}

/// The same by blocks: calls `f` with the numbers of all blocks of a vector of n elements, or with some of them on each thread.
pub(crate) fn in_parts_of(
    team: Option<&mut Team>,
    blocks: usize,
    (n, moved): (usize, usize),
    f: impl Fn(Range<usize>) + Sync,
) {
    team::split(team.filter(|_| is_long(n, moved)), blocks, (1, 1), f);
}

fn is_long(n: usize, moved: usize) -> bool {
    n >= LEAST_SHARED && n * moved * size_of::<f64>() >= LEAST_BYTES
}
