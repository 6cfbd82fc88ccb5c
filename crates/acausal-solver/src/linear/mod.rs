//! Linear systems `A x = b` with a fixed sparsity pattern and changing values: the iteration matrices of the
//! integrator and of Newton's method.
//!
//! [`LinearSolver`] is the small border: analyse a pattern once, factor values often, solve more often. [`Lu`] chooses
//! the implementation: a dense LU for small systems, for large ones substitution where they are triangular up to permutations,
//! elimination from both ends where they are narrow bands, and the sparse left-looking LU otherwise.
//!
//! There is no supernodal variant: measured on five-point grids the sparse LU refactorises in 0.6 of KLU's time and solves
//! in half of it, and the supernodal LU of `faer` reaches its refactorisation only at 300 x 300 cells (and not its
//! solve), at the price of some 45 crates to compile.
//!
//! **Row equilibration** is part of every implementation: each row is divided by (a power of two near) its largest
//! entry before pivoting. This is also what scaling the differential rows with the step size h aims at (Otter &
//! Elmqvist 2017, eq. 4a): as h -> 0 the rows `cj * dF/dy' + dF/dy` grow like 1/h and the constraint rows do not, but
//! after equilibration both tend to rows of the regular matrix J. The solution is not changed by it, so convergence
//! tests on the step need no correction.

mod band;
mod btf;
mod dense;
mod ordering;
mod rank;
mod sparse;
mod triangular;

pub use band::Band;
pub(crate) use btf::block_form;
pub use dense::DenseLu;
pub use rank::{DENSE_BLOCK, RankDeficiency, rank_deficiency};
pub use sparse::{FactorCounts, SparseLu};
pub use triangular::Substitution;

use crate::pattern::Pattern;
use acausal_cpu::Team;
use std::fmt;

/// A direct solver for a sequence of matrices with one sparsity pattern.
pub trait LinearSolver {
    /// Takes a pattern and prepares everything that does not depend on values.
    fn analyse(&mut self, pattern: &Pattern) -> Result<(), Singular>;

    /// Factorises the matrix with these values, in the order of the pattern.
    fn factor(&mut self, values: &[f64]) -> Result<(), Singular>;

    /// Replaces `rhs` by the solution. Only after a successful [`LinearSolver::factor`].
    fn solve(&mut self, rhs: &mut [f64]);

    /// Replaces `rhs` by the solution of the transposed system.
    fn solve_transposed(&mut self, rhs: &mut [f64]);

    /// [`LinearSolver::factor`] with more threads, if they are of use. The result is the same.
    fn factor_on(&mut self, _team: Option<&mut Team>, values: &[f64]) -> Result<(), Singular> {
        self.factor(values)
    }

    /// [`LinearSolver::solve`] with more threads, if they are of use. The result is the same.
    fn solve_on(&mut self, _team: Option<&mut Team>, rhs: &mut [f64]) {
        self.solve(rhs);
    }

    /// Entries of the factors, where they are counted.
    fn factor_entries(&self) -> Option<usize> {
        None
    }

    /// Estimated cost of a factorisation in units of a solve, by counting numbers that are touched; after the first
    /// factorisation.
    fn factor_work(&self) -> f64;
}

/// The matrix has no inverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Singular {
    /// An equation that depends on others (or has no unknown left).
    pub row: usize,
    /// An unknown that is not determined.
    pub col: usize,
    /// Singular for every choice of values with this pattern.
    pub structural: bool,
}

impl fmt::Display for Singular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.structural {
            "structurally"
        } else {
            "numerically"
        };
        write!(
            f,
            "matrix is {kind} singular at row {}, column {}",
            self.row, self.col
        )
    }
}

impl std::error::Error for Singular {}

/// A pivot below this fraction of the largest entry of its (equilibrated) column counts as zero: what is left then is
/// rounding error of the elimination. Sixteen units in the last place.
pub(crate) const ZERO_PIVOT: f64 = 16.0 * f64::EPSILON;

/// Largest size for which the dense LU is used: below it the whole matrix fits into the first-level cache and the
/// index work of the sparse LU costs more than the zeros.
pub const DENSE_LIMIT: usize = 32;

/// The power of two nearest below `1 / x`, so that scaling by it does not round. One for zero and non-finite values.
pub(crate) fn power_of_two_reciprocal(x: f64) -> f64 {
    if !(x > 0.0 && x.is_finite()) {
        return 1.0;
    }
    // Clearing the mantissa leaves 2^e <= x; subnormals have no mantissa to clear, their scale is bounded instead.
    let floor = f64::from_bits(x.to_bits() & 0x7ff0_0000_0000_0000);
    if floor < f64::MIN_POSITIVE {
        1.0 / f64::MIN_POSITIVE
    } else {
        1.0 / floor
    }
}

/// Row maxima of |A| turned into scale factors. Balancing rows and columns in turn before (Ruiz 2001) was tried on random
/// matrices with columns over twelve decades and gave larger backward errors: pivots are compared inside a column, where
/// its scale does not matter.
pub(crate) fn row_scales(pattern: &Pattern, values: &[f64], scale: &mut [f64]) {
    scale.fill(0.0);
    for (&row, &v) in pattern.row_idx().iter().zip(values) {
        let s = &mut scale[row as usize];
        *s = s.max(v.abs());
    }
    for s in scale.iter_mut() {
        *s = power_of_two_reciprocal(*s);
    }
}

