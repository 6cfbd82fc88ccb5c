//! Points inside of a step that satisfy the equations: output rows and event indicators.
//!
//! The integrator's polynomial gives states as exactly as the error test asks. Algebraic unknowns are outside of that test (a steep one would cost
//! steps without making the states better), and derivatives of a polynomial are less exact than its values; interpolated, both may be wrong
//! by their own size at any tolerance. So a point is corrected with the factors of the step ([`StepFactors`]): one residual and one solve tell how far
//! the unknowns are from satisfying the equations, and bring them there. A point that satisfies them already, and every point of linear equations
//! with the matrix they had in the step, needs no more than the confirmation.
//!
//! Invariant: after [`Interior::correct`] returns true the equations hold within the tolerance of the integration, measured on each algebraic unknown (and each
//! derivative, where they are asked for); after false the point is what it was. In a row the states move with the rest, by less than the local error, so that all equations
//! hold together. Where relations are looked at the states stay ([`Interior::correct_for_relations`]): an event is handled at the states of the polynomial, and
//! what is solved for there must be what was seen when it was located, or it would be found again an instant later. With states that stay a mode of
//! eigenvalue `-mu` converges by `mu/(cj + mu)` only: where equations are stiff, derivatives are solved for from scratch, and algebraic unknowns are taken that belong to
//! states that differ from those of the polynomial by less than the local error.
//!
//! Example: `der(x) = 0; 2*y + exp(0*y)*z = 3*sin(5*time); y - 2*z = sin(3*time)`. Nothing limits the steps, and between them y and z are arbitrary;
//! one correction finds them.
//!
//! *Derivatives of what a constraint determines.* In `f_d(x', x, t) = 0, f_c(x, t) = 0` (ARCHITECTURE.md) the factors move x and x' together, by x' += cj x. Where f_d
//! says what x' is, that is right to the last digit. The part of x' that is normal to the constraints is not in f_d: it is the integrator's polynomial differentiated, of an
//! order less than the states, and right behind a restart of order zero, h^1 with an h that is chosen for the states (the current of a capacitor at a voltage source is the
//! derivative of an integral; it was off by the square root of the tolerance). What determines it is `d/dt f_c = 0`, the hidden rows of the consistent system after an event. So where there are
//! such rows and derivatives are shown or watched, x' and the algebraic unknowns are solved for from (f_d, d/dt f_c) with the states of the corrected point. Where f_d determines all of x' that
//! changes nothing. Oracle: selected states, where the derivative is an assignment.
//!
//! *Amplified variables.* What is assigned inside of a loop may have larger errors than the unknowns it is computed from: the current of a diode, by a slope that nobody
//! knows beforehand (`acausal_graph::growth`). A row is good only if the last correction, times what the rate says is left of it, is within the tolerance
//! of these variables too. Otherwise it is corrected further. Oracle: `--no-tearing`, in which they are unknowns.
//!
//! Cost: O(n) and a solve per iteration; usually one or two. Where variables are amplified, two evaluations of the assignments more.

use std::ops::Range;

use acausal_expr::unknown::UnknownRole;
use acausal_solver::{Dae, StepFactors};

use crate::bordered::Bordered;
use crate::consistent::{ConsistentSystem, Point};

/// Bound on the iterations: a solution from scratch (a Jacobian with columns for `x` and `x'`, its factors, two or three residuals) costs as much. An iteration whose rate shows that
/// it will not arrive in time is given up at once.
const MOST_ITERATIONS: i32 = 12;
/// An iteration that does not get this much better has reached rounding errors, or does not converge (as the corrector's).
const MAX_RATE: f64 = 0.9;
/// A better rate is not believed: parts of the error that converge fast are the largest at first, and what is left converges more slowly. (Rows of a rectifier: 0.0025 from the
/// first to the second correction, 0.3 from there on.)
const LEAST_RATE: f64 = 0.1;
/// What may be left, in tolerances (as in the corrector).
pub(crate) const LEFT: f64 = 0.1;

