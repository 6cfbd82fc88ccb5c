//! The programs of a model as they run: a table, and the passes that make it.
//!
//! In: the programs of the compiled model. Out ([`Programs`]): one bound program for each of them. What rewrites programs are passes that run once, in
//! this order:
//!
//! 1. [`fuse()`]: cheap local assignments go into the residuals that use them, so that fewer vectors are read and written;
//! 2. kernels are compiled, and every program is bound to the memory of the model;
//! 3. [`PhasedProgram`]: long calls of the programs of the integrator are cut for several threads;
//! 4. [`Tiles`]: the residuals of a large model once more, for evaluation while unknowns are predicted.
//!
//! The results of a program do not depend on which passes it went through, nor on the number of threads.

use std::sync::Mutex;

use acausal_base::Scale;
use acausal_compiled::{ActionCode, CompiledModel, fixed};
use acausal_cpu::Team;
use acausal_jit::kernel::{Address, Bank, Call, Kernel, Program};
use acausal_jit::tiles::Predict;
use acausal_jit::{
    Backend, BankLengths, Banks, BoundProgram, CallFunctions, Code, PhasedProgram, RunError,
    Scratch, TileMemory, Tiles, Workspace, fuse, is_long, pays, reads,
};

use crate::SimError;

/// A program of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgramId {
    Parameters,
    Starts,
    Locals,
    OtherLocals,
    Residuals,
    Partials,
    InitialResiduals,
    InitialPartials,
    /// Values of unknowns that initial equations give.
    GivenValues,
    /// Parameters that depend on free ones.
    Dependent,
    /// Discrete variables that initial equations determine.
    InitialDiscrete,
    Values,
    Indicators,
    Times,
    Discrete,
    Conditions,
    Sample(usize),
    Delay(usize),
    Spatial(usize),
    Assert(usize),
    Index(usize),
    Sides(usize),
    /// Clause, branch and action.
    Action(usize, usize, usize),
}

/// The programs without a number, in the order of the table.
const SINGLE: [ProgramId; 16] = [
    ProgramId::Parameters,
    ProgramId::Starts,
    ProgramId::Locals,
    ProgramId::OtherLocals,
    ProgramId::Residuals,
    ProgramId::Partials,
    ProgramId::InitialResiduals,
    ProgramId::InitialPartials,
    ProgramId::GivenValues,
    ProgramId::Dependent,
    ProgramId::InitialDiscrete,
    ProgramId::Values,
    ProgramId::Indicators,
    ProgramId::Times,
    ProgramId::Discrete,
    ProgramId::Conditions,
];

/// Which local assignments run beside the program of the residuals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Update {
    /// All of `locals` before it, and partial derivatives use them.
    Before,
    /// Those that the residuals need are in their program ([`fuse()`]); partial derivatives need others too.
    ForPartials,
    /// Partial derivatives need none.
    Never,
}

/// A program, and the same in parts for several threads where that pays.
struct Executable {
    whole: BoundProgram,
    phases: Option<PhasedProgram>,
}

/// The programs of a model, bound to its memory sizes.
pub(super) struct Programs {
    table: Vec<Executable>,
    /// Where the programs with a number begin.
    first: Firsts,
    /// What runs beside the residuals.
    pub residuals_update: Update,
    /// Partial derivatives depend on unknowns. (Asked in large models only.)
    pub partials_need_point: bool,
    /// All that a residual needs, evaluated while unknowns are predicted.
    tiles: Option<Tiles>,
}

/// The memory of each thread of one machine.
pub(super) struct Workspaces {
    tiles: Vec<Mutex<Workspace>>,
    phases: Vec<Mutex<Scratch>>,
}

impl Workspaces {
    /// For so many threads.
    pub fn new(threads: usize) -> Workspaces {
        Workspaces {
            tiles: (0..lists(threads)).map(|_| Mutex::default()).collect(),
            phases: (0..threads.max(1)).map(|_| Mutex::default()).collect(),
        }
    }
}

/// Lists of tiles: two for one thread, too, from the middle to both ends.
fn lists(threads: usize) -> usize {
    threads.max(2)
}

/// Positions in the table.
#[derive(Default)]
struct Firsts {
    samples: usize,
    delays: usize,
    spatials: usize,
    asserts: usize,
    indexed: usize,
    continuous: usize,
    /// Per clause and branch.
    actions: Vec<Vec<usize>>,
}

