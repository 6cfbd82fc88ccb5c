//! The parser.

/// Deepest nesting of classes, equations and expressions counted together.
pub const MAX_NESTING: usize = 256;
