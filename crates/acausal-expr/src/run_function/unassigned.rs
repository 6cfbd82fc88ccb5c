//! Variables of the frame that have no value yet (MLS 3.6 §12.4.4).
//!
//! The frame of a call begins with a mark in the places of such variables; a load of one looks for it, unless a value has been stored on every way to
//! the load. Outputs may carry the mark to the caller, who looks at those that it uses.

use super::program::Program;
use super::{FunctionError, Functions};
use crate::FuncId;
use crate::flat::Unassigned;

/// Stands for the value that a variable does not have yet: a NaN that no arithmetic gives. Nothing computes with it, since every load of such a variable
/// looks whether it is there.
pub(super) const UNASSIGNED: f64 = f64::from_bits(0x7ff8_0075_6e61_7373);

/// How messages about such variables end.
pub const NOT_ASSIGNED: &str =
    "is used, and the way taken through the function has not assigned it";

pub(super) fn is_unassigned(value: f64) -> bool {
    value.to_bits() == UNASSIGNED.to_bits()
}

impl Functions {
    /// Whether a number that [`Functions::run`] gave is a value: an output that was not assigned is an error for those who use it only.
    pub fn expect_assigned(
        &self,
        func: FuncId,
        output: u32,
        value: f64,
    ) -> Result<(), FunctionError> {
        if !is_unassigned(value) {
            return Ok(());
        }
        let Some(program) = self.programs.get(func.0 as usize) else {
            return Ok(());
        };
        let slot = program.outputs.get(output as usize).copied();
        Err(program.lacks(slot.unwrap_or(u32::MAX)))
    }
}

impl Program {
    /// The variable in which a scalar of the frame lies, if it begins without a value.
    pub(super) fn unassigned(&self, slot: u32) -> Option<&Unassigned> {
        (self.unassigned.iter()).find(|u| (u.base..u.base + u.len).contains(&slot))
    }

    /// A scalar of the frame is used and has no value.
    pub(super) fn lacks(&self, slot: u32) -> FunctionError {
        let message = match self.unassigned(slot) {
            Some(u) if u.len > 1 => {
                format!("element {} of {} {NOT_ASSIGNED}", slot - u.base + 1, u.name)
            }
            Some(u) => format!("{} {NOT_ASSIGNED}", u.name),
            None => format!("a variable of `{}` {NOT_ASSIGNED}", self.name),
        };
        FunctionError::Unassigned { message }
    }
}
