//! Delays that change between events: which piece of its history each of them reads.
//!
//! The jumps of a history cut it into smooth pieces. A jump at the instant s comes out when `t - d(t) = s`, and no more can be said in advance: the delay may
//! shrink, grow, depend on states, and, where it grows faster than time, give the same jump several times, to and fro. So it is treated as a relation is:
//! between events the piece is frozen, and two indicators per delay watch `t - d(t)` against both ends of it ([`DelayLines::indicators`]); two more watch that the
//! delay is neither negative nor too long, so that the error is one of the instant at which it becomes so. The integrator
//! steps on a smooth expression, beyond the ends of the piece on a straight line, and finds the instants as those of other indicators; at the event the
//! neighbouring piece takes over ([`DelayLines::pass`]). Where the delay itself jumps at an event, its piece is the one it points at.
//!
//! Example: u jumps at 1, d = 1.5 - 0.5*t. At t = 5/3 the instant 5/3 - 2/3 = 1 is reached. The present delay at the jump, 1, would have said t = 2.
//!
//! Costs: four numbers per delay and look at the indicators; reading takes the logarithm of the number of samples.

use super::nodes::Nodes;
use super::{DelayLine, DelayLines, NOW, neville, neville_slope};

/// Indicators of a delay.
pub(crate) const INDICATORS: usize = 4;
/// What the difference of time and delay may be wrong by, in units of [`NOW`]: wider than the bracket of an instant that was found (100 rounding errors).
const BAND: f64 = 16.0;
/// A delay that events change by less than this many tolerances is still the same: what the solution of the equations leaves.
const STAY: f64 = 1e-3;

/// The piece of a history that a delay reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DelayPiece {
    /// Instant of the jump that it begins with; minus infinity before all of them.
    pub(crate) after: f64,
    /// How far behind its beginning and its end the instant may lie before it is left.
    pub(crate) slack: [f64; 2],
}

impl DelayPiece {
    pub(crate) const FIRST: DelayPiece = DelayPiece {
        after: f64::NEG_INFINITY,
        slack: [0.0; 2],
    };
}

impl DelayLines {
    /// Number of indicators.
    pub fn indicators_len(&self) -> usize {
        INDICATORS * self.lines.iter().filter(|l| l.variable).count()
    }

    /// The indicators of a group of delays from its arguments: positive while the instant lies inside of the piece.
    pub fn indicators(&self, t: f64, first: usize, arguments: &[f64], len: usize, g: &mut [f64]) {
        for (k, g) in g.chunks_exact_mut(INDICATORS).enumerate().take(len) {
            let line = &self.lines[first + k];
            let (delay, longest) = (arguments[len + k], arguments[2 * len + k]);
            let instant = t - delay;
            let band = BAND * NOW * t.abs().max(longest.abs()).max(self.unit);
            let DelayPiece { after, slack } = line.piece;
            // Without an end there is nothing to watch.
            g.fill(self.unit);
            if after.is_finite() {
                g[0] = instant - after + slack[0];
            }
            if let Some(end) = line.end_of(after) {
                g[1] = end - instant + slack[1];
            }
            (g[2], g[3]) = (delay + band, longest - delay + band);
        }
    }

    /// An indicator has become negative: its delay goes on in the neighbouring piece.
    pub fn pass(&mut self, indicator: usize) {
        let mut variable = self.lines.iter_mut().filter(|l| l.variable);
        let Some(line) = variable.nth(indicator / INDICATORS) else {
            return;
        };
        let after = line.piece.after;
        line.piece.after = match indicator % INDICATORS {
            0 => {
                let before = line.jumps.iter().rev().find(|j| **j < after);
                before.copied().unwrap_or(f64::NEG_INFINITY)
            }
            1 => line.end_of(after).unwrap_or(after),
            // The delay is out of its range, which is said when it is recorded.
            _ => after,
        };
    }
}

impl DelayLine {
    /// The jump that ends the piece that begins at `after`.
    fn end_of(&self, after: f64) -> Option<f64> {
        self.jumps.iter().copied().find(|j| *j > after)
    }

