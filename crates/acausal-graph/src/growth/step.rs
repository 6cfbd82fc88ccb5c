//! What one assignment does to errors.

use super::{Growth, MOST_GROWTH, Reading};
use crate::{EqId, VarId};

/// A bound of the row sums of |B⁻¹C|: `known + slopes φ`, with the largest φ of the slopes that are not known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Amplification {
    pub known: f64,
    pub slopes: f64,
    /// It depends on derivatives that the integrator forms from its unknowns: there is a multiple of cj besides, which nothing bounds.
    pub rates: bool,
}

impl Amplification {
    /// Of what is iterated on.
    pub const OPEN: Amplification = Amplification {
        known: 1.0,
        slopes: 0.0,
        rates: false,
    };

    /// Whether a variable with it may be assigned that is read in this way.
    pub fn is_bounded(self, read: Reading) -> bool {
        let slopes = match read {
            Reading::Known => MOST_GROWTH,
            Reading::Steep | Reading::Nonlinear => 0.0,
        };
        self.known <= MOST_GROWTH
            && self.slopes <= slopes
            && !(self.rates && read == Reading::Nonlinear)
    }
}

/// What is known so far about each unknown.
#[derive(Debug)]
pub(super) struct Progress {
    /// It is given by an assignment that tearing has chosen.
    pub is_solved: Vec<bool>,
    pub is_given: Vec<bool>,
    pub growth: Vec<Amplification>,
    /// It belongs to the component at hand.
    pub inside: Vec<bool>,
}

impl Progress {
    pub fn new(of: &Growth) -> Progress {
        let n = of.unknowns.len();
        Progress {
            is_solved: vec![false; n],
            is_given: of.given.clone(),
            growth: (0..n).map(|k| of.open(k)).collect(),
            inside: vec![false; n],
        }
    }
}

/// Sums of ratios.
#[derive(Clone, Copy, Default)]
pub(super) struct Step {
    /// Of variables inside of the component.
    inside: f64,
    /// Of all others, times their growth.
    outside: f64,
    /// Of solved variables outside of the component.
    solved: f64,
    /// Largest growth of these.
    before: f64,
    /// Of given variables, times their growth.
    given: f64,
    /// Of other open variables.
    open: f64,
    /// Of unknown slopes: those of this equation, and those of what it reads.
    slopes: f64,
    /// See [`Amplification::rates`].
    rates: bool,
}

impl Step {
    pub fn worse(self, other: Step) -> Step {
        Step {
            inside: self.inside.max(other.inside),
            outside: self.outside.max(other.outside),
            solved: self.solved.max(other.solved),
            before: self.before.max(other.before),
            given: self.given.max(other.given),
            open: self.open.max(other.open),
            slopes: self.slopes.max(other.slopes),
            rates: self.rates || other.rates,
        }
    }

    pub fn amplification(self) -> Amplification {
        // Scales are square roots: equal ratios may differ in their last bits.
        const ONE: f64 = 1.0 + 1e-9;
        let assigned = self.inside + self.solved;
        let known = if assigned <= ONE && self.open == 0.0 {
            self.given.max(self.before)
        } else if assigned + self.given + self.open <= ONE {
            self.before.max(1.0)
        } else if self.inside < 1.0 / ONE {
            self.outside / (1.0 - self.inside)
        } else {
            f64::INFINITY
        };
        let slopes = if self.slopes == 0.0 {
            0.0
        } else if self.inside < 1.0 / ONE {
            self.slopes / (1.0 - self.inside)
        } else {
            f64::INFINITY
        };
        let number = |x: f64| if x.is_nan() { f64::INFINITY } else { x };
        Amplification {
            known: number(known),
            slopes: number(slopes),
            rates: self.rates,
        }
    }
}

impl Growth {
    /// What one assignment does to errors.
    pub(super) fn step(&self, (e, v): (EqId, VarId), state: &Progress) -> Step {
        let mut step = Step::default();
        let row = self.scaled_row(e);
        let pivot = row.and_then(|r| r.0.iter().find(|t| t.solves == Some(v)));
        let (Some((row, row_scale)), Some(pivot)) = (row, pivot) else {
            step.inside = f64::INFINITY;
            return step;
        };
        let pivot_size = pivot.least * self.scale[self.number(v)];
        for t in row.iter().filter(|t| t.solves != Some(v)) {
            let mut reach = Step::default();
            for w in t.variables.iter().map(|w| self.number(*w)) {
                let growth = state.growth[w];
                step.rates |= !state.inside[w] && growth.rates;
                if !t.most.is_finite() {
                    // A slope of a slope is not bounded. The slope is an entry of its equilibrated row, and so is the pivot.
                    let is_first = !state.inside[w] && growth.slopes == 0.0;
                    let ratio = match is_first {
                        true => growth.known / (pivot_size * row_scale),
                        false => f64::INFINITY,
                    };
                    reach.slopes = reach.slopes.max(ratio);
                    continue;
                }
                let ratio = t.most * self.scale[w] / pivot_size;
                if state.inside[w] {
                    reach.inside = reach.inside.max(ratio);
                    continue;
                }
                reach.outside = reach.outside.max(ratio * growth.known);
                reach.slopes = reach.slopes.max(ratio * growth.slopes);
                if state.is_solved[w] {
                    reach.solved = reach.solved.max(ratio);
                    reach.before = reach.before.max(growth.known);
                } else if state.is_given[w] {
                    reach.given = reach.given.max(ratio * growth.known);
                } else {
                    reach.open = reach.open.max(ratio);
                }
            }
            // Each element uses one of the pieces.
            step.inside += reach.inside;
            step.outside += reach.outside;
            step.solved += reach.solved;
            step.before = step.before.max(reach.before);
            step.given += reach.given;
            step.open += reach.open;
            step.slopes += reach.slopes;
        }
        step
    }
}
