//! The equations of the integrator where some unknowns are open: the solution stays the nearest one.
//!
//! In: the directions that the equations leave open since the last event ([`Loose`]) and the values there. Out
//! ([`Bordered`]): what is added to a row that depends on the others, for each direction, and the pattern of the matrix
//! with it. With the row multiplied by its own size the matrix is as well conditioned as the rest of it.
//!
//! Invariant: where the rows still depend on each other, what is added is zero at every solution, so each equation of the
//! model holds as it was written. Where they do not any more, it is not zero ([`Bordered::holds`]); the step is then
//! taken back and done without.

use acausal_solver::{Dae, Pattern, PatternError};

use crate::consistent::{Direction, Loose, Point};
use crate::simulate::Run;
use crate::{SimError, Summary};

/// Relative distance from the nearest solution at which the equations have something else to say.
const DETERMINED: f64 = 1e-5;

/// Additions to some rows.
pub(crate) struct Bordered {
    /// The open directions.
    directions: Vec<Direction>,
    /// Per direction: positions of its entries in the pattern.
    places: Vec<Vec<u32>>,
    /// Values from which the distance counts.
    reference: Vec<f64>,
    pub pattern: Pattern,
    /// Position of each entry of the model's pattern.
    own: Vec<u32>,
    /// The model's matrix.
    values: Vec<f64>,
}

impl Bordered {
    /// For the pattern of the model, at these values.
    pub fn new(loose: &Loose, model: &Pattern, y: &[f64]) -> Result<Bordered, PatternError> {
        let n = model.size();
        let directions = loose.directions.clone();
        let entries = (0..n).flat_map(|j| model.rows_of(j).iter().map(move |&i| (i as usize, j)));
        let added = directions.iter().flat_map(|d| {
            let of = move |w: &(u32, f64)| (d.row as usize, w.0 as usize);
            d.weights.iter().map(of)
        });
        let pattern = Pattern::from_entries(n, entries.clone().chain(added))?;
        let place = |(i, j)| pattern.position(i, j).map_or(0, |k| k as u32);
        let own = entries.map(place).collect();
        let places = (directions.iter())
            .map(|d| {
                let of = |w: &(u32, f64)| place((d.row as usize, w.0 as usize));
                d.weights.iter().map(of).collect()
            })
            .collect();
        Ok(Bordered {
            directions,
            places,
            reference: y.to_vec(),
            pattern,
            own,
            values: vec![0.0; model.nnz()],
        })
    }

    /// Distance along a direction, in sizes of the unknowns.
    fn distance(&self, d: &Direction, y: &[f64]) -> f64 {
        let part = |&(c, w): &(u32, f64)| w * (y[c as usize] - self.reference[c as usize]);
        d.weights.iter().map(part).sum()
    }

    /// Whether the equations still leave the directions open.
    pub fn holds(&self, y: &[f64]) -> bool {
        let mut directions = self.directions.iter();
        directions.all(|d| self.distance(d, y).abs() <= DETERMINED)
    }

    /// Adds to the residuals of the model.
    pub fn add(&self, y: &[f64], r: &mut [f64]) {
        for d in &self.directions {
            r[d.row as usize] += d.size * self.distance(d, y);
        }
    }

    /// The matrix: that of the model, which `fill` writes, with what is added.
    pub fn matrix<E>(
        &mut self,
        values: &mut [f64],
        fill: impl FnOnce(&mut [f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        fill(&mut self.values)?;
        values.fill(0.0);
        for (&k, v) in self.own.iter().zip(&self.values) {
            values[k as usize] = *v;
        }
        for (d, places) in self.directions.iter().zip(&self.places) {
            for (&k, (_, w)) in places.iter().zip(&d.weights) {
                values[k as usize] += d.size * w;
            }
        }
        Ok(())
    }
}

impl Run {
    /// Holds what the equations leave open at the nearest solution, from now until the next event. What was open at this
    /// instant (`found`) must be so an instant later too, which [`Run::slopes`] has looked at; else the solution here is one
    /// of many, and the equations soon tell which.
    pub(crate) fn keep_open(
        &mut self,
        found: Option<Loose>,
        summary: &mut Summary,
    ) -> Result<(), SimError> {
        let loose = self.restart.loose();
        if let Some(found) = found.filter(|_| loose.is_none()) {
            return Err(SimError::Initialisation(found.failure));
        }
        let Some(loose) = loose else {
            self.border = None;
            return Ok(());
        };
        let border = Bordered::new(loose, self.machine.pattern(), &self.y);
        self.border = Some(border.map_err(SimError::Pattern)?);
        let columns = loose.columns();
        if !self.reported.contains(&columns) {
            let text = loose.text(&Point {
                machine: &mut self.machine,
                t: self.t,
                y: &mut self.y,
                yp: &mut self.yp,
                nominal: &self.nominal,
            });
            summary.warnings.push(text);
            self.reported.push(columns);
        }
        Ok(())
    }
}
