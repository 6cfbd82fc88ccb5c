//! What index reduction (Pantelides 1988) says about a model: messages for structurally singular ones, and the
//! equations whose derivatives do not exist or are not unique.
//!
//! | what | module |
//! |---|---|
//! | derivatives that enter nonlinearly | [`branches`] |
//! | equations that must not be differentiated because they jump | [`jumps`] |
//! | messages about singular structure | [`singular`] |

pub(crate) mod branches;
pub(crate) mod jumps;
pub(crate) mod singular;
