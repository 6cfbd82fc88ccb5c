//! Instants that are known in advance: `sample(start, interval)` and relations of `time`.
//!
//! A sample is a clock of start, interval and count, so that its instants are `start + count*interval` without
//! accumulated rounding. The numbers that a model writes as decimals are rounded (0.1 and 0.3), so that instants that are
//! equal, 3 times 0.1 and once 0.3, differ in their last digits; instants that differ by no more than the rounding errors of
//! their computation ([`SampleClock::rounding`]) are one event. Nothing is lost by that: between them there is no room
//! for a step. A relation such as `time > 1` or `time - t0 >= 2*T` is linear in time and otherwise constant
//! between events; its instant is computed, the integrator stops exactly there, and no indicator is needed. At the
//! instant itself `time > 1` is not true yet; what holds after the event is found a little later. Here are those whose instants
//! may change at events (`time >= next`); the others are in a timetable ([`crate::machine::timetable`]).

use acausal_compiled::fixed;

use super::EventState;
use crate::SimError;
use crate::machine::timetable::LATER;
use crate::machine::{Machine, ProgramId};

/// The clock of one cell of `sample`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SampleClock {
    pub cell: usize,
    start: f64,
    interval: f64,
    /// Number of instants that are over.
    pub count: u64,
}

impl SampleClock {
    pub fn interval(&self) -> f64 {
        self.interval
    }

    pub fn next(&self) -> f64 {
        self.start + self.count as f64 * self.interval
    }

    /// Half a unit in the last place each for the written numbers, their product and the sum, and the same for the clock
    /// that it is compared with.
    fn rounding(&self) -> f64 {
        let size = self.start.abs() + self.count as f64 * self.interval;
        4.0 * f64::EPSILON * size
    }

    fn is_due(&self, t: f64) -> bool {
        self.next() <= t + self.rounding()
    }

    /// Continues at time `t`, where a run stored a count. It holds if the instant before lies behind and the next one does not; otherwise the clock
    /// has other parameters now, and the instants that are over are those up to `t`.
    pub fn resume(&mut self, stored: f64, t: f64) {
        let at = |count: u64| SampleClock { count, ..*self };
        let count = stored as u64;
        let (next, before) = (at(count), count.checked_sub(1).map(at));
        let holds = count as f64 == stored
            && next.next() >= t - next.rounding()
            && before.is_none_or(|b| b.is_due(t));
        if holds {
            self.count = count;
        } else if self.is_due(t) {
            self.count += 1;
        }
    }
}

/// The clocks of a model; instants before `t0` are over.
pub(super) fn clocks(machine: &mut Machine, t0: f64) -> Result<Vec<SampleClock>, SimError> {
    let model = machine.model.clone();
    let mut clocks = Vec::new();
    for (k, code) in model.events.samples.iter().enumerate() {
        machine.run(ProgramId::Sample(k), &[], &[]);
        for j in 0..code.len {
            let (start, interval) = (machine.out[j], machine.out[code.len + j]);
            if interval <= 0.0 || !interval.is_finite() || !start.is_finite() {
                let span = model.symbols.origin(code.origin).span;
                return Err(SimError::Sample {
                    start,
                    interval,
                    span,
                });
            }
            let count = if start >= t0 {
                0
            } else {
                ((t0 - start) / interval - 1e-9).ceil().max(0.0) as u64
            };
            clocks.push(SampleClock {
                cell: code.base + j,
                start,
                interval,
                count,
            });
        }
    }
    Ok(clocks)
}

impl EventState {
    /// The next instant that is known in advance, after `t`.
    pub fn next_time_event(&self, machine: &mut Machine, t: f64, y: &[f64], yp: &[f64]) -> f64 {
        let samples = self.samples.iter().map(|s| s.next());
        let mut next = samples
            .fold(f64::INFINITY, f64::min)
            .min(machine.delays.next_jump(t))
            .min(machine.next_of_timetable(t));
        let model = machine.model.clone();
        if !model.events.time_events.is_empty() {
            machine.run(ProgramId::Times, y, yp);
            for code in &model.events.time_events {
                for &instant in &machine.out[code.out..code.out + code.len] {
                    // What is due now has been handled now.
                    if instant > t && instant < next && !machine.is_now(instant, t) {
                        next = instant;
                    }
                }
            }
        }
        next
    }

    /// True when a relation of `time` changes at `t`.
    pub fn time_relation_is_due(
        &self,
        machine: &mut Machine,
        t: f64,
        y: &[f64],
        yp: &[f64],
    ) -> bool {
        let model = machine.model.clone();
        if model.events.time_events.is_empty() {
            return false;
        }
        machine.run(ProgramId::Times, y, yp);
        let instants = |c: &acausal_compiled::TimeEventCode| c.out..c.out + c.len;
        let events = &model.events.time_events;
        events.iter().any(|c| {
            machine.out[instants(c)]
                .iter()
                .any(|&i| machine.is_now(i, t))
        })
    }

    /// The values that relations of `time` take at this very instant, by number.
    pub(super) fn time_relations(
        &self,
        machine: &mut Machine,
        y: &[f64],
        yp: &[f64],
    ) -> Vec<(usize, f64)> {
        let t = machine.mem[fixed::TIME];
        if !self.time_relation_is_due(machine, t, y, yp) {
            return Vec::new();
        }
        let model = machine.model.clone();
        let mut due = Vec::new();
        let by_time = model.events.relations.iter().filter(|r| r.by_time);
        for (code, relation) in model.events.time_events.iter().zip(by_time) {
            let now = (0..code.len).filter(|k| machine.is_now(machine.out[code.out + k], t));
            due.extend(now.map(|k| relation.first + k));
        }
        // Such relations are linear in time, so any later instant will do.
        machine.mem[fixed::TIME] = t + LATER * t.abs().max(1.0);
        machine.run(ProgramId::Values, y, yp);
        machine.mem[fixed::TIME] = t;
        due.into_iter()
            .map(|number| (number, machine.out[number]))
            .collect()
    }

    /// True when an instant of `sample` has come.
    pub fn sample_is_due(&self, t: f64) -> bool {
        self.samples.iter().any(|s| s.is_due(t))
    }

    /// Sets the cells of the samples whose instant has come; true if there is one.
    pub(super) fn ring_samples(&mut self, machine: &mut Machine, t: f64) -> bool {
        let mut any = false;
        for s in &mut self.samples {
            let due = s.is_due(t);
            machine.mem[s.cell] = due as u8 as f64;
            if due {
                s.count += 1;
                any = true;
            }
        }
        any
    }
}
