//! Fused vector loops of the integrator: each pass reads every vector it needs once.
//!
//! In a profile of a conventional implementation half of the time of a large problem goes into single-operation vector
//! passes (scale, add, norm). Here one pass takes the correction of the last step into the history, rescales it and predicts y
//! and y'; one takes the norm of a Newton correction and those of all error estimates. Only a correction that is followed by
//! another one is applied to y and y', in a pass of its own. Error weights are computed where they are used: a division costs less than
//! reading and writing one more vector.
//!
//! The parts: `correction` (Newton corrections and their norms), `history` (update, prediction, interpolation).
//!
//! Long vectors are worked on in two halves ([`crate::two`]), on two threads if the model has a second one: two cores get about twice as much from
//! memory as one does. Sums are those of the halves, added, with one thread too, so that the number of threads does not show in results.
//!
//! Everything works on groups of four numbers ([`Quad`]) and sums run in four partial sums that are added in a fixed
//! order. On x86-64 with AVX2 the same code runs with wider registers; without fused multiply-add, so the results are
//! the same bit for bit.
//!
//! In the body of a loop all loads come before all stores, and the vectors begin at different places of a page
//! (`vector`).
//!
//! Invariant for the `unsafe` blocks: every slice has length `n`, asserted at the top of each function.

mod correction;
mod history;

pub(super) use correction::{
    Correction, Differences, Sums, Tolerance, Weights, correct, correct_part, sums,
};
pub(crate) use history::Part;
pub(super) use history::{
    Pass, Prediction, Update, interpolate, predict, update, update_and_predict,
};

use super::quad::LANES;
use crate::two::in_halves;
use acausal_cpu::Pair;
use std::ops::Range;

/// Start of the incomplete group at the end.
#[inline(always)]
fn whole(n: usize) -> usize {
    n - n % LANES
}

/// Sum of squares of `v[i] * weight(i)`.
pub(crate) fn weighted_sum(v: &[f64], weight: impl Fn(usize) -> f64) -> f64 {
    let square = |e: f64| e * e;
    let terms = v.iter().enumerate().map(|(i, v)| square(v * weight(i)));
    terms.sum()
}

/// Index of the largest of n numbers by their absolute values, first one if several.
pub(crate) fn largest(
    pair: Option<&mut Pair>,
    n: usize,
    number: impl Fn(usize) -> f64 + Sync,
) -> usize {
    let larger = |best: (usize, f64), next: (usize, f64)| match next.1 {
        size if size > best.1 || (size.is_nan() && !best.1.is_nan()) => next,
        _ => best,
    };
    let of = |range: Range<usize>| {
        let sizes = range.map(|i| (i, number(i).abs()));
        sizes.fold((0, -1.0), larger)
    };
    let (front, back) = in_halves(pair, (n, 2), of);
    back.map_or(front, |back| larger(front, back)).0
}
