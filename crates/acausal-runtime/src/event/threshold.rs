//! Relations on their threshold: do they leave their side at once, and how soon may they come back?
//!
//! After an event the difference of a relation is often zero, or on the wrong side by a rounding error: a ball that has just
//! bounced has h = -1e-17 and rises, so `h <= 0` will be false an instant later. Waiting for the integrator to find that
//! costs another event, and if the bounce is lower than the error tolerance, the integrator never sees it and the ball
//! falls through the floor. So the motion is looked at directly:
//!
//! - [`look_ahead`] makes the equations consistent a very short time later, which gives the slopes of algebraic unknowns
//!   and the second derivatives of states.
//! - [`EventState::leave_thresholds`]: a relation that is not on its side, and moves further away from it to first order, changes
//!   now; each one at most once per instant. (If it would change back, both sides lead to the threshold: a sliding mode,
//!   which `watch` counts.)
//! - [`EventState::first_step`]: the second-order Taylor polynomial says when a relation that is near its threshold comes
//!   back to it; the first step of the integrator ends well before, so that its dense output sees both crossings.

use acausal_compiled::fixed;
use acausal_expr::unknown::UnknownRole;

use super::{EventContext, EventOutcome, EventState, Forced, relation};
use crate::SimError;
use crate::consistent::Point;
use crate::initial::roles;
use crate::machine::Machine;

/// The look ahead as a fraction of the reach: near the square root of the precision.
const AHEAD: f64 = 1e-8;
/// A motion of a difference during the look ahead counts when it is larger than this fraction of the difference's scale.
const SIGNIFICANT: f64 = 1e-12;
/// Bound on changes of relations by departure at one instant.
const MOST_DEPARTURES: usize = 20;
/// The first step is this fraction of the time until a relation may come back: its error is then about a hundredth of
/// the height in between.
const FIRST_STEP: f64 = 0.05;
/// The longest time that a first step is limited for, as a fraction of the reach.
const LONGEST: f64 = 0.01;
/// Halvings of it in search of the time until a relation comes back.
const HALVINGS: usize = 45;
/// A difference below this fraction of its scale is near the threshold.
const NEAR: f64 = 1e-3;

/// Consistent values a short time later.
pub(crate) struct LookAhead {
    pub dt: f64,
    /// Slopes of all unknowns, algebraic ones included.
    pub slope: Vec<f64>,
    /// Slopes at the later time.
    later: Vec<f64>,
}

/// Looks a short time ahead with the relations frozen; `None` when no solution is found there.
pub(crate) fn look_ahead(ctx: &mut EventContext<'_>) -> Option<LookAhead> {
    let roles = roles(&ctx.machine.model);
    let dt = AHEAD * ctx.reach;
    if dt <= 0.0 {
        return None;
    }
    let (mut y, mut later) = (ctx.y.clone(), ctx.yp.clone());
    for (k, role) in roles.iter().enumerate() {
        if *role == UnknownRole::State {
            y[k] += dt * ctx.yp[k];
        }
    }
    let solved = ctx.system.solve_again(&mut Point {
        machine: ctx.machine,
        t: ctx.t + dt,
        y: &mut y,
        yp: &mut later,
        nominal: ctx.nominal,
    });
    let mut slope = ctx.yp.clone();
    for (k, role) in roles.iter().enumerate() {
        if *role == UnknownRole::Algebraic {
            slope[k] = (y[k] - ctx.y[k]) / dt;
            later[k] = slope[k];
        }
    }
    ctx.machine.update(ctx.t, ctx.y, ctx.yp);
    solved.ok().map(|_| LookAhead { dt, slope, later })
}

impl EventState {
    /// Changes relations that leave their side at once, and lets the event iteration follow.
    pub(super) fn leave_thresholds(
        &mut self,
        ctx: &mut EventContext<'_>,
        outcome: &mut EventOutcome,
    ) -> Result<(), SimError> {
        let mut departed: Vec<usize> = Vec::new();
        for _ in 0..MOST_DEPARTURES {
            let leaving = self.leaving(ctx, &departed);
            if leaving.is_empty() {
                return Ok(());
            }
            departed.extend(&leaving);
            let mut forced: Vec<Forced> = self.departing(ctx.machine, &leaving);
            EventState::copy_left_limits(ctx.machine, ctx.y, ctx.yp);
            self.iterate(ctx, &mut forced, outcome)?;
        }
        Ok(())
    }

