//! Relations inside of algebraic loops: an assignment that agrees with its own solution.
//!
//! In a network of ideal diodes, switches or Coulomb friction the truth of a relation decides about the equations, and
//! their solution decides about the relation. Evaluating all relations at once and solving again usually settles, but it
//! can go in circles, or through a combination whose equations are singular. Then:
//!
//! 1. **One at a time**: from the relations as they were before the event, solve, and change only the first relation (by
//!    number) that contradicts the solution. For linear complementarity problems with a P-matrix, as passive networks of
//!    diodes are, this always ends (Murty 1974, least-index method); solutions needed are at most a few times the number of
//!    relations in practice.
//! 2. **All combinations**, when that fails as well and at most [`MOST_FREE`] relations are involved: every combination of
//!    them, those with the fewest changes first, until one agrees. At most `2^MOST_FREE` solutions. At the start the
//!    equations may be singular from the beginning, so that no relation has shown that it is involved; then all of the model are, if they are that few.
//!
//! A relation whose difference is within the hysteresis of its threshold agrees with both values. When nothing is found, the
//! relations involved are reported as never settling, or, if no combination could be solved, the first failure is.

use acausal_compiled::RelationCode;

use super::{EventContext, EventState, Forced};
use crate::SimError;
use crate::error::InitialFailure;
use crate::machine::ProgramId;

/// Largest number of relations whose combinations are tried.
const MOST_FREE: usize = 10;
/// Bound on the solutions of the first method, besides four times the number of relations.
const MOST_SINGLE: usize = 100;

/// What is known when the search begins.
pub(super) struct Problem {
    /// Cells before the event.
    pub start: Vec<f64>,
    /// Continuous values before the event: where each solution begins.
    pub guess: (Vec<f64>, Vec<f64>),
    /// Discrete values that were tried.
    pub seen: Vec<Vec<f64>>,
    /// Why a solution failed.
    pub failure: Option<Box<InitialFailure>>,
    pub forced: Vec<Forced>,
    pub initial: bool,
}

impl EventState {
    pub(super) fn search(
        &mut self,
        ctx: &mut EventContext<'_>,
        problem: Problem,
    ) -> Result<(), SimError> {
        let mut free = self.involved(&problem);
        if self.one_at_a_time(ctx, &problem, &mut free)?
            || self.all_combinations(ctx, &problem, &free)?
        {
            return Ok(());
        }
        if problem.initial && problem.failure.is_some() {
            let all: Vec<usize> = (0..problem.start.len()).collect();
            if self.all_combinations(ctx, &problem, &all)? {
                return Ok(());
            }
        }
        if let Some(f) = problem.failure {
            return Err(SimError::Initialisation(f));
        }
        let last = problem.seen.last().cloned().unwrap_or_default();
        let values: Vec<usize> = self
            .region_places()
            .into_iter()
            .enumerate()
            .filter(|(k, _)| {
                let k = k + problem.start.len();
                problem.seen.iter().any(|s| s[k] != last[k])
            })
            .map(|(_, place)| place)
            .collect();
        Err(self.chattering(ctx, &free, &values))
    }

    /// Relations that took different values in what was tried.
    fn involved(&self, problem: &Problem) -> Vec<usize> {
        (0..problem.start.len())
            .filter(|&k| problem.seen.iter().any(|s| s[k] != problem.start[k]))
            .collect()
    }

    fn one_at_a_time(
        &mut self,
        ctx: &mut EventContext<'_>,
        problem: &Problem,
        free: &mut Vec<usize>,
    ) -> Result<bool, SimError> {
        let mut cells = problem.start.clone();
        for f in &problem.forced {
            cells[f.number] = f.value;
        }
        self.fix_time_relations(ctx, problem.initial, &mut cells);
        let mut tried: Vec<Vec<f64>> = Vec::new();
        for _ in 0..MOST_SINGLE + 4 * free.len() {
            if tried.contains(&cells) {
                return Ok(false);
            }
            tried.push(cells.clone());
            if !self.attempt(ctx, problem, &cells)? {
                return Ok(false);
            }
            match self.contradictions(ctx, &mut cells).first() {
                None => return Ok(true),
                Some(&number) => {
                    cells[number] = 1.0 - cells[number];
                    if !free.contains(&number) {
                        free.push(number);
                    }
                }
            }
        }
        Ok(false)
    }

