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
//! What is looked at are diagonal blocks ([`blocks`]), so that nothing depends on what else a model contains; none where no step can change them. A look costs an
//! evaluation of the Jacobian, so blocks above a size are not watched ([`Scale::impasses_to`](acausal_base::Scale::impasses_to)).

mod blocks;

use acausal_expr::unknown::UnknownRole;
use acausal_solver::Integrator;

use super::{ConsistentSystem, Point};
use crate::error::{InitialFailure, InitialKind};
use crate::machine::Machine;
use blocks::{BlockState, Blocks};

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
    /// What is looked at, once it was asked for; nothing if nothing needs to be.
    blocks: Option<Box<Blocks>>,
    asked: bool,
    /// Number of steps in succession at which the matrix was singular, and when that began.
    count: u32,
    since: f64,
    /// Sign of the determinant of each block after the last step at which it was known; nothing right behind an event.
    signs: Vec<i8>,
    /// Factorisations of the integrator by then.
    factorisations: u64,
}

impl ImpasseMonitor {
    /// After an event the equations may be others.
    pub fn forget(&mut self) {
        self.signs.clear();
        self.count = 0;
    }

    /// How to say that a solution ends at this point, if the equations are close to singular at it.
    pub fn fold(
        &mut self,
        system: &mut ConsistentSystem,
        at: &mut Point,
    ) -> Option<Box<InitialFailure>> {
        self.ask(system, at.machine);
        if self.blocks.is_none() || system.underdetermined.is_some() {
            return None;
        }
        let states = self.states(system, at.machine, at.t, at.y, at.yp);
        at.update();
        let state = smallest(&states, |_| true).filter(|s| s.smallest < SMALL)?;
        let mut failure = InitialFailure::new(InitialKind::SolutionEnds, at.t);
        failure.start = false;
        let column = system.columns[state.col as usize];
        failure.rows = vec![(system.rows[state.row as usize] as usize, 0.0)];
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
        let branching = machine.model.initial.branching;
        self.ask(system, machine);
        if self.blocks.is_none() {
            return Ok(None);
        }
        let factorisations = bdf.statistics().factorisations;
        if !branching && factorisations == self.factorisations && !self.signs.is_empty() {
            return Ok(None);
        }
        self.factorisations = factorisations;
        let t = bdf.t();
        let from = if branching {
            from
        } else {
            from.max(bdf.step_start())
        };
        let now = match self.states_at_hand(system, machine) {
            Some(states) if !self.has_turned(&states) => states,
            _ => {
                let (y, yp) = bdf.solution();
                self.states(system, machine, t, y, yp)
            }
        };
        let before = std::mem::take(&mut self.signs);
        let known = |k: usize| before.get(k).copied().unwrap_or(0);
        let signs = now.iter().enumerate();
        self.signs = signs
            .map(|(k, s)| if s.sign == 0 { known(k) } else { s.sign })
            .collect();
        if now.iter().any(|s| s.smallest < SMALL) {
            if self.count == 0 {
                self.since = t;
            }
            self.count += 1;
        } else {
            self.count = 0;
        }
        let has_turned = |k: usize, sign: i8| known(k) * sign < 0;
        let mut turned: Vec<usize> = (0..now.len())
            .filter(|k| has_turned(*k, now[*k].sign))
            .collect();
        let mut end = None;
        if turned.is_empty() && branching && self.count >= STEPS {
            end = smallest(&now, |_| true).map(|state| (self.since, state));
        }
        let (mut y, mut yp) = (bdf.y().to_vec(), bdf.yp().to_vec());
        let mut low = from;
        // Where the first of the signs changes, by bisection along the interpolant of the step; then the next, if the solution goes through.
        while end.is_none() && !turned.is_empty() {
            let (mut at, mut found) = (t, now.clone());
            while at - low > LOCATED * at.abs().max(low.abs()) {
                let middle = 0.5 * (low + at);
                bdf.interpolate(middle, &mut y, &mut yp);
                let there = self.states(system, machine, middle, &y, &yp);
                if turned.iter().all(|k| known(*k) * there[*k].sign > 0) {
                    low = middle;
                } else {
                    (at, found) = (middle, there);
                }
            }
            bdf.interpolate(at, &mut y, &mut yp);
            let here = |k: usize| known(k) * found[k].sign <= 0;
            let Some(state) = smallest(&found, |k| turned.contains(&k) && here(k)) else {
                break;
            };
            let column = system.columns[state.col as usize];
            let what = match (branching, state.smallest <= SMALL) {
                (true, _) => Passage::Pole,
                (false, true) => self.passage(system, machine, bdf, (at, column), nominal),
                (false, false) => Passage::Through,
            };
            match what {
                Passage::Through => {}
                Passage::Pole => end = Some((at, state)),
                Passage::Fold => {
                    let (y, yp) = bdf.solution();
                    machine.update(t, y, yp);
                    return Ok(Some(low));
                }
            }
            turned.retain(|k| !here(*k));
            low = at;
        }
        let Some((at, state)) = end else {
            let (y, yp) = bdf.solution();
            machine.update(t, y, yp);
            return Ok(None);
        };
        let kind = match branching {
            true => InitialKind::SolutionsMeet,
            false => InitialKind::Singular,
        };
        let mut failure = InitialFailure::new(kind, at);
        failure.start = false;
        let column = system.columns[state.col as usize] as usize;
        let value = machine.column_value(column, &y, &yp);
        failure.rows = vec![(system.rows[state.row as usize] as usize, 0.0)];
        failure.unknowns = vec![(machine.column_text(column), value)];
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

    fn ask(&mut self, system: &mut ConsistentSystem, machine: &Machine) {
        if !std::mem::replace(&mut self.asked, true) {
            self.blocks = blocks(system, machine);
        }
    }

    /// What they say where the integrator evaluated its last matrix, at next to no cost; large systems of explicit equations only.
    fn states_at_hand(
        &mut self,
        system: &ConsistentSystem,
        machine: &mut Machine,
    ) -> Option<Vec<BlockState>> {
        let schedule = system.schedule()?;
        let mut matrix = vec![0.0; system.pattern.nnz()];
        machine.consistent_jacobian_at_hand(schedule, &mut matrix);
        Some(self.blocks.as_mut()?.look(&matrix).to_vec())
    }

    /// Whether a sign is not what it was.
    fn has_turned(&self, states: &[BlockState]) -> bool {
        let mut pairs = self.signs.iter().zip(states);
        self.signs.is_empty() || pairs.any(|(sign, state)| sign * state.sign <= 0)
    }

    /// What the watched blocks of the matrix say at a point.
    fn states(
        &mut self,
        system: &ConsistentSystem,
        machine: &mut Machine,
        t: f64,
        y: &[f64],
        yp: &[f64],
    ) -> Vec<BlockState> {
        let Some(blocks) = &mut self.blocks else {
            return Vec::new();
        };
        let matrix = system.matrix(machine, t, y, yp);
        blocks.look(&matrix).to_vec()
    }
}

/// What has to be looked at: nothing where no step can change the matrix.
fn blocks(system: &mut ConsistentSystem, machine: &Machine) -> Option<Box<Blocks>> {
    let model = machine.model.clone();
    let algebraic = || model.unknowns.iter().any(|u| u.role != UnknownRole::State);
    let varies = model.initial.branching || algebraic() && machine.partials_vary_in_a_step();
    if !varies {
        return None;
    }
    Blocks::new(system, &model, machine.scale.impasses_to).map(Box::new)
}

/// The closest to singular of some blocks.
fn smallest(states: &[BlockState], of: impl Fn(usize) -> bool) -> Option<BlockState> {
    let chosen = states.iter().enumerate().filter(|(k, _)| of(*k));
    chosen
        .map(|(_, s)| *s)
        .min_by(|a, b| a.smallest.total_cmp(&b.smallest))
}
