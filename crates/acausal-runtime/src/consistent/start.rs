//! The start from guesses that may be far away: blocks, then `homotopy`, then other guesses.
//!
//! In: a system of the start and guesses. Out: its solution, or why the first attempt failed. `homotopy` is followed from the
//! simplified equations to the actual ones (MLS 3.6 §3.7.4.4) by [`acausal_solver::newton::continuation`], whose steps adapt
//! to what can be solved. At last unknowns without a written start get other guesses than zero, of which the user is told.

use acausal_compiled::fixed;
use acausal_solver::newton::continuation::continuation;
use acausal_solver::{NewtonError, NewtonOptions};

use super::{ConsistentSystem, Point, Trouble};
use crate::machine::Machine;

/// Names in a remark.
const REMARKED: usize = 4;

impl ConsistentSystem {
    /// Solves for the start.
    pub(super) fn solve_start(
        &mut self,
        at: &mut Point,
        options: &NewtonOptions,
        x: &mut [f64],
    ) -> Result<usize, Trouble> {
        let guess = x.to_vec();
        let mut first = match self.attempt(at, options, x) {
            Ok(iterations) => return Ok(iterations),
            Err(error) => error,
        };
        // While a path is being followed, it is the path that tries something else.
        if at.machine.mem[fixed::HOMOTOPY] != 1.0 {
            return Err(first);
        }
        let failed_at = x.to_vec();
        if at.machine.model.initial.homotopy {
            x.copy_from_slice(&guess);
            let mut reached = None;
            let followed = continuation(x, |lambda, x| {
                at.machine.mem[fixed::HOMOTOPY] = lambda;
                self.attempt(at, options, x)?;
                reached = Some(lambda);
                Ok::<(), Trouble>(())
            });
            at.machine.mem[fixed::HOMOTOPY] = 1.0;
            if let Ok(problems) = followed {
                return Ok(problems as usize);
            }
            first.homotopy = Some(reached);
        }
        // Where the equations are singular at the guess, another one would choose a branch the user did not ask for.
        let others = match first.error {
            NewtonError::Singular { .. } => Vec::new(),
            _ => self.other_guesses(&guess, options),
        };
        for (other, moved) in others {
            x.copy_from_slice(&other);
            if let Ok(iterations) = self.attempt(at, options, x) {
                self.remark(at.machine, &moved);
                return Ok(iterations);
            }
        }
        x.copy_from_slice(&failed_at);
        Err(first)
    }

    /// Guesses for unknowns without a written start: their nominal value, positive and negative, instead of zero, and values
    /// that differ from each other. With the unknowns that were moved.
    fn other_guesses(&self, guess: &[f64], options: &NewtonOptions) -> Vec<(Vec<f64>, Vec<usize>)> {
        let Some(start) = &self.start else {
            return Vec::new();
        };
        let moved: Vec<usize> = (0..guess.len())
            .filter(|&j| !start.given[j] && guess[j] == 0.0)
            .collect();
        let sizes = if moved.is_empty() {
            &[][..]
        } else {
            &[(1.0, 0.0), (-1.0, 0.0), (1e-3, 0.0), (1.0, 1.0)]
        };
        sizes
            .iter()
            .map(|(size, spread)| {
                let mut other = guess.to_vec();
                for (k, &j) in moved.iter().enumerate() {
                    // Where equal values make a difference vanish, values that are all different do not.
                    let part = (0.618_033_988_749_895 * (k + 1) as f64).fract();
                    other[j] = size * (1.0 + spread * part) * options.nominal[j];
                }
                (other, moved.clone())
            })
            .collect()
    }

    fn remark(&mut self, machine: &Machine, moved: &[usize]) {
        let names: Vec<String> = (moved.iter().take(REMARKED))
            .map(|&j| machine.column_text(self.columns[j] as usize))
            .collect();
        let more = if moved.len() > REMARKED { ", ..." } else { "" };
        self.remarks = vec![format!(
            "no start was found with zero as guess for {}{more}, but with other guesses; write start values for them",
            names.join(", ")
        )];
    }

    /// What the user should know about how the solution was found.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }
}
