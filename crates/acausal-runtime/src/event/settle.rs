//! Discrete and continuous equations together, with the left limits fixed: one round of the event iteration.
//!
//! In: relations, discrete values and continuous values. Out: such that all equations hold at once. What is discrete is
//! evaluated, what is continuous is solved with the discrete values frozen, in turns, until the discrete values repeat.
//!
//! When do they repeat? A clause such as `when sample(0, 1) then d = a + b` copies continuous unknowns, and each solution of
//! an algebraic loop differs from the one before in its last digits. So the continuous equations are solved in earnest only
//! once; after that a solution is *confirmed* ([`crate::consistent::ConsistentSystem::confirm`]): where the changed discrete
//! values would not move it by more than the accuracy of the iteration it stays as it is, to the last bit, and the
//! discrete values that are computed from it repeat exactly. No tolerance for discrete values is needed. Discrete Reals that
//! feed back into what they are computed from are equations of their own (`fixed_point`).
//!
//! At the start the same equations hold together with the initial equations of discrete variables (MLS 3.6 §8.6), which are
//! evaluated in the same turns: a relation that changes while the start is solved for changes what depends on it.

use super::fixed_point::FixedPoint;
use super::{EventContext, EventState, Forced, same, search};
use crate::SimError;
use crate::machine::{Machine, ProgramId};

/// Bound on the solutions of one round before the systematic search begins.
const MAX_SOLUTIONS: usize = 50;
/// Evaluations of discrete equations that depend on each other, besides their number, before they are taken for a loop.
const LEAST_PASSES: usize = 3;
/// Bound on the evaluations of such a loop.
const MAX_PASSES: usize = 100;

impl EventState {
    /// Solves discrete and continuous equations together, with the left limits fixed. Only where no combination of the
    /// relations has a solution, one is taken that leaves something open ([`crate::consistent::Underdetermined`]).
    pub(super) fn settle(
        &mut self,
        ctx: &mut EventContext<'_>,
        forced: &[Forced],
        initial: bool,
    ) -> Result<(), SimError> {
        // Initial equations also set left limits and parameters.
        let all = initial.then(|| ctx.machine.mem.clone());
        let discrete = (self.cells(ctx.machine), self.region_values(ctx.machine));
        let before = (ctx.y.clone(), ctx.yp.clone());
        ctx.system.has_refused();
        let Err(error) = self.settle_strictly(ctx, forced, initial) else {
            return Ok(());
        };
        if !ctx.system.has_refused() {
            return Err(error);
        }
        ctx.y.copy_from_slice(&before.0);
        ctx.yp.copy_from_slice(&before.1);
        match all {
            Some(mem) => ctx.machine.mem.copy_from_slice(&mem),
            None => {
                self.restore(ctx.machine, &discrete.0, &discrete.1);
                ctx.machine.update(ctx.t, ctx.y, ctx.yp);
            }
        }
        ctx.system.set_lenient(true);
        let settled = self.settle_strictly(ctx, forced, initial);
        ctx.system.set_lenient(false);
        settled.map_err(|_| error)
    }

    /// Puts values back into cells and discrete variables, in the order of [`EventState::discrete_values`].
    fn restore(&self, machine: &mut Machine, cells: &[f64], values: &[f64]) {
        let model = machine.model.clone();
        for r in &model.events.relations {
            machine.mem[r.base..r.base + r.len].copy_from_slice(&cells[r.first..r.first + r.len]);
        }
        let mut first = 0;
        for &(value, _, len) in &self.regions {
            machine.mem[value..value + len].copy_from_slice(&values[first..first + len]);
            first += len;
        }
    }