/// The solver chosen for a pattern: dense up to [`DENSE_LIMIT`], above it the simplest one that is possible. A band is given up
/// for good when it needs pivots beside its diagonal.
#[derive(Debug)]
pub enum Lu {
    /// Small system.
    Dense(DenseLu),
    /// Large system that is triangular up to permutations.
    Triangular(Box<Substitution>),
    /// Large system that is a narrow band up to permutations.
    Band(Box<Band>),
    /// Large system.
    Sparse(Box<SparseLu>),
}

impl Default for Lu {
    fn default() -> Self {
        Self::Dense(DenseLu::default())
    }
}

impl Lu {
    /// A solver without a pattern yet.
    pub fn new() -> Self {
        Self::default()
    }
}

impl LinearSolver for Lu {
    fn analyse(&mut self, pattern: &Pattern) -> Result<(), Singular> {
        *self = if pattern.size() <= DENSE_LIMIT {
            let mut lu = DenseLu::default();
            lu.analyse(pattern)?;
            Self::Dense(lu)
        } else if let Some(order) = triangular::substitution_order(pattern) {
            Self::Triangular(Box::new(Substitution::new(pattern, order)))
        } else if let Some(band) = Band::possible(pattern) {
            // Its order waits for values; whether the pattern is singular shall be known now.
            let on_diagonal = |j: usize| pattern.rows_of(j).contains(&(j as u32));
            if !(0..pattern.size()).all(on_diagonal) {
                btf::match_columns(pattern)?;
            }
            Self::Band(Box::new(band))
        } else {
            let mut lu = Box::<SparseLu>::default();
            lu.analyse(pattern)?;
            Self::Sparse(lu)
        };
        Ok(())
    }

    fn factor(&mut self, values: &[f64]) -> Result<(), Singular> {
        self.factor_on(None, values)
    }

    fn factor_on(&mut self, team: Option<&mut Team>, values: &[f64]) -> Result<(), Singular> {
        match self {
            Self::Dense(lu) => lu.factor(values),
            Self::Triangular(s) => s.factor(values),
            Self::Sparse(lu) => lu.factor(values),
            Self::Band(band) => {
                if band.factor(team, values) {
                    return Ok(());
                }
                let mut lu = Box::<SparseLu>::default();
                lu.analyse(band.pattern())?;
                let factored = lu.factor(values);
                *self = Self::Sparse(lu);
                factored
            }
        }
    }

    fn solve(&mut self, rhs: &mut [f64]) {
        self.solve_on(None, rhs);
    }

    fn solve_on(&mut self, team: Option<&mut Team>, rhs: &mut [f64]) {
        match self {
            Self::Dense(lu) => lu.solve(rhs),
            Self::Triangular(s) => s.solve(rhs),
            Self::Band(lu) => lu.solve(team, rhs),
            Self::Sparse(lu) => lu.solve(rhs),
        }
    }

    fn solve_transposed(&mut self, rhs: &mut [f64]) {
        match self {
            Self::Dense(lu) => lu.solve_transposed(rhs),
            Self::Triangular(s) => s.solve_transposed(rhs),
            Self::Band(lu) => lu.solve_transposed(rhs),
            Self::Sparse(lu) => lu.solve_transposed(rhs),
        }
    }

    fn factor_entries(&self) -> Option<usize> {
        match self {
            // A dense factor has all entries.
            Self::Dense(lu) => lu.factor_entries(),
            Self::Triangular(s) => Some(s.factor_entries()),
            Self::Band(lu) => Some(lu.factor_entries()),
            Self::Sparse(lu) => Some(lu.factor_nnz()),
        }
    }

    fn factor_work(&self) -> f64 {
        match self {
            Self::Dense(lu) => lu.factor_work(),
            Self::Triangular(s) => s.factor_work(),
            Self::Band(lu) => lu.factor_work(),
            Self::Sparse(lu) => lu.factor_work(),
        }
    }
}

/// One-norm condition number of `A` by Hager's method (Higham 1988): a few solves with A and its transpose climb to a
/// unit vector whose image has (nearly always) the largest norm. `norm_a` is the 1-norm of A.
pub(crate) fn hager_condition<S: LinearSolver + ?Sized>(
    solver: &mut S,
    n: usize,
    norm_a: f64,
) -> f64 {
    if n == 0 {
        return 1.0;
    }
    // Five iterations is Higham's bound; two nearly always suffice.
    const ITERATIONS: usize = 5;
    let mut x = vec![1.0 / n as f64; n];
    let mut estimate = 0.0f64;
    let mut last = usize::MAX;
    for _ in 0..ITERATIONS {
        solver.solve(&mut x);
        let norm: f64 = x.iter().map(|v| v.abs()).sum();
        if !norm.is_finite() {
            return f64::INFINITY;
        }
        if norm <= estimate {
            break;
        }
        estimate = norm;
        for v in x.iter_mut() {
            *v = if *v < 0.0 { -1.0 } else { 1.0 };
        }
        solver.solve_transposed(&mut x);
        let mut best = 0;
        for (i, v) in x.iter().enumerate() {
            if v.abs() > x[best].abs() {
                best = i;
            }
        }
        if best == last {
            break;
        }
        last = best;
        x.fill(0.0);
        x[best] = 1.0;
    }
    estimate * norm_a
}