    fn all_combinations(
        &mut self,
        ctx: &mut EventContext<'_>,
        problem: &Problem,
        free: &[usize],
    ) -> Result<bool, SimError> {
        let relations: Vec<usize> = free
            .iter()
            .copied()
            .filter(|&k| self.is_searchable(ctx, k))
            .collect();
        if relations.is_empty() || relations.len() > MOST_FREE {
            return Ok(false);
        }
        let mut masks: Vec<u32> = (0..1 << relations.len()).collect();
        masks.sort_by_key(|m| (m.count_ones(), *m));
        for mask in masks {
            let mut cells = problem.start.clone();
            self.fix_time_relations(ctx, problem.initial, &mut cells);
            for (bit, &number) in relations.iter().enumerate() {
                if mask & (1 << bit) != 0 {
                    cells[number] = 1.0 - cells[number];
                }
            }
            if self.attempt(ctx, problem, &cells)?
                && self.contradictions(ctx, &mut cells).is_empty()
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Solves the continuous equations with these cells; false when they have no solution.
    fn attempt(
        &mut self,
        ctx: &mut EventContext<'_>,
        problem: &Problem,
        cells: &[f64],
    ) -> Result<bool, SimError> {
        // Steps (`floor`) and relations of time follow from the solution; they get a few chances to settle.
        const STEPS: usize = 5;
        ctx.y.copy_from_slice(&problem.guess.0);
        ctx.yp.copy_from_slice(&problem.guess.1);
        for (number, &value) in cells.iter().enumerate() {
            self.set_cell(ctx.machine, number, value);
        }
        ctx.machine.update(ctx.t, ctx.y, ctx.yp);
        let mut last = Vec::new();
        for round in 0..STEPS {
            self.evaluate_discrete(ctx, problem.initial)?;
            let solved = match round {
                0 => ctx.solve(),
                _ => ctx.confirm(),
            };
            if solved.is_err() {
                return Ok(false);
            }
            self.refresh_followers(ctx, problem.initial);
            // Discrete equations may read continuous values that have changed now.
            self.evaluate_discrete(ctx, problem.initial)?;
            let now = self.discrete_values(ctx.machine);
            if now == last {
                return Ok(true);
            }
            last = now;
        }
        Ok(false)
    }

    /// Relations that contradict the solution, by number. Also takes over steps.
    fn contradictions(&self, ctx: &mut EventContext<'_>, cells: &mut [f64]) -> Vec<usize> {
        let differences = self.differences(ctx);
        let sides = self.sides(ctx.machine);
        cells.copy_from_slice(&self.cells(ctx.machine));
        ctx.machine.run(ProgramId::Values, ctx.y, ctx.yp);
        (0..cells.len())
            .filter(|&k| self.is_searchable(ctx, k))
            .filter(|&k| {
                // At the very threshold `>` and `>=` differ.
                let beyond = sides[k] * differences[k] < -self.solution_error(ctx, k);
                ctx.machine.out[k] != cells[k] && (beyond || differences[k] == 0.0)
            })
            .collect()
    }

    /// Relations that may take either value: not steps, not relations of time.
    fn is_searchable(&self, ctx: &EventContext<'_>, number: usize) -> bool {
        super::relations::relation(&ctx.machine.model, number)
            .is_some_and(|r| r.op.is_some() && !r.by_time)
    }

    fn fix_time_relations(&self, ctx: &mut EventContext<'_>, initial: bool, cells: &mut [f64]) {
        let due = if initial {
            Vec::new()
        } else {
            self.time_relations(ctx.machine, ctx.y, ctx.yp)
        };
        ctx.machine.run(ProgramId::Values, ctx.y, ctx.yp);
        let model = ctx.machine.model.clone();
        for r in model.events.relations.iter().filter(|r| r.by_time) {
            cells[r.first..r.first + r.len]
                .copy_from_slice(&ctx.machine.out[r.first..r.first + r.len]);
        }
        for (number, value) in due {
            cells[number] = value;
        }
    }

    /// Steps and relations of time are no choice: they follow from the values.
    fn refresh_followers(&self, ctx: &mut EventContext<'_>, initial: bool) {
        let model = ctx.machine.model.clone();
        let follows = |r: &&RelationCode| r.op.is_none() || r.by_time;
        if !model.events.relations.iter().any(|r| follows(&r)) {
            return;
        }
        let mut cells = self.cells(ctx.machine);
        self.fix_time_relations(ctx, initial, &mut cells);
        ctx.machine.run(ProgramId::Values, ctx.y, ctx.yp);
        for r in model.events.relations.iter().filter(follows) {
            for k in 0..r.len {
                let new = match r.by_time {
                    true => cells[r.first + k],
                    false => ctx.machine.out[r.first + k],
                };
                if !new.is_nan() {
                    ctx.machine.mem[r.base + k] = new;
                }
            }
        }
    }
}
