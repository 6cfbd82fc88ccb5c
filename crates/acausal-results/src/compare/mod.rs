//! Tube comparison of a result with a reference, the question "is this trajectory the same?".
//!
//! A tube is laid around the **reference** by sweeping a rectangle of half width `dx` and half height `dy` along the
//! piecewise linear curve (the idea of the Modelica Association's csv-compare):
//!
//! ```text
//! upper(t) = max{ ref(s) : |s - t| <= dx } + dy      dx = xtol * (t1 - t0)
//! lower(t) = min{ ref(s) : |s - t| <= dx } - dy      dy = tol * max(range(ref), 0.01 max|ref|; 1e-3 if ref is 0) + atol
//! ```
//!
//! A signal passes when the result's own samples lie inside **and** the result, interpolated at every reference
//! time, does too (a coarse grid must not jump over a peak). A fraction `outliers` of the points may lie outside,
//! because the instant of an event is a matter of rounding. A missing signal, NaN, or a result that does not
//! span the reference's time range fails.
//!
//! Where the reference oscillates faster than `dx` the tube is as wide as the oscillation and says little; such a signal is
//! flagged [`wide`](Deviation::wide), and only the *strict* verdict (time tolerance divided by 20) means something.
//!
//! Worked example: reference `y = t` on 0..1 with both tolerances 0.002. The range is 1, so `dy = 0.002` and
//! `dx = 0.002`; at `t = 0.5` the tube is 0.5 ± 0.004. A result with `y(0.5) = 0.503` is 0.001 above the
//! swept curve, less than `dy`, and passes; in the strict tube (`dx = 0.0001`) it is 0.0029 above and fails.
//!
//! Cost: O(n + m) per signal for n reference and m result samples; see the module `envelope`.

mod envelope;
mod tube;

use std::fmt;

use crate::number::general;
use crate::{ResultSet, normalise_name};

pub use tube::Deviation;

/// How wide the tube is and what counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompareOptions {
    /// Half height of the tube in units of the reference's range.
    pub tol: f64,
    /// Half width of the tube in units of the reference's time span.
    pub xtol: f64,
    /// Added to the half height, in the signal's unit.
    pub atol: f64,
    /// Fraction of the points that may lie outside.
    pub outliers: f64,
    /// The strict verdict divides `xtol` by this.
    pub strict_division: f64,
    /// Height of the tube as csv-compare has it, `tol * max(range, |min|, 1e-3)`, and only the result's samples checked.
    pub csv_compare: bool,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            tol: 2e-3,
            xtol: 2e-3,
            atol: 1e-12,
            outliers: 1e-3,
            strict_division: 20.0,
            csv_compare: false,
        }
    }
}

/// Why no tube was laid.
#[derive(Debug, Clone, PartialEq)]
pub enum NotComparable {
    /// The reference does not have the signal.
    NotInReference,
    /// The result does not have the signal.
    MissingInResult,
    /// The result has fewer than two rows.
    FewerThanTwoRows,
    /// A time of the result is NaN or infinite.
    NonFiniteTime,
    /// Time runs backwards in the result.
    TimeNotMonotonic,
    /// The result begins too late or ends too early.
    Coverage {
        /// First and last time of the result.
        result: (f64, f64),
        /// First and last time of the reference.
        reference: (f64, f64),
    },
    /// The result has a value that is not finite.
    NonFiniteValue,
    /// The reference has a value that is not finite, so there is nothing to compare with.
    NonFiniteReference,
}

impl fmt::Display for NotComparable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInReference => f.write_str("not in reference"),
            Self::MissingInResult => f.write_str("missing in result"),
            Self::FewerThanTwoRows => f.write_str("fewer than 2 rows"),
            Self::NonFiniteTime => f.write_str("non-finite time"),
            Self::TimeNotMonotonic => f.write_str("time not monotonic"),
            Self::Coverage { result, reference } => write!(
                f,
                "result covers [{},{}], reference [{},{}]",
                general(result.0, 6),
                general(result.1, 6),
                general(reference.0, 6),
                general(reference.1, 6)
            ),
            Self::NonFiniteValue => f.write_str("NaN/Inf in result"),
            Self::NonFiniteReference => f.write_str("NaN/Inf in reference"),
        }
    }
}

/// The reference itself is unusable: it is empty, or its time is not finite and ascending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BadReference;

impl fmt::Display for BadReference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the reference has no rows, or its times are not finite and ascending")
    }
}

impl std::error::Error for BadReference {}

/// The verdict on one signal.
#[derive(Debug, Clone, PartialEq)]
pub struct SignalVerdict {
    /// The signal's name, normalised.
    pub signal: String,
    /// Inside the tube.
    pub pass: bool,
    /// Inside the strict tube as well.
    pub strict: bool,
    /// The measured deviation, or why there is none.
    pub detail: Result<Deviation, NotComparable>,
}

