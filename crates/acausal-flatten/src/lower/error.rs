//! Why something has no value: the [`Diagnostic`] that people read, and the [`ErrorKind`] that the lowering itself may act upon.
//!
//! Most errors end the statement they are in. Some are answers: a component that does not exist takes its connections with it (MLS 3.6 §4.4.5), a
//! body that needs the value of its iterator is written out, a call that cannot be inlined becomes a run-time function. What is decided there
//! is decided on the kind, never on the code or the text of the message, which are for people.
//!
//! ```
//! use acausal_base::{Diagnostic, Span};
//! use acausal_flatten::lower::{Error, ErrorKind};
//!
//! let error = Error::not_constant(Span::NONE, "`x` varies").hint("declare it a parameter");
//! assert_eq!(error.kind(), ErrorKind::NotConstant);
//! assert_eq!(Diagnostic::from(error).code, "not-constant");
//! ```

use acausal_base::{Diagnostic, Span};

/// A value or why there is none.
pub type Result<T> = std::result::Result<T, Error>;

/// What the lowering tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The model is wrong; no other way of lowering it would help.
    Invalid,
    /// A constant or parameter expression is needed here. The same text may be fine once iterators or variables have values.
    NotConstant,
    /// A subscript leaves its dimension for some values of the iterators around it.
    SubscriptBounds,
    /// The component does not exist because its condition is false.
    AbsentComponent,
    /// The language allows it, this compiler does not do it.
    Unsupported,
}

/// An error of lowering with its message.
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    diagnostic: Box<Diagnostic>,
}

/// The start of an error about a wrong model: `Err(error(code, span, message))`, with `.label`, `.note` and `.hint` to follow.
pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Invalid, code, span, message)
}

impl Error {
    fn new(kind: ErrorKind, code: &'static str, span: Span, message: impl Into<String>) -> Error {
        Error {
            kind,
            diagnostic: Box::new(Diagnostic::error(code, span, message)),
        }
    }

    /// [`ErrorKind::NotConstant`]
    pub fn not_constant(span: Span, message: impl Into<String>) -> Error {
        Error::new(ErrorKind::NotConstant, "not-constant", span, message)
    }

    /// [`ErrorKind::SubscriptBounds`]
    pub fn subscript_bounds(span: Span, message: impl Into<String>) -> Error {
        Error::new(
            ErrorKind::SubscriptBounds,
            "subscript-bounds",
            span,
            message,
        )
    }

    /// [`ErrorKind::AbsentComponent`]
    pub fn absent_component(span: Span, message: impl Into<String>) -> Error {
        Error::new(
            ErrorKind::AbsentComponent,
            "absent-component",
            span,
            message,
        )
    }

    /// [`ErrorKind::Unsupported`]
    pub fn unsupported(span: Span, message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Unsupported, "unsupported", span, message)
    }

    /// What may be decided on.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whether the error may go away once iterators have values.
    pub fn is_irregular(&self) -> bool {
        matches!(
            self.kind,
            ErrorKind::NotConstant | ErrorKind::SubscriptBounds
        )
    }

    /// Adds a remark at a place, see [`Diagnostic::label`].
    pub fn label(self, span: Span, text: impl Into<String>) -> Error {
        self.map(|d| d.label(span, text))
    }

    /// Adds a fact.
    pub fn note(self, text: impl Into<String>) -> Error {
        self.map(|d| d.note(text))
    }

    /// Says what to do.
    pub fn hint(self, text: impl Into<String>) -> Error {
        self.map(|d| d.hint(text))
    }

    /// Adds `because` as a fact: what was tried before and did not work either.
    pub fn note_cause(self, because: &Error) -> Error {
        self.note(because.diagnostic.message.clone())
    }

    /// Whether the message points at this place already.
    pub fn points_at(&self, span: Span) -> bool {
        self.diagnostic.labels.iter().any(|l| l.span == span)
    }

    /// The message itself, to be completed with what the place of the error does not know.
    pub fn map(mut self, complete: impl FnOnce(Diagnostic) -> Diagnostic) -> Error {
        *self.diagnostic = complete(*self.diagnostic);
        self
    }
}

impl From<Error> for Diagnostic {
    fn from(error: Error) -> Diagnostic {
        *error.diagnostic
    }
}

/// What the instance tree refuses is wrong.
impl From<Box<Diagnostic>> for Error {
    fn from(diagnostic: Box<Diagnostic>) -> Error {
        Error {
            kind: ErrorKind::Invalid,
            diagnostic,
        }
    }
}
