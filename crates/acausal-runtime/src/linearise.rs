//! The linear model at one instant: `x' = A x + B u`, `y = C x + D u` for small changes.
//!
//! In: a model and settings; the run goes to the stop time, and the linear model is that of the point it gets to, with all relations as they are there. Out: four matrices with names.
//!
//! With the unknowns of the index-one DAE `F(x', x, z, u) = 0` split into states x and algebraic unknowns z, changes satisfy
//! `F_x' dx' + F_z dz = -(F_x dx + F_u du)`. One factorisation of the sparse matrix `(F_x' F_z)`, which has the pattern of the Jacobian, and one solution for each state and input
//! give dx' and dz: the first is a column of A or B. F_x', F_z and F_x are exact, from the kernels of the Jacobian. Inputs are no unknowns, so F_u is a central difference, and so are
//! outputs along (dx', dx, dz, du): exact up to rounding where the model is linear in them.
//!
//! Example: `der(x) = -3*x + 2*u; y = x + u` has A = -3, B = 2, C = 1, D = 1.
//!
//! Where states are restricted by equations (`--no-state-selection`) there is no such model: the matrix is singular, and that is said.

use std::sync::Arc;

use acausal_compiled::{Loc, fixed};
use acausal_expr::unknown::{Unknown, UnknownRole};
use acausal_solver::Dae;
use acausal_solver::linear::{LinearSolver, Lu};

use crate::error::unknown_text;
use crate::initial::roles;
use crate::machine::{Machine, Prepared};
use crate::simulate::Simulation;
use crate::{Settings, SimError, Sink, simulate_prepared};

/// See the module. Matrices are row by row.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)]
pub struct Linearisation {
    /// The instant.
    pub t: f64,
    pub states: Vec<String>,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    /// Values at the instant.
    pub x: Vec<f64>,
    pub u: Vec<f64>,
    pub y: Vec<f64>,
    pub a: Vec<f64>,
    pub b: Vec<f64>,
    pub c: Vec<f64>,
    pub d: Vec<f64>,
}

/// Steps of central differences, relative to the size of what changes or to one: the power of two nearest below the point where errors of rounding and of curvature are equal,
/// so that adding it rounds nothing where there is room.
fn step(size: f64) -> f64 {
    power_of_two(f64::EPSILON.cbrt() * size.abs().max(1.0))
}

/// The power of two nearest below a positive number.
fn power_of_two(x: f64) -> f64 {
    x.log2().floor().exp2()
}

/// The linear model at `settings.stop` with these inputs and outputs.
pub fn linearise(
    prepared: &Arc<Prepared>,
    settings: &Settings,
    inputs: &[String],
    outputs: &[(String, Loc)],
) -> Result<Linearisation, SimError> {
    let mut settings = Settings {
        checkpoint: true,
        ..settings.clone()
    };
    let mut summary = simulate_prepared(prepared, &settings, &mut Nobody)?;
    let checkpoint = summary.checkpoint.take();
    let checkpoint = checkpoint.ok_or_else(|| SimError::Settings("the run has no end".into()))?;
    settings.start = checkpoint.t;
    let (machine, mut summary) = crate::simulate::ready(prepared, &settings)?;
    let run = Simulation::resume(machine, &checkpoint, &settings, &mut summary)?;
    let places = inputs.iter().map(|name| Ok(prepared.input(name)?.0));
    let places: Vec<usize> = places.collect::<Result<_, SimError>>()?;
    let mut at = PointOfRun::new(run);
    let mut found = at.linearise(&places, outputs)?;
    found.inputs = inputs.to_vec();
    found.outputs = outputs.iter().map(|o| o.0.clone()).collect();
    Ok(found)
}

/// Wants no rows.
struct Nobody;

impl Sink for Nobody {
    fn begin(&mut self, _: &Machine, _: &[f64], _: &[f64]) -> Result<(), String> {
        Ok(())
    }
    fn row(&mut self, _: f64, _: &Machine, _: &[f64], _: &[f64]) -> Result<(), String> {
        Ok(())
    }
}

