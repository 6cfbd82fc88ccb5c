//! What the unknowns and rows of the special index-one DAE are (Otter & Elmqvist 2017, equation (17)).
//!
//! Both sides need it: the structural passes decide it, and a runtime treats states, algebraic unknowns and multipliers, dynamic rows and
//! constraints differently.

use crate::{ValueKind, VarId};
use serde::{Deserialize, Serialize};

/// A quantity: a variable or one of its derivatives (or left limits).
pub type Quantity = (VarId, ValueKind);

/// A group of unknowns of the integrator: elements of one variable.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Unknown {
    /// What a component of `x` is. `None` for the integrals λ_int and μ_int, which occur in no equation.
    pub value: Option<Quantity>,
    /// What its derivative is. `None` for algebraic unknowns.
    pub derivative: Option<Quantity>,
    /// Which elements of the variable; `None`: all of them.
    pub elements: Option<UnknownPart>,
    /// Number of scalars.
    pub len: usize,
    /// What it is to the integrator.
    pub role: UnknownRole,
    /// How often it is differentiated in the system of highest derivatives: 2 for a position that constraints of mechanics restrict, 1 for its velocity, 0 for what is
    /// algebraic.
    pub level: u8,
}

/// A box of elements of a variable. Its elements, flattened row by row from 0, are numbered in ascending order; they are
/// computed when they are asked for, so that a box costs the same whatever its length.
///
/// Example: `x[2:3, 1:2]` of `x[4, 5]` has the elements 5, 6, 10, 11.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct UnknownPart {
    /// The first element.
    first: usize,
    /// Per dimension: number of indices, and how far apart they are.
    dimensions: Vec<(usize, usize)>,
}

impl UnknownPart {
    /// The elements with indices in the given ranges (first and last, from 1) of a variable with the given dimensions.
    pub fn new(dims: &[usize], ranges: impl DoubleEndedIterator<Item = (i64, i64)>) -> UnknownPart {
        let mut stride = 1;
        let mut first = 0;
        let mut dimensions = vec![(1, 1); dims.len()];
        let outer = dimensions.iter_mut().zip(dims).rev();
        for ((out, d), (low, high)) in outer.zip(ranges.rev()) {
            *out = ((high - low + 1).max(0) as usize, stride);
            first += (low.max(1) as usize - 1) * stride;
            stride *= d;
        }
        UnknownPart { first, dimensions }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.dimensions.iter().map(|d| d.0).product()
    }

    /// True when there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The `k`-th element.
    #[inline]
    pub fn at(&self, mut k: usize) -> usize {
        let mut element = self.first;
        for &(count, stride) in self.dimensions.iter().rev() {
            element += k % count * stride;
            k /= count;
        }
        element
    }

    /// All elements, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).map(|k| self.at(k))
    }
}

/// The parts of `x` in form (17).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum UnknownRole {
    /// `x_d`: its derivative occurs.
    State,
    /// `x_a`: algebraic.
    Algebraic,
    /// λ_int: the integral of a constraint force.
    Lambda,
    /// μ_int: the integral of a stabilising multiplier; outside of the error test.
    Mu,
}

/// The parts of the residual in form (17).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum RowKind {
    /// A row of `f_d`: derivatives of unknowns occur.
    Dynamic,
    /// A row of `f_c` that determines an algebraic unknown.
    Algebraic,
    /// A row of `f_c` that restricts the states: a constraint or a derivative of one.
    Constraint {
        /// How often it is differentiated further: 2 for one between positions, 1 for its derivative. It holds states of this [`Unknown::level`] and of higher ones, and
        /// where the states are regular it can be solved for those of its own.
        level: u8,
    },
}

impl RowKind {
    /// The level of a constraint.
    pub fn constraint_level(self) -> Option<u8> {
        match self {
            RowKind::Constraint { level } => Some(level),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_a_part() {
        let part = UnknownPart::new(&[4, 5], [(2, 3), (1, 2)].into_iter());
        assert_eq!(part.iter().collect::<Vec<_>>(), [5, 6, 10, 11]);
        let row = UnknownPart::new(&[1_000_000], [(2, 999_999)].into_iter());
        assert_eq!(
            (row.len(), row.at(0), row.at(999_997)),
            (999_998, 1, 999_998)
        );
        assert_eq!(
            UnknownPart::new(&[], [].into_iter())
                .iter()
                .collect::<Vec<_>>(),
            [0]
        );
    }
}
