//! The class tree and the libraries it is loaded from (MLS 3.6 §5.6.1.1, §13).

mod libraries;

pub use libraries::Libraries;

/// Index of a class definition in the class tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassId(pub u32);
