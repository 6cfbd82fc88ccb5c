//! The equations of the integrator where some unknowns are open: the solution stays the nearest one.
//!
//! In: the directions that the equations leave open since the last event ([`Underdetermined`]) and the values there. Out
//! ([`Bordered`]): what is added to a row that depends on the others, for each direction, and the pattern of the matrix
//! with it. With the row multiplied by its own size the matrix is as well conditioned as the rest of it.
//!
//! Invariant: where the rows still depend on each other, what is added is zero at every solution, so each equation of the
//! model holds as it was written. Where they do not any more, it is not zero ([`Bordered::holds`]); the step is then
//! taken back and done without.

use acausal_solver::{Dae, Pattern, PatternError};

use crate::consistent::{FreeDirection, Point, Underdetermined};
use crate::event::threshold::look_ahead;
use crate::simulate::Simulation;
use crate::{Settings, SimError, Summary};

/// Relative distance from the nearest solution at which the equations have something else to say.
const DETERMINED: f64 = 1e-5;

/// Additions to some rows.
pub(crate) struct Bordered {
    /// The open directions.
    directions: Vec<FreeDirection>,
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
    pub fn new(
        open: &Underdetermined,
        model: &Pattern,
        y: &[f64],
    ) -> Result<Bordered, PatternError> {
        let n = model.size();
        let directions = open.directions.clone();
        let entries = (0..n).flat_map(|j| model.rows_of(j).iter().map(move |&i| (i as usize, j)));
        let added = directions.iter().flat_map(|d| {
            let of = move |w: &(u32, f64)| (d.row as usize, w.0 as usize);
            d.weights.iter().map(of)
        });
        let pattern = Pattern::from_entries(n, entries.clone().chain(added))?;
        let place = |(row, column)| {
            let found = pattern.position(row, column).map(|k| k as u32);
            found.ok_or(PatternError::RowIndex { column, row })
        };
        let own = entries.map(place).collect::<Result<_, _>>()?;
        let places = (directions.iter())
            .map(|d| {
                let of = |w: &(u32, f64)| place((d.row as usize, w.0 as usize));
                d.weights.iter().map(of).collect()
            })
            .collect::<Result<_, _>>()?;
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
    fn distance(&self, d: &FreeDirection, y: &[f64]) -> f64 {
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

impl Simulation {
    /// Holds what the equations leave open at the nearest solution, from now until the next event. What was open at this
    /// instant (`found`) may be determined an instant later, which [`Simulation::slopes`] has looked at; then it is taken from there.
    pub(crate) fn keep_open(
        &mut self,
        found: Option<Underdetermined>,
        settings: &Settings,
        summary: &mut Summary,
    ) -> Result<(), SimError> {
        self.border = None;
        let (open, how) = match (self.restart.underdetermined().cloned(), found) {
            (Some(open), _) => {
                let border = Bordered::new(&open, self.machine.pattern(), &self.y);
                self.border = Some(border.map_err(SimError::Pattern)?);
                (open, "nearest to the values before")
            }
            (None, Some(found)) => {
                if !self.take_from_ahead(&found, settings) {
                    return Err(SimError::Initialisation(found.failure));
                }
                (found, "that they determine an instant later")
            }
            (None, None) => return Ok(()),
        };
        let columns = open.columns();
        if !self.reported.contains(&columns) {
            let at = Point {
                machine: &mut self.machine,
                t: self.t,
                y: &mut self.y,
                yp: &mut self.yp,
                nominal: &self.nominal,
            };
            summary.warnings.push(open.text(&at, how));
            self.reported.push(columns);
        }
        Ok(())
    }

    /// Gives unknowns that are open at this instant only the values of an instant later. False if there is no solution then,
    /// or if these values are no solution here.
    fn take_from_ahead(&mut self, found: &Underdetermined, settings: &Settings) -> bool {
        let before = (self.y.clone(), self.yp.clone());
        let (_, mut ctx) = self.context(settings);
        let Some(ahead) = look_ahead(&mut ctx) else {
            return false;
        };
        let columns = found.columns();
        for &c in &columns {
            self.y[c as usize] += ahead.dt * ahead.slope[c as usize];
        }
        let lenient = self.restart.set_lenient(true);
        let solved = self.restart.solve(&mut Point {
            machine: &mut self.machine,
            t: self.t,
            y: &mut self.y,
            yp: &mut self.yp,
            nominal: &self.nominal,
        });
        self.restart.set_lenient(lenient);
        if solved.is_err() {
            (self.y, self.yp) = before;
            self.machine.update(self.t, &self.y, &self.yp);
            return false;
        }
        for &c in &columns {
            self.yp[c as usize] = 0.0;
        }
        true
    }
}
