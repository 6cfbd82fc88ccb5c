//! Impasse points (Chua & Deng 1989): where the equations no longer determine the derivatives and algebraic unknowns, although the integrator would go on.
//!
//! Two ways lead there. *Solutions meet*: `x = der(x)^2` with `der(x) = -1` at x = 1 has the solution (1 - t/2)^2 until t = 2;
//! from there on x = 0, or any later departure from it, is a solution as well (Cellier & Kofman 2006, (7.72)). The
//! iteration matrix of the integrator stays regular, so it would choose one of them without a word. *A pole*: `y + z = 1;
//! y + x*z = 3` has z = 2/(x - 1), and where x passes 1 a long step finds the other branch of z, again without a word.
//!
//! The matrix of the derivatives and algebraic unknowns is singular at both, and its determinant changes sign when the
//! integrator steps over such a point. It is looked at after each step where a derivative enters nonlinearly, and else
//! after steps with a new iteration matrix, as the old one does not carry over a pole. A change of sign is located by
//! bisection; it counts if the matrix is close to a singular one there and did not jump (as it may inside of `noEvent`).
//!
//! *A fold.* `y^3 - y = u` ends where `3*y^2 = 1`: behind that u there is no solution nearby, perhaps another one far away. Whether the integrator finds no step there, or accepts a point behind the
//! fold whose error is just below its tolerance, is chance; only in the second case the determinant changes its sign. Both are the same to the run, which looks for another solution from the last point before the fold
//! ([`crate::jump`]) and ends if there is none ([`ImpasseMonitor::fold`]).
//!
//! Rows are divided by their largest size so far; Gaussian elimination with complete pivoting then shows the sign and how
//! far the matrix is from a singular one. O(n^3) per look, so only systems with at most [`LARGEST`] unknowns are watched.

use acausal_solver::Integrator;

use super::{ConsistentSystem, Point};
use crate::error::{InitialFailure, InitialKind};
use crate::machine::Machine;

/// Largest number of unknowns.
const LARGEST: usize = 60;
/// A pivot below this, relative to the largest size of its row so far, counts as zero. At a distance d in time from the
/// point where solutions meet it is of size d.
const SMALL: f64 = 1e-3;
/// An unknown that is so many times larger at a point than around it has a pole there.
const POLE: f64 = 100.0;
/// The point is located to this fraction of the time.
const LOCATED: f64 = 1e-9;
/// So many steps in succession: a zero that is passed is no end.
const STEPS: u32 = 10;

/// How a solution passes a point where the matrix is singular.
enum Passage {
    Through,
    Pole,
    Fold,
}

/// The history of one run.
#[derive(Clone, Debug, Default)]
pub(crate) struct ImpasseMonitor {
    /// Largest entry of each row so far.
    largest: Vec<f64>,
    /// Number of steps in succession at which the matrix was singular, and when that began.
    count: u32,
    since: f64,
    /// Sign of the determinant after the last step; zero where it is not known.
    sign: i8,
    /// Factorisations of the integrator by then.
    factorisations: u64,
}

impl ImpasseMonitor {
    /// After an event the equations may be others.
    pub fn forget(&mut self) {
        self.sign = 0;
        self.count = 0;
    }

    /// How to say that a solution ends at this point, if the equations are close to singular at it.
    pub fn fold(
        &mut self,
        system: &ConsistentSystem,
        at: &mut Point,
    ) -> Option<Box<InitialFailure>> {
        let n = system.rows.len();
        if n == 0 || n > LARGEST || system.underdetermined.is_some() {
            return None;
        }
        let (_, smallest, row, col) = self.matrix(system, at.machine, at.t, at.y, at.yp);
        at.update();
        if smallest >= SMALL {
            return None;
        }
        let mut failure = InitialFailure::new(InitialKind::SolutionEnds, at.t);
        failure.start = false;
        let column = system.columns[col];
        failure.rows = vec![(system.rows[row] as usize, 0.0)];
        failure.unknowns = vec![(at.machine.column_text(column as usize), at.column(column))];
        Some(Box::new(failure))
    }

