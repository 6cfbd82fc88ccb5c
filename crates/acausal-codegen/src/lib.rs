//! From the index-one DAE to kernels, memory layout and sparsity.
//!
//! The result ([`Compiled`]) is plain data: programs over kernels ([`acausal_jit`]), a layout, and the operations that
//! put the sparse Jacobian together. It knows nothing of how it will be run.

mod address;
mod algebraic;
mod body;
mod calls;
mod cells;
mod compile;
mod error;
mod events;
mod given;
mod given_parameters;
mod initial;
mod items;
mod jacobian;
mod layout;
mod lower;
mod needed;
mod parameters;
mod places;
mod plan;
mod schedule;
mod shape;
mod start_alias;
mod steps;
mod timetable;

pub use cells::{CellGroup, CellKind};
pub use compile::{Compiled, Output, RowGroup, compile, subscripts};
pub use error::CodegenError;
pub use events::{
    ActionCode, AssertCode, BranchCode, DelayCode, EventCode, RelationCode, SampleCode,
    SpatialCode, SpatialOutput, TimeEventCode, WhenCode,
};
pub use given::{GivenStart, GivenValues};
pub use initial::{FreeParameter, InitialCode, InitialRow};
pub use jacobian::{Columns, Jacobian, MulAdds, Sparsity};
pub use layout::{Layout, Loc, Piece, Place, fixed};
pub use schedule::{Grouped, Schedule};
pub use start_alias::StartAlias;
pub use timetable::TimetableCode;
