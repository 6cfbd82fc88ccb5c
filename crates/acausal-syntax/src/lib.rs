//! Modelica text to syntax tree and back (MLS 3.6, appendix A).
//!
//! | step | module |
//! |---|---|
//! | text to tokens | [`lexer`] |
//! | tokens to tree, with recovery | [`parser`]: [`parse`], [`parse_file`], [`parse_expression`] |
//! | the tree | [`ast`] |
//! | tree to text | [`printer`]: [`print`](printer::print), [`print_expr`](printer::print_expr) |
//!
//! The crate knows nothing of the meaning of the text: no lookup, no types. Parsing never fails; it
//! gives a tree and diagnostics.
//!
//! ```
//! use acausal_base::SourceMap;
//! use acausal_syntax::{parse_file, printer::print};
//!
//! let mut sources = SourceMap::new();
//! let file = sources.add_file("A.mo", "model A Real x; equation der(x)=-x end A;");
//! let parsed = parse_file(&sources, file);
//! assert_eq!(
//!     parsed.diagnostics[0].render(&sources, false),
//!     "\
//! error[syntax-semicolon]: expected `;` after this equation, found `end`
//!   --> A.mo:1:35
//!    |
//!  1 | model A Real x; equation der(x)=-x end A;
//!    |                                   ^ add `;` here
//! "
//! );
//! assert_eq!(
//!     print(&parsed.tree),
//!     "model A\n  Real x;\nequation\n  der(x) = -x;\nend A;\n"
//! );
//! ```

pub mod ast;
pub mod lexer;
pub mod parser;
pub mod printer;

pub use parser::{Parsed, parse, parse_expression, parse_file};
