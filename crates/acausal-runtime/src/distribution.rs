//! `spatialDistribution`: what is carried along by a flow through a pipe of length one (MLS 3.6 §3.7.4.2).
//!
//! The value `z(y, t)` at the place `y` moves with the flow, `z_t + x'(t) z_y = 0`, so it is a function of the *label* `y - x(t)` of
//! the fluid: the profile is kept over labels, does not move, and the pipe is the window `-x .. 1 - x` over it. At the end where fluid
//! enters a sample is added at each accepted step; at the other end the profile is read, and forgotten beyond.
//!
//! Between samples the label and the value are polynomials of the *time of entry*, through up to six samples as in [`crate::delay`]: which
//! fluid leaves is the question when it entered. As functions of the label values would not be smooth where the flow turns (`x'` is zero there). The
//! profile of the start is linear between its points.
//!
//! A jump or bend in the profile (a point of the start, an input that jumped, or that changed while the flow stood still) shows at the outlet
//! as an event: the third kind of cell is the distance to the next one, and the model watches its sign. The read value stays on the near side
//! until the event has happened, so that the integrator never sees both sides.
//!
//! The value at the end where fluid enters is the input itself. In a step in which fluid passes the whole pipe the point that is
//! evaluated is the newest sample. Reading and recording take constant time but for samples that are passed.

use std::collections::VecDeque;

use acausal_compiled::{SpatialCode, SpatialOutput};

/// All distributions of a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Distributions {
    pub(crate) lines: Vec<Distribution>,
    /// Relative tolerance of the integrator: smaller differences are no jumps.
    pub(crate) tolerance: f64,
}

/// One output of one operator.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Distribution {
    /// Cell in `Mem`.
    cell: usize,
    output: SpatialOutput,
    pub(crate) profile: SpatialProfile,
}

/// Values over labels.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SpatialProfile {
    /// By ascending labels; two with one label where it jumps or bends.
    pub(crate) samples: VecDeque<Sample>,
    /// Labels of jumps that have not come out.
    pub(crate) jumps: VecDeque<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    /// Time of entry; of the profile at the start the label itself.
    pub(crate) entry: f64,
    pub(crate) label: f64,
    pub(crate) value: f64,
}

/// The arguments of the operator at a point.
#[derive(Clone, Copy, Debug)]
struct Inputs {
    left: f64,
    right: f64,
    x: f64,
    forward: bool,
}

/// An end of the pipe, at `y = 0` or `y = 1`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Left,
    Right,
}

/// A difference of values is a jump when it is larger than this many relative tolerances.
const JUMP: f64 = 100.0;
/// Labels that differ by less than this fraction of the distance travelled are the same: rounding of `1 - x`.
const SAME: f64 = 1e-12;
/// Largest number of samples of an interpolation, and how many of them lie on the near side (see [`crate::delay`]).
const POINTS: usize = 6;
const NEAR: usize = 3;

