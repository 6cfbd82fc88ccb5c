//! Where the points of an iteration domain lie: with one stride, in runs, or one by one.

use acausal_jit::kernel::Bank;
use serde::{Deserialize, Serialize};

use crate::location::Loc;

/// The locations that an access means over a domain.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Locations {
    /// One bank, constant stride over the flattened domain.
    Strided {
        /// Bank.
        bank: Bank,
        /// Location at the first point.
        base: usize,
        /// Distance between points.
        stride: isize,
    },
    /// Some runs of points with a stride each; they cover all points.
    Runs(Vec<StridedRun>),
    /// Point by point.
    List(Vec<Loc>),
}

/// Points `first..first + count` lie in one bank with a constant stride.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StridedRun {
    /// The first point.
    pub first: usize,
    /// Number of points.
    pub count: usize,
    /// Bank.
    pub bank: Bank,
    /// Location at the first point.
    pub base: usize,
    /// Distance between points.
    pub stride: isize,
}

impl StridedRun {
    /// The location at point `j`.
    pub fn at(&self, j: usize) -> Loc {
        let steps = j as isize - self.first as isize;
        Loc::new(
            self.bank,
            (self.base as isize + self.stride * steps) as usize,
        )
    }
}

impl Locations {
    /// The runs of the first `count` points, if there are such.
    pub fn runs(&self, count: usize) -> Option<Vec<StridedRun>> {
        match self {
            Locations::Strided { bank, base, stride } => Some(vec![StridedRun {
                first: 0,
                count,
                bank: *bank,
                base: *base,
                stride: *stride,
            }]),
            Locations::Runs(runs) => Some(runs.clone()),
            Locations::List(_) => None,
        }
    }

    /// The location at point `j`.
    pub fn at(&self, j: usize) -> Loc {
        match self {
            Locations::Strided { bank, base, stride } => {
                Loc::new(*bank, (*base as isize + stride * j as isize) as usize)
            }
            Locations::Runs(runs) => runs[runs.partition_point(|r| r.first <= j) - 1].at(j),
            Locations::List(l) => l[j],
        }
    }
}
