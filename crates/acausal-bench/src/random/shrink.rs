//! From a model that fails to a small one that fails in the same way.
//!
//! Greedy: the first smaller case that fails in the same way takes the place of the case, until none does. Each step makes
//! the case smaller, so it ends; the number of attempts is bounded as well, since slow cases are slow to shrink.

use super::attempt::TrialLimits;
use super::case::{RandomCase, RandomOutcome};

/// Attempts after which what is there must do.
const MOST: usize = 400;
/// Seconds after which what is there must do.
const LONGEST: u64 = 60;

/// The small case, how it fails, and how many were tried.
pub fn shrink(
    mut case: Box<dyn RandomCase>,
    mut outcome: RandomOutcome,
    limits: &TrialLimits,
) -> (Box<dyn RandomCase>, RandomOutcome, usize) {
    let begin = std::time::Instant::now();
    let mut tries = 0;
    'smaller: loop {
        for candidate in case.smaller() {
            if tries >= MOST || begin.elapsed().as_secs() >= LONGEST {
                return (case, outcome, tries);
            }
            tries += 1;
            let found = candidate.attempt(limits);
            if found.same_failure(&outcome) {
                (case, outcome) = (candidate, found);
                continue 'smaller;
            }
        }
        return (case, outcome, tries);
    }
}

/// The ways to leave out a part of `n` things: halves, quarters, ..., single ones, as ranges.
pub fn parts(n: usize) -> Vec<std::ops::Range<usize>> {
    let mut all = Vec::new();
    let mut length = n / 2;
    while length > 0 {
        let mut begin = 0;
        while begin < n {
            all.push(begin..(begin + length).min(n));
            begin += length;
        }
        length /= 2;
    }
    all
}

/// The lists with a part left out.
pub fn shorter<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    parts(items.len())
        .into_iter()
        .map(|r| [&items[..r.start], &items[r.end..]].concat())
        .collect()
}

/// Simpler numbers in the place of one.
pub fn simpler(x: f64) -> Vec<f64> {
    let mut all = Vec::new();
    for y in [1.0, x.signum(), x.round(), (10.0 * x).round() / 10.0] {
        if y != 0.0 && y != x && digits(y) < digits(x) && !all.contains(&y) {
            all.push(y);
        }
    }
    all
}

fn digits(x: f64) -> usize {
    format!("{x:?}").len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_go_from_halves_to_single_ones() {
        assert_eq!(parts(4), vec![0..2, 2..4, 0..1, 1..2, 2..3, 3..4]);
        assert_eq!(
            shorter(&[1, 2, 3]),
            vec![vec![2, 3], vec![1, 3], vec![1, 2]]
        );
        assert_eq!(simpler(-0.734), vec![1.0, -1.0, -0.7]);
        assert!(simpler(1.0).is_empty());
    }
}
