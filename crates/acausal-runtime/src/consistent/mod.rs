//! Consistent values: some of `x`, `x'` and the free parameters are known, the others follow from the equations.
//!
//! At the start the known ones are start values ([`crate::initial`]); after an event they are the states. The equations
//! are residuals (and, at the start, initial equations). They are solved by [`acausal_solver::newton`]:
//!
//! - at the start block by block (large systems all at once first, because each level of blocks costs an evaluation of
//!   the whole model); where that fails, along `homotopy` from the simplified to the actual equations if the model has it
//!   (MLS 3.6 §3.7.4.4), then from other guesses for unknowns without a written start;
//! - after an event all at once, because the values before it are near; block by block if that fails.
//!
//! Where the solution is one of many and the rest does not depend on which, the nearest one is taken ([`underdetermined`]).
//!
//! A large system of explicit equations is solved by division ([`explicit`]).
//!
//! What can be solved explicitly whatever is known has become a local assignment before; the unknowns here are what is left.
//! A block of them that cannot be solved as a whole is torn ([`tearing`]).

mod chord;
mod explicit;
mod failure;
mod impasse;
mod model;
mod multistart;
mod null_space;
mod start;
mod tearing;
mod underdetermined;

pub(crate) use impasse::ImpasseMonitor;
pub(crate) use underdetermined::{FreeDirection, Underdetermined};

use acausal_expr::unknown::UnknownRole;
use acausal_solver::newton::{BlockNewton, Newton};
use acausal_solver::{NewtonError, NewtonOptions, Pattern};

use crate::error::{InitialFailure, InitialKind};
use crate::initial::StartData;
use crate::machine::Machine;
use chord::Chord;
use explicit::Explicit;
pub(crate) use model::Point;
use model::Unknowns;
pub(crate) use null_space::NullSpace;
use tearing::ByTrust;

/// Largest product of unknowns and levels for which a large system is solved block by block.
const MOST_WORK: usize = 200_000_000;

/// Which unknowns are solved for from which rows.
#[derive(Default)]
pub(crate) struct ConsistentSystem {
    /// Set for a large system that consists of all equations; the lists are empty until they are needed.
    explicit: Option<Explicit>,
    /// Columns of the initial Jacobian: `j` is `x[j]`, `n + j` is `x'[j]`, `2n + k` is free parameter `k`.
    columns: Vec<u32>,
    /// Rows in use, ascending: residuals, hidden rows, initial equations.
    rows: Vec<u32>,
    pattern: Pattern,
    /// Position of each entry of the pattern among the values of the initial Jacobian.
    entries: Vec<u32>,
    /// Made when first needed.
    newton: Option<Newton>,
    blocks: Option<BlockNewton>,
    chord: Option<Chord>,
    /// Blocks whose matrix was singular at the last solution.
    singular: Vec<usize>,
    /// Set for the system of the start.
    start: Option<Start>,
    /// A solution with harmless open directions is taken.
    lenient: bool,
    /// The last solution left these directions open.
    underdetermined: Option<Underdetermined>,
    /// A solution was refused because it left something open.
    refused: bool,
    /// Values that are a solution already are not moved.
    stays: bool,
    remarks: Vec<String>,
}

/// What only the start needs.
struct Start {
    /// Per column: the value is written in the model.
    given: Vec<bool>,
    /// Per column: 2 for a written value and for parameters, 0 for a derivative, whose guess nobody can write.
    trust: Vec<u8>,
}

impl ConsistentSystem {
    /// A square system; `columns` and `rows` must have the same size.
    pub fn new(
        machine: &Machine,
        columns: Vec<u32>,
        rows: Vec<u32>,
    ) -> Result<ConsistentSystem, crate::SimError> {
        let s = machine.model.initial.jacobian.sparsity();
        let mut number = vec![u32::MAX; s.rows];
        for (k, &r) in rows.iter().enumerate() {
            number[r as usize] = k as u32;
        }
        let mut col_ptr = vec![0u32];
        let mut row_idx = Vec::new();
        let mut entries = Vec::new();
        for &c in &columns {
            for k in s.entries(c as usize) {
                let row = number[s.row_idx[k] as usize];
                if row != u32::MAX {
                    row_idx.push(row);
                    entries.push(k as u32);
                }
            }
            col_ptr.push(row_idx.len() as u32);
        }
        let pattern =
            Pattern::new(rows.len(), col_ptr, row_idx).map_err(crate::SimError::Pattern)?;
        Ok(ConsistentSystem {
            columns,
            rows,
            pattern,
            entries,
            ..ConsistentSystem::default()
        })
    }

    /// Marks the system of the start.
    pub fn at_start(mut self, data: &StartData) -> ConsistentSystem {
        let given = |&c: &u32| data.given.get(c as usize).copied().unwrap_or(false);
        let n = data.y.len();
        let trust = |&c: &u32| match c as usize {
            k if k < n => 1 + u8::from(data.given[k]),
            k if k < 2 * n => 0,
            // A parameter without a value of its own is there to be found; its start value is what was thought of it.
            _ => 2,
        };
        self.start = Some(Start {
            given: self.columns.iter().map(given).collect(),
            trust: self.columns.iter().map(trust).collect(),
        });
        self
    }

