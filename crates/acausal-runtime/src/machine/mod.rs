//! A compiled model with its memory: what the integrator evaluates.
//!
//! | module | what |
//! |---|---|
//! | [`programs`] | the table of programs, and the passes that make it |
//! | [`build`] | a machine from a compiled model |
//! | [`functions`] | functions that are interpreted |
//! | [`histories`] | cells of delays and distributions |
//! | [`start`] | the equations of the start |
//! | [`dae`] | the residual, Jacobian and indicators of the integrator |
//! | [`timetable`] | relations of time whose instants are known before the start, and what follows from them |

mod build;
mod dae;
mod functions;
mod histories;
mod programs;
mod start;
pub(crate) mod timetable;

use std::sync::Arc;
use std::time::Instant;

use acausal_base::Scale;
use acausal_compiled::{CompiledModel, Loc, fixed};
use acausal_cpu::Team;
use acausal_expr::flat::Variable;
use acausal_jit::kernel::{Bank, Program};
use acausal_jit::{BankLengths, Banks, BoundProgram, RunError, Scratch};
use acausal_solver::{DaeError, EvalReason};

use crate::SimError;
use crate::delay::DelayLines;
use crate::distribution::Distributions;
use crate::inputs::Inputs;
pub use build::Prepared;
pub(crate) use functions::FunctionFailure;
use functions::UserFunctions;
pub(crate) use programs::ProgramId;
use programs::{Update, Workspaces};
use timetable::Timetable;

/// Instants that differ by less than this fraction are the same.
const NOW: f64 = 1e-13;

/// A model in execution.
pub struct Machine {
    pub(crate) model: Arc<CompiledModel>,
    prepared: Arc<Prepared>,
    functions: UserFunctions,
    scratch: Scratch,
    workspaces: Workspaces,
    /// Threads, where there is work for them.
    team: Option<Team>,
    /// Bank `Mem`.
    pub(crate) mem: Vec<f64>,
    /// General output buffer.
    pub(crate) out: Vec<f64>,
    partials: Vec<f64>,
    acc: Vec<f64>,
    /// Memory of the initial Jacobian.
    pub(crate) initial: InitialMemory,
    pub(crate) delays: DelayLines,
    /// Instants near zero are no better known than by rounding errors of this: a second, or less where the whole run is shorter.
    time_unit: f64,
    pub(crate) distributions: Distributions,
    pub(crate) inputs: Inputs,
    pub(crate) timetable: Timetable,
    /// From which size on the same is done otherwise.
    pub(crate) scale: Scale,
    /// Relations and discrete assignments that were evaluated at events.
    pub(crate) event_evaluations: u64,
    /// Number of instants and of discrete assignments of the model.
    time_instants: u64,
    discrete_assignments: u64,
    /// The first run-time fault, kept because the integrator only hears "not a number".
    pub(crate) fault: Option<RunError>,
    /// Per indicator: on which side of zero its difference belongs, and the shift of its hysteresis (see `event::relations`).
    pub(crate) sides: Vec<f64>,
    pub(crate) shifts: Vec<f64>,
    /// The numbers of the relations that the integrator watches: those of `time` change at instants that are known in advance.
    pub(crate) watched: Vec<usize>,
    /// Work space: the differences of all relations.
    differences: Vec<f64>,
    /// Some indicator needs derivatives that satisfy the equations.
    pub(crate) watches_slopes: bool,
    /// Some indicator needs algebraic unknowns or derivatives that satisfy the equations.
    pub(crate) watches_algebraic: bool,
    /// Time of evaluations is measured.
    pub(crate) profiles: bool,
    pub(crate) seconds: EvaluationSeconds,
}

/// Memory of the initial Jacobian, taken when it is first evaluated.
#[derive(Default)]
pub(crate) struct InitialMemory {
    partials: Vec<f64>,
    acc: Vec<f64>,
    values: Vec<f64>,
}

/// Seconds that the integrator spent in the model.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EvaluationSeconds {
    pub residual: f64,
    /// In residuals that are evaluated while unknowns are predicted, with that prediction.
    pub predicted: f64,
    pub jacobian: f64,
    pub indicators: f64,
}

impl Machine {
    /// The compiled model.
    pub fn model(&self) -> &Arc<CompiledModel> {
        &self.model
    }

    /// Where the failures of functions are noted.
    pub(crate) fn function_failure(&self) -> FunctionFailure {
        self.functions.failed.clone()
    }

    /// Whether functions can warn.
    pub(crate) fn functions_warn(&self) -> bool {
        self.functions.functions.can_warn()
    }

