//! What the compiler took for granted about the values of parameters, to be looked at again when a simulation gives them other ones.
//!
//! A coefficient `R` is divided by because it is not zero; a loop is torn because errors do not grow along its assignments with the coefficients at
//! hand (`acausal_graph::growth`); a redundant equation is left out because it holds for the present values. Each of these is data here: expressions of
//! parameters with what must hold for their values. Only what depends on parameters that can be set is kept, so most models keep nothing or little.
//!
//! Worked example: `R*i = u` solved for `i` is a [`PivotAssumption`] with `value = R`. `T[i+1] = c*T[i] - T[i-1]` in a loop is a row of a
//! [`LoopAssumption`] with the coefficients 1, c and 1, where c = 0.5 bounds the growth and c = 2.5 does not.

use serde::{Deserialize, Serialize};

use crate::flat::OriginId;
use crate::{ExprId, IterId, Range, ThinVec};

/// All of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Assumptions {
    /// Loops that were torn.
    pub loops: Vec<LoopAssumption>,
    /// What is divided by.
    pub pivots: Vec<PivotAssumption>,
    /// Equations that were left out because they hold.
    pub redundant: Vec<RedundantAssumption>,
}

impl Assumptions {
    /// Whether nothing was taken for granted.
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty() && self.pivots.is_empty() && self.redundant.is_empty()
    }
}

/// The points of an equation over an array.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Points {
    /// The iterators.
    pub domain: ThinVec<(IterId, Range)>,
    /// The value depends on the iterators in another way than through elements of parameters: all points are looked at.
    pub every: bool,
}

/// A coefficient that is divided by: finite, not zero, not much smaller than the others of its equation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PivotAssumption {
    /// The coefficient, up to a literal factor.
    pub value: ExprId,
    /// Its smallest absolute value.
    pub least: f64,
    /// For these elements.
    pub points: Points,
    /// The equation.
    pub origin: OriginId,
}

/// A loop, one level of it, with what is solved in it: errors must not grow along these assignments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopAssumption {
    /// Per unknown: it is no choice of tearing.
    pub given: Vec<bool>,
    /// The equations.
    pub rows: Vec<LoopRow>,
    /// Equations and what they are solved for, in order of evaluation, and whether they stay solved in any case.
    pub solved: Vec<(u32, u32, bool)>,
}

/// An equation of a loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopRow {
    /// Left and right side, which slopes are taken of.
    pub sides: [ExprId; 2],
    /// Its elements.
    pub points: Points,
    /// Accesses to the unknowns.
    pub terms: Vec<LoopTerm>,
    /// Accesses to parameters whose values the compiler did not know or not look at.
    pub unknown: Vec<ExprId>,
    /// Where it came from.
    pub origin: OriginId,
}

/// An access of an equation of a loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoopTerm {
    /// Numbers of the unknowns that it reaches.
    pub variables: Vec<u32>,
    /// The one that the equation would be solved for through it.
    pub solves: Option<u32>,
    /// How large its coefficient is.
    pub size: CoefficientSize,
    /// The equation is nonlinear in it.
    pub nonlinear: bool,
}

/// How large a coefficient is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum CoefficientSize {
    /// Smallest and largest absolute value, whatever the parameters are.
    Known(f64, f64),
    /// The absolute value of an expression of parameters.
    Value(ExprId),
    /// The bound of the slope of the equation in this access.
    Slope(ExprId),
}

/// A sum of known quantities that is zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RedundantAssumption {
    /// The sum.
    pub value: ExprId,
    /// For these elements.
    pub points: Points,
    /// The equation that was left out.
    pub origin: OriginId,
}