impl Programs {
    /// Runs the passes, for so many threads. Also gives the code, for programs that are bound later.
    pub fn new(
        model: &CompiledModel,
        backend: &dyn Backend,
        threads: usize,
        scale: &Scale,
    ) -> Result<(Programs, Box<dyn Code>), SimError> {
        let m = model;
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
        let passes = Passes {
            model: m,
            code: &*code,
            kernels,
            threads,
            large_from: scale.large_from,
        };
        let mut table = Vec::with_capacity(SINGLE.len());
        for which in SINGLE {
            table.push(passes.single(which, residuals)?);
        }
        let first = passes.numbered(&mut table)?;
        let all = match &fused {
            Some(_) => residuals.clone(),
            None => [&m.locals[..], &residuals[..]].concat(),
        };
        let programs = Programs {
            table,
            first,
            residuals_update: match &fused {
                None => Update::Before,
                Some(_) if reads(&m.jacobian.partials, &m.locals) => Update::ForPartials,
                Some(_) => Update::Never,
            },
            partials_need_point: m.n < scale.large_from
                || m.jacobian.partials.iter().any(reads_unknowns)
                || reads(&m.jacobian.partials, &m.locals),
            tiles: passes.tiles(&all, lists(threads))?,
        };
        Ok((programs, code))
    }

    /// Whether some calls are cut for several threads.
    pub fn have_phases(&self) -> bool {
        [ProgramId::Locals, ProgramId::Residuals]
            .iter()
            .any(|w| self.table[self.position(*w)].phases.is_some())
    }

    /// Runs a program, on a team where it was cut for one.
    pub fn run(
        &self,
        which: ProgramId,
        (team, workspaces): (Option<&mut Team>, &Workspaces),
        banks: Banks<'_>,
        functions: &dyn CallFunctions,
        scratch: &mut Scratch,
    ) -> Result<(), RunError> {
        let program = &self.table[self.position(which)];
        match (&program.phases, team) {
            (Some(phases), Some(team)) => {
                phases.run(Some(team), banks, functions, &workspaces.phases)
            }
            _ => program.whole.run(banks, functions, scratch),
        }
    }

    /// Whether residuals can be evaluated while unknowns are predicted.
    pub fn have_tiles(&self) -> bool {
        self.tiles.is_some()
    }

    /// Evaluates the residuals while unknowns are predicted, if they were cut for that.
    ///
    /// # Safety
    /// That of [`Tiles::run`].
    pub unsafe fn run_tiles(
        &self,
        (team, workspaces): (Option<&mut Team>, &Workspaces),
        places: TileMemory<'_>,
        functions: &dyn CallFunctions,
        predict: &Predict<'_>,
    ) -> Result<(), RunError> {
        match &self.tiles {
            // SAFETY: as the caller promises.
            Some(tiles) => unsafe {
                tiles.run(team, places, functions, &workspaces.tiles, predict)
            },
            None => Ok(()),
        }
    }

    fn position(&self, which: ProgramId) -> usize {
        let f = &self.first;
        match which {
            ProgramId::Parameters => 0,
            ProgramId::Starts => 1,
            ProgramId::Locals => 2,
            ProgramId::OtherLocals => 3,
            ProgramId::Residuals => 4,
            ProgramId::Partials => 5,
            ProgramId::InitialResiduals => 6,
            ProgramId::InitialPartials => 7,
            ProgramId::GivenValues => 8,
            ProgramId::Dependent => 9,
            ProgramId::InitialDiscrete => 10,
            ProgramId::Values => 11,
            ProgramId::Indicators => 12,
            ProgramId::Times => 13,
            ProgramId::Discrete => 14,
            ProgramId::Conditions => 15,
            ProgramId::Sample(k) => f.samples + k,
            ProgramId::Delay(k) => f.delays + k,
            ProgramId::Spatial(k) => f.spatials + k,
            ProgramId::Assert(k) => f.asserts + k,
            ProgramId::Index(k) => f.indexed + k,
            ProgramId::Sides(k) => f.continuous + k,
            ProgramId::Action(w, b, a) => f.actions[w][b] + a,
        }
    }
}

/// What the passes need.
struct Passes<'a> {
    model: &'a CompiledModel,
    code: &'a dyn Code,
    kernels: &'a [Kernel],
    threads: usize,
    /// Residuals of models with at least so many unknowns are cut into tiles.
    large_from: usize,
}

impl<'a> Passes<'a> {
    fn lengths(&self, out: usize) -> BankLengths {
        BankLengths {
            y: self.model.n,
            yp: self.model.n,
            mem: self.model.mem_len,
            out,
        }
    }