impl Distributions {
    pub fn new(codes: &[SpatialCode]) -> Distributions {
        let mut lines = Vec::new();
        for code in codes {
            lines.extend((0..code.len).map(|k| Distribution {
                cell: code.base + k,
                output: code.output,
                profile: SpatialProfile::default(),
            }));
        }
        Distributions {
            lines,
            tolerance: 0.0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The cells that hold outputs now.
    pub fn outputs(&self, mem: &[f64]) -> Vec<f64> {
        self.lines.iter().map(|l| mem[l.cell]).collect()
    }

    /// Forgets all profiles: the next record is the start.
    pub fn forget(&mut self) {
        for line in &mut self.lines {
            line.profile = SpatialProfile::default();
        }
    }

    /// Adds the arguments of a group at time `t`; at events what has reached the outlet goes. Fails with the place of a point of the start that
    /// is out of order.
    pub fn record(
        &mut self,
        t: f64,
        first: usize,
        arguments: &[f64],
        code: &SpatialCode,
        event: bool,
    ) -> Result<(), f64> {
        for k in 0..code.len {
            let profile = &mut self.lines[first + k].profile;
            let inputs = Inputs::of(arguments, code.len, k);
            let begins = profile.samples.is_empty();
            if begins {
                let given = |j: usize| arguments[(SpatialCode::POINTS + j) * code.len + k];
                let points = (0..code.points).map(|j| (given(j), given(code.points + j)));
                profile.begin(inputs.x, points)?;
            }
            profile.enter(t, inputs, JUMP * self.tolerance, begins);
            profile.leave(inputs, event);
        }
        Ok(())
    }

    /// Writes the outputs of a group for arguments at time `t`; true if a cell changed.
    pub fn write(
        &self,
        t: f64,
        first: usize,
        arguments: &[f64],
        len: usize,
        mem: &mut [f64],
    ) -> bool {
        let mut changed = false;
        for (k, line) in self.lines[first..first + len].iter().enumerate() {
            let inputs = Inputs::of(arguments, len, k);
            if let Some(v) = line.profile.output(line.output, t, inputs) {
                let cell = &mut mem[line.cell];
                changed |= cell.to_bits() != v.to_bits();
                *cell = v;
            }
        }
        changed
    }
}

impl Inputs {
    fn of(arguments: &[f64], len: usize, k: usize) -> Inputs {
        Inputs {
            left: arguments[k],
            right: arguments[len + k],
            x: arguments[2 * len + k],
            forward: arguments[3 * len + k] != 0.0,
        }
    }

    /// Where fluid enters, and its label and value.
    fn inlet(&self) -> (End, f64, f64) {
        match self.forward {
            true => (End::Left, -self.x, self.left),
            false => (End::Right, 1.0 - self.x, self.right),
        }
    }

    /// Where fluid leaves, and its label.
    fn outlet(&self) -> (End, f64) {
        match self.forward {
            true => (End::Right, 1.0 - self.x),
            false => (End::Left, -self.x),
        }
    }
}

impl End {
    /// Labels as seen from inside: larger is further out.
    fn out(self, label: f64) -> f64 {
        match self {
            End::Left => -label,
            End::Right => label,
        }
    }
}

impl SpatialProfile {
    /// The profile of the start.
    fn begin(&mut self, x: f64, points: impl Iterator<Item = (f64, f64)>) -> Result<(), f64> {
        let mut last = f64::NEG_INFINITY;
        for (place, value) in points {
            if !(0.0..=1.0).contains(&place) || place < last {
                return Err(place);
            }
            let label = place - x;
            let sample = Sample {
                entry: label,
                label,
                value,
            };
            // Inner points are bends: two samples, unless the user wrote two already.
            match self.samples.back() {
                Some(before) if before.label == label => {
                    if self.jumps.back() == Some(&label) {
                        self.samples.pop_back();
                    } else {
                        self.jumps.push_back(label);
                    }
                }
                _ if place > 0.0 && place < 1.0 && !self.samples.is_empty() => {
                    self.samples.push_back(sample);
                    self.jumps.push_back(label);
                }
                _ => {}
            }
            self.samples.push_back(sample);
            last = place;
        }
        Ok(())
    }

    /// The sample number `k` counted from an end.
    fn nth(&self, end: End, k: usize) -> Option<Sample> {
        match end {
            End::Left => self.samples.get(k),
            End::Right => (self.samples.len().checked_sub(k + 1)).and_then(|k| self.samples.get(k)),
        }
        .copied()
    }

    fn push(&mut self, end: End, sample: Sample) {
        match end {
            End::Left => self.samples.push_front(sample),
            End::Right => self.samples.push_back(sample),
        }
    }

    fn pop(&mut self, end: End) {
        match end {
            End::Left => self.samples.pop_front(),
            End::Right => self.samples.pop_back(),
        };
    }

    /// The jump that is next to an end.
    fn jump(&self, end: End) -> Option<f64> {
        match end {
            End::Left => self.jumps.front(),
            End::Right => self.jumps.back(),
        }
        .copied()
    }

    fn pop_jump(&mut self, end: End) {
        match end {
            End::Left => self.jumps.pop_front(),
            End::Right => self.jumps.pop_back(),
        };
    }

    /// Adds what enters.
    fn enter(&mut self, t: f64, inputs: Inputs, jump: f64, begins: bool) {
        let (end, label, value) = inputs.inlet();
        let beyond = |l: f64| end.out(l) > end.out(label);
        // What was there has left by this end before the flow turned.
        if self.nth(end, 0).is_some_and(|s| beyond(s.label))
            && let Some(cut) = self.sample_at(end, label, None)
        {
            while self.nth(end, 0).is_some_and(|s| beyond(s.label)) {
                self.pop(end);
            }
            while self.jump(end).is_some_and(beyond) {
                self.pop_jump(end);
            }
            if self.nth(end, 0).is_none_or(|s| s.label != label) {
                self.push(end, cut);
            }
        }
        let sample = Sample {
            entry: t,
            label,
            value,
        };
        match (self.nth(end, 0), self.nth(end, 1)) {
            (Some(last), second) if last.label == label => {
                // A second sample of one label is the right limit of an event, or the newest while the flow stands still.
                let before = match second {
                    Some(second) if second.label == label => {
                        self.pop(end);
                        second
                    }
                    _ => last,
                };
                self.push(end, sample);
                let size = value.abs().max(before.value.abs());
                let jumps = begins || (value - before.value).abs() > jump * size;
                if jumps && self.jump(end) != Some(label) {
                    match end {
                        End::Left => self.jumps.push_front(label),
                        End::Right => self.jumps.push_back(label),
                    }
                }
            }
            _ => self.push(end, sample),
        }
    }

    /// Forgets what has left; jumps leave at events only.
    fn leave(&mut self, inputs: Inputs, event: bool) {
        let (end, label) = inputs.outlet();
        let near = SAME * inputs.x.abs().max(1.0);
        while event
            && let Some(jump) = self.jump(end)
            && end.out(jump) >= end.out(label) - near
            && self.samples.len() > 1
        {
            while self.nth(end, 0).is_some_and(|s| s.label != jump) && self.samples.len() > 1 {
                self.pop(end);
            }
            if self.samples.len() > 1 {
                self.pop(end);
            }
            self.pop_jump(end);
        }
        let limit = self.jump(end).map_or(f64::NEG_INFINITY, |j| end.out(j));
        let limit = limit.max(end.out(label));
        while self
            .nth(end, NEAR)
            .is_some_and(|s| end.out(s.label) > limit)
        {
            self.pop(end);
        }
    }

    /// What a cell holds.
    fn output(&self, output: SpatialOutput, t: f64, inputs: Inputs) -> Option<f64> {
        let (inlet, entered, value) = inputs.inlet();
        let (outlet, label) = inputs.outlet();
        let asked = match output {
            SpatialOutput::Left => End::Left,
            SpatialOutput::Right => End::Right,
            SpatialOutput::Distance => {
                let next = self.jump(outlet).map(|j| outlet.out(label) - outlet.out(j));
                return Some(next.map_or(1.0, |d| d.min(1.0)));
            }
        };
        if asked == inlet {
            return Some(value);
        }
        let now = Sample {
            entry: t,
            label: entered,
            value,
        };
        let newer = self.nth(inlet, 0)?;
        // What is between recorded samples is better known from these.
        let passed = inlet.out(label) > inlet.out(newer.label);
        let sample = self.sample_at(outlet, label, passed.then_some(now))?;
        Some(sample.value)
    }

    /// The profile at a label, seen from an end; `now` is the newest sample, at the other end.
    fn sample_at(&self, end: End, label: f64, now: Option<Sample>) -> Option<Sample> {
        let at = |k: usize| match k == self.samples.len() {
            true => now,
            false => self.nth(end, k),
        };
        let target = end.out(label);
        let stays = |s: Sample| Some(Sample { label, ..s });
        if let Some(jump) = self.jump(end)
            && target <= end.out(jump)
        {
            let mut k = 0;
            while at(k).is_some_and(|s| s.label != jump) {
                k += 1;
            }
            return stays(at(k)?);
        }
        let first = at(0)?;
        if target >= end.out(first.label) {
            return stays(first);
        }
        let mut k = 0;
        let behind = loop {
            match at(k + 1) {
                Some(s) if end.out(s.label) <= target => break s,
                Some(_) => k += 1,
                None => return stays(at(k)?),
            }
        };
        let before = at(k)?;
        let apart = |a: Sample, b: Sample| a.label != b.label && a.entry != b.entry;
        if !apart(before, behind) {
            let part = (label - before.label) / (behind.label - before.label);
            let value = before.value + (behind.value - before.value) * part;
            return Some(Sample {
                entry: behind.entry,
                label,
                value,
            });
        }
        // Beside a jump the other side has more of them.
        let lowest = |low: usize, most: usize| {
            let more = |l: &usize| *l > 0 && k + 1 - *l < most;
            let apart = |l: usize| at(l - 1).zip(at(l)).is_some_and(|(a, b)| apart(a, b));
            (1..=low)
                .rev()
                .take_while(|l| more(l) && apart(*l))
                .last()
                .map_or(low, |l| l - 1)
        };
        let mut low = lowest(k, NEAR);
        let mut high = k + 1;
        while high - low + 1 < POINTS
            && let Some(next) = at(high + 1)
            && apart(next, at(high)?)
        {
            high += 1;
        }
        low = lowest(low, POINTS - (high - k));
        let mut points = [before; POINTS];
        let count = high - low + 1;
        for (slot, j) in points.iter_mut().zip(low..=high) {
            *slot = at(j)?;
        }
        let points = &points[..count];
        let entry = entry_of(points, before, behind, label);
        let value = interpolated(points, entry, |s| s.value);
        Some(Sample {
            entry,
            label,
            value,
        })
    }
}

/// The time at which the fluid of a label entered, between those of two samples on both sides of it (the Illinois variant of regula falsi).
fn entry_of(points: &[Sample], before: Sample, behind: Sample, label: f64) -> f64 {
    let (mut a, mut b) = (before.entry, behind.entry);
    let (mut fa, mut fb) = (before.label - label, behind.label - label);
    if fb == 0.0 {
        return b;
    }
    let mut side = 0;
    for _ in 0..MOST_ROUNDS {
        let middle = a + (b - a) * (fa / (fa - fb));
        let middle = match (middle - a) * (middle - b) < 0.0 {
            true => middle,
            false => a + (b - a) * 0.5,
        };
        let f = interpolated(points, middle, |s| s.label) - label;
        if f == 0.0 || middle == a || middle == b {
            return middle;
        }
        if (f > 0.0) == (fa > 0.0) {
            (a, fa) = (middle, f);
            if side == 1 {
                fb *= 0.5;
            }
            side = 1;
        } else {
            (b, fb) = (middle, f);
            if side == 2 {
                fa *= 0.5;
            }
            side = 2;
        }
    }
    a + (b - a) * 0.5
}

/// Far more than the rounds until two neighbouring numbers are left.
const MOST_ROUNDS: usize = 100;

/// The polynomial of the time of entry through the samples (Neville's scheme).
fn interpolated(points: &[Sample], entry: f64, what: impl Fn(&Sample) -> f64) -> f64 {
    let mut values = [0.0; POINTS];
    for (slot, s) in values.iter_mut().zip(points) {
        *slot = what(s);
    }
    let n = points.len();
    for width in 1..n {
        for k in 0..n - width {
            let (a, b) = (points[k].entry, points[k + width].entry);
            values[k] += (values[k + 1] - values[k]) * ((entry - a) / (b - a));
        }
    }
    values[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(x: f64, left: f64, right: f64, forward: bool) -> Inputs {
        Inputs {
            left,
            right,
            x,
            forward,
        }
    }

    fn started(x: f64, points: &[(f64, f64)], first: Inputs) -> SpatialProfile {
        let mut p = SpatialProfile::default();
        assert_eq!(p.begin(x, points.iter().copied()), Ok(()));
        p.enter(0.0, first, 1e-4, true);
        p.leave(first, true);
        p
    }

    /// With x = t + t²/8 what leaves at t entered when x was less by one.
    #[test]
    fn what_entered_comes_out() {
        let x = |t: f64| t + t * t / 8.0;
        let f = |t: f64| (3.0 * t).sin();
        let mut p = started(0.0, &[(0.0, 7.0), (1.0, 7.0)], inputs(0.0, 0.0, 0.0, true));
        for k in 1..=100 {
            let t = k as f64 * 0.02;
            let i = inputs(x(t), f(t), 0.0, true);
            let out = p.output(SpatialOutput::Right, t, i);
            let entered = -4.0 + (16.0 + 8.0 * (x(t) - 1.0)).max(0.0).sqrt();
            let expected = match x(t) < 1.0 {
                true => 7.0,
                false => f(entered),
            };
            // Until the event the near side of the first jump is seen.
            let jumped = p.jumps.is_empty();
            assert!(jumped == (x(t) - 1.0 > 0.03) || (x(t) - 1.0).abs() < 0.03);
            if jumped || x(t) < 1.0 {
                let out = out.unwrap_or(f64::NAN);
                assert!((out - expected).abs() < 1e-7, "{t} {out} {expected}");
            }
            p.enter(t, i, 1e-4, false);
            p.leave(i, p.output(SpatialOutput::Distance, t, i) <= Some(0.0));
        }
        assert!(p.samples.len() < 100);
    }

    #[test]
    fn a_profile_is_linear_between_its_points() {
        let points = [(0.0, 1.0), (0.5, 3.0), (0.5, 4.0), (1.0, 0.0)];
        let mut p = started(2.0, &points, inputs(2.0, 1.0, 0.0, true));
        let at = |p: &SpatialProfile, x: f64| {
            p.output(SpatialOutput::Right, 1.0, inputs(x, 9.0, 0.0, true))
        };
        assert_eq!(at(&p, 2.0), Some(0.0));
        assert_eq!(at(&p, 2.25), Some(2.0));
        assert_eq!(at(&p, 2.75), Some(4.0), "the near side until the event");
        let i = inputs(2.5, 9.0, 0.0, true);
        assert_eq!(p.output(SpatialOutput::Distance, 1.0, i), Some(0.0));
        p.leave(i, true);
        assert_eq!(at(&p, 2.75), Some(2.0));
    }

    #[test]
    fn what_turns_comes_back() {
        let mut p = started(0.0, &[(0.0, 5.0), (1.0, 5.0)], inputs(0.0, 0.0, 0.0, true));
        for k in 1..=10 {
            let t = k as f64 * 0.05;
            let i = inputs(t, t, 0.0, true);
            p.enter(t, i, 1e-4, false);
            p.leave(i, false);
        }
        // Half full of what entered; backwards it leaves in the opposite order.
        let back = inputs(0.25, 0.0, 8.0, false);
        let out = p.output(SpatialOutput::Left, 0.75, back).unwrap_or(0.0);
        assert!((out - 0.25).abs() < 1e-13, "{out}");
    }
}
