//! Tables over time: a curve that begins at a start time, is shifted, and tells its events.
//!
//! Events are where the curve may jump or bend: depending on the setting at all points, at repeated points only, or only
//! at the ends (and so they are for smooth curves). [`TimeTable::next_event`] gives the first one after a time. The model
//! keeps it in a discrete variable and hands it back, now and before, with every evaluation: while both are the same and
//! time has reached it, the event is about to happen and the value is the one from the left; afterwards it is the one from
//! the right. In between, the value is that of the interval which ends at the next event, so that rounding of time never
//! reaches over a jump.
//!
//! Example: points (0, 1), (1, 1), (1, 2), (2, 2) by lines. After time 0 the next event is 1. At time 1 the value is 1 as
//! long as the model still says 1 for the next event, and 2 when it says 2.

use super::curve::{Curve, Extrapolation, Smoothness};
use crate::run_function::Number;

/// Two times count as one when they differ by less than this fraction.
const SAME: f64 = 1e-14;

/// A table over time.
#[derive(Debug)]
pub(super) struct TimeTable {
    pub(super) curve: Curve,
    start: f64,
    shift: f64,
    /// Points of the curve at which events happen, ascending: the last point of the interval before the event.
    events: Vec<usize>,
}

impl TimeTable {
    /// `kind` is 1 for events at all points, 2 at repeated ones only, 3 at the ends only.
    pub(super) fn new(curve: Curve, start: f64, shift: f64, kind: i64) -> TimeTable {
        let x = &curve.x;
        let n = x.len();
        let mut events = Vec::new();
        let smooth = curve.smoothness.is_smooth() && curve.extrapolation != Extrapolation::Periodic;
        if !smooth {
            for i in 1..n.saturating_sub(1) {
                let repeated = same(x[i], x[i + 1]);
                let again = same(x[i], x[i - 1]);
                let inside = !same(x[i], x[0]) && !same(x[i], x[n - 1]);
                if inside && !again && (kind == 1 || kind == 2 && repeated) {
                    events.push(i);
                }
            }
        }
        events.push(n - 1);
        TimeTable {
            curve,
            start,
            shift,
            events,
        }
    }

    /// The first event after `t`; a very large number when there is none.
    pub(super) fn next_event(&self, t: f64) -> Result<f64, String> {
        let none = f64::MAX;
        if t < self.start {
            return Ok(self.start);
        }
        if self.curve.x.len() < 2 {
            return Ok(none);
        }
        if let Some(period) = self.period() {
            let found = self.event_after(t, period);
            let found = found.map(|(periods, event)| self.instant(periods, event, period));
            return found.ok_or_else(|| too_short(period, t));
        }
        let after = |event: f64| event + self.shift > t && !same(event + self.shift, t);
        let first = self.curve.first();
        if after(first) {
            return Ok(first + self.shift);
        }
        let events = self.events.iter().map(|&i| self.curve.x[i]);
        let found = events.into_iter().find(|&e| after(e));
        Ok(found.map_or(none, |e| e + self.shift))
    }

    /// The length of a period, if the table is continued with periods.
    fn period(&self) -> Option<f64> {
        let (first, last) = (self.curve.first(), self.curve.last());
        (self.curve.extrapolation == Extrapolation::Periodic && last > first)
            .then_some(last - first)
    }

    /// When an event happens, by the number of whole periods before it. The one place where this is rounded: whoever
    /// asks for the same event gets the same bits.
    fn instant(&self, periods: f64, event: usize, period: f64) -> f64 {
        self.curve.x[event] + periods * period + self.shift
    }