    /// Looks at the equations after a step of the integrator that began at `from` or before. Says where the solution ends if it folds back inside of the step.
    pub fn look(
        &mut self,
        system: &mut ConsistentSystem,
        machine: &mut Machine,
        bdf: &mut dyn Integrator,
        from: f64,
        nominal: &[f64],
    ) -> Result<Option<f64>, Box<InitialFailure>> {
        // Permanently singular in harmless directions.
        if system.underdetermined.is_some() {
            return Ok(None);
        }
        let n = system.rows.len();
        let branching = machine.model.initial.branching;
        if n == 0 || n > LARGEST || !(branching || system.has_algebraic(machine.model.n)) {
            return Ok(None);
        }
        let factorisations = bdf.statistics().factorisations;
        if !branching && factorisations == self.factorisations && self.sign != 0 {
            return Ok(None);
        }
        self.factorisations = factorisations;
        let t = bdf.t();
        let from = if branching {
            from
        } else {
            from.max(bdf.step_start())
        };
        let (y, yp) = bdf.solution();
        let (sign, smallest, row, col) = self.matrix(system, machine, t, y, yp);
        let before = self.sign;
        self.sign = sign;
        if smallest < SMALL {
            if self.count == 0 {
                self.since = t;
            }
            self.count += 1;
        } else {
            self.count = 0;
        }
        let turned = before * sign < 0;
        if !turned && (self.count < STEPS || !branching) {
            return Ok(None);
        }
        let mut at = if turned { t } else { self.since };
        let (mut y, mut yp) = (bdf.y().to_vec(), bdf.yp().to_vec());
        let (mut row, mut col, mut smallest) = (row, col, smallest);
        let mut low = from;
        if turned {
            // Where the sign changes, by bisection along the interpolant of the step.
            while at - low > LOCATED * at.abs().max(low.abs()) {
                let middle = 0.5 * (low + at);
                bdf.interpolate(middle, &mut y, &mut yp);
                let (sign, s, r, c) = self.matrix(system, machine, middle, &y, &yp);
                if before * sign > 0 {
                    low = middle;
                } else {
                    (at, smallest, row, col) = (middle, s, r, c);
                }
            }
            bdf.interpolate(at, &mut y, &mut yp);
        }
        if !branching {
            let column = system.columns[col];
            let what = match smallest <= SMALL {
                true => self.passage(system, machine, bdf, (at, column), nominal),
                false => Passage::Through,
            };
            let (y, yp) = bdf.solution();
            machine.update(t, y, yp);
            match what {
                Passage::Through => return Ok(None),
                Passage::Fold => return Ok(Some(low)),
                Passage::Pole => {}
            }
        }
        let kind = match branching {
            true => InitialKind::SolutionsMeet,
            false => InitialKind::Singular,
        };
        let mut failure = InitialFailure::new(kind, at);
        failure.start = false;
        let value = machine.column_value(system.columns[col] as usize, &y, &yp);
        failure.rows = vec![(system.rows[row] as usize, 0.0)];
        failure.unknowns = vec![(machine.column_text(system.columns[col] as usize), value)];
        Err(Box::new(failure))
    }

    /// What happens close to a point inside of the step where the matrix is singular: an unknown is far larger there than at the ends of the step, or there is no solution. Else the equations
    /// agree with each other at the singular point, and the solution goes through it.
    fn passage(
        &self,
        system: &mut ConsistentSystem,
        machine: &mut Machine,
        bdf: &mut dyn Integrator,
        (at, column): (f64, u32),
        nominal: &[f64],
    ) -> Passage {
        let (mut y, mut yp) = (bdf.y().to_vec(), bdf.yp().to_vec());
        let mut size = nominal[column as usize % nominal.len()];
        for t in [bdf.step_start(), bdf.t()] {
            bdf.interpolate(t, &mut y, &mut yp);
            size = size.max(machine.column_value(column as usize, &y, &yp).abs());
        }
        bdf.interpolate(at, &mut y, &mut yp);
        let mut point = Point {
            machine: &mut *machine,
            t: at,
            y: &mut y,
            yp: &mut yp,
            nominal,
        };
        let options = system.options(&point);
        let mut x = system.gather(&point);
        match system.at_once(&mut point, &options, &mut x) {
            Ok(_) => {
                system.scatter(&mut point, &x);
                match point.column(column).abs() > POLE * size {
                    true => Passage::Pole,
                    false => Passage::Through,
                }
            }
            Err(_) => self.at_end(system, machine, bdf, nominal),
        }
    }

