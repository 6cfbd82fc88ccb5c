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
//! Rows are divided by their largest size so far; the sign and the smallest pivot of sparse factors then show on which side of a singular matrix
//! this one is, and how far. A matrix that has not changed (as where the equations are linear) says what it said. What remains is one evaluation
//! of the Jacobian per look, so only systems up to a size are watched ([`Scale::impasses_to`](acausal_base::Scale::impasses_to)).

use acausal_solver::Integrator;
use acausal_solver::linear::{LinearSolver, SparseLu};

use super::{ConsistentSystem, Point};
use crate::error::{InitialFailure, InitialKind};
use crate::machine::Machine;

/// A pivot below this, relative to the largest size of its row so far, counts as zero. At a distance d in time from the
/// point where solutions meet it is of size d.
const SMALL: f64 = 1e-3;
/// An unknown that is so many times larger at a point than around it has a pole there.
const POLE: f64 = 100.0;
/// The point is located to this fraction of the time.
const LOCATED: f64 = 1e-9;
/// So many steps in succession: a zero that is passed is no end.
const STEPS: u32 = 10;

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
    /// Factors of the matrix, once it was looked at.
    lu: Option<Box<SparseLu>>,
    /// Entries of the matrix that was looked at last, and what it said.
    values: Vec<f64>,
    last: Option<Matrix>,
}

impl ImpasseMonitor {
    /// After an event the equations may be others.
    pub fn forget(&mut self) {
        self.sign = 0;
        self.count = 0;
    }

    /// Looks at the equations after a step of the integrator that began at `from` or before.
    pub fn look(
        &mut self,
        system: &mut ConsistentSystem,
        machine: &mut Machine,
        bdf: &mut dyn Integrator,
        from: f64,
        nominal: &[f64],
    ) -> Result<(), Box<InitialFailure>> {
        // Permanently singular in harmless directions.
        if system.underdetermined.is_some() {
            return Ok(());
        }
        let n = system.rows.len();
        let branching = machine.model.initial.branching;
        let most = machine.scale.impasses_to;
        if n == 0 || n > most || !(branching || system.has_algebraic(machine.model.n)) {
            return Ok(());
        }
        let factorisations = bdf.statistics().factorisations;
        if !branching && factorisations == self.factorisations && self.sign != 0 {
            return Ok(());
        }
        self.factorisations = factorisations;
        let t = bdf.t();
        let from = if branching {
            from
        } else {
            from.max(bdf.step_start())
        };
        let (y, yp) = bdf.solution();
        let now = self.matrix(system, machine, t, y, yp);
        let before = self.sign;
        self.sign = now.sign;
        if now.smallest < SMALL {
            if self.count == 0 {
                self.since = t;
            }
            self.count += 1;
        } else {
            self.count = 0;
        }
        let turned = before * now.sign < 0;
        if !turned && (self.count < STEPS || !branching) {
            return Ok(());
        }
        let mut at = if turned { t } else { self.since };
        let (mut y, mut yp) = (bdf.y().to_vec(), bdf.yp().to_vec());
        let mut found = now;
        if turned {
            // Where the sign changes, by bisection along the interpolant of the step.
            let mut low = from;
            while at - low > LOCATED * at.abs().max(low.abs()) {
                let middle = 0.5 * (low + at);
                bdf.interpolate(middle, &mut y, &mut yp);
                let there = self.matrix(system, machine, middle, &y, &yp);
                if before * there.sign > 0 {
                    low = middle;
                } else {
                    (at, found) = (middle, there);
                }
            }
            bdf.interpolate(at, &mut y, &mut yp);
        }
        if !branching {
            let column = system.columns[found.col];
            let grows = found.smallest <= SMALL
                && self.is_pole(system, machine, bdf, (at, column), nominal);
            let (y, yp) = bdf.solution();
            machine.update(t, y, yp);
            if !grows {
                return Ok(());
            }
        }
        let kind = match branching {
            true => InitialKind::SolutionsMeet,
            false => InitialKind::Singular,
        };
        let mut failure = InitialFailure::new(kind, at);
        failure.start = false;
        let value = machine.column_value(system.columns[found.col] as usize, &y, &yp);
        failure.rows = vec![(system.rows[found.row] as usize, 0.0)];
        failure.unknowns = vec![(
            machine.column_text(system.columns[found.col] as usize),
            value,
        )];
        Err(Box::new(failure))
    }

    /// Whether an unknown is far larger close to a point inside of the step than at its ends. Where it is not, the equations
    /// agree with each other at the singular point, and the solution goes through it.
    fn is_pole(
        &self,
        system: &mut ConsistentSystem,
        machine: &mut Machine,
        bdf: &mut dyn Integrator,
        (at, column): (f64, u32),
        nominal: &[f64],
    ) -> bool {
        let (mut y, mut yp) = (bdf.y().to_vec(), bdf.yp().to_vec());
        let mut size = nominal[column as usize % nominal.len()];
        for t in [bdf.step_start(), bdf.t()] {
            bdf.interpolate(t, &mut y, &mut yp);
            size = size.max(machine.column_value(column as usize, &y, &yp).abs());
        }
        bdf.interpolate(at, &mut y, &mut yp);
        let mut point = Point {
            machine,
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
                point.column(column).abs() > POLE * size
            }
            Err(_) => true,
        }
    }

    /// The matrix at a point.
    fn matrix(
        &mut self,
        system: &ConsistentSystem,
        machine: &mut Machine,
        t: f64,
        y: &[f64],
        yp: &[f64],
    ) -> Matrix {
        let values = system.matrix(machine, t, y, yp);
        let changed = self.values.len() != values.len()
            || (self.values.iter().zip(&values)).any(|(a, b)| a.to_bits() != b.to_bits());
        if let Some(known) = self.last.filter(|_| !changed) {
            return known;
        }
        self.values = values;
        let rows = system.pattern.row_idx();
        self.largest.resize(system.rows.len(), 0.0);
        for (v, row) in self.values.iter().zip(rows) {
            let largest = &mut self.largest[*row as usize];
            *largest = largest.max(v.abs());
        }
        let scaled = |(v, row): (&f64, &u32)| match self.largest[*row as usize] {
            0.0 => 0.0,
            largest => v / largest,
        };
        let values: Vec<f64> = self.values.iter().zip(rows).map(scaled).collect();
        let found = self.factorised(system, &values);
        self.last = Some(found);
        found
    }

    fn factorised(&mut self, system: &ConsistentSystem, values: &[f64]) -> Matrix {
        if self.lu.is_none() {
            let mut lu = SparseLu::default();
            match lu.analyse(&system.pattern) {
                Ok(()) => self.lu = Some(Box::new(lu)),
                Err(s) => return Matrix::singular(s.row, s.col),
            }
        }
        let Some(lu) = &mut self.lu else {
            return Matrix::singular(0, 0);
        };
        match lu.factor(values) {
            Ok(()) => {
                let d = lu.determinant();
                Matrix {
                    sign: if d.negative { -1 } else { 1 },
                    smallest: d.smallest_pivot,
                    row: d.row,
                    col: d.col,
                }
            }
            Err(s) => Matrix::singular(s.row, s.col),
        }
    }
}

/// What the factors say.
#[derive(Clone, Copy, Debug)]
struct Matrix {
    /// Sign of the determinant.
    sign: i8,
    /// The smallest pivot, its row and column.
    smallest: f64,
    row: usize,
    col: usize,
}

impl Matrix {
    fn singular(row: usize, col: usize) -> Matrix {
        Matrix {
            sign: 0,
            smallest: 0.0,
            row,
            col,
        }
    }
}
