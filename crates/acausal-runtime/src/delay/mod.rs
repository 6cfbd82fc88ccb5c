//! `delay(x, time)`: the history of an expression (MLS 3.6 §3.7.4.1).
//!
//! Each cell keeps the samples of its expression at the accepted steps that are still within the longest delay, and is
//! read by interpolation through six samples around the instant ([`nodes`]), or fewer at an event, where the history
//! jumps. Six, because the integrator's steps are as long as polynomials of degree five allow: fewer would add an error that its
//! tolerance knows nothing of. Before the start the value at the start holds.
//!
//! The delay time may itself change between events, and the instant may lie behind the last sample, inside of the step that is being made (a
//! delay of zero is the expression itself). Then value and delay time at the very point that is evaluated are needed
//! ([`DelayLines::needs_point`]): the instant is found with this delay time, and the value takes part in the interpolation as the newest sample.
//!
//! A jump of the expression, and the start itself, comes out of the delay as a jump or a bend; the integrator stops
//! exactly there instead of stepping over it: at a known instant ([`DelayLines::next_jump`]), or, where the delay time changes, at
//! one that is located as those of event indicators are ([`pieces`]).

pub(crate) mod nodes;
pub(crate) mod pieces;

use std::collections::VecDeque;

use acausal_compiled::DelayCode;

use nodes::{LEFT, Nodes, POINTS};
use pieces::DelayPiece;

/// All delay lines of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DelayLines {
    pub(crate) lines: Vec<DelayLine>,
    /// While the integrator steps, a jump at the very end of the step has not come out yet.
    pub(crate) from_left: bool,
    /// Relative tolerance of the integrator: smaller differences at an event are no jumps.
    pub(crate) tolerance: f64,
    /// See [`crate::machine::Machine::time_unit`].
    pub(crate) unit: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DelayLine {
    /// Cell in `Mem`.
    cell: usize,
    /// The delay time changes between events.
    variable: bool,
    /// Zero before the start.
    slope: bool,
    pub(crate) delay: f64,
    pub(crate) longest: f64,
    pub(crate) samples: VecDeque<(f64, f64)>,
    /// Instants with two samples, of events: the limits from the left and from the right.
    pub(crate) breaks: VecDeque<f64>,
    /// Instants of jumps that may still come out.
    pub(crate) jumps: VecDeque<f64>,
    /// What is read if the delay time changes.
    pub(crate) piece: DelayPiece,
}

/// From where a jump is looked at.
#[derive(Clone, Copy)]
struct Side {
    from_left: bool,
    unit: f64,
}

/// A difference at an event is a jump when it is larger than this many relative tolerances.
const JUMP: f64 = 100.0;
/// Values that differ by less than this fraction are the same.
const SAME: f64 = 1e-9;
/// Instants that differ by less than this fraction are the same.
const NOW: f64 = 1e-14;