    /// The values that relations and steps have an instant later. A step on its threshold has its upper value there
    /// (`floor(2) = 2`) and leaves it by falling.
    fn departing(&self, machine: &Machine, leaving: &[usize]) -> Vec<Forced> {
        let later = |&number: &usize| {
            let r = relation(&machine.model, number)?;
            let now = machine.mem[r.base + number - r.first];
            let value = match r.op {
                Some(_) => 1.0 - now,
                None => now - 1.0,
            };
            Some(Forced { number, value })
        };
        leaving.iter().filter_map(later).collect()
    }

    /// Relations that are not on their side and move away from it.
    fn leaving(&self, ctx: &mut EventContext<'_>, departed: &[usize]) -> Vec<usize> {
        if ctx.machine.watched.is_empty() {
            return Vec::new();
        }
        let sides = self.sides(ctx.machine);
        let differences = self.differences(ctx);
        let wrong_side: Vec<usize> = (0..differences.len())
            .filter(|&k| sides[k] * differences[k] <= 0.0 && !departed.contains(&k))
            .filter(|&k| relation(&ctx.machine.model, k).is_some_and(|r| !r.by_time && !r.by_value))
            .collect();
        if wrong_side.is_empty() {
            return wrong_side;
        }
        let Some(ahead) = look_ahead(ctx) else {
            return Vec::new();
        };
        let moved = path(ctx, &ahead, ahead.dt, false);
        let leaves = |&k: &usize| {
            let motion = sides[k] * (moved[k] - differences[k]);
            let scale = self.scales[k].max(differences[k].abs());
            motion < -SIGNIFICANT * scale && motion < 0.0
        };
        wrong_side.into_iter().filter(leaves).collect()
    }

    /// A bound for the first step after an event, if a relation near its threshold may soon come back to it.
    pub fn first_step(
        &self,
        ctx: &mut EventContext<'_>,
        ahead: &LookAhead,
        changed: &[usize],
    ) -> Option<f64> {
        let differences = self.differences(ctx);
        let sides = ctx.machine.sides.clone();
        let shifts = ctx.machine.shifts.clone();
        let near: Vec<usize> = (0..differences.len())
            .filter(|&k| shifts[k] != 0.0 || changed.contains(&k))
            .filter(|&k| differences[k].abs() <= NEAR * self.scales[k])
            .collect();
        if near.is_empty() {
            return None;
        }
        let longest = LONGEST * ctx.reach;
        let mut time = longest;
        for _ in 0..HALVINGS {
            let stays = [0.25, 0.5, 1.0].iter().all(|part| {
                let there = path(ctx, ahead, part * time, true);
                near.iter()
                    .all(|&k| sides[k] * there[k] + shifts[k] >= 0.0 || there[k].is_nan())
            });
            if stays {
                return (time < longest).then_some(FIRST_STEP * time);
            }
            time *= 0.5;
        }
        None
    }
}

/// The differences after `dt` on the Taylor polynomial of first or second order.
fn path(ctx: &mut EventContext<'_>, ahead: &LookAhead, dt: f64, second: bool) -> Vec<f64> {
    let n = ctx.y.len();
    let (mut y, mut yp) = (ctx.y.clone(), ctx.yp.clone());
    for k in 0..n {
        let curvature = (ahead.later[k] - ahead.slope[k]) / ahead.dt;
        y[k] += dt * ahead.slope[k];
        if second {
            y[k] += 0.5 * dt * dt * curvature;
        }
        yp[k] += dt * curvature;
    }
    let mut differences = vec![0.0; ctx.machine.model.events.cells];
    ctx.machine
        .differences(ctx.t + dt, &y, &yp, &mut differences);
    ctx.machine.update(ctx.t, ctx.y, ctx.yp);
    debug_assert_eq!(ctx.machine.mem[fixed::TIME], ctx.t);
    differences
}
