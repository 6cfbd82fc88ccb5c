//! The sparse Jacobian by the chain rule over kernels.
//!
//! Each item (residual or local assignment) has a *partial kernel* that computes its derivatives with respect to the
//! accesses in it. The Jacobian row of a residual is the sum over its accesses of partial × row of what is accessed:
//! a unit vector for an unknown, `cj` times a unit vector for a derivative, and for a local assignment the row that was
//! put together before. All of this is multiply-adds `acc[dst] += partial[p] * acc[src]`, made once ([`crate::schedule`]);
//! `acc[0] = 1` and `acc[1] = cj` stand for the unit vectors. An array equation gives a few long runs of them. A partial
//! derivative that is the same for all points of an array equation (a literal, a parameter) is kept and computed once. The
//! pattern is exact and the cost of an evaluation is the number of these operations.

use serde::{Deserialize, Serialize};
use std::sync::{Arc, OnceLock};

use acausal_jit::kernel::{Bank, Program};

use crate::locations::Locations;
use crate::schedule::{MatrixSize, Schedule, schedule};

/// Compressed sparse columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sparsity {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// Start of each column in `row_idx`, and the end of the last.
    pub col_ptr: Vec<u32>,
    /// Rows, ascending in each column.
    pub row_idx: Vec<u32>,
}

impl Sparsity {
    /// The places of the entries of a column.
    pub fn entries(&self, column: usize) -> std::ops::Range<usize> {
        self.col_ptr[column] as usize..self.col_ptr[column + 1] as usize
    }
}

/// How a Jacobian is put together.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Jacobian {
    /// Computes the partial derivatives that change, into bank `Out`.
    pub partials: Program,
    /// Partial derivatives that are literals: where, and the value.
    pub constants: Vec<(usize, f64)>,
    /// Number of partial derivatives.
    pub partials_len: usize,
    /// Rows of all items, those of local assignments first. The Jacobians of a model share them, and so they do in a file (`shared_rows`).
    #[serde(skip)]
    pub items: Vec<Arc<ItemRows>>,
    /// Number of items that are local assignments.
    pub locals: usize,
    /// Rows and columns.
    pub size: MatrixSize,
    /// What the columns are.
    pub columns: JacobianColumns,
    /// Place of a partial derivative that is 1, where there are unknowns in `Mem`.
    pub one: usize,
    /// Made when it is first asked for.
    #[serde(skip)]
    schedule: OnceLock<Schedule>,
}

/// `acc[dst + j*dst_step] += partial[partial + j*partial_step] * acc[src + j*src_step]` for `j` in `0..count`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MulAdds {
    /// Number of multiply-adds.
    pub count: u32,
    /// Which row of its block the first one belongs to.
    pub row: u32,
    /// What was there before does not count: the product is put there, not added.
    pub sets: bool,
    /// First entry that is filled, in the accumulator or among the values of the pattern.
    pub dst: u32,
    /// First partial derivative.
    pub partial: u32,
    /// 1, or 0 if all have the same.
    pub partial_step: u32,
    /// First entry of a row that is complete, or one of the two units; in the accumulator.
    pub src: u32,
    /// Distance of entries that are filled.
    pub dst_step: i32,
    /// Distance of entries that are read.
    pub src_step: i32,
}

/// What the columns of a Jacobian are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum JacobianColumns {
    /// `dF/dx + cj*dF/dx'`: n columns.
    #[default]
    Combined,
    /// For consistent values with known states: `dF/dx'` for those, `dF/dx` for the others; n columns.
    Consistent {
        /// `(first, end)` of the components of `x` that are known, ascending.
        known: Vec<(usize, usize)>,
    },
    /// `dF/dx`, `dF/dx'` and derivatives with respect to places in `Mem` side by side, for initialisation.
    Separate {
        /// Number of unknowns.
        n: usize,
        /// `(first, number)` of the places in `Mem`.
        units: Vec<(usize, usize)>,
    },
}

impl JacobianColumns {
    /// Number of columns for `n` unknowns.
    pub fn count(&self, n: usize) -> usize {
        match self {
            JacobianColumns::Combined | JacobianColumns::Consistent { .. } => n,
            JacobianColumns::Separate { units, .. } => {
                2 * n + units.iter().map(|u| u.1).sum::<usize>()
            }
        }
    }

    /// The column of a component of `x` or `x'` and the entry of the accumulator that is its unit; nothing if it is known. And the
    /// range of components for which this holds, each with the column next to that of its neighbour.
    #[inline]
    pub(crate) fn of(&self, bank: Bank, index: usize) -> (Option<(usize, u32)>, (usize, usize)) {
        let all = (0, usize::MAX);
        match (self, bank) {
            (JacobianColumns::Combined, Bank::Yp) => (Some((index, 1)), all),
            (JacobianColumns::Consistent { known }, Bank::Y) => {
                let after = known.partition_point(|r| r.0 <= index);
                let end = known.get(after).map_or(usize::MAX, |r| r.0);
                match after.checked_sub(1).map(|k| known[k]) {
                    Some(range) if index < range.1 => (None, range),
                    before => (Some((index, 0)), (before.map_or(0, |r| r.1), end)),
                }
            }
            (JacobianColumns::Separate { n, .. }, Bank::Yp) => (Some((n + index, 0)), all),
            _ => (Some((index, 0)), all),
        }
    }
}

/// Rows of one item: where its target lies and which partials belong to which access.
#[derive(Debug, Serialize, Deserialize)]
pub struct ItemRows {
    /// Where the value lies, point by point.
    pub target: Locations,
    /// Per access: location of the accessed scalar and its partial derivatives.
    pub accesses: Vec<(Locations, Partials)>,
    /// Number of points.
    pub count: usize,
    /// No point reads the value of another one.
    pub independent: bool,
}

/// The partial derivatives of one access, point by point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partials {
    /// The first.
    pub first: usize,
    /// 1, or 0 if all points have the same.
    pub step: usize,
}

impl Jacobian {
    /// A Jacobian without items yet.
    pub fn new(size: MatrixSize, columns: JacobianColumns) -> Jacobian {
        Jacobian {
            size,
            columns,
            ..Jacobian::default()
        }
    }

    /// Room for the partial derivatives of an access at `count` points, or for one that all have in common.
    pub fn partials_for(&mut self, count: usize, common: bool) -> Partials {
        let first = self.partials_len;
        self.partials_len += if common { 1 } else { count };
        let step = usize::from(!common);
        Partials { first, step }
    }
}

impl Jacobian {
    /// A partial derivative that is 1, for the rows of unknowns in `Mem`.
    pub fn add_unit(&mut self) {
        if matches!(&self.columns, JacobianColumns::Separate { units, .. } if !units.is_empty()) {
            self.one = self.partials_len;
            self.constants.push((self.one, 1.0));
            self.partials_len += 1;
        }
    }

    /// The pattern and the multiply-adds.
    pub fn schedule(&self) -> &Schedule {
        self.schedule
            .get_or_init(|| self.schedule_of(&self.columns))
    }

    /// Those of the same rows with other columns.
    pub fn schedule_of(&self, columns: &JacobianColumns) -> Schedule {
        let items = self.items.iter().map(|i| &**i);
        schedule(items, self.size, columns, self.one)
    }

    /// The pattern.
    pub fn sparsity(&self) -> &Sparsity {
        &self.schedule().sparsity
    }

    /// Partial derivatives that never change, written once.
    pub fn fill_constants(&self, partials: &mut [f64]) {
        for &(place, v) in &self.constants {
            partials[place] = v;
        }
    }
}