    /// Solves for the unknown entries of `y` and `yp` and for free parameters.
    pub fn solve(&mut self, at: &mut Point) -> Result<usize, Box<InitialFailure>> {
        self.underdetermined = None;
        if self.start.is_none() {
            release_stabilisation(at);
        }
        if self.divide(at) {
            at.update();
            return Ok(1);
        }
        if let Err(error) = self.list(&at.machine.model) {
            let mut failure = InitialFailure::new(InitialKind::Pattern, at.t);
            failure.condition = Some(error.to_string());
            return Err(Box::new(failure));
        }
        if self.rows.is_empty() {
            at.update();
            return Ok(0);
        }
        let options = self.options(at);
        let guess = self.gather(at);
        let mut x = guess.clone();
        let solved = if self.start.is_some() {
            self.solve_start(at, &options, &mut x)
        } else {
            self.solve_near(at, &options, &mut x)
        };
        self.scatter(at, &x);
        at.update();
        match solved {
            Ok(iterations) => Ok(iterations),
            Err(error) => {
                let open = error.solved;
                let failure = self.failure(at, &guess, error);
                self.refused |= open;
                if open && self.lenient {
                    self.underdetermined = self.harmless(at, failure.clone());
                    if self.underdetermined.is_some() {
                        return Ok(1);
                    }
                }
                Err(failure)
            }
        }
    }

    /// Solves where the values at hand are a solution of nearly the same equations: if they are one of these as well, to the
    /// accuracy of the iteration, they stay as they are to the last digit.
    pub fn confirm(&mut self, at: &mut Point) -> Result<usize, Box<InitialFailure>> {
        self.stays = true;
        let solved = self.solve(at);
        self.stays = false;
        solved
    }

    /// Whether a solution was refused since this was asked last because it left something open.
    pub fn has_refused(&mut self) -> bool {
        std::mem::take(&mut self.refused)
    }

    /// Brings values that are nearly a solution closer to it; false, and they stay as they are, where that fails.
    pub fn refine(&mut self, at: &mut Point) -> bool {
        release_stabilisation(at);
        if self.divide(at) {
            return true;
        }
        if self.list(&at.machine.model).is_err() {
            return false;
        }
        if self.rows.is_empty() {
            return true;
        }
        let options = self.options(at);
        let guess = self.gather(at);
        let mut x = guess.clone();
        if self.along_chord(at, &options, &mut x) {
            self.scatter(at, &x);
            return true;
        }
        let found = match self.solve_near(at, &options, &mut x) {
            Ok(_) => true,
            Err(trouble) => trouble.solved && self.underdetermined.is_some(),
        };
        let x = if found { &x } else { &guess };
        self.scatter(at, x);
        found
    }

    /// With a matrix of earlier values.
    fn along_chord(&mut self, at: &mut Point, options: &NewtonOptions, x: &mut [f64]) -> bool {
        let kept = self.chord.take().or_else(|| Chord::new(&self.pattern));
        let Some(mut chord) = kept else {
            return false;
        };
        let found = chord.solve(&mut Unknowns::new(self, at), options, x);
        self.chord = Some(chord);
        found
    }

    /// After an event: all at once from the values before it.
    fn solve_near(
        &mut self,
        at: &mut Point,
        options: &NewtonOptions,
        x: &mut [f64],
    ) -> Result<usize, Trouble> {
        let guess = x.to_vec();
        match self.at_once(at, options, x) {
            Ok(iterations) => Ok(iterations),
            Err(error) => {
                // A solution that is not the only one stays where it is; the blocks tell what is open.
                if !error.solved {
                    x.copy_from_slice(&guess);
                }
                if self.too_deep() {
                    return Err(error);
                }
                self.by_blocks(at, options, x)
            }
        }
    }

    /// One attempt from one guess: by blocks, or all at once where that costs less.
    fn attempt(
        &mut self,
        at: &mut Point,
        options: &NewtonOptions,
        x: &mut [f64],
    ) -> Result<usize, Trouble> {
        if self.rows.len() > at.machine.scale.blocks_to {
            return self.solve_near(at, options, x);
        }
        self.by_blocks(at, options, x)
    }

    fn at_once(
        &mut self,
        at: &mut Point,
        options: &NewtonOptions,
        x: &mut [f64],
    ) -> Result<usize, Trouble> {
        let mut newton = self.newton.take();
        let mut unknowns = Unknowns::new(self, at);
        let made = match newton.take() {
            Some(newton) => Ok(newton),
            None => Newton::new(&unknowns),
        };
        let mut newton = made.map_err(Trouble::new)?;
        let solved = newton.solve(&mut unknowns, x, options);
        self.newton = Some(newton);
        match solved {
            Ok(s) => match s.singular {
                None => Ok(s.iterations as usize),
                Some((row, col)) => Err(Trouble {
                    solved: true,
                    ..Trouble::new(NewtonError::Singular { row, col })
                }),
            },
            Err(error) => Err(Trouble::new(error)),
        }
    }

