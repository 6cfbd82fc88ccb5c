//! A compiled model with its memory: what the integrator evaluates.

use std::sync::Arc;

use acausal_codegen::{Compiled, Loc, fixed};
use acausal_expr::FuncId;
use acausal_jit::kernel::{Bank, Program};
use acausal_jit::{BankLengths, Banks, BoundProgram, Code, Functions, RunError, Scratch};
use acausal_solver::{Dae, EvalError, EvalReason, Pattern};

use crate::SimError;
use crate::delay::DelayLines;

/// Run-time functions, evaluated by the interpreter of function bodies.
struct UserFunctions(acausal_expr::Functions);

impl Functions for UserFunctions {
    fn apply(&self, function: u32, args: &[f64], output: u32, wrt: &[u32]) -> f64 {
        // A failed evaluation shows as NaN in the row that uses it; the integrator then names that row.
        match self.0.run(FuncId(function), args, wrt) {
            Ok(outputs) => outputs.get(output as usize).copied().unwrap_or(f64::NAN),
            Err(_) => f64::NAN,
        }
    }
}

/// The programs of a model, bound to its memory sizes.
pub(crate) struct Programs {
    pub parameters: BoundProgram,
    pub starts: BoundProgram,
    pub locals: BoundProgram,
    pub residuals: BoundProgram,
    pub partials: BoundProgram,
    pub initial_residuals: BoundProgram,
    pub initial_partials: BoundProgram,
    pub values: BoundProgram,
    pub indicators: BoundProgram,
    pub times: BoundProgram,
    pub discrete: BoundProgram,
    pub conditions: BoundProgram,
    pub samples: Vec<BoundProgram>,
    pub delays: Vec<BoundProgram>,
    pub asserts: Vec<BoundProgram>,
    /// Per clause, branch and action.
    pub actions: Vec<Vec<Vec<Option<BoundProgram>>>>,
}

/// A model in execution.
pub struct Machine {
    pub(crate) model: Arc<Compiled>,
    pub(crate) programs: Programs,
    functions: UserFunctions,
    scratch: Scratch,
    /// Bank `Mem`.
    pub(crate) mem: Vec<f64>,
    /// General output buffer.
    pub(crate) out: Vec<f64>,
    partials: Vec<f64>,
    acc: Vec<f64>,
    pub(crate) initial_partials: Vec<f64>,
    pub(crate) initial_acc: Vec<f64>,
    pattern: Pattern,
    pub(crate) delays: DelayLines,
    /// The first run-time fault, kept because the integrator only hears "not a number".
    pub(crate) fault: Option<RunError>,
}