    /// Where there is no solution inside of the step: whether the step has led to one. Behind a fold it has not, its error is only below the tolerance.
    fn at_end(
        &self,
        system: &mut ConsistentSystem,
        machine: &mut Machine,
        bdf: &mut dyn Integrator,
        nominal: &[f64],
    ) -> Passage {
        let (mut y, mut yp) = (bdf.y().to_vec(), bdf.yp().to_vec());
        let mut point = Point {
            machine,
            t: bdf.t(),
            y: &mut y,
            yp: &mut yp,
            nominal,
        };
        let options = system.options(&point);
        let accepted = system.gather(&point);
        let mut x = accepted.clone();
        let solved = system.at_once(&mut point, &options, &mut x).is_ok();
        let mut all = x.iter().zip(&accepted).zip(&options.nominal);
        match solved && all.all(|((x, a), n)| (x - a).abs() <= SMALL * a.abs().max(*n)) {
            true => Passage::Pole,
            false => Passage::Fold,
        }
    }

    /// Sign of the determinant, smallest pivot, its row and column.
    fn matrix(
        &mut self,
        system: &ConsistentSystem,
        machine: &mut Machine,
        t: f64,
        y: &[f64],
        yp: &[f64],
    ) -> (i8, f64, usize, usize) {
        let n = system.rows.len();
        let all = machine.initial_jacobian(t, y, yp);
        let mut a = vec![vec![0.0; n]; n];
        for (j, range) in (0..n).map(|j| (j, system.pattern.range(j))) {
            for k in range {
                let i = system.pattern.row_idx()[k] as usize;
                a[i][j] = all[system.entries[k] as usize];
            }
        }
        self.largest.resize(n, 0.0);
        for (row, largest) in a.iter_mut().zip(&mut self.largest) {
            *largest = row.iter().fold(*largest, |m, v| m.max(v.abs()));
            if *largest > 0.0 {
                row.iter_mut().for_each(|v| *v /= *largest);
            }
        }
        eliminate(&mut a)
    }
}

/// The sign of the determinant, the smallest pivot, its row and column, by elimination with complete pivoting.
fn eliminate(a: &mut [Vec<f64>]) -> (i8, f64, usize, usize) {
    let n = a.len();
    let mut rows: Vec<usize> = (0..n).collect();
    let mut cols: Vec<usize> = (0..n).collect();
    let mut sign = 1;
    let mut smallest = (f64::INFINITY, 0, 0);
    for k in 0..n {
        let mut best = (k, k);
        for i in k..n {
            for j in k..n {
                if a[rows[i]][cols[j]].abs() > a[rows[best.0]][cols[best.1]].abs() {
                    best = (i, j);
                }
            }
        }
        for (list, at) in [(&mut rows, best.0), (&mut cols, best.1)] {
            if at != k {
                list.swap(k, at);
                sign = -sign;
            }
        }
        let pivot = a[rows[k]][cols[k]];
        if pivot.abs() < smallest.0 {
            smallest = (pivot.abs(), rows[k], cols[k]);
        }
        if pivot == 0.0 || pivot.is_nan() {
            return (0, pivot.abs(), rows[k], cols[k]);
        }
        if pivot < 0.0 {
            sign = -sign;
        }
        let pivot_row = a[rows[k]].clone();
        for &i in &rows[k + 1..] {
            let factor = a[i][cols[k]] / pivot;
            for &j in &cols[k..] {
                a[i][j] -= factor * pivot_row[j];
            }
        }
    }
    (sign, smallest.0, smallest.1, smallest.2)
}
