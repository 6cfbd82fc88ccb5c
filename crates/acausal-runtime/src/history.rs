//! Histories of delays and distributions that are as dense as what they keep needs.
//!
//! The integrator chooses its steps for the states. What a `delay` keeps may change much faster, `delay(sin(20*time), 1)` beside a slow state, and samples at the
//! ends of steps would make anything of it. So after each step the kept expressions are evaluated in its middle, at values that satisfy the
//! equations as an output row does, and compared with the polynomial through the samples; if they differ by more than the tolerance
//! the step gets twice as many parts, and again. What was needed is recorded before the end of the step is.
//!
//! One more evaluation per step where the history is smooth; at most [`MOST_PARTS`] else.

use acausal_solver::Integrator;

use crate::SimError;
use crate::at_event::record_delays;
use crate::machine::{Machine, ProgramId};
use crate::simulate::Simulation;

/// A step has at most so many parts.
const MOST_PARTS: u32 = 1024;
/// Neighbouring distances of samples grow by this factor at most: polynomials through clusters of points amplify every error. Twice as much as the steps
/// of the integrator grow, so that there are fewer parts again with every step.
const GROWTH: f64 = 4.0;
/// Below this many tolerances, samples twice as dense must make the error smaller by [`LEAST_GAIN`] to be worth it (a smooth expression gains 2^6).
const SMALL: f64 = 100.0;
const LEAST_GAIN: f64 = 4.0;
/// An error relative to the size below which samples see what there is to see; twice without a gain is enough then.
const RESOLVED: f64 = 1e-3;
/// Samples of an interpolation, as in [`crate::delay`].
const POINTS: usize = 6;

/// The kept expressions at the last accepted steps, since the last event.
#[derive(Debug, Default)]
pub(crate) struct RecentSamples {
    samples: Vec<Sample>,
    /// The largest values so far: where an expression passes zero its error is not relative to zero.
    scales: Vec<f64>,
}

impl RecentSamples {
    /// Behind an event nothing is as it was but the sizes.
    pub(crate) fn forget(&mut self) {
        self.samples.clear();
    }
}

#[derive(Clone, Debug)]
struct Sample {
    t: f64,
    values: Vec<f64>,
}

impl Simulation {
    /// Adds what the step from the last point to `end` needs to the histories.
    pub(crate) fn refine_histories(
        &mut self,
        bdf: &mut dyn Integrator,
        end: f64,
        buffers: &mut (Vec<f64>, Vec<f64>),
        tolerance: f64,
    ) -> Result<(), SimError> {
        if self.machine.delays.is_empty() && self.machine.distributions.is_empty() {
            return Ok(());
        }
        let start = self.t;
        if self.recent.samples.last().is_none_or(|s| s.t != start) {
            let values = kept(&mut self.machine, start, &self.y, &self.yp);
            self.recent.samples = vec![Sample { t: start, values }];
        }
        let last = self.inside(bdf, end, buffers);
        let mut known = std::mem::take(&mut self.recent.samples);
        known.push(last);
        let mut scales = std::mem::take(&mut self.recent.scales);
        scales.resize(known[0].values.len(), 0.0);
        for s in &known {
            for (scale, v) in scales.iter_mut().zip(&s.values) {
                *scale = scale.max(v.abs());
            }
        }
        let mut parts = 1;
        if let [.., a, b, _] = &known[..] {
            while (end - start) / f64::from(parts) > GROWTH * (b.t - a.t) && parts < MOST_PARTS {
                parts *= 2;
            }
        }
        for k in 1..parts {
            let t = start + (end - start) * (f64::from(k) / f64::from(parts));
            let found = self.inside(bdf, t, buffers);
            insert(&mut known, found);
        }
        let (mut before, mut idle) = (f64::INFINITY, 0);
        while parts < MOST_PARTS {
            let mut middles = Vec::new();
            let mut worst = 0.0f64;
            for k in 0..parts {
                let t = start + (end - start) * ((f64::from(k) + 0.5) / f64::from(parts));
                let found = self.inside(bdf, t, buffers);
                for (channel, scale) in scales.iter().enumerate() {
                    let value = found.values[channel];
                    let error = (interpolated(&known, t, channel) - value).abs();
                    let scale = tolerance * scale.max(value.abs());
                    worst = worst.max(if error > 0.0 { error / scale } else { 0.0 });
                }
                middles.push(found);
            }
            // What does not become smaller is no polynomial: a bend, or the error of another history.
            idle = if worst > before / LEAST_GAIN {
                idle + 1
            } else {
                0
            };
            let resolved = worst * tolerance < RESOLVED;
            if worst <= 1.0 || worst < SMALL && idle > 0 || resolved && idle > 1 {
                break;
            }
            before = worst;
            for found in middles {
                insert(&mut known, found);
            }
            parts *= 2;
        }
        for t in known.iter().map(|s| s.t).filter(|t| start < *t && *t < end) {
            self.inside(bdf, t, buffers);
            record_delays(&mut self.machine, t, &buffers.0, &buffers.1)?;
        }
        let first = known.len().saturating_sub(POINTS - 1);
        self.recent.samples = known.split_off(first);
        self.recent.scales = scales;
        Ok(())
    }

    /// The kept expressions at a point of the last step.
    fn inside(
        &mut self,
        bdf: &mut dyn Integrator,
        t: f64,
        buffers: &mut (Vec<f64>, Vec<f64>),
    ) -> Sample {
        bdf.interpolate(t, &mut buffers.0, &mut buffers.1);
        self.correct_row(bdf, t, buffers);
        let values = kept(&mut self.machine, t, &buffers.0, &buffers.1);
        Sample { t, values }
    }
}

fn insert(known: &mut Vec<Sample>, sample: Sample) {
    let place = known.partition_point(|s| s.t < sample.t);
    if known.get(place).is_none_or(|s| s.t != sample.t) {
        known.insert(place, sample);
    }
}

/// The expressions whose histories are kept, at a point.
fn kept(machine: &mut Machine, t: f64, y: &[f64], yp: &[f64]) -> Vec<f64> {
    machine.update(t, y, yp);
    let model = machine.model.clone();
    let mut values = Vec::new();
    for (k, code) in model.events.delays.iter().enumerate() {
        machine.run(ProgramId::Delay(k), y, yp);
        values.extend_from_slice(&machine.out[..code.len]);
    }
    for (k, code) in model.events.spatials.iter().enumerate() {
        machine.run(ProgramId::Spatial(k), y, yp);
        values.extend_from_slice(&machine.out[..3 * code.len]);
    }
    values
}

/// The polynomial through the samples around an instant (Neville's scheme).
fn interpolated(known: &[Sample], t: f64, channel: usize) -> f64 {
    let right = known.partition_point(|s| s.t < t);
    let count = POINTS.min(known.len());
    let first = right.saturating_sub(POINTS / 2).min(known.len() - count);
    let points = &known[first..first + count];
    let mut values = [0.0; POINTS];
    for (slot, s) in values.iter_mut().zip(points) {
        *slot = s.values[channel];
    }
    for width in 1..count {
        for k in 0..count - width {
            let (a, b) = (points[k].t, points[k + width].t);
            values[k] += (values[k + 1] - values[k]) * ((t - a) / (b - a));
        }
    }
    values[0]
}
