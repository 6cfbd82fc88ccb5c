//! A compiled model with its memory: what the integrator evaluates.
//!
//! | module | what |
//! |---|---|
//! | [`functions`] | functions that are interpreted |
//! | [`histories`] | cells of delays and distributions |
//! | [`start`] | the equations of the start |
//! | [`dae`] | the residual, Jacobian and indicators of the integrator |
//! | [`timetable`] | relations of time whose instants are known before the start, and what follows from them |

mod dae;
mod functions;
mod histories;
mod start;
pub(crate) mod timetable;

use std::sync::Arc;
use std::time::Instant;

use acausal_compiled::{Compiled, Loc, fixed};
use acausal_cpu::{LEAST_LARGE, LEAST_SHARED, Pair};
use acausal_jit::kernel::{Address, Bank, Call, Program};
use acausal_jit::{
    BankLengths, Banks, BoundProgram, Code, Halves, RunError, Scratch, Tiles, Workspace, fuse,
    is_long, pays, reads,
};
use acausal_solver::{EvalError, EvalReason, Pattern};

use crate::SimError;
use crate::delay::DelayLines;
use crate::distribution::Distributions;
pub(crate) use functions::FunctionFailure;
use functions::UserFunctions;
use timetable::Timetable;

/// The programs of a model, bound to its memory sizes.
pub(crate) struct Programs {
    pub parameters: BoundProgram,
    pub starts: BoundProgram,
    pub locals: BoundProgram,
    pub other_locals: BoundProgram,
    pub residuals: BoundProgram,
    /// What runs beside them.
    pub residuals_update: Update,
    pub partials: BoundProgram,
    /// They depend on unknowns. (Asked in large models only.)
    pub partials_need_point: bool,
    pub initial_residuals: BoundProgram,
    pub initial_partials: BoundProgram,
    /// Values of unknowns that initial equations give.
    pub given_values: BoundProgram,
    /// Parameters that depend on free ones.
    pub dependent: BoundProgram,
    /// Discrete variables that initial equations determine.
    pub initial_discrete: BoundProgram,
    pub values: BoundProgram,
    pub indicators: BoundProgram,
    pub times: BoundProgram,
    pub discrete: BoundProgram,
    /// Number of instants and of discrete assignments.
    pub lengths: (u64, u64),
    pub conditions: BoundProgram,
    pub samples: Vec<BoundProgram>,
    pub delays: Vec<BoundProgram>,
    pub spatials: Vec<BoundProgram>,
    pub asserts: Vec<BoundProgram>,
    pub indexed: Vec<BoundProgram>,
    pub continuous: Vec<BoundProgram>,
    /// Per clause, branch and action.
    pub actions: Vec<Vec<Vec<Option<BoundProgram>>>>,
}

/// Which local assignments run beside the program of the residuals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Update {
    /// All of `locals` before it, and partial derivatives use them.
    Before,
    /// Those that the residuals need are in their program ([`acausal_jit::fuse()`]); partial derivatives need others too.
    ForPartials,
    /// Partial derivatives need none.
    Never,
}

/// The programs of the integrator for two threads, those where it pays. (Partial derivatives only where they do not stay in a cache: below that
/// fetching half of them from the other core took as long as it had saved.)
#[derive(Default)]
struct LongPrograms {
    locals: Option<Halves>,
    residuals: Option<Halves>,
    partials: Option<Halves>,
    /// All that a residual needs, evaluated while unknowns are predicted.
    tiles: Option<Tiles>,
    workspaces: [Workspace; 2],
    scratch: [Scratch; 2],
}

/// Instants that differ by less than this fraction are the same.
const NOW: f64 = 1e-13;

