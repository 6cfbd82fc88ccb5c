//! The special index-one DAE `f_d(x', x, t) = 0, f_c(x, t) = 0` (Otter & Elmqvist 2017, equations (2) and (17)).
//!
//! Still symbolic and still arrays: unknowns, local assignments and residuals are items with a domain. Where each
//! scalar lives at run time is decided by the code generator.

use acausal_expr::flat::{FlatModel, OriginId};
use acausal_expr::{Access, ExprId, Few, IterId, Kind, Range, VarId};
use acausal_structure::segments::Span;

/// A quantity: a variable or one of its derivatives (or left limits).
pub type Quantity = (VarId, Kind);

/// A group of unknowns of the integrator: elements of one variable.
#[derive(Clone, Debug)]
pub struct Unknown {
    /// What a component of `x` is. `None` for the integrals λ_int and μ_int, which occur in no equation.
    pub value: Option<Quantity>,
    /// What its derivative is. `None` for algebraic unknowns.
    pub derivative: Option<Quantity>,
    /// Which elements of the variable; `None`: all of them.
    pub elements: Option<Part>,
    /// Number of scalars.
    pub len: usize,
    /// What it is to the integrator.
    pub role: Role,
    /// How often it is differentiated in the system of highest derivatives: 2 for a position that constraints of mechanics restrict, 1 for its velocity, 0 for what is
    /// algebraic.
    pub level: u8,
}

/// A box of elements of a variable. Its elements, flattened row by row from 0, are numbered in ascending order; they are
/// computed when they are asked for, so that a box costs the same whatever its length.
///
/// Example: `x[2:3, 1:2]` of `x[4, 5]` has the elements 5, 6, 10, 11.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Part {
    /// The first element.
    first: usize,
    /// Per dimension: number of indices, and how far apart they are.
    dimensions: Vec<(usize, usize)>,
}

impl Part {
    /// The elements with indices in the given ranges, from 1, of a variable with the given dimensions.
    pub fn new(dims: &[usize], spans: &[Span]) -> Part {
        let mut stride = 1;
        let mut first = 0;
        let mut dimensions = vec![(1, 1); dims.len()];
        for ((out, d), s) in dimensions.iter_mut().zip(dims).zip(spans).rev() {
            *out = (s.size() as usize, stride);
            first += (s.lo.max(1) as usize - 1) * stride;
            stride *= d;
        }
        Part { first, dimensions }
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// `x_d`: its derivative occurs.
    State,
    /// `x_a`: algebraic.
    Algebraic,
    /// λ_int: the integral of a constraint force.
    Lambda,
    /// μ_int: the integral of a stabilising multiplier; outside of the error test.
    Mu,
}

/// `target := value` for all values of the domain, in the order of [`Dae::locals`].
#[derive(Clone, Debug)]
pub struct Local {
    /// Iterators.
    pub domain: Few<(IterId, Range)>,
    /// The element that is assigned.
    pub target: Access,
    /// Its value.
    pub value: ExprId,
    /// The equation it came from.
    pub origin: OriginId,
}

/// An equation that was differentiated although it has conditions, discrete variables or steps: where they change at an event, the difference of its sides must
/// not, or its derivative is an impulse.
#[derive(Clone, Debug)]
pub struct Continuity {
    /// Iterators.
    pub domain: Vec<(IterId, Range)>,
    /// Left and right side.
    pub sides: [ExprId; 2],
    /// The equation it came from.
    pub origin: OriginId,
}

/// `0 = value` for all values of the domain.
#[derive(Clone, Debug)]
pub struct Residual {
    /// Iterators.
    pub domain: Vec<(IterId, Range)>,
    /// The residual.
    pub value: ExprId,
    /// The equation it came from.
    pub origin: OriginId,
    /// Its part of the form.
    pub kind: RowKind,
}

/// The parts of the residual in form (17).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

impl Residual {
    /// Number of scalar rows.
    pub fn len(&self) -> usize {
        self.domain
            .iter()
            .map(|(_, r)| r.count.max(0) as usize)
            .product()
    }

    /// True when the domain is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// `target = value` for a discrete variable: evaluated at events only.
#[derive(Clone, Debug)]
pub struct DiscreteEquation {
    /// Iterators.
    pub domain: Vec<(IterId, Range)>,
    /// The element that is assigned.
    pub target: Access,
    /// Its value.
    pub value: ExprId,
    /// The equation it came from.
    pub origin: OriginId,
}

/// The DAE with everything that happens at events.
#[derive(Clone, Debug)]
pub struct Dae {
    /// Variables, functions, `when` clauses, assertions, initial equations and the arena.
    pub flat: FlatModel,
    /// Groups of unknowns; `x` is their concatenation.
    pub unknowns: Vec<Unknown>,
    /// Local assignments in evaluation order.
    pub locals: Vec<Local>,
    /// Numbers of those in loops in which errors of the unknowns are larger than in the unknowns themselves.
    pub amplified: Vec<usize>,
    /// Residuals, as many scalars as unknowns.
    pub residuals: Vec<Residual>,
    /// Highest derivatives of constraints that stay residuals: not part of the form, but they determine the highest
    /// derivatives when consistent values are computed.
    pub hidden: Vec<Residual>,
    /// Equations of discrete variables outside of `when`, in evaluation order.
    pub discrete: Vec<DiscreteEquation>,
    /// Equations that were differentiated and must not jump at events.
    pub continuous: Vec<Continuity>,
    /// A derivative enters its equation nonlinearly: solutions may meet, and the equations are singular there.
    pub branching: bool,
}

impl Dae {
    /// Number of scalar unknowns.
    pub fn len(&self) -> usize {
        self.unknowns.iter().map(|u| u.len).sum()
    }

    /// True when there is nothing to integrate.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_a_part() {
        let part = Part::new(&[4, 5], &[Span::new(2, 3), Span::new(1, 2)]);
        assert_eq!(part.iter().collect::<Vec<_>>(), [5, 6, 10, 11]);
        let row = Part::new(&[1_000_000], &[Span::new(2, 999_999)]);
        assert_eq!(
            (row.len(), row.at(0), row.at(999_997)),
            (999_998, 1, 999_998)
        );
        assert_eq!(Part::new(&[], &[]).iter().collect::<Vec<_>>(), [0]);
    }
}
