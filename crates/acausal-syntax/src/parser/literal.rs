//! Values of number and string tokens (MLS 3.6 §2.4).

use std::sync::Arc;

use super::Parser;
use crate::ast::{Description, Expr, ExprKind, Text};
use crate::lexer::{Token, TokenKind};
use acausal_base::diagnostic::Diagnostic;

impl Parser<'_> {
    /// The number at the current token. An integer beyond 64 bits is read as Real (MLS 3.6 §2.4.2
    /// leaves the range to the tool).
    pub(super) fn number(&mut self) -> Expr {
        let token = self.token();
        let span = self.token_span(token);
        let text = self.token_text(token);
        self.bump();
        if token.kind == TokenKind::Integer
            && let Ok(value) = text.parse()
        {
            return Expr::new(ExprKind::Integer(value), span);
        }
        // `1e` without digits has been reported by the lexer; its mantissa is the value.
        let value = text.trim_end_matches(['e', 'E']).parse::<f64>();
        let value = value.unwrap_or(0.0);
        if value.is_infinite() {
            self.report(
                Diagnostic::warning("syntax-number-range", span, "this number overflows")
                    .note("it is larger than 1.7976931348623157e308 and is read as infinity"),
            );
        }
        Expr::new(ExprKind::Real(value), span)
    }

    /// The characters that a string token means.
    pub(super) fn string_value(&self, token: Token) -> Arc<str> {
        let text = self.token_text(token);
        let text = text.strip_prefix('"').unwrap_or(text);
        // A string without end has no closing quote.
        let text = match text.strip_suffix('"') {
            Some(inner) if !ends_in_escape(inner) => inner,
            _ => text,
        };
        if !text.contains('\\') {
            return Arc::from(text);
        }
        Arc::from(unescape(text))
    }

    /// description-string: `"a" + "b"`, or nothing.
    pub(super) fn description_string(&mut self) -> Option<Text> {
        if !self.at(TokenKind::Str) {
            return None;
        }
        let start = self.span();
        let mut value = self.string_value(self.token());
        self.bump();
        while self.at(TokenKind::Plus) && self.peek(1) == TokenKind::Str {
            self.bump();
            let next = self.string_value(self.token());
            self.bump();
            value = Arc::from([&*value, &*next].concat());
        }
        Some(Text {
            value,
            span: self.span_from(start),
        })
    }

    /// The same for the many nodes that rarely have one.
    pub(super) fn optional_description(&mut self) -> Option<Arc<Description>> {
        let description = self.description();
        (!description.is_none()).then(|| Arc::new(description))
    }

    /// description: a description string and an annotation, both optional.
    pub(super) fn description(&mut self) -> Description {
        let start = self.span();
        if !matches!(self.kind(), TokenKind::Str | TokenKind::Annotation) {
            return Description::none(self.previous_span().after());
        }
        let text = self.description_string();
        let annotation = self.annotation();
        Description {
            text,
            annotation: annotation.map(Box::new),
            span: self.span_from(start),
        }
    }
}

/// True when the text ends in an odd number of backslashes, so that a quote behind it is escaped.
fn ends_in_escape(text: &str) -> bool {
    text.bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 1
}

fn unescape(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(position) = rest.find('\\') {
        value.push_str(&rest[..position]);
        let mut characters = rest[position + 1..].chars();
        match characters.next() {
            Some('a') => value.push('\x07'),
            Some('b') => value.push('\x08'),
            Some('f') => value.push('\x0c'),
            Some('n') => value.push('\n'),
            Some('r') => value.push('\r'),
            Some('t') => value.push('\t'),
            Some('v') => value.push('\x0b'),
            Some(character @ ('\'' | '"' | '?' | '\\')) => value.push(character),
            // The lexer has reported it; keep what was written.
            Some(other) => {
                value.push('\\');
                value.push(other);
            }
            None => value.push('\\'),
        }
        rest = characters.as_str();
    }
    value.push_str(rest);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        assert_eq!(unescape(r#"a\n\"b\\c\?"#), "a\n\"b\\c?");
        assert_eq!(unescape(r"\d\"), r"\d\");
        assert!(ends_in_escape(r"a\") && !ends_in_escape(r"a\\"));
    }
}
