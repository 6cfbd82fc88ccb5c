//! Modelica text to syntax tree and back (MLS 3.6, appendix A).
//!
//! | step | module |
//! |---|---|
//! | where text lies | [`span`]: [`FileId`], [`Span`], [`SourceMap`] |
//! | identifiers | [`name`]: interned [`Name`] |
//! | the tree | [`ast`] |
//! | messages with source excerpts | [`diagnostic`]: [`Diagnostic`] |
//!
//! The crate knows nothing of the meaning of the text: no lookup, no types.

pub mod ast;
pub mod diagnostic;
pub mod name;
pub mod parser;
pub mod span;

pub use diagnostic::{Diagnostic, Label, Severity};
pub use name::Name;
pub use span::{FileId, LineColumn, SourceFile, SourceMap, Span};
