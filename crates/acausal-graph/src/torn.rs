//! The result of tearing, and what makes it one.

use std::fmt;

use crate::{EqId, Rows, VarId};

/// Result of tearing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Torn {
    /// Solve these one after the other, given the tearing variables.
    pub solved: Vec<(EqId, VarId)>,
    /// Equations that are left, in the order in which they were tried.
    pub residuals: Vec<EqId>,
    /// Unknowns that no equation was solved for, in the order of the unknowns.
    pub tearing: Vec<VarId>,
    /// Arcs that cycle tests looked at (a measure of the work).
    pub visits: usize,
}

impl Torn {
    /// Verifies that the result is complete and can be evaluated in its order, i.e. has no cycle. Linear.
    ///
    /// # Errors
    /// The first thing found to be wrong.
    pub fn check(
        &self,
        incidence: &Rows<VarId>,
        unknowns: &[VarId],
        equations: &[EqId],
    ) -> Result<(), Invalid> {
        let variables = incidence
            .items()
            .iter()
            .chain(unknowns)
            .map(|v| v.index() + 1)
            .max()
            .unwrap_or(0);
        let mut open = vec![false; variables];
        for v in unknowns {
            open[v.index()] = true;
        }
        for v in &self.tearing {
            open[v.index()] = false;
        }
        for &(e, v) in &self.solved {
            let row = incidence.row(e.index());
            if !row.contains(&v) || !std::mem::replace(&mut open[v.index()], false) {
                return Err(Invalid::NotSolvable(e, v));
            }
            if let Some(&w) = row.iter().find(|w| open[w.index()]) {
                return Err(Invalid::UsedBeforeSolved(e, w));
            }
        }
        if let Some(&v) = unknowns.iter().find(|v| open[v.index()]) {
            return Err(Invalid::Variable(v));
        }
        let mut times = vec![0u8; incidence.len()];
        for e in self
            .solved
            .iter()
            .map(|p| p.0)
            .chain(self.residuals.iter().copied())
        {
            times[e.index()] += 1;
        }
        match equations.iter().find(|e| times[e.index()] != 1) {
            Some(&e) => Err(Invalid::Equation(e)),
            None => Ok(()),
        }
    }
}

/// What is wrong with a tearing result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// The equation uses an unknown that is neither torn nor solved before.
    UsedBeforeSolved(EqId, VarId),
    /// The variable is not an unknown of its equation, or is solved for twice.
    NotSolvable(EqId, VarId),
    /// The equation is neither solved nor a residual, or is both.
    Equation(EqId),
    /// The unknown is neither solved nor torn.
    Variable(VarId),
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Invalid::UsedBeforeSolved(e, v) => write!(f, "{e:?} uses {v:?} before it is known"),
            Invalid::NotSolvable(e, v) => write!(f, "{e:?} cannot be solved for {v:?}"),
            Invalid::Equation(e) => write!(f, "{e:?} must be either solved or a residual"),
            Invalid::Variable(v) => write!(f, "{v:?} is neither solved nor torn"),
        }
    }
}

impl std::error::Error for Invalid {}