    /// Whether functions have assertions that are errors.
    pub(crate) fn functions_assert(&self) -> bool {
        self.functions.functions.can_fail()
    }

    /// Warnings of functions at this point, which the solvers have accepted; those of points that they only tried are
    /// forgotten.
    pub(crate) fn function_warnings(&mut self, t: f64, y: &[f64], yp: &[f64]) -> Vec<String> {
        self.functions.functions.take_warnings();
        self.update(t, y, yp);
        self.residual_to_out(t, y, yp);
        self.functions.functions.take_warnings()
    }

    /// Evaluates parameters and attributes, once per simulation.
    pub fn set_parameters(&mut self) {
        self.run(ProgramId::Parameters, &[], &[]);
        self.run(ProgramId::Starts, &[], &[]);
        self.start_timetable(self.mem[fixed::TIME]);
    }

    /// Sets the unit of instants for a run between two times.
    pub(crate) fn set_span(&mut self, start: f64, stop: f64) {
        self.time_unit = start.abs().max(stop.abs()).min(1.0);
        self.delays.unit = self.time_unit;
    }

    /// Whether a computed instant is the present one, up to the rounding of its computation.
    pub(crate) fn is_now(&self, instant: f64, t: f64) -> bool {
        (instant - t).abs() <= NOW * t.abs().max(self.time_unit)
    }

    /// The external objects that could not be made, such as a table whose file does not exist: everything that uses one would fail
    /// with a message about something else.
    pub(crate) fn check_objects(&self) -> Result<(), SimError> {
        let is_object = |v: &Variable| v.auxiliary && v.is_parameter() && v.binding.is_some();
        let objects = (self.model.symbols.var_ids()).filter(|(_, v)| is_object(v));
        for (id, var) in objects {
            let place = self.model.region(id, acausal_expr::ValueKind::Value);
            let made = |k: usize| place.is_none_or(|base| !self.mem[base + k].is_nan());
            if !(0..var.len()).all(made)
                && let Some(reason) = self.functions.failed.cause()
            {
                let (name, span) = (var.name.element(&[]), var.span);
                return Err(SimError::Object { name, reason, span });
            }
        }
        Ok(())
    }

    /// Sets time, and the inputs at that time; true if one of them is another than before.
    pub(crate) fn set_time(&mut self, t: f64) -> bool {
        self.mem[fixed::TIME] = t;
        self.inputs.write(t, &mut self.mem)
    }

    /// Brings local assignments up to date.
    pub fn update(&mut self, t: f64, y: &[f64], yp: &[f64]) {
        self.set_time(t);
        self.write_delays(t, y, yp);
        self.run(ProgramId::Locals, y, yp);
        self.run(ProgramId::OtherLocals, y, yp);
    }

    /// Does what the program of the residuals expects to be done.
    fn prepare_residual(&mut self, t: f64, y: &[f64], yp: &[f64]) {
        if self.prepared.programs.residuals_update == Update::Before {
            self.update_for_residual(t, y, yp);
        } else {
            self.set_time(t);
            self.write_delays(t, y, yp);
        }
    }

    /// Brings those local assignments up to date that the residuals need.
    pub(crate) fn update_for_residual(&mut self, t: f64, y: &[f64], yp: &[f64]) {
        self.set_time(t);
        self.write_delays(t, y, yp);
        self.run(ProgramId::Locals, y, yp);
    }

    /// The first local assignment whose value is not a finite number: its place in `Mem` and its equation.
    pub(crate) fn not_finite(&self) -> Option<(usize, acausal_expr::flat::OriginId)> {
        self.model
            .local_values
            .iter()
            .find_map(|&(first, count, origin)| {
                let values = &self.mem[first..first + count];
                if all_finite(values) {
                    return None;
                }
                values
                    .iter()
                    .position(|v| !v.is_finite())
                    .map(|k| (first + k, origin))
            })
    }

    /// The value at a location.
    pub fn value(&self, loc: Loc, y: &[f64], yp: &[f64]) -> f64 {
        match loc.bank() {
            Bank::Y => y[loc.index()],
            Bank::Yp => yp[loc.index()],
            Bank::Mem => self.mem[loc.index()],
            Bank::Out => f64::NAN,
        }
    }

    /// Runs a program that writes to `Mem` or the general output buffer. A fault is kept.
    pub(crate) fn run(&mut self, which: ProgramId, y: &[f64], yp: &[f64]) {
        self.event_evaluations += match which {
            ProgramId::Values => self.model.events.cells as u64,
            ProgramId::Times => self.time_instants,
            ProgramId::Discrete => self.discrete_assignments,
            _ => 0,
        };
        // Parameter programs run before there are unknowns; they read none, but the banks must have their length.
        let zeros;
        let (y, yp) = if y.is_empty() && self.model.n > 0 {
            zeros = vec![0.0; self.model.n];
            (&zeros[..], &zeros[..])
        } else {
            (y, yp)
        };
        let mut out = std::mem::take(&mut self.out);
        self.run_to(which, y, yp, &mut out);
        self.out = out;
    }