/// A point that changes are about.
struct PointOfRun {
    machine: Machine,
    t: f64,
    y: Vec<f64>,
    yp: Vec<f64>,
    /// Unknowns whose derivatives are determined: states, and integrals of multipliers.
    differential: Vec<bool>,
}

/// How everything changes with one state or input.
struct Change {
    dy: Vec<f64>,
    dyp: Vec<f64>,
    /// Place and change of an input.
    input: Option<(usize, f64)>,
}

impl PointOfRun {
    fn new(run: Simulation) -> PointOfRun {
        let roles = roles(&run.machine.model);
        let mut machine = run.machine;
        // From here on inputs are numbers that are changed by hand.
        machine.inputs = Default::default();
        PointOfRun {
            differential: roles.iter().map(|r| *r != UnknownRole::Algebraic).collect(),
            machine,
            t: run.t,
            y: run.y,
            yp: run.yp,
        }
    }

    fn linearise(
        &mut self,
        inputs: &[usize],
        outputs: &[(String, Loc)],
    ) -> Result<Linearisation, SimError> {
        let model = self.machine.model.clone();
        let roles = roles(&model);
        let n = model.n;
        // One that stands in for those of a model without any is none.
        let own = |u: &Unknown| u.value.is_some_and(|q| !model.symbols.var(q.0).auxiliary);
        let groups = model
            .unknowns
            .iter()
            .flat_map(|u| (0..u.len).map(move |_| own(u)));
        let states: Vec<(String, usize)> = (groups.zip(&roles).enumerate())
            .filter(|(_, (own, role))| *own && **role == UnknownRole::State)
            .map(|(k, _)| (unknown_text(&model, k), k))
            .collect();
        let slopes = self.jacobian((0.0, 1.0))?;
        let values = self.jacobian((1.0, 0.0))?;
        let pattern = self.machine.pattern().clone();
        let mut matrix = values.clone();
        for k in (0..n).filter(|&k| self.differential[k]) {
            let range = pattern.range(k);
            matrix[range.clone()].copy_from_slice(&slopes[range]);
        }
        let mut lu = Lu::new();
        let singular = |_| {
            SimError::Settings(
                "there is no linear model here: the equations do not determine all derivatives of the states and all algebraic unknowns".into(),
            )
        };
        lu.analyse(&pattern).map_err(singular)?;
        lu.factor(&matrix).map_err(singular)?;
        let mut changes = Vec::with_capacity(states.len() + inputs.len());
        for &(_, k) in &states {
            let mut rhs = vec![0.0; n];
            for (&row, v) in pattern.rows_of(k).iter().zip(&values[pattern.range(k)]) {
                rhs[row as usize] = -v;
            }
            lu.solve(&mut rhs);
            changes.push(self.change(rhs, Some(k), None));
        }
        for &place in inputs {
            let mut rhs = self.slope_of_residual(place)?;
            lu.solve(&mut rhs);
            changes.push(self.change(rhs, None, Some((place, 1.0))));
        }
        let (rows, columns) = (states.len(), inputs.len());
        let mut found = Linearisation {
            t: self.t,
            x: states.iter().map(|s| self.y[s.1]).collect(),
            u: inputs.iter().map(|&p| self.machine.mem[p]).collect(),
            y: self.outputs(outputs),
            a: vec![0.0; rows * rows],
            b: vec![0.0; rows * columns],
            c: vec![0.0; outputs.len() * rows],
            d: vec![0.0; outputs.len() * columns],
            ..Linearisation::default()
        };
        for (k, change) in changes.iter().enumerate() {
            let slopes = self.slope_of_outputs(change, outputs);
            let (of_state, of_output, width, column) = match k < rows {
                true => (&mut found.a, &mut found.c, rows, k),
                false => (&mut found.b, &mut found.d, columns, k - rows),
            };
            for (i, (_, state)) in states.iter().enumerate() {
                // No minus before a zero.
                of_state[i * width + column] = change.dyp[*state] + 0.0;
            }
            for (i, slope) in slopes.into_iter().enumerate() {
                of_output[i * width + column] = slope;
            }
        }
        found.states = states.into_iter().map(|s| s.0).collect();
        Ok(found)
    }

