//! One block of a system as a system of its own, with the other unknowns as they are.
//!
//! For the last resort ([`super::bracket`]), which evaluates the model as often as it needs. Every evaluation is one of
//! the whole model, so this is for the few blocks that nothing else solves.

use super::bracket::bracketing;
use super::{NewtonError, NewtonOptions, NewtonStatistics, Nonlinear};
use crate::dae::DaeError;
use crate::pattern::Pattern;

/// A block: its equations, unknowns, pattern, and where its entries lie in the whole pattern.
pub(super) struct OneBlock<'a, S: ?Sized> {
    pub system: &'a mut S,
    pub rows: &'a [u32],
    pub cols: &'a [u32],
    pub pattern: &'a Pattern,
    pub entries: &'a [u32],
    /// All unknowns; those of the block move.
    pub point: Vec<f64>,
    /// Scratch for the residual and the Jacobian of the whole system.
    pub r: &'a mut [f64],
    pub values: &'a mut [f64],
    /// Residual evaluations so far.
    pub evaluations: u32,
}

impl<S: Nonlinear + ?Sized> OneBlock<'_, S> {
    /// The solution from a guess.
    pub fn solve(
        &mut self,
        guess: &[f64],
        options: &NewtonOptions,
    ) -> Result<(Vec<f64>, NewtonStatistics), NewtonError> {
        let mut own = guess.to_vec();
        let statistics = bracketing(self, &mut own, options)?;
        Ok((own, statistics))
    }

    fn place(&mut self, x: &[f64]) {
        for (&c, v) in self.cols.iter().zip(x) {
            self.point[c as usize] = *v;
        }
    }
}

impl<S: Nonlinear + ?Sized> Nonlinear for OneBlock<'_, S> {
    fn len(&self) -> usize {
        self.cols.len()
    }

    fn residual(&mut self, x: &[f64], r: &mut [f64]) -> Result<(), DaeError> {
        self.place(x);
        self.evaluations += 1;
        self.system.residual(&self.point, self.r)?;
        for (own, &row) in r.iter_mut().zip(self.rows) {
            *own = self.r[row as usize];
        }
        Ok(())
    }

    fn jacobian(&mut self, x: &[f64], values: &mut [f64]) -> Result<(), DaeError> {
        self.place(x);
        self.system.jacobian(&self.point, self.values)?;
        for (own, &e) in values.iter_mut().zip(self.entries) {
            *own = self.values[e as usize];
        }
        Ok(())
    }

    fn pattern(&self) -> &Pattern {
        self.pattern
    }
}
