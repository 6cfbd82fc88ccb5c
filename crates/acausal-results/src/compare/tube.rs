//! The tube around one reference signal, and how far a result leaves it.

use super::CompareOptions;
use super::envelope::{Envelope, maximum, minimum};
use crate::interpolate::interpolate;

/// Amplitude below which a reference is numerical noise and counts as zero.
const ZERO_AMPLITUDE: f64 = 1e-12;
/// Base of the tube's height where the reference is zero.
const ZERO_BASE: f64 = 1e-3;
/// Least base of the tube's height in units of the amplitude, so that a solver's relative tolerance on a large,
/// nearly constant signal is not taken for an error.
const AMPLITUDE_SHARE: f64 = 1e-2;
/// A tube wider than this share of the range (beyond its own height) says little.
const WIDE_SHARE: f64 = 0.3;

/// How a result compares with the tube.
#[derive(Debug, Clone, PartialEq)]
pub struct Deviation {
    /// Points that lie outside.
    pub outside: usize,
    /// Points looked at.
    pub points: usize,
    /// Largest distance from the swept reference, in the signal's unit.
    pub max_absolute: f64,
    /// The same in units of the tube's base (essentially the range).
    pub max_relative: f64,
    /// Where that is; `None` when no point was looked at.
    pub max_time: Option<f64>,
    /// The earliest point outside.
    pub first_outside: Option<f64>,
    /// Largest minus smallest value of the reference.
    pub range: f64,
    /// The tube is so wide that the verdict means little: the signal oscillates faster than the time tolerance.
    pub wide: bool,
}

impl Deviation {
    /// Whether at most this fraction of the points lies outside.
    pub fn within(&self, outliers: f64) -> bool {
        self.outside as f64 <= outliers * self.points as f64
    }
}

/// Measures `(time, value)` of a result against the reference. Times ascend and are finite, as are the result's values.
pub(super) fn deviation(
    (ref_time, ref_value): (&[f64], &[f64]),
    (time, value): (&[f64], &[f64]),
    options: &CompareOptions,
) -> Deviation {
    let (t0, t1) = (ref_time[0], ref_time[ref_time.len() - 1]);
    let span = if t1 > t0 { t1 - t0 } else { t1.abs().max(1.0) };
    let least = ref_value.iter().copied().fold(f64::INFINITY, minimum);
    let largest = ref_value.iter().copied().fold(f64::NEG_INFINITY, maximum);
    let range = largest - least;
    let amplitude = maximum(least.abs(), largest.abs());
    let base = if options.csv_compare {
        range.max(least.abs()).max(1e-3)
    } else if amplitude > ZERO_AMPLITUDE {
        range.max(AMPLITUDE_SHARE * amplitude)
    } else {
        ZERO_BASE
    };
    let dy = options.tol * base + options.atol;
    let dx = options.xtol * span;
    let mut tally = Tally::default();

    // The result's own samples, within the time range of the reference.
    let mut tube = Envelope::new(ref_time, ref_value);
    let inside = |t: f64| t >= t0 - 1e-12 * span && t <= t1 + 1e-12 * span;
    for (&t, &y) in time.iter().zip(value).filter(|(t, _)| inside(**t)) {
        let (up, down) = tube.at(t, dx);
        let distance = distance(y, up, down);
        tally.add(t, distance, distance > dy);
    }
    tally.end_pass();

    // The result at the reference's times.
    let mut wide = false;
    if !options.csv_compare {
        let mut tube = Envelope::new(ref_time, ref_value);
        let mut result_sweep = Envelope::new(time, value);
        let mut width = 0.0;
        for (&t, &y_ref) in ref_time.iter().zip(ref_value) {
            let (up, down) = tube.at(t, dx);
            width += up - down + 2.0 * dy;
            let mut distance = distance(interpolate(time, value, t), up, down);
            let mut outside = distance > dy;
            if outside {
                // Beside a jump of the result, its curve within dx counts and not only the value at this instant.
                let (result_up, result_down) = result_sweep.at(t, dx);
                outside = result_up < y_ref - dy || result_down > y_ref + dy;
                if !outside {
                    distance = distance.min(dy);
                }
            }
            tally.add(t, distance, outside);
        }
        tally.end_pass();
        wide = range > 0.0 && width / ref_time.len() as f64 > WIDE_SHARE * range + 2.0 * dy;
    }
    Deviation {
        outside: tally.outside,
        points: tally.points,
        max_absolute: tally.worst,
        max_relative: tally.worst / if base > 0.0 { base } else { 1.0 },
        max_time: tally.worst_time,
        first_outside: tally.first_outside,
        range,
        wide,
    }
}

/// Distance from the interval `[down, up]`, 0 inside.
fn distance(y: f64, up: f64, down: f64) -> f64 {
    maximum(maximum(y - up, down - y), 0.0)
}

struct Tally {
    outside: usize,
    points: usize,
    worst: f64,
    worst_time: Option<f64>,
    first_outside: Option<f64>,
    /// Largest distance of the current pass and where; NaN beats everything, as an unknown distance is no evidence.
    pass_worst: Option<(f64, f64)>,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            outside: 0,
            points: 0,
            worst: -1.0,
            worst_time: None,
            first_outside: None,
            pass_worst: None,
        }
    }
}

impl Tally {
    fn add(&mut self, t: f64, distance: f64, outside: bool) {
        self.points += 1;
        if outside {
            self.outside += 1;
            self.first_outside = Some(self.first_outside.map_or(t, |first| first.min(t)));
        }
        match self.pass_worst {
            Some((worst, _)) if worst.is_nan() || distance <= worst => {}
            _ => self.pass_worst = Some((distance, t)),
        }
    }

    fn end_pass(&mut self) {
        if let Some((worst, t)) = self.pass_worst.take()
            && worst > self.worst
        {
            self.worst = worst;
            self.worst_time = Some(t);
        }
    }
}
