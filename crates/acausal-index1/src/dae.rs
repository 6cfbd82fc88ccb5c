//! The special index-one DAE `f_d(x', x, t) = 0, f_c(x, t) = 0` (Otter & Elmqvist 2017, equations (2) and (17)).
//!
//! Still symbolic and still arrays: unknowns, local assignments and residuals are items with a domain. Where each
//! scalar lives at run time is decided by the code generator.

use acausal_expr::assumption::Assumptions;
use acausal_expr::flat::{FlatModel, OriginId};
use acausal_expr::unknown::{RowKind, Unknown};
use acausal_expr::{Access, ExprId, IterId, Range, VarId};
use acausal_symbolic::Local;

/// An equation that was differentiated although it has conditions, discrete variables or steps: where they change at an event, the difference of its sides must
/// not, or its derivative is an impulse.
#[derive(Clone, Debug)]
pub struct Continuity {
    /// Iterators.
    pub domain: Vec<(IterId, Range)>,
    /// Left and right side.
    pub sides: [ExprId; 2],
    /// A variable whose nominal value is that of the sides: one of them is this variable.
    pub scale: Option<VarId>,
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
pub struct IndexOneDae {
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
    /// Assignments of discrete variables and left limits at the start, in evaluation order; the initial equations that they come from are taken
    /// out of the flat model.
    pub discrete_start: Vec<DiscreteEquation>,
    /// Parameters without a value that the initial equations may determine.
    pub free_parameters: Vec<VarId>,
    /// Equations that were differentiated and must not jump at events.
    pub continuous: Vec<Continuity>,
    /// A derivative enters its equation nonlinearly: solutions may meet, and the equations are singular there.
    pub branching: bool,
    /// What was taken for granted about the values of parameters.
    pub assumptions: Assumptions,
}

impl IndexOneDae {
    /// Number of scalar unknowns.
    pub fn len(&self) -> usize {
        self.unknowns.iter().map(|u| u.len).sum()
    }

    /// True when there is nothing to integrate.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
