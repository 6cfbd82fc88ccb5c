//! Messages about source text: what is wrong, where, and what to do about it.
//!
//! A [`Diagnostic`] is data. [`render()`](Diagnostic::render) shows it to people with an excerpt of
//! the source; for programs the command writes it as JSON:
//!
//! ```text
//! error[syntax-expected]: expected `;`, found `Real`
//!   --> Circuit.mo:3:9
//!    |
//!  3 |   Real i
//!    |         ^ expected `;` here
//!    = hint: end every declaration with `;`
//! ```

mod render;

use crate::span::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The model cannot be used.
    Error,
    /// Probably not what was meant.
    Warning,
    /// Good to know.
    Note,
}

impl Severity {
    /// In lower case, as printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// A remark at one place of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The remark; may be empty.
    pub text: String,
    /// True for the place the message is about; the others explain it.
    pub primary: bool,
}

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Stable identifier, such as `syntax-expected`.
    pub code: &'static str,
    /// One sentence without a full stop.
    pub message: String,
    /// Places; the first is the primary one.
    pub labels: Vec<Label>,
    /// Further facts.
    pub notes: Vec<String>,
    /// What to do.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// A message at a place.
    pub fn new(
        severity: Severity,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic {
            severity,
            code,
            message: message.into(),
            labels: vec![Label {
                span,
                text: String::new(),
                primary: true,
            }],
            notes: Vec::new(),
            hint: None,
        }
    }

    /// An error at a place.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, code, span, message)
    }

    /// A warning at a place.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, code, span, message)
    }

    /// A remark at a place, to be shown on its own.
    pub fn remark(code: &'static str, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Note, code, span, message)
    }

    /// Adds a remark: at the primary place it is written to the carets there, elsewhere it becomes
    /// a place of its own.
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        let text = text.into();
        match self.labels.first_mut() {
            Some(primary) if primary.span == span && primary.text.is_empty() => primary.text = text,
            _ => self.labels.push(Label {
                span,
                text,
                primary: false,
            }),
        }
        self
    }

    /// Adds a fact below the excerpt.
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// Says what to do.
    pub fn hint(mut self, text: impl Into<String>) -> Diagnostic {
        self.hint = Some(text.into());
        self
    }

    /// The place the message is about.
    pub fn span(&self) -> Span {
        self.labels.first().map_or(Span::NONE, |label| label.span)
    }

    /// True for [`Severity::Error`].
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Sorts messages by place, keeping the order of those at the same place.
pub fn sort_by_place(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by_key(|diagnostic| diagnostic.span());
}
