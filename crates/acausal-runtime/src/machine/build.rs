//! A machine from a compiled model: programs bound, memory allocated.

use std::sync::Arc;

use acausal_base::Scale;
use acausal_compiled::{CompiledModel, fixed};
use acausal_cpu::{LEAST_SHARED, Team};
use acausal_jit::{BankLengths, Scratch};
use acausal_solver::Pattern;

use super::functions::{FunctionFailure, UserFunctions};
use super::programs::Programs;
use super::timetable::Timetable;
use super::{EvaluationSeconds, InitialMemory, Machine};
use crate::SimError;
use crate::delay::DelayLines;
use crate::distribution::Distributions;

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
        let m = &*model;
        let (programs, code) = Programs::new(m, backend, threads, &scale)?;
        let long = m.n >= LEAST_SHARED;
        let team = match long || programs.have_phases() {
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
            team,
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
