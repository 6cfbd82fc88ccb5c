//! The compiled model: what the compiler ends in and all that a runtime needs.
//!
//! It is plain data, without machine code and without the tree it was made from, and knows nothing of how it will be run.
//!
//! | what | module |
//! |---|---|
//! | the model, names of its unknowns and rows | [`compiled`]: [`CompiledModel`] |
//! | events | [`events`]: [`EventCode`] |
//! | the model as bytes | [`mod@file`] |
//! | the start | [`initial`]: [`InitialCode`] |
//! | partial derivatives and the rows they make | [`jacobian`]: [`Jacobian`] |
//! | where all quantities lie | [`layout`]: [`Layout`] |
//! | where one scalar lies | [`location`]: [`Loc`], [`Place`] |
//! | where the points of a domain lie | [`locations`]: [`Locations`] |
//! | a table of places by quantity | `places` |
//! | patterns and the multiply-adds that fill them | [`schedule`]: [`Schedule`] |
//! | rows of Jacobians in files | `shared_rows` |
//! | hash tables in files | `sorted` |

pub mod compiled;
pub mod events;
pub mod file;
pub mod initial;
pub mod jacobian;
pub mod layout;
pub mod location;
pub mod locations;
mod places;
pub mod schedule;
mod shared_rows;
mod sorted;

pub use compiled::{CompiledModel, Output, RowGroup, subscripts};
pub use events::{
    ActionCode, AssertCode, BranchCode, ContinuityCode, DelayCode, EventCode, IndexCode,
    RelationCode, SampleCode, SpatialCode, SpatialOutput, TimeEventCode, TimetableCode, WhenCode,
};
pub use initial::{FreeParameter, GivenStart, GivenValues, InitialCode, InitialRow, StartAlias};
pub use jacobian::{ItemRows, Jacobian, JacobianColumns, MulAdds, Partials, Sparsity};
pub use layout::Layout;
pub use location::{Loc, Place, PlacePiece, fixed};
pub use locations::{Locations, StridedRun};
pub use schedule::{GroupedMulAdds, MatrixSize, Schedule};