impl DelayLines {
    pub fn new(codes: &[DelayCode]) -> DelayLines {
        let mut lines = Vec::new();
        for code in codes {
            for k in 0..code.len {
                lines.push(DelayLine {
                    cell: code.base + k,
                    variable: code.variable,
                    slope: code.slope,
                    delay: 0.0,
                    longest: 0.0,
                    samples: VecDeque::new(),
                    breaks: VecDeque::new(),
                    jumps: VecDeque::new(),
                    piece: DelayPiece::FIRST,
                });
            }
        }
        DelayLines {
            lines,
            from_left: false,
            tolerance: 0.0,
            unit: 1.0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The shortest delay: in a longer step the history that is read would not exist yet. Those that change, and that of zero, are read
    /// inside of the step.
    pub fn shortest(&self) -> f64 {
        self.lines
            .iter()
            .filter(|l| !l.variable)
            .map(|l| l.delay)
            .filter(|d| *d > 0.0)
            .fold(f64::INFINITY, f64::min)
    }

    /// Stores the arguments of all lines at time `t`; `arguments(group)` are values, delays and longest delays. Fails with a
    /// delay that is negative or longer than the longest, and the latter (MLS 3.6 §3.7.4.1).
    pub fn record(
        &mut self,
        t: f64,
        first: usize,
        arguments: &[f64],
        len: usize,
    ) -> Result<(), (f64, f64)> {
        for k in 0..len {
            let line = &mut self.lines[first + k];
            let (delay, longest) = (arguments[len + k], arguments[2 * len + k]);
            if delay < 0.0 || delay > longest + NOW * longest.abs().max(self.unit) {
                return Err((delay, longest));
            }
            line.delay = delay.max(0.0);
            line.longest = arguments[2 * len + k].max(line.delay);
            let value = arguments[k];
            let last = line.samples.back().copied();
            // What a solution at an event changes by less than the tolerance is no jump, or every event would come out of
            // the delay as another one for ever.
            let jumps = |before: f64| {
                (value - before).abs() > JUMP * self.tolerance * value.abs().max(before.abs())
            };
            if last.is_none_or(|(at, before)| at == t && jumps(before))
                && line.jumps.back() != Some(&t)
            {
                line.jumps.push_back(t);
            }
            while line
                .jumps
                .front()
                .is_some_and(|j| j + line.longest < t - NOW * t.abs().max(self.unit))
            {
                line.jumps.pop_front();
            }
            // A second sample at one instant is the right limit of an event.
            if line.samples.len() >= 2 && line.samples[line.samples.len() - 2].0 == t {
                line.samples.pop_back();
            } else if last.is_some_and(|s| s.0 == t) {
                line.breaks.push_back(t);
            }
            line.samples.push_back((t, value));
            if line.variable && !self.from_left {
                line.take_piece(t, self.tolerance, self.unit);
            }
            let oldest = t - line.longest;
            while line.samples.len() > LEFT && line.samples[LEFT].0 < oldest {
                line.samples.pop_front();
            }
            let oldest = line.samples.front().map_or(t, |s| s.0);
            while line.breaks.front().is_some_and(|b| *b < oldest) {
                line.breaks.pop_front();
            }
        }
        Ok(())
    }

    /// The next instant after `t` at which a jump comes out of a delay that is constant until then.
    pub fn next_jump(&self, t: f64) -> f64 {
        let after = t + NOW * t.abs().max(self.unit);
        let mut next = f64::INFINITY;
        for line in self.lines.iter().filter(|l| !l.variable) {
            for jump in &line.jumps {
                let instant = jump + line.delay;
                if instant > after {
                    next = next.min(instant);
                }
            }
        }
        next
    }

    fn side(&self) -> Side {
        Side {
            from_left: self.from_left,
            unit: self.unit,
        }
    }

    /// What each line reads.
    pub fn pieces(&self) -> Vec<DelayPiece> {
        self.lines.iter().map(|l| l.piece).collect()
    }

    /// Looks at jumps that come out now from one side, each line at a piece; from where and at which ones before.
    pub fn look_from(&mut self, from_left: bool, pieces: &[DelayPiece]) -> (bool, Vec<DelayPiece>) {
        let before = (self.from_left, self.pieces());
        self.from_left = from_left;
        for (line, piece) in self.lines.iter_mut().zip(pieces) {
            line.piece = *piece;
        }
        before
    }

    /// Forgets all histories.
    pub fn forget(&mut self) {
        for line in &mut self.lines {
            line.samples.clear();
            line.breaks.clear();
            line.jumps.clear();
            line.piece = DelayPiece::FIRST;
        }
    }

    /// Whether cells hold other values than their delays give at time `t`.
    pub fn change(&self, t: f64, mem: &[f64]) -> bool {
        let differs = |l: &DelayLine| {
            self.read(l, t, l.delay, None)
                .is_some_and(|v| (v - mem[l.cell]).abs() > SAME * v.abs().max(1e-300))
        };
        self.lines.iter().any(differs)
    }

    /// The value of a line at time `t`; `now` is that of its expression at the point that is being evaluated.
    fn read(&self, line: &DelayLine, t: f64, delay: f64, now: Option<f64>) -> Option<f64> {
        let now = now.map(|value| (t, value));
        if !line.variable {
            return line.at(t - delay, self.side(), now);
        }
        let after = if self.from_left {
            line.piece.after
        } else {
            line.piece_at(t, delay, self.tolerance, self.unit)
        };
        line.in_piece(after, t - delay, now)
    }

    /// Writes the delayed values at time `t` to their cells.
    pub fn write(&self, t: f64, mem: &mut [f64]) {
        for line in self.lines.iter().filter(|l| !l.needs_point(t)) {
            if let Some(v) = line.at(t - line.delay, self.side(), None) {
                mem[line.cell] = v;
            }
        }
    }

    /// Whether a cell depends on the values at time `t`.
    pub fn needs_point(&self, t: f64) -> bool {
        self.lines.iter().any(|l| l.needs_point(t))
    }

    /// Writes the delayed values that depend on the values at time `t`, which are given; true if a cell changed.
    pub fn write_with(
        &self,
        t: f64,
        first: usize,
        arguments: &[f64],
        len: usize,
        mem: &mut [f64],
    ) -> bool {
        let mut changed = false;
        for (k, line) in self.lines[first..first + len].iter().enumerate() {
            if !line.needs_point(t) {
                continue;
            }
            // Trial points of the integrator may lie outside of what is allowed; what is accepted is checked when it is recorded.
            let delay = arguments[len + k].max(0.0);
            if let Some(v) = self.read(line, t, delay, Some(arguments[k])) {
                let cell = &mut mem[line.cell];
                changed |= cell.to_bits() != v.to_bits();
                *cell = v;
            }
        }
        changed
    }
}

impl DelayLine {
    fn needs_point(&self, t: f64) -> bool {
        let behind = |last: &(f64, f64)| t - self.delay > last.0;
        self.variable || self.delay == 0.0 || self.samples.back().is_some_and(behind)
    }

    /// The value at an instant; `now` is the point that is being evaluated, the newest sample if it is later than the others.
    fn at(&self, instant: f64, side: Side, now: Option<(f64, f64)>) -> Option<f64> {
        let (first, last) = (self.samples.front()?, self.samples.back()?);
        let t = instant;
        if let Some((time, value)) = now {
            if t >= time {
                return Some(value);
            }
            if t > last.0 {
                let newest = self.samples.len() - 1;
                let nodes = self.nodes_to(newest, self.smooth_from(newest), (time, value));
                return Some(neville(t, nodes));
            }
        }
        // A jump that comes out now has come out or has not, whatever the rounding of `t - delay`; the start may be one.
        let beside = if side.from_left { -NOW } else { NOW };
        let t = t + beside * t.abs().max(side.unit);
        if t <= first.0 {
            return Some(if self.slope { 0.0 } else { first.1 });
        }
        if t >= last.0 {
            return Some(last.1);
        }
        let right = self.samples.partition_point(|s| s.0 <= t);
        if self.samples[right - 1].0 == self.samples[right].0 {
            return Some(self.samples[right].1);
        }
        let (from, to) = (self.smooth_from(right - 1), self.smooth_to(right - 1));
        Some(neville(t, self.nodes_around(right - 1, from, to)))
    }
}

/// The value at `t` of the polynomial through at most [`POINTS`] points (Neville's scheme).
fn neville(t: f64, nodes: Nodes) -> f64 {
    let Nodes {
        times,
        mut values,
        count: n,
    } = nodes;
    for width in 1..n {
        for k in 0..n - width {
            let (a, b) = (times[k], times[k + width]);
            // In this form a constant stays the very same number, which `integer(delay(n, d))` needs.
            values[k] += (values[k + 1] - values[k]) * ((t - a) / (b - a));
        }
    }
    values[0]
}

/// The slope at `t` of the same polynomial.
fn neville_slope(t: f64, nodes: Nodes) -> f64 {
    let Nodes {
        times,
        mut values,
        count: n,
    } = nodes;
    let mut slopes = [0.0; POINTS];
    for width in 1..n {
        for k in 0..n - width {
            let (a, length) = (times[k], times[k + width] - times[k]);
            let (difference, part) = (values[k + 1] - values[k], (t - a) / length);
            slopes[k] += (slopes[k + 1] - slopes[k]) * part + difference / length;
            values[k] += difference * part;
        }
    }
    slopes[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: Side = Side {
        from_left: false,
        unit: 1.0,
    };
    const LEFT_SIDE: Side = Side {
        from_left: true,
        unit: 1.0,
    };

    fn line(samples: &[(f64, f64)]) -> DelayLine {
        DelayLine {
            cell: 0,
            variable: false,
            slope: false,
            delay: 0.0,
            longest: 0.0,
            samples: samples.iter().copied().collect(),
            breaks: nodes::breaks(samples.iter().copied()),
            jumps: VecDeque::new(),
            piece: DelayPiece::FIRST,
        }
    }

    #[test]
    fn a_cubic_is_reproduced() {
        let f = |t: f64| t * t * t - 2.0 * t + 1.0;
        let l = line(&[0.0, 0.5, 0.7, 1.5, 2.0].map(|t| (t, f(t))));
        for t in [0.6, 0.7, 1.0, 1.49] {
            assert!(
                (l.at(t, RIGHT, None).unwrap_or(f64::NAN) - f(t)).abs() < 1e-13,
                "{t}"
            );
        }
    }

    #[test]
    fn the_step_that_is_being_made_belongs_to_the_history() {
        let f = |t: f64| t * t * t - 2.0 * t + 1.0;
        let l = line(&[0.0, 0.5, 0.9].map(|t| (t, f(t))));
        let now = Some((1.5, f(1.5)));
        for t in [1.0, 1.2, 1.5] {
            let v = l.at(t, RIGHT, now).unwrap_or(f64::NAN);
            assert!((v - f(t)).abs() < 1e-13, "{t}");
        }
    }

    /// A long step and tiny ones behind it, as at a restart: errors of 1e-9 in the samples must not be multiplied by (0.5/1e-6)^4 inside of the long one.
    #[test]
    fn samples_close_together_do_not_amplify_their_errors() {
        let times = [0.0, 0.5, 1.0, 1.5, 1.5 + 1e-6, 1.5 + 3e-6, 1.5 + 7e-6];
        let noise = |k: usize| if k.is_multiple_of(2) { 1e-9 } else { -1e-9 };
        let cubic = |t: f64| t * t * t - 2.0 * t;
        let samples: Vec<(f64, f64)> = (times.iter().enumerate())
            .map(|(k, &t)| (t, cubic(t) + noise(k)))
            .collect();
        let l = line(&samples);
        for t in [1.1, 1.25, 1.4] {
            let v = l.at(t, RIGHT, None).unwrap_or(f64::NAN);
            assert!((v - cubic(t)).abs() < 2e-8, "{t}: {v} {}", cubic(t));
        }
    }

    #[test]
    fn a_constant_is_reproduced_exactly() {
        let l = line(&[0.1, 0.3, 0.7, 1.1, 1.3].map(|t| (t, 3.0)));
        for k in 0..100 {
            assert_eq!(l.at(0.1 + k as f64 * 0.012, RIGHT, None), Some(3.0));
        }
    }

    #[test]
    fn a_jump_stays_a_jump() {
        let l = line(&[(0.0, 0.0), (1.0, 0.0), (1.0, 5.0), (2.0, 5.0)]);
        assert_eq!(
            [0.5, 0.999, 1.0, 1.5].map(|t| l.at(t, RIGHT, None)),
            [Some(0.0), Some(0.0), Some(5.0), Some(5.0)]
        );
        assert_eq!(l.at(1.0, LEFT_SIDE, None), Some(0.0));
        assert_eq!(
            [l.at(-1.0, RIGHT, None), l.at(3.0, RIGHT, None)],
            [Some(0.0), Some(5.0)]
        );
    }

    #[test]
    fn a_jump_at_the_start_comes_out_as_one() {
        let l = line(&[(0.0, 1.0), (0.0, 3.0), (1.0, 3.0)]);
        assert_eq!(
            [-1.0, 0.0, 0.5].map(|t| l.at(t, RIGHT, None)),
            [Some(1.0), Some(3.0), Some(3.0)]
        );
        assert_eq!(l.at(0.0, LEFT_SIDE, None), Some(1.0));
    }
}