    fn by_blocks(
        &mut self,
        at: &mut Point,
        options: &NewtonOptions,
        x: &mut [f64],
    ) -> Result<usize, Trouble> {
        if self.blocks.is_none() {
            let made = BlockNewton::new(&self.pattern);
            self.blocks = Some(made.map_err(Trouble::new)?);
        }
        let Some(blocks) = self.blocks.take() else {
            return Ok(0);
        };
        let mut unknowns = Unknowns::new(self, at);
        let tearing = ByTrust {
            trust: (self.start.as_ref()).map_or(&[], |s| &s.trust),
            first: false,
        };
        let solved = blocks.solve_with(&mut unknowns, x, options, Some(&tearing));
        let result = match solved {
            Ok(s) => match s.singular.first() {
                None => Ok(s.jacobian_evaluations as usize),
                Some(&k) => {
                    let (rows, cols) = blocks.block(k);
                    let (row, col) = (rows[0] as usize, cols[0] as usize);
                    self.singular = s.singular;
                    Err(Trouble {
                        block: Some(k),
                        solved: true,
                        ..Trouble::new(NewtonError::Singular { row, col })
                    })
                }
            },
            Err(f) => Err(Trouble {
                block: Some(f.block),
                ..Trouble::new(f.error)
            }),
        };
        self.blocks = Some(blocks);
        result
    }

    /// Whether the blocks depend on each other in so long a chain that solving them one by one takes too long.
    fn too_deep(&mut self) -> bool {
        if self.blocks.is_none() {
            self.blocks = BlockNewton::new(&self.pattern).ok();
        }
        (self.blocks.as_ref())
            .is_none_or(|b| b.levels().saturating_mul(self.rows.len()) > MOST_WORK)
    }

    fn gather(&self, at: &Point) -> Vec<f64> {
        self.columns.iter().map(|&c| at.column(c)).collect()
    }

    fn scatter(&self, at: &mut Point, x: &[f64]) {
        for (&c, &v) in self.columns.iter().zip(x) {
            at.set_column(c, v);
        }
    }

    fn options(&self, at: &Point) -> NewtonOptions {
        let n = at.nominal.len();
        let size = |&c: &u32| match c as usize {
            k if k < n => at.nominal[k],
            k if k < 2 * n => at.nominal[k - n],
            _ => at.column(c).abs().max(1.0),
        };
        NewtonOptions {
            nominal: self.columns.iter().map(size).collect(),
            stay: self.stays,
            ..NewtonOptions::default()
        }
    }

    /// Per row of the initial system: the size of its terms at a point, by the whole Jacobian.
    pub fn row_sizes(
        &self,
        machine: &mut Machine,
        t: f64,
        y: &[f64],
        yp: &[f64],
        nominal: &[f64],
    ) -> Vec<f64> {
        let model = machine.model.clone();
        let s = model.initial.jacobian.sparsity();
        let n = model.n;
        let mut size: Vec<f64> = (0..s.cols)
            .map(|c| machine.column_value(c, y, yp).abs())
            .collect();
        for c in 0..2 * n {
            size[c] = size[c].max(nominal[c % n]);
        }
        let values = machine.initial_jacobian(t, y, yp);
        let mut sizes = vec![0.0; s.rows];
        for (c, size) in size.iter().enumerate() {
            for k in s.entries(c) {
                sizes[s.row_idx[k] as usize] += values[k].abs() * size;
            }
        }
        sizes
    }
}

/// Where derivatives of constraints are among the equations, the multipliers μ that keep the constraints themselves are zero: what the integrator has
/// for them corrects its own errors.
fn release_stabilisation(at: &mut Point) {
    let model = at.machine.model.clone();
    if model.initial.hidden_len == 0 {
        return;
    }
    let mut first = 0;
    for u in &model.unknowns {
        if u.role == UnknownRole::Mu {
            at.yp[first..first + u.len].fill(0.0);
        }
        first += u.len;
    }
}

/// Where the solution failed.
#[derive(Clone, Debug)]
struct Trouble {
    /// The block, if the system was solved by blocks; rows and columns of the error are then those of the block.
    block: Option<usize>,
    error: NewtonError,
    /// The equations hold at the values that were reached, but do not determine them.
    solved: bool,
    /// Set where `homotopy` was tried: how far it could be followed, nothing if not even the simplified equations were
    /// solved.
    homotopy: Option<Option<f64>>,
}

impl Trouble {
    fn new(error: NewtonError) -> Trouble {
        Trouble {
            block: None,
            error,
            solved: false,
            homotopy: None,
        }
    }
}
