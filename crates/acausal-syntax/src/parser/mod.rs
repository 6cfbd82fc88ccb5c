//! Tokens to syntax tree: recursive descent over the grammar of MLS 3.6 A.2, with recovery.
//!
//! In: a text. Out: [`Parsed`], always. Parsing never fails; what cannot be understood is left out of
//! the tree (or stands there as [`ExprKind::Error`](crate::ast::ExprKind::Error)) and is reported.
//!
//! # Recovery
//! A parse function that cannot go on reports the mistake and returns `Failed`. Lists catch it,
//! because a list knows where its next item may begin:
//!
//! 1. **Brackets** (arguments, modifications, arrays, subscripts): skip, with nested brackets
//!    balanced, to the next `,` or to the closing bracket of this list. Tokens that cannot stand in
//!    brackets (`;`, `then`, `equation`, `end x`, ...) mean that the closing bracket was forgotten:
//!    the list ends there, and the opening bracket is shown.
//! 2. **Declarations, equations, statements**: skip behind the next `;`, but never over the end of
//!    the block, the next section, or a line that begins like an item (`parameter`, `connect`, ...).
//! 3. **A missing `;`** is taken as written when the next token stands on a new line.
//! 4. **Blocks** (`if`, `for`, `when`, `while`, classes) are kept on a stack. `end x` closes the
//!    innermost block if it fits; if it fits an outer block instead, the `end` of the inner one is
//!    missing; if it fits none, its name is wrong.
//! 5. **Slips with one meaning** (`:=` for `=`, `==` for `=`, `!=`, `&&`, `a * -b`, a keyword
//!    as a name) are reported, and parsing goes on as if the right form stood there.
//!
//! A second mistake at the same token is a consequence of the first and is not reported. Each step of
//! the recovery consumes tokens or leaves a loop, so the time is linear in the length of the text.
//!
//! # Depth
//! Each level of a class, equation, statement, modification or expression counts one; more than
//! [`MAX_NESTING`] is an error. Chains of operators and `else if` ladders do not nest.

mod block;
mod class;
mod component;
mod composition;
mod cursor;
mod equation;
mod expression;
mod literal;
mod modification;
mod primary;
mod recovery;
mod statement;

use crate::ast::{Expr, StoredDefinition};
use crate::lexer::{Token, TokenKind, lex};
use acausal_base::diagnostic::{Diagnostic, sort_by_place};
use acausal_base::name::NameCache;
use acausal_base::span::{FileId, SourceMap, Span};

/// Deepest nesting of classes, equations, modifications and expressions counted together.
///
/// The deepest of the Modelica Standard Library 4.1.0 is 72. With this limit the parser and recursive
/// passes over the tree stay inside of a thread stack of 2 MB in an unoptimised build.
pub const MAX_NESTING: usize = 256;

/// Messages kept per file; what follows in a file with more mistakes is rarely worth reading.
pub const MAX_DIAGNOSTICS: usize = 200;

/// A parsed file.
#[derive(Debug, Clone)]
pub struct Parsed {
    /// What was understood; complete if there are no errors.
    pub tree: StoredDefinition,
    /// What was not, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl Parsed {
    /// True if any diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Parses a file of a source map.
pub fn parse_file(sources: &SourceMap, file: FileId) -> Parsed {
    match sources.get(file) {
        Some(source) => {
            let mut parsed = parse(file, &source.text);
            if source.truncated {
                let end = source.text.len() as u32;
                parsed.diagnostics.push(Diagnostic::error(
                    "syntax-file-size",
                    Span::new(file, end, end),
                    format!("files longer than {} bytes are cut", source.text.len()),
                ));
            }
            parsed
        }
        None => parse(file, ""),
    }
}

/// Parses a text that belongs to `file`.
///
/// ```
/// use acausal_base::FileId;
/// use acausal_syntax::parser::parse;
/// let parsed = parse(FileId(0), "model A Real x; equation der(x) = -x; end A;");
/// assert!(parsed.diagnostics.is_empty());
/// assert_eq!(parsed.tree.classes[0].class.name.as_str(), "A");
/// ```
pub fn parse(file: FileId, text: &str) -> Parsed {
    let mut parser = Parser::new(file, text);
    let tree = parser.stored_definition();
    Parsed {
        tree,
        diagnostics: parser.finish(),
    }
}

/// Parses a text that is one expression, such as a value on the command line.
pub fn parse_expression(file: FileId, text: &str) -> (Expr, Vec<Diagnostic>) {
    let mut parser = Parser::new(file, text);
    let expr = match parser.expression() {
        Ok(expr) => {
            if !parser.at(TokenKind::Eof) {
                parser.unexpected("an operator or the end of the expression");
            }
            expr
        }
        Err(Failed) => parser.error_expr(),
    };
    (expr, parser.finish())
}

/// A mistake was reported; the caller should recover or pass this on.
#[derive(Debug)]
pub(crate) struct Failed;

pub(crate) type Result<T> = std::result::Result<T, Failed>;

pub(crate) struct Parser<'text> {
    file: FileId,
    text: &'text str,
    /// All tokens; the last is `Eof`.
    tokens: Vec<Token>,
    /// Index of the current token.
    position: usize,
    /// Current nesting.
    depth: usize,
    names: NameCache<'text>,
    /// The blocks that are open, innermost last.
    blocks: Vec<block::Block>,
    diagnostics: Vec<Diagnostic>,
    /// Offsets of what the lexer reported, ascending.
    left_out: Vec<u32>,
    /// Token of the last mistake.
    last_error: Option<usize>,
    /// Mistakes beyond [`MAX_DIAGNOSTICS`].
    suppressed: usize,
}

impl<'text> Parser<'text> {
    fn new(file: FileId, text: &'text str) -> Parser<'text> {
        let (tokens, diagnostics) = lex(file, text);
        let left_out = diagnostics.iter().map(|found| found.span().start).collect();
        Parser {
            file,
            text,
            tokens,
            position: 0,
            depth: 0,
            names: NameCache::default(),
            blocks: Vec::new(),
            diagnostics,
            left_out,
            last_error: None,
            suppressed: 0,
        }
    }

    fn finish(mut self) -> Vec<Diagnostic> {
        sort_by_place(&mut self.diagnostics);
        if self.diagnostics.len() > MAX_DIAGNOSTICS {
            self.suppressed += self.diagnostics.len() - MAX_DIAGNOSTICS;
            self.diagnostics.truncate(MAX_DIAGNOSTICS);
        }
        if self.suppressed > 0 {
            let end = Span::new(self.file, self.text.len() as u32, self.text.len() as u32);
            self.diagnostics.push(Diagnostic::remark(
                "syntax-too-many",
                end,
                format!("{} further mistakes are not shown", self.suppressed),
            ));
        }
        self.diagnostics
    }
}
