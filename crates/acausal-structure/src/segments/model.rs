//! The input of the segment analysis: arrays, equations over iteration boxes, and how they touch each other.

use std::fmt;

use crate::{EqId, VarId};

/// An inclusive range of indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First index.
    pub lo: i64,
    /// Last index; `lo - 1` if empty.
    pub hi: i64,
}

impl Span {
    /// The range `lo..=hi`.
    pub fn new(lo: i64, hi: i64) -> Self {
        Span { lo, hi }
    }

    /// Number of indices.
    pub fn size(self) -> u64 {
        (self.hi - self.lo + 1).max(0) as u64
    }

    /// Whether `other` lies inside.
    pub fn contains(self, other: Span) -> bool {
        other.size() == 0 || (self.lo <= other.lo && other.hi <= self.hi)
    }
}

/// Number of elements of a box.
pub fn size_of(spans: &[Span]) -> u64 {
    spans.iter().map(|s| s.size()).product()
}

/// An array variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Index range of each dimension; none for a scalar.
    pub shape: Vec<Span>,
    /// The array of its time derivatives, of the same shape, if some element of it occurs.
    pub derivative: Option<VarId>,
}

/// An array equation: one scalar equation for each point of the box.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Equation {
    /// Range of each iterator; none for a scalar equation.
    pub iterators: Vec<Span>,
    /// What each of its elements contains.
    pub accesses: Vec<Access>,
}

/// The elements of one variable that an equation element contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The variable.
    pub variable: VarId,
    /// One entry per dimension of the variable.
    pub index: Vec<Index>,
}

/// The index expression of one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Index {
    /// `coefficient * iterator + offset`.
    Affine {
        /// Number of the iterator of the equation.
        iterator: usize,
        /// Mostly 1; -1 for a reversed array. Others are allowed but make the analysis enumerate elements.
        coefficient: i64,
        /// Constant part.
        offset: i64,
    },
    /// The same index for every element of the equation.
    Fixed(i64),
    /// Every index of a range (a sum, a scalar product, a vector operation).
    All(Span),
}

impl Index {
    /// Iterator `iterator` shifted by `offset`: `x[i + offset]`.
    pub fn shifted(iterator: usize, offset: i64) -> Self {
        Index::Affine {
            iterator,
            coefficient: 1,
            offset,
        }
    }
}

/// Arrays and array equations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// The variables; derivatives are variables of their own.
    pub variables: Vec<Variable>,
    /// The equations.
    pub equations: Vec<Equation>,
}

/// An access that does not fit the arrays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadAccess {
    /// In this equation.
    pub equation: EqId,
    /// The number of the access.
    pub access: usize,
}

impl fmt::Display for BadAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "access {} of equation {:?} leaves its array or has the wrong number of indices",
            self.access, self.equation
        )
    }
}

impl Model {
    /// Adds an array and its derivatives up to `order`; returns the array. Its k-th derivative has the k-th next number.
    pub fn variable(&mut self, shape: &[Span], order: usize) -> VarId {
        let first = self.variables.len();
        for k in 0..=order {
            let derivative = (k < order).then(|| VarId::new(first + k + 1));
            self.variables.push(Variable {
                shape: shape.to_vec(),
                derivative,
            });
        }
        VarId::new(first)
    }

    /// Adds an equation from (variable, index expressions).
    pub fn equation(&mut self, iterators: &[Span], accesses: &[(VarId, &[Index])]) -> EqId {
        let accesses = accesses
            .iter()
            .map(|&(variable, index)| Access {
                variable,
                index: index.to_vec(),
            })
            .collect();
        self.equations.push(Equation {
            iterators: iterators.to_vec(),
            accesses,
        });
        EqId::new(self.equations.len() - 1)
    }

    /// Checks that every access stays inside its array for all iterator values.
    ///
    /// # Errors
    /// The first access that does not.
    pub fn check(&self) -> Result<(), BadAccess> {
        for (e, equation) in self.equations.iter().enumerate() {
            for (a, access) in equation.accesses.iter().enumerate() {
                if !self.fits(equation, access) {
                    return Err(BadAccess {
                        equation: EqId::new(e),
                        access: a,
                    });
                }
            }
        }
        Ok(())
    }

    /// Whether every derivative is a variable of the same shape, of one variable only, and no variable its own.
    pub(super) fn derivatives_are_chains(&self) -> bool {
        let mut taken = vec![false; self.variables.len()];
        let consistent = self.variables.iter().all(|v| match v.derivative {
            None => true,
            Some(d) => {
                let same = self
                    .variables
                    .get(d.index())
                    .is_some_and(|w| w.shape == v.shape);
                same && !std::mem::replace(&mut taken[d.index()], true)
            }
        });
        // Without cycles, the chains that begin with a variable that is no derivative contain all variables.
        let next = |v: &usize| self.variables[*v].derivative.map(VarId::index);
        let first = (0..taken.len()).filter(|&v| !taken[v]);
        consistent
            && first
                .flat_map(|v| std::iter::successors(Some(v), next))
                .count()
                == taken.len()
    }

    fn fits(&self, equation: &Equation, access: &Access) -> bool {
        let Some(variable) = self.variables.get(access.variable.index()) else {
            return false;
        };
        let empty = size_of(&equation.iterators) == 0;
        variable.shape.len() == access.index.len()
            && variable
                .shape
                .iter()
                .zip(&access.index)
                .all(|(dim, index)| {
                    // An equation without elements touches nothing, but its iterators must exist.
                    image(*index, &equation.iterators).is_some_and(|s| empty || dim.contains(s))
                })
    }
}

/// The range of values of an index expression.
pub(super) fn image(index: Index, iterators: &[Span]) -> Option<Span> {
    match index {
        Index::Fixed(i) => Some(Span::new(i, i)),
        Index::All(s) => Some(s),
        Index::Affine {
            iterator,
            coefficient,
            offset,
        } => {
            let s = iterators.get(iterator)?;
            let at = |i: i64| i.checked_mul(coefficient)?.checked_add(offset);
            let (a, b) = (at(s.lo)?, at(s.hi)?);
            Some(Span::new(a.min(b), a.max(b)))
        }
    }
}
