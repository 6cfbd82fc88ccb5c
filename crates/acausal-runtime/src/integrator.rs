//! The integrator of a run: which one, and its tolerances.

use acausal_base::Scale;
use acausal_expr::unknown::UnknownRole;
use acausal_solver::{Bdf, BdfOptions, Integrator};

use crate::initial::roles;
use crate::interior::Accuracy;
use crate::simulate::Simulation;
use crate::{Settings, SimError};

/// A history in single precision is exact enough from this tolerance on (as `acausal-solver/bdf/difference_rows.rs` has it).
const NARROW_TOLERANCE: f64 = 1e-7;

/// Steps of a model without unknowns, at least: nothing limits their size, and its relations must still be seen.
const LEAST_STEPS: f64 = 500.0;

/// Constraints with multipliers hold only as well as the corrector converges (measured: 0.03 of the tolerance).
const CONSTRAINED_NEWTON_TOLERANCE: f64 = 0.01;

/// Absolute tolerance as a fraction of the relative one times the nominal value (as the seed's successor uses it).
const ABSOLUTE_FRACTION: f64 = 0.1;

/// The tolerance of the local error for a tolerance of the result.
///
/// A step is accepted by its own error, and these errors add up: with error per step control the error of the result falls
/// with `tol^(k/(k+1))` only (Söderlind & Wang, "Evaluating numerical ODE/DAE methods, algorithms and software", 2006), and
/// nothing damps it in a quadrature. Between [`USUAL`] and [`FINEST`], where digits and not speed are asked for, the steps are
/// therefore held to a smaller error, a tenth at 1e-8 and 1e-9. Measured there on the extended Mattsson-Söderlind example, x2
/// at t = 5: error 3.2e-6 without, 1.5e-7 with it, for 40 % more steps.
fn local(tolerance: f64, constrained: bool) -> f64 {
    let finest = if constrained {
        FINEST_CONSTRAINED
    } else {
        FINEST
    };
    let from_usual = (tolerance / USUAL).powf(TIGHTENING);
    let to_finest = (finest / tolerance).powf(TIGHTENING);
    tolerance * from_usual.max(to_finest).min(1.0)
}

/// Tolerances down to this one are taken as they are.
const USUAL: f64 = 1e-6;

/// Exponent of the tightening in [`local`]: what order two asks for (order five alone: 0.2).
const TIGHTENING: f64 = 0.5;

/// From here on too: rounding errors are close.
const FINEST: f64 = 1e-11;

/// The same where constraints carry multipliers: below it the corrector of the slider crank of the IVP test set no longer
/// converges.
const FINEST_CONSTRAINED: f64 = 1e-10;

/// The error that algebraic unknowns may have where there are no states, as a part of their size, in steps that are a millionth of the longest one. Rows and relations solve for them; the
/// error test is there to notice when a solution leaves its branch, which changes it by its own size. As tight as that of states no step would be short enough where an
/// unknown is a ratio of rounding errors: the enthalpies of pipes that all turn round at one instant.
const BRANCH_ERROR: f64 = 1e-2;

/// The same for algebraic unknowns, which are not tested for errors but solved for: a current of a microampere through ten
/// kilohms at the input of an amplifier is not zero, and few models say so by a nominal value.
pub(crate) const ALGEBRAIC_FRACTION: f64 = 1e-4;

/// Absolute tolerance of an algebraic unknown in units of its nominal value that is not undercut for tight tolerances: a
/// current is often the difference of voltages over a small resistance, and no better known than their rounding errors.
/// (The two-bit adder at 1e-11 found no step without it.)
const ALGEBRAIC_LEAST: f64 = 1e-11;

/// How exactly the integrator works.
pub(crate) fn accuracy(settings: &Settings, roles: &[UnknownRole]) -> Accuracy {
    let relative = local(settings.tolerance, roles.contains(&UnknownRole::Mu));
    let state = relative * ABSOLUTE_FRACTION;
    let algebraic = if roles.contains(&UnknownRole::State) {
        (relative * ALGEBRAIC_FRACTION).max(ALGEBRAIC_LEAST.min(state))
    } else {
        state
    };
    Accuracy {
        relative,
        state,
        algebraic,
    }
}

impl Simulation {
    /// An integrator at the present values.
    pub(crate) fn integrator(&self, settings: &Settings) -> Result<Box<dyn Integrator>, SimError> {
        let options = self.options(settings);
        match settings.solver {
            crate::Solver::Bdf => Bdf::new(options, self.t, &self.y, &self.yp)
                .map(|b| Box::new(b) as Box<dyn Integrator>)
                .map_err(SimError::Integrator),
            #[cfg(feature = "sundials")]
            crate::Solver::Ida => acausal_solver::Ida::new(options, self.t, &self.y, &self.yp)
                .map(|b| Box::new(b) as Box<dyn Integrator>)
                .map_err(SimError::Integrator),
            #[cfg(not(feature = "sundials"))]
            crate::Solver::Ida => Err(SimError::Settings(
                "this program was built without IDA; build it with `--features sundials`".into(),
            )),
        }
    }

    /// Whether the history is kept in single precision, where the scale policy differs from what the integrator does by itself.
    fn narrow_history(&self, tolerance: f64) -> Option<bool> {
        let from = self.machine.scale.large_from;
        let narrow = self.machine.model.n >= from && tolerance >= NARROW_TOLERANCE;
        (from != Scale::default().large_from).then_some(narrow)
    }

    fn options(&self, settings: &Settings) -> BdfOptions {
        let roles = roles(&self.machine.model);
        let excluded = roles.contains(&UnknownRole::Mu);
        let states = roles.contains(&UnknownRole::State);
        let mut max_step = self.machine.delays.shortest();
        if self.machine.model.unknowns.iter().all(|u| {
            u.value
                .is_none_or(|q| self.machine.model.symbols.var(q.0).auxiliary)
        }) {
            max_step = max_step.min((settings.stop - self.origin) / LEAST_STEPS);
        }
        let accuracy = accuracy(settings, &roles);
        BdfOptions {
            rtol: accuracy.relative,
            atol: (self.nominal.iter().zip(&roles))
                .map(|(n, role)| match role {
                    UnknownRole::Algebraic => accuracy.algebraic * n,
                    _ => accuracy.state * n,
                })
                .collect(),
            // Multipliers stall the step size control; algebraic unknowns follow from the states, and a steep one would
            // cost steps without making the states better.
            error_test: roles
                .iter()
                .map(|r| match r {
                    UnknownRole::State | UnknownRole::Lambda => true,
                    UnknownRole::Algebraic => !states,
                    UnknownRole::Mu => false,
                })
                .collect(),
            fine_allowance: if states {
                1.0
            } else {
                (BRANCH_ERROR / accuracy.relative).max(1.0)
            },
            max_step,
            max_steps: settings.max_steps,
            max_order: settings.max_order,
            narrow_history: self.narrow_history(accuracy.relative),
            trace: settings.trace.steps || settings.trace.nonlinear,
            profile: settings.profile,
            newton_tolerance: if excluded {
                CONSTRAINED_NEWTON_TOLERANCE
            } else {
                BdfOptions::default().newton_tolerance
            },
            ..BdfOptions::default()
        }
    }
}