    /// Where the piece begins that an event at time `t` leaves: the present one as long as the instant is not beyond it.
    pub(super) fn piece_at(&self, t: f64, delay: f64, tolerance: f64, unit: f64) -> f64 {
        let newest = self.jumps.back().copied().unwrap_or(f64::NEG_INFINITY);
        let band = BAND * NOW * t.abs().max(unit);
        let (instant, near) = (t - delay, band + STAY * tolerance * delay);
        // Without a delay there is nothing to wait for.
        if delay <= band {
            return newest;
        }
        let after = self.piece.after;
        let end = self.end_of(after).unwrap_or(f64::INFINITY);
        if after - near <= instant && instant <= end + near {
            return after;
        }
        let before = self.jumps.iter().rev().find(|j| **j <= instant);
        before.copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// Takes the piece that an event leaves. The instant is on its side from there on.
    pub(super) fn take_piece(&mut self, t: f64, tolerance: f64, unit: f64) {
        let (after, instant) = (
            self.piece_at(t, self.delay, tolerance, unit),
            t - self.delay,
        );
        let band = BAND * NOW * t.abs().max(unit);
        let outside = |distance: f64| band + distance.max(0.0);
        let end = self.end_of(after).unwrap_or(f64::INFINITY);
        let slack = [outside(after - instant), outside(instant - end)];
        self.piece = DelayPiece { after, slack };
    }

    /// The value at an instant in the piece that begins at `after`, see [`DelayLine::at`].
    pub(super) fn in_piece(
        &self,
        after: f64,
        instant: f64,
        now: Option<(f64, f64)>,
    ) -> Option<f64> {
        let last = self.samples.len().checked_sub(1)?;
        let end = self.end_of(after);
        if let (Some((time, value)), None) = (now, end) {
            if instant >= time {
                return Some(value);
            }
            if instant > self.samples[last].0 {
                let from = self.smooth_from(last);
                return Some(neville(instant, self.nodes_to(last, from, (time, value))));
            }
        }
        // The first jump of all is the start.
        if self.slope && after == f64::NEG_INFINITY && end.is_some_and(|e| e <= self.samples[0].0) {
            return Some(0.0);
        }
        // At a jump there are two samples: the first one ends a piece, the other begins one.
        let from = self.samples.partition_point(|s| s.0 <= after);
        let from = from.saturating_sub(1);
        let to = end.map_or(last, |e| self.samples.partition_point(|s| s.0 < e));
        let to = to.clamp(from, last);
        let line = |edge: usize, nodes: Nodes| {
            let (at, value) = self.samples[edge];
            Some(value + neville_slope(at, nodes) * (instant - at))
        };
        if instant <= self.samples[from].0 || from == to {
            let to = to.min(self.smooth_to(from));
            return line(from, self.nodes_from(from, to));
        }
        if instant >= self.samples[to].0 {
            let from = from.max(self.smooth_from(to));
            return line(to, self.nodes_until(from, to));
        }
        let right = self.samples.partition_point(|s| s.0 <= instant);
        if self.samples[right - 1].0 == self.samples[right].0 {
            return Some(self.samples[right].1);
        }
        let from = from.max(self.smooth_from(right - 1));
        let to = to.min(self.smooth_to(right - 1));
        Some(neville(instant, self.nodes_around(right - 1, from, to)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// t² up to the jump at 1, then 10 - t.
    fn line() -> DelayLine {
        let times = [0.0, 0.2, 0.5, 0.8, 1.0, 1.0, 1.3, 1.6, 2.0];
        let value = |k: usize, t: f64| if k < 5 { t * t } else { 10.0 - t };
        let samples = times.iter().enumerate().map(|(k, &t)| (t, value(k, t)));
        DelayLine {
            cell: 0,
            variable: true,
            slope: false,
            delay: 0.5,
            longest: 3.0,
            samples: samples.collect(),
            breaks: VecDeque::from([1.0]),
            jumps: VecDeque::from([0.0, 1.0]),
            piece: DelayPiece::FIRST,
        }
    }

    fn near(value: Option<f64>, expected: f64) {
        let value = value.unwrap_or(f64::NAN);
        assert!((value - expected).abs() < 1e-12, "{value} {expected}");
    }

    #[test]
    fn a_piece_goes_on_as_a_straight_line_behind_its_ends() {
        let l = line();
        near(l.in_piece(0.0, 0.6, None), 0.36);
        near(l.in_piece(0.0, 1.5, None), 1.0 + 2.0 * 0.5);
        near(l.in_piece(1.0, 1.5, None), 8.5);
        near(l.in_piece(1.0, 0.5, None), 9.5);
        // Before the start the value at the start holds.
        near(l.in_piece(f64::NEG_INFINITY, 0.3, None), 0.0);
        near(l.in_piece(1.0, 2.5, Some((3.0, 7.0))), 7.5);
    }

    #[test]
    fn pieces_are_passed_in_both_directions() {
        let mut lines = DelayLines {
            lines: vec![line()],
            from_left: true,
            tolerance: 1e-6,
            unit: 1.0,
        };
        let after = |lines: &DelayLines| lines.lines[0].piece.after;
        let mut passed = Vec::new();
        for indicator in [1, 1, 1, 0, 0, 0] {
            lines.pass(indicator);
            passed.push(after(&lines));
        }
        let none = f64::NEG_INFINITY;
        assert_eq!(passed, [0.0, 1.0, 1.0, 0.0, none, none]);
    }
}