/// A model in execution.
pub struct Machine {
    pub(crate) model: Arc<Compiled>,
    code: Box<dyn Code>,
    pub(crate) programs: Programs,
    functions: UserFunctions,
    scratch: Scratch,
    /// A second thread, where there is work for it.
    pair: Option<Pair>,
    halves: LongPrograms,
    /// Bank `Mem`.
    pub(crate) mem: Vec<f64>,
    /// General output buffer.
    pub(crate) out: Vec<f64>,
    partials: Vec<f64>,
    acc: Vec<f64>,
    /// Memory of the initial Jacobian.
    pub(crate) initial: InitialMemory,
    pattern: Pattern,
    pub(crate) delays: DelayLines,
    /// Instants near zero are no better known than by rounding errors of this: a second, or less where the whole run is shorter.
    time_unit: f64,
    pub(crate) distributions: Distributions,
    pub(crate) timetable: Timetable,
    /// Relations and discrete assignments that were evaluated at events.
    pub(crate) event_evaluations: u64,
    /// The first run-time fault, kept because the integrator only hears "not a number".
    pub(crate) fault: Option<RunError>,
    /// Per indicator: on which side of zero its gap belongs, and the shift of its hysteresis (see `event::relations`).
    pub(crate) sides: Vec<f64>,
    pub(crate) shifts: Vec<f64>,
    /// The numbers of the relations that the integrator watches: those of `time` change at instants that are known in advance.
    pub(crate) watched: Vec<usize>,
    /// Work space: the gaps of all relations.
    gaps: Vec<f64>,
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
    /// Compiles the kernels with a backend and allocates memory; evaluates on one thread.
    pub fn new(
        model: Arc<Compiled>,
        backend: &dyn acausal_jit::Backend,
    ) -> Result<Machine, SimError> {
        Machine::with_threads(model, backend, 1)
    }

