//! A machine from a compiled model: programs bound ([`Prepared`]), memory allocated.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use acausal_base::Scale;
use acausal_base::similar::most_similar;
use acausal_compiled::{CompiledModel, fixed};
use acausal_cpu::{LEAST_SHARED, Team};
use acausal_jit::{BankLengths, Code, Scratch};
use acausal_solver::Pattern;

use super::functions::{FunctionFailure, UserFunctions};
use super::programs::{Programs, Workspaces};
use super::timetable::Timetable;
use super::{EvaluationSeconds, InitialMemory, Machine};
use crate::SimError;
use crate::delay::DelayLines;
use crate::distribution::Distributions;
use crate::inputs::{self, Inputs};
use crate::parameters::{GivenPlace, NameIndex, ParameterValue, SettingError, resolve};

/// A model that is ready to run: machine code, programs bound to the sizes of its memory, the pattern of its Jacobian. Nothing in it changes
/// while it runs, so any number of simulations can share one, in any number of threads.
pub struct Prepared {
    model: Arc<CompiledModel>,
    pub(super) code: Box<dyn Code>,
    pub(super) programs: Programs,
    pub(super) pattern: Pattern,
    /// Which parameters there are, by name; made when one is set for the first time.
    names: OnceLock<NameIndex>,
    /// Inputs by name: place, whether they are discrete.
    inputs: OnceLock<BTreeMap<String, (usize, bool)>>,
    threads: usize,
    scale: Scale,
}

impl Prepared {
    /// Compiles the kernels with a backend, and cuts long calls for so many threads of one simulation.
    pub fn new(
        model: Arc<CompiledModel>,
        backend: &dyn acausal_jit::Backend,
        threads: usize,
        scale: Scale,
    ) -> Result<Prepared, SimError> {
        let (programs, code) = Programs::new(&model, backend, threads, &scale)?;
        let s = model.jacobian.sparsity();
        let pattern = Pattern::new(model.n, s.col_ptr.clone(), s.row_idx.clone());
        Ok(Prepared {
            pattern: pattern.map_err(SimError::Pattern)?,
            names: OnceLock::new(),
            inputs: OnceLock::new(),
            model,
            code,
            programs,
            threads,
            scale,
        })
    }

    /// The compiled model.
    pub fn model(&self) -> &Arc<CompiledModel> {
        &self.model
    }

    /// Whether a simulation of it uses more than one thread.
    pub fn uses_threads(&self) -> bool {
        self.threads > 1 && (self.model.n >= LEAST_SHARED || self.programs.have_phases())
    }

    /// The places that names of parameters and start attributes stand for, with their values, ascending.
    pub fn resolve(
        &self,
        settings: &[(String, ParameterValue)],
    ) -> Result<Vec<GivenPlace>, SimError> {
        let index = self.names.get_or_init(|| NameIndex::new(&self.model));
        resolve(&self.model, index, settings).map_err(SimError::Setting)
    }

    /// Names of the inputs that can be given.
    pub fn input_names(&self) -> impl Iterator<Item = &str> {
        self.inputs().keys().map(String::as_str)
    }

    /// The place of an input, and whether it is discrete.
    pub(crate) fn input(&self, name: &str) -> Result<(usize, bool), SimError> {
        let text: String = name.split_whitespace().collect();
        self.inputs().get(&text).copied().ok_or_else(|| {
            let names = self.inputs().keys().cloned();
            let similar = most_similar(&text, names);
            SimError::Setting(SettingError::NoInput {
                name: text,
                similar,
            })
        })
    }

    fn inputs(&self) -> &BTreeMap<String, (usize, bool)> {
        self.inputs.get_or_init(|| {
            let places = inputs::places(&self.model).into_iter();
            places
                .map(|(name, place, discrete)| (name, (place, discrete)))
                .collect()
        })
    }

    /// A machine with memory of its own.
    pub fn machine(self: &Arc<Self>) -> Result<Machine, SimError> {
        Machine::of(self.clone())
    }
}

impl Machine {
    /// Compiles the kernels with a backend and allocates memory; evaluates on one thread.
    pub fn new(
        model: Arc<CompiledModel>,
        backend: &dyn acausal_jit::Backend,
    ) -> Result<Machine, SimError> {
        Machine::with_threads(model, backend, 1, Scale::default())
    }

    /// The same with so many threads, which take parts of array equations that are long, and serve the integrator of a large
    /// model. The results are the same.
    pub fn with_threads(
        model: Arc<CompiledModel>,
        backend: &dyn acausal_jit::Backend,
        threads: usize,
        scale: Scale,
    ) -> Result<Machine, SimError> {
        Machine::of(Arc::new(Prepared::new(model, backend, threads, scale)?))
    }

    /// Allocates memory.
    fn of(prepared: Arc<Prepared>) -> Result<Machine, SimError> {
        let model = prepared.model.clone();
        let m = &*model;
        let (threads, scale) = (prepared.threads, prepared.scale);
        let team = match prepared.uses_threads() {
            true => Team::new(threads),
            false => None,
        };
        let e = &m.events;
        let timetable = Timetable::new(m, &|program| {
            let lengths = BankLengths {
                y: 0,
                yp: 0,
                mem: m.mem_len,
                out: m.out_len,
            };
            prepared.code.bind(program, lengths).map_err(SimError::Code)
        })?;
        let functions = UserFunctions {
            functions: acausal_expr::Functions::compile(&m.symbols.exprs, &m.symbols.functions)
                .map_err(SimError::Function)?,
            failed: FunctionFailure::default(),
            endless: m
                .symbols
                .functions
                .iter()
                .map(|_| Default::default())
                .collect(),
        };
        let mut partials = vec![0.0; m.jacobian.partials_len];
        m.jacobian.fill_constants(&mut partials);
        let mut machine = Machine {
            functions,
            workspaces: Workspaces::new(threads),
            scratch: Scratch::default(),
            team,
            mem: vec![0.0; m.mem_len],
            out: vec![0.0; m.out_len],
            partials,
            acc: vec![0.0; m.jacobian.schedule().acc_len],
            initial: InitialMemory::default(),
            delays: DelayLines::new(&e.delays),
            time_unit: 1.0,
            distributions: Distributions::new(&e.spatials),
            inputs: Inputs::default(),
            timetable,
            scale,
            event_evaluations: 0,
            time_instants: e.time_events.iter().map(|t| t.len as u64).sum(),
            discrete_assignments: e.discrete.iter().map(|c| c.count as u64).sum(),
            fault: None,
            sides: vec![1.0; e.cells],
            shifts: vec![0.0; e.cells],
            watched: (e.relations.iter().filter(|r| !r.by_time))
                .flat_map(|r| r.first..r.first + r.len)
                .collect(),
            differences: vec![0.0; e.cells],
            watches_slopes: e.relations.iter().any(|r| r.slopes),
            watches_algebraic: e.relations.iter().any(|r| r.algebraic)
                || e.delays.iter().any(|d| d.variable),
            profiles: false,
            seconds: EvaluationSeconds::default(),
            model,
            prepared,
        };
        machine.fill_constants();
        Ok(machine)
    }

    /// Values of `Mem` that never change.
    fn fill_constants(&mut self) {
        self.mem[fixed::HOMOTOPY] = 1.0;
        for (base, values) in &self.model.tables {
            self.mem[*base..base + values.len()].copy_from_slice(values);
        }
        for &(base, count, value) in &self.model.literals {
            self.mem[base..base + count].fill(value);
        }
    }
}