    /// Runs a program with a buffer for its results. A fault is kept.
    fn run_to(&mut self, which: ProgramId, y: &[f64], yp: &[f64], out: &mut [f64]) {
        if let Err(fault) = self.execute(which, y, yp, out) {
            self.fault.get_or_insert(fault);
        }
    }

    /// A part of a program that runs before there are unknowns.
    pub(crate) fn run_before_start(&mut self, part: &Program) -> Result<(), SimError> {
        let part = self.bind_locals(part)?;
        let zeros = vec![0.0; self.model.n];
        self.update_part(self.mem[fixed::TIME], &part, &zeros, &zeros);
        Ok(())
    }

    /// Runs a program of the table.
    fn execute(
        &mut self,
        which: ProgramId,
        y: &[f64],
        yp: &[f64],
        out: &mut [f64],
    ) -> Result<(), RunError> {
        let mem = &mut self.mem;
        let banks = Banks { y, yp, mem, out };
        let (team, scratch) = ((self.team.as_mut(), &self.workspaces), &mut self.scratch);
        (self.prepared.programs).run(which, team, banks, &self.functions, scratch)
    }

    /// A part of the local assignments, ready to be run.
    pub(crate) fn bind_locals(&self, program: &Program) -> Result<BoundProgram, SimError> {
        let lengths = BankLengths {
            y: self.model.n,
            yp: self.model.n,
            mem: self.model.mem_len,
            out: 0,
        };
        self.prepared
            .code
            .bind(program, lengths)
            .map_err(SimError::Code)
    }

    /// Brings a part of the local assignments up to date.
    pub(crate) fn update_part(&mut self, t: f64, part: &BoundProgram, y: &[f64], yp: &[f64]) {
        self.set_time(t);
        let banks = Banks {
            y,
            yp,
            mem: &mut self.mem,
            out: &mut [],
        };
        if let Err(e) = part.run(banks, &self.functions, &mut self.scratch) {
            self.fault.get_or_insert(e);
        }
    }

    /// Whether the partial derivatives can change between two events.
    pub(crate) fn partials_vary_in_a_step(&self) -> bool {
        programs::partials_vary_in_a_step(&self.model)
    }

    /// Brings parameters that depend on free ones and local assignments up to date.
    pub(crate) fn update_all(&mut self, t: f64, y: &[f64], yp: &[f64]) {
        if !self.model.initial.dependent.is_empty() {
            self.run(ProgramId::Dependent, y, yp);
        }
        self.update(t, y, yp);
    }

    /// The residuals, into the general output buffer.
    pub(crate) fn residual_to_out(&mut self, t: f64, y: &[f64], yp: &[f64]) {
        self.prepare_residual(t, y, yp);
        let mut out = std::mem::take(&mut self.out);
        self.run_to(ProgramId::Residuals, y, yp, &mut out);
        self.out = out;
    }

    /// Keeps a fault of a run, and what the integrator hears of it.
    fn checked(&mut self, done: Result<(), RunError>) -> Result<(), DaeError> {
        done.map_err(|fault| {
            self.fault.get_or_insert(fault);
            DaeError::Fatal(EvalReason::Caller { code: 0 })
        })
    }

    /// The differences of relations and steps: left side minus right side.
    pub(crate) fn differences(&mut self, t: f64, y: &[f64], yp: &[f64], g: &mut [f64]) {
        self.update(t, y, yp);
        self.run_to(ProgramId::Indicators, y, yp, g);
        for r in self.model.events.relations.iter().filter(|r| r.by_value) {
            let cells = &self.mem[r.base..r.base + r.len];
            for (g, cell) in g[r.first..r.first + r.len].iter_mut().zip(cells) {
                *g = if *g == *cell { 1.0 } else { -1.0 };
            }
        }
    }
}

/// Looks at whole groups without a branch for each value: this runs over all variables after every step.
fn all_finite(values: &[f64]) -> bool {
    values
        .chunks(64)
        .all(|group| group.iter().fold(true, |all, v| all & v.is_finite()))
}

fn add_to(seconds: &mut f64, clock: Option<Instant>) {
    if let Some(clock) = clock {
        *seconds += clock.elapsed().as_secs_f64();
    }
}
