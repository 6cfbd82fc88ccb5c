//! Which samples of a history an interpolation goes through.
//!
//! Samples lie as the integrator's steps do: behind an event, a restart or a corner they are closer together by orders of magnitude. A polynomial through two samples that are
//! one apart and four that are 1e-7 apart beside them takes the fourth derivative from the latter, and with it their errors times (1e7)^4. So between the instant and the ends
//! nodes do not come closer together: each gap is at least half ([`APART`]) as long as those between it and the instant. Steps that change
//! by a factor of two at most are all taken. With such gaps errors of the samples are made at most 3 times larger with three nodes on either side, and
//! 11 times at an end of the history (the Lebesgue constants of `0, 1` and nodes half as far apart).
//!
//! Costs: the logarithm of the number of samples, and nothing to look for where steps are even.

use std::collections::VecDeque;

use super::DelayLine;

/// Largest number of nodes of an interpolation: as many as the polynomial of the integrator's highest order has.
pub(super) const POINTS: usize = 6;
/// How many of them lie at or before the instant.
pub(super) const LEFT: usize = 3;
/// What the next gap between nodes may be shorter by.
const APART: f64 = 0.5;

/// Nodes in order of time.
#[derive(Clone, Copy)]
pub(super) struct Nodes {
    pub times: [f64; POINTS],
    pub values: [f64; POINTS],
    pub count: usize,
}

impl Nodes {
    fn new(points: impl Iterator<Item = (f64, f64)>) -> Nodes {
        let mut nodes = Nodes {
            times: [0.0; POINTS],
            values: [0.0; POINTS],
            count: 0,
        };
        for (time, value) in points.take(POINTS) {
            (nodes.times[nodes.count], nodes.values[nodes.count]) = (time, value);
            nodes.count += 1;
        }
        nodes
    }
}

/// The instants with two samples.
pub(crate) fn breaks(samples: impl Iterator<Item = (f64, f64)> + Clone) -> VecDeque<f64> {
    let pairs = samples.clone().zip(samples.skip(1));
    pairs
        .filter(|(a, b)| a.0 == b.0)
        .map(|(a, _)| a.0)
        .collect()
}

impl DelayLine {
    /// The first sample of the smooth part of the history that sample `k` belongs to.
    pub(super) fn smooth_from(&self, k: usize) -> usize {
        let at = self.samples[k].0;
        let ends = self.samples.get(k + 1).is_some_and(|s| s.0 == at);
        match self
            .breaks
            .partition_point(|b| *b < at || *b == at && !ends)
        {
            0 => 0,
            n => self.samples.partition_point(|s| s.0 <= self.breaks[n - 1]) - 1,
        }
    }

    /// The last sample of the smooth part that begins with sample `k` or holds it.
    pub(super) fn smooth_to(&self, k: usize) -> usize {
        let at = self.samples[k].0;
        match self.breaks.get(self.breaks.partition_point(|b| *b <= at)) {
            Some(b) => self.samples.partition_point(|s| s.0 < *b),
            None => self.samples.len() - 1,
        }
    }

    /// The nodes around an instant between samples `left` and `left + 1`, out of `from..=to`.
    pub(super) fn nodes_around(&self, left: usize, from: usize, to: usize) -> Nodes {
        let gap = self.samples[left + 1].0 - self.samples[left].0;
        let (before, mut own) = self.walk(left, from, gap, POINTS - 1);
        let (after, others) = self.walk(left + 1, to, gap, POINTS - 1);
        // Beside a jump the other side has more of them.
        own = own.min(LEFT.max(POINTS - others));
        let others = others.min(POINTS - own);
        let order = before[..own].iter().rev().chain(&after[..others]);
        Nodes::new(order.map(|&k| self.samples[k]))
    }

    /// The nodes for an instant behind sample `last`, before a newer one.
    pub(super) fn nodes_to(&self, last: usize, from: usize, newer: (f64, f64)) -> Nodes {
        let gap = newer.0 - self.samples[last].0;
        let (before, count) = self.walk(last, from, gap, POINTS - 1);
        let order = before[..count].iter().rev().map(|&k| self.samples[k]);
        Nodes::new(order.chain([newer]))
    }

    /// The nodes for the slope at sample `from`.
    pub(super) fn nodes_from(&self, from: usize, to: usize) -> Nodes {
        let (after, count) = self.walk(from, to, 0.0, POINTS);
        Nodes::new(after[..count].iter().map(|&k| self.samples[k]))
    }

    /// The nodes for the slope at sample `to`.
    pub(super) fn nodes_until(&self, from: usize, to: usize) -> Nodes {
        let (before, count) = self.walk(to, from, 0.0, POINTS);
        Nodes::new(before[..count].iter().rev().map(|&k| self.samples[k]))
    }

    /// At most `most` samples from `start` on, in the direction of `end`, whose distances are at least [`APART`] of `gap` and of each other, the nearest first.
    fn walk(
        &self,
        start: usize,
        end: usize,
        mut gap: f64,
        most: usize,
    ) -> ([usize; POINTS], usize) {
        let (mut found, mut count) = ([start; POINTS], 1);
        let mut k = start;
        while count < most && k != end {
            let at = self.samples[k].0;
            let next = if end < start {
                let far = |s: &(f64, f64)| s.0 <= at - APART * gap;
                match far(&self.samples[k - 1]) {
                    true => k - 1,
                    false => match self.samples.partition_point(far) {
                        n if n > end => n - 1,
                        _ => break,
                    },
                }
            } else {
                let near = |s: &(f64, f64)| s.0 < at + APART * gap;
                match near(&self.samples[k + 1]) {
                    false => k + 1,
                    true => match self.samples.partition_point(near) {
                        n if n <= end => n,
                        _ => break,
                    },
                }
            };
            gap = gap.max((self.samples[next].0 - at).abs());
            found[count] = next;
            count += 1;
            k = next;
        }
        (found, count)
    }
}