    /// Periods and events around a time, in order.
    fn events_near(&self, t: f64, period: f64) -> impl Iterator<Item = (f64, usize)> + '_ {
        // The quotient is rounded, so the period may be the one before or behind.
        let middle = ((t - self.shift - self.curve.first()) / period).floor();
        [-2.0, -1.0, 0.0, 1.0]
            .into_iter()
            .flat_map(move |k| self.events.iter().map(move |&event| (middle + k, event)))
    }

    /// The first event after `t`.
    fn event_after(&self, t: f64, period: f64) -> Option<(f64, usize)> {
        self.events_near(t, period).find(|&(periods, event)| {
            let instant = self.instant(periods, event, period);
            instant > t && !same(instant, t)
        })
    }

    /// The value at `t` while the model says that the next event is `next`, and was `previous`.
    pub(super) fn value<T: Number>(
        &self,
        column: i64,
        t: T,
        next: f64,
        previous: f64,
    ) -> Result<T, String> {
        self.derivative(column, t, next, previous, 0)
    }

    /// Its derivative by time.
    pub(super) fn slope<T: Number>(
        &self,
        column: i64,
        t: T,
        next: f64,
        previous: f64,
    ) -> Result<T, String> {
        self.derivative(column, t, next, previous, 1)
    }

    /// Its second derivative by time.
    pub(super) fn curvature<T: Number>(
        &self,
        column: i64,
        t: T,
        next: f64,
        previous: f64,
    ) -> Result<T, String> {
        self.derivative(column, t, next, previous, 2)
    }

    fn derivative<T: Number>(
        &self,
        column: i64,
        t: T,
        next: f64,
        previous: f64,
        order: u32,
    ) -> Result<T, String> {
        let curve = &self.curve;
        let k = curve.column(column)?;
        let about_to_happen = next == previous && next < f64::MAX && t.value() >= next;
        if t.value() < self.start || about_to_happen && self.start >= next {
            return Ok(T::constant(0.0));
        }
        if curve.x.len() == 1 {
            return curve.derivative(column, t, order);
        }
        let (first, last) = (curve.first(), curve.last());
        let u = t - T::constant(self.shift);
        let (offset, low, high) = self.interval(t.value(), next)?;
        let u = u - T::constant(offset);
        if curve.extrapolation != Extrapolation::Periodic {
            if low == high && low == 0 {
                // Before the first point; at the event itself it is the first point.
                let u = clamp(u, f64::NEG_INFINITY, first);
                return match u.value() < first {
                    true => curve.beyond(k, u, order),
                    false => Ok(curve.on_piece(k, 0, u, order)),
                };
            }
            if low == high {
                let u = clamp(u, last, f64::INFINITY);
                return match u.value() > last {
                    true => curve.beyond(k, u, order),
                    false => Ok(curve.on_piece(k, low - 1, u, order)),
                };
            }
        }
        // Within the interval from point `low` to point `high`; a repeated point at its beginning is its last copy.
        let u = clamp(u, curve.x[low], curve.x[high]);
        let mut from = low;
        while from + 1 < high && curve.x[from + 1] <= curve.x[low] {
            from += 1;
        }
        let piece = curve.piece(u.value(), from, high);
        if curve.smoothness == Smoothness::Constant {
            // The value of the last point belongs to the next interval.
            return Ok(curve.step(k, piece, order));
        }
        Ok(curve.on_piece(k, piece, u, order))
    }

    /// The interval that ends at the event `next`, as points of the curve, and by how much time is moved to get there. Before
    /// the first point it is (0, 0); behind the last one (n - 1, n - 1).
    fn interval(&self, t: f64, next: f64) -> Result<(f64, usize, usize), String> {
        let x = &self.curve.x;
        let n = x.len();
        if let Some(period) = self.period() {
            let is_next =
                |&(periods, event): &(f64, usize)| same(self.instant(periods, event, period), next);
            // An event that is not of this table, such as its start, leaves the interval that time is in.
            let (periods, event) = (next < f64::MAX)
                .then(|| self.events_near(next, period).find(is_next))
                .flatten()
                .or_else(|| self.event_after(t, period))
                .ok_or_else(|| too_short(period, t))?;
            return Ok((periods * period, self.point_before(event), event));
        }
        let (first, last) = (self.curve.first(), self.curve.last());
        let end = next - self.shift;
        if t < self.start || next >= f64::MAX || end > last && !same(end, last) {
            let u = t - self.shift;
            // The model has no event ahead, or one that is not of this table.
            return Ok(match u {
                u if u < first => (0.0, 0, 0),
                u if u >= last => (0.0, n - 1, n - 1),
                _ => (0.0, 0, n - 1),
            });
        }
        if end <= first || same(end, first) {
            return Ok(match t - self.shift < first || same(end, first) {
                true => (0.0, 0, 0),
                false => (0.0, 0, n - 1),
            });
        }
        let ends = |&&event: &&usize| x[event] >= end || same(x[event], end);
        let event = self.events.iter().find(ends).copied().unwrap_or(n - 1);
        Ok((0.0, self.point_before(event), event))
    }

    /// The point at which the interval that ends at this event begins.
    fn point_before(&self, event: usize) -> usize {
        match self.events.partition_point(|&e| e < event) {
            0 => 0,
            k => self.events[k - 1],
        }
    }
}

fn too_short(period: f64, t: f64) -> String {
    format!("a period of {period} is too short to tell the events of a table apart at time = {t}")
}

fn clamp<T: Number>(u: T, low: f64, high: f64) -> T {
    if u.value() < low {
        T::constant(low)
    } else if u.value() > high {
        T::constant(high)
    } else {
        u
    }
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME * a.abs().max(b.abs()).max(f64::EPSILON)
}
