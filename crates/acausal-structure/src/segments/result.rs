//! What the segment analysis gives: segments, what they determine, blocks, and errors.

use std::fmt;

use super::model::{BadAccess, Span};
use super::order::Block;
use crate::{EqId, VarId};

/// A box of elements of one equation that behave alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The equation.
    pub equation: EqId,
    /// The range of each iterator.
    pub spans: Vec<Span>,
    /// How often these elements are differentiated.
    pub differentiations: u32,
    /// What they determine: one entry unless whole ranges are involved.
    pub determines: Vec<Determined>,
    /// Number of the block it belongs to.
    pub block: usize,
}

/// Elements of a variable's highest derivative that a segment determines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Determined {
    /// Number of the access of the equation through which it contains them.
    pub access: usize,
    /// The undifferentiated variable.
    pub variable: VarId,
    /// Order of the highest derivative.
    pub order: u32,
    /// Its elements. If `elements` is less than their number, only so many of them: which ones is left open.
    pub spans: Vec<Span>,
    /// Number of elements determined.
    pub elements: u64,
}

/// A box of elements of an undifferentiated variable with the same highest derivative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableSegment {
    /// The variable.
    pub variable: VarId,
    /// Its elements.
    pub spans: Vec<Span>,
    /// Order of their highest derivative after index reduction.
    pub order: u32,
}

/// Arrays whose elements were enumerated in the graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Enumerated {
    /// Equations.
    pub equations: Vec<EqId>,
    /// Variables.
    pub variables: Vec<VarId>,
}

/// Result of [`super::analyse`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysis {
    /// Segments of the equations, by equation and position.
    pub segments: Vec<Segment>,
    /// Segments of the variables, by variable and position.
    pub variables: Vec<VariableSegment>,
    /// Blocks in solving order.
    pub blocks: Vec<Block>,
    /// What had to be enumerated.
    pub enumerated: Enumerated,
    /// Number of equation nodes of the graph that was solved.
    pub cells: usize,
}

/// Why a model cannot be analysed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// An index leaves its array.
    BadAccess(BadAccess),
    /// The model is structurally singular, whatever is differentiated. Sets of the same arrays are put together.
    Singular {
        /// Over-determined sets: equation elements and the variable elements they have.
        over: Vec<ElementSet>,
        /// Under-determined sets.
        under: Vec<ElementSet>,
    },
    /// Enumerating the elements would take too many incidences.
    TooLarge {
        /// How many.
        incidences: u128,
    },
}

/// Boxes of elements of equations and variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElementSet {
    /// Equation elements.
    pub equations: Vec<(EqId, Vec<Span>)>,
    /// Variable elements.
    pub variables: Vec<(VarId, Vec<Span>)>,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::BadAccess(b) => b.fmt(f),
            Error::Singular { over, under } => write!(
                f,
                "structurally singular: {} over- and {} under-determined sets",
                over.len(),
                under.len()
            ),
            Error::TooLarge { incidences } => {
                write!(f, "the graph would need {incidences} incidences")
            }
        }
    }
}

impl std::error::Error for Error {}
