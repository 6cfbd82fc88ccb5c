//! What every layer speaks, from the parser to the runtime: where text lies, names, messages.
//!
//! | step | module |
//! |---|---|
//! | messages with source excerpts | [`diagnostic`]: [`Diagnostic`] |
//! | lists that are empty in most places | `thin_vec`: [`ThinVec`] |
//! | checksums and fingerprints in files | `fnv`: [`Fnv`] |
//! | identifiers | [`name`]: interned [`Name`] |
//! | from which size on the same is done otherwise | `scale`: [`Scale`] |
//! | where text lies | [`span`]: [`FileId`], [`Span`], [`SourceMap`] |
//! | the name that was probably meant | [`similar`] |
//! | control characters made visible | [`visible`] |
//!
//! The crate depends on no other of ours and knows nothing of Modelica, so that a compiled model can say where its equations stand
//! without the parser.

pub mod diagnostic;
mod fnv;
pub mod name;
mod scale;
pub mod similar;
pub mod span;
mod thin_vec;
pub mod visible;

pub use diagnostic::{Diagnostic, Label, Severity};
pub use fnv::Fnv;
pub use name::Name;
pub use scale::Scale;
pub use span::{FileId, LineColumn, SourceFile, SourceMap, Span};
pub use thin_vec::ThinVec;