/// Part of the tolerance of a state that its derivative need not be more exact than, over a step: in the short steps after an event the derivative of a current of nearly
/// zero, the sum of large ones, is known no better than their rounding errors divided by the step.
const SLOPE_FLOOR: f64 = 1e-4;

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
    /// Amplified variables before the last correction.
    amplified: Vec<f64>,
    pub counts: InteriorCounts,
}

/// What may change, and what must be exact.
#[derive(Clone, Copy)]
struct Moving {
    /// Derivatives shall be exact.
    slopes: bool,
    /// States move.
    states: bool,
}

/// What was done at points inside of steps.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InteriorCounts {
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

    /// Corrects a point of an output row, with derivatives where they are asked for; false and unchanged if that does not converge.
    pub fn correct(
        &mut self,
        at: &mut Point,
        border: Option<&Bordered>,
        factors: &mut StepFactors<'_>,
        slopes: bool,
    ) -> bool {
        self.correct_some(
            at,
            border,
            factors,
            Moving {
                slopes,
                states: true,
            },
        )
    }

    /// Corrects algebraic unknowns and derivatives of a point at which relations are looked at. The states stay. Derivatives that follow from those of
    /// constraints are solved for.
    pub fn correct_for_relations(
        &mut self,
        at: &mut Point,
        system: &mut ConsistentSystem,
        border: Option<&Bordered>,
        factors: Option<StepFactors<'_>>,
    ) {
        let slopes = at.machine.watches_slopes;
        if let Some(mut factors) = factors.filter(|_| !slopes || !has_hidden_rows(at)) {
            let frozen = Moving {
                slopes,
                states: false,
            };
            if self.correct_some(at, border, &mut factors, frozen) {
                return;
            }
            if !slopes && self.correct(at, border, &mut factors, false) {
                set_states(at, &self.y);
                return;
            }
        }
        system.refine(at);
    }

    fn correct_some(
        &mut self,
        at: &mut Point,
        border: Option<&Bordered>,
        factors: &mut StepFactors<'_>,
        moving: Moving,
    ) -> bool {
        for (kept, now) in [(&mut self.y, &*at.y), (&mut self.yp, &*at.yp)] {
            kept.clear();
            kept.extend_from_slice(now);
        }
        let found = self.iterate(at, border, factors, moving);
        self.counts.points += 1;
        self.counts.failures += u64::from(!found);
        if !found {
            at.y.copy_from_slice(&self.y);
            at.yp.copy_from_slice(&self.yp);
        }
        found
    }

    /// How far the algebraic unknowns of a point, what is amplified of them, and its derivatives where they are asked for, are from satisfying the equations, in tolerances. The point is
    /// corrected once.
    pub fn distance(
        &mut self,
        at: &mut Point,
        border: Option<&Bordered>,
        mut factors: StepFactors<'_>,
        slopes: bool,
    ) -> f64 {
        let Some(size) = self.evaluate(at, border, &mut factors, slopes) else {
            return f64::INFINITY;
        };
        if at.machine.model.amplified.is_empty() {
            return size;
        }
        self.keep_amplified(at);
        let moving = Moving {
            slopes,
            states: true,
        };
        self.apply(at, factors.cj(), moving);
        size.max(self.amplified_change(at))
    }

    fn iterate(
        &mut self,
        at: &mut Point,
        border: Option<&Bordered>,
        factors: &mut StepFactors<'_>,
        moving: Moving,
    ) -> bool {
        let mut last = f64::INFINITY;
        for m in 0..MOST_ITERATIONS {
            let Some(size) = self.evaluate(at, border, factors, moving.slopes) else {
                return false;
            };
            let amplifies = moving.states && !at.machine.model.amplified.is_empty();
            // Rounding errors, if it is small; what was reached stays.
            let stalled = m > 0 && size > MAX_RATE * last;
            if stalled && (size > 1.0 || !amplifies) {
                return size <= 1.0;
            }
            // The first correction says nothing about the rate; the corrector has converged with this matrix.
            let rate = if m == 0 {
                0.5
            } else {
                (size / last).max(LEAST_RATE)
            };
            let left = rate / (1.0 - rate);
            let good = stalled || left * size <= LEFT;
            if good && amplifies {
                self.keep_amplified(at);
            }
            self.apply(at, factors.cj(), moving);
            if good {
                let change = if amplifies {
                    self.amplified_change(at)
                } else {
                    0.0
                };
                if stalled {
                    return change <= 1.0;
                }
                if left * change <= LEFT {
                    return true;
                }
            }
            let left = left * size;
            if m > 0 && left * rate.powi(MOST_ITERATIONS - 1 - m) > LEFT {
                return false;
            }
            last = size;
        }
        false
    }

    /// Subtracts the correction.
    fn apply(&self, at: &mut Point, cj: f64, moving: Moving) {
        for (yp, e) in at.yp.iter_mut().zip(&self.e) {
            *yp -= cj * e;
        }
        for (range, role) in groups(at) {
            if moving.states || role == UnknownRole::Algebraic {
                let e = &self.e[range.clone()];
                at.y[range].iter_mut().zip(e).for_each(|(y, e)| *y -= e);
            }
        }
    }

    fn keep_amplified(&mut self, at: &mut Point) {
        at.machine.update_for_residual(at.t, at.y, at.yp);
        self.amplified.clear();
        for &(first, count, _) in &at.machine.model.amplified {
            self.amplified
                .extend_from_slice(&at.machine.mem[first..first + count]);
        }
    }

    /// How far amplified variables have moved since they were kept, in tolerances.
    fn amplified_change(&mut self, at: &mut Point) -> f64 {
        at.machine.update_for_residual(at.t, at.y, at.yp);
        let mem = &at.machine.mem;
        let mut before = self.amplified.iter();
        let mut largest = 0.0f64;
        for &(first, count, nominal) in &at.machine.model.amplified {
            let least = self.accuracy.algebraic * nominal.map_or(1.0, |n| mem[n].abs());
            for (now, before) in mem[first..first + count].iter().zip(&mut before) {
                let size = (now - before).abs() / (self.accuracy.relative * now.abs() + least);
                largest = if size <= largest { largest } else { size };
            }
        }
        largest
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
            let allowed = |i: usize| match role {
                UnknownRole::Algebraic => relative * at.y[i].abs() + algebraic * at.nominal[i],
                _ => {
                    let of = |v: f64| relative * v.abs() + state * at.nominal[i];
                    (of(at.yp[i]) / factors.cj()).max(SLOPE_FLOOR * of(at.y[i]))
                }
            };
            if role == UnknownRole::Algebraic || slopes {
                for i in range {
                    let size = self.e[i].abs() / allowed(i);
                    // A step that is no number must not be overlooked.
                    largest = if size <= largest { largest } else { size };
                }
            }
        }
        largest.is_finite().then_some(largest)
    }
}

/// Whether some derivatives follow from those of constraints, which are no rows of the integrator's matrix: where states are selected none do, and no multiplier keeps a
/// constraint between them. (To solve for them costs the whole Jacobian of the start, which can be a hundred times a residual.)
pub(crate) fn has_hidden_rows(at: &Point) -> bool {
    let model = &at.machine.model;
    let ordinary = |r| matches!(r, UnknownRole::State | UnknownRole::Algebraic);
    model.initial.hidden_len > 0 && model.unknowns.iter().any(|u| !ordinary(u.role))
}

/// Gives a point the states of another one.
pub(crate) fn set_states(at: &mut Point, y: &[f64]) {
    for (range, role) in groups(at) {
        if role != UnknownRole::Algebraic {
            at.y[range.clone()].copy_from_slice(&y[range]);
        }
    }
}

/// The components of the unknowns and their roles.
fn groups(at: &Point) -> impl Iterator<Item = (Range<usize>, UnknownRole)> + use<> {
    let model = at.machine.model.clone();
    let mut first = 0;
    (0..model.unknowns.len()).map(move |k| {
        let u = &model.unknowns[k];
        let range = first..first + u.len;
        first = range.end;
        (range, u.role)
    })
}
