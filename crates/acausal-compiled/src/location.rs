//! Where a scalar lies at run time: a bank and an element of it.
//!
//! Unknowns lie in bank `Y`, their derivatives in `Yp`, everything else in `Mem`. An array whose elements lie side by
//! side in one bank is one entry ([`Place::Whole`]); an array that is partly a state and partly something else has one
//! for each part ([`Place::Pieces`]), and only one whose parts are strewn over it needs a table of its elements.

use acausal_jit::kernel::Bank;
use serde::{Deserialize, Serialize};

/// Fixed addresses in `Mem`.
pub mod fixed {
    /// `time`
    pub const TIME: usize = 0;
    /// 1 while initial equations hold.
    pub const INITIAL: usize = 1;
    /// 1 at the end of the simulation.
    pub const TERMINAL: usize = 2;
    /// The parameter of `homotopy`: 0 simplified, 1 actual.
    pub const HOMOTOPY: usize = 3;
    /// First free address.
    pub const FREE: usize = 4;
}

/// A bank and an element of it, in 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Loc(u32);

impl Loc {
    /// Not assigned by anything.
    pub const NONE: Loc = Loc(u32::MAX);

    /// Elements of a bank, at most.
    pub const MOST: usize = 1 << 30;

    /// Element `index` of a bank.
    ///
    /// # Panics
    /// There are [`Loc::MOST`] of them. The code generator refuses models with more, so an index beyond is a defect.
    #[inline]
    pub fn new(bank: Bank, index: usize) -> Loc {
        assert!(
            index < Loc::MOST,
            "element {index} of {bank:?} has no address"
        );
        Loc(((bank as u32) << 30) | index as u32)
    }

    /// The bank.
    #[inline]
    pub fn bank(self) -> Bank {
        match self.0 >> 30 {
            0 => Bank::Y,
            1 => Bank::Yp,
            2 => Bank::Mem,
            _ => Bank::Out,
        }
    }

    /// The element.
    #[inline]
    pub fn index(self) -> usize {
        (self.0 & ((1 << 30) - 1)) as usize
    }
}

/// The elements of one quantity. There is one for each variable, and most are whole: the others have their lists elsewhere.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Place {
    /// Consecutive in one bank.
    Whole(Bank, usize),
    /// Runs of elements, ascending.
    Pieces(Box<Vec<PlacePiece>>),
    /// Element by element.
    Table(Box<Vec<Loc>>),
}

/// Elements `first..first + len` lie side by side from `at` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacePiece {
    /// The first element.
    pub first: usize,
    /// Number of elements.
    pub len: usize,
    /// Where the first one lies.
    pub at: Loc,
}

impl Place {
    /// Where element `k` (from 0) lies.
    pub fn at(&self, k: usize) -> Loc {
        match self {
            Place::Whole(bank, base) => Loc::new(*bank, base + k),
            Place::Pieces(pieces) => {
                let after = pieces.partition_point(|p| p.first <= k);
                match after.checked_sub(1).map(|i| pieces[i]) {
                    Some(p) if k < p.first + p.len => {
                        Loc::new(p.at.bank(), p.at.index() + k - p.first)
                    }
                    _ => Loc::NONE,
                }
            }
            Place::Table(t) => t.get(k).copied().unwrap_or(Loc::NONE),
        }
    }
}