    /// The same with so many threads, at most two; the second one takes half of array equations that are long, and serves the integrator of a large
    /// model. The results are the same.
    pub fn with_threads(
        model: Arc<Compiled>,
        backend: &dyn acausal_jit::Backend,
        threads: usize,
    ) -> Result<Machine, SimError> {
        let m = &*model;
        let fused = fuse(&m.kernels, &[&m.locals[..], &m.residuals[..]].concat());
        let all_kernels;
        let (kernels, residuals) = match &fused {
            Some(fused) => {
                all_kernels = [&m.kernels[..], &fused.kernels[..]].concat();
                (&all_kernels[..], &fused.program)
            }
            None => (&m.kernels[..], &m.residuals),
        };
        let code = backend.compile(kernels).map_err(SimError::Code)?;
        let out_len = m.out_len;
        let bind = |program: &Program, out: usize| -> Result<BoundProgram, SimError> {
            bind(
                &*code,
                program,
                BankLengths {
                    y: m.n,
                    yp: m.n,
                    mem: m.mem_len,
                    out,
                },
            )
        };
        let mut halves = LongPrograms::default();
        if threads > 1 {
            let long = |program: &Program, out: usize, worth| {
                let lengths = BankLengths {
                    y: m.n,
                    yp: m.n,
                    mem: m.mem_len,
                    out,
                };
                Halves::bind(&*code, kernels, program, lengths, worth).map_err(SimError::Code)
            };
            let partials = &m.jacobian.partials;
            halves.locals = long(&m.locals, 0, pays)?;
            halves.residuals = long(residuals, m.n, pays)?;
            halves.partials = long(partials, m.jacobian.partials_len, is_long)?;
        }
        if m.n >= LEAST_LARGE {
            let lengths = BankLengths {
                y: m.n,
                yp: m.n,
                mem: m.mem_len,
                out: m.n,
            };
            let all = match &fused {
                Some(_) => residuals.clone(),
                None => [&m.locals[..], &residuals[..]].concat(),
            };
            halves.tiles = Tiles::bind(&*code, kernels, &all, lengths).map_err(SimError::Code)?;
        }
        let any = halves.locals.is_some() || halves.residuals.is_some();
        let long = threads > 1 && m.n >= LEAST_SHARED;
        let pair = if any || long { Pair::new() } else { None };
        let e = &m.events;
        let mut actions = Vec::new();
        for when in &e.whens {
            let mut branches = Vec::new();
            for branch in &when.branches {
                let mut list = Vec::new();
                for action in &branch.actions {
                    list.push(match action {
                        acausal_compiled::ActionCode::Set { values, .. } => {
                            Some(bind(values, out_len)?)
                        }
                        acausal_compiled::ActionCode::Assert(a) => {
                            Some(bind(&a.conditions, out_len)?)
                        }
                        acausal_compiled::ActionCode::Terminate { .. }
                        | acausal_compiled::ActionCode::Print { .. } => None,
                    });
                }
                branches.push(list);
            }
            actions.push(branches);
        }
        let programs = Programs {
            parameters: bind(&m.parameters, 0)?,
            starts: bind(&m.starts, 0)?,
            locals: bind(&m.locals, 0)?,
            other_locals: bind(&m.other_locals, 0)?,
            residuals: bind(residuals, m.n)?,
            residuals_update: match &fused {
                None => Update::Before,
                Some(_) if reads(&m.jacobian.partials, &m.locals) => Update::ForPartials,
                Some(_) => Update::Never,
            },
            partials: bind(&m.jacobian.partials, m.jacobian.partials_len)?,
            partials_need_point: m.n < LEAST_LARGE
                || m.jacobian.partials.iter().any(reads_unknowns)
                || reads(&m.jacobian.partials, &m.locals),
            initial_residuals: bind(&m.initial.residuals, m.n + m.initial.len)?,
            initial_partials: bind(
                &m.initial.jacobian.partials,
                m.initial.jacobian.partials_len,
            )?,
            given_values: bind(&m.initial.given_values, 0)?,
            dependent: bind(&m.initial.dependent, 0)?,
            initial_discrete: bind(&m.initial.discrete, 0)?,
            values: bind(&e.values, out_len)?,
            indicators: bind(&e.indicators, e.cells)?,
            times: bind(&e.times, out_len)?,
            discrete: bind(&e.discrete, 0)?,
            lengths: (
                e.time_events.iter().map(|t| t.len as u64).sum(),
                e.discrete.iter().map(|c| c.count as u64).sum(),
            ),
            conditions: bind(&e.conditions, out_len)?,
            samples: e
                .samples
                .iter()
                .map(|s| bind(&s.arguments, out_len))
                .collect::<Result<_, _>>()?,
            delays: e
                .delays
                .iter()
                .map(|d| bind(&d.arguments, out_len))
                .collect::<Result<_, _>>()?,
            spatials: e
                .spatials
                .iter()
                .map(|s| bind(&s.arguments, out_len))
                .collect::<Result<_, _>>()?,
            indexed: e
                .indexed
                .iter()
                .map(|i| bind(&i.values, out_len))
                .collect::<Result<_, _>>()?,
            continuous: e
                .continuous
                .iter()
                .map(|c| bind(&c.sides, out_len))
                .collect::<Result<_, _>>()?,
            asserts: e
                .asserts
                .iter()
                .map(|a| bind(&a.conditions, out_len))
                .collect::<Result<_, _>>()?,
            actions,
        };
        let timetable = Timetable::new(m, &|program| {
            let lengths = BankLengths {
                y: 0,
                yp: 0,
                mem: m.mem_len,
                out: out_len,
            };
            code.bind(program, lengths).map_err(SimError::Code)
        })?;
        let s = m.jacobian.sparsity();
        let pattern = Pattern::new(m.n, s.col_ptr.clone(), s.row_idx.clone());
        let pattern = pattern.map_err(SimError::Pattern)?;
        let functions = UserFunctions {
            functions: acausal_expr::Functions::compile(&m.symbols.exprs, &m.symbols.functions)
                .map_err(SimError::Function)?,
            failed: FunctionFailure::default(),
        };
        let mut partials = vec![0.0; m.jacobian.partials_len];
        m.jacobian.fill_constants(&mut partials);
        let mut machine = Machine {
            code,
            programs,
            functions,
            scratch: Scratch::default(),
            pair,
            halves,
            mem: vec![0.0; m.mem_len],
            out: vec![0.0; m.out_len],
            partials,
            acc: vec![0.0; m.jacobian.schedule().acc_len],
            initial: InitialMemory::default(),
            pattern,
            delays: DelayLines::new(&e.delays),
            time_unit: 1.0,
            distributions: Distributions::new(&e.spatials),
            timetable,
            event_evaluations: 0,
            fault: None,
            sides: vec![1.0; e.cells],
            shifts: vec![0.0; e.cells],
            watched: (e.relations.iter().filter(|r| !r.by_time))
                .flat_map(|r| r.first..r.first + r.len)
                .collect(),
            gaps: vec![0.0; e.cells],
            watches_slopes: e.relations.iter().any(|r| r.slopes),
            watches_algebraic: e.relations.iter().any(|r| r.algebraic)
                || e.delays.iter().any(|d| d.variable),
            profiles: false,
            seconds: EvaluationSeconds::default(),
            model,
        };
        machine.mem[fixed::HOMOTOPY] = 1.0;
        for (base, values) in &machine.model.tables {
            machine.mem[*base..base + values.len()].copy_from_slice(values);
        }
        for &(base, count, value) in &machine.model.literals {
            machine.mem[base..base + count].fill(value);
        }
        Ok(machine)
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
        self.run(Which::Parameters, &[], &[]);
        self.run(Which::Starts, &[], &[]);
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
        let objects =
            (self.model.symbols.var_ids()).filter(|(_, v)| v.auxiliary && v.is_parameter());
        for (id, var) in objects {
            let place = self.model.region(id, acausal_expr::Kind::Value);
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

    /// Brings local assignments up to date.
    pub fn update(&mut self, t: f64, y: &[f64], yp: &[f64]) {
        self.mem[fixed::TIME] = t;
        self.write_delays(t, y, yp);
        self.run(Which::Locals, y, yp);
        self.run(Which::OtherLocals, y, yp);
    }

    /// Does what the program of the residuals expects to be done.
    fn prepare_residual(&mut self, t: f64, y: &[f64], yp: &[f64]) {
        if self.programs.residuals_update == Update::Before {
            self.update_for_residual(t, y, yp);
        } else {
            self.mem[fixed::TIME] = t;
            self.write_delays(t, y, yp);
        }
    }

    /// Brings those local assignments up to date that the residuals need.
    pub(crate) fn update_for_residual(&mut self, t: f64, y: &[f64], yp: &[f64]) {
        self.mem[fixed::TIME] = t;
        self.write_delays(t, y, yp);
        self.run(Which::Locals, y, yp);
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

    pub(crate) fn run(&mut self, which: Which, y: &[f64], yp: &[f64]) {
        let program = match which {
            Which::Parameters => &self.programs.parameters,
            Which::Starts => &self.programs.starts,
            Which::Locals => &self.programs.locals,
            Which::OtherLocals => &self.programs.other_locals,
            Which::GivenValues => &self.programs.given_values,
            Which::Dependent => &self.programs.dependent,
            Which::InitialDiscrete => &self.programs.initial_discrete,
            Which::Values => &self.programs.values,
            Which::Times => &self.programs.times,
            Which::Discrete => &self.programs.discrete,
            Which::Conditions => &self.programs.conditions,
            Which::Sample(k) => &self.programs.samples[k],
            Which::Delay(k) => &self.programs.delays[k],
            Which::Spatial(k) => &self.programs.spatials[k],
            Which::Assert(k) => &self.programs.asserts[k],
            Which::Index(k) => &self.programs.indexed[k],
            Which::Sides(k) => &self.programs.continuous[k],
            Which::Action(w, b, a) => match &self.programs.actions[w][b][a] {
                Some(p) => p,
                None => return,
            },
        };
        self.event_evaluations += match which {
            Which::Values => self.model.events.cells as u64,
            Which::Times => self.programs.lengths.0,
            Which::Discrete => self.programs.lengths.1,
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
        let banks = Banks {
            y,
            yp,
            mem: &mut self.mem,
            out: &mut self.out,
        };
        let long = match which {
            Which::Locals => self.halves.locals.as_ref(),
            _ => None,
        };
        let done = match (long, &mut self.pair) {
            (Some(long), Some(pair)) => {
                long.run(pair, banks, &self.functions, &mut self.halves.scratch)
            }
            _ => program.run(banks, &self.functions, &mut self.scratch),
        };
        if let Err(e) = done {
            self.fault.get_or_insert(e);
        }
    }

    /// A part of the local assignments, ready to be run.
    pub(crate) fn bind_locals(&self, program: &Program) -> Result<BoundProgram, SimError> {
        let lengths = BankLengths {
            y: self.model.n,
            yp: self.model.n,
            mem: self.model.mem_len,
            out: 0,
        };
        bind(&*self.code, program, lengths)
    }

    /// Brings a part of the local assignments up to date.
    pub(crate) fn update_part(&mut self, t: f64, part: &BoundProgram, y: &[f64], yp: &[f64]) {
        self.mem[fixed::TIME] = t;
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

    /// Brings parameters that depend on free ones and local assignments up to date.
    pub(crate) fn update_all(&mut self, t: f64, y: &[f64], yp: &[f64]) {
        if !self.model.initial.dependent.is_empty() {
            self.run(Which::Dependent, y, yp);
        }
        self.update(t, y, yp);
    }

    /// The residuals, into the general output buffer.
    pub(crate) fn residual_to_out(&mut self, t: f64, y: &[f64], yp: &[f64]) {
        self.prepare_residual(t, y, yp);
        let banks = Banks {
            y,
            yp,
            mem: &mut self.mem,
            out: &mut self.out,
        };
        let program = &self.programs.residuals;
        if let Err(e) = program.run(banks, &self.functions, &mut self.scratch) {
            self.fault.get_or_insert(e);
        }
    }

    /// Keeps a fault of a run, and what the integrator hears of it.
    fn checked(&mut self, done: Result<(), RunError>) -> Result<(), EvalError> {
        done.map_err(|fault| {
            self.fault.get_or_insert(fault);
            EvalError::Fatal(EvalReason::Caller { code: 0 })
        })
    }

    /// The gaps of relations and steps: left side minus right side.
    pub(crate) fn gaps(&mut self, t: f64, y: &[f64], yp: &[f64], g: &mut [f64]) {
        self.update(t, y, yp);
        let banks = Banks {
            y,
            yp,
            mem: &mut self.mem,
            out: g,
        };
        if let Err(e) = self
            .programs
            .indicators
            .run(banks, &self.functions, &mut self.scratch)
        {
            self.fault.get_or_insert(e);
        }
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

/// The programs that write to `Mem` or the general output buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which {
    Parameters,
    Starts,
    Locals,
    OtherLocals,
    GivenValues,
    Dependent,
    InitialDiscrete,
    Values,
    Times,
    Discrete,
    Conditions,
    Sample(usize),
    Delay(usize),
    Spatial(usize),
    Assert(usize),
    Index(usize),
    Sides(usize),
    Action(usize, usize, usize),
}

fn bind(
    code: &dyn Code,
    program: &Program,
    lengths: BankLengths,
) -> Result<BoundProgram, SimError> {
    code.bind(program, lengths).map_err(SimError::Code)
}

/// Whether a call reads y or y'.
fn reads_unknowns(call: &Call) -> bool {
    let unknown = |a: &Address| matches!(a.bank(), Some(Bank::Y | Bank::Yp));
    call.slots.iter().any(unknown)
}

fn add_to(seconds: &mut f64, clock: Option<Instant>) {
    if let Some(clock) = clock {
        *seconds += clock.elapsed().as_secs_f64();
    }
}

impl Machine {
    /// The compiled model.
    pub fn model(&self) -> &Arc<Compiled> {
        &self.model
    }
}
