//! Points inside of a step that satisfy the equations: output rows and event indicators.
//!
//! The integrator's polynomial gives states as exactly as the error test asks. Algebraic unknowns are outside of that test (a steep one would cost
//! steps without making the states better), and derivatives of a polynomial are less exact than its values; interpolated, both may be wrong
//! by their own size at any tolerance. So a point is corrected with the factors of the step ([`StepFactors`]): one residual and one solve tell how far
//! the unknowns are from satisfying the equations, and bring them there. A point that satisfies them already, and every point of linear equations
//! with the matrix they had in the step, needs no more than the confirmation.
//!
//! Invariant: after [`Interior::correct`] returns true the equations hold within the tolerance of the integration, measured on each algebraic unknown (and each
//! derivative, where they are asked for); after false the point is what it was. The states have moved with the rest by less than the local error,
//! so that all equations hold together. Where the states decide about events they are put back ([`Interior::restore_states`]): a relation of states is then
//! looked at on the polynomial itself, and the algebraic unknowns beside it belong to states that differ from those by less than the local error.
//!
//! Example: `der(x) = 0; 2*y + exp(0*y)*z = 3*sin(5*time); y - 2*z = sin(3*time)`. Nothing limits the steps, and between them y and z are arbitrary;
//! one correction finds them.
//!
//! Cost: O(n) and a solve per iteration; usually one or two.

use std::ops::Range;

use acausal_index1::Role;
use acausal_solver::{Dae, StepFactors};

use crate::bordered::Bordered;
use crate::consistent::Point;

/// Bound on the iterations: a solution from scratch (a Jacobian with columns for `x` and `x'`, its factors, two or three residuals) costs as much. An iteration whose rate shows that
/// it will not arrive in time is given up at once.
const MOST_ITERATIONS: i32 = 12;
/// An iteration that does not get this much better has reached rounding errors, or does not converge (as the corrector's).
const MAX_RATE: f64 = 0.9;
/// What may be left, in tolerances (as in the corrector).
const LEFT: f64 = 0.1;

/// How exact unknowns shall be, relative and in units of their nominal values.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Accuracy {
    pub relative: f64,
    /// Absolute, of states.
    pub state: f64,
    /// The same of algebraic unknowns.
    pub algebraic: f64,
}

/// Work space of the correction.
#[derive(Debug, Default)]
pub(crate) struct Interior {
    accuracy: Accuracy,
    /// Residual, then correction.
    e: Vec<f64>,
    /// The point as it was.
    y: Vec<f64>,
    yp: Vec<f64>,
    pub counts: Counts,
}

/// What was done at points inside of steps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub points: u64,
    /// One residual and one solve each.
    pub iterations: u64,
    /// Points that the factors of the step did not lead to.
    pub failures: u64,
}

impl Interior {
    pub fn new(accuracy: Accuracy) -> Interior {
        Interior {
            accuracy,
            ..Interior::default()
        }
    }

    /// Corrects a point, with derivatives where they are asked for; false and unchanged if that does not converge.
    pub fn correct(
        &mut self,
        at: &mut Point,
        border: Option<&Bordered>,
        mut factors: StepFactors<'_>,
        slopes: bool,
    ) -> bool {
        for (kept, now) in [(&mut self.y, &*at.y), (&mut self.yp, &*at.yp)] {
            kept.clear();
            kept.extend_from_slice(now);
        }
        let found = self.iterate(at, border, &mut factors, slopes);
        self.counts.points += 1;
        self.counts.failures += u64::from(!found);
        if !found {
            at.y.copy_from_slice(&self.y);
            at.yp.copy_from_slice(&self.yp);
        }
        found
    }

    /// How far the algebraic unknowns of a point are from satisfying the equations, in tolerances; the point stays as it is.
    pub fn distance(
        &mut self,
        at: &mut Point,
        border: Option<&Bordered>,
        mut factors: StepFactors<'_>,
    ) -> f64 {
        self.evaluate(at, border, &mut factors, false)
            .unwrap_or(f64::INFINITY)
    }

    /// Puts everything back but algebraic unknowns and derivatives, after a correction.
    pub fn restore_states(&self, at: &mut Point) {
        set_states(at, &self.y);
    }

    fn iterate(
        &mut self,
        at: &mut Point,
        border: Option<&Bordered>,
        factors: &mut StepFactors<'_>,
        slopes: bool,
    ) -> bool {
        let mut last = f64::INFINITY;
        for m in 0..MOST_ITERATIONS {
            let Some(size) = self.evaluate(at, border, factors, slopes) else {
                return false;
            };
            if m > 0 && size > MAX_RATE * last {
                // Rounding errors, if it is small; what was reached stays.
                return size <= 1.0;
            }
            let cj = factors.cj();
            for ((y, yp), e) in at.y.iter_mut().zip(at.yp.iter_mut()).zip(&self.e) {
                *y -= e;
                *yp -= cj * e;
            }
            // The first correction says nothing about the rate; the corrector has converged with this matrix.
            let rate = if m == 0 { 0.5 } else { size / last };
            let left = rate / (1.0 - rate) * size;
            if left <= LEFT {
                return true;
            }
            if m > 0 && left * rate.powi(MOST_ITERATIONS - 1 - m) > LEFT {
                return false;
            }
            last = size;
        }
        false
    }

    /// The correction of a point and its size; nothing if a value is not finite.
    fn evaluate(
        &mut self,
        at: &mut Point,
        border: Option<&Bordered>,
        factors: &mut StepFactors<'_>,
        slopes: bool,
    ) -> Option<f64> {
        self.counts.iterations += 1;
        self.e.resize(at.y.len(), 0.0);
        at.machine.residual(at.t, at.y, at.yp, &mut self.e).ok()?;
        if let Some(border) = border {
            border.add(at.y, &mut self.e);
        }
        factors.solve(at.machine, &mut self.e);
        let Accuracy {
            relative,
            state,
            algebraic,
        } = self.accuracy;
        let mut largest = 0.0f64;
        for (range, role) in groups(at) {
            let (values, factor, absolute) = match role {
                Role::Algebraic => (&at.y[range.clone()], 1.0, algebraic),
                _ if slopes => (&at.yp[range.clone()], factors.cj(), state),
                _ => continue,
            };
            let nominal = &at.nominal[range.clone()];
            for ((e, v), nominal) in self.e[range].iter().zip(values).zip(nominal) {
                let size = (factor * e).abs() / (relative * v.abs() + absolute * nominal);
                // A step that is no number must not be overlooked.
                largest = if size <= largest { largest } else { size };
            }
        }
        largest.is_finite().then_some(largest)
    }
}

/// Gives a point the states of another one.
pub(crate) fn set_states(at: &mut Point, y: &[f64]) {
    for (range, role) in groups(at) {
        if role != Role::Algebraic {
            at.y[range.clone()].copy_from_slice(&y[range]);
        }
    }
}

/// The components of the unknowns and their roles.
fn groups(at: &Point) -> impl Iterator<Item = (Range<usize>, Role)> + use<> {
    let model = at.machine.model.clone();
    let mut first = 0;
    (0..model.unknowns.len()).map(move |k| {
        let u = &model.unknowns[k];
        let range = first..first + u.len;
        first = range.end;
        (range, u.role)
    })
}
