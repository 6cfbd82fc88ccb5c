//! `delay(x, time)`: the history of an expression (MLS 3.6 §3.7.4.1).
//!
//! Each cell keeps the samples of its expression at the accepted steps that are still within the longest delay, and is
//! read by linear interpolation between them. Before the start the value at the start holds.

use std::collections::VecDeque;

use acausal_codegen::DelayCode;

/// All delay lines of a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct DelayLines {
    lines: Vec<Line>,
}

#[derive(Clone, Debug)]
struct Line {
    /// Cell in `Mem`.
    cell: usize,
    delay: f64,
    longest: f64,
    samples: VecDeque<(f64, f64)>,
}

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
                });
            }
        }
        DelayLines { lines }
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
            // A second sample at one instant is the right limit of an event.
            if line.samples.len() >= 2 && line.samples[line.samples.len() - 2].0 == t {
                line.samples.pop_back();
            }
            line.samples.push_back((t, value));
            let oldest = t - line.longest;
            while line.samples.len() > 2 && line.samples[1].0 < oldest {
                line.samples.pop_front();
            }
        }
    }

    /// Writes the delayed values at time `t` to their cells.
    pub fn write(&self, t: f64, mem: &mut [f64]) {
        for line in &self.lines {
            if let Some(v) = line.at(t - line.delay) {
                mem[line.cell] = v;
            }
        }
    }
}

impl Line {
    fn at(&self, t: f64) -> Option<f64> {
        let (first, last) = (self.samples.front()?, self.samples.back()?);
        if t <= first.0 {
            return Some(first.1);
        }
        if t >= last.0 {
            return Some(last.1);
        }
        let k = self.samples.partition_point(|s| s.0 <= t);
        let (a, b) = (self.samples[k - 1], self.samples[k]);
        if b.0 == a.0 {
            Some(b.1)
        } else {
            Some(a.1 + (b.1 - a.1) * (t - a.0) / (b.0 - a.0))
        }
    }
}
