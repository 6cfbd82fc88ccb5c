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
//! Long vectors are worked on in parts ([`crate::parallel`]) if the model has threads: two cores get about twice as much from
//! memory as one does. Sums are added up by pieces in a fixed order (`norms`), so that the number of threads does not show in results.
//!
//! Everything works on groups of four numbers ([`F64x4`]) and sums run in four partial sums that are added in a fixed
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
pub(crate) use history::PredictPart;
pub(super) use history::{
    Pass, Prediction, Update, interpolate, predict, update, update_and_predict,
};

use super::simd::LANES;
use crate::parallel::in_parts;
use acausal_cpu::Team;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Mutex;

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

/// Index of the largest of n numbers by their absolute values, the first one if there are several, and the first that is no number if there is one.
pub(crate) fn largest(
    team: Option<&mut Team>,
    n: usize,
    number: impl Fn(usize) -> f64 + Sync,
) -> usize {
    // In any order of the parts.
    let larger = |a: (usize, f64), b: (usize, f64)| {
        let order = a.1.is_nan().cmp(&b.1.is_nan());
        let order = order.then(a.1.partial_cmp(&b.1).unwrap_or(Ordering::Equal));
        let order = order.then(b.0.cmp(&a.0));
        if order == Ordering::Less { b } else { a }
    };
    let best = Mutex::new((0, -1.0));
    in_parts(team, (n, 2), |range: Range<usize>| {
        let sizes = range.map(|i| (i, number(i).abs()));
        if let Some(own) = sizes.reduce(larger)
            && let Ok(mut best) = best.lock()
        {
            *best = larger(*best, own);
        }
    });
    best.into_inner().map_or(0, |best: (usize, f64)| best.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_the_largest_counts() {
        let n = 200_000;
        for (special, expected) in [(&[(7, 3.0), (150_000, -3.0)][..], 7), (&[], 0)] {
            let number = |i: usize| special.iter().find(|s| s.0 == i).map_or(0.0, |s| s.1);
            for threads in 1..=4 {
                let mut team = Team::new(threads);
                assert_eq!(largest(team.as_mut(), n, number), expected);
            }
        }
        let number = |i: usize| {
            if i % 90_000 == 80_000 {
                f64::NAN
            } else {
                i as f64
            }
        };
        assert_eq!(largest(Team::new(3).as_mut(), n, number), 80_000);
    }
}
