//! `delay(x, time)`: the history of an expression (MLS 3.6 §3.7.4.1).
//!
//! Each cell keeps the samples of its expression at the accepted steps that are still within the longest delay, and is
//! read by cubic interpolation through the four samples around the instant, or fewer at an event, where the history
//! jumps. A straight line would add an error that the tolerance of the integrator knows nothing of. Before the start the
//! value at the start holds.
//!
//! A jump of the expression, and the start itself, comes out of the delay as a jump or a bend; the integrator stops
//! exactly there ([`DelayLines::next_jump`]) instead of stepping over it.

use std::collections::VecDeque;

use acausal_codegen::DelayCode;

/// All delay lines of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DelayLines {
    pub(crate) lines: Vec<Line>,
    /// While the integrator steps, a jump at the very end of the step has not come out yet.
    pub(crate) from_left: bool,
    /// Relative tolerance of the integrator: smaller differences at an event are no jumps.
    pub(crate) tolerance: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    /// Cell in `Mem`.
    cell: usize,
    pub(crate) delay: f64,
    pub(crate) longest: f64,
    pub(crate) samples: VecDeque<(f64, f64)>,
    /// Instants of jumps that have not come out yet.
    pub(crate) jumps: VecDeque<f64>,
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
                lines.push(Line {
                    cell: code.base + k,
                    delay: 0.0,
                    longest: 0.0,
                    samples: VecDeque::new(),
                    jumps: VecDeque::new(),
                });
            }
        }
        DelayLines {
            lines,
            from_left: false,
            tolerance: 0.0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The shortest delay: a step must not be longer, or the history it reads would not exist yet.
    pub fn shortest(&self) -> f64 {
        self.lines
            .iter()
            .map(|l| l.delay)
            .filter(|d| *d > 0.0)
            .fold(f64::INFINITY, f64::min)
    }

    /// Stores the arguments of all lines at time `t`; `arguments(group)` are values, delays and longest delays.
    pub fn record(&mut self, t: f64, first: usize, arguments: &[f64], len: usize) {
        for k in 0..len {
            let line = &mut self.lines[first + k];
            line.delay = arguments[len + k].max(0.0);
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
                .is_some_and(|j| j + line.longest < t - NOW * t.abs().max(1.0))
            {
                line.jumps.pop_front();
            }
            // A second sample at one instant is the right limit of an event.
            if line.samples.len() >= 2 && line.samples[line.samples.len() - 2].0 == t {
                line.samples.pop_back();
            }
            line.samples.push_back((t, value));
            let oldest = t - line.longest;
            while line.samples.len() > 3 && line.samples[2].0 < oldest {
                line.samples.pop_front();
            }
        }
    }

    /// The next instant after `t` at which a jump comes out of a delay.
    pub fn next_jump(&self, t: f64) -> f64 {
        let after = t + NOW * t.abs().max(1.0);
        let mut next = f64::INFINITY;
        for line in &self.lines {
            for jump in &line.jumps {
                let instant = jump + line.delay;
                if instant > after {
                    next = next.min(instant);
                }
            }
        }
        next
    }

    /// Forgets all histories.
    pub fn forget(&mut self) {
        for line in &mut self.lines {
            line.samples.clear();
            line.jumps.clear();
        }
    }

    /// Whether cells hold other values than their delays give at time `t`.
    pub fn change(&self, t: f64, mem: &[f64]) -> bool {
        let differs = |l: &Line| {
            l.at(t - l.delay, self.from_left)
                .is_some_and(|v| (v - mem[l.cell]).abs() > SAME * v.abs().max(1e-300))
        };
        self.lines.iter().any(differs)
    }

    /// Writes the delayed values at time `t` to their cells.
    pub fn write(&self, t: f64, mem: &mut [f64]) {
        for line in &self.lines {
            if let Some(v) = line.at(t - line.delay, self.from_left) {
                mem[line.cell] = v;
            }
        }
    }
}

impl Line {
    fn at(&self, t: f64, from_left: bool) -> Option<f64> {
        let (first, last) = (self.samples.front()?, self.samples.back()?);
        if t <= first.0 {
            return Some(first.1);
        }
        if t >= last.0 {
            return Some(last.1);
        }
        // A jump that comes out now has come out or has not, whatever the rounding of `t - delay`.
        let beside = if from_left { -NOW } else { NOW };
        let t = t + beside * t.abs().max(1.0);
        if t <= first.0 {
            return Some(first.1);
        }
        if t >= last.0 {
            return Some(last.1);
        }
        let k = self.samples.partition_point(|s| s.0 <= t);
        let (mut first, mut last) = (k - 1, k);
        if self.samples[first].0 == self.samples[last].0 {
            return Some(self.samples[last].1);
        }
        if first > 0 && self.samples[first - 1].0 < self.samples[first].0 {
            first -= 1;
        }
        if last + 1 < self.samples.len() && self.samples[last].0 < self.samples[last + 1].0 {
            last += 1;
        }
        Some(neville(t, self.samples.range(first..=last)))
    }
}

/// Largest number of points of an interpolation.
const POINTS: usize = 4;

/// The value at `t` of the polynomial through at most [`POINTS`] points (Neville's scheme).
fn neville<'a>(t: f64, points: impl Iterator<Item = &'a (f64, f64)>) -> f64 {
    let (mut times, mut values, mut n) = ([0.0; POINTS], [0.0; POINTS], 0);
    for (time, value) in points.take(POINTS) {
        (times[n], values[n]) = (*time, *value);
        n += 1;
    }
    for width in 1..n {
        for k in 0..n - width {
            let (a, b) = (times[k], times[k + width]);
            // In this form a constant stays the very same number, which `integer(delay(n, d))` needs.
            values[k] += (values[k + 1] - values[k]) * ((t - a) / (b - a));
        }
    }
    values[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(samples: &[(f64, f64)]) -> Line {
        Line {
            cell: 0,
            delay: 0.0,
            longest: 0.0,
            samples: samples.iter().copied().collect(),
            jumps: VecDeque::new(),
        }
    }

    #[test]
    fn a_cubic_is_reproduced() {
        let f = |t: f64| t * t * t - 2.0 * t + 1.0;
        let l = line(&[0.0, 0.5, 0.7, 1.5, 2.0].map(|t| (t, f(t))));
        for t in [0.6, 0.7, 1.0, 1.49] {
            assert!(
                (l.at(t, false).unwrap_or(f64::NAN) - f(t)).abs() < 1e-13,
                "{t}"
            );
        }
    }

    #[test]
    fn a_constant_is_reproduced_exactly() {
        let l = line(&[0.1, 0.3, 0.7, 1.1, 1.3].map(|t| (t, 3.0)));
        for k in 0..100 {
            assert_eq!(l.at(0.1 + k as f64 * 0.012, false), Some(3.0));
        }
    }

    #[test]
    fn a_jump_stays_a_jump() {
        let l = line(&[(0.0, 0.0), (1.0, 0.0), (1.0, 5.0), (2.0, 5.0)]);
        assert_eq!(
            [0.5, 0.999, 1.0, 1.5].map(|t| l.at(t, false)),
            [Some(0.0), Some(0.0), Some(5.0), Some(5.0)]
        );
        assert_eq!(l.at(1.0, true), Some(0.0));
        assert_eq!(
            [l.at(-1.0, false), l.at(3.0, false)],
            [Some(0.0), Some(5.0)]
        );
    }
}