impl fmt::Display for SignalVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = |ok: bool| if ok { "pass" } else { "FAIL" };
        let d = match &self.detail {
            Err(reason) => return write!(f, "FAIL             {:<55} {reason}", self.signal),
            Ok(d) => d,
        };
        write!(
            f,
            "{} strict:{} {:<55} maxdev {:.2e} of range {} at t={}",
            word(self.pass),
            word(self.strict),
            self.signal,
            d.max_relative,
            general(d.range, 4),
            general(d.max_time.unwrap_or(f64::NAN), 6)
        )?;
        if let (false, Some(first)) = (self.pass, d.first_outside) {
            write!(
                f,
                "  ({}/{} points outside, first t={})",
                d.outside,
                d.points,
                general(first, 6)
            )?;
        }
        if d.wide {
            f.write_str("  wide")
        } else {
            Ok(())
        }
    }
}

/// Compares the named signals, or all of the reference's. Empty names, `time` and names that begin with `//` are skipped.
pub fn compare(
    result: &ResultSet,
    reference: &ResultSet,
    signals: Option<&[String]>,
    options: &CompareOptions,
) -> Result<Vec<SignalVerdict>, BadReference> {
    let ref_time = reference.time();
    if ref_time.is_empty()
        || ref_time.iter().any(|t| !t.is_finite())
        || ref_time.windows(2).any(|w| w[1] < w[0])
    {
        return Err(BadReference);
    }
    let names: Vec<String> = match signals {
        Some(names) => names.iter().map(|n| normalise_name(n)).collect(),
        None => reference
            .signals()
            .iter()
            .map(|s| normalise_name(&s.name))
            .collect(),
    };
    let fatal = check_time(result.time(), ref_time, options.xtol);
    // Rounding may let time step back by less than the tolerance of `check_time`.
    let time: Vec<f64> = result
        .time()
        .iter()
        .scan(f64::NEG_INFINITY, |latest, &t| {
            *latest = latest.max(t);
            Some(*latest)
        })
        .collect();
    let strict_options = CompareOptions {
        xtol: options.xtol / options.strict_division,
        ..*options
    };
    let verdict = |signal: String| {
        let detail = match (reference.values(&signal), &fatal, result.values(&signal)) {
            (None, _, _) => Err(NotComparable::NotInReference),
            (_, Some(reason), _) => Err(reason.clone()),
            (_, _, None) => Err(NotComparable::MissingInResult),
            (_, _, Some(y)) if y.iter().any(|v| !v.is_finite()) => {
                Err(NotComparable::NonFiniteValue)
            }
            (Some(y_ref), _, _) if y_ref.iter().any(|v| !v.is_finite()) => {
                Err(NotComparable::NonFiniteReference)
            }
            (Some(y_ref), None, Some(y)) => Ok((y_ref, y)),
        };
        match detail {
            Err(reason) => SignalVerdict {
                signal,
                pass: false,
                strict: false,
                detail: Err(reason),
            },
            Ok((y_ref, y)) => {
                let deviation = tube::deviation((ref_time, &y_ref), (&time, &y), options);
                let pass = deviation.within(options.outliers);
                let strict = pass
                    && tube::deviation((ref_time, &y_ref), (&time, &y), &strict_options)
                        .within(options.outliers);
                SignalVerdict {
                    signal,
                    pass,
                    strict,
                    detail: Ok(deviation),
                }
            }
        }
    };
    Ok(names
        .into_iter()
        .filter(|n| !n.is_empty() && n != "time" && !n.starts_with("//"))
        .map(verdict)
        .collect())
}

fn check_time(time: &[f64], ref_time: &[f64], xtol: f64) -> Option<NotComparable> {
    let (&[t0, ..], &[.., t1], &[r0, ..], &[.., r1]) = (time, time, ref_time, ref_time) else {
        return Some(NotComparable::FewerThanTwoRows);
    };
    let span = r1 - r0;
    if time.len() < 2 {
        Some(NotComparable::FewerThanTwoRows)
    } else if time.iter().any(|t| !t.is_finite()) {
        Some(NotComparable::NonFiniteTime)
    } else if time
        .windows(2)
        .any(|w| w[1] - w[0] < -1e-12 * span.max(1e-300))
    {
        Some(NotComparable::TimeNotMonotonic)
    } else if t0 > r0 + xtol * span || t1 < r1 - xtol * span {
        Some(NotComparable::Coverage {
            result: (t0, t1),
            reference: (r0, r1),
        })
    } else {
        None
    }
}