impl Machine {
    /// Compiles the kernels with a backend and allocates memory.
    pub fn new(
        model: Arc<Compiled>,
        backend: &dyn acausal_jit::Backend,
    ) -> Result<Machine, SimError> {
        let code = backend.compile(&model.kernels).map_err(SimError::Code)?;
        let m = &*model;
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
        let e = &m.events;
        let mut actions = Vec::new();
        for when in &e.whens {
            let mut branches = Vec::new();
            for branch in &when.branches {
                let mut list = Vec::new();
                for action in &branch.actions {
                    list.push(match action {
                        acausal_codegen::ActionCode::Set { values, .. } => {
                            Some(bind(values, out_len)?)
                        }
                        acausal_codegen::ActionCode::Assert(a) => {
                            Some(bind(&a.conditions, out_len)?)
                        }
                        acausal_codegen::ActionCode::Terminate { .. } => None,
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
            residuals: bind(&m.residuals, m.n)?,
            partials: bind(&m.jacobian.partials, m.jacobian.partials_len)?,
            initial_residuals: bind(&m.initial_residuals, m.n + m.initial_len)?,
            initial_partials: bind(
                &m.initial_jacobian.partials,
                m.initial_jacobian.partials_len,
            )?,
            values: bind(&e.values, out_len)?,
            indicators: bind(&e.indicators, e.cells)?,
            times: bind(&e.times, out_len)?,
            discrete: bind(&e.discrete, 0)?,
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
            asserts: e
                .asserts
                .iter()
                .map(|a| bind(&a.conditions, out_len))
                .collect::<Result<_, _>>()?,
            actions,
        };
        let s = &m.jacobian.sparsity;
        let col_ptr = s.col_ptr.iter().map(|&p| p as u32).collect();
        let pattern = Pattern::new(m.n, col_ptr, s.row_idx.clone()).map_err(SimError::Pattern)?;
        let functions =
            UserFunctions(acausal_expr::Functions::new(&m.flat).map_err(SimError::Function)?);
        let mut partials = vec![0.0; m.jacobian.partials_len];
        m.jacobian.fill_constants(&mut partials);
        let mut machine = Machine {
            programs,
            functions,
            scratch: Scratch::default(),
            mem: vec![0.0; m.mem_len],
            out: vec![0.0; m.out_len],
            partials,
            acc: vec![0.0; m.jacobian.acc_len],
            initial_partials: Vec::new(),
            initial_acc: Vec::new(),
            pattern,
            delays: DelayLines::new(&e.delays),
            fault: None,
            model,
        };
        machine.mem[fixed::HOMOTOPY] = 1.0;
        for (base, values) in &machine.model.tables {
            machine.mem[*base..base + values.len()].copy_from_slice(values);
        }
        Ok(machine)
    }

    /// Evaluates parameters and attributes, once per simulation.
    pub fn set_parameters(&mut self) {
        self.run(Which::Parameters, &[], &[]);
        self.run(Which::Starts, &[], &[]);
    }

    /// Brings local assignments up to date.
    pub fn update(&mut self, t: f64, y: &[f64], yp: &[f64]) {
        self.mem[fixed::TIME] = t;
        self.delays.write(t, &mut self.mem);
        self.run(Which::Locals, y, yp);
    }

    /// The first local assignment whose value is not a finite number: its place in `Mem` and its equation.
    pub(crate) fn not_finite(&self) -> Option<(usize, acausal_expr::flat::OriginId)> {
        self.model
            .local_values
            .iter()
            .find_map(|&(first, count, origin)| {
                let values = &self.mem[first..first + count];
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
            Which::Values => &self.programs.values,
            Which::Times => &self.programs.times,
            Which::Discrete => &self.programs.discrete,
            Which::Conditions => &self.programs.conditions,
            Which::Sample(k) => &self.programs.samples[k],
            Which::Delay(k) => &self.programs.delays[k],
            Which::Assert(k) => &self.programs.asserts[k],
            Which::Action(w, b, a) => match &self.programs.actions[w][b][a] {
                Some(p) => p,
                None => return,
            },
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
        if let Err(e) = program.run(banks, &self.functions, &mut self.scratch) {
            self.fault.get_or_insert(e);
        }
    }

    /// Residual rows followed by initial equations, into `r`.
    pub(crate) fn initial_residual(&mut self, t: f64, y: &[f64], yp: &[f64], r: &mut [f64]) {
        self.update(t, y, yp);
        let banks = Banks {
            y,
            yp,
            mem: &mut self.mem,
            out: &mut r[..],
        };
        if let Err(e) = self
            .programs
            .residuals
            .run(banks, &self.functions, &mut self.scratch)
        {
            self.fault.get_or_insert(e);
        }
        let banks = Banks {
            y,
            yp,
            mem: &mut self.mem,
            out: &mut r[..],
        };
        if let Err(e) =
            self.programs
                .initial_residuals
                .run(banks, &self.functions, &mut self.scratch)
        {
            self.fault.get_or_insert(e);
        }
    }

    /// Values of the initial Jacobian (columns `x`, then `x'`), in the order of its pattern.
    pub(crate) fn initial_jacobian(&mut self, t: f64, y: &[f64], yp: &[f64]) -> &[f64] {
        let j = &self.model.initial_jacobian;
        if self.initial_partials.len() != j.partials_len || self.initial_acc.len() != j.acc_len {
            self.initial_partials = vec![0.0; j.partials_len];
            j.fill_constants(&mut self.initial_partials);
            self.initial_acc = vec![0.0; j.acc_len];
        }
        self.update(t, y, yp);
        let banks = Banks {
            y,
            yp,
            mem: &mut self.mem,
            out: &mut self.initial_partials,
        };
        if let Err(e) =
            self.programs
                .initial_partials
                .run(banks, &self.functions, &mut self.scratch)
        {
            self.fault.get_or_insert(e);
        }
        let j = &self.model.initial_jacobian;
        j.accumulate(&self.initial_partials, 1.0, 1.0, &mut self.initial_acc);
        &self.initial_acc[j.values..]
    }

    /// Event indicators.
    pub(crate) fn indicators(&mut self, t: f64, y: &[f64], yp: &[f64], g: &mut [f64]) {
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
    }
}

/// The programs that write to `Mem` or the general output buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which {
    Parameters,
    Starts,
    Locals,
    Values,
    Times,
    Discrete,
    Conditions,
    Sample(usize),
    Delay(usize),
    Assert(usize),
    Action(usize, usize, usize),
}

fn bind(
    code: &dyn Code,
    program: &Program,
    lengths: BankLengths,
) -> Result<BoundProgram, SimError> {
    code.bind(program, lengths).map_err(SimError::Code)
}

impl Dae for Machine {
    fn len(&self) -> usize {
        self.model.n
    }

    fn residual(&mut self, t: f64, y: &[f64], yp: &[f64], r: &mut [f64]) -> Result<(), EvalError> {
        self.update(t, y, yp);
        let banks = Banks {
            y,
            yp,
            mem: &mut self.mem,
            out: r,
        };
        match self
            .programs
            .residuals
            .run(banks, &self.functions, &mut self.scratch)
        {
            Ok(()) => Ok(()),
            Err(e) => {
                self.fault.get_or_insert(e);
                Err(EvalError::Fatal(EvalReason::Caller { code: 0 }))
            }
        }
    }

    fn jacobian(
        &mut self,
        t: f64,
        y: &[f64],
        yp: &[f64],
        cj: f64,
        values: &mut [f64],
    ) -> Result<(), EvalError> {
        self.update(t, y, yp);
        let banks = Banks {
            y,
            yp,
            mem: &mut self.mem,
            out: &mut self.partials,
        };
        if let Err(e) = self
            .programs
            .partials
            .run(banks, &self.functions, &mut self.scratch)
        {
            self.fault.get_or_insert(e);
            return Err(EvalError::Fatal(EvalReason::Caller { code: 0 }));
        }
        let j = &self.model.jacobian;
        j.accumulate(&self.partials, 1.0, cj, &mut self.acc);
        values.copy_from_slice(&self.acc[j.values..]);
        Ok(())
    }

    fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    fn roots_len(&self) -> usize {
        self.model.events.cells
    }

    fn roots(&mut self, t: f64, y: &[f64], yp: &[f64], g: &mut [f64]) -> Result<(), EvalError> {
        self.indicators(t, y, yp, g);
        Ok(())
    }
}

impl Machine {
    /// The compiled model.
    pub fn model(&self) -> &Arc<Compiled> {
        &self.model
    }
}