    /// The same without open directions, unless the system is told to take them.
    fn settle_strictly(
        &mut self,
        ctx: &mut EventContext<'_>,
        forced: &[Forced],
        initial: bool,
    ) -> Result<(), SimError> {
        if initial && !self.is_discrete(ctx.machine) {
            // The start has just been solved, and nothing can change it.
            return Ok(());
        }
        let guess = (ctx.y.clone(), ctx.yp.clone());
        let start = self.cells(ctx.machine);
        let mut seen: Vec<Vec<f64>> = Vec::new();
        let mut failure = None;
        let mut feedback = FixedPoint::default();
        for _ in 0..MAX_SOLUTIONS {
            self.refresh(ctx, forced, initial);
            self.evaluate_discrete(ctx, initial)?;
            let mut now = self.discrete_values(ctx.machine);
            if failure.is_none()
                && let Some(last) = seen.last()
            {
                if *last == now {
                    return Ok(());
                }
                if self.only_reals_differ(0, last, &now) {
                    let pick =
                        |v: &[f64]| -> Vec<f64> { self.reals.iter().map(|r| v[r.1]).collect() };
                    let Some(next) = feedback.next(&pick(last), &pick(&now)) else {
                        return Ok(());
                    };
                    for (&(place, k), value) in self.reals.iter().zip(next) {
                        ctx.machine.mem[place] = value;
                        now[k] = value;
                    }
                } else {
                    feedback.forget();
                }
            }
            if seen.contains(&now) {
                break;
            }
            let solved = match seen.is_empty() || failure.is_some() {
                true => ctx.solve(),
                false => ctx.confirm(),
            };
            seen.push(now);
            match solved {
                Ok(()) => failure = None,
                // Another combination of relations may well have a solution: the one that holds with the values before
                // the event and what is explicit now, or one that the search finds.
                Err(f) => {
                    failure = Some(f);
                    ctx.y.copy_from_slice(&guess.0);
                    ctx.yp.copy_from_slice(&guess.1);
                    ctx.machine.update(ctx.t, ctx.y, ctx.yp);
                }
            }
        }
        let problem = search::Problem {
            start,
            guess,
            seen,
            failure,
            forced: forced.to_vec(),
            initial,
        };
        self.search(ctx, problem)
    }

    /// Whether nothing but discrete Reals has changed, in lists that begin after the first `offset` discrete values.
    fn only_reals_differ(&self, offset: usize, a: &[f64], b: &[f64]) -> bool {
        let mut reals = self.reals.iter().map(|r| r.1 - offset).peekable();
        (0..a.len()).all(|k| reals.next_if_eq(&k).is_some() || a[k] == b[k])
    }

    /// Discrete equations and assignments of clauses, until they agree with each other. What only waits for each other does
    /// so after as many passes as there are variables; Reals that do not are a loop, whose solution is extrapolated.
    pub(super) fn evaluate_discrete(
        &mut self,
        ctx: &mut EventContext<'_>,
        initial: bool,
    ) -> Result<(), SimError> {
        let count: usize = self.regions.iter().map(|r| r.2).sum();
        let start = self.region_values(ctx.machine);
        let mut last = Vec::new();
        for _ in 0..LEAST_PASSES + count {
            self.evaluate_once(ctx, initial);
            let now = self.region_values(ctx.machine);
            if same(&now, &last) {
                return Ok(());
            }
            last = now;
        }
        let offset = ctx.machine.model.events.cells;
        let among: Vec<usize> = self.reals.iter().map(|r| r.1 - offset).collect();
        let pick = |v: &[f64]| -> Vec<f64> { among.iter().map(|&k| v[k]).collect() };
        let mut feedback = FixedPoint::default();
        // Passes of a loop that diverges are no good point to begin with.
        let mut reals = pick(&start);
        for _ in 0..MAX_PASSES {
            for (&(place, _), value) in self.reals.iter().zip(&reals) {
                ctx.machine.mem[place] = *value;
            }
            let before = self.region_values(ctx.machine);
            self.evaluate_once(ctx, initial);
            let after = self.region_values(ctx.machine);
            if self.only_reals_differ(offset, &before, &after) {
                match feedback.next(&pick(&before), &pick(&after)) {
                    None => return Ok(()),
                    Some(next) => reals = next,
                }
            } else {
                feedback.forget();
                reals = pick(&after);
            }
        }
        let before = self.region_values(ctx.machine);
        self.evaluate_once(ctx, initial);
        let after = self.region_values(ctx.machine);
        let places = self.region_places();
        let changing: Vec<usize> = (0..after.len())
            .filter(|&k| before[k] != after[k])
            .map(|k| places[k])
            .collect();
        Err(self.chattering(ctx, &[], &changing))
    }

    fn evaluate_once(&mut self, ctx: &mut EventContext<'_>, initial: bool) {
        if initial {
            ctx.machine.run(ProgramId::InitialDiscrete, ctx.y, ctx.yp);
        }
        ctx.machine.run(ProgramId::Discrete, ctx.y, ctx.yp);
        self.assign(ctx, initial);
    }
}