    /// A program without a number; `residuals` are those that were fused.
    fn single(&self, which: ProgramId, residuals: &Program) -> Result<Executable, SimError> {
        let (m, e) = (self.model, &self.model.events);
        let general = m.out_len;
        let (program, out) = match which {
            ProgramId::Parameters => (&m.parameters, 0),
            ProgramId::Starts => (&m.starts, 0),
            ProgramId::Locals => return self.long(&m.locals, 0, pays),
            ProgramId::OtherLocals => (&m.other_locals, 0),
            ProgramId::Residuals => return self.long(residuals, m.n, pays),
            // In parts only where they do not stay in a cache: below that fetching some of them from another core took as long as it had saved.
            ProgramId::Partials => {
                return self.long(&m.jacobian.partials, m.jacobian.partials_len, is_long);
            }
            ProgramId::InitialResiduals => (&m.initial.residuals, m.n + m.initial.len),
            ProgramId::InitialPartials => {
                let jacobian = &m.initial.jacobian;
                (&jacobian.partials, jacobian.partials_len)
            }
            ProgramId::GivenValues => (&m.initial.given_values, 0),
            ProgramId::Dependent => (&m.initial.dependent, 0),
            ProgramId::InitialDiscrete => (&m.initial.discrete, 0),
            ProgramId::Values => (&e.values, general),
            ProgramId::Indicators => (&e.indicators, e.cells),
            ProgramId::Times => (&e.times, general),
            ProgramId::Discrete => (&e.discrete, 0),
            ProgramId::Conditions => (&e.conditions, general),
            numbered => unreachable!("{numbered:?} has a number"),
        };
        self.bind(program, out)
    }

    /// The programs with a number, one after the other.
    fn numbered(&self, table: &mut Vec<Executable>) -> Result<Firsts, SimError> {
        let e = &self.model.events;
        let mut add = |programs: &mut dyn Iterator<Item = &Program>| -> Result<usize, SimError> {
            let first = table.len();
            for program in programs {
                table.push(self.bind(program, self.model.out_len)?);
            }
            Ok(first)
        };
        let mut firsts = Firsts {
            samples: add(&mut e.samples.iter().map(|s| &s.arguments))?,
            delays: add(&mut e.delays.iter().map(|d| &d.arguments))?,
            spatials: add(&mut e.spatials.iter().map(|s| &s.arguments))?,
            asserts: add(&mut e.asserts.iter().map(|a| &a.conditions))?,
            indexed: add(&mut e.indexed.iter().map(|i| &i.values))?,
            continuous: add(&mut e.continuous.iter().map(|c| &c.sides))?,
            actions: Vec::new(),
        };
        static NOTHING: Program = Program::new();
        for when in &e.whens {
            let mut branches = Vec::new();
            for branch in &when.branches {
                // What only says something has no program.
                let program = |action: &'a ActionCode| -> &'a Program {
                    match action {
                        ActionCode::Set { values, .. } => values,
                        ActionCode::Assert(a) => &a.conditions,
                        ActionCode::Terminate { .. } | ActionCode::Print { .. } => &NOTHING,
                    }
                };
                branches.push(add(&mut branch.actions.iter().map(program))?);
            }
            firsts.actions.push(branches);
        }
        Ok(firsts)
    }

    fn bind(&self, program: &[Call], out: usize) -> Result<Executable, SimError> {
        let whole = self.code.bind(program, self.lengths(out));
        Ok(Executable {
            whole: whole.map_err(SimError::Code)?,
            phases: None,
        })
    }

    /// A program of the integrator, whose calls may be long.
    fn long(
        &self,
        program: &[Call],
        out: usize,
        worth: fn(&Kernel, &Call) -> bool,
    ) -> Result<Executable, SimError> {
        let mut executable = self.bind(program, out)?;
        if self.threads > 1 {
            let (all, lengths) = ((self.kernels, program), self.lengths(out));
            let phases = PhasedProgram::bind(self.code, all, lengths, self.threads, worth);
            executable.phases = phases.map_err(SimError::Code)?;
        }
        Ok(executable)
    }

    fn tiles(&self, program: &[Call], lists: usize) -> Result<Option<Tiles>, SimError> {
        if self.model.n < self.large_from {
            return Ok(None);
        }
        let lengths = self.lengths(self.model.n);
        Tiles::bind(self.code, self.kernels, program, lengths, lists).map_err(SimError::Code)
    }
}

/// Whether the partial derivatives of a model can change between two events: some depend on unknowns or on time, or there are histories, which they may read.
pub(super) fn partials_vary_in_a_step(model: &CompiledModel) -> bool {
    let partials = &model.jacobian.partials;
    let is_time = |a: &Address, j| a.bank() == Some(Bank::Mem) && a.element(j) == Some(fixed::TIME);
    let reads_time = |call: &Call| {
        call.slots
            .iter()
            .any(|a| (0..call.count).any(|j| is_time(a, j)))
    };
    let has_histories = !model.events.delays.is_empty() || !model.events.spatials.is_empty();
    has_histories
        || partials.iter().any(reads_unknowns)
        || partials.iter().any(reads_time)
        || reads(partials, &model.locals)
}

/// Whether a call reads y or y'.
fn reads_unknowns(call: &Call) -> bool {
    let unknown = |a: &Address| matches!(a.bank(), Some(Bank::Y | Bank::Yp));
    call.slots.iter().any(unknown)
}
