//! The histories of delays and distributions as rows of numbers.
//!
//! A row begins with what a reader must know to cut it: the number of samples. Reading checks what interpolation relies on (finite numbers, ascending
//! times or labels, nothing after the time of the checkpoint) and gives nothing otherwise.

use crate::delay::DelayLine;
use crate::delay::nodes::breaks;
use crate::delay::pieces::DelayPiece;
use crate::distribution::{Sample, SpatialProfile};

impl DelayLine {
    /// Delay, longest delay, piece and its slack, number of samples, samples as pairs, jumps.
    pub(super) fn stored(&self) -> Vec<f64> {
        let DelayPiece { after, slack } = self.piece;
        let mut numbers = vec![self.delay, self.longest, after, slack[0], slack[1]];
        numbers.push(self.samples.len() as f64);
        numbers.extend(self.samples.iter().flat_map(|s| [s.0, s.1]));
        numbers.extend(&self.jumps);
        numbers
    }

    /// The opposite, at time `t`.
    pub(super) fn restore(&mut self, stored: &[f64], t: f64) -> Option<()> {
        let [delay, longest, after, before, behind, count, rest @ ..] = stored else {
            return None;
        };
        let (samples, jumps) = split(rest, *count, 2)?;
        let times = || samples.chunks_exact(2).map(|s| s[0]);
        let sound = *delay >= 0.0
            && longest >= delay
            // Before all jumps the piece begins at minus infinity.
            && *after <= t
            && *before >= 0.0
            && *behind >= 0.0
            && ascend(times())
            && ascend(jumps.iter().copied())
            && times().chain(jumps.iter().copied()).all(|at| at <= t);
        if !sound {
            return None;
        }
        (self.delay, self.longest) = (*delay, *longest);
        self.piece = DelayPiece {
            after: *after,
            slack: [*before, *behind],
        };
        self.samples = samples.chunks_exact(2).map(|s| (s[0], s[1])).collect();
        self.breaks = breaks(self.samples.iter().copied());
        self.jumps = jumps.iter().copied().collect();
        Some(())
    }
}

impl SpatialProfile {
    /// Number of samples, samples as triples, jumps.
    pub(super) fn stored(&self) -> Vec<f64> {
        let mut numbers = vec![self.samples.len() as f64];
        let triples = self.samples.iter();
        numbers.extend(triples.flat_map(|s| [s.entry, s.label, s.value]));
        numbers.extend(&self.jumps);
        numbers
    }

    /// The opposite.
    pub(super) fn restore(&mut self, stored: &[f64]) -> Option<()> {
        let [count, rest @ ..] = stored else {
            return None;
        };
        let (samples, jumps) = split(rest, *count, 3)?;
        let triples = || samples.chunks_exact(3);
        let sound = ascend(triples().map(|s| s[1]))
            && ascend(jumps.iter().copied())
            && triples().all(|s| s[0].is_finite());
        if !sound {
            return None;
        }
        let sample = |s: &[f64]| Sample {
            entry: s[0],
            label: s[1],
            value: s[2],
        };
        self.samples = triples().map(sample).collect();
        self.jumps = jumps.iter().copied().collect();
        Some(())
    }
}

/// The numbers of `count` samples of a width, and what is left.
fn split(numbers: &[f64], count: f64, width: usize) -> Option<(&[f64], &[f64])> {
    let whole = count >= 0.0 && count.fract() == 0.0 && count <= numbers.len() as f64;
    let end = whole.then(|| (count as usize).checked_mul(width))??;
    numbers.split_at_checked(end)
}

/// Whether numbers are finite and never less than the one before.
fn ascend(numbers: impl Iterator<Item = f64> + Clone) -> bool {
    numbers.clone().all(f64::is_finite) && numbers.is_sorted()
}
