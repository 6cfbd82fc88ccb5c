//! The largest and smallest value of a piecewise linear curve in a window that moves along it.
//!
//! The extremes over `[t - dx, t + dx]` are taken at samples inside the window or at its two ends. Windows are asked for in ascending order, so
//! each sample enters and leaves once: two queues hold the candidates for maximum and minimum (the monotonic queue of
//! sliding window extremes), and the whole sweep costs O(samples + windows).
//!
//! Example: samples 1, 3, 2 at times 0, 1, 2 and `dx = 0.5`. The window around 1 holds the sample 3 and ends at the
//! values 2 and 2.5, so the envelope there is [2, 3]. The queue for the maximum drops 1 when 3 enters, because 1 can never
//! be the maximum again.
//!
//! A jump (two samples at one time) belongs to every window that holds its time, with both values. NaN is contagious: a
//! window that holds one has the envelope [NaN, NaN], and no distance from it exceeds anything.

use std::collections::VecDeque;

use crate::interpolate::interpolate;

/// A curve through `(time[i], value[i])`, time ascending, at least one sample, and the sweep over it.
pub(super) struct Envelope<'c> {
    time: &'c [f64],
    value: &'c [f64],
    /// The window holds the samples `first..end`.
    first: usize,
    end: usize,
    /// Positions of candidates, values descending.
    maxima: VecDeque<usize>,
    /// Positions of candidates, values ascending.
    minima: VecDeque<usize>,
    /// How many samples in the window are NaN.
    not_numbers: usize,
}

impl<'c> Envelope<'c> {
    pub(super) fn new(time: &'c [f64], value: &'c [f64]) -> Self {
        Self {
            time,
            value,
            first: 0,
            end: 0,
            maxima: VecDeque::new(),
            minima: VecDeque::new(),
            not_numbers: 0,
        }
    }

    /// Maximum and minimum over `[t - dx, t + dx]`; `t` must not decrease from call to call, and `dx` stays the same.
    pub(super) fn at(&mut self, t: f64, dx: f64) -> (f64, f64) {
        let (t0, t1) = (self.time[0], self.time[self.time.len() - 1]);
        let a = (t - dx).max(t0);
        let b = (t + dx).min(t1);
        while self.end < self.time.len() && self.time[self.end] <= b {
            self.enter(self.end);
            self.end += 1;
        }
        while self.first < self.time.len() && self.time[self.first] < a {
            self.not_numbers -= usize::from(self.value[self.first].is_nan());
            self.first += 1;
        }
        while self.maxima.front().is_some_and(|&i| i < self.first) {
            self.maxima.pop_front();
        }
        while self.minima.front().is_some_and(|&i| i < self.first) {
            self.minima.pop_front();
        }
        let mut up = self
            .maxima
            .front()
            .map_or(f64::NEG_INFINITY, |&i| self.value[i]);
        let mut down = self
            .minima
            .front()
            .map_or(f64::INFINITY, |&i| self.value[i]);
        if self.not_numbers > 0 {
            (up, down) = (f64::NAN, f64::NAN);
        }
        for edge in [a.min(t1), b.max(t0)] {
            let v = interpolate(self.time, self.value, edge);
            up = maximum(up, v);
            down = minimum(down, v);
        }
        (up, down)
    }

    fn enter(&mut self, i: usize) {
        let v = self.value[i];
        if v.is_nan() {
            self.not_numbers += 1;
            return;
        }
        while self.maxima.back().is_some_and(|&k| self.value[k] <= v) {
            self.maxima.pop_back();
        }
        self.maxima.push_back(i);
        while self.minima.back().is_some_and(|&k| self.value[k] >= v) {
            self.minima.pop_back();
        }
        self.minima.push_back(i);
    }
}

/// Maximum that is NaN when either is.
pub(super) fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else {
        a.max(b)
    }
}

/// Minimum that is NaN when either is.
pub(super) fn minimum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else {
        a.min(b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn example_of_the_module() {
        let mut e = Envelope::new(&[0.0, 1.0, 2.0], &[1.0, 3.0, 2.0]);
        assert_eq!(e.at(1.0, 0.5), (3.0, 2.0));
    }

    #[test]
    fn sweep_equals_brute_force() {
        // Deterministic pseudo-random curve with repeated times.
        let mut seed = 1u64;
        let mut next = || {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (seed >> 33) as f64 / f64::from(1u32 << 31)
        };
        let mut time = vec![0.0];
        for _ in 0..300 {
            let step = next();
            time.push(time[time.len() - 1] + if step < 0.2 { 0.0 } else { step });
        }
        let value: Vec<f64> = time.iter().map(|_| next()).collect();
        let end = time[time.len() - 1];
        for dx in [0.0, 0.3, 2.0, 1000.0] {
            let mut e = Envelope::new(&time, &value);
            for k in 0..=1000 {
                let t = f64::from(k) / 1000.0 * end;
                let (a, b) = ((t - dx).max(0.0), (t + dx).min(end));
                let inside = time
                    .iter()
                    .zip(&value)
                    .filter(|(s, _)| (a..=b).contains(*s))
                    .map(|(_, v)| *v);
                let ends = [interpolate(&time, &value, a), interpolate(&time, &value, b)];
                let all: Vec<f64> = inside.chain(ends).collect();
                let up = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let down = all.iter().copied().fold(f64::INFINITY, f64::min);
                assert_eq!(e.at(t, dx), (up, down), "t = {t}, dx = {dx}");
            }
        }
    }

    #[test]
    fn both_values_of_a_jump() {
        let (time, value) = ([0.0, 1.0, 1.0, 2.0], [0.0, 0.0, 5.0, 5.0]);
        assert_eq!(Envelope::new(&time, &value).at(1.0, 0.0), (5.0, 0.0));
    }
}