    /// `a dF/dy + b dF/dy'` at the point.
    fn jacobian(&mut self, factors: (f64, f64)) -> Result<Vec<f64>, SimError> {
        let mut values = vec![0.0; self.machine.pattern().nnz()];
        let done =
            (self.machine).weighted_jacobian(self.t, &self.y, &self.yp, factors, &mut values);
        match done.is_ok() && values.iter().all(|v| v.is_finite()) {
            true => Ok(values),
            false => Err(SimError::Settings(format!(
                "the derivatives of the equations are not finite at time = {}",
                self.t
            ))),
        }
    }

    /// What a solution says, sorted into unknowns and derivatives.
    fn change(
        &self,
        solution: Vec<f64>,
        state: Option<usize>,
        input: Option<(usize, f64)>,
    ) -> Change {
        let n = solution.len();
        let (mut dy, mut dyp) = (vec![0.0; n], vec![0.0; n]);
        for (k, v) in solution.into_iter().enumerate() {
            match self.differential[k] {
                true => dyp[k] = v,
                false => dy[k] = v,
            }
        }
        if let Some(k) = state {
            dy[k] = 1.0;
        }
        Change { dy, dyp, input }
    }

    /// `-dF/du`.
    fn slope_of_residual(&mut self, place: usize) -> Result<Vec<f64>, SimError> {
        let u = self.machine.mem[place];
        let h = step(u);
        let n = self.y.len();
        let mut at = |value: f64| {
            self.machine.mem[place] = value;
            self.machine.residual_to_out(self.t, &self.y, &self.yp);
            self.machine.out[..n].to_vec()
        };
        let (up, down) = (at(u + h), at(u - h));
        self.machine.mem[place] = u;
        let slopes = up.iter().zip(&down);
        Ok(slopes.map(|(up, down)| -(up - down) / (2.0 * h)).collect())
    }

    /// The outputs at the point.
    fn outputs(&mut self, outputs: &[(String, Loc)]) -> Vec<f64> {
        self.machine.update(self.t, &self.y, &self.yp);
        let value = |o: &(String, Loc)| self.machine.value(o.1, &self.y, &self.yp);
        outputs.iter().map(value).collect()
    }

    fn slope_of_outputs(&mut self, change: &Change, outputs: &[(String, Loc)]) -> Vec<f64> {
        let kept = (self.y.clone(), self.yp.clone());
        let sizes = kept
            .0
            .iter()
            .chain(&kept.1)
            .fold(0.0f64, |m, v| m.max(v.abs()));
        let largest = change.dy.iter().chain(&change.dyp);
        let h = step(sizes) / power_of_two(largest.fold(1.0f64, |m, v| m.max(v.abs())));
        let mut at = |h: f64| {
            let moved = |base: &[f64], d: &[f64]| -> Vec<f64> {
                base.iter().zip(d).map(|(v, d)| v + h * d).collect()
            };
            (self.y, self.yp) = (moved(&kept.0, &change.dy), moved(&kept.1, &change.dyp));
            let before = change.input.map(|(place, du)| {
                let before = self.machine.mem[place];
                self.machine.mem[place] = before + h * du;
                (place, before)
            });
            let values = self.outputs(outputs);
            if let Some((place, before)) = before {
                self.machine.mem[place] = before;
            }
            values
        };
        let (up, down) = (at(h), at(-h));
        (self.y, self.yp) = kept;
        self.machine.mem[fixed::TIME] = self.t;
        let pairs = up.iter().zip(&down);
        pairs.map(|(up, down)| (up - down) / (2.0 * h)).collect()
    }
}
